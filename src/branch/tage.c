/* TAGE (Seznec and Michaud 2006). The tagged table with the longest history that knows the branch
 * predicts; the next longest (or the bimodal base) is the alternate.
 *
 * Indices and tags are the branch xor its history folded to a width. A fold is kept up to date, not
 * computed: shifted by one, the newest outcome enters at its low bit, the one that leaves the
 * table's history is xored away where it has arrived, and what was shifted out of the top wraps
 * around. Eight tables go at a time, one in each lane of a vector. The fold of the tag has another
 * width than the index's, so that histories that share an index differ in their tags, and is
 * shifted, so that a short history does not move index and tag alike. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "branch/predictors.h"

/* Compiled twice: for processors with vectors of eight, and for all. (The one is chosen before the
 * address sanitizer is ready.) */
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define EIGHT_LANES __attribute__((target_clones("avx2", "default")))
#else
#define EIGHT_LANES
#endif

enum {
    VALID = 1 << 15,           /* in a stored tag */
    AGEING_PERIOD = 256 << 10, /* branches between resets of useful bits */
    COUNTER_MIN = -4,
    COUNTER_MAX = 3,
    USEFUL_MAX = 3
};

/* Histories in a geometric series, each at least one longer than the one before and short enough
 * that those after it fit below the maximum. */
static void choose_lengths(uint32_t *length, uint32_t tables, uint32_t min, uint32_t max) {
    for (uint32_t t = 0; t < tables; t++) {
        double share = tables > 1 ? (double)t / (tables - 1) : 0;
        length[t] = (uint32_t)(min * pow((double)max / min, share) + 0.5);
        if (t && length[t] <= length[t - 1])
            length[t] = length[t - 1] + 1;
        if (length[t] > max - (tables - 1 - t))
            length[t] = max - (tables - 1 - t);
    }
}

static void fold_init(struct tage_fold *fold, uint32_t width, const uint32_t *length,
                      uint32_t tables) {
    fold->width = width;
    fold->mask = (tage_lanes){} + ((1u << width) - 1);
    for (uint32_t t = 0; t < tables; t++)
        fold->leaving[t / TAGE_LANES][t % TAGE_LANES] = 1u << length[t] % width;
}

bool tage_init(struct tage *tage, const struct machine_branch *machine) {
    uint32_t length[TAGE_GROUPS * TAGE_LANES] = {0}, tables = machine->tage_tables;
    uint32_t index_bits = (uint32_t)__builtin_ctz(machine->tage_entries);
    uint32_t tag_bits = machine->tage_tag_bits;
    assert(tables > 0 && tables <= TAGE_GROUPS * TAGE_LANES);
    tage->tables = tables;
    tage->groups = (tables + TAGE_LANES - 1) / TAGE_LANES;
    tage->tag_mask = (tage_lanes){} + ((1u << tag_bits) - 1);
    choose_lengths(length, tables, machine->tage_min_history, machine->tage_max_history);
    fold_init(&tage->index, index_bits, length, tables);
    fold_init(&tage->tag, tag_bits - (tag_bits - 1 == index_bits ? 2 : 1), length, tables);
    for (uint32_t t = 0; t < tables; t++) {
        tage->oldest[t] = length[t] - 1;
        tage->first_entry[t / TAGE_LANES][t % TAGE_LANES] = t * machine->tage_entries;
        tage->hit[t / TAGE_LANES][t % TAGE_LANES] = 1u << t;
    }
    tage->newest = sizeof tage->outcomes - TAGE_HISTORY;
    tage->random = 1;
    tage->until_ageing = AGEING_PERIOD;
    tage->next_age_mask = 1;
    tage->entries = calloc((size_t)tables * machine->tage_entries, sizeof *tage->entries);
    return tage->entries && bimodal_init(&tage->base, machine);
}

void tage_free(struct tage *tage) {
    free(tage->entries);
    free(tage->base.counters);
}

void tage_copy(struct tage *tage, const struct tage *from) {
    struct tage_entry *entries = tage->entries;
    const struct bimodal base = tage->base;
    *tage = *from;
    tage->entries = entries;
    tage->base = base;
    memcpy(tage->entries, from->entries,
           ((size_t)from->tables << from->index.width) * sizeof *tage->entries);
    bimodal_copy(&tage->base, &from->base);
}

/* ---- history ---- */

static inline void fold_push(struct tage_fold *fold, uint32_t group, uint32_t entering,
                             const tage_lanes *oldest) {
    tage_lanes folded = (fold->folded[group] << 1 | entering) ^ (*oldest & fold->leaving[group]);
    fold->folded[group] = (folded ^ folded >> fold->width) & fold->mask;
}

static inline void push_outcome(struct tage *tage, bool taken) {
    const int8_t *newest = tage->outcomes + tage->newest;
    for (uint32_t group = 0; group < tage->groups; group++) {
        const uint32_t *age = &tage->oldest[group * TAGE_LANES];
        const tage_lanes oldest = {(uint32_t)newest[age[0]], (uint32_t)newest[age[1]],
                                   (uint32_t)newest[age[2]], (uint32_t)newest[age[3]],
                                   (uint32_t)newest[age[4]], (uint32_t)newest[age[5]],
                                   (uint32_t)newest[age[6]], (uint32_t)newest[age[7]]};
        fold_push(&tage->index, group, taken, &oldest);
        fold_push(&tage->tag, group, taken, &oldest);
    }
    if (!tage->newest) {
        tage->newest = sizeof tage->outcomes - TAGE_HISTORY;
        memcpy(tage->outcomes + tage->newest, tage->outcomes, TAGE_HISTORY);
    }
    tage->outcomes[--tage->newest] = taken ? -1 : 0;
}

/* ---- tables ---- */

/* The branch's entry in each table (its number), its tag there, and a bit for each table that has
 * it. */
static inline uint32_t look_up(const struct tage *tage, uint64_t branch, uint32_t *entry,
                               uint32_t *tag) {
    const struct tage_entry *entries = tage->entries;
    tage_lanes all_hits = {};
    uint32_t mixed = (uint32_t)(branch ^ branch >> tage->index.width);
    uint32_t group = 0;
    do {
        uint32_t *at = entry + group * TAGE_LANES;
        tage_lanes numbers =
            ((tage->index.folded[group] ^ mixed) & tage->index.mask) + tage->first_entry[group];
        tage_lanes tags =
            ((tage->tag.folded[group] << 1 ^ (uint32_t)branch) & tage->tag_mask) | VALID;
        memcpy(at, &numbers, sizeof numbers);
        tage_lanes stored = {entries[at[0]].tag, entries[at[1]].tag, entries[at[2]].tag,
                             entries[at[3]].tag, entries[at[4]].tag, entries[at[5]].tag,
                             entries[at[6]].tag, entries[at[7]].tag};
        all_hits |= (tage_lanes)(stored == tags) & tage->hit[group];
        memcpy(tag + group * TAGE_LANES, &tags, sizeof tags);
    } while (++group < tage->groups);
    typedef uint64_t pairs __attribute__((vector_size(sizeof all_hits), aligned(16)));
    const pairs both = (pairs)all_hits;
    const uint64_t hits = both[0] | both[1] | both[2] | both[3];
    return (uint32_t)(hits | hits >> 32);
}

static uint32_t next_random(struct tage *tage) {
    uint32_t x = tage->random; /* Marsaglia's xorshift */
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return tage->random = x;
}

/* Clears one useful bit of every entry, high and low in turn, so that none is kept forever. */
static __attribute__((noinline)) void age(struct tage *tage) {
    size_t count = (size_t)tage->tables << tage->index.width;
    for (size_t i = 0; i < count; i++)
        tage->entries[i].useful &= tage->next_age_mask;
    tage->next_age_mask ^= USEFUL_MAX;
    tage->until_ageing = AGEING_PERIOD;
}

/* After a misprediction: gives the branch an entry in a table from `first` on where its own is not
 * useful: in the first such with probability 1/2, else in a later one, so that tables do not fill
 * in lockstep. If all are useful, they become less so. */
static __attribute__((noinline)) void allocate(struct tage *tage, uint32_t first,
                                               const uint32_t *entry, const uint32_t *tag,
                                               bool taken) {
    uint32_t chosen = tage->tables;
    for (uint32_t t = first; t < tage->tables; t++) {
        if (tage->entries[entry[t]].useful)
            continue;
        chosen = t;
        if (next_random(tage) & 1)
            break;
    }
    if (chosen < tage->tables)
        tage->entries[entry[chosen]] =
            (struct tage_entry){(uint16_t)tag[chosen], taken ? 0 : -1, 0};
    else
        for (uint32_t t = first; t < tage->tables; t++)
            tage->entries[entry[t]].useful--;
}

static inline void step(int8_t *counter, bool taken) {
    *counter =
        (int8_t)(taken ? *counter + (*counter < COUNTER_MAX) : *counter - (*counter > COUNTER_MIN));
}

/* The provider and its alternate disagree: one of them was right. */
static void judge(struct tage *tage, struct tage_entry *provider, bool is_new, bool right) {
    if (is_new) {
        int32_t trust = tage->trust_alternate + (right ? -1 : 1);
        tage->trust_alternate = trust > 7 ? 7 : trust < -8 ? -8 : trust;
    }
    if (right)
        provider->useful += provider->useful < USEFUL_MAX;
    else
        provider->useful -= provider->useful > 0;
}

EIGHT_LANES bool tage_predict(struct tage *tage, uint64_t address, bool taken) {
    uint32_t entry[TAGE_GROUPS * TAGE_LANES], tag[TAGE_GROUPS * TAGE_LANES];
    uint64_t branch = address >> 1;
    uint32_t hits = look_up(tage, branch, entry, tag);
    uint8_t *base = &tage->base.counters[branch & tage->base.mask];
    bool predicted = *base >= 2;
    uint32_t longer = 0; /* first table with a longer history than the provider's */
    if (!hits) {
        counter_train(base, taken);
    } else {
        uint32_t first = 31 - (uint32_t)__builtin_clz(hits), others = hits ^ 1u << first;
        struct tage_entry *provider = &tage->entries[entry[first]], *second = NULL;
        bool alternate = predicted, primary = provider->counter >= 0;
        if (others) {
            second = &tage->entries[entry[31 - (uint32_t)__builtin_clz(others)]];
            alternate = second->counter >= 0;
        }
        bool useful = provider->useful, is_new = !useful && (uint8_t)(provider->counter + 1) <= 1;
        predicted = is_new && tage->trust_alternate >= 0 ? alternate : primary;
        longer = first + 1;
        if (primary != alternate)
            judge(tage, provider, is_new, primary == taken);
        step(&provider->counter, taken);
        if (useful)
            ; /* certified: its alternate need not learn */
        else if (second)
            step(&second->counter, taken);
        else
            counter_train(base, taken);
    }
    if (predicted != taken && longer < tage->tables)
        allocate(tage, longer, entry, tag, taken);
    if (!--tage->until_ageing)
        age(tage);
    push_outcome(tage, taken);
    return predicted;
}
