/* Places that accesses hold from one cycle to another: MSHRs, slots of a memory controller's queue.
 *
 * A core in program order asks in the order of the program, not of cycles: an access of an older
 * µop at a late cycle must not keep the place from a younger one before it begins. So each hold is
 * kept with its beginning and end, as long as somebody may ask for a cycle in it; asked in the
 * order of cycles, it says what counters would. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct hold {
    uint64_t begin, end; /* cycles [begin, end) */
};

struct holds {
    struct hold *items; /* those that may not be over, by their ends */
    uint32_t count, capacity;
    uint32_t full_count; /* so many, and those that are over are looked for */
    /* In all these cycles no place was free for who asked: those who ask again need not look, and
     * of holds within them nothing else is to be known. So a long queue is a few holds. */
    uint64_t full_from, full_until;
    /* What is asked for must not run into a hold that begins later, and is taken to be as long as
     * the last one was. Asked in the order of cycles, it may not overlap any. */
    bool any_order;
    uint64_t length;
    uint32_t places; /* 0: unlimited, nothing is kept */
};

/* False: out of memory. */
bool holds_new(struct holds *holds, uint32_t places);
void holds_free(struct holds *holds);
void holds_clear(struct holds *holds);

/* Takes a place for [begin, end). Nobody will ask for a cycle before `now`. */
void holds_take(struct holds *holds, uint64_t begin, uint64_t end, uint64_t now);

/* Places free at a cycle, counted up to `enough`. */
uint32_t holds_free_at(const struct holds *holds, uint64_t cycle, uint32_t enough);

/* The first cycle from this one on at which a place is free. */
uint64_t holds_first_free(struct holds *holds, uint64_t cycle);

/* Not enough places are free at this cycle: the next one at which more may be. */
uint64_t holds_next_end(struct holds *holds, uint64_t cycle);
