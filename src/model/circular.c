/* The stack of a set lies in one piece of memory and its head is what most accesses find, so that
 * searching it from there is as good as any index. */
#include "model/circular.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

enum { FEW_WAYS = 4 };

bool circular_new(struct circular *circular, struct cache_shape shape, bool count_blocks) {
    assert(shape.ways >= 1 && shape.ways <= LOCALITY_MAX_WAYS);
    const size_t lines = (size_t)shape.sets * shape.ways;
    *circular = (struct circular){.shape = shape,
                                  .line_shift = (uint32_t)__builtin_ctz(shape.line),
                                  .set_mask = shape.sets - 1,
                                  .stacks = calloc(lines, sizeof *circular->stacks),
                                  .edges = calloc(shape.ways, sizeof *circular->edges),
                                  .counts = calloc(shape.ways, sizeof *circular->counts),
                                  .current = calloc(shape.ways, sizeof *circular->current),
                                  .set_hits = calloc(lines, sizeof *circular->set_hits),
                                  .count_blocks = count_blocks};
    return circular->stacks && circular->edges && circular->counts && circular->current &&
           circular->set_hits;
}

void circular_free(struct circular *circular) {
    footprint_free(&circular->footprint);
    free(circular->stacks);
    free(circular->edges);
    free(circular->counts);
    free(circular->current);
    free(circular->set_hits);
    *circular = (struct circular){0};
}

/* The windows of a set that are over when an access at `time` follows its last one. With few ways
 * all are looked at, which is faster than to guess where to end. */
static inline __attribute__((always_inline)) void
end_windows(struct circular *circular, const struct touch *stack, uint64_t time, uint32_t ways) {
    const uint64_t last = stack->time;
    const uint32_t over = windows_over(last, time);
    if (ways <= FEW_WAYS) {
#pragma GCC unroll 4
        for (uint32_t depth = 0; depth < ways; depth++) {
            uint32_t since = windows_over(stack[depth].time, last);
            since = since < over && stack[depth].block_plus_one ? since : over;
            circular->edges[depth][since]++;
            circular->edges[depth][over]--;
        }
        return;
    }
    for (uint32_t depth = 0; depth < ways && stack[depth].block_plus_one; depth++) {
        const uint32_t since = windows_over(stack[depth].time, last);
        if (since >= over)
            return;
        circular->edges[depth][since]++;
        circular->edges[depth][over]--;
    }
}

/* What of a sequence lies in intervals that are over is known; the rest waits. */
static inline void count_time(struct circular *circular, uint32_t depth, uint32_t octave,
                              uint64_t first, uint64_t end) {
    const struct pace *pace = circular->pace;
    const uint64_t begun = pace_begun(pace);
    if (first < begun) {
        const uint64_t over = end < begun ? end : begun;
        circular->counts[depth][octave].time += pace_clock(pace, over) - pace_clock(pace, first);
        first = over;
    }
    circular->current[depth][octave] += end - first;
}

void circular_pass(struct circular *circular, double cycles) {
    for (uint32_t depth = 0; depth < circular->shape.ways; depth++)
        for (uint32_t octave = 0; octave < LOCALITY_OCTAVES; octave++) {
            circular->counts[depth][octave].time +=
                (double)circular->current[depth][octave] * cycles;
            circular->current[depth][octave] = 0;
        }
}

static inline void count_sequence(struct circular *circular, uint32_t depth,
                                  const struct touch *first, uint64_t time, uint64_t number) {
    const uint64_t r = time - first->time + 1;
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(r);
    if (octave >= LOCALITY_OCTAVES)
        octave = LOCALITY_OCTAVES - 1;
    struct circular_count *count = &circular->counts[depth][octave];
    count->count++;
    count->r += r;
    count->n += number - first->number + 1;
    if (circular->pace)
        count_time(circular, depth, octave, first->time, time + 1);
    if (circular->count_blocks)
        circular->footprint.over[windows_over(first->time, time)]++;
}

/* The latest use comes first, and all before where its block was moves on by one, in one walk. What
 * was at its end: the last use of the same block at *depth, or that of the last block, which gives
 * way, or nothing. */
static inline __attribute__((always_inline)) struct touch
put_first(struct touch *stack, struct touch latest, uint32_t ways, uint32_t *depth) {
    struct touch moved = latest;
#pragma GCC unroll 4
    for (*depth = 0; *depth < ways; ++*depth) {
        const struct touch here = stack[*depth];
        stack[*depth] = moved;
        moved = here;
        if (here.block_plus_one == latest.block_plus_one || !here.block_plus_one)
            break;
    }
    return moved;
}

/* A block that is not in its set's stack, whose last one gives way. */
static __attribute__((noinline)) bool replace(struct circular *circular, const struct touch *last,
                                              uint64_t block, uint64_t time) {
    if (!circular->count_blocks)
        return true;
    return footprint_return(&circular->footprint, block, time) &&
           (!last->block_plus_one ||
            footprint_drop(&circular->footprint, last->block_plus_one - 1, last->time));
}

static inline __attribute__((always_inline)) uint32_t
add(struct circular *circular, uint64_t address, uint64_t time, uint32_t ways) {
    const uint64_t block = address >> circular->line_shift;
    const size_t set = block & circular->set_mask;
    struct touch *stack = &circular->stacks[set * ways];
    const uint64_t number = stack->number + 1;
    circular->accesses++;
    if (stack->block_plus_one)
        end_windows(circular, stack, time, ways);
    uint32_t depth;
    const struct touch moved =
        put_first(stack, (struct touch){block + 1, time, number}, ways, &depth);
    if (moved.block_plus_one == block + 1) {
        count_sequence(circular, depth, &moved, time, number);
        circular->set_hits[set * ways + depth]++;
        return depth + 1;
    }
    return replace(circular, &moved, block, time) ? ways + 1 : 0;
}

uint32_t circular_add(struct circular *circular, uint64_t address, uint64_t time) {
    return circular->shape.ways == FEW_WAYS ? add(circular, address, time, FEW_WAYS)
                                            : add(circular, address, time, circular->shape.ways);
}

bool circular_end(struct circular *circular, uint64_t run) {
    const uint32_t ways = circular->shape.ways;
    circular->run = run;
    for (size_t set = 0; set <= circular->set_mask; set++) {
        const struct touch *stack = &circular->stacks[set * ways];
        if (stack->block_plus_one)
            end_windows(circular, stack, run, ways);
        for (uint32_t i = 0; circular->count_blocks && i < ways && stack[i].block_plus_one; i++)
            circular->footprint.over[windows_over(stack[i].time, run)]++;
    }
    return footprint_end(&circular->footprint, run);
}

/* ---- levels ---- */

static uint32_t blocks_of(const struct circular *circular, size_t set, uint32_t most) {
    const struct touch *stack = &circular->stacks[set * circular->shape.ways];
    return (uint32_t)index_where(i, most, !stack[i].block_plus_one);
}

static void fill_sets(const struct circular *circular, struct locality_level *level) {
    for (size_t set = 0; set <= circular->set_mask; set++) {
        for (uint32_t depth = 0; depth < level->shape.ways; depth++)
            level->set_sequences[set] += circular->set_hits[set * circular->shape.ways + depth];
        if (blocks_of(circular, set, 1))
            level->set_touched[set / 64] |= 1ull << set % 64;
    }
}

/* more[j]: windows of point k in which a set had more than j blocks, over all sets. */
static void fill_point(struct locality_level *level, uint32_t k, const uint64_t *more,
                       uint64_t windows) {
    const uint32_t ways = level->shape.ways;
    level->sets[k] = (double)more[0] / (double)windows;
    for (uint32_t j = 0; j < ways && more[0]; j++)
        level->touched[j][k] =
            (double)(more[j] - (j + 1 < ways ? more[j + 1] : 0)) / (double)more[0];
}

/* Windows of 2^k, all but the last point. */
static void fill_windows(const struct circular *circular, struct locality_level *level) {
    uint64_t more[LOCALITY_MAX_WAYS] = {0};
    for (uint32_t k = 0; k + 1 < level->points; k++) {
        for (uint32_t j = 0; j < level->shape.ways; j++)
            more[j] += circular->edges[j][k];
        fill_point(level, k, more, circular->run >> k);
    }
}

static void fill_run(const struct circular *circular, struct locality_level *level) {
    uint64_t more[LOCALITY_MAX_WAYS] = {0};
    for (size_t set = 0; set <= circular->set_mask; set++) {
        const uint32_t blocks = blocks_of(circular, set, level->shape.ways);
        for (uint32_t j = 0; j < blocks; j++)
            more[j]++;
    }
    fill_point(level, level->points - 1, more, 1);
}

void circular_blocks(const struct circular *circular, struct locality_level *level) {
    uint64_t seen = 0;
    for (uint32_t k = LOCALITY_WINDOWS; k > 0; k--)
        seen += circular->footprint.over[k];
    for (uint32_t k = 0; k + 1 < level->points; k++) {
        level->blocks[k] = (double)seen / (double)(circular->run >> k);
        seen -= circular->footprint.over[k + 1];
    }
    level->blocks[level->points - 1] = (double)circular->footprint.distinct;
}

bool circular_level(const struct circular *circular, uint32_t ways, struct locality_level *level) {
    struct cache_shape shape = circular->shape;
    assert(ways >= 1 && ways <= shape.ways);
    shape.ways = ways;
    if (!locality_level_new(level, shape))
        return false;
    level->run = circular->run;
    level->accesses = level->misses = circular->accesses;
    memcpy(level->circular, circular->counts, ways * sizeof *level->circular);
    for (uint32_t depth = 0; depth < ways; depth++)
        for (uint32_t octave = 0; octave < LOCALITY_OCTAVES; octave++) {
            struct circular_count *count = &level->circular[depth][octave];
            level->misses -= count->count;
            count->time = circular->pace ? count->time / circular->pace->mean : (double)count->r;
        }
    level->points = locality_points(circular->run);
    fill_sets(circular, level);
    fill_windows(circular, level);
    fill_run(circular, level);
    if (circular->count_blocks)
        circular_blocks(circular, level);
    return true;
}

/* ---- what threads of a core share ---- */

bool circular_new_tlb(struct circular *circular, const struct machine_tlb *tlb,
                      uint32_t page_size) {
    const uint32_t ways = tlb->ways ? tlb->ways : tlb->entries;
    *circular = (struct circular){0};
    return ways == 0 || ways > LOCALITY_MAX_WAYS ||
           circular_new(circular, (struct cache_shape){tlb->entries / ways, ways, page_size},
                        false);
}

bool circular_new_l1(struct circular *circular, const struct machine_cache *cache) {
    *circular = (struct circular){0};
    return !cache->present || cache->ways > LOCALITY_MAX_WAYS ||
           circular_new(circular,
                        (struct cache_shape){(uint32_t)(cache->size / cache->line / cache->ways),
                                             cache->ways, cache->line},
                        false);
}

bool circular_finish(struct circular *circular, uint64_t run, struct locality_level *level) {
    return !circular->stacks || run == 0 ||
           (circular_end(circular, run) && circular_level(circular, circular->shape.ways, level));
}
