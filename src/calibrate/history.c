/* The history of branches that predicts a branch: how far back it reaches (Milenkovic, Milenkovic
 * and Kulick 2004).
 *
 *     a branch on a random bit; N branches that are always taken; a branch on the same bit
 *
 * The first one is mispredicted half of the time. The last one is predicted as long as the history
 * has the first one's outcome, N + 1 branches back, and beyond that is mispredicted as often. So
 * what random bits cost, against zeros, doubles at a step. The N where it is is narrowed down in
 * sweeps, each within the last one's step. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/parts.h"
#include "calibrate/random_bits.h"
#include "calibrate/step.h"
#include "util/order.h"

enum {
    BYTES = 1 << 20, /* of random bits; a power of two */
    SWEEP = 11,
    NEAREST = 8,
    FARTHEST = 1024,
    MOST_WRONG = 2, /* points of a sweep */
    TRIES = 3,      /* of sweeps without a step: other load */
    TRAINING = 1200 /* iterations: what a predictor needs to learn the last branch */
};
static const double LEAST_RISE = 1.4; /* to so many times what the first branch costs */

static void put_branch(struct assembler *code, ZydisMnemonic mnemonic, unsigned no_ops) {
    struct label next = {0};
    assembler_branch(code, mnemonic, &next);
    assembler_nops(code, no_ops);
    assembler_bind(code, &next);
}

/* A test leaves the carry clear. */
static void add_kernel(struct kernel_list *list, const struct host_data *data, unsigned n) {
    const struct host_kernel kernel = {
        .data = data, .iterations = 60, .warm = TRAINING, .precision = 0.005};
    struct assembler *code = kernel_list_add(list, &kernel);
    walk_begin(code);
    struct label loop = host_loop_begin(code);
    walk_step(code, ZYDIS_REGISTER_EBX, BYTES);
    ASSEMBLE(code, TEST, REG(EBX), REG(EBX));
    put_branch(code, ZYDIS_MNEMONIC_JNZ, 1);
    for (unsigned i = 0; i < n; i++)
        put_branch(code, ZYDIS_MNEMONIC_JNB, 0);
    ASSEMBLE(code, TEST, REG(EBX), REG(EBX));
    put_branch(code, ZYDIS_MNEMONIC_JNZ, 1);
    host_loop_end(code, &loop);
    walk_end(code);
}

struct search {
    struct step_point points[SWEEP];
    size_t count;
    unsigned below, above;
    double middle; /* between what one branch costs, in cycles, and what both do */
};

/* By factors of two, or by equal steps. Nearer branches are told apart by random ones before them,
 * too, of which there are too many to be learned. */
static void begin_sweep(struct search *search, bool whole) {
    search->count = 0;
    for (unsigned i = 0; i < SWEEP; i++) {
        const unsigned width = search->above - search->below;
        const unsigned n = whole ? (unsigned)NEAREST << i : search->below + i * width / (SWEEP - 1);
        if (n <= FARTHEST && (!search->count || n > search->points[search->count - 1].n))
            search->points[search->count++] = (struct step_point){n, NAN};
    }
}

static bool sweep(struct calibration *calibration, const struct random_bits *bits,
                  struct search *search, struct error *error) {
    struct kernel_list list = {0};
    for (size_t i = 0; i < search->count; i++)
        for (unsigned random = 0; random < 2; random++)
            add_kernel(&list, random ? &bits->random : &bits->zeros, search->points[i].n);
    const bool good = calibration_measure_fastest(calibration, &list, error);
    for (size_t i = 0; good && i < search->count; i++) {
        const struct host_result *pair = &list.results[2 * i];
        if (pair[0].state == HOST_MEASURED && pair[1].state == HOST_MEASURED)
            search->points[i].y = pair[1].cycles - pair[0].cycles;
    }
    kernel_list_free(&list);
    return good;
}

ORDER(compare, double, ascending(*a, *b))

/* Of the first sweep: a low cost and a high one, not the extremes. False: they are too near to each
 * other. */
static bool find_middle(struct search *search) {
    double costs[SWEEP];
    size_t count = 0;
    for (size_t i = 0; i < search->count; i++)
        if (isfinite(search->points[i].y))
            costs[count++] = search->points[i].y;
    qsort(costs, count, sizeof *costs, compare);
    const double low = count ? costs[count / 8] : 0;
    const double high = count ? costs[count - 1 - count / 8] : 0;
    search->middle = (low + high) / 2;
    return low > 0 && high > LEAST_RISE * low;
}

/* Where the fewest points lie on the wrong side, and of such places the farthest: a predictor has
 * not always learned what it could. False: more than a few do. */
static bool find_step(struct search *search) {
    size_t wrong = 0, fewest = SIZE_MAX, best = 0;
    for (size_t i = 0; i < search->count; i++)
        wrong += !(search->points[i].y > search->middle); /* were all of them beyond the step */
    for (size_t i = 0; i + 1 < search->count; i++) {      /* now 0 to i are not */
        if (search->points[i].y > search->middle)
            wrong++;
        else
            wrong--;
        if (wrong <= fewest) {
            fewest = wrong;
            best = i;
        }
    }
    search->below = search->points[best].n;
    search->above = search->points[best + 1].n;
    return fewest <= MOST_WRONG;
}

/* *found: the step lies between search->below and ->above, next to each other. */
static bool find(struct calibration *calibration, const struct random_bits *bits,
                 struct search *search, bool *found, struct error *error) {
    bool whole = true;
    unsigned tries = 0;
    do {
        begin_sweep(search, whole);
        if (!sweep(calibration, bits, search, error))
            return false;
        *found = (!whole || find_middle(search)) && find_step(search);
        whole = !*found;
    } while ((*found ? search->above - search->below > 1 : ++tries < TRIES) &&
             !calibration_stops(calibration));
    return true;
}

static bool run(struct calibration *calibration, struct error *error) {
    struct random_bits bits;
    if (!random_bits_make(&bits, BYTES, error))
        return false;
    struct search search = {0};
    struct finding finding = {
        .key = "branch.tage_max_history", .what = "history of branches", .unit = "branches"};
    bool found = false;
    const bool good = find(calibration, &bits, &search, &found, error);
    finding.value = search.below + 1.0;
    if (!found) {
        finding.state = FINDING_UNKNOWN;
        snprintf(finding.note, sizeof finding.note,
                 "no clear step up to %d branches between two that do the same", FARTHEST);
    }
    if (good)
        calibration_found(calibration, &finding);
    random_bits_free(&bits);
    return good;
}

static const char *const KEYS[] = {"branch.tage_max_history", NULL};
const struct calibrate_part calibrate_history = {
    .name = "history",
    .measures = "how far back the outcomes of branches predict one",
    .keys = KEYS,
    .run = run};
