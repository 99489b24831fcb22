/* Inside of this room: what the files of the SQLite back end share. */
#pragma once

#include <sqlite3.h>
#include <time.h>

#include "store/database.h"

struct sqlite_connection {
    sqlite3 *database;
    bool immutable;        /* read on the promise that nobody writes, */
    struct timespec as_of; /* when the file had last been written */
};

static inline sqlite3 *sqlite_of(const struct store *store) {
    return ((const struct sqlite_connection *)store->connection)->database;
}

struct statement *sqlite_prepare(struct store *store, const char *sql, bool kept,
                                 struct error *error);
/* SQL without parameters; the first column of its only row. */
bool sqlite_execute(struct store *store, const char *sql, struct error *error);
bool sqlite_integer(struct store *store, const char *sql, int64_t *value, struct error *error);

bool sqlite_size(struct store *store, uint64_t *bytes, uint64_t *unused, struct error *error);
bool sqlite_compact(struct store *store, uint64_t *before, uint64_t *after, struct error *error);
bool sqlite_check(struct store *store, struct error *error);
bool sqlite_prune(struct store *store, const struct store_retention *retention, uint64_t *removed,
                  struct error *error);
