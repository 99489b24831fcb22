/* Sets of profiles to compare, each of epochs of one store, and the one event they are compared by.
 */
#pragma once

#include "query/profile_set.h"
#include "store/session_choice.h"

enum { PROFILE_SETS_MAX = 64 };

/* Several builds make a set each. Otherwise several stores make a set of each, of its last epoch,
 * or of those of the one list of epochs, or of its own where there are as many lists. One store
 * makes a set for each list of epochs, or, of a single list, for each epoch. */
struct profile_sets_query {
    const char *const *stores; /* at most PROFILE_SETS_MAX; none: the default store */
    size_t store_count;
    const char *const *epochs; /* lists (store/session_choice.h) */
    size_t epoch_count;
    const char *const *hosts; /* only epochs of these machines (store/session_choice.h) */
    size_t host_count;
    const char *const *builds; /* of two and more, a set each; then at most one list of epochs */
    size_t build_count;
    const struct sample_choice *choice; /* only these samples */
    bool sums;                          /* of days may stand for epochs, */
    bool by_host;                       /* those of each host alone */
    const char *event;                  /* NULL: the first set's first */
};

struct profile_sets {
    struct session_reading readings[PROFILE_SETS_MAX];
    size_t reading_count;
    struct store *stores[PROFILE_SETS_MAX];
    size_t store_count;
    struct profile_set sets[PROFILE_SETS_MAX];
    size_t count;                                  /* ≥ 2 */
    struct profile_event events[PROFILE_SETS_MAX]; /* of each set */
};

/* Fails when that makes less than two sets, and when they do not all have the event in one unit.
 * profile_sets_free() either way; `sets` is zero before. */
bool profile_sets_read(struct profile_sets *sets, const struct profile_sets_query *query,
                       struct error *error);
void profile_sets_free(struct profile_sets *sets);
