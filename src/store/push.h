/* Epochs of a file go to a server of PostgreSQL, each once. A file has a random identity, and the
 * server refuses a second session of the same identity, number and start: whoever does not know
 * whether an epoch arrived, since the connection was lost as it was committed, sends it again. Two
 * copies of a file, which have one identity, differ in the starts of what they collect later.
 *
 * What was sent is noted in the file, for the server of which it is true, once that has committed.
 * The file must be opened for writing, by a process of its own right to it as any other; while an
 * epoch is sent it is only read. */
#pragma once

#include "store/store.h"

/* The daemon's epochs that have ended and were not sent, by their number: to the server that was
 * last sent to. */
struct push_queue {
    struct push_epoch {
        int64_t session;
        uint64_t bytes; /* of its profiles */
    } * epochs;
    size_t count, capacity;
    uint64_t bytes;
};
bool push_queue_read(struct store *file, const char *host, struct push_queue *queue,
                     struct error *error);
/* Likewise, but empty when the file was never sent to a server. */
bool push_queue_read_begun(struct store *file, const char *host, struct push_queue *queue,
                           struct error *error);
void push_queue_free(struct push_queue *queue);
/* Gives up the oldest until the queue has at most so many bytes; they stay in the file, until they
 * are pruned. How many, in *given_up. */
bool push_queue_bound(struct store *file, struct push_queue *queue, uint64_t bytes,
                      uint64_t *given_up, struct error *error);

struct push {
    struct store *file, *server;
    uint8_t identity[16];     /* of the file */
    const uint8_t *server_id; /* 16 bytes */
    struct push_note {
        int64_t here, there, checksum;
    } * notes; /* of images whose symbols were sent since the file was last told */
    size_t note_count, note_capacity;
    char host[256];  /* whose epochs were sent last */
    uint64_t others; /* machines beside this one that have sent as this host: its epochs and theirs
                        stand under one name */
};
bool push_begin(struct push *push, struct store *file, struct store *server, struct error *error);
void push_end(struct push *push);
/* Sends a session that has ended. *present: the server had it already, which is as good. */
bool push_session(struct push *push, int64_t session, bool *present, struct error *error);

/* How many sessions were sent, and how many the server had already. */
struct pushed {
    size_t sent, present;
};
/* Sends sessions in this order, and adds them up; of an error, which names its session, those
 * before it. */
bool push_sessions(struct push *push, const int64_t *sessions, size_t count, struct pushed *pushed,
                   struct error *error);
/* Those of the queue of a host, as the daemon sends them. */
bool push_waiting(struct push *push, const char *host, struct pushed *pushed, struct error *error);
