/* A field is a number (field << 3 | kind) and what the kind says: a number in groups of 7 bits, 8
 * or 4 bytes, or a length and as many bytes. */
#include "exchange/pprof_wire.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

enum { WIRE_NUMBER, WIRE_EIGHT_BYTES, WIRE_BYTES, WIRE_FOUR_BYTES = 5 };

/* ---- reading ---- */

/* Profiles shrink to a tenth, rarely to a fiftieth; what shrinks far more was made to hurt. */
enum { EXPANSION_MAX = 200 };

bool pprof_reader_start(struct pprof_reader *reader, struct input *input, struct error *error) {
    const uint64_t always = UINT64_C(1) << 24;
    *reader = (struct pprof_reader){.input = input, .buffer = malloc(PPROF_FIELD_MAX + 1)};
    if (!reader->buffer)
        return error_set(error, "%s: out of memory", input->path);
    if (!input_make_rewindable(input, error))
        return false;
    reader->most = S_ISREG(input->status.st_mode)
                       ? always + (uint64_t)input->status.st_size * EXPANSION_MAX
                       : INPUT_PIPE_MAX;
    return true;
}

void pprof_reader_free(struct pprof_reader *reader) {
    free(reader->buffer);
    *reader = (struct pprof_reader){0};
}

/* 1; 0 when the file ends before the first byte; −1. */
static int read_number(struct input *input, uint64_t *value, struct error *error) {
    *value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte;
        int got = input_byte(input, &byte, error);
        if (got == 0 && shift == 0)
            return 0;
        if (got == 0)
            input_fail_offset(input, error, "the file ends in the middle of a number");
        if (got <= 0)
            return -1;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return 1;
    }
    input_fail_offset(input, error, "a number of more than 64 bits: this is no pprof profile");
    return -1;
}

static int need_number(struct input *input, uint64_t *value, struct error *error) {
    int got = read_number(input, value, error);
    if (got == 0)
        input_fail_offset(input, error, "the file ends in the middle of a record");
    return got > 0 ? 1 : -1;
}

static int read_bytes(struct pprof_reader *reader, struct pprof_field *field, struct error *error) {
    uint64_t size;
    if (need_number(reader->input, &size, error) < 0)
        return -1;
    if (size > PPROF_FIELD_MAX) {
        input_fail_offset(reader->input, error,
                          "a record of %" PRIu64 " bytes, where one MiB is the most", size);
        return -1;
    }
    field->message = true;
    field->bytes = reader->buffer;
    field->size = size;
    field->bytes[size] = 0;
    return input_bytes(reader->input, field->bytes, size, error) ? 1 : -1;
}

int pprof_read(struct pprof_reader *reader, struct pprof_field *field, struct error *error) {
    struct input *input = reader->input;
    uint64_t tag;
    *field = (struct pprof_field){0};
    if (input->consumed > reader->most) {
        input_fail_offset(input, error, "expands more than %d-fold: no profile does",
                          EXPANSION_MAX);
        return -1;
    }
    int got = read_number(input, &tag, error);
    if (got <= 0)
        return got;
    field->number = tag >> 3;
    switch (tag & 7) {
    case WIRE_NUMBER:
        return need_number(input, &field->value, error);
    case WIRE_BYTES:
        return read_bytes(reader, field, error);
    case WIRE_EIGHT_BYTES:
    case WIRE_FOUR_BYTES:
        field->number = 0; /* no field of a profile is of this kind */
        return input_bytes(input, NULL, (tag & 7) == WIRE_FOUR_BYTES ? 4 : 8, error) ? 1 : -1;
    default:
        input_fail_offset(input, error, "kind %" PRIu64 " of a field: this is no pprof profile",
                          tag & 7);
        return -1;
    }
}

ProtobufCMessage *pprof_unpack(const struct pprof_reader *reader, const struct pprof_field *field,
                               const ProtobufCMessageDescriptor *type, struct error *error) {
    ProtobufCMessage *message =
        field->message ? protobuf_c_message_unpack(type, NULL, field->size, field->bytes) : NULL;
    if (!message)
        input_fail_offset(reader->input, error, "what ends here is damaged, or no %s of pprof",
                          type->short_name);
    return message;
}

/* ---- writing ---- */

bool pprof_writer_start(struct pprof_writer *writer, int descriptor, struct error *error) {
    *writer = (struct pprof_writer){0};
    int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (own >= 0)
        writer->file = gzdopen(own, "wb");
    return writer->file || error_errno(error, "cannot compress the profile");
}

static bool put(struct pprof_writer *writer, const void *bytes, size_t size, struct error *error) {
    if (!size || gzwrite(writer->file, bytes, (unsigned)size) == (int)size)
        return true;
    return error_errno(error, "cannot write the profile");
}

static size_t pack_number(uint8_t *to, uint64_t value) {
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        to[size++] = (uint8_t)(value | 0x80);
    to[size++] = (uint8_t)value;
    return size;
}

static bool put_head(struct pprof_writer *writer, enum pprof_field_number number, unsigned kind,
                     uint64_t value, struct error *error) {
    uint8_t head[20];
    size_t size = pack_number(head, (uint64_t)number << 3 | kind);
    size += pack_number(head + size, value);
    return put(writer, head, size, error);
}

bool pprof_write(struct pprof_writer *writer, enum pprof_field_number number,
                 const ProtobufCMessage *message, struct error *error) {
    size_t size = protobuf_c_message_get_packed_size(message);
    if (!array_reserve((void **)&writer->buffer, &writer->capacity, size, 1))
        return error_set(error, "out of memory for the profile");
    protobuf_c_message_pack(message, writer->buffer);
    return put_head(writer, number, WIRE_BYTES, size, error) &&
           put(writer, writer->buffer, size, error);
}

bool pprof_write_text(struct pprof_writer *writer, enum pprof_field_number number, const char *text,
                      struct error *error) {
    size_t size = strlen(text);
    return put_head(writer, number, WIRE_BYTES, size, error) && put(writer, text, size, error);
}

bool pprof_write_number(struct pprof_writer *writer, enum pprof_field_number number, int64_t value,
                        struct error *error) {
    return put_head(writer, number, WIRE_NUMBER, (uint64_t)value, error);
}

bool pprof_writer_finish(struct pprof_writer *writer, struct error *error) {
    int status = writer->file ? gzclose_w(writer->file) : Z_OK;
    free(writer->buffer);
    *writer = (struct pprof_writer){0};
    if (status == Z_ERRNO)
        return error_errno(error, "cannot write the profile");
    return status == Z_OK || error_set(error, "cannot write the profile");
}
