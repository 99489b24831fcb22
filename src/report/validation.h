/* What `culprit validate` tells: the error of an estimate from regions, and the share that each
 * step on the way to it has. */
#pragma once

#include "report/report.h"
#include "simulate/validation.h"

/* Whether the regions were found again by their markers, in a run of its own. */
struct marker_check {
    bool checked;      /* false: the list was not captured */
    uint32_t captured; /* regions that have a trace */
    uint32_t moved;    /* of them, begun earlier or later than in the run profiled */
    int64_t largest;   /* of these moves, in instructions */
    uint32_t region;   /* that has it: index in the list */
    bool in_order;     /* they came as they were profiled */
};
void marker_check(const struct region_list *list, struct marker_check *check);

struct validation_report {
    struct report report; /* verb, program, machine, notes and next; the rest is not used */
    const struct validation *validation;
    struct marker_check markers;
    const char *markers_kept;   /* why they were not tried; NULL: the list was not captured */
    const char *markers_failed; /* what went wrong; NULL: nothing */
    struct hardware_reference hardware;
};

static inline double validation_cpi_error(const struct metrics *estimate,
                                          const struct metrics *truth) {
    return validation_error(estimate->values[METRIC_CPI], truth->values[METRIC_CPI]);
}

/* Adds what the figures rest on to the notes. False: out of memory. */
bool validation_add_worth(struct validation_report *report);

/* The trial whose total error is told for the whole: as the regions were captured, else the longest
 * warm-up. NULL: there was none. */
const struct validation_trial *validation_verdict(const struct validation *validation);

/* What was typed. */
struct validation_asked {
    const char *list, *full; /* a list and a trace of the whole; or: */
    char *const *command;    /* in argv; NULL: none */
    int argc;
    char **argv, **words; /* words as of next.h */
};
/* The command that would lower the error most, or use what is good; to be freed. NULL: out of
 * memory. */
char *validation_next(const struct validation_report *report, const struct validation_asked *asked);

void validation_text(const struct validation_report *report, const struct page *page);
bool validation_json(const struct validation_report *report, FILE *file, struct error *error);
