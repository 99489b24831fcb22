#include <math.h>
#include <stdlib.h>

#include "simulate/regions.h"
#include "study/design_pool.h"
#include "study/simulated_run.h"

static bool take(struct design_result *result, const struct simulation *simulation,
                 struct error *error) {
    const uint64_t together = simulation->together.cycles;
    *result = (struct design_result){.cycles = together ? together : simulation->cycles,
                                     .instructions = simulation->instructions,
                                     .half_interval = simulation_interval(simulation)};
    for (uint64_t i = 0; i < simulation->cell_count; i++)
        result->components[component_of(simulation->cells[i].psv)] += simulation->cells[i].units;
    return result->cycles || error_set(error, "nothing of it was simulated");
}

/* As explain does: one after the other, each with the caches that the one before it left. */
static bool add_regions(struct region_run *run, const struct design_capture *capture,
                        struct error *error) {
    for (size_t i = 0; i < capture->region_count; i++) {
        const struct design_region *region = &capture->regions[i];
        char name[REGION_NAME];
        snprintf(name, sizeof name, "region %zu", i + 1);
        const struct region_trace trace = {.name = name,
                                           .path = region->path,
                                           .start = region->start,
                                           .end = region->end,
                                           .warm = region->warm,
                                           .stamped = true,
                                           .only = -1,
                                           .process = region->process,
                                           .thread = region->thread,
                                           .first = region->first,
                                           .cluster = region->cluster,
                                           .stands_for = region->stands_for};
        if (!region_run_add(run, &trace, error))
            return false;
    }
    return region_run_wait(run, error);
}

static bool by_regions(const struct design_capture *capture, const struct machine *machine,
                       struct watch *watch, struct design_result *result, struct error *error) {
    const struct region_run_options options = {.machine = machine,
                                               .isa = capture->isa,
                                               .chained = true,
                                               .reweighted = true,
                                               .watcher = watcher_of(watch)};
    struct simulation simulation = {0};
    watch_begin(watch, "simulating regions", "instructions", design_capture_work(capture));
    struct region_run *run = region_run_new(&options, error);
    bool good = run && add_regions(run, capture, error) &&
                region_run_finish(run, capture->instructions, &simulation, error);
    watch_end(watch);
    simulation.regions.slices = capture->slices;
    good = good && (watch->signal || take(result, &simulation, error));
    simulation_free(&simulation);
    region_run_free(run);
    return good;
}

static bool from_trace(const struct design_program *program, const struct machine_choice *machines,
                       struct watch *watch, struct design_result *result, struct error *error) {
    const struct design_capture *capture = &program->capture;
    const struct input_options input = {.trace =
                                            capture->trace ? capture->trace : program->input.trace,
                                        .limit = capture->trace ? 0 : program->input.limit,
                                        .thread = -1};
    struct simulated_run run = {.watch = watch, .input = &input, .machines = machines};
    run.options.sampling =
        capture->how == DESIGN_SAMPLED ? sampling_default() : sampling_everything();
    int exec_status;
    const bool good = simulated_run_open(&run, &exec_status, error) &&
                      simulated_run_go(&run, &exec_status, error) &&
                      (watch->signal || take(result, &run.simulation, error));
    simulated_run_free(&run);
    return good;
}

bool design_simulate(const struct design *design, struct design_point *point, struct watch *watch,
                     struct error *error) {
    const struct design_program *program = &design->programs[point->program];
    const struct design_capture *capture = &program->capture;
    struct machine_choice *machines = design_machine(design, point, error);
    const struct machine *machine =
        machines ? machine_choice_of(machines, capture->isa, error) : NULL;
    const bool good =
        machine && (capture->how == DESIGN_BY_REGIONS
                        ? by_regions(capture, machine, watch, &point->result, error)
                        : from_trace(program, machines, watch, &point->result, error));
    free(machines);
    return good;
}
