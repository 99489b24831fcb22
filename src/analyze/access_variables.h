/* Inside of this room: what debugging information says of a procedure's variables, at each of its
 * instructions. */
#pragma once

#include "analyze/access_state.h"
#include "util/hash_index.h"

struct cfg;
struct told;

struct access_variables {
    const struct cfg *cfg;
    struct types *types;
    struct variable_list list;
    uint32_t *first, *places; /* of the list, by instruction: first[i] to first[i + 1] */
    struct told *told;        /* of values by their origin */
    size_t told_count, told_capacity;
    struct hash_index told_index;
    bool is_again;   /* all is told: values are taken as variables told of their origin */
    bool has_failed; /* memory is out */
};

/* False: out of memory. To be freed in any case. */
bool access_variables_read(struct access_variables *variables, const struct cfg *cfg,
                           struct types *types);
void access_variables_free(struct access_variables *variables);

/* What variables say of registers before an instruction. */
void access_variables_take(struct access_variables *variables, uint32_t insn, struct state *state);
/* A value with what is told of its origin. */
struct value access_variables_told(const struct access_variables *variables,
                                   const struct value *value);

/* Whether a type is no struct, union or array. */
bool access_type_is_plain(struct types *types, uint32_t type);
/* The variable on the stack that holds `size` bytes there, the smallest; TYPE_NONE: none. */
uint32_t access_variables_on_stack(const struct access_variables *variables, uint32_t insn,
                                   const struct state *state, int64_t at, uint64_t size,
                                   int64_t *offset, bool *is_reference);
