#include "report/roofline.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/array.h"
#include "util/file_name.h"

static const double SHARE_LEAST = 0.005; /* of all cycles: other loops are left out */

/* ---- roofs ---- */

static double least(double a, double b) {
    return a < b ? a : b;
}

static uint32_t units_of(const struct machine *machine, enum operation operation) {
    const uint32_t units = machine->pools[machine->classes[operation].pool].units;
    const uint32_t width = machine->core.dispatch_width;
    return units < width || machine->core.in_order ? units : width;
}

static __attribute__((format(printf, 4, 5))) void add(struct roof *roofs, uint32_t *count,
                                                      double rate, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(roofs[*count].name, sizeof roofs->name, format, arguments);
    va_end(arguments);
    roofs[(*count)++].rate = rate;
}

static double dram_cycles(const struct machine *machine) {
    const struct machine_dram *dram = &machine->dram;
    return dram->banked ? dram->base_latency +
                              (dram->trcd + dram->tcl) / dram->clock_ghz * machine->clock_ghz
                        : dram->latency;
}

/* Misses of a level that hold as many lines as it may have in flight, each for so many cycles. What
 * is not below the roof before is none. */
static void add_level(struct roofline *roofline, const struct machine *machine, const char *name,
                      const struct machine_cache *before, double cycles, double most) {
    const double hz = machine->clock_ghz * 1e9;
    double rate = most > 0 ? most : INFINITY;
    if (before->mshrs && cycles > 0)
        rate = least(rate, before->mshrs * (double)before->line / cycles * hz);
    if (rate < roofline->memory[roofline->memory_count - 1].rate)
        add(roofline->memory, &roofline->memory_count, rate, "%s", name);
}

static void find_memory(struct roofline *roofline, const struct machine *machine, uint32_t widest) {
    const double hz = machine->clock_ghz * 1e9;
    const struct machine_cache *last = &machine->l1d;
    add(roofline->memory, &roofline->memory_count, units_of(machine, OP_LOAD) * (double)widest * hz,
        "L1, %" PRIu32 " × %" PRIu32 " bytes a cycle", units_of(machine, OP_LOAD), widest);
    if (machine->l2.present) {
        add_level(roofline, machine, "L2", last, machine->l2.latency, 0);
        last = &machine->l2;
    }
    if (machine->llc.present) {
        add_level(roofline, machine, "LLC", last, machine->llc.latency, 0);
        last = &machine->llc;
    }
    add_level(roofline, machine, "DRAM", last, dram_cycles(machine), machine->dram.bandwidth * 1e9);
}

static void find_computing(struct roofline *roofline, const struct machine *machine,
                           uint32_t lanes) {
    const double hz = machine->clock_ghz * 1e9;
    const uint32_t vector = units_of(machine, roofline->fp ? OP_FP_FMA : OP_VEC_ALU);
    const uint32_t scalar = roofline->fp ? vector : units_of(machine, OP_INT_ALU);
    const uint32_t each = roofline->fp ? 2 : 1;
    const char *what = roofline->fp ? "multiply-adds" : "operations";
    if (lanes > 1)
        add(roofline->computing, &roofline->computing_count, (double)vector * lanes * each * hz,
            "%" PRIu32 " %s of %" PRIu32 " lanes a cycle", vector, what, lanes);
    add(roofline->computing, &roofline->computing_count, (double)scalar * each * hz,
        "%" PRIu32 " %s a cycle", scalar, what);
}

/* ---- loops ---- */

static uint64_t operations_of(const struct roofline *roofline, const struct loop_work *work) {
    return roofline->fp ? work->fp : work->integer;
}

/* What is left of the rows without the rows within them. */
static void find_own(const struct roofline *roofline, uint64_t *operations, uint64_t *bytes) {
    const struct loop_rows *loops = &roofline->loops;
    for (uint32_t i = 0; i < loops->count; i++) {
        const struct loop_row *row = &loops->rows[i];
        const uint64_t all = operations_of(roofline, &row->work);
        const uint64_t moved = row->work.loaded + row->work.stored;
        operations[i] += all;
        bytes[i] += moved;
        if (row->outer != LOOP_NONE) {
            operations[row->outer] -= all;
            bytes[row->outer] -= moved;
        }
    }
}

/* The lowest roof that it is not above. */
static void find_bound(const struct roofline *roofline, struct roofline_loop *loop) {
    loop->bound = INFINITY;
    for (uint32_t i = 0; i < roofline->memory_count + roofline->computing_count; i++) {
        const bool memory = i < roofline->memory_count;
        const double bound = memory ? roofline->memory[i].rate * loop->intensity
                                    : roofline->computing[i - roofline->memory_count].rate;
        if (bound >= loop->rate && bound < loop->bound) {
            loop->bound = bound;
            loop->roof = i;
        }
    }
}

static int by_cycles(const void *left, const void *right) {
    const struct roofline_loop *a = left, *b = right;
    return a->cycles != b->cycles ? (a->cycles < b->cycles ? 1 : -1) : a->row < b->row ? -1 : 1;
}

static bool take_points(struct roofline *roofline, const uint64_t *operations,
                        const uint64_t *bytes, double hz, double cycles_least) {
    const struct loop_rows *loops = &roofline->loops;
    struct roofline_loop *all = calloc(loops->count + (size_t)1, sizeof *all);
    uint32_t count = 0;
    for (uint32_t i = 0; all && i < loops->count; i++) {
        const double cycles = (double)loops->rows[i].self_units / CYCLE_UNITS;
        if (!operations[i] || !bytes[i] || !(cycles > 0) || cycles < cycles_least)
            continue;
        all[count] = (struct roofline_loop){.row = i,
                                            .operations = operations[i],
                                            .bytes = bytes[i],
                                            .cycles = cycles,
                                            .intensity = (double)operations[i] / (double)bytes[i],
                                            .rate = (double)operations[i] / cycles * hz};
        find_bound(roofline, &all[count++]);
    }
    if (!all)
        return false;
    qsort(all, count, sizeof *all, by_cycles);
    roofline->count = count < ROOFLINE_LOOPS ? count : ROOFLINE_LOOPS;
    for (uint32_t i = 0; i < roofline->count; i++)
        roofline->points[i] = all[i];
    free(all);
    return true;
}

/* Whatever the loops have in all, and at most. */
static struct loop_work sum_loops(const struct loop_rows *loops) {
    struct loop_work sum = {.fp_lanes = 1, .integer_lanes = 1, .widest = 1};
    for (uint32_t i = 0; i < loops->count; i++) {
        const struct loop_work *work = &loops->rows[i].work;
        const bool outermost = loops->rows[i].outer == LOOP_NONE;
        sum.fp += outermost ? work->fp : 0;
        sum.integer += outermost ? work->integer : 0;
        sum.fp_lanes = work->fp_lanes > sum.fp_lanes ? work->fp_lanes : sum.fp_lanes;
        sum.integer_lanes =
            work->integer_lanes > sum.integer_lanes ? work->integer_lanes : sum.integer_lanes;
        sum.widest = work->widest > sum.widest ? work->widest : sum.widest;
    }
    return sum;
}

bool roofline_build(const struct simulation *simulation, const struct code *code,
                    struct program *program, const struct machine *machine,
                    struct roofline *roofline, struct error *error) {
    struct report_rows functions;
    *roofline = (struct roofline){.cycles = (double)simulation->cycles};
    bool good = rows_build(BY_FUNCTION, 0, simulation, code, program, &functions, error) &&
                loop_rows_build(&functions, 0, &roofline->loops, error);
    rows_free(&functions);
    if (!good)
        return false;
    const struct loop_work sum = sum_loops(&roofline->loops);
    roofline->fp = sum.fp > (sum.fp + sum.integer) / 100;
    find_memory(roofline, machine, sum.widest);
    find_computing(roofline, machine, roofline->fp ? sum.fp_lanes : sum.integer_lanes);
    uint64_t *operations = calloc(roofline->loops.count + (size_t)1, sizeof *operations);
    uint64_t *bytes = calloc(roofline->loops.count + (size_t)1, sizeof *bytes);
    good = operations && bytes;
    if (good) {
        find_own(roofline, operations, bytes);
        good = take_points(roofline, operations, bytes, machine->clock_ghz * 1e9,
                           SHARE_LEAST * (double)simulation->cycles);
    }
    free(operations);
    free(bytes);
    return good || error_set(error, "out of memory for the roofline");
}

void roofline_free(struct roofline *roofline) {
    loop_rows_free(&roofline->loops);
}

/* ---- names ---- */

const char *roofline_bound(const struct roofline *roofline, uint32_t point) {
    const uint32_t roof = roofline->points[point].roof;
    if (!isfinite(roofline->points[point].bound))
        return "none";
    return roof < roofline->memory_count ? roofline->memory[roof].name
                                         : roofline->computing[roof - roofline->memory_count].name;
}

void roofline_name(const struct roofline *roofline, uint32_t point, char *text, size_t size) {
    const struct loop_row *row = &roofline->loops.rows[roofline->points[point].row];
    if (row->file)
        snprintf(text, size, "%s %s:%" PRIu32, row->function ? row->function : row->image,
                 file_base_name(row->file), row->line);
    else
        snprintf(text, size, "%s+0x%" PRIx64, row->function ? row->function : row->image,
                 row->function ? row->offset - row->function_offset : row->offset);
}
