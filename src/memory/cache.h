/* One set-associative cache: tags, replacement, the fills that are in flight and the MSHRs that
 * hold them. It knows nothing of the levels around it; hierarchy.c moves lines between caches.
 *
 * A line is three words, in three arrays indexed by set × ways + way:
 *   tag   line address | TAG_* flags (in the low bits that a line address leaves free)
 *   note  (fetched_by + 1) << 16 | slot of its flight; fetched_by is the access that fetched the
 *         line, fetched_by + 1 = 0: not known
 *   used  LRU: when it was used last, in uses of this cache
 * All-zero memory is an empty cache, so that sets never touched cost no memory. Blocks of lines
 * that were ever written are known, so that only these are copied and cleared; and of a copied one
 * whose copy it is, so that it is copied anew only when either has changed since.
 *
 * TAG_PENDING says that the line's fill may be in flight: `flights[slot]` is then its fill if it
 * still names this line and is not over. The flag is dropped at the first touch after the fill, so
 * a settled hit reads nothing but its tag.
 *
 * Lines never move. A small table of hints, indexed by the line's address, names the way where a
 * line was last seen; tags are checked, so a hint may be wrong and then the set is searched. */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/machine.h"
#include "memory/bus.h"
#include "memory/frame.h"
#include "memory/holds.h"
#include "memory/memory.h"
#include "memory/prefetch.h"
#include "memory/retention.h"

enum {
    TAG_VALID = 1 << 0,
    TAG_DIRTY = 1 << 1,
    TAG_PREFETCHED = 1 << 2, /* fetched by a prefetch of this level and not used since */
    TAG_PENDING = 1 << 3
};
enum { CACHE_HINTS = 2048, CACHE_PREFETCHERS = 3 };
/* Of lines in a row, whatever their sets; and what is known of each. */
enum { CACHE_BLOCK = 64 };
enum {
    BLOCK_USED = 1 << 0, /* a line was put there since all was zero */
    BLOCK_NOTED = 1 << 1 /* notes may have changed since the cache began anew */
};
enum { CACHE_MIN_LINE = 16, CACHE_MAX_LINE = 4096, CACHE_MAX_WAYS = 1024, CACHE_MAX_MSHRS = 4096 };
static_assert((int)TAG_PENDING < (int)CACHE_MIN_LINE, "flags fit below the shortest line address");

/* Fills tracked at a time; past that the next one takes the slot of an old one, whose line then
 * counts as arrived. Slots grow towards it only as fills really overlap. */
enum { CACHE_MAX_FLIGHTS = 16384, CACHE_FIRST_FLIGHTS = 16 };
#define CACHE_NONE SIZE_MAX

/* What a line is fetched for. */
enum flight_kind {
    FLIGHT_ASKED,  /* an instruction, software prefetches too */
    FLIGHT_ADDED,  /* the prefetcher */
    FLIGHT_COUNTED /* the prefetcher, and the fill is part of the fill cycles of the miss it answers
                    */
};
struct flight {
    uint64_t line;         /* address */
    uint64_t asked;        /* cycle of the access that asked for it */
    uint64_t start, ready; /* holds its MSHR in [start, ready) */
    uint64_t share;        /* as struct answer has it */
    uint16_t dram_wait;    /* as struct answer has it */
    uint8_t level;         /* enum memory_level that serves it */
    uint8_t kind;          /* enum flight_kind */
    bool coherent;         /* from another core, or after it has given the line up */
    uint64_t soonest;      /* it would not be ready sooner, had it been asked for earlier */
};

struct cache {
    /* Hot: read on every access. */
    uint64_t *tags, *notes, *used;
    uint8_t *blocks;    /* BLOCK_*, by index / CACHE_BLOCK */
    uint64_t *contents; /* likewise, beyond the L1: blocks of caches of one shape whose number is
                           the same hold the same, with notes of one kind; 0: not known */
    uint64_t line_mask; /* line size − 1 */
    uint64_t set_mask;
    uint64_t uses;
    uint32_t line_shift, ways;
    uint32_t frame_shift; /* sets go by page frames (frame.h), of so many bits of offset; 0: not */
    uint32_t latency;
    uint8_t replacement; /* enum replacement_kind */
    struct cache_statistics statistics;

    bool free_pending_hits; /* as struct machine_cache */
    bool before_shared;     /* the last of one core, behind which cores share (coherence.h) */
    uint8_t level;          /* enum memory_level */
    uint32_t detect;        /* cycles from the access of the L1 to a miss being known here */
    struct cache *next;     /* next level; NULL: DRAM */
    struct bus bus;         /* from the next level, of this cache alone; a line takes 0 cycles where
                               the machine says nothing of it */
    uint64_t *trees;        /* PLRU: per set, node n in bit n (root 1): 1 points right */
    uint64_t random;        /* state of the generator of random replacement */
    struct retention retention;
    uint32_t mshrs; /* 0: unlimited */
    struct holds mshr_holds;
    struct flight *flights; /* CACHE_MAX_FLIGHTS slots, of which flight_slots are in use */
    uint32_t flight_slots, flight_cursor;
    struct prefetcher prefetchers[CACHE_PREFETCHERS];
    uint32_t prefetcher_count;
    bool trains_on_hits;        /* a prefetcher learns from every access of an instruction */
    uint8_t hints[CACHE_HINTS]; /* ways, modulo 256 */
};

/* `name` is that of the machine file's section, for errors. */
bool cache_new(struct cache *cache, const struct machine_cache *machine, const char *name,
               enum memory_level level, struct error *error);
void cache_free(struct cache *cache);
/* See memory_restart(). */
void cache_restart(struct cache *cache);

/* See memory_copy(). */
void cache_copy(struct cache *cache, const struct cache *from);

/* Copies the lines of a cache of the same shape, with their order of use. None is in flight, and
 * which access fetched them is not known: what is noted of them tells only whether it was a
 * prefetcher. */
struct cache_notes {
    uint64_t prefetched, other;
};
void cache_copy_lines(struct cache *cache, const struct cache *other, struct cache_notes notes);

/* First line of the set of an address. */
static inline size_t cache_set(const struct cache *cache, uint64_t address) {
    if (cache->frame_shift)
        address = frame_address(0, address, cache->frame_shift);
    return ((address >> cache->line_shift) & cache->set_mask) * cache->ways;
}

/* Index of the line that holds an address, or CACHE_NONE. Changes nothing. */
static inline size_t cache_find(const struct cache *cache, uint64_t address) {
    const uint64_t keep = ~cache->line_mask | TAG_VALID;
    const uint64_t wanted = (address & ~cache->line_mask) | TAG_VALID;
    const size_t set = cache_set(cache, address);
    const size_t hint = set + cache->hints[(address >> cache->line_shift) % CACHE_HINTS];
    if ((cache->tags[hint] & keep) == wanted)
        return hint;
    for (size_t index = set; index < set + cache->ways; index++)
        if ((cache->tags[index] & keep) == wanted)
            return index;
    return CACHE_NONE;
}

static inline uint64_t cache_line(const struct cache *cache, size_t index) {
    return cache->tags[index] & ~cache->line_mask;
}

static inline uint64_t cache_fetched_by(const struct cache *cache, size_t index) {
    return (cache->notes[index] >> 16) - 1; /* unknown: UINT64_MAX */
}

static inline void cache_set_fetched_by(struct cache *cache, size_t index, uint64_t fetched_by) {
    cache->notes[index] = (fetched_by + 1) << 16 | (cache->notes[index] & 0xffff);
}

static inline uint8_t *cache_hint(struct cache *cache, uint64_t address) {
    return &cache->hints[(address >> cache->line_shift) % CACHE_HINTS];
}

static inline size_t cache_blocks(const struct cache *cache) {
    return ((cache->set_mask + 1) * cache->ways + CACHE_BLOCK - 1) / CACHE_BLOCK;
}

/* Whatever of a line changes, beyond the L1; and when one is put into any cache. */
static inline void cache_note_change(struct cache *cache, size_t index) {
    cache->blocks[index / CACHE_BLOCK] = BLOCK_USED | BLOCK_NOTED;
    cache->contents[index / CACHE_BLOCK] = 0;
}

/* Notes a use for PLRU replacement. */
void cache_turn_tree(struct cache *cache, size_t index);

/* Notes a use for replacement. */
static inline void cache_touch(struct cache *cache, size_t index) {
    cache->used[index] = ++cache->uses;
    if (cache->replacement == REPLACE_PLRU)
        cache_turn_tree(cache, index);
}

/* The fill of a line, or NULL when the line is there at cycle `now`. */
struct flight *cache_flight(struct cache *cache, size_t index, uint64_t now);

/* Makes room for a line that is not in the cache and puts it there, settled; returns its index.
 * *victim is the tag of the line that had to go (0: none). A line in flight goes only when every
 * line of its set is in flight: its fill still serves the accesses that wait for it and holds its
 * MSHR to the end, but the line is not kept. */
size_t cache_insert(struct cache *cache, uint64_t address, uint64_t flags, uint64_t fetched_by,
                    uint64_t now, uint64_t *victim);

/* The line at index leaves. */
void cache_drop(struct cache *cache, size_t index);

/* Marks the line at index as in flight; flight->line is set here. */
void cache_launch(struct cache *cache, size_t index, struct flight flight, uint64_t now);

bool cache_consistent(const struct cache *cache, uint64_t now);
