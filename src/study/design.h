/* A space of designs: programs x machines x settings of machines, and what each point of it takes.
 *
 *     programs ──► captured once, each (study/design_capture.h)
 *     machines x values of each key ──► points, simulated side by side from what was captured
 *         ──► cycles, their interval, their components
 *
 * A point is simulated by one job at a time, so that what comes of it does not depend on how many
 * jobs there are. Results are kept in a folder, if one is named: what is there is not simulated
 * again (study/design_kept.h). A point that fails says why, and the others go on. */
#pragma once

#include "attribute/component.h"
#include "cluster/cluster_options.h"
#include "study/design_capture.h"

enum { DESIGN_MOST_AXES = 16, DESIGN_MOST_PROGRAMS = 100, DESIGN_MOST_POINTS = 10000 };

/* What varies: the machine, or a key of it; the values as they were written. */
struct design_axis {
    char *key; /* "l2.size"; of machines NULL */
    char **values;
    size_t count, capacity;
};

struct design_program {
    const char *name;           /* the caller's, as is what `input` refers to */
    struct input_options input; /* command or trace */

    struct design_capture capture;
    bool captured;
    int exec_status; /* why the command could not be run; 0: it could */
    struct error failure;
};

enum design_state {
    DESIGN_OPEN, /* not simulated, as the study was interrupted before */
    DESIGN_DONE,
    DESIGN_KEPT, /* done by an earlier study */
    DESIGN_FAILED
};

struct design_result {
    uint64_t cycles;       /* of the run: of threads that were simulated together, elapsed */
    uint64_t instructions; /* of all threads */
    double half_interval;  /* 95 %, in cycles; 0: exact; below: not known */
    uint64_t components[COMPONENT_COUNT]; /* units, of all threads together */
};

struct design_point {
    uint32_t program, machine;         /* numbers; of the one default machine 0 */
    uint32_t values[DESIGN_MOST_AXES]; /* of each axis */
    char machine_name[64];             /* once it is known, as the next three */
    double clock_ghz, cost;            /* cost: NAN where there is no formula */
    char key[DESIGN_KEY];              /* of what it depends on */
    enum design_state state;
    struct design_result result; /* of DONE and KEPT */
    struct error failure;        /* of FAILED */
};

struct design {
    /* Set before. */
    struct watch *watch;
    const char *version; /* of culprit: results of another one are not taken */
    struct design_program *programs;
    size_t program_count;
    struct design_axis machines; /* count 0: the default one */
    struct design_axis axes[DESIGN_MOST_AXES];
    size_t axis_count;
    const char *cost; /* formula (util/arithmetic.h) of keys of machines; NULL: none */
    uint64_t over;    /* instructions; longer runs are simulated by regions */
    uint32_t regions;
    uint32_t jobs; /* 0: one for each processor; on a cluster, as many as it gives */
    const struct cluster_options *cluster; /* that simulates the points; needs `keep`, which all its
                                              nodes see. NULL: this machine */
    const char *keep; /* folder, made if it is missing; NULL: a temporary one */

    /* Program by program, of each machine by machine, of each the last axis varies fastest. */
    struct design_point *points;
    size_t point_count;
    size_t simulated, kept, failed; /* of them */
    int signal;                     /* that ended it before all were done; 0: none did */
    struct error late;              /* a result could not be kept; empty: all were */
    char *folder;
};

/* "l2.size=256K,512K"; "zen4,zen5". False with an error that does not name the option. */
bool design_add_setting(struct design *design, const char *text, struct error *error);
bool design_add_machines(struct design *design, const char *text, struct error *error);

/* Before anything runs: whether all machines, keys and values are known ones, and the cost can be
 * told; makes the points. What machines do not allow together is found later, point by point. */
bool design_prepare(struct design *design, struct error *error);
/* An interrupt is no error once a point is done. False: no program could be captured, and
 * *exec_status is as of trace_capture(). */
bool design_go(struct design *design, int *exec_status, struct error *error);
void design_free(struct design *design);

/* The value of an axis, or the machine, at a point. */
const char *design_value(const struct design *design, const struct design_point *point,
                         size_t axis);
static inline bool design_point_is_done(const struct design_point *point) {
    return point->state == DESIGN_DONE || point->state == DESIGN_KEPT;
}
/* Points of each program, that is, configurations: machines x values. */
static inline size_t design_configurations(const struct design *design) {
    return design->program_count ? design->point_count / design->program_count : 0;
}
/* A point of it, of the first program that could be captured: its machine and cost. */
const struct design_point *design_configuration(const struct design *design, size_t number);
