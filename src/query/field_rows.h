/* The cycles of a simulation by the field that the instruction accesses, as its program's debugging
 * information tells (analyze/access_types.h). What has no field has a row for its reason, so that
 * the rows sum to the whole. */
#pragma once

#include "analyze/access_types.h"
#include "query/rows.h"

#define FIELD_NONE UINT32_MAX

struct field_row {
    const char *type;    /* "struct node"; NULL: not known, for `reason` */
    const char *field;   /* "key.left", "table[].next"; "": all of it */
    const char *image;   /* of a reason that is about a file: its base name; else NULL */
    uint8_t reason;      /* enum access_reason */
    bool is_element;     /* of an array in the type, at an index that is not known */
    uint64_t offset;     /* bytes, of the field in the type */
    uint64_t size;       /* bytes, of the field */
    uint64_t type_size;  /* bytes; 0: not known */
    uint64_t units;      /* 1/840 cycles */
    uint64_t miss_units; /* of them with a miss of the L1, the last level or the TLB */
    uint64_t executions; /* instructions, each an access unless the reason is ACCESS_NONE */
    struct stack stack;  /* of `units` */
    struct types *types; /* the program's, that has the type; NULL: it is not known */
    uint32_t type_number;
};

struct field_rows {
    struct field_row *rows; /* those with most cycles first */
    uint32_t count, total;  /* shown; all */
    uint32_t *row_of;       /* by static instruction; FIELD_NONE: was not executed */
    uint64_t units, miss_units, known_units, known_miss_units; /* of all rows; with a field */
    const char *bare_path; /* the file without debug information whose accesses have most cycles */
    uint64_t bare_units;   /* these; NULL, 0: there is none */
    struct intern *names;  /* what the rows' texts are in */
};

/* `top` (0: all) rows are shown. field_rows_free() either way. */
bool field_rows_build(const struct simulation *simulation, const struct code *code,
                      struct program *program, uint32_t top, struct field_rows *fields,
                      struct error *error);
/* Of the functions that have at least `least` (0 to 1) of the cycles and are no part of the system,
 * whose structs stay as they are. */
bool field_rows_build_own(const struct simulation *simulation, const struct code *code,
                          struct program *program, double least, struct field_rows *fields,
                          struct error *error);
void field_rows_free(struct field_rows *fields);
