/* Inside of this room: what the files of the PostgreSQL back end share. */
#pragma once

#include "store/database.h"
#include "store/libpq.h"

enum {
    SERVER_VERSION = 1, /* of the tables */
    LOCKS = 0x43554c50, /* "CULP": first number of advisory locks */
    LOCK_MIGRATE = 1    /* the second; 2 is that of day_of() */
};

enum { SERVER_ID_BYTES = 16 };

struct postgres_connection {
    struct libpq libpq;
    PGconn *connection;
    bool transaction;         /* begun by begin() */
    unsigned walks;           /* cursors that are open; the first began a transaction, */
    bool walk_transaction;    /* when there was none */
    unsigned long long names; /* given to statements and cursors so far */
    int64_t changes;
    int version; /* 0: there are no tables yet */
    uint8_t server[SERVER_ID_BYTES];
};

static inline struct postgres_connection *postgres_of(const struct store *store) {
    return store->connection;
}

static inline const struct libpq *libpq_of(const struct store *store) {
    return &postgres_of(store)->libpq;
}

/* Whether the server did what it was asked. */
bool postgres_is_good(const struct store *store, const PGresult *result);
/* What the server said of a result (NULL: of the connection), as one line. Returns false. */
bool postgres_fail(struct store *store, const PGresult *result, struct error *error);
/* SQL without parameters, also several statements. */
bool postgres_execute(struct store *store, const char *sql, struct error *error);
/* With parameters in text, binary results; NULL with an error. For PQclear. */
PGresult *postgres_query(struct store *store, const char *sql, const struct datum *data, int count,
                         struct error *error);
/* Of one row and column; a row less is an error. */
bool postgres_integer(struct store *store, const char *sql, const struct datum *data, int count,
                      int64_t *value, struct error *error);
/* Of a binary result; 0 of NULL. */
int64_t postgres_number(const struct store *store, const PGresult *result, int row, int column);

extern const char *const POSTGRES_STATEMENTS[STATEMENT_COUNT];

/* The statements that make version v + 1 of version v. */
extern const char *const POSTGRES_STEPS[SERVER_VERSION];
extern const char POSTGRES_ROLES[], POSTGRES_GRANTS[];

bool postgres_size(struct store *store, uint64_t *bytes, uint64_t *unused, struct error *error);
bool postgres_add_profiles(struct store *store, int64_t session, const struct new_profile *profiles,
                           size_t count, struct error *error);
bool postgres_compact(struct store *store, uint64_t *before, uint64_t *after, struct error *error);
bool postgres_check(struct store *store, struct error *error);
bool postgres_prune(struct store *store, const struct store_retention *retention, uint64_t *removed,
                    struct error *error);
/* Reads which tables there are into connection->version and server. */
bool postgres_read_version(struct store *store, bool *foreign, struct error *error);
