/* What a prediction rests on. */
#include "report/predict_report.h"
#include "util/text.h"

static void note_regions(struct report *report, const struct predicted_regions *regions,
                         uint64_t whole) {
    report_note(report, "estimated from %u of %u regions: %s of %s instructions", regions->done,
                regions->count, text_count(regions->instructions).s, text_count(whole).s);
    report_note(report, "what comes before a region in its trace warms its caches; what a program "
                        "reuses after longer may count as a miss");
}

void predict_note(struct predict_report *predict, uint64_t whole) {
    struct report *report = &predict->report;
    const struct hybrid_prediction *prediction = predict->prediction;
    if (predict->regions)
        note_regions(report, predict->regions, whole);
    report_note(report, "hybrid analytical model; %saccesses take effect in program order",
                predict->regions ? "" : "caches are empty at the start, ");
    if (predict->checked)
        report_note(report,
                    "simulated: cycles on the cycle-level core less those with last-level misses "
                    "ideal; branches and instruction fetch ideal in both");
    else
        report_note(report,
                    "%s: %s instructions in %s, of which caches and model %s (--check "
                    "compares with a simulation)",
                    predict->machine_count == 1 ? "one machine" : "all machines",
                    text_count(prediction->instructions).s, text_duration(prediction->seconds).s,
                    text_duration(prediction->model_seconds).s);
    report_note(report, "taken for granted: what waits for no miss goes on at full width; where it "
                        "is slower, more of a miss hides behind it and less is lost");
    report_note(report,
                "not modelled: what else takes time (computing, branches, instruction "
                "fetch, translation), %slimits of memory bandwidth, the kernel",
                predict->methods[0].windows == WINDOWS_SLIDING ? "" : "a full store queue, ");
}
