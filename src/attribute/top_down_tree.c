/* The tree of classes, with the names of the published method where it has them. */
#include "attribute/top_down.h"
#include "util/array.h"

const struct slot_level slot_levels[] = {
    {"Retiring", "µops that committed", 1, SLOT_RETIRING, SLOT_RETIRING},
    {"Bad Speculation", "lost to wrong predictions", 1, SLOT_RESOLVE, SLOT_CLEAR_REFILL},
    {"Branch Mispredicts", "behind mispredicted branches", 2, SLOT_RESOLVE, SLOT_REFILL},
    {"Resolving", "the branch had not executed", 3, SLOT_RESOLVE, SLOT_RESOLVE},
    {"Refill", "its target was being fetched", 3, SLOT_REFILL, SLOT_REFILL},
    {"Machine Clears", "loads wrongly ahead of a store", 2, SLOT_SQUASHED, SLOT_CLEAR_REFILL},
    {"Squashed", "µops that did not commit", 3, SLOT_SQUASHED, SLOT_SQUASHED},
    {"Clear Refill", "they were fetched again", 3, SLOT_CLEAR_REFILL, SLOT_CLEAR_REFILL},
    {"Frontend Bound", "no µop was there", 1, SLOT_ICACHE, SLOT_FETCH_BANDWIDTH},
    {"Fetch Latency", "none in the whole cycle", 2, SLOT_ICACHE, SLOT_FETCH_OTHER},
    {"ICache Misses", "lines of code were not there", 3, SLOT_ICACHE, SLOT_ICACHE},
    {"ITLB Misses", "pages of code were not", 3, SLOT_ITLB, SLOT_ITLB},
    {"Branch Resteers", "targets known at decode only", 3, SLOT_RESTEER, SLOT_RESTEER},
    {"Branch Bubbles", "of a taken branch", 3, SLOT_BUBBLE, SLOT_BUBBLE},
    {"Other Latency", "begin, end, prediction too slow", 3, SLOT_FETCH_OTHER, SLOT_FETCH_OTHER},
    {"Fetch Bandwidth", "some, but not enough", 2, SLOT_FETCH_BANDWIDTH, SLOT_FETCH_BANDWIDTH},
    {"Backend Bound", "it was there, but no room", 1, SLOT_L1, SLOT_COMMIT},
    {"Memory Bound", "the oldest waited for data", 2, SLOT_L1, SLOT_STORE},
    {"L1 Bound", "that the L1 cache had", 3, SLOT_L1, SLOT_FORWARDING},
    {"L1 Latency", "its latency", 4, SLOT_L1, SLOT_L1},
    {"DTLB", "the data TLB missed", 4, SLOT_DTLB, SLOT_DTLB},
    {"Store Forwarding", "an older store had it", 4, SLOT_FORWARDING, SLOT_FORWARDING},
    {"L2 Bound", "that the L2 cache had", 3, SLOT_L2, SLOT_L2},
    {"L3 Bound", "that the last level had", 3, SLOT_LLC, SLOT_LLC},
    {"DRAM Bound", "that was in memory", 3, SLOT_DRAM_LATENCY, SLOT_DRAM_BANDWIDTH},
    {"DRAM Latency", "as long as one access takes", 4, SLOT_DRAM_LATENCY, SLOT_DRAM_LATENCY},
    {"DRAM Bandwidth", "longer, for other traffic", 4, SLOT_DRAM_BANDWIDTH, SLOT_DRAM_BANDWIDTH},
    {"Store Bound", "the store queue was full", 3, SLOT_STORE, SLOT_STORE},
    {"Core Bound", "the oldest waited, not for data", 2, SLOT_DIVIDER, SLOT_COMMIT},
    {"Divider", "divisions and square roots", 3, SLOT_DIVIDER, SLOT_DIVIDER},
    {"Ports", "for a unit or an issue slot", 3, SLOT_PORTS, SLOT_PORTS},
    {"Latency Chains", "operations, one after another", 3, SLOT_LATENCY, SLOT_LATENCY},
    {"Serializing", "system calls, fences", 3, SLOT_SERIALISING, SLOT_SERIALISING},
    {"Commit", "done, not yet committed", 3, SLOT_COMMIT, SLOT_COMMIT}};
const uint32_t slot_level_count = sizeof slot_levels / sizeof *slot_levels;

uint64_t slot_level_slots(const struct slot_level *level, const uint64_t slots[SLOT_CLASSES]) {
    uint64_t sum = 0;
    for (uint32_t i = level->first; i <= level->last; i++)
        sum += slots[i];
    return sum;
}
