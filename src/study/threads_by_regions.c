#include "study/threads_by_regions.h"

#include <stdlib.h>

#include "region/apart.h"
#include "region/points.h"
#include "region/split.h"
#include "simulate/work_code.h"
#include "util/array.h"
#include "util/order.h"

/* Of the regions, those that are the beginning of the run, where caches are cold: one in so many.
 */
enum { BEGINNING = 10 };
enum { CLUSTERS_MOST = 40 };

/* ---- the profile ---- */

/* Threads go through their instructions, and nothing else. */
static bool pass_through(const struct simulation_options *whole, struct work_profile *profile,
                         struct together_messages *messages, struct error *error) {
    struct together together = *whole->together;
    struct simulation_options options = *whole;
    struct simulation simulation;
    struct trace *trace = trace_open(together.path, error);
    if (!trace)
        return false;
    together.profile = profile;
    together.messages = messages;
    together.watch = (struct together_watch){.see = NULL};
    options.together = &together;
    options.observer_count = options.instruction_observer_count = 0;
    options.series = false;
    options.details.extents = NULL;
    options.one_thread = true;
    const bool good = simulation_run(trace, &options, &simulation, error);
    simulation_free(&simulation);
    trace_close(trace);
    return good;
}

/* The trace, read to its end, has all code and threads. */
static bool read_all(struct trace *trace, uint64_t *instructions, struct error *error) {
    struct trace_batch batch;
    int status;
    trace_outline(trace);
    *instructions = 0;
    while ((status = trace_next(trace, &batch, error)) > 0)
        *instructions += batch.insn_count + batch.passed;
    return status == 0;
}

/* ---- the choice ---- */

/* Few clusters: how long a region takes depends on the code that threads execute in it, but more on
 * how many run at once and what they do to each other, which vectors do not show. So the heavy
 * clusters have many regions each, spread over the run. */
static bool choose_points(const struct projection *vectors, uint32_t regions,
                          struct region_choice *choice, struct error *error) {
    struct region_settings settings = REGION_DEFAULTS;
    settings.max_clusters = regions / 8 ? regions / 8 : 1;
    const uint32_t beginning = regions / BEGINNING;
    return region_choose(vectors, &settings, choice, error) &&
           (beginning >= choice->slice_count ||
            region_set_apart(vectors, beginning, choice, error)) &&
           region_split(vectors, regions, settings.seed, choice, error);
}

static int by_slice(const void *a, const void *b) {
    return ascending(((const struct region_point *)a)->slice,
                     ((const struct region_point *)b)->slice);
}

static bool take_points(struct together_plan *plan, const struct work_slices *slices,
                        const struct region_choice *choice, struct error *error) {
    qsort(choice->points, choice->point_count, sizeof *choice->points, by_slice);
    plan->regions = calloc((size_t)choice->point_count + 1, sizeof *plan->regions);
    if (!plan->regions)
        return error_set(error, "out of memory for the regions");
    plan->count = choice->point_count;
    plan->instructions = slices->instructions;
    plan->work = slices->work;
    plan->slices = slices->count;
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct region_point *point = &choice->points[i];
        const struct work_slice *slice = &slices->slices[point->slice];
        plan->regions[i] =
            (struct planned_region){.before = slice->before,
                                    .work_before = slice->work_before,
                                    .work = slice->work,
                                    .stands_for = (uint64_t)(point->weight * (double)slices->work),
                                    .cluster = point->whole};
    }
    return true;
}

static bool choose(struct together_plan *plan, struct work_profile *profile, uint32_t regions,
                   bool interrupted, struct error *error) {
    struct work_slices slices;
    struct region_choice choice = {0};
    const bool good = work_profile_finish(profile, &slices, error) &&
                      (slices.count ||
                       error_set(error, interrupted ? "interrupted before its threads were profiled"
                                                    : "no instruction was executed")) &&
                      choose_points(slices.vectors, regions, &choice, error) &&
                      take_points(plan, &slices, &choice, error);
    region_choice_free(&choice);
    return good;
}

/* ---- the whole ---- */

/* Of a trace that was read to its end. */
static bool make_plan(struct threads_by_regions *regions, const struct together_request *request,
                      struct watch *watch, const struct simulation_options *options,
                      const struct trace *trace, uint64_t instructions, struct error *error) {
    struct work_profile_settings settings = WORK_PROFILE_DEFAULTS;
    struct work_profile *profile;
    settings.slice = request->slice;
    if (!(regions->flags = work_code(trace, error)))
        return false;
    if (!(profile = work_profile_new(&settings, trace_code(trace), regions->flags,
                                     trace_thread_count(trace))))
        return error_set(error, "out of memory for the profile of the run");
    regions->plan.flags = regions->flags;
    regions->plan.warm_up = request->warm_up;
    watch_begin_within(watch, "profiling threads", "instructions", instructions);
    bool good = pass_through(options, profile, &regions->messages, error);
    watch_end(watch);
    good = good && choose(&regions->plan, profile, request->regions, watch->signal, error);
    work_profile_free(profile);
    return good;
}

bool threads_by_regions_plan(struct threads_by_regions *regions,
                             const struct together_request *request, struct watch *watch,
                             const struct simulation_options *options, struct error *error) {
    uint64_t instructions;
    *regions = (struct threads_by_regions){.flags = NULL};
    if (!request->over || options->observer_count)
        return true;
    struct trace *trace = trace_open(options->together->path, error);
    const bool good = trace && read_all(trace, &instructions, error) &&
                      (instructions <= request->over ||
                       make_plan(regions, request, watch, options, trace, instructions, error));
    trace_close(trace);
    return good;
}

void threads_by_regions_free(struct threads_by_regions *regions) {
    together_messages_free(&regions->messages);
    free(regions->plan.regions);
    free(regions->flags);
    *regions = (struct threads_by_regions){.flags = NULL};
}
