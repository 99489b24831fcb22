/* The callers of procedures, chosen for a report; and notes on trees of calls. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/call_report.h"
#include "util/text.h"

bool call_report_find_callers(struct call_report *report, const char *procedure, uint32_t top,
                              bool least, struct error *error) {
    const struct call_profile *profile = report->profile;
    const size_t all = profile->procedure_count;
    const double worth = least ? report->least * profile->frames.items[0].total : 0;
    size_t most = top && top < all ? top : all;
    uint32_t *sorted = call_profile_sorted(profile);
    report->callers = calloc(all + 1, sizeof *report->callers);
    bool good = (sorted && report->callers) || error_set(error, "out of memory for the callers");
    if (good && procedure) {
        most = 1;
        sorted[0] = call_profile_find(profile, procedure, error);
        good = sorted[0] != UINT32_MAX;
        report->inclusive = true;
    }
    for (size_t i = 0; good && i < most; i++) {
        if (!report->inclusive && i && profile->procedures[sorted[i]].self < worth)
            break;
        struct caller_tree *tree = &report->callers[report->caller_count++];
        tree->procedure = sorted[i];
        good = call_profile_callers(profile, sorted[i], report->inclusive, &tree->frames) ||
               error_set(error, "out of memory for the callers");
    }
    free(sorted);
    return good;
}

void call_report_free_callers(struct call_report *report) {
    for (size_t i = 0; i < report->caller_count; i++)
        call_frames_free(&report->callers[i].frames);
    free(report->callers);
    report->callers = NULL;
    report->caller_count = 0;
}

static bool note_times(struct report *report, const char *what, uint64_t count) {
    return !count ||
           report_note(report, "%s: %s time%s", what, text_grouped(count).s, count == 1 ? "" : "s");
}

static bool note_healed(struct report *report, const struct call_path_result *paths) {
    const struct shadow_counts *counts = &paths->counts;
    return note_times(report, "control left several calls at once (longjmp, exceptions)",
                      counts->unwound) &&
           note_times(report, "it went to another stack (coroutines)", counts->switched) &&
           note_times(report,
                      counts->lost_gaps ? "callers were not known, for instructions are missing"
                                        : "callers were not known",
                      counts->lost) &&
           note_times(report, "calls that had no room in the tree, and count for their callers",
                      paths->crowded);
}

bool call_report_note_paths(struct report *report, const struct call_path_result *paths) {
    const double least = report->calls->least;
    return (!(least > 0) ||
            report_note(report,
                        "frames of less than %g %% of all are summed as others, where these have "
                        "as much, else left out (--least 0: none)",
                        100 * least)) &&
           note_healed(report, paths) &&
           report_note(
               report,
               "every call and return was seen, and every cycle counted belongs to one chain of "
               "callers. A jump to another function in place of a call and return (a tail call) is "
               "a call; calls of a procedure by itself, and of several by each other in turn, are "
               "folded; functions that the compiler inlined %s",
               report->calls->inlined ? "have frames where debug information tells of them"
                                      : "are part of their callers (--inlined: not)");
}
