/* Retention, compaction and the check of everything. */
#include "store/database.h"

bool store_prune(struct store *store, const struct store_retention *retention, uint64_t *removed,
                 struct error *error) {
    *removed = 0;
    if (store->access == STORE_READ)
        return error_set(error, "%s was opened for reading", store->path);
    return store->backend->prune(store, retention, removed, error);
}

bool store_compact(struct store *store, uint64_t *before, uint64_t *after, struct error *error) {
    if (store->access == STORE_READ)
        return error_set(error, "%s was opened for reading", store->path);
    if (store->in_transaction)
        return error_set(error, "%s: cannot be compacted within a transaction", store->path);
    return store->backend->compact(store, before, after, error);
}

/* ---- checking ---- */

static bool check_symbols(struct store *store, struct error *error) {
    struct statement *statement = database_prepare(store, CHECK_SYMBOLS, error);
    int row = -1;
    while (statement && (row = database_step(store, statement, error)) > 0) {
        struct code_symbol *symbols;
        size_t count;
        if (!store_get_symbols(store, column_integer(statement, 0), &symbols, &count, error)) {
            row = -1;
            break;
        }
        store_free_symbols(symbols, count);
    }
    database_finalize(statement);
    return row == 0;
}

bool store_check(struct store *store, struct error *error) {
    struct session_list list;
    if (!store->backend->check(store, error) || !session_list_read(store, &list, error))
        return false;
    session_list_free(&list);
    return check_symbols(store, error) && profiles_check(store, error) && calls_check(store, error);
}
