/* How fast the hybrid model is on traces, beside the cycle-level core:
 *
 *     predict MACHINE TRACE.ctrace...
 *
 * Processor and wall time, trace decoding included, of the fastest of three passes: one machine
 * (million instructions a second), and 64 in one pass (million instructions × machines a second):
 * ROB 64 to 512 and no to 16 MSHRs, with latencies of 100 to 400 cycles. The core simulates once;
 * of it, and in what follows, processor time.
 *
 * Then how many times as fast as the core the model is with so many MSHRs, with and without
 * prefetchers (§6.1.5): the mean over traces and the least, one by one, and all 16 machines in one
 * pass against as many simulations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "model/predict.h"
#include "model/predict_sweep.h"
#include "util/clock.h"

static void fail(const struct error *error) {
    fprintf(stderr, "predict: %s\n", error->message);
    exit(1);
}

/* Seconds. */
struct spent {
    double processor, wall;
};

/* *instructions: of the trace. */
static struct spent pass(const char *path, const struct machine *machines, uint32_t count,
                         uint64_t *instructions, double *events) {
    struct error error = {0};
    struct hybrid_prediction prediction;
    const struct predict_options options = {.machines = machines,
                                            .machine_count = count,
                                            .methods =
                                                &predict_refinements[PREDICT_REFINEMENTS - 1],
                                            .method_count = 1,
                                            .selection = {.thread = -1}};
    const struct spent began = {clock_processor(), clock_monotonic()};
    struct trace *trace = trace_open(path, &error);
    if (!trace || !predict(trace, &options, &prediction, &error))
        fail(&error);
    trace_close(trace);
    const struct spent spent = {clock_processor() - began.processor,
                                clock_monotonic() - began.wall};
    *instructions = prediction.instructions;
    *events = (double)prediction.machines[0].counts.events / (double)prediction.instructions;
    hybrid_prediction_free(&prediction);
    return spent;
}

static struct spent fastest(const char *path, const struct machine *machines, uint32_t count,
                            uint64_t *instructions, double *events) {
    struct spent best = {1e9, 1e9};
    for (int i = 0; i < 3; i++) {
        const struct spent spent = pass(path, machines, count, instructions, events);
        best.processor = spent.processor < best.processor ? spent.processor : best.processor;
        best.wall = spent.wall < best.wall ? spent.wall : best.wall;
    }
    return best;
}

static double simulate(const char *path, const struct machine *machine) {
    struct error error = {0};
    struct core_options options = {.ideal = IDEAL_IMISS | IDEAL_BMISP};
    struct trace_batch batch;
    const double began = clock_processor();
    struct trace *trace = trace_open(path, &error);
    struct core *core = core_new(machine, &options, &error);
    if (!trace || !core)
        fail(&error);
    while (trace_next(trace, &batch, &error) > 0) {
        const struct core_input input = core_input_of(trace_code(trace), &batch);
        if (batch.thread == 0 && !core_push(core, &input, &error))
            fail(&error);
    }
    if (!core_finish(core, &error))
        fail(&error);
    core_free(core);
    trace_close(trace);
    return clock_processor() - began;
}

enum { MSHRS = 4, PREFETCHERS = 4 };

struct ratios {
    double sum, least;
    int count;
};

static void add_ratio(struct ratios *ratios, double ratio) {
    ratios->least = ratios->count == 0 || ratio < ratios->least ? ratio : ratios->least;
    ratios->sum += ratio;
    ratios->count++;
}

/* ratios[MSHRs][0]: without prefetchers; [1]: with; all: in one pass. */
static void compare(const char *path, const struct machine machines[MSHRS * PREFETCHERS],
                    struct ratios ratios[MSHRS][2], struct ratios *all) {
    uint64_t instructions;
    double events, simulated = 0;
    for (int i = 0; i < MSHRS * PREFETCHERS; i++) {
        const double seconds = simulate(path, &machines[i]);
        add_ratio(&ratios[i / PREFETCHERS][i % PREFETCHERS > 0],
                  seconds / pass(path, &machines[i], 1, &instructions, &events).processor);
        simulated += seconds;
    }
    add_ratio(all, simulated /
                       pass(path, machines, MSHRS * PREFETCHERS, &instructions, &events).processor);
}

static void print_ratios(const struct machine *machine, char **paths, int count) {
    static const char *const ROWS[MSHRS] = {"unlimited", "16", "8", "4"};
    struct error error = {0};
    struct predict_sweep sweep = {0};
    struct machine *machines;
    struct ratios ratios[MSHRS][2] = {0}, all = {0};
    uint32_t machine_count;
    if (!predict_sweep_add(&sweep, "mshr=0,16,8,4 prefetch=none,on_miss,tagged,stride", &error) ||
        !predict_sweep_build(&sweep, machine, &machines, &machine_count, &error))
        fail(&error);
    for (int i = 0; i < count; i++)
        compare(paths[i], machines, ratios, &all);
    printf("\n%-10s %16s %16s   times as fast as the core, mean (least)\n", "MSHRs",
           "no prefetcher", "prefetchers");
    for (int i = 0; i < MSHRS; i++)
        printf("%-10s %8.1f (%5.1f) %8.1f (%5.1f)\n", ROWS[i],
               ratios[i][0].sum / ratios[i][0].count, ratios[i][0].least,
               ratios[i][1].sum / ratios[i][1].count, ratios[i][1].least);
    printf("%u in a pass %7.1f (%5.1f)\n", machine_count, all.sum / all.count, all.least);
    free(machines);
}

int main(int count, char **arguments) {
    struct error error = {0};
    struct machine machine, *machines;
    struct predict_sweep sweep = {0};
    uint32_t machine_count;
    if (count < 3) {
        fputs("usage: predict MACHINE TRACE.ctrace...\n", stderr);
        return 2;
    }
    if (!machine_load(arguments[1], &machine, &error) ||
        !predict_sweep_add(&sweep, "rob=64,128,256,512 mshr=4,8,16,0 latency=100,200,300,400",
                           &error) ||
        !predict_sweep_build(&sweep, &machine, &machines, &machine_count, &error))
        fail(&error);
    printf("%-24s %8s %8s %19s %19s %8s\n", "", "", "events/", "model, one", "model, 64", "core");
    printf("%-24s %8s %8s %9s %9s %9s %9s %8s\n", "trace", "M insns", "insn", "processor", "wall",
           "processor", "wall", "M/s");
    for (int i = 2; i < count; i++) {
        uint64_t instructions;
        double events;
        const struct spent one = fastest(arguments[i], &machine, 1, &instructions, &events);
        const struct spent many =
            fastest(arguments[i], machines, machine_count, &instructions, &events);
        const double core = simulate(arguments[i], &machine), millions = 1e-6 * instructions;
        const double all = millions * machine_count;
        const char *slash = strrchr(arguments[i], '/');
        printf("%-24s %8.1f %8.3f %9.1f %9.1f %9.1f %9.1f %8.2f\n",
               slash ? slash + 1 : arguments[i], millions, events, millions / one.processor,
               millions / one.wall, all / many.processor, all / many.wall, millions / core);
    }
    free(machines);
    print_ratios(&machine, &arguments[2], count - 2);
    return 0;
}
