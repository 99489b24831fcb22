/* Targets of branches: how many jumps the branch target buffer holds and what a jump costs that it
 * does not hold (Milenkovic, Milenkovic and Kulick 2004); those of indirect jumps are in
 * indirect.c.
 *
 * A loop over N jumps, each to the next, so many bytes on. Buffers find a jump by its address, and
 * none holds as many at every spacing: the one holds that at which most are predicted. Where it
 * replaces by age, jumps begin to miss at its entries, and all of them do at one way more; an
 * eighth of what a miss costs is where they begin. The entries are ways times a power of two: the
 * next lower multiple of an eighth of one. A jump whose target is not known ends the cycle's fetch,
 * so it takes a cycle and the penalty. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/indirect.h"
#include "calibrate/parts.h"
#include "calibrate/step.h"

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
        buffer.low = most->cycles[number];
        buffer.high = most->cycles[last];
        if (!narrow_down(calibration, &buffer, error))
            return false;
    }
    conclude_buffer(calibration, &buffer);
    return true;
}

static bool run(struct calibration *calibration, struct error *error) {
    return find_buffer(calibration, error) &&
           (calibration_stops(calibration) || indirect_measure(calibration, error));
}

static const char *const KEYS[] = {"branch.btb_entries", "branch.btb_miss_penalty",
                                   "branch.indirect_entries", NULL};
const struct calibrate_part calibrate_targets = {
    .name = "targets",
    .measures = "the branch target buffer, targets of indirect jumps",
    .keys = KEYS,
    .run = run};
