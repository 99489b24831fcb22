/* The threads of a program on the cores of one chip (memory/shared.h), in simulated time.
 *
 * Each guest thread has a reader of its own of the trace file. Locks and barriers of the C library
 * are known by the names of their entries (lock_entries.h): in simulated time they are had by who
 * comes first, and whoever comes while another has one waits, whatever the captured run did. Other
 * waits are for what the thread waited for then (trace/thread_event.h): it goes on when another
 * thread has done, in simulated time, what released it; where that was done before, it does not
 * wait. So how the emulator scheduled the program does not count, and neither does the time that
 * the kernel took. Where threads wait for each other in a circle, which the captured run did not,
 * one is let go, and that is counted. The program ends when the first thread ends it.
 *
 * The thread that is behind runs next, until it is `slack` cycles ahead of the one that is then
 * behind. A request for a line arrives at the core that has it chip.request_latency or half of a
 * transfer after it was made (memory/coherence.h), and stores and atomics ask in the order of
 * cycles (core_run()): with a slack of no more than that it hardly matters which thread is computed
 * first. Results do not depend on host threads or their number.
 *
 * Threads that are ready take a free core, the one they had if they can, or that which they are
 * kept on; when there is none they wait, and running ones take turns of `turn` cycles. Processes of
 * a trace are simulated one after the other, each on an empty chip. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/shared.h"
#include "simulate/thread_course.h"
#include "simulate/together_affinity.h"

/* Told of every transfer between cores and every upgrade, with the threads. */
struct line_move {
    struct coherence_event event;
    uint32_t process, thread; /* whose access it is */
    const uint32_t *threads;  /* by core: that runs there, or did last; UINT32_MAX: none has */
};
struct together_watch {
    void (*see)(void *context, const struct line_move *move);
    void *context;
};

/* What a thread ran on the critical path: from one cycle to another of those that it ran. */
struct path_segment {
    uint32_t thread;
    uint64_t begin, end;
};

/* A thread in a state, of a run that is simulated in full. */
enum { THREAD_SPANS_MOST = 1 << 20 };
struct thread_span {
    uint32_t thread;
    uint8_t state;       /* enum thread_state */
    uint64_t begin, end; /* cycles, of processes one after the other */
};

struct line_remedies;
struct lock_remedies;
struct together_plan;
struct region_forks;
struct work_profile;
/* What threads hand to each other under locks (lock_messages.h), by thread. It depends on the trace
 * alone: the first simulation finds it, those after it, which may run at once, know it. */
struct together_messages {
    struct thread_messages {
        struct trace_order *items;
        size_t count;
        bool known;
    } * of;
    uint32_t count; /* threads */
};
void together_messages_free(struct together_messages *messages);

struct together {
    const char *path; /* trace file with addresses; it is read once per thread */
    uint32_t cores;   /* 0: the machine's chip.cores */
    uint32_t slack;   /* cycles; 0: what is usual for the machine */
    uint64_t turn;    /* cycles; 0: TOGETHER_TURN_SECONDS of the machine's clock */
    const struct together_affinity *affinity; /* of cores that there are; NULL: any core */
    struct together_watch watch;              /* of all processes */
    const struct line_remedies *remedies;     /* lines laid out anew (line_remedy.h); NULL: none */
    const struct lock_remedies *locks;        /* that cost less (lock_remedy.h); NULL: none */
    bool tell_path;                           /* the result has the segments of the critical path */
    bool tell_spans; /* and the first THREAD_SPANS_MOST of what threads did when */
    /* Nothing is simulated: threads go through their instructions at one pace, and this is shown
     * them. NULL: they are simulated. */
    struct work_profile *profile;
    const struct together_plan *plan; /* regions stand for the run; NULL: all is simulated */
    struct region_forks *forks;       /* with `plan`: of its regions (region_forks.h); NULL: none */
    struct together_messages *messages; /* of this trace; NULL: they are found anew */
};
/* A thread that is to wait calls the kernel, which looks at the word once more before it lets the
 * thread sleep: what comes within so many nanoseconds finds it awake. Measured, as what a
 * futex(FUTEX_WAIT) takes whose word has changed: 300 (docs/results/threads-host.md). */
enum { TOGETHER_FALL_ASLEEP_NS = 300 };
#define TOGETHER_TURN_SECONDS 0.003 /* sched(7): the least time slice of Linux' default policy */

/* Where a thread was in each cycle from its creation to its end. */
enum thread_state {
    THREAD_RUNNING,  /* on a core */
    THREAD_READY,    /* no core was free */
    THREAD_LOCKED,   /* waits for a lock that another thread has */
    THREAD_WAITING,  /* for another thread otherwise: a barrier, a signal, its end */
    THREAD_SLEEPING, /* for a time that it had asked for */
    THREAD_SPINNING, /* for what another thread writes, without a system call */
    THREAD_STATES
};
struct together_thread {
    uint32_t thread, process;
    bool known;                     /* it was simulated */
    uint64_t begin, end;            /* cycles of its process */
    uint64_t cycles[THREAD_STATES]; /* they sum to end − begin */
    uint64_t instructions;
    uint64_t waits;        /* that took time */
    uint64_t stack_cycles; /* running, as the profile has them */
};

/* Waits of one kind: for one lock, barrier or event, by one line of code, because of another. */
enum together_reason {
    WAIT_FOR_LOCK,
    WAIT_AT_BARRIER,
    WAIT_FOR_EVENT,
    WAIT_FOR_END, /* of another thread */
    WAIT_SPINNING /* for what another thread writes */
};
struct together_wait {
    uint64_t address; /* of the lock's word, of the futex, or of what is written */
    uint32_t process;
    uint8_t reason;  /* enum together_reason */
    uint32_t waiter; /* static instruction: the call that led to the wait, or what reads what is
                        written; UINT32_MAX: not known */
    uint32_t other;  /* likewise that by which the lock had been taken, or the last thread came to
                        the barrier, or that led to the event, or what writes */
    uint64_t count, cycles;
    uint64_t waking; /* of these cycles: since the thread was woken (chip.wake_latency) */
    uint64_t passes, path_cycles; /* how often the critical path goes through one, and so many of
                                     its cycles lie where that is waited for (thread_course.h) */
};

/* The same threads on another number of cores, for what a report says of scaling. */
enum { TOGETHER_SCALES = 8 };
struct together_scale {
    uint32_t cores;
    uint64_t cycles;
    struct course_counts *counts;
    uint64_t *units; /* of its cycles by signature: PSV_COMBINATIONS */
};

struct together_result {
    bool done;   /* threads were simulated together */
    bool placed; /* on cores as asked */
    uint32_t cores;
    uint64_t cycles;  /* from beginning to end, of processes one after the other */
    uint32_t regions; /* that stand for the run; 0: all was simulated */
    double interval;  /* with regions: half of the 95 % interval of `cycles`; −1: it
                         is not known */
    struct together_thread *threads; /* by number */
    uint32_t thread_count;
    struct course_counts *counts;  /* of all processes */
    struct course_thread *courses; /* by number */
    struct course_sum course;
    struct path_segment *segments; /* of the critical path, in no order, if they are wanted */
    size_t segment_count, segment_capacity;
    bool segments_failed;      /* memory ran out */
    struct thread_span *spans; /* in the order of their ends, if wanted */
    size_t span_count, span_capacity;
    uint64_t spans_dropped;                /* that found no room */
    struct coherence_statistics coherence; /* of all cores */
    struct together_wait *waits;           /* most cycles first */
    size_t wait_count, wait_capacity;
    struct together_scale scales[TOGETHER_SCALES]; /* of other runs; filled in by who made them */
    uint32_t scale_count;
    uint64_t diverged; /* waits that were ended because nothing else could go on */
    uint64_t orders;   /* reads of what another thread had written, in the order of the captured
                          run, for the C library's routines do not do them */
    uint64_t handed;   /* times that one took under a lock what another had left there, as in the
                          captured run (lock_messages.h) */
    uint64_t cut;      /* instructions that other threads executed in the captured run and that lie
                          behind the end of the program in simulated time: left out */
    uint64_t spun;     /* instructions of rounds of spinning that were left out */
    uint64_t polls;    /* sleeps of threads that poll, which were left out (polled_sleeps.h) */
    uint64_t unexplained;   /* waits of which the captured run does not tell what ended them */
    uint64_t blocked;       /* system calls that waited for the world, for no simulated time */
    double blocked_seconds; /* in the captured run */
    uint64_t wake_calls;    /* that woke a thread, and took chip.wake_cost */
};
void together_result_free(struct together_result *result);

struct simulation_state;
struct error;
/* Runs the simulation's trace, which has been read to its end. */
bool together_run(struct simulation_state *run, struct error *error);
