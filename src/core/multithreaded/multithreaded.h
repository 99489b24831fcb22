/* The chip, inside. Only the files of this folder include this.
 *
 *     chip_push() ──► turns of each thread ──► chip_core_run(): one core by itself, from L2
 *      (input.c)                               request to L2 request (issue.c) ──► the shared L2
 *                                              (shared.c)
 *
 * Cores meet only in the L2. So each runs alone until one of its threads asks for a line there, and
 * rests; of all that rest, the one that asks first (then the one with the lowest number) is served
 * and runs on. Requests thus come to the L2 in the order of cycles, without stepping through
 * cycles.
 *
 * What does not depend on time is settled at chip_push(): branches meet their predictor, lines of
 * code and penalties are known, and runs of instructions that only take a cycle each are one turn
 * with a count. */
#pragma once

#include <assert.h>

#include "branch/branch.h"
#include "core/multithreaded/chip.h"
#include "core/multithreaded/penalties.h"
#include "memory/cache.h"
#include "memory/frame.h"
#include "memory/tlb.h"

enum { CHIP_MAX_THREADS = 16 }; /* of a core */
#define NEVER UINT64_MAX

enum turn_kind {
    TURN_PLAIN,  /* `count` instructions without access, one turn each */
    TURN_ACCESS, /* `count` lines from `address` on, one turn each */
    TURN_FETCH,  /* no turn: the line of `address` is looked up before what follows */
    TURN_END     /* no turn: the program has ended */
};
struct turn {
    uint64_t address;
    uint32_t count;
    uint32_t wait : 24; /* cycles before the thread is ready, beyond the one of each turn */
    uint32_t cause : 3; /* of it, enum suspension */
    uint32_t kind : 2;  /* enum turn_kind */
    uint32_t last : 1;  /* of an access: ends its instruction */
};
static_assert(sizeof(struct turn) == 16, "one or two for each instruction of every thread");

struct hardware_thread {
    struct turn *turns; /* [at, end) are to come */
    size_t at, end, capacity;
    uint32_t left;    /* of the count of turns[at] */
    uint64_t address; /* of its next line */
    uint32_t space;   /* number in the chip */
    bool has_run;     /* its program, once */
    bool walked;      /* it has waited for the translation that it needs next */
    struct chip_thread_statistics now, first;

    /* Input: the program so far. */
    struct branch_predictor *predictor; /* NULL: the thread is idle */
    uint64_t line;                      /* of code, fetched last; NEVER: none */
    bool begun;                         /* it has an instruction */
    bool holding; /* the turn `held` of the branch `branch` waits for its successor */
    struct turn held;
    struct {
        uint64_t address;
        uint8_t kind, length;
        bool taken;
    } branch;
};

/* When a thread acts next, as a number that sorts as the core acts: by cycle; in a cycle the issue
 * comes first, then look-ups of lines of code in the order of the threads' numbers. NEVER: it is
 * idle. */
enum next_bits { NEXT_ORDER = 15, NEXT_LOOK_UP = 16, NEXT_SHIFT = 5 };
static inline uint64_t next_issue(uint64_t cycle) {
    return cycle << NEXT_SHIFT;
}
static inline uint64_t next_look_up(uint64_t cycle, uint32_t thread) {
    return cycle << NEXT_SHIFT | NEXT_LOOK_UP | thread;
}

/* What a core asks the L2 for. */
struct line_request {
    uint64_t address; /* physical */
    uint32_t thread;  /* of the core */
    bool fetch;       /* into the L1I */
};

struct chip_core {
    uint64_t clock;                  /* cycle that it has come to */
    uint64_t slot;                   /* first cycle in which it can issue: after the last issue */
    uint32_t last;                   /* thread that issued last */
    bool asks;                       /* rests with `request` */
    uint64_t next[CHIP_MAX_THREADS]; /* see below */
    struct line_request request;
    struct hardware_thread *threads;
    struct cache l1i, l1d;
    struct tlb itlb, dtlb;
};

struct chip {
    struct machine machine;
    struct chip_penalties penalties;
    struct chip_source source;
    uint32_t cores, threads_per_core, page_shift;
    uint64_t cycle; /* that it has run to */
    bool begun;
    uint64_t unfinished;             /* threads whose program has not run once */
    struct hardware_thread *threads; /* [cores × threads_per_core] */
    struct chip_core *core;          /* [cores] */
    struct cache l2;
    uint64_t bank_free[64], asked; /* by bank, the first cycle in which it takes a request; cycle of
                                      the last request */
    struct error error;
    bool failed; /* with `error`; nothing runs any more */
};

/* ---- issue.c ---- */

/* Lets the threads begin with their first turns. */
void chip_core_begin(struct chip *chip, struct chip_core *core);
/* Runs to the end of cycle `until` or until it asks. */
void chip_core_run(struct chip *chip, struct chip_core *core, uint64_t until);
/* The line asked for is at the core in cycle `there`; `missed`: from memory. */
void chip_core_answer(struct chip *chip, struct chip_core *core, uint64_t there, bool missed);

/* ---- shared.c ---- */

/* Serves the core's request. No other core has an earlier one. */
void shared_serve(struct chip *chip, struct chip_core *core);
