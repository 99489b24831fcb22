/* The run in time: cycles of each thread by component, as the golden reference gives them to
 * instructions, and its instructions, over instructions executed or over cycles; and, of threads
 * that are simulated together, what they did. Each in some hundred stretches of one length,
 * however long the run is. */
#pragma once

#include "attribute/component.h"
#include "tap/tap.h"
#include "util/time_buckets.h"

enum {
    SERIES_INSTRUCTIONS = COMPONENT_COUNT, /* the column behind those of the components, which are
                                                in units */
    SERIES_COLUMNS,
    SERIES_DOING = 7,     /* columns of what threads did: enum course_activity */
    SERIES_BUCKETS = 512, /* of a thread, at most */
    SERIES_THREADS = 256  /* the first ones; what others did is not kept */
};

struct series_thread {
    uint32_t process, thread;
    struct time_buckets cycles; /* SERIES_COLUMNS */
    struct time_buckets doing;  /* SERIES_DOING, over cycles; empty: not known */
    bool by_cycle;
    uint64_t position;                      /* instructions that committed */
    uint8_t component_of[PSV_COMBINATIONS]; /* of each signature */
};

struct time_series {
    bool by_cycle; /* else over instructions of the thread */
    struct series_thread *threads[SERIES_THREADS];
    uint32_t thread_count;
    bool left_out; /* there were more */
    bool out_of_memory;
};

struct time_series *time_series_new(bool by_cycle); /* NULL: out of memory */
void time_series_free(struct time_series *series);
/* The thread, which becomes part of it at the first call. NULL: it is not kept. */
struct series_thread *series_thread(struct time_series *series, uint32_t process, uint32_t thread);
/* For the tap of the thread's core. */
struct tap_worker series_worker(struct series_thread *thread);
/* Once all is in: false: memory ran out, and some is missing. */
bool time_series_is_whole(const struct time_series *series);
