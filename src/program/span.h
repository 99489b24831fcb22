/* Address ranges that may nest and overlap (symbols, inlined scopes, compilation units), flattened
 * into disjoint spans so that a lookup is one binary search. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span {
    uint64_t start, end; /* addresses, end exclusive; start < end */
    uint32_t value;      /* the owner's index */
};

struct span_table {
    struct span *spans; /* disjoint, sorted by start */
    size_t count;
};

/* Builds a table from `count` ranges in any order (they are reordered). Where ranges overlap the
 * one that starts last wins, among those the shortest, among those the greatest value: the
 * innermost scope. Empty ranges are ignored. False, with an empty table, when memory is out. */
bool span_table_build(struct span_table *table, struct span *ranges, size_t count);

/* The span that covers an address; NULL: none. */
const struct span *span_table_find(const struct span_table *table, uint64_t address);

void span_table_free(struct span_table *table);
