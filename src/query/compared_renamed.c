/* How often each mnemonic occurs in a function, by a hash of it: two functions are as alike as
 * these bags overlap. Only those that cost something are looked at, and each has but one partner.
 */
#include <stdlib.h>
#include <string.h>

#include "query/compared_lines.h"

enum { INSTRUCTIONS_LEAST = 8, CANDIDATES_MOST = 512 };
#define ALIKE       0.8  /* of the instructions of the larger function */
#define SHARE_LEAST 5e-4 /* of the run's cycles */

struct candidate {
    size_t number; /* of the function */
    const struct compared_function *function;
    uint16_t bag[COMPARED_KINDS];
    size_t instructions;       /* in the bag */
    struct candidate *partner; /* that is most like it; NULL: none is like it */
    double likeness;
};

struct candidates {
    struct candidate *items;
    size_t count;
};

unsigned compared_kind(const char *text) {
    unsigned kind = 5381;
    for (; *text && *text != ' '; text++)
        kind = kind * 33 + (unsigned char)*text;
    return (kind ^ kind >> 8 ^ kind >> 16) % COMPARED_KINDS;
}

/* 0: they are not known. */
static size_t instructions_of(const struct compared_function *function) {
    return function->rest ? function->rest->instructions : function->place_count;
}

static void fill_bag(const struct compared_function *function, uint16_t bag[COMPARED_KINDS]) {
    if (function->rest) {
        memcpy(bag, function->rest->kinds, COMPARED_KINDS * sizeof *bag);
        return;
    }
    for (size_t k = 0; k < function->place_count; k++)
        bag[compared_kind(function->places[k].text)]++;
}

static bool list(const struct compared_runs *runs, int side, const bool *matched,
                 struct candidates *candidates) {
    const double least = SHARE_LEAST * (double)runs->runs[side]->all.units;
    candidates->items = calloc(CANDIDATES_MOST, sizeof *candidates->items);
    for (size_t i = 0; candidates->items && i < runs->function_counts[side]; i++) {
        const struct compared_function *function = &runs->functions[side][i];
        const size_t instructions = instructions_of(function);
        if (matched[i] || instructions < INSTRUCTIONS_LEAST || instructions > UINT16_MAX ||
            (double)function->cost.units < least || candidates->count == CANDIDATES_MOST)
            continue;
        struct candidate *candidate = &candidates->items[candidates->count++];
        candidate->number = i;
        candidate->function = function;
        candidate->instructions = instructions;
        fill_bag(function, candidate->bag);
    }
    return candidates->items;
}

/* 0: nothing in common; 1: the same bag. */
static double likeness(const struct candidate *one, const struct candidate *other) {
    const size_t a = one->instructions, b = other->instructions;
    size_t common = 0;
    for (int i = 0; i < COMPARED_KINDS; i++)
        common += one->bag[i] < other->bag[i] ? one->bag[i] : other->bag[i];
    return 2 * (double)common / (double)(a + b);
}

static void consider(struct candidate *one, struct candidate *other, double like) {
    if (like < ALIKE || like <= one->likeness)
        return;
    one->likeness = like;
    one->partner = other;
}

bool compared_renamed_find(const struct compared_runs *runs, bool *const matched[2],
                           size_t *partners) {
    struct candidates sides[2] = {0};
    const bool good = list(runs, 0, matched[0], &sides[0]) && list(runs, 1, matched[1], &sides[1]);
    for (size_t i = 0; good && i < sides[0].count; i++)
        for (size_t k = 0; k < sides[1].count; k++) {
            struct candidate *before = &sides[0].items[i], *after = &sides[1].items[k];
            if (strcmp(before->function->image, after->function->image) != 0)
                continue;
            const double like = likeness(before, after);
            consider(before, after, like);
            consider(after, before, like);
        }
    for (size_t i = 0; good && i < sides[0].count; i++) {
        const struct candidate *before = &sides[0].items[i], *after = before->partner;
        if (!after || after->partner != before)
            continue;
        partners[before->number] = after->number;
        matched[0][before->number] = matched[1][after->number] = true;
    }
    free(sides[0].items);
    free(sides[1].items);
    return good;
}
