/* Programs that several hardware threads run are opened once. The chip runs in legs of LEG_CYCLES;
 * between them it is asked whether all have run, so that a run ends up to a leg later than the last
 * program does. */
#include "simulate/sharing.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/core.h"
#include "simulate/repeated.h"
#include "util/array.h"

enum { LEG_CYCLES = 1 << 14 };

struct sharing {
    const struct sharing_options *options;
    uint32_t threads;
    struct repeated **programs; /* per hardware thread, those of one path the same; NULL: idle */
    struct runner **runners;
    uint64_t *active; /* bits */
    struct chip *chip;
};

/* The first thread that runs the same trace. */
static uint32_t owner_of(const struct sharing *sharing, uint32_t thread) {
    const char *const *traces = sharing->options->traces;
    return (uint32_t)index_where(i, thread, traces[i] && !strcmp(traces[i], traces[thread]));
}

static bool open_program(struct sharing *sharing, uint32_t thread, struct error *error) {
    uint32_t owner = owner_of(sharing, thread);
    const char *path = sharing->options->traces[thread];
    struct repeated **program = &sharing->programs[thread];
    *program = owner < thread ? sharing->programs[owner]
                              : repeated_open(path, &sharing->options->selection, error);
    if (!*program)
        return false;
    for (uint32_t i = 0; i < thread; i++)
        if (sharing->programs[i] && repeated_isa(sharing->programs[i]) != repeated_isa(*program))
            return error_set(error, "%s and %s are programs of different architectures",
                             sharing->options->traces[i], path);
    sharing->active[thread / 64] |= 1ull << thread % 64;
    sharing->runners[thread] = runner_new(*program, error);
    return sharing->runners[thread] != NULL;
}

static bool open_programs(struct sharing *sharing, struct error *error) {
    bool any = false;
    for (uint32_t i = 0; i < sharing->threads; i++)
        if (sharing->options->traces[i]) {
            if (!open_program(sharing, i, error))
                return false;
            any = true;
        }
    return any || error_set(error, "no program for any hardware thread");
}

static bool refill(void *context, uint32_t thread, struct error *error) {
    struct sharing *sharing = context;
    const struct code *code;
    struct trace_batch batch;
    bool ends;
    if (!runner_next(sharing->runners[thread], &code, &batch, &ends, error))
        return false;
    const struct core_input input = core_input_of(code, &batch);
    return chip_push(sharing->chip, thread, &input, ends, error);
}

static void collect(const struct sharing *sharing, struct sharing_result *result) {
    for (uint32_t i = 0; i < sharing->threads; i++) {
        chip_thread_first(sharing->chip, i, &result->first[i]);
        chip_thread_all(sharing->chip, i, &result->all[i]);
    }
    result->cycles = chip_cycle(sharing->chip);
}

static uint64_t first_instructions(const struct sharing *sharing) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < sharing->threads; i++) {
        struct chip_thread_statistics first;
        chip_thread_first(sharing->chip, i, &first);
        sum += first.instructions;
    }
    return sum;
}

static bool run(struct sharing *sharing, struct sharing_result *result, struct error *error) {
    const struct sharing_options *options = sharing->options;
    for (bool finished = false; !finished;) {
        if (watcher_stops(&options->watcher)) {
            result->interrupted = true;
            return true;
        }
        if (!chip_run(sharing->chip, chip_cycle(sharing->chip) + LEG_CYCLES, &finished, error))
            return false;
        watcher_tell(&options->watcher, first_instructions(sharing));
    }
    return true;
}

static bool prepare(struct sharing *sharing, struct sharing_result *result, struct error *error) {
    uint32_t threads = sharing->threads;
    result->threads = threads;
    result->first = calloc(threads, sizeof *result->first);
    result->all = calloc(threads, sizeof *result->all);
    sharing->programs = calloc(threads, sizeof *sharing->programs);
    sharing->runners = calloc(threads, sizeof *sharing->runners);
    sharing->active = calloc(threads / 64 + 1, sizeof *sharing->active);
    if (!result->first || !result->all || !sharing->programs || !sharing->runners ||
        !sharing->active)
        return error_set(error, "out of memory for %u hardware threads", threads);
    if (!open_programs(sharing, error))
        return false;
    sharing->chip = chip_new(sharing->options->machine, sharing->active,
                             (struct chip_source){refill, sharing}, error);
    return sharing->chip != NULL;
}

static void end(struct sharing *sharing) {
    chip_free(sharing->chip);
    for (uint32_t i = 0; i < sharing->threads; i++) {
        if (sharing->runners)
            runner_free(sharing->runners[i]);
        if (sharing->programs && sharing->options->traces[i] && owner_of(sharing, i) == i)
            repeated_close(sharing->programs[i]);
    }
    free(sharing->programs);
    free(sharing->runners);
    free(sharing->active);
}

bool sharing_run(const struct sharing_options *options, struct sharing_result *result,
                 struct error *error) {
    const struct machine_chip *chip = &options->machine->chip;
    struct sharing sharing = {.options = options, .threads = chip->cores * chip->threads};
    clock_t started = clock();
    *result = (struct sharing_result){0};
    bool good = prepare(&sharing, result, error) && run(&sharing, result, error);
    if (sharing.chip)
        collect(&sharing, result);
    end(&sharing);
    result->seconds = (double)(clock() - started) / CLOCKS_PER_SEC;
    return good;
}

void sharing_free(struct sharing_result *result) {
    free(result->first);
    free(result->all);
}
