/* Statements and transactions, whichever database they are run in. */
#include "store/database.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/address.h"

bool database_damaged(struct store *store, struct error *error, const char *format, ...) {
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(store->damage, sizeof store->damage, "%.255s", what);
    if (store->backend->changed && store->backend->changed(store))
        return error_set(error, "%s was written while it was read: try again", store->path);
    return error_set(error, "%s is damaged: %s (%s)", store->path, what,
                     store_is_address(store->path)
                         ? "its owner removes the epoch: culprit epochs remove"
                         : "move it away, or restore a copy");
}

bool database_out_of_memory(struct store *store, struct error *error) {
    return error_set(error, "%s: out of memory", store->path);
}

/* ---- opening ---- */

struct store *store_open(const char *path, enum store_access access_wanted, struct error *error) {
    struct store *store = calloc(1, sizeof *store);
    if (!store)
        return error_null(error, "out of memory");
    error->message[0] = 0;
    store->access = access_wanted;
    store->backend = store_is_address(path) ? &POSTGRES_BACKEND : &SQLITE_BACKEND;
    store_shown_address(path, store->path);
    const size_t scheme = store_other_scheme(path);
    if (scheme) /* behind it may be a password */
        error_set(error,
                  "%.*s:...: a store is a file, or an address postgresql://USER@HOST/DATABASE",
                  (int)scheme, path);
    else if (!*path || strlen(path) >= PATH_MAX)
        error_set(error, "the path of the store is %s", *path ? "too long" : "empty");
    else if (store->backend->open(store, path, error))
        return store;
    store_close(store);
    return NULL;
}

void store_close(struct store *store) {
    if (!store)
        return;
    store_rollback(store);
    store_drop_sessions(store);
    for (int i = 0; i < STATEMENT_COUNT; i++)
        database_finalize(store->statements[i]);
    store->backend->close(store);
    stored_images_free(store->images);
    blob_codec_free(&store->codec);
    free(store->old_values);
    free(store->new_values);
    free(store->old_calls);
    free(store->passed_over);
    free(store);
}

const char *store_path(const struct store *store) {
    return store->path;
}

void store_interrupt(struct store *store) {
    if (store->backend->interrupt)
        store->backend->interrupt(store);
}

bool store_size(struct store *store, uint64_t *bytes, uint64_t *unused, struct error *error) {
    return store->backend->size(store, bytes, unused, error);
}

/* ---- statements ---- */

static const char *sql_of(const struct store *store, enum statement_number number) {
    const char *const *own = store->backend->statements;
    return own && own[number] ? own[number] : STATEMENTS[number];
}

struct statement *database_prepare(struct store *store, enum statement_number number,
                                   struct error *error) {
    return store->backend->prepare(store, sql_of(store, number), false, error);
}

void database_finalize(struct statement *statement) {
    if (statement)
        statement->backend->finalize(statement);
}

struct statement *database_bind(struct store *store, enum statement_number number,
                                const struct datum *data, int count, struct error *error) {
    struct statement **statement = &store->statements[number];
    if (!*statement &&
        !(*statement = store->backend->prepare(store, sql_of(store, number), true, error)))
        return NULL;
    return store->backend->bind(store, *statement, data, count, error) ? *statement : NULL;
}

bool database_bind_to(struct store *store, struct statement *statement, struct datum datum,
                      struct error *error) {
    return store->backend->bind(store, statement, &datum, 1, error);
}

int database_step(struct store *store, struct statement *statement, struct error *error) {
    return store->backend->step(store, statement, error);
}

void database_reset(struct statement *statement) {
    statement->backend->reset(statement);
}

bool database_run(struct store *store, struct statement *statement, struct error *error) {
    return statement && database_step(store, statement, error) == 0;
}

bool database_execute(struct store *store, enum statement_number number, int64_t parameter,
                      struct error *error) {
    const struct datum data = INTEGER(parameter);
    const bool takes = strstr(sql_of(store, number), "?1");
    return !*sql_of(store, number) ||
           database_run(store, database_bind(store, number, &data, takes, error), error);
}

int64_t database_changes(struct store *store) {
    return store->backend->changes(store);
}

/* ---- transactions ---- */

bool store_begin(struct store *store, struct error *error) {
    if (store->access == STORE_READ)
        return error_set(error, "%s was opened for reading", store->path);
    if (store->in_transaction)
        return error_set(error, "%s: a transaction within a transaction", store->path);
    if (!store->backend->begin(store, error))
        return false;
    store->in_transaction = true;
    store->doomed = false;
    return true;
}

bool store_commit(struct store *store, struct error *error) {
    if (store->doomed)
        error_set(error, "%s: nothing was saved, since a part of it failed", store->path);
    bool good = !store->doomed && store->backend->commit(store, error);
    if (!good)
        store_rollback(store);
    store->in_transaction = false;
    return good;
}

void store_rollback(struct store *store) {
    if (store->in_transaction)
        store->backend->rollback(store);
    store->in_transaction = false;
    store->doomed = false;
}

bool write_begin(struct store *store, struct error *error) {
    if (store->doomed)
        return error_set(error, "%s: nothing more can be saved, since a part failed", store->path);
    if (store->access == STORE_READ)
        return error_set(error, "%s was opened for reading", store->path);
    if (!store->in_transaction && store->write_depth == 0 && !store->backend->begin(store, error))
        return false;
    store->write_depth++;
    return true;
}

bool write_end(struct store *store, bool good, struct error *error) {
    store->write_depth--;
    if (store->in_transaction) {
        store->doomed |= !good;
        return good;
    }
    if (store->write_depth)
        return good;
    good = good && store->backend->commit(store, error);
    if (!good)
        store->backend->rollback(store);
    return good;
}

/* The number in the first column of the only row. */
static bool read_id(struct store *store, struct statement *statement, int64_t *id,
                    struct error *error) {
    const int row = database_step(store, statement, error);
    if (row == 0)
        return error_set(error, "%s: the session was removed, and takes nothing more", store->path);
    if (row < 0)
        return false;
    *id = column_integer(statement, 0);
    return database_run(store, statement, error);
}

bool database_write(struct store *store, struct statement *statement, int64_t *id,
                    struct error *error) {
    if (!statement || !write_begin(store, error))
        return false;
    return write_end(
        store, id ? read_id(store, statement, id, error) : database_run(store, statement, error),
        error);
}

bool database_find_or_add(struct store *store, enum statement_number find,
                          enum statement_number add, const struct datum *data, int count,
                          int64_t *id, struct error *error) {
    if (!write_begin(store, error))
        return false;
    struct statement *statement = database_bind(store, find, data, count, error);
    int row = statement ? database_step(store, statement, error) : -1;
    bool good = row >= 0;
    if (row > 0) {
        *id = column_integer(statement, 0);
        database_reset(statement);
    } else if (row == 0) {
        good = database_write(store, database_bind(store, add, data, count, error), id, error);
    }
    return write_end(store, good, error);
}
