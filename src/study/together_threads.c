#include "study/together_threads.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "simulate/selection.h"
#include "trace/thread_event_list.h"

/* What is no regular file cannot be read once more. */
static bool has_threads(const char *path, bool *threads, struct error *error) {
    struct thread_event_list list;
    struct stat status;
    *threads = false;
    if (!strcmp(path, "-") || stat(path, &status) || !S_ISREG(status.st_mode))
        return true;
    if (!thread_events_read(path, &list, error))
        return false;
    *threads = list.count > 0;
    thread_events_free(&list);
    return true;
}

const char *together_obstacle(const struct together_request *request,
                              const struct simulation_options *options) {
    if (request->alone)
        return "as asked";
    if (options->machine->core.in_order)
        return "the machine's cores are in order";
    if (!selection_is_everything(&options->selection) || options->sampling.full != UINT64_MAX)
        return "only a part of the run was selected";
    if (options->graph || options->slicing || options->profile_count || options->observe_commits)
        return "this analysis follows one thread at a time";
    return NULL;
}

bool together_choose(const struct together_request *request, const char *path,
                     struct simulation_options *options, struct together *together,
                     const char **why, struct error *error) {
    bool threads = false;
    *why = NULL;
    if (!has_threads(path, &threads, error))
        return false;
    if (!threads || (*why = together_obstacle(request, options)))
        return true;
    *together = (struct together){
        .path = path,
        .cores = request->core_count ? request->cores[request->core_count - 1] : 0,
        .slack = request->slack};
    options->together = together;
    return true;
}

/* NULL: no memory. */
static uint64_t *by_signature(const struct simulation *simulation) {
    uint64_t *units = calloc(PSV_COMBINATIONS, sizeof *units);
    for (uint64_t i = 0; units && i < simulation->cell_count; i++)
        units[simulation->cells[i].psv] += simulation->cells[i].units;
    return units;
}

static bool run_on(uint32_t cores, const struct simulation_options *options,
                   struct together_scale *scale, bool *interrupted, struct error *error) {
    struct together together = *options->together;
    struct simulation_options others = *options;
    struct simulation simulation;
    struct trace *trace = trace_open(together.path, error);
    if (!trace)
        return false;
    trace_fix_numbers(trace);
    together.cores = cores;
    others.together = &together;
    others.observer_count = others.instruction_observer_count = 0;
    bool good = simulation_run(trace, &others, &simulation, error);
    *interrupted = simulation.interrupted;
    *scale = (struct together_scale){.cores = cores,
                                     .cycles = simulation.together.cycles,
                                     .counts = simulation.together.counts,
                                     .units = by_signature(&simulation)};
    if (!scale->units && good)
        good = error_set(error, "out of memory for the profile");
    simulation.together.counts = NULL;
    simulation_free(&simulation);
    trace_close(trace);
    return good;
}

bool together_scale_run(const struct together_request *request,
                        const struct simulation_options *options, struct simulation *simulation,
                        struct error *error) {
    struct together_result *result = &simulation->together;
    for (uint32_t i = 0; options->together && i + 1 < request->core_count; i++) {
        struct together_scale scale = {.cores = 0};
        bool interrupted = false;
        if (simulation->interrupted)
            return true;
        if (!run_on(request->cores[i], options, &scale, &interrupted, error)) {
            together_scale_free(&scale);
            return false;
        }
        if (interrupted) {
            together_scale_free(&scale);
            return true;
        }
        result->scales[result->scale_count++] = scale;
    }
    return true;
}
