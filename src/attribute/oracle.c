/* Oracle (paper A §2): every cycle to the instruction that the commit state names, 1/n to each of n
 * that commit together. Also counts states and instructions. A simulation has all that from the
 * golden reference (golden.c), in one pass with the events; this is the plain one. */
#include <stdlib.h>

#include "attribute/pics.h"
#include "attribute/span.h"

struct oracle {
    struct oracle_result result;
    struct pics *profile;
};

struct oracle *oracle_new(void) {
    struct oracle *oracle = calloc(1, sizeof *oracle);
    if (oracle && !(oracle->profile = pics_new())) {
        free(oracle);
        return NULL;
    }
    return oracle;
}

void oracle_free(struct oracle *oracle) {
    if (!oracle)
        return;
    pics_free(oracle->profile);
    free(oracle);
}

/* The µops of a commit. */
static inline bool add_group(struct oracle *oracle, const struct tap_record *record,
                             const struct span *span, uint64_t *instructions) {
    const uint64_t *uop = record->uops, *end = uop + record->count;
    uint64_t units = span->share + span->next, all = 0;
    for (; uop < end; uop++) {
        uint32_t insn = tap_uop_insn(*uop);
        if (__builtin_expect(insn >= oracle->profile->base_count, 0) &&
            !pics_grow_base(oracle->profile, insn))
            return false;
        oracle->profile->base[insn] += units;
        all += instructions_ended(*uop);
        units = span->share;
    }
    for (unsigned i = 0; i < span->rest; i++)
        oracle->profile->base[tap_uop_insn(record->uops[i])]++;
    *instructions += all;
    return true;
}

static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct oracle *oracle = context;
    struct oracle_result *result = &oracle->result;
    bool room = true;
    for (struct closings at = closings_of(buffer); closings_next(&at);) {
        count_closing(result, &at);
        if (at.span.last)
            room &= pics_add_fast(oracle->profile, tap_uop_insn(at.last_uop), 0, at.span.last);
        if (at.record.kind == TAP_FLUSH) {
            room &=
                pics_add_fast(oracle->profile, tap_uop_insn(at.record.uops[0]), 0, at.span.next);
            continue;
        }
        room &= add_group(oracle, &at.record, &at.span, &result->instructions);
    }
    return room || error_set(error, "out of memory for the profile");
}

struct tap_worker oracle_worker(struct oracle *oracle) {
    return (struct tap_worker){.name = "oracle", .consume = consume, .context = oracle};
}

void oracle_result(const struct oracle *oracle, struct oracle_result *result) {
    *result = oracle->result;
}

struct pics *oracle_profile(const struct oracle *oracle) {
    return oracle->profile;
}
