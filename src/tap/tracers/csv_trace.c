/* A line per commit or flush. Addresses are turned into text once per static instruction. */
#include <stdlib.h>

#include "tap/tracers/tracer.h"
#include "util/array.h"

struct text {
    uint8_t length; /* 0: not made so far */
    char digits[23];
};

struct csv {
    struct tracer_file file;
    struct text *texts; /* of the address, by static instruction */
    size_t capacity;
    char events[PSV_COMBINATIONS][64];
};

struct lane {
    struct csv *csv;
    char thread[12]; /* number and comma */
    uint32_t thread_length;
};

static void *open_csv(const struct tracer_options *options, struct error *error) {
    static const char head[] =
        "thread,cycle,record,empty_cycles,empty_reason,first_uop,uops,instructions\n";
    struct csv *csv = tracer_file_open(sizeof *csv, options, head, sizeof head - 1, error);
    for (uint32_t psv = 0; csv && psv < PSV_COMBINATIONS; psv++)
        psv_format(psv, csv->events[psv], sizeof csv->events[psv]);
    return csv;
}

static bool close_csv(void *tracer, const struct code *code, struct error *error) {
    free(((struct csv *)tracer)->texts);
    return tracer_file_close(tracer, code, error);
}

static void *begin(void *tracer, struct tap_source source, struct error *error) {
    struct lane *lane = calloc(1, sizeof *lane);
    if (!lane)
        return error_null(error, "out of memory");
    lane->csv = tracer;
    char *end = put_decimal(lane->thread, source.thread);
    *end++ = ',';
    lane->thread_length = (uint32_t)(end - lane->thread);
    return lane;
}

static bool make_text(struct csv *csv, uint32_t insn) {
    if (!array_zeroed_room(csv->texts, csv->capacity, (size_t)insn + 1))
        return false;
    struct text *text = &csv->texts[insn];
    char *digits = put_text(text->digits, "0x");
    text->length =
        (uint8_t)(put_hex(digits, place_of(csv->file.places, insn)->address) - text->digits);
    return true;
}

/* Writes an instruction when its last µop commits, and its events behind a '!'. */
static inline char *put_uop(struct csv *csv, char *to, uint64_t uop, bool *room) {
    uint32_t insn = tap_uop_insn(uop), psv = tap_uop_psv(uop);
    if (insn >= csv->capacity || !csv->texts[insn].length) {
        *room = make_text(csv, insn);
        if (!*room)
            return to;
    }
    const struct text *text = &csv->texts[insn];
    memcpy(to, text->digits, sizeof text->digits);
    to += text->length;
    if (psv) {
        *to++ = '!';
        to = put_text(to, csv->events[psv]);
    }
    *to++ = ' ';
    return to;
}

static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    enum { LINE = 256 * 128 }; /* at most: 255 µops with all events */
    static const char *const reasons[] = {"drained,", "flushed,", "violation,", "?,"};
    struct lane *lane = context;
    struct csv *csv = lane->csv;
    const uint64_t *word = buffer->words, *finish = word + buffer->used;
    struct tap_state state = buffer->start;
    bool room = true;
    while (word < finish) {
        struct tap_record record;
        word = tap_read(word, &record);
        uint64_t first = state.uop;
        tap_advance(&state, &record);
        if (record.kind > TAP_FLUSH)
            continue;
        char *line = stream_room(&csv->file.stream, LINE, error), *to = line;
        if (!line)
            return false;
        memcpy(to, lane->thread, sizeof lane->thread);
        to = put_decimal(to + lane->thread_length, state.cycle);
        to = put_text(to, record.kind == TAP_COMMIT ? ",commit," : ",flush,");
        to = put_decimal(to, record.empty);
        *to++ = ',';
        to =
            record.empty ? put_text(to, reasons[record.flags & TAP_EMPTY_MASK]) : put_text(to, ",");
        to = put_decimal(to, first);
        *to++ = ',';
        to = put_decimal(to, record.count);
        *to++ = ',';
        for (unsigned i = 0; i < record.count && room; i++)
            to = put_uop(csv, to, record.uops[i], &room);
        if (!room)
            return error_set(error, "out of memory for the texts of addresses");
        to[-1] = '\n';
        stream_advance(&csv->file.stream, (size_t)(to - line));
    }
    return true;
}

const struct tracer_kind csv_tracer = {.name = "csv",
                                       .description = "a line per commit and flush",
                                       .open = open_csv,
                                       .begin = begin,
                                       .consume = consume,
                                       .end = tracer_end_lane,
                                       .close = close_csv};
