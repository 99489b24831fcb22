/* Which sessions of a store are read, and which of their samples. */
#pragma once

#include "store/build_choice.h"
#include "store/store.h"

/* The union of what the lists name, by their start, each once: numbers, ranges FIRST..LAST, "last"
 * and "all", separated by commas. *sessions is the caller's, to be freed. Ranges may have gaps; to
 * name no session at all is an error. */
bool store_choose_sessions(struct store *store, const char *const *lists, size_t list_count,
                           int64_t **sessions, size_t *count, struct error *error);

/* Says that the store has none; false. */
bool store_no_epochs(const struct store *store, struct error *error);

struct session_query {
    const char *const *lists; /* as above; none: "last", or all where anything else is chosen by */
    size_t list_count;
    const char *const *hosts; /* names of machines, with the wildcards of glob(7); none: all */
    size_t host_count;
    const struct sample_choice *choice;
    bool sums;    /* sums of days may stand for their epochs, where no list is given */
    bool by_host; /* not those over all hosts */
};

/* What was chosen. It stays where it is: its choice refers to it. */
struct session_reading {
    int64_t *sessions; /* by their start; the caller's */
    size_t count;
    struct store_span *spans; /* by session */
    size_t span_count, span_capacity;
    struct build_processes processes;
    struct sample_choice choice; /* the query's, with names and times as this store has them */
    size_t sums;                 /* of the sessions */
};
/* Epochs that can have such samples; none is an error. session_reading_free() either way. */
bool session_reading_choose(struct session_reading *reading, struct store *store,
                            const struct session_query *query, struct error *error);
void session_reading_free(struct session_reading *reading);

/* Whether a machine is one of those named; of no names all are. */
bool host_is_named(const char *host, const char *const *names, size_t count);
