/* culprit calibrate: measures this processor, and writes a machine file of it. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "calibrate/machine_file.h"
#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/verb.h"
#include "report/calibration_report.h"
#include "study/calibrate.h"

struct job {
    struct verb_run verb;
    const char *file, *simulated; /* NULL: none */
    struct calibrate_run run;
    struct machine published;
    struct output output;      /* the machine file */
    struct output forms;       /* the table of forms beside it; .file NULL: none is wanted */
    char forms_path[PATH_MAX]; /* FILE.forms for FILE.ini */
};

static void take_part(struct argp_state *state, void *given, char *value) {
    struct job *job = given;
    const struct calibrate_part *part = calibrate_part_find(value);
    char names[400] = "";
    for (const struct calibrate_part *const *next = calibrate_parts; *next; next++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", *names ? ", " : "",
                 (*next)->name);
    if (!part)
        options_fail(state, "--only %s: there is no such part (there are %s)", value, names);
    if (job->run.part_count == CALIBRATE_PARTS)
        options_fail(state, "--only %s: one part too many", value);
    job->run.parts[job->run.part_count++] = part;
}

#define REQUEST struct job
static const struct option_row OPTIONS[] = {
    TEXT("output", "FILE", file,
         "Write a machine file there: what was measured, and the published figures of the nearest "
         "machine for the rest; each line says which. Instruction forms go to a file beside it, "
         "which ends in .forms",
         .letter = 'o', .written = true, .not_again = true),
    TAKE("only", "PART", take_part, "Measure only this part; may be repeated"),
    FLAG("quick", run.quick, "Fewer repetitions"),
    TEXT("simulated", "MACHINE", simulated,
         "Measure a simulated machine in place of this processor: its description is read back"),
    FLAG("json", verb.output.json, "One JSON object (docs/json.md) in place of the text"),
    {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS},
    .help =
        "Measures this processor by small pieces of code, whose time it takes in turn with that of "
        "a chain of additions, one cycle each: no counters and no privileges are needed. What "
        "other load disturbs is said to be unknown.\v"
        "Example:\n"
        "  culprit calibrate --quick --only width --only rename -o host.ini\n"};

/* Of a processor that no machine is near. */
static const char NEAREST_TO_NONE[] = "zen4";

/* The table's name in the machine file. */
static const char *forms_name(const struct job *job) {
    const char *slash = strrchr(job->forms_path, '/');
    return slash ? slash + 1 : job->forms_path;
}

static bool wants_forms(const struct job *job) {
    for (uint32_t i = 0; i < job->run.part_count; i++)
        if (!strcmp(job->run.parts[i]->name, "forms"))
            return true;
    return false;
}

/* A pipe or a terminal has nothing beside it. */
static bool open_forms(struct job *job, struct error *error) {
    struct stat existing;
    const char *end = strrchr(job->file, '.');
    const size_t length =
        end && !strcmp(end, ".ini") ? (size_t)(end - job->file) : strlen(job->file);
    if (!wants_forms(job) || !strcmp(job->file, "-") ||
        (!stat(job->file, &existing) && !S_ISREG(existing.st_mode)))
        return true;
    if (snprintf(job->forms_path, sizeof job->forms_path, "%.*s.forms", (int)length, job->file) >=
            (int)sizeof job->forms_path ||
        strlen(forms_name(job)) > 150 || strpbrk(forms_name(job), ";#\"\n\r"))
        return error_set(error,
                         "--output %.100s: a machine file cannot name a table of forms beside it; "
                         "choose a shorter name, without ; # or quotes",
                         job->file);
    return output_open(&job->forms, "--output", job->forms_path, NULL, error);
}

static bool prepare(void *verb, struct error *error) {
    struct job *job = verb;
    processor_read(&job->run.processor);
    const struct processor_row *row = processor_find(&job->run.processor);
    job->run.watch = &verb_watch;
    if (!machine_load(job->simulated ? job->simulated
                      : row          ? row->machine
                                     : NEAREST_TO_NONE,
                      &job->published, error))
        return false;
    job->run.published = &job->published;
    job->run.simulated_machine = job->simulated ? &job->published : NULL;
    return calibrate_run_prepare(&job->run, error) &&
           (!job->file || (output_open(&job->output, "--output", job->file, stdout, error) &&
                           open_forms(job, error)));
}

static bool run(void *verb, struct error *error) {
    struct job *job = verb;
    const bool good = calibrate_run_go(&job->run, error);
    job->verb.measured = job->run.calibration.count > 0;
    return good;
}

/* *forms: the table's name; NULL if nothing was measured that it could say. */
static bool write_forms(struct job *job, const char *measured, const char **forms,
                        struct error *error) {
    const struct form_table *table = &job->run.calibration.forms;
    *forms = NULL;
    if (!job->forms.file || !form_table_says(table))
        return true;
    *forms = forms_name(job);
    form_table_write(table, &job->published, measured,
                     job->forms.file); /* whether it failed, the end tells */
    return output_close(&job->forms, error);
}

static bool write_machine(struct job *job, struct error *error) {
    const char *measured = job->simulated ? job->published.name : job->run.processor.brand, *forms;
    char description[160], kind[PROCESSOR_KIND] = "";
    snprintf(description, sizeof description, "%.60s, %s, calibrated%s", measured,
             job->simulated ? "simulated" : "this processor", job->run.partial ? " in part" : "");
    if (!job->simulated)
        processor_kind(&job->run.processor, kind);
    return write_forms(job, measured, &forms, error) &&
           calibration_write(&job->run.calibration, &job->published, description, kind, forms,
                             job->output.file, error) &&
           output_close(&job->output, error);
}

static bool write_report(void *verb, struct error *error) {
    struct job *job = verb;
    if (job->file && !write_machine(job, error))
        return false;
    if (job->verb.output.json)
        return calibration_json(&job->run, stdout, error) && verb_flush("the report", error);
    calibration_text(&job->run, stdout);
    return verb_flush("the report", error);
}

static void clean_up(void *verb) {
    struct job *job = verb;
    output_discard(&job->output);
    output_discard(&job->forms);
    calibrate_run_free(&job->run);
}

const struct verb verb_calibrate = {.line = &LINE,
                                    .size = sizeof(struct job),
                                    .prepare = prepare,
                                    .run = run,
                                    .report = write_report,
                                    .free = clean_up};
