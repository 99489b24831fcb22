/* Replacement: LRU looks for the line that was used first; tree-PLRU keeps one bit per inner node
 * that points away from the last use; random draws from an xorshift generator with a fixed seed.
 * All three take an empty way first and pass over lines in flight. */
#include "memory/cache.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/heap.h"
#include "util/power_of_two.h"

static void add_prefetcher(struct cache *cache, enum prefetcher_kind kind, uint32_t degree,
                           uint32_t start) {
    if (kind == PREFETCH_NONE)
        return;
    struct prefetcher *prefetcher = &cache->prefetchers[cache->prefetcher_count++];
    prefetcher_init(prefetcher, kind, degree, start);
    cache->trains_on_hits |= prefetcher->by_instruction;
}

/* Of a large cache a short run uses few lines. */
enum { LARGE = 128 << 10 };
static uint64_t *words_new(size_t count) {
    return count < LARGE ? calloc(count, sizeof(uint64_t)) : sparse_new(count, sizeof(uint64_t));
}
static void words_free(uint64_t *words, size_t count) {
    if (count < LARGE)
        free(words);
    else
        sparse_free(words, count, sizeof *words);
}

bool cache_new(struct cache *cache, const struct machine_cache *machine, const char *name,
               enum memory_level level, struct error *error) {
    const uint64_t set_bytes = (uint64_t)machine->ways * machine->line;
    if (!is_power_of_two(machine->line) || machine->line < CACHE_MIN_LINE ||
        machine->line > CACHE_MAX_LINE)
        return error_set(error, "%s.line = %u: must be a power of two from %d to %d", name,
                         machine->line, CACHE_MIN_LINE, CACHE_MAX_LINE);
    if (machine->ways == 0 || machine->ways > CACHE_MAX_WAYS)
        return error_set(error, "%s.ways = %u: must be 1 to %d", name, machine->ways,
                         CACHE_MAX_WAYS);
    if (machine->size % set_bytes || !is_power_of_two(machine->size / set_bytes))
        return error_set(error, "%s.size = %llu: size / (ways * line) must be a power of two", name,
                         (unsigned long long)machine->size);
    if (machine->replacement == REPLACE_PLRU &&
        (!is_power_of_two(machine->ways) || machine->ways > 64))
        return error_set(error, "%s.ways = %u: plru needs a power of two of at most 64", name,
                         machine->ways);
    if (machine->mshrs > CACHE_MAX_MSHRS)
        return error_set(error, "%s.mshrs = %u: must be at most %d (0: unlimited)", name,
                         machine->mshrs, CACHE_MAX_MSHRS);
    if (machine->latency == 0)
        return error_set(error, "%s.latency = 0: must be at least 1", name);

    const uint64_t sets = machine->size / set_bytes;
    cache->line_mask = machine->line - 1;
    cache->line_shift = (uint32_t)__builtin_ctz(machine->line);
    cache->set_mask = sets - 1;
    cache->ways = machine->ways;
    cache->latency = machine->latency;
    cache->level = (uint8_t)level;
    cache->replacement = (uint8_t)machine->replacement;
    cache->free_pending_hits = machine->free_pending_hits;
    cache->detect = level == LEVEL_L1 ? 0 : machine->latency;
    cache->random = 0x9e3779b97f4a7c15u;
    cache->mshrs = machine->mshrs;
    bus_set(&cache->bus, 0, 1);
    cache->flight_slots = CACHE_FIRST_FLIGHTS;
    add_prefetcher(cache, machine->prefetcher, machine->prefetch_degree, machine->prefetch_start);
    add_prefetcher(cache, machine->second_prefetcher, machine->second_degree,
                   machine->second_start);
    add_prefetcher(cache, machine->third_prefetcher, 1, 0);

    cache->tags = words_new(sets * machine->ways);
    cache->notes = words_new(sets * machine->ways);
    cache->used = words_new(sets * machine->ways);
    cache->flights = sparse_new(CACHE_MAX_FLIGHTS, sizeof *cache->flights);
    cache->trees = calloc(machine->replacement == REPLACE_PLRU ? sets : 1, sizeof *cache->trees);
    cache->blocks = calloc(cache_blocks(cache), sizeof *cache->blocks);
    cache->contents = calloc(cache_blocks(cache), sizeof *cache->contents);
    uint64_t *seen = machine->retention ? words_new(sets * machine->ways) : NULL;
    retention_start(&cache->retention, machine, seen);
    if (!cache->tags || !cache->notes || !cache->used || !cache->flights || !cache->trees ||
        !cache->blocks || !cache->contents || (machine->retention && !seen) ||
        !holds_new(&cache->mshr_holds, machine->mshrs))
        return error_set(error, "out of memory for the %s of %llu bytes: choose a smaller one",
                         name, (unsigned long long)machine->size);
    return true;
}

void cache_free(struct cache *cache) {
    const size_t lines = (cache->set_mask + 1) * cache->ways;
    words_free(cache->tags, lines);
    words_free(cache->notes, lines);
    words_free(cache->used, lines);
    words_free(cache->retention.seen, lines);
    free(cache->blocks);
    free(cache->contents);
    sparse_free(cache->flights, CACHE_MAX_FLIGHTS, sizeof *cache->flights);
    holds_free(&cache->mshr_holds);
    free(cache->trees);
}

/* The lines of a block: the last one may be shorter. */
struct block {
    size_t first, count;
};
static struct block block_of(const struct cache *cache, size_t number) {
    const size_t first = number * CACHE_BLOCK, left = (cache->set_mask + 1) * cache->ways - first;
    return (struct block){first, left < CACHE_BLOCK ? left : (size_t)CACHE_BLOCK};
}

static void clear_block(uint64_t *words, struct block block) {
    memset(words + block.first, 0, block.count * sizeof *words);
}

static void copy_block(uint64_t *to, const uint64_t *from, struct block block) {
    memcpy(to + block.first, from + block.first, block.count * sizeof *to);
}

/* Accesses and instructions get new numbers from now on, which concerns the stride prefetcher as
 * well. */
static void forget_flights(struct cache *cache) {
    memset(cache->flights, 0, cache->flight_slots * sizeof *cache->flights);
    cache->flight_slots = CACHE_FIRST_FLIGHTS;
    cache->flight_cursor = 0;
    holds_clear(&cache->mshr_holds);
    bus_clear(&cache->bus);
    for (uint32_t i = 0; i < cache->prefetcher_count; i++) {
        struct prefetcher *prefetcher = &cache->prefetchers[i];
        prefetcher_init(prefetcher, prefetcher->kind, prefetcher->degree, prefetcher->start);
    }
}

/* A note says which access fetched a line, and its flight. */
void cache_restart(struct cache *cache) {
    if (!cache->tags)
        return;
    for (size_t i = 0; i < cache_blocks(cache); i++) {
        if (cache->blocks[i] & BLOCK_NOTED)
            clear_block(cache->notes, block_of(cache, i));
        cache->blocks[i] &= (uint8_t)~BLOCK_NOTED;
    }
    forget_flights(cache);
}

static uint64_t new_content(void) {
    static uint64_t last;
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

/* The number of what a block holds, `new_number` if it has none yet; 0: of the L1, or empty. What
 * is copied by several threads at a time may get two numbers: then it is copied once too often. */
static uint64_t content_of(const struct cache *from, size_t block, uint64_t new_number) {
    if (from->level == LEVEL_L1 || !from->blocks[block])
        return 0;
    uint64_t content = __atomic_load_n(&from->contents[block], __ATOMIC_RELAXED);
    if (!content) {
        content = new_number;
        __atomic_store_n(&from->contents[block], content, __ATOMIC_RELAXED);
    }
    return content;
}

static void copy_used_block(struct cache *cache, const struct cache *from, struct block block) {
    copy_block(cache->tags, from->tags, block);
    copy_block(cache->used, from->used, block);
    if (cache->retention.seen)
        copy_block(cache->retention.seen, from->retention.seen, block);
}

/* Blocks that are empty in both stay as they are: memory that was never written costs nothing. */
static void copy_blocks(struct cache *cache, const struct cache *from) {
    const uint64_t new_number = new_content();
    for (size_t i = 0; i < cache_blocks(cache); i++) {
        const struct block block = block_of(cache, i);
        const uint64_t content = content_of(from, i, new_number);
        if (!from->blocks[i] && cache->blocks[i]) {
            clear_block(cache->tags, block);
            clear_block(cache->used, block);
        } else if (from->blocks[i] && (!content || cache->contents[i] != content)) {
            copy_used_block(cache, from, block);
        }
        cache->contents[i] = content;
        cache->blocks[i] = from->blocks[i] & BLOCK_USED;
    }
}

/* No flight has the line that its tag calls pending: it is there. The stride prefetcher knows
 * instructions by their static numbers, which are the same. */
void cache_copy(struct cache *cache, const struct cache *from) {
    if (!cache->tags)
        return;
    assert(cache->set_mask == from->set_mask && cache->ways == from->ways);
    copy_blocks(cache, from);
    if (cache->replacement == REPLACE_PLRU)
        memcpy(cache->trees, from->trees, (cache->set_mask + 1) * sizeof *cache->trees);
    memcpy(cache->hints, from->hints, sizeof cache->hints);
    cache->uses = from->uses;
    cache->random = from->random;
    retention_copy(&cache->retention, &from->retention);
    memcpy(cache->prefetchers, from->prefetchers, sizeof cache->prefetchers);
}

/* Of a block that was used in either. */
static void note_block(struct cache *cache, const struct cache *other, struct block block,
                       struct cache_notes notes) {
    for (size_t i = block.first; i < block.first + block.count; i++) {
        const uint64_t tag = other->tags[i] & ~(uint64_t)TAG_PENDING;
        cache->tags[i] = tag;
        cache->used[i] = other->used[i];
        cache->notes[i] = !tag ? 0 : tag & TAG_PREFETCHED ? notes.prefetched : notes.other;
    }
}

void cache_copy_lines(struct cache *cache, const struct cache *other, struct cache_notes notes) {
    if (!cache->tags)
        return;
    assert(cache->set_mask == other->set_mask && cache->ways == other->ways);
    const uint64_t new_number = new_content();
    for (size_t i = 0; i < cache_blocks(cache); i++) {
        const uint64_t content = content_of(other, i, new_number);
        if ((cache->blocks[i] | other->blocks[i]) && (!content || cache->contents[i] != content))
            note_block(cache, other, block_of(cache, i), notes);
        cache->blocks[i] = other->blocks[i] ? BLOCK_USED | BLOCK_NOTED : 0;
        cache->contents[i] = content;
    }
    forget_flights(cache);
    if (cache->replacement == REPLACE_PLRU)
        memcpy(cache->trees, other->trees, (cache->set_mask + 1) * sizeof *cache->trees);
    memcpy(cache->hints, other->hints, sizeof cache->hints);
    cache->uses = other->uses;
    cache->random = other->random;
}

/* Makes the nodes on the path to the line's way point away from it. */
void cache_turn_tree(struct cache *cache, size_t index) {
    uint64_t *tree = &cache->trees[index / cache->ways];
    for (size_t node = index % cache->ways + cache->ways; node > 1; node /= 2) {
        if (node & 1)
            *tree &= ~(1ull << (node / 2));
        else
            *tree |= 1ull << (node / 2);
    }
}

static size_t plru_victim(const struct cache *cache, size_t set) {
    const uint64_t tree = cache->trees[set / cache->ways];
    size_t node = 1;
    while (node < cache->ways)
        node = 2 * node + (tree >> node & 1);
    return node - cache->ways;
}

static size_t random_victim(struct cache *cache) {
    cache->random ^= cache->random << 13;
    cache->random ^= cache->random >> 7;
    cache->random ^= cache->random << 17;
    return (cache->random >> 32) * cache->ways >> 32;
}

struct flight *cache_flight(struct cache *cache, size_t index, uint64_t now) {
    if (!(cache->tags[index] & TAG_PENDING))
        return NULL;
    struct flight *flight = &cache->flights[cache->notes[index] & 0xffff];
    if (flight->line == cache_line(cache, index) && flight->ready > now)
        return flight;
    cache->tags[index] &= ~(uint64_t)TAG_PENDING;
    return NULL;
}

/* The least recently used way, of those not in flight if there are any. */
static size_t lru_victim(struct cache *cache, size_t set, uint64_t now) {
    size_t choice = 0;
    uint64_t least = UINT64_MAX;
    for (size_t way = 0; way < cache->ways; way++) {
        uint64_t used = cache->used[set + way];
        if (cache->tags[set + way] & TAG_PENDING && cache_flight(cache, set + way, now))
            used |= 1ull << 63;
        choice = used < least ? way : choice;
        least = used < least ? used : least;
    }
    return choice;
}

/* The way to replace: an empty one (never used), else the policy's choice, else, when that is in
 * flight, the next one before it that is not. */
static size_t choose_victim(struct cache *cache, size_t set, uint64_t now) {
    const size_t ways = cache->ways;
    assert(ways > 0);
    if (cache->replacement == REPLACE_LRU)
        return lru_victim(cache, set, now);
    for (size_t way = 0; way < ways; way++)
        if (!(cache->tags[set + way] & TAG_VALID))
            return way;
    const size_t choice =
        cache->replacement == REPLACE_PLRU ? plru_victim(cache, set) : random_victim(cache);
    for (size_t tried = 0, way = choice; tried < ways; tried++, way = way ? way - 1 : ways - 1)
        if (!cache_flight(cache, set + way, now))
            return way;
    return choice;
}

size_t cache_insert(struct cache *cache, uint64_t address, uint64_t flags, uint64_t fetched_by,
                    uint64_t now, uint64_t *victim) {
    const size_t set = cache_set(cache, address);
    const size_t index = set + choose_victim(cache, set, now);
    *victim = cache->tags[index];
    cache->tags[index] = (address & ~cache->line_mask) | TAG_VALID | flags;
    cache->notes[index] = (fetched_by + 1) << 16;
    *cache_hint(cache, address) = (uint8_t)(index - set);
    cache_touch(cache, index);
    cache_note_change(cache, index);
    return index;
}

void cache_drop(struct cache *cache, size_t index) {
    cache->tags[index] = cache->used[index] = 0;
    cache_note_change(cache, index);
}

/* Finds a slot whose fill is over. Fills end in about the order in which they start, so the slot
 * after the last one taken is nearly always free. When none of the next eight is, the number of
 * slots doubles. */
static uint32_t free_slot(struct cache *cache, uint64_t now) {
    for (uint32_t tried = 0; tried < 8; tried++) {
        cache->flight_cursor = (cache->flight_cursor + 1) & (cache->flight_slots - 1);
        if (cache->flights[cache->flight_cursor].ready <= now)
            return cache->flight_cursor;
    }
    if (cache->flight_slots < CACHE_MAX_FLIGHTS) {
        cache->flight_cursor = cache->flight_slots;
        cache->flight_slots *= 2;
    }
    return cache->flight_cursor;
}

void cache_launch(struct cache *cache, size_t index, struct flight flight, uint64_t now) {
    const uint32_t slot = free_slot(cache, now);
    flight.line = cache_line(cache, index);
    cache->flights[slot] = flight;
    cache->notes[index] = (cache->notes[index] & ~0xffffull) | slot;
    cache->tags[index] |= TAG_PENDING;
}

static bool set_consistent(const struct cache *cache, size_t set) {
    for (size_t index = set; index < set + cache->ways; index++) {
        const uint64_t tag = cache->tags[index];
        if (!(tag & TAG_VALID)) {
            if (tag)
                return false;
            continue;
        }
        if (cache_set(cache, tag) != set || cache->used[index] > cache->uses)
            return false;
        if (tag & TAG_PENDING && (cache->notes[index] & 0xffff) >= cache->flight_slots)
            return false;
        for (size_t other = set; other < index; other++)
            if (cache_line(cache, other) == cache_line(cache, index))
                return false;
    }
    return true;
}

bool cache_consistent(const struct cache *cache, uint64_t now) {
    const size_t lines = (cache->set_mask + 1) * cache->ways;
    for (size_t set = 0; set < lines; set += cache->ways)
        if (!set_consistent(cache, set))
            return false;
    const uint32_t in_flight =
        sum_over(uint32_t, slot, cache->flight_slots,
                 cache->flights[slot].start <= now && now < cache->flights[slot].ready);
    return cache->mshrs == 0 || in_flight <= cache->mshrs;
}
