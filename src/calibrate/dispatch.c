/* A long loop of instructions that wait for nothing takes (instructions / width) cycles; which
 * width it is that holds them back depends on what else they need: no-ops and eliminated moves need
 * nothing, so dispatch and commit bound them; additions also need a unit each. Their number in a
 * loop is so large that the loop's own two instructions hardly count, and they are counted with the
 * others (Fog, microarchitecture.pdf; Abel and Reineke 2019). */
#include "calibrate/dispatch.h"

#include <math.h>

enum {
    LOOP = 478, /* instructions, 480 with the loop's own; some 2 KB fit any µop cache */
    TRIES = 10  /* while another thread of the core has its part */
};
static const double TWICE = 1.9, SLOWER = 0.9, WHOLE = 0.0125;

/* One instruction that waits for none of the last four. */
static void put(struct assembler *code, enum mix mix, unsigned i) {
    const ZydisRegister reg = ZYDIS_REGISTER_RAX + (i % 4); /* rax rcx rdx rbx */
    const ZydisRegister low = ZYDIS_REGISTER_EAX + (i % 4);
    switch (mix) {
    case MIX_NOPS:
        assembler_nops(code, 1);
        break;
    case MIX_ADDS: /* to rsi, rdi and r8 to r13: each waits for what is eight before. Of a register,
                      as some processors add constants while they rename */
        ASSEMBLE(code, ADD, operand_register(ZYDIS_REGISTER_RSI + (i % 8)), REG(RBP));
        break;
    case MIX_MOVES:
        ASSEMBLE(code, MOV, operand_register(reg), REG(RSI));
        break;
    case MIX_ZEROS:
        ASSEMBLE(code, XOR, operand_register(low), operand_register(low));
        break;
    case MIX_VECTOR_ADDS:
        ASSEMBLE(code, PADDD, operand_register(ZYDIS_REGISTER_XMM0 + (i % 8)), REG(XMM8));
        break;
    case MIX_ADDS_VECTOR_ADDS:
        put(code, i % 2 ? MIX_ADDS : MIX_VECTOR_ADDS, i / 2);
        break;
    default:
        put(code, i % 2 ? MIX_ADDS : MIX_NOPS, i / 2);
    }
}

static double rate(const struct dispatch *dispatch, enum mix mix) {
    const struct host_result *result = &dispatch->results[mix];
    return result->state == HOST_MEASURED ? 1 / result->cycles : 0;
}

void dispatch_conclude(struct dispatch *dispatch) {
    const double no_ops = rate(dispatch, MIX_NOPS);
    const double adds = rate(dispatch, MIX_ADDS), vectors = rate(dispatch, MIX_VECTOR_ADDS);
    const double by_turns = rate(dispatch, MIX_ADDS_VECTOR_ADDS);
    double others = 0;
    for (unsigned mix = 0; mix < MIXES; mix++)
        if (mix != MIX_NOPS && mix != MIX_ADDS_NOPS)
            others = fmax(others, rate(dispatch, mix));
    dispatch->no_ops_share = by_turns > 0 && no_ops >= TWICE * others &&
                             by_turns < SLOWER * fmin(no_ops, 2 * fmin(adds, vectors));
    const double width =
        dispatch->no_ops_share ? others : fmax(others, fmax(no_ops, rate(dispatch, MIX_ADDS_NOPS)));
    dispatch->width = round(width);
    dispatch->whole = width > 0.5 && fabs(width / dispatch->width - 1) < WHOLE;
}

static void take_faster(struct dispatch *dispatch, const struct host_result results[MIXES]) {
    for (unsigned mix = 0; mix < MIXES; mix++) {
        struct host_result *best = &dispatch->results[mix], result = results[mix];
        result.cycles /= LOOP;
        result.spread /= LOOP;
        if (best->state != HOST_MEASURED ||
            (result.state == HOST_MEASURED && result.cycles < best->cycles))
            *best = result;
    }
}

bool dispatch_measure(struct calibration *calibration, struct dispatch *dispatch,
                      struct error *error) {
    struct kernel_list list = {0};
    for (unsigned mix = 0; mix < MIXES; mix++) {
        struct assembler *code = kernel_list_add(&list, &(struct host_kernel){.iterations = 40});
        struct label loop = host_loop_begin(code);
        for (unsigned i = 0; i < LOOP; i++)
            put(code, mix, i);
        host_loop_end(code, &loop);
    }
    const unsigned tries = calibration->meter->simulated ? 1 : TRIES;
    bool good = true;
    for (unsigned i = 0; good && i < tries && !dispatch->whole; i++) {
        good = calibration_measure_fastest(calibration, &list, error);
        if (good)
            take_faster(dispatch, list.results);
        dispatch_conclude(dispatch);
        if (calibration_stops(calibration))
            break;
    }
    kernel_list_free(&list);
    return good;
}

unsigned dispatch_whole_width(const struct dispatch *dispatch) {
    return dispatch->width > 0 ? (unsigned)fmin(fmax(dispatch->width, 2), 16) : 4;
}

void dispatch_put_padding(struct assembler *code, unsigned count, bool moves) {
    if (!moves)
        assembler_nops(code, count);
    for (unsigned i = 0; moves && i < count; i++)
        ASSEMBLE(code, MOV, operand_register(ZYDIS_REGISTER_R8 + i % 4), REG(RSI));
}

double dispatch_saving(const struct host_result kernels[2], unsigned group) {
    return (1 - kernels[0].cycles / kernels[1].cycles) * (group + 1);
}
