/* Programs beside each other, then each alone, on the cycle-level chip. */
#include <stdlib.h>

#include "model/contend.h"
#include "simulate/sharing.h"

struct check_run {
    const struct contend_check_options *options;
    const uint32_t *threads;
    uint32_t thread_count, hardware_threads;
    const char **traces; /* by hardware thread */
    struct contend_check *check;
    uint64_t before; /* instructions of earlier simulations */
};

static void show_progress(void *context, uint64_t instructions) {
    const struct check_run *run = context;
    watcher_tell(&run->options->watcher, run->before + instructions);
}

static struct contend_misses misses_of(const struct chip_thread_statistics *first) {
    const double instructions = (double)first->instructions;
    return (struct contend_misses){.l1d = (double)first->l1d_misses / instructions,
                                   .shared = (double)first->l2_misses / instructions,
                                   .cycles = (double)first->cycles / instructions};
}

static bool simulate(struct check_run *run, struct sharing_result *result, struct error *error) {
    const struct sharing_options options = {
        .machine = run->options->machine,
        .traces = run->traces,
        .selection = run->options->selection,
        .watcher = {show_progress, run, run->options->watcher.stop}};
    const bool good = sharing_run(&options, result, error);
    for (uint32_t i = 0; good && i < result->threads; i++) {
        run->check->instructions += result->all[i].instructions;
        run->before += result->first[i].instructions;
    }
    run->check->seconds += result->seconds;
    run->check->interrupted |= result->interrupted;
    return good;
}

static uint32_t place_of(const struct check_run *run, uint32_t thread) {
    return contend_place(run->options->machine, run->options->placing, thread);
}

static bool beside(struct check_run *run, struct error *error) {
    struct sharing_result result;
    for (uint32_t t = 0; t < run->thread_count; t++) {
        run->traces[place_of(run, t)] = run->options->traces[run->threads[t]];
        run->check->programs[run->threads[t]].copies++;
    }
    const bool good = simulate(run, &result, error);
    for (uint32_t t = 0; good && t < run->thread_count; t++) {
        struct contend_program *program = &run->check->programs[run->threads[t]];
        const struct chip_thread_statistics *first = &result.first[place_of(run, t)];
        const struct contend_misses one = misses_of(first);
        program->accesses = (double)first->accesses / (double)first->instructions;
        program->beside.l1d += one.l1d / program->copies;
        program->beside.shared += one.shared / program->copies;
        program->beside.cycles += one.cycles / program->copies;
    }
    sharing_free(&result);
    return good;
}

static bool alone(struct check_run *run, uint32_t program, struct error *error) {
    struct sharing_result result;
    uint32_t thread = 0;
    while (run->threads[thread] != program)
        thread++;
    for (uint32_t i = 0; i < run->hardware_threads; i++)
        run->traces[i] = i == place_of(run, thread) ? run->options->traces[program] : NULL;
    const bool good = simulate(run, &result, error);
    if (good)
        run->check->programs[program].alone = misses_of(&result.first[place_of(run, thread)]);
    sharing_free(&result);
    return good;
}

bool contend_simulate(const uint32_t *threads, uint32_t thread_count, uint32_t program_count,
                      const struct contend_check_options *options, struct contend_check *check,
                      struct error *error) {
    const struct machine_chip *chip = &options->machine->chip;
    struct check_run run = {.options = options,
                            .threads = threads,
                            .thread_count = thread_count,
                            .hardware_threads = chip->cores * chip->threads,
                            .check = check};
    *check = (struct contend_check){0};
    check->programs = calloc(program_count, sizeof *check->programs);
    run.traces = calloc(run.hardware_threads, sizeof *run.traces);
    bool good = (check->programs && run.traces) ||
                error_set(error, "out of memory for %u programs", program_count);
    good = good && beside(&run, error);
    for (uint32_t p = 0; good && p < program_count && !check->interrupted; p++)
        good = alone(&run, p, error);
    free(run.traces);
    return good;
}

void contend_check_free(struct contend_check *check) {
    free(check->programs);
    *check = (struct contend_check){0};
}
