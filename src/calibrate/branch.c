/* Branches: what a misprediction costs, and how many calls the return stack holds (Fog,
 * microarchitecture.pdf; Milenkovic, Milenkovic and Kulick 2004).
 *
 * Penalty: a branch on bits of a table, random ones, of which half are mispredicted, against the
 * same code on zeros. It also waits for a chain of additions, of zeros, which goes on behind it: so
 * a misprediction delays the chain, and by nothing but its penalty. The chain is so long that
 * whatever else there is to do is done beside it.
 *
 * Return stack: functions that call each other to a depth d. Each calls the next from one of two
 * places, by a bit that is random for each time around and the same for all depths; so what returns
 * and has lost its place in the stack is mispredicted, half of the time. The first depth that costs
 * by so much more than the one before it is beyond the stack. */
#include <math.h>
#include <stdio.h>

#include "calibrate/parts.h"
#include "calibrate/random_bits.h"
#include "calibrate/step.h"

enum { BYTES = 4 << 20, DEEPEST = 72, SHALLOWEST = 2, DEPTHS = DEEPEST, BRANCHES = 8, LINKS = 24 };

/* Branches past a no-op. What follows begins with the next link of the chain, and the bit is loaded
 * in the middle of it. */
static void put_penalty(struct assembler *code) {
    walk_begin(code);
    struct label loop = host_loop_begin(code);
    for (unsigned i = 0; i < BRANCHES; i++) {
        struct label next = {0};
        for (unsigned link = 0; link < LINKS; link++) {
            if (link == LINKS / 4)
                walk_step(code, ZYDIS_REGISTER_EBX, BYTES);
            ASSEMBLE(code, ADD, REG(RCX), REG(RDX));
        }
        ASSEMBLE(code, CMP, REG(EBX), REG(ECX));
        assembler_branch(code, ZYDIS_MNEMONIC_JNZ, &next);
        assembler_nops(code, 1);
        assembler_bind(code, &next);
    }
    host_loop_end(code, &loop);
    walk_end(code);
}

static void put_calls(struct assembler *code, unsigned depth) {
    struct label functions[DEEPEST + 1] = {{0}}, end = {0};
    walk_begin(code);
    struct label loop = host_loop_begin(code);
    walk_step(code, ZYDIS_REGISTER_EBX, BYTES);
    assembler_branch(code, ZYDIS_MNEMONIC_CALL, &functions[0]);
    host_loop_end(code, &loop);
    walk_end(code);
    assembler_branch(code, ZYDIS_MNEMONIC_JMP, &end);
    for (unsigned i = 0; i < depth; i++) {
        struct label second = {0}, back = {0};
        assembler_align(code, 64);
        assembler_bind(code, &functions[i]);
        if (i + 1 < depth) {
            ASSEMBLE(code, TEST, REG(EBX), REG(EBX));
            assembler_branch(code, ZYDIS_MNEMONIC_JNZ, &second);
            assembler_branch(code, ZYDIS_MNEMONIC_CALL, &functions[i + 1]);
            assembler_branch(code, ZYDIS_MNEMONIC_JMP, &back);
            assembler_bind(code, &second);
            assembler_branch(code, ZYDIS_MNEMONIC_CALL, &functions[i + 1]);
            assembler_bind(code, &back);
        }
        assembler_put(code, ZYDIS_MNEMONIC_RET, NULL, 0);
    }
    assembler_bind(code, &end);
}

static void find_stack(struct calibration *calibration, const struct host_result *results,
                       double penalty) {
    struct finding stack = {.key = "branch.ras_entries", .what = "return stack", .unit = "calls"};
    struct step_point points[DEPTHS];
    size_t count = 0;
    unsigned below, above;
    for (unsigned i = 1; i < DEPTHS - SHALLOWEST; i++) {
        const bool good =
            results[i].state == HOST_MEASURED && results[i - 1].state == HOST_MEASURED;
        points[count++] = (struct step_point){
            SHALLOWEST + i, good ? results[i].cycles - results[i - 1].cycles : NAN};
    }
    if (step_find(points, count, penalty / 4, &below, &above)) {
        stack.value = below;
        stack.spread = (above - below - 1) / 2.0;
    } else {
        stack.state = FINDING_UNKNOWN;
        snprintf(stack.note, sizeof stack.note, "no depth up to %d costs more than the one before",
                 DEEPEST - 1);
    }
    calibration_found(calibration, &stack);
}

static bool run(struct calibration *calibration, struct error *error) {
    struct random_bits bits;
    if (!random_bits_make(&bits, BYTES, error))
        return false;
    struct kernel_list list = {0};
    put_penalty(kernel_list_add(
        &list, &(struct host_kernel){.data = &bits.zeros, .iterations = 600, .precision = 0.01}));
    put_penalty(kernel_list_add(
        &list, &(struct host_kernel){.data = &bits.random, .iterations = 600, .precision = 0.01}));
    for (unsigned depth = SHALLOWEST; depth < DEPTHS; depth++)
        put_calls(kernel_list_add(&list, &(struct host_kernel){.data = &bits.random,
                                                               .iterations = 100,
                                                               .precision = 0.01}),
                  depth);
    const bool good = calibration_measure(calibration, &list, error);
    if (good) {
        struct finding penalty = {.what = "misprediction", .unit = "cycles"};
        if (finding_rests_on(&penalty, list.results, 2)) {
            penalty.value = 2 * (list.results[1].cycles - list.results[0].cycles) / BRANCHES;
            penalty.spread *= 2.0 / BRANCHES;
        }
        calibration_found(calibration, &penalty);
        find_stack(calibration, list.results + 2, penalty.value);
    }
    kernel_list_free(&list);
    random_bits_free(&bits);
    return good;
}

static const char *const KEYS[] = {"branch.ras_entries", NULL};
const struct calibrate_part calibrate_branch = {
    .name = "branch", .measures = "misprediction, return stack", .keys = KEYS, .run = run};
