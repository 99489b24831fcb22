/* Strings of which there are many alike, kept once. */
#pragma once

#include <stddef.h>

#include "util/arena.h"
#include "util/hash_index.h"

struct names {
    struct arena arena;
    const char **items;
    size_t count, capacity;
    size_t bytes;
    struct hash_index index;
};

/* The one copy, which lives as long as the names; NULL: out of memory. "" needs none. */
const char *names_add(struct names *names, const char *name);
void names_free(struct names *names);
