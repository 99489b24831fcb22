/* Which basic block and which function each static instruction belongs to: the grains at which
 * profiles are compared (paper A §4). */
#pragma once

#include "attribute/profile_error.h"
#include "program/program.h"
#include "query/function_walk.h"
#include "trace/dynamic.h"

/* A basic block begins at the target of a branch (whether it was ever taken or not), where an
 * executed branch or a signal went, after a branch, at the beginning of a function, and after
 * bytes that never executed. Calls end blocks, as they are branches. Code without a symbol or
 * unwind table is one function per image. */
struct code_map {
    uint32_t *block_of, *function_of; /* per static instruction */
    uint32_t insn_count, block_count;
    struct function_walk walk; /* walk.functions[0 .. walk.count-1] */
};

/* code_map_free() either way; `code` and `program` must outlive the map. */
bool code_map_build(struct code_map *map, const struct code *code, struct program *program,
                    struct error *error);
void code_map_free(struct code_map *map);

struct units code_map_units(const struct code_map *map, enum grain grain);
