/* Coding takes two steps for every few events: predict and learn, then pack the errors of all. */
#include "trace/event_code.h"

#include <inttypes.h>
#include <string.h>

#include "trace/event.h"

enum { GROUP = 512 /* events predicted, then packed */ };

static bool out_of_memory(struct error *error) {
    return error_set(error, "out of memory for predictions");
}

static bool bad_block(uint64_t event, uint32_t block_count, struct error *error) {
    return error_set(error, "block %" PRIu64 " entered of %" PRIu32, event, block_count);
}

/* ---- predicting ---- */

/* Where the event after this one is predicted, which is not an unknown block. The branch is
 * foreseen as the program is: what is predicted next then does not wait for the number of a block
 * that is not entered. */
static inline struct event_place next_place(struct event_predictor *predictor,
                                            struct event_place place, uint64_t event) {
    if (event_kind(event) == EVENT_BLOCK) {
        place.block = (uint32_t)event + 1;
        place.slot = event_predictor_enter(predictor, place.block);
    } else {
        place.slot = event_predictor_next(predictor, place.slot, place.block);
    }
    return place;
}

/* Predicts and learns a group of events: how far off each prediction was. At an unknown block it
 * ends, with errors[0] the event; where memory is out too, and then there is no place. */
static bool predict_group(struct event_predictor *predictor, struct event_place *at,
                          const uint64_t *events, size_t count, uint32_t block_count,
                          uint64_t *errors) {
    struct event_place place = *at;
    for (size_t i = 0; i < count && place.slot; i++) {
        const uint64_t event = events[i];
        errors[i] = event_learn(place.slot, event);
        if (__builtin_expect(event_kind(event) == EVENT_BLOCK && event >= block_count, 0)) {
            errors[0] = event;
            return false;
        }
        place = next_place(predictor, place, event);
    }
    *at = place;
    return place.slot;
}

/* ---- chunks ---- */

bool event_encode(struct event_predictor *predictor, const struct event_packing *packing,
                  uint32_t block_count, const uint64_t *events, size_t event_count, uint8_t *coded,
                  size_t *coded_size, struct error *error) {
    struct event_place place = event_predictor_begin(predictor, block_count);
    if (!place.slot)
        return out_of_memory(error);
    uint8_t *classes = coded, *out = coded + (event_count + 3) / 4;
    uint64_t errors[GROUP];
    for (size_t i = 0; i < event_count; i += GROUP) {
        const size_t count = event_count - i < GROUP ? event_count - i : GROUP;
        if (!predict_group(predictor, &place, events + i, count, block_count, errors))
            return place.slot ? bad_block(errors[0], block_count, error) : out_of_memory(error);
        out = event_pack(packing, errors, events + i, count, classes + i / 4, out);
    }
    *coded_size = (size_t)(out - coded);
    return true;
}

static const uint8_t *unpack_escape(uint64_t head, uint64_t prediction, const uint8_t *in,
                                    uint64_t *event) {
    uint64_t rest;
    memcpy(&rest, in, 8);
    if (head >= ESCAPE_WIDE) {
        *event = prediction + unzigzag((rest & UINT32_MAX) << 16 | (head & 0xffff));
        return in + 4;
    }
    *event = (rest & 0xffffffffffff) | head << 48;
    return in + 6;
}

/* A number of a class, of which no more bytes are used. */
static inline uint64_t unpack(unsigned class, const uint8_t **in) {
    static const uint64_t used[] = {0, 0xff, 0xffff, 0xffffffff};
    uint64_t number;
    memcpy(&number, *in, 8);
    *in += class_bytes(class);
    return number & used[class];
}

bool event_decode(struct event_predictor *predictor, uint32_t block_count, const uint8_t *coded,
                  size_t coded_size, uint64_t *events, size_t event_count, struct error *error) {
    size_t class_size = (event_count + 3) / 4;
    if (coded_size < class_size)
        return error_set(error, "%zu bytes are too few for %zu events", coded_size, event_count);
    struct event_place place = event_predictor_begin(predictor, block_count);
    if (!place.slot)
        return out_of_memory(error);
    predictor->chunks++;
    const uint8_t *in = coded + class_size, *end = coded + coded_size;
    unsigned classes = 0; /* of this event and those behind it */
    for (size_t i = 0; i < event_count; i++) {
        classes = i % 4 ? classes >> 2 : coded[i / 4];
        const uint64_t number = unpack(classes & 3, &in);
        uint64_t event = event_predicted(place.slot) + unzigzag(number);
        if (__builtin_expect(number >= ESCAPE_RAW, 0))
            in = unpack_escape(number, event_predicted(place.slot), in, &event);
        if (__builtin_expect(in > end, 0))
            return error_set(error, "coded events are cut short at event %zu of %zu", i,
                             event_count);
        events[i] = event;
        event_learn(place.slot, event);
        if (__builtin_expect(event_kind(event) == EVENT_BLOCK && event >= block_count, 0))
            return bad_block(event, block_count, error);
        place = next_place(predictor, place, event);
        if (__builtin_expect(!place.slot, 0))
            return out_of_memory(error);
    }
    return in == end || error_set(error, "%zu bytes are left over after %zu events",
                                  (size_t)(end - in), event_count);
}
