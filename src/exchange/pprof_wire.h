/* The outermost message of a profile, field by field, so that it is never in memory as a whole; the
 * messages inside are packed and unpacked by protobuf-c (developers.google.com/protocol-buffers,
 * Encoding). */
#pragma once

#include <protobuf-c/protobuf-c.h>
#include <zlib.h>

#include "exchange/input.h"

enum { PPROF_FIELD_MAX = 1 << 20 }; /* bytes of one that is read */

enum pprof_field_number { /* of Profile, see pprof.proto */
                          PPROF_SAMPLE_TYPE = 1,
                          PPROF_SAMPLE,
                          PPROF_MAPPING,
                          PPROF_LOCATION,
                          PPROF_FUNCTION,
                          PPROF_STRING,
                          PPROF_TIME_NANOS = 9,
                          PPROF_DURATION_NANOS,
                          PPROF_PERIOD_TYPE,
                          PPROF_PERIOD,
                          PPROF_COMMENT,
                          PPROF_DEFAULT_SAMPLE_TYPE
};

struct pprof_field {
    uint64_t number;
    bool message;   /* `size` bytes in `bytes`; else `value` */
    uint64_t value; /* of numbers */
    uint8_t *bytes; /* the reader's, with a NUL behind them */
    size_t size;
};

struct pprof_reader {
    struct input *input;
    uint8_t *buffer; /* of PPROF_FIELD_MAX + 1 bytes */
    uint64_t most;   /* bytes that a file of this size may have after decompression */
};

/* pprof_reader_free() either way. */
bool pprof_reader_start(struct pprof_reader *reader, struct input *input, struct error *error);
void pprof_reader_free(struct pprof_reader *reader);
/* The next field: 1; 0 at the end; −1. */
int pprof_read(struct pprof_reader *reader, struct pprof_field *field, struct error *error);
/* The message in a field, to be freed with protobuf_c_message_free_unpacked. NULL: it is none. */
ProtobufCMessage *pprof_unpack(const struct pprof_reader *reader, const struct pprof_field *field,
                               const ProtobufCMessageDescriptor *type, struct error *error);

struct pprof_writer {
    gzFile file;
    uint8_t *buffer; /* for packing */
    size_t capacity;
};

/* Compresses to a descriptor of its own of `descriptor`'s file. Once one of these has failed,
 * pprof_writer_finish does too. */
bool pprof_writer_start(struct pprof_writer *writer, int descriptor, struct error *error);
bool pprof_write(struct pprof_writer *writer, enum pprof_field_number number,
                 const ProtobufCMessage *message, struct error *error);
bool pprof_write_text(struct pprof_writer *writer, enum pprof_field_number number, const char *text,
                      struct error *error);
bool pprof_write_number(struct pprof_writer *writer, enum pprof_field_number number, int64_t value,
                        struct error *error);
/* Also frees; may be called on a writer that is all zero. */
bool pprof_writer_finish(struct pprof_writer *writer, struct error *error);
