/* Which µops are one until they execute: a load and the operation of its instruction
 * (micro-fusion), the same of three vector registers and an address with an index, which Intel's
 * cores take apart again (core.unlaminate_indexed), and a move or a load and the operation behind
 * it that overwrites its target (Redwood Cove; of moves also Zen 5). Of compare and branch:
 * rename.c.
 *
 * Groups of such a pair and two no-ops, against the same with one of the no-ops between the two:
 * those are a µop more. Where no-ops share the µop of what is before them, moves are in their
 * place. The loops are small: a Granite Rapids makes one of a pair in those of up to some 40
 * instructions, and in longer ones only with no-ops of several bytes, if at all. */
#include <math.h>
#include <stdio.h>

#include "calibrate/dispatch.h"
#include "calibrate/parts.h"

enum { GROUPS = 6, FORMS = 2 };
enum form { TOGETHER, APART };
enum pair { OPERAND, INDEXED, MOVE, LOAD, PAIRS };
/* µops of a group, if two are one: vector loads may be two a cycle. */
static const unsigned GROUP[PAIRS] = {3, 5, 3, 3};

static const struct host_data DATA = {.size = 4096};

/* As dispatch_put_padding(), but no-ops are of four bytes: so many of one byte beside long
 * instructions are fetched more slowly than dispatched on a Zen 3. */
static void put_long_padding(struct assembler *code, unsigned count, bool moves) {
    static const uint8_t NO_OP[] = {0x0f, 0x1f, 0x40, 0x00};
    if (moves)
        dispatch_put_padding(code, count, moves);
    for (unsigned i = 0; !moves && i < count; i++)
        assembler_bytes(code, NO_OP, sizeof NO_OP);
}

static void put_indexed(struct assembler *code, enum form form, unsigned number, bool moves) {
    const ZydisEncoderOperand target = operand_register(ZYDIS_REGISTER_XMM0 + number),
                              loaded = operand_register(ZYDIS_REGISTER_XMM8 + number),
                              memory = operand_memory(ZYDIS_REGISTER_R14, ZYDIS_REGISTER_RDX, 8,
                                                      16 * number, 128);
    if (form == TOGETHER) {
        ASSEMBLE(code, VPADDD, target, target, memory);
        return;
    }
    ASSEMBLE(code, VMOVDQU, loaded, memory);
    put_long_padding(code, 1, moves);
    ASSEMBLE(code, VPADDD, target, target, loaded);
}

static void put_pair(struct assembler *code, enum pair pair, enum form form, unsigned number,
                     bool moves) {
    const ZydisEncoderOperand target = operand_register(ZYDIS_REGISTER_R8 + number % 4);
    const int64_t offset = 8 * (number % 8);
    if (pair == INDEXED) {
        put_indexed(code, form, number, moves);
        return;
    }
    if (pair == OPERAND && form == TOGETHER) {
        ASSEMBLE(code, ADD, target, MEMORY(R14, offset, 64));
        return;
    }
    if (pair == MOVE)
        ASSEMBLE(code, MOV, target, REG(RSI));
    else
        ASSEMBLE(code, MOV, target, MEMORY(R14, offset, 64));
    if (form == APART)
        dispatch_put_padding(code, 1, moves);
    ASSEMBLE(code, ADD, target, REG(RBX));
}

static void add_kernel(struct kernel_list *list, enum pair pair, enum form form, bool moves) {
    struct assembler *code = kernel_list_add(
        list, &(struct host_kernel){
                  .data = &DATA, .iterations = 1000, .features = pair == INDEXED ? HOST_AVX : 0});
    struct label loop = host_loop_begin(code);
    for (unsigned i = 0; i < GROUPS; i++) {
        put_pair(code, pair, form, i, moves);
        (pair == INDEXED ? put_long_padding
                         : dispatch_put_padding)(code, GROUP[pair] - 1 - (form == APART), moves);
    }
    host_loop_end(code, &loop);
}

/* Whether the two µops of a pair are one; FINDING_UNKNOWN if that cannot be told. */
static bool conclude(struct finding *finding, const struct host_result *results, enum pair pair,
                     unsigned width) {
    const struct host_result *kernels = &results[FORMS * pair];
    if (!finding_rests_on(finding, kernels, FORMS))
        return false;
    const bool one = dispatch_saving(kernels, GROUP[pair]) > 0.5;
    finding->word = one ? "yes" : "no";
    finding->spread = 0;
    if (!one &&
        kernels[TOGETHER].cycles / GROUPS / (GROUP[pair] + 1) * width > DISPATCH_MOST_OF_TWO) {
        finding->state = FINDING_UNKNOWN;
        snprintf(finding->note, sizeof finding->note,
                 "no difference is seen, but something else than dispatch holds them up");
    }
    return one;
}

static const char *const KEYS[] = {"core.fuse_loads", "core.unlaminate_indexed", NULL};

/* Of a core that makes one of no load and operation it is no finding that some are two. */
static void conclude_all(struct calibration *calibration, const struct host_result *results,
                         unsigned width) {
    static const char *const WHAT[PAIRS] = {
        "a load and its operation are one", "but not with an indexed vector",
        "move and operation, in a small loop", "load and operation, in a small loop"};
    bool one[PAIRS];
    for (enum pair pair = 0; pair < PAIRS; pair++) {
        if (pair == INDEXED && !one[OPERAND])
            continue;
        struct finding finding = {.what = WHAT[pair], .unit = ""};
        one[pair] = conclude(&finding, results, pair, width);
        if (pair == OPERAND)
            finding.key = KEYS[0];
        if (pair == INDEXED) {
            finding.key = KEYS[1];
            finding.word = finding.word ? (one[INDEXED] ? "no" : "yes") : NULL;
        }
        calibration_found(calibration, &finding);
    }
}

static bool run(struct calibration *calibration, struct error *error) {
    struct dispatch dispatch = {0};
    if (!dispatch_measure(calibration, &dispatch, error))
        return false;
    struct kernel_list list = {0};
    for (unsigned pair = 0; pair < PAIRS; pair++)
        for (unsigned form = 0; form < FORMS; form++)
            add_kernel(&list, pair, form, dispatch.no_ops_share);
    const bool good = calibration_measure_fastest(calibration, &list, error);
    if (good)
        conclude_all(calibration, list.results, dispatch_whole_width(&dispatch));
    kernel_list_free(&list);
    return good;
}

const struct calibrate_part calibrate_fused = {
    .name = "fused",
    .measures = "which µops are one: loads, moves, and operations on them",
    .keys = KEYS,
    .run = run};
