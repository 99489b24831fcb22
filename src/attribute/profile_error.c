/* Reducing is a radix sort of two passes, by signature and by unit, as profiles of large programs
 * have hundreds of thousands of cells and are reduced many times. Sums of minima stay whole
 * numbers: the profile's cells times the reference's total against the reference's cells times the
 * profile's total, in 128 bits. */
#include "attribute/profile_error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/order.h"

const char *grain_name(enum grain grain) {
    static const char *const names[GRAIN_COUNT] = {"function", "basic_block", "instruction"};
    return (unsigned)grain < GRAIN_COUNT ? names[grain] : "?";
}

static uint32_t unit_of(const struct units *units, uint32_t insn) {
    if (!units || !units->unit_of)
        return insn;
    return insn < units->unit_of_count ? units->unit_of[insn]
                                       : units->unit_count + (insn - units->unit_of_count);
}

/* A stable counting sort by key(cell); `starts` has room for every key and one more. */
enum key { KEY_SIGNATURE, KEY_UNIT };
static void sort_by(enum key key, const struct pics_cell *from, struct pics_cell *to,
                    uint64_t count, uint64_t *starts, uint64_t keys) {
    memset(starts, 0, (keys + 1) * sizeof *starts);
    for (uint64_t i = 0; i < count; i++)
        starts[1 + (key == KEY_UNIT ? from[i].insn : from[i].psv)]++;
    for (uint64_t i = 0; i < keys; i++)
        starts[i + 1] += starts[i];
    for (uint64_t i = 0; i < count; i++)
        to[starts[key == KEY_UNIT ? from[i].insn : from[i].psv]++] = from[i];
}

/* Joins equal neighbours; returns how many cells are left. */
static uint64_t join(struct pics_cell *cells, uint64_t count) {
    uint64_t joined = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (joined && cells[joined - 1].insn == cells[i].insn &&
            cells[joined - 1].psv == cells[i].psv)
            cells[joined - 1].units += cells[i].units;
        else
            cells[joined++] = cells[i];
    }
    return joined;
}

bool profile_reduce(const struct pics_cell *cells, uint64_t count, const struct units *units,
                    uint32_t events, struct reduced_profile *reduced) {
    memset(reduced, 0, sizeof *reduced);
    uint64_t keys = PSV_COMBINATIONS;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t unit = unit_of(units, cells[i].insn);
        keys = unit >= keys ? unit + 1 : keys;
    }
    struct pics_cell *sorted = calloc(count ? count : 1, sizeof *sorted);
    struct pics_cell *other = malloc((count ? count : 1) * sizeof *other);
    uint64_t *starts = malloc((keys + 1) * sizeof *starts);
    bool room = sorted && other && starts;
    if (room) {
        for (uint64_t i = 0; i < count; i++) {
            sorted[i] = (struct pics_cell){unit_of(units, cells[i].insn), cells[i].psv & events,
                                           cells[i].units};
            reduced->total += cells[i].units;
        }
        sort_by(KEY_SIGNATURE, sorted, other, count, starts, PSV_COMBINATIONS);
        sort_by(KEY_UNIT, other, sorted, count, starts, keys);
        reduced->count = join(sorted, count);
        reduced->cells = sorted;
        sorted = NULL;
    }
    free(sorted);
    free(other);
    free(starts);
    return room;
}

void reduced_profile_free(struct reduced_profile *reduced) {
    free(reduced->cells);
    memset(reduced, 0, sizeof *reduced);
}

/* < 0, 0, > 0 as the cell comes before, at, after the other in their order. */
static int compare_cells(const struct pics_cell *a, const struct pics_cell *b) {
    return ascending(a->insn, b->insn) ?: ascending(a->psv, b->psv);
}

double profile_error(const struct reduced_profile *profile,
                     const struct reduced_profile *reference) {
    if (!reference->total)
        return 0;
    if (!profile->total)
        return 1;
    typedef unsigned __int128 wide;
    wide whole = (wide)reference->total * profile->total, correct = 0;
    uint64_t i = 0, j = 0;
    while (i < profile->count && j < reference->count) {
        const struct pics_cell *cell = &profile->cells[i], *truth = &reference->cells[j];
        int order = compare_cells(cell, truth);
        if (order == 0) {
            wide found = (wide)cell->units * reference->total;
            wide there = (wide)truth->units * profile->total;
            correct += found < there ? found : there;
        }
        i += order <= 0;
        j += order >= 0;
    }
    return (double)(whole - correct) / (double)whole;
}

double profile_spread(const struct reduced_profile *reference) {
    if (!reference->total)
        return 0;
    const double sum = sum_over(double, i, reference->count,
                                sqrt((double)reference->cells[i].units / (double)reference->total));
    return sum * sum;
}

/* ½ √(2/π) */
static const double HALF_MEAN_DEVIATION = 0.3989422804014327;

double error_floor(double spread, uint64_t samples) {
    double floor = samples ? HALF_MEAN_DEVIATION * sqrt(spread / (double)samples) : 1;
    return floor < 1 ? floor : 1;
}

uint64_t error_samples(double spread, double floor) {
    double root = HALF_MEAN_DEVIATION / floor, samples = ceil(spread * root * root);
    return samples < 1 ? 1 : samples < 0x1p63 ? (uint64_t)samples : UINT64_MAX;
}

double pearson_correlation(const double *x, const double *y, size_t n) {
    double mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;
    bool x_varies = false, y_varies = false; /* exactly: the sums of squares are rounded */
    for (size_t i = 0; i < n; i++) {
        x_varies |= x[i] != x[0];
        y_varies |= y[i] != y[0];
        mean_x += x[i] / (double)n;
        mean_y += y[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        double dx = x[i] - mean_x, dy = y[i] - mean_y;
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    return x_varies && y_varies ? xy / sqrt(xx * yy) : NAN;
}
