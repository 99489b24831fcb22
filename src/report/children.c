/* Children that are followed have simulated cycles, as the first process has. Those that are not
 * ran natively, the first process emulated, which takes many times as long: so what it would take
 * on the simulated machine stands for it. Kernel time is in neither.
 *
 * Until a child executes a program it is emulated, too, some milliseconds each, and a shell's
 * subshell may never do so. Where children were short their share is no more than a bound. */
#include "report/children.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/file_name.h"
#include "util/order.h"
#include "util/text.h"

static const double SHORT_SECONDS = 0.1; /* of a child */

/* By executable. */
struct share {
    const char *executable;
    double time;
};

struct shares {
    struct share *items;
    size_t count;
    uint32_t *pids; /* one per call of add() that counted */
    size_t pid_count;
    double time;
};

static void add(struct shares *shares, const struct trace_process *process, double time) {
    if (time <= 0)
        return;
    const size_t i =
        index_where(k, shares->count, !strcmp(shares->items[k].executable, process->executable));
    struct share *share = &shares->items[i];
    if (i == shares->count)
        shares->items[shares->count++] = (struct share){.executable = process->executable};
    shares->pids[shares->pid_count++] = process->pid;
    shares->time += time;
    share->time += time;
}

ORDER(by_value, uint32_t, ascending(*a, *b))

/* One that becomes another program, as a shell's child does, is one process. Sorts the pids. */
static uint32_t count_different(uint32_t *pids, size_t pid_count) {
    uint32_t count = 0;
    qsort(pids, pid_count, sizeof *pids, by_value);
    for (size_t i = 0; i < pid_count; i++)
        count += !i || pids[i] != pids[i - 1];
    return count;
}

static bool is_child(const struct trace *trace, uint32_t process) {
    return trace_process(trace, process)->pid != trace_process(trace, 0)->pid;
}

static void add_simulated(struct shares *shares, const struct simulation *simulation,
                          const struct trace *trace) {
    for (uint32_t i = 0; i < simulation->thread_count; i++) {
        const struct simulation_thread *thread = &simulation->threads[i];
        if (thread->process < trace_process_count(trace) && is_child(trace, thread->process))
            add(shares, trace_process(trace, thread->process), (double)thread->cycles);
    }
}

static void add_native(struct shares *shares, const struct trace *trace) {
    for (uint32_t i = 0; i < trace_process_count(trace); i++)
        add(shares, trace_process(trace, i), trace_process(trace, i)->seconds);
}

/* Also those of which no instruction was in what was simulated. */
static void add_followed(struct shares *shares, const struct trace *trace) {
    shares->pid_count = 0;
    for (uint32_t i = 0; i < trace_process_count(trace); i++)
        if (is_child(trace, i) && !trace_process(trace, i)->untraced_reason)
            shares->pids[shares->pid_count++] = trace_process(trace, i)->pid;
}

static const struct share *largest_of(const struct shares *shares) {
    const struct share *largest = &shares->items[0];
    for (size_t i = 1; i < shares->count; i++)
        if (shares->items[i].time > largest->time)
            largest = &shares->items[i];
    return largest;
}

/* Where nothing was simulated there is nothing to compare with. */
static void note_native(struct report *report, const struct shares *shares, bool compared) {
    if (report->children.at_most)
        report_note(
            report,
            "the children's share is no more than that: they took %s of processor time, the "
            "start of each under the emulator included, and the first process what the "
            "machine would take; --follow tells it",
            text_duration(shares->time).s);
    else if (compared)
        report_note(report,
                    "the children's share: they took %s of processor time in user mode, natively, "
                    "and the first process what the machine would take: rough, and without the "
                    "kernel's part",
                    text_duration(shares->time).s);
    else
        report_note(report,
                    "the children took %s of processor time in user mode, natively, most of it %s",
                    text_duration(shares->time).s, largest_of(shares)->executable);
}

static void tell_share(struct report *report, struct shares *shares, bool included, double all) {
    const struct share *largest = largest_of(shares);
    const uint32_t count = count_different(shares->pids, shares->pid_count);
    char *name = strdup(file_base_name(largest->executable));
    if (name)
        report->children =
            (struct report_children){.count = count,
                                     .included = included,
                                     .seconds = included ? 0 : shares->time,
                                     .at_most = !included && shares->time < SHORT_SECONDS * count,
                                     .share = shares->time / all,
                                     .largest = largest->time / all,
                                     .name = name};
}

void children_tell(struct report *report, const struct trace *trace) {
    const struct simulation *simulation = report->simulation;
    const size_t room = trace_process_count(trace) + (simulation ? simulation->thread_count : 0);
    const double cycles = simulation ? (double)simulation->cycles : 0;
    const double clock = report->machine ? report->machine->clock_ghz * 1e9 : 0;
    struct shares shares = {.items = calloc(room + 1, sizeof *shares.items),
                            .pids = calloc(room + 1, sizeof *shares.pids)};
    if (!shares.items || !shares.pids)
        goto done;
    if (simulation)
        add_simulated(&shares, simulation, trace);
    if (shares.count) {
        add_followed(&shares, trace);
        tell_share(report, &shares, true, cycles);
    } else {
        add_native(&shares, trace);
        if (shares.count && cycles > 0 && clock > 0)
            tell_share(report, &shares, false, cycles / clock + shares.time);
        if (shares.count)
            note_native(report, &shares, cycles > 0 && clock > 0);
    }
done:
    free(shares.items);
    free(shares.pids);
}
