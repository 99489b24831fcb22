#include "util/record_reader.h"

#include <inttypes.h>
#include <string.h>

#include "util/little_endian.h"

bool record_reader_damaged(const struct record_reader *reader, struct error *error,
                           const char *what) {
    return error_set(error, "%s is damaged at byte %" PRIu64 ": %s", reader->path, reader->offset,
                     what);
}

bool record_reader_out_of_memory(const struct record_reader *reader, struct error *error) {
    return error_set(error, "out of memory while reading %s", reader->path);
}

static bool cannot_read(const struct record_reader *reader, struct error *error) {
    return error_errno(error, "cannot read %s", reader->path);
}

bool record_reader_open(struct record_reader *reader, const char *path,
                        const struct record_format *format, struct error *error) {
    uint8_t prologue[RECORD_PROLOGUE_BYTES];
    reader->path = path;
    reader->offset = 0;
    reader->behind = sizeof prologue;
    reader->type = reader->size = 0;
    reader->file = strcmp(path, "-") != 0 ? fopen(path, "rb") : stdin;
    if (!reader->file)
        return error_errno(error, "cannot open %s", path);
    size_t got = fread(prologue, 1, sizeof prologue, reader->file);
    if (ferror(reader->file))
        return cannot_read(reader, error);
    if (got < sizeof prologue || memcmp(prologue, format->magic, 8) != 0 || get_u32(prologue + 12))
        return error_set(error, "%s is not a file of %s", path, format->content);
    reader->version = get_u32(prologue + 8);
    return reader->version == format->version ||
           (format->oldest && reader->version >= format->oldest &&
            reader->version < format->version) ||
           error_set(error, "%s has version %" PRIu32 " of the %s format, not %" PRIu32, path,
                     reader->version, format->name, format->version);
}

void record_reader_close(struct record_reader *reader) {
    if (reader->file && reader->file != stdin)
        fclose(reader->file);
    reader->file = NULL;
}

static int cut_or_failed(const struct record_reader *reader, struct error *error) {
    if (!ferror(reader->file))
        return 0;
    cannot_read(reader, error);
    return -1;
}

int record_reader_next(struct record_reader *reader, struct error *error) {
    uint8_t head[RECORD_HEAD_BYTES];
    reader->offset = reader->behind;
    if (fread(head, 1, sizeof head, reader->file) < sizeof head)
        return cut_or_failed(reader, error);
    uint32_t size = get_u32(head + 4);
    if (size > RECORD_PAYLOAD_MAX) {
        record_reader_damaged(reader, error, "a record of impossible size");
        return -1;
    }
    if (fread(reader->payload, 1, size, reader->file) < size)
        return cut_or_failed(reader, error);
    if (record_checksum(head, reader->payload, size) != get_u64(head + 8)) {
        record_reader_damaged(reader, error, "a checksum does not match");
        return -1;
    }
    reader->type = get_u32(head);
    reader->size = size;
    reader->behind = reader->offset + sizeof head + size;
    return 1;
}

bool record_reader_more(struct record_reader *reader) {
    uint8_t byte;
    return fread(&byte, 1, 1, reader->file) > 0;
}

char *record_reader_text(const struct record_reader *reader, uint32_t at, uint32_t size,
                         struct error *error) {
    if (memchr(reader->payload + at, 0, size)) {
        record_reader_damaged(reader, error, "a text with a zero byte");
        return NULL;
    }
    char *text = strndup((const char *)reader->payload + at, size);
    if (!text)
        record_reader_out_of_memory(reader, error);
    return text;
}
