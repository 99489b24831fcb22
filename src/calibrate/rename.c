/* What renaming does by itself: fusion of compare and branch, elimination of moves and of additions
 * of constants, zero idioms (Fog, microarchitecture.pdf; uops.info).
 *
 * Fusion: groups of a compare, a branch that is not taken, and no-ops, against the same with one of
 * the no-ops between the two, which are two µops then. Small groups, which fetch can deliver faster
 * than dispatch takes them, and such that fill a cycle's dispatch if the pair is one µop, in which
 * branches are rare: whichever of them shows fusion, there is fusion. Where no-ops share the µop of
 * what is before them, moves are in place of them. Moves: a chain of an
 * addition and two moves takes a cycle if moves take no time, three otherwise. Additions: the same
 * with one of a constant and its subtraction, of which no sum grows, in place of the moves. Zero
 * idioms: a chain of multiplications with `xor reg, reg` between them takes the time of a
 * multiplication unless the processor knows that the result does not depend on the register. */
#include <math.h>
#include <stdio.h>

#include "calibrate/dispatch.h"
#include "calibrate/parts.h"

enum { GROUPS = 60, SMALL_GROUP = 4 /* µops, fused */ };

enum kind { SMALL_PAIRS, SMALL_APART, PAIRS, APART, MOVES, ADDITIONS, ZEROS, KINDS };

static void put_group(struct assembler *code, enum kind kind, unsigned width, bool moves) {
    struct label next = {0};
    const bool apart = kind == APART || kind == SMALL_APART;
    switch (kind) {
    case SMALL_PAIRS:
    case SMALL_APART:
    case PAIRS:
    case APART:
        ASSEMBLE(code, CMP, REG(RAX), REG(RBX));
        dispatch_put_padding(code, apart, moves);
        assembler_branch(code, ZYDIS_MNEMONIC_JNZ, &next);
        assembler_bind(code, &next);
        dispatch_put_padding(code, (kind < PAIRS ? SMALL_GROUP : width) - 1 - apart, moves);
        break;
    case MOVES:
        ASSEMBLE(code, ADD, REG(RAX), REG(RSI));
        ASSEMBLE(code, MOV, REG(RBX), REG(RAX));
        ASSEMBLE(code, MOV, REG(RAX), REG(RBX));
        break;
    case ADDITIONS:
        ASSEMBLE(code, ADD, REG(RAX), REG(RSI));
        ASSEMBLE(code, ADD, REG(RAX), IMMEDIATE(1));
        ASSEMBLE(code, SUB, REG(RAX), IMMEDIATE(1));
        break;
    default:
        ASSEMBLE(code, IMUL, REG(RAX), REG(RAX));
        ASSEMBLE(code, XOR, REG(EAX), REG(EAX));
    }
}

static void conclude_fusion(struct finding *fusion, const struct host_result *results,
                            unsigned width) {
    const double small = dispatch_saving(results, SMALL_GROUP),
                 large = dispatch_saving(results + PAIRS, width);
    const double slowed = fmin(results[SMALL_PAIRS].cycles / (SMALL_GROUP + 1.0),
                               results[PAIRS].cycles / (width + 1.0)) /
                          GROUPS * width;
    fusion->word = fmax(small, large) > 0.5 ? "yes" : "no";
    fusion->spread = 0;
    if (fmax(small, large) <= 0.5 && slowed > DISPATCH_MOST_OF_TWO) {
        fusion->state = FINDING_UNKNOWN;
        snprintf(fusion->note, sizeof fusion->note,
                 "no difference is seen, but something else than dispatch holds them up");
    }
}

/* Whether a group takes what is not renaming's work alone. */
static void conclude_group(struct calibration *calibration, const struct host_result *result,
                           struct finding finding) {
    finding.unit = "";
    if (finding_rests_on(&finding, result, 1))
        finding.word = result->cycles / GROUPS < 2 ? "yes" : "no";
    calibration_found(calibration, &finding);
}

static bool run(struct calibration *calibration, struct error *error) {
    struct dispatch dispatch = {0};
    if (!dispatch_measure(calibration, &dispatch, error))
        return false;
    const unsigned width = dispatch_whole_width(&dispatch);
    struct kernel_list list = {0};
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct assembler *code = kernel_list_add(&list, &(struct host_kernel){.iterations = 100});
        struct label loop = host_loop_begin(code);
        for (unsigned i = 0; i < GROUPS; i++)
            put_group(code, kind, width, dispatch.no_ops_share);
        host_loop_end(code, &loop);
    }
    const bool good = calibration_measure_fastest(calibration, &list, error);
    if (good) {
        const struct host_result *results = list.results;
        struct finding fusion = {.key = "core.fuse_compare_branch",
                                 .what = "compare and branch are one µop",
                                 .unit = ""};
        if (finding_rests_on(&fusion, results, MOVES))
            conclude_fusion(&fusion, results, width);
        calibration_found(calibration, &fusion);
        conclude_group(
            calibration, &results[MOVES],
            (struct finding){.key = "core.eliminate_moves", .what = "moves take no time"});
        conclude_group(calibration, &results[ADDITIONS],
                       (struct finding){.key = "core.eliminate_additions",
                                        .what = "additions of constants take no time"});
        conclude_group(calibration, &results[ZEROS],
                       (struct finding){.what = "zeroing depends on nothing"});
    }
    kernel_list_free(&list);
    return good;
}

static const char *const KEYS[] = {"core.fuse_compare_branch", "core.eliminate_moves",
                                   "core.eliminate_additions", NULL};
const struct calibrate_part calibrate_rename = {
    .name = "rename",
    .measures = "fused compare and branch, moves, added constants, zeroing",
    .keys = KEYS,
    .run = run};
