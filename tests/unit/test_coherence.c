/* Every transition of a line between the caches of two cores, in exact cycles.
 *
 * The small machine (memory_machine.h): L1 4 cycles, L2 12, LLC 40, DRAM 140. A line comes from
 * another core in 60 cycles, in 80 when that has modified it; an upgrade takes 50. */
#include "unit/memory_machine.h"

#include <string.h>

#include "memory/shared.h"

static struct machine two_cores(void) {
    struct machine machine = small_machine();
    machine.chip.cores = 2;
    machine.chip.clean_transfer = 60;
    machine.chip.modified_transfer = 80;
    machine.chip.upgrade = 50;
    return machine;
}

struct pair {
    struct shared_memory *shared;
    struct memory *a, *b;
};

static struct pair new_pair(const struct machine *machine) {
    struct error error = {0};
    struct pair pair = {.shared = shared_memory_new(machine, 2, 0, &error)};
    if (!pair.shared)
        fail_msg("shared_memory_new: %s", error.message);
    pair.a = shared_memory_core(pair.shared, 0);
    pair.b = shared_memory_core(pair.shared, 1);
    return pair;
}

static void free_pair(const struct pair *pair) {
    assert_true(shared_memory_consistent(pair->shared));
    shared_memory_free(pair->shared);
}

static struct coherence_statistics counts(const struct pair *pair, uint32_t core) {
    struct coherence_statistics statistics;
    shared_memory_statistics(pair->shared, core, &statistics);
    return statistics;
}

static struct memory_result load_own(struct memory *memory, uint64_t cycle, uint64_t address) {
    struct memory_result result;
    memory_load_own(memory, cycle, address, 8, cycle, 0, &result);
    return result;
}

enum { LINE = 0x10000, COHERENT = MEMORY_MISSED_L1 | MEMORY_COHERENCE };

/* Alone on a chip, a core's memory is what it was. */
static void alone(void **state) {
    (void)state;
    const struct machine machine = two_cores();
    const struct pair pair = new_pair(&machine);
    assert_access(load(pair.a, 1000, LINE), 1140, LEVEL_DRAM, MISSED_ALL);
    assert_access(load(pair.a, 2000, LINE), 2004, LEVEL_L1, 0);
    assert_access(store(pair.a, 3000, LINE), 3004, LEVEL_L1, 0); /* E: at once */
    assert_access(store(pair.a, 3100, LINE), 3104, LEVEL_L1, 0);
    assert_access(store(pair.a, 4000, LINE + 64), 4140, LEVEL_DRAM, MISSED_ALL);
    const struct memory_statistics of_a = statistics_of(pair.a), of_b = statistics_of(pair.b);
    assert_int_equal(of_a.llc.accesses, 2);
    assert_int_equal(of_a.llc.misses, 2);
    assert_int_equal(of_a.dram_reads, 2);
    assert_int_equal(of_b.llc.accesses, 0);
    assert_int_equal(of_b.dram_reads, 0);
    free_pair(&pair);
}

/* Warming moves lines as time does, in none, and counts nothing. */
static void warmed(void **state) {
    (void)state;
    const struct machine machine = two_cores();
    const struct pair pair = new_pair(&machine);
    for (unsigned turn = 0; turn < 100; turn++) {
        memory_warm_load(pair.a, LINE, 8, 0, true);
        memory_warm_load(pair.b, LINE, 8, 0, true);
        assert_true(shared_memory_consistent(pair.shared));
    }
    memory_warm_load(pair.a, LINE + 64, 8, 0, false);
    memory_warm_load(pair.b, LINE + 64, 8, 0, false);
    const struct coherence_statistics of_a = counts(&pair, 0), of_b = counts(&pair, 1);
    assert_int_equal(of_a.modified_transfers + of_a.upgrades + of_a.invalidations, 0);
    assert_int_equal(of_b.modified_transfers + of_b.upgrades + of_b.wait_cycles, 0);
    /* the last to write has it modified, of which the other has no copy */
    assert_access(load(pair.a, 1000, LINE), 1080, LEVEL_LLC, COHERENT);
    assert_access(load(pair.a, 2000, LINE + 64), 2004, LEVEL_L1, 0); /* both have it in S */
    assert_access(load(pair.b, 3000, LINE + 64), 3004, LEVEL_L1, 0);
    assert_access(store(pair.b, 4000, LINE + 64), 4050, LEVEL_L1, MEMORY_COHERENCE);
    free_pair(&pair);
}

/* E: from the other core, then both have it in S, and each hits. */
static void read_of_clean(void **state) {
    (void)state;
    const struct machine machine = two_cores();
    const struct pair pair = new_pair(&machine);
    load(pair.a, 1000, LINE);
    assert_access(load(pair.b, 2000, LINE), 2060, LEVEL_LLC, COHERENT);
    assert_access(load(pair.b, 3000, LINE), 3004, LEVEL_L1, 0);
    assert_access(load(pair.a, 3000, LINE), 3004, LEVEL_L1, 0);
    assert_int_equal(counts(&pair, 1).clean_transfers, 1);
    assert_int_equal(counts(&pair, 1).modified_transfers, 0);
    free_pair(&pair);
}

/* M: the other core keeps it, clean; what it wrote is in the LLC. */
static void read_of_modified(void **state) {
    (void)state;
    const struct machine machine = two_cores();
    const struct pair pair = new_pair(&machine);
    store(pair.a, 1000, LINE);
    assert_access(load(pair.b, 2000, LINE), 2080, LEVEL_LLC, COHERENT);
    assert_access(load(pair.a, 3000, LINE), 3004, LEVEL_L1, 0);
    assert_access(store(pair.a, 4000, LINE), 4050, LEVEL_L1, MEMORY_COHERENCE); /* S: upgrade */
    assert_access(load(pair.b, 5000, LINE), 5080, LEVEL_LLC, COHERENT);
    assert_int_equal(counts(&pair, 1).modified_transfers, 2);
    assert_int_equal(counts(&pair, 1).invalidations, 1);
    assert_int_equal(counts(&pair, 0).upgrades, 1);
    free_pair(&pair);
}

/* A migratory machine passes a modified line on whole: who reads it, writes it at once, and who had
 * it must get it back. A clean line is shared as elsewhere. */
static void migratory(void **state) {
    (void)state;
    struct machine machine = two_cores();
    machine.chip.migratory = true;
    const struct pair pair = new_pair(&machine);
    store(pair.a, 1000, LINE);
    assert_access(load(pair.b, 2000, LINE), 2080, LEVEL_LLC, COHERENT);
    assert_access(store(pair.b, 3000, LINE), 3004, LEVEL_L1, 0);
    assert_access(load(pair.a, 4000, LINE), 4080, LEVEL_LLC, COHERENT);
    assert_int_equal(counts(&pair, 0).modified_transfers, 1);
    assert_int_equal(counts(&pair, 0).invalidations, 1);
    load(pair.a, 5000, LINE + 64);
    assert_access(load(pair.b, 6000, LINE + 64), 6060, LEVEL_LLC, COHERENT);
    assert_access(store(pair.b, 7000, LINE + 64), 7050, LEVEL_L1, MEMORY_COHERENCE);
    free_pair(&pair);
}

/* S: a third reader gets it as from memory alone, here from the LLC. */
static void read_of_shared(void **state) {
    (void)state;
    struct machine machine = two_cores();
    struct error error = {0};
    struct shared_memory *shared = shared_memory_new(&machine, 3, 0, &error);
    assert_non_null(shared);
    load(shared_memory_core(shared, 0), 1000, LINE);
    load(shared_memory_core(shared, 1), 2000, LINE);
    struct memory *third = shared_memory_core(shared, 2);
    assert_access(load(third, 3000, LINE), 3040, LEVEL_LLC, MEMORY_MISSED_L1);
    /* And takes it from both: their copies go while the data are on their way, in 50. */
    struct coherence_statistics statistics;
    assert_access(store(third, 4000, LINE), 4050, LEVEL_L1, MEMORY_COHERENCE);
    for (uint32_t core = 0; core < 2; core++) {
        shared_memory_statistics(shared, core, &statistics);
        assert_int_equal(statistics.invalidations, 1);
        assert_access(load(shared_memory_core(shared, core), 5000 + 1000 * core, LINE),
                      core == 0 ? 5080 : 6040, LEVEL_LLC, core == 0 ? COHERENT : MEMORY_MISSED_L1);
    }
    assert_true(shared_memory_consistent(shared));
    shared_memory_free(shared);
}

/* A store to a line that others have in S, and this core has not: the later of the data, 40 from
 * the LLC, and of the upgrade, 50. */
static void write_of_shared(void **state) {
    (void)state;
    struct machine machine = two_cores();
    struct error error = {0};
    struct shared_memory *shared = shared_memory_new(&machine, 3, 0, &error);
    assert_non_null(shared);
    load(shared_memory_core(shared, 0), 1000, LINE);
    load(shared_memory_core(shared, 1), 2000, LINE);
    assert_access(store(shared_memory_core(shared, 2), 3000, LINE), 3050, LEVEL_LLC, COHERENT);
    assert_access(store(shared_memory_core(shared, 2), 4000, LINE), 4004, LEVEL_L1, 0);
    shared_memory_free(shared);
}

/* Two writers in turns: 80 each, one after the other, however early they ask. */
static void two_writers(void **state) {
    (void)state;
    const struct machine machine = two_cores();
    const struct pair pair = new_pair(&machine);
    assert_access(store(pair.a, 1000, LINE), 1140, LEVEL_DRAM, MISSED_ALL);
    assert_access(store(pair.b, 1010, LINE), 1220, LEVEL_LLC, COHERENT);
    assert_access(store(pair.a, 1180, LINE), 1300, LEVEL_LLC, COHERENT);
    assert_access(store(pair.b, 1301, LINE), 1381, LEVEL_LLC, COHERENT);
    assert_int_equal(counts(&pair, 1).wait_cycles, 130);
    assert_int_equal(counts(&pair, 0).wait_cycles, 40);
    assert_int_equal(counts(&pair, 1).modified_transfers, 2);
    assert_int_equal(counts(&pair, 0).invalidations, 2);
    free_pair(&pair);
}

/* A asks for the line in 2000, which is transferred in 80: it is B's until 2040, when the request
 * is there, and A's from 2080 on. B asks for it again in 2040, gets its turn in 2080, and A has it
 * until 2120. Whatever is computed first: in the order of cycles, or all of B before A. */
static void lost_when_the_request_arrives(void **state) {
    (void)state;
    const struct machine machine = two_cores();
    for (int late = 0; late < 2; late++) {
        const struct pair pair = new_pair(&machine);
        store(pair.b, 1000, LINE);
        for (int turn = 0; turn < 2; turn++) {
            if (turn == late)
                assert_access(store(pair.a, 2000, LINE), 2080, LEVEL_LLC, COHERENT);
            if (turn == 0) {
                assert_access(store(pair.b, 2039, LINE), 2043, LEVEL_L1, 0);
                assert_access(load(pair.b, 2039, LINE + 8), 2043, LEVEL_L1, 0);
            }
        }
        assert_access(store(pair.b, 2040, LINE), 2160, LEVEL_LLC, COHERENT);
        assert_access(store(pair.a, 2060, LINE), 2080, LEVEL_LLC, COHERENT | MEMORY_PENDING_HIT);
        assert_access(store(pair.a, 2119, LINE), 2123, LEVEL_L1, 0);
        assert_access(load(pair.a, 2119, LINE), 2123, LEVEL_L1, 0);
        assert_access(load(pair.a, 2120, LINE), 2240, LEVEL_LLC, COHERENT);
        assert_int_equal(counts(&pair, 0).modified_transfers, 2);
        assert_int_equal(counts(&pair, 1).modified_transfers, 1);
        free_pair(&pair);
    }
}

/* With a request that takes 30 cycles of each kind: B has the line until 2030, A, which asked,
 * until 2080 + 30, and readers until 2160 + 30. One that takes longer than the answer arrives with
 * it. */
static void requests_take_what_the_machine_says(void **state) {
    (void)state;
    struct machine machine = two_cores();
    machine.chip.request_latency = 30;
    struct pair pair = new_pair(&machine);
    store(pair.b, 1000, LINE);
    assert_access(store(pair.a, 2000, LINE), 2080, LEVEL_LLC, COHERENT);
    assert_access(store(pair.b, 2029, LINE), 2033, LEVEL_L1, 0);
    assert_access(load(pair.b, 2030, LINE), 2160, LEVEL_LLC, COHERENT);
    assert_access(store(pair.a, 2109, LINE), 2113, LEVEL_L1, 0);
    assert_access(store(pair.a, 2110, LINE), 2210, LEVEL_L1, MEMORY_COHERENCE); /* 2160 + 50 */
    assert_access(load(pair.b, 2189, LINE), 2193, LEVEL_L1, 0);
    assert_access(load(pair.b, 2190, LINE), 2290, LEVEL_LLC, COHERENT);
    free_pair(&pair);
    machine.chip.request_latency = 100;
    pair = new_pair(&machine);
    store(pair.b, 1000, LINE);
    assert_access(store(pair.a, 2000, LINE), 2080, LEVEL_LLC, COHERENT);
    assert_access(store(pair.b, 2079, LINE), 2083, LEVEL_L1, 0);
    assert_access(load(pair.b, 2080, LINE), 2160, LEVEL_LLC, COHERENT);
    free_pair(&pair);
}

/* A reader takes from the writer what it may do with the line, once the request is there; and a
 * writer from readers the line, half of an upgrade after it asked. */
static void rights_are_lost_when_the_request_arrives(void **state) {
    (void)state;
    const struct machine machine = two_cores();
    const struct pair pair = new_pair(&machine);
    store(pair.a, 1000, LINE);
    assert_access(load(pair.b, 2000, LINE), 2080, LEVEL_LLC, COHERENT);
    assert_access(store(pair.a, 2039, LINE), 2043, LEVEL_L1, 0);
    assert_access(load(pair.a, 2050, LINE), 2054, LEVEL_L1, 0);
    assert_access(store(pair.a, 2040, LINE), 2130, LEVEL_L1, MEMORY_COHERENCE); /* 2080 + 50 */
    assert_access(load(pair.b, 2104, LINE), 2108, LEVEL_L1, 0); /* until 2080 + 25 */
    assert_access(load(pair.b, 2105, LINE), 2210, LEVEL_LLC, COHERENT);
    free_pair(&pair);
}

/* A younger access of the same core comes at an earlier cycle than the one that asked for the line:
 * it is asked for then, but comes no sooner than the transfer before it lets it. */
static void asked_for_earlier(void **state) {
    (void)state;
    const struct machine machine = two_cores();
    const struct pair pair = new_pair(&machine);
    store(pair.a, 1000, LINE);
    assert_access(store(pair.b, 2000, LINE), 2080, LEVEL_LLC, COHERENT);
    assert_access(store(pair.a, 2100, LINE), 2180, LEVEL_LLC, COHERENT);
    assert_access(load(pair.a, 2050, LINE), 2160, LEVEL_LLC, COHERENT | MEMORY_PENDING_HIT);
    free_pair(&pair);
}

/* An atomic's load owns the line, and keeps it until its store is done, 3 cycles later. */
static void atomics(void **state) {
    (void)state;
    const struct machine machine = two_cores();
    const struct pair pair = new_pair(&machine);
    assert_access(load_own(pair.a, 1000, LINE), 1140, LEVEL_DRAM, MISSED_ALL);
    assert_access(store(pair.a, 1141, LINE), 1145, LEVEL_L1, 0);
    assert_access(load_own(pair.b, 1100, LINE), 1143 + 80, LEVEL_LLC, COHERENT);
    store(pair.b, 1224, LINE);
    assert_access(load_own(pair.a, 1200, LINE), 1226 + 80, LEVEL_LLC, COHERENT);
    /* One of a line that both have read: an upgrade. */
    load(pair.a, 3000, LINE + 64);
    load(pair.b, 4000, LINE + 64);
    assert_access(load_own(pair.b, 5000, LINE + 64), 5050, LEVEL_L1, MEMORY_COHERENCE);
    free_pair(&pair);
}

/* Who waits for a line on its way from another core waits for that core, too. */
static void pending_hit(void **state) {
    (void)state;
    const struct machine machine = two_cores();
    const struct pair pair = new_pair(&machine);
    store(pair.a, 1000, LINE);
    assert_access(load(pair.b, 2000, LINE), 2080, LEVEL_LLC, COHERENT);
    assert_access(load(pair.b, 2010, LINE + 8), 2080, LEVEL_LLC, COHERENT | MEMORY_PENDING_HIT);
    assert_access(load(pair.b, 2100, LINE + 8), 2104, LEVEL_L1, 0);
    assert_access(load(pair.b, 3000, LINE + 64), 3140, LEVEL_DRAM, MISSED_ALL);
    assert_access(load(pair.b, 3010, LINE + 64), 3140, LEVEL_DRAM, MISSED_ALL | MEMORY_PENDING_HIT);
    free_pair(&pair);
}

/* Evicted lines are nobody's: the next core has them from the LLC, and alone. */
static void after_eviction(void **state) {
    (void)state;
    const struct machine machine = two_cores();
    const struct pair pair = new_pair(&machine);
    store(pair.a, 1000, LINE);
    for (uint64_t i = 1; i <= 8; i++) /* of its L1 and L2 sets */
        load(pair.a, 1000 + 1000 * i, LINE + i * 1024);
    assert_access(load(pair.b, 20000, LINE), 20040, LEVEL_LLC, MEMORY_MISSED_L1);
    assert_access(store(pair.b, 21000, LINE), 21004, LEVEL_L1, 0);
    assert_access(load(pair.a, 22000, LINE), 22080, LEVEL_LLC, COHERENT);
    free_pair(&pair);
}

/* A directory of 16 entries, all in one set: the 17th line takes the place of the first, which
 * leaves the core that has it; what that had modified is in the LLC. */
static void eviction_of_an_entry(void **state) {
    (void)state;
    struct machine machine = two_cores();
    machine.chip.directory_entries = 16;
    machine.l1d.size = 4096; /* 8 ways: no line leaves on its own */
    machine.l1d.ways = 8;
    const struct pair pair = new_pair(&machine);
    store(pair.a, 1000, LINE);
    for (uint64_t i = 1; i < 16; i++)
        load(pair.a, 1000 + 1000 * i, LINE + i * 64);
    assert_access(load(pair.a, 20000, LINE), 20004, LEVEL_L1, 0);
    load(pair.b, 21000, LINE + 16 * 64);
    assert_int_equal(counts(&pair, 0).evictions, 1);
    assert_access(load(pair.a, 22000, LINE), 22040, LEVEL_LLC, MEMORY_MISSED_L1);
    free_pair(&pair);
}

/* Without an LLC the L2 is shared; without either, DRAM. */
static void other_last_levels(void **state) {
    (void)state;
    struct machine machine = two_cores();
    machine.llc.present = false;
    struct pair pair = new_pair(&machine);
    assert_access(load(pair.a, 1000, LINE), 1112, LEVEL_DRAM, MISSED_ALL);
    load(pair.b, 2000, LINE);
    for (uint64_t i = 1; i <= 2; i++)
        load(pair.b, 2000 + 1000 * i, LINE + i * 512); /* out of the L1 of B */
    assert_access(load(pair.b, 5000, LINE), 5012, LEVEL_L2, MEMORY_MISSED_L1); /* S */
    assert_int_equal(statistics_of(pair.a).l2.misses, 1);
    free_pair(&pair);
    machine.l2.present = false;
    pair = new_pair(&machine);
    assert_access(load(pair.a, 1000, LINE), 1104, LEVEL_DRAM, MISSED_ALL);
    assert_access(store(pair.b, 2000, LINE), 2060, LEVEL_LLC, COHERENT);
    free_pair(&pair);
}

/* Bandwidth of DRAM is shared: lines of both cores cross one bus, 64 cycles each. */
static void one_bus(void **state) {
    (void)state;
    struct machine machine = two_cores();
    /* Row activation and column access 10 cycles each, then a byte a cycle, then 80. */
    machine.dram = (struct machine_dram){.banked = true,
                                         .base_latency = 80,
                                         .ranks = 1,
                                         .banks = 8,
                                         .row = 8192,
                                         .tcl = 10,
                                         .trcd = 10,
                                         .trp = 10,
                                         .clock_ghz = 2,
                                         .bandwidth = 2};
    const struct pair pair = new_pair(&machine);
    assert_access(load(pair.a, 1000, LINE), 1140 + 64, LEVEL_DRAM, MISSED_ALL);
    assert_access(load(pair.b, 1000, LINE + 64), 1140 + 128, LEVEL_DRAM, MISSED_ALL);
    free_pair(&pair);
}

struct seen {
    struct coherence_event events[8];
    uint32_t count;
};

static void see(void *context, const struct coherence_event *event) {
    struct seen *seen = context;
    assert_true(seen->count < 8);
    seen->events[seen->count++] = *event;
}

static void watched(void **state) {
    (void)state;
    const struct machine machine = two_cores();
    const struct pair pair = new_pair(&machine);
    struct seen seen = {.count = 0};
    shared_memory_watch(pair.shared, (struct coherence_watch){see, &seen});
    store(pair.a, 1000, LINE);
    load(pair.b, 2000, LINE + 8);
    store(pair.a, 3000, LINE + 16);
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.events[0].kind, COHERENCE_MODIFIED);
    assert_int_equal(seen.events[0].core, 1);
    assert_int_equal(seen.events[0].from, 1);
    assert_int_equal(seen.events[0].address, LINE + 8);
    assert_int_equal(seen.events[0].cycles, 80);
    assert_false(seen.events[0].own);
    assert_int_equal(seen.events[1].kind, COHERENCE_UPGRADE);
    assert_int_equal(seen.events[1].from, 2);
    assert_int_equal(seen.events[1].cycles, 50);
    assert_true(seen.events[1].own);
    free_pair(&pair);
}

/* Any accesses of four cores in any order leave every line with one writer or many readers. */
static void one_writer_or_many_readers(void **state) {
    (void)state;
    for (uint32_t entries = 0; entries <= 64; entries += 64) {
        struct machine machine = two_cores();
        machine.chip.directory_entries = entries;
        struct error error = {0};
        struct shared_memory *shared = shared_memory_new(&machine, 4, 0, &error);
        assert_non_null(shared);
        uint64_t random = 1;
        for (uint64_t i = 0; i < 20000; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            struct memory *core = shared_memory_core(shared, random >> 60 & 3);
            const uint64_t address = LINE + (random >> 33) % 256 * 32, cycle = 100 * i;
            const unsigned what = random >> 56 & 3;
            if (what == 0)
                store(core, cycle, address);
            else if (what == 1)
                load_own(core, cycle, address);
            else if (what == 2)
                load(core, cycle, address);
            else
                fetch(core, cycle, address);
            if (i % 500 == 0)
                assert_true(shared_memory_consistent(shared));
        }
        assert_true(shared_memory_consistent(shared));
        shared_memory_free(shared);
    }
}

static void refused(void **state) {
    (void)state;
    struct machine machine = two_cores();
    struct error error = {0};
    assert_null(shared_memory_new(&machine, 0, 0, &error));
    assert_null(shared_memory_new(&machine, 65, 0, &error));
    machine.l2.line = 128;
    assert_null(shared_memory_new(&machine, 2, 0, &error));
    assert_non_null(strstr(error.message, "lines of one length"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone),
        cmocka_unit_test(warmed),
        cmocka_unit_test(read_of_clean),
        cmocka_unit_test(read_of_modified),
        cmocka_unit_test(migratory),
        cmocka_unit_test(read_of_shared),
        cmocka_unit_test(write_of_shared),
        cmocka_unit_test(two_writers),
        cmocka_unit_test(lost_when_the_request_arrives),
        cmocka_unit_test(requests_take_what_the_machine_says),
        cmocka_unit_test(rights_are_lost_when_the_request_arrives),
        cmocka_unit_test(asked_for_earlier),
        cmocka_unit_test(atomics),
        cmocka_unit_test(pending_hit),
        cmocka_unit_test(after_eviction),
        cmocka_unit_test(eviction_of_an_entry),
        cmocka_unit_test(other_last_levels),
        cmocka_unit_test(one_bus),
        cmocka_unit_test(watched),
        cmocka_unit_test(one_writer_or_many_readers),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
