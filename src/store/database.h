/* What the files of this room share: the connection to SQLite, its statements, transactions, and
 * errors that say what to do. */
#pragma once

#include <sqlite3.h>
#include <time.h>

#include "store/blob.h"
#include "store/store.h"
#include "util/arena.h"

enum statement {
    ADD_SESSION,
    UPDATE_SESSION,
    WEIGH_SESSION,
    ADD_EVENT,
    EVENT_TOTAL,
    FIND_IMAGE,
    ADD_IMAGE,
    GET_IMAGE,
    SET_SYMBOLS,
    GET_SYMBOLS,
    FIND_PROCESS,
    ADD_PROCESS,
    FIND_PROFILE,
    ADD_PROFILE,
    SET_PROFILE,
    FIND_CALLS,
    ADD_CALLS,
    SET_CALLS,
    ADD_CALLS_IMAGE,
    STATEMENT_COUNT
};

struct stored_images; /* what was read of the table of images (image.c) */

struct store {
    char path[PATH_MAX];
    sqlite3 *database;
    sqlite3_stmt *statements[STATEMENT_COUNT]; /* prepared when first needed */
    enum store_access access;
    bool immutable;        /* read on the promise that nobody writes, */
    struct timespec as_of; /* when the file had last been written */
    bool in_transaction;   /* of store_begin */
    bool doomed;           /* it can only be rolled back */
    unsigned write_depth;  /* write_begin without write_end */
    struct stored_images *images;
    struct blob_codec codec;
    struct store_value *old_values, *new_values; /* for merging */
    size_t old_capacity, new_capacity;
    struct store_call *old_calls;
    size_t old_calls_capacity;
};

/* What SQLite could not do, as one line that begins with the path. Returns false. */
bool database_fail(struct store *store, struct error *error);
/* "PATH is damaged: ..." */
bool database_damaged(struct store *store, struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool database_out_of_memory(struct store *store, struct error *error);

/* ---- statements ---- */

struct datum {
    enum { DATUM_INTEGER, DATUM_REAL, DATUM_TEXT, DATUM_BLOB } type;
    int64_t integer; /* or bytes of the blob */
    double real;
    const void *bytes; /* must live until the statement was run */
};
#define INTEGER(value) ((struct datum){.type = DATUM_INTEGER, .integer = (int64_t)(value)})
#define REAL(value)    ((struct datum){.type = DATUM_REAL, .real = (value)})
#define TEXT(value)    ((struct datum){.type = DATUM_TEXT, .bytes = (value)}) /* NULL: "" */
#define BLOB(at, size)                                                                             \
    ((struct datum){.type = DATUM_BLOB, .bytes = (at), .integer = (int64_t)(size)})

/* Counts go into SQLite's signed integers: what is larger than those is written as the largest. */
static inline int64_t saturated(uint64_t count) {
    return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

/* A prepared statement, ready to be run with these parameters; NULL with an error. */
sqlite3_stmt *database_bind(struct store *store, enum statement number, const struct datum *data,
                            int count, struct error *error);
#define BIND(store, statement, error, ...)                                                         \
    database_bind(store, statement, (const struct datum[]){__VA_ARGS__},                           \
                  (int)(sizeof((const struct datum[]){__VA_ARGS__}) / sizeof(struct datum)),       \
                  error)

/* A prepared statement that is not kept: for walks, and for what is rarely done. NULL with an
 * error. */
sqlite3_stmt *database_prepare(struct store *store, const char *sql, struct error *error);

/* 1: a row; 0: no more rows, and the statement is reset; −1: an error, likewise. */
int database_step(struct store *store, sqlite3_stmt *statement, struct error *error);
/* Runs a statement that has no rows. NULL: what bound it has failed. */
bool database_run(struct store *store, sqlite3_stmt *statement, struct error *error);
/* The same of SQL with at most one parameter, an integer, wherever ?1 stands. */
bool database_execute(struct store *store, const char *sql, int64_t parameter, struct error *error);
/* The first column of the only row. */
bool database_integer(struct store *store, const char *sql, int64_t *value, struct error *error);

/* Never NULL. */
const char *database_text(sqlite3_stmt *statement, int column);

/* ---- transactions ---- */

/* Around everything that writes, also within each other: a transaction of its own, or a part of the
 * caller's, which a failure dooms. write_end returns `good` unless the commit fails. */
bool write_begin(struct store *store, struct error *error);
bool write_end(struct store *store, bool good, struct error *error);
/* Runs a statement that writes. *id (may be NULL) is the row that it made. */
bool database_write(struct store *store, sqlite3_stmt *statement, int64_t *id, struct error *error);
/* The row that one statement finds, or that the other adds, of the same data. */
bool database_find_or_add(struct store *store, enum statement find, enum statement add,
                          const struct datum *data, int count, int64_t *id, struct error *error);

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
void session_list_free(struct session_list *list);
/* NULL with an error: there is no such session. */
struct session_entry *session_list_find(struct store *store, struct session_list *list, int64_t id,
                                        struct error *error);

/* A process as a row of a walk has it: its number in column `id`, PROCESS_COLUMNS from `column` on.
 * Strings live as long as the row. */
#define PROCESS_COLUMNS "command, executable, pid, thread, processor, cgroup, \"begin\", \"end\""
struct store_process process_of_row(sqlite3_stmt *statement, int id, int column);

bool session_wanted(const struct store_filter *filter, int64_t session);

/* A walk over rows of the sessions that a filter wants, by their start. */
struct session_rows {
    struct store *store;
    const struct store_filter *filter;
    sqlite3_stmt *statement; /* at a row, when the visitor is called */
    bool ended;              /* by the visitor, which is no error */
};
typedef bool session_row_visitor(void *context, const struct session_entry *entry,
                                 struct error *error);
/* `sql` has the session as its only parameter. Of `rows`, store and filter are set. The visitor's
 * false is an error. */
bool session_rows_walk(struct session_rows *rows, const char *sql, session_row_visitor *visit,
                       void *context, struct error *error);

/* NULL: none of the entry's. */
const struct store_event *session_event(const struct session_entry *entry, int64_t id);

/* Decodes all profiles; all trees of calls. */
bool profiles_check(struct store *store, struct error *error);
bool calls_check(struct store *store, struct error *error);

/* The images that a tree refers to, sorted, each once; to be freed. NULL: out of memory. */
int64_t *calls_images(const struct store_call *calls, size_t count, size_t *image_count);

/* Removes a session and all that belongs to it but images; within a transaction. */
bool session_erase(struct store *store, int64_t session, struct error *error);
/* Removes images, with their symbols, that no profile or call refers to. */
bool images_sweep(struct store *store, struct error *error);
