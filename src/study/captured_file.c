#include "study/captured_file.h"

#include <string.h>
#include <sys/stat.h>

/* From a command, or from a file, into ChampSim's format. */
static bool write_champsim(struct captured_file *file, const struct capture_options *options,
                           int *exec_status, struct error *error) {
    const int thread = file->input->thread;
    struct trace *trace =
        file->import ? trace_open(file->import, error) : trace_capture(options, exec_status, error);
    const struct watcher watcher = watcher_of(file->watch);
    const bool good =
        trace && trace_write_champsim(trace, file->import && thread > 0 ? (uint32_t)thread : 0,
                                      file->path, &watcher, &file->result, &file->lost, error);
    trace_close(trace);
    return good;
}

static bool capture(struct captured_file *file, int *exec_status, struct error *error) {
    const struct watcher watcher = watcher_of(file->watch);
    struct capture_options options = {0};
    if (!file->import) {
        options = input_capture(file->watch, file->input);
        options.addresses = !file->no_addresses;
        options.begin = file->begin;
        options.stop = &file->watch->signal;
        options.kill = &file->watch->signal_again;
    }
    if (file->champsim)
        return write_champsim(file, &options, exec_status, error);
    if (file->import)
        return trace_import(file->import, file->path, file->compress, &watcher, &file->result,
                            error);
    return trace_record(&options, file->path, file->compress, &watcher, &file->result, exec_status,
                        error);
}

bool captured_file_check(struct watch *watch, const char *path, enum check_depth depth,
                         const struct capture_result *written, struct error *error) {
    watch_begin(watch, "checking", "instructions", written ? written->instructions : 0);
    const struct watcher watcher = watcher_of(watch);
    const bool good = trace_check(path, depth, written && written->cut, &watcher, error);
    watch_end(watch);
    return good;
}

/* Whether what was written can be read again. Not of a pipe, nor after an interrupt. */
static bool check(struct captured_file *file, struct error *error) {
    struct stat status;
    if (file->no_check || file->watch->signal || !strcmp(file->path, "-") ||
        stat(file->path, &status) != 0 || !S_ISREG(status.st_mode))
        return true;
    return captured_file_check(file->watch, file->path, file->check, &file->result, error) ||
           error_prefix(error, "what was written cannot be read again");
}

bool captured_file_go(struct captured_file *file, int *exec_status, struct error *error) {
    watch_begin_within(file->watch, file->import ? "reading" : "capturing", "instructions",
                       file->input->limit);
    file->watch->finishes_file = !file->import;
    const bool good = capture(file, exec_status, error);
    file->watch->finishes_file = 0;
    watch_end(file->watch);
    if (good && !file->result.instructions)
        return error_set(error, "no instruction was captured%s",
                         file->watch->signal ? " before the interrupt"
                         : file->import ? ": the trace is cut short before the first, or holds none"
                                        : ": the command executed none");
    return good && check(file, error);
}
