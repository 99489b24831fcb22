#include "study/together_threads.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "simulate/selection.h"
#include "simulate/together_variants.h"
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
    if (!selection_is_everything(&options->selection))
        return "only a part of the run was selected";
    if (options->sampling.full != UINT64_MAX && !request->in_place_of_sampling)
        return "systematic sampling takes each thread by itself (--exact: all together)";
    if (options->graph || options->slicing || options->profile_count || options->observe_commits)
        return "this analysis follows one thread at a time";
    return NULL;
}

static bool is_placed(const struct together_affinity *affinity) {
    return affinity->group_count || affinity->in_turn_count;
}

/* Whether each number of cores has all that threads are kept on. */
static bool check_affinity(const struct together_request *request, const struct machine *machine,
                           struct error *error) {
    const uint32_t highest = affinity_highest(&request->affinity);
    uint32_t fewest = request->core_count ? request->cores[0] : machine->chip.cores;
    for (uint32_t i = 1; i < request->core_count; i++)
        fewest = request->cores[i] < fewest ? request->cores[i] : fewest;
    return !is_placed(&request->affinity) || highest < fewest ||
           error_set(error,
                     "--affinity: there is no core %" PRIu32 " (the last one of %" PRIu32
                     " is number %" PRIu32 "; --cores sets how many there are)",
                     highest, fewest, fewest - 1);
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
    options->sampling = sampling_everything();
    *together = (struct together){
        .path = path,
        .cores = request->core_count ? request->cores[request->core_count - 1] : 0,
        .slack = request->slack,
        .tell_spans = request->tell_spans,
        .affinity = is_placed(&request->affinity) ? &request->affinity : NULL};
    options->together = together;
    return check_affinity(request, options->machine, error);
}

bool together_scale_run(const struct together_request *request,
                        const struct simulation_options *options, struct simulation *simulation,
                        struct error *error) {
    struct together_variant variants[TOGETHER_SCALES] = {{.cores = 0}};
    struct together_result *result = &simulation->together;
    if (!options->together || request->core_count < 2 || simulation->interrupted)
        return true;
    const size_t count = request->core_count - 1;
    for (size_t i = 0; i < count; i++) {
        variants[i].cores = request->cores[i];
        variants[i].by_signature = true;
    }
    const bool good = together_variants_run(options, variants, count, error);
    for (size_t i = 0; i < count; i++) {
        if (!good || !variants[i].done) {
            together_variant_free(&variants[i]);
            continue;
        }
        result->scales[result->scale_count++] =
            (struct together_scale){.cores = variants[i].cores,
                                    .cycles = variants[i].cycles,
                                    .counts = variants[i].counts,
                                    .units = variants[i].units};
    }
    return good;
}
