#include "study/together_threads.h"

#include "simulate/selection.h"
#include "trace/thread_event_list.h"

static bool has_threads(const char *path, bool *threads, struct error *error) {
    struct thread_event_list list;
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
    *together = (struct together){.path = path, .cores = request->cores, .slack = request->slack};
    options->together = together;
    return true;
}
