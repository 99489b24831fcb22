/* Profiles: added to in one pass over what is there and what is new, and visited. */
#include <stdlib.h>
#include <string.h>

#include "store/database.h"
#include "util/array.h"

/* ---- adding ---- */

static inline int compare(const struct store_value *one, const struct store_value *other) {
    if (one->offset != other->offset)
        return one->offset < other->offset ? -1 : 1;
    return (one->signature > other->signature) - (one->signature < other->signature);
}

static inline uint64_t add(uint64_t one, uint64_t other) {
    uint64_t sum;
    return __builtin_add_overflow(one, other, &sum) ? UINT64_MAX : sum;
}

/* `to` has room for both. Returns how many there are. */
static size_t merge(const struct store_value *old, size_t old_count, const struct store_value *new,
                    size_t new_count, struct store_value *to) {
    const struct store_value *old_end = old + old_count, *new_end = new + new_count;
    struct store_value *begin = to;
    while (old < old_end && new < new_end) {
        int order = compare(old, new);
        *to = order <= 0 ? *old : *new;
        if (order == 0)
            to->value = add(old->value, new->value);
        to++;
        old += order <= 0;
        new += order >= 0;
    }
    for (; old < old_end; old++)
        *to++ = *old;
    for (; new < new_end; new ++)
        *to++ = *new;
    return (size_t)(to - begin);
}

int64_t values_total(const struct store_value *values, size_t count) {
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++)
        total = add(total, values[i].value);
    return saturated(total);
}

static bool decode(struct store *store, struct statement *statement, int column, int64_t profile,
                   struct store_value **values, size_t *capacity, size_t *count,
                   struct error *error) {
    size_t size;
    const void *blob = column_bytes(statement, column, &size);
    struct error damage;
    return blob_decode_values(&store->codec, blob, size, values, capacity, count, &damage) ||
           database_damaged(store, error, "profile %lld: %s", (long long)profile, damage.message);
}

static bool insert(struct store *store, int64_t session, int64_t process, int64_t image,
                   int64_t event, const struct store_value *values, size_t count,
                   struct error *error) {
    if (!blob_encode_values(&store->codec, values, count, error))
        return error_prefix(error, "%s", store->path);
    return database_run(store,
                        BIND(store, ADD_PROFILE, error, INTEGER(session), INTEGER(image),
                             INTEGER(process), INTEGER(event), INTEGER(values_total(values, count)),
                             BLOB(store->codec.packed, store->codec.size)),
                        error);
}

/* Adds to the profile that `statement` has found. */
static bool update(struct store *store, struct statement *statement,
                   const struct store_value *values, size_t count, struct error *error) {
    int64_t profile = column_integer(statement, 0);
    size_t old_count;
    bool good = decode(store, statement, 1, profile, &store->old_values, &store->old_capacity,
                       &old_count, error);
    database_reset(statement);
    if (!good)
        return false;
    if (!array_room(store->new_values, store->new_capacity, old_count + count))
        return database_out_of_memory(store, error);
    size_t merged = merge(store->old_values, old_count, values, count, store->new_values);
    if (!blob_encode_values(&store->codec, store->new_values, merged, error))
        return error_prefix(error, "%s", store->path);
    return database_run(store,
                        BIND(store, SET_PROFILE, error, INTEGER(profile),
                             INTEGER(values_total(store->new_values, merged)),
                             BLOB(store->codec.packed, store->codec.size)),
                        error);
}

bool store_add_values(struct store *store, int64_t session, int64_t process, int64_t image,
                      int64_t event, const struct store_value *values, size_t count,
                      struct error *error) {
    if (count == 0)
        return true;
    if (!write_begin(store, error))
        return false;
    struct statement *statement = BIND(store, FIND_PROFILE, error, INTEGER(session), INTEGER(image),
                                       INTEGER(process), INTEGER(event));
    int row = statement ? database_step(store, statement, error) : -1;
    bool good = row > 0    ? update(store, statement, values, count, error)
                : row == 0 ? insert(store, session, process, image, event, values, count, error)
                           : false;
    return write_end(store, good, error);
}

/* ---- visiting ---- */

struct walk {
    struct session_rows rows;
    store_profile_visitor *visit;
    void *context;
    struct store_value *values;
    size_t capacity;
};

/* The row that the walk's statement is at. */
static bool visit_row(void *context, const struct session_entry *entry, struct error *error) {
    struct walk *walk = context;
    struct store *store = walk->rows.store;
    const struct store_filter *filter = walk->rows.filter;
    struct statement *statement = walk->rows.statement;
    int64_t profile = column_integer(statement, 0);
    const struct store_event *event = session_event(entry, column_integer(statement, 3));
    if (!event || column_is_null(statement, 7))
        return database_damaged(store, error, "profile %lld is of no known event or process",
                                (long long)profile);
    if (!filter_admits_event(filter, event))
        return true;
    const struct store_image *image = store_image_of(store, column_integer(statement, 1), error);
    struct store_process process = process_of_row(statement, 2, 7);
    if (filter && filter->choice &&
        !sample_choice_admits(filter->choice, &entry->session, &process))
        return true;
    struct store_profile visited = {
        .session = &entry->session, .event = event, .image = image, .process = &process};
    if (!image)
        return false;
    int64_t total = column_integer(statement, 5);
    visited.total = total > 0 ? (uint64_t)total : 0;
    /* A server may have been told that they are not. */
    const bool wanted =
        !filter || (!filter->totals_alone &&
                    (!filter->wants_values || (!column_is_null(statement, 4) &&
                                               filter->wants_values(filter->context, image))));
    if (wanted && !decode(store, statement, 4, profile, &walk->values, &walk->capacity,
                          &visited.count, error))
        return false;
    visited.values = walk->values;
    walk->rows.ended = !walk->visit(walk->context, &visited);
    return true;
}

bool store_each_profile(struct store *store, const struct store_filter *filter,
                        store_profile_visitor *visit, void *context, struct error *error) {
    struct walk walk = {.rows = {.store = store, .filter = filter, .of_profiles = true},
                        .visit = visit,
                        .context = context};
    bool good = session_rows_walk(&walk.rows, WALK_PROFILES, 6, visit_row, &walk, error);
    free(walk.values);
    return good;
}

/* ---- checking ---- */

bool profiles_check(struct store *store, struct error *error) {
    struct statement *statement = database_prepare(store, CHECK_PROFILES, error);
    int row = -1;
    while (statement && (row = database_step(store, statement, error)) > 0) {
        int64_t profile = column_integer(statement, 0);
        size_t count;
        bool good = store_image_of(store, column_integer(statement, 1), error) &&
                    decode(store, statement, 3, profile, &store->old_values, &store->old_capacity,
                           &count, error);
        if (good && values_total(store->old_values, count) != column_integer(statement, 2))
            good = database_damaged(store, error, "profile %lld: its total is wrong",
                                    (long long)profile);
        if (!good) {
            row = -1;
            break;
        }
    }
    database_finalize(statement);
    return row == 0;
}
