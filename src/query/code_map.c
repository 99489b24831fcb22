/* Instructions sorted by image and offset lie as in the program's text; a block goes on from one to
 * the next unless something begins or ends there. */
#include "query/code_map.h"

#include <stdlib.h>
#include <string.h>

#include "util/order.h"

/* A static instruction and its place. */
struct place {
    uint64_t offset;
    uint32_t image, insn;
};

ORDER(by_place, struct place, ascending(a->image, b->image) ?: ascending(a->offset, b->offset) ?:
           ascending(a->insn, b->insn))

/* The first place at or after (image, offset). */
static size_t find_place(const struct place *places, size_t count, uint32_t image,
                         uint64_t offset) {
    return first_where(i, count,
                       places[i].image > image ||
                           (places[i].image == image && places[i].offset >= offset));
}

/* Marks the targets of direct branches, and what control was seen to come to. */
static void mark_leaders(const struct code *code, const struct place *places, uint8_t *leads) {
    size_t count = code->insn_count;
    for (size_t i = 0; i < count; i++) {
        const struct static_insn *insn = &code->insns[places[i].insn];
        leads[i] |= insn->reached;
        if (insn->branch == BRANCH_NONE || !insn->target_displacement)
            continue;
        uint64_t target = insn->offset + (uint64_t)(int64_t)insn->target_displacement;
        for (size_t at = find_place(places, count, insn->image, target);
             at < count && places[at].image == insn->image && places[at].offset == target; at++)
            leads[at] = 1;
    }
}

static bool follows(const struct code *code, const struct place *place, const struct place *last) {
    const struct static_insn *insn = &code->insns[last->insn];
    return place->image == last->image && place->offset == last->offset + insn->length &&
           insn->branch == BRANCH_NONE;
}

static bool number(struct code_map *map, const struct code *code, const struct place *places,
                   const uint8_t *leads) {
    uint32_t last_function = 0;
    for (uint32_t i = 0; i < code->insn_count; i++) {
        size_t function = function_walk_step(&map->walk, places[i].image, places[i].offset);
        if (function == SIZE_MAX)
            return false;
        bool begins = i == 0 || leads[i] || function != last_function ||
                      !follows(code, &places[i], &places[i - 1]);
        last_function = (uint32_t)function;
        map->block_count += begins;
        map->block_of[places[i].insn] = map->block_count - 1;
        map->function_of[places[i].insn] = last_function;
    }
    return true;
}

bool code_map_build(struct code_map *map, const struct code *code, struct program *program,
                    struct error *error) {
    size_t count = code->insn_count, room = count ? count : 1;
    *map = (struct code_map){.insn_count = code->insn_count};
    map->block_of = malloc(room * sizeof *map->block_of);
    map->function_of = malloc(room * sizeof *map->function_of);
    struct place *places = malloc(room * sizeof *places);
    uint8_t *leads = calloc(room, 1);
    bool good = map->block_of && map->function_of && places && leads &&
                function_walk_begin(&map->walk, code, program);
    if (good) {
        for (uint32_t i = 0; i < count; i++)
            places[i] = (struct place){code->insns[i].offset, code->insns[i].image, i};
        qsort(places, count, sizeof *places, by_place);
        mark_leaders(code, places, leads);
        good = number(map, code, places, leads);
    }
    free(places);
    free(leads);
    return good || error_set(error, "out of memory for the map of the code");
}

void code_map_free(struct code_map *map) {
    free(map->block_of);
    free(map->function_of);
    function_walk_end(&map->walk);
    memset(map, 0, sizeof *map);
}

struct units code_map_units(const struct code_map *map, enum grain grain) {
    switch (grain) {
    case GRAIN_FUNCTION:
        return (struct units){map->function_of, map->insn_count, (uint32_t)map->walk.count};
    case GRAIN_BASIC_BLOCK:
        return (struct units){map->block_of, map->insn_count, map->block_count};
    default:
        return (struct units){NULL, 0, 0};
    }
}
