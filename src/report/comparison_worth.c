/* Notes on the worth of a comparison: what chance leaves of an error, and what the run showed of
 * the other findings of paper A and paper B. */
#include <inttypes.h>
#include <string.h>

#include "report/comparison.h"
#include "util/text.h"

static bool note_floor(struct comparison *comparison) {
    struct report *report = &comparison->report;
    bool good = report_note(
        report,
        "floor: the error that chance alone leaves, about 0.4 √(K/N) with N samples; K, from the "
        "shares of what took time, is %s for %s functions, %s for %s basic blocks, %s for %s "
        "instructions and %s for their cycle stacks",
        text_quantity(comparison->spread[GRAIN_FUNCTION]).s,
        text_count(comparison->units[GRAIN_FUNCTION]).s,
        text_quantity(comparison->spread[GRAIN_BASIC_BLOCK]).s,
        text_count(comparison->units[GRAIN_BASIC_BLOCK]).s,
        text_quantity(comparison->spread[GRAIN_INSTRUCTION]).s,
        text_count(comparison->units[GRAIN_INSTRUCTION]).s,
        text_quantity(comparison->stack_spread[GRAIN_INSTRUCTION]).s);
    good &= report_note(report, "cycle stacks: by instruction, each profiler against the golden "
                                "reference reduced to the events that it tells of");
    return good;
}

static bool note_samples(struct comparison *comparison) {
    uint64_t lost = 0;
    uint32_t without = 0;
    for (uint32_t i = 0; i < comparison->count; i++) {
        lost = comparison->rows[i].result.lost > lost ? comparison->rows[i].result.lost : lost;
        without += !comparison->rows[i].result.samples;
    }
    if (without && !report_note(&comparison->report,
                                "%" PRIu32 " of %" PRIu32 " profiles have no sample, and so no "
                                "error: the run is too short (see --period, --samples)",
                                without, comparison->count))
        return false;
    return !lost ||
           report_note(&comparison->report,
                       "samples of at most %s cycles named nothing, as the run ended before "
                       "their µop committed: profiles are scaled to all cycles",
                       text_count(lost).s);
}

/* "TIP 57, TEA 306" */
static bool note_storage(struct comparison *comparison) {
    char text[512] = "";
    for (uint32_t i = 0; i < comparison->count; i++) {
        const struct profiler *profiler = comparison->rows[i].profiler;
        uint32_t bytes = profiler_storage_bytes(profiler, &comparison->report.machine->core);
        bool seen = false;
        for (uint32_t j = 0; j < i; j++)
            seen |= comparison->rows[j].profiler == profiler;
        size_t length = strlen(text);
        if (bytes && !seen)
            snprintf(text + length, sizeof text - length, "%s%s %" PRIu32, *text ? ", " : "",
                     profiler->name, bytes);
    }
    return !*text || report_note(&comparison->report,
                                 "bytes of storage that the hardware would take on this core: %s "
                                 "(TEA with TIP's)",
                                 text);
}

static bool note_events(struct comparison *comparison) {
    const struct commit_summary *summary = &comparison->report.simulation->commits;
    struct event_share share = commit_summary_combined(summary);
    bool good = true;
    if (share.any)
        good &= report_note(&comparison->report, "of %s µops with events, %s %% had several",
                            text_count(share.any).s,
                            text_percent((double)share.several, (double)share.any).s);
    uint32_t longest = commit_summary_stall_quantile(summary, 0.99);
    if (longest)
        good &= report_note(
            &comparison->report,
            "99 %% of the stalls of instructions without any event lasted %" PRIu32 " cycle%s%s",
            longest, text_plural(longest), longest == STALL_LENGTHS - 1 ? " or more" : " or less");
    return good &
           report_note(&comparison->report,
                       "r: correlation, over the instructions that had an event, of how often "
                       "they had it with their cycles with it");
}

bool comparison_add_worth(struct comparison *comparison) {
    return report_add_worth(&comparison->report) && note_floor(comparison) &&
           note_samples(comparison) && note_events(comparison) && note_storage(comparison);
}
