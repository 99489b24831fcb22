/* What the figures rest on: how much was simulated, what sampling adds to the error, what the
 * caches held at the start, and what the model leaves out. */
#include <inttypes.h>

#include "report/report.h"
#include "util/text.h"

static uint32_t threads_simulated(const struct simulation *simulation) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < simulation->thread_count; i++)
        count += simulation->threads[i].cycles > 0;
    return count;
}

static bool sampling_worth(struct report *report) {
    const struct simulation *simulation = report->simulation;
    uint64_t windows = sampling_windows(&simulation->spread);
    double half = sampling_interval(&simulation->spread);
    bool good = report_note(
        report,
        "sampled: %s of %s instructions simulated, in %s window%s of weight 2 to %" PRIu64
        " after a start of weight 1; %s more warmed the caches",
        text_count(simulation->simulated).s, text_count(simulation->executed).s,
        text_count(windows).s, text_plural(windows), (uint64_t)1 << simulation->levels,
        text_count(simulation->warmed).s);
    if (half < 0)
        good &= report_note(report, "sampling error: not known, too few windows; --exact simulates "
                                    "everything");
    else
        good &= report_note(
            report,
            "sampling error: CPI within ± %s %% (95 %% interval, from the spread of the windows)",
            text_percent(half, (double)simulation->cycles).s);
    good &= report_note(report, "not in that error: what a program reuses after longer than --warm "
                                "may count as a miss; a run with --warm 8M shows how much");
    uint64_t rest = simulation->executed - simulation->instructions;
    if (rest > 0)
        good &= report_note(report,
                            "the last %s instruction%s ended no period: the rest stands for them",
                            text_count(rest).s, text_plural(rest));
    return good;
}

/* No interval is told: the regions were chosen for what they stand for, not drawn. */
static bool regions_worth(struct report *report) {
    const struct simulation *simulation = report->simulation;
    const struct simulation_regions *regions = &simulation->regions;
    bool good = true;
    if (regions->simulated < regions->count)
        good &= report_note(report,
                            "%" PRIu32 " of %" PRIu32 " regions were simulated: they stand for the "
                            "others as well",
                            regions->simulated, regions->count);
    good &= report_note(report,
                        "estimated from %" PRIu32 " region%s%s%s%s: %s of %s instructions "
                        "simulated, every cycle of these attributed; %s before them warmed "
                        "caches, TLBs and predictors",
                        regions->simulated, text_plural(regions->simulated),
                        regions->slices ? " chosen from " : "",
                        regions->slices ? text_count(regions->slices).s : "",
                        regions->slices ? (regions->slices == 1 ? " slice" : " slices") : "",
                        text_count(simulation->simulated).s, text_count(simulation->instructions).s,
                        text_count(simulation->warmed).s);
    good &=
        report_note(report, "the estimate rests on each region's being like the slices that it "
                            "stands for; how far it is off 'culprit validate' measures, where a "
                            "full simulation can be afforded");
    return good && report_note(report, "what a program reuses after longer than the warm-up may "
                                       "count as a miss");
}

bool report_add_worth(struct report *report) {
    const struct simulation *simulation = report->simulation;
    bool good = true;
    if (report->partial && !simulation->regions.count)
        good &= report_note(report, "PARTIAL: the run was cut short; this is what was done so far");
    if (simulation->regions.count)
        good &= regions_worth(report);
    else if (simulation->levels > 0)
        good &= sampling_worth(report);
    else if (simulation->simulated == 0)
        good &= report_note(report, "no instruction was simulated");
    else
        good &=
            report_note(report,
                        "%s instruction%s, all simulated: every cycle is attributed, "
                        "none sampled",
                        text_count(simulation->simulated).s, text_plural(simulation->simulated));
    if (!simulation->regions.count)
        good &= report_note(report,
                            "caches, TLBs and predictors were empty at the start: in short runs "
                            "their first misses weigh too much");
    good &=
        report_note(report, "not modelled: the kernel (cycles are user cycles; a system call only "
                            "flushes), execution down wrong paths");
    if (simulation->breakdown.cycles)
        good &= report_note(report, "what if: from the dependence graph of some of the simulated "
                                    "instructions; 'culprit icost' takes all");
    uint32_t threads = threads_simulated(simulation);
    if (threads > 1)
        good &= report_note(report,
                            "%" PRIu32 " guest threads: each simulated on its own core without "
                            "sharing, cycles summed",
                            threads);
    return good;
}
