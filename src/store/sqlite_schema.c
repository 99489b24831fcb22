/* Only references to sessions are declared: a session may be removed while it is written, and what
 * comes afterwards must be refused. The others would make removing slow, for want of indexes.
 * Numbers of sessions and images are not used again. Which version a file is, is read again inside
 * the transaction that changes it: another process may have been first. */
#include "store/sqlite_schema.h"

#include <stdio.h>

static const char VERSION_1[] =
    "CREATE TABLE session("
    " id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " kind INTEGER NOT NULL, name TEXT NOT NULL, host TEXT NOT NULL, kernel TEXT NOT NULL,"
    " processor TEXT NOT NULL, weight REAL NOT NULL, start INTEGER NOT NULL,"
    " \"end\" INTEGER NOT NULL, unknown INTEGER NOT NULL, dropped INTEGER NOT NULL,"
    " saved INTEGER NOT NULL) STRICT;"
    "CREATE TABLE event("
    " id INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES session,"
    " name TEXT NOT NULL, unit TEXT NOT NULL, period INTEGER NOT NULL, period_unit TEXT NOT NULL,"
    " precise INTEGER NOT NULL) STRICT;"
    "CREATE INDEX event_session ON event(session);"
    "CREATE TABLE process("
    " id INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES session,"
    " command TEXT NOT NULL, executable TEXT NOT NULL,"
    " UNIQUE(session, command, executable)) STRICT;"
    "CREATE TABLE image("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER NOT NULL, path TEXT NOT NULL, build_id "
    "BLOB NOT NULL,"
    " root TEXT NOT NULL, UNIQUE(path, build_id, kind, root)) STRICT;"
    "CREATE TABLE symbols("
    " image INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;"
    "CREATE TABLE profile("
    " id INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES session,"
    " image INTEGER NOT NULL, process INTEGER NOT NULL, event INTEGER NOT NULL,"
    " total INTEGER NOT NULL, data BLOB NOT NULL,"
    " UNIQUE(session, image, process, event)) STRICT;";

/* Which images a tree refers to is told apart, so that they are kept without reading it. */
static const char VERSION_2[] =
    "CREATE TABLE calls("
    " id INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES session,"
    " process INTEGER NOT NULL, event INTEGER NOT NULL, total INTEGER NOT NULL,"
    " data BLOB NOT NULL, UNIQUE(session, process, event)) STRICT;"
    "CREATE TABLE calls_image("
    " image INTEGER NOT NULL, calls INTEGER NOT NULL, PRIMARY KEY(image, calls))"
    " STRICT, WITHOUT ROWID;";

/* Processes by the slices of their samples. What refers to a row keeps its number. */
static const char VERSION_3[] =
    "CREATE TABLE process_sliced("
    " id INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES session,"
    " command TEXT NOT NULL, executable TEXT NOT NULL,"
    " pid INTEGER NOT NULL, thread INTEGER NOT NULL, processor INTEGER NOT NULL,"
    " cgroup TEXT NOT NULL, \"begin\" INTEGER NOT NULL, \"end\" INTEGER NOT NULL,"
    " UNIQUE(session, command, executable, pid, thread, processor, cgroup, \"begin\", \"end\"))"
    " STRICT;"
    "INSERT INTO process_sliced"
    " SELECT id, session, command, executable, 0, 0, 0, '', 0, 0 FROM process;"
    "DROP TABLE process;"
    "ALTER TABLE process_sliced RENAME TO process;";

/* What a server of PostgreSQL knows this file by, and what it has of it. */
static const char VERSION_4[] =
    "CREATE TABLE identity(id BLOB NOT NULL, server BLOB NOT NULL) STRICT;"
    "INSERT INTO identity VALUES(randomblob(16), x'');"
    "CREATE TABLE sent("
    " server BLOB NOT NULL, session INTEGER NOT NULL REFERENCES session, at INTEGER NOT NULL,"
    " given_up INTEGER NOT NULL, PRIMARY KEY(server, session)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE sent_symbols("
    " server BLOB NOT NULL, image INTEGER NOT NULL, number INTEGER NOT NULL,"
    " checksum INTEGER NOT NULL, PRIMARY KEY(server, image)) STRICT, WITHOUT ROWID;";

/* Sessions may be sums of days; which days of hosts there are is told by the index alone. */
static const char VERSION_5[] = "CREATE INDEX session_days ON session(kind, host, start, \"end\", "
                                "saved, weight);";

static const char *const STEPS[] = {VERSION_1, VERSION_2, VERSION_3, VERSION_4, VERSION_5};
const struct schema STORE_SCHEMA = {STEPS, sizeof STEPS / sizeof *STEPS, .readable = 3};

static bool read_integer(sqlite3 *database, const char *sql, int *value) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK)
        return false;
    bool good = sqlite3_step(statement) == SQLITE_ROW;
    if (good)
        *value = sqlite3_column_int(statement, 0);
    return sqlite3_finalize(statement) == SQLITE_OK && good;
}

static bool run(sqlite3 *database, const char *sql) {
    return sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* All three as they were at one moment: another process may be making the file. A failure leaves
 * the transaction open, and with it SQLite's code of the error; the connection is then closed. */
static bool read_labels(sqlite3 *database, int *application, int *version, int *tables) {
    bool alone = sqlite3_get_autocommit(database);
    return (!alone || run(database, "BEGIN")) &&
           read_integer(database, "PRAGMA application_id", application) &&
           read_integer(database, "PRAGMA user_version", version) &&
           read_integer(database, "SELECT count(*) FROM sqlite_schema", tables) &&
           (!alone || run(database, "COMMIT"));
}

enum schema_state schema_state(const struct schema *schema, sqlite3 *database, int *version) {
    int application, tables;
    if (!read_labels(database, &application, version, &tables))
        return SCHEMA_FAILED;
    if (application == 0 && *version == 0 && tables == 0)
        return SCHEMA_EMPTY;
    if (application != SCHEMA_APPLICATION || *version < 1)
        return SCHEMA_FOREIGN;
    return *version == schema->version  ? SCHEMA_GOOD
           : *version < schema->version ? SCHEMA_OLDER
                                        : SCHEMA_NEWER;
}

static bool take_steps(const struct schema *schema, sqlite3 *database) {
    int version;
    switch (schema_state(schema, database, &version)) {
    case SCHEMA_GOOD:
        return true;
    case SCHEMA_EMPTY:
    case SCHEMA_OLDER:
        break;
    default:
        return false;
    }
    for (; version < schema->version; version++)
        if (!run(database, schema->steps[version]))
            return false;
    char label[96];
    snprintf(label, sizeof label, "PRAGMA application_id=%d; PRAGMA user_version=%d",
             SCHEMA_APPLICATION, version);
    return run(database, label);
}

int schema_upgrade(const struct schema *schema, sqlite3 *database) {
    if (!run(database, "BEGIN IMMEDIATE"))
        return sqlite3_errcode(database);
    if (take_steps(schema, database) && run(database, "COMMIT"))
        return SQLITE_OK;
    int code = sqlite3_errcode(database);
    run(database, "ROLLBACK");
    return code == SQLITE_OK ? SQLITE_SCHEMA : code;
}
