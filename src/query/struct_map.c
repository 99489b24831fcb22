#include "query/struct_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/types.h"
#include "util/order.h"

/* ---- which struct ---- */

static bool is_struct(const struct field_row *row) {
    return row->type && row->type_size && row->field[0] && row->field[0] != '[';
}

static bool is_called(const char *type, const char *name) {
    const char *blank = strchr(type, ' ');
    return !strcmp(type, name) ||
           (blank && (!strncmp(type, "struct ", 7) || !strncmp(type, "union ", 6)) &&
            !strcmp(blank + 1, name));
}

static bool is_of(const struct field_row *row, const struct field_row *other) {
    return is_struct(row) && row->type_size == other->type_size && !strcmp(row->type, other->type);
}

/* A row of it; NULL: none. */
static const struct field_row *choose(const struct field_rows *rows, const char *type) {
    const struct field_row *best = NULL;
    uint64_t most_misses = 0, most = 0;
    for (uint32_t i = 0; i < rows->total; i++) {
        const struct field_row *row = &rows->rows[i];
        uint64_t misses = 0, units = 0;
        if (!is_struct(row) || (type && !is_called(row->type, type)))
            continue;
        for (uint32_t k = 0; k < rows->total; k++)
            if (is_of(&rows->rows[k], row)) {
                misses += rows->rows[k].miss_units;
                units += rows->rows[k].units;
            }
        if (!best || misses > most_misses || (misses == most_misses && units > most)) {
            best = row;
            most_misses = misses;
            most = units;
        }
    }
    return best;
}

/* ---- its fields ---- */

static bool list_fields(const struct field_row *row, struct struct_map *map) {
    struct type_leaf *leaves = calloc(MAP_FIELDS, sizeof *leaves);
    map->fields = calloc(MAP_FIELDS + 1, sizeof *map->fields);
    map->names = calloc(MAP_FIELDS, FIELD_PATH_BYTES);
    if (leaves && map->fields && map->names) {
        map->count = type_leaves(row->types, row->type_number, leaves, MAP_FIELDS);
        for (uint32_t i = 0; i < map->count; i++) {
            char *name = map->names + (size_t)i * FIELD_PATH_BYTES;
            memcpy(name, leaves[i].path, FIELD_PATH_BYTES);
            map->fields[i] = (struct map_field){
                .name = name, .offset = leaves[i].offset, .size = leaves[i].size};
        }
    }
    free(leaves);
    return map->names && map->fields;
}

static uint32_t field_at(const struct struct_map *map, uint64_t offset) {
    const size_t behind = first_where(i, map->count, map->fields[i].offset > offset);
    return behind ? (uint32_t)behind - 1 : FIELD_NONE;
}

static void sum_rows(const struct field_rows *rows, const struct field_row *chosen,
                     struct struct_map *map) {
    for (uint32_t i = 0; i < rows->total; i++) {
        const struct field_row *row = &rows->rows[i];
        const uint32_t at = is_of(row, chosen) ? field_at(map, row->offset) : FIELD_NONE;
        if (at == FIELD_NONE)
            continue;
        map->fields[at].executions += row->executions;
        map->fields[at].units += row->units;
        map->fields[at].miss_units += row->miss_units;
        map->executions += row->executions;
        map->units += row->units;
        map->miss_units += row->miss_units;
    }
}

/* ---- which are hot ---- */

struct cut {
    uint64_t least;
    double gap;
};
ORDER(by_accesses, uint64_t, descending(*a, *b))
ORDER(by_gap, struct cut, descending(a->gap, b->gap) ?: descending(a->least, b->least))

uint32_t struct_map_cuts(const struct struct_map *map, uint64_t cuts[MAP_CUTS]) {
    uint64_t accesses[MAP_FIELDS];
    struct cut found[MAP_FIELDS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < map->count; i++)
        accesses[i] = map->fields[i].executions;
    if (map->count)
        qsort(accesses, map->count, sizeof *accesses, by_accesses);
    for (uint32_t i = 0; i + 1 < map->count && accesses[i]; i++) {
        const double gap = (double)accesses[i] / (accesses[i + 1] ? (double)accesses[i + 1] : 0.5);
        if (gap >= MAP_GAP)
            found[count++] = (struct cut){accesses[i], gap};
    }
    if (count)
        qsort(found, count, sizeof *found, by_gap);
    count = count < MAP_CUTS ? count : MAP_CUTS;
    for (uint32_t i = 0; i < count; i++)
        cuts[i] = found[i].least;
    return count;
}

void struct_map_choose(struct struct_map *map, uint64_t least) {
    for (uint32_t i = 0; i < map->count; i++)
        map->fields[i].is_hot = map->fields[i].executions && map->fields[i].executions >= least;
}

void struct_map_hot_names(const struct struct_map *map, uint64_t least, char *text, size_t size) {
    size_t length = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < map->count && length < size; i++)
        if (map->fields[i].executions >= least)
            length += (size_t)snprintf(text + length, size - length, "%s%s", length ? ", " : "",
                                       map->fields[i].name);
}

bool struct_map_build(const struct field_rows *rows, uint32_t insn_count, const char *type,
                      struct struct_map *map, struct error *error) {
    const struct field_row *chosen = choose(rows, type);
    *map = (struct struct_map){.type = NULL};
    if (!chosen)
        return true;
    map->field_of = malloc(((size_t)insn_count + 1) * sizeof *map->field_of);
    map->offset_of = malloc(((size_t)insn_count + 1) * sizeof *map->offset_of);
    map->is_untyped = calloc((size_t)insn_count + 1, sizeof *map->is_untyped);
    if (!map->field_of || !map->offset_of || !map->is_untyped || !list_fields(chosen, map))
        return error_set(error, "out of memory for the map of a struct");
    map->type = chosen->type;
    map->size = chosen->type_size;
    map->insn_count = insn_count;
    sum_rows(rows, chosen, map);
    for (uint32_t i = 0; i < insn_count; i++) {
        const struct field_row *row =
            rows->row_of[i] == FIELD_NONE ? NULL : &rows->rows[rows->row_of[i]];
        const bool is_its = row && is_of(row, chosen);
        map->field_of[i] = is_its ? field_at(map, row->offset) : FIELD_NONE;
        map->is_untyped[i] = row && row->reason != ACCESS_KNOWN && row->reason != ACCESS_NONE;
        map->offset_of[i] = is_its && !row->is_element ? row->offset : UINT64_MAX;
    }
    return true;
}

void struct_map_free(struct struct_map *map) {
    free(map->fields);
    free(map->field_of);
    free(map->offset_of);
    free(map->is_untyped);
    free(map->names);
    *map = (struct struct_map){.type = NULL};
}
