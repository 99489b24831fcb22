/* Records to items. Every size is checked before it is believed: payloads against a fixed limit,
 * counts against the bytes that are there. A file that ends in the middle, or without an INDEX
 * record, was cut short: that is an item after what was read, not an error. Everything else that is
 * wrong is an error naming the record's offset. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
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
#include "util/text.h"

enum { INPUT_BYTES = 64 << 10, DATA_HEAD_BYTES = 48 /* of its payload */ };

/* What is left of a payload. Reading past its end gives zeros and sets `bad`. */
struct payload {
    const uint8_t *at, *end;
    bool bad;
};

struct origin {
    uint32_t forker, fork; /* as of an item_process */
    uint32_t forks;        /* of this process, so far */
};

struct file_reader {
    int fd;
    char *path;
    volatile sig_atomic_t interrupted;

    uint64_t offset; /* of the next byte of the file to hand out */
    uint64_t record; /* offset of the record being read */
    size_t input_at, input_end;
    bool at_end;

    uint8_t *bytes; /* the record's payload */
    size_t bytes_capacity;
    struct payload payload;

    bool in_code;
    uint32_t code_process, code_left;
    bool in_events;
    uint64_t event_ticket; /* of the event before */

    uint32_t *block_counts; /* per process */
    size_t block_counts_capacity;
    struct origin *origins; /* per process */
    size_t origin_capacity;
    uint32_t process_count;

    struct prediction_sets sets;
    uint64_t *events;
    size_t events_capacity;
    uint8_t *coded; /* decompressed */
    size_t coded_capacity;
    ZSTD_DCtx *decompressor;

    struct code_symbol *symbols;
    size_t symbols_capacity;

    uint64_t instructions;
    bool outline; /* the events of DATA are not wanted */
    bool skips;   /* those of other threads than `only` are not even read */
    uint32_t only;
    bool begun;  /* the header was read */
    bool closed; /* the index was read: the writer had finished */
    bool told;   /* that it is cut short */
    char note[96];
    uint8_t input[INPUT_BYTES];
};

/* ---- bytes in ---- */

/* Returns how many of `size` bytes there were before the end, or -1. */
static ssize_t read_bytes(struct file_reader *reader, uint8_t *to, size_t size,
                          struct error *error) {
    size_t done = 0;
    while (done < size && !reader->at_end) {
        size_t ready = reader->input_end - reader->input_at;
        if (ready) {
            size_t n = ready < size - done ? ready : size - done;
            memcpy(to + done, reader->input + reader->input_at, n);
            reader->input_at += n;
            done += n;
            continue;
        }
        ssize_t n = read(reader->fd, reader->input, sizeof reader->input);
        if (n < 0 && errno == EINTR && !reader->interrupted)
            continue;
        if (n < 0 && errno != EINTR) {
            error_errno(error, "cannot read trace %s", reader->path);
            return -1;
        }
        reader->at_end = n <= 0;
        reader->input_at = 0;
        reader->input_end = n > 0 ? (size_t)n : 0;
    }
    reader->offset += done;
    return (ssize_t)done;
}

/* Leaves out so many bytes. 1; 0: there are not so many; −1: error. */
static int skip_bytes(struct file_reader *reader, size_t size, struct error *error) {
    const size_t ready = reader->input_end - reader->input_at;
    const size_t here = size < ready ? size : ready;
    reader->input_at += here;
    reader->offset += size;
    if (size == here)
        return 1;
    struct stat status;
    if (fstat(reader->fd, &status) != 0 ||
        (reader->offset <= (uint64_t)status.st_size &&
         lseek(reader->fd, (off_t)reader->offset, SEEK_SET) < 0)) {
        error_errno(error, "cannot read trace %s", reader->path);
        return -1;
    }
    reader->at_end = reader->offset > (uint64_t)status.st_size;
    return !reader->at_end;
}

static void where(void *context, char *text, size_t text_size) {
    const struct file_reader *reader = context;
    snprintf(text, text_size, "%s, record at byte %" PRIu64, reader->path, reader->record);
}

/* Always −1. */
static int bad_record(const struct file_reader *reader, struct error *error, const char *what) {
    error_set(error, "%s, record at byte %" PRIu64 ": %s; the file is damaged", reader->path,
              reader->record, what);
    return -1;
}

static int out_of_memory(const struct file_reader *reader, struct error *error) {
    error_set(error, "out of memory reading trace %s", reader->path);
    return -1;
}

/* ---- payloads ---- */

static const uint8_t *take(struct payload *payload, size_t size) {
    static const uint8_t zeros[32];
    if (size > (size_t)(payload->end - payload->at)) {
        payload->bad = true;
        return size <= sizeof zeros ? zeros : NULL;
    }
    const uint8_t *at = payload->at;
    payload->at += size;
    return at;
}

static uint32_t take_u32(struct payload *payload) {
    return get_u32(take(payload, 4));
}
static uint64_t take_u64(struct payload *payload) {
    return get_u64(take(payload, 8));
}
static bool take_bool(struct payload *payload) {
    uint32_t value = take_u32(payload);
    payload->bad |= value > 1;
    return value;
}

/* NULL for an absent string; `required` ones are then bad. */
static const char *take_string(struct payload *payload, bool required) {
    uint32_t size = take_u32(payload);
    if (size == 0) {
        payload->bad |= required;
        return required ? "" : NULL;
    }
    const uint8_t *at = take(payload, size);
    if (payload->bad || memchr(at, 0, size) != at + size - 1) {
        payload->bad = true;
        return "";
    }
    return (const char *)at;
}

static void take_header(struct payload *payload, struct item_header *header) {
    const uint8_t *at = take(payload, 4);
    payload->bad |= at[0] >= ISA_COUNT || at[1] > 1 || at[2] || at[3];
    header->isa = at[0];
    header->addresses = at[1] & 1;
    header->command = take_string(payload, true);
    header->host = take_string(payload, true);
}

static void take_process(struct payload *payload, struct item_process *process) {
    process->process = take_u32(payload);
    process->pid = take_u32(payload);
    process->parent = take_u32(payload);
    process->generation = take_u32(payload);
    process->traced = take_bool(payload);
    process->command = take_string(payload, true);
    process->executable = take_string(payload, true);
    process->untraced_reason = take_string(payload, false);
}

static void take_image(struct payload *payload, struct item_image *image) {
    image->process = take_u32(payload);
    image->image = take_u32(payload);
    image->start = take_u64(payload);
    image->end = take_u64(payload);
    image->file_offset = take_u64(payload);
    uint32_t kind = take_u32(payload), build_id_size = take_u32(payload);
    payload->bad |= kind > CODE_IMAGE_ANONYMOUS || build_id_size > sizeof image->build_id;
    image->kind = kind <= CODE_IMAGE_ANONYMOUS ? (enum code_image_kind)kind : CODE_IMAGE_ANONYMOUS;
    image->build_id_size = (uint8_t)(payload->bad ? 0 : build_id_size);
    memcpy(image->build_id, take(payload, sizeof image->build_id), sizeof image->build_id);
    image->path = take_string(payload, true);
}

static void take_exit(struct payload *payload, struct trace_exit *end) {
    end->known = take_bool(payload);
    end->signaled = take_bool(payload);
    end->status = (int)take_u32(payload);
}

/* ---- records with state ---- */

/* The file does not tell forks apart from each other: they are taken to be in the order of numbers.
 */
static void find_origin(struct file_reader *reader, struct item_process *process) {
    struct origin *origin = &reader->origins[process->process];
    bool known = process->parent < process->process;
    if (known && process->generation > 0)
        *origin = reader->origins[process->parent];
    else
        *origin = (struct origin){.forker = known ? process->parent : UINT32_MAX,
                                  .fork = known ? reader->origins[process->parent].forks++ : 0};
    origin->forks = 0;
    process->forker = origin->forker;
    process->fork = origin->fork;
    process->known = UINT32_MAX;
}

static int count_process(struct file_reader *reader, struct item_process *process,
                         struct error *error) {
    if (process->process != reader->process_count)
        return bad_record(reader, error, "processes are out of order");
    if (!array_room(reader->block_counts, reader->block_counts_capacity,
                    (size_t)reader->process_count + 1) ||
        !array_room(reader->origins, reader->origin_capacity, (size_t)reader->process_count + 1))
        return out_of_memory(reader, error);
    reader->block_counts[reader->process_count++] = 0;
    find_origin(reader, process);
    return 1;
}

static int begin_code(struct file_reader *reader, struct error *error) {
    reader->code_process = take_u32(&reader->payload);
    uint32_t first = take_u32(&reader->payload);
    reader->code_left = take_u32(&reader->payload);
    if (reader->payload.bad || reader->code_process >= reader->process_count)
        return bad_record(reader, error, "code of no known process");
    if (first != reader->block_counts[reader->code_process] ||
        reader->code_left > (size_t)(reader->payload.end - reader->payload.at) / 28)
        return bad_record(reader, error, "blocks are out of order, or too many");
    reader->in_code = true;
    return 1;
}

static int next_block(struct file_reader *reader, struct item *item, struct error *error) {
    struct payload *payload = &reader->payload;
    item->kind = ITEM_CODE;
    struct item_code *code = &item->code;
    code->process = reader->code_process;
    code->block = reader->block_counts[reader->code_process];
    code->address = take_u64(payload);
    code->offset = take_u64(payload);
    code->image = take_u32(payload);
    code->insn_count = take_u32(payload);
    code->size = take_u32(payload);
    code->bytes = take(payload, code->size);
    if (payload->bad)
        return bad_record(reader, error, "a block is cut short");
    reader->block_counts[reader->code_process]++;
    reader->code_left--;
    return 1;
}

static int next_event(struct file_reader *reader, struct item *item, struct error *error) {
    struct payload *payload = &reader->payload;
    item->kind = ITEM_THREAD_EVENT;
    payload->at =
        thread_event_decode(payload->at, payload->end, &reader->event_ticket, &item->event);
    if (!payload->at || item->event.process >= reader->process_count)
        return bad_record(reader, error, "an event of a thread is malformed");
    reader->in_events = payload->at != payload->end;
    return 1;
}

static int begin_events(struct file_reader *reader, struct error *error) {
    reader->event_ticket = 0;
    reader->in_events = true;
    return reader->payload.at != reader->payload.end
               ? 1
               : bad_record(reader, error, "it has no events of threads");
}

/* The coded events of a chunk, decompressed; NULL with an error. */
static const uint8_t *coded_events(struct file_reader *reader, bool compressed, size_t coded_size,
                                   struct error *error) {
    struct payload *payload = &reader->payload;
    size_t stored = (size_t)(payload->end - payload->at);
    const uint8_t *at = take(payload, stored);
    if (!compressed) {
        if (stored == coded_size)
            return at;
        bad_record(reader, error, "its sizes disagree");
        return NULL;
    }
    if (!reader->decompressor)
        reader->decompressor = ZSTD_createDCtx();
    if (!reader->decompressor || !array_reserve((void **)&reader->coded, &reader->coded_capacity,
                                                coded_size + EVENT_CODE_SLACK, 1)) {
        out_of_memory(reader, error);
        return NULL;
    }
    size_t size = ZSTD_decompressDCtx(reader->decompressor, reader->coded, coded_size, at, stored);
    if (ZSTD_isError(size) || size != coded_size) {
        bad_record(reader, error, "its compressed data is malformed");
        return NULL;
    }
    return reader->coded;
}

/* The predictions of a chunk; NULL with an error. */
static struct event_predictor *take_set(struct file_reader *reader, const struct item_data *data,
                                        uint32_t flags, struct error *error) {
    bool fresh;
    struct event_predictor *predictor =
        prediction_sets_take(&reader->sets, data->process, data->thread, flags & DATA_OWN,
                             reader->block_counts[data->process], &fresh);
    if (!predictor) {
        out_of_memory(reader, error);
    } else if (flags & DATA_RESET) {
        event_predictor_reset(predictor);
    } else if (fresh) {
        bad_record(reader, error, "it goes on with predictions that are not there");
        return NULL;
    }
    return predictor;
}

static int take_data(struct file_reader *reader, struct item_data *data, struct error *error) {
    struct payload *payload = &reader->payload;
    data->process = take_u32(payload);
    data->thread = take_u32(payload);
    data->ticket = take_u64(payload);
    data->first_insn = take_u64(payload);
    data->insn_count = take_u64(payload);
    data->event_count = take_u32(payload);
    uint32_t flags = take_u32(payload);
    uint64_t coded_size = take_u64(payload);
    if (payload->bad || data->process >= reader->process_count ||
        (flags & ~(uint32_t)(DATA_RESET | DATA_COMPRESSED | DATA_OWN)))
        return bad_record(reader, error, "it is malformed");
    if (data->event_count > EVENT_CODE_MAX_EVENTS || coded_size > RECORD_MAX_BYTES ||
        (data->event_count + 3) / 4 > coded_size)
        return bad_record(reader, error, "it has absurd sizes");
    reader->instructions += data->insn_count;
    if (reader->outline || (reader->skips && data->thread != reader->only)) {
        data->event_count = 0;
        payload->at = payload->end;
        return 1;
    }
    struct event_predictor *predictor = take_set(reader, data, flags, error);
    if (!predictor)
        return -1;
    if (!array_room(reader->events, reader->events_capacity, data->event_count + 1))
        return out_of_memory(reader, error);
    const uint8_t *coded = coded_events(reader, flags & DATA_COMPRESSED, coded_size, error);
    if (!coded)
        return -1;
    struct error detail;
    if (!event_decode(predictor, reader->block_counts[data->process], coded, coded_size,
                      reader->events, data->event_count, &detail))
        return bad_record(reader, error, detail.message);
    data->events = reader->events;
    return 1;
}

/* Sorted, apart from each other, each with a name. */
static int take_symbols(struct file_reader *reader, struct item_symbols *symbols,
                        struct error *error) {
    struct payload *payload = &reader->payload;
    symbols->process = take_u32(payload);
    symbols->count = take_u32(payload);
    if (payload->bad || symbols->process >= reader->process_count ||
        symbols->count > (size_t)(payload->end - payload->at) / 22)
        return bad_record(reader, error, "it is malformed");
    if (!array_room(reader->symbols, reader->symbols_capacity, symbols->count + 1))
        return out_of_memory(reader, error);
    uint64_t end = 0;
    for (uint32_t i = 0; i < symbols->count; i++) {
        struct code_symbol *symbol = &reader->symbols[i];
        symbol->start = take_u64(payload);
        symbol->size = take_u64(payload);
        symbol->name = take_string(payload, true);
        payload->bad |= symbol->start < end || !symbol->size || !symbol->name[0] ||
                        __builtin_add_overflow(symbol->start, symbol->size, &end);
        if (payload->bad)
            return bad_record(reader, error, "a symbol is malformed");
    }
    symbols->symbols = reader->symbols;
    return 1;
}

/* The index is checked against what was read. 0: the end of the trace. */
static int read_index(struct file_reader *reader, struct error *error) {
    struct payload *payload = &reader->payload;
    uint64_t instructions = take_u64(payload), count = take_u64(payload);
    if (count <= INDEX_MAX_ENTRIES)
        take(payload, (size_t)count * INDEX_ENTRY_BYTES);
    uint64_t offset = take_u64(payload);
    if (payload->bad || count > INDEX_MAX_ENTRIES || offset != reader->record ||
        memcmp(take(payload, 8), FILE_END_MAGIC, 8) != 0 || payload->at != payload->end)
        return bad_record(reader, error, "the index is malformed");
    if (instructions != reader->instructions)
        return bad_record(reader, error, "the index counts other instructions than the trace has");
    uint8_t more;
    ssize_t n = read_bytes(reader, &more, 1, error);
    if (n > 0)
        return bad_record(reader, error, "something follows the end");
    reader->closed = true;
    return (int)n;
}

/* ---- records ---- */

/* Of a DATA record of another thread than the one wanted only the head is read. The checksum is
 * then not known to be right. */
static int read_payload(struct file_reader *reader, const uint8_t *head, uint32_t size,
                        struct error *error) {
    const bool may_skip = reader->skips && get_u32(head) == RECORD_DATA && size > DATA_HEAD_BYTES;
    size_t first = may_skip ? DATA_HEAD_BYTES : size, taken = first;
    if (!array_room(reader->bytes, reader->bytes_capacity, first + EVENT_CODE_SLACK))
        return out_of_memory(reader, error);
    ssize_t n = read_bytes(reader, reader->bytes, first, error);
    if (n < (ssize_t)first)
        return n < 0 ? -1 : 0;
    const bool skipped = may_skip && get_u32(reader->bytes + 4) != reader->only;
    if (skipped) {
        const int status = skip_bytes(reader, size - first, error);
        if (status <= 0)
            return status;
    } else {
        if (!array_room(reader->bytes, reader->bytes_capacity, (size_t)size + EVENT_CODE_SLACK))
            return out_of_memory(reader, error);
        n = read_bytes(reader, reader->bytes + first, size - first, error);
        if (n < (ssize_t)(size - first))
            return n < 0 ? -1 : 0;
        taken = size;
    }
    memset(reader->bytes + taken, 0, EVENT_CODE_SLACK);
    if (!skipped && record_checksum(head, reader->bytes, size) != get_u64(head + 8))
        return bad_record(reader, error, "its checksum is wrong");
    reader->payload = (struct payload){reader->bytes, reader->bytes + taken, false};
    return 1;
}

/* Reads the next record's payload. 1: *type is set; 0: the end, or cut short; −1: error. */
static int read_record(struct file_reader *reader, uint32_t *type, struct error *error) {
    uint8_t header[RECORD_HEAD_BYTES];
    reader->record = reader->offset;
    ssize_t n = read_bytes(reader, header, sizeof header, error);
    if (n < (ssize_t)sizeof header)
        return n < 0 ? -1 : 0;
    *type = get_u32(header);
    uint32_t size = get_u32(header + 4);
    if (*type == 0 || *type >= RECORD_TYPE_COUNT)
        return bad_record(reader, error, "it is of no known type");
    if (size > RECORD_MAX_BYTES)
        return bad_record(reader, error, "it has an absurd size");
    return read_payload(reader, header, size, error);
}

static int parse_record(struct file_reader *reader, uint32_t type, struct item *item,
                        struct error *error) {
    struct payload *payload = &reader->payload;
    int status = 1;
    if ((type == RECORD_HEADER) == reader->begun)
        return bad_record(reader, error, "the header is missing or not the first record");
    switch ((enum record_type)type) {
    case RECORD_HEADER:
        item->kind = ITEM_HEADER;
        take_header(payload, &item->header);
        reader->begun = true;
        break;
    case RECORD_PROCESS:
        item->kind = ITEM_PROCESS;
        take_process(payload, &item->process);
        if (!payload->bad)
            status = count_process(reader, &item->process, error);
        break;
    case RECORD_IMAGE:
        item->kind = ITEM_IMAGE;
        take_image(payload, &item->image);
        break;
    case RECORD_DATA:
        item->kind = ITEM_DATA;
        status = take_data(reader, &item->data, error);
        break;
    case RECORD_SYMBOLS:
        item->kind = ITEM_SYMBOLS;
        status = take_symbols(reader, &item->symbols, error);
        break;
    case RECORD_PYTHON:
        item->kind = ITEM_PYTHON;
        item->python.process = take_u32(payload);
        item->python.function = take_u32(payload);
        item->python.first_line = take_u32(payload);
        item->python.name = take_string(payload, true);
        item->python.path = take_string(payload, true);
        break;
    case RECORD_THREAD_END:
        item->kind = ITEM_THREAD_END;
        item->thread_ended = take_u32(payload);
        prediction_sets_forget(&reader->sets, item->thread_ended);
        break;
    case RECORD_NOTE:
        item->kind = ITEM_NOTE;
        item->note = take_string(payload, true);
        break;
    case RECORD_END:
        item->kind = ITEM_END;
        take_exit(payload, &item->end);
        break;
    case RECORD_CODE:
    case RECORD_THREAD_EVENTS:
    case RECORD_INDEX:
    case RECORD_TYPE_COUNT:
        return bad_record(reader, error, "it is of no known type");
    }
    if (status > 0 && (payload->bad || payload->at != payload->end))
        return bad_record(reader, error, "it is malformed");
    return status;
}

/* The end of what is there. */
static int finish(struct file_reader *reader, struct item *item, struct error *error) {
    if (!reader->begun) {
        error_set(error, "%s is cut short before its first record", reader->path);
        return -1;
    }
    if (reader->closed || reader->interrupted)
        return 0;
    reader->told = true;
    snprintf(reader->note, sizeof reader->note,
             "the trace is cut short after %" PRIu64 " instruction%s", reader->instructions,
             text_plural(reader->instructions));
    item->kind = ITEM_CUT;
    item->note = reader->note;
    return 1;
}

static int next(void *context, struct item *item, struct error *error) {
    struct file_reader *reader = context;
    for (;;) {
        if (reader->in_code && reader->code_left > 0)
            return next_block(reader, item, error);
        if (reader->in_code && reader->payload.at != reader->payload.end)
            return bad_record(reader, error, "bytes are left over after its last block");
        reader->in_code = false;
        if (reader->in_events)
            return next_event(reader, item, error);
        if (reader->closed || reader->told || reader->interrupted)
            return 0;
        uint32_t type;
        int status = read_record(reader, &type, error);
        if (status < 0)
            return -1;
        if (status == 0)
            return finish(reader, item, error);
        if (type == RECORD_CODE && reader->begun) {
            if (begin_code(reader, error) < 0)
                return -1;
        } else if (type == RECORD_THREAD_EVENTS && reader->begun) {
            if (begin_events(reader, error) < 0)
                return -1;
        } else if (type == RECORD_INDEX && reader->begun) {
            if (read_index(reader, error) < 0)
                return -1;
        } else {
            return parse_record(reader, type, item, error);
        }
    }
}

/* ---- one thread alone ---- */

/* Whether no set of predictions is used by two threads, as in files of before sets of threads. */
static bool has_sets_of_threads(const struct file_reader *reader) {
    uint8_t head[RECORD_HEAD_BYTES + DATA_HEAD_BYTES];
    struct key_numbers processes = {0};
    uint32_t *first_threads = NULL; /* by number */
    size_t capacity = 0;
    uint64_t at = FILE_PROLOGUE_BYTES;
    bool answer = true, more = true;
    for (; more; at += RECORD_HEAD_BYTES + get_u32(head + 4)) {
        const ssize_t n = pread(reader->fd, head, sizeof head, (off_t)at);
        if (n < RECORD_HEAD_BYTES || (get_u32(head) == RECORD_DATA && n < (ssize_t)sizeof head))
            break; /* no DATA follows */
        if (get_u32(head) != RECORD_DATA)
            continue;
        const uint8_t *data = head + RECORD_HEAD_BYTES;
        const size_t known = processes.count;
        const uint32_t process = key_numbers_add(&processes, get_u32(data));
        answer = process != UINT32_MAX && array_room(first_threads, capacity, processes.count);
        if (answer && processes.count > known)
            first_threads[process] = get_u32(data + 4);
        const bool own = get_u32(data + 36) & DATA_OWN;
        answer = answer && first_threads && (own || first_threads[process] == get_u32(data + 4));
        more = answer && !own;
    }
    key_numbers_free(&processes);
    free(first_threads);
    return answer;
}

static void only(void *context, uint32_t thread) {
    struct file_reader *reader = context;
    struct stat status;
    reader->outline |= thread == SOURCE_NO_THREAD;
    reader->only = thread;
    reader->skips = !reader->outline && fstat(reader->fd, &status) == 0 &&
                    S_ISREG(status.st_mode) && has_sets_of_threads(reader);
}

/* ---- beginning and end ---- */

static void interrupt(void *context) {
    struct file_reader *reader = context;
    reader->interrupted = 1;
}

static void close_reader(void *context) {
    struct file_reader *reader = context;
    if (reader->fd >= 0)
        close(reader->fd);
    prediction_sets_free(&reader->sets);
    ZSTD_freeDCtx(reader->decompressor);
    free(reader->block_counts);
    free(reader->symbols);
    free(reader->origins);
    free(reader->events);
    free(reader->coded);
    free(reader->bytes);
    free(reader->path);
    free(reader);
}

static bool check_prologue(struct file_reader *reader, struct error *error) {
    uint8_t prologue[FILE_PROLOGUE_BYTES];
    ssize_t n = read_bytes(reader, prologue, sizeof prologue, error);
    if (n < 0)
        return false;
    if (n == 0)
        return error_set(error, "trace %s is empty", reader->path);
    if (memcmp(prologue, FILE_MAGIC, n < 8 ? (size_t)n : 8) != 0)
        return error_set(error, "%s is not a trace made by culprit trace", reader->path);
    if (n < (ssize_t)sizeof prologue)
        return error_set(error, "%s is cut short before its first record", reader->path);
    if (get_u32(prologue + 8) != FILE_VERSION || get_u32(prologue + 12) != 0)
        return error_set(error,
                         "trace %s has format version %" PRIu32 "; this culprit reads version %d",
                         reader->path, get_u32(prologue + 8), FILE_VERSION);
    return true;
}

static bool open_reader(const char *path, bool outline, struct item_source *source,
                        struct error *error) {
    struct file_reader *reader = malloc(sizeof *reader);
    if (!reader)
        return error_set(error, "out of memory reading trace %s", path);
    memset(reader, 0, offsetof(struct file_reader, input));
    prediction_sets_init(&reader->sets);
    bool standard = strcmp(path, "-") == 0;
    reader->fd = -1;
    reader->outline = outline;
    reader->path = strdup(standard ? "standard input" : path);
    if (!reader->path) {
        close_reader(reader);
        return error_set(error, "out of memory reading trace %s", path);
    }
    reader->fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                          : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (reader->fd < 0)
        error_errno(error, "cannot open trace %s", reader->path);
    if (reader->fd < 0 || !check_prologue(reader, error)) {
        close_reader(reader);
        return false;
    }
    *source = (struct item_source){.next = next,
                                   .where = where,
                                   .interrupt = interrupt,
                                   .only = only,
                                   .close = close_reader,
                                   .context = reader};
    return true;
}

bool file_source_open(const char *path, struct item_source *source, struct error *error) {
    return open_reader(path, false, source, error);
}

bool file_source_open_outline(const char *path, struct item_source *source, struct error *error) {
    return open_reader(path, true, source, error);
}
