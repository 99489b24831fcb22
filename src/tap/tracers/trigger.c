/* The gate walks the records until the stop has come, counting what the triggers ask for. A part of
 * a buffer that lies between start and stop is shown as a buffer of its own over the same words,
 * with the state at its first record. A buffer that lies between as a whole is passed on as it
 * is. */
#include "tap/tracers/trigger.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tap/index.h"
#include "tap/life.h"
#include "util/array.h"
#include "util/count.h"

struct watch {
    struct trigger trigger;
    uint64_t instructions, executions; /* committed so far */
    bool fired;
};

struct gate {
    struct tap_worker worker;
    struct watch start, stop;
    const struct places *places;
    struct shared_index index; /* of a view */
};

/* ---- what was asked for ---- */

static bool address(const char *text, uint64_t *value, const char **end) {
    char *after;
    errno = 0;
    *value = strtoull(text, &after, 16);
    *end = after;
    return isxdigit((unsigned char)*text) && errno == 0;
}

bool trigger_parse(const char *text, struct trigger *trigger, struct error *error) {
    const char *end = text;
    *trigger = (struct trigger){.count = 1};
    bool good;
    if (!strncmp(text, "cycle:", 6)) {
        trigger->kind = TRIGGER_CYCLE;
        good = count_read(text + 6, &trigger->value, &end) == COUNT_READ;
    } else if (!strncmp(text, "insn:", 5)) {
        trigger->kind = TRIGGER_INSTRUCTION;
        good = count_read(text + 5, &trigger->value, &end) == COUNT_READ;
    } else {
        trigger->kind = TRIGGER_MARKER;
        good = !strncmp(text, "0x", 2) && address(text + 2, &trigger->value, &end);
        if (good && *end == ':')
            good = count_read(end + 1, &trigger->count, &end) == COUNT_READ && trigger->count;
    }
    return (good && !*end) ||
           error_set(error, "'%s' is not a trigger (cycle:N, insn:N, 0xADDRESS or 0xADDRESS:N)",
                     text);
}

/* ---- the gate ---- */

struct gate *gate_new(const struct tap_worker *worker, const struct trigger *start,
                      const struct trigger *stop, const struct places *places) {
    struct gate *gate = calloc(1, sizeof *gate);
    if (!gate)
        return NULL;
    gate->worker = *worker;
    gate->start = (struct watch){.trigger = *start, .fired = start->kind == TRIGGER_NONE};
    gate->stop = (struct watch){.trigger = *stop};
    gate->places = places;
    shared_index_init(&gate->index);
    return gate;
}

void gate_free(struct gate *gate) {
    if (!gate)
        return;
    shared_index_end(&gate->index);
    free(gate);
}

void gate_tell(const struct gate *gate, bool *started, bool *stopped) {
    if (!gate)
        return;
    *started |= gate->start.fired;
    *stopped |= gate->stop.fired;
}

/* A µop of two fused instructions is at both addresses. */
static bool is_at(const struct places *places, uint32_t insn, uint32_t flags, uint64_t address) {
    const struct place *place = place_of(places, insn);
    return place->address == address ||
           (flags & TAP_UOP_FUSED && place->before && place->address - place->before == address);
}

static void count(const struct gate *gate, struct watch *watch, const struct tap_record *record) {
    uint64_t address = watch->trigger.value;
    bool marker = watch->trigger.kind == TRIGGER_MARKER;
    for (unsigned i = 0; i < record->count; i++) {
        uint32_t flags = tap_uop_flags(record->uops[i]);
        if (!(flags & TAP_UOP_LAST))
            continue;
        watch->instructions += flags & TAP_UOP_FUSED ? 2 : 1;
        if (marker)
            watch->executions += is_at(gate->places, tap_uop_insn(record->uops[i]), flags, address);
    }
}

/* True from the record on in which the trigger comes true. */
static bool watch_record(const struct gate *gate, struct watch *watch, uint64_t cycle,
                         const struct tap_record *record) {
    const struct trigger *trigger = &watch->trigger;
    if (watch->fired || trigger->kind == TRIGGER_NONE)
        return watch->fired;
    if (trigger->kind == TRIGGER_CYCLE)
        return watch->fired = cycle >= trigger->value;
    if (record->kind != TAP_COMMIT)
        return false;
    count(gate, watch, record);
    return watch->fired = trigger->kind == TRIGGER_INSTRUCTION
                              ? watch->instructions > trigger->value
                              : watch->executions >= trigger->count;
}

/* Limits the lives to those that ended in [from, stop), as the records of these cycles. */
static void cut_lives(const struct tap_buffer *buffer, uint64_t from, uint64_t stop,
                      struct tap_buffer *view) {
    uint32_t end = buffer->life_count;
    const uint32_t first = (uint32_t)index_where(i, end, buffer->lives[i].end >= from);
    while (end > first && buffer->lives[end - 1].end >= stop)
        end--;
    view->lives = buffer->lives + first;
    view->life_count = end - first;
}

/* The part of the buffer from `begin` on, cut to what lies between; false when nothing does. */
static bool cut(struct gate *gate, const struct tap_buffer *buffer, struct tap_buffer *view) {
    const uint64_t *word = buffer->words, *end = word + buffer->used;
    struct tap_state state = buffer->start;
    uint64_t from = gate->start.fired ? 0 : UINT64_MAX, stop = UINT64_MAX;
    *view = (struct tap_buffer){.number = buffer->number, .index = &gate->index};
    while (word < end) {
        struct tap_record record;
        const uint64_t *next = tap_read(word, &record);
        uint64_t cycle = state.cycle + record.delta;
        bool started = watch_record(gate, &gate->start, cycle, &record);
        if (watch_record(gate, &gate->stop, cycle, &record)) {
            stop = cycle;
            break;
        }
        if (started) {
            from = cycle < from ? cycle : from;
            if (!view->words) {
                view->words = (uint64_t *)word;
                view->start = state;
            }
            view->used = (uint32_t)(next - view->words);
            view->records[record.kind]++;
        }
        tap_advance(&state, &record);
        word = next;
    }
    cut_lives(buffer, from, stop, view);
    return view->used || (view->life_count && gate->worker.kinds & 1 << TAP_LIFE);
}

static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct gate *gate = context;
    const struct tap_worker *worker = &gate->worker;
    if (gate->stop.fired)
        return true;
    struct tap_buffer view;
    shared_index_forget(&gate->index);
    if (gate->start.fired && gate->stop.trigger.kind == TRIGGER_NONE)
        return worker->consume(worker->context, buffer, error);
    if (!cut(gate, buffer, &view))
        return true;
    bool whole = view.used == buffer->used && view.life_count == buffer->life_count;
    return worker->consume(worker->context, whole ? buffer : &view, error);
}

struct tap_worker gate_worker(struct gate *gate) {
    struct tap_worker outer = gate->worker;
    outer.consume = consume;
    outer.context = gate;
    return outer;
}
