/* TEA's golden reference (paper B §4): every cycle to the instruction Oracle names, split by that
 * µop's complete performance signature. Cycles spent waiting for a µop to commit carry the
 * signature it commits with; cycles after a flush that of the µop that flushed. */
#include <stdlib.h>

#include "attribute/pics.h"
#include "attribute/span.h"

struct golden {
    struct oracle_result counted;
    struct pics *profile;
};

struct golden *golden_new(void) {
    struct golden *golden = calloc(1, sizeof *golden);
    if (golden && !(golden->profile = pics_new())) {
        free(golden);
        return NULL;
    }
    return golden;
}

void golden_free(struct golden *golden) {
    if (!golden)
        return;
    pics_free(golden->profile);
    free(golden);
}

static inline bool add(struct golden *golden, uint64_t uop, uint64_t units) {
    return pics_add_fast(golden->profile, tap_uop_insn(uop), tap_uop_psv(uop), units);
}

static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct golden *golden = context;
    struct oracle_result counted = golden->counted;
    bool room = true;
    for (struct closings at = closings_of(buffer); closings_next(&at);) {
        const struct tap_record *record = &at.record;
        count_closing(&counted, &at);
        if (at.span.last)
            room &= add(golden, at.last_uop, at.span.last);
        /* What goes to the first µop is added at once, as it has one signature. */
        room &= add(golden, record->uops[0], at.span.next + at.span.share);
        if (record->kind == TAP_FLUSH)
            continue;
        counted.instructions += instructions_ended(record->uops[0]);
        for (unsigned i = 1; i < record->count; i++) {
            room &= add(golden, record->uops[i], at.span.share);
            counted.instructions += instructions_ended(record->uops[i]);
        }
        for (unsigned i = 0; i < at.span.rest; i++)
            room &= add(golden, record->uops[i], 1);
    }
    golden->counted = counted;
    return room || error_set(error, "out of memory for the profile");
}

struct tap_worker golden_worker(struct golden *golden) {
    return (struct tap_worker){.name = "golden", .consume = consume, .context = golden};
}

void golden_counted(const struct golden *golden, struct oracle_result *result) {
    *result = golden->counted;
}

struct pics *golden_profile(const struct golden *golden) {
    return golden->profile;
}
