/* Counters at an interval (AutoCounter; paper C §5): a line per core and interval of cycles. A span
 * between two commits is cut where an interval ends: its empty cycles come first, then those in
 * which the oldest µop stalls, the commit's own last. */
#include <stdlib.h>

#include "attribute/span.h"
#include "attribute/tracers.h"

struct counters {
    struct tracer_file file;
    uint64_t interval;
};

enum counter { COMPUTING, STALLED, FLUSHED, DRAINED, INSTRUCTIONS, UOPS, EVENTS };

struct lane {
    struct counters *counters;
    uint32_t thread;
    bool begun;
    uint64_t cycle; /* the last one counted */
    uint64_t end;   /* the interval's last cycle */
    uint64_t cycles;
    uint64_t counts[EVENTS + PSV_BITS];
};

static void *open_counters(const struct tracer_options *options, struct error *error) {
    char head[256] = "thread,end_cycle,cycles,computing,stalled,flushed,drained,instructions,uops";
    for (unsigned bit = 0; bit < PSV_BITS; bit++) {
        strcat(head, ",");
        strcat(head, psv_name(bit));
    }
    strcat(head, "\n");
    struct counters *counters =
        tracer_file_open(sizeof *counters, options, head, strlen(head), error);
    if (counters)
        counters->interval = options->interval;
    return counters;
}

static void *begin(void *tracer, struct tap_source source, struct error *error) {
    struct lane *lane = calloc(1, sizeof *lane);
    if (!lane)
        return error_null(error, "out of memory");
    lane->counters = tracer;
    lane->thread = source.thread;
    return lane;
}

/* Writes the line of an interval that is over, or that the end of the core cuts short. */
static bool write_line(struct lane *lane, struct error *error) {
    char *line = stream_room(&lane->counters->file.stream, 32 * 24, error), *to = line;
    if (!line)
        return false;
    const uint64_t head[] = {lane->thread, lane->cycle, lane->cycles};
    for (int i = 0; i < 3; i++) {
        to = put_decimal(to, head[i]);
        *to++ = ',';
    }
    for (int i = 0; i < EVENTS + PSV_BITS; i++) {
        to = put_decimal(to, lane->counts[i]);
        *to++ = ',';
    }
    to[-1] = '\n';
    stream_advance(&lane->counters->file.stream, (size_t)(to - line));
    memset(lane->counts, 0, sizeof lane->counts);
    lane->cycles = 0;
    return true;
}

static bool end(void *context, struct error *error) {
    struct lane *lane = context;
    bool good = lane->cycles == 0 || write_line(lane, error);
    free(lane);
    return good;
}

/* Counts so many cycles in a state. An interval's line is written when the first cycle behind it
 * comes, since what commits in its last cycle counts as well. */
static inline bool pass(struct lane *lane, enum counter state, uint64_t cycles,
                        struct error *error) {
    while (cycles) {
        if (lane->cycle == lane->end) {
            if (lane->cycles && !write_line(lane, error))
                return false;
            lane->end += lane->counters->interval;
        }
        uint64_t left = lane->end - lane->cycle, part = cycles < left ? cycles : left;
        lane->counts[state] += part;
        lane->cycles += part;
        lane->cycle += part;
        cycles -= part;
    }
    return true;
}

static inline void count(struct lane *lane, const struct tap_record *record) {
    uint64_t instructions = 0;
    for (unsigned i = 0; i < record->count; i++) {
        uint32_t flags = tap_uop_flags(record->uops[i]), last = flags & TAP_UOP_LAST;
        instructions += flags & TAP_UOP_FUSED ? 2 * last : last;
        for (uint32_t psv = tap_uop_psv(record->uops[i]); psv; psv &= psv - 1)
            lane->counts[EVENTS + __builtin_ctz(psv)]++;
    }
    lane->counts[INSTRUCTIONS] += instructions;
    lane->counts[UOPS] += record->count;
}

static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct lane *lane = context;
    if (!lane->begun) {
        lane->begun = true;
        lane->cycle = buffer->start.last_commit;
        lane->end = lane->cycle - lane->cycle % lane->counters->interval + lane->counters->interval;
    }
    for (struct closings at = closings_of(buffer); closings_next(&at);) {
        bool commits = at.record.kind == TAP_COMMIT;
        enum counter empty = at.span.empty_state == STATE_DRAINED ? DRAINED : FLUSHED;
        if (!pass(lane, empty, at.span.empty, error) ||
            !pass(lane, STALLED, at.span.stalled, error) || !pass(lane, COMPUTING, commits, error))
            return false;
        if (commits)
            count(lane, &at.record);
    }
    return true;
}

const struct tracer_kind counters_tracer = {.name = "counters",
                                            .description = "what happened in each interval",
                                            .interval = 100000,
                                            .interval_unit = "cycles",
                                            .open = open_counters,
                                            .begin = begin,
                                            .consume = consume,
                                            .end = end,
                                            .close = tracer_file_close};
