/* One record after the other, each into the same buffer. Files and places are kept in tables, which
 * grow with what has been read and not with what the file claims. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "samples/format.h"
#include "util/array.h"

struct image {
    char *path;
    uint8_t build_id[SAMPLE_BUILD_ID_MAX];
    uint8_t build_id_size;
};

struct known_place {
    uint64_t address, offset;
    uint32_t process, image; /* image: index + 1; 0: the slot is free */
};

struct sample_reader {
    FILE *file;
    const char *path;
    bool cut, ended;
    uint64_t offset; /* of the record */
    struct sample_header header;
    char *machine, *command;
    uint32_t sample_bytes;

    uint8_t record[SAMPLE_PAYLOAD_MAX]; /* its payload */
    uint32_t type, size, at;            /* of the record; at: the next sample in it */
    uint64_t samples;                   /* so far */

    struct image *images;
    size_t image_count, image_capacity;
    struct known_place *places; /* open addressing by process and address */
    size_t place_count, place_mask;
};

static bool damaged(const struct sample_reader *reader, struct error *error, const char *what) {
    return error_set(error, "%s is damaged at byte %" PRIu64 ": %s", reader->path, reader->offset,
                     what);
}

static bool out_of_memory(const struct sample_reader *reader, struct error *error) {
    return error_set(error, "out of memory while reading %s", reader->path);
}

static int failed(bool good) {
    return good ? 1 : -1;
}

/* ---- records ---- */

/* Fewer than asked for: the file ends. */
static size_t read_bytes(struct sample_reader *reader, uint8_t *bytes, size_t size) {
    return fread(bytes, 1, size, reader->file);
}

static int cut_or_failed(struct sample_reader *reader, struct error *error) {
    if (ferror(reader->file)) {
        error_errno(error, "cannot read %s", reader->path);
        return -1;
    }
    reader->cut = true;
    return 0;
}

/* 1, or 0 at the end of the file or where it was cut, or −1. */
static int next_record(struct sample_reader *reader, struct error *error) {
    uint8_t head[RECORD_HEAD_BYTES];
    size_t got = read_bytes(reader, head, sizeof head);
    if (got < sizeof head)
        return cut_or_failed(reader, error);
    reader->type = get_u32(head);
    reader->size = get_u32(head + 4);
    if (reader->size > SAMPLE_PAYLOAD_MAX)
        return failed(damaged(reader, error, "a record of impossible size"));
    if (read_bytes(reader, reader->record, reader->size) < reader->size)
        return cut_or_failed(reader, error);
    if (record_checksum(head, reader->record, reader->size) != get_u64(head + 8))
        return failed(damaged(reader, error, "a checksum does not match"));
    return 1;
}

/* A text of the payload; no zero byte lies in it. NULL with an error. */
static char *take_text(struct sample_reader *reader, uint32_t at, uint32_t size,
                       struct error *error) {
    if (memchr(reader->record + at, 0, size)) {
        damaged(reader, error, "a text with a zero byte");
        return NULL;
    }
    char *text = strndup((const char *)reader->record + at, size);
    if (!text)
        out_of_memory(reader, error);
    return text;
}

/* ---- what the file tells ---- */

static bool take_header(struct sample_reader *reader, struct error *error) {
    const uint8_t *at = reader->record;
    if (reader->type != SAMPLE_HEADER || reader->size < SAMPLE_HEADER_FIXED)
        return damaged(reader, error, "it does not begin with a header");
    uint64_t machine = get_u32(at + 32), command = get_u32(at + 36);
    if (SAMPLE_HEADER_FIXED + machine + command != reader->size)
        return damaged(reader, error, "a header of the wrong size");
    struct sample_header *header = &reader->header;
    header->events = at[0] == 1;
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
    reader->machine = take_text(reader, SAMPLE_HEADER_FIXED, (uint32_t)machine, error);
    reader->command = reader->machine ? take_text(reader, SAMPLE_HEADER_FIXED + (uint32_t)machine,
                                                  (uint32_t)command, error)
                                      : NULL;
    header->machine = reader->machine;
    header->command = reader->command;
    return reader->command;
}

static bool take_image(struct sample_reader *reader, struct error *error) {
    const uint8_t *at = reader->record;
    if (reader->size < SAMPLE_IMAGE_FIXED || get_u32(at + 4) > SAMPLE_BUILD_ID_MAX)
        return damaged(reader, error, "a file's record of the wrong size");
    if (get_u32(at) != reader->image_count)
        return damaged(reader, error, "a file that is not the next");
    if (!array_reserve((void **)&reader->images, &reader->image_capacity, reader->image_count + 1,
                       sizeof *reader->images))
        return out_of_memory(reader, error);
    struct image image = {.build_id_size = (uint8_t)get_u32(at + 4)};
    memcpy(image.build_id, at + 8, SAMPLE_BUILD_ID_MAX);
    if (!(image.path =
              take_text(reader, SAMPLE_IMAGE_FIXED, reader->size - SAMPLE_IMAGE_FIXED, error)))
        return false;
    reader->images[reader->image_count++] = image;
    return true;
}

static struct known_place *find_place(struct known_place *places, size_t mask, uint32_t process,
                                      uint64_t address) {
    size_t at = ((address ^ (uint64_t)process << 48) * 0x9e3779b97f4a7c15u >> 20) & mask;
    while (places[at].image && (places[at].process != process || places[at].address != address))
        at = (at + 1) & mask;
    return &places[at];
}

static bool grow_places(struct sample_reader *reader) {
    size_t mask = reader->place_mask ? reader->place_mask * 2 + 1 : 1023;
    struct known_place *places = calloc(mask + 1, sizeof *places);
    if (!places)
        return false;
    for (size_t i = 0; reader->places && i <= reader->place_mask; i++)
        if (reader->places[i].image)
            *find_place(places, mask, reader->places[i].process, reader->places[i].address) =
                reader->places[i];
    free(reader->places);
    reader->places = places;
    reader->place_mask = mask;
    return true;
}

/* The later of two that tell of the same address holds. */
static bool take_place(struct sample_reader *reader, struct error *error) {
    const uint8_t *at = reader->record;
    if (reader->size != SAMPLE_PLACE_BYTES)
        return damaged(reader, error, "a place of the wrong size");
    uint32_t process = get_u32(at), image = get_u32(at + 4);
    uint64_t address = get_u64(at + 8);
    if (image >= reader->image_count)
        return damaged(reader, error, "a place in a file that was not named");
    if (reader->place_count * 2 >= reader->place_mask && !grow_places(reader))
        return out_of_memory(reader, error);
    struct known_place *place = find_place(reader->places, reader->place_mask, process, address);
    reader->place_count += !place->image;
    *place = (struct known_place){address, get_u64(at + 16), process, image + 1};
    return true;
}

static bool take_end(struct sample_reader *reader, struct error *error) {
    uint8_t byte;
    if (reader->size != SAMPLE_END_BYTES || get_u64(reader->record) != reader->samples)
        return damaged(reader, error, "samples are missing");
    if (read_bytes(reader, &byte, 1))
        return damaged(reader, error, "bytes behind the end");
    reader->ended = true;
    return true;
}

static bool take_record(struct sample_reader *reader, struct error *error) {
    switch (reader->type) {
    case SAMPLE_IMAGE:
        return take_image(reader, error);
    case SAMPLE_PLACE:
        return take_place(reader, error);
    case SAMPLE_SAMPLES:
        reader->at = 0;
        return reader->size % reader->sample_bytes == 0 ||
               damaged(reader, error, "part of a sample");
    case SAMPLE_END:
        return take_end(reader, error);
    default:
        return damaged(reader, error, "a record of unknown type");
    }
}

/* ---- door ---- */

static bool open_file(struct sample_reader *reader, struct error *error) {
    uint8_t prologue[SAMPLE_PROLOGUE_BYTES];
    reader->file = strcmp(reader->path, "-") != 0 ? fopen(reader->path, "rb") : stdin;
    if (!reader->file)
        return error_errno(error, "cannot open %s", reader->path);
    size_t got = read_bytes(reader, prologue, sizeof prologue);
    if (ferror(reader->file))
        return error_errno(error, "cannot read %s", reader->path);
    if (got < sizeof prologue || memcmp(prologue, SAMPLE_MAGIC, 8) != 0 || get_u32(prologue + 12))
        return error_set(error, "%s is not a file of samples", reader->path);
    if (get_u32(prologue + 8) != SAMPLE_VERSION)
        return error_set(error, "%s has version %" PRIu32 " of the sample format, not %d",
                         reader->path, get_u32(prologue + 8), SAMPLE_VERSION);
    reader->offset = SAMPLE_PROLOGUE_BYTES;
    int status = next_record(reader, error);
    if (status == 0)
        return error_set(error, "%s ends before its first sample", reader->path);
    return status > 0 && take_header(reader, error);
}

struct sample_reader *sample_reader_open(const char *path, struct error *error) {
    struct sample_reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        error_set(error, "out of memory while reading %s", path);
        return NULL;
    }
    reader->path = path;
    if (open_file(reader, error)) {
        reader->offset += RECORD_HEAD_BYTES + reader->size;
        reader->at = reader->size; /* nothing of it is left */
        return reader;
    }
    sample_reader_close(reader);
    return NULL;
}

void sample_reader_close(struct sample_reader *reader) {
    if (!reader)
        return;
    if (reader->file && reader->file != stdin)
        fclose(reader->file);
    for (size_t i = 0; i < reader->image_count; i++)
        free(reader->images[i].path);
    free(reader->images);
    free(reader->places);
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
    while (reader->type != SAMPLE_SAMPLES || reader->at == reader->size) {
        if (reader->ended || reader->cut)
            return 0;
        int status = next_record(reader, error);
        if (status <= 0)
            return status;
        if (!take_record(reader, error))
            return -1;
        reader->offset += RECORD_HEAD_BYTES + reader->size;
    }
    const char *wrong = sample_unpack(&reader->header, reader->record + reader->at, sample);
    if (wrong) {
        reader->offset -= reader->size - reader->at;
        damaged(reader, error, wrong);
        return -1;
    }
    reader->at += reader->sample_bytes;
    reader->samples++;
    return 1;
}

bool sample_reader_place(const struct sample_reader *reader, uint32_t process, uint64_t address,
                         struct sample_place *place) {
    if (!reader->places)
        return false;
    const struct known_place *known =
        find_place(reader->places, reader->place_mask, process, address);
    if (!known->image)
        return false;
    const struct image *image = &reader->images[known->image - 1];
    *place = (struct sample_place){.address = address,
                                   .offset = known->offset,
                                   .image = known->image - 1,
                                   .path = image->path,
                                   .build_id = image->build_id,
                                   .build_id_size = image->build_id_size};
    return true;
}
