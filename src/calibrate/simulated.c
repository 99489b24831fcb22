/* The program of all kernels (guest.h) is captured and pushed into one core. Where it goes from its
 * driver to a kernel, and where it comes back, the core is drained and its cycles are read. So of a
 * kernel
 *
 *     cycles of an iteration = (those of the run of 2 n - those of the run of n) / n
 *
 * without its beginning, its end, the drained pipeline and what was not warm yet. The branch that
 * ends a loop may be predicted in one run and not in another, so this is done three times, and the
 * middle one holds; in a hurry, once. */
#include "calibrate/simulated.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "calibrate/guest.h"
#include "core/core.h"
#include "trace/trace.h"
#include "util/median.h"

/* Instructions of one run of a kernel, beyond which it does not come to its end. */
static const uint64_t MOST_INSTRUCTIONS = 100000000;

struct run {
    struct simulated_meter *simulated;
    struct guest guest;
    struct core *core;
    bool in_driver;
    uint64_t since;               /* instructions since it came or went the last time */
    uint64_t began;               /* cycle in which the last run did */
    size_t ends;                  /* runs that have ended */
    uint64_t lengths[GUEST_RUNS]; /* cycles */
    const struct host_kernel *const *kernels;
    struct host_result *results;
};

static void conclude(struct run *run) {
    const size_t kernel = run->ends / run->guest.runs - 1;
    const unsigned pairs = (run->guest.runs - 1) / 2;
    double more[GUEST_PAIRS];
    for (unsigned i = 0; i < pairs; i++)
        more[i] = (double)run->lengths[2 * i + 2] - (double)run->lengths[2 * i + 1];
    const double cycles = median_of(more, pairs);
    const double n = (double)run->kernels[kernel]->iterations;
    run->results[kernel] = (struct host_result){.state = HOST_MEASURED, .cycles = cycles / n};
    watcher_tell(&run->simulated->meter.watcher, run->simulated->meter.done + kernel + 1);
}

/* Natively the kernel has made the pages of a kernel's data before it runs the first time: their
 * tables are in the caches as far as these hold them. */
static bool make_pages(struct run *run, struct error *error) {
    const size_t kernel = run->ends / run->guest.runs;
    const struct host_data *data = run->kernels[kernel]->data;
    const bool again = kernel && run->kernels[kernel - 1]->data == data;
    if (!data || again || run->ends % run->guest.runs != 0)
        return true;
    return core_warm_tables(run->core, run->guest.data[kernel], data->size, error);
}

/* The program goes to a kernel, or comes back. */
static bool pass_border(struct run *run, struct error *error) {
    struct core_statistics statistics;
    if (!core_drain(run->core, error) || (run->in_driver && !make_pages(run, error)))
        return false;
    core_statistics(run->core, &statistics);
    run->since = 0;
    run->in_driver = !run->in_driver;
    if (!run->in_driver) {
        run->began = statistics.cycles;
        return true;
    }
    run->lengths[run->ends++ % run->guest.runs] = statistics.cycles - run->began;
    if (run->ends % run->guest.runs == 0)
        conclude(run);
    return true;
}

static bool push(struct run *run, const struct code *code, const struct trace_batch *batch,
                 uint32_t from, uint32_t to, struct error *error) {
    struct core_input input = core_input_of(code, batch);
    input.insns += from;
    input.insn_count = to - from;
    run->since += to - from;
    return from == to || core_push(run->core, &input, error);
}

static bool push_batch(struct run *run, const struct code *code, const struct trace_batch *batch,
                       struct error *error) {
    uint32_t from = 0;
    for (uint32_t i = 0; i < batch->insn_count; i++) {
        const bool driver = code->insns[batch->insns[i].insn].address < run->guest.driver_end;
        if (driver == run->in_driver)
            continue;
        if (!push(run, code, batch, from, i, error) || !pass_border(run, error))
            return false;
        from = i;
    }
    return push(run, code, batch, from, batch->insn_count, error);
}

/* Reads on until the program ends; more than it may execute is not looked at. */
static bool simulate(struct run *run, struct trace *trace, struct error *error) {
    struct trace_batch batch;
    int status;
    while ((status = trace_next(trace, &batch, error)) > 0) {
        if (watcher_stops(&run->simulated->meter.watcher) || run->since > MOST_INSTRUCTIONS)
            return true;
        if (!push_batch(run, trace_code(trace), &batch, error))
            return false;
    }
    return status == 0;
}

static struct trace *capture(const struct run *run, struct error *error) {
    char *const command[] = {(char *)run->guest.path, NULL};
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int status;
    if (null < 0)
        return error_null(error, "cannot open /dev/null");
    const struct capture_options options = {.command = command,
                                            .addresses = true,
                                            .thread = -1,
                                            .descriptors = {null, null, null},
                                            .stop = run->simulated->meter.watcher.stop};
    struct trace *trace = trace_capture(&options, &status, error);
    close(null);
    return trace;
}

/* A run is as long as any other of its kernel, but for what a last cache draws by lot: then the
 * median of several holds, in a hurry too. */
static unsigned pairs_of(const struct simulated_meter *simulated) {
    const struct machine_cache *last = &simulated->machine->llc;
    const bool drawn = last->retention || last->admission < 100 || last->readmission < 100;
    return simulated->meter.quick && !drawn ? 1 : GUEST_PAIRS;
}

/* Runs the kernels from the first on. *done: so many have a result. */
static bool run_program(struct run *run, size_t count, size_t *done, struct error *error) {
    const struct core_options options = {0};
    bool good = guest_make(&run->guest, run->kernels, count, pairs_of(run->simulated), error);
    struct trace *trace = good ? capture(run, error) : NULL;
    run->core = trace ? core_new(run->simulated->machine, &options, error) : NULL;
    good = run->core && simulate(run, trace, error);
    if (!good && watcher_stops(&run->simulated->meter.watcher)) { /* before the program began */
        *error = (struct error){0};
        good = true;
    }
    *done = run->ends / run->guest.runs;
    if (good && *done < run->guest.kernels && !watcher_stops(&run->simulated->meter.watcher)) {
        struct host_result *result = &run->results[(*done)++];
        result->state = HOST_FAILED;
        snprintf(result->failure, sizeof result->failure, "%s",
                 run->since > MOST_INSTRUCTIONS ? "does not come to its end in time"
                                                : "ends the program that it is run in");
    }
    if (trace && good && run->since > MOST_INSTRUCTIONS)
        trace_interrupt(trace);
    if (run->core)
        core_free(run->core);
    trace_close(trace);
    guest_close(&run->guest);
    return good;
}

/* ---- the meter ---- */

/* The kernels that are admitted, in a list of their own. */
struct admitted {
    const struct host_kernel **kernels;
    struct host_result *results;
    size_t *places; /* in the caller's list */
    size_t count;
};

static bool admit(struct admitted *admitted, struct host_meter *meter,
                  const struct host_kernel *const *kernels, size_t count,
                  struct host_result *results, struct error *error) {
    *admitted = (struct admitted){calloc(count, sizeof *admitted->kernels),
                                  calloc(count, sizeof *admitted->results),
                                  calloc(count, sizeof *admitted->places), 0};
    if (!admitted->kernels || !admitted->results || !admitted->places)
        return error_set(error, "out of memory for %zu kernels", count);
    for (size_t i = 0; i < count; i++)
        if (host_meter_admits(meter, kernels[i], &results[i])) {
            admitted->kernels[admitted->count] = kernels[i];
            admitted->places[admitted->count++] = i;
        }
    return true;
}

static bool measure(struct host_meter *meter, const struct host_kernel *const *kernels,
                    size_t count, struct host_result *results, struct error *error) {
    struct admitted admitted;
    bool good = !count || admit(&admitted, meter, kernels, count, results, error);
    if (!count)
        return true;
    for (size_t next = 0, done; good && next < admitted.count && !watcher_stops(&meter->watcher);
         next += done) {
        struct run run = {.simulated = (struct simulated_meter *)meter,
                          .in_driver = true,
                          .kernels = admitted.kernels + next,
                          .results = admitted.results + next};
        good = run_program(&run, admitted.count - next, &done, error);
        meter->done += done;
    }
    for (size_t i = 0; i < admitted.count; i++)
        results[admitted.places[i]] = admitted.results[i];
    free(admitted.kernels);
    free(admitted.results);
    free(admitted.places);
    return good;
}

bool simulated_meter(struct simulated_meter *simulated, const struct machine *machine, bool quick,
                     const struct watcher *watcher, struct error *error) {
    if (machine_is_chip(machine))
        return error_set(error, "%s has several threads; calibrate simulates cores of one",
                         machine->name);
    simulated->machine = machine;
    simulated->meter = (struct host_meter){.measure = measure,
                                           .features = host_emulated_features(),
                                           .simulated = true,
                                           .quick = quick,
                                           .watcher = *watcher};
    return true;
}
