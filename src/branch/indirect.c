/* Indirect targets by path: a hash of the branch and its path selects a tagged entry (the target
 * cache of Chang, Hao and Patt 1997, with tags). The path is that of the last eight indirect
 * targets, or:
 *
 * With a history it is that of the last conditional branches, as many of them, a half, a quarter,
 * an eighth, or none: the longest path that is known predicts, and where it was wrong the next
 * longer one is learned (as of ITTAGE: Seznec 2011). All of them have the block of code before the
 * branch's own, or several: the taken branches that ended them, or nothing where code runs on from
 * the last, as then that block is always the same.
 *
 * Entries are made only for branches the BTB's last target gets wrong; a wrong target is replaced
 * when its confidence has run out, and so is an entry another branch or path needs. */
#include "branch/predictors.h"

#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"

enum {
    BITS_PER_TARGET = 4, /* 32 bits of path: 8 targets */
    LENGTHS = 5,         /* of a history */
    BLOCK = 64           /* bytes of an aligned block of code */
};

bool indirect_init(struct indirect *indirect, const struct machine_branch *machine) {
    const uint32_t entries = machine->indirect_entries;
    if (!entries)
        return true;
    indirect->bits_per_branch = machine->indirect_history ? 64 / machine->indirect_history : 0;
    indirect->blocks = machine->indirect_blocks ? machine->indirect_blocks : 1;
    indirect->entries = calloc(entries, sizeof *indirect->entries);
    indirect->index_bits = (uint32_t)__builtin_ctz(entries);
    return indirect->entries != NULL;
}

/* The high bits of the result depend on every bit of `value` (Fibonacci hashing). */
static uint64_t scatter(uint64_t value) {
    return value * 0x9e3779b97f4a7c15ull;
}

/* An entry, and the tag that it has if it is of this branch and path. */
struct place {
    struct indirect_entry *entry;
    uint32_t tag;
};

static struct place place_of(struct indirect *indirect, uint64_t address, uint64_t path) {
    uint64_t hash = scatter(address + path);
    hash = scatter(hash ^ hash >> 32);
    return (struct place){&indirect->entries[(hash >> 32) >> (32 - indirect->index_bits)],
                          (uint32_t)(hash >> (48 - indirect->index_bits) & 0xffff) | 1u << 31};
}

static bool knows(const struct place *place) {
    return place->entry->tag == place->tag;
}

static void learn(const struct place *place, uint64_t next) {
    struct indirect_entry *entry = place->entry;
    entry->several |= knows(place) && entry->target != next;
    if (knows(place) && entry->target == next)
        entry->confidence += entry->confidence < 3;
    else if (entry->confidence)
        entry->confidence--;
    else
        *entry = (struct indirect_entry){next, place->tag, 1, knows(place)};
}

static bool predict_by_targets(struct indirect *indirect, uint64_t address, uint64_t next,
                               bool fallback_right, uint64_t *target, bool *several) {
    const struct place place = place_of(indirect, address, (uint64_t)indirect->path << 20);
    const bool known = *several = knows(&place);
    *target = place.entry->target;
    if (known || !fallback_right)
        learn(&place, next);
    indirect->path = indirect->path << BITS_PER_TARGET ^ (uint32_t)(scatter(next) >> 48);
    return known;
}

static uint64_t blocks_before(const struct indirect *indirect) {
    uint64_t blocks = 0;
    for (uint32_t i = 0; i < indirect->blocks; i++)
        blocks = scatter(blocks ^ blocks >> 32 ^ indirect->before[indirect->blocks - 1 - i]);
    return blocks;
}

/* `length`: 0 by none of the history, 1 to 4 by an eighth, a quarter, a half, all of it. */
static struct place place_by_history(struct indirect *indirect, uint64_t address, uint32_t length) {
    const bool runs_on = (address ^ indirect->here) & -(uint64_t)BLOCK;
    const uint64_t block = runs_on ? 0 : blocks_before(indirect);
    if (length) {
        const uint64_t outcomes = indirect->outcomes & ~UINT64_C(0) >> (64 - (8 << (length - 1)));
        return place_of(indirect, address, scatter(outcomes ^ scatter(length)) ^ block);
    }
    return place_of(indirect, address, block);
}

static bool predict_by_history(struct indirect *indirect, uint64_t address, uint64_t next,
                               bool fallback_right, uint64_t *target, bool *several) {
    struct place places[LENGTHS];
    for (uint32_t i = 0; i < LENGTHS; i++)
        places[i] = place_by_history(indirect, address, i);
    uint32_t length = LENGTHS;
    while (length && !knows(&places[length - 1]))
        length--;
    const bool known = length > 0;
    *target = known ? places[length - 1].entry->target : 0;
    *several = length > 1 || (known && places[0].entry->several);
    const bool right = known ? *target == next : fallback_right;
    if (known)
        learn(&places[length - 1], next);
    if (!right && length < LENGTHS)
        learn(&places[length], next);
    return known;
}

bool indirect_predict(struct indirect *indirect, uint64_t address, uint64_t next,
                      bool fallback_right, uint64_t *target, bool *several) {
    return (indirect->bits_per_branch ? predict_by_history : predict_by_targets)(
        indirect, address, next, fallback_right, target, several);
}

void indirect_note_outcome(struct indirect *indirect, uint64_t address, bool taken) {
    indirect->outcomes = indirect->outcomes << indirect->bits_per_branch ^
                         scatter(2 * address + taken) >> (64 - indirect->bits_per_branch);
}

void indirect_copy(struct indirect *indirect, const struct indirect *from) {
    if (from->entries)
        memcpy(indirect->entries, from->entries,
               ((size_t)1 << from->index_bits) * sizeof *indirect->entries);
    indirect->path = from->path;
    indirect->outcomes = from->outcomes;
    memcpy(indirect->before, from->before, sizeof indirect->before);
    indirect->direct = from->direct;
    indirect->here = from->here;
}
