#include "study/contend_run.h"

#include <stdlib.h>

/* The most threads that a core has, as they are placed. */
static uint32_t core_threads(const struct contend_run *run) {
    const struct machine_chip *chip = &run->options.machine->chip;
    return run->options.placing == PLACE_TOGETHER
               ? chip->threads
               : (run->inputs.thread_count + chip->cores - 1) / chip->cores;
}

static bool profile(struct contend_run *run, struct error *error) {
    const struct machine *machine = run->options.machine;
    const struct cache_shape shared = cache_shape_of(machine_shared_cache(machine));
    const struct locality_input_options options = {.watch = run->watch,
                                                   .machine = machine,
                                                   .shared = &shared,
                                                   .shared_count = 1,
                                                   .frames =
                                                       !run->options.contention.sets_are_known,
                                                   .core = machine_is_chip(machine),
                                                   .core_threads = core_threads(run),
                                                   .selection = run->selection};
    return locality_inputs_profile(&run->inputs, &options, error);
}

static bool predict(struct contend_run *run, struct error *error) {
    const struct locality_inputs *inputs = &run->inputs;
    run->programs = calloc(inputs->program_count, sizeof *run->programs);
    return run->programs
               ? contend_predict(inputs->localities, inputs->program_count, inputs->threads,
                                 inputs->thread_count, &run->options, run->programs, error)
               : error_set(error, "out of memory for %u programs", inputs->program_count);
}

static bool simulate(struct contend_run *run, struct error *error) {
    const struct locality_inputs *inputs = &run->inputs;
    const struct contend_check_options options = {.machine = run->options.machine,
                                                  .placing = run->options.placing,
                                                  .traces = inputs->paths,
                                                  .selection = run->selection,
                                                  .watcher = watcher_of(run->watch)};
    watch_begin(run->watch, "simulating", "instructions", 0);
    const bool good = contend_simulate(inputs->threads, inputs->thread_count, inputs->program_count,
                                       &options, &run->checked, error);
    watch_end(run->watch);
    return good;
}

bool contend_run_go(struct contend_run *run, struct error *error) {
    return profile(run, error) && predict(run, error) && (!run->check || simulate(run, error));
}

void contend_run_free(struct contend_run *run) {
    contend_check_free(&run->checked);
    locality_inputs_free(&run->inputs);
    free(run->programs);
}
