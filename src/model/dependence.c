/* See dependence.h. Events lie in a ring that is larger than what must be remembered, so that the
 * sink gets them from where they are. */
#include "model/dependence.h"

#include <stdlib.h>

#include "util/array.h"

enum { MIN_EVENTS = 8192, SHOW_EVENTS = 2048, MAX_STORED_WORDS = 8 };

bool dependence_new(struct dependence *dependence, uint32_t window, uint32_t reach,
                    struct data_sink sink, struct error *error) {
    uint64_t events = MIN_EVENTS;
    while (events < reach)
        events *= 2;
    dependence->window = window;
    dependence->sink = sink;
    dependence->event_mask = events - 1;
    dependence->events = calloc(events, sizeof *dependence->events);
    return dependence->events || error_set(error, "out of memory for data events");
}

void dependence_skip(struct dependence *dependence, uint64_t uops) {
    dependence->now += uops;
    dependence->waiting[0] = dependence->waiting[1] = 0;
}

void dependence_free(struct dependence *dependence) {
    free(dependence->events);
}

void events_show(struct dependence *dependence) {
    while (dependence->shown < dependence->next) {
        const uint64_t first = dependence->shown & dependence->event_mask;
        uint64_t count = dependence->next - dependence->shown;
        if (count > dependence->event_mask + 1 - first)
            count = dependence->event_mask + 1 - first;
        dependence->sink.take(dependence->sink.context, &dependence->events[first],
                              (uint32_t)count);
        dependence->shown += count;
    }
}

struct data_event *event_add(struct dependence *dependence, const struct value *value,
                             uint16_t flags) {
    if (dependence->next - dependence->shown >= SHOW_EVENTS)
        events_show(dependence);
    const uint64_t number = dependence->next++;
    struct data_event *event = &dependence->events[number & dependence->event_mask];
    event->position = dependence->now;
    event->stores = dependence->stores;
    event->fetched_by_uops = 0;
    event->fetched_by = event->along = 0;
    event->flags = flags;
    event->producer_count = 0;
    for (uint32_t i = 0; i < value->count; i++) {
        const uint32_t back = (uint32_t)number - value->events[i];
        if (back <= UINT16_MAX)
            event->producers[event->producer_count++] = (uint16_t)back;
    }
    return event;
}

/* The event, if it lies within the window. */
static const struct data_event *in_window(const struct dependence *dependence, uint32_t number) {
    const uint64_t full = dependence->next - (uint32_t)((uint32_t)dependence->next - number);
    const struct data_event *event = event_find(dependence, full);
    return event && dependence->now - event->position < dependence->window ? event : NULL;
}

static bool waits_for(const struct data_event *event, uint32_t back) {
    return any_where(i, event->producer_count, event->producers[i] == back);
}

/* Whether one of the two makes the other superfluous: 1 the first, 2 the second, 0 neither. */
static int superfluous(const struct dependence *dependence, uint32_t first, uint32_t second) {
    if ((int32_t)(first - second) > 0)
        return waits_for(&dependence->events[first & dependence->event_mask], first - second) ? 2
                                                                                              : 0;
    return waits_for(&dependence->events[second & dependence->event_mask], second - first) ? 1 : 0;
}

static void add_event(struct dependence *dependence, struct value *value, uint32_t number) {
    const struct data_event *event = in_window(dependence, number);
    if (!event)
        return;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < value->count; i++) {
        const uint32_t held = value->events[i];
        if (held == number)
            return;
        const int which = superfluous(dependence, held, number);
        if (which == 2)
            return;
        if (which == 0)
            value->events[kept++] = held;
    }
    value->count = kept;
    if (kept == DATA_MAX_PRODUCERS) {
        event_add(dependence, value, 0);
        value->oldest = dependence->now;
        value->count = 1;
        value->events[0] = (uint32_t)(dependence->next - 1);
    }
    if (value->count == 0 || event->position < value->oldest)
        value->oldest = event->position;
    value->events[value->count++] = number;
}

void value_unite(struct dependence *dependence, struct value *value, const struct value *other) {
    for (uint32_t i = 0; i < other->count; i++)
        add_event(dependence, value, other->events[i]);
}

void value_add_register(struct dependence *dependence, struct value *value, uint8_t reg) {
    if (!register_waits(dependence, reg))
        return;
    struct value *held = &dependence->registers[reg];
    const uint32_t before = value->count;
    value_add(dependence, value, held);
    if (before == 0 && value->count == 0) /* all of it lies too far back */
        dependence->waiting[reg / 64] &= ~(1ull << reg % 64);
}

void register_set(struct dependence *dependence, uint8_t reg, const struct value *value) {
    if (value->count) {
        dependence->registers[reg] = *value;
        dependence->waiting[reg / 64] |= 1ull << reg % 64;
    } else {
        dependence->waiting[reg / 64] &= ~(1ull << reg % 64);
    }
}

static uint32_t hash(uint64_t word) {
    return (uint32_t)(word * 0x9e3779b97f4a7c15u >> 55);
}
static_assert(STORED_WORDS == 512, "nine bits of hash");

bool stored_find(struct dependence *dependence, uint64_t address, uint32_t size_bytes,
                 struct value *value) {
    const uint32_t at = hash(address / 8);
    if (dependence->words[at] != address / 8 + 1)
        return false;
    const struct stored_word *stored = &dependence->stored[at];
    if (dependence->now - stored->position >= dependence->window || address < stored->begin ||
        address + size_bytes > stored->end)
        return false;
    value_add(dependence, value, &stored->value);
    return true;
}

void stored_set(struct dependence *dependence, uint64_t address, uint32_t size_bytes,
                const struct value *value) {
    const uint64_t first = address / 8, last = (address + size_bytes - 1) / 8;
    if (value->count)
        dependence->stored_until = dependence->now + dependence->window;
    for (uint64_t word = first; word <= last && word - first < MAX_STORED_WORDS; word++) {
        const uint32_t at = hash(word);
        dependence->words[at] = word + 1;
        dependence->stored[at] = (struct stored_word){.position = dependence->now,
                                                      .begin = address,
                                                      .end = address + size_bytes,
                                                      .value = *value};
    }
}
