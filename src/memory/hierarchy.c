/* Every time here is as the L1 sees it: `request->cycle` is the access to the L1 and a level's
 * latency the total from there to data at the core. A level knows that it misses `detect` cycles
 * after the access; if its MSHRs are all taken then, the request and all that follows shift until
 * one frees. An MSHR is held from there to the data's arrival at the core.
 *
 * Levels neither include nor exclude each other: a fill is kept at each level it passes, an
 * eviction touches no other level unless the line is dirty. */
#include "memory/coherence.h"

/* The line that leaves goes when the one that takes its place comes, were that in the next level.
 */
static void write_on_bus(struct cache *cache, const struct request *request) {
    const uint64_t arrival = request->cycle + cache->next->latency;
    uint64_t begin;
    bus_transfer(&cache->bus, &cache->bus.write, arrival, arrival, &begin);
}

/* A dirty line goes to memory when others take its place in the last level, or it is not kept
 * there. When they took it is not known: it is written when that is found out. */
static void write_lost(struct memory *memory, struct cache *last, size_t index,
                       const struct request *request) {
    if (last->tags[index] & TAG_DIRTY && !request->functional) {
        last->statistics.writebacks++;
        dram_write(memory->dram, request->cycle + last->latency);
    }
    last->tags[index] &= ~(uint64_t)TAG_DIRTY;
}

/* Index of a line that a level has, or CACHE_NONE. Where others have taken its place, it leaves. */
static size_t find_kept(struct memory *memory, struct cache *cache, uint64_t address,
                        const struct request *request) {
    const size_t index = cache_find(cache, address);
    if (!cache->retention.seen || index == CACHE_NONE || cache_flight(cache, index, memory->now) ||
        !retention_lost(&cache->retention, index, cache_line(cache, index), request->cycle))
        return index;
    write_lost(memory, cache, index, request);
    cache_drop(cache, index);
    return CACHE_NONE;
}

void level_write_back(struct memory *memory, struct cache *cache, uint64_t line,
                      const struct request *request) {
    if (!request->functional) {
        cache->statistics.writebacks++;
        if (bus_cycles(&cache->bus.write))
            write_on_bus(cache, request);
    }
    const struct cache *last = cache;
    for (struct cache *level = cache->next; level; last = level, level = level->next) {
        size_t index = cache_find(level, line);
        if (index != CACHE_NONE && level->retention.seen &&
            !retention_written(&level->retention, index, request->cycle))
            continue;
        if (index != CACHE_NONE) {
            level->tags[index] |= TAG_DIRTY;
            cache_note_change(level, index);
            return;
        }
        if (level->line_mask == cache->line_mask) {
            uint64_t victim;
            index = cache_insert(level, line, TAG_DIRTY, UINT64_MAX, memory->now, &victim);
            if (level->retention.seen &&
                !retention_put(&level->retention, index, line, request->cycle))
                write_lost(memory, level, index, request);
            if (victim & TAG_DIRTY)
                level_write_back(memory, level, victim & ~level->line_mask, request);
            return;
        }
    }
    if (!request->functional)
        dram_write(memory->dram, request->cycle + last->latency);
}

size_t level_keep(struct memory *memory, struct cache *cache, const struct request *request,
                  uint64_t flags) {
    uint64_t victim;
    const uint64_t fetched_by = request->functional ? UINT64_MAX : request->sequence;
    const size_t index =
        cache_insert(cache, request->address, flags, fetched_by, memory->now, &victim);
    if (victim & TAG_DIRTY)
        level_write_back(memory, cache, victim & ~cache->line_mask, request);
    if (cache->retention.seen)
        retention_put(&cache->retention, index, cache_line(cache, index), request->cycle);
    return index;
}

/* Misses of the last level that the dlong idealisation turns into hits. */
static bool long_miss_is_ideal(const struct memory *memory, const struct cache *cache,
                               const struct request *request) {
    return memory->ideal & MEMORY_IDEAL_LONG && request->data && !cache->next;
}

/* A bus counts as a level with one MSHR. */
static uint64_t bus_share(const struct bus *bus) {
    return bus->line.whole * FILL_UNITS + bus->line.part * FILL_UNITS / bus->parts;
}

void level_read_dram(struct memory *memory, const struct cache *last, const struct request *request,
                     struct answer *answer) {
    const uint64_t arrival = request->cycle + last->latency;
    const uint64_t ready = dram_read(memory->dram, arrival, request->address);
    const uint64_t unloaded = arrival + dram_unloaded(memory->dram);
    const uint64_t wait = ready > unloaded ? ready - unloaded : 0;
    *answer = (struct answer){.ready = ready,
                              .fetched_by = request->sequence,
                              .share = bus_share(&memory->dram->bus),
                              .dram_wait = wait < UINT16_MAX ? (uint16_t)wait : UINT16_MAX,
                              .level = LEVEL_DRAM};
}

static void read_beyond(struct memory *memory, struct cache *cache, const struct request *request,
                        struct answer *answer) {
    if (cache->before_shared)
        coherent_read(memory, cache, request, answer);
    else if (cache->next)
        level_read(memory, cache->next, request, answer);
    else
        level_read_dram(memory, cache, request, answer);
}

/* The line crosses the bus in the last cycles before it is there. Lines cross as they come, which
 * is not as they were asked for. */
static void cross(struct cache *cache, struct answer *answer) {
    const uint64_t cycles = bus_cycles(&cache->bus.line);
    if (!cycles)
        return;
    const uint64_t arrival = answer->ready > cycles ? answer->ready - cycles : 0;
    uint64_t begin;
    const uint64_t ready = bus_transfer(&cache->bus, &cache->bus.line, arrival, arrival, &begin);
    const uint64_t share = bus_share(&cache->bus);
    answer->share = share > answer->share ? share : answer->share;
    if (ready > answer->ready)
        answer->ready = answer->soonest = ready;
}

void level_fill(struct memory *memory, struct cache *cache, const struct request *request,
                struct answer *answer) {
    const uint64_t flags = level_flags(request);
    struct request beyond = *request;
    beyond.store = beyond.prefetch = false;
    beyond.flight = FLIGHT_ASKED;
    beyond.translation = 0;
    if (request->functional || long_miss_is_ideal(memory, cache, request)) {
        *answer = (struct answer){.ready = request->cycle + cache->latency,
                                  .fetched_by = request->sequence,
                                  .level = cache->level};
        if (cache->before_shared)
            coherent_read(memory, cache, &beyond, answer);
        else if (cache->next)
            level_read(memory, cache->next, &beyond, answer);
        level_keep(memory, cache, request, flags);
        return;
    }

    const uint64_t known = request->cycle + cache->detect;
    const uint64_t free_from = holds_first_free(&cache->mshr_holds, known);
    beyond.cycle += free_from - known;
    cache->statistics.mshr_waits += free_from > known;
    const uint64_t start = beyond.cycle + cache->detect;
    read_beyond(memory, cache, &beyond, answer);
    cross(cache, answer);
    holds_take(&cache->mshr_holds, free_from > known ? free_from : request->asked, answer->ready,
               memory->now);
    const size_t index = level_keep(memory, cache, &beyond, flags);
    if (cache->mshrs) {
        const uint64_t held = answer->ready - start + request->translation;
        const uint64_t share = held * FILL_UNITS / cache->mshrs;
        answer->share = share > answer->share ? share : answer->share;
    }
    const struct flight flight = {.asked = request->asked,
                                  .start = start,
                                  .ready = answer->ready,
                                  .level = answer->level,
                                  .kind = request->flight,
                                  .coherent = answer->coherent,
                                  .dram_wait = answer->dram_wait,
                                  .soonest = answer->soonest,
                                  .share = answer->share};
    cache_launch(cache, index, flight, memory->now);
}

static bool translates(const struct prefetcher *prefetcher) {
    return prefetcher->kind == PREFETCH_NEXT_PAGE || prefetcher->kind == PREFETCH_LONG_STREAM;
}

/* The step of prefetch_lines(); 0: there is none. */
static inline int64_t step_of(const struct cache *cache, struct prefetcher *prefetcher,
                              const struct request *request, bool missed, bool first_use) {
    const struct prefetch_trigger trigger = {.address = request->address,
                                             .line_bytes = (uint32_t)cache->line_mask + 1,
                                             .insn = request->insn,
                                             .missed = missed,
                                             .first_use = first_use};
    /* Translations ahead are the DTLB's, so those who need them do not see code. */
    return translates(prefetcher) && !request->data ? 0 : prefetch_step(prefetcher, &trigger);
}

static struct prefetch_walk walk_by(const struct prefetcher *prefetcher,
                                    const struct request *request, int64_t step) {
    return (struct prefetch_walk){.step = step,
                                  .from = request->address,
                                  .address = request->address,
                                  .left = step ? prefetcher->reach : 0,
                                  .in_page = prefetcher->in_page,
                                  .translates = translates(prefetcher)};
}

struct prefetch_walk prefetch_lines(const struct cache *cache, struct prefetcher *prefetcher,
                                    const struct request *request, bool missed, bool first_use) {
    return walk_by(prefetcher, request, step_of(cache, prefetcher, request, missed, first_use));
}

static bool is_beyond_page(const struct memory *memory, const struct prefetch_walk *walk) {
    return (walk->address ^ walk->from) & ~(uint64_t)(memory->page_size - 1);
}

/* Goes to the next line. Stops at the end of the address space; some prefetchers stop at the end of
 * the page. */
static bool next_line(const struct memory *memory, const struct cache *cache,
                      struct prefetch_walk *walk) {
    while (walk->left > 0) {
        const uint64_t before = walk->address;
        walk->left--;
        walk->address += (uint64_t)walk->step;
        if ((walk->address > before) != (walk->step > 0) ||
            (walk->in_page && is_beyond_page(memory, walk)))
            return false;
        if ((walk->address ^ before) & ~cache->line_mask)
            return true;
    }
    return false;
}

bool prefetch_next(const struct memory *memory, const struct cache *cache,
                   struct prefetch_walk *walk) {
    while (next_line(memory, cache, walk))
        if (cache_find(cache, walk->address) == CACHE_NONE)
            return true;
    return false;
}

/* Likewise, in time: a line that others have pushed out is fetched again. */
static bool next_to_fetch(struct memory *memory, struct cache *cache, struct prefetch_walk *walk,
                          const struct request *request) {
    while (next_line(memory, cache, walk))
        if (find_kept(memory, cache, walk->address, request) == CACHE_NONE)
            return true;
    return false;
}

/* Fetches the lines of a walk, which stands at the first, as long as MSHRs are free. Returns the
 * shares of the fills. */
static __attribute__((noinline)) uint64_t fetch_ahead(struct memory *memory, struct cache *cache,
                                                      struct prefetch_walk *walk,
                                                      const struct request *request, bool missed) {
    struct request prefetch = *request;
    uint64_t shares = 0;
    prefetch.prefetch = true;
    prefetch.flight = missed ? FLIGHT_COUNTED : FLIGHT_ADDED;
    prefetch.store = false;
    prefetch.translation = 0;
    do {
        struct answer answer;
        if (!prefetch.functional &&
            holds_free_at(&cache->mshr_holds, prefetch.cycle + cache->detect, 1) == 0)
            break;
        prefetch.address = walk->address;
        prefetch.translation = 0;
        if (walk->translates && is_beyond_page(memory, walk))
            prefetch.translation =
                translate_ahead(memory, request->cycle, walk->address, request->functional);
        prefetch.cycle = request->cycle + prefetch.translation;
        cache->statistics.prefetches += !prefetch.functional;
        level_fill(memory, cache, &prefetch, &answer);
        shares += answer.share;
    } while (next_to_fetch(memory, cache, walk, request));
    return shares;
}

uint64_t level_prefetch(struct memory *memory, struct cache *cache, const struct request *request,
                        bool missed, bool first_use) {
    uint64_t shares = 0;
    for (uint32_t i = 0; i < cache->prefetcher_count; i++) {
        struct prefetcher *prefetcher = &cache->prefetchers[i];
        const int64_t step = step_of(cache, prefetcher, request, missed, first_use);
        if (!step)
            continue;
        struct prefetch_walk walk = walk_by(prefetcher, request, step);
        if (next_to_fetch(memory, cache, &walk, request))
            shares += fetch_ahead(memory, cache, &walk, request, missed);
    }
    return shares;
}

/* The first access to a line that a prefetch is fetching. If the prefetcher asked for it, later
 * accesses that wait for it wait for the same as this one. */
static void note_first_use(struct cache *cache, size_t index, const struct flight *flight,
                           const struct request *request, struct answer *answer) {
    if (flight->kind != FLIGHT_COUNTED)
        answer->share = flight->share;
    if (flight->kind != FLIGHT_ASKED) {
        answer->fetched_by = request->sequence;
        cache_set_fetched_by(cache, index, request->sequence);
    }
}

/* In program order, a younger access may come at an earlier cycle than the one that fetched the
 * line. The line is then fetched for the younger one, that much earlier. */
static void ask_earlier(struct flight *flight, uint64_t cycle) {
    const uint64_t most = flight->ready > flight->soonest ? flight->ready - flight->soonest : 0;
    const uint64_t wanted = flight->asked - cycle, earlier = wanted < most ? wanted : most;
    flight->asked = cycle;
    flight->start -= earlier;
    flight->ready -= earlier;
}

void level_read(struct memory *memory, struct cache *cache, const struct request *request,
                struct answer *answer) {
    const size_t index = find_kept(memory, cache, request->address, request);
    const bool missed = index == CACHE_NONE;
    bool first_use = false;
    if (missed) {
        level_fill(memory, cache, request, answer);
    } else {
        *answer = (struct answer){.ready = request->cycle + cache->latency,
                                  .fetched_by = cache_fetched_by(cache, index),
                                  .level = cache->level};
        struct flight *flight = cache_flight(cache, index, memory->now);
        if (flight && flight->asked > request->asked)
            ask_earlier(flight, request->asked);
        if (flight && flight->ready > request->cycle && !cache->free_pending_hits) {
            answer->pending = true;
            answer->coherent = flight->coherent;
            answer->dram_wait = flight->dram_wait;
            answer->level = flight->level;
            if (cache->tags[index] & TAG_PREFETCHED)
                note_first_use(cache, index, flight, request, answer);
            if (answer->ready < flight->ready)
                answer->ready = flight->ready;
        }
        first_use = answer->prefetched = level_hit(cache, index, request->store);
        if (cache->retention.seen && !answer->pending)
            retention_used(&cache->retention, index, request->cycle);
    }
    if (!request->functional) {
        cache->statistics.accesses++;
        cache->statistics.misses += missed;
        cache->statistics.pending_hits += answer->pending && !missed;
        cache->statistics.useful_prefetches += first_use;
    }
    if (cache->prefetcher_count && !request->unseen) {
        const uint64_t shares = level_prefetch(memory, cache, request, missed, first_use);
        answer->share += missed ? shares : 0;
    }
}
