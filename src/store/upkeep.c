/* Retention, compaction and the check of everything. */
#include <stdlib.h>

#include "store/database.h"
#include "util/order.h"

/* ---- retention ---- */

/* As large as the file would be when compacted, but for pages that are partly full. */
static bool used_bytes(struct store *store, uint64_t *used, struct error *error) {
    uint64_t bytes, unused;
    if (!store_size(store, &bytes, &unused, error))
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

bool store_prune(struct store *store, int64_t before, uint64_t bytes, int64_t ongoing,
                 uint64_t *removed, struct error *error) {
    struct session_list list;
    *removed = 0;
    if (!session_list_read(store, &list, error))
        return false;
    if (list.count)
        qsort(list.entries, list.count, sizeof *list.entries, by_end);
    bool good = true;
    for (size_t i = 0; good && i < list.count; i++) {
        const struct store_session *session = &list.entries[i].session;
        if (session->id == ongoing)
            continue;
        int64_t reached = session->end ? session->end : session->saved;
        uint64_t used = 0;
        bool old = before && reached < before;
        if (!old && bytes && session->end)
            good = used_bytes(store, &used, error);
        if (good && (old || used > bytes))
            good = remove_counted(store, session, removed, error);
    }
    session_list_free(&list);
    return good && write_begin(store, error) && write_end(store, images_sweep(store, error), error);
}

bool store_compact(struct store *store, uint64_t *before, uint64_t *after, struct error *error) {
    uint64_t unused;
    if (store->access == STORE_READ)
        return error_set(error, "%s was opened for reading", store->path);
    if (store->in_transaction)
        return error_set(error, "%s: cannot be compacted within a transaction", store->path);
    return store_size(store, before, &unused, error) &&
           database_execute(store, "VACUUM", 0, error) &&
           database_execute(store, "PRAGMA wal_checkpoint(TRUNCATE)", 0, error) &&
           store_size(store, after, &unused, error);
}

/* ---- checking ---- */

static bool check_structure(struct store *store, struct error *error) {
    sqlite3_stmt *statement = database_prepare(store, "PRAGMA integrity_check(1)", error);
    if (!statement)
        return false;
    int row = database_step(store, statement, error);
    bool good = row > 0 && !sqlite3_stricmp(database_text(statement, 0), "ok");
    if (row >= 0 && !good)
        database_damaged(store, error, "%s", database_text(statement, 0));
    sqlite3_finalize(statement);
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
        if (!database_integer(store, sql, &count, error))
            return false;
        if (count)
            return database_damaged(store, error, "%lld row%s of %s", (long long)count,
                                    count == 1 ? "" : "s", STRAYS[i]);
    }
    return true;
}

static bool check_symbols(struct store *store, struct error *error) {
    sqlite3_stmt *statement = database_prepare(store, "SELECT image FROM symbols", error);
    int row = -1;
    while (statement && (row = database_step(store, statement, error)) > 0) {
        struct code_symbol *symbols;
        size_t count;
        if (!store_get_symbols(store, sqlite3_column_int64(statement, 0), &symbols, &count,
                               error)) {
            row = -1;
            break;
        }
        store_free_symbols(symbols, count);
    }
    sqlite3_finalize(statement);
    return row == 0;
}

bool store_check(struct store *store, struct error *error) {
    struct session_list list;
    if (!check_structure(store, error) || !check_references(store, error) ||
        !session_list_read(store, &list, error))
        return false;
    session_list_free(&list);
    return check_symbols(store, error) && profiles_check(store, error) && calls_check(store, error);
}
