/* A bucket's misses are taken together by each cache, and what they will need is on its way before
 * it is needed. */
#include "model/shared_caches.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"

enum { MISSES_AHEAD = 8 };

static bool check_shape(const struct cache_shape *shape, struct error *error) {
    const bool good = shape->sets && !(shape->sets & (shape->sets - 1)) && shape->line >= 16 &&
                      !(shape->line & (shape->line - 1)) && shape->ways >= 1 &&
                      shape->ways <= LOCALITY_MAX_WAYS;
    return good ||
           error_set(error,
                     "a shared cache of %u sets, %u ways and lines of %u bytes: sets and lines "
                     "must be powers of two, lines 16 bytes or more, ways 1 to %d",
                     shape->sets, shape->ways, shape->line, LOCALITY_MAX_WAYS);
}

static uint32_t pass_of(const struct shared_caches *caches, struct cache_shape shape) {
    return (uint32_t)index_where(i, caches->pass_count,
                                 caches->passes[i].circular.shape.sets == shape.sets &&
                                     caches->passes[i].circular.shape.line == shape.line);
}

/* Blocks in windows depend on the line alone, and are counted in the largest cache of it, which
 * drops the fewest. */
static bool counts_blocks(const struct shared_caches *caches, uint32_t number) {
    const struct cache_shape shape = caches->passes[number].circular.shape;
    for (uint32_t i = 0; i < caches->pass_count; i++) {
        const struct cache_shape other = caches->passes[i].circular.shape;
        const uint64_t lines = (uint64_t)shape.sets * shape.ways,
                       of_other = (uint64_t)other.sets * other.ways;
        if (other.line == shape.line && (of_other > lines || (of_other == lines && i < number)))
            return false;
    }
    return true;
}

static bool group_shapes(struct shared_caches *caches, struct error *error) {
    for (uint32_t i = 0; i < caches->shape_count; i++) {
        const struct cache_shape shape = caches->shapes[i];
        if (!check_shape(&shape, error))
            return false;
        const uint32_t number = pass_of(caches, shape);
        struct cache_shape *largest = &caches->passes[number].circular.shape;
        if (number == caches->pass_count)
            *largest = shape;
        caches->pass_count += number == caches->pass_count;
        if (largest->ways < shape.ways)
            largest->ways = shape.ways;
    }
    return true;
}

/* Bits of the address that choose a set in every cache, the highest such. */
static bool make_buckets(struct shared_caches *caches) {
    uint32_t low = 0, high = 64;
    for (uint32_t i = 0; i < caches->pass_count; i++) {
        const struct cache_shape shape = caches->passes[i].circular.shape;
        const uint32_t from = (uint32_t)__builtin_ctz(shape.line),
                       to = from + (uint32_t)__builtin_ctz(shape.sets);
        low = from > low ? from : low;
        high = to < high ? to : high;
    }
    uint32_t count = 1;
    while (count < SHARED_CACHES_BUCKETS && high > low) {
        count *= 2;
        high--;
    }
    caches->bucket_shift = high;
    caches->bucket_mask = count - 1;
    caches->buckets = calloc(count, sizeof *caches->buckets);
    return caches->buckets;
}

bool shared_caches_new(struct shared_caches *caches, const struct cache_shape *shapes,
                       uint32_t count, struct error *error) {
    *caches =
        (struct shared_caches){.shapes = malloc(count * sizeof *shapes + 1), .shape_count = count};
    caches->passes = calloc(count, sizeof *caches->passes);
    if (!caches->shapes || !caches->passes)
        return error_set(error, "out of memory for %u shared caches", count);
    memcpy(caches->shapes, shapes, count * sizeof *shapes);
    if (!group_shapes(caches, error))
        return false;
    if (!make_buckets(caches))
        return error_set(error, "out of memory for %u shared caches", count);
    for (uint32_t i = 0; i < caches->pass_count; i++)
        if (counts_blocks(caches, i))
            for (uint32_t k = 0; k < caches->pass_count; k++)
                if (caches->passes[k].circular.shape.line == caches->passes[i].circular.shape.line)
                    caches->passes[k].footprint = i;
    for (uint32_t i = 0; i < caches->pass_count; i++) {
        struct circular *circular = &caches->passes[i].circular;
        if (!circular_new(circular, circular->shape, caches->passes[i].footprint == i))
            return error_set(error, "out of memory for a shared cache");
    }
    return true;
}

void shared_caches_free(struct shared_caches *caches) {
    for (uint32_t i = 0; caches->passes && i < caches->pass_count; i++)
        circular_free(&caches->passes[i].circular);
    free(caches->passes);
    free(caches->shapes);
    free(caches->buckets);
}

static bool take(struct circular *circular, const struct shared_bucket *bucket) {
    const struct shared_miss *misses = bucket->misses;
    for (uint32_t k = 0; k < bucket->count; k++) {
        if (k + MISSES_AHEAD < bucket->count)
            circular_prefetch(circular, misses[k + MISSES_AHEAD].address);
        if (!circular_add(circular, misses[k].address, misses[k].time))
            return false;
    }
    return true;
}

bool shared_caches_take_bucket(struct shared_caches *caches, struct shared_bucket *bucket) {
    for (uint32_t i = 0; i < caches->pass_count; i++)
        if (!take(&caches->passes[i].circular, bucket))
            return false;
    bucket->count = 0;
    return true;
}

bool shared_caches_take(struct shared_caches *caches) {
    for (uint32_t i = 0; i <= caches->bucket_mask; i++)
        if (!shared_caches_take_bucket(caches, &caches->buckets[i]))
            return false;
    return true;
}

void shared_caches_follow(struct shared_caches *caches, const struct pace *pace) {
    for (uint32_t i = 0; i < caches->pass_count; i++)
        circular_follow(&caches->passes[i].circular, pace);
}

void shared_caches_pass(struct shared_caches *caches, double cycles) {
    for (uint32_t i = 0; i < caches->pass_count; i++)
        circular_pass(&caches->passes[i].circular, cycles);
}

void shared_caches_count(const struct shared_caches *caches, uint64_t *accesses, uint64_t *misses) {
    const struct circular *first = &caches->passes[pass_of(caches, *caches->shapes)].circular;
    *accesses = *misses = first->accesses;
    for (uint32_t depth = 0; depth < caches->shapes->ways; depth++)
        for (uint32_t octave = 0; octave < LOCALITY_OCTAVES; octave++)
            *misses -= first->counts[depth][octave].count;
}

bool shared_caches_levels(struct shared_caches *caches, uint64_t run,
                          struct locality_level *levels) {
    bool good = shared_caches_take(caches);
    for (uint32_t i = 0; good && i < caches->pass_count; i++)
        good = circular_end(&caches->passes[i].circular, run);
    for (uint32_t i = 0; good && i < caches->shape_count; i++) {
        const struct shared_pass *pass = &caches->passes[pass_of(caches, caches->shapes[i])];
        const struct circular *counted = &caches->passes[pass->footprint].circular;
        good = circular_level(&pass->circular, caches->shapes[i].ways, &levels[i]);
        if (good)
            circular_blocks(counted, &levels[i]);
    }
    return good;
}
