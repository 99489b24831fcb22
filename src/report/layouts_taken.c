#include "report/layouts_taken.h"

#include <inttypes.h>

#include "report/next.h"
#include "report/trace_notes.h"
#include "util/text.h"

bool layouts_take(void *context, const struct layout_result *result, struct error *error) {
    struct layouts_taken *taken = context;
    struct layouts_report *report = taken->report;
    const char *note;
    if (!layouts_report_take(report, result->layout, result->command, result->simulation,
                             result->code, result->machine, error))
        return false;
    if (result->layout)
        return true;
    taken->exit = result->exit;
    report->report.fixed = true;
    for (unsigned i = 0; result->explanation && (note = explanation_note(result->explanation, i));
         i++)
        report_note(&report->report, "%s", note);
    if (result->trace)
        note_trace(&report->report, result->trace);
    note_raced(&report->report, result);
    return true;
}

void layouts_note(struct layouts_report *report, const struct layouts_run *run) {
    if (run->signal)
        report_note(&report->report, "interrupted after %" PRIu32 " of %" PRIu32 " layouts",
                    run->taken[0], run->count);
    if (run->lost)
        report_note(&report->report,
                    "under %" PRIu32 " layout%s the program went another way, which %s left out",
                    run->lost, text_plural(run->lost), run->lost == 1 ? "is" : "are");
}

char *layouts_next(const struct layouts_report *report, int argc, char **words) {
    char option[64];
    if (report->relinked || report->spread.least_cycles == report->spread.most_cycles)
        return NULL;
    snprintf(option, sizeof option, "--repeatable --layout %" PRIu32, report->spread.most);
    return next_with_option(option, argc, words);
}
