/* Items to records. A killed capture loses little, for records go out soon; the file is only ever
 * appended to, and every prefix of it is readable. Blocks that arrive one after the other share a
 * CODE record, events of threads a THREAD_EVENTS record. The first thread of a process has the
 * process's set of predictions, every other one a set of its own, so that a reader of one thread
 * can skip all the others. Now and then all are reset: the index lists these places, where reading
 * may begin. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "trace/event_code.h"
#include "trace/item.h"
#include "trace/prediction_sets.h"
#include "trace/record_output.h"
#include "trace/thread_event_code.h"
#include "util/array.h"
#include "util/clock.h"

enum {
    CODE_BYTES = 64 << 10,  /* a CODE record is closed when larger */
    EVENTS_BYTES = 4 << 10, /* a THREAD_EVENTS record likewise */
    RESET_CHUNKS = 512,     /* chunks between resets of all predictions */
    COMPRESSION_LEVEL = 3
};

struct index_entry {
    uint64_t offset;       /* of a DATA record before which all predictions are reset */
    uint64_t instructions; /* of all threads before it */
    uint64_t ticket;
};

struct file_writer {
    struct record_output out;

    bool in_code;        /* a CODE record is open, */
    bool code_described; /* or a DESCRIBED one */
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
    bool cut; /* it gets no index: who reads it is to know that its end is missing */
};

/* ---- records ---- */

static void write_header(struct file_writer *writer, const struct item_header *header) {
    record_begin(&writer->out, RECORD_HEADER);
    record_add_bytes(&writer->out, (uint8_t[]){(uint8_t)header->isa, header->addresses, 0, 0}, 4);
    record_add_string(&writer->out, header->command);
    record_add_string(&writer->out, header->host);
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
        return record_output_no_memory(&writer->out, error);
    writer->first_threads[writer->process_count] = 0;
    writer->block_counts[writer->process_count++] = 0;
    record_begin(&writer->out, RECORD_PROCESS);
    record_add_u32(&writer->out, process->process);
    record_add_u32(&writer->out, process->pid);
    record_add_u32(&writer->out, process->parent);
    record_add_u32(&writer->out, process->generation);
    record_add_u32(&writer->out, process->traced);
    record_add_string(&writer->out, process->command);
    record_add_string(&writer->out, process->executable);
    record_add_string(&writer->out, process->untraced_reason);
    return true;
}

static void write_image(struct file_writer *writer, const struct item_image *image) {
    record_begin(&writer->out, RECORD_IMAGE);
    record_add_u32(&writer->out, image->process);
    record_add_u32(&writer->out, image->image);
    record_add_u64(&writer->out, image->start);
    record_add_u64(&writer->out, image->end);
    record_add_u64(&writer->out, image->file_offset);
    record_add_u32(&writer->out, image->kind);
    record_add_u32(&writer->out, image->build_id_size);
    record_add_bytes(&writer->out, image->build_id, sizeof image->build_id);
    record_add_string(&writer->out, image->path);
}

/* ---- code ---- */

static bool close_code(struct file_writer *writer, struct error *error) {
    if (!writer->in_code)
        return true;
    writer->in_code = false;
    put_u32(writer->out.buffer + writer->out.record + RECORD_HEAD_BYTES + 8, writer->code_count);
    return record_end(&writer->out, error);
}

static void open_code(struct file_writer *writer, const struct item_code *code) {
    record_begin(&writer->out, code->described ? RECORD_DESCRIBED : RECORD_CODE);
    record_add_u32(&writer->out, code->process);
    record_add_u32(&writer->out, code->block);
    record_add_u32(&writer->out, 0); /* blocks, when it is closed */
    writer->in_code = true;
    writer->code_process = code->process;
    writer->code_described = code->described;
    writer->code_count = 0;
}

static bool write_code(struct file_writer *writer, const struct item_code *code,
                       struct error *error) {
    if (code->process >= writer->process_count ||
        code->block != writer->block_counts[code->process] || code->block == UINT32_MAX)
        return error_set(error, "block %" PRIu32 " of process %" PRIu32 " is out of order",
                         code->block, code->process);
    bool join = writer->in_code && writer->code_process == code->process &&
                writer->code_described == code->described &&
                writer->out.used - writer->out.record < CODE_BYTES;
    if (!join) {
        if (!close_code(writer, error))
            return false;
        open_code(writer, code);
    }
    const size_t before = writer->out.used;
    record_add_u64(&writer->out, code->address);
    record_add_u64(&writer->out, code->offset);
    record_add_u32(&writer->out, code->image);
    record_add_u32(&writer->out, code->insn_count);
    record_add_u32(&writer->out, code->size);
    record_add_bytes(&writer->out, code->bytes, item_code_bytes(code));
    if (writer->out.full) { /* the record has the blocks before this one, if any */
        writer->out.full = false;
        writer->in_code = writer->code_count > 0;
        writer->out.used = writer->in_code ? before : writer->out.record;
        return record_output_no_memory(&writer->out, error);
    }
    writer->code_count++;
    writer->block_counts[code->process]++;
    return true;
}

/* ---- events of threads ---- */

static bool close_events(struct file_writer *writer, struct error *error) {
    bool open = writer->in_events;
    writer->in_events = false;
    return !open || record_end(&writer->out, error);
}

static bool write_event(struct file_writer *writer, const struct thread_event *event,
                        struct error *error) {
    if (writer->in_events && writer->out.used - writer->out.record >= EVENTS_BYTES &&
        !close_events(writer, error))
        return false;
    if (!writer->in_events) {
        record_begin(&writer->out, RECORD_THREAD_EVENTS);
        writer->event_ticket = 0;
        writer->in_events = true;
    }
    uint8_t bytes[THREAD_EVENT_MAX_BYTES];
    record_add_bytes(&writer->out, bytes, thread_event_encode(event, &writer->event_ticket, bytes));
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
                      (struct index_entry){record_output_bytes(&writer->out), writer->instructions,
                                           data->ticket}) ||
           record_output_no_memory(&writer->out, error);
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
               : record_output_no_memory(&writer->out, error);
}

/* Coded events, compressed if asked for. */
static bool add_events(struct file_writer *writer, size_t coded_size, struct error *error) {
    if (!writer->compressor) {
        record_add_bytes(&writer->out, writer->coded, coded_size);
        return true;
    }
    size_t bound = ZSTD_compressBound(coded_size), before = writer->out.used;
    uint8_t *at = record_append(&writer->out, bound);
    if (!at)
        return record_output_no_memory(&writer->out, error);
    size_t size = ZSTD_compressCCtx(writer->compressor, at, bound, writer->coded, coded_size,
                                    COMPRESSION_LEVEL);
    if (ZSTD_isError(size))
        return error_set(error, "cannot compress trace %s: %s", writer->out.path,
                         ZSTD_getErrorName(size));
    writer->out.used = before + size;
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
        return record_output_no_memory(&writer->out, error);
    size_t coded_size = 0;
    if (!code_events(writer, data, predictor, &coded_size, error))
        return false;
    record_begin(&writer->out, RECORD_DATA);
    record_add_u32(&writer->out, data->process);
    record_add_u32(&writer->out, data->thread);
    record_add_u64(&writer->out, data->ticket);
    record_add_u64(&writer->out, data->first_insn);
    record_add_u64(&writer->out, data->insn_count);
    record_add_u32(&writer->out, data->event_count);
    record_add_u32(&writer->out, flags);
    record_add_u64(&writer->out, coded_size);
    if (!add_events(writer, coded_size, error))
        return false;
    writer->instructions += data->insn_count;
    return true;
}

/* ---- the rest ---- */

static void write_end(struct file_writer *writer, const struct trace_exit *end) {
    record_begin(&writer->out, RECORD_END);
    record_add_u32(&writer->out, end->known);
    record_add_u32(&writer->out, end->signaled);
    record_add_u32(&writer->out, (uint32_t)end->status);
    if (end->stopped)
        record_add_u32(&writer->out, true);
}

static bool write_index(struct file_writer *writer, struct error *error) {
    uint64_t offset = record_output_bytes(&writer->out);
    record_begin(&writer->out, RECORD_INDEX);
    record_add_u64(&writer->out, writer->instructions);
    record_add_u64(&writer->out, writer->index_count);
    for (uint32_t i = 0; i < writer->index_count; i++) {
        record_add_u64(&writer->out, writer->index[i].offset);
        record_add_u64(&writer->out, writer->index[i].instructions);
        record_add_u64(&writer->out, writer->index[i].ticket);
    }
    record_add_u64(&writer->out, offset);
    record_add_bytes(&writer->out, FILE_END_MAGIC, 8);
    return record_end(&writer->out, error);
}

/* As many as a record holds: the others stay without a name. */
static void write_symbols(struct file_writer *writer, const struct item_symbols *symbols) {
    uint32_t count = 0;
    for (size_t size = 8; count < symbols->count; count++) {
        size += 20 + strlen(symbols->symbols[count].name) + 1;
        if (size > RECORD_MAX_BYTES)
            break;
    }
    record_begin(&writer->out, RECORD_SYMBOLS);
    record_add_u32(&writer->out, symbols->process);
    record_add_u32(&writer->out, count);
    for (uint32_t i = 0; i < count; i++) {
        record_add_u64(&writer->out, symbols->symbols[i].start);
        record_add_u64(&writer->out, symbols->symbols[i].size);
        record_add_string(&writer->out, symbols->symbols[i].name);
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
        record_begin(&writer->out, RECORD_PYTHON);
        record_add_u32(&writer->out, item->python.process);
        record_add_u32(&writer->out, item->python.function);
        record_add_u32(&writer->out, item->python.first_line);
        record_add_string(&writer->out, item->python.name);
        record_add_string(&writer->out, item->python.path);
        return true;
    case ITEM_DATA:
        return write_data(writer, &item->data, error);
    case ITEM_THREAD_END:
        record_begin(&writer->out, RECORD_THREAD_END);
        record_add_u32(&writer->out, item->thread_ended);
        prediction_sets_forget(&writer->sets, item->thread_ended);
        return true;
    case ITEM_NOTE:
        record_begin(&writer->out, RECORD_NOTE);
        record_add_string(&writer->out, item->note);
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
    if (item->kind == ITEM_CUT)
        return writer->cut = true;
    size_t before = writer->out.used;
    if (write_record(writer, item, error) && record_end(&writer->out, error))
        return true;
    writer->out.used = before;
    return false;
}

bool file_writer_put(struct file_writer *writer, const struct item *item, struct error *error) {
    if (writer->out.broken)
        return record_output_broken(&writer->out, error);
    if (!put_item(writer, item, error)) {
        writer->out.broken = true;
        writer->out.failure = *error;
        struct error ignored;
        if (close_code(writer, &ignored) && close_events(writer, &ignored))
            record_output_flush(&writer->out, &ignored);
        return false;
    }
    return writer->in_code || writer->in_events || record_output_flush_if_due(&writer->out, error);
}

uint64_t file_writer_bytes(const struct file_writer *writer) {
    return record_output_bytes(&writer->out);
}

/* ---- beginning and end ---- */

static void free_writer(struct file_writer *writer) {
    record_output_free(&writer->out);
    prediction_sets_free(&writer->sets);
    ZSTD_freeCCtx(writer->compressor);
    free(writer->first_threads);
    free(writer->block_counts);
    free(writer->coded);
    free(writer->index);
    free(writer);
}

struct file_writer *file_writer_open(const char *path, bool compress, struct error *error) {
    struct file_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return error_null(error, "out of memory writing trace %s", path);
    prediction_sets_init(&writer->sets);
    event_packing_init(&writer->packing, event_pack_form());
    writer->out.fd = -1;
    writer->out.path = strdup(path);
    writer->compressor = compress ? ZSTD_createCCtx() : NULL;
    writer->out.waiting_since = clock_monotonic();
    uint8_t *prologue = record_append(&writer->out, FILE_PROLOGUE_BYTES);
    if (!writer->out.path || (compress && !writer->compressor) || !prologue) {
        error_set(error, "out of memory writing trace %s", path);
        free_writer(writer);
        return NULL;
    }
    memcpy(prologue, FILE_MAGIC, 8);
    put_u32(prologue + 8, FILE_VERSION);
    put_u32(prologue + 12, 0);
    if (!record_output_open(&writer->out, error)) {
        free_writer(writer);
        return NULL;
    }
    return writer;
}

/* A writer that was given nothing leaves no file, or the old one. */
static bool close_empty(struct file_writer *writer, uint64_t *bytes) {
    if (bytes)
        *bytes = 0;
    if (writer->out.created)
        unlink(writer->out.path);
    free_writer(writer);
    return true;
}

bool file_writer_close(struct file_writer *writer, uint64_t *bytes, struct error *error) {
    if (!writer->out.broken && record_output_bytes(&writer->out) == FILE_PROLOGUE_BYTES)
        return close_empty(writer, bytes);
    bool good = !writer->out.broken || record_output_broken(&writer->out, error);
    good = good && close_code(writer, error) && close_events(writer, error) &&
           (writer->cut || write_index(writer, error)) && record_output_flush(&writer->out, error);
    struct error ignored;
    record_output_settle(&writer->out, &ignored); /* where it was not good */
    if (bytes)
        *bytes = writer->out.written;
    if (!good && !writer->out.written && writer->out.created)
        unlink(writer->out.path); /* as long as it is locked: nobody else has it */
    int fd = writer->out.fd;
    writer->out.fd = -1;
    if (close(fd) != 0 && good && errno != EINTR)
        good = error_errno(error, "%s: cannot write", writer->out.path);
    free_writer(writer);
    return good;
}
