/* The machine of the memory tests: tiny caches with round latencies, so that cycles can be worked
 * out by hand. Not built by the Makefile as a test of its own. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "memory/memory.h"

/* L1I and L1D 1 KB: 8 sets of 2 ways of 64 bytes, 4 cycles. L2 4 KB: 16 sets of 4 ways, 12 cycles.
 * LLC 16 KB: 32 sets of 8 ways, 40 cycles. DRAM 100 cycles beyond the LLC: a load from DRAM takes
 * 40 + 100 = 140. Unlimited MSHRs, no prefetchers, perfect TLBs. */
static inline struct machine small_machine(void) {
    struct machine m = {.name = "small", .clock_ghz = 2.0, .page_size = 4096};
    m.l1d = (struct machine_cache){
        .present = true, .size = 1024, .ways = 2, .line = 64, .latency = 4, .prefetch_degree = 1};
    m.l1i = m.l1d;
    m.l2 = (struct machine_cache){
        .present = true, .size = 4096, .ways = 4, .line = 64, .latency = 12, .prefetch_degree = 1};
    m.llc = (struct machine_cache){
        .present = true, .size = 16384, .ways = 8, .line = 64, .latency = 40, .prefetch_degree = 1};
    m.dram.latency = 100;
    return m;
}

static inline struct memory *new_memory(const struct machine *machine, uint32_t ideal) {
    struct error error = {0};
    struct memory *memory = memory_new(machine, ideal, &error);
    if (!memory)
        fail_msg("memory_new: %s", error.message);
    return memory;
}

/* Loads 8 bytes; the sequence number is the cycle, so that the access that fetched a line is easy
 * to name. */
static inline struct memory_result load(struct memory *memory, uint64_t cycle, uint64_t address) {
    struct memory_result result;
    memory_load(memory, cycle, address, 8, cycle, 0, &result);
    return result;
}

static inline struct memory_result store(struct memory *memory, uint64_t cycle, uint64_t address) {
    struct memory_result result;
    memory_store(memory, cycle, address, 8, cycle, 0, &result);
    return result;
}

static inline struct memory_result fetch(struct memory *memory, uint64_t cycle, uint64_t address) {
    struct memory_result result;
    memory_fetch(memory, cycle, address, cycle, &result);
    return result;
}

static inline struct memory_statistics statistics_of(const struct memory *memory) {
    struct memory_statistics statistics;
    memory_statistics(memory, &statistics);
    return statistics;
}

/* All that an access must have answered. */
#define assert_access(result, expected_ready, expected_level, expected_events)                     \
    do {                                                                                           \
        const struct memory_result answered = (result);                                            \
        assert_int_equal(answered.retry, 0);                                                       \
        assert_int_equal(answered.ready, expected_ready);                                          \
        assert_int_equal(answered.level, expected_level);                                          \
        assert_int_equal(answered.events, expected_events);                                        \
    } while (0)

enum { MISSED_ALL = MEMORY_MISSED_L1 | MEMORY_MISSED_LLC };
