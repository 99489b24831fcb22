/* A live trace is cut by the capture, so that what is kept of it is what was asked for; of a file
 * or pipe all is kept that was read, and cut anew each time. */
#include "study/trace_input.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file_name.h"

static const char *trace_of(const struct input_options *options, uint32_t number) {
    return number ? options->more_traces[number - 1] : options->trace;
}

static bool open_live(struct trace_input *input, const struct input_options *options,
                      int *exec_status, struct error *error) {
    struct capture_options capture = input_capture(input->watch, options);
    int status = 0;
    input->trace = trace_capture(&capture, &status, error);
    if (status)
        *exec_status = status;
    return input->trace;
}

static bool open_file(struct trace_input *input, const struct input_options *options,
                      const char *path, struct error *error) {
    input->selection = input_selection(options);
    input->again = input->selection;
    input->trace = trace_open(path, error);
    return input->trace && (trace_has_addresses(input->trace) ||
                            error_set(error,
                                      "%s: no memory addresses are in it, so it cannot be "
                                      "simulated (capture it without --no-addresses)",
                                      path));
}

bool trace_input_open(struct trace_input *input, struct watch *watch,
                      const struct input_options *options, uint32_t number, const char *folder,
                      int *exec_status, struct error *error) {
    const char *path = trace_of(options, number);
    struct stat file;
    *input = (struct trace_input){.watch = watch,
                                  .live = options->command,
                                  .selection = {.thread = -1},
                                  .again = {.thread = -1}};
    if (input->live ? !open_live(input, options, exec_status, error)
                    : !open_file(input, options, path, error))
        return false;
    watch_trace(input->watch, input->trace);
    if (!input->live && strcmp(path, "-") != 0 && stat(path, &file) == 0 && S_ISREG(file.st_mode))
        input->file = path;
    if (!folder)
        return true;
    input->kept = !input->file;
    if (input->kept ? asprintf(&input->path, "%s/%" PRIu32 ".ctrace", folder, number) < 0
                    : !(input->path = strdup(path))) {
        input->path = NULL;
        return error_set(error, "out of memory");
    }
    return !input->kept || trace_keep(input->trace, input->path, error);
}

bool trace_input_end(struct trace_input *input, struct error *error) {
    struct trace_batch batch;
    struct error late;
    while (input->live && trace_next(input->trace, &batch, &late) > 0)
        continue;
    bool good = !input->kept || trace_keep_end(input->trace, error);
    trace_settle(input->trace);
    watch_trace(input->watch, NULL);
    return good;
}

bool trace_input_read(struct trace_input *input, uint64_t limit, struct error *error) {
    struct trace_batch batch;
    uint64_t instructions = 0;
    int got = 0;
    watch_begin_within(input->watch, "capturing", "instructions", limit);
    while (input->kept && (got = trace_next(input->trace, &batch, error)) > 0)
        watch_progress(input->watch, instructions += batch.insn_count);
    watch_end(input->watch);
    return (got >= 0 || input->watch->signal) && trace_input_end(input, error);
}

void trace_input_forget(struct trace_input *input) {
    struct error late;
    if (input->kept) {
        trace_keep_end(input->trace, &late);
        unlink(input->path);
    }
    free(input->path);
    input->path = NULL;
    input->kept = false;
}

void trace_input_close(struct trace_input *input) {
    if (input->watch)
        watch_trace(input->watch, NULL);
    trace_close(input->trace);
    free(input->path);
    memset(input, 0, sizeof *input);
}

char *trace_input_label(const struct input_options *options, uint32_t number) {
    char name[NAME_MAX + 1];
    const char *path = options->command ? options->command[0] : trace_of(options, number);
    return strdup(file_name_from(path, ".ctrace", "", name) ? name : path);
}
