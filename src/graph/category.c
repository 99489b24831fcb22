/* A set of categories is applied to a weight one by one; the least counts. */
#include "graph/category.h"

#include <stdio.h>
#include <stdlib.h>

static_assert(GRAPH_PARTS <= 64, "parts fit a bit set");
static_assert(GRAPH_PART_MISS_L2 + (LEVEL_DRAM - LEVEL_L2) == GRAPH_PART_MISS_DRAM,
              "levels in order");

#define BIT(part) (UINT64_C(1) << (part))

void categories_standard(struct categories *categories) {
    static const uint64_t parts[] = {BIT(GRAPH_PART_FETCH_CACHE) | BIT(GRAPH_PART_FETCH_TLB),
                                     BIT(GRAPH_PART_WALK) | BIT(GRAPH_PART_MISS_L2) |
                                         BIT(GRAPH_PART_MISS_LLC) | BIT(GRAPH_PART_MISS_DRAM) |
                                         BIT(GRAPH_PART_WRITE),
                                     BIT(GRAPH_PART_L1),
                                     BIT(GRAPH_PART_SHORT),
                                     BIT(GRAPH_PART_LONG),
                                     BIT(GRAPH_PART_BANDWIDTH),
                                     BIT(GRAPH_PART_MISPREDICT),
                                     BIT(GRAPH_PART_WINDOW),
                                     BIT(GRAPH_PART_FORWARD)};
    *categories = (struct categories){0};
    for (uint32_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct category category = {.parts = parts[i]};
        struct error error;
        snprintf(category.name, sizeof category.name, "%s", ideal_name(i));
        categories_add(categories, &category, &error);
    }
}

void categories_free(struct categories *categories) {
    for (uint32_t i = 0; i < categories->count; i++)
        free(categories->list[i].insns);
    categories->count = 0;
}

static bool check(const struct categories *categories, const struct category *category,
                  struct error *error) {
    const uint64_t shared = BIT(GRAPH_PART_BANDWIDTH) | BIT(GRAPH_PART_WINDOW);
    if (categories->count == CATEGORIES_MAX)
        return error_set(error, "category %s: there can be no more than %d", category->name,
                         CATEGORIES_MAX);
    if (category->parts & shared && category->insns)
        return error_set(error, "category %s: bw and win belong to all instructions alike",
                         category->name);
    if (category->parts & (BIT(GRAPH_PART_BANDWIDTH) | BIT(GRAPH_PART_FORWARD)) &&
        category->change != CATEGORY_REMOVE)
        return error_set(error, "category %s: %s can be idealised wholly only", category->name,
                         category->parts & BIT(GRAPH_PART_BANDWIDTH) ? "bw" : "stfwd");
    bool window = category->parts & BIT(GRAPH_PART_WINDOW),
         scale = category->change == CATEGORY_SCALE;
    if (window && category->change != CATEGORY_REMOVE && (!scale || category->amount < 100))
        return error_set(error, "category %s: a window can only grow", category->name);
    if (scale && category->amount > 100 && category->parts != BIT(GRAPH_PART_WINDOW))
        return error_set(error, "category %s: only a window can grow", category->name);
    return true;
}

bool categories_add(struct categories *categories, const struct category *category,
                    struct error *error) {
    if (!check(categories, category, error)) {
        free(category->insns);
        return false;
    }
    uint32_t bit = 1u << categories->count;
    categories->list[categories->count++] = *category;
    if (category->insns)
        categories->restricted |= bit;
    for (uint32_t part = 0; part < GRAPH_PARTS && !category->insns; part++)
        if (category->parts & BIT(part))
            categories->everywhere[part] |= bit;
    return true;
}

static uint32_t changed(const struct category *category, uint32_t weight) {
    switch (category->change) {
    case CATEGORY_FASTER:
        return weight > category->amount ? weight - category->amount : 0;
    case CATEGORY_SCALE:
        return (uint32_t)((uint64_t)weight * category->amount / 100);
    default:
        return 0;
    }
}

uint32_t categories_weight(const struct categories *categories, uint32_t set, uint32_t weight) {
    uint32_t least = weight;
    for (; set; set &= set - 1) {
        uint32_t other = changed(&categories->list[__builtin_ctz(set)], weight);
        least = other < least ? other : least;
    }
    return least;
}

bool categories_keep(const struct categories *categories, uint32_t set) {
    for (; set; set &= set - 1)
        if (categories->list[__builtin_ctz(set)].change == CATEGORY_REMOVE)
            return false;
    return true;
}

uint32_t categories_window(const struct categories *categories, uint32_t set,
                           const struct graph_machine *machine) {
    uint64_t most = 0;
    for (set &= categories->everywhere[GRAPH_PART_WINDOW]; set; set &= set - 1) {
        const struct category *category = &categories->list[__builtin_ctz(set)];
        uint64_t window = machine->ideal_window;
        if (category->change == CATEGORY_SCALE)
            window = (uint64_t)machine->window * category->amount / 100;
        most = window > most ? window : most;
    }
    const uint32_t far = GRAPH_FAR / machine->most_of_place;
    return most < far ? (uint32_t)most : far;
}
