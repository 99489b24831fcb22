#include "query/profile_sets.h"

/* Adds a set of a store: those of `list` (NULL: the last, or all where hosts, a time or a build is
 * chosen), or when `each` a set for each of them. */
static bool add_sets(struct profile_sets *sets, struct store *store,
                     const struct profile_sets_query *query, const char *list, const char *build,
                     bool each, bool name_file, struct error *error) {
    if (sets->reading_count == PROFILE_SETS_MAX)
        return error_set(error, "more than %d sets are too many to compare", PROFILE_SETS_MAX);
    struct session_reading *reading = &sets->readings[sets->reading_count++];
    struct sample_choice choice = *query->choice;
    choice.build = build;
    const struct session_query wanted = {.lists = &list,
                                         .list_count = list != NULL,
                                         .hosts = query->hosts,
                                         .host_count = query->host_count,
                                         .choice = &choice,
                                         .sums = query->sums,
                                         .by_host = query->by_host};
    if (!session_reading_choose(reading, store, &wanted, error))
        return false;
    const size_t count = reading->count, set_count = each ? count : 1, size = each ? 1 : count;
    bool good = set_count <= PROFILE_SETS_MAX - sets->count ||
                error_set(error, "%zu sets are too many to compare (%d at most)",
                          sets->count + set_count, PROFILE_SETS_MAX);
    for (size_t i = 0; good && i < set_count; i++) {
        struct profile_set *set = &sets->sets[sets->count++];
        good = profile_set_read(set, store, reading->sessions + i, size, name_file, error);
        profile_set_choose(set, &reading->choice);
    }
    return good;
}

/* A set for each build. */
static bool read_builds(struct profile_sets *sets, const struct profile_sets_query *query,
                        struct error *error) {
    if (query->epoch_count > 1 || sets->store_count > 1)
        return error_set(error, "several builds are compared in one store, and one list of epochs");
    for (size_t i = 0; i < query->build_count; i++)
        if (!add_sets(sets, sets->stores[0], query, query->epoch_count ? query->epochs[0] : NULL,
                      query->builds[i], false, false, error))
            return false;
    return true;
}

static bool read_sets(struct profile_sets *sets, const struct profile_sets_query *query,
                      struct error *error) {
    size_t lists = query->epoch_count, stores = sets->store_count;
    const char *build = query->build_count ? query->builds[0] : NULL;
    if (query->build_count > 1)
        return read_builds(sets, query, error);
    if (stores > 1 && lists > 1 && lists != stores)
        return error_set(error,
                         "%zu stores and %zu lists of epochs: give one list for all, or one "
                         "for each",
                         stores, lists);
    for (size_t i = 0; stores > 1 && i < stores; i++) {
        const char *list = lists > 1 ? query->epochs[i] : lists ? query->epochs[0] : NULL;
        if (!add_sets(sets, sets->stores[i], query, list, build, false, true, error))
            return false;
    }
    for (size_t i = 0; stores == 1 && i < lists; i++)
        if (!add_sets(sets, sets->stores[0], query, query->epochs[i], build, lists == 1, false,
                      error))
            return false;
    return sets->count > 1 ||
           error_set(error, "two sets are compared, or more: which? (--epoch 3 --epoch 4, or two "
                            "stores; 'culprit epochs' lists what there is)");
}

bool profile_sets_read(struct profile_sets *sets, const struct profile_sets_query *query,
                       struct error *error) {
    for (size_t i = 0; i < query->store_count || i == 0; i++) {
        const char *path = query->store_count ? query->stores[i] : NULL;
        if (!(sets->stores[i] = store_open_default(path, STORE_READ, error)))
            return false;
        store_pass_over(sets->stores[i]);
        sets->store_count++;
    }
    if (!read_sets(sets, query, error))
        return false;
    for (size_t i = 0; i < sets->count; i++) {
        const char *name = i && !query->event ? sets->events[0].name : query->event;
        const struct profile_event *found = profile_set_event(&sets->sets[i], name, error);
        if (!found)
            return false;
        sets->events[i] = *found;
        if (strcmp(found->unit, sets->events[0].unit) != 0)
            return error_set(error,
                             "%s is counted in %s in %s and in %s in %s: these do not "
                             "compare",
                             found->name, sets->events[0].unit, sets->sets[0].label, found->unit,
                             sets->sets[i].label);
    }
    return true;
}

void profile_sets_free(struct profile_sets *sets) {
    for (size_t i = 0; i < sets->count; i++)
        profile_set_free(&sets->sets[i]);
    for (size_t i = 0; i < sets->reading_count; i++)
        session_reading_free(&sets->readings[i]);
    for (size_t i = 0; i < sets->store_count; i++)
        store_close(sets->stores[i]);
}
