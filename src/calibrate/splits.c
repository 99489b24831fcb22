/* Accesses that lie in two lines (Fog, microarchitecture.pdf): how much later the value of a load
 * is, how many slots it takes, and how many a store does.
 *
 * A chain of loads, each of whose addresses has the zero that the one before loaded as its index.
 * Loads that wait for nothing, and stores, to one place over and over. Each once within a line and
 * once over the end of one, with addresses of the same form. Where stores are written by blocks
 * smaller than a line, one over the end of a line takes what one over the end of a block does; then
 * that is no matter of lines. */
#include <math.h>
#include <stdio.h>

#include "calibrate/parts.h"

enum { LINKS = 30, WITHIN = 8, OVER_BLOCK = 28, OVER_LINE = 60, OFFSETS = 3 };
enum { CHAIN, LOADS, STORES, KINDS };

/* Shares of cycles that are taken for alike. */
static const double ALIKE = 0.25;

static const struct host_data DATA = {.size = 4096};

static void put_access(struct assembler *code, unsigned kind, int64_t offset) {
    if (kind == CHAIN)
        ASSEMBLE(code, MOV, REG(RAX),
                 operand_memory(ZYDIS_REGISTER_R14, ZYDIS_REGISTER_RAX, 1, offset, 64));
    else if (kind == LOADS)
        ASSEMBLE(code, MOV, REG(RCX), MEMORY(R14, offset, 64));
    else
        ASSEMBLE(code, MOV, MEMORY(R14, offset, 64), REG(RCX));
}

static void add_kernel(struct kernel_list *list, unsigned kind, int64_t offset) {
    const struct host_kernel kernel = {.data = &DATA, .iterations = 60};
    struct assembler *code = kernel_list_add(list, &kernel);
    ASSEMBLE(code, XOR, REG(EAX), REG(EAX));
    ASSEMBLE(code, XOR, REG(ECX), REG(ECX));
    struct label loop = host_loop_begin(code);
    for (unsigned i = 0; i < LINKS; i++)
        put_access(code, kind, offset);
    host_loop_end(code, &loop);
}

/* As a figure of machines, which is 0 or a whole number from 1 on. */
static void set_whole(struct finding *finding, double value) {
    finding->value = fmax(0, round(value));
    finding->word = finding->value > 0 ? NULL : "0";
}

/* Each has three results: within a line, over a block's end, over a line's. */
static void report(struct calibration *calibration, const struct host_result *results) {
    const struct host_result *chain = results, *loads = chain + OFFSETS, *stores = loads + OFFSETS;
    struct finding later = {
        .key = "core.split_load", .what = "a load over a line's end, later by", .unit = "cycles"};
    struct finding slots = {
        .what = "a load over a line's end, as", .unit = "loads", .note = "within a line"};
    struct finding writes = {
        .key = "core.split_store", .what = "a store over a line's end, besides", .unit = "stores"};
    if (finding_rests_on(&later, chain, OFFSETS)) {
        set_whole(&later, (chain[2].cycles - chain[0].cycles) / LINKS);
        later.spread /= LINKS;
    }
    if (finding_rests_on(&slots, loads, OFFSETS)) {
        slots.value = loads[2].cycles / loads[0].cycles;
        slots.spread = 2 * slots.spread / loads[0].cycles;
    }
    if (finding_rests_on(&writes, stores, OFFSETS)) {
        const double within = stores[0].cycles, block = stores[1].cycles, line = stores[2].cycles;
        set_whole(&writes, line / within - 1);
        writes.spread = 2 * writes.spread / within;
        if (block > within * (1 + ALIKE) && line < block * (1 + ALIKE)) {
            writes.state = FINDING_UNKNOWN;
            snprintf(writes.note, sizeof writes.note, "%.2g cycles, as over the end of 32 bytes",
                     line / LINKS);
        }
    }
    calibration_found(calibration, &later);
    calibration_found(calibration, &slots);
    calibration_found(calibration, &writes);
}

static bool run(struct calibration *calibration, struct error *error) {
    static const int64_t AT[OFFSETS] = {WITHIN, OVER_BLOCK, OVER_LINE};
    struct kernel_list list = {0};
    for (unsigned kind = 0; kind < KINDS; kind++)
        for (unsigned offset = 0; offset < OFFSETS; offset++)
            add_kernel(&list, kind, AT[offset]);
    const bool good = calibration_measure_fastest(calibration, &list, error);
    if (good)
        report(calibration, list.results);
    kernel_list_free(&list);
    return good;
}

static const char *const KEYS[] = {"core.split_load", "core.split_store", NULL};
const struct calibrate_part calibrate_splits = {.name = "splits",
                                                .measures =
                                                    "loads and stores over the end of a line",
                                                .keys = KEYS,
                                                .run = run};
