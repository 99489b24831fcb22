/* culprit contend: what programs that run beside each other do to each other in the caches that
 * they share, from what each is like alone. */
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/contend_profile.h"
#include "cmd/interrupt.h"
#include "cmd/next.h"
#include "cmd/notes.h"
#include "cmd/output.h"
#include "machine/choice.h"
#include "report/contend_report.h"
#include "study/localities.h"
#include "util/text.h"

struct request {
    int argc;
    struct sharing_options_given given;
    struct contend_profile_request profile;
    double ipc[SHARING_MAX_WORDS];
    uint32_t ipc_count;
    enum contend_placing placing;
    bool frames, check;
    struct output_options output;
};

static void take_ipc(struct argp_state *state, void *given, char *list) {
    struct request *request = given;
    request->ipc_count = 0;
    for (const char *at = list; *at;) {
        char *end;
        const double ipc = strtod(at, &end);
        if (end == at || !(ipc > 0 && ipc <= 64) || (*end && (*end != ',' || !end[1])) ||
            request->ipc_count == SHARING_MAX_WORDS)
            options_fail(state, "--ipc %s: numbers above 0, with commas between them", list);
        request->ipc[request->ipc_count++] = ipc;
        at = *end ? end + 1 : end;
    }
    if (request->ipc_count == 0)
        options_fail(state, "--ipc: a number for each program, with commas between them");
}

static void take_shapes(struct argp_state *state, void *request, char *value) {
    struct error error;
    if (!contend_shapes_add(&((struct request *)request)->profile, value, &error))
        options_fail(state, "%s", error.message);
}

static void take_frames(struct argp_state *state, void *request, char *value) {
    if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
        options_fail(state, "--frames %s: yes or no", value);
    ((struct request *)request)->frames = *value == 'y';
}

#define REQUEST struct request
static const struct option_row OPTIONS[] = {
    HEADING(4, "How they run:"),
    VALUE("together", placing, PLACE_TOGETHER,
          "Fill one core of a chip with threads after the other (default: over all cores in turn)"),
    TAKE("frames", "yes|no", take_frames,
         "Whether pages lie in frames that an operating system chose as if at random (default: "
         "yes); no: addresses are physical, and programs meet only in sets that both use"),
    TAKE("ipc", "N,...", take_ipc,
         "How many instructions per cycle each program executes, in their order (default: by a "
         "model)"),
    HEADING(5, "To measure a program once:"),
    TEXT("profile", "FILE", profile.path,
         "Save what the trace or command is like, to be given in its place"),
    TAKE("shapes", "SETSxWAYS,...", take_shapes,
         "With --profile: of shared caches of these shapes, too"),
    STOP_ROW(profile.stop),
    HEADING(6, "How good it is:"),
    FLAG("check", check, "Simulate the same, beside each other and alone; of chips; slow"),
    OUTPUT_ROWS(7, output),
    SVG_ROW(output, "Draw each program's misses, alone and extra"),
    {0}};

static bool is_trace(const char *word) {
    const size_t length = strlen(word);
    return !strcmp(word, "-") || (length > 7 && !strcmp(word + length - 7, ".ctrace"));
}

/* What --profile measures: a command is all that follows. */
static bool take_command(struct argp_state *state, void *given, char *word) {
    struct request *request = given;
    if (!request->profile.path || request->given.word_count ||
        (!options_quoted(state) && is_trace(word)))
        return false;
    request->profile.command = options_take_command(state);
    return true;
}

/* An option that is of a report, which --profile makes none of; NULL: none is given. */
static const char *option_of_report(const struct request *request) {
    return request->check                       ? "--check"
           : request->ipc_count                 ? "--ipc"
           : request->placing == PLACE_TOGETHER ? "--together"
           : request->output.json               ? "--json"
           : request->output.output             ? "--output"
           : request->output.svg                ? "--svg"
                                                : NULL;
}

static void check_request(struct argp_state *state, void *given) {
    struct request *request = given;
    const bool command = request->profile.command;
    options_check_output(state, &request->output);
    if (!command && request->given.word_count == 0)
        options_fail(state, "which programs? (culprit contend [OPTION...] FILE..., traces or "
                            "profiles of culprit contend --profile)");
    if (request->profile.path && request->given.word_count > 1)
        options_fail(state, "--profile: of one program at a time");
    if (request->profile.path && option_of_report(request))
        options_fail(state, "%s: of a report, and --profile makes none (leave it out)",
                     option_of_report(request));
    if (request->profile.shape_count && !request->profile.path)
        options_fail(state, "--shapes: of what --profile measures");
    if (request->profile.stop && (!command || !request->given.selection.limit))
        options_fail(state, "--stop: ends the command of --profile at --limit N");
    if (request->check && !request->frames)
        options_fail(state, "--check: the chip has page frames (leave out --frames no)");
}

static const struct option_part PARTS[] = {{&sharing_group, offsetof(struct request, given)}, {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .argument = take_command, .end = check_request},
    .parts = PARTS,
    .arguments = "TRACE.ctrace|PROFILE[*COPIES]...\n--profile FILE TRACE.ctrace\n"
                 "--profile FILE -- COMMAND...",
    .help = "Predicts what programs that run beside each other do to each other in the cache that "
            "they share: misses that each would not have alone, from what each was like alone, for "
            "any number of them.\v"
            "Example:\n"
            "  culprit contend --profile gz.locality --limit 20M -- gzip -9c /bin/bash >gz\n"
            "  culprit contend --profile sort.locality --limit 20M -- sort /etc/services\n"
            "  culprit contend gz.locality 'sort.locality*7'\n"};

struct job {
    const struct request *request;
    struct machine_choice choice;
    const struct machine *machine;
    struct locality_inputs inputs;
    struct contend_options options;
    struct contend_program *result;
    struct contend_check check;
    struct contend_report report;
    struct report_files files;
};

static bool check_chip(const struct job *job, struct error *error) {
    if (!machine_is_chip(job->machine))
        return error_set(error,
                         "--check: machine %s is no chip whose threads share a cache (choose "
                         "another with --machine, or leave out --check)",
                         job->machine->name);
    return locality_inputs_simulable(&job->inputs, error);
}

/* All that can be wrong with what is asked for, before anything is profiled. */
static bool prepare(struct job *job, struct error *error) {
    const struct request *request = job->request;
    if (!machine_choice_load(&job->choice, &request->given.machine, error))
        return false;
    job->machine = &job->choice.candidates[0].machine;
    if (!machine_shared_cache(job->machine))
        return error_set(error, "machine %s has no cache beyond the L1 that could be shared",
                         job->machine->name);
    if (!locality_inputs_list(&job->inputs, request->given.words, request->given.word_count, error))
        return false;
    if (request->ipc_count && request->ipc_count != job->inputs.program_count)
        return error_set(error, "--ipc: %u number%s for %u program%s", request->ipc_count,
                         text_plural(request->ipc_count), job->inputs.program_count,
                         text_plural(job->inputs.program_count));
    if (request->check && !check_chip(job, error))
        return false;
    job->options = (struct contend_options){.machine = job->machine,
                                            .contention = request->given.contention,
                                            .placing = request->placing,
                                            .ipc = request->ipc_count ? request->ipc : NULL};
    job->options.contention.sets_are_known = !request->frames;
    if (request->ipc_count &&
        !contend_check_ipc(job->inputs.threads, job->inputs.thread_count, &job->options, error))
        return false;
    return report_files_open(&job->files, &request->output, false, error);
}

/* The most threads that a core has, as they are placed. */
static uint32_t core_threads(const struct job *job) {
    const struct machine_chip *chip = &job->machine->chip;
    return job->request->placing == PLACE_TOGETHER
               ? chip->threads
               : (job->inputs.thread_count + chip->cores - 1) / chip->cores;
}

static bool profile(struct job *job, struct error *error) {
    struct locality_inputs *inputs = &job->inputs;
    const struct cache_shape shared = cache_shape_of(machine_shared_cache(job->machine));
    const struct locality_input_options options = {.watch = &verb_watch,
                                                   .machine = job->machine,
                                                   .shared = &shared,
                                                   .shared_count = 1,
                                                   .frames = job->request->frames,
                                                   .core = machine_is_chip(job->machine),
                                                   .core_threads = core_threads(job),
                                                   .selection = job->request->given.selection};
    if (!locality_inputs_profile(inputs, &options, error))
        return false;
    job->result = calloc(inputs->program_count, sizeof *job->result);
    return job->result || error_set(error, "out of memory for %u programs", inputs->program_count);
}

static bool predict(struct job *job, struct error *error) {
    return contend_predict(job->inputs.localities, job->inputs.program_count, job->inputs.threads,
                           job->inputs.thread_count, &job->options, job->result, error);
}

static bool simulate(struct job *job, struct error *error) {
    const struct contend_check_options options = {.machine = job->machine,
                                                  .placing = job->request->placing,
                                                  .traces = job->inputs.paths,
                                                  .selection = job->request->given.selection,
                                                  .progress = watch_progress,
                                                  .progress_context = &verb_watch,
                                                  .stop = &verb_watch.signal};
    watch_begin(&verb_watch, "simulating", "instructions", 0);
    const bool good = contend_simulate(job->inputs.threads, job->inputs.thread_count,
                                       job->inputs.program_count, &options, &job->check, error);
    watch_end(&verb_watch);
    return good;
}

static void add_notes(struct job *job) {
    struct report *report = &job->report.report;
    const struct locality_inputs *inputs = &job->inputs;
    const struct machine *machine = job->machine;
    if (inputs->instructions)
        report_note(report,
                    "profiled: %s instructions of %u program%s, each alone, in %s of "
                    "processor time",
                    text_count(inputs->instructions).s, inputs->program_count,
                    text_plural(inputs->program_count), text_duration(inputs->seconds).s);
    report_note(report,
                "programs share no data, run all the time and begin again at their end; "
                "caches are empty at the start and LRU%s",
                job->request->frames ? "; pages lie in frames chosen as if at random" : "");
    if (machine_is_chip(machine) && !job->request->ipc_count)
        report_note(report, "threads are placed %s; how fast they run: culprit throughput",
                    job->request->placing == PLACE_TOGETHER ? "core by core"
                                                            : "over the cores in turn");
    else if (!job->request->ipc_count)
        report_note(report, "how fast programs run, of which only the ratio matters, is the sum of "
                            "all that they wait for when nothing overlaps (--ipc says better)");
    if (job->request->check && job->check.interrupted)
        report_note(report, "interrupted before all was simulated: figures are the model's alone");
    else if (job->request->check)
        report_note(report,
                    "simulated: first runs, beside each other and alone; %s instructions in "
                    "%s of processor time",
                    text_count(job->check.instructions).s, text_duration(job->check.seconds).s);
    else if (machine_is_chip(machine))
        report_note(report, "--check simulates the same");
    report_note(report,
                "not modelled: lines of code that take room in the shared cache or are lost from "
                "it, %sprefetchers, "
                "limits of memory bandwidth, the kernel",
                machine_is_chip(machine) ? "" : "contention for TLBs, ");
}

static bool write_report(struct job *job, struct error *error) {
    const struct request *request = job->request;
    struct contend_report *report = &job->report;
    struct error none;
    *report = (struct contend_report){
        .report = {.verb = "contend",
                   .program = job->inputs.title,
                   .machine = job->machine,
                   .partial = job->check.interrupted},
        .labels = job->inputs.labels,
        .programs = job->result,
        .program_count = job->inputs.program_count,
        .thread_count = job->inputs.thread_count,
        .check = job->check.programs && !job->check.interrupted ? &job->check : NULL,
        .options = &job->options};
    report->report.partial |= note_cut(&report->report, &job->inputs);
    add_notes(job);
    if (!request->check && request->frames && machine_is_chip(job->machine) &&
        locality_inputs_simulable(&job->inputs, &none))
        report->report.next = next_with_option("--check", request->argc, request->output.words);
    const struct page page = page_of(job->files.report.file);
    if (!request->output.json)
        contend_text(report, &page);
    else if (!contend_json(report, job->files.report.file, error))
        return false;
    if (request->output.svg)
        contend_svg(report, job->files.picture.file);
    return report_files_close(&job->files, error);
}

static int contend(const struct request *request, struct error *error) {
    struct job job = {.request = request};
    bool good = prepare(&job, error);
    if (good) {
        interrupt_catch();
        good = profile(&job, error) && predict(&job, error) &&
               (!request->check || simulate(&job, error)) && write_report(&job, error);
    }
    report_free(&job.report.report);
    contend_check_free(&job.check);
    locality_inputs_free(&job.inputs);
    free(job.result);
    report_files_discard(&job.files);
    return !good ? STATUS_FAILED : verb_watch.signal ? 128 + verb_watch.signal : 0;
}

int cmd_contend(int argc, char **argv) {
    struct request request = {.argc = argc, .frames = true};
    struct error error = {0};
    request.output.words = options_parse(&LINE, argc, argv, &request);
    request.profile.given = &request.given;
    request.profile.frames = request.frames;
    const int status = request.profile.path ? contend_profile(&request.profile, &error)
                                            : contend(&request, &error);
    if (error.message[0])
        print_error(&error);
    free(request.output.words);
    return status;
}
