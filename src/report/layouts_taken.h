/* What culprit explain --layouts keeps of a study of layouts, as it ends its runs. */
#pragma once

#include "report/layouts_report.h"
#include "study/layouts.h"

struct layouts_taken {
    struct layouts_report *report; /* set before */
    struct trace_exit exit;        /* of the command, under layout 0 */
};

/* Called by the study, with a struct layouts_taken, when a run has ended: it adds to the report. */
bool layouts_take(void *taken, const struct layout_result *result, struct error *error);
/* When all have: notes on what was not taken. */
void layouts_note(struct layouts_report *report, const struct layouts_run *run);
/* The command that explains the worst layout, to be freed; NULL: it would be another program, or
 * none is worse. `words` are those of argv, as for next_with_option(). */
char *layouts_next(const struct layouts_report *report, int argc, char **words);
