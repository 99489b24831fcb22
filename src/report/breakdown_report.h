/* Parallelism-aware breakdowns, ready to print: what `culprit icost` tells (interaction-cost paper
 * Tables III and VIII, Fig. 1b).
 *
 *     breakdowns of programs ──► breakdown_report_choose() ──► breakdown_text()
 *                                                          ├──► breakdown_json()
 *                                                          └──► breakdown_svg()  */
#pragma once

#include "graph/breakdown.h"
#include "region/captured.h"
#include "report/inspection_report.h"
#include "report/report.h"
#include "report/thread_path_report.h"
#include "shotgun/shotgun.h"
#include "simulate/category_places.h"
#include "study/icost.h"

const char *breakdown_way_name(enum breakdown_way way); /* "multisim", "graph", "profiler" */

/* A program. All breakdowns of a report have the same categories. */
struct breakdown_program {
    const char *name;                           /* the command */
    const char *label;                          /* short, for the head of a column */
    bool partial;                               /* it was interrupted, or its trace is cut short */
    const struct breakdown *ways[WAY_COUNT];    /* NULL: not measured that way; one is */
    double seconds[WAY_COUNT];                  /* that it took */
    uint32_t simulations;                       /* of WAY_MULTISIM */
    const struct shotgun_statistics *shotgun;   /* of WAY_PROFILER */
    const struct inspection_report *inspection; /* NULL: not asked for */
    const struct thread_path_report *path;      /* across threads; NULL: not asked for, or of one */
    uint64_t cycles;                            /* simulated */
    uint32_t threads;                           /* likewise */
    const struct category_places *places;       /* NULL: no category has any */
};

/* How samples for WAY_PROFILER are taken. */
struct breakdown_samples {
    uint32_t length; /* instructions of a fragment */
    bool perfect;    /* every instruction is measured */
    bool from_file;  /* they were taken before */
};

/* The regions that a run was estimated from. */
struct breakdown_regions {
    const char *list; /* file */
    const struct regions_lost *lost;
    uint32_t done, count;
    uint64_t simulated, instructions; /* of the regions; of the run */
    double seconds;
};

struct breakdown_report {
    struct report report; /* verb, machine, ideal, partial, notes, next */
    const struct breakdown_program *programs;
    uint32_t program_count;
    const char *const *descriptions; /* of the categories */
    uint32_t focus;   /* category whose pairs are shown; BREAKDOWN_NO_FOCUS: the costliest */
    double threshold; /* share of the time from which other sets are shown and read */
    uint32_t largest; /* members of a set shown, at most */
    uint32_t top;     /* other sets shown, at most; 0: all */
    uint32_t changed; /* set of the categories that are made less or more, not taken away */
    bool several;     /* programs were asked for */
    struct breakdown_samples samples;
    bool checked; /* multisim has some of the rows, to check the graph: both make one column */

    /* Rows, chosen by breakdown_report_choose(): the categories, the pairs of the focus, and other
     * sets over the threshold. */
    uint32_t *rows;
    uint32_t singles, pairs, others;

    /* breakdown_report_build(): the programs, which it makes and frees; NULL: they are another's.
     */
    struct breakdown_program *own_programs;
    struct inspected_program *inspected;
};
static inline uint32_t breakdown_row_count(const struct breakdown_report *report) {
    return report->singles + report->pairs + report->others;
}

/* All of the report but the next command, of a study in which something was measured, and which
 * outlives it; `top` as above. *unfollowed: processes were left out. breakdown_report_free() either
 * way. */
bool breakdown_report_build(struct breakdown_report *report, const struct icost_study *study,
                            uint32_t top, bool *unfollowed, struct error *error);
/* False: out of memory. breakdown_report_free() either way. */
bool breakdown_report_choose(struct breakdown_report *report);
void breakdown_report_free(struct breakdown_report *report);

/* The breakdown that is shown where there is room for one: of the graph where there is one. */
enum breakdown_way breakdown_way_shown(const struct breakdown_program *program);
const struct breakdown *breakdown_shown(const struct breakdown_program *program);
/* Part of the execution time, NAN: not measured. */
double breakdown_share(const struct breakdown *breakdown, uint32_t set);
/* What a set's interaction cost is best known from: multisim where it has all subsets, else the one
 * that is shown. */
const struct breakdown *breakdown_source(const struct breakdown_program *program, uint32_t set);
/* Whether it is simulated, or what multisim has of its smaller sets is what is shown of them, to
 * less than `threshold` of the time. */
bool breakdown_trusted(const struct breakdown_program *program, uint32_t set, double threshold);
/* What the rows do not show, as a part of the execution time. */
double breakdown_rest(const struct breakdown_report *report, const struct breakdown *breakdown);
/* The same, each row by what it is best known from. */
double breakdown_known_rest(const struct breakdown_report *report,
                            const struct breakdown_program *program);
/* Of a way against multisim, over the categories and the pairs of the focus. */
struct breakdown_error breakdown_report_error(const struct breakdown_report *report,
                                              const struct breakdown_program *program,
                                              enum breakdown_way way);

/* Of the rows, the one where a way is farthest from multisim, in parts of the time, since the error
 * of Table IX leaves out what multisim finds small. 0: they agree in all. */
uint32_t breakdown_report_farthest(const struct breakdown_report *report,
                                   const struct breakdown_program *program, enum breakdown_way way,
                                   double *difference);

/* Plain words on a program's strongest interactions, each by what it is best known from, for
 * printing: one note each, added to `to`, whose other members are not touched
 * (breakdown_reading.c). False: out of memory. */
bool breakdown_read(const struct breakdown_report *report, const struct breakdown_program *program,
                    struct report *to);

/* Inside of the report. */
void breakdown_free_programs(struct breakdown_report *report);

/* Adds to the notes what the breakdown, whose rows are chosen, rests on (breakdown_notes.c).
 * `regions` NULL: a whole run. False: out of memory. */
bool breakdown_note(struct breakdown_report *report, const struct breakdown_regions *regions);
/* Whether no row is by the graph alone. */
bool breakdown_all_simulated(const struct breakdown_report *report);

/* At most 100 columns wide. */
void breakdown_text(const struct breakdown_report *report, const struct page *page);
/* One object, with a newline (docs/json.md). */
bool breakdown_json(const struct breakdown_report *report, FILE *file, struct error *error);
/* Stacked bars, one for each program and way, negative parts below the axis. */
void breakdown_svg(const struct breakdown_report *report, FILE *out);
