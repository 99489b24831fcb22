/* What makes room for an event in a reorder buffer and a store queue that slide (sliding.h). That
 * depends on sizes and on the order of the program, not on time: processors with the same sizes
 * have it in common. Inside of sliding.c.
 *
 * For stores that are not events it is known how many lie between two events, but not where: they
 * are taken to be evenly apart. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { FRONT_EVENTS = 512 }; /* that are followed at once, at most */

/* Where an event is. */
struct place {
    double position; /* µops before it */
    uint32_t stores; /* of them; modulo 2^32 */
    uint16_t flags;  /* enum data_event_flags */
};

/* The last events. */
struct places {
    struct place *places;
    uint64_t mask, next;
};

static inline const struct place *place_of(const struct places *places, uint64_t number) {
    return &places->places[number & places->mask];
}

/* A store leaves the queue so that another one can enter: the store of an event or, if that is
 * none, the next one behind it, which leaves no sooner than the event commits. */
struct departure {
    uint64_t event;
    uint64_t before; /* the first event that is not dispatched before the other store is */
    double position; /* of that store; INFINITY: it is not known any more */
};

struct front {
    double rob;            /* µops */
    uint32_t store_queue;  /* entries; 0: unlimited */
    uint64_t reach;        /* events that are remembered */
    uint64_t head, queued; /* the first event in the reorder buffer; that has not departed */

    /* Of the events at hand. */
    uint64_t left[FRONT_EVENTS]; /* all events before this one have left the reorder buffer */
    struct departure *departures;
    uint32_t departure_count;
};

/* False: out of memory. */
bool front_start(struct front *front, uint32_t rob, uint32_t store_queue, uint64_t reach);
void front_free(struct front *front);

/* The last `count` of the places, at most FRONT_EVENTS, are at hand. */
void front_follow(struct front *front, const struct places *places, uint32_t count);

/* The store queue is empty when the next event comes. */
void front_break(struct front *front, const struct places *places);
