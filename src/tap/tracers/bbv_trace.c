/* Basic block vectors in SimPoint's text format: for each interval of instructions, how many were
 * executed in each block. A block begins behind a branch, taken or not, and is known by its first
 * instruction; an interval ends with the first block that fills it. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "region/bbv.h"
#include "tap/tracers/tracer.h"
#include "util/array.h"

enum { NO_BLOCK = UINT32_MAX };

struct bbv {
    const char *path;
    uint64_t interval;
    const struct places *places;
    struct bbv_writer writer; /* of thread 0 */
    bool alone;    /* FILE is a device or a pipe, so no other files are written beside it */
    uint32_t *ids; /* by first instruction: from 1; 0 none */
    size_t id_capacity;
    uint32_t *firsts; /* by id − 1 */
    size_t first_capacity;
    uint32_t block_count;
};

struct lane {
    struct bbv *bbv;
    struct bbv_writer *writer, own;
    char *own_path;
    uint64_t *counts; /* by id − 1, in this interval */
    size_t count_capacity;
    uint32_t block;    /* id − 1 of the one being executed */
    uint64_t in_block; /* its instructions so far */
    uint64_t executed; /* in the interval, whole blocks */
};

static void *open_bbv(const struct tracer_options *options, struct error *error) {
    struct bbv *bbv = calloc(1, sizeof *bbv);
    if (!bbv)
        return error_null(error, "out of memory");
    bbv->path = options->path;
    bbv->interval = options->interval;
    bbv->places = options->places;
    if (!bbv_writer_open(&bbv->writer, bbv->path, bbv_path_compressed(bbv->path), error)) {
        free(bbv);
        return NULL;
    }
    struct stat file;
    bbv->alone = stat(bbv->path, &file) != 0 || !S_ISREG(file.st_mode);
    return bbv;
}

/* Writes what the ids stand for, so that blocks can be found again in another run. */
static bool write_blocks(const struct bbv *bbv, struct error *error) {
    char *path;
    if (bbv->alone)
        return true;
    if (asprintf(&path, "%s.blocks", bbv->path) < 0)
        return error_set(error, "out of memory");
    struct stream stream;
    bool good = stream_open(&stream, path, error) &&
                stream_write(&stream, "# block image offset address\n", 29, error);
    for (uint32_t i = 0; i < bbv->block_count && good; i++) {
        const struct place *place = place_of(bbv->places, bbv->firsts[i]);
        char line[64], *to = put_decimal(line, i + 1);
        const char *image = bbv->places->images[place->image];
        *to++ = ' ';
        good = stream_write(&stream, line, (size_t)(to - line), error) &&
               stream_write(&stream, image, strlen(image), error);
        to = put_hex(put_text(line, " 0x"), place->offset);
        to = put_hex(put_text(to, " 0x"), place->address);
        *to++ = '\n';
        good = good && stream_write(&stream, line, (size_t)(to - line), error);
    }
    struct error late;
    good &= stream_close(&stream, good ? error : &late);
    free(path);
    return good;
}

static bool close_bbv(void *tracer, const struct code *code, struct error *error) {
    struct bbv *bbv = tracer;
    struct error late;
    bool good = bbv_writer_close(&bbv->writer, error);
    if (code)
        good &= write_blocks(bbv, good ? error : &late);
    free(bbv->ids);
    free(bbv->firsts);
    free(bbv);
    return good;
}

static void lane_free(struct lane *lane) {
    free(lane->own_path);
    free(lane->counts);
    free(lane);
}

/* The format has no threads: thread 0 is written to FILE, thread n to FILE.n, or nowhere if FILE is
 * a device. */
static void *begin(void *tracer, struct tap_source source, struct error *error) {
    struct bbv *bbv = tracer;
    struct lane *lane = calloc(1, sizeof *lane);
    if (!lane)
        return error_null(error, "out of memory");
    lane->bbv = bbv;
    lane->block = NO_BLOCK;
    lane->writer = &bbv->writer;
    if (source.thread != 0) {
        lane->writer = &lane->own;
        if ((bbv->alone ? asprintf(&lane->own_path, "/dev/null")
                        : asprintf(&lane->own_path, "%s.%u", bbv->path, source.thread)) < 0) {
            lane->own_path = NULL;
            error_set(error, "out of memory");
            lane_free(lane);
            return NULL;
        }
        if (!bbv_writer_open(&lane->own, lane->own_path, bbv_path_compressed(bbv->path), error)) {
            lane_free(lane);
            return NULL;
        }
    }
    return lane;
}

/* Writes the interval as a line and clears its counts. */
static bool write_interval(struct lane *lane, struct error *error) {
    if (!bbv_writer_begin(lane->writer, error))
        return false;
    uint32_t blocks = lane->bbv->block_count;
    for (uint32_t i = 0; i < blocks && i < lane->count_capacity; i++) {
        if (!lane->counts[i])
            continue;
        if (!bbv_writer_block(lane->writer, i + 1, lane->counts[i], error))
            return false;
        lane->counts[i] = 0;
    }
    lane->executed = 0;
    return bbv_writer_end(lane->writer, error);
}

static bool finish_block(struct lane *lane, struct error *error) {
    if (lane->block == NO_BLOCK)
        return true;
    lane->counts[lane->block] += lane->in_block;
    lane->executed += lane->in_block;
    lane->block = NO_BLOCK;
    lane->in_block = 0;
    return lane->executed < lane->bbv->interval || write_interval(lane, error);
}

static bool end(void *context, struct error *error) {
    struct lane *lane = context;
    struct error late;
    bool good = finish_block(lane, error) && (!lane->executed || write_interval(lane, error));
    if (lane->writer == &lane->own)
        good &= bbv_writer_close(&lane->own, good ? error : &late);
    lane_free(lane);
    return good;
}

/* Room for the instruction in the table of ids, and an id for it. */
static bool name_block(struct bbv *bbv, uint32_t insn) {
    if (!array_zeroed_room(bbv->ids, bbv->id_capacity, (size_t)insn + 1) ||
        !array_room(bbv->firsts, bbv->first_capacity, bbv->block_count + 1))
        return false;
    if (!bbv->ids[insn]) {
        bbv->firsts[bbv->block_count++] = insn;
        bbv->ids[insn] = bbv->block_count;
    }
    return true;
}

static bool begin_block(struct lane *lane, uint32_t insn) {
    struct bbv *bbv = lane->bbv;
    if ((insn >= bbv->id_capacity || !bbv->ids[insn]) && !name_block(bbv, insn))
        return false;
    lane->block = bbv->ids[insn] - 1;
    return array_zeroed_room(lane->counts, lane->count_capacity, (size_t)lane->block + 1);
}

static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct lane *lane = context;
    const uint64_t *word = buffer->words, *finish = word + buffer->used;
    while (word < finish) {
        struct tap_record record;
        word = tap_read(word, &record);
        if (record.kind != TAP_COMMIT)
            continue;
        for (unsigned i = 0; i < record.count; i++) {
            uint32_t insn = tap_uop_insn(record.uops[i]), flags = tap_uop_flags(record.uops[i]);
            if (!(flags & TAP_UOP_LAST))
                continue;
            if (lane->block == NO_BLOCK && !begin_block(lane, insn))
                return error_set(error, "out of memory for basic blocks");
            lane->in_block += flags & TAP_UOP_FUSED ? 2 : 1;
            if (place_of(lane->bbv->places, insn)->branch != BRANCH_NONE &&
                !finish_block(lane, error))
                return false;
        }
    }
    return true;
}

const struct tracer_kind bbv_tracer = {.name = "bbv",
                                       .description = "basic block vectors for SimPoint",
                                       .interval = 10000000,
                                       .interval_unit = "instructions",
                                       .open = open_bbv,
                                       .begin = begin,
                                       .consume = consume,
                                       .end = end,
                                       .close = close_bbv};
