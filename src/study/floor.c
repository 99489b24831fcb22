/* The stacks have more cells than the profile, so their floor is the higher one. */
#include "study/floor.h"

#include "attribute/profile_error.h"
#include "util/temporary.h"

char *floor_capture(struct watch *watch, const struct capture_options *options, const char *option,
                    uint64_t *instructions, int *exec_status, struct error *error) {
    struct capture_result result = {0};
    char *path = temporary_trace(&watch->temporaries, option, error);
    if (!path)
        return NULL;
    const struct watcher watcher = watcher_of(watch);
    struct capture_options watched = *options;
    watch_limit(watch, &watched, options->stop_at_limit);
    watched.stop = &watch->signal;
    *exec_status = 0;
    watch_begin_within(watch, "capturing", "instructions", options->limit);
    bool good = trace_record(&watched, path, false, &watcher, &result, exec_status, error);
    watch_end(watch);
    *instructions = result.instructions;
    if (good && watch->signal && !result.instructions)
        good = error_set(error, "interrupted before the first instruction was captured for %s",
                         option);
    if (good)
        return path;
    temporary_remove(&watch->temporaries, path);
    return NULL;
}

uint64_t floor_period(struct trace *trace, const struct simulation_options *options, double floor,
                      struct error *error) {
    struct simulation_options plain = *options;
    plain.profile_count = 0;
    plain.observe_commits = false;
    struct simulation simulation;
    struct reduced_profile reference;
    uint64_t period = 0;
    if (simulation_run(trace, &plain, &simulation, error)) {
        if (profile_reduce(simulation.cells, simulation.cell_count, NULL, PSV_COMBINATIONS - 1,
                           &reference)) {
            uint64_t samples = error_samples(profile_spread(&reference), floor);
            period = simulation.cycles > samples ? simulation.cycles / samples : 1;
            reduced_profile_free(&reference);
        } else {
            error_set(error, "out of memory for --floor");
        }
    }
    simulation_free(&simulation);
    return period;
}
