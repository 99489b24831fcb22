#include "study/trace_starts.h"

#include "simulate/selection.h"
#include "study/opened_trace.h"
#include "util/array.h"

bool stack_starts_see_batch(struct stack_starts *starts, const struct code *code,
                            const struct trace_batch *batch) {
    for (uint32_t begin = 0, end, counted; begin < batch->insn_count; begin = end) {
        const uint64_t left = stack_starts_left(starts, batch->thread);
        end = batch_count(batch, begin, left, &counted);
        const struct trace_batch piece = batch_slice(batch, begin, end);
        if (!stack_starts_see(starts, code, &piece))
            return false;
    }
    return true;
}

static bool want_all(struct stack_starts *starts, uint32_t thread,
                     const struct given_regions *regions) {
    return all_where(i, regions->count,
                     stack_starts_want(starts, thread, regions->regions[i].first));
}

/* The first batch tells which thread it is. */
static bool read_all(struct trace_starts *starts, struct watch *watch,
                     const struct given_regions *regions, struct error *error) {
    struct trace_batch batch;
    uint64_t read = 0;
    bool good = true;
    int status = 1;
    while (good && !watch->signal &&
           (!read || stack_starts_left(starts->starts, batch.thread) != UINT64_MAX) &&
           (status = trace_next(starts->trace, &batch, error)) > 0) {
        good = (read || want_all(starts->starts, batch.thread, regions)) &&
               stack_starts_see_batch(starts->starts, trace_code(starts->trace), &batch);
        watch_progress(watch, read += batch.insn_count + batch.passed);
    }
    good = good && stack_starts_end(starts->starts, trace_code(starts->trace));
    return status >= 0 && (good || error_set(error, "out of memory for call paths"));
}

bool trace_starts_read(struct trace_starts *starts, struct watch *watch, const char *path,
                       const struct path_extents *extents, const struct given_regions *regions,
                       struct error *error) {
    *starts = (struct trace_starts){.starts = stack_starts_new(extents, false)};
    if (!starts->starts)
        return error_set(error, "out of memory for call paths");
    if (!regions->count)
        return true;
    if (!(starts->trace = opened_trace(path, error)))
        return false;
    watch_trace(watch, starts->trace);
    watch_begin(watch, "following calls", "instructions",
                regions->regions[regions->count - 1].first);
    const bool good = read_all(starts, watch, regions, error);
    watch_end(watch);
    watch_trace(watch, NULL);
    return good;
}

void trace_starts_free(struct trace_starts *starts) {
    stack_starts_free(starts->starts);
    trace_close(starts->trace);
}
