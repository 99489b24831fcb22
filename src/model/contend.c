#include "model/contend.h"

#include <math.h>
#include <stdlib.h>

#include "model/series.h"
#include "model/throughput.h"

uint32_t contend_place(const struct machine *machine, enum contend_placing placing, uint32_t n) {
    const struct machine_chip *chip = &machine->chip;
    if (placing == PLACE_TOGETHER)
        return n;
    return n % chip->cores * chip->threads + n / chip->cores;
}

/* The n-th thread's. Elsewhere than on a chip each thread has a core of its own. */
static uint32_t core_of(const struct contend_options *options, uint32_t n) {
    const struct machine *machine = options->machine;
    return machine_is_chip(machine)
               ? contend_place(machine, options->placing, n) / machine->chip.threads
               : n;
}

static double rate(const struct locality *program, uint64_t count) {
    return (double)count / (double)program->events.instructions;
}

static void count_copies(const struct locality *const *programs, uint32_t program_count,
                         const uint32_t *threads, uint32_t thread_count,
                         struct contend_program *result) {
    for (uint32_t p = 0; p < program_count; p++) {
        result[p] =
            (struct contend_program){.accesses = rate(programs[p], programs[p]->events.accesses)};
        result[p].alone.l1d = result[p].beside.l1d =
            rate(programs[p], programs[p]->levels[0].misses);
        result[p].alone.shared = result[p].beside.shared =
            rate(programs[p], programs[p]->levels[1].misses);
        result[p].alone.cycles = result[p].beside.cycles = NAN;
    }
    for (uint32_t t = 0; t < thread_count; t++)
        result[threads[t]].copies++;
}

/* ---- on a chip ---- */

static void take_mean(const struct throughput_thread *thread, struct contend_program *program) {
    const double part = 1.0 / program->copies;
    program->beside.l1d += part * thread->extra_l1d;
    program->beside.shared += part * thread->extra_l2;
    program->alone.cycles += part / thread->ipc_alone;
    program->beside.cycles += part / thread->ipc_shared;
}

static bool on_chip(const struct locality *const *programs, uint32_t program_count,
                    const uint32_t *threads, uint32_t thread_count,
                    const struct contend_options *options, struct contend_program *result,
                    struct error *error) {
    const struct machine *machine = options->machine;
    const uint32_t count = machine->chip.cores * machine->chip.threads;
    const struct throughput_options how = {
        .machine = machine, .contention = options->contention, .rounds = 1};
    struct throughput_result predicted = {0};
    const struct locality **running = calloc(count, sizeof *running);
    if (!running)
        return error_set(error, "out of memory for %u threads", count);
    for (uint32_t t = 0; t < thread_count; t++)
        running[contend_place(machine, options->placing, t)] = programs[threads[t]];
    const bool good = throughput_predict(running, 1, &how, &predicted, error);
    for (uint32_t p = 0; p < program_count; p++)
        if (result[p].copies)
            result[p].alone.cycles = result[p].beside.cycles = 0;
    for (uint32_t t = 0; good && t < thread_count; t++)
        take_mean(&predicted.by_thread[contend_place(machine, options->placing, t)],
                  &result[threads[t]]);
    throughput_free(&predicted);
    free(running);
    return good;
}

/* ---- elsewhere ---- */

/* Of an instruction, when nothing overlaps. */
static double cycles_in_series(const struct locality *program, const struct machine *machine,
                               double shared_misses) {
    const double instructions = (double)program->events.instructions;
    return series_cycles(machine, &program->events, (double)program->levels[1].accesses,
                         shared_misses * instructions) /
           instructions;
}

/* One round of contention at these speeds. */
static bool contend_once(const struct locality *const *programs, uint32_t program_count,
                         const double *ipc, const struct contend_options *options,
                         struct contend_program *result, struct error *error) {
    struct contention_thread *threads = calloc(program_count, sizeof *threads);
    double *extra = calloc(program_count, sizeof *extra);
    bool good =
        (threads && extra) || error_set(error, "out of memory for %u programs", program_count);
    for (uint32_t p = 0; good && p < program_count; p++)
        threads[p] =
            (struct contention_thread){.level = &programs[p]->levels[1],
                                       .frequency = ipc[p] * result[p].accesses,
                                       .scale = 1.0 / (double)programs[p]->events.instructions,
                                       .copies = result[p].copies};
    good = good && contention_extra(threads, program_count, &options->contention, extra, error);
    for (uint32_t p = 0; good && p < program_count; p++)
        result[p].beside.shared = result[p].alone.shared + extra[p];
    free(threads);
    free(extra);
    return good;
}

static bool elsewhere(const struct locality *const *programs, uint32_t program_count,
                      const struct contend_options *options, struct contend_program *result,
                      struct error *error) {
    if (options->ipc)
        return contend_once(programs, program_count, options->ipc, options, result, error);
    double *ipc = calloc(program_count, sizeof *ipc);
    bool good = ipc || error_set(error, "out of memory for %u programs", program_count);
    for (int round = 0; good && round < 2; round++) {
        for (uint32_t p = 0; p < program_count; p++)
            ipc[p] = 1 / cycles_in_series(programs[p], options->machine, result[p].beside.shared);
        good = contend_once(programs, program_count, ipc, options, result, error);
    }
    free(ipc);
    return good;
}

/* ---- speeds that are given ---- */

/* A fused compare and branch is two instructions; a core of a chip issues one whatever it is. */
static double most_ipc(const struct machine *machine) {
    const struct machine_core *core = &machine->core;
    const double fused = core->fuse_compare_branch ? 2 : 1;
    return machine_is_chip(machine)
               ? 1
               : fmin(core->fetch_width, fused * fmin(core->dispatch_width, core->commit_width));
}

bool contend_check_ipc(const uint32_t *threads, uint32_t thread_count,
                       const struct contend_options *options, struct error *error) {
    const struct machine *machine = options->machine;
    const double most = most_ipc(machine), rounding = 1e-6;
    for (uint32_t t = 0; t < thread_count; t++) {
        const uint32_t core = core_of(options, t);
        double sum = 0;
        uint32_t sharers = 0;
        for (uint32_t other = 0; other < thread_count; other++)
            if (core_of(options, other) == core) {
                sum += options->ipc[threads[other]];
                sharers++;
            }
        if (sum > most * (1 + rounding))
            return error_set(error,
                             "--ipc: %g instructions per cycle%s: a core of machine %.60s executes "
                             "at most %g",
                             sum, sharers > 1 ? " of threads that share a core" : "", machine->name,
                             most);
    }
    return true;
}

bool contend_predict(const struct locality *const *programs, uint32_t program_count,
                     const uint32_t *threads, uint32_t thread_count,
                     const struct contend_options *options, struct contend_program *result,
                     struct error *error) {
    const struct machine *machine = options->machine;
    const bool chip = machine_is_chip(machine);
    const uint32_t most =
        chip ? machine->chip.cores * machine->chip.threads : CONTENTION_MAX_THREADS;
    count_copies(programs, program_count, threads, thread_count, result);
    if (thread_count > most)
        return error_set(error, "%u threads: machine %s has %u (--set chip.cores=N makes more)",
                         thread_count, machine->name, most);
    return chip && !options->ipc
               ? on_chip(programs, program_count, threads, thread_count, options, result, error)
               : elsewhere(programs, program_count, options, result, error);
}

bool contend_read_ipc(const char *list, uint32_t most, double *ipc, uint32_t *count) {
    *count = 0;
    for (const char *at = list; *at;) {
        char *end;
        const double value = strtod(at, &end);
        if (end == at || !(value > 0 && value <= CONTEND_MOST_IPC) ||
            (*end && (*end != ',' || !end[1])) || *count == most)
            return false;
        ipc[(*count)++] = value;
        at = *end ? end + 1 : end;
    }
    return *count;
}
