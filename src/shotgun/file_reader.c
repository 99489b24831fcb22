/* Instructions are decoded as the trace's are; one that is none is a system instruction, as there.
 */
#include <stdlib.h>
#include <string.h>

#include "shotgun/format.h"
#include "util/array.h"

struct reader {
    struct record_reader records;
    struct shotgun_file *file;
};

static bool damaged(const struct reader *reader, struct error *error, const char *what) {
    return record_reader_damaged(&reader->records, error, what);
}

static bool next_record(struct reader *reader, struct error *error) {
    int status = record_reader_next(&reader->records, error);
    return status > 0 || (status == 0 && damaged(reader, error, "it was cut off there"));
}

/* ---- records ---- */

static bool take_header(struct reader *reader, struct error *error) {
    struct shotgun_file *file = reader->file;
    const uint8_t *at = reader->records.payload;
    if (reader->records.type != SHOTGUN_HEADER || reader->records.size < SHOTGUN_HEADER_BYTES)
        return damaged(reader, error, "it does not begin with a header");
    uint32_t isa = get_u32(at), machine = get_u32(at + 40), command = get_u32(at + 44),
             settings = get_u32(at + 56);
    if (UINT64_C(1) * SHOTGUN_HEADER_BYTES + machine + command + settings != reader->records.size)
        return damaged(reader, error, "a header of the wrong size");
    struct shotgun_options options = {.length = get_u32(at + 4),
                                      .period = get_u64(at + 8),
                                      .seed = get_u64(at + 16),
                                      .pc_bit = get_u32(at + 60)};
    if (isa >= ISA_COUNT || options.length == 0 || options.length > SHOTGUN_LENGTH_MAX ||
        options.period < SHOTGUN_PERIOD_MIN || get_u32(at + 32) > 63 || get_u32(at + 36) > 63 ||
        options.pc_bit > SHOTGUN_PC_BITS)
        return damaged(reader, error, "a header that makes no sense");
    shotgun_database_init(&file->database, &options);
    file->database.instructions = get_u64(at + 24);
    file->database.cycles = get_u64(at + 48);
    file->database.sample_level = get_u32(at + 32);
    file->database.skeleton_level = get_u32(at + 36);
    file->code.code.isa = (enum isa)isa;
    return (file->machine =
                record_reader_text(&reader->records, SHOTGUN_HEADER_BYTES, machine, error)) &&
           (file->command = record_reader_text(&reader->records, SHOTGUN_HEADER_BYTES + machine,
                                               command, error)) &&
           (file->settings = record_reader_text(
                &reader->records, SHOTGUN_HEADER_BYTES + machine + command, settings, error));
}

/* Fills in the instruction and appends its µops, for which there is room. */
static void decode(struct code *code, struct static_insn *insn) {
    struct uop *uops = &code->uops[code->uop_count];
    struct insn decoded;
    insn->first_uop = code->uop_count;
    if ((insn->described ? insn_decode_described(insn->bytes, &decoded)
                         : insn_decode(code->isa, insn->bytes, insn->length, &decoded)) &&
        decoded.length == insn->length) {
        insn->uop_count = (uint8_t)insn_crack(&decoded, uops);
        insn->branch = decoded.branch;
        insn->flags = decoded.flags;
        insn->operation = decoded.operation;
        insn->target_displacement = (int32_t)decoded.target;
    } else {
        insn->uop_count = 1;
        insn->operation = OP_SYSTEM;
        *uops = (struct uop){
            .operation = OP_SYSTEM, .flags = UOP_FIRST | UOP_LAST, .memory = 255, .data = REG_NONE};
    }
    code->uop_count += insn->uop_count;
}

static bool take_code(struct reader *reader, struct error *error) {
    struct shotgun_code *copy = &reader->file->code;
    struct code *code = &copy->code;
    uint32_t count = reader->records.size / SHOTGUN_INSN_BYTES;
    if (reader->records.size % SHOTGUN_INSN_BYTES)
        return damaged(reader, error, "part of an instruction");
    if (code->insn_count + (uint64_t)count > UINT32_MAX / INSN_MAX_UOPS)
        return damaged(reader, error, "too many instructions");
    if (!array_room(code->insns, copy->insn_capacity, (size_t)code->insn_count + count) ||
        !array_room(code->uops, copy->uop_capacity,
                    code->uop_count + (size_t)count * INSN_MAX_UOPS))
        return record_reader_out_of_memory(&reader->records, error);
    for (const uint8_t *at = reader->records.payload; count > 0;
         count--, at += SHOTGUN_INSN_BYTES) {
        struct static_insn *insn = &code->insns[code->insn_count++];
        const uint32_t length = get_u32(at + 12) & ~(uint32_t)SHOTGUN_DESCRIBED;
        if (length == 0 || length > sizeof insn->bytes)
            return damaged(reader, error, "an instruction of impossible length");
        *insn = (struct static_insn){.address = get_u64(at),
                                     .offset = get_u64(at),
                                     .image = get_u32(at + 8),
                                     .target = CODE_UNKNOWN,
                                     .length = (uint8_t)length,
                                     .described = length != get_u32(at + 12)};
        memcpy(insn->bytes, at + 16, sizeof insn->bytes);
        decode(code, insn);
    }
    return true;
}

static bool take_samples(struct reader *reader, struct error *error) {
    struct shotgun_database *database = &reader->file->database;
    uint32_t insns = reader->file->code.code.insn_count, taken;
    for (uint32_t at = 0; at < reader->records.size; at += taken) {
        struct shotgun_sample sample;
        struct shotgun_uop uops[SHOTGUN_INSN_UOPS];
        const char *wrong = shotgun_unpack(reader->records.payload + at, reader->records.size - at,
                                           &sample, uops, &taken);
        if (wrong)
            return damaged(reader, error, wrong);
        if (sample.insn >= insns || (sample.target >= insns && sample.target != SHOTGUN_NONE))
            return damaged(reader, error, "a sample of an instruction that is not known");
        if (database->sample_count == SHOTGUN_SAMPLES_MAX)
            return damaged(reader, error, "too many samples");
        if (!shotgun_add_sample(database, &sample, uops, error))
            return false;
    }
    return true;
}

static bool take_signatures(struct reader *reader, struct error *error) {
    struct shotgun_database *database = &reader->file->database;
    uint32_t words = signature_words(database->options.length), size = 4 + 8 * words;
    uint64_t bits[SHOTGUN_LENGTH_MAX / SIGNATURES_PER_WORD + 1];
    if (reader->records.size % size)
        return damaged(reader, error, "part of a signature sample");
    for (uint32_t at = 0; at < reader->records.size; at += size) {
        uint32_t start = get_u32(reader->records.payload + at);
        for (uint32_t i = 0; i < words; i++)
            bits[i] = get_u64(reader->records.payload + at + 4 + 8 * (size_t)i);
        if (start >= reader->file->code.code.insn_count)
            return damaged(reader, error, "a signature sample from code that is not known");
        if (database->skeleton_count == SHOTGUN_SKELETONS_MAX)
            return damaged(reader, error, "too many signature samples");
        if (!shotgun_add_skeleton(database, start, bits, NULL, NULL, NULL, 0, error))
            return false;
    }
    return true;
}

static bool take_end(struct reader *reader, struct error *error) {
    const struct shotgun_database *database = &reader->file->database;
    const uint8_t *at = reader->records.payload;
    if (reader->records.size != SHOTGUN_END_BYTES ||
        get_u64(at) != reader->file->code.code.insn_count ||
        get_u64(at + 8) != database->sample_count || get_u64(at + 16) != database->skeleton_count)
        return damaged(reader, error, "samples are missing");
    return !record_reader_more(&reader->records) || damaged(reader, error, "bytes behind the end");
}

static bool take_record(struct reader *reader, struct error *error) {
    switch (reader->records.type) {
    case SHOTGUN_CODE:
        return take_code(reader, error);
    case SHOTGUN_SAMPLES:
        return take_samples(reader, error);
    case SHOTGUN_SIGNATURES:
        return take_signatures(reader, error);
    case SHOTGUN_END:
        return take_end(reader, error);
    default:
        return damaged(reader, error, "a record of unknown type");
    }
}

/* ---- door ---- */

static bool read_all(struct reader *reader, const char *path, struct error *error) {
    static const struct record_format format = {SHOTGUN_MAGIC, SHOTGUN_VERSION, "shotgun",
                                                "shotgun samples", 0};
    bool good = record_reader_open(&reader->records, path, &format, error) &&
                next_record(reader, error) && take_header(reader, error);
    while (good && reader->records.type != SHOTGUN_END)
        good = next_record(reader, error) && take_record(reader, error);
    record_reader_close(&reader->records);
    return good;
}

bool shotgun_read(const char *path, struct shotgun_file *file, struct error *error) {
    *file = (struct shotgun_file){0};
    struct reader *reader = malloc(sizeof *reader);
    if (!reader)
        return error_set(error, "out of memory while reading %s", path);
    reader->file = file;
    bool good = read_all(reader, path, error);
    free(reader);
    return good;
}

void shotgun_file_free(struct shotgun_file *file) {
    shotgun_database_free(&file->database);
    shotgun_code_free(&file->code);
    free(file->machine);
    free(file->command);
    free(file->settings);
    *file = (struct shotgun_file){0};
}
