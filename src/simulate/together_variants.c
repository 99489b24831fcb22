/* Host threads take variants in turn, the first ones first. Only the caller's thread tells the
 * watcher. */
#include "simulate/together_variants.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "isa/memo.h"
#include "simulate/line_traffic.h"
#include "util/jobs.h"

enum { MOST_WORKERS = 8, TELL_NS = 50000000 };

struct worker {
    struct variants *all;
    pthread_t thread;
    _Atomic uint64_t done; /* instructions */
    uint64_t before;       /* of variants that have ended */
};

struct variants {
    const struct simulation_options *options;
    struct together_variant *items;
    size_t count;
    struct insn_memo *memo;
    bool several; /* workers */
    atomic_size_t next;
    atomic_bool failed;
    pthread_mutex_t lock; /* of the rest */
    pthread_cond_t ended;
    struct error error;
    size_t working;
    struct worker workers[MOST_WORKERS];
    size_t worker_count;
};

void together_variant_free(struct together_variant *variant) {
    free(variant->counts);
    free(variant->units);
    variant->counts = NULL;
    variant->units = NULL;
}

static void note_progress(void *context, uint64_t done) {
    struct worker *worker = context;
    atomic_store_explicit(&worker->done, worker->before + done, memory_order_relaxed);
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

static bool simulate_file(struct worker *worker, struct together_variant *variant,
                          struct simulation_options *options, struct error *error) {
    struct simulation simulation;
    struct trace *trace = trace_open_again(options->together->path, worker->all->memo, error);
    if (!trace)
        return false;
    const bool good =
        simulation_run(trace, options, &simulation, error) && keep(variant, &simulation, error);
    worker->before += simulation.executed;
    simulation_free(&simulation);
    trace_close(trace);
    return good;
}

static bool simulate(struct worker *worker, struct together_variant *variant, struct error *error) {
    struct simulation_options options = *worker->all->options;
    struct together together = *options.together;
    struct instruction_observer observer;
    const struct lock_remedies *locks = &variant->locks;
    options.together = &together;
    options.observer_count = options.instruction_observer_count = 0;
    options.series = false;
    options.one_thread = worker->all->several;
    options.ideal |= variant->ideal;
    options.watcher.progress = note_progress;
    options.watcher.context = worker;
    if (variant->machine)
        options.machine = variant->machine;
    if (variant->cores)
        together.cores = variant->cores;
    together.remedies = variant->lines.count ? &variant->lines : NULL;
    together.locks = locks->all_open || locks->all_gone || locks->open_count ? locks : NULL;
    together.watch = (struct together_watch){.see = NULL};
    if (variant->traffic) {
        observer = line_traffic_observer(variant->traffic);
        together.watch = line_traffic_watch(variant->traffic);
        options.instructions = &observer;
        options.instruction_observer_count = 1;
    }
    return simulate_file(worker, variant, &options, error);
}

static void *work(void *context) {
    struct worker *worker = context;
    struct variants *all = worker->all;
    size_t next;
    while (!atomic_load(&all->failed) && !watcher_stops(&all->options->watcher) &&
           (next = atomic_fetch_add(&all->next, 1)) < all->count) {
        struct error error;
        if (simulate(worker, &all->items[next], &error))
            continue;
        pthread_mutex_lock(&all->lock);
        if (!atomic_exchange(&all->failed, true))
            all->error = error;
        pthread_mutex_unlock(&all->lock);
    }
    pthread_mutex_lock(&all->lock);
    all->working--;
    pthread_cond_signal(&all->ended);
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

/* Until all have ended. */
static void tell(struct variants *all) {
    pthread_mutex_lock(&all->lock);
    while (all->working) {
        struct timespec until;
        uint64_t done = 0;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += TELL_NS;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&all->ended, &all->lock, &until);
        for (size_t i = 0; i < all->worker_count; i++)
            done += atomic_load_explicit(&all->workers[i].done, memory_order_relaxed);
        pthread_mutex_unlock(&all->lock);
        watcher_tell(&all->options->watcher, done);
        pthread_mutex_lock(&all->lock);
    }
    pthread_mutex_unlock(&all->lock);
}

static size_t workers_for(size_t count) {
    const uint32_t processors = jobs_processors();
    const size_t workers = processors > MOST_WORKERS ? MOST_WORKERS : processors;
    return workers > count ? count : workers;
}

bool together_variants_run(const struct simulation_options *options,
                           struct together_variant *variants, size_t count, struct error *error) {
    struct variants all = {.options = options,
                           .items = variants,
                           .count = count,
                           .lock = PTHREAD_MUTEX_INITIALIZER,
                           .ended = PTHREAD_COND_INITIALIZER};
    const size_t wanted = workers_for(count);
    if (!(all.memo = insn_memo_new()))
        return error_set(error, "out of memory for the program's code");
    all.several = wanted > 1;
    pthread_mutex_lock(&all.lock);
    for (size_t i = 0; i < wanted; i++) {
        struct worker *worker = &all.workers[i];
        worker->all = &all;
        if (pthread_create(&worker->thread, NULL, work, worker) != 0)
            break;
        all.worker_count++;
        all.working++;
    }
    pthread_mutex_unlock(&all.lock);
    if (count && !all.worker_count) {
        insn_memo_free(all.memo);
        return error_set(error, "cannot start a thread to simulate");
    }
    tell(&all);
    for (size_t i = 0; i < all.worker_count; i++)
        pthread_join(all.workers[i].thread, NULL);
    insn_memo_free(all.memo);
    if (all.failed)
        *error = all.error;
    return !all.failed;
}
