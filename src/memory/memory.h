/* The memory system of one core: L1 instruction and data caches, optional L2 and LLC, TLBs,
 * prefetchers, DRAM. Each call names the cycle of an access and returns at once the cycle at which
 * its data will be there: every line carries the cycle its fill completes, so a later access to it
 * is a pending hit, and MSHRs are lists of fill times. Calls must come with non-decreasing `cycle`.
 *
 * Of each access it tells what later rooms need: the level that served it, the cycles up to and
 * beyond an L1 hit, and the sequence number of the instruction that fetched the line. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"
#include "util/error.h"

struct memory;

enum memory_level { LEVEL_L1, LEVEL_L2, LEVEL_LLC, LEVEL_DRAM };

/* What happened to an access. ST-L1 and ST-LLC (paper B Table B.1) follow from these: a hit on a
 * line in flight sets MISSED_L1, and MISSED_LLC if its fill missed the LLC. */
enum memory_event {
    MEMORY_MISSED_L1 = 1 << 0,
    MEMORY_MISSED_LLC = 1 << 1,
    MEMORY_MISSED_TLB = 1 << 2,  /* first-level TLB */
    MEMORY_PENDING_HIT = 1 << 3, /* line was in flight; `bringer` fetched it */
    MEMORY_PREFETCHED = 1 << 4,  /* first use of a line that a prefetch fetched */
    MEMORY_SPLIT = 1 << 5,       /* crossed a line: two accesses, the later one counts */
    MEMORY_COHERENCE = 1 << 6    /* waited for another core, which had the line (memory/shared.h) */
};

struct memory_result {
    uint64_t ready;   /* cycle at which the data is there (loads, fetch) or the line is owned
                         (stores); > cycle */
    uint64_t retry;   /* not 0: no MSHR free; nothing changed; ask again at this cycle (> cycle) */
    uint64_t bringer; /* sequence number of the µop whose miss or prefetch fetched the line; of
                         this access if it is the first to wait for a line that the prefetcher
                         asked for; UINT64_MAX: not known */
    uint32_t tlb_cycles; /* part of the latency spent on translation */
    /* Cycles for which the access holds MSHRs. A miss holds one for the fill of its line, and for
     * those that prefetchers add; the first use of a line that was prefetched for another access
     * and is still on its way, for that line. Other accesses hold none. Of the levels that missed,
     * the one counts whose MSHRs are taken up most, and the cycles are those of an MSHR of the
     * level that has fewest: a fill that holds one of 16 for 300 cycles and one of 12 for 200
     * counts as 225 of the 12. The bus to memory counts as a level with one MSHR. 0 when MSHRs are
     * unlimited. */
    uint32_t fill_cycles;
    uint16_t dram_wait; /* of them the last, for which other traffic held up the line's read from
                           DRAM: beyond the longest that one takes alone (UINT16_MAX at most) */
    uint8_t events;     /* enum memory_event */
    uint8_t level; /* enum memory_level that served it (of the fill in flight for pending hits) */
};

enum memory_ideal {
    MEMORY_IDEAL_FETCH = 1 << 0, /* instruction cache and TLB always hit (imiss) */
    MEMORY_IDEAL_DATA = 1 << 1,  /* data accesses always hit L1 and the TLB (dmiss) */
    MEMORY_IDEAL_LONG = 1 << 2   /* a last-level data miss takes last-level hit latency (dlong) */
};

/* Accesses come in program order, at any cycle from the one of memory_advance() on. */
void memory_in_program_order(struct memory *memory);
void memory_advance(struct memory *memory, uint64_t cycle);

/* NULL on failure (out of memory: absurd sizes are refused by machine_check). */
struct memory *memory_new(const struct machine *machine, uint32_t ideal, struct error *error);
void memory_free(struct memory *memory);

/* Accesses at `cycle`. `sequence` is the µop's, `insn` its static instruction (for the stride
 * prefetcher). size_bytes ≥ 1; an access that crosses lines touches both.
 * An L1D hit returns ready = cycle + l1d.latency; an L1I hit ready = cycle + l1i.latency. */
void memory_load(struct memory *memory, uint64_t cycle, uint64_t address, uint32_t size_bytes,
                 uint64_t sequence, uint32_t insn, struct memory_result *result);
/* An atomic read-modify-write: the line is owned, too, and modified (memory/shared.h). */
void memory_load_own(struct memory *memory, uint64_t cycle, uint64_t address, uint32_t size_bytes,
                     uint64_t sequence, uint32_t insn, struct memory_result *result);
/* Whether a line that this core had lost to another is not back in this cycle. */
bool memory_awaits(struct memory *memory, uint64_t cycle, uint64_t address);
/* When this core loses the line that it has in this cycle, as far as that is known to who was
 * dispatched in cycle `dispatch`, however far ahead of others it is computed; else UINT64_MAX. */
uint64_t memory_loses(struct memory *memory, uint64_t cycle, uint64_t dispatch, uint64_t address);
/* Whether a store at this cycle would find its lines this core's own: no other core is asked. */
bool memory_may_store(struct memory *memory, uint64_t cycle, uint64_t address, uint32_t size_bytes);
void memory_store(struct memory *memory, uint64_t cycle, uint64_t address, uint32_t size_bytes,
                  uint64_t sequence, uint32_t insn, struct memory_result *result);
void memory_fetch(struct memory *memory, uint64_t cycle, uint64_t address, uint64_t sequence,
                  struct memory_result *result);
/* Short forms of the same accesses, for settled hits: all of it is in the L1, with no fill in
 * flight and not as the first use of a prefetched line, and its page's translation is known. True:
 * it was one, and is done and counted as above. False: nothing was done; call the function above.
 * `bringer`: as above, where it is not NULL. */
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
/* The short form: true when the translation is known at `cycle`; false: nothing was done. Before a
 * first store to a page that the kernel clears it is false: ask memory_translate(), which lets it.
 */
bool memory_translates(struct memory *memory, uint64_t cycle, uint64_t address);
/* A software prefetch: allocates an MSHR when one is free, else is dropped. When its data are in
 * the L1; UINT64_MAX: it was dropped. */
uint64_t memory_prefetch(struct memory *memory, uint64_t cycle, uint64_t address, uint64_t sequence,
                         uint32_t insn);

/* Time begins anew at cycle 0: what was in flight has arrived, nothing is busy, and which access
 * fetched a line is not known any more. What caches, TLBs and open rows hold stays, and so do the
 * counts. */
void memory_restart(struct memory *memory);

/* So many cycles pass without an access: what others do in the caches goes on. */
void memory_pass(struct memory *memory, uint64_t cycles);

/* Idealises these (enum memory_ideal) from now on in place of those that memory_new() was given. */
void memory_idealise(struct memory *memory, uint32_t ideal);

/* Copies what caches, prefetchers, TLBs and open rows of `from` hold, as after memory_restart(),
 * into a memory of the same machine that is new or was restarted. That keeps its own idealisations
 * and counts. Beyond the L1 only what is not known to be the same is copied: where one was copied
 * from the other, or both from a third, what has changed since. Several threads may copy from one.
 */
void memory_copy(struct memory *memory, const struct memory *from);

/* Functional warming: updates tags, replacement and TLBs as if each access completed at once.
 * Prefetchers learn and fetch as they do in time, with MSHRs always free. Nothing is counted. */
void memory_warm_load(struct memory *memory, uint64_t address, uint32_t size_bytes, uint32_t insn,
                      bool store);
void memory_warm_prefetch(struct memory *memory, uint64_t address, uint32_t insn);
void memory_warm_fetch(struct memory *memory, uint64_t address);
/* Likewise with what a walk reads for each page of these bytes, as where the kernel has just made
 * them. The TLBs learn nothing. */
void memory_warm_tables(struct memory *memory, uint64_t address, uint64_t bytes);

/* A line that was accessed, and how last (memory/stamps.h). */
enum stamped_kind { STAMPED_LOAD, STAMPED_STORE, STAMPED_CODE };
enum { STAMPED_AGAIN = 63 };
struct stamped_line {
    uint64_t address; /* of its first byte */
    uint8_t kind;     /* enum stamped_kind; STORE: it was stored to at some time */
    uint8_t again;    /* accesses that came once the inner levels had let it go: STAMPED_AGAIN or
                         more */
    uint64_t time;    /* of the last access, in events since the stretch began */
};
/* What was stamped. */
struct stamped_stretch {
    uint64_t events;
    uint64_t cycles; /* that it took, by estimate */
    uint64_t before; /* cycles just before it of which nothing is known: taken to be like it */
};
/* Makes caches and TLBs hold what they would after a run whose last accesses to these lines were in
 * this order, after what they hold now. Lines are not longer than the machine's. Nothing is
 * counted. */
void memory_rebuild(struct memory *memory, const struct stamped_line *lines, size_t count,
                    struct stamped_stretch stretch);

/* Untimed accesses: what a cache simulator without cycles tells of a program's accesses, in program
 * order (Chen 2009 §2.2.1). Every access completes at once, and so do prefetches. All prefetchers
 * are at work; there is no translation, and nothing is counted. A memory is used either this way or
 * with cycles, never both.
 *
 * A block is a line of the last level. Each block keeps the number of the access that fetched it,
 * or whose prefetch did, as the caller numbered it (below 2^47). Inner levels copy it. */
#define UNTIMED_NOBODY UINT64_MAX /* as an argument: not to be kept; as a result: not known */
enum untimed_event {
    UNTIMED_MISS = 1 << 0,            /* no level had it */
    UNTIMED_MISSED_L1 = 1 << 1,       /* the L1 did not have it */
    UNTIMED_PREFETCHED = 1 << 2,      /* its block was fetched by a prefetch */
    UNTIMED_FIRST_USE = 1 << 3,       /* and no access used it before */
    UNTIMED_TRIGGERED = 1 << 4,       /* a prefetcher answered with a fetch from memory, or of
                                          more of the block that the access itself fetches */
    UNTIMED_BEYOND = 1 << 5,          /* and only prefetchers of levels beyond the L1D did */
    UNTIMED_ALONG = 1 << 6,           /* the L1D's answered by fetching more of a block that
                                          another access had fetched, or its prefetch: */
    UNTIMED_ALONG_PREFETCHED = 1 << 7 /* its prefetch had */
};
struct untimed_result {
    uint64_t fetched_by; /* number of the access that fetched its block: its own when it missed, the
                         latest when it crosses lines; UNTIMED_NOBODY: not known */
    uint64_t along; /* with UNTIMED_ALONG: the number of that other access, the last of several */
    uint8_t events; /* enum untimed_event, of all lines of the access */
};
void memory_untimed(struct memory *memory, uint64_t address, uint32_t size_bytes, bool store,
                    uint64_t number, uint32_t insn, struct untimed_result *result);
/* A software prefetch: UNTIMED_TRIGGERED when it fetches from memory. */
void memory_untimed_prefetch(struct memory *memory, uint64_t address, uint64_t number,
                             uint32_t insn, struct untimed_result *result);

/* Gives an untimed memory the lines that another memory holds, timed or not; which access fetched
 * them is not known. Both are of machines with the same caches. Prefetchers may differ, and start
 * with nothing learned. Takes as long as copying the tags. */
void memory_untimed_from(struct memory *memory, const struct memory *other);

/* Timed accesses only, warming is not counted. An access that crosses lines counts once per line.
 * Levels beyond the L1 count every read that reaches them, prefetches of inner levels and reads of
 * page walks included. */
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
    uint64_t dtlb_wait_cycles; /* of data, for translations: each access by itself */
    uint64_t dram_reads, dram_writes, dram_row_hits;
};
void memory_statistics(const struct memory *memory, struct memory_statistics *statistics);

/* Debug builds: true when every invariant of the room holds (no duplicate tags in a set, fills in
 * flight never above the MSHRs, ...). */
bool memory_consistent(const struct memory *memory);
