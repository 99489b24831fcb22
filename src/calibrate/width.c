/* How many µops enter the core per cycle.
 *
 * A long loop of instructions that wait for nothing takes (instructions / width) cycles; which
 * width it is that holds them back depends on what else they need: no-ops and eliminated moves need
 * nothing, so dispatch and commit bound them; additions also need a unit each. Their number in a
 * loop is so large that the loop's own two instructions hardly count, and they are counted with the
 * others (Fog, microarchitecture.pdf; Abel and Reineke 2019). */
#include <math.h>

#include "calibrate/parts.h"

enum { LOOP = 480 /* instructions; some 2 KB fit any µop cache */ };

enum mix { NOPS, ADDS, MOVES, ZEROS, MIXED, MIXES };

/* One instruction that waits for none of the last eight. */
static void put(struct assembler *code, enum mix mix, unsigned i) {
    const ZydisRegister reg = ZYDIS_REGISTER_RAX + (i % 4); /* rax rcx rdx rbx */
    const ZydisRegister low = ZYDIS_REGISTER_EAX + (i % 4);
    switch (mix) {
    case NOPS:
        assembler_nops(code, 1);
        break;
    case ADDS: /* of r8 to r13 and rsi, rdi to themselves: each waits for what is eight before */
        ASSEMBLE(code, ADD, operand_register(ZYDIS_REGISTER_RSI + (i % 8)), IMMEDIATE(1));
        break;
    case MOVES:
        ASSEMBLE(code, MOV, operand_register(reg), REG(RSI));
        break;
    case ZEROS:
        ASSEMBLE(code, XOR, operand_register(low), operand_register(low));
        break;
    default:
        put(code, i % 2 ? ADDS : NOPS, i / 2);
    }
}

static bool run(struct calibration *calibration, struct error *error) {
    static const char *const WHAT[MIXES] = {"no-ops", "additions", "moves", "zeroing",
                                            "additions and no-ops"};
    struct kernel_list list = {0};
    struct finding width = {.key = "core.dispatch_width", .what = "dispatch width", .unit = "µops"};
    for (unsigned mix = 0; mix < MIXES; mix++) {
        struct assembler *code = kernel_list_add(&list, &(struct host_kernel){.iterations = 40});
        struct label loop = host_loop_begin(code);
        for (unsigned i = 0; i < LOOP; i++)
            put(code, mix, i);
        host_loop_end(code, &loop);
    }
    const bool good = calibration_measure_fastest(calibration, &list, error);
    for (unsigned mix = 0; good && mix < MIXES; mix++) {
        struct finding finding = {.what = WHAT[mix], .unit = "per cycle"};
        if (finding_rests_on(&finding, &list.results[mix], 1)) {
            finding.value = LOOP / list.results[mix].cycles;
            finding.spread *= finding.value / list.results[mix].cycles;
            width.value = fmax(width.value, finding.value);
        }
        calibration_found(calibration, &finding);
    }
    if (good && finding_rests_on(&width, list.results, 1)) {
        width.spread = 0;
        width.value = round(width.value);
    }
    if (good)
        calibration_found(calibration, &width);
    kernel_list_free(&list);
    return good;
}

static const char *const KEYS[] = {"core.dispatch_width", NULL};
const struct calibrate_part calibrate_width = {.name = "width",
                                               .measures =
                                                   "instructions per cycle that wait for nothing",
                                               .keys = KEYS,
                                               .run = run};
