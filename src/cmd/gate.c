/* culprit gate: commands held against what they took before. */
#include "cmd/gate.h"
#include "util/output.h"

#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "options/exit_status.h"
#include "report/gate_entry.h"
#include "report/next.h"
#include "util/array.h"

enum { STATUS_SLOWER = 1 };

/* ---- prepare ---- */

/* The entries to run: the command's, the one that is named, or all. */
static bool list_entries(struct gate_job *job, struct error *error) {
    struct gate_report *report = &job->report;
    const char *name = job->name;
    if (job->input.command && !name && !(name = job->own_name = baseline_name(job->input.command)))
        return error_set(error, "out of memory for the programs");
    report->path = job->path;
    report->limit = 100 * job->limit;
    return gate_entries_list(report, &job->baseline, name, job->update && job->input.command,
                             error) &&
           ((job->texts = calloc(report->count, sizeof *job->texts)) ||
            error_set(error, "out of memory for the programs"));
}

static bool open_files(struct gate_job *job, struct error *error) {
    const char *const paths[] = {job->markdown, job->junit, job->code_quality};
    static const char *const OPTION_NAMES[] = {"--markdown", "--junit", "--code-quality"};
    for (int i = 0; i < 3; i++)
        if (paths[i] && !output_open(&job->files[i], OPTION_NAMES[i], paths[i], NULL, error))
            return false;
    return true;
}

static bool prepare(void *verb, struct error *error) {
    struct gate_job *job = verb;
    job->verb.failed = STATUS_BROKEN;
    options_fix_machine(&job->input, &job->machine);
    return input_choose_machine(&job->input, &job->machine, &job->machines, error) &&
           baseline_read(&job->baseline, job->path, error) && list_entries(job, error) &&
           (!job->update || baseline_check_writable(job->path, error)) && open_files(job, error) &&
           verb_open_report(&job->verb, error);
}

/* ---- run ---- */

static bool write_baseline(struct gate_job *job, struct error *error) {
    struct gate_report *report = &job->report;
    const char **names = calloc(report->count + 1, sizeof *names);
    for (size_t i = 0; names && i < report->count; i++)
        names[i] = report->entries[i].name;
    const bool good = names ? baseline_put(job->path, names, job->texts, report->count, error)
                            : error_set(error, "out of memory for the baseline");
    free(names);
    return good;
}

static void tell_unknown(const struct gate_report *report, size_t number) {
    struct error told = report->entries[number].error;
    if (report->count > 1)
        error_prefix(&told, "%s", report->entries[number].name);
    print_error(&told);
}

/* All of them, or none. */
static bool finish_update(struct gate_job *job, struct error *error) {
    struct gate_report *report = &job->report;
    if (gate_count(report, GATE_UNKNOWN) == 0)
        return write_baseline(job, error);
    for (size_t i = 0; i < report->count; i++)
        if (gate_entry_withdraw(&report->entries[i]))
            tell_unknown(report, i);
    return true;
}

static int status_of(const struct gate_report *report) {
    return gate_count(report, GATE_SLOWER)    ? STATUS_SLOWER
           : gate_count(report, GATE_UNKNOWN) ? STATUS_BROKEN
                                              : 0;
}

static struct baseline_entry *old_of(const struct gate_job *job, size_t number) {
    return (struct baseline_entry *)baseline_find(&job->baseline, job->report.entries[number].name);
}

static char **command_of(const struct gate_job *job, const struct baseline_entry *old) {
    return job->input.command ? job->input.command : (char **)old->words;
}

/* What cannot be judged is told before the first run. How many can. */
static size_t check_all(struct gate_job *job) {
    size_t good = 0;
    for (size_t i = 0; i < job->report.count; i++) {
        const struct baseline_entry *old = old_of(job, i);
        if (gate_entry_check(job, i, command_of(job, old), old))
            good++;
        else
            tell_unknown(&job->report, i);
    }
    return good;
}

static bool run_all(struct gate_job *job, struct error *error) {
    struct gate_report *report = &job->report;
    for (size_t i = 0; i < report->count; i++) {
        struct baseline_entry *old = old_of(job, i);
        if (report->entries[i].error.message[0])
            continue;
        if (!gate_entry_run(job, i, command_of(job, old), old, error))
            return false;
        if (report->entries[i].verdict == GATE_UNKNOWN)
            tell_unknown(report, i);
    }
    return true;
}

static bool run(void *verb, struct error *error) {
    struct gate_job *job = verb;
    struct gate_report *report = &job->report;
    const bool all = check_all(job) == report->count;
    if ((all || !job->update) && !run_all(job, error))
        return false;
    if (job->update && !finish_update(job, error))
        return false;
    if (!job->update)
        report->accept = next_with_option("--update", job->verb.argc, job->verb.words);
    job->verb.measured = true;
    job->verb.exit = (struct trace_exit){.known = true, .status = status_of(report)};
    return true;
}

/* ---- report ---- */

static bool write_report(void *verb, struct error *error) {
    struct gate_job *job = verb;
    const struct gate_report *report = &job->report;
    const struct output *output = &job->verb.files.report;
    const struct page page = output_page(output);
    FILE *data = job->verb.files.html.data;
    if (data && !gate_report_json(report, data, error))
        return false;
    if (!job->verb.output.json)
        gate_report_text(report, &page);
    else if (!gate_report_json(report, output->file, error))
        return false;
    if (job->annotations) {
        fflush(output->file);
        gate_report_annotations(report, stdout);
    }
    if (job->markdown)
        gate_report_markdown(report, job->files[0].file);
    if (job->junit && !gate_report_junit(report, job->files[1].file))
        return error_set(error, "out of memory for --junit");
    if (job->code_quality && !gate_report_code_quality(report, job->files[2].file, error))
        return false;
    for (int i = 0; i < 3; i++)
        if (job->files[i].file && !output_close(&job->files[i], error))
            return false;
    return output_flush("standard output", error);
}

static void clean_up(void *verb) {
    struct gate_job *job = verb;
    struct gate_report *report = &job->report;
    for (size_t i = 0; report->entries && i < report->count; i++)
        compare_report_free(&report->entries[i].compare);
    array_free_each(job->texts, report->count);
    free(report->entries);
    free(report->accept);
    free(job->own_name);
    baseline_free(&job->baseline);
    for (int i = 0; i < 3; i++)
        output_discard(&job->files[i]);
}

const struct verb verb_gate = {.line = &gate_line,
                               .size = sizeof(struct gate_job),
                               .prepare = prepare,
                               .run = run,
                               .report = write_report,
                               .free = clean_up};
