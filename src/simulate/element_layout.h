/* The elements of a type laid out anew, to simulate what that would save: the fields that are hot
 * first in the element, or in dense elements of their own, the others elsewhere.
 *
 *     as it is     | a b c d e f g h | a b c d e f g h |
 *     reordered    | b g a c d e f h | b g a c d e f h |      hot: b, g
 *     split        | b g | b g |  and elsewhere  | a c d e f h | a c d e f h |
 *
 * Elements keep their order and what lies between them: those of an array follow each other, those
 * of glibc's heap have their header and are rounded up to 16 bytes. Every access to an element is
 * moved, by whichever instruction. What a program would do more, such as to follow a pointer to the
 * other part, is not there. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/dynamic.h"
#include "util/error.h"

struct element_leaf {
    uint64_t offset, size; /* bytes, in the element; by offset, disjoint */
    uint64_t moved;        /* offset in the part that it is in */
    bool is_cold;          /* in the other part */
};

struct element_layout {
    const uint64_t *bases; /* of elements, ascending, `size` apart or more */
    size_t count;
    uint64_t size;    /* of an element, bytes */
    uint32_t process; /* whose elements they are */
    const struct element_leaf *leaves;
    uint32_t leaf_count;

    uint64_t *hot, *cold; /* where the parts of each element are; NULL: at its base */
    uint64_t *filter;     /* bits of lines that may have elements */
};

/* Lays leaves out: those for which `is_hot` first. Returns the bytes that these take; *cold_size:
 * the others. `leaves` by offset. */
uint64_t element_leaves_place(struct element_leaf *leaves, const bool *is_hot, uint32_t count,
                              bool split, uint64_t *cold_size);

/* Places elements whose parts take so many bytes. Of split ones; else they keep their places.
 * False: out of memory. element_layout_free() either way. */
bool element_layout_place(struct element_layout *layout, bool split, uint64_t hot_size,
                          uint64_t cold_size);
void element_layout_free(struct element_layout *layout);

/* Once placed: whether an address lies in an element. */
bool element_layout_has(const struct element_layout *layout, uint64_t address);

/* Copies accesses of a process, those to elements moved. */
void element_layout_apply(const struct element_layout *layout, uint32_t process,
                          const struct memory_access *accesses, size_t count,
                          struct memory_access *moved);
