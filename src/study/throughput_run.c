#include "study/throughput_run.h"

#include <stdlib.h>

#include "util/clock.h"

/* Of each word's copies, as they go round. */
struct programs {
    const struct locality **localities;
    const char **traces;
};

static bool profile(struct throughput_run *run, struct programs *programs, struct error *error) {
    struct locality_inputs *inputs = &run->inputs;
    const struct machine *machine = run->options.machine;
    const struct cache_shape shared = cache_shape_of(machine_shared_cache(machine));
    const struct locality_input_options options = {.watch = run->watch,
                                                   .machine = machine,
                                                   .shared = &shared,
                                                   .shared_count = 1,
                                                   .frames = true,
                                                   .core = true,
                                                   .core_threads = run->space.threads.last,
                                                   .selection = run->selection};
    if (!locality_inputs_profile(inputs, &options, error))
        return false;
    programs->localities = calloc(inputs->thread_count, sizeof *programs->localities);
    programs->traces = calloc(inputs->thread_count, sizeof *programs->traces);
    if (!programs->localities || !programs->traces)
        return error_set(error, "out of memory for %u threads", inputs->thread_count);
    for (uint32_t t = 0; t < inputs->thread_count; t++) {
        programs->localities[t] = inputs->localities[inputs->threads[t]];
        programs->traces[t] = inputs->paths[inputs->threads[t]];
    }
    return true;
}

static bool predict_chip(struct throughput_run *run, const struct programs *programs,
                         struct error *error) {
    const struct machine_chip *chip = &run->options.machine->chip;
    const uint32_t count = chip->cores * chip->threads;
    const struct locality **running = calloc(count, sizeof *running);
    const double begun = clock_processor();
    if (!running)
        return error_set(error, "out of memory for %u threads", count);
    throughput_go_round(programs->localities, run->inputs.thread_count, count, running);
    const bool good = throughput_predict(running, 1, &run->options, &run->result, error);
    free(running);
    run->model_seconds = clock_processor() - begun;
    return good;
}

static bool predict(struct throughput_run *run, const struct programs *programs,
                    struct error *error) {
    if (!run->space.searched)
        return predict_chip(run, programs, error);
    const bool good = throughput_search(&run->space, programs->localities, run->inputs.thread_count,
                                        1, &run->options, &run->watch->signal, &run->search, error);
    run->interrupted = run->search.interrupted;
    run->model_seconds = run->search.model_seconds;
    return good;
}

static bool check(struct throughput_run *run, const struct programs *programs,
                  struct error *error) {
    const bool searched = run->space.searched;
    const struct throughput_check_options options = {.machine = run->options.machine,
                                                     .traces = programs->traces,
                                                     .thread_count = run->inputs.thread_count,
                                                     .alone = !searched,
                                                     .selection = run->selection,
                                                     .watcher = watcher_of(run->watch)};
    watch_begin(run->watch, "simulating", "instructions", 0);
    bool good;
    if (searched) {
        good = throughput_search_check(&run->search, &options, &run->interrupted, error);
        run->simulation_seconds = run->search.simulation_seconds;
    } else {
        good = throughput_simulate(&options, &run->simulated, error);
        run->interrupted = run->simulated.interrupted;
        run->simulation_seconds = run->simulated.seconds;
    }
    watch_end(run->watch);
    return good;
}

bool throughput_run_go(struct throughput_run *run, struct error *error) {
    struct programs programs = {0};
    const bool good = profile(run, &programs, error) && predict(run, &programs, error) &&
                      (!run->check || check(run, &programs, error));
    free(programs.localities);
    free(programs.traces);
    return good;
}

void throughput_run_free(struct throughput_run *run) {
    throughput_free(&run->result);
    throughput_simulated_free(&run->simulated);
    throughput_search_free(&run->search);
    locality_inputs_free(&run->inputs);
}
