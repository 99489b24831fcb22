/* Statements that are kept are prepared on the server and have few rows. A walk is a cursor, which
 * is read some rows at a time: what runs within it may run other statements, and memory is bounded
 * by the rows of one fetch. */
#include "store/postgres_cursor.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/postgres_parameters.h"

enum { ROWS_AT_ONCE = 512 };

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
struct statement *postgres_prepare(struct store *store, const char *sql, bool kept,
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

void postgres_reset(struct statement *given) {
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

void postgres_finalize(struct statement *given) {
    struct postgres_statement *statement = own(given);
    postgres_reset(given);
    parameters_free(&statement->parameters);
    free(statement->sql);
    free(statement);
}

bool postgres_bind(struct store *store, struct statement *given, const struct datum *data,
                   int count, struct error *error) {
    postgres_reset(given);
    return parameters_set(store, &own(given)->parameters, data, count, error);
}

static bool keep_result(struct store *store, struct postgres_statement *statement, PGresult *result,
                        struct error *error) {
    drop_result(statement);
    if (!postgres_is_good(store, result)) {
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
        const bool good = postgres_is_good(store, result) || postgres_fail(store, result, error);
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

int postgres_step(struct store *store, struct statement *given, struct error *error) {
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
    postgres_reset(given);
    return good ? 0 : -1;
}

int64_t postgres_changes(struct store *store) {
    return postgres_of(store)->changes;
}

/* ---- columns of the row ---- */

int64_t postgres_column_integer(struct statement *statement, int column) {
    return postgres_number(own(statement)->store, own(statement)->result, own(statement)->row,
                           column);
}

double postgres_column_real(struct statement *statement, int column) {
    const int64_t bits = postgres_column_integer(statement, column);
    double value;
    static_assert(sizeof value == sizeof bits, "float8");
    memcpy(&value, &bits, sizeof value);
    return value;
}

const void *postgres_column_bytes(struct statement *statement, int column, size_t *size) {
    *size = (size_t)libpq_of(own(statement)->store)
                ->PQgetlength(own(statement)->result, own(statement)->row, column);
    return libpq_of(own(statement)->store)
        ->PQgetvalue(own(statement)->result, own(statement)->row, column);
}

/* libpq puts a zero byte behind every value. */
const char *postgres_column_text(struct statement *statement, int column) {
    return libpq_of(own(statement)->store)
        ->PQgetvalue(own(statement)->result, own(statement)->row, column);
}

bool postgres_column_is_null(struct statement *statement, int column) {
    return libpq_of(own(statement)->store)
        ->PQgetisnull(own(statement)->result, own(statement)->row, column);
}
