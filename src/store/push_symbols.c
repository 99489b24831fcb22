/* An image's symbols are sent by the parts that the server does not have yet: of one build, hosts
 * have kept those of the procedures that they sampled. A part is never changed, so that hosts need
 * no more than to add. What was sent last is known by its checksum. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "store/postgres.h"
#include "store/push_parts.h"
#include "util/array.h"

void push_end(struct push *push) {
    free(push->notes);
    push->notes = NULL;
    push->note_count = push->note_capacity = 0;
}

/* Whether what the file has now was sent, as symbols of this number. */
static bool was_sent(struct push *push, const struct push_note *note, bool *sent,
                     struct error *error) {
    struct store *file = push->file;
    struct statement *statement = BIND(file, GET_SENT_SYMBOLS, error,
                                       BLOB(push->server_id, SERVER_ID_BYTES), INTEGER(note->here));
    const int row = statement ? database_step(file, statement, error) : -1;
    *sent = row > 0 && column_integer(statement, 0) == note->there &&
            column_integer(statement, 1) == note->checksum;
    if (row > 0)
        database_reset(statement);
    return row >= 0;
}

/* What the server has: parts, joined. */
static bool read_there(struct push *push, int64_t there, struct code_symbol **symbols,
                       size_t *count, struct error *error) {
    struct store *server = push->server;
    const struct datum data[] = {INTEGER(there)};
    *symbols = NULL;
    *count = 0;
    PGresult *result = postgres_query(server, "SELECT symbols_of($1)", data, 1, error);
    if (!result)
        return false;
    bool good = true;
    for (int i = 0; good && i < libpq_of(server)->PQntuples(result); i++) {
        server->damage[0] = 0;
        /* What another host has sent, and cannot be read, is as if it were not there. */
        good = symbols_join(server, there, libpq_of(server)->PQgetvalue(result, i, 0),
                            (size_t)libpq_of(server)->PQgetlength(result, i, 0), symbols, count,
                            error) ||
               server->damage[0];
    }
    libpq_of(server)->PQclear(result);
    return good;
}

/* Leaves those that start where none of the others does. */
static size_t leave_new(struct code_symbol *symbols, size_t count, const struct code_symbol *others,
                        size_t other_count) {
    size_t left = 0, at = 0;
    for (size_t i = 0; i < count; i++) {
        while (at < other_count && others[at].start < symbols[i].start)
            at++;
        if (at == other_count || others[at].start != symbols[i].start)
            symbols[left++] = symbols[i];
    }
    return left;
}

static bool send_part(struct push *push, int64_t there, const struct code_symbol *symbols,
                      size_t count, struct error *error) {
    struct blob_codec *codec = &push->file->codec;
    if (!count)
        return true;
    if (!blob_encode_symbols(codec, symbols, count, error))
        return false;
    const struct datum data[] = {INTEGER(there), BLOB(codec->packed, codec->size)};
    PGresult *result = postgres_query(push->server, "SELECT add_symbols($1, $2)", data, 2, error);
    libpq_of(push->server)->PQclear(result);
    return result != NULL;
}

/* CRC-32 of the blob: what is in it may change again and again, and rarely does. */
static bool read_checksum(struct push *push, struct push_note *note, bool *any,
                          struct error *error) {
    struct store *file = push->file;
    struct statement *statement = BIND(file, GET_SYMBOLS, error, INTEGER(note->here));
    const int row = statement ? database_step(file, statement, error) : -1;
    *any = row > 0;
    if (row <= 0)
        return row == 0;
    size_t size;
    const void *blob = column_bytes(statement, 0, &size);
    note->checksum = (int64_t)crc32(0, blob, (uInt)size);
    database_reset(statement);
    return true;
}

bool push_symbols(struct push *push, int64_t here, int64_t there, struct error *error) {
    struct push_note note = {.here = here, .there = there};
    bool any, sent = false;
    if (!read_checksum(push, &note, &any, error) || (any && !was_sent(push, &note, &sent, error)))
        return false;
    if (!any || sent)
        return true;
    struct code_symbol *mine = NULL, *theirs = NULL;
    size_t count, their_count = 0;
    bool good = store_get_symbols(push->file, here, &mine, &count, error) &&
                read_there(push, there, &theirs, &their_count, error) &&
                send_part(push, there, mine, leave_new(mine, count, theirs, their_count), error);
    store_free_symbols(mine, count);
    store_free_symbols(theirs, their_count);
    if (good && !array_push(push->notes, push->note_capacity, push->note_count, note))
        good = database_out_of_memory(push->file, error);
    return good;
}

bool push_note_symbols(struct push *push, struct error *error) {
    struct store *file = push->file;
    if (!push->note_count)
        return true;
    if (!store_begin(file, error))
        return false;
    for (size_t i = 0; i < push->note_count; i++) {
        const struct push_note *note = &push->notes[i];
        if (!database_write(file,
                            BIND(file, SET_SENT_SYMBOLS, error,
                                 BLOB(push->server_id, SERVER_ID_BYTES), INTEGER(note->here),
                                 INTEGER(note->there), INTEGER(note->checksum)),
                            NULL, error)) {
            store_rollback(file);
            return false;
        }
    }
    push->note_count = 0;
    return store_commit(file, error);
}
