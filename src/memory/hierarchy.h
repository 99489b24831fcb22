/* Inside of the memory room: the levels of one core and how a line travels between them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "memory/cache.h"
#include "memory/dram.h"
#include "memory/lost.h"
#include "memory/memory.h"
#include "memory/page_set.h"
#include "memory/tlb.h"

enum { MEMORY_MAX_LINES = 64 }; /* of one access; what is beyond is not touched */

/* What walks the page tables (translate.c). */
struct walker {
    struct cache *reads;       /* level through which it reads entries; NULL: it reads none */
    struct tlb directory;      /* page-directory cache; without items it always has the entry */
    struct tlb host_directory; /* of the host, likewise */
    bool host_tables;
    uint32_t entry_bytes; /* what an entry of a TLB translates, and so a walk */
    struct bus starts;    /* takes the interval from one walk to the next for each; 0: none */
    uint64_t ahead;       /* a walk begins so many cycles before its turn there, at the earliest */
    struct holds busy;    /* walks under way */
    uint32_t cycles;      /* of a walk beside its reads */
};

struct shared_memory;
struct memory {
    struct cache l1i, l1d, l2, llc; /* an absent one has no tags; so has one that is shared, whose
                                       statistics are those of this core */
    struct tlb itlb, dtlb, l2tlb;
    bool second_tlb;
    struct dram *dram;            /* own_dram, or the one that is shared */
    struct dram own_dram;         /* where it is shared, counts of this core alone */
    struct shared_memory *shared; /* whose core `core` this is; NULL: the memory of one core */
    uint32_t core;
    struct lost_line *lost; /* LOST_LINES, of a core among several (lost.h) */
    uint32_t ideal, always; /* enum memory_ideal; those that the machine itself asks for */
    struct walker walker;
    uint32_t page_size, page_shift;
    bool clears_pages;      /* the kernel does, before the first store to each: */
    struct page_set stored; /* pages that were stored to */
    uint64_t page_walks;
    bool in_program_order; /* `now` is told (memory_advance) */
    uint64_t now; /* cycle of the last call that was not a settled hit: none to come is earlier */
    /* By enum memory_level that serves a miss: the fewest MSHRs of the levels before it; 0:
     * unlimited. */
    uint32_t mshrs[LEVEL_DRAM + 1];
};

enum { FILL_UNITS = 1 << 16 };

/* One line asked of a level. */
struct request {
    uint64_t
        asked; /* cycle in which the core asks; a line that it gets at once is there from then on */
    uint64_t cycle; /* of the access to the L1, with the waits so far */
    uint64_t address;
    uint64_t sequence;
    uint32_t insn;        /* or NO_INSN */
    uint32_t translation; /* cycles before `cycle` in which the access has its MSHR already */
    bool data;            /* not instruction fetch */
    bool store;           /* makes the line dirty in the L1 */
    bool own;             /* the core must own it: a store, or the load of an atomic: */
    bool atomic;
    bool prefetch;   /* by the prefetcher of the level asked; levels beyond see a read like any */
    uint8_t flight;  /* enum flight_kind, of the fill of the level asked */
    bool functional; /* warming: completes at once, outside time, counted nowhere */
    bool
        unseen; /* by a page walk, or the kernel: who watches, as prefetchers do, does not see it */
};

struct answer {
    uint64_t ready; /* cycle at which the line is at the core */
    uint64_t
        fetched_by;   /* sequence number of the access that fetched it into the level that has it */
    uint8_t level;    /* enum memory_level that serves it */
    uint64_t share;   /* fill cycles, as struct memory_result counts them, over the MSHRs of the
                         level where that is most, in units of 1 / FILL_UNITS */
    uint64_t soonest; /* however early it is asked for, it is not there before this cycle */
    uint16_t dram_wait; /* cycles for which other traffic held up its read from DRAM */
    bool pending;       /* some level had it in flight */
    bool coherent;      /* another core had it, or had to give it up (coherence.h) */
    bool prefetched;    /* first use of a line that a prefetch fetched */
};

/* A level beyond the L1. As cache_new(); `page_size`: machine_entry_bytes(). */
bool level_new(struct cache *cache, const struct machine_cache *machine, const char *name,
               enum memory_level level, uint32_t page_size, struct error *error);

/* Reads a line from DRAM, behind the last level. */
void level_read_dram(struct memory *memory, const struct cache *last, const struct request *request,
                     struct answer *answer);

/* Reads a line through a level; when it is not there, from the levels beyond, and keeps it. */
void level_read(struct memory *memory, struct cache *cache, const struct request *request,
                struct answer *answer);

/* The flags that a line has in the level that was asked: TAG_DIRTY, TAG_PREFETCHED. */
static inline uint64_t level_flags(const struct request *request) {
    return (request->store ? TAG_DIRTY : 0) | (request->prefetch ? TAG_PREFETCHED : 0);
}

/* Puts a line into a level that does not have it, with these flags; a dirty victim is written back.
 * Returns its index. */
size_t level_keep(struct memory *memory, struct cache *cache, const struct request *request,
                  uint64_t flags);

/* Fetches a line that a level does not have. */
void level_fill(struct memory *memory, struct cache *cache, const struct request *request,
                struct answer *answer);

/* Lets the prefetchers of a level answer a read; `request` as it was asked. Returns the shares of
 * its fills. */
uint64_t level_prefetch(struct memory *memory, struct cache *cache, const struct request *request,
                        bool missed, bool first_use);

/* The lines that a prefetcher of a level asks for in answer to a read, and the level does not have,
 * where no time passes:
 *
 *     struct prefetch_walk walk = prefetch_lines(cache, prefetcher, request, missed, first_use);
 *     while (prefetch_next(memory, cache, &walk))
 *         ... walk.address ...
 */
struct prefetch_walk {
    int64_t step;  /* bytes */
    uint64_t from; /* address of the read */
    uint64_t address;
    uint32_t left;   /* steps */
    bool in_page;    /* stops at the end of the page */
    bool translates; /* beyond it, the page's translation is needed */
};
struct prefetch_walk prefetch_lines(const struct cache *cache, struct prefetcher *prefetcher,
                                    const struct request *request, bool missed, bool first_use);
bool prefetch_next(const struct memory *memory, const struct cache *cache,
                   struct prefetch_walk *walk);

/* Notes the use of a line that a demand access hits. True: it is the first use of a line that a
 * prefetch fetched. */
static inline bool level_hit(struct cache *cache, size_t index, bool store) {
    const bool first_use = cache->tags[index] & TAG_PREFETCHED;
    cache_touch(cache, index);
    cache_note_change(cache, index);
    cache->tags[index] &= ~(uint64_t)TAG_PREFETCHED;
    cache->tags[index] |= store ? TAG_DIRTY : 0;
    return first_use;
}

/* The lines of an access: how many, and an address in the nth. */
static inline uint32_t lines_of(const struct cache *l1, uint64_t address, uint32_t size_bytes) {
    const uint64_t bytes = (address & l1->line_mask) + (size_bytes ? size_bytes : 1);
    const uint64_t lines = (bytes + l1->line_mask) >> l1->line_shift;
    return lines < MEMORY_MAX_LINES ? (uint32_t)lines : MEMORY_MAX_LINES;
}
static inline uint64_t nth_line(const struct cache *l1, uint64_t address, uint32_t line) {
    return line == 0 ? address : (address & ~l1->line_mask) + ((uint64_t)line << l1->line_shift);
}

/* A dirty line leaves `cache`: it goes to the first level beyond that has it or holds lines of its
 * size, else to DRAM. That is not a use there and delays no access, but takes DRAM bandwidth. */
void level_write_back(struct memory *memory, struct cache *cache, uint64_t line,
                      const struct request *request);

/* The memory of one core of several. `shared`: made but for its cores. */
struct memory *memory_new_shared(const struct machine *machine, uint32_t ideal,
                                 struct shared_memory *shared, uint32_t core, struct error *error);

/* False: `error`, and walker_free() frees what there is. */
bool walker_new(struct memory *memory, const struct machine *machine, struct error *error);
void walker_free(struct walker *walker);

/* Addresses of the entries of page tables that a walk for an address reads through the caches, of
 * the directories too; how many. */
enum { WALK_ENTRIES = 4 };
uint32_t walk_entries(const struct memory *memory, uint64_t address,
                      uint64_t entries[WALK_ENTRIES]);

/* Cycles that translation adds to an access at `cycle`; *missed when the first-level TLB had no
 * entry, or one whose walk is not over. Counts misses; accesses are the caller's to count, once per
 * load, store or fetch. */
uint32_t translate(struct memory *memory, struct tlb *tlb, uint64_t cycle, uint64_t address,
                   bool functional, bool *missed);
/* The same of data that a prefetch asks for: a walk counts, a miss of the TLB does not. */
uint32_t translate_ahead(struct memory *memory, uint64_t cycle, uint64_t address, bool functional);
