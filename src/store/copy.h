/* Inside of this room: rows sent by COPY in its binary form ("Binary Format" of COPY in
 * PostgreSQL's documentation): of each field its size and bytes, integers big-endian. */
#pragma once

#include "store/postgres.h"

struct copy {
    struct store *store;
    uint8_t *bytes;
    size_t size, capacity;
    bool failed; /* out of memory, or the connection is lost */
};

/* `what` is "TABLE(COLUMN, ...)". */
bool copy_begin(struct copy *copy, struct store *store, const char *what, struct error *error);
/* A row of so many fields, which follow. */
void copy_row(struct copy *copy, int fields);
void copy_day(struct copy *copy, int32_t day);
void copy_integer(struct copy *copy, int64_t value);
void copy_bytes(struct copy *copy, const void *bytes, size_t size);
void copy_integers(struct copy *copy, const int64_t *values, size_t count);
/* Waits until the server has taken all rows. `good` false: has it take none, and leaves *error as
 * it is. */
bool copy_end(struct copy *copy, bool good, struct error *error);
