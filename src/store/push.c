/* An epoch is one transaction on the server: a row of session, rows of event, then processes,
 * profiles and calls by COPY. Images come first (push_images.c), and so does the day's partition:
 * each is a transaction of its own, so that no two senders wait for each other in a ring. Blobs of
 * profiles go as they are in the file, once they have been decoded as a check; trees of calls name
 * images, and are encoded anew. The file is read as it was at one moment. */
#include "store/push.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "store/copy.h"
#include "store/push_parts.h"
#include "store/sqlite.h"
#include "util/clock.h"

/* ---- who sends ---- */

/* Of the machine's id none but who has it can say that it was hashed (machine-id(5)). */
static XXH128_canonical_t machine_hash(void) {
    char text[128] = "culprit ";
    FILE *file = fopen("/etc/machine-id", "re");
    if (file) {
        const size_t length = strlen(text);
        text[length + fread(text + length, 1, sizeof text - 1 - length, file)] = 0;
        fclose(file);
    }
    XXH128_canonical_t hash;
    XXH128_canonicalFromHash(&hash, XXH3_128bits(text, strlen(text)));
    return hash;
}

static bool read_identity(struct push *push, struct error *error) {
    struct store *file = push->file;
    struct statement *statement = database_bind(file, GET_IDENTITY, NULL, 0, error);
    const int row = statement ? database_step(file, statement, error) : -1;
    if (row < 0)
        return false;
    size_t size = 0;
    const void *identity = row ? column_bytes(statement, 0, &size) : NULL;
    const bool good = size == sizeof push->identity;
    if (good)
        memcpy(push->identity, identity, size);
    if (row)
        database_reset(statement);
    return good || database_damaged(file, error, "it has no identity");
}

bool push_begin(struct push *push, struct store *file, struct store *server, struct error *error) {
    *push = (struct push){.file = file, .server = server};
    if (file->backend != &SQLITE_BACKEND || server->backend != &POSTGRES_BACKEND)
        return error_set(error, "%s: epochs are sent from a file to a server", server->path);
    push->server_id = postgres_of(server)->server;
    return read_identity(push, error) &&
           database_write(file,
                          BIND(file, SET_SERVER, error, BLOB(push->server_id, SERVER_ID_BYTES)),
                          NULL, error);
}

/* Tells the server who sends; it may not let this login send as this host. */
static bool name_sender(struct push *push, const char *host, struct error *error) {
    if (push->host[0] && !strcmp(push->host, host))
        return true;
    const XXH128_canonical_t machine = machine_hash();
    const struct datum data[] = {BLOB(push->identity, sizeof push->identity), TEXT(host),
                                 BLOB(machine.digest, sizeof machine.digest)};
    int64_t others;
    if (!postgres_integer(push->server, "SELECT register_machine($1, $2, $3)", data, 3, &others,
                          error))
        return false;
    snprintf(push->host, sizeof push->host, "%s", host);
    push->others = (uint64_t)others;
    return true;
}

/* ---- the session ---- */

struct sending {
    struct push *push;
    const struct session_entry *entry;
    int64_t session; /* there */
    int32_t day;
    struct push_numbers images, processes, events;
};

static bool is_present(struct sending *sending, bool *present, struct error *error) {
    const struct store_session *session = &sending->entry->session;
    const struct push *push = sending->push;
    const struct datum data[] = {BLOB(push->identity, sizeof push->identity), INTEGER(session->id),
                                 INTEGER(session->start)};
    int64_t count;
    if (!postgres_integer(push->server,
                          "SELECT count(*) FROM session WHERE identity = $1 AND epoch = $2 AND "
                          "start = $3",
                          data, 3, &count, error))
        return false;
    *present = count > 0;
    return true;
}

/* *present: another sender was faster. */
static bool send_session(struct sending *sending, bool *present, struct error *error) {
    const struct store_session *session = &sending->entry->session;
    struct push *push = sending->push;
    const struct datum data[] = {INTEGER(sending->day),
                                 INTEGER(session->kind),
                                 TEXT(session->name),
                                 TEXT(session->host),
                                 TEXT(session->kernel),
                                 TEXT(session->processor),
                                 REAL(session->weight),
                                 INTEGER(session->start),
                                 INTEGER(session->end),
                                 INTEGER(session->unknown),
                                 INTEGER(session->dropped),
                                 INTEGER(session->saved),
                                 BLOB(push->identity, sizeof push->identity),
                                 INTEGER(session->id)};
    PGresult *result = postgres_query(
        push->server,
        "INSERT INTO session(day, kind, name, host, kernel, processor, weight, start, \"end\", "
        "unknown, dropped, saved, identity, epoch) VALUES($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,"
        "$13,$14) ON CONFLICT DO NOTHING RETURNING id",
        data, sizeof data / sizeof *data, error);
    if (!result)
        return false;
    *present = libpq_of(push->server)->PQntuples(result) == 0;
    if (!*present)
        sending->session = postgres_number(push->server, result, 0, 0);
    libpq_of(push->server)->PQclear(result);
    return true;
}

static bool send_events(struct sending *sending, struct error *error) {
    const struct session_entry *entry = sending->entry;
    struct push_numbers *events = &sending->events;
    for (size_t i = 0; i < entry->event_count; i++) {
        if (!push_numbers_add(events, entry->events[i].id))
            return database_out_of_memory(sending->push->file, error);
        if (!store_add_event(sending->push->server, sending->session, &entry->events[i],
                             &events->there[i], error))
            return false;
    }
    return true;
}

static bool read_processes(struct sending *sending, struct error *error) {
    struct store *file = sending->push->file;
    struct statement *statement =
        BIND(file, SESSION_PROCESSES, error, INTEGER(sending->entry->session.id));
    int row = -1;
    while (statement && (row = database_step(file, statement, error)) > 0)
        if (!push_numbers_add(&sending->processes, column_integer(statement, 0))) {
            database_reset(statement);
            return database_out_of_memory(file, error);
        }
    return row == 0;
}

static void copy_process(struct copy *copy, struct sending *sending, struct statement *statement) {
    const struct store_process process = process_of_row(statement, 0, 1);
    const struct store_slice *slice = &process.slice;
    int64_t there = 0;
    push_numbers_find(&sending->processes, process.id, &there);
    copy_row(copy, 11);
    copy_day(copy, sending->day);
    copy_integer(copy, there);
    copy_integer(copy, sending->session);
    copy_bytes(copy, process.command, strlen(process.command));
    copy_bytes(copy, process.executable, strlen(process.executable));
    copy_integer(copy, slice->pid);
    copy_integer(copy, slice->thread);
    copy_integer(copy, slice->processor);
    copy_bytes(copy, slice->cgroup, strlen(slice->cgroup));
    copy_integer(copy, slice->begin);
    copy_integer(copy, slice->end);
}

/* The number there of what a row refers to. */
static bool refer(struct sending *sending, const struct push_numbers *numbers, int64_t here,
                  int64_t *there, struct error *error) {
    return push_numbers_find(numbers, here, there) ||
           database_damaged(sending->push->file, error,
                            "a row of epoch %lld refers to what is not its own",
                            (long long)sending->entry->session.id);
}

static bool copy_profile(struct copy *copy, struct sending *sending, struct statement *statement,
                         struct error *error) {
    struct store *file = sending->push->file;
    int64_t image = 0, process = 0, event = 0;
    size_t size, count;
    const void *blob = column_bytes(statement, 5, &size);
    struct error damage;
    if (!refer(sending, &sending->images, column_integer(statement, 1), &image, error) ||
        !refer(sending, &sending->processes, column_integer(statement, 2), &process, error) ||
        !refer(sending, &sending->events, column_integer(statement, 3), &event, error))
        return false;
    if (!blob_decode_values(&file->codec, blob, size, &file->old_values, &file->old_capacity,
                            &count, &damage))
        return database_damaged(file, error, "profile %lld: %s",
                                (long long)column_integer(statement, 0), damage.message);
    copy_row(copy, 7);
    copy_day(copy, sending->day);
    copy_integer(copy, sending->session);
    copy_integer(copy, image);
    copy_integer(copy, process);
    copy_integer(copy, event);
    copy_integer(copy, column_integer(statement, 4));
    copy_bytes(copy, blob, size);
    return true;
}

/* Gives the images of a tree their numbers there. */
static bool renumber(struct sending *sending, size_t count, struct error *error) {
    struct store_call *calls = sending->push->file->old_calls;
    for (size_t i = 0; i < count; i++)
        if (calls[i].image &&
            !refer(sending, &sending->images, calls[i].image, &calls[i].image, error))
            return false;
    return true;
}

static bool copy_calls(struct copy *copy, struct sending *sending, struct statement *statement,
                       struct error *error) {
    struct store *file = sending->push->file;
    int64_t process = 0, event = 0;
    size_t size, count, image_count;
    const void *blob = column_bytes(statement, 4, &size);
    struct error damage;
    if (!refer(sending, &sending->processes, column_integer(statement, 1), &process, error) ||
        !refer(sending, &sending->events, column_integer(statement, 2), &event, error))
        return false;
    if (!blob_decode_calls(&file->codec, blob, size, &file->old_calls, &file->old_calls_capacity,
                           &count, &damage))
        return database_damaged(file, error, "calls %lld: %s",
                                (long long)column_integer(statement, 0), damage.message);
    if (!renumber(sending, count, error) ||
        !blob_encode_calls(&file->codec, file->old_calls, count, error))
        return false;
    int64_t *images = calls_images(file->old_calls, count, &image_count);
    if (!images)
        return database_out_of_memory(file, error);
    copy_row(copy, 7);
    copy_day(copy, sending->day);
    copy_integer(copy, sending->session);
    copy_integer(copy, process);
    copy_integer(copy, event);
    copy_integer(copy, column_integer(statement, 3));
    copy_integers(copy, images, image_count);
    copy_bytes(copy, file->codec.packed, file->codec.size);
    free(images);
    return true;
}

enum part { PART_PROCESSES, PART_PROFILES, PART_CALLS, PARTS };
static const struct {
    enum statement_number rows;
    const char *into;
} PART[PARTS] = {
    [PART_PROCESSES] = {SESSION_PROCESSES,
                        "process(day, id, session, command, executable, pid, thread, processor, "
                        "cgroup, \"begin\", \"end\")"},
    [PART_PROFILES] = {SESSION_PROFILES,
                       "profile(day, session, image, process, event, total, data)"},
    [PART_CALLS] = {SESSION_CALLS, "calls(day, session, process, event, total, images, data)"},
};

static bool copy_part_row(struct copy *copy, struct sending *sending, enum part part,
                          struct statement *statement, struct error *error) {
    switch (part) {
    case PART_PROCESSES:
        copy_process(copy, sending, statement);
        return true;
    case PART_PROFILES:
        return copy_profile(copy, sending, statement, error);
    default:
        return copy_calls(copy, sending, statement, error);
    }
}

static bool send_part(struct sending *sending, enum part part, struct error *error) {
    struct store *file = sending->push->file;
    struct copy copy;
    struct statement *statement =
        BIND(file, PART[part].rows, error, INTEGER(sending->entry->session.id));
    int row = statement ? database_step(file, statement, error) : -1;
    if (row <= 0)
        return row == 0;
    if (!copy_begin(&copy, sending->push->server, PART[part].into, error)) {
        database_reset(statement);
        return copy_end(&copy, false, error);
    }
    while (row > 0 && !copy.failed) {
        if (!copy_part_row(&copy, sending, part, statement, error)) {
            database_reset(statement);
            return copy_end(&copy, false, error);
        }
        row = database_step(file, statement, error);
    }
    if (row > 0)
        database_reset(statement);
    return copy_end(&copy, row >= 0, error);
}

static bool number_processes(struct sending *sending, struct error *error) {
    const struct datum data[] = {INTEGER(sending->processes.count)};
    return push_numbers_take(sending->push, &sending->processes,
                             postgres_query(sending->push->server,
                                            "SELECT nextval('process_id') FROM "
                                            "generate_series(1, $1::bigint)",
                                            data, 1, error),
                             error);
}

/* In one transaction. */
static bool send_all(struct sending *sending, bool *present, struct error *error) {
    struct store *server = sending->push->server;
    if (!store_begin(server, error))
        return false;
    bool good = send_session(sending, present, error);
    if (good && !*present)
        good = send_events(sending, error) && number_processes(sending, error);
    for (int part = 0; good && !*present && part < PARTS; part++)
        good = send_part(sending, (enum part)part, error);
    if (good)
        return store_commit(server, error);
    store_rollback(server);
    return false;
}

static bool find_day(struct sending *sending, struct error *error) {
    const struct datum data[] = {INTEGER(sending->entry->session.start)};
    int64_t day;
    if (!postgres_integer(sending->push->server, "SELECT day_of($1)", data, 1, &day, error))
        return false;
    sending->day = (int32_t)day;
    return true;
}

static bool send_entry(struct push *push, const struct session_entry *entry, bool *present,
                       struct error *error) {
    struct sending sending = {.push = push, .entry = entry};
    bool good =
        name_sender(push, entry->session.host, error) && is_present(&sending, present, error);
    if (good && !*present)
        good = read_processes(&sending, error) &&
               push_images(push, entry->session.id, &sending.images, error) &&
               find_day(&sending, error) && send_all(&sending, present, error);
    push_numbers_free(&sending.images);
    push_numbers_free(&sending.processes);
    push_numbers_free(&sending.events);
    return good;
}

static bool send_as_of_now(struct push *push, int64_t session, bool *present, struct error *error) {
    struct session_list list;
    struct error ignored;
    if (!sqlite_execute(push->file, "BEGIN", error))
        return false;
    bool good = session_list_read_named(push->file, &list, &session, 1, error);
    if (good) {
        const struct session_entry *entry = session_list_find(push->file, &list, session, error);
        good = entry && (entry->session.end || error_set(error, "%s: epoch %lld has not ended",
                                                         push->file->path, (long long)session));
        good = good && send_entry(push, entry, present, error);
        session_list_free(&list);
    }
    sqlite_execute(push->file, "ROLLBACK", &ignored);
    return good;
}

bool push_session(struct push *push, int64_t session, bool *present, struct error *error) {
    struct store *file = push->file;
    *present = false;
    return send_as_of_now(push, session, present, error) && push_note_symbols(push, error) &&
           database_write(file,
                          BIND(file, ADD_SENT, error, BLOB(push->server_id, SERVER_ID_BYTES),
                               INTEGER(session), INTEGER(clock_since_1970()), INTEGER(0)),
                          NULL, error);
}
