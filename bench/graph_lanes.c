/* How many sets a second graph/lanes.h evaluates the graph of a trace with, at each level:
 *
 *     graph_lanes TRACE.ctrace MACHINE [INSTRUCTIONS]
 *
 * Processor time of the fastest of five passes over the graph, which is in memory; the levels take
 * turns, pass by pass. Also compares every length with that of the plain evaluation, over the first
 * 20,000 µops. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "graph/build.h"
#include "graph/evaluate.h"
#include "graph/lanes.h"
#include "machine/find.h"
#include "simulate/simulate.h"

enum { SETS = 512, COMPARED = 20000, PASSES = 5 };

struct recording {
    struct machine machine;
    struct graph_builder *builder;
    struct graph_uop *uops;
    size_t count, capacity;
    uint64_t instructions;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool take(void *context, const struct graph_uop *uops, const struct packed_life *lives,
                 uint32_t count, bool first, struct error *error) {
    struct recording *recording = context;
    (void)lives;
    (void)first;
    if (recording->count + count > recording->capacity) {
        recording->capacity = 2 * recording->capacity + count;
        recording->uops = realloc(recording->uops, recording->capacity * sizeof *recording->uops);
        if (!recording->uops)
            return error_set(error, "out of memory");
    }
    memcpy(recording->uops + recording->count, uops, count * sizeof *uops);
    recording->count += count;
    for (uint32_t i = 0; i < count; i++)
        if (uops[i].flags & GRAPH_LAST)
            recording->instructions += 1 + (uops[i].flags & GRAPH_FUSED ? 1 : 0);
    return true;
}

/* Of the first thread. */
static bool attach(void *context, struct tap_source source, struct tap *tap, void **state,
                   struct error *error) {
    struct recording *recording = context;
    (void)source;
    (void)state;
    if (recording->builder)
        return true;
    const struct graph_sink sink = {take, recording};
    recording->builder = graph_builder_new(&recording->machine, ISA_X86_64, &sink);
    struct tap_worker worker = graph_builder_worker(recording->builder);
    return tap_add_worker(tap, &worker, error);
}

static void add(struct graph_lanes *lanes, const struct recording *recording, size_t count) {
    for (size_t i = 0; i < count; i += GRAPH_CHUNK)
        graph_lanes_add(lanes, recording->uops + i,
                        (uint32_t)(count - i < GRAPH_CHUNK ? count - i : GRAPH_CHUNK), i == 0);
}

static unsigned compare(const struct graph_machine *machine, const struct recording *recording,
                        enum lanes_level level) {
    struct error error;
    size_t count = recording->count < COMPARED ? recording->count : COMPARED;
    struct graph_lanes *lanes = graph_lanes_new(machine, NULL, level, &error);
    double times[SETS];
    add(lanes, recording, count);
    graph_lanes_times(lanes, times);
    graph_lanes_free(lanes);
    unsigned wrong = 0;
    for (uint32_t set = 0; set < SETS; set++) {
        struct graph_evaluation *evaluation = graph_evaluation_new(machine, set);
        int64_t last = 0;
        for (size_t i = 0; i < count; i++)
            last = graph_evaluate(evaluation, &recording->uops[i])->commit;
        wrong += (double)last != times[set];
        graph_evaluation_free(evaluation);
    }
    return wrong;
}

/* Seconds. */
static double pass(const struct graph_machine *machine, const struct recording *recording,
                   enum lanes_level level) {
    struct error error;
    struct graph_lanes *lanes = graph_lanes_new(machine, NULL, level, &error);
    double start = now();
    add(lanes, recording, recording->count);
    double seconds = now() - start;
    graph_lanes_free(lanes);
    return seconds;
}

static void measure(const struct graph_machine *machine, const struct recording *recording) {
    double best[LANES_BEST];
    for (int number = 0; number < PASSES; number++)
        for (enum lanes_level level = LANES_PLAIN; level < LANES_BEST; level++)
            if (lanes_level_usable(level)) {
                double seconds = pass(machine, recording, level);
                best[level] = number == 0 || seconds < best[level] ? seconds : best[level];
            }
    for (enum lanes_level level = LANES_PLAIN; level < LANES_BEST; level++)
        if (lanes_level_usable(level))
            printf(
                "%-13s %8.3f G instruction-sets/s %8.3f G uop-sets/s %7.1f ns/uop   "
                "%u sets differ\n",
                lanes_level_name(level), (double)recording->instructions * SETS / best[level] / 1e9,
                (double)recording->count * SETS / best[level] / 1e9,
                best[level] / (double)recording->count * 1e9, compare(machine, recording, level));
        else
            printf("%-13s not on this processor\n", lanes_level_name(level));
}

int main(int argc, char **argv) {
    struct error error;
    struct recording recording = {0};
    if (argc < 3) {
        fprintf(stderr, "usage: graph_lanes TRACE.ctrace MACHINE [INSTRUCTIONS]\n");
        return 2;
    }
    struct trace *trace = trace_open(argv[1], &error);
    if (!trace || !machine_load(argv[2], &recording.machine, &error)) {
        fprintf(stderr, "graph_lanes: %s\n", error.message);
        return 1;
    }
    struct simulation_observer observer = {.attach = attach, .context = &recording};
    struct simulation_options options = {
        .machine = &recording.machine,
        .observers = &observer,
        .observer_count = 1,
        .sampling = sampling_everything(),
        .one_thread = true,
        .selection = {.thread = -1, .limit = argc > 3 ? strtoull(argv[3], NULL, 0) : 1000000}};
    struct simulation simulation;
    if (!simulation_run(trace, &options, &simulation, &error)) {
        fprintf(stderr, "graph_lanes: %s\n", error.message);
        return 1;
    }
    struct graph_machine machine;
    graph_machine_of(&recording.machine, &machine);
    printf("%s on %s: %llu instructions, %zu uops, %llu cycles\n", argv[1], argv[2],
           (unsigned long long)recording.instructions, recording.count,
           (unsigned long long)simulation.cycles);
    measure(&machine, &recording);
    simulation_free(&simulation);
    graph_builder_free(recording.builder);
    free(recording.uops);
    return 0;
}
