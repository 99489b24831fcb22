/* Targets of branches: how many jumps the branch target buffer holds, what a jump costs that it
 * does not hold, and how many targets of one indirect jump are predicted (Milenkovic, Milenkovic
 * and Kulick 2004).
 *
 * Buffer: a loop over N jumps, each to the next, so many bytes on. Buffers find a jump by its
 * address, and none holds as many at every spacing: the one holds that at which most are predicted.
 * Where it replaces by age, jumps begin to miss at its entries, and all of them do at one way more;
 * an eighth of what a miss costs is where they begin. The entries are ways times a power of two:
 * the next lower multiple of an eighth of one. A jump whose target is not known ends the cycle's
 * fetch, so it takes a cycle and the penalty.
 *
 * Indirect: one jump to T targets in turn, in a random order that is always the same. Each target
 * tells the next one. Where half of the way is gone to what targets cost that nothing tells, half
 * of them are predicted: of a table that is found by a hash, where T is about its entries, as by
 * then two targets in three share an entry. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/parts.h"
#include "calibrate/step.h"
#include "util/random.h"

/* ---- the buffer ---- */

enum {
    SPACINGS = 4,
    FIRST_JUMPS = 256,
    NUMBERS = 10, /* of jumps, each twice the one before */
    AT_ONCE = 3,
    FINE = 12,
    FINEST = 256 /* the step is known to such a part of its place */
};
static const unsigned SPACING[SPACINGS] = {2, 4, 8, 16};
static const double LEAST_MISS = 3; /* cycles */

static void add_jumps(struct kernel_list *list, unsigned count, unsigned spacing) {
    uint8_t jump[16] = {0xeb, (uint8_t)(spacing - 2)}; /* jmp: what lies between is not executed */
    const struct host_kernel kernel = {.iterations = 1, .warm = 3, .precision = 0.02};
    struct assembler *code = kernel_list_add(list, &kernel);
    assembler_align(code, 64);
    struct label loop = host_loop_begin(code);
    assembler_repeat(code, jump, spacing, count);
    host_loop_end(code, &loop);
}

struct jumps {
    double cycles[NUMBERS]; /* of a jump; NAN: not measured */
    unsigned known;         /* numbers that were tried */
    unsigned held;          /* the largest that is predicted; 0: none, as far as is known */
    bool missed;            /* the next one is not */
};

static double jump_cycles(const struct host_result *result, unsigned count) {
    return result->state == HOST_MEASURED ? result->cycles / count : NAN;
}

/* `usual`: cycles of a jump that is held. */
static bool is_missed(const struct jumps *jumps, unsigned number, double usual) {
    return jumps->cycles[number] > usual + LEAST_MISS;
}

static void note_misses(struct jumps *jumps, double usual) {
    jumps->held = 0;
    jumps->missed = false;
    for (unsigned i = 0; i < jumps->known && !jumps->missed; i++)
        if (!is_missed(jumps, i, usual))
            jumps->held = FIRST_JUMPS << i;
        else /* and not for a moment */
            jumps->missed = i + 1 == jumps->known || is_missed(jumps, i + 1, usual);
}

/* The next numbers of those spacings at which no jumps are missed yet. */
static bool measure_jumps(struct calibration *calibration, struct jumps all[SPACINGS],
                          unsigned from, unsigned to, struct error *error) {
    struct kernel_list list = {0};
    for (unsigned s = 0; s < SPACINGS; s++)
        for (unsigned i = from; !all[s].missed && i < to; i++)
            add_jumps(&list, FIRST_JUMPS << i, SPACING[s]);
    const bool good = calibration_measure_fastest(calibration, &list, error);
    const struct host_result *result = list.results;
    double usual = INFINITY; /* few jumps, at whatever spacing they are held */
    for (unsigned s = 0; good && s < SPACINGS; s++) {
        for (unsigned i = from; !all[s].missed && i < to; i++)
            all[s].cycles[i] = jump_cycles(result++, FIRST_JUMPS << i);
        usual = fmin(usual, all[s].cycles[0]);
    }
    for (unsigned s = 0; good && s < SPACINGS; s++) {
        if (all[s].missed)
            continue;
        all[s].known = to;
        note_misses(&all[s], usual);
    }
    kernel_list_free(&list);
    return good;
}

struct buffer {
    unsigned spacing, below, above; /* the step lies between them */
    double low, high;               /* cycles of a jump before it and behind it */
    double first;                   /* of few jumps */
};

/* The first numbers beyond an eighth of the step, closer and closer. */
static bool narrow_down(struct calibration *calibration, struct buffer *buffer,
                        struct error *error) {
    const double border = buffer->low + (buffer->high - buffer->low) / 8;
    while (buffer->above - buffer->below > 1 + buffer->below / FINEST &&
           !calibration_stops(calibration)) {
        struct step_point points[FINE + 1];
        struct kernel_list list = {0};
        const unsigned width = buffer->above - buffer->below;
        unsigned count = 0;
        for (unsigned i = 0; i <= FINE; i++) {
            const unsigned n = buffer->below + i * width / FINE;
            if (count && n == points[count - 1].n)
                continue;
            points[count++].n = n;
            add_jumps(&list, n, buffer->spacing);
        }
        const bool good = calibration_measure_fastest(calibration, &list, error);
        for (unsigned i = 0; good && i < count; i++)
            points[i].y = jump_cycles(&list.results[i], points[i].n);
        kernel_list_free(&list);
        if (!good)
            return false;
        if (!step_across(points, count, border, &buffer->below, &buffer->above))
            break;
    }
    return true;
}

/* m × 2^k with m from 8 to 15, not above n. */
static unsigned eighths(unsigned n) {
    unsigned power = 1;
    while (n / power > 15)
        power *= 2;
    return n / power * power;
}

static void conclude_buffer(struct calibration *calibration, const struct buffer *buffer) {
    struct finding entries = {
        .key = "branch.btb_entries", .what = "branch target buffer", .unit = "jumps"};
    struct finding miss = {
        .key = "branch.btb_miss_penalty", .what = "a jump that it does not hold", .unit = "cycles"};
    if (buffer->spacing) {
        entries.value = eighths(buffer->below);
        miss.value = buffer->high - 1 - (buffer->low - buffer->first);
        snprintf(entries.note, sizeof entries.note,
                 "%u that are %u bytes apart, at other distances fewer", buffer->below,
                 buffer->spacing);
    } else {
        entries.state = miss.state = FINDING_UNKNOWN;
        snprintf(entries.note, sizeof entries.note, "no clear step up to %u jumps",
                 (unsigned)FIRST_JUMPS << (NUMBERS - 1));
    }
    calibration_found(calibration, &entries);
    calibration_found(calibration, &miss);
}

static bool find_buffer(struct calibration *calibration, struct error *error) {
    struct jumps all[SPACINGS] = {0};
    struct buffer buffer = {0};
    const struct jumps *most = NULL;
    bool go_on = true;
    for (unsigned from = 0; go_on && from < NUMBERS && !calibration_stops(calibration);
         from += AT_ONCE) {
        const unsigned to = from + AT_ONCE < NUMBERS ? from + AT_ONCE : NUMBERS;
        if (!measure_jumps(calibration, all, from, to, error))
            return false;
        go_on = false;
        for (unsigned s = 0; s < SPACINGS; s++)
            go_on |= !all[s].missed;
    }
    for (unsigned s = 0; s < SPACINGS; s++)
        if (all[s].missed && all[s].held && (!most || all[s].held > most->held)) {
            most = &all[s];
            buffer.spacing = SPACING[s];
        }
    if (most) {
        const unsigned number = (unsigned)__builtin_ctz(most->held / FIRST_JUMPS);
        const unsigned last = number + 2 < most->known ? number + 2 : number + 1;
        buffer.below = most->held;
        buffer.above = 2 * most->held;
        buffer.first = most->cycles[0];
        buffer.low = most->cycles[number];
        buffer.high = most->cycles[last];
        if (!narrow_down(calibration, &buffer, error))
            return false;
    }
    conclude_buffer(calibration, &buffer);
    return true;
}

/* ---- indirect jumps ---- */

enum {
    TABLE = 64,       /* offset of the table in the data, of displacements of 4 bytes */
    TARGET_BYTES = 6, /* from one to the next: jumps back, which any buffer's sets share evenly */
    FEWEST_TARGETS = 4,
    TARGETS = 26, /* numbers of them: by factors of the square root of two */
    TARGETS_AT_ONCE = 8,
    RANDOM_TARGETS = 64, /* in an order that nothing tells */
    RANDOM_LENGTH = 1 << 16
};
static const double SEEN = 0.8; /* share of the way: more targets need not be tried */

struct indirect {
    uint32_t *table; /* of displacements from the code's RBX */
    struct host_fill fill;
    struct host_data data;
};

static unsigned targets_of(unsigned number) {
    return (unsigned)lround(FEWEST_TARGETS * pow(2, number / 2.0));
}

/* The jump's code, and behind it the targets, which all go back to it. Returns where the first one
 * lies from what RBX holds. */
static uint32_t put_indirect(struct assembler *code, unsigned targets, unsigned length) {
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

/* `random`: any target after any other. */
static void add_indirect(struct kernel_list *list, struct indirect *indirect, unsigned targets,
                         bool random) {
    const unsigned length = random ? RANDOM_LENGTH : targets;
    indirect->table = calloc(length, sizeof *indirect->table);
    if (!indirect->table)
        return;
    indirect->fill = (struct host_fill){.kind = HOST_FILL_BYTES,
                                        .offset = TABLE,
                                        .size = length * sizeof *indirect->table,
                                        .bytes = indirect->table};
    indirect->data = (struct host_data){
        .size = TABLE + indirect->fill.size, .fills = &indirect->fill, .fill_count = 1};
    const struct host_kernel kernel = {.data = &indirect->data,
                                       .iterations = random ? 1000 : targets,
                                       .warm = random ? RANDOM_LENGTH : 8 * targets,
                                       .precision = 0.02};
    struct assembler *code = kernel_list_add(list, &kernel);
    const uint32_t first = put_indirect(code, targets, length);
    uint64_t state = 1;
    for (uint32_t i = 0; i < length; i++) {
        const uint32_t j = (uint32_t)(random_next(&state) % (random ? targets : i + 1));
        if (!random)
            indirect->table[i] = indirect->table[j];
        indirect->table[random ? i : j] = first + (random ? j : i) * TARGET_BYTES;
    }
}

/* Cycles of a jump, of so many numbers of targets from the first one on, or of one in random order.
 */
static bool measure_indirect(struct calibration *calibration, unsigned first, unsigned count,
                             bool random, double *cycles, struct error *error) {
    struct indirect *all = calloc(count, sizeof *all);
    struct kernel_list list = {0};
    bool good = all || error_set(error, "out of memory for tables of targets");
    for (unsigned i = 0; good && i < count; i++) {
        add_indirect(&list, &all[i], random ? RANDOM_TARGETS : targets_of(first + i), random);
        good = all[i].table || error_set(error, "out of memory for tables of targets");
    }
    good = good && calibration_measure_fastest(calibration, &list, error);
    for (unsigned i = 0; good && i < count; i++)
        cycles[i] = jump_cycles(&list.results[i], 1);
    kernel_list_free(&list);
    for (unsigned i = 0; all && i < count; i++)
        free(all[i].table);
    free(all);
    return good;
}

/* The number where the costs between two points are `middle`, if they rise evenly with its
 * logarithm.
 */
static double between(const struct step_point *points, unsigned below, unsigned above,
                      double middle) {
    while (points->n != below)
        points++;
    const double share = (middle - points[0].y) / (points[1].y - points[0].y);
    return below * pow((double)above / below, fmin(fmax(share, 0), 1));
}

static bool find_targets(struct calibration *calibration, struct error *error) {
    struct finding finding = {
        .key = "branch.indirect_targets", .what = "targets of an indirect jump", .unit = "targets"};
    struct step_point points[TARGETS];
    double wrong = NAN, cycles[TARGETS] = {NAN};
    unsigned known = 0, below = 0, above = 0;
    if (!measure_indirect(calibration, 0, 1, true, &wrong, error))
        return false;
    while (known < TARGETS && !calibration_stops(calibration)) {
        const unsigned left = TARGETS - known;
        const unsigned count = left < TARGETS_AT_ONCE ? left : TARGETS_AT_ONCE;
        if (!measure_indirect(calibration, known, count, false, cycles + known, error))
            return false;
        for (unsigned i = known; i < known + count; i++)
            points[i] = (struct step_point){targets_of(i), cycles[i]};
        known += count;
        if (cycles[known - 1] > cycles[0] + SEEN * (wrong - cycles[0]))
            break;
    }
    const double middle = (cycles[0] + wrong) / 2;
    if (known && wrong > cycles[0] + LEAST_MISS &&
        step_across(points, known, middle, &below, &above)) {
        finding.value = between(points, below, above, middle);
        finding.spread = (above - below) / 2.0;
    } else {
        finding.state = FINDING_UNKNOWN;
        snprintf(finding.note, sizeof finding.note, "no clear step up to %u targets",
                 targets_of(TARGETS - 1));
    }
    calibration_found(calibration, &finding);
    return true;
}

static bool run(struct calibration *calibration, struct error *error) {
    return find_buffer(calibration, error) &&
           (calibration_stops(calibration) || find_targets(calibration, error));
}

static const char *const KEYS[] = {"branch.btb_entries", "branch.btb_miss_penalty",
                                   "branch.indirect_entries", NULL};
const struct calibrate_part calibrate_targets = {
    .name = "targets",
    .measures = "the branch target buffer, targets of indirect jumps",
    .keys = KEYS,
    .run = run};
