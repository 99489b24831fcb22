/* What the core keeps of stores: those in the queue, what was written in part, and those that
 * memory renaming remembers. What loads make of them: loads_stores.h, memory_renaming.h. Only the
 * files of this folder include this. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A store queue entry, from dispatch to the cache write. */
struct store_entry {
    uint64_t uop;
    uint64_t address, end;
    uint64_t issue;    /* its address is known to loads that issue from this cycle on */
    uint64_t complete; /* cycle address and data are there */
    uint64_t known;    /* and the one from which that is known: its data's producer has issued */
    uint64_t commit;   /* cycle; UNKNOWN: not computed yet */
    uint64_t release;  /* cycle the entry is free: the line is owned, and that of all older ones.
                          Known once it has been drained */
    uint32_t insn;
    uint16_t write_latency; /* cycles until the line is owned, UINT16_MAX at most; 1: no longer than
                               the store before it */
    uint16_t fill;          /* cycles that it holds an MSHR */
    uint8_t write_level;    /* enum memory_level that serves the line */
    bool coherent;          /* it, or one before it that it waits for, waits for another core */
};

/* Words of 4 bytes that were written to a piece of 64 bytes, by stores one after the other. */
struct written_words {
    uint64_t piece; /* number + 1; 0: none */
    uint64_t cycle; /* the last */
    uint32_t words; /* bit set */
};
enum { WRITTEN = 16 };

/* A store as memory renaming remembers it (memory_renaming.h). */
struct remembered_store {
    uint64_t number, uop, address;
    uint64_t wake, writer, issue; /* as those of a register, of what it stores */
    uint8_t base, index;          /* its address's registers */
};
enum { REMEMBERED_STORES = 64, MOST_PREDICTED = 4096, MOST_BY_USE = 64 };
/* A load that read from the store so many before it; 0: there is none. */
struct predicted_forward {
    uint32_t insn, stores_back;
};

enum { STORE_SLOTS = 4096, WAIT_TABLE = 4096 };
