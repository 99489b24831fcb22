/* A worker of the tap that takes TIP's or TEA's registers in every sampled cycle and writes them
 * down, as perf's interrupt handler would: samples gather in a buffer that goes out as one record
 * when it is full. Before the first sample of an address comes a record that tells where that lies,
 * and before the first address of a file one that names the file. */
#include <stdlib.h>
#include <string.h>

#include "samples/format.h"
#include "util/array.h"
#include "util/hash_index.h"

enum { BUFFER_BYTES = 64 << 10 };

/* At this address of the process lies that instruction. */
struct told {
    uint64_t address;
    uint32_t process, insn;
};

struct sample_writer {
    FILE *file;
    const char *name;
    struct sample_header header;
    struct sampler sampler;
    sample_places places;
    void *context;
    bool broken;
    struct error failure;

    uint8_t record[RECORD_HEAD_BYTES + SAMPLE_PAYLOAD_MAX]; /* being filled: of samples */
    uint32_t used, sample_bytes;                            /* of its payload */
    uint64_t samples;

    struct told *told; /* places that are written */
    size_t told_count, told_capacity;
    struct hash_index told_index; /* by process and address */
    uint32_t *images;             /* by number: its number in the file + 1; 0: not named yet */
    size_t image_capacity;
    uint32_t image_count;
};

struct sample_lane {
    struct sample_writer *writer;
    uint32_t process, thread;
    struct sample_cursor cursor;
    uint64_t end; /* cycle of the last commit or flush so far */
};

/* ---- records ---- */

static bool fail(struct sample_writer *writer) {
    writer->broken = true;
    return error_errno(&writer->failure, "cannot write samples to %s", writer->name);
}

static bool out_of_memory(struct sample_writer *writer) {
    writer->broken = true;
    return error_set(&writer->failure, "out of memory for the samples in %s", writer->name);
}

/* `record` has room for the record's head in front of the payload. */
static bool put_record(struct sample_writer *writer, enum sample_record type, uint8_t *record,
                       uint32_t size) {
    record_seal(record, type, size);
    size_t bytes = RECORD_HEAD_BYTES + size;
    return fwrite(record, 1, bytes, writer->file) == bytes || fail(writer);
}

static bool put_samples(struct sample_writer *writer) {
    uint32_t size = writer->used;
    writer->used = 0;
    return size == 0 || put_record(writer, SAMPLE_SAMPLES, writer->record, size);
}

static uint32_t text_size(const char *text) {
    size_t size = text ? strlen(text) : 0;
    return size < SAMPLE_MAX_TEXT ? (uint32_t)size : SAMPLE_MAX_TEXT;
}

/* A payload of `fixed` bytes and two texts behind them. */
static bool put_texts(struct sample_writer *writer, enum sample_record type, const uint8_t *head,
                      uint32_t fixed, const char *first, const char *second) {
    uint32_t sizes[] = {text_size(first), text_size(second)};
    uint32_t size = fixed + sizes[0] + sizes[1];
    uint8_t *record = malloc(RECORD_HEAD_BYTES + size);
    if (!record)
        return out_of_memory(writer);
    uint8_t *at = record + RECORD_HEAD_BYTES;
    memcpy(at, head, fixed);
    if (sizes[0])
        memcpy(at + fixed, first, sizes[0]);
    if (sizes[1])
        memcpy(at + fixed + sizes[0], second, sizes[1]);
    bool written = put_record(writer, type, record, size);
    free(record);
    return written;
}

static bool put_header(struct sample_writer *writer) {
    const struct sample_header *header = &writer->header;
    uint8_t prologue[SAMPLE_PROLOGUE_BYTES] = {0}, fixed[SAMPLE_HEADER_FIXED] = {0};
    memcpy(prologue, SAMPLE_MAGIC, 8);
    put_u32(prologue + 8, SAMPLE_VERSION);
    if (fwrite(prologue, 1, sizeof prologue, writer->file) != sizeof prologue)
        return fail(writer);
    fixed[0] = header->events;
    fixed[1] = (uint8_t)header->sampling.mode;
    put_u32(fixed + 4, header->commit_width);
    put_u64(fixed + 8, header->clock_hz);
    put_u64(fixed + 16, header->sampling.period);
    put_u64(fixed + 24, header->sampling.seed);
    put_u32(fixed + 32, text_size(header->machine));
    put_u32(fixed + 36, text_size(header->command));
    return put_texts(writer, SAMPLE_HEADER, fixed, sizeof fixed, header->machine, header->command);
}

/* ---- places ---- */

/* NULL: it was not told. */
static struct told *find_told(const struct sample_writer *writer, uint32_t process,
                              uint64_t address) {
    const uint64_t hash = hash_pair(address, process);
    size_t at;
    for (uint32_t i = hash_index_first(&writer->told_index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&writer->told_index, hash, &at))
        if (writer->told[i].process == process && writer->told[i].address == address)
            return &writer->told[i];
    return NULL;
}

static bool add_told(struct sample_writer *writer, const struct told *told) {
    if (!array_room(writer->told, writer->told_capacity, writer->told_count + 1) ||
        !hash_index_add(&writer->told_index, hash_pair(told->address, told->process),
                        (uint32_t)writer->told_count))
        return out_of_memory(writer);
    writer->told[writer->told_count++] = *told;
    return true;
}

/* Files are numbered as they come. */
static bool name_image(struct sample_writer *writer, const struct sample_place *place) {
    if (!array_zeroed_room(writer->images, writer->image_capacity, (size_t)place->image + 1))
        return out_of_memory(writer);
    if (writer->images[place->image])
        return true;
    uint8_t fixed[SAMPLE_IMAGE_FIXED] = {0};
    put_u32(fixed, writer->image_count);
    writer->images[place->image] = ++writer->image_count;
    put_u32(fixed + 4, place->build_id_size);
    if (place->build_id_size)
        memcpy(fixed + 8, place->build_id, place->build_id_size);
    return put_texts(writer, SAMPLE_IMAGE, fixed, sizeof fixed, place->path, NULL);
}

static bool put_place(struct sample_writer *writer, uint32_t process,
                      const struct sample_place *place) {
    uint8_t record[RECORD_HEAD_BYTES + SAMPLE_PLACE_BYTES], *at = record + RECORD_HEAD_BYTES;
    if (!name_image(writer, place))
        return false;
    put_u32(at, process);
    put_u32(at + 4, writer->images[place->image] - 1);
    put_u64(at + 8, place->address);
    put_u64(at + 16, place->offset);
    return put_record(writer, SAMPLE_PLACE, record, SAMPLE_PLACE_BYTES);
}

/* Gives the instruction's address, and tells where it lies if that was not told or another lay
 * there so far: samples of that one go first. */
static bool tell_place(struct sample_writer *writer, uint32_t process, uint32_t insn,
                       uint64_t *address) {
    struct sample_place place = {0};
    writer->places(writer->context, insn, &place);
    *address = place.address;
    struct told *told = find_told(writer, process, place.address);
    if (!told)
        return add_told(writer, &(struct told){place.address, process, insn}) &&
               put_place(writer, process, &place);
    if (told->insn == insn)
        return true;
    told->insn = insn;
    return put_samples(writer) && put_place(writer, process, &place);
}

/* ---- samples ---- */

static bool put_sample(struct sample_lane *lane, const struct tip_registers *registers) {
    struct sample_writer *writer = lane->writer;
    struct sample sample = {
        .process = lane->process,
        .thread = lane->thread,
        .core = lane->thread,
        .time = registers->ready ? registers->ready : lane->cursor.next,
        .period = writer->header.sampling.period,
        .cycles = lane->cursor.next - lane->cursor.previous,
        .flags = registers->flags,
        .oldest = registers->oldest,
    };
    for (unsigned bank = 0; bank < registers->banks; bank++) {
        uint64_t uop = registers->address[bank];
        if (!tip_valid(registers, bank))
            continue;
        sample.valid |= 1u << bank;
        sample.events[bank] = writer->header.events ? (uint16_t)tap_uop_psv(uop) : 0;
        if (!tell_place(writer, lane->process, tap_uop_insn(uop), &sample.address[bank]))
            return false;
    }
    sample_pack(&writer->header, &sample, writer->record + RECORD_HEAD_BYTES + writer->used);
    writer->used += writer->sample_bytes;
    writer->samples++;
    return writer->used + writer->sample_bytes <= BUFFER_BYTES || put_samples(writer);
}

static bool take_samples(struct sample_lane *lane, const struct commit_view *view, uint64_t end) {
    struct sample_writer *writer = lane->writer;
    unsigned banks = writer->header.commit_width;
    if (view->state == STATE_COMPUTING && view->count > banks) {
        writer->broken = true;
        return error_set(&writer->failure,
                         "cannot write samples to %s: %u µops commit in a cycle, a sample has room "
                         "for %u (an idealised core has no such samples)",
                         writer->name, view->count, banks);
    }
    struct tip_registers registers;
    struct commit_view head = *view;
    if (view->state != STATE_COMPUTING) /* those behind the head do not matter */
        head.count = 1;
    if (writer->header.events)
        tea_select(&head, banks, &registers);
    else
        tip_select(&head, banks, &registers);
    for (; lane->cursor.next <= end; sampler_step(&writer->sampler, &lane->cursor))
        if (!put_sample(lane, &registers))
            return false;
    return true;
}

static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct sample_lane *lane = context;
    struct sample_writer *writer = lane->writer;
    const struct tap_index *index = tap_index(buffer);
    if (!index)
        return error_set(error, "out of memory for samples");
    if (buffer->start.last_commit != lane->end) /* nothing was shown for a while */
        sampler_seek(&writer->sampler, &lane->cursor, buffer->start.last_commit);
    for (struct views at = views_of(buffer, index);
         !writer->broken && views_next(&at, lane->cursor.next);)
        take_samples(lane, &at.view, at.end);
    lane->end = index->closing_count ? index->closing[index->closing_count - 1].cycle
                                     : buffer->start.last_commit;
    if (writer->broken)
        *error = writer->failure;
    return !writer->broken;
}

/* ---- door ---- */

struct sample_writer *sample_writer_new(FILE *file, const char *name,
                                        const struct sample_header *header, sample_places places,
                                        void *context, struct error *error) {
    struct sample_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return error_null(error, "out of memory for the samples in %s", name);
    writer->file = file;
    writer->name = name;
    writer->header = *header;
    writer->sampler = sampler_start(&header->sampling);
    writer->sample_bytes = sample_bytes(header);
    writer->places = places;
    writer->context = context;
    if (put_header(writer))
        return writer;
    *error = writer->failure;
    free(writer);
    return NULL;
}

bool sample_writer_close(struct sample_writer *writer, struct error *error) {
    uint8_t record[RECORD_HEAD_BYTES + SAMPLE_END_BYTES];
    put_u64(record + RECORD_HEAD_BYTES, writer->samples);
    bool written = !writer->broken && put_samples(writer) &&
                   put_record(writer, SAMPLE_END, record, SAMPLE_END_BYTES) &&
                   (fflush(writer->file) == 0 || fail(writer));
    if (!written)
        *error = writer->failure;
    free(writer->told);
    hash_index_free(&writer->told_index);
    free(writer->images);
    free(writer);
    return written;
}

struct sample_lane *sample_lane_new(struct sample_writer *writer, uint32_t process,
                                    uint32_t thread) {
    struct sample_lane *lane = calloc(1, sizeof *lane);
    if (!lane)
        return NULL;
    *lane = (struct sample_lane){.writer = writer, .process = process, .thread = thread};
    sampler_seek(&writer->sampler, &lane->cursor, 0);
    return lane;
}

struct tap_worker sample_lane_worker(struct sample_lane *lane) {
    return (struct tap_worker){.name = "samples", .consume = consume, .context = lane};
}

void sample_lane_free(struct sample_lane *lane) {
    free(lane);
}
