/* See breakdown.h. */
#include "graph/breakdown.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/icost.h"
#include "util/order.h"

bool breakdown_init(struct breakdown *breakdown, uint32_t count, const char *const *names,
                    struct error *error) {
    memset(breakdown, 0, sizeof *breakdown);
    breakdown->count = count;
    for (uint32_t i = 0; i < count; i++)
        snprintf(breakdown->names[i], BREAKDOWN_NAME_BYTES, "%s", names[i]);
    breakdown->cycles = malloc(breakdown_sets(breakdown) * sizeof *breakdown->cycles);
    if (!breakdown->cycles)
        return error_set(error, "out of memory for a breakdown");
    for (uint32_t set = 0; set < breakdown_sets(breakdown); set++)
        breakdown->cycles[set] = NAN;
    return true;
}

void breakdown_free(struct breakdown *breakdown) {
    free(breakdown->cycles);
    memset(breakdown, 0, sizeof *breakdown);
}

void breakdown_clear(struct breakdown *breakdown) {
    for (uint32_t set = 0; set < breakdown_sets(breakdown); set++)
        breakdown->cycles[set] = 0;
    breakdown->instructions = 0;
}

void breakdown_add(struct breakdown *sum, const struct breakdown *part) {
    for (uint32_t set = 0; set < breakdown_sets(sum); set++)
        sum->cycles[set] += part->cycles[set];
    sum->instructions += part->instructions;
}

bool breakdown_copy(struct breakdown *breakdown, const struct breakdown *from,
                    struct error *error) {
    size_t size = breakdown_sets(from) * sizeof *from->cycles;
    *breakdown = *from;
    if (!(breakdown->cycles = malloc(size)))
        return error_set(error, "out of memory for a breakdown");
    memcpy(breakdown->cycles, from->cycles, size);
    return true;
}

void breakdown_scale(struct breakdown *breakdown, uint64_t instructions, double factor) {
    for (uint32_t set = 0; set < breakdown_sets(breakdown); set++)
        breakdown->cycles[set] = rint(breakdown->cycles[set] * factor);
    breakdown->instructions = instructions;
}

double breakdown_cost(const struct breakdown *breakdown, uint32_t set) {
    return icost_cost(breakdown->cycles, set);
}

double breakdown_icost(const struct breakdown *breakdown, uint32_t set) {
    return icost(breakdown->cycles, set);
}

void breakdown_icosts(const struct breakdown *breakdown, double *icosts) {
    icost_all(breakdown->cycles, breakdown->count, icosts);
}

char *breakdown_set_name(const struct breakdown *breakdown, uint32_t set, char *text,
                         uint32_t size) {
    uint32_t used = 0;
    snprintf(text, size, "nothing");
    for (uint32_t i = 0; i < breakdown->count && used < size; i++)
        if (set & 1u << i)
            used += (uint32_t)snprintf(text + used, size - used, "%s%s", used ? "+" : "",
                                       breakdown->names[i]);
    return text;
}

static int by_size(const void *left, const void *right, void *context) {
    const double *icosts = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return descending(fabs(icosts[a]), fabs(icosts[b])) ?: ascending(a, b);
}

uint32_t breakdown_rank(const struct breakdown *breakdown, const double *icosts, uint32_t least,
                        uint32_t most, uint32_t *sets) {
    uint32_t count = 0;
    for (uint32_t set = 1; set < breakdown_sets(breakdown); set++) {
        uint32_t members = (uint32_t)__builtin_popcount(set);
        if (members >= least && members <= most && !isnan(icosts[set]))
            sets[count++] = set;
    }
    qsort_r(sets, count, sizeof *sets, by_size, (void *)icosts);
    return count;
}

static double share(const struct breakdown *breakdown, uint32_t set) {
    return breakdown_icost(breakdown, set) / breakdown->cycles[0];
}

struct breakdown_error breakdown_compare(const struct breakdown *reference,
                                         const struct breakdown *measured, const uint32_t *sets,
                                         uint32_t set_count) {
    static const double LEAST = 0.05, LEAST_PAIR = 0.02;
    struct breakdown_error error = {0};
    for (uint32_t i = 0; i < set_count; i++) {
        double expected = share(reference, sets[i]), got = share(measured, sets[i]);
        if (isnan(expected) || isnan(got))
            continue;
        error.false_alarms += fabs(got) >= LEAST && fabs(expected) < fabs(got) / 2;
        if (fabs(expected) < LEAST)
            continue;
        double relative = fabs(got - expected) / fabs(expected);
        error.mean += relative;
        error.largest = fmax(error.largest, relative);
        error.sets++;
    }
    if (error.sets)
        error.mean /= error.sets;
    for (uint32_t a = 0; a < reference->count; a++)
        for (uint32_t b = a + 1; b < reference->count; b++) {
            uint32_t pair = 1u << a | 1u << b;
            double expected = share(reference, pair), got = share(measured, pair);
            if (isnan(expected) || isnan(got) || fmax(fabs(expected), fabs(got)) <= LEAST_PAIR)
                continue;
            error.pairs++;
            error.same_sign += (expected > 0) == (got > 0);
        }
    return error;
}

static double mean_share(const struct breakdown *const *breakdowns, uint32_t count, uint32_t set) {
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        double share = breakdown_icost(breakdowns[i], set) / breakdowns[i]->cycles[0];
        sum += isnan(share) ? 0 : share;
    }
    return sum / count;
}

uint32_t breakdown_costliest(const struct breakdown *const *breakdowns, uint32_t count) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < breakdowns[0]->count; i++)
        if (mean_share(breakdowns, count, 1u << i) > mean_share(breakdowns, count, 1u << best))
            best = i;
    return best;
}
