/* Which µops are one until they execute: a load and the operation of its instruction
 * (micro-fusion), and a move or a load and the operation behind it that overwrites its target
 * (Redwood Cove; of moves also Zen 5). Of compare and branch: rename.c.
 *
 * Groups of such a pair and two no-ops, against the same with one of the no-ops between the two:
 * those are a µop more. Where no-ops share the µop of what is before them, moves are in their
 * place. The loops are small: a Granite Rapids makes one of a pair in those of up to some 40
 * instructions, and in longer ones only with no-ops of several bytes, if at all. */
#include <math.h>
#include <stdio.h>

#include "calibrate/dispatch.h"
#include "calibrate/parts.h"

enum { GROUPS = 6, GROUP = 3 /* µops, if two are one */, FORMS = 2 };
enum form { TOGETHER, APART };
enum pair { OPERAND, MOVE, LOAD, PAIRS };

static const struct host_data DATA = {.size = 4096};

static void put_pair(struct assembler *code, enum pair pair, enum form form, unsigned number,
                     bool moves) {
    const ZydisEncoderOperand target = operand_register(ZYDIS_REGISTER_R8 + number % 4);
    const int64_t offset = 8 * (number % 8);
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
    struct assembler *code =
        kernel_list_add(list, &(struct host_kernel){.data = &DATA, .iterations = 1000});
    struct label loop = host_loop_begin(code);
    for (unsigned i = 0; i < GROUPS; i++) {
        put_pair(code, pair, form, i, moves);
        dispatch_put_padding(code, GROUP - 1 - (form == APART), moves);
    }
    host_loop_end(code, &loop);
}

static void conclude(struct calibration *calibration, const struct host_result pair[FORMS],
                     unsigned width, const char *what, const char *key) {
    struct finding finding = {.key = key, .what = what, .unit = ""};
    if (finding_rests_on(&finding, pair, FORMS)) {
        const bool one = dispatch_saving(pair, GROUP) > 0.5;
        finding.word = one ? "yes" : "no";
        finding.spread = 0;
        if (!one && pair[TOGETHER].cycles / GROUPS / (GROUP + 1) * width > DISPATCH_MOST_OF_TWO) {
            finding.state = FINDING_UNKNOWN;
            snprintf(finding.note, sizeof finding.note,
                     "no difference is seen, but something else than dispatch holds them up");
        }
    }
    calibration_found(calibration, &finding);
}

/* Of OPERAND; the others have none. */
static const char *const KEYS[] = {"core.fuse_loads", NULL};

static bool run(struct calibration *calibration, struct error *error) {
    static const char *const WHAT[PAIRS] = {"a load and the operation of its instruction are one",
                                            "in a small loop a move and the operation behind it",
                                            "and a load and the operation behind it"};
    struct dispatch dispatch = {0};
    if (!dispatch_measure(calibration, &dispatch, error))
        return false;
    const unsigned width = dispatch_whole_width(&dispatch);
    struct kernel_list list = {0};
    for (unsigned pair = 0; pair < PAIRS; pair++)
        for (unsigned form = 0; form < FORMS; form++)
            add_kernel(&list, pair, form, dispatch.no_ops_share);
    const bool good = calibration_measure_fastest(calibration, &list, error);
    for (unsigned pair = 0; good && pair < PAIRS; pair++)
        conclude(calibration, &list.results[FORMS * pair], width, WHAT[pair],
                 pair == OPERAND ? KEYS[0] : NULL);
    kernel_list_free(&list);
    return good;
}

const struct calibrate_part calibrate_fused = {
    .name = "fused",
    .measures = "which µops are one: loads, moves, and the operations behind them",
    .keys = KEYS,
    .run = run};
