/* One command of a baseline. A new entry is made of two runs, which must be the same; a run that is
 * slower is repeated before it is called so, since a program that does another thing each time
 * cannot be judged. */
#include "report/gate_entry.h"
#include "cmd/cmd.h"
#include "cmd/gate.h"
#include "cmd/interrupt.h"
#include "report/baseline_fits.h"

struct attempt {
    struct gate_job *job;
    struct gate_entry *entry;
    const struct baseline_entry *old;
    struct gate_options options;
    struct gated_run run;
    struct baseline_maker maker;
    bool fits;        /* the entry there is was made under the same conditions */
    struct error why; /* if not */
};

static struct baseline_setting setting_of(const struct attempt *attempt) {
    return (struct baseline_setting){.culprit = attempt->maker.culprit,
                                     .machine = attempt->maker.machine,
                                     .options = attempt->options.texts};
}

/* The machine is known, and nothing has been simulated yet. */
static bool begin(void *context, const struct machine *machine, struct error *error) {
    struct attempt *attempt = context;
    if (!baseline_maker_of(&attempt->maker, CULPRIT_VERSION, machine, error))
        return false;
    const struct baseline_setting now = setting_of(attempt);
    attempt->fits =
        attempt->old && baseline_entry_fits(attempt->old, attempt->job->path, &now, &attempt->why);
    if (attempt->fits || attempt->job->update)
        return true;
    *error = attempt->why;
    return false;
}

/* What the study found, whose first run it takes. */
static struct gate_run take_run(struct gated_run *run) {
    const struct gate_run now = {
        .first = run->first, .layouts = run->layouts, .layout_count = run->layout_count};
    run->first = (struct compared_run){0};
    return now;
}

static bool make(struct attempt *attempt, struct baseline_entry *old, struct error *error) {
    struct gate_job *job = attempt->job;
    struct gate_entry *entry = attempt->entry;
    struct gated_run *run = &attempt->run;
    if (!run->layout_count && old)
        run->layout_count = old->layout_count;
    if (!gated_run_go(run, error) || !gated_run_again(run, error) ||
        !gated_run_repeatable(run, entry->name, job->limit, error))
        return false;
    const struct baseline_setting setting = setting_of(attempt);
    struct gate_run now = take_run(run);
    now.second = run->seen[1].cycles == run->seen[0].cycles ? 0 : run->seen[1].cycles;
    char *text = gate_entry_text(entry, &setting, run->command, &now, error);
    job->texts[entry - job->report.entries] = text;
    if (text && old && attempt->fits && baseline_same_arguments(old, run->command))
        return gate_entry_compare(entry, old, &now, job->verb.output.top, error);
    entry->compare.runs[1] = now.first;
    return text;
}

static bool judge(struct attempt *attempt, struct baseline_entry *old, struct error *error) {
    struct gate_entry *entry = attempt->entry;
    const struct gate_job *job = attempt->job;
    struct gated_run *run = &attempt->run;
    if (!baseline_entry_is_of(old, job->path, run->command, job->layout_count, error))
        return false;
    run->layout_count = job->layout_count ? job->layout_count : old->layout_count;
    if (!gated_run_go(run, error))
        return false;
    struct gate_run now = take_run(run);
    if (!gate_entry_compare(entry, old, &now, job->verb.output.top, error))
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
