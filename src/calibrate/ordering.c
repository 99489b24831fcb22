/* Memory ordering: loads that pass older stores whose address is not known yet, and that are of the
 * same place after all (Fog, microarchitecture.pdf).
 *
 *     a chain of multiplications; a store, whose address is the end of it; a load; the load's value
 *     enters the next chain
 *
 * against the same with the load of another place. A core that knows the load lets it wait for the
 * store; one that does not has to run it, and what follows, again. Predictors of this remember few
 * loads, or not for long: many such loads, each with code of its own, and a long rest before them,
 * are not known, few without a rest are. */
#include <stdio.h>

#include "calibrate/parts.h"

enum {
    MANY = 256,
    FEW = 8,
    CHAIN = 8,
    REST = 40000, /* cycles at least */
    REST_LINKS = 20,
    REST_LINK = 3, /* cycles of a multiplication, at least */
    STORED = 512,
    ELSEWHERE = 1088
};

static const struct host_data DATA = {.size = HOST_PAGE};

/* rbx and what is loaded are 0; rcx is the chain, which is 0 as well. */
static void put_pair(struct assembler *code, bool same) {
    for (unsigned i = 0; i < CHAIN; i++)
        ASSEMBLE(code, IMUL, REG(RCX), REG(RBX));
    ASSEMBLE(code, LEA, REG(RAX), operand_memory(ZYDIS_REGISTER_R14, ZYDIS_REGISTER_RCX, 1, 0, 64));
    ASSEMBLE(code, MOV, MEMORY(RAX, STORED, 64), REG(RBX));
    ASSEMBLE(code, MOV, REG(RDX), MEMORY(R14, same ? STORED : ELSEWHERE, 64));
    ASSEMBLE(code, ADD, REG(RCX), REG(RDX));
}

static void put_rest(struct assembler *code) {
    ASSEMBLE(code, MOV, REG(EDI), IMMEDIATE(REST / REST_LINK / REST_LINKS));
    struct label next = assembler_here(code);
    for (unsigned i = 0; i < REST_LINKS; i++)
        ASSEMBLE(code, IMUL, REG(RSI), REG(RSI));
    ASSEMBLE(code, DEC, REG(EDI));
    assembler_branch(code, ZYDIS_MNEMONIC_JNZ, &next);
}

static void add_kernel(struct kernel_list *list, unsigned pairs, bool same) {
    const bool many = pairs == MANY;
    const struct host_kernel kernel = {
        .data = &DATA, .iterations = many ? 1 : 40, .warm = many ? 2 : 40};
    struct assembler *code = kernel_list_add(list, &kernel);
    struct label loop = host_loop_begin(code);
    if (many)
        put_rest(code);
    for (unsigned i = 0; i < pairs; i++)
        put_pair(code, same);
    host_loop_end(code, &loop);
}

static void conclude(struct calibration *calibration, const char *what, unsigned pairs,
                     const struct host_result results[2]) {
    struct finding finding = {.what = what, .unit = "cycles"};
    if (finding_rests_on(&finding, results, 2)) {
        finding.value = (results[1].cycles - results[0].cycles) / pairs;
        finding.spread = (results[0].spread + results[1].spread) / pairs;
    }
    calibration_found(calibration, &finding);
}

static bool run(struct calibration *calibration, struct error *error) {
    struct kernel_list list = {0};
    for (unsigned same = 0; same < 2; same++)
        add_kernel(&list, MANY, same);
    for (unsigned same = 0; same < 2; same++)
        add_kernel(&list, FEW, same);
    const bool good = calibration_measure_fastest(calibration, &list, error);
    if (good) {
        conclude(calibration, "a load that passed its store, besides", MANY, list.results);
        conclude(calibration, "a load that is known to follow it", FEW, list.results + 2);
    }
    kernel_list_free(&list);
    return good;
}

static const char *const KEYS[] = {NULL}; /* a flush takes more than core.violation_penalty */
const struct calibrate_part calibrate_ordering = {
    .name = "ordering",
    .measures = "loads that pass stores whose address comes late",
    .keys = KEYS,
    .run = run};
