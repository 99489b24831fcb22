#include "util/factorial.h"

#include <math.h>
#include <stdlib.h>

#include "util/array.h"

static size_t combinations(const struct factorial *factorial) {
    size_t count = 1;
    for (uint32_t i = 0; i < factorial->factor_count; i++)
        count *= factorial->levels[i];
    return count;
}

/* Combinations that differ in nothing else: how far apart two levels that follow one another are.
 */
static size_t stride_of(const struct factorial *factorial, uint32_t factor) {
    size_t stride = 1;
    for (uint32_t i = factor + 1; i < factorial->factor_count; i++)
        stride *= factorial->levels[i];
    return stride;
}

static bool find_main(struct factorial *factorial, uint32_t factor) {
    const size_t count = combinations(factorial), stride = stride_of(factorial, factor);
    const uint32_t levels = factorial->levels[factor];
    const size_t observed = count / levels; /* each level, so often */
    double *effects = factorial->effects[factor] = calloc(levels, sizeof *effects);
    if (!effects)
        return false;
    for (size_t i = 0; i < count; i++)
        effects[i / stride % levels] += factorial->values[i] - factorial->mean;
    double squares = 0;
    for (uint32_t i = 0; i < levels; i++) {
        effects[i] /= (double)observed;
        squares += effects[i] * effects[i] * (double)observed;
    }
    factorial->shares[factor] = factorial->squares > 0 ? squares / factorial->squares : 0;
    return true;
}

static bool find_pair(struct factorial *factorial, uint32_t a, uint32_t b) {
    const size_t count = combinations(factorial);
    const size_t strides[2] = {stride_of(factorial, a), stride_of(factorial, b)};
    const uint32_t levels[2] = {factorial->levels[a], factorial->levels[b]};
    const size_t cells = (size_t)levels[0] * levels[1], observed = count / cells;
    struct factorial_pair *pair = &factorial->pairs[factorial->pair_count++];
    double *sums = calloc(cells, sizeof *sums), squares = 0;
    if (!sums)
        return false;
    *pair = (struct factorial_pair){.factors = {a, b}};
    for (size_t i = 0; i < count; i++)
        sums[i / strides[0] % levels[0] * levels[1] + i / strides[1] % levels[1]] +=
            factorial->values[i] - factorial->mean;
    for (size_t i = 0; i < cells; i++) {
        const uint32_t at[2] = {(uint32_t)(i / levels[1]), (uint32_t)(i % levels[1])};
        const double interaction = sums[i] / (double)observed - factorial->effects[a][at[0]] -
                                   factorial->effects[b][at[1]];
        squares += interaction * interaction * (double)observed;
        /* Those of two levels are as large as each other, but for rounding. */
        if (fabs(interaction) > fabs(pair->largest) * (1 + 1e-9)) {
            pair->largest = interaction;
            pair->levels[0] = at[0];
            pair->levels[1] = at[1];
        }
    }
    pair->share = factorial->squares > 0 ? squares / factorial->squares : 0;
    free(sums);
    return true;
}

bool factorial_find(struct factorial *factorial, struct error *error) {
    const size_t count = combinations(factorial);
    const uint32_t factors = factorial->factor_count;
    factorial->mean = sum_over(double, i, count, factorial->values[i]) / (double)count;
    factorial->squares = sum_over(double, i, count, ({
                                      const double off = factorial->values[i] - factorial->mean;
                                      off *off;
                                  }));
    factorial->pairs = calloc((size_t)factors * factors + 1, sizeof *factorial->pairs);
    bool good = factorial->pairs != NULL;
    for (uint32_t i = 0; good && i < factors; i++)
        good = find_main(factorial, i);
    for (uint32_t a = 0; good && a < factors; a++)
        for (uint32_t b = a + 1; good && b < factors; b++)
            if (factorial->levels[a] > 1 && factorial->levels[b] > 1)
                good = find_pair(factorial, a, b);
    factorial->rest = factorial->squares > 0 ? 1 : 0;
    for (uint32_t i = 0; good && i < factors; i++)
        factorial->rest -= factorial->shares[i];
    for (size_t i = 0; good && i < factorial->pair_count; i++)
        factorial->rest -= factorial->pairs[i].share;
    factorial->rest = factorial->rest > 1e-12 ? factorial->rest : 0;
    return good || error_set(error, "out of memory for effects");
}

void factorial_free(struct factorial *factorial) {
    for (uint32_t i = 0; i < factorial->factor_count; i++)
        free(factorial->effects[i]);
    free(factorial->pairs);
}
