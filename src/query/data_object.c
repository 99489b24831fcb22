#include "query/data_object.h"

#include <stdlib.h>

#include "query/function_walk.h"

enum {
    STACK_SLACK = 4096, /* a little beside what was pushed there are arguments and locals, too */
    MOST_LOADED = 1 << 24
};

/* How far files are from where they were linked to be: by the first instruction of each. */
static void find_places(struct data_map *map) {
    const struct code *code = map->code;
    for (uint32_t i = 0; i < code->insn_count; i++) {
        const uint32_t image = code->insns[i].image;
        uint64_t linked;
        if (map->places[image].known || !code_image_is_file(code, image) ||
            !program_offset_to_address(map->program, map->images[image], code->insns[i].offset,
                                       &linked))
            continue;
        map->places[image] =
            (struct data_image){.known = true, .bias = code->insns[i].address - linked};
    }
}

static void find_loaded(const struct data_map *map) {
    const struct code *code = map->code;
    for (size_t i = 0; i < map->sum->count; i++) {
        const struct moved_line *line = &map->sum->lines[i];
        uint8_t *loaded = &map->loaded[(size_t)line->process * code->image_count];
        for (size_t k = 0; k < line->side_count; k++)
            loaded[code->insns[line->sides[k].insn].image] = 1;
    }
}

bool data_map_build(struct data_map *map, const struct code *code, struct program *program,
                    const uint32_t *images, const struct line_traffic_sum *sum,
                    uint32_t process_count) {
    const size_t pairs = (size_t)process_count * code->image_count;
    *map = (struct data_map){.code = code,
                             .program = program,
                             .images = images,
                             .sum = sum,
                             .process_count = process_count};
    map->places = calloc((size_t)code->image_count + 1, sizeof *map->places);
    map->loaded = pairs <= MOST_LOADED ? calloc(pairs + 1, 1) : NULL;
    if (!map->places || (pairs <= MOST_LOADED && !map->loaded))
        return false;
    find_places(map);
    if (map->loaded)
        find_loaded(map);
    return true;
}

void data_map_free(struct data_map *map) {
    free(map->places);
    free(map->loaded);
}

static bool may_be_in(const struct data_map *map, uint32_t process, uint32_t image) {
    return map->places[image].known &&
           (!map->loaded || map->loaded[(size_t)process * map->code->image_count + image]);
}

struct data_object data_object_at(const struct data_map *map, uint32_t process, uint64_t address) {
    const struct line_traffic_sum *sum = map->sum;
    for (uint32_t i = 0; i < map->code->image_count; i++) {
        struct program_data data;
        if (may_be_in(map, process, i) &&
            program_locate_data(map->program, map->images[i], address - map->places[i].bias, &data))
            return (struct data_object){.kind = data.symbol ? DATA_SYMBOL : DATA_SECTION,
                                        .name = data.symbol ? data.symbol : data.section,
                                        .image = program_image_name(map->program, map->images[i]),
                                        .offset = data.offset,
                                        .size = data.size};
    }
    for (size_t i = 0; i < sum->stack_count; i++)
        if (sum->stacks[i].low <= sum->stacks[i].high && sum->stacks[i].process == process &&
            address + STACK_SLACK >= sum->stacks[i].low &&
            address <= sum->stacks[i].high + STACK_SLACK)
            return (struct data_object){.kind = DATA_STACK, .thread = (uint32_t)i};
    return (struct data_object){.kind = DATA_MEMORY};
}
