/* What workers know of static instructions: a table whose rows never move. The thread that reads
 * the trace adds instructions before they are simulated; workers read those that their records
 * name. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "trace/dynamic.h"
#include "util/error.h"

struct place {
    uint64_t address; /* as in struct static_insn */
    uint64_t offset;
    uint16_t image; /* of struct places */
    uint16_t flags; /* enum insn_flags */
    uint8_t length; /* bytes */
    uint8_t branch; /* enum branch_kind */
    uint8_t before; /* length of the instruction that was decoded before it and ends at its address:
                       what a branch fuses with; 0: none, or not known */
    uint8_t reserved;
};

enum { PLACES_SHIFT = 14, PLACES_CHUNKS = 1 << 14 };

enum { PLACES_IMAGES = 1 << 16 };

struct places {
    enum isa isa;
    /* How many of the entries below are filled in: at least those that records name. */
    atomic_uint count, image_count;
    struct place *chunks[PLACES_CHUNKS];
    const char *images[PLACES_IMAGES]; /* paths; the code's */
};

struct places *places_new(void);
void places_free(struct places *places);

/* Adds what is new in the code. */
bool places_learn(struct places *places, const struct code *code, struct error *error);

static inline const struct place *place_of(const struct places *places, uint32_t insn) {
    return &places->chunks[insn >> PLACES_SHIFT][insn & ((1u << PLACES_SHIFT) - 1)];
}
