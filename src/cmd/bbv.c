/* culprit bbv: what a run executes, slice by slice, into files that `regions` reads. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/verb.h"
#include "region/bbv_profile.h"
#include "report/bbv_report.h"

static const uint64_t DEFAULT_SIZE = 10000000;

struct job {
    struct verb_run verb;
    struct input_options input;
    const char *path; /* of the vectors */
    const char *counts;
    uint64_t size;
    char name[NAME_MAX + 1]; /* room for the default path */
    struct bbv_profile_result result;
};

static void begin(void *verb) {
    struct job *job = verb;
    job->input.traces_allowed = true;
    job->size = DEFAULT_SIZE;
}

#define REQUEST struct job
static const struct option_row OPTIONS[] = {
    HEADING(4, "How to profile:"),
    COUNT("size", "N", size, "Instructions of a slice (default 10M)", .least = BBV_PROFILE_MIN_SIZE,
          .most = BBV_PROFILE_MAX_SIZE, .must = "from 1000 to 10^18 instructions"),
    WRITTEN_FILE("output", "FILE", path,
                 "The vectors (default: PROGRAM.bb); compressed if it ends in .gz. FILE.slices "
                 "says where the slices are and what the ids of the blocks mean",
                 .letter = 'o'),
    WRITTEN_FILE("counts", "FILE", counts,
                 "Also how often each block, edge and instruction was executed, as CSV, or as JSON "
                 "if FILE ends in .json; slower"),
    DURATION("for", "TIME", input.seconds,
             "Ask a command that would not end (a server) to end after this time (10s, 2min), with "
             "SIGTERM"),
    HEADING(5, "Other:"),
    FLAG("json", verb.output.json, "JSON in place of text"),
    {0}};

/* The file, or the one of slices beside it. */
static bool same_file(const char *path, const char *vectors) {
    char *slices = bbv_slices_path(vectors);
    bool same = strcmp(path, vectors) == 0 || (slices && strcmp(path, slices) == 0);
    free(slices);
    return same;
}

static void check_input(struct argp_state *state, void *given) {
    const struct job *job = given;
    const struct input_options *input = &job->input;
    if (!input->command && !input->trace)
        options_fail(state, "what to profile? (culprit bbv [OPTION...] -- COMMAND..., or culprit "
                            "bbv FILE.ctrace)");
    if (input->from)
        options_fail(state, "--from: slices are counted from the beginning of the run, so that "
                            "they are found again (--skip leaves some out)");
    if (input->trace && (input->skip || input->limit || input->thread >= 0 || input->seconds))
        options_fail(state,
                     "--skip, --limit, --thread and --for: only while a command runs; a trace is "
                     "profiled as it was captured");
    if (job->counts && job->path && same_file(job->counts, job->path))
        options_fail(state, "--counts %s: the vectors, or what lies beside them, go there",
                     job->counts);
    if (job->counts && input->skip)
        options_fail(state, "--counts: of the whole run, or up to --limit; not with --skip");
}

static const struct option_part PARTS[] = {{&input_group, offsetof(struct job, input)}, {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .begin = begin, .end = check_input},
    .parts = PARTS,
    .arguments = "[--] COMMAND...\nFILE.ctrace",
    .help = "Profiles what a command executes: for each slice of the run, how many instructions in "
            "each basic block. From such vectors, which SimPoint reads too, regions are chosen "
            "that stand for the whole run."
            "\vExample:\n  culprit bbv -o gzip.bb -- gzip -9 -c /bin/bash > /dev/null\n"
            "  culprit regions gzip.bb\n\n"
            "The command keeps standard output and its exit status; 125 when culprit failed."};

static bool prepare(void *verb, struct error *error) {
    struct job *job = verb;
    if (!job->path && !input_default_path(&job->input, ".bb", "the vectors", job->name, error))
        return false;
    job->path = job->path ? job->path : job->name;
    return true;
}

static bool profile(void *verb, struct error *error) {
    struct job *job = verb;
    struct bbv_profile_result *result = &job->result;
    struct capture_options capture = input_capture(&verb_watch, &job->input);
    capture.addresses = false;
    interrupt_await(&job->input);
    const struct bbv_profile_options options = {.capture = job->input.trace ? NULL : &capture,
                                                .trace = job->input.trace,
                                                .size = job->size,
                                                .path = job->path,
                                                .counts_path = job->counts,
                                                .watcher = watcher_of(&verb_watch)};
    watch_begin_within(&verb_watch, "profiling", "instructions", job->input.limit);
    const bool good =
        bbv_profile(&options, result, job->verb.command ? &job->verb.failed : &(int){0}, error);
    watch_end(&verb_watch);
    result->complete &= !verb_watch.signal; /* the command may have ended by it, too */
    job->verb.measured = result->slices;
    job->verb.exit = job->verb.command ? result->exit : (struct trace_exit){.known = true};
    return good || (result->written && verb_report_late(&job->verb, error));
}

static bool print_result(void *verb, struct error *error) {
    const struct job *job = verb;
    const struct bbv_report report = {
        .path = job->path, .counts = job->counts, .slice_size = job->size, .result = &job->result};
    FILE *file = job->input.trace ? stdout : stderr;
    if (job->result.written && job->verb.output.json)
        return bbv_report_json(&report, file, error);
    if (job->result.written)
        bbv_report_text(&report, file);
    return true;
}

static void clean_up(void *verb) {
    bbv_profile_result_free(&((struct job *)verb)->result);
}

const struct verb verb_bbv = {.line = &LINE,
                              .size = sizeof(struct job),
                              .command = offsetof(struct job, input.command),
                              .prepare = prepare,
                              .run = profile,
                              .report = print_result,
                              .free = clean_up};
