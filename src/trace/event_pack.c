/* The plain form, and beside it one with two byte shuffles for eight errors (AVX2) and one that
 * leaves bytes out of a vector of sixteen (AVX-512 with VBMI2). Where one of those errors does not
 * fit four bytes, the plain form packs them. */
#include "trace/event_pack.h"

#include <stdbool.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

static inline unsigned class_of(uint64_t number) {
    return (number > 0) + (number > 0xff) + (number > 0xffff);
}

enum event_pack_form event_pack_form(void) {
#if defined(__x86_64__)
    const bool avx2 = __builtin_cpu_supports("avx2");
    if (avx2 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi2") &&
        __builtin_cpu_supports("bmi2"))
        return EVENT_PACK_AVX512;
    if (avx2)
        return EVENT_PACK_AVX2;
#endif
    return EVENT_PACK_PLAIN;
}

void event_packing_init(struct event_packing *packing, enum event_pack_form form) {
    packing->form = form;
    memset(packing->shuffle_bytes, 0, sizeof packing->shuffle_bytes);
    memset(packing->shuffle, 0x80, sizeof packing->shuffle); /* unused bytes become zero */
    for (unsigned classes = 0; classes < 256; classes++)
        for (unsigned lane = 0; lane < 4; lane++)
            for (unsigned byte = 0; byte < class_bytes(classes >> 2 * lane & 3); byte++)
                packing->shuffle[classes][packing->shuffle_bytes[classes]++] =
                    (uint8_t)(4 * lane + byte);
}

static uint8_t *pack_escape(uint64_t number, uint64_t event, uint8_t *out) {
    bool wide = number >> 48 == 0;
    uint32_t head = (uint32_t)(wide ? ESCAPE_WIDE | (number & 0xffff) : ESCAPE_RAW | event >> 48);
    uint64_t rest = wide ? number >> 16 : event;
    memcpy(out, &head, 4);
    memcpy(out + 4, &rest, 8);
    return out + (wide ? 8 : 10);
}

static uint8_t *pack_plain(const uint64_t *errors, const uint64_t *events, size_t count,
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
/* ---- AVX2 ---- */

/* Four numbers with the classes `key`. */
__attribute__((target("avx2"))) static inline uint8_t *
pack_four(const struct event_packing *packing, __m128i numbers, uint8_t key, uint8_t *out) {
    const __m128i order = _mm_loadu_si128((const __m128i *)packing->shuffle[key]);
    _mm_storeu_si128((__m128i *)out, _mm_shuffle_epi8(numbers, order));
    return out + packing->shuffle_bytes[key];
}

/* For a multiple of eight events. */
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
            out = pack_plain(errors + i, events + i, 8, classes + i / 4, out);
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

/* ---- AVX-512 ---- */

/* Of each nibble, which stands for a number of four bytes. */
#define NIBBLES(bits) (UINT64_C(0x1111111111111111) * (bits))

/* Which bytes are used of 16 numbers, of which those are not zero: all below another, and four
 * where there would be three. */
static inline uint64_t used_bytes(uint64_t nonzero) {
    nonzero |= nonzero >> 1 & NIBBLES(7);
    nonzero |= nonzero >> 2 & NIBBLES(3);
    return nonzero | (nonzero & NIBBLES(4)) << 1;
}

/* Two bits of class in each nibble: 0, 1, 2 or 4 bytes are used. */
static inline uint64_t classes_of(uint64_t used) {
    const uint64_t odd = ((used & ~(used >> 1)) | used >> 2) & NIBBLES(1);
    return odd | (used & NIBBLES(2));
}

/* For a multiple of 16 events. */
__attribute__((target("avx512f,avx512bw,avx512vbmi2,bmi2,popcnt"))) static uint8_t *
pack_avx512(const uint64_t *errors, const uint64_t *events, size_t count, uint8_t *classes,
            uint8_t *out) {
    const __m512i evens =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odds = _mm512_add_epi32(evens, _mm512_set1_epi32(1));
    const __m512i escape = _mm512_set1_epi32((int)ESCAPE_RAW);
    for (size_t i = 0; i < count; i += 16) {
        const __m512i one = _mm512_loadu_si512(errors + i);
        const __m512i two = _mm512_loadu_si512(errors + i + 8);
        const __m512i low = _mm512_permutex2var_epi32(one, evens, two);
        const __m512i high = _mm512_permutex2var_epi32(one, odds, two);
        const __m512i sign = _mm512_srai_epi32(low, 31);
        const __m512i number = _mm512_xor_si512(_mm512_add_epi32(low, low), sign); /* zigzag */
        if (__builtin_expect((_mm512_cmpeq_epi32_mask(high, sign) &
                              _mm512_cmplt_epu32_mask(number, escape)) != 0xffff,
                             0)) {
            out = pack_plain(errors + i, events + i, 16, classes + i / 4, out);
            continue;
        }
        const uint64_t used = used_bytes(_mm512_test_epi8_mask(number, number));
        const uint32_t class = (uint32_t)_pext_u64(classes_of(used), NIBBLES(3));
        memcpy(classes + i / 4, &class, sizeof class);
        _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(used, number));
        out += _mm_popcnt_u64(used);
    }
    return out;
}
#endif

uint8_t *event_pack(const struct event_packing *packing, const uint64_t *errors,
                    const uint64_t *events, size_t count, uint8_t *classes, uint8_t *out) {
    size_t packed = 0;
#if defined(__x86_64__)
    packed = packing->form == EVENT_PACK_PLAIN ? 0 : count - count % 16;
    if (packing->form == EVENT_PACK_AVX512)
        out = pack_avx512(errors, events, packed, classes, out);
    else
        out = pack_avx2(packing, errors, events, packed, classes, out);
#endif
    return pack_plain(errors + packed, events + packed, count - packed, classes + packed / 4, out);
}
