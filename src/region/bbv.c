/* The reader takes one character at a time from a buffer that zlib fills, from a plain file as from
 * a compressed one, and puts numbers right into the set: no line is ever held as text, so its
 * length costs nothing. The writer formats an entry and hands it to a stream or to zlib. */
#include "region/bbv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <zlib.h>

#include "util/array.h"

/* ---- in memory ---- */

/* Where the slice being made begins. */
static size_t open_slice(const struct bbv_set *set) {
    if (set->slice_count == 0)
        return 0;
    const struct bbv_slice *last = set->slices + set->slice_count - 1;
    return last->first + last->count;
}

bool bbv_set_block(struct bbv_set *set, uint32_t block, uint64_t count, struct error *error) {
    if (block == 0)
        return error_set(error, "block 0: ids begin with 1");
    if (count == 0)
        return true;
    if (set->entry_count - open_slice(set) >= BBV_MAX_SLICE_BLOCKS)
        return error_set(error, "a slice of more than %d blocks", BBV_MAX_SLICE_BLOCKS);
    if (__builtin_add_overflow(set->open_instructions, count, &set->open_instructions))
        return error_set(error, "a slice of 2^64 instructions or more");
    size_t need = set->entry_count + 1;
    if (!array_room(set->blocks, set->block_capacity, need) ||
        !array_room(set->counts, set->count_capacity, need))
        return error_set(error, "out of memory for basic block vectors");
    set->blocks[set->entry_count] = block;
    set->counts[set->entry_count++] = count;
    return true;
}

bool bbv_set_slice(struct bbv_set *set, struct error *error) {
    if (set->open_instructions == 0)
        return error_set(error, "a slice without instructions");
    if (!array_room(set->slices, set->slice_capacity, set->slice_count + 1))
        return error_set(error, "out of memory for basic block vectors");
    size_t first = open_slice(set);
    set->slices[set->slice_count++] = (struct bbv_slice){
        .first = first, .count = set->entry_count - first, .instructions = set->open_instructions};
    set->open_instructions = 0;
    return true;
}

void bbv_set_clear(struct bbv_set *set) {
    set->entry_count = set->slice_count = 0;
    set->open_instructions = 0;
}

void bbv_set_free(struct bbv_set *set) {
    free(set->blocks);
    free(set->counts);
    free(set->slices);
    *set = (struct bbv_set){0};
}

/* ---- from a file ---- */

enum { READ_BUFFER = 1 << 16, FILE_END = -1, FILE_FAILED = -2 };

struct bbv_reader {
    const char *path;
    gzFile file;
    uint64_t line;   /* being read, from 1 */
    uint32_t slices; /* read */
    unsigned at, end;
    uint8_t buffer[READ_BUFFER];
};

struct bbv_reader *bbv_reader_open(const char *path, struct error *error) {
    struct bbv_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return error_null(error, "%s: out of memory for its buffer", path);
    *reader = (struct bbv_reader){.path = path, .line = 1};
    errno = 0;
    reader->file = gzopen(path, "rbe");
    if (reader->file)
        return reader;
    if (errno)
        error_errno(error, "cannot read %s", path);
    else
        error_set(error, "%s: out of memory for its buffer", path);
    free(reader);
    return NULL;
}

void bbv_reader_close(struct bbv_reader *reader) {
    if (!reader)
        return;
    gzclose_r(reader->file);
    free(reader);
}

/* The next character, which stays; FILE_END, FILE_FAILED. */
static int fill(struct bbv_reader *reader, struct error *error) {
    errno = 0;
    int got = gzread(reader->file, reader->buffer, READ_BUFFER), code;
    reader->at = 0;
    reader->end = got > 0 ? (unsigned)got : 0;
    if (got > 0)
        return reader->buffer[0];
    const char *what = gzerror(reader->file, &code);
    if (code == Z_OK)
        return FILE_END;
    if (code == Z_ERRNO && errno)
        error_errno(error, "cannot read %s", reader->path);
    else if (code == Z_BUF_ERROR)
        error_set(error, "%s: line %" PRIu64 ": the compressed file is cut off here", reader->path,
                  reader->line);
    else
        error_set(error, "%s: line %" PRIu64 ": cannot be decompressed: %s", reader->path,
                  reader->line, what);
    return FILE_FAILED;
}

static inline int peek(struct bbv_reader *reader, struct error *error) {
    return reader->at < reader->end ? reader->buffer[reader->at] : fill(reader, error);
}

/* ':' and a number up to `most`. */
static bool take_number(struct bbv_reader *reader, uint64_t most, uint64_t *number,
                        struct error *error) {
    int c = peek(reader, error);
    if (c == ':') {
        reader->at++;
        c = peek(reader, error);
        if (c >= '0' && c <= '9') {
            *number = 0;
            for (; c >= '0' && c <= '9'; c = peek(reader, error)) {
                unsigned digit = (unsigned)c - '0';
                if (*number > (most - digit) / 10)
                    return error_set(error, "%s: line %" PRIu64 ": a number over %" PRIu64,
                                     reader->path, reader->line, most);
                *number = *number * 10 + digit;
                reader->at++;
            }
            return c != FILE_FAILED;
        }
    }
    return c != FILE_FAILED && error_set(error,
                                         "%s: line %" PRIu64 ": not of the form T:id:count "
                                         ":id:count ..., with whole numbers",
                                         reader->path, reader->line);
}

/* What follows the T, the end of the line included. */
static bool take_slice(struct bbv_reader *reader, struct bbv_set *set, struct error *error) {
    for (;;) {
        int c = peek(reader, error);
        if (c == '\n')
            break;
        if (c == ' ' || c == '\t' || c == '\r') {
            reader->at++;
            continue;
        }
        if (c == FILE_END)
            return error_set(error, "%s: line %" PRIu64 ": cut off, no newline ends it",
                             reader->path, reader->line);
        uint64_t block = 0, count = 0;
        if (c == FILE_FAILED || !take_number(reader, UINT32_MAX, &block, error) ||
            !take_number(reader, UINT64_MAX, &count, error))
            return false;
        if (!bbv_set_block(set, (uint32_t)block, count, error))
            return error_prefix(error, "%s: line %" PRIu64, reader->path, reader->line);
    }
    if (reader->slices++ == BBV_MAX_SLICES)
        return error_set(error, "%s: more than %d slices: take longer ones", reader->path,
                         BBV_MAX_SLICES);
    if (!bbv_set_slice(set, error))
        return error_prefix(error, "%s: line %" PRIu64, reader->path, reader->line);
    reader->at++;
    reader->line++;
    return true;
}

int bbv_reader_next(struct bbv_reader *reader, struct bbv_set *set, struct error *error) {
    bool line_begins = true;
    for (;;) {
        int c = peek(reader, error);
        if (c == FILE_FAILED)
            return -1;
        if (c == FILE_END)
            break;
        reader->at++;
        if (line_begins && c == 'T')
            return take_slice(reader, set, error) ? 1 : -1;
        line_begins = c == '\n';
        reader->line += line_begins;
    }
    if (reader->slices)
        return 0;
    error_set(error, "%s: no basic block vectors in it, lines T:id:count :id:count ...",
              reader->path);
    return -1;
}

/* ---- to a file ---- */

bool bbv_path_compressed(const char *path) {
    size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

bool bbv_writer_open(struct bbv_writer *writer, const char *path, bool compress,
                     struct error *error) {
    *writer = (struct bbv_writer){.stream.path = path};
    if (!compress)
        return stream_open(&writer->stream, path, error);
    errno = 0;
    writer->gzip = gzopen(path, "wbe");
    if (writer->gzip)
        return gzbuffer(writer->gzip, STREAM_BUFFER), true;
    if (errno)
        return error_errno(error, "%s: cannot write", path);
    return error_set(error, "%s: out of memory for its buffer", path);
}

static bool put(struct bbv_writer *writer, const char *text, size_t size, struct error *error) {
    if (!writer->gzip)
        return stream_write(&writer->stream, text, size, error);
    if (gzwrite(writer->gzip, text, (unsigned)size) == (int)size)
        return true;
    return error_errno(error, "%s: cannot write", writer->stream.path);
}

bool bbv_writer_begin(struct bbv_writer *writer, struct error *error) {
    return put(writer, "T", 1, error);
}

bool bbv_writer_block(struct bbv_writer *writer, uint32_t block, uint64_t count,
                      struct error *error) {
    char entry[40], *to = entry;
    *to++ = ':';
    to = put_decimal(to, block);
    *to++ = ':';
    to = put_decimal(to, count);
    *to++ = ' ';
    return put(writer, entry, (size_t)(to - entry), error);
}

bool bbv_writer_end(struct bbv_writer *writer, struct error *error) {
    return put(writer, "\n", 1, error);
}

bool bbv_writer_close(struct bbv_writer *writer, struct error *error) {
    if (!writer->gzip)
        return stream_close(&writer->stream, error);
    int code = gzclose_w(writer->gzip);
    writer->gzip = NULL;
    return code == Z_OK || error_errno(error, "%s: cannot write", writer->stream.path);
}
