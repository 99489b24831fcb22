/* SQLite's own check of a file, which reads all of it but leaves the contents of blobs alone. */
#include <sqlite3.h>
#include <string.h>

#include "store/store.h"

bool store_is_damaged(const char *path) {
    sqlite3 *database = NULL;
    sqlite3_stmt *check = NULL;
    int state = sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, NULL);
    if (state == SQLITE_OK)
        state = sqlite3_prepare_v2(database, "PRAGMA quick_check(1)", -1, &check, NULL);
    if (state == SQLITE_OK)
        state = sqlite3_step(check);
    const char *verdict =
        state == SQLITE_ROW ? (const char *)sqlite3_column_text(check, 0) : "not read";
    bool damaged = state == SQLITE_CORRUPT || state == SQLITE_NOTADB ||
                   (state == SQLITE_ROW && (!verdict || strcmp(verdict, "ok") != 0));
    sqlite3_finalize(check);
    sqlite3_close(database);
    return damaged;
}
