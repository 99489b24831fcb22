/* Inside of this room: errors of predictions as bytes (docs/trace-format.md, "Coded events"). Two
 * bits of class per event, four events to a byte, and the bytes of all events apart from them.
 * Class 0 to 3: the error takes 0, 1, 2 or 4 bytes. The highest values of four bytes announce
 * larger errors, or the event itself, in four or six more. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Errors from here on do not fit four bytes. Those of less than 48 bits give their low 16 bits to a
 * WIDE escape and the rest to four more bytes; with all others the event itself is stored, its
 * upper 16 bits in a RAW escape and the lower 48 in six more bytes. */
#define ESCAPE_RAW  UINT64_C(0xfffe0000)
#define ESCAPE_WIDE UINT64_C(0xffff0000)

enum { EVENT_PACK_SLACK = 64 /* bytes behind the packed ones that may be written */ };

/* Small differences of either sign become small numbers. */
static inline uint64_t zigzag(uint64_t difference) {
    return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}
static inline uint64_t unzigzag(uint64_t number) {
    return number >> 1 ^ -(number & 1);
}

static inline unsigned class_bytes(unsigned class) {
    static const uint8_t bytes[] = {0, 1, 2, 4};
    return bytes[class];
}

/* How a processor packs. All write the same. */
enum event_pack_form {
    EVENT_PACK_PLAIN,
    EVENT_PACK_AVX2,   /* eight errors at once */
    EVENT_PACK_AVX512, /* sixteen; with VBMI2 */
    EVENT_PACK_FORMS
};

struct event_packing {
    enum event_pack_form form;
    /* How AVX2 packs four numbers, by their classes: which bytes are used, and how many. */
    uint8_t shuffle[256][16], shuffle_bytes[256];
};
/* The best form that this processor has. */
enum event_pack_form event_pack_form(void);
void event_packing_init(struct event_packing *packing, enum event_pack_form form);

/* Packs `count` errors of the predictions of as many events. The next free byte. */
uint8_t *event_pack(const struct event_packing *packing, const uint64_t *errors,
                    const uint64_t *events, size_t count, uint8_t *classes, uint8_t *out);
