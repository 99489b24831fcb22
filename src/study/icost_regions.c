/* culprit icost --regions: as sim --regions, with graphs. */
#include "study/icost.h"

#include "simulate/regions.h"
#include "study/region_tasks.h"

static bool simulate(const struct icost_study_request *request, const struct machine *machine,
                     struct icost_regions *regions, struct simulation *simulation,
                     struct error *error) {
    uint64_t warm_up = request->warm_up;
    const struct region_run_options options = {.machine = machine,
                                               .ideal = request->machine->ideal,
                                               .isa = regions->list.isa,
                                               .jobs = request->cluster ? 0 : request->jobs,
                                               .graph = true,
                                               .watcher = watcher_of(request->watch)};
    const struct region_tasks tasks = {.watch = request->watch,
                                       .cluster = request->cluster,
                                       .version = request->version,
                                       .options = request->machine,
                                       .machine = machine,
                                       .ideal = request->machine->ideal,
                                       .jobs = request->jobs,
                                       .isa = regions->list.isa,
                                       .graph = true};
    struct region_run *run = region_run_new(&options, error);
    bool good = run && (!request->cluster ||
                        region_tasks_add_lists(&tasks, &regions->list, &request->regions, 1,
                                               warm_up, run, error));
    watch_begin(request->watch, "simulating", "instructions",
                region_list_work(&regions->list, warm_up));
    good = good &&
           (request->cluster ||
            region_run_add_list(run, &regions->list, request->regions, warm_up, error)) &&
           region_run_finish(run, regions->list.instructions, simulation, error);
    watch_end(request->watch);
    region_run_free(run);
    return good;
}

bool icost_regions(const struct icost_study_request *request, const struct machine_choice *machines,
                   struct icost_regions *regions, const struct machine **machine,
                   struct error *error) {
    struct simulation simulation = {0};
    if (!region_list_read(&regions->list, request->regions, error) ||
        !region_list_do_without(&regions->list, request->regions, &regions->lost, error) ||
        !(*machine = machine_choice_of(machines, regions->list.isa, error)))
        return false;
    bool good = simulate(request, *machine, regions, &simulation, error);
    regions->breakdown = simulation.breakdown;
    simulation.breakdown = (struct breakdown){0};
    regions->cycles = simulation.cycles;
    regions->simulated = simulation.simulated;
    regions->count = simulation.regions.count;
    regions->done = simulation.regions.simulated;
    regions->seconds = simulation.seconds;
    simulation_free(&simulation);
    return good;
}

void icost_regions_free(struct icost_regions *regions) {
    region_list_free(&regions->list);
    breakdown_free(&regions->breakdown);
}
