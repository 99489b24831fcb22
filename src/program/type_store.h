/* Inside of this room: what types.h's files share. */
#pragma once

#include <elfutils/libdw.h>

#include "isa/insn.h"
#include "program/elf_image.h"
#include "program/span.h"
#include "program/types.h"
#include "util/arena.h"
#include "util/hash_index.h"

enum {
    TYPES_MOST = 8 << 20, /* of an image: types, members, entities of its units */
    TYPE_DEPTH_MOST = 64, /* of types within types, and of nested scopes */
    TYPE_CHILDREN_MOST = 1 << 20
};

struct type_entry {
    struct type type;
    Dwarf_Die die;
    uint32_t first_member, member_count;
    bool has_members;
};

/* A named DIE of a unit: a type's definition, or a function. */
struct type_entity {
    const char *name; /* with its scope */
    Dwarf_Die die;
};

struct type_global {
    uint64_t start;
    Dwarf_Die die;
};

struct types {
    Dwarf *dwarf;
    enum isa isa;
    struct arena arena;
    struct type_entry **entries; /* by number */
    size_t entry_count, entry_capacity;
    struct hash_index entry_index; /* by DIE */
    struct type_member *members;
    size_t member_count, member_capacity;

    struct type_entity *definitions, *functions;
    size_t definition_count, definition_capacity, function_count, function_capacity;
    struct hash_index definition_index, function_index; /* by name */
    struct hash_index scope_index;                      /* definitions by DIE */
    struct type_global *globals;                        /* by start */
    size_t global_count, global_capacity;
    struct span *ranges;
    size_t range_count, range_capacity;
    Dwarf_Die *procedures; /* that `spans` number */
    size_t procedure_count, procedure_capacity;
    struct span_table spans; /* code to procedure */
};

/* Over an image's debugging information, which must outlive it. NULL: it has none, or out of
 * memory. */
struct types *types_new(const struct elf_image *described, enum isa isa);
void types_free(struct types *types);

/* Reads what the units name (type_units.c). */
bool type_units_read(struct types *types);
/* Calls `visit` for the children of a DIE until it returns false. */
void type_children(Dwarf_Die *above, bool (*visit)(void *context, Dwarf_Die *child), void *context);

/* The number of a DIE's type; TYPE_NONE: void, or none. */
uint32_t type_of_attribute(struct types *types, Dwarf_Die *die);
uint64_t type_name_hash(const char *name);
