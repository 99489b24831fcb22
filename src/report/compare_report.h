/* Two simulated runs side by side: what `culprit compare` tells. */
#pragma once

#include <jansson.h>

#include "query/compared_fill.h"
#include "query/layout_spread.h"
#include "report/report.h"

enum compare_verdict { COMPARE_SAME, COMPARE_SLOWER, COMPARE_FASTER };

enum { COMPARE_TOLD = 3 };

/* Regions of the same work in both runs, of which the difference is estimated. */
struct compare_pairs {
    uint32_t count; /* 0: there are none */
    double half;    /* of the 95 % interval, share of the cycles before; −1: not known */
};

struct compare_report {
    struct report report; /* verb, notes and next; the rest is not used */
    struct compared_run runs[2];
    struct machine_choice_reason chosen; /* of their machine; of files: by name */
    struct compared_run python[2];       /* the lines of Python in them; without places: none ran */
    struct compared_runs compared;
    struct compared_runs compared_python;
    uint32_t top; /* rows asked for; 0: all */
    /* Of several layouts; the runs are then the mean of those. */
    struct layout_cycles *layouts[2]; /* by number; NULL: there is one */
    uint32_t layout_count;
    struct compare_pairs pairs;
    bool relinked; /* the runs are then those of layout 0: code lies elsewhere under the others */

    /* compare_report_build() */
    enum compare_verdict verdict;
    struct layout_spread spreads[2];
    struct layout_difference difference; /* its count 0: there is one layout */
    double percent;  /* by which the elapsed cycles changed; of several layouts, in the median */
    double interval; /* half of its 95 % interval; 0: exact; −1: not known */
    size_t count;    /* changes shown: those above 0 */
    size_t total;
    size_t python_count, python_total; /* likewise, of `compared_python` */
    /* Those that make most of the change, in its direction; functions of Python, where its lines
     * make half of the change. */
    const struct compared_change *told[COMPARE_TOLD];
    unsigned told_count;
    /* The largest of those in the other direction, where they are told together and exceed the
     * change by a quarter; NULL: they do not. */
    const struct compared_change *against;
    char *sentence; /* what changed, where, why */
};

/* The runs, each by compared_run_take() or one of these. */
/* Of a run under a layout, after compare_report_lay_out(): in any order. */
bool compare_report_take_layout(struct compare_report *report, unsigned side, uint32_t layout,
                                const char *command, const struct simulation *simulation,
                                const struct code *code, const struct machine *machine,
                                struct error *error);
/* There will be runs under `count` layouts. */
bool compare_report_lay_out(struct compare_report *report, uint32_t count, struct error *error);
/* From a file that `sim` or `explain --json --top 0` wrote. */
bool compare_report_read(struct compare_report *report, unsigned side, const char *path,
                         struct error *error);

/* compare_report_free() either way. */
bool compare_report_build(struct compare_report *report, struct error *error);
void compare_report_free(struct compare_report *report);

/* Whether it is slower by more than so many percent, and by more than what estimates and layouts
 * leave open. */
bool compare_is_slower(const struct compare_report *report, double percent);

void compare_report_text(const struct compare_report *report, const struct page *page);
void compare_report_markdown(const struct compare_report *report, FILE *file);
bool compare_report_json(const struct compare_report *report, FILE *file, struct error *error);
/* What follows the sentence and the names of both runs; and the notes. */
void compare_report_tables(const struct compare_report *report, const struct page *page);
void compare_report_markdown_tables(const struct compare_report *report, FILE *file);
/* The members of the JSON object, without the verb, the notes and the next command. */
json_t *compare_report_object(const struct compare_report *report);

/* ---- pieces ---- */

enum { CHANGE_REASON_BYTES = 160, CHANGE_PLACE_BYTES = 512 };

/* "L1 misses", "more instructions", "slower operations". */
void compare_reason(const struct compared_change *change, char *text, size_t size);
/* "row.c:88", "0x432c cmp byte ptr …"; "" where nothing changed. */
void compare_place(const struct compared_change *change, char *text, size_t size);
/* "find +16.5 % (L1 misses at field.c:12: ...)". */
void compare_put_change(const struct compare_report *report, const struct compared_change *change,
                        FILE *file);
/* Copies a Markdown cell: without what would end it or begin something. */
void compare_put_cell(const char *text, FILE *file);
const char *compare_function(const struct compared_change *change);
/* Of the cycles before, in percent: of those that elapsed, or of threads of the sum over them. */
double compare_percent(const struct compare_report *report, int64_t units);
/* Whether cycles summed over threads are others than those that elapsed, in either run. */
bool compare_has_threads(const struct compare_report *report);
