/* When µops become ready. The ring holds the next CALENDAR_CYCLES cycles, one list a cycle and one
 * bit a list; µops due later wait in a list of their own, looked through when the earliest of them
 * comes within the ring. The clock never passes an event, so a bucket belongs to one cycle. */
#include "core/ooo/ooo.h"

#include <string.h>

/* It goes at most READY_STEPS places down from the end without a branch, since how far follows no
 * pattern; the zeros before the list stop it. */
static inline void ready_insert(struct ooo *core, const struct uop_state *uop) {
    uint64_t entry = ready_entry(sequence_of(core, uop), uop->is.pool);
    uint64_t *at = core->ready + core->ready_count++;
#pragma GCC unroll READY_STEPS
    for (unsigned step = 0; step < READY_STEPS; step++, at--) {
        uint64_t before = at[-1];
        at[0] = before > entry ? before : entry;
        entry = before > entry ? entry : before;
    }
    for (; at[-1] > entry; at--)
        at[0] = at[-1];
    at[0] = entry;
}

static void put(struct ooo *core, uint32_t slot, uint64_t cycle) {
    struct calendar *calendar = &core->calendar;
    uint32_t at = cycle % CALENDAR_CYCLES;
    if (!(calendar->bits[at / 64] & 1ull << at % 64)) {
        calendar->bucket[at] = NO_LINK;
        calendar->bits[at / 64] |= 1ull << at % 64;
        calendar->summary |= 1ull << at / 64;
    }
    core->uops[slot].next_ready = calendar->bucket[at];
    calendar->bucket[at] = slot;
}

void schedule(struct ooo *core, struct uop_state *uop, uint64_t cycle) {
    struct calendar *calendar = &core->calendar;
    uop->when = cycle;
    if (cycle <= core->cycle) {
        if (core->issuing)
            core->fresh[core->fresh_count++] = sequence_of(core, uop);
        else
            ready_insert(core, uop);
    } else if (cycle - core->cycle < WHEEL_CYCLES) {
        wheel_put_if(core, slot_of(core, uop), cycle, true);
    } else if (cycle - core->cycle < CALENDAR_CYCLES) {
        put(core, slot_of(core, uop), cycle);
    } else {
        uop->next_ready = calendar->far;
        calendar->far = slot_of(core, uop);
        if (cycle < calendar->far_earliest)
            calendar->far_earliest = cycle;
    }
}

/* Files the far µops anew: some are now near. */
static void refile_far(struct ooo *core) {
    struct calendar *calendar = &core->calendar;
    uint32_t slot = calendar->far;
    calendar->far = NO_LINK;
    calendar->far_earliest = UNKNOWN;
    while (slot != NO_LINK) {
        uint32_t next = core->uops[slot].next_ready;
        schedule(core, &core->uops[slot], core->uops[slot].when);
        slot = next;
    }
}

/* The bucket of the current cycle. */
static void deliver_bucket(struct ooo *core, uint32_t at) {
    struct calendar *calendar = &core->calendar;
    calendar->bits[at / 64] &= ~(1ull << at % 64);
    if (!calendar->bits[at / 64])
        calendar->summary &= ~(1ull << at / 64);
    for (uint32_t slot = calendar->bucket[at]; slot != NO_LINK; slot = core->uops[slot].next_ready)
        ready_insert(core, &core->uops[slot]);
    core->progress = true;
}

void calendar_deliver(struct ooo *core) {
    struct calendar *calendar = &core->calendar;
    uint32_t at = core->cycle % CALENDAR_CYCLES;
    uint32_t spoke = core->cycle % WHEEL_CYCLES;
    const uint32_t *slots = calendar->wheel + spoke * (core->mask + 1);
    uint32_t count = calendar->wheel_count[spoke];
    for (uint32_t i = 0; i < count; i++)
        ready_insert(core, &core->uops[slots[i]]);
    calendar->wheel_count[spoke] = 0;
    calendar->wheel_bits &= ~(1ull << spoke);
    core->progress |= count != 0;
    if (calendar->far != NO_LINK && calendar->far_earliest - core->cycle < CALENDAR_CYCLES / 2)
        refile_far(core);
    if (calendar->bits[at / 64] & 1ull << at % 64)
        deliver_bucket(core, at);
}

uint64_t calendar_next(const struct ooo *core) {
    const struct calendar *calendar = &core->calendar;
    uint64_t far = UNKNOWN;     /* never jump past the cycle at which far µops are filed anew */
    if (calendar->wheel_bits) { /* nearer than all others? those on the ring may be as near */
        uint32_t from = (core->cycle + 1) % WHEEL_CYCLES;
        uint64_t turned = calendar->wheel_bits >> from |
                          (from ? calendar->wheel_bits << (WHEEL_CYCLES - from) : 0);
        far = core->cycle + 1 + (uint32_t)__builtin_ctzll(turned);
    }
    if (calendar->far != NO_LINK)
        far = lesser(far, calendar->far_earliest - CALENDAR_CYCLES / 2 + 1);
    if (!calendar->summary)
        return far;
    uint32_t from = (core->cycle + 1) % CALENDAR_CYCLES, word = from / 64;
    uint64_t bits = calendar->bits[word] & ~0ull << from % 64;
    uint32_t at;
    if (bits) {
        at = word * 64 + (uint32_t)__builtin_ctzll(bits);
    } else {
        /* The words after this one, then from the start round to this one. */
        uint64_t later = word == 63 ? 0 : calendar->summary & ~0ull << (word + 1);
        uint32_t found = (uint32_t)__builtin_ctzll(later ? later : calendar->summary);
        at = found * 64 + (uint32_t)__builtin_ctzll(calendar->bits[found]);
    }
    uint64_t near = core->cycle + 1 + ((at - from) % CALENDAR_CYCLES);
    return near < far ? near : far;
}

void calendar_clear(struct ooo *core) {
    struct calendar *calendar = &core->calendar;
    memset(calendar->bits, 0, sizeof calendar->bits);
    calendar->summary = 0;
    calendar->far = NO_LINK;
    calendar->far_earliest = UNKNOWN;
    memset(calendar->wheel_count, 0, sizeof calendar->wheel_count);
    calendar->wheel_bits = 0;
}
