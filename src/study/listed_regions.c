#include "study/listed_regions.h"

#include <stdio.h>
#include <stdlib.h>

#include "util/array.h"

/* How many processes and threads there are in the lists so far. */
struct counted {
    uint32_t processes, threads;
};

/* Those of later lists are others than those of the first, though each counts from 0. */
static void tell_apart(struct region_list *list, struct counted *before) {
    struct counted most = {0};
    for (size_t i = 0; i < list->region_count; i++) {
        struct region *region = &list->regions[i];
        most.processes = region->process > most.processes ? region->process : most.processes;
        most.threads = region->thread > most.threads ? region->thread : most.threads;
        region->process += before->processes;
        region->thread += before->threads;
    }
    before->processes += most.processes + 1;
    before->threads += most.threads + 1;
}

static bool name_commands(struct listed_regions *regions, uint32_t count, struct error *error) {
    size_t size;
    FILE *out = open_memstream(&regions->command, &size);
    for (uint32_t i = 0; out && i < count; i++)
        fprintf(out, "%s%s", i ? ", " : "", regions->lists[i].command);
    return (out && fclose(out) == 0) || error_set(error, "out of memory for the commands");
}

bool listed_regions_read(struct listed_regions *regions, const struct regions_request *request,
                         struct error *error) {
    const uint32_t count = request->list_count;
    struct counted counted = {0};
    *regions = (struct listed_regions){.request = request};
    for (uint32_t i = 0; i < count; i++)
        if (!region_list_read_merged(&regions->lists[i], request->lists[i], error))
            return false;
    if (!region_lists_are_whole(regions->lists, request->lists, count, error))
        return false;
    regions->instructions =
        count > 1 ? regions->lists[0].all_instructions : region_list_stands_for(regions->lists);
    for (uint32_t i = 0; i < count; i++) {
        struct region_list *list = &regions->lists[i];
        if (!request->trace &&
            !region_list_do_without(list, request->lists[i], &regions->lost[i], error))
            return false;
        tell_apart(list, &counted);
        regions->slices += list->slice_count;
    }
    return name_commands(regions, count, error);
}

static bool cut_list(struct listed_regions *regions, struct error *error) {
    uint64_t *shares = region_list_shares(&regions->lists[0]);
    const bool good =
        (shares || error_set(error, "out of memory for the regions")) &&
        whole_trace_cut(&regions->whole, regions->run, regions->request->warm_up, shares, error);
    free(shares);
    return good;
}

static bool add_from_cluster(struct listed_regions *regions, struct watch *watch,
                             const struct machine *machine, uint32_t ideal, struct error *error) {
    const struct regions_request *request = regions->request;
    const struct region_tasks tasks = {.watch = watch,
                                       .cluster = request->cluster,
                                       .version = request->version,
                                       .options = request->options,
                                       .machine = machine,
                                       .ideal = ideal,
                                       .jobs = request->jobs,
                                       .isa = regions->lists[0].isa,
                                       .top_down = request->details.top_down};
    return region_tasks_add_lists(&tasks, regions->lists, request->lists, request->list_count,
                                  request->warm_up, regions->run, error);
}

static bool add_lists(struct listed_regions *regions, struct error *error) {
    const struct regions_request *request = regions->request;
    bool good = true;
    if (request->trace)
        return cut_list(regions, error);
    for (uint32_t i = 0; i < request->list_count && good; i++)
        good = region_run_add_list(regions->run, &regions->lists[i], request->lists[i],
                                   request->warm_up, error);
    return good;
}

bool listed_regions_simulate(struct listed_regions *regions, struct watch *watch,
                             const struct machine *machine, uint32_t ideal, struct saving *saving,
                             struct error *error) {
    const struct regions_request *request = regions->request;
    regions->whole = (struct whole_trace){.watch = watch,
                                          .path = request->trace,
                                          .list = &regions->lists[0],
                                          .list_path = request->lists[0]};
    if (request->trace &&
        !whole_trace_read(&regions->whole, request->details.extents, request->details.names, error))
        return false;
    const struct region_run_options options = {.machine = machine,
                                               .ideal = ideal,
                                               .isa = regions->lists[0].isa,
                                               .jobs = request->cluster ? 0 : request->jobs,
                                               .details = request->details,
                                               .starts = regions->whole.starts,
                                               .watcher = watcher_of(watch),
                                               .keep = saving ? saving_keep_region : NULL,
                                               .keep_context = saving};
    /* What the nodes did is added up in the end. */
    bool good = (regions->run = region_run_new(&options, error)) != NULL;
    good = good && (!request->cluster || add_from_cluster(regions, watch, machine, ideal, error));
    uint64_t work = sum_over(uint64_t, i, request->list_count,
                             region_list_work(&regions->lists[i], request->warm_up));
    watch_begin(watch, "simulating", "instructions", work);
    good = good && (request->cluster || add_lists(regions, error)) &&
           region_run_finish(regions->run, regions->instructions, &regions->simulation, error);
    watch_end(watch);
    regions->simulation.regions.slices = regions->slices;
    return good;
}

void listed_regions_free(struct listed_regions *regions) {
    simulation_free(&regions->simulation);
    region_run_free(regions->run);
    whole_trace_free(&regions->whole);
    for (uint32_t i = 0; i < REGIONS_MOST_LISTS; i++)
        region_list_free(&regions->lists[i]);
    free(regions->command);
}
