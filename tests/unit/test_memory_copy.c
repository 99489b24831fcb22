/* What one memory holds, copied into another again and again: each copy answers as the first. */
#include "memory/hierarchy.h"
#include "unit/memory_machine.h"
#include "util/random.h"

enum { BEFORE = 3000, BETWEEN = 400, AFTER = 3000, LINES = 2048, FEW = 256, ONCE = 24 };

/* Loads and stores of random lines, far apart in time: what each is served by. */
static void use(struct memory *memory, uint64_t cycle, uint64_t seed, unsigned count,
                unsigned lines, uint8_t *levels) {
    for (unsigned i = 0; i < count; i++, cycle += 1000) {
        const uint64_t address = 0x100000 + 64 * (random_next(&seed) % lines);
        const struct memory_result result =
            random_next(&seed) % 4 ? load(memory, cycle, address) : store(memory, cycle, address);
        if (levels)
            levels[i] = (uint8_t)result.level;
    }
}

/* An LLC of 1024 lines, larger than what is used between copies, whose lines lie in few blocks. */
static struct machine larger_machine(enum replacement_kind replacement) {
    struct machine machine = small_machine();
    machine.llc.size = 65536;
    machine.l1d.replacement = machine.l2.replacement = machine.llc.replacement = replacement;
    return machine;
}

static void copied_again_is_as_copied_first(void **state) {
    (void)state;
    const enum replacement_kind kinds[] = {REPLACE_LRU, REPLACE_PLRU, REPLACE_RANDOM};
    for (unsigned k = 0; k < 3; k++) {
        const struct machine machine = larger_machine(kinds[k]);
        struct memory *from = new_memory(&machine, 0), *first = new_memory(&machine, 0),
                      *again = new_memory(&machine, 0);
        uint8_t expected[AFTER], levels[AFTER];
        use(from, 0, 1, BEFORE, LINES, NULL);
        memory_copy(first, from);
        memory_copy(again, from);
        for (unsigned time = 0; time < 3; time++) {
            use(again, 0, 2 + time, BETWEEN, time == 2 ? LINES : 64, NULL);
            memory_restart(again);
            memory_copy(again, from);
            assert_true(memory_consistent(again));
        }
        use(first, 0, 9, AFTER, LINES, expected);
        use(again, 0, 9, AFTER, LINES, levels);
        assert_memory_equal(levels, expected, AFTER);
        memory_free(from);
        memory_free(first);
        memory_free(again);
    }
}

/* As larger_machine(), but others use the LLC too, which has no level before it but the L1D: a line
 * stays 10,000 cycles, or 40,000 once it was used. */
static struct machine shared_machine(void) {
    struct machine machine = larger_machine(REPLACE_LRU);
    machine.l2 = (struct machine_cache){.present = false};
    machine.llc.retention = 40000;
    machine.llc.first_retention = 10000;
    machine.llc.admission = 100;
    machine.llc.readmission = 100;
    return machine;
}

static struct machine machine_kept(unsigned kind) {
    static const enum replacement_kind kinds[] = {REPLACE_LRU, REPLACE_PLRU, REPLACE_RANDOM};
    return kind < 3 ? larger_machine(kinds[kind]) : shared_machine();
}

static void expect_same(struct memory *memory, struct memory *other, uint64_t seed) {
    uint8_t levels[AFTER], expected[AFTER];
    assert_true(memory_consistent(memory));
    use(other, 0, seed, AFTER, LINES, expected);
    use(memory, 0, seed, AFTER, LINES, levels);
    assert_memory_equal(levels, expected, AFTER);
    memory_restart(memory);
    memory_restart(other);
}

/* What was copied is used on, and a copy of the copy becomes what is copied: a copy in which much
 * is the same already answers as one that is new. */
static void whatever_changed_is_copied(void **state) {
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        const struct machine machine = machine_kept(kind);
        struct memory *memories[] = {new_memory(&machine, 0), new_memory(&machine, 0),
                                     new_memory(&machine, 0)};
        use(memories[0], 0, 1, BEFORE, LINES, NULL);
        memory_restart(memories[0]);
        uint64_t random = kind;
        for (unsigned time = 0; time < 30; time++) {
            const unsigned from = random_next(&random) % 3, to = (from + 1 + time % 2) % 3;
            struct memory *fresh = new_memory(&machine, 0);
            use(memories[from], 0, 100 + time, ONCE, FEW, NULL);
            use(memories[to], 0, 200 + time, ONCE, FEW, NULL);
            memory_restart(memories[from]);
            memory_restart(memories[to]);
            memory_copy(memories[to], memories[from]);
            memory_copy(fresh, memories[from]);
            if (time % 10 == 9)
                expect_same(memories[to], fresh, 50 + time);
            memory_free(fresh);
        }
        for (unsigned i = 0; i < 3; i++)
            memory_free(memories[i]);
    }
}

/* When a line was used is of the copy, not of what was in its place before: it is new at 1000, and
 * 12,000 cycles later others have taken its place. */
static void how_old_lines_are_is_forgotten(void **state) {
    (void)state;
    const struct machine machine = shared_machine();
    struct memory *empty = new_memory(&machine, 0), *memory = new_memory(&machine, 0);
    enum { LINE = 0x100000 };
    load(memory, 500000, LINE);
    memory_restart(memory);
    memory_copy(memory, empty);
    load(memory, 1000, LINE);
    load(memory, 2000, LINE + 512); /* of the same set of the L1D */
    load(memory, 2000, LINE + 1024);
    assert_int_equal(load(memory, 13000, LINE).level, LEVEL_DRAM);
    memory_free(empty);
    memory_free(memory);
}

/* A hit in the L1D changes only the order of use there, of two lines of a set: the third takes the
 * place of the other one, in a copy as well. */
static void the_order_of_use_is_copied(void **state) {
    (void)state;
    enum { FIRST = 0x100000, SECOND = FIRST + 512, THIRD = FIRST + 1024 };
    const struct machine machine = larger_machine(REPLACE_LRU);
    struct memory *from = new_memory(&machine, 0), *memory = new_memory(&machine, 0);
    load(from, 0, FIRST);
    load(from, 1000, SECOND);
    memory_restart(from);
    memory_copy(memory, from);
    load(from, 0, FIRST);
    memory_copy(memory, from);
    load(memory, 1000, THIRD);
    assert_int_equal(load(memory, 2000, FIRST).level, LEVEL_L1);
    memory_free(from);
    memory_free(memory);
}

/* Two memories hold other lines in the same set, and are copied by turns. */
static void by_turns_each_is_copied(void **state) {
    (void)state;
    enum { LINE = 0x100000, OTHER = LINE + 8192 };
    const struct machine machine = larger_machine(REPLACE_LRU);
    struct memory *memory = new_memory(&machine, 0);
    struct memory *from[] = {new_memory(&machine, 0), new_memory(&machine, 0)};
    load(from[0], 0, LINE);
    load(from[1], 0, OTHER);
    for (int i = 0; i < 4; i++) {
        memory_copy(memory, from[i % 2]);
        assert_int_equal(cache_find(&memory->llc, LINE) != CACHE_NONE, i % 2 == 0);
        assert_int_equal(cache_find(&memory->llc, OTHER) != CACHE_NONE, i % 2 == 1);
    }
    memory_free(memory);
    memory_free(from[0]);
    memory_free(from[1]);
}

/* A line that is rebuilt while the L1D has it changes nothing in the LLC but that it was used
 * there, 100 cycles after it came: 20,000 later it is there in a copy as well. */
static void what_was_rebuilt_is_copied(void **state) {
    (void)state;
    enum { LINE = 0x100000 };
    const struct machine machine = shared_machine();
    struct memory *from = new_memory(&machine, 0), *memory = new_memory(&machine, 0);
    const struct stamped_line line = {.address = LINE, .again = 1, .time = 2};
    load(from, 0, LINE);
    memory_restart(from);
    memory_copy(memory, from);
    memory_rebuild(from, &line, 1, (struct stamped_stretch){2, 200, 0});
    memory_copy(memory, from);
    load(memory, 1000, LINE + 512); /* of the same set of the L1D, and another block of the LLC */
    load(memory, 1000, LINE + 1024);
    assert_int_equal(load(memory, 20000, LINE).level, LEVEL_LLC);
    memory_free(from);
    memory_free(memory);
}

/* A copy of an empty memory, into one that held lines, is empty: each line comes from DRAM. */
static void what_was_held_is_forgotten(void **state) {
    (void)state;
    const struct machine machine = larger_machine(REPLACE_LRU);
    struct memory *empty = new_memory(&machine, 0), *memory = new_memory(&machine, 0);
    use(memory, 0, 1, BEFORE, LINES, NULL);
    memory_restart(memory);
    memory_copy(memory, empty);
    for (unsigned i = 0; i < LINES; i++)
        assert_int_equal(load(memory, 1000 * i, 0x100000 + 64 * i).level, LEVEL_DRAM);
    memory_free(empty);
    memory_free(memory);
}

/* MSHRs, a queue of DRAM and slots of fills in flight, all of them few. */
static struct machine crowded_machine(void) {
    struct machine machine = larger_machine(REPLACE_LRU);
    machine.l1d.mshrs = 48;
    machine.l2.mshrs = 64;
    machine.dram = (struct machine_dram){.banked = true,
                                         .base_latency = 60,
                                         .ranks = 1,
                                         .banks = 8,
                                         .row = 8192,
                                         .tcl = 20,
                                         .trcd = 20,
                                         .trp = 20,
                                         .clock_ghz = 1.0,
                                         .bandwidth = 8,
                                         .queue = 24};
    return machine;
}

/* Loads in program order, up to `ahead` cycles from the earliest: when each is ready, or is to ask
 * again. */
static void crowd(struct memory *memory, uint64_t seed, uint64_t ahead, uint64_t *ready) {
    memory_in_program_order(memory);
    for (uint64_t i = 0; i < AFTER; i++) {
        const uint64_t earliest = 7 * i, cycle = earliest + random_next(&seed) % ahead;
        memory_advance(memory, earliest);
        const struct memory_result result =
            load(memory, cycle, 0x100000 + 64 * (random_next(&seed) % LINES));
        if (ready)
            ready[i] = result.retry ? result.retry : result.ready;
    }
}

/* What a memory was used for before, in whatever disorder, changes no cycle of what comes after it
 * has begun anew. */
static void what_was_in_flight_is_forgotten(void **state) {
    (void)state;
    const struct machine machine = crowded_machine();
    static uint64_t expected[AFTER], ready[AFTER];
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct memory *empty = new_memory(&machine, 0), *fresh = new_memory(&machine, 0),
                      *used = new_memory(&machine, 0);
        crowd(used, 100 + seed, 20000, NULL);
        memory_restart(used);
        memory_copy(used, empty);
        crowd(fresh, seed, 3000, expected);
        crowd(used, seed, 3000, ready);
        assert_memory_equal(ready, expected, sizeof expected);
        memory_free(empty);
        memory_free(fresh);
        memory_free(used);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copied_again_is_as_copied_first),
        cmocka_unit_test(what_was_held_is_forgotten),
        cmocka_unit_test(whatever_changed_is_copied),
        cmocka_unit_test(the_order_of_use_is_copied),
        cmocka_unit_test(by_turns_each_is_copied),
        cmocka_unit_test(what_was_rebuilt_is_copied),
        cmocka_unit_test(how_old_lines_are_is_forgotten),
        cmocka_unit_test(what_was_in_flight_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
