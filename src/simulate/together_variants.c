/* Only the caller's thread tells the watcher. */
#include "simulate/together_variants.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "isa/memo.h"
#include "simulate/line_traffic.h"
#include "util/jobs.h"
#include "util/thread_pool.h"

enum { MOST_AT_ONCE = 8 };

struct variants {
    const struct simulation_options *options;
    struct together_variant *items;
    struct insn_memo *memo;
    bool several;          /* at once */
    _Atomic uint64_t done; /* instructions */
};

/* One variant. */
struct variation {
    struct variants *all;
    struct together_variant *variant;
    uint64_t done; /* instructions of it that are among those of all */
};

void together_variant_free(struct together_variant *variant) {
    free(variant->counts);
    free(variant->units);
    variant->counts = NULL;
    variant->units = NULL;
}

static void note_progress(void *context, uint64_t done) {
    struct variation *variation = context;
    atomic_fetch_add_explicit(&variation->all->done, done - variation->done, memory_order_relaxed);
    variation->done = done;
}

static uint64_t *units_of(const struct simulation *simulation) {
    uint64_t *units = calloc(PSV_COMBINATIONS, sizeof *units);
    for (uint64_t i = 0; units && i < simulation->cell_count; i++)
        units[simulation->cells[i].psv] += simulation->cells[i].units;
    return units;
}

static bool keep(struct together_variant *variant, struct simulation *simulation,
                 struct error *error) {
    variant->done = !simulation->interrupted;
    variant->cycles = simulation->together.cycles;
    variant->counts = simulation->together.counts;
    simulation->together.counts = NULL;
    return !variant->by_signature || (variant->units = units_of(simulation)) ||
           error_set(error, "out of memory for the profile");
}

static bool simulate_file(struct variation *variation, struct simulation_options *options,
                          struct error *error) {
    struct simulation simulation;
    struct trace *trace = trace_open_again(options->together->path, variation->all->memo, error);
    if (!trace)
        return false;
    const bool good = simulation_run(trace, options, &simulation, error) &&
                      keep(variation->variant, &simulation, error);
    note_progress(variation, simulation.executed);
    simulation_free(&simulation);
    trace_close(trace);
    return good;
}

static bool simulate(void *context, uint32_t thread, size_t number, struct error *error) {
    struct variants *all = context;
    struct together_variant *variant = &all->items[number];
    struct variation variation = {.all = all, .variant = variant};
    struct simulation_options options = *all->options;
    struct together together = *options.together;
    struct instruction_observer observer;
    const struct lock_remedies *locks = &variant->locks;
    (void)thread;
    options.together = &together;
    options.observer_count = options.instruction_observer_count = 0;
    options.series = false;
    options.one_thread = all->several;
    options.ideal |= variant->ideal;
    options.watcher.progress = note_progress;
    options.watcher.context = &variation;
    if (variant->machine)
        options.machine = variant->machine;
    if (variant->cores)
        together.cores = variant->cores;
    together.remedies = variant->lines.count ? &variant->lines : NULL;
    together.locks = locks->all_open || locks->all_gone || locks->open_count ? locks : NULL;
    together.watch = (struct together_watch){.see = NULL};
    together.forks = NULL;
    if (variant->traffic) {
        observer = line_traffic_observer(variant->traffic);
        together.watch = line_traffic_watch(variant->traffic);
        options.instructions = &observer;
        options.instruction_observer_count = 1;
    }
    return simulate_file(&variation, &options, error);
}

static void tell(void *context, bool failed) {
    struct variants *all = context;
    (void)failed;
    watcher_tell(&all->options->watcher, atomic_load(&all->done));
}

bool together_variants_run(const struct simulation_options *options,
                           struct together_variant *variants, size_t count, struct error *error) {
    struct variants all = {.options = options, .items = variants, .memo = insn_memo_new()};
    const uint32_t processors = jobs_processors();
    const uint32_t jobs = processors < MOST_AT_ONCE ? processors : MOST_AT_ONCE;
    const struct thread_pool_work work = {.count = count,
                                          .jobs = jobs,
                                          .item = simulate,
                                          .look = tell,
                                          .stop = options->watcher.stop,
                                          .context = &all};
    if (!all.memo)
        return error_set(error, "out of memory for the program's code");
    all.several = thread_pool_size(&work) > 1;
    const bool good = thread_pool_run(&work, error);
    insn_memo_free(all.memo);
    return good;
}
