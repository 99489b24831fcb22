/* What culprit compare keeps of runs, as the studies of it end them. */
#pragma once

#include "query/call_difference.h"
#include "report/compare_report.h"
#include "study/compare_run.h"
#include "study/layouts.h"

struct compare_taken {
    /* Set before. */
    struct compare_report *report;
    const char *words[2];    /* of each side, as typed */
    bool limited;            /* to a number of instructions */
    bool with_calls;         /* who called whom is told of, where call paths are */
    struct kept_files *kept; /* where files are read that are gone */

    struct trace_exit exits[2];   /* of commands; not known of what is no command */
    struct call_difference calls; /* call_difference_free() */
};

/* Called by the studies, with a struct compare_taken, when a run, matched regions, or a run under a
 * layout has ended: they add to the report. */
bool compare_taken_run(void *taken, unsigned side, const struct simulated_run *run,
                       struct error *error);
bool compare_taken_matched(void *taken, const struct matched_runs *matched, struct error *error);
bool compare_taken_layout(void *taken, const struct layout_result *result, struct error *error);

/* Once the report is built. False, with an error: --fail-above has no answer. */
bool compare_taken_can_be_judged(const struct compare_taken *taken, struct error *error);
