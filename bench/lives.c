/* One simulation of a trace, with or without life records, and who takes them: nobody looks at
 * them, or the dependence graph is built from them, for nobody. Prints seconds (wall, processor of
 * all threads), instructions, cycles, and how many lives there were. usage: lives TRACE MACHINE
 * none|all null|graph [one]; one: all on one thread. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/build.h"
#include "simulate/simulate.h"
#include "util/clock.h"
#include "util/executor.h"

struct taker {
    const struct machine *machine;
    bool wanted, graph;
    struct executor *executor; /* the graph's */
    struct graph_builder *builder;
    uint64_t lives;
};

static bool count(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct taker *taker = context;
    (void)error;
    taker->lives += buffer->life_count;
    return true;
}

static bool take(void *context, const struct graph_uop *uops, const struct packed_life *lives,
                 uint32_t count, bool first, struct error *error) {
    struct taker *taker = context;
    (void)uops, (void)lives, (void)first, (void)error;
    taker->lives += count;
    return true;
}

static bool attach(void *context, struct tap_source source, struct tap *tap, void **state,
                   struct error *error) {
    struct taker *taker = context;
    (void)source;
    *state = taker;
    if (!taker->wanted)
        return true;
    struct tap_worker worker = {
        .name = "lives", .kinds = 1 << TAP_LIFE, .consume = count, .context = taker};
    if (taker->graph) {
        const struct graph_sink sink = {take, taker};
        taker->builder = graph_builder_new(taker->machine, ISA_X86_64, &sink);
        if (!taker->builder)
            return error_set(error, "out of memory");
        worker = graph_builder_worker(taker->builder);
        worker.executor = taker->executor;
    }
    return tap_add_worker(tap, &worker, error);
}

/* False: the arguments are none. */
static bool choose(struct taker *taker, int count, char **arguments) {
    if (count < 5)
        return false;
    taker->wanted = !strcmp(arguments[3], "all");
    taker->graph = !strcmp(arguments[4], "graph");
    return taker->wanted || !strcmp(arguments[3], "none");
}

int main(int argc, char **argv) {
    struct error error = {0};
    static struct machine machine;
    struct taker taker = {.machine = &machine};
    if (!choose(&taker, argc, argv)) {
        fprintf(stderr, "usage: lives TRACE MACHINE none|all null|graph [one]\n");
        return 2;
    }
    bool one = argc > 5;
    if (taker.graph && !one)
        taker.executor = executor_new("graph", &error);
    const struct simulation_observer observer = {.attach = attach, .context = &taker};
    const struct simulation_options options = {.machine = &machine,
                                               .sampling = sampling_everything(),
                                               .observers = &observer,
                                               .observer_count = 1,
                                               .one_thread = one};
    struct simulation simulation = {0};
    struct trace *trace =
        machine_load(argv[2], &machine, &error) ? trace_open(argv[1], &error) : NULL;
    double wall = clock_monotonic(), processor = clock_processor();
    bool good = trace && simulation_run(trace, &options, &simulation, &error);
    executor_free(taker.executor);
    wall = clock_monotonic() - wall;
    processor = clock_processor() - processor;
    if (good)
        printf("%.4f %.4f %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", wall, processor,
               simulation.instructions, simulation.cycles, taker.lives);
    else
        fprintf(stderr, "lives: %s\n", error.message);
    graph_builder_free(taker.builder);
    simulation_free(&simulation);
    if (trace)
        trace_close(trace);
    return !good;
}
