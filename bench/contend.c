/* How fast programs are profiled for the contention model:
 *
 *     contend MACHINE TRACE.ctrace...
 *
 * Wall time, trace decoding included, of the fastest of three passes: with the machine's last
 * level, with nine shapes of it in one pass (1, 2 and 4 times a quarter of its sets, 8, 12 and 16
 * ways), for cores of several threads, and of decoding alone; then the processor time of the first
 * and the third, which use two threads where there are two processors. Million loads and stores a
 * second. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/locality.h"
#include "util/clock.h"

enum { PASSES = 6 }; /* columns of speeds */

static void fail(const char *what, const struct error *error) {
    fprintf(stderr, "contend: %s: %s\n", what, error->message);
    exit(1);
}

static double decode(const char *path) {
    struct error error = {0};
    struct trace_batch batch;
    const double began = clock_monotonic();
    struct trace *trace = trace_open(path, &error);
    if (!trace)
        fail(path, &error);
    while (trace_next(trace, &batch, &error) > 0)
        continue;
    trace_close(trace);
    return clock_monotonic() - began;
}

static double profile(const char *path, const struct locality_options *options,
                      struct locality_events *events, double *blocks, double *processor) {
    struct error error = {0};
    struct locality locality;
    const double began = clock_monotonic(), begun = clock_processor();
    struct trace *trace = trace_open(path, &error);
    if (!trace || !locality_measure(trace, &(struct selection){.thread = -1}, options,
                                    &(struct watcher){0}, &locality, &error))
        fail(path, &error);
    trace_close(trace);
    const double seconds = clock_monotonic() - began;
    *processor = clock_processor() - begun;
    *events = locality.events;
    *blocks = locality.levels[0].blocks[locality.levels[0].points - 1];
    locality_free(&locality);
    return seconds;
}

int main(int count, char **arguments) {
    struct error error = {0};
    struct machine machine;
    if (count < 3) {
        fputs("usage: contend MACHINE TRACE.ctrace...\n", stderr);
        return 2;
    }
    if (!machine_load(arguments[1], &machine, &error))
        fail(arguments[1], &error);
    const struct machine_cache *last = machine.llc.present ? &machine.llc : &machine.l2;
    const uint32_t sets = (uint32_t)(last->size / last->line / last->ways);
    struct cache_shape one = {sets, last->ways, last->line}, nine[9];
    for (uint32_t i = 0; i < 9; i++)
        nine[i] = (struct cache_shape){sets >> (2 - i / 3), 8 + 4 * (i % 3), last->line};
    struct locality_options
        options = {.machine = &machine, .shared = &one, .shared_count = 1, .frames = true},
        of_nine = {.machine = &machine, .shared = nine, .shared_count = 9, .frames = true},
        of_core = options;
    of_core.foreign = locality_foreign_rates;
    of_core.foreign_count = LOCALITY_FOREIGN_RATES;
    printf("%-24s %10s %10s %8s %10s %10s %10s %10s %10s %10s\n", "", "M loads", "M blocks", "L1D",
           "decoding", "profile", "nine L2", "of a core", "processor", "of a core");
    printf("%-24s %10s %10s %8s %10s %10s %10s %10s %10s %10s\n", "trace", "and stores", "touched",
           "misses", "M/s", "M/s", "M/s", "M/s", "M/s", "M/s");
    for (int i = 2; i < count; i++) {
        struct locality_events events = {0};
        double best[PASSES] = {1e9, 1e9, 1e9, 1e9, 1e9, 1e9}, blocks = 0, processor = 0, core = 0,
               unused;
        for (int k = 0; k < 3; k++) {
            const double decoding = decode(arguments[i]);
            const double one = profile(arguments[i], &options, &events, &blocks, &processor);
            const double all = profile(arguments[i], &of_nine, &events, &blocks, &unused);
            const double crowded = profile(arguments[i], &of_core, &events, &blocks, &core);
            const double seconds[PASSES] = {decoding, one, all, crowded, processor, core};
            for (int j = 0; j < PASSES; j++)
                best[j] = seconds[j] < best[j] ? seconds[j] : best[j];
        }
        const char *slash = strrchr(arguments[i], '/');
        const double millions = 1e-6 * (double)events.accesses;
        printf("%-24s %10.1f %10.3f %6.1f %%", slash ? slash + 1 : arguments[i], millions,
               1e-6 * blocks, 100.0 * (double)events.l1d_misses / (double)events.accesses);
        for (int j = 0; j < PASSES; j++)
            printf(" %10.1f", millions / best[j]);
        putchar('\n');
    }
    return 0;
}
