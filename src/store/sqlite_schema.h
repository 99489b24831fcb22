/* The tables, and how those of older versions become those of today. */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>

enum { SCHEMA_APPLICATION = 0x43554c50 }; /* "CULP", SQLite's application_id */

/* steps[v] makes version v + 1 (SQLite's user_version) of version v; 0 is an empty file. */
struct schema {
    const char *const *steps;
    int version;
    int readable; /* the oldest that has all that readers look at */
};
extern const struct schema STORE_SCHEMA;

enum schema_state {
    SCHEMA_GOOD,
    SCHEMA_EMPTY, /* nothing in it at all */
    SCHEMA_OLDER,
    SCHEMA_NEWER,
    SCHEMA_FOREIGN, /* some other program's */
    SCHEMA_FAILED   /* SQLite's error */
};
enum schema_state schema_state(const struct schema *schema, sqlite3 *database, int *version);

/* Brings it up to date in one transaction, also when other processes try the same. Not SQLITE_OK:
 * SQLite's error, and nothing has changed. */
int schema_upgrade(const struct schema *schema, sqlite3 *database);
