/* One simulation of a trace, with a worker that wants life records and looks at none of them: what
 * the core and the tap take to make them. Prints seconds (wall, processor of all threads), cycles
 * and how many records there were. usage: lives TRACE MACHINE none|all|LENGTH/EVERY [one]
 * one: on one thread. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "simulate/simulate.h"

struct counted {
    struct tap_worker worker;
    uint64_t lives;
};

static bool count(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct counted *counted = context;
    (void)error;
    counted->lives += buffer->records[TAP_LIFE];
    return true;
}

static bool attach(void *context, struct tap_source source, struct tap *tap, void **state,
                   struct error *error) {
    struct counted *counted = context;
    (void)source;
    *state = counted;
    return !counted->worker.consume || tap_add_worker(tap, &counted->worker, error);
}

static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* False: `text` is no mode. */
static bool choose(struct counted *counted, const char *text) {
    struct tap_worker *worker = &counted->worker;
    if (!strcmp(text, "none"))
        return true;
    *worker = (struct tap_worker){
        .name = "lives", .kinds = 1 << TAP_LIFE, .consume = count, .context = counted};
    return !strcmp(text, "all") ||
           sscanf(text, "%" SCNu64 "/%" SCNu64, &worker->lives.length, &worker->lives.every) == 2;
}

int main(int argc, char **argv) {
    struct error error = {""};
    static struct machine machine;
    struct counted counted = {.lives = 0};
    if (argc < 4 || !choose(&counted, argv[3])) {
        fprintf(stderr, "usage: lives TRACE MACHINE none|all|LENGTH/EVERY [one]\n");
        return 2;
    }
    const struct simulation_observer observer = {.attach = attach, .context = &counted};
    const struct simulation_options options = {.machine = &machine,
                                               .sampling = sampling_everything(),
                                               .observers = &observer,
                                               .observer_count = 1,
                                               .one_thread = argc > 4};
    struct simulation simulation = {0};
    struct trace *trace =
        machine_load(argv[2], &machine, &error) ? trace_open(argv[1], &error) : NULL;
    double wall = seconds_of(CLOCK_MONOTONIC), processor = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    bool good = trace && simulation_run(trace, &options, &simulation, &error);
    wall = seconds_of(CLOCK_MONOTONIC) - wall;
    processor = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - processor;
    if (good)
        printf("%.4f %.4f %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", wall, processor,
               simulation.instructions, simulation.cycles, counted.lives);
    else
        fprintf(stderr, "lives: %s\n", error.message);
    simulation_free(&simulation);
    if (trace)
        trace_close(trace);
    return !good;
}
