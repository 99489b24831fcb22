#include "model/throughput_check.h"

#include <stdlib.h>
#include <string.h>

#include "simulate/sharing.h"
#include "util/array.h"

static double per_instruction(const struct chip_thread_statistics *thread, uint64_t count) {
    return thread->instructions ? (double)count / (double)thread->instructions : 0;
}

static double ipc_of(const struct chip_thread_statistics *thread) {
    return thread->cycles ? (double)thread->instructions / (double)thread->cycles : 0;
}

static bool run(const struct throughput_check_options *options, const char *const *traces,
                struct sharing_result *result, struct error *error) {
    const struct sharing_options sharing = {.machine = options->machine,
                                            .traces = traces,
                                            .selection = options->selection,
                                            .watcher = options->watcher};
    return sharing_run(&sharing, result, error);
}

static void find_throughput(const struct sharing_result *result,
                            struct throughput_simulated *simulated) {
    for (uint32_t h = 0; h < result->threads; h++) {
        const struct chip_thread_statistics *first = &result->first[h];
        struct throughput_checked *thread = &simulated->by_thread[h];
        thread->ipc = ipc_of(first);
        thread->extra_l1d = per_instruction(first, first->l1d_misses);
        thread->extra_l2 = per_instruction(first, first->l2_misses);
        const double ipc = (double)result->all[h].instructions / (double)result->cycles;
        simulated->by_core[h / simulated->threads] += ipc;
        simulated->ipc += ipc;
    }
    simulated->seconds = result->seconds;
    simulated->interrupted = result->interrupted;
}

/* The first hardware thread with this trace. */
static uint32_t first_with(const char *const *traces, uint32_t thread) {
    return (uint32_t)index_where(i, thread, !strcmp(traces[i], traces[thread]));
}

/* What a trace misses alone goes off from what its threads missed. */
static bool run_alone(const struct throughput_check_options *options, const char *const *traces,
                      uint32_t count, struct throughput_simulated *simulated, struct error *error) {
    const char **one = calloc(count, sizeof *one);
    bool good = one || error_set(error, "out of memory for %u threads", count);
    for (uint32_t h = 0; h < count && good && !simulated->interrupted; h++) {
        struct throughput_checked *thread = &simulated->by_thread[h];
        const uint32_t first = first_with(traces, h);
        if (first == h) {
            struct sharing_result result = {0};
            one[h] = traces[h];
            good = run(options, one, &result, error);
            one[h] = NULL;
            if (good) {
                const struct chip_thread_statistics *alone = &result.first[h];
                thread->l1d_alone = per_instruction(alone, alone->l1d_misses);
                thread->l2_alone = per_instruction(alone, alone->l2_misses);
                thread->ipc_alone = ipc_of(alone);
                simulated->interrupted = result.interrupted;
            }
            sharing_free(&result);
        } else {
            const struct throughput_checked *same = &simulated->by_thread[first];
            thread->l1d_alone = same->l1d_alone;
            thread->l2_alone = same->l2_alone;
            thread->ipc_alone = same->ipc_alone;
        }
        thread->extra_l1d -= thread->l1d_alone;
        thread->extra_l2 -= thread->l2_alone;
    }
    free(one);
    return good;
}

bool throughput_simulate(const struct throughput_check_options *options,
                         struct throughput_simulated *simulated, struct error *error) {
    const struct machine_chip *chip = &options->machine->chip;
    const uint32_t count = chip->cores * chip->threads;
    *simulated = (struct throughput_simulated){.cores = chip->cores, .threads = chip->threads};
    simulated->by_thread = calloc(count, sizeof *simulated->by_thread);
    simulated->by_core = calloc(chip->cores, sizeof *simulated->by_core);
    const char **traces = calloc(count, sizeof *traces);
    bool good = (simulated->by_thread && simulated->by_core && traces) ||
                error_set(error, "out of memory for %u threads", count);
    for (uint32_t h = 0; good && h < count; h++)
        traces[h] = options->traces[h % options->thread_count];
    struct sharing_result result = {0};
    good = good && run(options, traces, &result, error);
    if (good)
        find_throughput(&result, simulated);
    sharing_free(&result);
    good = good && (!options->alone || simulated->interrupted ||
                    run_alone(options, traces, count, simulated, error));
    free(traces);
    return good;
}

void throughput_simulated_free(struct throughput_simulated *simulated) {
    free(simulated->by_thread);
    free(simulated->by_core);
    *simulated = (struct throughput_simulated){0};
}
