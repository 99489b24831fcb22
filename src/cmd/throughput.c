/* culprit throughput: instructions per cycle of chips whose cores interleave threads, from profiles
 * of the programs alone, for one chip or many, without simulating them. */
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/next.h"
#include "cmd/notes.h"
#include "cmd/output.h"
#include "cmd/sharing_options.h"
#include "machine/choice.h"
#include "report/throughput_report.h"
#include "study/localities.h"
#include "util/clock.h"
#include "util/text.h"

enum { MAX_ROUNDS = 1000 };

struct request {
    int argc;
    struct sharing_options_given given;
    struct throughput_space space;
    uint32_t rounds;
    enum throughput_latency latency;
    enum throughput_speeds speeds;
    bool check;
    struct output_options output;
};

static void take_search(struct argp_state *state, void *request, char *value) {
    struct error error;
    if (!throughput_space_add(&((struct request *)request)->space, value, &error))
        options_fail(state, "--search: %s", error.message);
}

#define REQUEST struct request
static const struct option_row OPTIONS[] = {
    HEADING(4, "Which chips:"),
    TAKE("search", "RANGE", take_search,
         "cores=FIRST..LAST or threads=FIRST..LAST (of a core): every combination, and the best; "
         "may be repeated, or be both in one word"),
    HEADING(5, "How throughput is predicted:"),
    COUNT("rounds", "N", rounds,
          "How often speeds are found anew from the misses, and these from the speeds (default 1)",
          .most = MAX_ROUNDS),
    CHOICE("latency", "KIND", latency,
           "The one latency of the Markov chain: mean (default) of all suspensions, or by-time: "
           "causes weighed by the time that they take",
           throughput_latency_names),
    CHOICE("speeds", "KIND", speeds,
           "How fast threads run, for contention: by mean-value analysis (default), or isolated: "
           "as much of what a core does as their IPCs alone are of its sum",
           throughput_speeds_names),
    HEADING(6, "How good it is:"),
    FLAG("check", check, "Simulate every chip as well, and show how far each model is off; slow"),
    OUTPUT_ROWS(7, output),
    SVG_ROW(output, "Draw the models core by core, or the chips of a --search"),
    {0}};

static void check_request(struct argp_state *state, void *given) {
    struct request *request = given;
    options_check_output(state, &request->output);
    if (request->given.word_count == 0)
        options_fail(state, "which programs? (culprit throughput [OPTION...] FILE..., traces "
                            "or profiles of culprit contend --profile)");
}

static const struct option_part PARTS[] = {{&sharing_group, offsetof(struct request, given)}, {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .end = check_request},
    .parts = PARTS,
    .arguments = "TRACE.ctrace|PROFILE[*COPIES]...",
    .help = "Predicts how many instructions per cycle a chip executes whose cores interleave "
            "threads, each a program of its own, and how much these disturb each other in the "
            "caches that they share, from what each program does alone. Programs go round over "
            "the hardware threads, core by core.\v"
            "Example:\n"
            "  culprit trace --limit 20M -o gzip.ctrace -- gzip -9 -c /bin/bash > /dev/null\n"
            "  culprit throughput --search 'cores=1..8 threads=1..4' gzip.ctrace\n"};

struct job {
    const struct request *request;
    struct machine_choice choice;
    const struct machine *machine;
    struct locality_inputs inputs;
    const struct locality **programs; /* of each word's copies, as they go round */
    const char **traces;
    struct throughput_options options;
    struct throughput_space space;
    struct throughput_result result;
    struct throughput_simulated simulated;
    struct throughput_search search;
    struct throughput_report report;
    struct report_files files;
    bool interrupted;
};

/* All that can be wrong with what is asked for, before anything is profiled. */
static bool prepare(struct job *job, struct error *error) {
    const struct request *request = job->request;
    if (!machine_choice_load(&job->choice, &request->given.machine, error))
        return false;
    job->machine = &job->choice.candidates[0].machine;
    if (!machine_check_chip(job->machine, error))
        return machine_is_chip(job->machine)
                   ? error_prefix(error, "machine %.60s", job->machine->name)
                   : error_set(error, "machine %.60s is no chip (try --machine niagara)",
                               job->machine->name);
    job->space = request->space;
    throughput_space_finish(&job->space, job->machine);
    if (!locality_inputs_list(&job->inputs, request->given.words, request->given.word_count, error))
        return false;
    if (request->check && !locality_inputs_simulable(&job->inputs, error))
        return false;
    return report_files_open(&job->files, &request->output, false, error);
}

static bool profile(struct job *job, struct error *error) {
    struct locality_inputs *inputs = &job->inputs;
    const struct cache_shape shared = cache_shape_of(machine_shared_cache(job->machine));
    const struct locality_input_options options = {.watch = &verb_watch,
                                                   .machine = job->machine,
                                                   .shared = &shared,
                                                   .shared_count = 1,
                                                   .frames = true,
                                                   .core = true,
                                                   .core_threads = job->space.threads.last,
                                                   .selection = job->request->given.selection};
    if (!locality_inputs_profile(inputs, &options, error))
        return false;
    job->programs = calloc(inputs->thread_count, sizeof *job->programs);
    job->traces = calloc(inputs->thread_count, sizeof *job->traces);
    if (!job->programs || !job->traces)
        return error_set(error, "out of memory for %u threads", inputs->thread_count);
    for (uint32_t t = 0; t < inputs->thread_count; t++) {
        job->programs[t] = inputs->localities[inputs->threads[t]];
        job->traces[t] = inputs->paths[inputs->threads[t]];
    }
    return true;
}

static bool predict_chip(struct job *job, struct error *error) {
    const uint32_t count = job->machine->chip.cores * job->machine->chip.threads;
    const struct locality **running = calloc(count, sizeof *running);
    const double begun = clock_processor();
    if (!running)
        return error_set(error, "out of memory for %u threads", count);
    throughput_go_round(job->programs, job->inputs.thread_count, count, running);
    const bool good = throughput_predict(running, 1, &job->options, &job->result, error);
    free(running);
    job->report.model_seconds = clock_processor() - begun;
    return good;
}

static bool predict(struct job *job, struct error *error) {
    const struct request *request = job->request;
    job->options = (struct throughput_options){.machine = job->machine,
                                               .contention = request->given.contention,
                                               .rounds = request->rounds,
                                               .latency = request->latency,
                                               .speeds = request->speeds};
    if (!request->space.searched)
        return predict_chip(job, error);
    const bool good = throughput_search(&job->space, job->programs, job->inputs.thread_count, 1,
                                        &job->options, &verb_watch.signal, &job->search, error);
    job->interrupted = job->search.interrupted;
    job->report.model_seconds = job->search.model_seconds;
    return good;
}

static bool check(struct job *job, struct error *error) {
    const bool searched = job->request->space.searched;
    const struct throughput_check_options options = {.machine = job->machine,
                                                     .traces = job->traces,
                                                     .thread_count = job->inputs.thread_count,
                                                     .alone = !searched,
                                                     .selection = job->request->given.selection,
                                                     .progress = watch_progress,
                                                     .progress_context = &verb_watch,
                                                     .stop = &verb_watch.signal};
    watch_begin(&verb_watch, "simulating", "instructions", 0);
    bool good;
    if (searched) {
        good = throughput_search_check(&job->search, &options, &job->interrupted, error);
        job->report.simulation_seconds = job->search.simulation_seconds;
    } else {
        good = throughput_simulate(&options, &job->simulated, error);
        job->interrupted = job->simulated.interrupted;
        job->report.simulation_seconds = job->simulated.seconds;
    }
    watch_end(&verb_watch);
    return good;
}

/* Of more programs than hardware threads the last do not run. */
static void note_idle_programs(struct job *job) {
    const bool searched = job->request->space.searched;
    const struct machine_chip *chip = &job->machine->chip;
    const uint32_t programs = job->inputs.thread_count,
                   least = searched ? job->space.cores.first * job->space.threads.first
                                    : chip->cores * chip->threads;
    if (programs <= least)
        return;
    if (searched)
        report_note(&job->report.report,
                    "chips of fewer than %u threads run only the first of the %u programs, which "
                    "is another mix than larger chips run",
                    programs, programs);
    else
        report_note(&job->report.report,
                    "the chip has %u thread%s: only the first of the %u "
                    "programs run",
                    least, text_plural(least), programs);
}

static void add_notes(struct job *job) {
    struct report *report = &job->report.report;
    const struct locality_inputs *inputs = &job->inputs;
    if (inputs->instructions)
        report_note(report, "profiled: %s instructions of %u program%s, each alone",
                    text_count(inputs->instructions).s, inputs->program_count,
                    text_plural(inputs->program_count));
    note_idle_programs(job);
    report_note(report, "programs share no data; a thread of several that a program has is one "
                        "program; caches are empty at the start and LRU");
    report_note(report, "sum of cycles: threads of a core never overlap; sum of IPCs: they never "
                        "meet; Bernoulli: each is ready by chance; none of these knows of "
                        "contention for caches");
    report_note(report, "Markov: each issue suspends its thread with probability p, for M cycles; "
                        "mean value: threads wait for an issue slot by which of the others are "
                        "ready on average; both with the misses that threads cost each other");
    if (job->request->check && job->interrupted)
        report_note(report, "interrupted before all was simulated: %s",
                    job->request->space.searched ? "chips without simulated figures were not"
                                                 : "figures are the models' alone");
    else if (job->request->check)
        report_note(report,
                    "simulated: until every program has run to its end once, those that "
                    "end before begin again; what cores execute is counted over all that time%s",
                    job->simulated.by_thread ? ", a thread's figures are of its first run; extra "
                                               "misses: beyond those of a run alone"
                                             : "");
    else
        report_note(report, "--check simulates the same");
    report_note(report, "not modelled: lines of code that take room in the L2 or are lost from it, "
                        "contention for its banks, copies of a program that run in step, limits of "
                        "memory bandwidth, the kernel");
}

static bool write_report(struct job *job, struct error *error) {
    const struct request *request = job->request;
    struct throughput_report *report = &job->report;
    struct error none;
    report->report = (struct report){.verb = "throughput",
                                     .program = job->inputs.title,
                                     .machine = job->machine,
                                     .partial = job->interrupted};
    report->labels = job->inputs.labels;
    report->program_count = job->inputs.program_count;
    report->threads = job->inputs.threads;
    report->thread_count = job->inputs.thread_count;
    report->options = &job->options;
    report->result = request->space.searched ? NULL : &job->result;
    report->simulated = job->simulated.by_thread && !job->interrupted ? &job->simulated : NULL;
    report->search = request->space.searched ? &job->search : NULL;
    report->checked = request->check;
    report->profile_seconds = job->inputs.seconds;
    report->report.partial |= note_cut(&report->report, &job->inputs);
    add_notes(job);
    if (!request->check && locality_inputs_simulable(&job->inputs, &none))
        report->report.next = next_with_option("--check", request->argc, request->output.words);
    const struct page page = page_of(job->files.report.file);
    if (!request->output.json)
        throughput_text(report, &page);
    else if (!throughput_json(report, job->files.report.file, error))
        return false;
    if (request->output.svg)
        throughput_svg(report, job->files.picture.file);
    return report_files_close(&job->files, error);
}

static bool run_steps(struct job *job, struct error *error) {
    if (!prepare(job, error))
        return false;
    interrupt_catch();
    return profile(job, error) && predict(job, error) &&
           (!job->request->check || check(job, error)) && write_report(job, error);
}

static void clean_up(struct job *job) {
    report_free(&job->report.report);
    throughput_free(&job->result);
    throughput_simulated_free(&job->simulated);
    throughput_search_free(&job->search);
    locality_inputs_free(&job->inputs);
    free(job->programs);
    free(job->traces);
    report_files_discard(&job->files);
}

int cmd_throughput(int argc, char **argv) {
    struct request request = {.argc = argc, .rounds = 1, .latency = LATENCY_MEAN};
    struct job job = {.request = &request};
    struct error error = {0};
    request.output.words = options_parse(&LINE, argc, argv, &request);
    const bool good = run_steps(&job, &error);
    if (error.message[0])
        print_error(&error);
    clean_up(&job);
    free(request.output.words);
    return !good ? STATUS_FAILED : verb_watch.signal ? 128 + verb_watch.signal : 0;
}
