/* The binary trace: buffers in blocks, as they are, each preceded by the static code that it names
 * for the first time (docs/tap-format.md; the head of the file has a summary). */
#include <stdlib.h>

#include "tap/tracers/tracer.h"

static const char HEAD[] =
    "culprit tap 3\n"
    "Little endian. This text is padded with newlines to 1024 bytes; blocks follow, to the end of "
    "the file; a block that the end cuts off is to be left out.\n"
    "block: u32 type, u32 guest thread, u64 bytes of payload, payload.\n"
    "type 1, image: u64 number, path padded with NULs to 8 bytes.\n"
    "type 2, static instructions: u64 number of the first; for each u64 address, u64 offset in the "
    "image, u16 image, u16 flags, u8 length, u8 branch kind (0 none, 1 conditional, 2 jump, 3 "
    "call, 4 "
    "indirect, 5 indirect call, 6 return), u16 0.\n"
    "type 3, records: u64 cycle, u64 cycle of the last commit or flush, u64 next uop, u64 word of "
    "the last uop committed, u64 0, u64 0: the state before; then records.\n"
    "record: u64 kind:3 flags:5 n:8 empty:24 delta:24 from bit 0; if flags & 16, u64 delta and u64 "
    "empty in their place; then n uop words.\n"
    "uop word: static instruction:32 events:11 flags from bit 0.\n";
enum { HEAD_BYTES = 1024, BLOCK_IMAGE = 1, BLOCK_PLACES, BLOCK_RECORDS };
static_assert(sizeof HEAD <= HEAD_BYTES, "");
static_assert(sizeof(struct place) == 24, "written as it is");
static_assert(sizeof(struct tap_state) == 48, "written as it is");

struct block {
    uint32_t type, thread;
    uint64_t bytes;
};

struct binary {
    struct tracer_file file;
    uint32_t images, insns; /* written */
};

struct lane {
    struct binary *binary;
    uint32_t thread;
    uint64_t words[TAP_BUFFER_WORDS]; /* commits and flushes of a buffer that has other records */
};

static void *open_binary(const struct tracer_options *options, struct error *error) {
    char head[HEAD_BYTES];
    memset(head, '\n', sizeof head);
    memcpy(head, HEAD, sizeof HEAD - 1);
    return tracer_file_open(sizeof(struct binary), options, head, sizeof head, error);
}

static void *begin(void *tracer, struct tap_source source, struct error *error) {
    struct lane *lane = malloc(sizeof *lane);
    if (!lane)
        return error_null(error, "out of memory");
    lane->binary = tracer;
    lane->thread = source.thread;
    return lane;
}

static bool write_block(struct stream *stream, uint32_t type, uint32_t thread, uint64_t bytes,
                        struct error *error) {
    struct block block = {type, thread, bytes};
    return stream_write(stream, &block, sizeof block, error);
}

static bool write_image(struct binary *binary, struct error *error) {
    const char *path = binary->file.places->images[binary->images];
    uint64_t number = binary->images++, length = strlen(path), padding = -length & 7;
    return write_block(&binary->file.stream, BLOCK_IMAGE, 0, 8 + length + padding, error) &&
           stream_write(&binary->file.stream, &number, 8, error) &&
           stream_write(&binary->file.stream, path, length, error) &&
           stream_write(&binary->file.stream, "\0\0\0\0\0\0\0", padding, error);
}

/* Writes the static code that is known by now, up to the end of a chunk of the table. */
static bool write_places(struct binary *binary, uint32_t count, struct error *error) {
    uint64_t first = binary->insns;
    uint32_t end = (uint32_t)((first >> PLACES_SHIFT) + 1) << PLACES_SHIFT;
    if (end > count)
        end = count;
    uint64_t bytes = (end - first) * sizeof(struct place);
    binary->insns = end;
    return write_block(&binary->file.stream, BLOCK_PLACES, 0, 8 + bytes, error) &&
           stream_write(&binary->file.stream, &first, 8, error) &&
           stream_write(&binary->file.stream, place_of(binary->file.places, (uint32_t)first), bytes,
                        error);
}

/* Keeps commits and flushes alone, so that the file does not depend on what other workers want.
 * Returns how many words are kept. */
static uint32_t keep_closings(const struct tap_buffer *buffer, uint64_t *kept) {
    const uint64_t *word = buffer->words, *end = word + buffer->used;
    struct tap_state state = buffer->start;
    uint64_t *to = kept;
    while (word < end) {
        struct tap_record record;
        word = tap_read(word, &record);
        uint64_t last = state.last_commit;
        tap_advance(&state, &record);
        if (record.kind > TAP_FLUSH)
            continue;
        to = tap_put_header(to, record.kind, record.flags & TAP_EMPTY_MASK, record.count,
                            record.empty, state.cycle - last);
        memcpy(to, record.uops, record.count * sizeof *to);
        to += record.count;
    }
    return (uint32_t)(to - kept);
}

static bool has_others(const struct tap_buffer *buffer) {
    return buffer->records[TAP_DISPATCH] | buffer->records[TAP_FETCH];
}

static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct lane *lane = context;
    struct binary *binary = lane->binary;
    uint32_t images = atomic_load_explicit(&binary->file.places->image_count, memory_order_acquire);
    uint32_t insns = atomic_load_explicit(&binary->file.places->count, memory_order_acquire);
    while (binary->images < images)
        if (!write_image(binary, error))
            return false;
    while (binary->insns < insns)
        if (!write_places(binary, insns, error))
            return false;
    struct tap_state start = buffer->start;
    const uint64_t *words = buffer->words;
    uint32_t used = buffer->used;
    if (start.cycle != start.last_commit || has_others(buffer)) {
        used = keep_closings(buffer, lane->words);
        words = lane->words;
        start.cycle = start.last_commit;
        start.dispatched = start.fetched = 0;
    }
    uint64_t bytes = used * sizeof *words;
    return write_block(&binary->file.stream, BLOCK_RECORDS, lane->thread, sizeof start + bytes,
                       error) &&
           stream_write(&binary->file.stream, &start, sizeof start, error) &&
           stream_write(&binary->file.stream, words, bytes, error);
}

const struct tracer_kind binary_tracer = {.name = "binary",
                                          .description = "every commit and flush, as it is",
                                          .open = open_binary,
                                          .begin = begin,
                                          .consume = consume,
                                          .end = tracer_end_lane,
                                          .close = tracer_file_close};
