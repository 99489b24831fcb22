/* What a prediction of contention rests on. */
#include "report/contend_report.h"
#include "util/text.h"

static void note_check(struct report *report, const struct contend_check *check) {
    if (check->interrupted)
        report_note(report, "interrupted before all was simulated: figures are the model's alone");
    else
        report_note(report,
                    "simulated: first runs, beside each other and alone; %s instructions in "
                    "%s of processor time",
                    text_count(check->instructions).s, text_duration(check->seconds).s);
}

void contend_note(struct contend_report *contend, const struct contend_check *check,
                  uint64_t instructions, double seconds) {
    struct report *report = &contend->report;
    const struct contend_options *options = contend->options;
    const bool chip = machine_is_chip(report->machine);
    if (instructions)
        report_note(report,
                    "profiled: %s instructions of %u program%s, each alone, in %s of "
                    "processor time",
                    text_count(instructions).s, contend->program_count,
                    text_plural(contend->program_count), text_duration(seconds).s);
    report_note(
        report,
        "programs share no data, run all the time and begin again at their end; "
        "caches are empty at the start and LRU%s",
        options->contention.sets_are_known ? "" : "; pages lie in frames chosen as if at random");
    if (chip && !options->ipc)
        report_note(report, "threads are placed %s; how fast they run: culprit throughput",
                    options->placing == PLACE_TOGETHER ? "core by core" : "over the cores in turn");
    else if (!options->ipc)
        report_note(report, "how fast programs run, of which only the ratio matters, is the sum of "
                            "all that they wait for when nothing overlaps (--ipc says better)");
    if (check)
        note_check(report, check);
    else if (chip)
        report_note(report, "--check simulates the same");
    report_note(report,
                "not modelled: lines of code that take room in the shared cache or are lost from "
                "it, %sprefetchers, "
                "limits of memory bandwidth, the kernel",
                chip ? "" : "contention for TLBs, ");
}
