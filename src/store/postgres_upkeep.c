/* Size, retention and the check of tables on a server. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/postgres.h"

bool postgres_size(struct store *store, uint64_t *bytes, uint64_t *unused, struct error *error) {
    int64_t size;
    if (!postgres_integer(store,
                          "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM "
                          "pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = "
                          "'culprit' AND relkind = 'r'",
                          NULL, 0, &size, error))
        return false;
    *bytes = (uint64_t)size;
    *unused = 0; /* the server uses it again by itself */
    return true;
}

/* Images of no epoch, with their symbols. To find them takes a look at every profile, during which
 * others send: who does marks the images that he needs (add_images), and what is marked since
 * stays. Of what was seen yesterday an epoch may be under way. The lock lets nobody take an image
 * that is about to go. */
static const char SWEEP_UNUSED[] =
    "CREATE TEMPORARY TABLE unused ON COMMIT DROP AS SELECT id, seen FROM image"
    " WHERE seen < today() - 1 AND id NOT IN (SELECT image FROM profile)"
    " AND id NOT IN (SELECT unnest(images) FROM calls);"
    "SET LOCAL lock_timeout = '10s';"
    "LOCK TABLE image IN SHARE ROW EXCLUSIVE MODE;"
    "DELETE FROM image USING unused WHERE image.id = unused.id AND image.seen = unused.seen;"
    "DELETE FROM symbols WHERE code NOT IN (SELECT code FROM image)";

bool postgres_compact(struct store *store, uint64_t *before, uint64_t *after, struct error *error) {
    uint64_t unused;
    int64_t owner;
    if (!postgres_integer(store,
                          "SELECT pg_has_role(nspowner, 'MEMBER')::integer FROM pg_namespace "
                          "WHERE nspname = 'culprit'",
                          NULL, 0, &owner, error))
        return false;
    if (!owner) /* VACUUM passes over what is another's, and says so to nobody */
        return error_set(error,
                         "%s: refused: the owner of the tables compacts them (which logins may "
                         "write and read: 'culprit help fleet')",
                         store->path);
    return postgres_size(store, before, &unused, error) && write_begin(store, error) &&
           write_end(store, postgres_execute(store, SWEEP_UNUSED, error), error) &&
           postgres_execute(store, "VACUUM session, event, image, symbols, machine", error) &&
           postgres_size(store, after, &unused, error);
}

/* ---- retention ---- */

/* Whoever is sending into the day is waited for; what he would send then finds no partition, and
 * he makes it anew. */
static bool drop_day(struct store *store, int64_t day, uint64_t *removed, struct error *error) {
    static const char *const TABLES[] = {"process", "profile", "calls"};
    const struct datum data[] = {INTEGER(day)};
    int64_t sessions = 0;
    bool good = store_begin(store, error) &&
                postgres_execute(store, "SET LOCAL lock_timeout = '10s'", error);
    for (size_t i = 0; good && i < sizeof TABLES / sizeof *TABLES; i++) {
        char sql[192];
        snprintf(sql, sizeof sql,
                 "DO $$ BEGIN EXECUTE format('DROP TABLE IF EXISTS culprit.%%I', "
                 "culprit.partition_of('%s', %" PRId64 ")); END $$",
                 TABLES[i], day);
        good = postgres_execute(store, sql, error);
    }
    good = good && postgres_integer(store,
                                    "WITH gone AS (DELETE FROM session WHERE day = $1::integer "
                                    "RETURNING id) SELECT count(*) FROM gone",
                                    data, 1, &sessions, error);
    if (good && store_commit(store, error)) {
        *removed += (uint64_t)sessions;
        return true;
    }
    store_rollback(store);
    return false;
}

/* Days by age, and when the last session of each had ended. */
static PGresult *read_days(struct store *store, struct error *error) {
    return postgres_query(store,
                          "SELECT day::bigint, max(CASE WHEN \"end\" > 0 THEN \"end\" ELSE saved "
                          "END) FROM session GROUP BY day ORDER BY 2",
                          NULL, 0, error);
}

bool postgres_prune(struct store *store, const struct store_retention *retention, uint64_t *removed,
                    struct error *error) {
    PGresult *days = read_days(store, error);
    bool good = days != NULL;
    for (int i = 0; good && i < libpq_of(store)->PQntuples(days); i++) {
        bool old = retention->before && postgres_number(store, days, i, 1) < retention->before;
        uint64_t bytes, unused;
        /* The day that is written now stays. */
        if (!old && retention->bytes && i + 1 < libpq_of(store)->PQntuples(days)) {
            good = postgres_size(store, &bytes, &unused, error);
            old = good && bytes > retention->bytes;
        }
        if (good && old)
            good = drop_day(store, postgres_number(store, days, i, 0), removed, error);
    }
    libpq_of(store)->PQclear(days);
    return good && write_begin(store, error) && write_end(store, images_sweep(store, error), error);
}

/* ---- checking ---- */

bool postgres_check(struct store *store, struct error *error) {
    static const char *const STRAYS[] = {
        "profile p WHERE NOT EXISTS (SELECT FROM session s WHERE s.id = p.session AND "
        "s.day = p.day)",
        "profile p WHERE NOT EXISTS (SELECT FROM image i WHERE i.id = p.image)",
        "profile p WHERE NOT EXISTS (SELECT FROM process o WHERE o.day = p.day AND "
        "o.id = p.process AND o.session = p.session)",
        "profile p WHERE NOT EXISTS (SELECT FROM event e WHERE e.id = p.event AND "
        "e.session = p.session)",
        "calls c WHERE NOT EXISTS (SELECT FROM session s WHERE s.id = c.session AND "
        "s.day = c.day)",
        "calls c WHERE NOT EXISTS (SELECT FROM process o WHERE o.day = c.day AND "
        "o.id = c.process AND o.session = c.session)",
        "calls c WHERE NOT EXISTS (SELECT FROM event e WHERE e.id = c.event AND "
        "e.session = c.session)",
        "calls c, unnest(images) AS image WHERE NOT EXISTS (SELECT FROM image i WHERE "
        "i.id = image)"};
    for (size_t i = 0; i < sizeof STRAYS / sizeof *STRAYS; i++) {
        char sql[256];
        int64_t count;
        snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", STRAYS[i]);
        if (!postgres_integer(store, sql, NULL, 0, &count, error))
            return false;
        if (count)
            return database_damaged(store, error, "%" PRId64 " row%s of %s", count,
                                    count == 1 ? "" : "s", STRAYS[i]);
    }
    return true;
}
