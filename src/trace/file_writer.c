/* Items to records. Records gather in one buffer that goes out in big writes, at the latest half a
 * second after the first byte in it, so a killed capture loses little; the file is only ever
 * appended to, and every prefix of it is readable. Blocks that arrive one after the other share a
 * CODE record. Predictions are shared by all threads of a process. Now and then all are reset: the
 * index lists these places, where reading may begin. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "trace/event_code.h"
#include "trace/file_format.h"
#include "trace/item.h"
#include "util/array.h"
#include "util/clock.h"

enum {
    BUFFER_BYTES = 1 << 20, /* written out when more than this waits */
    CODE_BYTES = 64 << 10,  /* a CODE record is closed when larger */
    RESET_CHUNKS = 512,     /* chunks between resets of all predictions */
    FLUSH_AFTER_MS = 500,
    COMPRESSION_LEVEL = 3
};

struct index_entry {
    uint64_t offset;       /* of a DATA record before which all predictions are reset */
    uint64_t instructions; /* of all threads before it */
    uint64_t ticket;
};

struct file_writer {
    int fd;
    char *path;
    bool truncate; /* before the first write: an old file is kept until there is something new */
    bool created;  /* the file was not there before */
    bool broken;   /* a write failed: nothing more is written */
    struct error failure;

    uint8_t *buffer;
    size_t used, capacity;
    uint64_t written;     /* bytes already out */
    double waiting_since; /* s */

    size_t record; /* where the record being made begins in the buffer */
    bool in_code;  /* a CODE record is open */
    uint32_t code_process, code_count;

    uint32_t *block_counts; /* per process */
    size_t block_counts_capacity;
    uint32_t process_count;

    struct lane {
        struct event_predictor predictor;
        uint32_t process;
        bool used; /* since all were reset */
    } lanes[FILE_PREDICTORS];
    uint32_t chunks_since_reset;
    uint8_t *coded; /* before compression */
    size_t coded_capacity;
    ZSTD_CCtx *compressor; /* NULL: not compressed */

    struct index_entry *index;
    size_t index_capacity;
    uint32_t index_count;
    uint64_t instructions;
};

/* ---- bytes out ---- */

static bool broken(struct file_writer *writer, struct error *error) {
    *error = writer->failure;
    return false;
}

static bool fail_write(struct file_writer *writer, struct error *error) {
    writer->broken = true;
    error_errno(&writer->failure, "%s: cannot write more than %" PRIu64 " bytes", writer->path,
                writer->written);
    return broken(writer, error);
}

static bool flush(struct file_writer *writer, struct error *error) {
    size_t done = 0;
    if (writer->truncate && ftruncate(writer->fd, 0) != 0)
        return fail_write(writer, error);
    writer->truncate = false;
    while (done < writer->used) {
        ssize_t n = write(writer->fd, writer->buffer + done, writer->used - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail_write(writer, error);
        done += (size_t)n;
        writer->written += (uint64_t)n;
    }
    writer->used = 0;
    return true;
}

static bool flush_if_due(struct file_writer *writer, struct error *error) {
    const double now = clock_monotonic();
    if (writer->used < BUFFER_BYTES && now - writer->waiting_since < 1e-3 * FLUSH_AFTER_MS)
        return true;
    writer->waiting_since = now;
    return flush(writer, error);
}

/* ---- records ---- */

/* `size` more bytes of the record being made; NULL when memory is out. */
static uint8_t *append(struct file_writer *writer, size_t size) {
    if (!array_reserve((void **)&writer->buffer, &writer->capacity, writer->used + size, 1))
        return NULL;
    writer->used += size;
    return writer->buffer + writer->used - size;
}

static bool out_of_memory(const struct file_writer *writer, struct error *error) {
    return error_set(error, "out of memory writing trace %s", writer->path);
}

static uint8_t *begin_record(struct file_writer *writer, enum record_type type, size_t fixed) {
    writer->record = writer->used;
    uint8_t *header = append(writer, RECORD_HEAD_BYTES + fixed);
    if (!header)
        return NULL;
    put_u32(header, type);
    return header + RECORD_HEAD_BYTES;
}

/* The checksum covers type, size and payload. */
static bool end_record(struct file_writer *writer, struct error *error) {
    uint8_t *header = writer->buffer + writer->record;
    size_t size = writer->used - writer->record - RECORD_HEAD_BYTES;
    if (size > RECORD_MAX_BYTES) {
        writer->used = writer->record;
        return error_set(error, "a record of %zu bytes is too large for trace %s", size,
                         writer->path);
    }
    put_u32(header + 4, (uint32_t)size);
    put_u64(header + 8, record_checksum(header, header + RECORD_HEAD_BYTES, size));
    return true;
}

static bool append_string(struct file_writer *writer, const char *text) {
    size_t size = text ? strlen(text) + 1 : 0;
    uint8_t *at = append(writer, 4 + size);
    if (!at)
        return false;
    put_u32(at, (uint32_t)size);
    if (size)
        memcpy(at + 4, text, size);
    return true;
}

static bool write_header(struct file_writer *writer, const struct item_header *header,
                         struct error *error) {
    uint8_t *at = begin_record(writer, RECORD_HEADER, 4);
    if (!at)
        return out_of_memory(writer, error);
    memset(at, 0, 4);
    at[0] = (uint8_t)header->isa;
    at[1] = header->addresses;
    return (append_string(writer, header->command) && append_string(writer, header->host)) ||
           out_of_memory(writer, error);
}

static bool write_process(struct file_writer *writer, const struct item_process *process,
                          struct error *error) {
    if (process->process != writer->process_count)
        return error_set(error, "process number %" PRIu32 " where %" PRIu32 " was due",
                         process->process, writer->process_count);
    uint8_t *at = begin_record(writer, RECORD_PROCESS, 20);
    if (!at || !array_room(writer->block_counts, writer->block_counts_capacity,
                           (size_t)process->process + 1))
        return out_of_memory(writer, error);
    writer->block_counts[writer->process_count++] = 0;
    put_u32(at, process->process);
    put_u32(at + 4, process->pid);
    put_u32(at + 8, process->parent);
    put_u32(at + 12, process->generation);
    put_u32(at + 16, process->traced);
    return (append_string(writer, process->command) && append_string(writer, process->executable) &&
            append_string(writer, process->untraced_reason)) ||
           out_of_memory(writer, error);
}

static bool write_image(struct file_writer *writer, const struct item_image *image,
                        struct error *error) {
    uint8_t *at = begin_record(writer, RECORD_IMAGE, 60);
    if (!at)
        return out_of_memory(writer, error);
    put_u32(at, image->process);
    put_u32(at + 4, image->image);
    put_u64(at + 8, image->start);
    put_u64(at + 16, image->end);
    put_u64(at + 24, image->file_offset);
    put_u32(at + 32, image->kind);
    put_u32(at + 36, image->build_id_size);
    memcpy(at + 40, image->build_id, sizeof image->build_id);
    return append_string(writer, image->path) || out_of_memory(writer, error);
}

/* ---- code ---- */

static bool close_code(struct file_writer *writer, struct error *error) {
    if (!writer->in_code)
        return true;
    writer->in_code = false;
    put_u32(writer->buffer + writer->record + RECORD_HEAD_BYTES + 8, writer->code_count);
    return end_record(writer, error);
}

static bool open_code(struct file_writer *writer, const struct item_code *code,
                      struct error *error) {
    uint8_t *at = begin_record(writer, RECORD_CODE, 12);
    if (!at)
        return out_of_memory(writer, error);
    put_u32(at, code->process);
    put_u32(at + 4, code->block);
    writer->in_code = true;
    writer->code_process = code->process;
    writer->code_count = 0;
    return true;
}

static bool write_code(struct file_writer *writer, const struct item_code *code,
                       struct error *error) {
    if (code->process >= writer->process_count ||
        code->block != writer->block_counts[code->process] || code->block == UINT32_MAX)
        return error_set(error, "block %" PRIu32 " of process %" PRIu32 " is out of order",
                         code->block, code->process);
    bool join = writer->in_code && writer->code_process == code->process &&
                writer->used - writer->record < CODE_BYTES;
    if (!join && (!close_code(writer, error) || !open_code(writer, code, error)))
        return false;
    uint8_t *at = append(writer, 28 + (size_t)code->size);
    if (!at)
        return out_of_memory(writer, error);
    put_u64(at, code->address);
    put_u64(at + 8, code->offset);
    put_u32(at + 16, code->image);
    put_u32(at + 20, code->insn_count);
    put_u32(at + 24, code->size);
    memcpy(at + 28, code->bytes, code->size);
    writer->code_count++;
    writer->block_counts[code->process]++;
    return true;
}

/* ---- data ---- */

/* Every so often, all predictions; the next chunk begins anew and is listed in the index. */
static bool reset_if_due(struct file_writer *writer, const struct item_data *data,
                         struct error *error) {
    bool due = writer->chunks_since_reset % RESET_CHUNKS == 0;
    writer->chunks_since_reset++;
    if (!due || writer->index_count == INDEX_MAX_ENTRIES)
        return true;
    for (int i = 0; i < FILE_PREDICTORS; i++)
        writer->lanes[i].used = false;
    if (!array_room(writer->index, writer->index_capacity, (size_t)writer->index_count + 1))
        return out_of_memory(writer, error);
    writer->index[writer->index_count++] =
        (struct index_entry){file_writer_bytes(writer), writer->instructions, data->ticket};
    return true;
}

/* The predictions of a process, reset if they are of another, or too many. */
static struct event_predictor *take_lane(struct file_writer *writer, uint32_t process,
                                         bool *reset) {
    struct lane *lane = &writer->lanes[process % FILE_PREDICTORS];
    *reset =
        !lane->used || lane->process != process || lane->predictor.slot_count >= FILE_MAX_SLOTS;
    if (*reset)
        event_predictor_reset(&lane->predictor);
    lane->used = true;
    lane->process = process;
    return &lane->predictor;
}

/* Codes events and appends them, compressed if asked for. */
static bool append_events(struct file_writer *writer, const struct item_data *data,
                          struct event_predictor *predictor, size_t *coded_size,
                          struct error *error) {
    uint32_t blocks = writer->block_counts[data->process];
    if (!array_reserve((void **)&writer->coded, &writer->coded_capacity,
                       event_code_bound(data->event_count), 1))
        return out_of_memory(writer, error);
    if (!event_encode(predictor, blocks, data->events, data->event_count, writer->coded, coded_size,
                      error))
        return false;
    if (!writer->compressor) {
        uint8_t *at = append(writer, *coded_size);
        if (!at)
            return out_of_memory(writer, error);
        memcpy(at, writer->coded, *coded_size);
        return true;
    }
    size_t bound = ZSTD_compressBound(*coded_size), before = writer->used;
    uint8_t *at = append(writer, bound);
    if (!at)
        return out_of_memory(writer, error);
    size_t size = ZSTD_compressCCtx(writer->compressor, at, bound, writer->coded, *coded_size,
                                    COMPRESSION_LEVEL);
    if (ZSTD_isError(size))
        return error_set(error, "cannot compress trace %s: %s", writer->path,
                         ZSTD_getErrorName(size));
    writer->used = before + size;
    return true;
}

static bool write_data(struct file_writer *writer, const struct item_data *data,
                       struct error *error) {
    if (data->process >= writer->process_count || data->event_count > EVENT_CODE_MAX_EVENTS)
        return error_set(error, "a chunk of %" PRIu32 " events of process %" PRIu32 " is malformed",
                         data->event_count, data->process);
    if (!reset_if_due(writer, data, error))
        return false;
    bool reset;
    struct event_predictor *predictor = take_lane(writer, data->process, &reset);
    size_t coded_size = 0;
    if (!begin_record(writer, RECORD_DATA, DATA_FIXED_BYTES))
        return out_of_memory(writer, error);
    if (!append_events(writer, data, predictor, &coded_size, error))
        return false;
    uint8_t *at = writer->buffer + writer->record + RECORD_HEAD_BYTES;
    put_u32(at, data->process);
    put_u32(at + 4, data->thread);
    put_u64(at + 8, data->ticket);
    put_u64(at + 16, data->first_insn);
    put_u64(at + 24, data->insn_count);
    put_u32(at + 32, data->event_count);
    put_u32(at + 36, (reset ? DATA_RESET : 0) | (writer->compressor ? DATA_COMPRESSED : 0));
    put_u64(at + 40, coded_size);
    writer->instructions += data->insn_count;
    return true;
}

/* ---- the rest ---- */

static bool write_end(struct file_writer *writer, const struct trace_exit *end,
                      struct error *error) {
    uint8_t *at = begin_record(writer, RECORD_END, 12);
    if (!at)
        return out_of_memory(writer, error);
    put_u32(at, end->known);
    put_u32(at + 4, end->signaled);
    put_u32(at + 8, (uint32_t)end->status);
    return true;
}

static bool write_index(struct file_writer *writer, struct error *error) {
    uint64_t offset = file_writer_bytes(writer);
    size_t entries = (size_t)writer->index_count * INDEX_ENTRY_BYTES;
    uint8_t *at = begin_record(writer, RECORD_INDEX, 16 + entries + 16);
    if (!at)
        return out_of_memory(writer, error);
    put_u64(at, writer->instructions);
    put_u64(at + 8, writer->index_count);
    for (uint32_t i = 0; i < writer->index_count; i++) {
        uint8_t *entry = at + 16 + (size_t)i * INDEX_ENTRY_BYTES;
        put_u64(entry, writer->index[i].offset);
        put_u64(entry + 8, writer->index[i].instructions);
        put_u64(entry + 16, writer->index[i].ticket);
    }
    put_u64(at + 16 + entries, offset);
    memcpy(at + 24 + entries, FILE_END_MAGIC, 8);
    return end_record(writer, error);
}

/* As many as a record holds: the others stay without a name. */
static bool write_symbols(struct file_writer *writer, const struct item_symbols *symbols,
                          struct error *error) {
    uint32_t count = 0;
    for (size_t size = 8; count < symbols->count; count++) {
        size += 20 + strlen(symbols->symbols[count].name) + 1;
        if (size > RECORD_MAX_BYTES)
            break;
    }
    uint8_t *at = begin_record(writer, RECORD_SYMBOLS, 8);
    if (!at)
        return out_of_memory(writer, error);
    put_u32(at, symbols->process);
    put_u32(at + 4, count);
    for (uint32_t i = 0; i < count; i++) {
        if (!(at = append(writer, 16)))
            return out_of_memory(writer, error);
        put_u64(at, symbols->symbols[i].start);
        put_u64(at + 8, symbols->symbols[i].size);
        if (!append_string(writer, symbols->symbols[i].name))
            return out_of_memory(writer, error);
    }
    return true;
}

static bool write_record(struct file_writer *writer, const struct item *item, struct error *error) {
    uint8_t *at;
    switch (item->kind) {
    case ITEM_HEADER:
        return write_header(writer, &item->header, error);
    case ITEM_PROCESS:
        return write_process(writer, &item->process, error);
    case ITEM_IMAGE:
        return write_image(writer, &item->image, error);
    case ITEM_SYMBOLS:
        return write_symbols(writer, &item->symbols, error);
    case ITEM_DATA:
        return write_data(writer, &item->data, error);
    case ITEM_THREAD_END:
        at = begin_record(writer, RECORD_THREAD_END, 4);
        if (at)
            put_u32(at, item->thread_ended);
        return at || out_of_memory(writer, error);
    case ITEM_NOTE:
        return (begin_record(writer, RECORD_NOTE, 0) && append_string(writer, item->note)) ||
               out_of_memory(writer, error);
    case ITEM_END:
        return write_end(writer, &item->end, error);
    default:
        return error_set(error, "unknown item");
    }
}

/* An error leaves the file without the item that caused it, and final. */
static bool put_item(struct file_writer *writer, const struct item *item, struct error *error) {
    if (item->kind == ITEM_CODE)
        return write_code(writer, &item->code, error);
    if (!close_code(writer, error))
        return false;
    size_t before = writer->used;
    if (write_record(writer, item, error) && end_record(writer, error))
        return true;
    writer->used = before;
    return false;
}

bool file_writer_put(struct file_writer *writer, const struct item *item, struct error *error) {
    if (writer->broken)
        return broken(writer, error);
    if (!put_item(writer, item, error)) {
        writer->broken = true;
        writer->failure = *error;
        struct error ignored;
        if (close_code(writer, &ignored))
            flush(writer, &ignored);
        return false;
    }
    return writer->in_code || flush_if_due(writer, error);
}

uint64_t file_writer_bytes(const struct file_writer *writer) {
    return writer->written + writer->used;
}

/* ---- beginning and end ---- */

/* No disk or terminal is written to. */
static bool open_output(struct file_writer *writer, struct error *error) {
    const char *path = writer->path;
    const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;
    bool standard = strcmp(path, "-") == 0;
    if (standard) {
        writer->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    } else {
        writer->fd = open(path, flags | O_CREAT | O_EXCL, 0666);
        writer->created = writer->fd >= 0;
        if (writer->fd < 0 && errno == EEXIST)
            writer->fd = open(path, flags | O_CREAT, 0666);
    }
    struct stat status;
    if (writer->fd < 0 || fstat(writer->fd, &status) != 0)
        return error_errno(error, "%s: cannot write", path);
    if (S_ISBLK(status.st_mode))
        return error_set(error, "%s is a block device: a trace would destroy what is on it", path);
    if (isatty(writer->fd))
        return error_set(error, "%s is a terminal: write the trace to a file or a pipe",
                         standard ? "standard output" : path);
    writer->truncate = !standard && S_ISREG(status.st_mode);
    return true;
}

static void free_writer(struct file_writer *writer) {
    if (writer->fd >= 0)
        close(writer->fd);
    for (int i = 0; i < FILE_PREDICTORS; i++)
        event_predictor_free(&writer->lanes[i].predictor);
    ZSTD_freeCCtx(writer->compressor);
    free(writer->block_counts);
    free(writer->buffer);
    free(writer->coded);
    free(writer->index);
    free(writer->path);
    free(writer);
}

struct file_writer *file_writer_open(const char *path, bool compress, struct error *error) {
    struct file_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return error_null(error, "out of memory writing trace %s", path);
    for (int i = 0; i < FILE_PREDICTORS; i++)
        event_predictor_init(&writer->lanes[i].predictor);
    writer->fd = -1;
    writer->path = strdup(path);
    writer->compressor = compress ? ZSTD_createCCtx() : NULL;
    writer->waiting_since = clock_monotonic();
    uint8_t *prologue = append(writer, FILE_PROLOGUE_BYTES);
    if (!writer->path || (compress && !writer->compressor) || !prologue) {
        error_set(error, "out of memory writing trace %s", path);
        free_writer(writer);
        return NULL;
    }
    memcpy(prologue, FILE_MAGIC, 8);
    put_u32(prologue + 8, FILE_VERSION);
    put_u32(prologue + 12, 0);
    if (!open_output(writer, error)) {
        free_writer(writer);
        return NULL;
    }
    return writer;
}

/* A writer that was given nothing leaves no file, or the old one. */
static bool close_empty(struct file_writer *writer, uint64_t *bytes) {
    if (bytes)
        *bytes = 0;
    if (writer->created)
        unlink(writer->path);
    free_writer(writer);
    return true;
}

bool file_writer_close(struct file_writer *writer, uint64_t *bytes, struct error *error) {
    if (!writer->broken && file_writer_bytes(writer) == FILE_PROLOGUE_BYTES)
        return close_empty(writer, bytes);
    bool good = !writer->broken || broken(writer, error);
    good = good && close_code(writer, error) && write_index(writer, error) && flush(writer, error);
    if (bytes)
        *bytes = writer->written;
    int fd = writer->fd;
    writer->fd = -1;
    if (close(fd) != 0 && good && errno != EINTR)
        good = error_errno(error, "%s: cannot write", writer->path);
    free_writer(writer);
    return good;
}
