/* The types and variables that an image's DWARF tells of: what a pointer points to, which member is
 * at an offset, where a variable is while an instruction executes.
 *
 * Types are numbers. They are read when they are first asked about; qualifiers and typedefs are
 * looked through, and a type that is only declared is looked for by its name in the other units.
 * Damaged or hostile DWARF gives fewer types: counts and depths are bounded. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/insn.h"

#define TYPE_NONE UINT32_MAX

enum type_kind {
    TYPE_OPAQUE,  /* void, or declared and nowhere defined */
    TYPE_SCALAR,  /* number, enumeration */
    TYPE_POINTER, /* reference, too */
    TYPE_RECORD,  /* struct, class */
    TYPE_UNION,
    TYPE_ARRAY,
    TYPE_FUNCTION
};

struct type {
    uint8_t kind;     /* enum type_kind */
    const char *name; /* "struct node", "std::vector<int>", "int"; "": it has none */
    uint64_t size;    /* bytes; 0: not known, or an array without an end */
    uint32_t target;  /* pointer, array: of what; function: what it returns; TYPE_NONE: void */
};

struct type_member {
    const char *name; /* "": an unnamed struct or union, whose members belong to the outer one */
    uint32_t type;
    bool is_base;       /* of a class */
    uint64_t offset;    /* bytes; of a bit field, of the first byte that has a bit of it */
    uint32_t bit_size;  /* 0: no bit field */
    uint8_t bit_offset; /* in that byte */
};

struct types;

/* Never NULL. Pointers hold until `types` is freed; a number that is none is opaque. */
const struct type *type_at(struct types *types, uint32_t type);
/* Of a record or union; of others none. Valid until the members of another one are asked for. */
const struct type_member *type_members(struct types *types, uint32_t type, uint32_t *count);

/* ---- fields ---- */

enum { FIELD_PATH_BYTES = 192 };

struct type_field {
    uint32_t type;   /* of the field */
    uint64_t offset; /* bytes from the beginning of the whole; of an array's element, of the array's
                        first */
    uint64_t size;   /* bytes */
    bool is_element; /* of an array within, at an index that is not known */
    char path[FIELD_PATH_BYTES]; /* "next", "key.left", "table[].next"; "": the whole */
};

/* What lies `offset` bytes behind the beginning of a type, or behind that by any multiple of
 * `stride` (0: exactly there): the innermost member that holds `size` bytes (0: any). Of a union
 * the first member that fits best. An offset outside is one of another element of an array of it.
 * False: nothing is there, or an index goes over what is no array. */
bool type_find_field(struct types *types, uint32_t type, int64_t offset, uint64_t stride,
                     uint64_t size, struct type_field *field);

/* ---- variables ---- */

enum place_kind {
    PLACE_REGISTER, /* its value + offset is in a register */
    PLACE_FRAME,    /* it lies `offset` bytes behind the canonical frame address */
    PLACE_BASED,    /* it lies `offset` bytes behind where a register points to */
    PLACE_FIXED     /* it lies at address `offset`, as linked */
};

struct variable_place {
    uint64_t start, end; /* where that holds: addresses of code, end exclusive */
    uint8_t kind;        /* enum place_kind */
    uint8_t reg;         /* as in isa/insn.h */
    bool is_reference;   /* what lies there is a pointer to the variable */
    uint32_t type;
    int64_t offset;
};

struct variable_list {
    struct variable_place *places;
    size_t count, capacity;
    bool is_whole;        /* the procedure begins where its code was linked to: not a part of one */
    bool is_known;        /* debugging information covers it */
    bool keeps_registers; /* calls within it leave the registers alone that the platform's
                             convention says: not in Go */
};

/* The variables, with those of functions inlined into it, of the procedure that has the code at
 * `address`. False: out of memory. variable_list_free() either way. */
bool types_variables(struct types *types, uint64_t address, struct variable_list *list);
void variable_list_free(struct variable_list *list);

/* The variable that lies at an address as linked; TYPE_NONE: none is known. */
uint32_t types_global(struct types *types, uint64_t address, uint64_t *start);

/* What a function returns: that at an address; else of that name (NULL: none), declared or defined.
 * TYPE_NONE: nothing, or it is not known. */
uint32_t types_returned(struct types *types, uint64_t address, const char *name);

/* ---- leaves ---- */

/* A part of a type that is laid out as a whole: a number, a pointer, an array, a union, or the bit
 * fields that share bytes. */
struct type_leaf {
    uint64_t offset, size; /* bytes */
    char path[FIELD_PATH_BYTES];
};

/* Those of a record, by offset, into `leaves`, at most `most`; returns how many. */
uint32_t type_leaves(struct types *types, uint32_t type, struct type_leaf *leaves, uint32_t most);
