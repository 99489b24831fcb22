/* From stores to loads: how long a value takes that is loaded as soon as it is stored, which loads
 * get theirs from the store queue, what the others wait for, and what a store does to a load whose
 * address only looks like its own, 4 KiB away (Fog, microarchitecture.pdf; lmbench).
 *
 * A chain: store rax; load rax from where it was stored. Offsets and sizes: a store of 8 bytes and
 * a load that begins so many bytes behind it; those that take more than half a cycle longer
 * than the slowest whole one, at offset 0, are not forwarded. The load's base register is another
 * one than the store's, and is written between the two, with the same address: some processors
 * rename memory that is addressed by registers which have not changed. Whether this one does, a
 * chain of loads and stores with the same base tells. The load's result enters the next store by
 * way of rax, so that each waits for the one before. */
#include <math.h>
#include <stdio.h>

#include "calibrate/parts.h"

enum {
    LINKS = 30,
    BEHIND = 64, /* the load's base, behind the store's */
    SIZES = 4,
    OFFSETS = 9,
    SPOT = 256,
    ALIASED = SIZES * OFFSETS,
    APART,
    ALIKE,
    KERNELS
};

/* Cycles: what takes less did not go through a store queue. */
static const double LEAST_FORWARD = 2;

static const struct host_data DATA = {.size = 16384};

static void put_link(struct assembler *code, unsigned size, unsigned offset) {
    const ZydisEncoderOperand from = operand_memory(ZYDIS_REGISTER_RSI, ZYDIS_REGISTER_NONE, 0,
                                                    (int64_t)SPOT + offset - BEHIND, 8u << size);
    ASSEMBLE(code, MOV, MEMORY(R14, SPOT, 64), REG(RAX));
    ASSEMBLE(code, ADD, REG(RSI), REG(RBP));
    if (size < 2)
        ASSEMBLE(code, MOVZX, REG(EAX), from);
    else
        ASSEMBLE(code, MOV, operand_register(size == 2 ? ZYDIS_REGISTER_EAX : ZYDIS_REGISTER_RAX),
                 from);
}

/* The load is 4 KiB behind the store, whose data come late; its own result delays the next. */
static void put_alias(struct assembler *code, int64_t offset) {
    ASSEMBLE(code, MOV, MEMORY(R14, SPOT, 64), REG(RAX));
    ASSEMBLE(code, MOV, REG(RBX), MEMORY(RSI, SPOT + offset - BEHIND, 64));
    ASSEMBLE(code, ADD, REG(RAX), REG(RBX));
}

static void put_alike(struct assembler *code) {
    ASSEMBLE(code, MOV, MEMORY(R14, SPOT, 64), REG(RAX));
    ASSEMBLE(code, MOV, REG(RAX), MEMORY(R14, SPOT, 64));
}

static void report_patterns(struct calibration *calibration, const struct host_result *results) {
    struct finding none = {.what = "a load not forwarded", .unit = "cycles"};
    size_t length = 0;
    double most = 0, usual = 0;
    if (finding_rests_on(&none, results, ALIASED)) {
        for (unsigned size = 0; size < SIZES; size++)
            usual = fmax(usual, results[size * OFFSETS].cycles / LINKS);
        for (unsigned size = 0; size < SIZES; size++)
            for (unsigned offset = 0; offset < OFFSETS - 1; offset++) {
                const double cycles = results[size * OFFSETS + offset].cycles / LINKS;
                if (cycles < usual + 0.5 || length + 12 > sizeof none.note)
                    continue;
                most = fmax(most, cycles);
                length += (size_t)snprintf(none.note + length, sizeof none.note - length, "%s%u+%u",
                                           length ? " " : "bytes+offset: ", 1u << size, offset);
            }
        none.value = most;
        if (!length)
            snprintf(none.note, sizeof none.note, "all that begin in the store are forwarded");
    }
    calibration_found(calibration, &none);
}

static bool run(struct calibration *calibration, struct error *error) {
    struct kernel_list list = {0};
    for (unsigned number = 0; number < KERNELS; number++) {
        const struct host_kernel kernel = {.data = &DATA, .iterations = 60};
        struct assembler *code = kernel_list_add(&list, &kernel);
        ASSEMBLE(code, LEA, REG(RSI), MEMORY(R14, BEHIND, 64));
        struct label loop = host_loop_begin(code);
        for (unsigned i = 0; i < LINKS; i++)
            if (number < ALIASED)
                put_link(code, number / OFFSETS, number % OFFSETS);
            else if (number == ALIKE)
                put_alike(code);
            else
                put_alias(code, number == ALIASED ? 4096 : 4096 + 1024);
        host_loop_end(code, &loop);
    }
    const bool good = calibration_measure_fastest(calibration, &list, error);
    if (good) {
        const struct host_result *results = list.results;
        const struct host_result *whole = &results[(SIZES - 1) * OFFSETS];
        struct finding link = {
            .key = "core.store_forward", .what = "store to load", .unit = "cycles"};
        struct finding alike = {.what = "store to load, the same base", .unit = "cycles"};
        struct finding alias = {.what = "a load 4 KiB from a store, besides", .unit = "cycles"};
        if (finding_rests_on(&link, whole, 1)) {
            link.value = whole->cycles / LINKS;
            link.spread /= LINKS;
            if (link.value < LEAST_FORWARD) {
                link.state = FINDING_UNKNOWN;
                snprintf(link.note, sizeof link.note,
                         "renamed, in %.1f cycles: forwarding is not seen", link.value);
            }
        }
        if (finding_rests_on(&alike, &results[ALIKE], 1)) {
            alike.value = results[ALIKE].cycles / LINKS;
            alike.spread /= LINKS;
        }
        if (finding_rests_on(&alias, &results[ALIASED], 2)) {
            alias.value = (results[ALIASED].cycles - results[ALIASED + 1].cycles) / LINKS;
            alias.spread = 2 * alias.spread / LINKS;
        }
        calibration_found(calibration, &link);
        calibration_found(calibration, &alike);
        report_patterns(calibration, results);
        calibration_found(calibration, &alias);
    }
    kernel_list_free(&list);
    return good;
}

static const char *const KEYS[] = {"core.store_forward", NULL};
const struct calibrate_part calibrate_forwarding = {
    .name = "forwarding",
    .measures = "stores to loads: latency, what is not forwarded, 4 KiB aliasing",
    .keys = KEYS,
    .run = run};
