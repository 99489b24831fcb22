/* How many targets of one indirect jump are predicted (Milenkovic, Milenkovic and Kulick 2004).
 *
 * A loop of one jump to T targets in turn, in a random order that is always the same. Where half of
 * the way is gone to what targets cost that nothing tells, half of them are predicted: of a table
 * that is found by a hash, where T is about its entries, as by then two targets in three share an
 * entry. The same loop with one target tells what all else takes.
 *
 * What tells the next target is the one before. Some processors go by conditional branches alone:
 * such know few, and then branches before the jump tell it, half of the bits that it takes by those
 * of the turn before. So they are few, as such branches have to be learned themselves, and as a
 * processor may remember no more than 12 (docs/results/branch-targets.md). */
#include "calibrate/indirect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/step.h"
#include "util/random.h"

enum {
    TABLE = 64,       /* offset of the table in the data, of displacements of 4 bytes */
    TARGET_BYTES = 6, /* from one to the next: jumps back, which any buffer's sets share evenly */
    SIZES = 26,
    SIZES_AT_ONCE = 8,
    RANDOM_TARGETS = 64, /* in an order that nothing tells */
    RANDOM_LENGTH = 1 << 16,
    DIGIT_AT = 24, /* bit of a table's entry from which on branches look at it */
    FEW = 128      /* targets: all tables have more entries */
};
static const double SEEN = 0.8;     /* share of the way: more targets need not be tried */
static const double LEAST_MISS = 3; /* cycles */

/* What tells the next target. */
static const struct telling {
    unsigned fewest;     /* targets that are tried */
    double per_doubling; /* of them: sizes */
    unsigned iterations; /* at least */
    unsigned warm;       /* times through all of them */
    bool branches;
    const char *note;
} BY_ORDER = {4, 2, 4, 8, false, ""},
  BY_BRANCHES = {64, 4, 512, 16, true, "that conditional branches tell; their order tells few"};

struct indirect {
    uint32_t *table; /* of displacements from the code's RBX */
    struct host_fill fill;
    struct host_data data;
};

static unsigned targets_of(const struct telling *telling, unsigned number) {
    return (unsigned)lround(telling->fewest * pow(2, number / telling->per_doubling));
}

/* ---- the kernels ---- */

/* Bits of a digit, of which two tell so many targets apart. */
static unsigned digit_bits(unsigned targets) {
    unsigned bits = 0;
    while (1u << 2 * bits < targets)
        bits++;
    return bits;
}

/* Branches that are taken where the bits of the entry's digit are set. */
static void put_telling(struct assembler *code, unsigned bits) {
    for (unsigned bit = 0; bit < bits; bit++) {
        struct label next = {0};
        ASSEMBLE(code, BT, REG(EAX), IMMEDIATE(DIGIT_AT + bit));
        assembler_branch(code, ZYDIS_MNEMONIC_JB, &next);
        assembler_nops(code, 1); /* else both ways are one */
        assembler_bind(code, &next);
    }
    ASSEMBLE(code, AND, REG(EAX), IMMEDIATE((1 << DIGIT_AT) - 1));
}

/* Digits of which no two in a row come again in that order: i, and i, j for each j > i (the de
 * Bruijn sequence of order 2 by Lyndon words). */
static void put_digits(uint32_t *table, unsigned targets) {
    const uint32_t base = 1u << digit_bits(targets);
    unsigned count = 0;
    for (uint32_t i = 0; i < base; i++) {
        if (count < targets)
            table[count++] |= i << DIGIT_AT;
        for (uint32_t j = i + 1; j < base; j++)
            for (unsigned k = 0; k < 2 && count < targets; k++)
                table[count++] |= (k ? j : i) << DIGIT_AT;
    }
}

/* The jump's code, and behind it the targets, which all go back to it. Returns where the first one
 * lies from what RBX holds. */
static uint32_t put_indirect(struct assembler *code, unsigned targets, unsigned length,
                             bool branches) {
    struct label here = {0}, back = {0}, end = {0};
    const ZydisEncoderOperand load[] = {
        REG(EAX), operand_memory(ZYDIS_REGISTER_R14, ZYDIS_REGISTER_R12, 4, TABLE, 32)};
    assembler_branch(code, ZYDIS_MNEMONIC_CALL, &here);
    const size_t from = code->size;
    assembler_bind(code, &here);
    ASSEMBLE(code, POP, REG(RBX));
    ASSEMBLE(code, MOV, REG(R12), MEMORY(R14, 0, 64));
    struct label loop = host_loop_begin(code);
    assembler_put(code, ZYDIS_MNEMONIC_MOV, load, 2);
    if (branches)
        put_telling(code, digit_bits(length));
    ASSEMBLE(code, INC, REG(R12));
    ASSEMBLE(code, CMP, REG(R12), IMMEDIATE(length));
    ASSEMBLE(code, CMOVZ, REG(R12), REG(RBP));
    ASSEMBLE(code, ADD, REG(RAX), REG(RBX));
    ASSEMBLE(code, JMP, REG(RAX));
    assembler_bind(code, &back);
    host_loop_end(code, &loop);
    ASSEMBLE(code, MOV, MEMORY(R14, 0, 64), REG(R12));
    assembler_branch(code, ZYDIS_MNEMONIC_JMP, &end);
    assembler_align(code, 64);
    const size_t first = code->size;
    for (unsigned i = 0; i < targets; i++) {
        assembler_branch(code, ZYDIS_MNEMONIC_JMP, &back);
        assembler_nops(code, first + (i + 1) * TARGET_BYTES - code->size);
    }
    assembler_bind(code, &end);
    return (uint32_t)(first - from);
}

/* A loop that goes through `length` entries of a table, which are of so many targets. */
static bool add_loop(struct kernel_list *list, struct indirect *indirect,
                     const struct host_kernel *loop, unsigned targets, unsigned length,
                     bool branches, uint32_t *first) {
    indirect->table = calloc(length, sizeof *indirect->table);
    if (!indirect->table)
        return false;
    indirect->fill = (struct host_fill){.kind = HOST_FILL_BYTES,
                                        .offset = TABLE,
                                        .size = length * sizeof *indirect->table,
                                        .bytes = indirect->table};
    indirect->data = (struct host_data){
        .size = TABLE + indirect->fill.size, .fills = &indirect->fill, .fill_count = 1};
    struct host_kernel kernel = *loop;
    kernel.data = &indirect->data;
    *first = put_indirect(kernel_list_add(list, &kernel), targets, length, branches);
    return true;
}

/* To each target in turn, or as often to the first. */
static bool add_in_turn(struct kernel_list *list, struct indirect *indirect,
                        const struct telling *telling, unsigned targets, bool one) {
    const unsigned once = targets > telling->iterations ? targets : telling->iterations;
    const struct host_kernel loop = {
        .iterations = once, .warm = telling->warm * once, .precision = 0.02};
    uint64_t state = 1;
    uint32_t first;
    if (!add_loop(list, indirect, &loop, targets, targets, telling->branches, &first))
        return false;
    for (uint32_t i = 0; i < targets; i++) {
        const uint32_t j = (uint32_t)(random_next(&state) % (i + 1));
        indirect->table[i] = indirect->table[j];
        indirect->table[j] = first + i * TARGET_BYTES;
    }
    for (uint32_t i = 0; one && i < targets; i++)
        indirect->table[i] = first;
    if (telling->branches)
        put_digits(indirect->table, targets);
    return true;
}

/* To any target after any other, or as often to the first. */
static bool add_random(struct kernel_list *list, struct indirect *indirect, bool one) {
    const struct host_kernel loop = {.iterations = 1000, .warm = RANDOM_LENGTH, .precision = 0.02};
    uint64_t state = 1;
    uint32_t first;
    if (!add_loop(list, indirect, &loop, RANDOM_TARGETS, RANDOM_LENGTH, false, &first))
        return false;
    for (uint32_t i = 0; i < RANDOM_LENGTH; i++)
        indirect->table[i] =
            first + (one ? 0 : random_next(&state) % RANDOM_TARGETS) * TARGET_BYTES;
    return true;
}

/* Cycles that a jump takes longer than one that always goes to the same target, of so many sizes
 * from number `from` on; telling NULL: of one in random order. */
static bool measure(struct calibration *calibration, const struct telling *telling, unsigned from,
                    unsigned count, double *cycles, struct error *error) {
    struct indirect *all = calloc(2 * (size_t)count, sizeof *all);
    struct kernel_list list = {0};
    bool good = all != NULL;
    for (unsigned i = 0; good && i < 2 * count; i++)
        good = telling
                   ? add_in_turn(&list, &all[i], telling, targets_of(telling, from + i / 2), i % 2)
                   : add_random(&list, &all[i], i % 2);
    good = good ? calibration_measure_fastest(calibration, &list, error)
                : error_set(error, "out of memory for tables of targets");
    for (unsigned i = 0; good && i < count; i++) {
        const struct host_result *pair = &list.results[2 * i];
        const bool measured = pair[0].state == HOST_MEASURED && pair[1].state == HOST_MEASURED;
        cycles[i] = measured ? pair[0].cycles - pair[1].cycles : NAN;
    }
    kernel_list_free(&list);
    for (unsigned i = 0; all && i < 2 * count; i++)
        free(all[i].table);
    free(all);
    return good;
}

/* ---- what was found ---- */

/* The number where the costs between two points are `middle`, if they rise evenly with its
 * logarithm. */
static double between(const struct step_point *points, unsigned below, unsigned above,
                      double middle) {
    while (points->n != below)
        points++;
    const double share = (middle - points[0].y) / (points[1].y - points[0].y);
    return below * pow((double)above / below, fmin(fmax(share, 0), 1));
}

/* `wrong`: cycles of a target that nothing tells. */
static bool find(struct calibration *calibration, const struct telling *telling, double wrong,
                 struct finding *finding, struct error *error) {
    struct step_point points[SIZES];
    double cycles[SIZES] = {NAN};
    unsigned known = 0, below = 0, above = 0;
    bool seen = false;
    while (!seen && known < SIZES && !calibration_stops(calibration)) {
        const unsigned left = SIZES - known;
        const unsigned count = left < SIZES_AT_ONCE ? left : SIZES_AT_ONCE;
        if (!measure(calibration, telling, known, count, cycles + known, error))
            return false;
        for (unsigned i = known; i < known + count; i++)
            points[i] = (struct step_point){targets_of(telling, i), cycles[i]};
        known += count;
        seen = cycles[known - 1] > cycles[0] + SEEN * (wrong - cycles[0]);
    }
    const double middle = (cycles[0] + wrong) / 2;
    *finding = (struct finding){
        .key = "branch.indirect_targets", .what = "targets of an indirect jump", .unit = "targets"};
    if (known && wrong > cycles[0] + LEAST_MISS &&
        step_across(points, known, middle, &below, &above)) {
        finding->value = between(points, below, above, middle);
        finding->spread = (above - below) / 2.0;
        snprintf(finding->note, sizeof finding->note, "%s", telling->note);
    } else {
        finding->state = FINDING_UNKNOWN;
        snprintf(finding->note, sizeof finding->note, "no clear step up to %u targets",
                 targets_of(telling, SIZES - 1));
    }
    return true;
}

bool indirect_measure(struct calibration *calibration, struct error *error) {
    struct finding finding, told;
    double wrong = NAN;
    if (!measure(calibration, NULL, 0, 1, &wrong, error) ||
        !find(calibration, &BY_ORDER, wrong, &finding, error))
        return false;
    if (finding.state != FINDING_MEASURED || finding.value < FEW) {
        if (!find(calibration, &BY_BRANCHES, wrong, &told, error))
            return false;
        if (told.state == FINDING_MEASURED)
            finding = told;
    }
    calibration_found(calibration, &finding);
    return true;
}
