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
#include "simulate/model.h"

#define SAME_PART 4 /* of the limit: two runs that differ by less are taken for the same */

struct attempt {
    struct gate_job *job;
    struct gate_entry *entry;
    const struct baseline_entry *old;
    struct gate_options options;
    struct compare_report runs; /* the first and the second one */
    char culprit[64], machine[128];
    struct gate_layouts layouts; /* its count 0: layout 0 alone */
    bool fits;                   /* the entry there is was made under the same conditions */
    struct error why;            /* if not */
};

/* ---- conditions ---- */

static bool refuse(const struct attempt *attempt, struct error *error, const char *what,
                   const char *then, const char *now) {
    return error_set(error,
                     "%s: '%s' is of %s %s, this is %s, whose cycles may be others: write it anew "
                     "with --update",
                     attempt->job->path, attempt->old->name, what, then, now);
}

static bool same_texts(const char *const *one, const char *const *other) {
    while (*one && *other && !strcmp(*one, *other)) {
        one++;
        other++;
    }
    return !*one && !*other;
}

static bool fits(const struct attempt *attempt, struct error *error) {
    const struct baseline_setting *then = &attempt->old->setting;
    if (strcmp(then->culprit, attempt->culprit) != 0)
        return refuse(attempt, error, "culprit", then->culprit, attempt->culprit);
    if (strcmp(then->machine, attempt->machine) != 0)
        return refuse(attempt, error, "machine", then->machine, attempt->machine);
    if (!same_texts(then->options, attempt->options.texts))
        return error_set(error,
                         "%s: '%s' is of a run with other options (%s%s): give this one another "
                         "--name, or write it anew with --update",
                         attempt->job->path, attempt->old->name,
                         then->options[0] ? then->options[0] : "none",
                         then->options[0] && then->options[1] ? " ..." : "");
    return true;
}

/* The machine is known, and nothing has been simulated yet. */
static bool begin(void *context, unsigned side, const struct simulated_run *run,
                  struct error *error) {
    struct attempt *attempt = context;
    const struct machine *machine = run->options.machine;
    uint64_t identity;
    if (side && attempt->machine[0])
        return true;
    if (!machine_identity(machine, &identity, error))
        return false;
    snprintf(attempt->machine, sizeof attempt->machine, "%s %016" PRIx64, machine->name, identity);
    snprintf(attempt->culprit, sizeof attempt->culprit, CULPRIT_VERSION " model %s",
             simulation_model());
    attempt->fits = attempt->old && fits(attempt, &attempt->why);
    if (attempt->fits || attempt->job->update)
        return true;
    *error = attempt->why;
    return false;
}

/* The program may lie elsewhere; what it is given must be the same. */
static bool same_arguments(const struct baseline_entry *old, char *const *command) {
    return same_texts(old->words + 1, (const char *const *)command + 1);
}

/* ---- runs ---- */

static bool take(void *context, unsigned side, const struct simulated_run *run,
                 struct error *error) {
    struct attempt *attempt = context;
    const struct trace *trace = run->trace;
    const struct trace_exit exit = simulated_run_exit(run);
    attempt->runs.runs[side].limited = run->input->limit || trace_is_cut(trace);
    if (exit.known && exit.status)
        return error_set(error, "%s: it ended with %s %d", run->input->command[0],
                         exit.signaled ? "signal" : "status", exit.status);
    if (!exit.known && !exit.stopped)
        return error_set(error, "%s: it did not come to its end", run->input->command[0]);
    return compare_report_take(&attempt->runs, side, trace_command(trace), &run->simulation,
                               trace_code(trace), run->options.machine, error);
}

/* The first run, or the second, or both. */
static bool simulate(struct attempt *attempt, char **command, bool first, bool second,
                     struct error *error) {
    struct gate_job *job = attempt->job;
    struct compare_run run = {.watch = &verb_watch,
                              .machines = &job->machines,
                              .threads = (struct together_request){TOGETHER_REGIONS},
                              .ideal = attempt->options.ideal,
                              .again = true,
                              .begin = begin,
                              .take = take,
                              .context = attempt};
    const bool wanted[] = {first, second};
    for (unsigned i = 0; i < 2; i++) {
        run.inputs[i] = attempt->options.input;
        run.inputs[i].command = wanted[i] ? command : NULL;
    }
    return compare_run_go(&run, error);
}

/* How far the second run is from the first, as a share of its cycles. */
static double apart(const struct attempt *attempt) {
    const struct compared_run *runs = attempt->runs.runs;
    return fabs((double)runs[1].elapsed / (double)runs[0].elapsed - 1);
}

/* Both runs are the same, or as good as. */
static bool repeatable(const struct attempt *attempt, struct error *error) {
    const struct compared_run *runs = attempt->runs.runs;
    return apart(attempt) * SAME_PART <= attempt->job->limit ||
           error_set(error,
                     "'%s' does not do the same each time: %s cycles and %s instructions, then %s "
                     "and %s (see what changes with culprit compare)",
                     attempt->entry->name, text_grouped(runs[0].elapsed).s,
                     text_grouped(runs[0].all.executions).s, text_grouped(runs[1].elapsed).s,
                     text_grouped(runs[1].all.executions).s);
}

/* Under the layouts, after the first run. */
static bool lay_out(struct attempt *attempt, char **command, struct error *error) {
    attempt->layouts.full = attempt->runs.runs[0].elapsed;
    return !attempt->layouts.count ||
           gate_layouts_run(attempt->job, &attempt->options, command, &attempt->layouts, error);
}

/* Another run as the first, to see whether it does the same: layout 0, if that was simulated. */
static bool run_again(struct attempt *attempt, char **command, struct error *error) {
    const struct layout_cycles *again = &attempt->layouts.cycles[0];
    if (!attempt->layouts.count || !attempt->layouts.exact)
        return simulate(attempt, command, false, true, error);
    attempt->runs.runs[1].elapsed = again->cycles;
    attempt->runs.runs[1].all.executions = again->instructions;
    return true;
}

/* ---- an entry ---- */

/* What both have, as layouts of the report. */
static bool add_layouts(const struct attempt *attempt, const struct baseline_entry *old,
                        struct error *error) {
    struct compare_report *report = &attempt->entry->compare;
    const struct gate_layouts *now = &attempt->layouts;
    const uint32_t count = now->count < old->layout_count ? now->count : old->layout_count;
    if (count < 2)
        return true;
    if (!compare_report_lay_out(report, count, error))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        report->layouts[0][i] =
            (struct layout_cycles){.known = old->layouts[i], .cycles = old->layouts[i]};
        report->layouts[1][i] = now->cycles[i];
    }
    return true;
}

/* The first run against the entry. */
static bool compare(struct attempt *attempt, struct baseline_entry *old, struct error *error) {
    struct compare_report *report = &attempt->entry->compare;
    report->report.verb = "gate";
    report->top = attempt->job->verb.output.top;
    report->runs[0] = old->run;
    report->runs[1] = attempt->runs.runs[0];
    old->run = attempt->runs.runs[0] = (struct compared_run){0};
    attempt->entry->compared =
        add_layouts(attempt, old, error) && compare_report_build(report, error);
    return attempt->entry->compared;
}

static bool make(struct attempt *attempt, char **command, struct baseline_entry *old,
                 struct error *error) {
    struct gate_job *job = attempt->job;
    struct gate_entry *entry = attempt->entry;
    struct compared_run *runs = attempt->runs.runs;
    uint64_t layouts[LAYOUTS_MOST];
    if (!attempt->layouts.count && old)
        attempt->layouts.count = old->layout_count;
    if (!simulate(attempt, command, true, false, error) || !lay_out(attempt, command, error) ||
        !run_again(attempt, command, error) || !repeatable(attempt, error))
        return false;
    for (uint32_t i = 0; i < attempt->layouts.count; i++)
        layouts[i] = attempt->layouts.cycles[i].known ? attempt->layouts.cycles[i].cycles : 0;
    const uint64_t second = runs[1].elapsed == runs[0].elapsed ? 0 : runs[1].elapsed;
    const struct baseline_entry new = {.name = entry->name,
                                       .words = (const char **)command,
                                       .setting = {.culprit = attempt->culprit,
                                                   .machine = attempt->machine,
                                                   .options = attempt->options.texts},
                                       .layouts = layouts,
                                       .layout_count = attempt->layouts.count,
                                       .second = second};
    char *text = baseline_entry_text(&new, &runs[0], error);
    if (!text)
        return false;
    job->texts[entry - job->report.entries] = text;
    entry->bytes = strlen(text);
    entry->verdict = GATE_WRITTEN;
    if (second)
        runs[0].half_interval = fabs((double)second - (double)runs[0].elapsed);
    if (old && attempt->fits && same_arguments(old, command))
        return compare(attempt, old, error);
    entry->compare.runs[1] = runs[0];
    runs[0] = (struct compared_run){0};
    return true;
}

static bool judge(struct attempt *attempt, char **command, struct baseline_entry *old,
                  struct error *error) {
    struct gate_entry *entry = attempt->entry;
    const struct gate_job *job = attempt->job;
    if (!same_arguments(old, command))
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
    attempt->layouts.count = job->layout_count ? job->layout_count : old->layout_count;
    if (!simulate(attempt, command, true, false, error) || !lay_out(attempt, command, error))
        return false;
    const struct compared_run first = {.elapsed = attempt->runs.runs[0].elapsed,
                                       .all = attempt->runs.runs[0].all};
    if (!compare(attempt, old, error))
        return false;
    entry->verdict = GATE_PASSED;
    if (!compare_is_slower(&entry->compare, 100 * job->limit))
        return true;
    if (attempt->layouts.count > 1) {
        entry->verdict = GATE_SLOWER;
        return true;
    }
    entry->verdict = GATE_UNKNOWN;
    attempt->runs.runs[0] = first;
    if (!simulate(attempt, command, false, true, error) || !repeatable(attempt, error))
        return false;
    entry->verdict = GATE_SLOWER;
    return true;
}

bool gate_entry_run(struct gate_job *job, size_t number, char **command, struct baseline_entry *old,
                    struct error *error) {
    struct gate_entry *entry = &job->report.entries[number];
    struct attempt attempt = {.job = job,
                              .entry = entry,
                              .old = old,
                              .options = {.input = job->input, .ideal = job->machine.ideal},
                              .layouts.count = job->layout_count};
    bool good = job->input.command
                    ? gate_options_print(&attempt.options, &entry->error)
                    : gate_options_parse(&attempt.options, old->setting.options, &entry->error);
    good = good && (job->update ? make(&attempt, command, old, &entry->error)
                                : judge(&attempt, command, old, &entry->error));
    if (!good) {
        entry->verdict = GATE_UNKNOWN;
        entry->compared = false;
    }
    compared_run_free(&attempt.runs.runs[0]);
    compared_run_free(&attempt.runs.runs[1]);
    gate_options_free(&attempt.options);
    return !verb_watch.signal || error_set(error, "interrupted: nothing is told or written");
}
