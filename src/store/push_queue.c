/* Which epochs of a file wait to be sent. */
#include <stdlib.h>

#include "store/address.h"
#include "store/database.h"
#include "store/push.h"
#include "util/array.h"
#include "util/clock.h"

void push_queue_free(struct push_queue *queue) {
    free(queue->epochs);
    *queue = (struct push_queue){0};
}

bool push_queue_read(struct store *file, const char *host, struct push_queue *queue,
                     struct error *error) {
    *queue = (struct push_queue){0};
    struct statement *statement = BIND(file, LIST_WAITING, error, TEXT(host));
    int row = -1;
    while (statement && (row = database_step(file, statement, error)) > 0) {
        const int64_t bytes = column_integer(statement, 1);
        const struct push_epoch epoch = {.session = column_integer(statement, 0),
                                         .bytes = bytes > 0 ? (uint64_t)bytes : 0};
        if (!array_push(queue->epochs, queue->capacity, queue->count, epoch)) {
            database_reset(statement);
            database_out_of_memory(file, error);
            row = -1;
            break;
        }
        queue->bytes += epoch.bytes;
    }
    if (row < 0)
        push_queue_free(queue);
    return row == 0;
}

bool push_queue_read_begun(struct store *file, const char *host, struct push_queue *queue,
                           struct error *error) {
    *queue = (struct push_queue){0};
    if (store_is_address(file->path))
        return true;
    struct statement *statement = database_bind(file, GET_IDENTITY, NULL, 0, error);
    const int row = statement ? database_step(file, statement, error) : -1;
    if (row < 0)
        return false;
    size_t server = 0;
    if (row) {
        column_bytes(statement, 1, &server);
        database_reset(statement);
    }
    return !server || push_queue_read(file, host, queue, error);
}

static bool give_up(struct store *file, int64_t session, struct error *error) {
    return database_write(file,
                          BIND(file, GIVE_UP, error, INTEGER(session), INTEGER(clock_since_1970())),
                          NULL, error);
}

bool push_queue_bound(struct store *file, struct push_queue *queue, uint64_t bytes,
                      uint64_t *given_up, struct error *error) {
    *given_up = 0;
    while (queue->bytes > bytes && *given_up < queue->count) {
        const struct push_epoch *oldest = &queue->epochs[*given_up];
        if (!give_up(file, oldest->session, error))
            return false;
        queue->bytes -= oldest->bytes;
        ++*given_up;
    }
    queue->count -= *given_up;
    for (size_t i = 0; i < queue->count; i++)
        queue->epochs[i] = queue->epochs[i + *given_up];
    return true;
}
