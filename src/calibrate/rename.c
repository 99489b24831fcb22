/* What renaming does by itself: fusion of compare and branch, elimination of moves, zero idioms
 * (Fog, microarchitecture.pdf; uops.info).
 *
 * Fusion: groups of a compare, a branch that is not taken, and so many no-ops that the group fills
 * a cycle's dispatch if the pair is one µop; against the same with a no-op between the two, which
 * are two µops then. Moves: a chain of an
 * addition and two moves takes a cycle if moves take no time, three otherwise. Zero idioms: a chain
 * of multiplications with `xor reg, reg` between them takes the time of a multiplication unless the
 * processor knows that the result does not depend on the register. */
#include <math.h>

#include "calibrate/parts.h"

enum { GROUPS = 60 };

enum kind { PAIRS, APART, MOVES, ZEROS, KINDS };

static void put_group(struct assembler *code, enum kind kind, unsigned width) {
    struct label next = {0};
    switch (kind) {
    case PAIRS:
    case APART:
        ASSEMBLE(code, CMP, REG(RAX), REG(RBX));
        assembler_nops(code, kind == APART);
        assembler_branch(code, ZYDIS_MNEMONIC_JNZ, &next);
        assembler_bind(code, &next);
        assembler_nops(code, width - 1 - (kind == APART));
        break;
    case MOVES:
        ASSEMBLE(code, ADD, REG(RAX), REG(RSI));
        ASSEMBLE(code, MOV, REG(RBX), REG(RAX));
        ASSEMBLE(code, MOV, REG(RAX), REG(RBX));
        break;
    default:
        ASSEMBLE(code, IMUL, REG(RAX), REG(RAX));
        ASSEMBLE(code, XOR, REG(EAX), REG(EAX));
    }
}

static bool run(struct calibration *calibration, struct error *error) {
    const double measured = calibration_value(calibration, "core.dispatch_width", 4);
    const unsigned width = (unsigned)fmin(fmax(measured, 2), 16);
    struct kernel_list list = {0};
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct assembler *code = kernel_list_add(&list, &(struct host_kernel){.iterations = 100});
        struct label loop = host_loop_begin(code);
        for (unsigned i = 0; i < GROUPS; i++)
            put_group(code, kind, width);
        host_loop_end(code, &loop);
    }
    const bool good = calibration_measure(calibration, &list, error);
    if (good) {
        const struct host_result *results = list.results;
        struct finding fusion = {.key = "core.fuse_compare_branch",
                                 .what = "compare and branch are one µop",
                                 .unit = ""};
        struct finding moves = {
            .key = "core.eliminate_moves", .what = "moves take no time", .unit = ""};
        struct finding zeros = {.what = "zeroing depends on nothing", .unit = ""};
        /* Half of what one µop of width + 1 takes. */
        if (finding_rests_on(&fusion, results, 2))
            fusion.word = results[PAIRS].cycles < results[APART].cycles * (1 - 0.5 / (width + 1))
                              ? "yes"
                              : "no";
        if (finding_rests_on(&moves, &results[MOVES], 1))
            moves.word = results[MOVES].cycles / GROUPS < 2 ? "yes" : "no";
        if (finding_rests_on(&zeros, &results[ZEROS], 1))
            zeros.word = results[ZEROS].cycles / GROUPS < 2 ? "yes" : "no";
        calibration_found(calibration, &fusion);
        calibration_found(calibration, &moves);
        calibration_found(calibration, &zeros);
    }
    kernel_list_free(&list);
    return good;
}

static const char *const KEYS[] = {"core.fuse_compare_branch", "core.eliminate_moves", NULL};
const struct calibrate_part calibrate_rename = {
    .name = "rename",
    .measures = "fusion of compare and branch, moves and zero idioms",
    .keys = KEYS,
    .run = run};
