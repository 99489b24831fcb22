/* Which store and which epochs: the options that verbs share which read profiles. */
#pragma once

#include "options/option.h"

#include "query/profile_sets.h"

enum { STORE_OPTIONS_MAX = PROFILE_SETS_MAX };

/* Both options may be repeated; verbs that compare take each as a set of its own. */
struct store_options {
    const char *stores[STORE_OPTIONS_MAX];
    size_t store_count; /* 0: the default store */
    const char *epochs[STORE_OPTIONS_MAX];
    size_t epoch_count; /* 0: the last epoch */
};
extern const struct option_group store_group; /* --store FILE, --epoch LIST */

/* The epochs that a list names, by their start, each once: numbers, ranges FIRST..LAST, "last" and
 * "all", separated by commas; NULL: "last". *sessions is the caller's, to be freed. Ranges may have
 * gaps; to name no epoch at all is an error. */
bool store_options_choose(struct store *store, const char *list, int64_t **sessions, size_t *count,
                          struct error *error);

/* Which epochs, beside the lists: of verbs that take these as a whole. */
struct epoch_choice {
    const char *hosts[STORE_OPTIONS_MAX]; /* patterns */
    size_t host_count;                    /* 0: all */
    int64_t since, until;                 /* ns since 1970; 0: all */
};
/* Whether options choose epochs. */
bool epoch_choice_any(const struct epoch_choice *choice, const struct store_options *options);
/* Those that they choose, by their start; without any the last. *epochs is the caller's, to be
 * freed. */
bool epoch_choice_read(const struct epoch_choice *choice, const struct store_options *options,
                       struct store *store, int64_t **epochs, size_t *count, struct error *error);

/* The store that --store names, or that there is by default; it is not made when there is none,
 * whatever the access. */
struct store *store_options_open(const struct store_options *options, enum store_access access,
                                 struct error *error);

/* " --store FILE --epoch 3", for the next useful command. */
void store_options_put(const struct store_options *options, bool epochs, FILE *file);
