/* The elements of a struct in a trace: where they are, and which of their fields are accessed
 * within few instructions of each other. */
#pragma once

#include "query/struct_map.h"
#include "study/study.h"

enum {
    ELEMENTS_MOST = 1 << 25,
    TOGETHER_INSTRUCTIONS = 1000 /* after the last access to an element */
};

struct struct_elements {
    uint64_t *bases; /* ascending; those that overlap the one before are left out */
    size_t count;
    uint32_t process; /* whose they are: the first that accesses one */
    uint64_t overlapping;
    bool too_many;

    uint64_t untyped; /* accesses to them of which no type is known, so that they are of no field;
                         UINT64_MAX: not counted */

    uint64_t visits;      /* of elements: accesses to one that follow within so many instructions */
    uint64_t *touched;    /* visits that accessed a field, by field */
    uint64_t *together;   /* that accessed both, by field and field */
    uint32_t line_offset; /* of an element in a line of 64 bytes, of most of them */
    double line_share;    /* that have it */
};

/* Reads the trace file once. False with an error. struct_elements_free() either way. */
bool struct_elements_find(struct watch *watch, const char *file, const struct struct_map *map,
                          uint64_t instructions, struct struct_elements *elements,
                          struct error *error);
/* Reads it once more, for `untyped`. */
bool struct_elements_count_untyped(struct watch *watch, const char *file,
                                   const struct struct_map *map, uint64_t instructions,
                                   struct struct_elements *elements, struct error *error);
void struct_elements_free(struct struct_elements *elements);
