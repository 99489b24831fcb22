/* The version of the tables on a server, and how they come to be of today's. Who migrates holds an
 * advisory lock, and looks again once it has it: another may have been first. */
#include "store/postgres.h"

#include <stdio.h>
#include <string.h>

#include "store/server.h"

bool postgres_read_version(struct store *store, bool *foreign, struct error *error) {
    struct postgres_connection *connection = postgres_of(store);
    int64_t schema, label;
    connection->version = 0;
    *foreign = false;
    if (!postgres_integer(store,
                          "SELECT count(*) FROM pg_catalog.pg_namespace WHERE nspname = 'culprit'",
                          NULL, 0, &schema, error))
        return false;
    if (!schema)
        return true;
    if (!postgres_integer(store,
                          "SELECT count(*) FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace n "
                          "ON n.oid = relnamespace WHERE nspname = 'culprit' AND "
                          "relname = 'label' AND relkind = 'r'",
                          NULL, 0, &label, error))
        return false;
    *foreign = !label;
    if (!label)
        return true;
    PGresult *result = postgres_query(
        store, "SELECT version, server FROM culprit.label WHERE application = 'culprit'", NULL, 0,
        error);
    if (!result)
        return false;
    *foreign = libpq_of(store)->PQntuples(result) != 1 ||
               libpq_of(store)->PQgetlength(result, 0, 1) != SERVER_ID_BYTES ||
               postgres_number(store, result, 0, 0) < 1;
    if (!*foreign) {
        connection->version = (int)postgres_number(store, result, 0, 0);
        memcpy(connection->server, libpq_of(store)->PQgetvalue(result, 0, 1), SERVER_ID_BYTES);
    }
    libpq_of(store)->PQclear(result);
    return true;
}

/* A database in which another program keeps its tables is not ours to use. What extensions bring
 * along is nobody's. */
static bool is_free(struct store *store, struct error *error) {
    int64_t others;
    if (!postgres_integer(
            store,
            "SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n "
            "ON n.oid = relnamespace WHERE relkind IN ('r', 'p', 'v', 'm') AND nspname <> "
            "'culprit' AND nspname <> 'information_schema' AND nspname !~ '^pg_' AND NOT EXISTS "
            "(SELECT FROM pg_catalog.pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')",
            NULL, 0, &others, error))
        return false;
    return !others || error_set(error,
                                "%s: the database holds %lld table%s of some other program: give "
                                "the profiles a database of their own (createdb)",
                                store->path, (long long)others, others == 1 ? "" : "s");
}

static bool take_steps(struct store *store, struct error *error) {
    char sql[96];
    bool foreign;
    if (!postgres_read_version(store, &foreign, error))
        return false;
    int version = postgres_of(store)->version;
    if (!version &&
        (!is_free(store, error) || !postgres_execute(store, "CREATE SCHEMA culprit", error)))
        return false;
    for (; version < SERVER_VERSION; version++)
        if (!postgres_execute(store, POSTGRES_STEPS[version], error))
            return false;
    snprintf(sql, sizeof sql, "UPDATE label SET version = %d", SERVER_VERSION);
    return postgres_execute(store, sql, error) && postgres_read_version(store, &foreign, error);
}

static bool migrate(struct store *store, struct error *error) {
    char sql[96];
    if (!store_begin(store, error))
        return false;
    snprintf(sql, sizeof sql, "SELECT pg_advisory_xact_lock(%d, %d)", LOCKS, LOCK_MIGRATE);
    if (postgres_execute(store, sql, error) && take_steps(store, error))
        return store_commit(store, error);
    store_rollback(store);
    return false;
}

/* Whether there are the two roles now. */
static bool make_roles(struct store *store, bool *there, struct error *error) {
    int64_t roles;
    struct error refused;
    postgres_execute(store, POSTGRES_ROLES, &refused);
    if (!postgres_integer(store,
                          "SELECT count(*) FROM pg_catalog.pg_roles WHERE rolname IN "
                          "('culprit_host', 'culprit_reader')",
                          NULL, 0, &roles, error))
        return false;
    *there = roles == 2;
    return true;
}

bool store_server_init(const char *address, struct store_server_made *made, struct error *error) {
    struct store *store = store_open(address, STORE_INIT, error);
    if (!store)
        return false;
    made->before = postgres_of(store)->version;
    made->version = SERVER_VERSION;
    snprintf(made->address, sizeof made->address, "%s", store->path);
    const bool good = migrate(store, error) && make_roles(store, &made->roles, error) &&
                      (!made->roles || (store_begin(store, error) &&
                                        postgres_execute(store, POSTGRES_GRANTS, error) &&
                                        store_commit(store, error)));
    store_close(store);
    return good;
}
