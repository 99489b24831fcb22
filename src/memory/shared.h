/* Memory of several cores: private first levels, TLBs and prefetchers as memory.h has them, and
 * behind them, shared, a last level (the LLC; of a machine without one the L2; or none), DRAM, and
 * a directory that keeps the private caches coherent (MESI; coherence.h).
 *
 *     struct shared_memory *shared = shared_memory_new(&machine, cores, ideal, &error);
 *     memory_load(shared_memory_core(shared, 1), cycle, ...)
 *
 * Cores may be asked in any order: what they do to each other happens in the order of the calls,
 * each from the cycle on that it names. So who calls keeps their cycles together, as near as the
 * order is to matter. All addresses are of one address space. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"
#include "memory/memory.h"
#include "util/error.h"

enum { SHARED_MEMORY_CORES = 64 };

struct shared_memory;
/* `ideal`: enum memory_ideal of all cores. Errors: more than SHARED_MEMORY_CORES, lines of
 * different length, memory. */
struct shared_memory *shared_memory_new(const struct machine *machine, uint32_t cores,
                                        uint32_t ideal, struct error *error);
void shared_memory_free(struct shared_memory *shared);

/* The memory of one core. It is freed with the whole. */
struct memory *shared_memory_core(struct shared_memory *shared, uint32_t core);

/* Idealises these (enum memory_ideal) from now on in place of those before. */
void shared_memory_idealise(struct shared_memory *shared, uint32_t ideal);

/* No core asks for a cycle before this one any more. */
void shared_memory_advance(struct shared_memory *shared, uint64_t cycle);

/* What cores did to each other, as the one sees it whose access waited. */
struct coherence_statistics {
    uint64_t clean_transfers;    /* its line came from a core that had it alone, and clean */
    uint64_t modified_transfers; /* that had modified it */
    uint64_t upgrades;           /* it had the line, but not alone, and stored */
    uint64_t invalidations;      /* copies that it lost to stores of others */
    uint64_t evictions;          /* copies that it lost because the directory needed the entry */
    uint64_t wait_cycles;        /* its requests waited for earlier ones for the same line */
};
void shared_memory_statistics(const struct shared_memory *shared, uint32_t core,
                              struct coherence_statistics *statistics);

/* Told of every transfer between cores, and of every upgrade. */
enum coherence_kind { COHERENCE_CLEAN, COHERENCE_MODIFIED, COHERENCE_UPGRADE };
struct coherence_event {
    uint8_t kind;     /* enum coherence_kind */
    bool own;         /* for a store, or an atomic's load */
    uint32_t core;    /* whose access it is */
    uint64_t from;    /* bit per core that lost its copy, or the right to write it */
    uint64_t address; /* of the access, in the line's units: line_bytes */
    uint32_t insn;    /* its static instruction; UINT32_MAX: not known (fetch, page walk) */
    uint64_t cycle;   /* of the access */
    uint64_t cycles;  /* from there until the line is there, or owned */
};
struct coherence_watch {
    void (*see)(void *context, const struct coherence_event *event);
    void *context;
};
void shared_memory_watch(struct shared_memory *shared, struct coherence_watch watch);

/* True when the invariant of coherence holds: of every line one core may write it and no other has
 * it, or any number of cores read it; and those of each memory. */
bool shared_memory_consistent(const struct shared_memory *shared);
