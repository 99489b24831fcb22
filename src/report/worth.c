/* What the figures rest on: how much was simulated, what sampling adds to the error, what the
 * caches held at the start, and what the model leaves out. */
#include <inttypes.h>

#include "report/report.h"
#include "report/threads_report.h"
#include "util/array.h"
#include "util/text.h"

/* A thread that goes on in another program after exec counts once. */
static bool goes_on(const struct simulation *simulation, uint32_t number) {
    const struct simulation_thread *thread = &simulation->threads[number];
    return !any_where(i, number,
                      simulation->threads[i].cycles &&
                          simulation->threads[i].process == thread->process) &&
           thread->goes_on;
}

static uint32_t threads_simulated(const struct simulation *simulation) {
    return sum_over(uint32_t, i, simulation->thread_count,
                    simulation->threads[i].cycles > 0 && !goes_on(simulation, i));
}

static bool sampling_worth(struct report *report) {
    const struct simulation *simulation = report->simulation;
    uint64_t windows = sampling_windows(&simulation->spread);
    double half = sampling_interval(&simulation->spread);
    char weights[32] = "2";
    if (simulation->levels > 1)
        snprintf(weights, sizeof weights, "2 to %" PRIu64, (uint64_t)1 << simulation->levels);
    bool good = report_note(report,
                            "sampled: %s of %s instructions simulated, in %s window%s of weight %s "
                            "after a start of weight 1; %s more warmed the caches",
                            text_count(simulation->simulated).s, text_count(simulation->executed).s,
                            text_count(windows).s, text_plural(windows), weights,
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

static bool interval_worth(struct report *report) {
    const struct simulation *simulation = report->simulation;
    double half = simulation_interval(simulation);
    if (half < 0)
        return report_note(report,
                           "how far the estimate is off is not known: that takes two regions of a "
                           "cluster, all of them simulated; 'culprit validate' measures it, where "
                           "a full simulation can be afforded");
    if (half == 0)
        return report_note(report, "every slice is a region: none stands for another");
    return report_note(report,
                       "CPI within ± %s %% in 19 of 20 such estimates, by how far regions of the "
                       "same code differ; 'culprit validate' measures it, where a full simulation "
                       "can be afforded",
                       text_percent(half, (double)simulation->cycles).s);
}

static bool regions_worth(struct report *report) {
    const struct simulation *simulation = report->simulation;
    const struct simulation_regions *regions = &simulation->regions;
    bool good = true;
    if (report->partial && regions->simulated == regions->count)
        good &= report_note(report, "PARTIAL: the run was cut short; this is what was run so far");
    if (regions->simulated < regions->count)
        good &= report_note(report,
                            "PARTIAL: %" PRIu32 " of %" PRIu32 " regions were simulated, the first "
                            "of the run, which stand for the others as well: what the run did "
                            "later is not in these figures",
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
    good &= interval_worth(report);
    return good && report_note(report, "not in that error: what a program reuses after longer than "
                                       "the warm-up may count as a miss");
}

/* Cores in order have none, nor those of threads that share memory. */
static bool fetches_wrong_paths(const struct report *report) {
    const struct machine_core *core = &report->machine->core;
    return core->wrong_path && !core->in_order &&
           !(report->simulation && report->simulation->together.done);
}

bool report_add_limits(struct report *report) {
    const struct machine *machine = report->machine;
    char clock[80] = "";
    if (machine->core.vdso)
        snprintf(clock, sizeof clock, ", reading the clock takes %" PRIu32 " cycles as by the vDSO",
                 machine->classes[OP_CLOCK].latency);
    return report_note(
        report,
        "not modelled: the kernel (cycles are user cycles; a system call only "
        "flushes%s), execution down wrong paths%s",
        clock,
        fetches_wrong_paths(report) ? ", but for lines that it fetches (core.wrong_path)" : "");
}

static bool what_if_worth(struct report *report) {
    const struct sampled_multisim_result *sample = &report->what_if.sample;
    return report_note(report,
                       "what if: %s instructions, in %s piece%s, simulated again with each cause "
                       "removed; %s; 'culprit sim --ideal' simulates all, 'culprit icost' tells "
                       "all interactions",
                       text_count(sample->instructions).s, text_count(sample->cells).s,
                       text_plural(sample->cells),
                       report->what_if.interval_unknown
                           ? "how far these are off is not known, for regions are missing"
                           : "± is the 95 % interval of what that leaves open");
}

/* What the kernel's part in waits is taken to be. */
static bool waking_worth(struct report *report) {
    const struct machine_chip *chip = &report->machine->chip;
    const uint64_t calls = report->simulation->together.wake_calls;
    if (!chip->wake_latency && !chip->wake_cost)
        return report_note(
            report, "not modelled of threads: what the kernel takes to put them to sleep and "
                    "to wake them (chip.wake_latency is 0; culprit calibrate measures it)");
    return report_note(report,
                       "a thread that waited runs %.1f µs after it is woken, which takes the other "
                       "one %.1f µs (chip.wake_latency, chip.wake_cost): %s such call%s; a lock is "
                       "had by who comes first meanwhile",
                       1e-3 * chip->wake_latency, 1e-3 * chip->wake_cost, text_count(calls).s,
                       text_plural(calls));
}

#define MUCH_SLEEP 0.1 /* of the elapsed cycles */

/* The captured run, under the emulator, takes many times as long as the program by itself. */
static bool sleep_worth(struct report *report) {
    const struct together_result *together = &report->simulation->together;
    const double slept = (double)threads_slept(together);
    if (slept <= MUCH_SLEEP * (double)together->cycles)
        return true;
    return report_note(report,
                       "%s of the elapsed cycles are sleep that others waited for, as often as in "
                       "the captured run, which took many times as long as the program by itself: "
                       "a thread that sleeps until time or something outside has passed slept too "
                       "often there, and then elapsed is too long (cycles of threads are not)",
                       text_quantity(slept).s);
}

static bool polling_worth(struct report *report) {
    const uint64_t polls = report->simulation->together.polls;
    return !polls ||
           report_note(report,
                       "%s sleep%s of threads that poll took no time: what they look for between "
                       "sleeps had been written by then, or (Go's monitor) others waited for what "
                       "they do, which took longer in the captured run",
                       text_count(polls).s, text_plural(polls));
}

/* What threads that were simulated together rest on. */
static bool together_worth(struct report *report) {
    const struct together_result *together = &report->simulation->together;
    const uint32_t threads =
        sum_over(uint32_t, i, together->thread_count, together->threads[i].known);
    bool good = report_note(
        report,
        "%" PRIu32
        " guest thread%s, simulated together on the cores of one chip: who has a lock, or "
        "comes last to a barrier, is decided in simulated time; cycles are summed over threads but "
        "where they are called elapsed",
        threads, text_plural(threads));
    good &= waking_worth(report);
    good &= sleep_worth(report);
    good &= polling_worth(report);
    good &= report_note(report, "what sharing the last level and memory costs threads is in the "
                                "running of the speedup stack");
    if (together->regions)
        good &= report_note(report,
                            "their regions are simulated in the order of the run: between two, "
                            "threads take locks and wait as ever but go on at the pace that each "
                            "had in the last, and 'waits' are counted in regions alone");
    if (together->orders)
        good &= report_note(report,
                            "%s read%s of what another thread had written %s the order of the "
                            "captured run: of atomic operations and spinning outside of locks that "
                            "are known by name",
                            text_count(together->orders).s, text_plural(together->orders),
                            together->orders == 1 ? "keeps" : "keep");
    if (together->handed)
        good &=
            report_note(report,
                        "%s time%s a thread took under a lock what another had left there: which "
                        "thread takes which piece of work is as in the captured run, also where "
                        "another would come first in simulated time",
                        text_count(together->handed).s, text_plural(together->handed));
    if (together->diverged)
        good &= report_note(report,
                            "%s wait%s did not end in simulated time, and %s cut short when no "
                            "thread could go on: from there the run may differ from the program's",
                            text_count(together->diverged).s, text_plural(together->diverged),
                            together->diverged == 1 ? "was" : "were");
    if (together->cut)
        good &= report_note(report,
                            "%s instruction%s that other threads executed in the captured run %s "
                            "behind the end of the program in simulated time, and %s left out",
                            text_count(together->cut).s, text_plural(together->cut),
                            together->cut == 1 ? "lies" : "lie", together->cut == 1 ? "is" : "are");
    if (together->unexplained)
        good &= report_note(report,
                            "%s wait%s took no time: the captured run does not tell what ended %s",
                            text_count(together->unexplained).s, text_plural(together->unexplained),
                            together->unexplained == 1 ? "it" : "them");
    if (together->blocked)
        good &= report_note(report,
                            "%s system call%s waited for the world (input, output, processes), %s "
                            "in the captured run and for no time here",
                            text_count(together->blocked).s, text_plural(together->blocked),
                            text_duration(together->blocked_seconds).s);
    if (together->course.unknown)
        good &= report_note(report,
                            "the critical path is not known of its first %s cycles: only the last "
                            "%s waits are remembered",
                            text_count(together->course.unknown).s, text_count(COURSE_STEPS).s);
    return good;
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
    good &= report_add_limits(report);
    if (*report->machine->checked && !report->ideal)
        good &= report_note(report, "cycles of programs on machine %s, against such processors: %s",
                            report->machine->name, report->machine->checked);
    if (report->what_if.breakdown.cycles)
        good &= what_if_worth(report);
    uint32_t threads = threads_simulated(simulation);
    if (simulation->together.done)
        good &= together_worth(report);
    else if (threads > 1)
        good &= report_note(report,
                            "%" PRIu32 " guest threads: each simulated on its own core without "
                            "sharing, cycles summed",
                            threads);
    return good;
}
