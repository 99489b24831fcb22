/* A chip's life, and the order in which its cores are served. */
#include "core/multithreaded/chip.h"

#include <stdlib.h>

#include "core/multithreaded/multithreaded.h"

static bool core_new_private(const struct machine *machine, struct chip_core *core,
                             struct error *error) {
    return cache_new(&core->l1i, &machine->l1i, "l1i", LEVEL_L1, error) &&
           cache_new(&core->l1d, &machine->l1d, "l1d", LEVEL_L1, error) &&
           tlb_new(&core->itlb, &machine->itlb, machine->page_size, "itlb", error) &&
           tlb_new(&core->dtlb, &machine->dtlb, machine->page_size, "dtlb", error);
}

static bool thread_new(struct chip *chip, uint32_t number, struct error *error) {
    struct hardware_thread *thread = &chip->threads[number];
    thread->space = number;
    thread->line = NEVER;
    thread->predictor = branch_new(&chip->machine.branch, error);
    chip->unfinished++;
    return thread->predictor != NULL;
}

static bool build(struct chip *chip, const uint64_t *active, struct error *error) {
    const struct machine *machine = &chip->machine;
    uint32_t threads = chip->cores * chip->threads_per_core;
    chip->threads = calloc(threads, sizeof *chip->threads);
    chip->core = calloc(chip->cores, sizeof *chip->core);
    if (!chip->threads || !chip->core)
        return error_set(error, "out of memory for a chip of %u threads", threads);
    if (!cache_new(&chip->l2, &machine->l2, "l2", LEVEL_L2, error))
        return false;
    for (uint32_t i = 0; i < threads; i++)
        if ((!active || active[i / 64] >> i % 64 & 1) && !thread_new(chip, i, error))
            return false;
    for (uint32_t i = 0; i < chip->cores; i++) {
        struct chip_core *core = &chip->core[i];
        core->threads = chip->threads + (size_t)i * chip->threads_per_core;
        core->slot = 1;
        core->last = chip->threads_per_core - 1;
        if (!core_new_private(machine, core, error))
            return false;
    }
    return true;
}

struct chip *chip_new(const struct machine *machine, const uint64_t *active,
                      struct chip_source source, struct error *error) {
    if (!machine_check_chip(machine, error))
        return NULL;
    struct chip *chip = calloc(1, sizeof *chip);
    if (!chip) {
        error_set(error, "out of memory for a chip");
        return NULL;
    }
    chip->machine = *machine;
    chip->penalties = chip_penalties(machine);
    chip->source = source;
    chip->cores = machine->chip.cores;
    chip->threads_per_core = machine->chip.threads;
    chip->page_shift = (uint32_t)__builtin_ctz(machine->page_size);
    if (build(chip, active, error))
        return chip;
    chip_free(chip);
    return NULL;
}

void chip_free(struct chip *chip) {
    if (!chip)
        return;
    for (uint32_t i = 0; chip->threads && i < chip->cores * chip->threads_per_core; i++) {
        branch_free(chip->threads[i].predictor);
        free(chip->threads[i].turns);
    }
    for (uint32_t i = 0; chip->core && i < chip->cores; i++) {
        cache_free(&chip->core[i].l1i);
        cache_free(&chip->core[i].l1d);
        tlb_free(&chip->core[i].itlb);
        tlb_free(&chip->core[i].dtlb);
    }
    cache_free(&chip->l2);
    free(chip->threads);
    free(chip->core);
    free(chip);
}

/* The core that asks first. */
static struct chip_core *first_that_asks(struct chip *chip) {
    struct chip_core *first = NULL;
    for (uint32_t i = 0; i < chip->cores; i++) {
        struct chip_core *core = &chip->core[i];
        if (core->asks && (!first || core->clock < first->clock))
            first = core;
    }
    return first;
}

bool chip_run(struct chip *chip, uint64_t until, bool *finished, struct error *error) {
    for (uint32_t i = 0; i < chip->cores; i++) {
        if (!chip->begun)
            chip_core_begin(chip, &chip->core[i]);
        chip_core_run(chip, &chip->core[i], until);
    }
    chip->begun = true;
    for (struct chip_core *core; !chip->failed && (core = first_that_asks(chip));) {
        shared_serve(chip, core);
        chip_core_run(chip, core, until);
    }
    if (chip->failed) {
        *error = chip->error;
        return false;
    }
    chip->cycle = until;
    *finished = chip->unfinished == 0;
    return true;
}

uint64_t chip_cycle(const struct chip *chip) {
    return chip->cycle;
}

void chip_thread_first(const struct chip *chip, uint32_t thread,
                       struct chip_thread_statistics *statistics) {
    const struct hardware_thread *of = &chip->threads[thread];
    *statistics = of->has_run ? of->first : of->now;
}

void chip_thread_all(const struct chip *chip, uint32_t thread,
                     struct chip_thread_statistics *statistics) {
    *statistics = chip->threads[thread].now;
}
