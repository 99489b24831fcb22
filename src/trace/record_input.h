/* The records of a .ctrace file, one after the other: type and payload, with a right checksum. What
 * they mean is file_reader.c's. Inside of this room: file_reader.c alone has one. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/payload.h"
#include "util/error.h"

enum { RECORD_INPUT_BYTES = 64 << 10 };

struct record_input {
    int fd; /* -1: none */
    char *path;
    volatile sig_atomic_t interrupted; /* ends as at the end of the file */

    bool seeks;      /* a file opened by its name: it is read where `offset` tells, so that
                        processes that have it from this one read on by themselves */
    uint64_t offset; /* of the next byte of the file to hand out */
    uint64_t record; /* offset of the record being read */
    size_t at, end;  /* of `ready` */
    bool ended;

    uint8_t *bytes; /* the record's payload */
    size_t bytes_capacity;
    struct payload payload;

    bool skips; /* the events of other threads than `only` are not even read */
    uint32_t only;
    uint8_t ready[RECORD_INPUT_BYTES];
};

/* "-": standard input. False: record_input_close() is still to be called. */
bool record_input_open(struct record_input *input, const char *path, struct error *error);
void record_input_close(struct record_input *input);

/* Of the chunks of events of other threads only the heads are read from now on, where that can be:
 * in files that can be sought (`seeks`), in which no two threads share predictions. */
void record_input_only(struct record_input *input, uint32_t thread);

/* Returns how many of `size` bytes there were before the end, or -1. */
ssize_t record_input_bytes(struct record_input *input, uint8_t *to, size_t size,
                           struct error *error);
/* Reads the next record's payload. 1: *type is set; 0: the end, or cut short; −1: error. */
int record_input_next(struct record_input *input, uint32_t *type, struct error *error);

/* The error of the record being read. Both always return −1. */
int record_input_bad(const struct record_input *input, struct error *error, const char *what);
int record_input_no_memory(const struct record_input *input, struct error *error);
