#include "study/thread_path.h"

#include <stdlib.h>

#include "simulate/path_profile.h"
#include "study/study.h"
#include "study/together_threads.h"

/* *trace is closed if it is open, and opened. */
static bool simulate(struct watch *watch, const struct simulation_options *options,
                     struct trace **trace, struct simulation *simulation, struct error *error) {
    *simulation = (struct simulation){0};
    trace_close(*trace);
    if (!(*trace = trace_open(options->together->path, error)))
        return false;
    watch_begin(watch, "critical path", "instructions", 0);
    const bool good = simulation_run(*trace, options, simulation, error);
    watch_end(watch);
    return good;
}

/* Once more, with the path known. */
static bool profile(struct watch *watch, const struct simulation_options *found,
                    struct thread_path *path, struct error *error) {
    struct together_result *together = &path->simulation.together;
    struct path_profile *profile = path_profile_new(together->segments, together->segment_count);
    if (!profile)
        return error_set(error, "out of memory for the critical path");
    const struct simulation_observer observer = path_profile_observer(profile);
    struct simulation_options options = *found;
    struct together plain = *found->together;
    struct simulation again;
    plain.tell_path = false;
    options.together = &plain;
    options.observers = &observer;
    options.observer_count = 1;
    bool good = simulate(watch, &options, &path->trace, &again, error);
    if (good) {
        free(path->simulation.cells);
        path->simulation.cells = path_profile_cells(profile, &path->simulation.cell_count);
        good = path->simulation.cells || error_set(error, "out of memory for the critical path");
    }
    path->known = good && !again.interrupted;
    simulation_free(&again);
    path_profile_free(profile);
    return good;
}

bool thread_path_find(struct watch *watch, const char *file, const struct machine *machine,
                      const struct selection *selection, struct thread_path *path,
                      struct error *error) {
    const struct together_request request = {.alone = false};
    struct simulation_options options = {.machine = machine,
                                         .sampling = sampling_everything(),
                                         .selection = *selection,
                                         .watcher = watcher_of(watch)};
    struct together together;
    *path = (struct thread_path){.known = false};
    if (!together_choose(&request, file, &options, &together, &path->apart, error))
        return false;
    if (!options.together)
        return true;
    together.tell_path = true;
    return simulate(watch, &options, &path->trace, &path->simulation, error) &&
           (path->simulation.interrupted || profile(watch, &options, path, error));
}

void thread_path_free(struct thread_path *path) {
    simulation_free(&path->simulation);
    trace_close(path->trace);
}
