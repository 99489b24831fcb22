/* Two runs side by side, of two builds of a program or of one on other inputs: which functions take
 * more or fewer cycles, by which cause, in which line.
 *
 *     instructions of each ──► lines ──► functions, matched by name ──► changes, largest first
 *
 * A function is matched by its name and its image's, whatever compilers put behind the name (pieces
 * as foo.cold and foo.isra.0 are one with foo). The program of each run that has most cycles of
 * those that the other run lacks is taken for a build of the same one; where that is none, the
 * library. Lines are matched within their function, in their order, so that as many as possible
 * have the same instructions or the same distance from its first line (Needleman and Wunsch 1970),
 * and then those that are left between two such pairs, if they are as many in both.
 *
 * Of the earlier run not all need be kept (compared_summary.h). What is not there was no costlier
 * than the costliest that was left out: only what is above that counts as a change. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/error.h"

enum { COMPARED_CAUSES = 12, COMPARED_INLINES = 4 };

/* Cycles are in units of 1/840; by cause they sum to `units`. */
struct compared_cost {
    uint64_t units, executions;
    uint64_t causes[COMPARED_CAUSES];
};

void compared_cost_add(struct compared_cost *sum, const struct compared_cost *cost);

enum { COMPARED_KINDS = 256 };

/* Of a place that stands for several instructions, in a run of which not all is kept: those of a
 * line, or those of a function that are in none of its lines. */
struct compared_sum {
    bool rest;         /* of a function; else of a line */
    uint32_t shape;    /* of a line, as of struct compared_line; likewise the next */
    uint64_t distance; /* where its function's first line is not kept */
    uint64_t most;     /* of a rest: the costliest line in it had so many units */
    /* Of a rest: how many of the instructions of the whole function are of each kind, and their
     * number; 0 and NULL: it is not known. */
    uint32_t instructions;
    const uint16_t *kinds;
};

/* An instruction that was executed, or several (`sum`). */
struct compared_place {
    const char *image, *function, *file; /* file NULL: not known */
    const char *own_image; /* `image` is that of the earlier build, where both are builds of one */
    const char *text;      /* assembly */
    uint64_t offset;       /* in the image */
    uint32_t line;         /* 0: not known */
    const char *type;      /* that it accesses; NULL: not known */
    uint64_t type_size;    /* bytes */
    /* Functions inlined there, the innermost first; NULL behind the last. */
    const char *inlined[COMPARED_INLINES];
    /* compared_runs_find(): the function that it lies in, where `function` is one inlined there
     * that stands alone in the other run; else NULL. */
    const char *within;
    const struct compared_sum *sum; /* NULL: one instruction */
    struct compared_cost cost;
};

/* A file of the system that code lies in: no part of what is built, but of what runs. */
struct compared_library {
    const char *name;
    uint64_t build; /* the beginning of its build id */
};

struct compared_run {
    struct arena names; /* of the strings */
    const char *title, *machine;
    uint64_t elapsed;     /* cycles */
    double half_interval; /* of `elapsed`, 95 %; 0: exact; −1: not known */
    bool limited;         /* not all of the run */
    struct compared_cost all;
    struct compared_place *places;
    size_t count, capacity;
    struct compared_library *libraries;
    size_t library_count, library_capacity;
    size_t known;    /* so many of the places were there before: by image and offset */
    uint32_t joined; /* runs that it is the sum of; 0 and 1: it is one */
    /* Of the functions that are not kept, which are summed up in one without an image: the
     * costliest had so many units. 0: all are kept. */
    uint64_t most_left_out;
};

/* Adds an instruction, or a sum of several, with copies of its strings, and its cost to that of the
 * run. */
bool compared_run_add(struct compared_run *run, const struct compared_place *place,
                      struct error *error);
/* Adds a library, with a copy of its name, unless one of that name is there. */
bool compared_run_add_library(struct compared_run *run, const char *name, uint64_t build,
                              struct error *error);
/* compared_run_add() of a run that is the sum of several of one program, as under several layouts:
 * an instruction that was there before compared_run_next() gets the cost. */
bool compared_run_join(struct compared_run *run, const struct compared_place *place,
                       struct error *error);
/* The next of the runs begins. */
void compared_run_next(struct compared_run *run);
/* What the runs took on the average; parts still sum to the whole. */
void compared_run_average(struct compared_run *run);
void compared_run_free(struct compared_run *run);

/* Instructions of one line; or one that has no line. */
struct compared_line {
    const struct compared_place *place; /* the costliest of them */
    struct compared_cost cost;
    uint32_t shape;    /* a number of its mnemonics in their order */
    uint64_t distance; /* from the function's first line in that file, or its first instruction */
};

struct compared_function {
    const char *name, *image;
    struct compared_cost cost;
    const struct compared_place *places;
    size_t place_count;
    struct compared_line *lines; /* by file and line, or offset */
    size_t line_count;
    const struct compared_sum *rest; /* not all lines are kept; NULL: all are */
};

struct compared_change {
    const struct compared_function *sides[2]; /* before, after; one may be NULL */
    int64_t units;                            /* after − before */
    unsigned cause;                           /* that changed most, in the direction of `units` */
    int64_t cause_units;
    const struct compared_line *lines[2]; /* where that changed most; one may be NULL; both: nothing
                                             changed, or nothing that is kept */
    /* Accesses to a type of that name whose size is another now; NULL: none is known. */
    const struct compared_place *types[2];
};

struct compared_runs {
    const struct compared_run *runs[2];
    struct compared_function *functions[2];
    size_t function_counts[2];
    struct compared_line *lines[2];
    const char *builds[2]; /* images taken for builds of one program; NULL: all are matched by name
                            */
    struct compared_change *changes; /* largest first, whatever its sign */
    size_t change_count;
};

/* Refers to the runs, which outlive it and whose places are sorted. compared_runs_free() either
 * way. */
bool compared_runs_find(struct compared_run *before, struct compared_run *after,
                        struct compared_runs *runs, struct error *error);
void compared_runs_free(struct compared_runs *runs);
