/* Comma-separated values (RFC 4180), one record at a time. A field that contains a comma, a quote
 * or a line end stands in quotes, its quotes doubled. A line that begins with '#' is a comment.
 * Empty lines say nothing. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util/error.h"

enum { CSV_MAX_RECORD = 1 << 20 }; /* bytes of one that is read */

struct csv {
    const char *path; /* the caller's */
    FILE *file;
    uint64_t line;      /* where the record begins, from 1 */
    uint64_t next_line; /* where the next one does */
    bool comment;       /* the record is one: fields[0] is the line without its '#' */
    char **fields;      /* of the record, until the next is read */
    uint32_t field_count;
    char *text; /* that the fields point into */
    size_t *starts;
    size_t text_capacity, start_capacity, field_capacity;
};

bool csv_open(struct csv *csv, const char *path, struct error *error);
/* The next record: 1; 0 at the end of the file; −1 with an error that names file and line. */
int csv_next(struct csv *csv, struct error *error);
void csv_close(struct csv *csv);

/* The error "PATH: line N: ...". Returns false. */
bool csv_error(const struct csv *csv, struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A field of the record as a whole number up to `most`, decimal or hexadecimal with 0x, or as a
 * number from `least` to `most`. Errors name file, line and `name`, the column's. */
bool csv_decimal(const struct csv *csv, uint32_t field, const char *name, uint64_t most,
                 uint64_t *value, struct error *error);
bool csv_hexadecimal(const struct csv *csv, uint32_t field, const char *name, uint64_t *value,
                     struct error *error);
bool csv_number(const struct csv *csv, uint32_t field, const char *name, double least, double most,
                double *value, struct error *error);

/* A field, in quotes when it must be. */
void csv_put(FILE *out, const char *field);
/* A number with as many digits as it takes to read back the same. */
void csv_put_number(FILE *out, double value);
