/* Targets of branches: how many jumps the branch target buffer holds and what a jump costs that it
 * does not hold (Milenkovic, Milenkovic and Kulick 2004); those of indirect jumps are in
 * indirect.c.
 *
 * A loop over N jumps, each to the next, so many bytes on. Buffers find a jump by its address, and
 * none holds as many at every spacing: the one holds that at which most are predicted. Where it
 * replaces by age, jumps begin to miss at its entries, and all of them do at one way more; an
 * eighth of what a miss costs is where they begin. The entries are ways times a power of two: the
 * next lower multiple of an eighth of one. A jump whose target is not known ends the cycle's fetch,
 * so it takes a cycle and the penalty.
 *
 * Of jumps to other pages a buffer may hold fewer: a loop over N jumps, by turns in the one and the
 * other half of a row. It holds as many as are there when half of what a miss costs is
 * reached. Where returns take entries as calls do, half as many calls and returns are predicted. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/indirect.h"
#include "calibrate/parts.h"
#include "calibrate/step.h"

enum {
    SPACINGS = 4,
    FIRST_JUMPS = 256,
    NUMBERS = 10, /* of jumps, each twice the one before */
    AT_ONCE = 3,
    FINE = 12,
    FAR_SPACINGS = 3,
    CALL_SPACING = 8,
    FINEST = 256 /* the step is known to such a part of its place */
};
static const unsigned SPACING[SPACINGS] = {2, 4, 8, 16};
static const unsigned FAR_SPACING[FAR_SPACINGS] = {6, 8, 16}; /* jumps of 5 bytes */
static const double NEARLY = 0.9;
static const double LEAST_MISS = 4.5; /* cycles; a buffer behind a smaller one takes up to 3 */

/* Code that begins with a line. */
static struct assembler *add_kernel(struct kernel_list *list) {
    const struct host_kernel kernel = {.iterations = 1, .warm = 3, .precision = 0.02};
    struct assembler *code = kernel_list_add(list, &kernel);
    assembler_align(code, 64);
    return code;
}

static void add_jumps(struct kernel_list *list, unsigned count, unsigned spacing) {
    uint8_t jump[16] = {0xeb, (uint8_t)(spacing - 2)}; /* jmp: what lies between is not executed */
    struct assembler *code = add_kernel(list);
    struct label loop = host_loop_begin(code);
    assembler_repeat(code, jump, spacing, count);
    host_loop_end(code, &loop);
}

/* A row of jumps to the jump of the same number in a second row, which goes back to the next one of
 * the first. Together they lie as one row, if that is more than two pages: so each set of a buffer
 * gets as many as of near ones. The end of the loop has the place of the last one. */
static void add_far_jumps(struct kernel_list *list, unsigned count, unsigned spacing) {
    enum { LENGTH = 5, FAR = 1 << 16 };
    uint8_t there[16] = {0xe9}, back[16] = {0xe9};
    struct assembler *code = add_kernel(list);
    const size_t row = (size_t)count / 2 * spacing;
    const int32_t between = (int32_t)(row < HOST_PAGE ? row + FAR : row);
    struct label loop = host_loop_begin(code);
    memcpy(there + 1, &(int32_t){between - LENGTH}, sizeof between);
    memcpy(back + 1, &(int32_t){(int32_t)spacing - between - LENGTH}, sizeof between);
    assembler_repeat(code, there, spacing, count / 2);
    assembler_nops(code, (size_t)between - row);
    assembler_repeat(code, back, spacing, count / 2 - 1);
    host_loop_end(code, &loop);
}

/* Calls of functions that only return: each of one of its own, or all of the first. */
static void add_calls(struct kernel_list *list, unsigned count, unsigned spacing, bool own) {
    enum { LENGTH = 5, BESIDE = 64, NOP = 0x90 };
    uint8_t call[16] = {0xe8}, back[16] = {0xc3};
    struct assembler *code = add_kernel(list);
    const size_t row = (size_t)count * spacing;
    struct label end = {0};
    memset(call + LENGTH, NOP, sizeof call - LENGTH); /* they are executed */
    struct label loop = host_loop_begin(code);
    const size_t begin = code->size;
    for (unsigned i = 0; i < count; i++) {
        const int32_t distance =
            (int32_t)(row + BESIDE) - LENGTH - (own ? 0 : (int32_t)(i * spacing));
        memcpy(call + 1, &distance, sizeof distance);
        assembler_bytes(code, call, spacing);
    }
    assembler_branch(code, ZYDIS_MNEMONIC_JMP, &end);
    assembler_nops(code, begin + row + BESIDE - code->size);
    assembler_repeat(code, back, spacing, own ? count : 1);
    assembler_bind(code, &end);
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
    void (*add)(struct kernel_list *list, unsigned count, unsigned spacing);
    unsigned spacing, below, above; /* the step lies between them */
    double low, high;               /* cycles of a jump before it and behind it */
};

/* The first numbers beyond a part of the step, closer and closer. */
static bool narrow_down(struct calibration *calibration, struct buffer *buffer, double part,
                        struct error *error) {
    const double border = buffer->low + (buffer->high - buffer->low) * part;
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
            buffer->add(&list, n, buffer->spacing);
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
        miss.value = buffer->high - 1;
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

/* Of as many jumps as the buffer holds to near targets, so far apart: how many it holds to other
 * pages. It stays as it is where that could not be measured, or not even a quarter is held: they do
 * not lie well in the buffer's sets. */
static bool find_far_apart(struct calibration *calibration, const struct buffer *near,
                           unsigned spacing, unsigned *held, struct error *error) {
    struct buffer buffer = {
        .add = add_far_jumps, .spacing = spacing, .below = near->below / 4, .above = near->below};
    const double rise = (near->high - near->low) / 2;
    struct kernel_list list = {0};
    add_far_jumps(&list, buffer.below, spacing);
    add_far_jumps(&list, buffer.above, spacing);
    const bool good = calibration_measure_fastest(calibration, &list, error);
    if (good) {
        buffer.low = jump_cycles(&list.results[0], buffer.below);
        buffer.high = jump_cycles(&list.results[1], buffer.above);
    }
    kernel_list_free(&list);
    const bool limited = buffer.high > buffer.low + rise;
    if (!good || (limited && !narrow_down(calibration, &buffer, 0.5, error)))
        return false;
    if (buffer.low < near->low + rise && isfinite(buffer.high))
        *held = limited ? buffer.below : eighths(near->below);
    return true;
}

/* *most: how many it holds at the best spacing; 0: it is not known. */
static bool find_far(struct calibration *calibration, const struct buffer *near, unsigned *most,
                     struct error *error) {
    struct finding far = {
        .key = "branch.far_jumps", .what = "of jumps to other pages", .unit = "jumps"};
    *most = 0;
    for (unsigned i = 0; near->spacing && i < FAR_SPACINGS && !calibration_stops(calibration);
         i++) {
        unsigned held = 0;
        if (!find_far_apart(calibration, near, FAR_SPACING[i], &held, error))
            return false;
        *most = held > *most ? held : *most;
    }
    far.state = *most ? FINDING_MEASURED : FINDING_UNKNOWN;
    far.value = *most;
    calibration_found(calibration, &far);
    return true;
}

/* Nearly as many calls as it holds: where their returns take entries there are twice as many
 * branches, and both a call and its return take what a miss costs. */
static bool find_returns(struct calibration *calibration, const struct buffer *near, unsigned far,
                         struct error *error) {
    struct finding returns = {.key = "branch.btb_returns",
                              .what = "it holds returns, too",
                              .unit = "",
                              .state = FINDING_UNKNOWN};
    struct kernel_list list = {0};
    if (far) {
        const unsigned count = (unsigned)(NEARLY * far);
        add_calls(&list, count, CALL_SPACING, false);
        add_calls(&list, count, CALL_SPACING, true);
        if (!calibration_measure_fastest(calibration, &list, error)) {
            kernel_list_free(&list);
            return false;
        }
        const double more =
            jump_cycles(&list.results[1], count) - jump_cycles(&list.results[0], count);
        if (!isnan(more)) {
            returns.state = FINDING_MEASURED;
            returns.word = more > near->high - near->low ? "yes" : "no";
        }
    }
    kernel_list_free(&list);
    calibration_found(calibration, &returns);
    return true;
}

static bool find_buffer(struct calibration *calibration, struct error *error) {
    struct jumps all[SPACINGS] = {0};
    struct buffer buffer = {.add = add_jumps};
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
        buffer.low = most->cycles[number];
        buffer.high = most->cycles[last];
        if (!narrow_down(calibration, &buffer, 0.125, error))
            return false;
    }
    conclude_buffer(calibration, &buffer);
    unsigned far;
    return find_far(calibration, &buffer, &far, error) &&
           find_returns(calibration, &buffer, far, error);
}

static bool run(struct calibration *calibration, struct error *error) {
    return find_buffer(calibration, error) &&
           (calibration_stops(calibration) || indirect_measure(calibration, error));
}

static const char *const KEYS[] = {"branch.btb_entries",      "branch.btb_far_ways",
                                   "branch.btb_returns",      "branch.btb_miss_penalty",
                                   "branch.indirect_entries", NULL};
const struct calibrate_part calibrate_targets = {
    .name = "targets",
    .measures = "the branch target buffer, targets of indirect jumps",
    .keys = KEYS,
    .run = run};
