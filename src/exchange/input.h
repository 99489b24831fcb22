/* A file to import: gzip-compressed or not, told from its first bytes, read as lines or as bytes.
 * Errors name the file and the line, or the offset after decompression. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <zlib.h>

#include "util/error.h"

enum {
    INPUT_LINE_MAX = 1 << 20, /* bytes of a line */
    INPUT_PIPE_MAX = 1 << 30  /* bytes of a pipe that must be read twice */
};

struct input {
    const char *path; /* as errors name it: the caller's, or "standard input" */
    gzFile file;
    struct stat status;
    char *buffer; /* of INPUT_LINE_MAX + 1 bytes */
    size_t begin, end;
    bool ended;        /* nothing follows what is in the buffer */
    uint64_t consumed; /* bytes, those in the buffer not included */
    uint64_t line;     /* last one read, from 1 */
};

/* `path` "-": standard input. input_close() also after failure. */
bool input_open(struct input *input, const char *path, struct error *error);
void input_close(struct input *input);

/* What the file begins with, without consuming it: *size ≤ INPUT_LINE_MAX bytes of it. */
bool input_peek(struct input *input, const char **bytes, size_t *size, struct error *error);

/* The next line without its end, NUL-terminated, until the next call: 1; 0 at the end; −1. Fails on
 * a line of more than INPUT_LINE_MAX bytes and on a NUL. */
int input_line(struct input *input, char **line, size_t *length, struct error *error);

/* The next byte: 1; 0 at the end; −1. */
int input_byte(struct input *input, uint8_t *byte, struct error *error);
/* `size` bytes into `to` (NULL: skipped). Fails when the file ends before. */
bool input_bytes(struct input *input, void *to, uint64_t size, struct error *error);

/* Begins again; a pipe is first copied into an unnamed file, so it must not have been read. */
bool input_make_rewindable(struct input *input, struct error *error);
bool input_rewind(struct input *input, struct error *error);

/* "PATH: line N: " or "PATH: offset N: " before the message. Both return false. */
bool input_fail_line(const struct input *input, struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool input_fail_offset(const struct input *input, struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
