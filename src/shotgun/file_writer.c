/* Records of many instructions or samples each, as many as fit. */
#include <stdlib.h>
#include <string.h>

#include "shotgun/format.h"
#include "util/array.h"
#include "util/stream.h"

struct writer {
    struct stream stream;
    uint32_t used;                                           /* of the payload */
    uint8_t record[RECORD_HEAD_BYTES + SHOTGUN_PAYLOAD_MAX]; /* being filled */
};

static bool put_record(struct writer *writer, enum shotgun_record type, struct error *error) {
    uint32_t size = writer->used;
    writer->used = 0;
    record_seal(writer->record, type, size);
    return stream_write(&writer->stream, writer->record, RECORD_HEAD_BYTES + size, error);
}

/* Makes room for `size` bytes more in a record of that type. NULL: failed. */
static uint8_t *room(struct writer *writer, enum shotgun_record type, uint32_t size,
                     struct error *error) {
    if (writer->used + size > SHOTGUN_PAYLOAD_MAX && !put_record(writer, type, error))
        return NULL;
    uint8_t *at = writer->record + RECORD_HEAD_BYTES + writer->used;
    writer->used += size;
    return at;
}

static bool finish(struct writer *writer, enum shotgun_record type, struct error *error) {
    return writer->used == 0 || put_record(writer, type, error);
}

static uint32_t text_size(const char *text) {
    size_t size = text ? strlen(text) : 0;
    return size < SHOTGUN_TEXT_MAX ? (uint32_t)size : SHOTGUN_TEXT_MAX;
}

/* The size of all settings: a list that was cut would describe another machine. */
static bool settings_size(const struct shotgun_header *header, uint32_t *size,
                          struct error *error) {
    size_t sum = sum_over(size_t, i, header->setting_count, strlen(header->settings[i]) + 1);
    *size = (uint32_t)sum;
    return sum <= SHOTGUN_TEXT_MAX ||
           error_set(error,
                     "the changes of the machine take more than the %d bytes that a file of "
                     "shotgun samples has for them (write a machine file)",
                     SHOTGUN_TEXT_MAX);
}

static uint8_t *append_text(uint8_t *at, const char *text, uint32_t size) {
    if (size)
        memcpy(at, text, size);
    return at + size;
}

static bool put_header(struct writer *writer, const struct shotgun_header *header,
                       const struct shotgun_database *database, enum isa isa, struct error *error) {
    uint32_t machine = text_size(header->machine), command = text_size(header->command), settings;
    if (!settings_size(header, &settings, error))
        return false;
    uint8_t *at =
        room(writer, SHOTGUN_HEADER, SHOTGUN_HEADER_BYTES + machine + command + settings, error);
    if (!at)
        return false;
    put_u32(at, isa);
    put_u32(at + 4, database->options.length);
    put_u64(at + 8, database->options.period);
    put_u64(at + 16, database->options.seed);
    put_u64(at + 24, database->instructions);
    put_u32(at + 32, database->sample_level);
    put_u32(at + 36, database->skeleton_level);
    put_u32(at + 40, machine);
    put_u32(at + 44, command);
    put_u64(at + 48, database->cycles);
    put_u32(at + 56, settings);
    put_u32(at + 60, database->options.pc_bit);
    at = append_text(at + SHOTGUN_HEADER_BYTES, header->machine, machine);
    at = append_text(at, header->command, command);
    for (uint32_t i = 0; i < header->setting_count; i++) {
        at = append_text(at, header->settings[i], (uint32_t)strlen(header->settings[i]));
        *at++ = '\n';
    }
    return finish(writer, SHOTGUN_HEADER, error);
}

static bool put_code(struct writer *writer, const struct code *code, struct error *error) {
    for (uint32_t i = 0; code && i < code->insn_count; i++) {
        const struct static_insn *insn = &code->insns[i];
        uint8_t *at = room(writer, SHOTGUN_CODE, SHOTGUN_INSN_BYTES, error);
        if (!at)
            return false;
        put_u64(at, insn->offset);
        put_u32(at + 8, insn->image);
        put_u32(at + 12, insn->length | (insn->described ? SHOTGUN_DESCRIBED : 0));
        memcpy(at + 16, insn->bytes, sizeof insn->bytes);
    }
    return finish(writer, SHOTGUN_CODE, error);
}

static bool put_samples(struct writer *writer, const struct shotgun_database *database,
                        struct error *error) {
    for (size_t i = 0; i < database->sample_count; i++) {
        const struct shotgun_sample *sample = &database->samples[i];
        uint32_t size = SHOTGUN_SAMPLE_BYTES + sample->uop_count * SHOTGUN_UOP_BYTES;
        uint8_t *at = room(writer, SHOTGUN_SAMPLES, size, error);
        if (!at)
            return false;
        shotgun_pack(sample, database->uops + sample->first_uop, at);
    }
    return finish(writer, SHOTGUN_SAMPLES, error);
}

static bool put_signatures(struct writer *writer, const struct shotgun_database *database,
                           struct error *error) {
    uint32_t words = signature_words(database->options.length);
    for (size_t i = 0; i < database->skeleton_count; i++) {
        uint8_t *at = room(writer, SHOTGUN_SIGNATURES, 4 + 8 * words, error);
        if (!at)
            return false;
        put_u32(at, database->starts[i]);
        for (uint32_t k = 0; k < words; k++)
            put_u64(at + 4 + 8 * (size_t)k, shotgun_bits(database, i)[k]);
    }
    return finish(writer, SHOTGUN_SIGNATURES, error);
}

static bool put_end(struct writer *writer, const struct shotgun_database *database,
                    const struct code *code, struct error *error) {
    uint8_t *at = room(writer, SHOTGUN_END, SHOTGUN_END_BYTES, error);
    if (!at)
        return false;
    put_u64(at, code ? code->insn_count : 0);
    put_u64(at + 8, database->sample_count);
    put_u64(at + 16, database->skeleton_count);
    return put_record(writer, SHOTGUN_END, error);
}

bool shotgun_write(const char *path, const struct shotgun_header *header,
                   const struct shotgun_database *database, const struct code *code,
                   struct error *error) {
    struct writer *writer = calloc(1, sizeof *writer);
    uint8_t prologue[SHOTGUN_PROLOGUE_BYTES] = {0};
    struct error late;
    if (!writer)
        return error_set(error, "out of memory for %s", path);
    memcpy(prologue, SHOTGUN_MAGIC, 8);
    put_u32(prologue + 8, SHOTGUN_VERSION);
    enum isa isa = code ? code->isa : ISA_X86_64;
    bool good = stream_begin(&writer->stream, path, prologue, sizeof prologue, error) &&
                put_header(writer, header, database, isa, error) && put_code(writer, code, error) &&
                put_samples(writer, database, error) && put_signatures(writer, database, error) &&
                put_end(writer, database, code, error);
    good &= stream_close(&writer->stream, good ? error : &late);
    free(writer);
    return good;
}
