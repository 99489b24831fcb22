/* Walks over the rows of sessions: profiles, processes, calls. All sessions are read first, there
 * are few, so that a visitor may do with the store what it likes. Their rows come in the order of
 * the sessions, of so many sessions at a time as the back end takes. */
#include <stdlib.h>
#include <string.h>

#include "store/database.h"
#include "util/array.h"

/* Entries that follow one another in the list of sessions. */
struct group {
    const struct session_entry **entries;
    int64_t *sessions;
    size_t count;
};

/* Rows come in the order of the sessions. */
static const struct session_entry *entry_of_row(const struct group *group, size_t *at,
                                                int64_t session) {
    while (*at < group->count && group->sessions[*at] != session)
        ++*at;
    return *at < group->count ? group->entries[*at] : NULL;
}

/* The images of the group whose values are wanted. */
static bool choose_images(struct session_rows *rows, const struct group *group, int64_t **images,
                          size_t *count, struct error *error) {
    struct store *store = rows->store;
    size_t capacity = 0, all = 0;
    struct statement *statement =
        BIND(store, WALK_IMAGES, error, LIST(group->sessions, group->count));
    int row = -1;
    while (statement && (row = database_step(store, statement, error)) > 0)
        if (!array_push(*images, capacity, all, column_integer(statement, 0))) {
            database_reset(statement);
            return database_out_of_memory(store, error);
        }
    for (size_t i = 0; row == 0 && i < all; i++) {
        store->damage[0] = 0;
        const struct store_image *image = store_image_of(store, (*images)[i], error);
        if (!image && store->passes_over && store->damage[0]) {
            error->message[0] = 0; /* its rows are passed over */
            continue;
        }
        if (!image)
            return false;
        if (rows->filter->wants_values(rows->filter->context, image))
            (*images)[(*count)++] = image->id;
    }
    return row == 0;
}

bool event_units_have(const struct event_unit *units, size_t count,
                      const struct store_event *event) {
    return any_where(i, count,
                     !strcmp(units[i].name, event->name) && !strcmp(units[i].unit, event->unit));
}

bool filter_admits_event(const struct store_filter *filter, const struct store_event *event) {
    return !filter || ((!filter->event || !strcmp(filter->event, event->name)) &&
                       !event_units_have(filter->left_out, filter->left_out_count, event));
}

static bool bind_walk(struct session_rows *rows, const struct group *group, struct error *error) {
    struct store *store = rows->store;
    const struct backend *backend = store->backend;
    const struct store_filter *filter = rows->filter;
    static const int64_t NO_IMAGE = 0;
    int64_t *images = NULL;
    size_t count = 0;
    const bool chooses = backend->filters && rows->of_profiles && filter &&
                         (filter->wants_values || filter->totals_alone);
    bool good =
        !chooses || filter->totals_alone || choose_images(rows, group, &images, &count, error);
    const struct datum data[] = {LIST(group->sessions, group->count),
                                 TEXT(filter ? filter->event : NULL),
                                 LIST(chooses ? images ? images : &NO_IMAGE : NULL, count)};
    good = good && backend->bind(store, rows->statement, data,
                                 !backend->filters   ? 1
                                 : rows->of_profiles ? 3
                                                     : 2,
                                 error);
    free(images);
    return good;
}

static bool walk_group(struct session_rows *rows, const struct group *group, int column,
                       session_row_visitor *visit, void *context, struct error *error) {
    struct store *store = rows->store;
    size_t at = 0;
    int row = 0;
    if (!bind_walk(rows, group, error))
        return false;
    while (!rows->ended && (row = database_step(store, rows->statement, error)) > 0) {
        const struct session_entry *entry =
            entry_of_row(group, &at, column_integer(rows->statement, column));
        if (!entry) {
            database_damaged(store, error, "rows of a session that was not asked for");
            row = -1;
            break;
        }
        store->damage[0] = 0;
        if (!visit(context, entry, error)) {
            if (database_pass_over(store, entry->session.id, entry->session.host, error))
                continue;
            /* Of many hosts, whose it is. */
            if (store->backend->filters)
                error_prefix(error, "epoch %lld of %s", (long long)entry->session.id,
                             entry->session.host);
            row = -1;
            break;
        }
    }
    database_reset(rows->statement);
    return row >= 0;
}

static bool walk_list(struct session_rows *rows, const struct session_list *list,
                      struct group *group, int column, session_row_visitor *visit, void *context,
                      struct error *error) {
    const bool all = !rows->filter || !rows->filter->sessions;
    bool good = true;
    for (size_t i = 0; good && !rows->ended && i < list->count;) {
        group->count = 0;
        for (; list->entries && i < list->count &&
               group->count < rows->store->backend->sessions_at_once;
             i++)
            if (!all || list->entries[i].session.kind != SESSION_SUM) {
                group->sessions[group->count] = list->entries[i].session.id;
                group->entries[group->count++] = &list->entries[i];
            }
        if (group->count)
            good = walk_group(rows, group, column, visit, context, error);
    }
    return good;
}

bool session_rows_walk(struct session_rows *rows, enum statement_number number, int column,
                       session_row_visitor *visit, void *context, struct error *error) {
    struct store *store = rows->store;
    const size_t room = store->backend->sessions_at_once;
    const struct store_filter *filter = rows->filter;
    struct session_list list;
    if (!(filter && filter->sessions ? session_list_read_named(store, &list, filter->sessions,
                                                               filter->session_count, error)
                                     : session_list_read(store, &list, error)))
        return false;
    struct group group = {.entries = calloc(room + 1, sizeof *group.entries),
                          .sessions = calloc(room + 1, sizeof *group.sessions)};
    bool good = group.entries && group.sessions;
    if (!good)
        database_out_of_memory(store, error);
    good = good && (rows->statement = database_prepare(store, number, error)) &&
           walk_list(rows, &list, &group, column, visit, context, error);
    if (rows->statement)
        database_finalize(rows->statement);
    free(group.entries);
    free(group.sessions);
    session_list_free(&list);
    return good;
}
