/* The memory system of one core: L1 instruction and data caches, optional L2 and LLC, TLBs,
 * prefetchers, DRAM. It is asked at the cycle an access happens and answers at once with the cycle
 * at which its data will be there: every line carries the cycle its fill completes, so a later
 * access to it is a pending hit, and MSHRs are lists of fill times. Calls must come with
 * non-decreasing `cycle`.
 *
 * What it keeps of an access is what the later rooms need: the level that served it, the cycles up
 * to and beyond an L1 hit, and the sequence number of the instruction that brought the line. */
#ifndef CULPRIT_MEMORY_MEMORY_H
#define CULPRIT_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"
#include "util/error.h"

struct memory;

enum memory_level { LEVEL_L1, LEVEL_L2, LEVEL_LLC, LEVEL_DRAM };

/* What happened to an access. ST-L1 and ST-LLC (paper B Table B.1) follow from these: a hit under
 * an in-flight miss sets MISSED_L1, and MISSED_LLC if that fill missed the LLC. */
enum memory_event {
    MEMORY_MISSED_L1 = 1 << 0,
    MEMORY_MISSED_LLC = 1 << 1,
    MEMORY_MISSED_TLB = 1 << 2,  /* first-level TLB */
    MEMORY_PENDING_HIT = 1 << 3, /* line was in flight, brought by `bringer` */
    MEMORY_PREFETCHED = 1 << 4,  /* line brought by a prefetch, first use */
    MEMORY_SPLIT = 1 << 5        /* crossed a line: two accesses, the later one counts */
};

struct memory_result {
    uint64_t ready;   /* cycle at which the data is there (loads, fetch) or the line is owned
                         (stores); > cycle */
    uint64_t retry;   /* not 0: no MSHR free; nothing changed; ask again at this cycle (> cycle) */
    uint64_t bringer; /* sequence number (µop) whose miss or prefetch brought the line, its own
                         where it is the first to wait for what the prefetcher asked for;
                         UINT64_MAX when not known */
    uint32_t tlb_cycles; /* part of the latency spent on translation */
    /* For which it holds MSHRs: of a miss the fill of its line and those that prefetchers add; of
     * the first use of a line that was prefetched otherwise and is on its way, that line's; else 0.
     * In cycles of an MSHR of the level that has fewest, of those that missed:
     * where 16 MSHRs of one are held for 300 cycles and 12 of the next for 200, that is as much as
     * 12 for 225. The bus to memory counts as a level with one MSHR. 0 when they are unlimited. */
    uint32_t fill_cycles;
    uint8_t events; /* enum memory_event */
    uint8_t level;  /* enum memory_level that served it (of the fill in flight for pending hits) */
};

enum memory_ideal {
    MEMORY_IDEAL_FETCH = 1 << 0, /* instruction cache and TLB always hit (imiss) */
    MEMORY_IDEAL_DATA = 1 << 1,  /* data accesses always hit L1 and the TLB (dmiss) */
    MEMORY_IDEAL_LONG = 1 << 2   /* a last-level data miss takes last-level hit latency (dlong) */
};

/* NULL on failure (out of memory: absurd sizes are refused by machine_check). */
struct memory *memory_new(const struct machine *machine, uint32_t ideal, struct error *error);
void memory_free(struct memory *memory);

/* Accesses at `cycle`. `sequence` is the µop's, `insn` its static instruction (for the stride
 * prefetcher). size_bytes ≥ 1; an access that crosses lines touches both.
 * An L1D hit returns ready = cycle + l1d.latency; an L1I hit ready = cycle + l1i.latency. */
void memory_load(struct memory *memory, uint64_t cycle, uint64_t address, uint32_t size_bytes,
                 uint64_t sequence, uint32_t insn, struct memory_result *result);
void memory_store(struct memory *memory, uint64_t cycle, uint64_t address, uint32_t size_bytes,
                  uint64_t sequence, uint32_t insn, struct memory_result *result);
void memory_fetch(struct memory *memory, uint64_t cycle, uint64_t address, uint64_t sequence,
                  struct memory_result *result);
/* The same accesses in short. True: it was a settled hit (all of it in the L1 with no fill in
 * flight and not a prefetched line's first use, its page's translation known), done and counted as
 * above. False: nothing was done; ask above. `bringer`: as above, where it is not NULL. */
bool memory_load_hits(struct memory *memory, uint64_t cycle, uint64_t address, uint32_t size_bytes,
                      uint64_t sequence, uint32_t insn, uint64_t *bringer);
bool memory_store_hits(struct memory *memory, uint64_t cycle, uint64_t address, uint32_t size_bytes,
                       uint64_t sequence, uint32_t insn);
bool memory_fetch_hits(struct memory *memory, uint64_t cycle, uint64_t address);

/* Translates a data address only, as a store does before it commits: ready = cycle when the first
 * TLB level hits, later by the translation otherwise; events MEMORY_MISSED_TLB; other fields as for
 * an L1 hit. */
void memory_translate(struct memory *memory, uint64_t cycle, uint64_t address,
                      struct memory_result *result);
/* In short: true when it is known at `cycle`; false: nothing was done. */
bool memory_translates(struct memory *memory, uint64_t cycle, uint64_t address);
/* A software prefetch: allocates an MSHR when one is free, else is dropped. */
void memory_prefetch(struct memory *memory, uint64_t cycle, uint64_t address, uint64_t sequence,
                     uint32_t insn);

/* Time begins anew at cycle 0: what was in flight has arrived, nothing is busy, nobody is known to
 * have brought a line. What caches, TLBs and open rows hold stays, and so do the counts. */
void memory_restart(struct memory *memory);

/* To one of the same machine that is new: what caches, prefetchers, TLBs and open rows of `from`
 * hold, as after memory_restart(). Idealisations and counts stay its own. */
void memory_copy(struct memory *memory, const struct memory *from);

/* Functional warming: updates tags, replacement and TLBs as if each access completed at once.
 * Prefetchers fetch on misses as they do in time, with MSHRs always free; a stride prefetcher,
 * which wants to know instructions, neither fetches nor learns. Nothing is counted. */
void memory_warm_load(struct memory *memory, uint64_t address, uint32_t size_bytes, bool store);
void memory_warm_fetch(struct memory *memory, uint64_t address);

/* Outside time: what a cache simulator that knows no cycles tells of the accesses of a program in
 * program order (Chen 2009 §2.2.1). Every access completes at once, prefetches included; all
 * prefetchers are at work, translation is not looked at and nothing is counted. A memory is asked
 * either this way or in time, never both.
 *
 * A block is a line of the last level. Each knows the access that brought it there, or whose
 * prefetch did, by the number that the caller gave it (below 2^47), and inner levels hand that
 * on. */
#define UNTIMED_NOBODY UINT64_MAX /* the number of an access that none is to know of */
enum untimed_event {
    UNTIMED_MISS = 1 << 0,            /* no level had it */
    UNTIMED_MISSED_L1 = 1 << 1,       /* the L1 did not have it */
    UNTIMED_PREFETCHED = 1 << 2,      /* its block was brought by a prefetch */
    UNTIMED_FIRST_USE = 1 << 3,       /* and nobody asked for it before */
    UNTIMED_TRIGGERED = 1 << 4,       /* a prefetcher answered with a fetch from memory, or of
                                          more of the block that the access itself brings */
    UNTIMED_BEYOND = 1 << 5,          /* and only prefetchers of levels beyond the L1D did */
    UNTIMED_ALONG = 1 << 6,           /* the L1D's answered with more of a block that another
                                          access brought, or whose prefetch did: */
    UNTIMED_ALONG_PREFETCHED = 1 << 7 /* the latter */
};
struct untimed_result {
    uint64_t bringer; /* number of the access that brought its block; its own when it missed; of an
                         access that crosses lines the latest; UNTIMED_NOBODY: not known */
    uint64_t along;   /* with UNTIMED_ALONG: the number of that access; of several the last */
    uint8_t events;   /* enum untimed_event, of all lines of the access */
};
void memory_untimed(struct memory *memory, uint64_t address, uint32_t size_bytes, bool store,
                    uint64_t number, uint32_t insn, struct untimed_result *result);
/* A software prefetch: UNTIMED_TRIGGERED when it fetches from memory. */
void memory_untimed_prefetch(struct memory *memory, uint64_t address, uint64_t number,
                             uint32_t insn, struct untimed_result *result);

/* Caches of a memory to be asked outside time get what those of another one hold, which may be in
 * time; of lines that are there nobody is known to have brought them. Both are of machines with the
 * same caches; prefetchers may differ, and know of nothing. Costs what copying the tags costs. */
void memory_untimed_from(struct memory *memory, const struct memory *other);

/* Timed accesses only, warming is not counted. An access that crosses lines counts once per line.
 * Levels beyond the L1 count every read that reaches them, prefetches of inner levels included. */
struct cache_statistics {
    uint64_t accesses;
    uint64_t misses;            /* primary: a fill was started for an access */
    uint64_t pending_hits;      /* the line was in flight here */
    uint64_t prefetches;        /* started by this level's prefetcher or, in the L1D, by software */
    uint64_t useful_prefetches; /* of these, lines that were used before they left */
    uint64_t writebacks;        /* dirty lines that left */
    uint64_t mshr_waits;        /* refusals (L1D), accesses delayed (other levels) */
};
struct memory_statistics {
    struct cache_statistics l1i, l1d, l2, llc;
    uint64_t itlb_accesses, itlb_misses, dtlb_accesses, dtlb_misses, page_walks;
    uint64_t dram_reads, dram_writes, dram_row_hits;
};
void memory_statistics(const struct memory *memory, struct memory_statistics *statistics);

/* Debug builds: true when every invariant of the room holds (no duplicate tags in a set, fills in
 * flight never above the MSHRs, ...). */
bool memory_consistent(const struct memory *memory);

#endif
