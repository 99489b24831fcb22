/* Which sessions of a store a list names. */
#pragma once

#include "store/store.h"

/* The union of what the lists name, by their start, each once: numbers, ranges FIRST..LAST, "last"
 * and "all", separated by commas. *sessions is the caller's, to be freed. Ranges may have gaps; to
 * name no session at all is an error. */
bool store_choose_sessions(struct store *store, const char *const *lists, size_t list_count,
                           int64_t **sessions, size_t *count, struct error *error);

/* Likewise, but only epochs of a machine (NULL: of all) that can have such samples; without lists
 * "last", or of all epochs when a host or a time is chosen. None is an error. */
bool store_choose_narrowed(struct store *store, const char *const *lists, size_t list_count,
                           const char *host, const struct sample_choice *choice, int64_t **sessions,
                           size_t *count, struct error *error);
