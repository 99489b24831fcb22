/* The epochs of a store, as text or as JSON. */
#pragma once

#include <stdio.h>

#include "store/store.h"

struct epoch_list {
    struct store *store;
    const int64_t *epochs; /* NULL: all */
    size_t epoch_count;
    bool name_store; /* in the next useful command */
    bool json, wide;
};

bool epoch_list_print(const struct epoch_list *wanted, FILE *out, struct error *error);
