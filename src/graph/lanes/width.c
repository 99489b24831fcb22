/* Narrow groups: their cycles are moved back as dispatch goes on, become wide where 16 bits do not
 * hold them, and narrow again when they do. Rows are taken a vector of 16 cycles at a time.
 *
 * What is moved or made narrow is lost where it is too long ago. Of most nodes it cannot matter
 * then: an edge from them ends long before dispatch (LANES_NARROW_EARLY). F alone lags behind
 * dispatch, so of what it may wait for nothing must be lost. A window of slots that far behind
 * dispatch is shifted out wholly, wherever it begins. */
#include <string.h>

#include "graph/lanes/step.h"

#if defined __x86_64__
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))

enum { WIDTH = 16 };
typedef int16_t narrow __attribute__((vector_size(2 * WIDTH), may_alias));
typedef int32_t wide __attribute__((vector_size(4 * WIDTH), may_alias));

/* A group becomes or stays narrow only if it can then go on for at least two steps. */
enum { ROOM = 2 * LANES_NARROW_STEP };

static inline int32_t later(int32_t a, int32_t b) {
    return a > b ? a : b;
}

/* ---- rows ---- */

/* The rows of a layout that may hold cycles when the fragment has so many µops: ranges of rows, in
 * ascending order. Stores and misses are counted on from fragment to fragment. */
enum { RANGES = 10 };
struct range {
    uint32_t from, to;
};

static void find_ranges(const struct lanes_layout *layout, uint64_t number, struct range *ranges) {
    const struct lanes_ring rings[RANGES] = {
        layout->fetch,  layout->dispatch, layout->execute, layout->complete, layout->commit,
        layout->stores, layout->misses,   layout->written, layout->left,     layout->groups_left};
    for (uint32_t i = 0; i < RANGES; i++) {
        uint32_t rows = rings[i].rows;
        bool whole = number >= rows || rings[i].base == layout->stores.base ||
                     rings[i].base == layout->misses.base;
        ranges[i].from = rings[i].base;
        ranges[i].to = rings[i].base + (whole ? rows : (uint32_t)number) * LANES_GROUP;
    }
}

uint32_t lanes_rows(const struct lanes_layout *layout, uint64_t number) {
    struct range ranges[RANGES];
    uint32_t rows = 0;
    find_ranges(layout, number, ranges);
    for (uint32_t i = 0; i < RANGES; i++)
        rows += (ranges[i].to - ranges[i].from) / LANES_GROUP;
    return rows;
}

/* The earliest C that fetch may wait for. */
static uint32_t oldest_commit(const struct lanes_layout *layout, uint64_t number) {
    const struct lanes_ring *ring = &layout->commit;
    uint32_t oldest = number >= ring->rows ? (uint32_t)(number % ring->rows) : 0;
    return ring->base + oldest * LANES_GROUP;
}

/* ---- moving ---- */

/* How far dispatch is to be moved back. */
static_assert(LANES_NARROW_LAST + LANES_NARROW_STEP - LANES_NARROW_DISPATCH <= UINT16_MAX, "by");
static int32_t ahead(int32_t dispatch) {
    return later(dispatch - LANES_NARROW_DISPATCH, 0);
}

/* The cycles of a lane that must fit after the move, and by how much it moves. */
struct moving {
    int32_t fetch, commit, left, oldest, by;
    int64_t filled; /* MSHRs, until then */
};

static bool fits(const struct lanes_layout *layout, uint32_t lane, const struct moving *cycle) {
    int32_t last = later(cycle->commit, cycle->left);
    int64_t most = LANES_NARROW_LAST - ROOM + (int64_t)cycle->by;
    if (last > most || cycle->filled > most)
        return false;
    if (lane < LANES_BOUND)
        return cycle->fetch - cycle->by >= LANES_NARROW_EARLY;
    return layout->ideal || cycle->oldest - cycle->by > LANES_NARROW_NEVER;
}

/* What was long ago becomes NEVER. Cycles are compared as unsigned numbers, so that a lane may move
 * by more than half of the range of 16 bits. */
TARGET static void move_row(int16_t *row, const uint16_t *by, uint32_t lanes) {
    const __m256i sign = _mm256_set1_epi16(INT16_MIN);
    const __m256i never = _mm256_set1_epi16(LANES_NARROW_NEVER - INT16_MIN);
    for (uint32_t lane = 0; lane < lanes; lane += WIDTH) {
        __m256i *cycles = (__m256i *)(row + lane);
        __m256i cycle = _mm256_xor_si256(*cycles, sign);
        cycle = _mm256_subs_epu16(cycle, *(const __m256i *)(by + lane));
        *cycles = _mm256_xor_si256(_mm256_max_epu16(cycle, never), sign);
    }
}

bool lanes_move_narrow(struct lanes_group *group, uint64_t number) {
    const struct lanes_layout *layout = group->layout;
    struct range ranges[RANGES];
    uint32_t oldest = oldest_commit(layout, number);
    uint16_t by[LANES_GROUP] __attribute__((aligned(64)));
    int16_t *rows = (int16_t *)group->rows;
    int16_t *fetch = (int16_t *)group->fetch, *dispatch = (int16_t *)group->dispatch;
    int16_t *commit = (int16_t *)group->commit;
    for (uint32_t lane = 0; lane < LANES_GROUP; lane++) {
        by[lane] = (uint16_t)ahead(dispatch[lane]);
        struct moving cycle = {fetch[lane],
                               commit[lane],
                               rows[layout->left.base + lane],
                               rows[oldest + lane],
                               by[lane],
                               group->mshrs[lane].last * MSHR_CYCLES - group->offset[lane]};
        if (!fits(layout, lane, &cycle))
            return false;
    }
    find_ranges(layout, number, ranges);
    for (uint32_t i = 0; i < RANGES; i++)
        for (uint32_t at = ranges[i].from; at < ranges[i].to; at += LANES_GROUP)
            move_row(rows + at, by, LANES_GROUP);
    move_row(fetch, by, LANES_GROUP);
    move_row(dispatch, by, LANES_GROUP);
    move_row(commit, by, LANES_GROUP);
    move_row((int16_t *)group->base, by, LANES_BOUND);
    for (uint32_t lane = 0; lane < LANES_GROUP; lane++) {
        group->offset[lane] += by[lane];
        group->exact_fetch[lane] = later(group->exact_fetch[lane] - by[lane], LANES_NEVER);
    }
    return true;
}

/* ---- slots ---- */

enum { PLANE_BYTES = LANES_WORDS * LANES_PLANE_ROW };
static_assert(2 * LANES_NARROW_WORDS * LANES_BOUND == PLANE_BYTES, "the same bits");

/* Two narrow words are a wide one. */
static void widen_planes(struct lanes_group *group) {
    for (uint32_t plane = 0; plane < group->slots->planes; plane++) {
        uint16_t words[LANES_NARROW_WORDS][LANES_BOUND];
        uint32_t *wide_words = (uint32_t *)(group->planes + (size_t)plane * PLANE_BYTES);
        memcpy(words, wide_words, sizeof words);
        for (uint32_t word = 0; word < LANES_WORDS; word++)
            for (uint32_t lane = 0; lane < LANES_BOUND; lane++)
                wide_words[word * LANES_BOUND + lane] =
                    words[2 * word][lane] | (uint32_t)words[2 * word + 1][lane] << 16;
    }
}

static void narrow_planes(struct lanes_group *group) {
    for (uint32_t plane = 0; plane < group->slots->planes; plane++) {
        uint32_t words[LANES_WORDS][LANES_BOUND];
        uint16_t *narrow_words = (uint16_t *)(group->planes + (size_t)plane * PLANE_BYTES);
        memcpy(words, narrow_words, sizeof words);
        for (uint32_t word = 0; word < LANES_NARROW_WORDS; word++)
            for (uint32_t lane = 0; lane < LANES_BOUND; lane++)
                narrow_words[word * LANES_BOUND + lane] =
                    (uint16_t)(words[word / 2][lane] >> word % 2 * 16);
    }
}

/* Any counter may now count in any word, since vectors have other lanes than before. */
static void count_anywhere(struct lanes_group *group, uint32_t words) {
    uint32_t taken = 0;
    for (uint32_t k = 0; k < LANES_BOUND / 4; k++)
        taken |= group->taken[k];
    for (uint32_t k = 0; k < LANES_BOUND / 4; k++) {
        group->taken[k] = taken;
        group->words[k] = words;
    }
}

/* ---- becoming wide or narrow ---- */

/* In place, from the last cycle to the first. `by` is added. */
TARGET static void widen_row(const void *from, void *to, const int32_t *by, uint32_t lanes) {
    for (uint32_t lane = lanes; lane > 0; lane -= WIDTH) {
        wide cycle = __builtin_convertvector(((const narrow *)from)[lane / WIDTH - 1], wide);
        wide lost = cycle <= LANES_NARROW_NEVER;
        cycle += ((const wide *)by)[lane / WIDTH - 1];
        ((wide *)to)[lane / WIDTH - 1] = (cycle & ~lost) | (lost & LANES_NEVER);
    }
}

void lanes_widen(struct lanes_group *group, uint64_t number) {
    struct range ranges[RANGES];
    int32_t by[LANES_GROUP] __attribute__((aligned(64)));
    for (uint32_t lane = 0; lane < LANES_GROUP; lane++) {
        int64_t moved = group->offset[lane] / MSHR_PERIOD * MSHR_PERIOD;
        mshrs_move(&group->mshrs[lane], moved);
        by[lane] = (int32_t)(group->offset[lane] - moved);
        group->total[lane] += moved;
        group->offset[lane] = 0;
    }
    int16_t *narrow_rows = (int16_t *)group->rows;
    int32_t *rows = (int32_t *)group->rows;
    find_ranges(group->layout, number, ranges);
    for (uint32_t i = RANGES; i-- > 0;)
        for (uint32_t at = ranges[i].to; at > ranges[i].from; at -= LANES_GROUP)
            widen_row(narrow_rows + at - LANES_GROUP, rows + at - LANES_GROUP, by, LANES_GROUP);
    widen_row(group->fetch, group->fetch, by, LANES_BOUND);
    widen_row(group->dispatch, group->dispatch, by, LANES_GROUP);
    widen_row(group->commit, group->commit, by, LANES_GROUP);
    widen_row(group->base, group->base, by, LANES_BOUND);
    for (uint32_t lane = LANES_BOUND; lane < LANES_GROUP; lane++)
        group->fetch[lane] = group->exact_fetch[lane] + by[lane];
    widen_planes(group);
    count_anywhere(group, LANES_WORDS);
    group->narrow = false;
}

/* In place, from the first cycle to the last. */
TARGET static void narrow_row(const void *from, void *to, const int32_t *by, uint32_t lanes) {
    for (uint32_t lane = 0; lane < lanes; lane += WIDTH) {
        wide cycle = ((const wide *)from)[lane / WIDTH] - ((const wide *)by)[lane / WIDTH];
        wide lost = cycle < LANES_NARROW_NEVER;
        cycle = (cycle & ~lost) | (lost & LANES_NARROW_NEVER);
        ((narrow *)to)[lane / WIDTH] = __builtin_convertvector(cycle, narrow);
    }
}

bool lanes_narrow(struct lanes_group *group, uint64_t number) {
    const struct lanes_layout *layout = group->layout;
    struct range ranges[RANGES];
    uint32_t oldest = oldest_commit(layout, number);
    int32_t by[LANES_GROUP] __attribute__((aligned(64)));
    int32_t *rows = (int32_t *)group->rows;
    for (uint32_t lane = 0; lane < LANES_GROUP; lane++) {
        by[lane] = ahead(group->dispatch[lane]);
        struct moving cycle = {group->fetch[lane],
                               group->commit[lane],
                               rows[layout->left.base + lane],
                               rows[oldest + lane],
                               by[lane],
                               group->mshrs[lane].last * MSHR_CYCLES};
        if (!fits(layout, lane, &cycle))
            return false;
    }
    int16_t *narrow_rows = (int16_t *)group->rows;
    find_ranges(layout, number, ranges);
    for (uint32_t i = 0; i < RANGES; i++)
        for (uint32_t at = ranges[i].from; at < ranges[i].to; at += LANES_GROUP)
            narrow_row(rows + at, narrow_rows + at, by, LANES_GROUP);
    for (uint32_t lane = 0; lane < LANES_GROUP; lane++) {
        group->offset[lane] = by[lane];
        group->exact_fetch[lane] = later(group->fetch[lane] - by[lane], LANES_NEVER);
    }
    narrow_row(group->fetch, group->fetch, by, LANES_GROUP);
    narrow_row(group->dispatch, group->dispatch, by, LANES_GROUP);
    narrow_row(group->commit, group->commit, by, LANES_GROUP);
    narrow_row(group->base, group->base, by, LANES_BOUND);
    narrow_planes(group);
    count_anywhere(group, LANES_NARROW_WORDS);
    group->narrow = true;
    return true;
}
#endif
