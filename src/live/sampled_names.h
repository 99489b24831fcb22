/* Names of the procedures that samples lie in, taken from files while these are still what they
 * were when they were sampled: later a file may be replaced, deleted, or seen by nobody. They go
 * into the store with the samples. */
#pragma once

#include "program/code_symbol.h"
#include "program/program.h"

/* Of one file. Offsets of which nothing is known have an entry without a name. */
struct sampled_names {
    struct code_symbol *symbols; /* sorted by start, disjoint as far as is known; names are owned */
    size_t count, capacity;
    bool unsaved; /* there are some that the store does not have */
};

void sampled_names_free(struct sampled_names *names);

/* Whether an offset was looked up. */
bool sampled_names_has(const struct sampled_names *names, uint64_t offset);
/* Looks up offsets in an image of `program`; those that were are passed over. False: out of memory.
 */
bool sampled_names_add(struct sampled_names *names, const uint64_t *offsets, size_t count,
                       struct program *program, uint32_t image);

/* Adds one that is known already. False: out of memory. */
bool sampled_names_put(struct sampled_names *names, uint64_t start, uint64_t size,
                       const char *name);

struct symbol_cover;
/* Adds those that have a name. False: out of memory. */
bool sampled_names_cover(const struct sampled_names *names, struct symbol_cover *cover);

size_t sampled_names_bytes(const struct sampled_names *names);
