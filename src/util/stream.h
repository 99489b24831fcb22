/* A file that grows while it is written: a trace, readable as far as it goes whenever the writer
 * dies. Used from one thread at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/error.h"

enum { STREAM_BUFFER = 1 << 18 };

/* Once an operation has failed, all later ones fail alike. Errors name the path. */
struct stream {
    const char *path; /* the caller's */
    int file;
    bool failed;
    size_t used;
    uint64_t written; /* bytes, those in the buffer included */
    char *buffer;
};

/* Makes or empties the file. */
bool stream_open(struct stream *stream, const char *path, struct error *error);
/* The same, and writes what the file begins with; closed again when that fails. */
bool stream_begin(struct stream *stream, const char *path, const void *head, size_t size,
                  struct error *error);
/* Writes what is in the buffer. */
bool stream_flush(struct stream *stream, struct error *error);
/* Flushes and closes; may be called on a stream that is all zero or closed. */
bool stream_close(struct stream *stream, struct error *error);

/* Room for `size` ≤ STREAM_BUFFER bytes to be written in place; then stream_advance by as many as
 * were. NULL: failed. */
static inline char *stream_room(struct stream *stream, size_t size, struct error *error) {
    if (STREAM_BUFFER - stream->used < size && !stream_flush(stream, error))
        return NULL;
    return stream->buffer + stream->used;
}
static inline void stream_advance(struct stream *stream, size_t size) {
    stream->used += size;
    stream->written += size;
}

bool stream_write(struct stream *stream, const void *data, size_t size, struct error *error);

/* ---- numbers as text; return the end ---- */
static inline char *put_decimal(char *to, uint64_t number) {
    char digits[20];
    unsigned count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count)
        *to++ = digits[--count];
    return to;
}
static inline char *put_hex(char *to, uint64_t number) {
    int shift = number ? (63 - __builtin_clzll(number)) & ~3 : 0;
    for (; shift >= 0; shift -= 4)
        *to++ = "0123456789abcdef"[number >> shift & 15];
    return to;
}
static inline char *put_text(char *to, const char *text) {
    size_t length = strlen(text);
    memcpy(to, text, length);
    return to + length;
}
