/* Files and places are kept in tables, which grow with what has been read and not with what the
 * file claims. */
#include <stdlib.h>
#include <string.h>

#include "samples/format.h"
#include "util/array.h"
#include "util/hash_index.h"

struct image {
    char *path;
    uint8_t build_id[SAMPLE_BUILD_ID_MAX];
    uint8_t build_id_size;
};

struct known_place {
    uint64_t address, offset;
    uint32_t process, image;
};

struct sample_reader {
    struct record_reader records;
    bool cut, ended;
    struct sample_header header;
    char *machine, *command;
    uint32_t sample_bytes;

    uint32_t at;      /* of the next sample in the record */
    uint64_t samples; /* so far */

    struct image *images;
    size_t image_count, image_capacity;
    struct known_place *places;
    size_t place_count, place_capacity;
    struct hash_index place_index; /* by process and address */
};

static bool damaged(const struct sample_reader *reader, struct error *error, const char *what) {
    return record_reader_damaged(&reader->records, error, what);
}

/* ---- what the file tells ---- */

static bool take_header(struct sample_reader *reader, struct error *error) {
    const uint8_t *at = reader->records.payload;
    if (reader->records.type != SAMPLE_HEADER || reader->records.size < SAMPLE_HEADER_FIXED)
        return damaged(reader, error, "it does not begin with a header");
    uint64_t machine = get_u32(at + 32), command = get_u32(at + 36);
    if (SAMPLE_HEADER_FIXED + machine + command != reader->records.size)
        return damaged(reader, error, "a header of the wrong size");
    struct sample_header *header = &reader->header;
    header->events = at[0] == 1;
    header->nine_events = reader->records.version == SAMPLE_VERSION_NINE;
    header->sampling.mode = (enum sampler_mode)at[1];
    header->commit_width = get_u32(at + 4);
    header->clock_hz = get_u64(at + 8);
    header->sampling.period = get_u64(at + 16);
    header->sampling.seed = get_u64(at + 24);
    if (at[0] > 1 || at[1] > SAMPLER_RANDOM || at[2] || at[3] || header->commit_width == 0 ||
        header->commit_width > SAMPLE_MAX_BANKS || header->clock_hz == 0 ||
        header->sampling.period == 0)
        return damaged(reader, error, "a header that makes no sense");
    reader->sample_bytes = sample_bytes(header);
    reader->machine =
        record_reader_text(&reader->records, SAMPLE_HEADER_FIXED, (uint32_t)machine, error);
    reader->command = reader->machine ? record_reader_text(&reader->records,
                                                           SAMPLE_HEADER_FIXED + (uint32_t)machine,
                                                           (uint32_t)command, error)
                                      : NULL;
    header->machine = reader->machine;
    header->command = reader->command;
    return reader->command;
}

static bool take_image(struct sample_reader *reader, struct error *error) {
    const uint8_t *at = reader->records.payload;
    if (reader->records.size < SAMPLE_IMAGE_FIXED || get_u32(at + 4) > SAMPLE_BUILD_ID_MAX)
        return damaged(reader, error, "a file's record of the wrong size");
    if (get_u32(at) != reader->image_count)
        return damaged(reader, error, "a file that is not the next");
    if (!array_room(reader->images, reader->image_capacity, reader->image_count + 1))
        return record_reader_out_of_memory(&reader->records, error);
    struct image image = {.build_id_size = (uint8_t)get_u32(at + 4)};
    memcpy(image.build_id, at + 8, SAMPLE_BUILD_ID_MAX);
    if (!(image.path = record_reader_text(&reader->records, SAMPLE_IMAGE_FIXED,
                                          reader->records.size - SAMPLE_IMAGE_FIXED, error)))
        return false;
    reader->images[reader->image_count++] = image;
    return true;
}

/* NULL: it is not known. */
static struct known_place *find_place(const struct sample_reader *reader, uint32_t process,
                                      uint64_t address) {
    const uint64_t hash = hash_pair(address, process);
    size_t at;
    for (uint32_t i = hash_index_first(&reader->place_index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&reader->place_index, hash, &at))
        if (reader->places[i].process == process && reader->places[i].address == address)
            return &reader->places[i];
    return NULL;
}

/* The later of two that tell of the same address holds. */
static bool take_place(struct sample_reader *reader, struct error *error) {
    const uint8_t *at = reader->records.payload;
    if (reader->records.size != SAMPLE_PLACE_BYTES)
        return damaged(reader, error, "a place of the wrong size");
    uint32_t process = get_u32(at), image = get_u32(at + 4);
    uint64_t address = get_u64(at + 8);
    if (image >= reader->image_count)
        return damaged(reader, error, "a place in a file that was not named");
    struct known_place *place = find_place(reader, process, address);
    if (!place) {
        if (!array_room(reader->places, reader->place_capacity, reader->place_count + 1) ||
            !hash_index_add(&reader->place_index, hash_pair(address, process),
                            (uint32_t)reader->place_count))
            return record_reader_out_of_memory(&reader->records, error);
        place = &reader->places[reader->place_count++];
    }
    *place = (struct known_place){address, get_u64(at + 16), process, image};
    return true;
}

static bool take_end(struct sample_reader *reader, struct error *error) {
    if (reader->records.size != SAMPLE_END_BYTES ||
        get_u64(reader->records.payload) != reader->samples)
        return damaged(reader, error, "samples are missing");
    if (record_reader_more(&reader->records))
        return damaged(reader, error, "bytes behind the end");
    reader->ended = true;
    return true;
}

static bool take_record(struct sample_reader *reader, struct error *error) {
    switch (reader->records.type) {
    case SAMPLE_IMAGE:
        return take_image(reader, error);
    case SAMPLE_PLACE:
        return take_place(reader, error);
    case SAMPLE_SAMPLES:
        reader->at = 0;
        return reader->records.size % reader->sample_bytes == 0 ||
               damaged(reader, error, "part of a sample");
    case SAMPLE_END:
        return take_end(reader, error);
    default:
        return damaged(reader, error, "a record of unknown type");
    }
}

/* ---- door ---- */

static bool open_file(struct sample_reader *reader, const char *path, struct error *error) {
    static const struct record_format format = {SAMPLE_MAGIC, SAMPLE_VERSION, "sample", "samples",
                                                SAMPLE_VERSION_NINE};
    if (!record_reader_open(&reader->records, path, &format, error))
        return false;
    int status = record_reader_next(&reader->records, error);
    if (status == 0)
        return error_set(error, "%s ends before its first sample", path);
    return status > 0 && take_header(reader, error);
}

struct sample_reader *sample_reader_open(const char *path, struct error *error) {
    struct sample_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return error_null(error, "out of memory while reading %s", path);
    if (open_file(reader, path, error))
        return reader;
    sample_reader_close(reader);
    return NULL;
}

void sample_reader_close(struct sample_reader *reader) {
    if (!reader)
        return;
    record_reader_close(&reader->records);
    for (size_t i = 0; i < reader->image_count; i++)
        free(reader->images[i].path);
    free(reader->images);
    free(reader->places);
    hash_index_free(&reader->place_index);
    free(reader->machine);
    free(reader->command);
    free(reader);
}

const struct sample_header *sample_reader_header(const struct sample_reader *reader) {
    return &reader->header;
}

bool sample_reader_is_cut(const struct sample_reader *reader) {
    return reader->cut;
}

int sample_reader_next(struct sample_reader *reader, struct sample *sample, struct error *error) {
    while (reader->records.type != SAMPLE_SAMPLES || reader->at == reader->records.size) {
        if (reader->ended || reader->cut)
            return 0;
        int status = record_reader_next(&reader->records, error);
        reader->cut |= status == 0;
        if (status <= 0)
            return status;
        if (!take_record(reader, error))
            return -1;
    }
    const char *wrong =
        sample_unpack(&reader->header, reader->records.payload + reader->at, sample);
    if (wrong) {
        reader->records.offset += RECORD_HEAD_BYTES + reader->at;
        damaged(reader, error, wrong);
        return -1;
    }
    reader->at += reader->sample_bytes;
    reader->samples++;
    return 1;
}

bool sample_reader_place(const struct sample_reader *reader, uint32_t process, uint64_t address,
                         struct sample_place *place) {
    const struct known_place *known = find_place(reader, process, address);
    if (!known)
        return false;
    const struct image *image = &reader->images[known->image];
    *place = (struct sample_place){.address = address,
                                   .offset = known->offset,
                                   .image = known->image,
                                   .path = image->path,
                                   .build_id = image->build_id,
                                   .build_id_size = image->build_id_size};
    return true;
}
