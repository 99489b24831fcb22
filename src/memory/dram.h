/* DRAM behind the last level: fixed latency, or banks with open rows. Requests are served in the
 * order they are asked for (FCFS; rows stay open until another is needed), on one data bus.
 *
 * Banked, of a read that arrives at cycle a: it waits for a queue slot and for its bank; the row
 * hit takes tCL, a closed bank tRCD + tCL, another open row tRP + tRCD + tCL; then the line crosses
 * the bus (line / bandwidth) after all earlier ones; then base_latency. A bank takes its next
 * column command one transfer after this one's, so row hits stream at bus speed. tRAS, tFAW,
 * refresh and bus turnaround are not modelled.
 * Writes sit in a write buffer that drains row by row: they take the bus, not banks or slots.
 * Consecutive rows lie in consecutive banks. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"
#include "memory/bus.h"
#include "memory/holds.h"
#include "util/error.h"

enum { DRAM_MAX_BANKS = 65536, DRAM_MAX_QUEUE = 65536 };
enum dram_row { ROW_HIT, ROW_CLOSED, ROW_CONFLICT, ROW_CASES };

/* A bank as a request leaves it. */
struct dram_service {
    uint64_t arrival, start;    /* cycle of the request, and of its first command */
    uint64_t free;              /* cycle of the next command */
    uint64_t open_row_plus_one; /* 0: closed */
};
enum { DRAM_SERVICES = 8 };
struct dram_bank {
    struct dram_service services[DRAM_SERVICES]; /* the last ones, by start; the oldest stands for
                                                    all before it */
    uint32_t count;
};

struct dram {
    bool banked;
    uint64_t latency; /* fixed: total; banked: outside the DRAM */
    uint64_t row_bytes;
    uint32_t bank_count, queue;
    uint64_t to_column[ROW_CASES], to_data[ROW_CASES]; /* core cycles, rounded up */
    struct dram_bank *banks;
    struct holds slots; /* of the queue */

    struct bus bus;
    uint64_t now; /* no request will come before this cycle */
    uint64_t reads, writes, row_hits;
};

bool dram_new(struct dram *dram, const struct machine *machine, uint32_t line_bytes,
              struct error *error);
void dram_free(struct dram *dram);
/* Time begins anew: nothing is busy; open rows stay open. */
void dram_restart(struct dram *dram);
/* See memory_copy(). */
void dram_copy(struct dram *dram, const struct dram *from);

/* Cycles that a read takes at most when no other is under way. */
static inline uint64_t dram_unloaded(const struct dram *dram) {
    if (!dram->banked)
        return dram->latency;
    return dram->latency + dram->to_data[ROW_CONFLICT] + bus_cycles(&dram->bus.line);
}

/* The cycle at which a line asked for at `cycle` (the miss in the last level) is at the core. A
 * core in program order may ask for cycles earlier than before; such a request is served before the
 * later ones. */
uint64_t dram_read(struct dram *dram, uint64_t cycle, uint64_t address);
void dram_write(struct dram *dram, uint64_t cycle);

bool dram_consistent(const struct dram *dram);
