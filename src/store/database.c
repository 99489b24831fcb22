/* SQLite in WAL mode: readers never wait for the writer, and a writer that dies leaves what it has
 * committed. A reader who may not write in the folder can read a file whose write-ahead log is gone
 * only when it promises SQLite that nobody writes (immutable). The file may be hostile: its schema
 * is not trusted with functions, views or triggers. */
#include "store/database.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/schema.h"

enum { WAIT_FOR_WRITER_MS = 10000, BLOB_BYTES_MAX = 1 << 28, LOG_BYTES_KEPT = 4 << 20 };

static const char *const SQL[STATEMENT_COUNT] = {
    [ADD_SESSION] = "INSERT INTO session(kind, name, host, kernel, processor, weight, start, "
                    "\"end\", unknown, dropped, saved) VALUES(?,?,?,?,?,?,?,?,?,?,?)",
    [UPDATE_SESSION] = "UPDATE session SET \"end\" = ?2, unknown = ?3, dropped = ?4, saved = "
                       "max(saved, ?5) WHERE id = ?1",
    [WEIGH_SESSION] = "UPDATE session SET weight = ?2 WHERE id = ?1",
    [ADD_EVENT] = "INSERT INTO event(session, name, unit, period, period_unit, precise) "
                  "VALUES(?,?,?,?,?,?)",
    [EVENT_TOTAL] = "SELECT total, length(data) FROM profile WHERE session = ?1 AND event = ?2 "
                    "UNION ALL SELECT 0, length(data) FROM calls WHERE session = ?1 AND event = ?2",
    [FIND_IMAGE] =
        "SELECT id FROM image WHERE path = ?2 AND build_id = ?3 AND kind = ?1 AND root = ?4",
    [ADD_IMAGE] = "INSERT INTO image(kind, path, build_id, root) VALUES(?,?,?,?)",
    [GET_IMAGE] = "SELECT kind, path, build_id, root FROM image WHERE id = ?",
    [SET_SYMBOLS] = "INSERT OR REPLACE INTO symbols(image, data) VALUES(?,?)",
    [GET_SYMBOLS] = "SELECT data FROM symbols WHERE image = ?",
    [FIND_PROCESS] = "SELECT id FROM process WHERE session = ? AND command = ? AND executable = ? "
                     "AND pid = ? AND thread = ? AND processor = ? AND cgroup = ? AND "
                     "\"begin\" = ? AND \"end\" = ?",
    [ADD_PROCESS] = "INSERT INTO process(session, command, executable, pid, thread, processor, "
                    "cgroup, \"begin\", \"end\") VALUES(?,?,?,?,?,?,?,?,?)",
    [FIND_PROFILE] = "SELECT id, data FROM profile WHERE session = ? AND image = ? AND "
                     "process = ? AND event = ?",
    [ADD_PROFILE] = "INSERT INTO profile(session, image, process, event, total, data) "
                    "VALUES(?,?,?,?,?,?)",
    [SET_PROFILE] = "UPDATE profile SET total = ?2, data = ?3 WHERE id = ?1",
    [FIND_CALLS] = "SELECT id, data FROM calls WHERE session = ? AND process = ? AND event = ?",
    [ADD_CALLS] = "INSERT INTO calls(session, process, event, total, data) VALUES(?,?,?,?,?)",
    [SET_CALLS] = "UPDATE calls SET total = ?2, data = ?3 WHERE id = ?1",
    [ADD_CALLS_IMAGE] = "INSERT OR IGNORE INTO calls_image(image, calls) VALUES(?,?)",
};

/* ---- errors ---- */

/* Somebody writes after all what was opened as immutable. */
static bool was_written(const struct store *store) {
    struct stat status;
    return store->immutable && stat(store->path, &status) == 0 &&
           (status.st_mtim.tv_sec != store->as_of.tv_sec ||
            status.st_mtim.tv_nsec != store->as_of.tv_nsec);
}

bool database_damaged(struct store *store, struct error *error, const char *format, ...) {
    char what[512];
    if (was_written(store))
        return error_set(error, "%s was written while it was read: try again", store->path);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return error_set(error, "%s is damaged: %s (move it away, or restore a copy)", store->path,
                     what);
}

bool database_out_of_memory(struct store *store, struct error *error) {
    return error_set(error, "%s: out of memory", store->path);
}

static bool fail_with(struct store *store, int code, const char *message, struct error *error) {
    const char *path = store->path;
    int number = sqlite3_system_errno(store->database);
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

bool database_fail(struct store *store, struct error *error) {
    return fail_with(store, sqlite3_errcode(store->database), sqlite3_errmsg(store->database),
                     error);
}

/* ---- opening ---- */

static bool make_folders(const char *path, struct error *error) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = folder + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        if (mkdir(folder, 0755) != 0 && errno != EEXIST)
            return error_errno(error, "%s: cannot make the folder", folder);
        *slash = '/';
    }
    return true;
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
    return make_folders(path, error);
}

static bool companion_holds(const char *path, const char *ending) {
    char companion[PATH_MAX + 8];
    struct stat status;
    snprintf(companion, sizeof companion, "%s%s", path, ending);
    return stat(companion, &status) == 0 && status.st_size > 0;
}

/* SQLite must not take a name for one of its own (":memory:", "file:..."); as a URI, which only
 * immutable needs, '%', '?' and '#' in it would mean something else. */
static bool connect(struct store *store, bool immutable) {
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
    if (sqlite3_open_v2(name, &store->database, flags, NULL) != SQLITE_OK)
        return false;
    sqlite3 *database = store->database;
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

static void disconnect(struct store *store) {
    sqlite3_close(store->database);
    store->database = NULL;
}

static bool folder_writable(const char *path) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    return access(folder, W_OK) == 0;
}

static enum schema_state open_as(struct store *store, bool immutable, int *version) {
    return connect(store, immutable) ? schema_state(&STORE_SCHEMA, store->database, version)
                                     : SCHEMA_FAILED;
}

/* For reading, also where SQLite cannot make its companion files. */
static enum schema_state open_to_read(struct store *store, int *version, struct error *error) {
    enum schema_state state = open_as(store, false, version);
    if (state != SCHEMA_FAILED || sqlite3_errcode(store->database) == SQLITE_NOTADB ||
        folder_writable(store->path) || access(store->path, R_OK) != 0)
        return state;
    if (companion_holds(store->path, "-wal")) {
        error_set(error,
                  "%s: its writer died, and to recover what it wrote takes permission to "
                  "write in the folder: run 'culprit epochs check' as its owner",
                  store->path);
        return state;
    }
    struct stat status;
    disconnect(store);
    store->immutable = stat(store->path, &status) == 0;
    store->as_of = store->immutable ? status.st_mtim : (struct timespec){0};
    return open_as(store, true, version);
}

/* The statements that make a new file's mode want it alone: when two make it at once, one waits. */
static bool prepare_to_write(struct store *store, enum schema_state state, struct error *error) {
    static const char MODES[] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL";
    sqlite3 *database = store->database;
    if (sqlite3_db_readonly(database, "main") == 1)
        return error_set(error,
                         "%s: cannot write: permission is missing, or the file system is "
                         "read-only",
                         store->path);
    char keep[64];
    snprintf(keep, sizeof keep, "PRAGMA journal_size_limit=%d", LOG_BYTES_KEPT);
    for (int tries = 0; sqlite3_exec(database, MODES, NULL, NULL, NULL) != SQLITE_OK; tries++) {
        if (tries == 100 || sqlite3_errcode(database) != SQLITE_BUSY)
            return database_fail(store, error);
        sqlite3_sleep(20);
    }
    if (sqlite3_exec(database, keep, NULL, NULL, NULL) != SQLITE_OK)
        return database_fail(store, error);
    int code = state == SCHEMA_GOOD ? SQLITE_OK : schema_upgrade(&STORE_SCHEMA, database);
    return code == SQLITE_OK || fail_with(store, code, sqlite3_errstr(code), error);
}

static bool accept(struct store *store, enum schema_state state, int version, struct error *error) {
    bool reading = store->access == STORE_READ;
    switch (state) {
    case SCHEMA_FAILED:
        return error->message[0] ? false : database_fail(store, error);
    case SCHEMA_FOREIGN:
        return error_set(error, "%s is no store of profiles, but some other program's database",
                         store->path);
    case SCHEMA_NEWER:
        return error_set(error,
                         "%s is a store of version %d; this culprit knows versions up to "
                         "%d: take a newer culprit",
                         store->path, version, STORE_SCHEMA.version);
    case SCHEMA_OLDER:
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

struct store *store_open(const char *path, enum store_access access_wanted, struct error *error) {
    struct store *store = calloc(1, sizeof *store);
    if (!store)
        return error_null(error, "out of memory");
    error->message[0] = 0;
    store->access = access_wanted;
    int version = 0;
    if (!*path || snprintf(store->path, PATH_MAX, "%s", path) >= PATH_MAX)
        error_set(error, "the path of the store is %s", *path ? "too long" : "empty");
    else if (check_file(path, access_wanted, error)) {
        enum schema_state state = access_wanted == STORE_READ ? open_to_read(store, &version, error)
                                                              : open_as(store, false, &version);
        if (accept(store, state, version, error))
            return store;
    }
    store_close(store);
    return NULL;
}

void store_close(struct store *store) {
    if (!store)
        return;
    store_rollback(store);
    for (int i = 0; i < STATEMENT_COUNT; i++)
        sqlite3_finalize(store->statements[i]);
    disconnect(store);
    stored_images_free(store->images);
    blob_codec_free(&store->codec);
    free(store->old_values);
    free(store->new_values);
    free(store->old_calls);
    free(store);
}

const char *store_path(const struct store *store) {
    return store->path;
}

bool store_size(struct store *store, uint64_t *bytes, uint64_t *unused, struct error *error) {
    int64_t page, pages, unused_pages;
    if (!database_integer(store, "PRAGMA page_size", &page, error) ||
        !database_integer(store, "PRAGMA page_count", &pages, error) ||
        !database_integer(store, "PRAGMA freelist_count", &unused_pages, error))
        return false;
    *bytes = (uint64_t)(page * pages);
    *unused = (uint64_t)(page * unused_pages);
    return true;
}

/* ---- statements ---- */

static sqlite3_stmt *prepare(struct store *store, const char *sql, unsigned flags,
                             struct error *error) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v3(store->database, sql, -1, flags, &statement, NULL) == SQLITE_OK)
        return statement;
    /* The tables are not as the version says. */
    if (sqlite3_errcode(store->database) == SQLITE_ERROR)
        database_damaged(store, error, "%s", sqlite3_errmsg(store->database));
    else
        database_fail(store, error);
    return NULL;
}

sqlite3_stmt *database_prepare(struct store *store, const char *sql, struct error *error) {
    return prepare(store, sql, 0, error);
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
    default:
        return datum->integer ? sqlite3_bind_blob64(statement, at, datum->bytes,
                                                    (sqlite3_uint64)datum->integer, SQLITE_STATIC)
                              : sqlite3_bind_zeroblob(statement, at, 0);
    }
}

sqlite3_stmt *database_bind(struct store *store, enum statement number, const struct datum *data,
                            int count, struct error *error) {
    sqlite3_stmt **statement = &store->statements[number];
    if (!*statement &&
        !(*statement = prepare(store, SQL[number], SQLITE_PREPARE_PERSISTENT, error)))
        return NULL;
    sqlite3_reset(*statement);
    for (int i = 0; i < count; i++)
        if (bind_datum(*statement, i + 1, &data[i]) != SQLITE_OK) {
            database_fail(store, error);
            return NULL;
        }
    return *statement;
}

int database_step(struct store *store, sqlite3_stmt *statement, struct error *error) {
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        return 1;
    if (code != SQLITE_DONE)
        database_fail(store, error);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? 0 : -1;
}

bool database_run(struct store *store, sqlite3_stmt *statement, struct error *error) {
    return statement && database_step(store, statement, error) == 0;
}

bool database_execute(struct store *store, const char *sql, int64_t parameter,
                      struct error *error) {
    sqlite3_stmt *statement = database_prepare(store, sql, error);
    if (!statement)
        return false;
    if (sqlite3_bind_parameter_count(statement) > 0)
        sqlite3_bind_int64(statement, 1, parameter);
    int row;
    while ((row = database_step(store, statement, error)) > 0)
        ;
    sqlite3_finalize(statement);
    return row == 0;
}

bool database_integer(struct store *store, const char *sql, int64_t *value, struct error *error) {
    sqlite3_stmt *statement = database_prepare(store, sql, error);
    if (!statement)
        return false;
    int row = database_step(store, statement, error);
    if (row > 0)
        *value = sqlite3_column_int64(statement, 0);
    else if (row == 0)
        database_damaged(store, error, "%s gives nothing", sql);
    sqlite3_finalize(statement);
    return row > 0;
}

const char *database_text(sqlite3_stmt *statement, int column) {
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? text : "";
}

/* ---- transactions ---- */

bool store_begin(struct store *store, struct error *error) {
    if (store->access == STORE_READ)
        return error_set(error, "%s was opened for reading", store->path);
    if (store->in_transaction)
        return error_set(error, "%s: a transaction within a transaction", store->path);
    if (!database_execute(store, "BEGIN IMMEDIATE", 0, error))
        return false;
    store->in_transaction = true;
    store->doomed = false;
    return true;
}

bool store_commit(struct store *store, struct error *error) {
    if (store->doomed)
        error_set(error, "%s: nothing was saved, since a part of it failed", store->path);
    bool good = !store->doomed && database_execute(store, "COMMIT", 0, error);
    if (!good)
        store_rollback(store);
    store->in_transaction = false;
    return good;
}

/* SQLite has rolled back by itself after some errors. */
void store_rollback(struct store *store) {
    if (store->in_transaction && !sqlite3_get_autocommit(store->database))
        sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
    store->in_transaction = false;
    store->doomed = false;
}

bool write_begin(struct store *store, struct error *error) {
    if (store->doomed)
        return error_set(error, "%s: nothing more can be saved, since a part failed", store->path);
    if (store->access == STORE_READ)
        return error_set(error, "%s was opened for reading", store->path);
    if (!store->in_transaction && store->write_depth == 0 &&
        !database_execute(store, "BEGIN IMMEDIATE", 0, error))
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
    good = good && database_execute(store, "COMMIT", 0, error);
    if (!good && !sqlite3_get_autocommit(store->database))
        sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
    return good;
}

bool database_write(struct store *store, sqlite3_stmt *statement, int64_t *id,
                    struct error *error) {
    if (!statement || !write_begin(store, error))
        return false;
    bool good = database_run(store, statement, error);
    if (good && id)
        *id = sqlite3_last_insert_rowid(store->database);
    return write_end(store, good, error);
}

bool database_find_or_add(struct store *store, enum statement find, enum statement add,
                          const struct datum *data, int count, int64_t *id, struct error *error) {
    if (!write_begin(store, error))
        return false;
    sqlite3_stmt *statement = database_bind(store, find, data, count, error);
    int row = statement ? database_step(store, statement, error) : -1;
    bool good = row >= 0;
    if (row > 0) {
        *id = sqlite3_column_int64(statement, 0);
        sqlite3_reset(statement);
    } else if (row == 0) {
        good = database_write(store, database_bind(store, add, data, count, error), id, error);
    }
    return write_end(store, good, error);
}
