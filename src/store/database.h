/* What the files of this room share: the connection to a database, its statements, transactions,
 * and errors that say what to do. What differs between databases is behind struct backend. */
#pragma once

#include "store/blob.h"
#include "store/statements.h"
#include "store/store.h"
#include "util/arena.h"

struct stored_images; /* what was read of the table of images (image.c) */

struct store {
    char path[PATH_MAX]; /* or an address, without a password */
    const struct backend *backend;
    void *connection;                              /* the back end's own; NULL: not connected */
    struct statement *statements[STATEMENT_COUNT]; /* prepared when first needed */
    enum store_access access;
    bool in_transaction;  /* of store_begin */
    bool doomed;          /* it can only be rolled back */
    unsigned write_depth; /* write_begin without write_end */
    struct stored_images *images;
    struct blob_codec codec;
    struct store_value *old_values, *new_values; /* for merging */
    size_t old_capacity, new_capacity;
    struct store_call *old_calls;
    size_t old_calls_capacity;
    char damage[256]; /* what database_damaged() was last told; "": nothing since it was cleared */
    bool passes_over; /* what is damaged */
    struct store_damage *passed_over;
    size_t passed_over_count, passed_over_capacity;
    struct session_list *held; /* by number; NULL: none */
};

/* A prepared statement; a back end's own begins with this. */
struct statement {
    const struct backend *backend;
};

struct datum {
    enum { DATUM_INTEGER, DATUM_REAL, DATUM_TEXT, DATUM_BLOB, DATUM_LIST, DATUM_LITERAL } type;
    int64_t integer; /* or bytes of the blob, or how many numbers the list has */
    double real;
    const void *bytes; /* must live until the statement was run */
};
#define INTEGER(value) ((struct datum){.type = DATUM_INTEGER, .integer = (int64_t)(value)})
#define REAL(value)    ((struct datum){.type = DATUM_REAL, .real = (value)})
#define TEXT(value)    ((struct datum){.type = DATUM_TEXT, .bytes = (value)}) /* NULL: "" */
#define BLOB(at, size)                                                                             \
    ((struct datum){.type = DATUM_BLOB, .bytes = (at), .integer = (int64_t)(size)})
/* Of int64_t; NULL: none at all, which an empty list is not. */
#define LIST(at, count)                                                                            \
    ((struct datum){.type = DATUM_LIST, .bytes = (at), .integer = (int64_t)(count)})

/* As the server reads it, of whatever type it wants there. */
#define LITERAL(text) ((struct datum){.type = DATUM_LITERAL, .bytes = (text)})

/* Counts go into signed integers: what is larger than those is written as the largest. */
static inline int64_t saturated(uint64_t count) {
    return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

/* Of a session that has none of the kind yet. */
struct new_profile {
    int64_t image, process, event; /* numbers */
    const struct store_value *values;
    size_t count;
};

/* ---- what a kind of database does in its own way ---- */

struct backend {
    const char *const *statements; /* NULL of a number: as STATEMENTS has it; "": nothing to do */
    size_t sessions_at_once;       /* the list that a walk's statement takes as its ?1 */
    bool many_writers;             /* that nobody here answers for */
    bool filters; /* it takes the event as ?2, "" for all, and of profiles, as ?3, a list of images
                whose values are wanted, NULL for all */

    /* Connects store->path or `address`, which may have a password; whatever it failed at, close()
     * follows. */
    bool (*open)(struct store *store, const char *address, struct error *error);
    void (*close)(struct store *store);
    void (*interrupt)(struct store *store); /* NULL: it waits for nobody */
    /* Whether it may be that it was written while it was read on the promise that nobody writes;
     * NULL: never. */
    bool (*changed)(const struct store *store);
    bool (*size)(struct store *store, uint64_t *bytes, uint64_t *unused, struct error *error);
    /* Adds profiles of a session that has none, each of another image, process or event; within a
     * transaction. NULL: store_add_values() does. */
    bool (*add_profiles)(struct store *store, int64_t session, const struct new_profile *profiles,
                         size_t count, struct error *error);
    bool (*compact)(struct store *store, uint64_t *before, uint64_t *after, struct error *error);
    /* Whether the tables themselves are whole, and refer to nothing that is not there. */
    bool (*check)(struct store *store, struct error *error);
    bool (*prune)(struct store *store, const struct store_retention *retention, uint64_t *removed,
                  struct error *error);

    struct statement *(*prepare)(struct store *store, const char *sql, bool kept,
                                 struct error *error);
    void (*finalize)(struct statement *statement);
    bool (*bind)(struct store *store, struct statement *statement, const struct datum *data,
                 int count, struct error *error);
    int (*step)(struct store *store, struct statement *statement, struct error *error);
    void (*reset)(struct statement *statement);
    int64_t (*changes)(struct store *store); /* rows, by the last statement */

    /* Of the row that a step has found. */
    int64_t (*integer)(struct statement *statement, int column);
    double (*real)(struct statement *statement, int column);
    const void *(*bytes)(struct statement *statement, int column, size_t *size); /* NULL: none */
    const char *(*text)(struct statement *statement, int column);                /* never NULL */
    bool (*is_null)(struct statement *statement, int column);

    bool (*begin)(struct store *store, struct error *error);
    bool (*commit)(struct store *store, struct error *error);
    void (*rollback)(struct store *store); /* also when there is nothing to roll back */
};
extern const struct backend SQLITE_BACKEND, POSTGRES_BACKEND;

/* ---- errors ---- */

/* "PATH is damaged: ..." Returns false, as the other does. */
bool database_damaged(struct store *store, struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool database_out_of_memory(struct store *store, struct error *error);
/* Whether what store->damage tells may be left out, which is noted then, and no error any more: of
 * an epoch and its host, or, with 0, of an image and its path. Clear store->damage before what may
 * fail so. */
bool database_pass_over(struct store *store, int64_t epoch, const char *whose, struct error *error);

/* ---- statements ---- */

/* A kept statement, ready to be run with these parameters; NULL with an error. */
struct statement *database_bind(struct store *store, enum statement_number number,
                                const struct datum *data, int count, struct error *error);
#define BIND(store, number, error, ...)                                                            \
    database_bind(store, number, (const struct datum[]){__VA_ARGS__},                              \
                  (int)(sizeof((const struct datum[]){__VA_ARGS__}) / sizeof(struct datum)),       \
                  error)

/* A statement that is not kept: for walks, and for what is rarely done. NULL with an error. */
struct statement *database_prepare(struct store *store, enum statement_number number,
                                   struct error *error);
bool database_bind_to(struct store *store, struct statement *statement, struct datum datum,
                      struct error *error);
void database_finalize(struct statement *statement); /* NULL too */

/* 1: a row; 0: no more rows, and the statement is reset; −1: an error, likewise. */
int database_step(struct store *store, struct statement *statement, struct error *error);
/* Leaves a row before the last. */
void database_reset(struct statement *statement);
/* Runs a statement that has no rows. NULL: what bound it has failed. */
bool database_run(struct store *store, struct statement *statement, struct error *error);
/* The same of one with at most one parameter. */
bool database_execute(struct store *store, enum statement_number number, int64_t parameter,
                      struct error *error);
/* How many rows the last statement has changed. */
int64_t database_changes(struct store *store);

static inline int64_t column_integer(struct statement *statement, int column) {
    return statement->backend->integer(statement, column);
}
static inline double column_real(struct statement *statement, int column) {
    return statement->backend->real(statement, column);
}
static inline const void *column_bytes(struct statement *statement, int column, size_t *size) {
    return statement->backend->bytes(statement, column, size);
}
static inline const char *column_text(struct statement *statement, int column) {
    return statement->backend->text(statement, column);
}
static inline bool column_is_null(struct statement *statement, int column) {
    return statement->backend->is_null(statement, column);
}

/* ---- transactions ---- */

/* Around everything that writes, also within each other: a transaction of its own, or a part of the
 * caller's, which a failure dooms. write_end returns `good` unless the commit fails. */
bool write_begin(struct store *store, struct error *error);
bool write_end(struct store *store, bool good, struct error *error);
/* Runs a statement that writes. *id (NULL: it returns none) is the row that it made. */
bool database_write(struct store *store, struct statement *statement, int64_t *id,
                    struct error *error);
/* The row that one statement finds, or that the other adds, of the same data. */
bool database_find_or_add(struct store *store, enum statement_number find,
                          enum statement_number add, const struct datum *data, int count,
                          int64_t *id, struct error *error);

/* ---- pieces of other files ---- */

void stored_images_free(struct stored_images *images);
/* All sessions by their start, with their events. */
struct session_entry {
    struct store_session session;
    struct store_event *events;
    size_t event_count;
};
struct session_list {
    struct session_entry *entries;
    size_t count, capacity;
    struct arena arena; /* strings and events */
};
bool session_list_read(struct store *store, struct session_list *list, struct error *error);
/* Those of these numbers that are there, by their start. */
bool session_list_read_named(struct store *store, struct session_list *list,
                             const int64_t *sessions, size_t count, struct error *error);
/* Rows of a statement with at most so many parameters. */
bool session_list_read_some(struct store *store, struct session_list *list,
                            enum statement_number number, const struct datum *data, int count,
                            struct error *error);
/* Sums of days, without their events. */
bool session_list_read_sums(struct store *store, struct session_list *list, struct error *error);
void session_list_free(struct session_list *list);
/* NULL with an error: there is no such session. */
struct session_entry *session_list_find(struct store *store, struct session_list *list, int64_t id,
                                        struct error *error);

/* A process as a row of a walk has it: its number in column `id`, PROCESS_COLUMNS from `column` on.
 * Strings live as long as the row. */
struct store_process process_of_row(struct statement *statement, int id, int column);

/* A walk over rows of the sessions that a filter wants, by their start. */
struct session_rows {
    struct store *store;
    const struct store_filter *filter;
    struct statement *statement; /* at a row, when the visitor is called */
    bool ended;                  /* by the visitor, which is no error */
    bool of_profiles;            /* whose values may be wanted of some images alone */
};
typedef bool session_row_visitor(void *context, const struct session_entry *entry,
                                 struct error *error);
/* The statement has a list of sessions as its only parameter, and rows tell in `column` which of
 * them they are of. Of `rows`, store, filter and of_profiles are set. The visitor's false is an
 * error. */
bool session_rows_walk(struct session_rows *rows, enum statement_number number, int column,
                       session_row_visitor *visit, void *context, struct error *error);

bool filter_admits_event(const struct store_filter *filter, const struct store_event *event);

/* NULL: none of the entry's. */
const struct store_event *session_event(const struct session_entry *entry, int64_t id);

/* As a profile has it. */
int64_t values_total(const struct store_value *values, size_t count);

/* Decodes all profiles; all trees of calls. */
bool profiles_check(struct store *store, struct error *error);
bool calls_check(struct store *store, struct error *error);

/* The images that a tree refers to, sorted, each once; to be freed. NULL: out of memory. */
int64_t *calls_images(const struct store_call *calls, size_t count, size_t *image_count);

/* Adds the symbols of a blob to those, sorted by start, each start once. */
bool symbols_join(struct store *store, int64_t image, const void *blob, size_t size,
                  struct code_symbol **symbols, size_t *count, struct error *error);

/* Removes a session and all that belongs to it but images; within a transaction. */
bool session_erase(struct store *store, int64_t session, struct error *error);
/* Removes images, with their symbols, that no profile or call refers to. */
bool images_sweep(struct store *store, struct error *error);
