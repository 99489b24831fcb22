/* Untimed accesses (memory.h). In place of a flight, a line's note holds what is known of how its
 * block came to the last level; a fill copies it from level to level. */
#include "memory/hierarchy.h"

enum { NOTE_PREFETCHED = 1 << 0, NOTE_USED = 1 << 1, NOTE_SHIFT = 16 };

/* One line to fetch. Levels beyond the one whose prefetcher wants it see a read like any other. */
struct wish {
    struct request request;
    bool demand;     /* by the program itself, not by a prefetch */
    uint8_t trigger; /* of a prefetch, the event: TRIGGERED by the L1D, BEYOND by another level */
    uint64_t note;   /* of the line, once it is there */
    struct untimed_result *result;
};

static void read_level(struct memory *memory, struct cache *cache, struct wish *wish);

/* Fetches a line that a level does not have. */
static void fill(struct memory *memory, struct cache *cache, struct wish *wish) {
    const struct request request = wish->request;
    if (cache->next) {
        wish->request.store = wish->request.prefetch = false;
        read_level(memory, cache->next, wish);
        wish->request = request;
    } else {
        wish->note =
            (request.sequence + 1) << NOTE_SHIFT | (wish->demand ? NOTE_USED : NOTE_PREFETCHED);
        wish->result->events |= wish->demand ? UNTIMED_MISS : wish->trigger;
    }
    cache->notes[level_keep(memory, cache, &request, level_flags(&request))] = wish->note;
}

/* A line is not noted when it is not known which access fetched it. */
static void note_along(struct untimed_result *result, uint64_t note) {
    if (note >> NOTE_SHIFT == 0)
        return;
    result->along = (note >> NOTE_SHIFT) - 1;
    result->events &= (uint8_t)~UNTIMED_ALONG_PREFETCHED;
    result->events |= UNTIMED_ALONG | (note & NOTE_PREFETCHED ? UNTIMED_ALONG_PREFETCHED : 0);
}

/* Fetches the lines of a walk, which answers a read. */
static void fetch_ahead(struct memory *memory, struct cache *cache, const struct wish *wish,
                        struct prefetch_walk *walk) {
    struct wish next = *wish;
    next.demand = false;
    next.trigger = cache == &memory->l1d ? UNTIMED_TRIGGERED : UNTIMED_BEYOND;
    next.request.prefetch = true;
    next.request.store = false;
    while (prefetch_next(memory, cache, walk)) {
        next.request.address = walk->address;
        fill(memory, cache, &next);
        if (next.note >> NOTE_SHIFT == next.request.sequence + 1)
            next.result->events |= next.trigger;
        else if (cache == &memory->l1d)
            note_along(next.result, next.note);
    }
}

/* Lets the prefetchers of a level answer a read. */
static void prefetch(struct memory *memory, struct cache *cache, const struct wish *wish,
                     bool missed, bool first_use) {
    for (uint32_t i = 0; i < cache->prefetcher_count; i++) {
        struct prefetch_walk walk =
            prefetch_lines(cache, &cache->prefetchers[i], &wish->request, missed, first_use);
        fetch_ahead(memory, cache, wish, &walk);
    }
}

static void read_level(struct memory *memory, struct cache *cache, struct wish *wish) {
    const size_t index = cache_find(cache, wish->request.address);
    const bool missed = index == CACHE_NONE;
    bool first_use = false;
    if (missed) {
        fill(memory, cache, wish);
    } else {
        first_use = level_hit(cache, index, wish->request.store);
        wish->note = cache->notes[index];
        if (wish->demand)
            cache->notes[index] |= NOTE_USED;
    }
    if (cache->prefetcher_count)
        prefetch(memory, cache, wish, missed, first_use);
}

/* Turns the set of levels that triggered prefetches into events: whether any did, and whether only
 * levels beyond the L1D did. */
static void finish_triggers(struct untimed_result *result) {
    if (result->events & UNTIMED_TRIGGERED)
        result->events &= (uint8_t)~UNTIMED_BEYOND;
    else if (result->events & UNTIMED_BEYOND)
        result->events |= UNTIMED_TRIGGERED;
}

/* Of an access of several lines, the most recent of the accesses that fetched them counts. */
static void take_note(struct untimed_result *result, uint64_t note) {
    const uint64_t fetched_by_plus_one = note >> NOTE_SHIFT;
    if (fetched_by_plus_one <= result->fetched_by + 1 && result->fetched_by + 1 != 0)
        return;
    result->fetched_by = fetched_by_plus_one - 1;
    result->events &= (uint8_t) ~(UNTIMED_PREFETCHED | UNTIMED_FIRST_USE);
    if (note & NOTE_PREFETCHED)
        result->events |= UNTIMED_PREFETCHED | (note & NOTE_USED ? 0 : UNTIMED_FIRST_USE);
}

static void read_lines(struct memory *memory, struct wish *wish, uint32_t size_bytes) {
    struct cache *l1d = &memory->l1d;
    const uint64_t first = wish->request.address;
    const uint32_t lines = lines_of(l1d, first, size_bytes);
    *wish->result = (struct untimed_result){.fetched_by = UINT64_MAX};
    for (uint32_t line = 0; line < lines; line++) {
        wish->request.address = nth_line(l1d, first, line);
        if (cache_find(l1d, wish->request.address) == CACHE_NONE)
            wish->result->events |= UNTIMED_MISSED_L1;
        read_level(memory, l1d, wish);
        take_note(wish->result, wish->note);
    }
    finish_triggers(wish->result);
}

/* A line in the L1 that was used before needs only its use noted, unless the prefetcher learns from
 * every access. */
void memory_untimed(struct memory *memory, uint64_t address, uint32_t size_bytes, bool store,
                    uint64_t number, uint32_t insn, struct untimed_result *result) {
    struct cache *l1d = &memory->l1d;
    const uint64_t wanted = (address & ~l1d->line_mask) | TAG_VALID;
    const size_t index = cache_set(l1d, address) + *cache_hint(l1d, address);
    if ((l1d->tags[index] & ~(uint64_t)TAG_DIRTY) == wanted && l1d->notes[index] & NOTE_USED &&
        (address & l1d->line_mask) + size_bytes - 1 <= l1d->line_mask && !l1d->trains_on_hits) {
        cache_touch(l1d, index);
        l1d->tags[index] |= store ? TAG_DIRTY : 0;
        *result = (struct untimed_result){
            .fetched_by = cache_fetched_by(l1d, index),
            .events = l1d->notes[index] & NOTE_PREFETCHED ? UNTIMED_PREFETCHED : 0};
        return;
    }
    struct wish wish = {.request = {.address = address,
                                    .sequence = number,
                                    .insn = insn,
                                    .data = true,
                                    .store = store,
                                    .functional = true},
                        .demand = true,
                        .result = result};
    read_lines(memory, &wish, size_bytes);
}

void memory_untimed_prefetch(struct memory *memory, uint64_t address, uint64_t number,
                             uint32_t insn, struct untimed_result *result) {
    struct cache *l1d = &memory->l1d;
    struct wish wish = {.request = {.address = address,
                                    .sequence = number,
                                    .insn = insn,
                                    .data = true,
                                    .prefetch = true,
                                    .functional = true},
                        .trigger = UNTIMED_TRIGGERED,
                        .result = result};
    *result = (struct untimed_result){.fetched_by = UINT64_MAX};
    const size_t index = cache_find(l1d, address);
    if (index != CACHE_NONE)
        cache_touch(l1d, index);
    else
        fill(memory, l1d, &wish);
    finish_triggers(result);
}

/* A line without a note of what fetched it counts as one that the program has used before. */
static const struct cache_notes NOT_FETCHED = {.prefetched = NOTE_PREFETCHED, .other = NOTE_USED};

void memory_untimed_from(struct memory *memory, const struct memory *other) {
    cache_copy_lines(&memory->l1d, &other->l1d, NOT_FETCHED);
    cache_copy_lines(&memory->l2, &other->l2, NOT_FETCHED);
    cache_copy_lines(&memory->llc, &other->llc, NOT_FETCHED);
}
