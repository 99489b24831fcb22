/* One struct of a program: its fields with what they cost, those never touched, too, and which are
 * hot. */
#pragma once

#include "query/field_rows.h"

enum { MAP_FIELDS = 256 };

struct map_field {
    const char *name; /* "key.left" */
    uint64_t offset, size;
    uint64_t executions, units, miss_units; /* of what accesses it, or begins in it */
    bool is_hot; /* has at least the accesses that struct_map_choose() was told */
};

struct struct_map {
    const char *type; /* NULL: no struct was accessed, or none of that name */
    uint64_t size;
    uint64_t units, miss_units, executions;
    struct map_field *fields; /* by offset */
    uint32_t count;
    uint32_t insn_count;
    uint32_t *field_of;  /* by static instruction: what it accesses; FIELD_NONE */
    uint64_t *offset_of; /* likewise: of the access in the struct; UINT64_MAX: an array's index in
                            it is not known */
    bool *is_untyped;    /* likewise: it accesses memory, and of what type is not known */
    char *names;
};

/* Of the struct of that name, with or without "struct"; NULL: of that which has most cycles with
 * misses, or else most cycles. `rows`: all of them. struct_map_free() either way. */
bool struct_map_build(const struct field_rows *rows, uint32_t insn_count, const char *type,
                      struct struct_map *map, struct error *error);
/* Where fields may be divided into hot and cold ones: numbers of accesses, each that of a field
 * that has at least MAP_GAP times those of the next one; at most MAP_CUTS, those of the widest
 * gaps. */
#define MAP_GAP 2.0
enum { MAP_CUTS = 3 };
uint32_t struct_map_cuts(const struct struct_map *map, uint64_t cuts[MAP_CUTS]);
/* Fields with so many accesses are hot. */
void struct_map_choose(struct struct_map *map, uint64_t least);
/* "key, next": of the fields that are hot then. */
void struct_map_hot_names(const struct struct_map *map, uint64_t least, char *text, size_t size);
void struct_map_free(struct struct_map *map);
