/* Two bits of class per event, four events to a byte, all classes first; then the bytes of all
 * events. Class 0 to 3: the prediction's error takes 0, 1, 2 or 4 bytes. The highest values of four
 * bytes announce larger errors, or the event itself, in four or six more.
 *
 * Coding takes two steps for every few events: predict and learn (scalar, a handful of
 * instructions), then pack eight errors at once (two byte shuffles, where the processor has AVX2).
 *
 * Slots of a block lie together and move when they grow. */
#include "trace/event_code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "trace/event.h"
#include "util/array.h"

enum { FIRST_SLOTS = 4, GROUP = 64 /* events predicted, then packed; a multiple of 8 */ };

/* Errors from here on do not fit four bytes. Those of less than 48 bits give their low 16 bits to a
 * WIDE escape and the rest to four more bytes; with all others the event itself is stored, its
 * upper 16 bits in a RAW escape and the lower 48 in six more bytes. */
static const uint64_t ESCAPE_RAW = 0xfffe0000, ESCAPE_WIDE = 0xffff0000;

static inline unsigned class_of(uint64_t number) {
    return (number > 0) + (number > 0xff) + (number > 0xffff);
}
static inline unsigned class_bytes(unsigned class) {
    static const uint8_t bytes[] = {0, 1, 2, 4};
    return bytes[class];
}

void event_predictor_init(struct event_predictor *predictor) {
    memset(predictor, 0, sizeof *predictor);
}

void event_packing_init(struct event_packing *packing) {
    memset(packing->shuffle_bytes, 0, sizeof packing->shuffle_bytes);
    memset(packing->shuffle, 0x80, sizeof packing->shuffle); /* unused bytes become zero */
    for (unsigned classes = 0; classes < 256; classes++)
        for (unsigned lane = 0; lane < 4; lane++)
            for (unsigned byte = 0; byte < class_bytes(classes >> 2 * lane & 3); byte++)
                packing->shuffle[classes][packing->shuffle_bytes[classes]++] =
                    (uint8_t)(4 * lane + byte);
}

void event_predictor_free(struct event_predictor *predictor) {
    free(predictor->blocks);
    free(predictor->slots);
}

void event_predictor_reset(struct event_predictor *predictor) {
    event_predictor_free(predictor);
    event_predictor_init(predictor);
}

/* ---- slots ---- */

/* Where the next event of the current block is predicted. */
struct place {
    struct event_slot *slot, *end; /* slot < end: of the block's slots */
    uint32_t block;
};

/* Room for the first slots of a block, or twice as many as it has. */
static bool grow_block(struct event_predictor *predictor, struct event_block *block) {
    uint32_t old = block->end - block->first, room = old ? 2 * old : FIRST_SLOTS;
    if (predictor->slot_count + room > UINT32_MAX ||
        !array_room(predictor->slots, predictor->slot_capacity, predictor->slot_count + room))
        return false;
    struct event_slot *slots = predictor->slots + predictor->slot_count;
    if (old)
        memcpy(slots, predictor->slots + block->first, old * sizeof *slots);
    memset(slots + old, 0, (room - old) * sizeof *slots);
    block->first = (uint32_t)predictor->slot_count;
    block->end = block->first + room;
    predictor->slot_count += room;
    return true;
}

/* .slot is NULL when memory is out. */
static inline struct place enter_block(struct event_predictor *predictor, uint32_t number) {
    struct event_block *block = predictor->blocks + number;
    if (__builtin_expect(block->first == block->end, 0) && !grow_block(predictor, block))
        return (struct place){0};
    return (struct place){predictor->slots + block->first, predictor->slots + block->end, number};
}

/* After the last slot of a block: more room, or the last slot once more. */
static struct place extend_block(struct event_predictor *predictor, uint32_t number) {
    struct event_block *block = predictor->blocks + number;
    uint32_t index = block->end - block->first;
    if (index == EVENT_CODE_BLOCK_SLOTS)
        index--;
    else if (!grow_block(predictor, block))
        return (struct place){0};
    struct place place = enter_block(predictor, number);
    place.slot += index;
    return place;
}

static bool out_of_memory(struct error *error) {
    return error_set(error, "out of memory for predictions");
}

static bool begin(struct event_predictor *predictor, struct place *place, uint32_t block_count,
                  struct error *error) {
    *place = (struct place){0};
    if (array_zeroed_room(predictor->blocks, predictor->block_capacity, (size_t)block_count + 1))
        *place = enter_block(predictor, 0);
    return place->slot || out_of_memory(error);
}

static bool bad_block(uint64_t event, uint32_t block_count, struct error *error) {
    return error_set(error, "block %" PRIu64 " entered of %" PRIu32, event, block_count);
}

/* Small differences of either sign become small numbers. */
static inline uint64_t zigzag(uint64_t difference) {
    return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}
static inline uint64_t unzigzag(uint64_t number) {
    return number >> 1 ^ -(number & 1);
}

static inline uint64_t predicted(const struct event_slot *slot) {
    return slot->last + (uint64_t)(int64_t)slot->stride;
}

/* How far off the prediction of the event was. */
static inline uint64_t learn(struct event_slot *slot, uint64_t event) {
    const uint64_t difference = event - slot->last;
    const int32_t delta = (int32_t)difference, stride = slot->stride;
    slot->stride = delta == slot->delta ? delta : stride;
    slot->delta = delta;
    slot->last = event;
    return difference - (uint64_t)(int64_t)stride;
}

/* ---- packing ---- */

static uint8_t *pack_escape(uint64_t number, uint64_t event, uint8_t *out) {
    bool wide = number >> 48 == 0;
    uint32_t head = (uint32_t)(wide ? ESCAPE_WIDE | (number & 0xffff) : ESCAPE_RAW | event >> 48);
    uint64_t rest = wide ? number >> 16 : event;
    memcpy(out, &head, 4);
    memcpy(out + 4, &rest, 8);
    return out + (wide ? 8 : 10);
}

static uint8_t *pack_scalar(const uint64_t *errors, const uint64_t *events, size_t count,
                            uint8_t *classes, uint8_t *out) {
    for (size_t i = 0; i < count; i++) {
        uint64_t number = zigzag(errors[i]);
        unsigned class = class_of(number);
        classes[i / 4] = (uint8_t)(i % 4 ? classes[i / 4] | class << i % 4 * 2 : class);
        if (number >= ESCAPE_RAW) {
            out = pack_escape(number, events[i], out);
            continue;
        }
        memcpy(out, &number, 4);
        out += class_bytes(class);
    }
    return out;
}

#if defined(__x86_64__)
/* Four numbers with the classes `key`. */
__attribute__((target("avx2"))) static inline uint8_t *
pack_four(const struct event_packing *packing, __m128i numbers, uint8_t key, uint8_t *out) {
    const __m128i order = _mm_loadu_si128((const __m128i *)packing->shuffle[key]);
    _mm_storeu_si128((__m128i *)out, _mm_shuffle_epi8(numbers, order));
    return out + packing->shuffle_bytes[key];
}

/* The same as pack_scalar() for a multiple of eight events. */
__attribute__((target("avx2"))) static uint8_t *pack_avx2(const struct event_packing *packing,
                                                          const uint64_t *errors,
                                                          const uint64_t *events, size_t count,
                                                          uint8_t *classes, uint8_t *out) {
    const __m256i zero = _mm256_setzero_si256(), three = _mm256_set1_epi32(3);
    const __m256i escape = _mm256_set1_epi32((int)(ESCAPE_RAW >> 17));
    const __m256i places = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    for (size_t i = 0; i < count; i += 8) {
        __m256 one = _mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)(errors + i)));
        __m256 two = _mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)(errors + i + 4)));
        __m256i low = _mm256_castps_si256(_mm256_shuffle_ps(one, two, 0x88));
        __m256i high = _mm256_castps_si256(_mm256_shuffle_ps(one, two, 0xdd));
        __m256i sign = _mm256_srai_epi32(low, 31);
        __m256i number = _mm256_xor_si256(_mm256_add_epi32(low, low), sign); /* zigzag */
        __m256i large = _mm256_cmpeq_epi32(_mm256_srli_epi32(number, 17), escape);
        __m256i fits = _mm256_andnot_si256(large, _mm256_cmpeq_epi32(high, sign));
        if (__builtin_expect(_mm256_movemask_epi8(fits) != -1, 0)) {
            out = pack_scalar(errors + i, events + i, 8, classes + i / 4, out);
            continue;
        }
        number = _mm256_permute4x64_epi64(number, 0xd8); /* in the order of the events */
        __m256i smaller = _mm256_cmpeq_epi32(number, zero);
        smaller = _mm256_add_epi32(smaller, _mm256_cmpeq_epi32(_mm256_srli_epi32(number, 8), zero));
        smaller =
            _mm256_add_epi32(smaller, _mm256_cmpeq_epi32(_mm256_srli_epi32(number, 16), zero));
        __m256i class = _mm256_sllv_epi32(_mm256_add_epi32(three, smaller), places);
        class = _mm256_or_si256(class, _mm256_shuffle_epi32(class, 0xb1));
        class = _mm256_or_si256(class, _mm256_shuffle_epi32(class, 0x4e)); /* of all four */
        const uint8_t first = (uint8_t)_mm256_extract_epi8(class, 0);
        const uint8_t second = (uint8_t)_mm256_extract_epi8(class, 16);
        classes[i / 4] = first;
        classes[i / 4 + 1] = second;
        out = pack_four(packing, _mm256_castsi256_si128(number), first, out);
        out = pack_four(packing, _mm256_extracti128_si256(number, 1), second, out);
    }
    return out;
}
#endif

/* ---- chunks ---- */

/* Predicts and learns a group of events: how far off each prediction was. */
static inline bool predict_group(struct event_predictor *predictor, struct place *at,
                                 const uint64_t *events, size_t count, uint32_t block_count,
                                 uint64_t *errors) {
    struct event_slot *slot = at->slot, *end = at->end;
    uint32_t block = at->block;
    const struct event_block *blocks = predictor->blocks;
    struct event_slot *slots = predictor->slots;
    for (size_t i = 0; i < count; i++) {
        const uint64_t event = events[i];
        const bool enters = event_kind(event) == EVENT_BLOCK;
        errors[i] = learn(slot++, event);
        if (enters) {
            if (__builtin_expect(event >= block_count, 0)) {
                errors[0] = event;
                return false;
            }
            block = (uint32_t)event + 1;
            slot = slots + blocks[block].first;
            end = slots + blocks[block].end;
        }
        if (__builtin_expect(slot == end, 0)) {
            const struct place place =
                enters ? enter_block(predictor, block) : extend_block(predictor, block);
            slots = predictor->slots;
            slot = place.slot;
            end = place.end;
            if (!slot) {
                errors[0] = 0;
                return false;
            }
        }
    }
    *at = (struct place){slot, end, block};
    return true;
}

bool event_encode(struct event_predictor *predictor, const struct event_packing *packing,
                  uint32_t block_count, const uint64_t *events, size_t event_count, uint8_t *coded,
                  size_t *coded_size, struct error *error) {
    struct place place;
    if (!begin(predictor, &place, block_count, error))
        return false;
    uint8_t *classes = coded, *out = coded + (event_count + 3) / 4;
#if defined(__x86_64__)
    bool wide = __builtin_cpu_supports("avx2");
#endif
    uint64_t errors[GROUP];
    for (size_t i = 0; i < event_count; i += GROUP) {
        size_t count = event_count - i < GROUP ? event_count - i : GROUP;
        if (!predict_group(predictor, &place, events + i, count, block_count, errors))
            return errors[0] < block_count ? out_of_memory(error)
                                           : bad_block(errors[0], block_count, error);
#if defined(__x86_64__)
        if (wide && count == GROUP) {
            out = pack_avx2(packing, errors, events + i, count, classes + i / 4, out);
            continue;
        }
#endif
        out = pack_scalar(errors, events + i, count, classes + i / 4, out);
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

/* Where the event after this one is predicted, which is not an unknown block; .slot is NULL: out of
 * memory. The branch is foreseen as the program is: what is predicted next then does not wait for
 * the number of a block that is not entered. */
static inline struct place next_place(struct event_predictor *predictor, struct place place,
                                      uint64_t event) {
    if (event_kind(event) == EVENT_BLOCK)
        return enter_block(predictor, (uint32_t)event + 1);
    if (__builtin_expect(++place.slot == place.end, 0))
        return extend_block(predictor, place.block);
    return place;
}

bool event_decode(struct event_predictor *predictor, uint32_t block_count, const uint8_t *coded,
                  size_t coded_size, uint64_t *events, size_t event_count, struct error *error) {
    size_t class_size = (event_count + 3) / 4;
    if (coded_size < class_size)
        return error_set(error, "%zu bytes are too few for %zu events", coded_size, event_count);
    struct place first;
    if (!begin(predictor, &first, block_count, error))
        return false;
    predictor->chunks++;
    struct place place = first; /* never in memory */
    const uint8_t *in = coded + class_size, *end = coded + coded_size;
    unsigned classes = 0; /* of this event and those behind it */
    for (size_t i = 0; i < event_count; i++) {
        classes = i % 4 ? classes >> 2 : coded[i / 4];
        const uint64_t number = unpack(classes & 3, &in);
        uint64_t event = predicted(place.slot) + unzigzag(number);
        if (__builtin_expect(number >= ESCAPE_RAW, 0))
            in = unpack_escape(number, predicted(place.slot), in, &event);
        if (__builtin_expect(in > end, 0))
            return error_set(error, "coded events are cut short at event %zu of %zu", i,
                             event_count);
        events[i] = event;
        learn(place.slot, event);
        if (__builtin_expect(event_kind(event) == EVENT_BLOCK && event >= block_count, 0))
            return bad_block(event, block_count, error);
        place = next_place(predictor, place, event);
        if (__builtin_expect(!place.slot, 0))
            return out_of_memory(error);
    }
    return in == end || error_set(error, "%zu bytes are left over after %zu events",
                                  (size_t)(end - in), event_count);
}
