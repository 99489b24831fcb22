/* Which call released each wait at a futex, found from tickets and results: a wake of which the
 * kernel said that it released n waits released n of those that were under way while it lasted.
 * When several could have released the same wait, one of them is taken so that as many waits as
 * possible have one.
 *
 * Waits and wakes meet by address within a process: what another process does in memory that both
 * share is not paired. */
#pragma once

#include "trace/thread_event_list.h"

struct wake_pairs {
    /* By place in the list: the place of the event that released this one, which is a
     * THREAD_EVENT_WAIT with result 0; WAKE_PAIRS_NONE for all others. The releasing event is a
     * THREAD_EVENT_WAKE, at the wait's address or, behind a move, at that which it was moved to,
     * or the THREAD_EVENT_EXIT of a thread that was waited for. A wait that came too late to begin
     * (EAGAIN) has the wake that went before it: in simulated time it may come in time. */
    size_t *released_by;
    /* By place: of a wait whose time limit ran out, what released the next wait of its thread there
     * that did not end so, with nothing but such waits there in between: where time passes in
     * another way than in the captured run, that may happen before the limit. WAKE_PAIRS_NONE for
     * all others. */
    size_t *released_later;
    size_t waits;    /* that returned 0 */
    size_t released; /* of them, those that are paired */
};
#define WAKE_PAIRS_NONE SIZE_MAX

/* The list must not change. False: out of memory, and *pairs is empty. */
bool wake_pairs_find(const struct thread_event_list *list, struct wake_pairs *pairs,
                     struct error *error);
void wake_pairs_free(struct wake_pairs *pairs);

/* Whether waits at these two addresses are for the same thing. */
bool wake_pairs_same_object(uint64_t address, uint64_t other);
