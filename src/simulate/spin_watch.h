/* Loops in which a thread waits for another without a routine that is known by its name: one that
 * does nothing but read, from the same places in each iteration, changes nothing, so that it can
 * end only by what another thread writes; the same of one that tries an atomic operation in vain;
 * and one that pauses. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace.h"

enum { SPIN_LONGEST = 64 }; /* instructions of an iteration, at most */

/* Of one thread. All zero: it is in no loop. */
struct spin_watch {
    uint32_t branch;           /* plus one: that closes the loop; 0: none */
    uint32_t insns;            /* of this iteration so far */
    uint64_t places, previous; /* what it accesses, and what the iteration before did */
    bool stores, pauses, reads;
};

/* An instruction that accesses memory, or pauses. `atomic`: it is an atomic operation. */
static inline void spin_watch_access(struct spin_watch *watch, const struct memory_access *accesses,
                                     uint32_t count, bool atomic) {
    for (uint32_t i = 0; i < count; i++) {
        watch->places = (watch->places ^ accesses[i].address) * UINT64_C(0x9e3779b97f4a7c15);
        watch->stores |= accesses[i].is_store && !atomic;
        watch->reads |= !accesses[i].is_store;
    }
}

/* The loop's branch is taken, backwards. Instructions of the iteration that it ends, if that did
 * nothing but wait; else 0. */
uint32_t spin_watch_close(struct spin_watch *watch, uint32_t branch);
