/* What a whole run looked like at commit, from one pass over the tap:
 *
 * - cycles by what the commit stage did or waited for, per instruction (paper A §3.1, Fig. A.7),
 *   and the class of the program that follows (paper A §4);
 * - executions by signature, per instruction (the event counts of paper B §5.3 and Fig. B.7), and
 *   how many carry several events (§5.2);
 * - how long instructions without any event held up commit (paper B §3). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attribute/attribute.h"

enum commit_category {
    CATEGORY_EXECUTE,     /* Computing */
    CATEGORY_ALU_STALL,   /* Stalled: the oldest µop is neither load nor store */
    CATEGORY_LOAD_STALL,  /* Stalled: it is a load */
    CATEGORY_STORE_STALL, /* Stalled: it is a store */
    CATEGORY_FRONT_END,   /* Drained */
    CATEGORY_MISPREDICT,  /* Flushed by a mispredicted branch */
    CATEGORY_FLUSH,       /* Flushed otherwise */
    CATEGORY_COUNT
};
const char *commit_category_name(enum commit_category category); /* "alu_stall" */

enum program_class { CLASS_COMPUTE, CLASS_FLUSH, CLASS_STALL };
const char *program_class_name(enum program_class program_class); /* "compute" */
/* Compute: over 50 % of the cycles commit; else Flush: over 3 % flushed; else Stall. */
enum program_class program_class_of(const uint64_t categories[CATEGORY_COUNT]);

/* Stalls of this many cycles and longer are counted together. */
enum { STALL_LENGTHS = 256 };

struct commit_summary {
    uint64_t categories[CATEGORY_COUNT]; /* cycles; they sum to those of the run */
    /* Cycles (in units) in which nothing committed, by instruction and category (in place of the
     * signature, never CATEGORY_EXECUTE); sorted. The rest of an instruction's cycles are execute.
     */
    struct pics_cell *waits;
    uint64_t wait_count;
    /* µops that committed with a signature other than Base, by (instruction, signature): `units`
     * is their number; sorted. */
    struct pics_cell *events;
    uint64_t event_count;
    uint64_t executions; /* µops that committed */
    /* Dynamic µops that held up commit without having any event, by for how many cycles; stalls[0]
     * is not used. */
    uint64_t stalls[STALL_LENGTHS];
};

struct commit_observer;
struct commit_observer *commit_observer_new(void);
void commit_observer_free(struct commit_observer *observer);
/* One observer may serve the taps of several cores, one after the other. */
struct tap_worker commit_observer_worker(struct commit_observer *observer);
/* False when memory is out; commit_summary_free() either way. */
bool commit_observer_summary(const struct commit_observer *observer,
                             struct commit_summary *summary);
void commit_summary_free(struct commit_summary *summary);

/* How many executions carry events, and how many of these carry several. A load that missed the
 * last level has missed the L1 as well: these two count as one (paper B Fig. B.6 names such loads
 * ST-LLC alone).
 */
struct event_share {
    uint64_t any, several;
};
struct event_share commit_summary_combined(const struct commit_summary *summary);

/* The least length that `share` (0 to 1) of the event-free stalls do not exceed; 0 without any. */
uint32_t commit_summary_stall_quantile(const struct commit_summary *summary, double share);

/* The correlation, over the instructions that committed with the event (bit `event` of the
 * signature), of how often they did with their cycles with it. NaN when it is not defined.
 * *instructions: how many there are. False: out of memory. */
bool commit_summary_correlation(const struct commit_summary *summary,
                                const struct pics_cell *golden, uint64_t golden_count,
                                unsigned event, double *correlation, uint64_t *instructions);
