/* Records to items. Every size is checked before it is believed: payloads against a fixed limit,
 * counts against the bytes that are there. A file that ends in the middle, or without an INDEX
 * record, was cut short: that is an item after what was read, not an error. Everything else that is
 * wrong is an error naming the record's offset. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "trace/event_code.h"
#include "trace/file_format.h"
#include "trace/foreign/foreign.h"
#include "trace/item.h"
#include "trace/prediction_sets.h"
#include "trace/record_input.h"
#include "trace/thread_event_code.h"
#include "util/array.h"
#include "util/text.h"

enum { PART_CHUNKS = 16 /* of each set of predictions since its reset, where parts are decoded */ };

struct origin {
    uint32_t forker, fork; /* as of an item_process */
    uint32_t forks;        /* of this process, so far */
};

struct file_reader {
    bool in_code, code_described;
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
    bool parts;   /* or only of the first chunks after each reset of predictions */
    bool begun;   /* the header was read */
    bool closed;  /* the index was read: the writer had finished */
    bool told;    /* that it is cut short */
    char note[96];
    struct record_input input;
};

static void where(void *context, char *text, size_t text_size) {
    const struct file_reader *reader = context;
    snprintf(text, text_size, "%s, record at byte %" PRIu64, reader->input.path,
             reader->input.record);
}

/* ---- payloads ---- */

static void take_header(struct payload *payload, struct item_header *header) {
    const uint8_t *at = payload_bytes(payload, 4);
    payload->bad |= at[0] >= ISA_COUNT || at[1] > 1 || at[2] || at[3];
    header->isa = at[0];
    header->addresses = at[1] & 1;
    header->command = payload_string(payload, true);
    header->host = payload_string(payload, true);
}

static void take_process(struct payload *payload, struct item_process *process) {
    process->process = payload_u32(payload);
    process->pid = payload_u32(payload);
    process->parent = payload_u32(payload);
    process->generation = payload_u32(payload);
    process->traced = payload_bool(payload);
    process->command = payload_string(payload, true);
    process->executable = payload_string(payload, true);
    process->untraced_reason = payload_string(payload, false);
}

static void take_image(struct payload *payload, struct item_image *image) {
    image->process = payload_u32(payload);
    image->image = payload_u32(payload);
    image->start = payload_u64(payload);
    image->end = payload_u64(payload);
    image->file_offset = payload_u64(payload);
    uint32_t kind = payload_u32(payload), build_id_size = payload_u32(payload);
    payload->bad |= kind > CODE_IMAGE_ANONYMOUS || build_id_size > sizeof image->build_id;
    image->kind = kind <= CODE_IMAGE_ANONYMOUS ? (enum code_image_kind)kind : CODE_IMAGE_ANONYMOUS;
    image->build_id_size = (uint8_t)(payload->bad ? 0 : build_id_size);
    memcpy(image->build_id, payload_bytes(payload, sizeof image->build_id), sizeof image->build_id);
    image->path = payload_string(payload, true);
}

static void take_exit(struct payload *payload, struct trace_exit *end) {
    end->known = payload_bool(payload);
    end->signaled = payload_bool(payload);
    end->status = (int)payload_u32(payload);
    end->stopped = !end->known && payload->at < payload->end && payload_bool(payload);
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
        return record_input_bad(&reader->input, error, "processes are out of order");
    if (!array_room(reader->block_counts, reader->block_counts_capacity,
                    (size_t)reader->process_count + 1) ||
        !array_room(reader->origins, reader->origin_capacity, (size_t)reader->process_count + 1))
        return record_input_no_memory(&reader->input, error);
    reader->block_counts[reader->process_count++] = 0;
    find_origin(reader, process);
    return 1;
}

static int begin_code(struct file_reader *reader, bool described, struct error *error) {
    reader->code_described = described;
    reader->code_process = payload_u32(&reader->input.payload);
    uint32_t first = payload_u32(&reader->input.payload);
    reader->code_left = payload_u32(&reader->input.payload);
    if (reader->input.payload.bad || reader->code_process >= reader->process_count)
        return record_input_bad(&reader->input, error, "code of no known process");
    if (first != reader->block_counts[reader->code_process] ||
        reader->code_left > (size_t)(reader->input.payload.end - reader->input.payload.at) / 28)
        return record_input_bad(&reader->input, error, "blocks are out of order, or too many");
    reader->in_code = true;
    return 1;
}

static int next_block(struct file_reader *reader, struct item *item, struct error *error) {
    struct payload *payload = &reader->input.payload;
    item->kind = ITEM_CODE;
    struct item_code *code = &item->code;
    code->process = reader->code_process;
    code->block = reader->block_counts[reader->code_process];
    code->address = payload_u64(payload);
    code->offset = payload_u64(payload);
    code->image = payload_u32(payload);
    code->insn_count = payload_u32(payload);
    code->size = payload_u32(payload);
    code->described = reader->code_described;
    code->bytes = payload_bytes(payload, item_code_bytes(code));
    if (payload->bad)
        return record_input_bad(&reader->input, error, "a block is cut short");
    reader->block_counts[reader->code_process]++;
    reader->code_left--;
    return 1;
}

static int next_event(struct file_reader *reader, struct item *item, struct error *error) {
    struct payload *payload = &reader->input.payload;
    item->kind = ITEM_THREAD_EVENT;
    payload->at =
        thread_event_decode(payload->at, payload->end, &reader->event_ticket, &item->event);
    if (!payload->at || item->event.process >= reader->process_count)
        return record_input_bad(&reader->input, error, "an event of a thread is malformed");
    reader->in_events = payload->at != payload->end;
    return 1;
}

static int begin_events(struct file_reader *reader, struct error *error) {
    reader->event_ticket = 0;
    reader->in_events = true;
    return reader->input.payload.at != reader->input.payload.end
               ? 1
               : record_input_bad(&reader->input, error, "it has no events of threads");
}

/* The coded events of a chunk, decompressed; NULL with an error. */
static const uint8_t *coded_events(struct file_reader *reader, bool compressed, size_t coded_size,
                                   struct error *error) {
    struct payload *payload = &reader->input.payload;
    size_t stored = (size_t)(payload->end - payload->at);
    const uint8_t *at = payload_bytes(payload, stored);
    if (!compressed) {
        if (stored == coded_size)
            return at;
        record_input_bad(&reader->input, error, "its sizes disagree");
        return NULL;
    }
    if (!reader->decompressor)
        reader->decompressor = ZSTD_createDCtx();
    if (!reader->decompressor || !array_reserve((void **)&reader->coded, &reader->coded_capacity,
                                                coded_size + EVENT_CODE_SLACK, 1)) {
        record_input_no_memory(&reader->input, error);
        return NULL;
    }
    size_t size = ZSTD_decompressDCtx(reader->decompressor, reader->coded, coded_size, at, stored);
    if (ZSTD_isError(size) || size != coded_size) {
        record_input_bad(&reader->input, error, "its compressed data is malformed");
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
        record_input_no_memory(&reader->input, error);
    } else if (flags & DATA_RESET) {
        event_predictor_reset(predictor);
    } else if (fresh) {
        record_input_bad(&reader->input, error, "it goes on with predictions that are not there");
        return NULL;
    }
    return predictor;
}

static int leave_out_events(struct payload *payload, struct item_data *data) {
    data->event_count = 0;
    data->events = NULL;
    payload->at = payload->end;
    return 1;
}

static int take_data(struct file_reader *reader, struct item_data *data, struct error *error) {
    struct payload *payload = &reader->input.payload;
    *data = (struct item_data){0};
    data->process = payload_u32(payload);
    data->thread = payload_u32(payload);
    data->ticket = payload_u64(payload);
    data->first_insn = payload_u64(payload);
    data->insn_count = payload_u64(payload);
    data->event_count = payload_u32(payload);
    uint32_t flags = payload_u32(payload);
    uint64_t coded_size = payload_u64(payload);
    if (payload->bad || data->process >= reader->process_count ||
        (flags & ~(uint32_t)(DATA_RESET | DATA_COMPRESSED | DATA_OWN)))
        return record_input_bad(&reader->input, error, "it is malformed");
    if (data->event_count > EVENT_CODE_MAX_EVENTS || coded_size > RECORD_MAX_BYTES ||
        (data->event_count + 3) / 4 > coded_size)
        return record_input_bad(&reader->input, error, "it has absurd sizes");
    reader->instructions += data->insn_count;
    if (reader->outline || (reader->input.skips && data->thread != reader->input.only))
        return leave_out_events(payload, data);
    struct event_predictor *predictor = take_set(reader, data, flags, error);
    if (!predictor)
        return -1;
    if (reader->parts && predictor->chunks >= PART_CHUNKS)
        return leave_out_events(payload, data);
    if (!array_room(reader->events, reader->events_capacity, data->event_count + 1))
        return record_input_no_memory(&reader->input, error);
    const uint8_t *coded = coded_events(reader, flags & DATA_COMPRESSED, coded_size, error);
    if (!coded)
        return -1;
    struct error detail;
    if (!event_decode(predictor, reader->block_counts[data->process], coded, coded_size,
                      reader->events, data->event_count, &detail))
        return record_input_bad(&reader->input, error, detail.message);
    data->events = reader->events;
    return 1;
}

/* Sorted, apart from each other, each with a name. */
static int take_symbols(struct file_reader *reader, struct item_symbols *symbols,
                        struct error *error) {
    struct payload *payload = &reader->input.payload;
    symbols->process = payload_u32(payload);
    symbols->count = payload_u32(payload);
    if (payload->bad || symbols->process >= reader->process_count ||
        symbols->count > (size_t)(payload->end - payload->at) / 22)
        return record_input_bad(&reader->input, error, "it is malformed");
    if (!array_room(reader->symbols, reader->symbols_capacity, symbols->count + 1))
        return record_input_no_memory(&reader->input, error);
    uint64_t end = 0;
    for (uint32_t i = 0; i < symbols->count; i++) {
        struct code_symbol *symbol = &reader->symbols[i];
        symbol->start = payload_u64(payload);
        symbol->size = payload_u64(payload);
        symbol->name = payload_string(payload, true);
        payload->bad |= symbol->start < end || !symbol->size || !symbol->name[0] ||
                        __builtin_add_overflow(symbol->start, symbol->size, &end);
        if (payload->bad)
            return record_input_bad(&reader->input, error, "a symbol is malformed");
    }
    symbols->symbols = reader->symbols;
    return 1;
}

/* The index is checked against what was read. 0: the end of the trace. */
static int read_index(struct file_reader *reader, struct error *error) {
    struct payload *payload = &reader->input.payload;
    uint64_t instructions = payload_u64(payload), count = payload_u64(payload);
    if (count <= INDEX_MAX_ENTRIES)
        payload_bytes(payload, (size_t)count * INDEX_ENTRY_BYTES);
    uint64_t offset = payload_u64(payload);
    if (payload->bad || count > INDEX_MAX_ENTRIES || offset != reader->input.record ||
        memcmp(payload_bytes(payload, 8), FILE_END_MAGIC, 8) != 0 || payload->at != payload->end)
        return record_input_bad(&reader->input, error, "the index is malformed");
    if (instructions != reader->instructions)
        return record_input_bad(&reader->input, error,
                                "the index counts other instructions than the trace has");
    uint8_t more;
    ssize_t n = record_input_bytes(&reader->input, &more, 1, error);
    if (n > 0)
        return record_input_bad(&reader->input, error, "something follows the end");
    reader->closed = true;
    return (int)n;
}

/* ---- records ---- */

static int parse_record(struct file_reader *reader, uint32_t type, struct item *item,
                        struct error *error) {
    struct payload *payload = &reader->input.payload;
    int status = 1;
    if ((type == RECORD_HEADER) == reader->begun)
        return record_input_bad(&reader->input, error,
                                "the header is missing or not the first record");
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
        item->python.process = payload_u32(payload);
        item->python.function = payload_u32(payload);
        item->python.first_line = payload_u32(payload);
        item->python.name = payload_string(payload, true);
        item->python.path = payload_string(payload, true);
        break;
    case RECORD_THREAD_END:
        item->kind = ITEM_THREAD_END;
        item->thread_ended = payload_u32(payload);
        prediction_sets_forget(&reader->sets, item->thread_ended);
        break;
    case RECORD_NOTE:
        item->kind = ITEM_NOTE;
        item->note = payload_string(payload, true);
        break;
    case RECORD_END:
        item->kind = ITEM_END;
        take_exit(payload, &item->end);
        break;
    case RECORD_CODE:
    case RECORD_DESCRIBED:
    case RECORD_THREAD_EVENTS:
    case RECORD_INDEX:
    case RECORD_TYPE_COUNT:
        return record_input_bad(&reader->input, error, "it is of no known type");
    }
    if (status > 0 && (payload->bad || payload->at != payload->end))
        return record_input_bad(&reader->input, error, "it is malformed");
    return status;
}

/* The end of what is there. */
static int finish(struct file_reader *reader, struct item *item, struct error *error) {
    if (!reader->begun) {
        error_set(error, "%s is cut short before its first record", reader->input.path);
        return -1;
    }
    if (reader->closed || reader->input.interrupted)
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
        if (reader->in_code && reader->input.payload.at != reader->input.payload.end)
            return record_input_bad(&reader->input, error,
                                    "bytes are left over after its last block");
        reader->in_code = false;
        if (reader->in_events)
            return next_event(reader, item, error);
        if (reader->closed || reader->told || reader->input.interrupted)
            return 0;
        uint32_t type;
        int status = record_input_next(&reader->input, &type, error);
        if (status < 0)
            return -1;
        if (status == 0)
            return finish(reader, item, error);
        if ((type == RECORD_CODE || type == RECORD_DESCRIBED) && reader->begun) {
            if (begin_code(reader, type == RECORD_DESCRIBED, error) < 0)
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

static void only(void *context, uint32_t thread) {
    struct file_reader *reader = context;
    reader->outline |= thread == SOURCE_NO_THREAD;
    if (!reader->outline)
        record_input_only(&reader->input, thread);
}

/* ---- beginning and end ---- */

static void interrupt(void *context) {
    struct file_reader *reader = context;
    reader->input.interrupted = 1;
}

static void close_reader(void *context) {
    struct file_reader *reader = context;
    record_input_close(&reader->input);
    prediction_sets_free(&reader->sets);
    ZSTD_freeDCtx(reader->decompressor);
    free(reader->block_counts);
    free(reader->symbols);
    free(reader->origins);
    free(reader->events);
    free(reader->coded);
    free(reader);
}

static bool is_own(const uint8_t *prologue, size_t size) {
    return memcmp(prologue, FILE_MAGIC, size < 8 ? size : 8) == 0;
}

static bool check_prologue(struct file_reader *reader, const uint8_t *prologue, size_t n,
                           struct error *error) {
    if (n < FILE_PROLOGUE_BYTES)
        return error_set(error, "%s is cut short before its first record", reader->input.path);
    if (get_u32(prologue + 8) != FILE_VERSION || get_u32(prologue + 12) != 0)
        return error_set(error,
                         "trace %s has format version %" PRIu32 "; this culprit reads version %d",
                         reader->input.path, get_u32(prologue + 8), FILE_VERSION);
    return true;
}

/* What is no file of ours may be of another tool. Takes the input from the reader. */
static bool open_foreign(struct file_reader *reader, const uint8_t *prologue, size_t size,
                         struct item_source *source, struct error *error) {
    struct record_input *input = malloc(sizeof *input);
    if (!input)
        return error_set(error, "out of memory reading trace %s", reader->input.path);
    *input = reader->input;
    reader->input.fd = -1;
    reader->input.path = NULL;
    reader->input.bytes = NULL;
    struct unpack *unpack = unpack_open(input, prologue, size, error);
    return unpack && foreign_source_open(unpack, source, error);
}

enum wanted { WANTED_ALL, WANTED_PARTS, WANTED_OUTLINE };

static bool open_reader(const char *path, enum wanted wanted, struct item_source *source,
                        struct error *error) {
    struct file_reader *reader = malloc(sizeof *reader);
    if (!reader)
        return error_set(error, "out of memory reading trace %s", path);
    memset(reader, 0, offsetof(struct file_reader, input));
    prediction_sets_init(&reader->sets);
    reader->outline = wanted == WANTED_OUTLINE;
    reader->parts = wanted == WANTED_PARTS;
    uint8_t prologue[FILE_PROLOGUE_BYTES];
    ssize_t n = -1;
    bool good = record_input_open(&reader->input, path, error) &&
                (n = record_input_bytes(&reader->input, prologue, sizeof prologue, error)) >= 0;
    if (good && n == 0)
        good = error_set(error, "trace %s is empty", reader->input.path);
    const bool foreign = good && !is_own(prologue, (size_t)n);
    if (foreign)
        good = open_foreign(reader, prologue, (size_t)n, source, error);
    else
        good = good && check_prologue(reader, prologue, (size_t)n, error);
    if (!good || foreign) {
        close_reader(reader);
        return good;
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
    return open_reader(path, WANTED_ALL, source, error);
}

bool file_source_open_parts(const char *path, struct item_source *source, struct error *error) {
    return open_reader(path, WANTED_PARTS, source, error);
}

bool file_source_open_outline(const char *path, struct item_source *source, struct error *error) {
    return open_reader(path, WANTED_OUTLINE, source, error);
}
