/* culprit throughput: instructions per cycle of chips whose cores interleave threads, from profiles
 * of the programs alone, for one chip or many, without simulating them. */
#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/verb.h"
#include "options/sharing_options.h"
#include "report/next.h"
#include "report/throughput_report.h"
#include "report/trace_notes.h"
#include "study/throughput_run.h"

enum { MAX_ROUNDS = 1000 };

struct job {
    struct verb_run verb;
    struct sharing_options_given given;
    struct throughput_run run;
    struct throughput_report report;
};

static void begin(void *job) {
    ((struct job *)job)->run.options.rounds = 1;
    ((struct job *)job)->run.options.latency = LATENCY_MEAN;
}

static void take_search(struct argp_state *state, void *request, char *value) {
    struct error error;
    if (!throughput_space_add(&((struct job *)request)->run.space, value, &error))
        options_fail(state, "--search: %s", error.message);
}

#define REQUEST struct job
static const struct option_row OPTIONS[] = {
    HEADING(4, "Which chips:"),
    TAKE("search", "RANGE", take_search,
         "cores=FIRST..LAST or threads=FIRST..LAST (of a core): every combination, and the best; "
         "may be repeated, or be both in one word"),
    HEADING(5, "How throughput is predicted:"),
    COUNT("rounds", "N", run.options.rounds,
          "How often speeds are found anew from the misses, and these from the speeds (default 1)",
          .most = MAX_ROUNDS),
    CHOICE("latency", "KIND", run.options.latency,
           "The one latency of the Markov chain: mean (default) of all suspensions, or by-time: "
           "causes weighed by the time that they take",
           throughput_latency_names),
    CHOICE("speeds", "KIND", run.options.speeds,
           "How fast threads run, for contention: by mean-value analysis (default), or isolated: "
           "as much of what a core does as their IPCs alone are of its sum",
           throughput_speeds_names),
    HEADING(6, "How good it is:"),
    FLAG("check", run.check,
         "Simulate every chip as well, and show how far each model is off; slow"),
    OUTPUT_ROWS(7, verb.output),
    HTML_ROW(verb.output),
    SVG_ROW(verb.output, "Draw the models core by core, or the chips of a --search"),
    {0}};

static void check_request(struct argp_state *state, void *given) {
    struct job *job = given;
    options_check_output(state, &job->verb.output);
    if (job->given.word_count == 0)
        options_fail(state, "which programs? (culprit throughput [OPTION...] FILE..., traces "
                            "or profiles of culprit contend --profile)");
}

static const struct option_part PARTS[] = {{&sharing_group, offsetof(struct job, given)}, {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .begin = begin, .end = check_request},
    .parts = PARTS,
    .arguments = "TRACE.ctrace|PROFILE[*COPIES]...",
    .help = "Predicts how many instructions per cycle a chip executes whose cores interleave "
            "threads, each a program of its own, and how much these disturb each other in the "
            "caches that they share, from what each program does alone. Programs go round over "
            "the hardware threads, core by core.\v"
            "Example:\n"
            "  culprit trace --limit 20M -o gzip.ctrace -- gzip -9 -c /bin/bash > /dev/null\n"
            "  culprit throughput --search 'cores=1..8 threads=1..4' gzip.ctrace\n"};

static bool prepare(void *verb, struct error *error) {
    struct job *job = verb;
    struct throughput_run *run = &job->run;
    if (!machine_choice_load(&job->given.choice, &job->given.machine, error))
        return false;
    const struct machine *machine = machine_choice_of(&job->given.choice, ISA_X86_64, error);
    if (!machine)
        return false;
    if (!machine_check_chip(machine, error))
        return machine_is_chip(machine)
                   ? error_prefix(error, "machine %.60s", machine->name)
                   : error_set(error, "machine %.60s is no chip (try --machine niagara)",
                               machine->name);
    run->watch = &verb_watch;
    run->selection = job->given.selection;
    run->options.machine = machine;
    run->options.contention = job->given.contention;
    throughput_space_finish(&run->space, machine);
    return locality_inputs_list(&run->inputs, job->given.words, job->given.word_count, error) &&
           (!run->check || locality_inputs_simulable(&run->inputs, error)) &&
           verb_open_report(&job->verb, error);
}

static bool run(void *verb, struct error *error) {
    struct job *job = verb;
    job->verb.measured = throughput_run_go(&job->run, error);
    return job->verb.measured;
}

REPORT_PICTURE(draw, throughput_svg)
REPORT_FORMS(THROUGHPUT, throughput_json, throughput_text, draw);

static bool write_report(void *verb, struct error *error) {
    struct job *job = verb;
    const struct throughput_run *run = &job->run;
    const struct throughput_simulated *simulated = &run->simulated;
    struct throughput_report *report = &job->report;
    const bool searched = run->space.searched;
    struct error none;
    *report = (struct throughput_report){
        .report = {.verb = "throughput",
                   .program = run->inputs.title,
                   .machine = run->options.machine,
                   .partial = run->interrupted},
        .labels = run->inputs.labels,
        .program_count = run->inputs.program_count,
        .threads = run->inputs.threads,
        .thread_count = run->inputs.thread_count,
        .options = &run->options,
        .result = searched ? NULL : &run->result,
        .simulated = simulated->by_thread && !run->interrupted ? simulated : NULL,
        .search = searched ? &run->search : NULL,
        .checked = run->check,
        .profile_seconds = run->inputs.seconds,
        .model_seconds = run->model_seconds,
        .simulation_seconds = run->simulation_seconds};
    note_cut_programs(&report->report, &run->inputs);
    throughput_note(report, run->interrupted, simulated->by_thread, run->inputs.instructions);
    if (!run->check && locality_inputs_simulable(&run->inputs, &none))
        report->report.next = next_with_option("--check", job->verb.argc, job->verb.words);
    return verb_write_report(&job->verb, &THROUGHPUT, report, error);
}

static void clean_up(void *verb) {
    struct job *job = verb;
    report_free(&job->report.report);
    throughput_run_free(&job->run);
}

const struct verb verb_throughput = {.line = &LINE,
                                     .size = sizeof(struct job),
                                     .prepare = prepare,
                                     .run = run,
                                     .report = write_report,
                                     .free = clean_up};
