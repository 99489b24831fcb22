/* Speed of the static schedule: procedures and instructions of the C library per second of
 * processor time, beside the making of their graphs. A machine and an image may be given, else
 * those of alpha21164 and zen4 are printed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/schedule.h"
#include "program/program.h"
#include "util/clock.h"

struct sweep {
    struct program *program;
    struct scheduler *scheduler;
    uint32_t image;
    enum isa isa;
    unsigned long procedures, insns, edges;
    double graph_seconds, schedule_seconds, longest;
};

static void schedule_code(struct sweep *sweep, const struct procedure_code *code) {
    struct cfg cfg;
    struct schedule schedule;
    struct error error;
    double start = clock_processor();
    bool built = cfg_build(&cfg, code, &error);
    double middle = clock_processor();
    sweep->graph_seconds += middle - start;
    if (built) {
        if (!schedule_make(&schedule, sweep->scheduler, &cfg, NULL, &error)) {
            fprintf(stderr, "%s\n", error.message);
            exit(1);
        }
        double took = clock_processor() - middle;
        sweep->schedule_seconds += took;
        sweep->longest = took > sweep->longest ? took : sweep->longest;
        sweep->procedures++;
        sweep->insns += cfg.insn_count;
        sweep->edges += cfg.edge_count;
        schedule_free(&schedule);
    }
    cfg_free(&cfg);
}

static bool visit(void *context, const struct program_function *function) {
    struct sweep *sweep = context;
    uint8_t *bytes = malloc(function->size);
    if (bytes &&
        program_read(sweep->program, sweep->image, function->address, bytes, function->size))
        schedule_code(sweep, &(struct procedure_code){.isa = sweep->isa,
                                                      .bytes = bytes,
                                                      .size = function->size,
                                                      .address = function->address});
    free(bytes);
    return true;
}

static void measure(const char *name, enum schedule_view view, const char *path, enum isa isa) {
    struct machine machine;
    struct error error;
    struct sweep sweep = {.program = program_new(), .isa = isa};
    if (!sweep.program || !machine_load(name, &machine, &error) ||
        !(sweep.scheduler = scheduler_new(&machine, view, &error))) {
        fprintf(stderr, "%s\n", sweep.program ? error.message : "out of memory");
        exit(1);
    }
    sweep.image = program_add_image(sweep.program, path, NULL, 0);
    program_each_function(sweep.program, sweep.image, visit, &sweep);
    printf("%-10s %-4s %5lu procedures, %6lu instructions, %6lu edges: graphs %5.2f s, schedules "
           "%5.2f s, %6.0f procedures/s, %7.0f instructions/s, longest %4.0f ms\n",
           name, view == VIEW_HEAD ? "head" : "tip", sweep.procedures, sweep.insns, sweep.edges,
           sweep.graph_seconds, sweep.schedule_seconds,
           (double)sweep.procedures / sweep.schedule_seconds,
           (double)sweep.insns / sweep.schedule_seconds, sweep.longest * 1e3);
    scheduler_free(sweep.scheduler);
    program_free(sweep.program);
}

int main(int argc, char **argv) {
    static const char x86[] = "/lib/x86_64-linux-gnu/libc.so.6";
    static const char riscv[] = "/usr/riscv64-linux-gnu/lib/libc.so.6";
    if (argc == 3) {
        enum isa isa = strstr(argv[2], "riscv64") ? ISA_RISCV64 : ISA_X86_64;
        measure(argv[1], VIEW_HEAD, argv[2], isa);
        measure(argv[1], VIEW_TIP, argv[2], isa);
        return 0;
    }
    measure("alpha21164", VIEW_HEAD, riscv, ISA_RISCV64);
    measure("zen4", VIEW_HEAD, x86, ISA_X86_64);
    measure("zen4", VIEW_TIP, x86, ISA_X86_64);
    return 0;
}
