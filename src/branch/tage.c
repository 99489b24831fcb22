/* TAGE: Seznec and Michaud, A case for (partially) tagged geometric history length branch
 * prediction (JILP 2006). The tagged table with the longest history that knows the branch predicts;
 * the next longest (or the bimodal base) is the alternate.
 *
 * Indices and tags are the branch xor its history folded to the width of each. Three folds per
 * table are kept, of the widths of the index, the tag, and the tag less one; they lie in one 64-bit
 * word from bits 0, 21 and 42, so that one shift, xor and carry updates all three: the newest
 * outcome enters at the low bit of each fold, the one that leaves the table's history is xored away
 * where it has arrived, and what was shifted out of the top wraps around to the low bit. */
#include <math.h>
#include <stdlib.h>

#include "branch/predictors.h"

enum {
    TAG_FOLD = 21,             /* first bit of the second fold */
    SECOND_TAG_FOLD = 42,      /* of the third */
    VALID = 1 << 15,           /* in a stored tag */
    AGEING_PERIOD = 256 << 10, /* branches between resets of useful bits */
    COUNTER_MIN = -4,
    COUNTER_MAX = 3,
    USEFUL_MAX = 3
};

/* Histories in a geometric series, each at least one longer than the one before and short enough
 * that those after it fit below the maximum. */
static void choose_lengths(struct tage *tage, uint32_t min, uint32_t max) {
    uint32_t tables = tage->tables;
    for (uint32_t t = 0; t < tables; t++) {
        double share = tables > 1 ? (double)t / (tables - 1) : 0;
        uint32_t length = (uint32_t)(min * pow((double)max / min, share) + 0.5);
        if (t && length <= tage->length[t - 1])
            length = tage->length[t - 1] + 1;
        if (length > max - (tables - 1 - t))
            length = max - (tables - 1 - t);
        tage->length[t] = length;
    }
}

bool tage_init(struct tage *tage, const struct machine_branch *machine) {
    uint32_t bits = (uint32_t)__builtin_ctz(machine->tage_entries);
    uint32_t tag_bits = machine->tage_tag_bits;
    tage->tables = machine->tage_tables;
    tage->index_bits = bits;
    tage->tag_bits = tag_bits;
    choose_lengths(tage, machine->tage_min_history, machine->tage_max_history);
    tage->entering = 1ull | 1ull << TAG_FOLD | 1ull << SECOND_TAG_FOLD;
    tage->carries =
        1ull << bits | 1ull << (TAG_FOLD + tag_bits) | 1ull << (SECOND_TAG_FOLD + tag_bits - 1);
    for (uint32_t t = 0; t < tage->tables; t++)
        tage->leaving[t] = 1ull << tage->length[t] % bits |
                           1ull << (TAG_FOLD + tage->length[t] % tag_bits) |
                           1ull << (SECOND_TAG_FOLD + tage->length[t] % (tag_bits - 1));
    tage->random = 1;
    tage->next_age_mask = 1;
    tage->entries = calloc((size_t)tage->tables << bits, sizeof *tage->entries);
    return tage->entries && bimodal_init(&tage->base, machine->bimodal_entries);
}

void tage_free(struct tage *tage) {
    free(tage->entries);
    free(tage->base.counters);
}

static void push_outcome(struct tage *tage, bool taken) {
    uint64_t entering = taken ? tage->entering : 0, carries = tage->carries;
    uint32_t index_bits = tage->index_bits, tag_bits = tage->tag_bits, newest = tage->newest;
    for (uint32_t t = 0; t < tage->tables; t++) {
        /* length - 1 outcomes back from the newest is the oldest this table saw. */
        uint64_t left = tage->outcomes[(newest - tage->length[t] + 1) % TAGE_HISTORY];
        uint64_t fold = (tage->folded[t] << 1 | entering) ^ (-left & tage->leaving[t]);
        uint64_t carry = fold & carries;
        tage->folded[t] = (fold ^ carry) ^ (carry >> index_bits & 1ull) ^
                          (carry >> tag_bits & 1ull << TAG_FOLD) ^
                          (carry >> (tag_bits - 1) & 1ull << SECOND_TAG_FOLD);
    }
    tage->newest = (newest + 1) % TAGE_HISTORY;
    tage->outcomes[tage->newest] = taken;
}

static uint32_t next_random(struct tage *tage) {
    uint32_t x = tage->random; /* Marsaglia's xorshift */
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return tage->random = x;
}

static void counter_step(int8_t *counter, bool taken) {
    *counter =
        (int8_t)(taken ? *counter + (*counter < COUNTER_MAX) : *counter - (*counter > COUNTER_MIN));
}

/* Clears one useful bit of every entry, high and low in turn, so that none is kept forever. */
static void age(struct tage *tage) {
    size_t count = (size_t)tage->tables << tage->index_bits;
    for (size_t i = 0; i < count; i++)
        tage->entries[i].useful &= tage->next_age_mask;
    tage->next_age_mask ^= USEFUL_MAX;
    tage->since_ageing = 0;
}

/* After a misprediction: the branch gets an entry in a table from `first` on whose own is not
 * useful, the first such with probability 1/2, so that tables do not fill in lockstep. When all
 * are useful they become less so. */
static void allocate(struct tage *tage, uint32_t first, struct tage_entry *const *entry,
                     const uint16_t *tag, bool taken) {
    uint32_t chosen = tage->tables;
    for (uint32_t t = first; t < tage->tables; t++) {
        if (entry[t]->useful)
            continue;
        chosen = t;
        if (next_random(tage) & 1)
            break;
    }
    if (chosen == tage->tables) {
        for (uint32_t t = first; t < tage->tables; t++)
            entry[t]->useful--;
        return;
    }
    *entry[chosen] = (struct tage_entry){tag[chosen], taken ? 0 : -1, 0};
}

bool tage_predict(struct tage *tage, uint64_t address, bool taken) {
    struct tage_entry *entry[TAGE_TABLES];
    uint16_t tag[TAGE_TABLES];
    uint64_t place = address >> 1;
    uint32_t index_mask = (1u << tage->index_bits) - 1, tag_mask = (1u << tage->tag_bits) - 1;
    uint32_t base_index = (uint32_t)(place ^ place >> tage->index_bits);
    uint32_t hits = 0;
    for (uint32_t t = 0; t < tage->tables; t++) {
        uint64_t folded = tage->folded[t];
        uint32_t index = (base_index ^ (uint32_t)folded) & index_mask;
        uint32_t mixed = (uint32_t)place ^ (uint32_t)(folded >> TAG_FOLD) ^
                         (uint32_t)(folded >> SECOND_TAG_FOLD) << 1;
        tag[t] = (uint16_t)((mixed & tag_mask) | VALID);
        entry[t] = &tage->entries[(size_t)t << tage->index_bits | index];
        hits |= (uint32_t)(entry[t]->tag == tag[t]) << t;
    }

    uint8_t *base = &tage->base.counters[place & tage->base.mask];
    bool predicted = *base >= 2;
    uint32_t longer = 0; /* first table with a longer history than the one that predicts */
    if (!hits) {
        counter_train(base, taken);
    } else {
        uint32_t provider = 31 - (uint32_t)__builtin_clz(hits);
        uint32_t others = hits & ~(1u << provider);
        struct tage_entry *provides = entry[provider];
        struct tage_entry *second = others ? entry[31 - __builtin_clz(others)] : NULL;
        bool alternate = second ? second->counter >= 0 : predicted;
        bool primary = provides->counter >= 0;
        bool is_new = !provides->useful && (provides->counter == 0 || provides->counter == -1);
        predicted = is_new && tage->trust_alternate >= 0 ? alternate : primary;
        longer = provider + 1;

        if (primary != alternate) {
            if (is_new) {
                int32_t trust = tage->trust_alternate + (alternate == taken ? 1 : -1);
                tage->trust_alternate = trust > 7 ? 7 : trust < -8 ? -8 : trust;
            }
            if (primary == taken)
                provides->useful += provides->useful < USEFUL_MAX;
            else
                provides->useful -= provides->useful > 0;
        }
        /* While the provider has not proved useful the alternate goes on learning. */
        if (!provides->useful) {
            if (second)
                counter_step(&second->counter, taken);
            else
                counter_train(base, taken);
        }
        counter_step(&provides->counter, taken);
    }
    if (predicted != taken && longer < tage->tables)
        allocate(tage, longer, entry, tag, taken);
    if (++tage->since_ageing == AGEING_PERIOD)
        age(tage);
    push_outcome(tage, taken);
    return predicted;
}
