/* culprit calibrate: measures this processor, and writes a machine file of it. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/verb.h"
#include "report/calibration_report.h"
#include "study/calibrated_files.h"
#include "util/output.h"

struct job {
    struct verb_run verb;
    const char *file, *simulated; /* NULL: none */
    struct calibrate_run run;
    struct machine published;
    struct calibrated_files files;
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
         "which ends in .forms. -: to standard output, and the report to standard error",
         .letter = 'o', .written = true, .not_again = true),
    TAKE("only", "PART", take_part, "Measure only this part, of those below; may be repeated"),
    FLAG("quick", run.quick, "Fewer repetitions"),
    TEXT("simulated", "MACHINE", simulated,
         "Measure a simulated machine in place of this processor: its description is read back"),
    FLAG("json", verb.output.json, "One JSON object (docs/json.md) in place of the text"),
    {0}};

/* The parts, behind the help. */
static char *add_parts(int key, const char *text, void *input) {
    char *all = NULL;
    size_t size;
    (void)input;
    FILE *file = key == ARGP_KEY_HELP_EXTRA ? open_memstream(&all, &size) : NULL;
    if (!file)
        return (char *)text;
    fprintf(file, "Parts:\n");
    for (const struct calibrate_part *const *part = calibrate_parts; *part; part++)
        fprintf(file, "  %-11s %s\n", (*part)->name, (*part)->measures);
    fclose(file);
    return all;
}

static const struct command_line LINE = {
    .own = {.options = OPTIONS},
    .filter = add_parts,
    .help =
        "Measures this processor by small pieces of code, whose time it takes in turn with that of "
        "a chain of additions, one cycle each: no counters and no privileges are needed. What "
        "other load disturbs is said to be unknown.\v"
        "Example:\n"
        "  culprit calibrate --quick --only width --only rename -o host.ini\n"};

/* Of a processor that no machine is near. */
static const char NEAREST_TO_NONE[] = "zen4";

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
           (!job->file || calibrated_files_open(&job->files, &job->run, job->file, error));
}

static bool run(void *verb, struct error *error) {
    struct job *job = verb;
    job->verb.measured = calibrate_run_go(&job->run, error);
    return job->verb.measured;
}

static bool write_report(void *verb, struct error *error) {
    struct job *job = verb;
    if (job->file && !calibrated_files_write(&job->files, &job->run, error))
        return false;
    FILE *file = job->file && !strcmp(job->file, "-") ? stderr : stdout;
    if (job->verb.output.json)
        return calibration_json(&job->run, file, error) && output_flush("the report", error);
    calibration_text(&job->run, file);
    return output_flush("the report", error);
}

static void clean_up(void *verb) {
    struct job *job = verb;
    calibrated_files_discard(&job->files);
    calibrate_run_free(&job->run);
}

const struct verb verb_calibrate = {.line = &LINE,
                                    .size = sizeof(struct job),
                                    .prepare = prepare,
                                    .run = run,
                                    .report = write_report,
                                    .free = clean_up};
