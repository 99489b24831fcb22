#include "study/profiled_run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "study/opened_trace.h"

static bool start(struct profiled_run *run, int *exec_status, struct error *error) {
    if (!run->input->command) {
        run->path = run->input->trace;
        return (run->trace = opened_trace(run->path, error)) != NULL;
    }
    const struct chunk_profile_settings settings = CHUNK_PROFILE_DEFAULTS;
    struct capture_options capture = input_capture(run->watch, run->input);
    capture.watch_effects = true;
    capture.counted = chunk_profile_counts(&settings, PROFILED_RUN_KEPT);
    run->kept =
        run->file ? strdup(run->file) : temporary_trace(&run->watch->temporaries, "compare", error);
    if (run->file && !run->kept)
        return error_set(error, "out of memory for the profile of the run");
    return run->kept && (run->trace = trace_capture(&capture, exec_status, error)) &&
           trace_keep_if_possible(run->trace, run->kept, error);
}

/* To its end, undecoded. */
static bool read_all(struct profiled_run *run, struct error *error) {
    const struct chunk_profile_settings settings = CHUNK_PROFILE_DEFAULTS;
    struct trace_batch batch;
    int status;
    run->profile = chunk_profile_new(run->trace, &settings);
    if (!run->profile)
        return error_set(error, "out of memory for the profile of the run");
    trace_watch(run->trace, chunk_profile_chunk, run->profile);
    watch_trace(run->watch, run->trace);
    watch_begin_within(run->watch, "profiling", "instructions", run->input->limit);
    while (trace_pass(run->trace, UINT64_MAX),
           (status = trace_next(run->trace, &batch, error)) > 0) {
        run->instructions = chunk_profile_instructions(run->profile);
        watch_progress(run->watch, run->instructions);
        if (run->kept && run->instructions > PROFILED_RUN_KEPT && trace_keeps(run->trace) &&
            (!trace_keep_end(run->trace, error) || unlink(run->kept) != 0))
            return false;
    }
    watch_end(run->watch);
    trace_watch(run->trace, NULL, NULL);
    watch_trace(run->watch, NULL);
    return status >= 0;
}

static const char *obstacle(const struct profiled_run *run) {
    return chunk_profile_has_children(run->profile) ? "it has several processes"
           : chunk_profile_threaded(run->profile)   ? "it has several threads"
           : chunk_profile_has_exec(run->profile)   ? "it runs another program in its place"
           : !run->path                             ? "it is too long to be kept in a file"
                                                    : NULL;
}

bool profiled_run_go(struct profiled_run *run, int *exec_status, struct error *error) {
    if (!start(run, exec_status, error) || !read_all(run, error))
        return false;
    if (run->watch->signal)
        return error_set(error, "interrupted before both runs were simulated");
    if (run->kept && trace_keeps(run->trace)) {
        if (!trace_keep_end(run->trace, error))
            return false;
        run->path = run->kept;
    }
    run->obstacle = obstacle(run);
    const struct trace_effect *effect = trace_effect(run->trace);
    if (!run->path && effect)
        return error_set(error,
                         "%s: too long to be kept in a file, and it is not run again (%s): --full "
                         "simulates it while it runs",
                         trace_command(run->trace), effect->what);
    return true;
}

void profiled_run_free(struct profiled_run *run) {
    chunk_profile_free(run->profile);
    trace_close(run->trace);
    if (run->file)
        free(run->kept);
    else
        temporary_remove(&run->watch->temporaries, run->kept);
    *run = (struct profiled_run){.watch = run->watch, .input = run->input};
}
