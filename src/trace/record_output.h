/* The records of a .ctrace file on their way out. They gather in a buffer that goes out in big
 * writes, at the latest half a second after the first byte in it; while a thread of its own writes
 * some, the next ones gather in another. Inside of this room: file_writer.c alone has one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/file_format.h"
#include "util/error.h"
#include "util/executor.h"

enum { RECORD_BUFFERS = 4 /* that wait to be written, at most */ };

struct record_output {
    int fd;
    char *path;
    bool truncate; /* before the first write: an old file is kept until there is something new */
    bool created;  /* the file was not there before */
    bool broken;   /* a write failed: nothing more is written */
    struct error failure;

    uint8_t *buffer;
    size_t used, capacity;
    uint64_t written;     /* bytes already out, as far as is known */
    uint64_t given;       /* and those that are with the thread */
    double waiting_since; /* s */

    struct executor *thread; /* NULL: not needed so far */
    struct record_buffer {   /* given to the thread: its alone until the ticket has run */
        uint8_t *bytes;
        size_t used, capacity; /* used 0: it is free */
        size_t done;           /* of `used`, written */
        int failure;           /* errno; 0: none of its own */
        uint64_t ticket;
    } behind[RECORD_BUFFERS];
    uint32_t next; /* of `behind`, to be given: the oldest */
    bool failed;   /* the thread's: nothing comes behind what could not be written */

    bool full;     /* memory ran out: bytes of the record being made are missing */
    size_t record; /* where the record being made begins in the buffer */
};

/* Opens `path`, which is set; no disk or terminal is written to, nor what another process writes.
 */
bool record_output_open(struct record_output *output, struct error *error);
void record_output_free(struct record_output *output);

/* All is out when it returns. */
bool record_output_flush(struct record_output *output, struct error *error);
/* The thread is not at work when it returns. False: something could not be written. */
bool record_output_settle(struct record_output *output, struct error *error);
bool record_output_flush_if_due(struct record_output *output, struct error *error);

static inline uint64_t record_output_bytes(const struct record_output *output) {
    return output->given + output->used;
}

/* Both are always false: with the error of the write that failed; that memory is out. */
bool record_output_broken(struct record_output *output, struct error *error);
bool record_output_no_memory(const struct record_output *output, struct error *error);

/* A record begins; size and checksum, which covers type, size and payload, are filled in at its
 * end. */
void record_begin(struct record_output *output, enum record_type type);
bool record_end(struct record_output *output, struct error *error);

/* `size` more bytes of the record being made; NULL when memory is out. */
uint8_t *record_append(struct record_output *output, size_t size);
void record_add_bytes(struct record_output *output, const void *bytes, size_t size);
void record_add_u32(struct record_output *output, uint32_t value);
void record_add_u64(struct record_output *output, uint64_t value);
void record_add_string(struct record_output *output, const char *text); /* NULL: absent */
