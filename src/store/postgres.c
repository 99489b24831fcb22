/* By libpq (its documentation: "libpq - C Library"). Statements that are kept are prepared on the
 * server and have few rows; a walk is a cursor, which is read some rows at a time: what runs within
 * it may run other statements, and memory is bounded by the rows of one fetch. Results are binary:
 * integers are big-endian, text and bytea the bytes themselves. */
#include "store/postgres.h"

#include <assert.h>
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "store/address.h"
#include "util/array.h"

enum { PARAMETERS_MAX = 16, ROWS_AT_ONCE = 512, OLDEST_SERVER = 140000 };

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

/* ---- parameters ---- */

/* As PQexecParams takes them; numbers are text. */
struct parameters {
    const char *values[PARAMETERS_MAX];
    int lengths[PARAMETERS_MAX], formats[PARAMETERS_MAX];
    char numbers[PARAMETERS_MAX][32];
    char *lists[PARAMETERS_MAX]; /* to be freed */
    int count;
};

static char *list_text(const int64_t *numbers, int64_t count) {
    enum { DIGITS_MAX = 21 };
    char *text = malloc((size_t)count * DIGITS_MAX + 3), *to = text;
    if (!text)
        return NULL;
    *to++ = '{';
    for (int64_t i = 0; i < count; i++)
        to += sprintf(to, "%s%" PRId64, i ? "," : "", numbers[i]);
    strcpy(to, "}");
    return text;
}

static bool set_parameter(struct parameters *parameters, int at, const struct datum *datum) {
    char *number = parameters->numbers[at];
    parameters->values[at] = number;
    parameters->formats[at] = 0;
    switch (datum->type) {
    case DATUM_INTEGER:
        sprintf(number, "%" PRId64, datum->integer);
        return true;
    case DATUM_REAL:
        sprintf(number, "%.17g", datum->real);
        return true;
    case DATUM_LIST:
        parameters->values[at] = NULL;
        if (datum->bytes)
            parameters->values[at] = parameters->lists[at] =
                list_text(datum->bytes, datum->integer);
        return !datum->bytes || parameters->lists[at];
    case DATUM_LITERAL:
        parameters->values[at] = datum->bytes;
        return true;
    default:
        parameters->formats[at] = 1;
        parameters->values[at] = datum->bytes ? datum->bytes : "";
        parameters->lengths[at] =
            datum->type == DATUM_BLOB ? (int)datum->integer : (int)strlen(parameters->values[at]);
        return true;
    }
}

static void free_lists(struct parameters *parameters) {
    for (int i = 0; i < PARAMETERS_MAX; i++) {
        free(parameters->lists[i]);
        parameters->lists[i] = NULL;
    }
}

static bool set_parameters(struct store *store, struct parameters *parameters,
                           const struct datum *data, int count, struct error *error) {
    free_lists(parameters);
    parameters->count = count;
    for (int i = 0; i < count; i++)
        if (!set_parameter(parameters, i, &data[i]))
            return database_out_of_memory(store, error);
    return true;
}

/* ---- statements of its own ---- */

static bool is_good(const struct store *store, const PGresult *result) {
    const ExecStatusType status = libpq_of(store)->PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

bool postgres_execute(struct store *store, const char *sql, struct error *error) {
    PGresult *result = libpq_of(store)->PQexec(postgres_of(store)->connection, sql);
    const bool good = is_good(store, result) || postgres_fail(store, result, error);
    libpq_of(store)->PQclear(result);
    return good;
}

PGresult *postgres_query(struct store *store, const char *sql, const struct datum *data, int count,
                         struct error *error) {
    struct parameters parameters = {0};
    PGresult *result = NULL;
    if (set_parameters(store, &parameters, data, count, error)) {
        result = libpq_of(store)->PQexecParams(postgres_of(store)->connection, sql, count, NULL,
                                               parameters.values, parameters.lengths,
                                               parameters.formats, 1);
        if (!is_good(store, result)) {
            postgres_fail(store, result, error);
            libpq_of(store)->PQclear(result);
            result = NULL;
        }
    }
    free_lists(&parameters);
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

/* ---- statements of the room ---- */

struct postgres_statement {
    struct statement common;
    struct store *store;
    char *sql;
    char name[24]; /* on the server; empty: not prepared there, or no cursor is open */
    bool kept;
    bool selects;
    struct parameters parameters;
    PGresult *result; /* NULL: it was not run since it was bound */
    int row;
};

static struct postgres_statement *own(struct statement *statement) {
    return (struct postgres_statement *)statement;
}

/* "?1" to "$1". */
static struct statement *prepare(struct store *store, const char *sql, bool kept,
                                 struct error *error) {
    struct postgres_statement *statement = calloc(1, sizeof *statement);
    if (!statement || !(statement->sql = strdup(sql))) {
        free(statement);
        database_out_of_memory(store, error);
        return NULL;
    }
    for (char *at = statement->sql; (at = strchr(at, '?')); at++)
        *at = '$';
    statement->common.backend = store->backend;
    statement->store = store;
    statement->kept = kept;
    statement->selects = !strncmp(sql, "SELECT", 6);
    return &statement->common;
}

/* A walk of its own transaction sees the store as it was at one moment. */
static bool begin_walk(struct store *store, struct error *error) {
    struct postgres_connection *connection = postgres_of(store);
    if (!connection->walks && !connection->transaction) {
        if (!postgres_execute(store, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", error))
            return false;
        connection->walk_transaction = true;
    }
    connection->walks++;
    return true;
}

static void end_walk(struct store *store) {
    struct postgres_connection *connection = postgres_of(store);
    struct error ignored;
    if (--connection->walks || !connection->walk_transaction)
        return;
    postgres_execute(store, "ROLLBACK", &ignored);
    connection->walk_transaction = false;
}

static void drop_result(struct postgres_statement *statement) {
    libpq_of(statement->store)->PQclear(statement->result);
    statement->result = NULL;
    statement->row = 0;
}

static void reset(struct statement *given) {
    struct postgres_statement *statement = own(given);
    drop_result(statement);
    if (statement->kept || !statement->name[0])
        return;
    char sql[64];
    snprintf(sql, sizeof sql, "CLOSE %s", statement->name);
    statement->name[0] = 0;
    struct store *store = statement->store;
    const struct postgres_connection *connection = postgres_of(store);
    struct error ignored;
    /* The end of its own transaction closes the last one. */
    if ((connection->walks > 1 || !connection->walk_transaction) &&
        libpq_of(store)->PQtransactionStatus(connection->connection) == PQTRANS_INTRANS)
        postgres_execute(store, sql, &ignored);
    end_walk(store);
}

static void finalize(struct statement *given) {
    struct postgres_statement *statement = own(given);
    reset(given);
    free_lists(&statement->parameters);
    free(statement->sql);
    free(statement);
}

static bool bind_all(struct store *store, struct statement *given, const struct datum *data,
                     int count, struct error *error) {
    reset(given);
    return set_parameters(store, &own(given)->parameters, data, count, error);
}

static bool keep_result(struct store *store, struct postgres_statement *statement, PGresult *result,
                        struct error *error) {
    drop_result(statement);
    if (!is_good(store, result)) {
        postgres_fail(store, result, error);
        libpq_of(store)->PQclear(result);
        return false;
    }
    const char *changed = libpq_of(store)->PQcmdTuples(result);
    postgres_of(store)->changes = *changed ? strtoll(changed, NULL, 10) : 0;
    statement->result = result;
    return true;
}

static bool run_kept(struct store *store, struct postgres_statement *statement,
                     struct error *error) {
    struct postgres_connection *connection = postgres_of(store);
    const struct parameters *parameters = &statement->parameters;
    if (!statement->name[0]) {
        snprintf(statement->name, sizeof statement->name, "s%llu", connection->names++);
        PGresult *result = libpq_of(store)->PQprepare(connection->connection, statement->name,
                                                      statement->sql, 0, NULL);
        const bool good = is_good(store, result) || postgres_fail(store, result, error);
        libpq_of(store)->PQclear(result);
        if (!good) {
            statement->name[0] = 0;
            return false;
        }
    }
    return keep_result(store, statement,
                       libpq_of(store)->PQexecPrepared(connection->connection, statement->name,
                                                       parameters->count, parameters->values,
                                                       parameters->lengths, parameters->formats, 1),
                       error);
}

static bool fetch(struct store *store, struct postgres_statement *statement, struct error *error) {
    char sql[64];
    snprintf(sql, sizeof sql, "FETCH %d FROM %s", ROWS_AT_ONCE, statement->name);
    return keep_result(store, statement,
                       libpq_of(store)->PQexecParams(postgres_of(store)->connection, sql, 0, NULL,
                                                     NULL, NULL, NULL, 1),
                       error);
}

static bool open_cursor(struct store *store, struct postgres_statement *statement,
                        struct error *error) {
    const struct parameters *parameters = &statement->parameters;
    char *sql = NULL;
    if (!begin_walk(store, error))
        return false;
    snprintf(statement->name, sizeof statement->name, "c%llu", postgres_of(store)->names++);
    if (asprintf(&sql, "DECLARE %s NO SCROLL CURSOR FOR %s", statement->name, statement->sql) < 0)
        return database_out_of_memory(store, error);
    const bool good =
        keep_result(store, statement,
                    libpq_of(store)->PQexecParams(postgres_of(store)->connection, sql,
                                                  parameters->count, NULL, parameters->values,
                                                  parameters->lengths, parameters->formats, 1),
                    error);
    free(sql);
    return good;
}

static bool run(struct store *store, struct postgres_statement *statement, struct error *error) {
    if (statement->kept || !statement->selects)
        return run_kept(store, statement, error);
    return open_cursor(store, statement, error) && fetch(store, statement, error);
}

static int step(struct store *store, struct statement *given, struct error *error) {
    struct postgres_statement *statement = own(given);
    bool good = true;
    if (!statement->result) {
        good = run(store, statement, error);
        statement->row = -1;
    }
    if (good && ++statement->row >= libpq_of(store)->PQntuples(statement->result) &&
        !statement->kept && statement->row == ROWS_AT_ONCE) {
        good = fetch(store, statement, error);
        statement->row = 0;
    }
    if (good && statement->row < libpq_of(store)->PQntuples(statement->result))
        return 1;
    reset(given);
    return good ? 0 : -1;
}

static int64_t changes(struct store *store) {
    return postgres_of(store)->changes;
}

/* ---- columns ---- */

static int64_t integer(struct statement *statement, int column) {
    return postgres_number(own(statement)->store, own(statement)->result, own(statement)->row,
                           column);
}

static double real(struct statement *statement, int column) {
    const int64_t bits = integer(statement, column);
    double value;
    static_assert(sizeof value == sizeof bits, "float8");
    memcpy(&value, &bits, sizeof value);
    return value;
}

static const void *bytes(struct statement *statement, int column, size_t *size) {
    *size = (size_t)libpq_of(own(statement)->store)
                ->PQgetlength(own(statement)->result, own(statement)->row, column);
    return libpq_of(own(statement)->store)
        ->PQgetvalue(own(statement)->result, own(statement)->row, column);
}

/* libpq puts a zero byte behind every value. */
static const char *text(struct statement *statement, int column) {
    return libpq_of(own(statement)->store)
        ->PQgetvalue(own(statement)->result, own(statement)->row, column);
}

static bool is_null(struct statement *statement, int column) {
    return libpq_of(own(statement)->store)
        ->PQgetisnull(own(statement)->result, own(statement)->row, column);
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
    .open = open_server,
    .close = close_server,
    .interrupt = interrupt,
    .size = postgres_size,
    .compact = postgres_compact,
    .check = postgres_check,
    .prune = postgres_prune,
    .prepare = prepare,
    .finalize = finalize,
    .bind = bind_all,
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
