/* A hash table of the rows. */
#include "graph/lanes/weights.h"

#include <string.h>

/* In place of cycles: the row is a mask. */
enum { KEEP = 1 << 16 };
enum { KEY_ALWAYS = 17, KEY_SET = 34, KEY_CYCLES = 1 << 17 };

void lanes_weights_init(struct lanes_weights *weights, const struct categories *categories) {
    weights->categories = categories;
    lanes_weights_clear(weights);
}

bool lanes_weights_hold(const struct lanes_weights *weights, uint32_t more) {
    return weights->count + more <= LANES_WEIGHTS;
}

void lanes_weights_clear(struct lanes_weights *weights) {
    memset(weights->rows, 0, sizeof weights->rows);
    weights->count = 2;
}

static void put(struct lanes_group *group, uint32_t at, int32_t value) {
    if (group->narrow)
        ((int16_t *)group->rows)[at] = (int16_t)value;
    else
        ((int32_t *)group->rows)[at] = value;
}

static void fill(const struct lanes_weights *weights, struct lanes_group *group,
                 const struct lanes_weight_row *row) {
    const struct categories *categories = weights->categories;
    uint32_t cycles = row->key & (KEY_CYCLES - 1), set = (uint32_t)(row->key >> KEY_SET);
    uint32_t always = row->key >> KEY_ALWAYS & (KEY_CYCLES - 1);
    for (uint32_t lane = 0; lane < LANES_GROUP; lane++) {
        uint32_t of_lane = group->sets[lane] & set;
        put(group, row->row + lane,
            cycles == KEEP ? -(int32_t)categories_keep(categories, of_lane)
                           : (int32_t)(always + categories_weight(categories, of_lane, cycles)));
    }
}

void lanes_weights_fill(const struct lanes_weights *weights, struct lanes_group *group) {
    for (uint32_t lane = 0; lane < LANES_GROUP; lane++) {
        put(group, LANES_NOTHING_ROW + lane, 0);
        put(group, LANES_NEVER_ROW + lane, group->narrow ? LANES_NARROW_NEVER : LANES_NEVER);
    }
    for (uint32_t at = 0; at < LANES_WEIGHTS_HASH; at++)
        if (weights->rows[at].row)
            fill(weights, group, &weights->rows[at]);
}

uint32_t lanes_weight(struct lanes_weights *weights, uint32_t set, uint32_t cycles,
                      uint32_t always) {
    if (cycles + always == 0)
        return LANES_NOTHING_ROW;
    uint64_t key = cycles | (uint64_t)always << KEY_ALWAYS | (uint64_t)set << KEY_SET;
    uint32_t at = (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % LANES_WEIGHTS_HASH;
    for (; weights->rows[at].row; at = (at + 1) % LANES_WEIGHTS_HASH)
        if (weights->rows[at].key == key)
            return weights->rows[at].row;
    weights->rows[at] = (struct lanes_weight_row){key, weights->count++ * LANES_GROUP};
    for (uint32_t i = 0; i < weights->group_count; i++)
        fill(weights, &weights->groups[i], &weights->rows[at]);
    return weights->rows[at].row;
}

uint32_t lanes_weight_of(struct lanes_weights *weights, unsigned part, uint32_t insn,
                         uint32_t cycles) {
    return cycles ? lanes_weight(weights, categories_of(weights->categories, part, insn), cycles, 0)
                  : (uint32_t)LANES_NOTHING_ROW;
}

uint32_t lanes_keep_of(struct lanes_weights *weights, unsigned part, uint32_t insn) {
    return lanes_weight(weights, categories_of(weights->categories, part, insn), KEEP, 0);
}
