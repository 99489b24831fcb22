/* Each thread takes the next run, opens the trace and pushes its batches into bare cores, one for
 * each guest thread: no tap, so there is nothing to attribute. Meanwhile the caller's thread tells
 * of the progress. */
#include "simulate/multisim.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "isa/memo.h"
#include "trace/trace.h"
#include "util/array.h"
#include "util/thread_pool.h"

struct multisim {
    const struct multisim_options *options;
    struct insn_memo *memo;
    struct multisim_run *runs;
    atomic_ullong instructions;
};

/* ---- one run ---- */

struct guest {
    struct multisim_run *run;
    struct core **cores; /* by thread number; NULL when it has none */
    size_t count, capacity;
};

/* Simulates to the end what was pushed, and counts it. */
static bool end_core(struct guest *guest, size_t thread, struct error *error) {
    struct core *core = thread < guest->count ? guest->cores[thread] : NULL;
    if (!core)
        return true;
    struct core_statistics statistics;
    bool good = core_finish(core, error);
    core_statistics(core, &statistics);
    guest->run->cycles += statistics.cycles;
    guest->run->instructions += statistics.instructions;
    core_free(core);
    guest->cores[thread] = NULL;
    return good;
}

static struct core *core_of(struct guest *guest, uint32_t thread, struct error *error) {
    size_t need = (size_t)thread + 1;
    if (!array_zeroed_room(guest->cores, guest->capacity, need))
        return error_null(error, "out of memory for %zu threads", need);
    guest->count = need > guest->count ? need : guest->count;
    const struct core_options options = {.ideal = guest->run->ideal};
    if (!guest->cores[thread])
        guest->cores[thread] = core_new(guest->run->machine, &options, error);
    return guest->cores[thread];
}

static bool push_batch(struct guest *guest, const struct code *code,
                       const struct trace_batch *batch, struct error *error) {
    if (batch->insn_count) {
        const struct core_input input = core_input_of(code, batch);
        struct core *core = core_of(guest, batch->thread, error);
        if (!core || !core_push(core, &input, error))
            return false;
    }
    return !batch->thread_ended || end_core(guest, batch->thread, error);
}

static bool stopped(const struct multisim *multisim) {
    return watcher_stops(&multisim->options->watcher);
}

static bool push_trace(struct multisim *multisim, struct guest *guest, struct trace *trace,
                       struct selector *selector, struct error *error) {
    struct trace_batch batch;
    int status;
    while ((status = trace_next(trace, &batch, error)) > 0) {
        if (stopped(multisim))
            return true;
        if (selector)
            selector_apply(selector, trace_code(trace), &batch);
        if (!push_batch(guest, trace_code(trace), &batch, error))
            return false;
        atomic_fetch_add(&multisim->instructions, batch.insn_count);
        if (selector && selector_done(selector))
            return true;
    }
    return status == 0;
}

static bool simulate(struct multisim *multisim, struct multisim_run *run, struct error *error) {
    const struct multisim_options *options = multisim->options;
    struct guest guest = {.run = run};
    struct selector *selector = NULL;
    struct trace *trace = trace_open_again(options->trace, multisim->memo, error);
    run->cycles = run->instructions = 0;
    bool good = trace && (selection_is_everything(&options->selection) ||
                          (selector = selector_new(&options->selection, error)));
    if (good && !trace_has_addresses(trace))
        good = error_set(error, "%s: no memory addresses are in it, so it cannot be simulated",
                         options->trace);
    good = good && push_trace(multisim, &guest, trace, selector, error);
    for (size_t i = 0; i < guest.count; i++) {
        struct error late;
        good &= end_core(&guest, i, good ? error : &late);
    }
    run->done = good && !stopped(multisim);
    free(guest.cores);
    selector_free(selector);
    trace_close(trace);
    return good;
}

/* ---- all of them ---- */

static bool do_run(void *context, uint32_t thread, size_t number, struct error *error) {
    struct multisim *multisim = context;
    (void)thread;
    return multisim->runs[number].done || simulate(multisim, &multisim->runs[number], error);
}

static void tell(void *context, bool failed) {
    struct multisim *multisim = context;
    (void)failed;
    watcher_tell(&multisim->options->watcher, atomic_load(&multisim->instructions));
}

bool multisim(const struct multisim_options *options, struct multisim_run *runs, uint32_t count,
              struct error *error) {
    struct multisim multisim = {.options = options, .memo = insn_memo_new(), .runs = runs};
    const struct thread_pool_work work = {.count = count,
                                          .jobs = options->jobs,
                                          .item = do_run,
                                          .look = tell,
                                          .stop = options->watcher.stop,
                                          .context = &multisim};
    if (!multisim.memo)
        return error_set(error, "out of memory for the program's code");
    const bool good = thread_pool_run(&work, error);
    insn_memo_free(multisim.memo);
    return good;
}
