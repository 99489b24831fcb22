/* Items to records. Records gather in one buffer that goes out in big writes, at the latest half a
 * second after the first byte in it, so a killed capture loses little; the file is only ever
 * appended to, and every prefix of it is readable. Blocks that arrive one after the other share a
 * CODE record, events of threads a THREAD_EVENTS record. The first thread of a process has the
 * process's set of predictions, every other one a set of its own, so that a reader of one thread
 * can skip all the others. Now and then all are reset: the index lists these places, where reading
 * may begin. */
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
#include "trace/prediction_sets.h"
#include "trace/thread_event_code.h"
#include "util/array.h"
#include "util/clock.h"

enum {
    BUFFER_BYTES = 1 << 20, /* written out when more than this waits */
    CODE_BYTES = 64 << 10,  /* a CODE record is closed when larger */
    EVENTS_BYTES = 4 << 10, /* a THREAD_EVENTS record likewise */
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

    bool full;     /* memory ran out: bytes of the record being made are missing */
    size_t record; /* where the record being made begins in the buffer */
    bool in_code;  /* a CODE record is open */
    uint32_t code_process, code_count;
    bool in_events;        /* a THREAD_EVENTS record is open */
    uint64_t event_ticket; /* of the last event in it */

    uint32_t *block_counts; /* per process */
    size_t block_counts_capacity;
    uint32_t process_count;

    uint32_t *first_threads; /* per process: that of its first DATA + 1; 0: none yet */
    size_t first_threads_capacity;
    struct prediction_sets sets;
    struct event_packing packing;
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
    if (!array_reserve((void **)&writer->buffer, &writer->capacity, writer->used + size, 1)) {
        writer->full = true;
        return NULL;
    }
    writer->used += size;
    return writer->buffer + writer->used - size;
}

static void add_bytes(struct file_writer *writer, const void *bytes, size_t size) {
    uint8_t *at = append(writer, size);
    if (at && size)
        memcpy(at, bytes, size);
}
static void add_u32(struct file_writer *writer, uint32_t value) {
    uint8_t *at = append(writer, 4);
    if (at)
        put_u32(at, value);
}
static void add_u64(struct file_writer *writer, uint64_t value) {
    uint8_t *at = append(writer, 8);
    if (at)
        put_u64(at, value);
}
/* NULL: absent. */
static void add_string(struct file_writer *writer, const char *text) {
    size_t size = text ? strlen(text) + 1 : 0;
    add_u32(writer, (uint32_t)size);
    add_bytes(writer, text, size);
}

static bool out_of_memory(const struct file_writer *writer, struct error *error) {
    return error_set(error, "out of memory writing trace %s", writer->path);
}

/* Size and checksum are filled in by end_record(). */
static void begin_record(struct file_writer *writer, enum record_type type) {
    static const uint8_t rest[RECORD_HEAD_BYTES - 4];
    writer->record = writer->used;
    add_u32(writer, type);
    add_bytes(writer, rest, sizeof rest);
}

/* The checksum covers type, size and payload. */
static bool end_record(struct file_writer *writer, struct error *error) {
    if (writer->full)
        return out_of_memory(writer, error);
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

static void write_header(struct file_writer *writer, const struct item_header *header) {
    begin_record(writer, RECORD_HEADER);
    add_bytes(writer, (uint8_t[]){(uint8_t)header->isa, header->addresses, 0, 0}, 4);
    add_string(writer, header->command);
    add_string(writer, header->host);
}

static bool write_process(struct file_writer *writer, const struct item_process *process,
                          struct error *error) {
    if (process->process != writer->process_count)
        return error_set(error, "process number %" PRIu32 " where %" PRIu32 " was due",
                         process->process, writer->process_count);
    if (!array_room(writer->block_counts, writer->block_counts_capacity,
                    (size_t)process->process + 1) ||
        !array_room(writer->first_threads, writer->first_threads_capacity,
                    (size_t)process->process + 1))
        return out_of_memory(writer, error);
    writer->first_threads[writer->process_count] = 0;
    writer->block_counts[writer->process_count++] = 0;
    begin_record(writer, RECORD_PROCESS);
    add_u32(writer, process->process);
    add_u32(writer, process->pid);
    add_u32(writer, process->parent);
    add_u32(writer, process->generation);
    add_u32(writer, process->traced);
    add_string(writer, process->command);
    add_string(writer, process->executable);
    add_string(writer, process->untraced_reason);
    return true;
}

static void write_image(struct file_writer *writer, const struct item_image *image) {
    begin_record(writer, RECORD_IMAGE);
    add_u32(writer, image->process);
    add_u32(writer, image->image);
    add_u64(writer, image->start);
    add_u64(writer, image->end);
    add_u64(writer, image->file_offset);
    add_u32(writer, image->kind);
    add_u32(writer, image->build_id_size);
    add_bytes(writer, image->build_id, sizeof image->build_id);
    add_string(writer, image->path);
}

/* ---- code ---- */

static bool close_code(struct file_writer *writer, struct error *error) {
    if (!writer->in_code)
        return true;
    writer->in_code = false;
    put_u32(writer->buffer + writer->record + RECORD_HEAD_BYTES + 8, writer->code_count);
    return end_record(writer, error);
}

static void open_code(struct file_writer *writer, const struct item_code *code) {
    begin_record(writer, RECORD_CODE);
    add_u32(writer, code->process);
    add_u32(writer, code->block);
    add_u32(writer, 0); /* blocks, when it is closed */
    writer->in_code = true;
    writer->code_process = code->process;
    writer->code_count = 0;
}

static bool write_code(struct file_writer *writer, const struct item_code *code,
                       struct error *error) {
    if (code->process >= writer->process_count ||
        code->block != writer->block_counts[code->process] || code->block == UINT32_MAX)
        return error_set(error, "block %" PRIu32 " of process %" PRIu32 " is out of order",
                         code->block, code->process);
    bool join = writer->in_code && writer->code_process == code->process &&
                writer->used - writer->record < CODE_BYTES;
    if (!join) {
        if (!close_code(writer, error))
            return false;
        open_code(writer, code);
    }
    const size_t before = writer->used;
    add_u64(writer, code->address);
    add_u64(writer, code->offset);
    add_u32(writer, code->image);
    add_u32(writer, code->insn_count);
    add_u32(writer, code->size);
    add_bytes(writer, code->bytes, code->size);
    if (writer->full) { /* the record has the blocks before this one, if any */
        writer->full = false;
        writer->in_code = writer->code_count > 0;
        writer->used = writer->in_code ? before : writer->record;
        return out_of_memory(writer, error);
    }
    writer->code_count++;
    writer->block_counts[code->process]++;
    return true;
}

/* ---- events of threads ---- */

static bool close_events(struct file_writer *writer, struct error *error) {
    bool open = writer->in_events;
    writer->in_events = false;
    return !open || end_record(writer, error);
}

static bool write_event(struct file_writer *writer, const struct thread_event *event,
                        struct error *error) {
    if (writer->in_events && writer->used - writer->record >= EVENTS_BYTES &&
        !close_events(writer, error))
        return false;
    if (!writer->in_events) {
        begin_record(writer, RECORD_THREAD_EVENTS);
        writer->event_ticket = 0;
        writer->in_events = true;
    }
    uint8_t bytes[THREAD_EVENT_MAX_BYTES];
    add_bytes(writer, bytes, thread_event_encode(event, &writer->event_ticket, bytes));
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
    prediction_sets_expire(&writer->sets);
    return array_push(writer->index, writer->index_capacity, writer->index_count,
                      (struct index_entry){file_writer_bytes(writer), writer->instructions,
                                           data->ticket}) ||
           out_of_memory(writer, error);
}

/* The predictions of a chunk, those of its process or its own, reset if that is due: *flags. */
static struct event_predictor *take_set(struct file_writer *writer, const struct item_data *data,
                                        uint32_t *flags) {
    uint32_t *first = &writer->first_threads[data->process];
    if (*first == 0)
        *first = data->thread + 1;
    const bool own = *first != data->thread + 1;
    bool reset;
    struct event_predictor *predictor =
        prediction_sets_take(&writer->sets, data->process, data->thread, own,
                             writer->block_counts[data->process], &reset);
    if (predictor && reset)
        event_predictor_reset(predictor);
    *flags = (reset ? DATA_RESET : 0) | (own ? DATA_OWN : 0) |
             (writer->compressor ? DATA_COMPRESSED : 0);
    return predictor;
}

/* Codes events, into `coded`. */
static bool code_events(struct file_writer *writer, const struct item_data *data,
                        struct event_predictor *predictor, size_t *coded_size,
                        struct error *error) {
    return array_reserve((void **)&writer->coded, &writer->coded_capacity,
                         event_code_bound(data->event_count), 1)
               ? event_encode(predictor, &writer->packing, writer->block_counts[data->process],
                              data->events, data->event_count, writer->coded, coded_size, error)
               : out_of_memory(writer, error);
}

/* Coded events, compressed if asked for. */
static bool add_events(struct file_writer *writer, size_t coded_size, struct error *error) {
    if (!writer->compressor) {
        add_bytes(writer, writer->coded, coded_size);
        return true;
    }
    size_t bound = ZSTD_compressBound(coded_size), before = writer->used;
    uint8_t *at = append(writer, bound);
    if (!at)
        return out_of_memory(writer, error);
    size_t size = ZSTD_compressCCtx(writer->compressor, at, bound, writer->coded, coded_size,
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
    uint32_t flags = 0;
    struct event_predictor *predictor = take_set(writer, data, &flags);
    if (!predictor)
        return out_of_memory(writer, error);
    size_t coded_size = 0;
    if (!code_events(writer, data, predictor, &coded_size, error))
        return false;
    begin_record(writer, RECORD_DATA);
    add_u32(writer, data->process);
    add_u32(writer, data->thread);
    add_u64(writer, data->ticket);
    add_u64(writer, data->first_insn);
    add_u64(writer, data->insn_count);
    add_u32(writer, data->event_count);
    add_u32(writer, flags);
    add_u64(writer, coded_size);
    if (!add_events(writer, coded_size, error))
        return false;
    writer->instructions += data->insn_count;
    return true;
}

/* ---- the rest ---- */

static void write_end(struct file_writer *writer, const struct trace_exit *end) {
    begin_record(writer, RECORD_END);
    add_u32(writer, end->known);
    add_u32(writer, end->signaled);
    add_u32(writer, (uint32_t)end->status);
}

static bool write_index(struct file_writer *writer, struct error *error) {
    uint64_t offset = file_writer_bytes(writer);
    begin_record(writer, RECORD_INDEX);
    add_u64(writer, writer->instructions);
    add_u64(writer, writer->index_count);
    for (uint32_t i = 0; i < writer->index_count; i++) {
        add_u64(writer, writer->index[i].offset);
        add_u64(writer, writer->index[i].instructions);
        add_u64(writer, writer->index[i].ticket);
    }
    add_u64(writer, offset);
    add_bytes(writer, FILE_END_MAGIC, 8);
    return end_record(writer, error);
}

/* As many as a record holds: the others stay without a name. */
static void write_symbols(struct file_writer *writer, const struct item_symbols *symbols) {
    uint32_t count = 0;
    for (size_t size = 8; count < symbols->count; count++) {
        size += 20 + strlen(symbols->symbols[count].name) + 1;
        if (size > RECORD_MAX_BYTES)
            break;
    }
    begin_record(writer, RECORD_SYMBOLS);
    add_u32(writer, symbols->process);
    add_u32(writer, count);
    for (uint32_t i = 0; i < count; i++) {
        add_u64(writer, symbols->symbols[i].start);
        add_u64(writer, symbols->symbols[i].size);
        add_string(writer, symbols->symbols[i].name);
    }
}

static bool write_record(struct file_writer *writer, const struct item *item, struct error *error) {
    switch (item->kind) {
    case ITEM_HEADER:
        write_header(writer, &item->header);
        return true;
    case ITEM_PROCESS:
        return write_process(writer, &item->process, error);
    case ITEM_IMAGE:
        write_image(writer, &item->image);
        return true;
    case ITEM_SYMBOLS:
        write_symbols(writer, &item->symbols);
        return true;
    case ITEM_PYTHON:
        begin_record(writer, RECORD_PYTHON);
        add_u32(writer, item->python.process);
        add_u32(writer, item->python.function);
        add_u32(writer, item->python.first_line);
        add_string(writer, item->python.name);
        add_string(writer, item->python.path);
        return true;
    case ITEM_DATA:
        return write_data(writer, &item->data, error);
    case ITEM_THREAD_END:
        begin_record(writer, RECORD_THREAD_END);
        add_u32(writer, item->thread_ended);
        prediction_sets_forget(&writer->sets, item->thread_ended);
        return true;
    case ITEM_NOTE:
        begin_record(writer, RECORD_NOTE);
        add_string(writer, item->note);
        return true;
    case ITEM_END:
        write_end(writer, &item->end);
        return true;
    default:
        return error_set(error, "unknown item");
    }
}

/* An error leaves the file without the item that caused it, and final. */
static bool put_item(struct file_writer *writer, const struct item *item, struct error *error) {
    if (item->kind != ITEM_THREAD_EVENT && !close_events(writer, error))
        return false;
    if (item->kind == ITEM_CODE)
        return write_code(writer, &item->code, error);
    if (!close_code(writer, error))
        return false;
    if (item->kind == ITEM_THREAD_EVENT)
        return write_event(writer, &item->event, error);
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
        if (close_code(writer, &ignored) && close_events(writer, &ignored))
            flush(writer, &ignored);
        return false;
    }
    return writer->in_code || writer->in_events || flush_if_due(writer, error);
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
    prediction_sets_free(&writer->sets);
    ZSTD_freeCCtx(writer->compressor);
    free(writer->first_threads);
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
    prediction_sets_init(&writer->sets);
    event_packing_init(&writer->packing);
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
    good = good && close_code(writer, error) && close_events(writer, error) &&
           write_index(writer, error) && flush(writer, error);
    if (bytes)
        *bytes = writer->written;
    int fd = writer->fd;
    writer->fd = -1;
    if (close(fd) != 0 && good && errno != EINTR)
        good = error_errno(error, "%s: cannot write", writer->path);
    free_writer(writer);
    return good;
}
