/* Main effects and interactions of two factors, where each combination of levels was observed once:
 * a full factorial design (Box, Hunter and Hunter 2005, ch. 5), of factors with two levels or more.
 *
 *     main effect of a level:       mean at the level - mean of all
 *     interaction of two levels:    mean at both - (mean of all + both main effects)
 *
 * With two levels, as there, the main effect of a factor is the difference of its levels' means,
 * twice what is given here. The sum of squared deviations from the mean of all is that of the
 * effects, each counted as often as its levels were observed, and of interactions of more factors:
 * what each factor and each pair has of it is its share. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

enum { FACTORIAL_MOST = 18 };

struct factorial_pair {
    uint32_t factors[2];
    double share;       /* of the sum of squares, 0 to 1 */
    uint32_t levels[2]; /* of the largest interaction, up or down; the first of several */
    double largest;     /* that one */
};

struct factorial {
    /* Set before. */
    uint32_t factor_count;
    uint32_t levels[FACTORIAL_MOST]; /* of each factor */
    const double *values;            /* of all combinations, the last factor varies fastest */

    double mean, squares;            /* of all; sum of squared deviations */
    double *effects[FACTORIAL_MOST]; /* of each level */
    double shares[FACTORIAL_MOST];
    struct factorial_pair *pairs; /* of factors of two levels or more, in their order */
    size_t pair_count;
    double rest; /* share of interactions of three factors and more */
};

/* factorial_free() either way. */
bool factorial_find(struct factorial *factorial, struct error *error);
void factorial_free(struct factorial *factorial);
