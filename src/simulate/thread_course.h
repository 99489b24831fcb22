/* What the threads of a process were doing when, while they are simulated together: how many ran or
 * waited at the same time, and who ended whose wait. From that come
 *
 * - what cores were used for, and why they were not (speedup stacks: Eyerman, Du Bois and
 *   Eeckhout 2012);
 * - of each thread, its share of the run time (bottle graphs: Du Bois et al. 2013): a cycle in
 * which k threads run counts 1/k for each of them;
 * - the critical path: backwards from the thread that ended the program, or else last, over the
 *   waits to the threads that ended them.
 *
 * Threads are simulated some cycles ahead of each other, so that what is told is not in order of
 * cycles; it is put in order here. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a thread does. One that is not there does nothing that counts. */
enum course_activity {
    COURSE_RUNNING,
    COURSE_READY, /* no core was free */
    COURSE_LOCK,
    COURSE_BARRIER,
    COURSE_EVENT, /* what another thread does: a signal, a wake */
    COURSE_SLEEPING,
    COURSE_JOIN, /* the end of another thread */
    COURSE_ABSENT,
    COURSE_ACTIVITIES
};

enum { COURSE_MOST = 64 /* cores; threads are counted up to so many */ };

/* How long how many threads did what, at the same time. */
struct course_counts {
    struct {
        uint64_t cycles;
        double parts[COURSE_JOIN]; /* cycles by what those wait for who do: they sum to `cycles` if
                                      any waits. Those of RUNNING are 0 */
    } waiting[COURSE_MOST + 1][COURSE_MOST + 1]; /* [running][waiting but for others' end] */
    /* [of these, running or waiting][waiting for others' end] */
    uint64_t joining[COURSE_MOST + 1][COURSE_MOST + 1];
};

/* What became of the cycles of so many cores. */
struct course_cores {
    uint32_t cores;
    uint64_t cycles; /* of the run */
    double running;  /* cycles × cores is the sum of this, the others and `nothing` */
    double waiting[COURSE_ACTIVITIES];
    double nothing; /* there were fewer threads than cores */
    double beyond;  /* more threads ran than there are cores here: in none of the above */
};
/* A core without a thread waits for what the threads wait for that have none: if they are more than
 * such cores, for each a part; for others' end only what cores are then left. */
struct course_cores course_cores(const struct course_counts *counts, uint32_t cores);
/* Cores that a program can use: as many threads as were there at once, for a hundredth of the time
 * at least, without those that waited for another's end. 1 to COURSE_MOST. */
uint32_t course_demand(const struct course_counts *counts);

/* A thread's part of its process. */
struct course_thread {
    double height;   /* cycles: its share of those in which any thread ran */
    uint64_t active; /* cycles that it ran */
    /* Of the critical path, cycles that it was doing this; those in which it waited count only
     * where nobody ended the wait. */
    uint64_t critical[COURSE_ACTIVITIES];
};

#define COURSE_NOBODY UINT32_MAX

/* The course of a process. */
struct thread_course;
enum { COURSE_STEPS = 1 << 20 };
/* `most_steps`: at least 1; of more than so many waits the oldest are forgotten (0: COURSE_STEPS).
 * NULL: out of memory. */
struct thread_course *course_new(uint32_t threads, size_t most_steps);
void course_free(struct thread_course *course);
/* Before anything is told: what comes before this cycle counts for nothing. */
void course_from(struct thread_course *course, uint64_t cycle);

/* What the thread does from here on is also added there, by enum course_activity. */
struct time_buckets;
void course_watch(struct thread_course *course, uint32_t thread, struct time_buckets *doing);

/* A thread does something else from a cycle on, which is not before that of its last change. It
 * begins ABSENT. */
void course_change(struct thread_course *course, uint32_t thread, enum course_activity activity,
                   uint64_t cycle);
/* The same of one that begins, made by another (COURSE_NOBODY: by none that is known). */
void course_begin(struct thread_course *course, uint32_t thread, uint32_t creator, uint64_t cycle);
/* What the thread waits for is about to end, by another thread's deed; COURSE_NOBODY, as if this
 * was not called: by none. `wait`: any number that the critical path is to tell of. */
void course_ends_wait(struct thread_course *course, uint32_t thread, uint32_t ender, uint32_t wait);
/* The thread has ended the program, in this cycle: the critical path begins there. What others did
 * afterwards, because the captured run took longer, nobody waited for. The first one counts. */
void course_exit(struct thread_course *course, uint32_t thread, uint64_t cycle);
/* Nothing that is yet to be told lies before this cycle. Call it often. */
void course_advance(struct thread_course *course, uint64_t cycle);

/* The critical path, told of each wait that it passes: how many cycles of it lie within the wait,
 * in which another thread did what was waited for. */
struct course_path {
    void (*pass)(void *context, uint32_t wait, uint64_t cycles);
    /* The thread ran on the path, from one cycle to another of those that it ran (its first is 0).
     * Later ones are told first. NULL: not asked for, and none is told where waits were forgotten.
     */
    void (*run)(void *context, uint32_t thread, uint64_t begin, uint64_t end);
    void *context;
};
/* Ends the course: adds it to the counts, to the threads (by number) and to the sum. `active`:
 * cycles in which any ran; `unknown`: at the beginning of the path, what was forgotten.
 * `end`: the cycle of the last thread's end; 0: the run was cut short, there is no path. False:
 * memory ran out, on the way. */
struct course_sum {
    uint64_t active, unknown;
};
bool course_end(struct thread_course *course, uint64_t end, const struct course_path *path,
                struct course_counts *counts, struct course_thread *threads,
                struct course_sum *sum);
