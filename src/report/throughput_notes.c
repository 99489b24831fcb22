/* What a prediction of throughput rests on. */
#include "report/throughput_report.h"
#include "util/text.h"

/* Of more programs than hardware threads the last do not run. */
static void note_idle_programs(struct throughput_report *throughput) {
    const struct machine_chip *chip = &throughput->report.machine->chip;
    const struct throughput_search *search = throughput->search;
    const uint32_t programs = throughput->thread_count,
                   least = search ? search->space.cores.first * search->space.threads.first
                                  : chip->cores * chip->threads;
    if (programs <= least)
        return;
    if (search)
        report_note(&throughput->report,
                    "chips of fewer than %u threads run only the first of the %u programs, which "
                    "is another mix than larger chips run",
                    programs, programs);
    else
        report_note(&throughput->report,
                    "the chip has %u thread%s: only the first of the %u "
                    "programs run",
                    least, text_plural(least), programs);
}

static void note_check(struct throughput_report *throughput, bool interrupted, bool by_thread) {
    struct report *report = &throughput->report;
    if (!throughput->checked)
        report_note(report, "--check simulates the same");
    else if (interrupted)
        report_note(report, "interrupted before all was simulated: %s",
                    throughput->search ? "chips without simulated figures were not"
                                       : "figures are the models' alone");
    else
        report_note(report,
                    "simulated: until every program has run to its end once, those that "
                    "end before begin again; what cores execute is counted over all that time%s",
                    by_thread ? ", a thread's figures are of its first run; extra "
                                "misses: beyond those of a run alone"
                              : "");
}

void throughput_note(struct throughput_report *throughput, bool interrupted, bool by_thread,
                     uint64_t instructions) {
    struct report *report = &throughput->report;
    if (instructions)
        report_note(report, "profiled: %s instructions of %u program%s, each alone",
                    text_count(instructions).s, throughput->program_count,
                    text_plural(throughput->program_count));
    note_idle_programs(throughput);
    report_note(report, "programs share no data; a thread of several that a program has is one "
                        "program; caches are empty at the start and LRU");
    report_note(report, "sum of cycles: threads of a core never overlap; sum of IPCs: they never "
                        "meet; Bernoulli: each is ready by chance; none of these knows of "
                        "contention for caches");
    report_note(report, "Markov: each issue suspends its thread with probability p, for M cycles; "
                        "mean value: threads wait for an issue slot by which of the others are "
                        "ready on average; both with the misses that threads cost each other");
    note_check(throughput, interrupted, by_thread);
    report_note(report, "not modelled: lines of code that take room in the L2 or are lost from it, "
                        "contention for its banks, copies of a program that run in step, limits of "
                        "memory bandwidth, the kernel");
}
