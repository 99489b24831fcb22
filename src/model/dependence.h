/* Which events a value waits for. A register or a stored word holds a set of at most four events;
 * an operation unites the sets of its sources. An event that another one of the set waits for is
 * left out, as are those that lie more than a window of µops back. When a set grows beyond four, an
 * event is added that waits for them all.
 *
 * So the length of a chain is only ever computed at events (hybrid.h), in place of at every
 * instruction. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "isa/insn.h"
#include "model/data_event.h"
#include "util/error.h"

struct value {
    uint64_t oldest; /* where events are: none lies before, if there are any */
    uint32_t count;
    uint32_t events[DATA_MAX_PRODUCERS]; /* low 32 bits of their numbers */
};

enum { STORED_WORDS = 512 };

struct dependence {
    uint64_t now;        /* position of the µop at hand */
    uint32_t stores;     /* µops before it that store; modulo 2^32 */
    uint64_t window;     /* µops */
    uint64_t waiting[2]; /* bit per register: its value waits for an event */
    uint64_t
        stored_until; /* up to this position a store of the window may have a value that waits */
    uint64_t recent;  /* events before this one are further back than any reach */
    struct value registers[REG_COUNT];

    /* Words that stores of the window have written, by a hash of their address. */
    uint64_t words[STORED_WORDS]; /* address / 8 + 1 */
    struct stored_word {
        uint64_t position;
        uint64_t begin, end; /* of the store, addresses */
        struct value value;
    } stored[STORED_WORDS];

    /* The last events; those from `shown` to `next` have not been to the sink. */
    struct data_event *events;
    uint64_t event_mask, next, shown;
    struct data_sink sink;
};

/* So many µops pass of which nothing is known. */
void dependence_skip(struct dependence *dependence, uint64_t uops);

/* Remembers at least `reach` events. */
bool dependence_new(struct dependence *dependence, uint32_t window, uint32_t reach,
                    struct data_sink sink, struct error *error);
void dependence_free(struct dependence *dependence);

static inline bool register_waits(const struct dependence *dependence, uint8_t reg) {
    return dependence->waiting[reg / 64] >> reg % 64 & 1;
}

/* Adds what another value waits for. */
void value_unite(struct dependence *dependence, struct value *value, const struct value *other);
/* Most often there is nothing to unite: it is the first, or the same again. */
static inline void value_add(struct dependence *dependence, struct value *value,
                             const struct value *other) {
    if (other->count == 0)
        return;
    const bool whole = dependence->now - other->oldest < dependence->window;
    if (value->count == 0 && other->count == 1 && whole) {
        value->oldest = other->oldest;
        value->events[0] = other->events[0];
        value->count = 1;
    } else if (value->count == 0 && whole) {
        *value = *other;
    } else if (value->count != 1 || other->count != 1 || value->events[0] != other->events[0]) {
        value_unite(dependence, value, other);
    }
}
/* Adds what a register waits for. */
void value_add_register(struct dependence *dependence, struct value *value, uint8_t reg);
/* Writes a register. */
void register_set(struct dependence *dependence, uint8_t reg, const struct value *value);

/* A store of the window wrote these bytes: adds what its value waits for. */
bool stored_find(struct dependence *dependence, uint64_t address, uint32_t size_bytes,
                 struct value *value);
void stored_set(struct dependence *dependence, uint64_t address, uint32_t size_bytes,
                const struct value *value);

/* The event with this number, if there is one and it is remembered; else NULL. */
static inline const struct data_event *event_find(const struct dependence *dependence,
                                                  uint64_t number) {
    return number < dependence->next && dependence->next - number <= dependence->event_mask
               ? &dependence->events[number & dependence->event_mask]
               : NULL;
}

/* The next event, at `now`, which waits for a value; the caller may add to it until the next one.
 */
struct data_event *event_add(struct dependence *dependence, const struct value *value,
                             uint16_t flags);
/* Moves `recent` on: to the first event that lies within a reach of `now`. */
static inline void events_age(struct dependence *dependence, uint64_t reach) {
    while (dependence->recent < dependence->next &&
           dependence->now -
                   dependence->events[dependence->recent & dependence->event_mask].position >=
               reach)
        dependence->recent++;
}

/* Shows the sink what it has not seen. */
void events_show(struct dependence *dependence);
