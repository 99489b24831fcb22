/* Cost on the host of one access to the memory room, by what happens to it, on a machine like
 * zen4. Prints nanoseconds of CPU time per access, the best of five rounds.
 * By hand: make build/bench/memory && build/bench/memory */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "memory/memory.h"
#include "util/clock.h"

static struct machine bench_machine(void) {
    struct machine m = {.name = "bench", .clock_ghz = 4.0, .page_size = 4096, .page_walk = 30};
    m.l1i = (struct machine_cache){.present = true, .size = 32768, .ways = 8, .line = 64};
    m.l1i.latency = 4;
    m.l1d = m.l1i;
    m.l1d.mshrs = 24;
    m.l2 = (struct machine_cache){.present = true, .size = 1 << 20, .ways = 8, .line = 64};
    m.l2.latency = 14;
    m.l2.mshrs = 48;
    m.llc = (struct machine_cache){.present = true, .size = 32 << 20, .ways = 16, .line = 64};
    m.llc.latency = 47;
    m.llc.mshrs = 64;
    m.itlb = (struct machine_tlb){.entries = 64};
    m.dtlb = (struct machine_tlb){.entries = 72};
    m.l2tlb = (struct machine_tlb){.entries = 3072, .ways = 12, .latency = 7};
    m.dram = (struct machine_dram){.banked = true,
                                   .base_latency = 120,
                                   .ranks = 2,
                                   .banks = 16,
                                   .row = 8192,
                                   .tcl = 40,
                                   .trcd = 40,
                                   .trp = 40,
                                   .clock_ghz = 2.4,
                                   .bandwidth = 38.4,
                                   .queue = 64};
    return m;
}

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 20;
}

struct pattern {
    const char *name;
    uint64_t footprint;   /* bytes */
    uint64_t stride;      /* bytes between accesses; 0: random lines */
    uint64_t gap;         /* cycles between accesses */
    bool fetch, prefetch; /* by stride at the L1D */
};

static double run(struct memory *memory, const struct pattern *pattern, uint64_t *clock) {
    enum { ACCESSES = 4000000 };
    uint64_t address = 0, random = 1, cycle = *clock;
    const double start = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
    for (uint32_t i = 0; i < ACCESSES; i++) {
        struct memory_result result;
        cycle += pattern->gap;
        if (pattern->stride) {
            address += pattern->stride;
            if (address >= pattern->footprint)
                address = 0;
        } else {
            address = next_random(&random) % pattern->footprint & ~7ull;
        }
        if (pattern->fetch)
            memory_fetch(memory, cycle, address + 0x10000000, i, &result);
        else
            memory_load(memory, cycle, address + 0x10000000, 8, i, i & 63, &result);
        if (result.retry)
            cycle = result.retry;
    }
    *clock = cycle;
    return (clock_seconds(CLOCK_THREAD_CPUTIME_ID) - start) * 1e9 / ACCESSES;
}

int main(void) {
    static const struct pattern patterns[] = {
        {"L1D hit, same line", 64, 8, 1, false, false},
        {"L1I hit, same line", 64, 4, 1, true, false},
        {"L1D hit, sequential in 16 KB", 16384, 8, 1, false, false},
        {"same, stride prefetcher", 16384, 8, 1, false, true},
        {"L1D hit, random in 24 KB", 24576, 0, 1, false, false},
        {"L2 hit, random in 512 KB", 524288, 0, 20, false, false},
        {"LLC hit, random in 8 MB", 8 << 20, 0, 50, false, false},
        {"DRAM, stream over 256 MB", 256 << 20, 64, 20, false, false},
        {"same, stride prefetcher", 256 << 20, 64, 20, false, true},
        {"DRAM, random in 1 GB", 1 << 30, 0, 100, false, false},
    };
    struct machine machine = bench_machine();
    for (unsigned i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        struct error error;
        machine.l1d.prefetcher = patterns[i].prefetch ? PREFETCH_STRIDE : PREFETCH_NONE;
        struct memory *memory = memory_new(&machine, 0, &error);
        uint64_t cycle = 1;
        double best = 1e9;
        if (!memory) {
            fprintf(stderr, "%s\n", error.message);
            return 1;
        }
        for (int round = 0; round < 5; round++) {
            const double time = run(memory, &patterns[i], &cycle);
            best = time < best ? time : best;
        }
        printf("%-32s %6.2f ns\n", patterns[i].name, best);
        memory_free(memory);
    }
    return 0;
}
