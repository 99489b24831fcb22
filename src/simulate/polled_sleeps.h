/* Sleeps of a thread that polls: it sleeps, looks at a word, and sleeps again until another thread
 * has written it. How often it does so follows from time, and the captured run took longer than the
 * program does: it has more rounds. So a sleep that only the captured run needs, for what the
 * thread looks for has been written in simulated time, is not slept.
 *
 * What is taken for polling: the same instruction reads the same word in each round, from one sleep
 * to the next, and the next conditional branch goes the same way; then it reads what another has
 * written (struct trace_order), and the branch goes another way. Who sleeps a number of times and
 * looks at a counter meanwhile goes on as it did.
 *
 * Likewise of a thread that waits for events with a time limit, again and again, until there is one
 * (a loop with a heartbeat), and reads then what another has written to a pipe or the like: that
 * ends the wait in which it is. Where it had no limit in the end, or one that is much longer, the
 * limits before were of timers, which have run out in any case; and so where the writer did not
 * work meanwhile, but waited in a call, perhaps for this thread. */
#pragma once

#include "trace/thread_event_list.h"
#include "trace/trace.h"
#include "util/error.h"

struct polled_sleeps {
    struct polled_sleep {
        size_t event; /* place in the list of events */
        struct trace_order order;
        bool wakes; /* what is written ends the sleep; else that goes on to its time */
    } * sleeps;     /* by event, ascending */
    size_t count, capacity;
};

/* The thread's, behind those of the threads before it. The trace is the file at `path`, and has
 * been read to its end. Reads the thread once, in bounded memory: of very many words some are
 * forgotten. A thread that sleeps less than twice, or with much work between, `insns` in all, is
 * not read: of that only what the list of events tells is known. */
bool polled_sleeps_find(struct polled_sleeps *sleeps, const char *path, struct trace *trace,
                        const struct thread_event_list *events, uint32_t thread, uint64_t insns,
                        struct error *error);
void polled_sleeps_free(struct polled_sleeps *sleeps);

/* What the sleep ends for; NULL: not for another thread. */
const struct polled_sleep *polled_sleep_at(const struct polled_sleeps *sleeps, size_t event);
