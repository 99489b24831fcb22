/* A line per µop that committed or was squashed, with the cycles of its life. */
#include <stdlib.h>

#include "tap/life.h"
#include "tap/tracers/tracer.h"

struct lane {
    struct tracer_file *file;
    uint32_t thread;
};

static void *open_lives(const struct tracer_options *options, struct error *error) {
    static const char head[] =
        "thread,uop,instruction,address,uop_index,operation,squashed,events,fetch,dispatch,ready,"
        "issue,complete,commit,fetch_delay_cache,fetch_delay_tlb,unit_wait,mshr_wait,l1_latency,"
        "miss_latency,dispatch_block,producers,store_producer,bringer\n";
    return tracer_file_open(sizeof(struct tracer_file), options, head, sizeof head - 1, error);
}

static void *begin(void *tracer, struct tap_source source, struct error *error) {
    struct lane *lane = malloc(sizeof *lane);
    if (lane)
        *lane = (struct lane){tracer, source.thread};
    else
        error_set(error, "out of memory");
    return lane;
}

static char *put_field(char *to, uint64_t number) {
    to = put_decimal(to, number);
    *to++ = ',';
    return to;
}

/* The number of a µop; empty: none. */
static char *put_uop(char *to, uint64_t uop, char behind) {
    if (uop != UINT64_MAX)
        to = put_decimal(to, uop);
    *to++ = behind;
    return to;
}

static const char *block_name(uint8_t block) {
    static const char *const names[] = {
        [DISPATCH_FREE] = "",
        [DISPATCH_ROB] = "rob",
        [DISPATCH_QUEUE] = "queue",
        [DISPATCH_REGISTERS] = "registers",
        [DISPATCH_BRANCHES] = "branches",
        [DISPATCH_LOAD_QUEUE] = "load_queue",
        [DISPATCH_STORE_QUEUE] = "store_queue",
        [DISPATCH_SERIALISING] = "serialising",
    };
    return block < sizeof names / sizeof *names ? names[block] : "?";
}

static char *put_life(char *to, const struct lane *lane, const struct life *life) {
    char events[96];
    psv_format(life->psv, events, sizeof events);
    to = put_field(to, lane->thread);
    to = put_field(to, life->uop);
    to = put_field(to, life->insn_number);
    to = put_text(to, "0x");
    to = put_hex(to, place_of(lane->file->places, life->insn)->address);
    *to++ = ',';
    to = put_field(to, life->uop_index);
    to = put_text(to, operation_name(life->operation));
    to = put_text(to, life->flags & LIFE_FLUSHED ? ",1," : ",0,");
    to = put_text(to, events);
    *to++ = ',';
    const uint64_t numbers[] = {life->fetch,
                                life->dispatch,
                                life->ready,
                                life->issue,
                                life->complete,
                                life->commit,
                                life->fetch_delay_cache,
                                life->fetch_delay_tlb,
                                life->unit_wait,
                                life->mshr_wait,
                                life->l1_latency,
                                life->miss_latency};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (numbers[i] != UINT64_MAX) /* of a squashed one: was not known */
            to = put_decimal(to, numbers[i]);
        *to++ = ',';
    }
    to = put_text(to, block_name(life->dispatch_block));
    *to++ = ',';
    for (int i = 0; i <= UOP_MAX_SOURCES; i++)
        to = put_uop(to, life->producer[i], i < UOP_MAX_SOURCES ? ' ' : ',');
    to = put_uop(to, life->store_producer, ',');
    return put_uop(to, life->bringer, '\n');
}

static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    enum { LINE = 1024 };
    const struct lane *lane = context;
    for (uint32_t i = 0; i < buffer->life_count; i++) {
        struct life life;
        life_unpack(&buffer->lives[i], &life);
        char *line = stream_room(&lane->file->stream, LINE, error);
        if (!line)
            return false;
        stream_advance(&lane->file->stream, (size_t)(put_life(line, lane, &life) - line));
    }
    return true;
}

const struct tracer_kind life_tracer = {.name = "life",
                                        .description = "a line per µop, from fetch to commit",
                                        .records = 1 << TAP_LIFE,
                                        .open = open_lives,
                                        .begin = begin,
                                        .consume = consume,
                                        .end = tracer_end_lane,
                                        .close = tracer_file_close};
