/* Profiles as they are held and asked. */
#include "model/locality.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

const char *const locality_core_names[LOCALITY_CORE] = {
    [LOCALITY_L1I] = "l1i", [LOCALITY_ITLB] = "itlb", [LOCALITY_DTLB] = "dtlb"};
const double locality_foreign_rates[LOCALITY_FOREIGN_RATES] = {1.0 / 32, 1.0 / 16, 1.0 / 8, 1.0 / 4,
                                                               1.0 / 2};

bool locality_level_new(struct locality_level *level, struct cache_shape shape) {
    *level = (struct locality_level){
        .shape = shape,
        .points = 1,
        .circular = calloc(shape.ways, sizeof *level->circular),
        .touched = calloc(shape.ways, sizeof *level->touched),
        .set_sequences = calloc(shape.sets, sizeof *level->set_sequences),
        .set_touched = calloc(shape.sets / 64 + 1, sizeof *level->set_touched)};
    return level->circular && level->touched && level->set_sequences && level->set_touched;
}

void locality_level_free(struct locality_level *level) {
    for (uint32_t i = 0; level->crowded && i < level->crowded_count; i++)
        locality_level_free(&level->crowded[i]);
    free(level->crowded);
    free(level->circular);
    free(level->touched);
    free(level->set_sequences);
    free(level->set_touched);
    *level = (struct locality_level){0};
}

void locality_free(struct locality *locality) {
    for (uint32_t i = 0; locality->levels && i < locality->level_count; i++)
        locality_level_free(&locality->levels[i]);
    for (uint32_t i = 0; i < LOCALITY_CORE; i++)
        locality_level_free(&locality->core[i]);
    free(locality->levels);
    free(locality->program);
    free(locality->machine);
    *locality = (struct locality){0};
}

uint32_t locality_points(uint64_t run) {
    uint32_t points = 1;
    while (points < LOCALITY_WINDOWS && 1ull << (points - 1) < run)
        points++;
    return points;
}

/* Between which points x lies: `below` and the one above it, at `part` of the way in log x. */
struct between {
    uint32_t below;
    double part;
};

static struct between place_of(const struct locality_level *level, double x) {
    const uint32_t last = level->points - 1;
    if (last == 0 || x >= (double)level->run)
        return (struct between){last, 0};
    if (x <= 1)
        return (struct between){0, 0};
    uint32_t below = (uint32_t)ilogb(x);
    if (below > last - 1)
        below = last - 1;
    const double from = ldexp(1, (int)below);
    const double to = below + 1 == last ? (double)level->run : 2 * from;
    return (struct between){below, log2(x / from) / log2(to / from)};
}

static double value_at(const struct locality_level *level, const double *points, double x) {
    const struct between at = place_of(level, x);
    const double below = points[at.below];
    if (x < 1)
        return below * x;
    if (at.part == 0)
        return below;
    const double above = points[at.below + 1];
    return below > 0 ? below * pow(above / below, at.part) : above * at.part;
}

double locality_sets(const struct locality_level *level, double x) {
    return value_at(level, level->sets, x);
}

double locality_blocks(const struct locality_level *level, double x) {
    return value_at(level, level->blocks, x);
}

void locality_touched(const struct locality_level *level, double x, double *b) {
    const struct between at = place_of(level, x);
    /* Where no set was touched there is nothing to be in between of. */
    const bool alone = at.part == 0 || level->sets[at.below] == 0;
    const uint32_t only = at.part == 0 ? at.below : at.below + 1;
    for (uint32_t i = 0; i < level->shape.ways; i++)
        b[i] = alone ? level->touched[i][only]
                     : (1 - at.part) * level->touched[i][at.below] +
                           at.part * level->touched[i][at.below + 1];
}

bool cache_shapes_add(const char *text, uint32_t most, struct cache_shape *shapes, uint32_t *count,
                      struct error *error) {
    for (const char *at = text; *at;) {
        char *end;
        const unsigned long sets = strtoul(at, &end, 10);
        const unsigned long ways = *end == 'x' ? strtoul(end + 1, &end, 10) : 0;
        if (!sets || sets > 1 << 22 || sets & (sets - 1) || !ways || ways > LOCALITY_MAX_WAYS ||
            (*end && *end != ','))
            return error_set(error, "SETSxWAYS,... where sets are a power of two and ways 1 to %d",
                             LOCALITY_MAX_WAYS);
        if (*count == most)
            return error_set(error, "at most %" PRIu32, most);
        shapes[(*count)++] = (struct cache_shape){.sets = (uint32_t)sets, .ways = (uint32_t)ways};
        at = *end ? end + 1 : end;
    }
    return true;
}
