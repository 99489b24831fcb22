/* Numbers in groups of seven bits, the lowest first: most are small, or made so. */
#include "trace/thread_event_code.h"

#include <stdbool.h>

static uint8_t *put(uint8_t *at, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

static uint64_t zigzag(uint64_t difference) {
    return difference << 1 ^ (0 - (difference >> 63));
}

size_t thread_event_encode(const struct thread_event *event, uint64_t *ticket,
                           uint8_t bytes[THREAD_EVENT_MAX_BYTES]) {
    const uint64_t numbers[] = {event->thread,
                                event->process,
                                event->position,
                                zigzag(event->entry - *ticket),
                                event->exit - event->entry,
                                event->call,
                                zigzag((uint64_t)event->result),
                                event->duration_ns,
                                event->asked_ns + 1,
                                event->other + UINT32_C(1),
                                event->address,
                                event->address2,
                                event->value,
                                event->value2,
                                event->bitset + UINT32_C(1)};
    uint8_t *at = bytes;
    *at++ = event->kind;
    *at++ = event->cause;
    *at++ = event->operation;
    *at++ = event->flags;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        at = put(at, numbers[i]);
    *ticket = event->entry;
    return (size_t)(at - bytes);
}

struct reading {
    const uint8_t *at, *end;
    bool bad;
};

static uint64_t take(struct reading *reading) {
    uint64_t value = 0;
    for (unsigned shift = 0; reading->at < reading->end && shift < 64; shift += 7) {
        uint8_t byte = *reading->at++;
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    reading->bad = true;
    return 0;
}

static uint32_t take_u32(struct reading *reading) {
    uint64_t value = take(reading);
    reading->bad |= value > UINT32_MAX;
    return (uint32_t)value;
}

static uint64_t take_difference(struct reading *reading) {
    uint64_t value = take(reading);
    return value >> 1 ^ (0 - (value & 1));
}

const uint8_t *thread_event_decode(const uint8_t *bytes, const uint8_t *end, uint64_t *ticket,
                                   struct thread_event *event) {
    struct reading reading = {bytes + 4, end, false};
    if (end - bytes < 4)
        return NULL;
    *event = (struct thread_event){
        .kind = bytes[0], .cause = bytes[1], .operation = bytes[2], .flags = bytes[3]};
    event->thread = take_u32(&reading);
    event->process = take_u32(&reading);
    event->position = take(&reading);
    event->entry = *ticket + take_difference(&reading);
    event->exit = event->entry + take(&reading);
    event->call = take_u32(&reading);
    event->result = (int64_t)take_difference(&reading);
    event->duration_ns = take(&reading);
    event->asked_ns = take(&reading) - 1;
    event->other = take_u32(&reading) - 1;
    event->address = take(&reading);
    event->address2 = take(&reading);
    event->value = take_u32(&reading);
    event->value2 = take_u32(&reading);
    event->bitset = take_u32(&reading) - 1;
    *ticket = event->entry;
    return reading.bad || !thread_event_is_sound(event) ? NULL : reading.at;
}
