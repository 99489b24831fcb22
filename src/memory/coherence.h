/* Inside the memory room: MESI among private caches, kept by a directory at the shared level.
 *
 * A core's copy of a line is I when none of its caches has it. Else the directory says: the one
 * holder of an owned line may write it (E, or M when a cache of the core has it dirty); other lines
 * are S. A request of a core, in the cycle c of its access to the L1, with all latencies from there
 * to the data at the core as everywhere in this room:
 *
 *     read, no other core has it       as memory alone says; the core has it alone (E)
 *     read, others have it in S        as memory alone says; one more in S
 *     read, another core owns it       s + clean_transfer, or modified_transfer when that core has
 *                                      it dirty; both have it in S, and the shared level dirty
 *                                      (migratory machines: when that has it dirty, it goes over
 *                                      whole: the reader has M, the other loses it)
 *     store, another core owns it      the same; the other core loses it; M
 *     store, others have it in S       the later of what memory says and s + upgrade; they lose it
 *     store to a line of its own in S  s + upgrade; others lose it
 *     store to a line of its own in E, M: at once
 *
 * Requests travel for chip.request_latency of a transfer's cycles, or half of them, data for the
 * others: who loses a line, or may write it no more, uses it until the request arrives. Accesses of
 * that core before then that are computed later find it as it was (lost.h).
 *
 * Transfers of a line take place one after the other: s = the later of c and the end of the one
 * before. That goes for what brings a line to its first owner, too: who wants it meanwhile waits
 * for that. The load of an atomic read-modify-write asks as a store does, and nobody gets the line
 * before the store is done: ATOMIC_CYCLES behind the load. */
#pragma once

#include "memory/directory.h"
#include "memory/hierarchy.h"
#include "memory/shared.h"

/* The operation, commit and write of an atomic read-modify-write, a cycle each. */
enum { ATOMIC_CYCLES = 3 };

struct shared_memory {
    struct cache last; /* without tags: there is none, and private caches are before DRAM */
    struct dram dram;
    struct directory directory;
    struct memory **cores;
    uint32_t core_count;
    uint32_t line_bytes;
    uint32_t clean_transfer, modified_transfer, upgrade, request_latency; /* cycles */
    bool migratory;
    struct coherence_watch watch;
    struct coherence_statistics statistics[SHARED_MEMORY_CORES];
};

/* Reads a line that the private caches of a core do not have, `last` being the last of them. */
void coherent_read(struct memory *memory, struct cache *last, const struct request *request,
                   struct answer *answer);

/* Answers from the first level for a line that the core lost after this access. False: it had not
 * lost it, or before. */
bool coherent_had(struct memory *memory, struct cache *l1, const struct request *request,
                  struct answer *answer);

/* Whether the core may write a line of its own. */
bool coherent_owns(struct memory *memory, uint64_t line);

/* Makes the core the owner of a line that it has; the answer becomes that much later. */
void coherent_own(struct memory *memory, const struct request *request, struct answer *answer);
