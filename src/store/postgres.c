/* By libpq (its documentation: "libpq - C Library"). Results are binary: integers are big-endian,
 * text and bytea the bytes themselves. */
#include "store/postgres.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "store/address.h"
#include "store/postgres_cursor.h"
#include "store/postgres_parameters.h"

enum { OLDEST_SERVER = 140000 };

/* Cursors are read to their end, and sort the rows of many sessions. */
static const char SETTINGS[] = "SET search_path = culprit, pg_temp; SET cursor_tuple_fraction = 1; "
                               "SET work_mem = '32MB'; SET jit = off";

/* ---- errors ---- */

static bool is_state(const struct store *store, const PGresult *result, const char *state) {
    const char *found =
        result ? libpq_of(store)->PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    return found && !strncmp(found, state, strlen(state));
}

bool postgres_fail(struct store *store, const PGresult *result, struct error *error) {
    const struct postgres_connection *connection = postgres_of(store);
    const char *primary =
        result ? libpq_of(store)->PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    const char *said = primary ? primary : libpq_of(store)->PQerrorMessage(connection->connection);
    const int length = (int)strcspn(said, "\n");
    if (!said[0])
        said = "out of memory";
    if (is_state(store, result, "53100"))
        return error_set(error, "%s: cannot write: the server's disk is full (%.*s)", store->path,
                         length, said);
    if (is_state(store, result, "42501"))
        return error_set(error,
                         "%s: refused: %.*s (which logins may write and read: 'culprit help "
                         "fleet')",
                         store->path, length, said);
    if (is_state(store, result, "23502") || is_state(store, result, "23503"))
        return error_set(error, "%s: the session was removed, and takes nothing more", store->path);
    if (is_state(store, result, "55P03"))
        return error_set(error, "%s: in use by others: try again later", store->path);
    return error_set(error, "%s: %.*s", store->path, length, said);
}

/* ---- connecting ---- */

static void ignore_notice(void *context, const char *message) {
    (void)context, (void)message;
}

/* What libpq says of an address that it cannot read, or whose password has characters that it takes
 * for others' ends, may quote the password. */
static bool is_misread(const struct store *store, const char *address) {
    const char *said = libpq_of(store)->PQerrorMessage(postgres_of(store)->connection);
    const char *authority = strstr(address, "://") + 3;
    const size_t length = strcspn(authority, "/?");
    PQconninfoOption *options = libpq_of(store)->PQconninfoParse(address, NULL);
    libpq_of(store)->PQconninfoFree(options);
    return !options || memchr(authority, '@', length) != memrchr(authority, '@', length) ||
           strstr(said, "invalid integer value");
}

static bool connect_server(struct store *store, const char *address, struct error *error) {
    struct postgres_connection *connection = postgres_of(store);
    /* What the address says comes behind the defaults, and wins. */
    static const char *const NAMES[] = {"fallback_application_name", "connect_timeout",
                                        "tcp_user_timeout",          "dbname",
                                        "client_encoding",           NULL};
    const char *const values[] = {"culprit", "10", "30000", address, "UTF8", NULL};
    connection->connection = libpq_of(store)->PQconnectdbParams(NAMES, values, 1);
    if (!connection->connection)
        return database_out_of_memory(store, error);
    libpq_of(store)->PQsetNoticeProcessor(connection->connection, ignore_notice, NULL);
    if (libpq_of(store)->PQstatus(connection->connection) == CONNECTION_OK)
        return libpq_of(store)->PQserverVersion(connection->connection) >= OLDEST_SERVER ||
               error_set(error, "%s: the server is PostgreSQL %d; it takes 14 or later",
                         store->path,
                         libpq_of(store)->PQserverVersion(connection->connection) / 10000);
    if (is_misread(store, address))
        return error_set(error,
                         "%s: no address of a database (postgresql://USER@HOST/DATABASE; "
                         "characters such as '@' in it are written as %%40)",
                         store->path);
    return postgres_fail(store, NULL, error);
}

static bool open_server(struct store *store, const char *address, struct error *error) {
    bool foreign;
    if (!(store->connection = calloc(1, sizeof(struct postgres_connection))))
        return database_out_of_memory(store, error);
    if (!libpq_load(&postgres_of(store)->libpq, error) || !connect_server(store, address, error) ||
        !postgres_execute(store, SETTINGS, error) || !postgres_read_version(store, &foreign, error))
        return false;
    const int version = postgres_of(store)->version;
    if (foreign)
        return error_set(error,
                         "%s: the schema \"culprit\" there is some other program's, and no store "
                         "of profiles",
                         store->path);
    if (version > SERVER_VERSION)
        return error_set(error,
                         "%s is a store of version %d; this culprit knows versions up to %d: take "
                         "a newer culprit",
                         store->path, version, SERVER_VERSION);
    if (store->access != STORE_INIT && version < SERVER_VERSION)
        return error_set(error,
                         version ? "%s is a store of version %d: 'culprit epochs init', by its "
                                   "owner, brings it to version %d"
                                 : "%s: no store of profiles is there yet ('culprit epochs init' "
                                   "makes one)",
                         store->path, version, SERVER_VERSION);
    return true;
}

static void close_server(struct store *store) {
    struct postgres_connection *connection = postgres_of(store);
    if (connection && connection->connection)
        libpq_of(store)->PQfinish(connection->connection);
    free(connection);
}

static void interrupt(struct store *store) {
    const int socket = libpq_of(store)->PQsocket(postgres_of(store)->connection);
    if (socket >= 0)
        shutdown(socket, SHUT_RDWR);
}

/* ---- statements ---- */

bool postgres_is_good(const struct store *store, const PGresult *result) {
    const ExecStatusType status = libpq_of(store)->PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

bool postgres_execute(struct store *store, const char *sql, struct error *error) {
    PGresult *result = libpq_of(store)->PQexec(postgres_of(store)->connection, sql);
    const bool good = postgres_is_good(store, result) || postgres_fail(store, result, error);
    libpq_of(store)->PQclear(result);
    return good;
}

PGresult *postgres_query(struct store *store, const char *sql, const struct datum *data, int count,
                         struct error *error) {
    struct parameters parameters = {0};
    PGresult *result = NULL;
    if (parameters_set(store, &parameters, data, count, error)) {
        result = libpq_of(store)->PQexecParams(postgres_of(store)->connection, sql, count, NULL,
                                               parameters.values, parameters.lengths,
                                               parameters.formats, 1);
        if (!postgres_is_good(store, result)) {
            postgres_fail(store, result, error);
            libpq_of(store)->PQclear(result);
            result = NULL;
        }
    }
    parameters_free(&parameters);
    return result;
}

bool postgres_integer(struct store *store, const char *sql, const struct datum *data, int count,
                      int64_t *value, struct error *error) {
    PGresult *result = postgres_query(store, sql, data, count, error);
    if (!result)
        return false;
    const bool good = libpq_of(store)->PQntuples(result) == 1 ||
                      error_set(error, "%s: the server gave no answer", store->path);
    if (good)
        *value = postgres_number(store, result, 0, 0);
    libpq_of(store)->PQclear(result);
    return good;
}

int64_t postgres_number(const struct store *store, const PGresult *result, int row, int column) {
    const char *bytes = libpq_of(store)->PQgetvalue(result, row, column);
    uint64_t eight;
    uint32_t four;
    switch (libpq_of(store)->PQgetlength(result, row, column)) {
    case sizeof eight:
        memcpy(&eight, bytes, sizeof eight);
        return (int64_t)be64toh(eight);
    case sizeof four:
        memcpy(&four, bytes, sizeof four);
        return (int32_t)be32toh(four);
    case 1:
        return *bytes;
    default:
        return 0;
    }
}

/* ---- transactions ---- */

static bool begin(struct store *store, struct error *error) {
    struct postgres_connection *connection = postgres_of(store);
    if (connection->walk_transaction)
        return error_set(error, "%s: cannot be written while it is walked", store->path);
    return connection->transaction = postgres_execute(store, "BEGIN", error);
}

static bool commit(struct store *store, struct error *error) {
    struct postgres_connection *connection = postgres_of(store);
    /* COMMIT of what has failed rolls back, and is no error. */
    if (libpq_of(store)->PQtransactionStatus(connection->connection) == PQTRANS_INERROR)
        return error_set(error, "%s: nothing was saved, since a part of it failed", store->path);
    if (!postgres_execute(store, "COMMIT", error))
        return false;
    connection->transaction = false;
    return true;
}

static void rollback(struct store *store) {
    struct postgres_connection *connection = postgres_of(store);
    struct error ignored;
    if (connection && connection->transaction)
        postgres_execute(store, "ROLLBACK", &ignored);
    if (connection)
        connection->transaction = false;
}

const struct backend POSTGRES_BACKEND = {
    .statements = POSTGRES_STATEMENTS,
    .sessions_at_once = 64,
    .filters = true,
    .many_writers = true,
    .open = open_server,
    .close = close_server,
    .interrupt = interrupt,
    .size = postgres_size,
    .compact = postgres_compact,
    .add_profiles = postgres_add_profiles,
    .check = postgres_check,
    .prune = postgres_prune,
    .prepare = postgres_prepare,
    .finalize = postgres_finalize,
    .bind = postgres_bind,
    .step = postgres_step,
    .reset = postgres_reset,
    .changes = postgres_changes,
    .integer = postgres_column_integer,
    .real = postgres_column_real,
    .bytes = postgres_column_bytes,
    .text = postgres_column_text,
    .is_null = postgres_column_is_null,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
};
