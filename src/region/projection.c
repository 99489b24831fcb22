/* The matrix is not stored: its row for a block comes from a hash of the block's id, the dimension
 * and the seed, eight dimensions at once, so that any id costs the same and no memory. */
#include "region/projection.h"

#include <stdlib.h>

#include "region/lanes.h"
#include "util/array.h"

void projection_init(struct projection *projection, uint32_t dimensions, uint64_t seed) {
    uint32_t lanes_of_point = (dimensions + PROJECTION_LANES - 1) / PROJECTION_LANES;
    *projection = (struct projection){
        .dimensions = dimensions, .stride = lanes_of_point * PROJECTION_LANES, .seed = seed};
}

void projection_free(struct projection *projection) {
    free(projection->coordinates);
    free(projection->instructions);
    projection->coordinates = NULL;
    projection->instructions = NULL;
    projection->count = projection->coordinate_capacity = projection->instruction_capacity = 0;
}

/* The 32-bit finaliser "lowbias32" (Wellons 2018), a bijection: for a number and for lanes. */
#define MIX(x)                                                                                     \
    do {                                                                                           \
        (x) ^= (x) >> 16;                                                                          \
        (x) *= 0x7feb352du;                                                                        \
        (x) ^= (x) >> 15;                                                                          \
        (x) *= 0x846ca68bu;                                                                        \
        (x) ^= (x) >> 16;                                                                          \
    } while (0)
static const uint32_t GOLDEN = 0x9e3779b9; /* 2^32 over the golden ratio: steps far apart */

/* Eight coordinates of the sum of counts times rows. */
MULTIVERSION
static void project(const uint32_t *blocks, const uint64_t *counts, size_t count, uint64_t seed,
                    uint32_t dimension, float *sums) {
    bit_lanes steps = {0, 1, 2, 3, 4, 5, 6, 7};
    steps = (steps + dimension) * GOLDEN;
    lanes sum = {0};
    for (size_t i = 0; i < count; i++) {
        uint32_t key = blocks[i] ^ (uint32_t)seed;
        MIX(key);
        key ^= (uint32_t)(seed >> 32);
        bit_lanes row = steps + key;
        MIX(row);
        sum += __builtin_convertvector((int_lanes)row, lanes) * (float)counts[i];
    }
    *(lanes *)sums = sum;
}

bool projection_add(struct projection *projection, const struct bbv_set *set, size_t slice,
                    struct error *error) {
    size_t need = (projection->count + 1) * projection->stride;
    if (!array_room(projection->coordinates, projection->coordinate_capacity, need) ||
        !array_room(projection->instructions, projection->instruction_capacity,
                    projection->count + 1))
        return error_set(error, "out of memory for %zu slices", projection->count + 1);
    const struct bbv_slice *from = set->slices + slice;
    float *point = projection->coordinates + projection->count * projection->stride;
    for (uint32_t i = 0; i < projection->stride; i += PROJECTION_LANES)
        project(set->blocks + from->first, set->counts + from->first, from->count, projection->seed,
                i, point + i);
    double scale = 0x1p-31 / (double)from->instructions;
    for (uint32_t i = 0; i < projection->stride; i++)
        point[i] = i < projection->dimensions ? (float)(point[i] * scale) : 0;
    projection->instructions[projection->count++] = from->instructions;
    return true;
}

/* The projection is linear, and a vector of several slices their mean by instructions. */
void projection_merge(struct projection *projection, size_t to, size_t from, size_t count) {
    const uint32_t stride = projection->stride;
    const uint64_t *instructions = projection->instructions + from;
    const uint64_t all = sum_over(uint64_t, i, count, instructions[i]);
    const float *slices = projection->coordinates + from * stride;
    float *merged = projection->coordinates + to * stride;
    for (uint32_t d = 0; d < stride; d++) {
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += (double)instructions[i] / (double)all * slices[i * stride + d];
        merged[d] = (float)sum;
    }
    projection->instructions[to] = all;
}

bool projection_read(struct projection *projection, const char *path, struct error *error) {
    struct bbv_reader *reader = bbv_reader_open(path, error);
    if (!reader)
        return false;
    struct bbv_set set = {0};
    int got;
    while ((got = bbv_reader_next(reader, &set, error)) > 0) {
        if (!projection_add(projection, &set, 0, error)) {
            got = -1;
            break;
        }
        bbv_set_clear(&set);
    }
    bbv_set_free(&set);
    bbv_reader_close(reader);
    return got == 0;
}
