/* culprit trace: captures a command into a file, or tells what a file holds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "cmd/trace_regions.h"
#include "report/trace_info.h"
#include "trace/region_capture.h"
#include "util/file_name.h"
#include "util/text.h"

struct request {
    struct input_options input;
    const char *output, *info, *regions;
    bool compress, no_addresses, no_check, repeatable, json, warms_up, with_others;
    uint64_t seed, warm_up, other_threads;
};

#define REQUEST struct request
static const struct option_row OPTIONS[] = {
    HEADING(4, "How to capture:"),
    TEXT("output", "FILE", output,
         "The trace (default: PROGRAM.ctrace); with --regions what all names begin with",
         .letter = 'o'),
    FLAG("compress", compress, "Make the file about four times smaller, more slowly"),
    FLAG("no-addresses", no_addresses,
         "Leave out memory addresses: faster, smaller, but not for simulation"),
    FLAG("no-check", no_check, "Do not read the trace once more to see that it can be simulated"),
    REPEATABLE_ROW(repeatable),
    SEED_ROW(seed),
    TEXT("regions", "LIST.csv", regions,
         "A trace of each region of the list, and the list with where they are"),
    COUNT("warm-up", "N", warm_up,
          "Instructions before each region that its trace begins with (default 100M)",
          GIVEN(warms_up)),
    COUNT("other-threads", "N", other_threads,
          "Of other threads, at most N times the instructions of the region's own (default 100; "
          "0: only its own thread)",
          GIVEN(with_others)),
    HEADING(5, "Other:"),
    TEXT("info", "FILE.ctrace", info, "Tell what a trace holds; no command"),
    FLAG("json", json, "JSON in place of text"),
    {0}};

static void check_regions(const struct request *request, const struct argp_state *state) {
    const struct input_options *input = &request->input;
    if (!request->regions && request->warms_up)
        options_fail(state, "--warm-up: needs --regions LIST.csv");
    if (!request->regions && request->with_others)
        options_fail(state, "--other-threads: needs --regions LIST.csv");
    if (!request->regions)
        return;
    if (request->output)
        options_file(state, "--output", request->output);
    if (input->skip || input->limit || input->from || input->thread >= 0 || input->seconds ||
        input->on_signal)
        options_fail(state, "--regions: the list says what part of the run: leave out --skip, "
                            "--limit, --from, --thread, --for and --on-signal");
    if (request->no_addresses)
        options_fail(state, "--regions: traces of regions have addresses: leave out "
                            "--no-addresses");
}

static void check_request(struct argp_state *state, void *given) {
    const struct request *request = given;
    if (!request->info == !request->input.command)
        options_fail(state, "what to capture? (culprit trace [OPTION...] -- COMMAND..., or "
                            "culprit trace --info FILE.ctrace)");
    check_regions(request, state);
}

static const struct option_part PARTS[] = {{&input_group, offsetof(struct request, input)},
                                           {&for_group, offsetof(struct request, input)},
                                           {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .end = check_request},
    .parts = PARTS,
    .arguments = "[--] COMMAND...\n--info FILE.ctrace",
    .help = "Captures what a command executes, instruction by instruction, into a file that sim "
            "and explain read."
            "\vExample:\n  culprit trace -o ls.ctrace -- ls / && culprit sim ls.ctrace\n\n"
            "The command keeps standard output and its exit status; 125 when culprit failed.\n"};

/* `good`: there is something to do next with it. */
static void print_result(const struct request *request, const char *path,
                         const struct capture_result *result, bool good) {
    double bytes_each =
        result->instructions ? (double)result->bytes / (double)result->instructions : 0;
    if (request->json) {
        json_t *object = json_pack(
            "{s:s, s:I, s:I, s:f, s:i, s:i, s:f, s:b}", "trace", path, "instructions",
            (json_int_t)result->instructions, "bytes", (json_int_t)result->bytes,
            "bytes_per_instruction", bytes_each, "threads", (int)result->threads, "processes",
            (int)result->processes, "seconds", result->seconds, "partial", verb_watch.signal != 0);
        json_dumpf(object, stderr, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
        fputc('\n', stderr);
        json_decref(object);
        return;
    }
    fprintf(stderr,
            "%s: %s instruction%s, %" PRIu32 " thread%s of %" PRIu32 " process%s, in %s%s\n", path,
            text_count(result->instructions).s, text_plural(result->instructions), result->threads,
            result->threads == 1 ? "" : "s", result->processes, result->processes == 1 ? "" : "es",
            text_duration(result->seconds).s, verb_watch.signal ? " (partial)" : "");
    fprintf(stderr, "%s, %.3f bytes per instruction\n", text_bytes(result->bytes).s, bytes_each);
    if (good && strcmp(path, "-") != 0)
        fprintf(stderr, "next: culprit %s %s\n", request->no_addresses ? "trace --info" : "sim",
                path);
}

static int record_regions(const struct request *request) {
    return trace_regions(
        &(struct trace_regions_request){.list = request->regions,
                                        .prefix = request->output,
                                        .warm_up = request->warm_up,
                                        .other_threads = request->other_threads,
                                        .compress = request->compress,
                                        .json = request->json,
                                        .capture = {.command = request->input.command,
                                                    .follow = request->input.follow,
                                                    .repeatable = request->repeatable,
                                                    .seed = request->seed}});
}

/* What was written can be read again. Not of a pipe, nor after an interrupt. */
static bool check(const struct request *request, const char *path,
                  const struct capture_result *result, struct error *error) {
    struct stat status;
    if (request->no_check || verb_watch.signal || !strcmp(path, "-") || stat(path, &status) != 0 ||
        !S_ISREG(status.st_mode))
        return true;
    watch_begin(&verb_watch, "checking", "instructions", result->instructions);
    bool good = trace_check(path, watch_progress, &verb_watch, &verb_watch.signal, error);
    watch_end(&verb_watch);
    return good || error_prefix(error, "what was written cannot be read again");
}

static int record(const struct request *request) {
    struct error error = {0};
    char name[NAME_MAX + 1];
    const char *path = request->output ? request->output : name;
    const char *program = request->input.command[0];
    if (!request->output && !file_name_from(program, NULL, ".ctrace", name)) {
        error_set(&error, "%s: makes no file name for the trace (give one with -o)", program);
        print_error(&error);
        return STATUS_BROKEN;
    }
    struct capture_options options = {.command = request->input.command,
                                      .addresses = !request->no_addresses,
                                      .skip = request->input.skip,
                                      .limit = request->input.limit,
                                      .from_symbol = request->input.from,
                                      .thread = request->input.thread,
                                      .follow = request->input.follow,
                                      .seconds = request->input.seconds,
                                      .repeatable = request->repeatable,
                                      .seed = request->seed};
    options.begin = interrupt_await(request->input.on_signal);
    if (options.seconds)
        interrupt_announce(options.seconds);
    options.stop = &verb_watch.signal;
    watch_limit(&verb_watch, &options, request->input.stop);
    struct capture_result result = {0};
    int exec_status = STATUS_BROKEN;
    watch_begin_within(&verb_watch, "capturing", "instructions", request->input.limit);
    interrupt_catch();
    bool good = trace_record(&options, path, request->compress, watch_capture, &verb_watch, &result,
                             &exec_status, &error);
    watch_end(&verb_watch);
    if (good && !result.instructions)
        good =
            error_set(&error, "no instruction was captured%s",
                      verb_watch.signal ? " before the interrupt" : ": the command executed none");
    good = good && check(request, path, &result, &error);
    if (result.instructions)
        print_result(request, path, &result, good);
    if (!good) {
        print_error(&error);
        if (verb_watch.signal && !result.instructions)
            return 128 + verb_watch.signal;
        return result.instructions || !exec_status ? STATUS_BROKEN : exec_status;
    }
    return command_status(result.exit);
}

int cmd_trace(int argc, char **argv) {
    struct request request = {
        .seed = 1, .warm_up = REGION_DEFAULT_WARM_UP, .other_threads = REGION_DEFAULT_OTHERS};
    free(options_parse(&LINE, argc, argv, &request));
    if (!request.info)
        return request.regions ? record_regions(&request) : record(&request);
    struct error error = {0};
    if (trace_info(request.info, request.json, stdout, &error))
        return 0;
    print_error(&error);
    return STATUS_FAILED;
}
