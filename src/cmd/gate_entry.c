/* One command of a baseline. A new entry is made of two runs, which must be the same; a run that is
 * slower is repeated before it is called so, since a program that does another thing each time
 * cannot be judged. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/gate.h"
#include "cmd/interrupt.h"
#include "machine/identity.h"
#include "report/baseline_fits.h"
#include "simulate/model.h"

struct attempt {
    struct gate_job *job;
    struct gate_entry *entry;
    const struct baseline_entry *old;
    struct gate_options options;
    struct gated_run run;
    char culprit[64], machine[128];
    bool fits;        /* the entry there is was made under the same conditions */
    struct error why; /* if not */
};

static struct baseline_setting setting_of(const struct attempt *attempt) {
    return (struct baseline_setting){.culprit = attempt->culprit,
                                     .machine = attempt->machine,
                                     .options = attempt->options.texts};
}

/* The machine is known, and nothing has been simulated yet. */
static bool begin(void *context, const struct machine *machine, struct error *error) {
    struct attempt *attempt = context;
    uint64_t identity;
    if (!machine_identity(machine, &identity, error))
        return false;
    snprintf(attempt->machine, sizeof attempt->machine, "%s %016" PRIx64, machine->name, identity);
    snprintf(attempt->culprit, sizeof attempt->culprit, CULPRIT_VERSION " model %s",
             simulation_model());
    const struct baseline_setting now = setting_of(attempt);
    attempt->fits =
        attempt->old && baseline_entry_fits(attempt->old, attempt->job->path, &now, &attempt->why);
    if (attempt->fits || attempt->job->update)
        return true;
    *error = attempt->why;
    return false;
}

/* ---- an entry ---- */

/* What both have, as layouts of the report. */
static bool add_layouts(const struct attempt *attempt, const struct baseline_entry *old,
                        struct error *error) {
    struct compare_report *report = &attempt->entry->compare;
    const struct gated_run *now = &attempt->run;
    const uint32_t count =
        now->layout_count < old->layout_count ? now->layout_count : old->layout_count;
    if (count < 2)
        return true;
    if (!compare_report_lay_out(report, count, error))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        report->layouts[0][i] =
            (struct layout_cycles){.known = old->layouts[i], .cycles = old->layouts[i]};
        report->layouts[1][i] = now->layouts[i];
    }
    return true;
}

/* The first run against the entry. */
static bool compare(struct attempt *attempt, struct baseline_entry *old, struct error *error) {
    struct compare_report *report = &attempt->entry->compare;
    report->report.verb = "gate";
    report->top = attempt->job->verb.output.top;
    report->runs[0] = old->run;
    report->runs[1] = attempt->run.first;
    old->run = attempt->run.first = (struct compared_run){0};
    attempt->entry->compared =
        add_layouts(attempt, old, error) && compare_report_build(report, error);
    return attempt->entry->compared;
}

static bool make(struct attempt *attempt, struct baseline_entry *old, struct error *error) {
    struct gate_job *job = attempt->job;
    struct gate_entry *entry = attempt->entry;
    struct gated_run *run = &attempt->run;
    uint64_t layouts[LAYOUTS_MOST];
    if (!run->layout_count && old)
        run->layout_count = old->layout_count;
    if (!gated_run_go(run, error) || !gated_run_again(run, error) ||
        !gated_run_repeatable(run, entry->name, job->limit, error))
        return false;
    for (uint32_t i = 0; i < run->layout_count; i++)
        layouts[i] = run->layouts[i].known ? run->layouts[i].cycles : 0;
    const uint64_t second = run->seen[1].cycles == run->seen[0].cycles ? 0 : run->seen[1].cycles;
    const struct baseline_entry new = {.name = entry->name,
                                       .words = (const char **)run->command,
                                       .setting = setting_of(attempt),
                                       .layouts = layouts,
                                       .layout_count = run->layout_count,
                                       .second = second};
    char *text = baseline_entry_text(&new, &run->first, error);
    if (!text)
        return false;
    job->texts[entry - job->report.entries] = text;
    entry->bytes = strlen(text);
    entry->verdict = GATE_WRITTEN;
    if (second)
        run->first.half_interval = fabs((double)second - (double)run->first.elapsed);
    if (old && attempt->fits && baseline_same_arguments(old, run->command))
        return compare(attempt, old, error);
    entry->compare.runs[1] = run->first;
    run->first = (struct compared_run){0};
    return true;
}

static bool judge(struct attempt *attempt, struct baseline_entry *old, struct error *error) {
    struct gate_entry *entry = attempt->entry;
    const struct gate_job *job = attempt->job;
    struct gated_run *run = &attempt->run;
    if (!baseline_same_arguments(old, run->command))
        return error_set(error,
                         "%s: '%s' is of a command with other arguments: give this one another "
                         "--name, or write it anew with --update",
                         job->path, old->name);
    if (job->layout_count > old->layout_count)
        return error_set(error,
                         "%s: '%s' has %" PRIu32
                         " layout%s: write it anew with --update --layouts %" PRIu32,
                         job->path, old->name, old->layout_count ? old->layout_count : 1,
                         text_plural(old->layout_count ? old->layout_count : 1), job->layout_count);
    run->layout_count = job->layout_count ? job->layout_count : old->layout_count;
    if (!gated_run_go(run, error) || !compare(attempt, old, error))
        return false;
    entry->verdict = GATE_PASSED;
    if (!compare_is_slower(&entry->compare, 100 * job->limit))
        return true;
    entry->verdict = GATE_SLOWER;
    return run->layout_count > 1 || (gated_run_again(run, error) &&
                                     gated_run_repeatable(run, entry->name, job->limit, error));
}

static struct attempt attempt_of(struct gate_job *job, size_t number, char **command,
                                 const struct baseline_entry *old) {
    return (struct attempt){.job = job,
                            .entry = &job->report.entries[number],
                            .old = old,
                            .options = {.input = job->input, .ideal = job->machine.ideal},
                            .run = {.watch = &verb_watch,
                                    .machines = &job->machines,
                                    .command = command,
                                    .layout_count = job->layout_count,
                                    .jobs = job->jobs,
                                    .begin = begin}};
}

static bool take_options(struct attempt *attempt, struct error *error) {
    return attempt->job->input.command
               ? gate_options_print(&attempt->options, error)
               : gate_options_parse(&attempt->options, attempt->old->setting.options, error);
}

/* Of a command that cannot be captured, the run tells why. */
bool gate_entry_check(struct gate_job *job, size_t number, char **command,
                      const struct baseline_entry *old) {
    struct attempt attempt = attempt_of(job, number, command, old);
    struct error *error = &attempt.entry->error;
    const struct machine *machine;
    enum isa isa;
    const bool good = take_options(&attempt, error) &&
                      (!trace_command_isa(command, &isa) ||
                       ((machine = machine_choice_of(&job->machines, isa, error)) &&
                        begin(&attempt, machine, error)));
    gate_options_free(&attempt.options);
    return good;
}

bool gate_entry_run(struct gate_job *job, size_t number, char **command, struct baseline_entry *old,
                    struct error *error) {
    struct attempt attempt = attempt_of(job, number, command, old);
    struct gate_entry *entry = attempt.entry;
    attempt.run.options = &attempt.options;
    attempt.run.context = &attempt;
    const bool good =
        take_options(&attempt, &entry->error) &&
        (job->update ? make(&attempt, old, &entry->error) : judge(&attempt, old, &entry->error));
    if (!good) {
        entry->verdict = GATE_UNKNOWN;
        entry->compared = false;
    }
    compared_run_free(&attempt.run.first);
    gate_options_free(&attempt.options);
    job->verb.ended_by = attempt.run.signal ? attempt.run.signal : verb_watch.signal;
    return !job->verb.ended_by || error_set(error, "interrupted: nothing is told or written");
}
