/* Off-processor time: from the moment that a thread leaves its processor to the moment that it runs
 * again, at the place and with the callers that it left with. A thread that left of its own accord
 * was blocked (off-cpu); one that was made to leave could have run (run-queue). */
#pragma once

#include "live/live.h"

struct waits_options {
    bool placed;                             /* threads about to leave are sampled */
    uint32_t blocked, runnable;              /* numbers of the events that waits are delivered as */
    uint64_t scheduler_start, scheduler_end; /* the kernel's text of the scheduler, whose frames say
                                                nothing of why; equal: not known */
};

struct waits;

/* NULL: out of memory. `sink` is copied. */
struct waits *waits_new(const struct waits_options *options, const struct live_sink *sink);
void waits_free(struct waits *waits);

/* Of a thread that is about to leave its processor: process, place, callers; copied. False: out of
 * memory. */
bool waits_place(struct waits *waits, const struct live_sample *sample);
/* It has left. `sample`: of what is known without waits_place(): process, thread, processor.
 * False: out of memory. */
bool waits_leave(struct waits *waits, const struct live_sample *sample, uint64_t time,
                 bool runnable);
/* A thread that was not seen to leave waits since then, unless something shows that it runs. */
bool waits_assume(struct waits *waits, const struct live_sample *sample, uint64_t time);
void waits_runs(struct waits *waits, uint32_t thread);
/* It runs again: its wait goes to the sink. `since_1970`: what to add to a time. */
bool waits_return(struct waits *waits, uint32_t thread, uint64_t time, int64_t since_1970,
                  struct error *error);
void waits_forget(struct waits *waits, uint32_t thread); /* it has ended */
/* Threads of which this may not have been told, where what is told was lost: how long they waited
 * is not known. */
void waits_forget_where(struct waits *waits, bool (*has_ended)(uint32_t pid, uint32_t thread));
/* For tests: threads that are kept. */
size_t waits_count(const struct waits *waits);
/* All that still wait, up to this time. */
bool waits_finish(struct waits *waits, uint64_t time, int64_t since_1970, struct error *error);
