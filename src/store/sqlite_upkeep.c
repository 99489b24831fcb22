/* Size, retention, compaction and the check of a file of SQLite's. */
#include <stdlib.h>

#include "store/sqlite.h"
#include "util/array.h"
#include "util/order.h"

bool sqlite_size(struct store *store, uint64_t *bytes, uint64_t *unused, struct error *error) {
    int64_t page, pages, unused_pages;
    if (!sqlite_integer(store, "PRAGMA page_size", &page, error) ||
        !sqlite_integer(store, "PRAGMA page_count", &pages, error) ||
        !sqlite_integer(store, "PRAGMA freelist_count", &unused_pages, error))
        return false;
    *bytes = (uint64_t)(page * pages);
    *unused = (uint64_t)(page * unused_pages);
    return true;
}

/* ---- retention ---- */

/* As large as the file would be when compacted, but for pages that are partly full. */
static bool used_bytes(struct store *store, uint64_t *used, struct error *error) {
    uint64_t bytes, unused;
    if (!sqlite_size(store, &bytes, &unused, error))
        return false;
    *used = bytes - unused;
    return true;
}

/* Each in its own transaction, so that another writer need not wait for all. */
static bool remove_counted(struct store *store, const struct store_session *session,
                           uint64_t *removed, struct error *error) {
    if (!store_remove_session(store, session->id, error))
        return false;
    ++*removed;
    return true;
}

static int by_end(const void *one, const void *other) {
    const struct store_session *a = &((const struct session_entry *)one)->session;
    const struct store_session *b = &((const struct session_entry *)other)->session;
    return ascending(a->end, b->end) ?: ascending(a->id, b->id);
}

static bool stays(const struct store_retention *retention, int64_t session) {
    return any_where(i, retention->kept_count, retention->kept[i] == session);
}

bool sqlite_prune(struct store *store, const struct store_retention *retention, uint64_t *removed,
                  struct error *error) {
    struct session_list list;
    if (!session_list_read(store, &list, error))
        return false;
    if (list.count)
        qsort(list.entries, list.count, sizeof *list.entries, by_end);
    bool good = true;
    for (size_t i = 0; good && i < list.count; i++) {
        const struct store_session *session = &list.entries[i].session;
        if (stays(retention, session->id))
            continue;
        int64_t reached = session->end ? session->end : session->saved;
        uint64_t used = 0;
        bool old = retention->before && reached < retention->before;
        if (!old && retention->bytes && session->end)
            good = used_bytes(store, &used, error);
        if (good && (old || used > retention->bytes))
            good = remove_counted(store, session, removed, error);
    }
    session_list_free(&list);
    return good && write_begin(store, error) && write_end(store, images_sweep(store, error), error);
}

bool sqlite_compact(struct store *store, uint64_t *before, uint64_t *after, struct error *error) {
    uint64_t unused;
    return sqlite_size(store, before, &unused, error) && write_begin(store, error) &&
           write_end(store, images_sweep(store, error), error) &&
           sqlite_execute(store, "VACUUM", error) &&
           sqlite_execute(store, "PRAGMA wal_checkpoint(TRUNCATE)", error) &&
           sqlite_size(store, after, &unused, error);
}

/* ---- checking ---- */

static bool check_structure(struct store *store, struct error *error) {
    struct statement *statement = sqlite_prepare(store, "PRAGMA integrity_check(1)", false, error);
    if (!statement)
        return false;
    int row = database_step(store, statement, error);
    bool good = row > 0 && !sqlite3_stricmp(column_text(statement, 0), "ok");
    if (row >= 0 && !good)
        database_damaged(store, error, "%s", column_text(statement, 0));
    database_finalize(statement);
    return good;
}

/* Rows that refer to what is not there, or to another session's. */
static bool check_references(struct store *store, struct error *error) {
    static const char *const STRAYS[] = {
        "event WHERE session NOT IN (SELECT id FROM session)",
        "process WHERE session NOT IN (SELECT id FROM session)",
        "profile WHERE session NOT IN (SELECT id FROM session)",
        "profile WHERE image NOT IN (SELECT id FROM image)",
        "symbols WHERE image NOT IN (SELECT id FROM image)",
        "profile WHERE session IS NOT (SELECT session FROM process WHERE id = process)",
        "profile WHERE session IS NOT (SELECT session FROM event WHERE id = event)",
        "calls WHERE session NOT IN (SELECT id FROM session)",
        "calls WHERE session IS NOT (SELECT session FROM process WHERE id = process)",
        "calls WHERE session IS NOT (SELECT session FROM event WHERE id = event)",
        "calls_image WHERE calls NOT IN (SELECT id FROM calls)",
        "calls_image WHERE image NOT IN (SELECT id FROM image)"};
    for (size_t i = 0; i < sizeof STRAYS / sizeof *STRAYS; i++) {
        char sql[160];
        int64_t count;
        sqlite3_snprintf(sizeof sql, sql, "SELECT count(*) FROM %s", STRAYS[i]);
        if (!sqlite_integer(store, sql, &count, error))
            return false;
        if (count)
            return database_damaged(store, error, "%lld row%s of %s", (long long)count,
                                    count == 1 ? "" : "s", STRAYS[i]);
    }
    return true;
}

bool sqlite_check(struct store *store, struct error *error) {
    return check_structure(store, error) && check_references(store, error);
}
