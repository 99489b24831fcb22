/* Files that are records (util/record.h) behind a prologue: eight bytes of magic, version (32 bits)
 * and four zero bytes. Records are read one after the other into the same buffer; none is believed
 * before its checksum matches, and none may be larger than RECORD_PAYLOAD_MAX.
 *
 *     static const struct record_format FORMAT = {"\x89" "CSM\r\n\x1a\n", 1, "sample", "samples"};
 *     record_reader_open(&reader, path, &FORMAT, &error);
 *     while ((status = record_reader_next(&reader, &error)) > 0)
 *         ... reader.type, reader.size, reader.payload ...
 *     record_reader_close(&reader); */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "util/error.h"
#include "util/record.h"

struct record_format {
    char magic[9];
    uint32_t version;
    const char *name;    /* in errors: "version 2 of the NAME format", */
    const char *content; /* "not a file of CONTENT" */
    uint32_t oldest;     /* version that can be read, too; 0: only `version` */
};

enum { RECORD_PROLOGUE_BYTES = 16, RECORD_PAYLOAD_MAX = 1 << 18 /* bytes */ };

struct record_reader {
    FILE *file;
    const char *path;        /* the caller's */
    uint32_t version;        /* of the file */
    uint64_t offset, behind; /* bytes in the file: of the record, and behind it */
    uint32_t type, size;     /* of the record; of its payload in bytes */
    uint8_t payload[RECORD_PAYLOAD_MAX];
};

/* "-": standard input. record_reader_close() either way; `reader` may be uninitialised. */
bool record_reader_open(struct record_reader *reader, const char *path,
                        const struct record_format *format, struct error *error);
void record_reader_close(struct record_reader *reader);

/* 1: a record; 0: the file ends there or within a record; −1 with an error. */
int record_reader_next(struct record_reader *reader, struct error *error);
/* There are bytes behind the record. */
bool record_reader_more(struct record_reader *reader);

/* A text of the payload, the caller's to free; it must be within. NULL with an error, also when a
 * zero byte lies in it. */
char *record_reader_text(const struct record_reader *reader, uint32_t at, uint32_t size,
                         struct error *error);

/* Always false: what is wrong with the record, or that memory ran out at it. */
bool record_reader_damaged(const struct record_reader *reader, struct error *error,
                           const char *what);
bool record_reader_out_of_memory(const struct record_reader *reader, struct error *error);
