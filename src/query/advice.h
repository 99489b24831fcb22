/* What to try in the costliest loops, and what it would save at most: the cost of a cause, as
 * simulations without it tell (simulate/sampled_multisim.h), in proportion to the cause's cycles
 * that the code has where the remedy would apply; that it applies, the code tells
 * (analyze/loop_body.h). Each kind is a row of the table. Nothing is advised without a saving. */
#pragma once

#include "query/rows.h"
#include "query/struct_map.h"
#include "simulate/multisim_costs.h"

enum advice_kind {
    ADVICE_BRANCH,
    ADVICE_PREFETCH,
    ADVICE_LOCALITY,
    ADVICE_PAGES,
    ADVICE_FORWARD,
    ADVICE_CODE,
    ADVICE_DIVIDE,
    ADVICE_VECTOR,
    ADVICE_SPLIT,
    ADVICE_FIELDS,  /* of a struct, which was simulated laid out anew (study/struct_run.h) */
    ADVICE_PADDING, /* of threads; these two are simulated with the remedy (thread_what_if.h) */
    ADVICE_COPIES,
    ADVICE_KINDS
};

struct advice_row {
    const char *name;     /* "prefetch" */
    const char *evidence; /* whose share of the run's cycles the evidence is; of ADVICE_SPLIT a
                             share of its instructions' executions */
    const char *sentence; /* what to try */
    const char *check;    /* a verb and options that tell more */
    unsigned ideal;       /* the cause, one of enum ideal; 0: none, what is left is computed */
};
extern const struct advice_row advice_table[ADVICE_KINDS];

struct advice {
    enum advice_kind kind;
    double saving, half_interval; /* share of the run's cycles */
    double evidence;              /* likewise */
    const char *image;            /* where: a loop's head, or an instruction */
    uint64_t offset, function_offset;
    const char *function, *file;  /* NULL: not known */
    uint32_t line;                /* 0: not known */
    bool everywhere;              /* in the whole program, most of it here */
    unsigned lanes;               /* of ADVICE_VECTOR: elements of a vector */
    uint64_t splits;              /* of ADVICE_SPLIT: loads and stores that lie in two lines */
    uint64_t lines;               /* of ADVICE_PADDING and ADVICE_COPIES, which have no place: of
                                     memory; no image then */
    const struct struct_map *map; /* of ADVICE_FIELDS, which has no place either */
    uint64_t least;               /* likewise: accesses that a hot field has */
};

enum { ADVICE_MOST = 5 };

struct advice_request {
    const struct simulation *simulation;
    const struct code *code;
    struct program *program;
    const struct machine *machine;
    const struct multisim_cost *costs; /* by category */
    struct multisim_cost split;        /* of accesses in two lines */
    double translation;                /* share of the run's cycles for which accesses waited for
                                          translations, each by itself: at most that is saved */
    double bus; /* share of the run's cycles for which the memory's bus is busy: what is left */
};

#define ADVICE_LEAST 0.01 /* of the run; what saves less is not told */

/* The largest savings first; returns how many, or −1 with an error. */
int advice_find(const struct advice_request *request, struct advice advices[ADVICE_MOST],
                struct error *error);
