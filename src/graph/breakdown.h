/* Parallelism-aware performance breakdowns (interaction-cost paper §2): the execution times t(S)
 * with every set S of categories idealised, of which cost and interaction cost follow (icost.h).
 *
 * A set is a bit set over the categories, bit 0 the first. Times are cycles, and may be means or
 * sums over fragments; NAN: not measured. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

enum { BREAKDOWN_CATEGORIES = 16, BREAKDOWN_NAME_BYTES = 64 };

struct breakdown {
    uint32_t count; /* of categories, 1 to BREAKDOWN_CATEGORIES */
    char names[BREAKDOWN_CATEGORIES][BREAKDOWN_NAME_BYTES];
    double *cycles;        /* [1 << count]: t(S); owned */
    uint64_t instructions; /* that they are the cycles of */
};

/* Nothing measured. Names are copied, and cut when too long. The caller calls breakdown_free()
 * either way. */
bool breakdown_init(struct breakdown *breakdown, uint32_t count, const char *const *names,
                    struct error *error);
void breakdown_free(struct breakdown *breakdown);

/* The same categories, all times 0: a sum to add to. */
void breakdown_clear(struct breakdown *breakdown);
/* Adds the times and instructions of another thread, fragment or program. It must have as many
 * categories. */
void breakdown_add(struct breakdown *sum, const struct breakdown *part);

/* Copies a breakdown; otherwise as breakdown_init(). */
bool breakdown_copy(struct breakdown *breakdown, const struct breakdown *from, struct error *error);
/* Scales the breakdown to so many instructions: times are multiplied by `factor`, and rounded to
 * whole cycles, so that sums of breakdowns do not depend on their order. */
void breakdown_scale(struct breakdown *breakdown, uint64_t instructions, double factor);

static inline uint32_t breakdown_sets(const struct breakdown *breakdown) {
    return 1u << breakdown->count;
}

/* Cycles; NAN when t(S) or t({}) was not measured. */
double breakdown_cost(const struct breakdown *breakdown, uint32_t set);
/* The icost of one set; NAN if one of its subsets was not measured. */
double breakdown_icost(const struct breakdown *breakdown, uint32_t set);
/* The icosts of all sets at once, into icosts[1 << count]. */
void breakdown_icosts(const struct breakdown *breakdown, double *icosts);

/* "dl1+win"; "nothing" of the empty set. Cut at `size`. Returns `text`. */
char *breakdown_set_name(const struct breakdown *breakdown, uint32_t set, char *text,
                         uint32_t size);

/* Writes the sets with `least` to `most` members whose icost was measured, the largest |icost|
 * first, to sets[], which must have room for all. Returns how many there are. */
uint32_t breakdown_rank(const struct breakdown *breakdown, const double *icosts, uint32_t least,
                        uint32_t most, uint32_t *sets);

/* How far a breakdown is from its reference, in percent of the execution time of each. */
struct breakdown_error {
    /* Mean and largest of |difference| ÷ |reference|, over those of the sets asked for whose
     * reference is 5 % of the time or more (Table IX); 0 when there are none. */
    double mean, largest;
    uint32_t sets;
    /* False alarms: how many of the sets asked for are 5 % or more as measured, and less than half
     * of that in the reference. */
    uint32_t false_alarms;
    /* How many pairs have an icost over 2 % of the time in either, and how many of them have the
     * same sign in both. */
    uint32_t pairs, same_sign;
};
/* Compares breakdowns with as many categories. What either did not measure is left out. */
struct breakdown_error breakdown_compare(const struct breakdown *reference,
                                         const struct breakdown *measured, const uint32_t *sets,
                                         uint32_t set_count);

/* No category is chosen for its pairs. */
enum { BREAKDOWN_NO_FOCUS = UINT32_MAX };

/* The category that costs most: the largest share of the time, on average over breakdowns of the
 * same categories; what was not measured counts as none. */
uint32_t breakdown_costliest(const struct breakdown *const *breakdowns, uint32_t count);

/* How the times were measured: by simulating anew with each set idealised, from the dependence
 * graph of one simulation, from the graph that a shotgun profiler puts together. */
enum breakdown_way { WAY_MULTISIM, WAY_GRAPH, WAY_PROFILER, WAY_COUNT };
