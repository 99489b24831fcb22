/* culprit bbv: what a run executes, slice by slice, into files that `regions` reads. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "region/bbv_profile.h"
#include "util/file_name.h"
#include "util/text.h"

static const uint64_t DEFAULT_SIZE = 10000000;

struct request {
    struct input_options input;
    const char *output, *counts;
    uint64_t size, seed;
    bool repeatable, json;
};

#define REQUEST struct request
static const struct option_row OPTIONS[] = {
    HEADING(4, "How to profile:"),
    COUNT("size", "N", size, "Instructions of a slice (default 10M)", .least = BBV_PROFILE_MIN_SIZE,
          .most = BBV_PROFILE_MAX_SIZE, .must = "from 1000 to 10^18 instructions"),
    WRITTEN_FILE("output", "FILE", output,
                 "The vectors (default: PROGRAM.bb); compressed if it ends in .gz. FILE.slices "
                 "says where the slices are and what the ids of the blocks mean",
                 .letter = 'o'),
    WRITTEN_FILE("counts", "FILE", counts,
                 "Also how often each block, edge and instruction was executed, as CSV, or as JSON "
                 "if FILE ends in .json; slower"),
    DURATION("for", "TIME", input.seconds,
             "Ask a command that would not end (a server) to end after this time (10s, 2min), with "
             "SIGTERM"),
    REPEATABLE_ROW(repeatable),
    SEED_ROW(seed),
    HEADING(5, "Other:"),
    FLAG("json", json, "JSON in place of text"),
    {0}};

/* The file, or the one of slices beside it. */
static bool same_file(const char *path, const char *vectors) {
    char *slices = bbv_slices_path(vectors);
    bool same = strcmp(path, vectors) == 0 || (slices && strcmp(path, slices) == 0);
    free(slices);
    return same;
}

static void check_input(struct argp_state *state, void *given) {
    const struct request *request = given;
    const struct input_options *input = &request->input;
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
    if (request->counts && request->output && same_file(request->counts, request->output))
        options_fail(state, "--counts %s: the vectors, or what lies beside them, go there",
                     request->counts);
    if (request->counts && input->skip)
        options_fail(state, "--counts: of the whole run, or up to --limit; not with --skip");
}

static const struct option_part PARTS[] = {{&input_group, offsetof(struct request, input)}, {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .end = check_input},
    .parts = PARTS,
    .arguments = "[--] COMMAND...\nFILE.ctrace",
    .help = "Profiles what a command executes: for each slice of the run, how many instructions in "
            "each basic block. From such vectors, which SimPoint reads too, regions are chosen "
            "that stand for the whole run."
            "\vExample:\n  culprit bbv -o gzip.bb -- gzip -9 -c /bin/bash > /dev/null\n"
            "  culprit regions gzip.bb\n\n"
            "The command keeps standard output and its exit status; 125 when culprit failed."};

/* "dir/gzip" or "dir/gzip.ctrace" -> "gzip.bb" */
static bool default_output(const struct input_options *input, char path[NAME_MAX + 1],
                           struct error *error) {
    const char *from = input->trace ? input->trace : input->command[0];
    bool named = !input->trace || strcmp(from, "-") != 0;
    return (named && file_name_from(from, input->trace ? ".ctrace" : NULL, ".bb", path)) ||
           error_set(error, "%s: makes no file name for the vectors (give one with -o)", from);
}

static void print_json(const struct request *request, const char *path,
                       const struct bbv_profile_result *result) {
    json_t *notes = json_array();
    for (size_t i = 0; i < result->note_count; i++)
        json_array_append_new(notes, json_string(result->notes[i]));
    json_t *object = json_pack(
        "{s:s, s:s, s:s?, s:I, s:I, s:I, s:I, s:i, s:i, s:f, s:b, s:o}", "vectors", path, "slices",
        path, "counts", request->counts, "slice_size", (json_int_t)request->size, "slice_count",
        (json_int_t)result->slices, "instructions", (json_int_t)result->instructions, "blocks",
        (json_int_t)result->blocks, "threads", (int)result->threads, "processes",
        (int)result->processes, "seconds", result->seconds, "partial", !result->complete, "notes",
        notes);
    char *table = bbv_slices_path(path);
    if (table)
        json_object_set_new(object, "slices", json_string(table));
    free(table);
    FILE *out = request->input.trace ? stdout : stderr;
    json_dumpf(object, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    fputc('\n', out);
    json_decref(object);
}

static void print_result(const struct request *request, const char *path,
                         const struct bbv_profile_result *result) {
    if (request->json) {
        print_json(request, path, result);
        return;
    }
    FILE *out = request->input.trace ? stdout : stderr;
    fprintf(out,
            "%s: %" PRIu64 " slice%s of %s instructions, %s in all, %" PRIu64 " blocks, %" PRIu32
            " thread%s of %" PRIu32 " process%s, in %s%s\n",
            path, result->slices, text_plural(result->slices), text_count(request->size).s,
            text_count(result->instructions).s, result->blocks, result->threads,
            text_plural(result->threads), result->processes, result->processes == 1 ? "" : "es",
            text_duration(result->seconds).s, result->complete ? "" : " (partial)");
    for (size_t i = 0; i < result->note_count; i++)
        fprintf(out, "note: %s\n", result->notes[i]);
    fputs("next: culprit regions ", out);
    text_put_word(out, path);
    fputc('\n', out);
}

static int profile(const struct request *request) {
    struct error error = {0};
    char name[NAME_MAX + 1];
    const struct input_options *input = &request->input;
    const char *path = request->output ? request->output : name;
    if (!request->output && !default_output(input, name, &error)) {
        print_error(&error);
        return input->trace ? STATUS_FAILED : STATUS_BROKEN;
    }
    struct capture_options capture = {.command = input->command,
                                      .skip = input->skip,
                                      .limit = input->limit,
                                      .thread = input->thread,
                                      .follow = input->follow,
                                      .seconds = input->seconds,
                                      .repeatable = request->repeatable,
                                      .seed = request->seed};
    watch_limit(&verb_watch, &capture, input->stop);
    if (input->seconds)
        interrupt_announce(input->seconds);
    struct bbv_profile_options options = {.capture = input->trace ? NULL : &capture,
                                          .trace = input->trace,
                                          .size = request->size,
                                          .path = path,
                                          .counts_path = request->counts,
                                          .progress = watch_progress,
                                          .context = &verb_watch,
                                          .stop = &verb_watch.signal};
    struct bbv_profile_result result;
    int exec_status;
    watch_begin_within(&verb_watch, "profiling", "instructions", input->limit);
    interrupt_catch();
    bool good = bbv_profile(&options, &result, &exec_status, &error);
    watch_end(&verb_watch);
    if (result.written)
        print_result(request, path, &result);
    bbv_profile_result_free(&result);
    if (!good) {
        print_error(&error);
        if (verb_watch.signal && !result.slices)
            return 128 + verb_watch.signal;
        return input->trace ? STATUS_FAILED : exec_status ? exec_status : STATUS_BROKEN;
    }
    if (input->trace)
        return 0;
    return command_status(result.exit);
}

int cmd_bbv(int argc, char **argv) {
    struct request request = {.input.traces_allowed = true, .size = DEFAULT_SIZE, .seed = 1};
    free(options_parse(&LINE, argc, argv, &request));
    return profile(&request);
}
