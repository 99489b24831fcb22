/* Chunks of 2^PLACES_SHIFT. Handing instructions to a core and buffers to a worker goes through the
 * locks of executors, so what was written before is seen behind. */
#include "tap/places.h"

#include <assert.h>
#include <stdlib.h>

struct places *places_new(void) {
    return calloc(1, sizeof(struct places));
}

void places_free(struct places *places) {
    if (!places)
        return;
    for (uint32_t chunk = 0; chunk < PLACES_CHUNKS; chunk++)
        free(places->chunks[chunk]);
    free(places);
}

static struct place place(const struct static_insn *insn, const struct static_insn *before) {
    bool adjoins =
        before && before->image == insn->image && before->offset + before->length == insn->offset;
    return (struct place){.address = insn->address,
                          .offset = insn->offset,
                          .image = (uint16_t)insn->image,
                          .flags = insn->flags,
                          .length = insn->length,
                          .branch = insn->branch,
                          .before = adjoins ? before->length : 0};
}

static bool learn_insns(struct places *places, const struct code *code, struct error *error) {
    uint32_t count = atomic_load_explicit(&places->count, memory_order_relaxed);
    assert(code->insns || !code->insn_count);
    for (; count < code->insn_count; count++) {
        uint32_t chunk = count >> PLACES_SHIFT;
        if (chunk >= PLACES_CHUNKS)
            return error_set(error, "the program has more than %u static instructions",
                             PLACES_CHUNKS << PLACES_SHIFT);
        if (!places->chunks[chunk] &&
            !(places->chunks[chunk] = malloc(sizeof(struct place) << PLACES_SHIFT)))
            return error_set(error, "out of memory for static instructions");
        const struct static_insn *insn = &code->insns[count];
        places->chunks[chunk][count & ((1u << PLACES_SHIFT) - 1)] =
            place(insn, count ? insn - 1 : NULL);
    }
    atomic_store_explicit(&places->count, count, memory_order_release);
    return true;
}

bool places_learn(struct places *places, const struct code *code, struct error *error) {
    uint32_t images = atomic_load_explicit(&places->image_count, memory_order_relaxed);
    if (code->image_count > PLACES_IMAGES)
        return error_set(error, "the program maps more than %d files", PLACES_IMAGES);
    for (; images < code->image_count; images++)
        places->images[images] = code->images[images].path;
    atomic_store_explicit(&places->image_count, images, memory_order_release);
    places->isa = code->isa;
    return learn_insns(places, code, error);
}
