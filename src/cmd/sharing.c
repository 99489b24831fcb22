/* culprit sharing: which lines of memory move between the cores of a program with threads, who
 * touches which bytes of them, and what padding or private copies would save. */
#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/verb.h"
#include "options/together_options.h"
#include "report/next.h"
#include "report/sharing_report.h"
#include "report/trace_notes.h"
#include "study/sharing_run.h"

struct job {
    struct verb_run verb;
    struct input_options input;
    struct machine_options machine;
    struct machine_choice choice;
    uint32_t cores; /* 0: the machine's */
    struct sharing_run run;
    struct program *program;
    struct sharing_report report;
};

static void begin(void *verb) {
    struct job *job = verb;
    job->input.traces_allowed = true;
    job->run.watch = &verb_watch;
    job->run.input = &job->input;
    job->run.machines = &job->choice;
    job->run.alone = 3;
}

static void take_affinity(struct argp_state *state, void *given, char *value) {
    affinity_take(state, &((struct job *)given)->run.threads.affinity, value);
}

#define REQUEST struct job
static const struct option_row OPTIONS[] = {
    HEADING(4, "Threads and remedies:"),
    COUNT("cores", "N", cores,
          "Threads share a chip of N cores (default: chip.cores of the machine)", .least = 1,
          .most = SHARED_MEMORY_CORES),
    AFFINITY_ROW(take_affinity),
    TOGETHER_ROW(run.threads.slack),
    COUNT("alone", "N", run.alone,
          "Simulate a remedy for each of the N costliest lines by itself, too (default 3)",
          .most = SHARING_MOST_ALONE),
    {0}};

static void check(struct argp_state *state, void *given) {
    const struct job *job = given;
    if (!job->input.command && !job->input.trace)
        options_fail(state, "which program? (culprit sharing [OPTION...] -- COMMAND..., or "
                            "culprit sharing FILE.ctrace)");
}

static const struct option_part PARTS[] = {{&input_group, offsetof(struct job, input)},
                                           {&machine_group, offsetof(struct job, machine)},
                                           {&output_group, offsetof(struct job, verb.output)},
                                           {&for_group, offsetof(struct job, input)},
                                           {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .begin = begin, .end = check},
    .parts = PARTS,
    .arguments = "[--] COMMAND...\nTRACE.ctrace",
    .help = "Tells which lines of memory move between the cores of a program with threads, who "
            "touches which bytes of them, whether that is true or false sharing, and what padding "
            "or copies private to each thread would save, by simulation.\v"
            "Example:\n  culprit sharing -- pigz -p 2 -c /bin/bash > /dev/null\n\n"
            "The report goes to standard error, the command keeps standard output and its exit "
            "status; 125 when culprit failed."};

static bool prepare(void *verb, struct error *error) {
    struct job *job = verb;
    options_fix_machine(&job->input, &job->machine);
    return input_choose_machine(&job->input, &job->machine, &job->choice, error) &&
           verb_open_report(&job->verb, error);
}

static bool run(void *verb, struct error *error) {
    struct job *job = verb;
    struct sharing_run *study = &job->run;
    study->begin = interrupt_await(&job->input);
    study->ideal = job->machine.ideal;
    study->threads.cores[0] = job->cores;
    study->threads.core_count = job->cores != 0;
    if (!sharing_run_open(study, &job->verb.failed, error))
        return false;
    if (study->timed.signal)
        job->verb.ended_by = study->timed.signal;
    if (job->verb.command)
        job->verb.exit = study->timed.exit;
    const bool good = sharing_run_go(study, error);
    job->verb.measured = !study->threads_seen || study->simulation.executed;
    return good || (job->verb.measured && verb_report_late(&job->verb, error));
}

REPORT_FORMS(SHARING, sharing_json, sharing_text, NULL);

static bool write_report(void *verb, struct error *error) {
    struct job *job = verb;
    struct sharing_report *report = &job->report;
    const struct sharing_run *run = &job->run;
    report->report =
        (struct report){.verb = "sharing",
                        .program = trace_command(run->trace),
                        .machine = run->options.machine,
                        .ideal = job->machine.ideal,
                        .partial = job->verb.late.message[0] || job->verb.ended_by ||
                                   run->simulation.interrupted || trace_is_cut(run->trace)};
    if (!(job->program = verb_program()))
        return error_set(error, "out of memory for the report");
    if (!sharing_report_build(report, run, job->program, job->verb.output.top, error))
        return false;
    report->report.fixed = job->input.fixed;
    note_trace(&report->report, run->trace);
    return verb_write_report(&job->verb, &SHARING, report, error);
}

static void clean_up(void *verb) {
    struct job *job = verb;
    sharing_report_free(&job->report);
    sharing_run_free(&job->run);
    program_free(job->program);
}

const struct verb verb_sharing = {.line = &LINE,
                                  .size = sizeof(struct job),
                                  .command = offsetof(struct job, input.command),
                                  .prepare = prepare,
                                  .run = run,
                                  .report = write_report,
                                  .free = clean_up};
