/* SQLite in WAL mode: readers never wait for the writer, and a writer that dies leaves what it has
 * committed. A reader who may not write in the folder can read a file whose write-ahead log is gone
 * only when it promises SQLite that nobody writes (immutable). The file may be hostile: its schema
 * is not trusted with functions, views or triggers. */
#include "store/sqlite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sqlite_schema.h"
#include "util/array.h"

enum { WAIT_FOR_WRITER_MS = 10000, BLOB_BYTES_MAX = 1 << 28, LOG_BYTES_KEPT = 4 << 20 };

/* ---- errors ---- */

/* Somebody writes after all what was opened as immutable. */
static bool was_written(const struct store *store) {
    const struct sqlite_connection *connection = store->connection;
    struct stat status;
    return connection && connection->immutable && stat(store->path, &status) == 0 &&
           (status.st_mtim.tv_sec != connection->as_of.tv_sec ||
            status.st_mtim.tv_nsec != connection->as_of.tv_nsec);
}

static bool fail_with(struct store *store, int code, const char *message, struct error *error) {
    const char *path = store->path;
    int number = sqlite3_system_errno(sqlite_of(store));
    switch (code) {
    case SQLITE_CORRUPT:
        return database_damaged(store, error, "%s", message);
    case SQLITE_NOTADB:
        return error_set(error, "%s is no store of profiles, or damaged at its beginning", path);
    case SQLITE_FULL:
        return error_set(error, "%s: cannot write: no space is left in its file system", path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return error_set(error, "%s: another process has been writing for %d s: try again later",
                         path, WAIT_FOR_WRITER_MS / 1000);
    case SQLITE_READONLY:
        return error_set(
            error, "%s: cannot write: permission for the file or its folder is missing", path);
    case SQLITE_NOMEM:
        return database_out_of_memory(store, error);
    case SQLITE_CONSTRAINT:
        return error_set(error, "%s: the session was removed, and takes nothing more", path);
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_PERM:
        errno = number;
        return number ? error_errno(error, "%s: cannot read or write", path)
                      : error_set(error,
                                  "%s: cannot read or write: %s (a limit on the size of "
                                  "files, or a failing disk)",
                                  path, message);
    }
    return error_set(error, "%s: %s", path, message);
}

/* What SQLite could not do, as one line that begins with the path. Returns false. */
static bool sqlite_fail(struct store *store, struct error *error) {
    return fail_with(store, sqlite3_errcode(sqlite_of(store)), sqlite3_errmsg(sqlite_of(store)),
                     error);
}

/* ---- opening ---- */

static bool make_folders(const char *path, struct error *error) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = folder + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        if (mkdir(folder, 0755) != 0 && errno != EEXIST)
            return error_errno(error,
                               "%s: cannot make the folder of the store (--store or CULPRIT_STORE "
                               "names another)",
                               folder);
        *slash = '/';
    }
    return true;
}

/* SQLite would say of a folder that takes no file that there is no file. */
static bool prepare_folder(const char *path, struct error *error) {
    char folder[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    if (slash) /* of the root it is the whole name */
        snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    return make_folders(path, error) &&
           (access(folder, W_OK) == 0 || error_errno(error, "%s: cannot make a file there", path));
}

/* Only a regular file: SQLite would wait for a pipe. */
static bool check_file(const char *path, enum store_access access_wanted, struct error *error) {
    struct stat status;
    if (stat(path, &status) == 0)
        return S_ISREG(status.st_mode) || error_set(error, "%s: not a regular file", path);
    if (errno != ENOENT)
        return error_errno(error, "%s: cannot open", path);
    if (access_wanted == STORE_READ)
        return error_set(error,
                         "%s: no profiles are kept there yet ('culprit record' or 'culprit "
                         "daemon' collects some)",
                         path);
    return prepare_folder(path, error);
}

static bool companion_holds(const char *path, const char *ending) {
    char companion[PATH_MAX + 8];
    struct stat status;
    snprintf(companion, sizeof companion, "%s%s", path, ending);
    return stat(companion, &status) == 0 && status.st_size > 0;
}

/* SQLite must not take a name for one of its own (":memory:", "file:..."); as a URI, which only
 * immutable needs, '%', '?' and '#' in it would mean something else. */
static bool connect_file(struct store *store, bool immutable) {
    struct sqlite_connection *connection = store->connection;
    char name[3 * PATH_MAX + 64], *to = name;
    if (immutable)
        to += sprintf(to, "file:");
    else if (*store->path != '/')
        to += sprintf(to, "./");
    for (const char *from = store->path; *from; from++)
        to += immutable && strchr("%?#", *from) ? sprintf(to, "%%%02x", (unsigned char)*from)
                                                : sprintf(to, "%c", *from);
    if (immutable)
        sprintf(to, "?immutable=1");
    int flags = SQLITE_OPEN_NOMUTEX | (immutable ? SQLITE_OPEN_URI : 0);
    flags |= store->access == STORE_READ ? SQLITE_OPEN_READONLY
                                         : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (sqlite3_open_v2(name, &connection->database, flags, NULL) != SQLITE_OK)
        return false;
    sqlite3 *database = sqlite_of(store);
    sqlite3_busy_timeout(database, WAIT_FOR_WRITER_MS);
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, BLOB_BYTES_MAX);
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    return sqlite3_exec(database,
                        "PRAGMA foreign_keys=1; PRAGMA cell_size_check=1; PRAGMA mmap_size=0", NULL,
                        NULL, NULL) == SQLITE_OK;
}

static void disconnect(struct sqlite_connection *connection) {
    sqlite3_close(connection->database);
    connection->database = NULL;
}

static bool folder_writable(const char *path) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    return access(folder, W_OK) == 0;
}

static enum schema_state open_as(struct store *store, bool immutable, int *version) {
    return connect_file(store, immutable) ? schema_state(&STORE_SCHEMA, sqlite_of(store), version)
                                          : SCHEMA_FAILED;
}

/* For reading, also where SQLite cannot make its companion files. */
static enum schema_state open_to_read(struct store *store, int *version, struct error *error) {
    enum schema_state state = open_as(store, false, version);
    if (state != SCHEMA_FAILED || sqlite3_errcode(sqlite_of(store)) == SQLITE_NOTADB ||
        folder_writable(store->path) || access(store->path, R_OK) != 0)
        return state;
    if (companion_holds(store->path, "-wal")) {
        error_set(error,
                  "%s: its writer died, and to recover what it wrote takes permission to "
                  "write in the folder: run 'culprit epochs check' as its owner",
                  store->path);
        return state;
    }
    struct sqlite_connection *connection = store->connection;
    struct stat status;
    disconnect(connection);
    connection->immutable = stat(store->path, &status) == 0;
    connection->as_of = connection->immutable ? status.st_mtim : (struct timespec){0};
    return open_as(store, true, version);
}

/* The statements that make a new file's mode want it alone: when two make it at once, one waits. */
static bool prepare_to_write(struct store *store, enum schema_state state, struct error *error) {
    static const char MODES[] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL";
    sqlite3 *database = sqlite_of(store);
    if (sqlite3_db_readonly(database, "main") == 1)
        return error_set(error,
                         "%s: cannot write: permission is missing, or the file system is "
                         "read-only",
                         store->path);
    char keep[64];
    snprintf(keep, sizeof keep, "PRAGMA journal_size_limit=%d", LOG_BYTES_KEPT);
    for (int tries = 0; sqlite3_exec(database, MODES, NULL, NULL, NULL) != SQLITE_OK; tries++) {
        if (tries == 100 || sqlite3_errcode(database) != SQLITE_BUSY)
            return sqlite_fail(store, error);
        sqlite3_sleep(20);
    }
    if (sqlite3_exec(database, keep, NULL, NULL, NULL) != SQLITE_OK)
        return sqlite_fail(store, error);
    int code = state == SCHEMA_GOOD ? SQLITE_OK : schema_upgrade(&STORE_SCHEMA, database);
    return code == SQLITE_OK || fail_with(store, code, sqlite3_errstr(code), error);
}

static bool accept(struct store *store, enum schema_state state, int version, struct error *error) {
    bool reading = store->access == STORE_READ;
    switch (state) {
    case SCHEMA_FAILED:
        return error->message[0] ? false : sqlite_fail(store, error);
    case SCHEMA_FOREIGN:
        return error_set(error, "%s is no store of profiles, but some other program's database",
                         store->path);
    case SCHEMA_NEWER:
        return error_set(error,
                         "%s is a store of version %d; this culprit knows versions up to "
                         "%d: take a newer culprit",
                         store->path, version, STORE_SCHEMA.version);
    case SCHEMA_OLDER:
        if (reading && version >= STORE_SCHEMA.readable)
            return true;
        return reading ? error_set(error,
                                   "%s is a store of version %d: 'culprit epochs check', by "
                                   "who may write it, brings it to version %d",
                                   store->path, version, STORE_SCHEMA.version)
                       : prepare_to_write(store, state, error);
    case SCHEMA_EMPTY:
        if (reading)
            return error_set(error, "%s is empty: no profiles are kept there yet", store->path);
        break;
    case SCHEMA_GOOD:
        if (reading)
            return true;
        break;
    }
    return prepare_to_write(store, state, error);
}

static bool open_file(struct store *store, const char *path, struct error *error) {
    int version = 0;
    if (!(store->connection = calloc(1, sizeof(struct sqlite_connection))))
        return database_out_of_memory(store, error);
    if (!check_file(path, store->access, error))
        return false;
    const enum schema_state state = store->access == STORE_READ
                                        ? open_to_read(store, &version, error)
                                        : open_as(store, false, &version);
    return accept(store, state, version, error);
}

static void close_file(struct store *store) {
    if (store->connection)
        disconnect(store->connection);
    free(store->connection);
}

/* ---- statements ---- */

struct sqlite_statement {
    struct statement common;
    sqlite3_stmt *handle;
};

static sqlite3_stmt *handle_of(struct statement *statement) {
    return ((struct sqlite_statement *)statement)->handle;
}

struct statement *sqlite_prepare(struct store *store, const char *sql, bool kept,
                                 struct error *error) {
    struct sqlite_statement *statement = calloc(1, sizeof *statement);
    if (!statement) {
        database_out_of_memory(store, error);
        return NULL;
    }
    statement->common.backend = &SQLITE_BACKEND;
    if (sqlite3_prepare_v3(sqlite_of(store), sql, -1, kept ? SQLITE_PREPARE_PERSISTENT : 0,
                           &statement->handle, NULL) == SQLITE_OK)
        return &statement->common;
    /* The tables are not as the version says. */
    if (sqlite3_errcode(sqlite_of(store)) == SQLITE_ERROR)
        database_damaged(store, error, "%s", sqlite3_errmsg(sqlite_of(store)));
    else
        sqlite_fail(store, error);
    free(statement);
    return NULL;
}

static void finalize(struct statement *statement) {
    sqlite3_finalize(handle_of(statement));
    free(statement);
}

static int bind_datum(sqlite3_stmt *statement, int at, const struct datum *datum) {
    switch (datum->type) {
    case DATUM_INTEGER:
        return sqlite3_bind_int64(statement, at, datum->integer);
    case DATUM_REAL:
        return sqlite3_bind_double(statement, at, datum->real);
    case DATUM_TEXT:
        return sqlite3_bind_text(statement, at, datum->bytes ? datum->bytes : "", -1,
                                 SQLITE_STATIC);
    case DATUM_LIST: /* of one, as sessions_at_once says */
        return sqlite3_bind_int64(statement, at, *(const int64_t *)datum->bytes);
    default:
        return datum->integer ? sqlite3_bind_blob64(statement, at, datum->bytes,
                                                    (sqlite3_uint64)datum->integer, SQLITE_STATIC)
                              : sqlite3_bind_zeroblob(statement, at, 0);
    }
}

static bool bind(struct store *store, struct statement *statement, const struct datum *data,
                 int count, struct error *error) {
    sqlite3_reset(handle_of(statement));
    return all_where(i, (size_t)count,
                     bind_datum(handle_of(statement), (int)i + 1, &data[i]) == SQLITE_OK ||
                         sqlite_fail(store, error));
}

static int step(struct store *store, struct statement *statement, struct error *error) {
    int code = sqlite3_step(handle_of(statement));
    if (code == SQLITE_ROW)
        return 1;
    if (code != SQLITE_DONE)
        sqlite_fail(store, error);
    sqlite3_reset(handle_of(statement));
    return code == SQLITE_DONE ? 0 : -1;
}

static void reset(struct statement *statement) {
    sqlite3_reset(handle_of(statement));
}

static int64_t changes(struct store *store) {
    return sqlite3_changes(sqlite_of(store));
}

bool sqlite_execute(struct store *store, const char *sql, struct error *error) {
    struct statement *statement = sqlite_prepare(store, sql, false, error);
    int row = -1;
    while (statement && (row = step(store, statement, error)) > 0)
        ;
    database_finalize(statement);
    return row == 0;
}

bool sqlite_integer(struct store *store, const char *sql, int64_t *value, struct error *error) {
    struct statement *statement = sqlite_prepare(store, sql, false, error);
    int row = statement ? step(store, statement, error) : -1;
    if (row > 0)
        *value = column_integer(statement, 0);
    else if (row == 0)
        database_damaged(store, error, "%s gives nothing", sql);
    database_finalize(statement);
    return row > 0;
}

/* ---- columns ---- */

static int64_t integer(struct statement *statement, int column) {
    return sqlite3_column_int64(handle_of(statement), column);
}

static double real(struct statement *statement, int column) {
    return sqlite3_column_double(handle_of(statement), column);
}

static const void *bytes(struct statement *statement, int column, size_t *size) {
    const void *blob = sqlite3_column_blob(handle_of(statement), column);
    *size = (size_t)sqlite3_column_bytes(handle_of(statement), column);
    return blob;
}

static const char *text(struct statement *statement, int column) {
    const char *text = (const char *)sqlite3_column_text(handle_of(statement), column);
    return text ? text : "";
}

static bool is_null(struct statement *statement, int column) {
    return sqlite3_column_type(handle_of(statement), column) == SQLITE_NULL;
}

/* ---- transactions ---- */

static bool begin(struct store *store, struct error *error) {
    return sqlite_execute(store, "BEGIN IMMEDIATE", error);
}

static bool commit(struct store *store, struct error *error) {
    return sqlite_execute(store, "COMMIT", error);
}

/* SQLite has rolled back by itself after some errors. */
static void rollback(struct store *store) {
    if (!sqlite3_get_autocommit(sqlite_of(store)))
        sqlite3_exec(sqlite_of(store), "ROLLBACK", NULL, NULL, NULL);
}

const struct backend SQLITE_BACKEND = {
    .sessions_at_once = 1,
    .open = open_file,
    .close = close_file,
    .changed = was_written,
    .size = sqlite_size,
    .compact = sqlite_compact,
    .check = sqlite_check,
    .prune = sqlite_prune,
    .prepare = sqlite_prepare,
    .finalize = finalize,
    .bind = bind,
    .step = step,
    .reset = reset,
    .changes = changes,
    .integer = integer,
    .real = real,
    .bytes = bytes,
    .text = text,
    .is_null = is_null,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
};
