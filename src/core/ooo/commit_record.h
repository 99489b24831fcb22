/* Commits, where no records of fetch or dispatch come between them: a record is put into the tap's
 * buffer with its first µop, and grows with those that commit in the same cycle. There are nearly
 * as many as cycles, and whether a µop begins one follows no pattern that the host's predictor
 * could learn: so it is done without a branch. */
#pragma once

#include "core/ooo/ooo.h"

/* A record of one µop more. */
#define ONE_UOP (UINT64_C(1) << 8)

/* Before µop `at` begins a record: the last one's lives follow it; and a full buffer goes
 * (records.c). */
void end_record(struct ooo *core, uint64_t at);
/* A header of three words, all but its µops (records.c). */
void begin_wide_record(struct ooo *core, uint64_t empty, uint64_t delta);

/* The first if that is so, else the second, without a branch: a compiler makes one of ?:. */
static inline uint64_t choose(bool first, uint64_t one, uint64_t other) {
    return other ^ ((one ^ other) & -(uint64_t)first);
}

STAGE void put_commit(struct ooo *core, uint64_t at, uint64_t word, const struct uop_cycles *uop,
                      bool lives) {
    struct open_record *open = &core->open;
    const uint64_t delta = uop->commit - core->last_close;
    const uint64_t empty = since_close(core, uop->dispatch);
    const bool begins = delta != 0;
    if (__builtin_expect(lives || open->end > open->limit, 0) && begins)
        end_record(core, at);
    if (__builtin_expect(tap_is_wide(empty, delta), 0)) {
        begin_wide_record(core, empty, delta);
    } else {
        const uint64_t header = tap_header(TAP_COMMIT, core->empty_reason, 0, empty, delta);
        open->at = choose(begins, open->end, open->at);
        open->header = choose(begins, header, open->header);
        open->end += begins;
        open->records += begins;
    }
    assert(open->header); /* nothing commits in the cycle of a flush */
    assert(open->header / ONE_UOP % 256 < core->machine.commit_width * core->most_of_place);
    open->header += ONE_UOP;
    open->words[open->at] = open->header;
    open->words[open->end++] = word;
    core->last_close = uop->commit;
}
