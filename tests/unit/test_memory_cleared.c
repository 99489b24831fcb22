/* Pages that the kernel clears before the first store to them. */
#include "memory/page_set.h"

#include "memory/hierarchy.h"
#include "unit/memory_machine.h"

/* Of 4,096 bytes: 64 lines. L1D 8 KB of 2 ways, TLB of 4 pages, with walks of 10 cycles. */
enum { PAGE = 0x8000, OTHER = 0x10000 };
static struct machine clearing_machine(void) {
    struct machine machine = small_machine();
    machine.l1d.size = 8192;
    machine.l1d.cleared_pages = true;
    machine.dtlb = (struct machine_tlb){.entries = 4};
    machine.page_walk = 10;
    return machine;
}

/* The store finds its line 4 cycles after its walk, and loads of the page's first and last line
 * find theirs. */
static void lines_are_there_after_the_first_store(void **state) {
    (void)state;
    const struct machine machine = clearing_machine();
    struct memory *memory = new_memory(&machine, 0);
    assert_access(store(memory, 1000, PAGE + 640), 1014, LEVEL_L1, MEMORY_MISSED_TLB);
    assert_access(load(memory, 2000, PAGE), 2004, LEVEL_L1, 0);
    assert_access(load(memory, 2000, PAGE + 4032), 2004, LEVEL_L1, 0);
    assert_int_equal(statistics_of(memory).dram_reads, 0);
    assert_int_equal(statistics_of(memory).l1d.misses, 0);
    /* A load of a page changes nothing. */
    assert_access(load(memory, 3000, OTHER), 3150, LEVEL_DRAM, MISSED_ALL | MEMORY_MISSED_TLB);
    assert_access(load(memory, 4000, OTHER + 64), 4140, LEVEL_DRAM, MISSED_ALL);
    assert_true(memory_consistent(memory));
    memory_free(memory);
}

/* A load's walk and its line are on their way, 10 and 150 cycles, when another line of its page is
 * stored to: that does not make the line come sooner. */
static void lines_on_their_way_stay_so(void **state) {
    (void)state;
    const struct machine machine = clearing_machine();
    for (int in_program_order = 0; in_program_order < 2; in_program_order++) {
        struct memory *memory = new_memory(&machine, 0);
        if (in_program_order)
            memory_in_program_order(memory);
        assert_access(load(memory, 1000, PAGE), 1150, LEVEL_DRAM, MISSED_ALL | MEMORY_MISSED_TLB);
        assert_access(store(memory, 1001, PAGE + 64), 1014, LEVEL_L1, MEMORY_MISSED_TLB);
        assert_access(load(memory, 1020, PAGE), 1150, LEVEL_DRAM, MISSED_ALL | MEMORY_PENDING_HIT);
        assert_access(load(memory, 1020, PAGE + 128), 1024, LEVEL_L1, 0);
        assert_true(memory_consistent(memory));
        memory_free(memory);
    }
}

/* As the address of a store is translated before it commits. */
static void when_the_store_is_translated(void **state) {
    (void)state;
    const struct machine machine = clearing_machine();
    struct memory *memory = new_memory(&machine, 0);
    struct memory_result result;
    memory_translate(memory, 1000, PAGE, &result);
    assert_int_equal(result.ready, 1010);
    assert_access(load(memory, 1020, PAGE + 64), 1024, LEVEL_L1, 0);
    memory_free(memory);
}

/* Five other pages take its translation's place, and their lines that of its first in the L1D: ten
 * cycles of a walk, twelve of the L2. */
static void only_once(void **state) {
    (void)state;
    const struct machine machine = clearing_machine();
    struct memory *memory = new_memory(&machine, 0), *copy = new_memory(&machine, 0);
    store(memory, 1000, PAGE);
    for (uint64_t i = 1; i <= 5; i++)
        load(memory, 1000 + 1000 * i, PAGE + 0x10000 * i);
    memory_copy(copy, memory);
    assert_access(store(memory, 9000, PAGE), 9022, LEVEL_L2, MEMORY_MISSED_L1 | MEMORY_MISSED_TLB);
    assert_access(store(copy, 9000, PAGE), 9022, LEVEL_L2, MEMORY_MISSED_L1 | MEMORY_MISSED_TLB);
    memory_free(memory);
    memory_free(copy);
}

/* The page was loaded from, so that its translation and a line are there: a store to that line
 * copies the page nevertheless. Neither needs a TLB that misses. */
static void a_page_that_was_read_is_copied(void **state) {
    (void)state;
    struct machine machine = clearing_machine();
    for (int perfect = 0; perfect < 2; perfect++)
        for (int translated = 0; translated < 2; translated++) {
            struct memory_result result;
            if (perfect)
                machine.dtlb = (struct machine_tlb){0};
            struct memory *memory = new_memory(&machine, 0);
            load(memory, 1000, PAGE);
            if (translated) {
                assert_false(memory_translates(memory, 2000, PAGE));
                memory_translate(memory, 2000, PAGE, &result);
                assert_int_equal(result.ready, 2000);
                assert_true(memory_translates(memory, 2001, PAGE));
            } else {
                assert_access(store(memory, 2000, PAGE), 2004, LEVEL_L1, 0);
            }
            assert_access(load(memory, 3000, PAGE + 4032), 3004, LEVEL_L1, 0);
            memory_free(memory);
        }
}

/* What was stored to before a region is not new there; what was only loaded from is. */
static void not_of_what_was_stored_to_before(void **state) {
    (void)state;
    const struct machine machine = clearing_machine();
    struct memory *memory = new_memory(&machine, 0);
    const struct stamped_line lines[] = {{PAGE, STAMPED_STORE, 0, 1}, {OTHER, STAMPED_LOAD, 0, 2}};
    memory_rebuild(memory, lines, 2, (struct stamped_stretch){2, 2, 0});
    struct memory_result result;
    memory_translate(memory, 10, PAGE + 64, &result);
    assert_access(load(memory, 1000, PAGE + 64), 1140, LEVEL_DRAM, MISSED_ALL);
    memory_translate(memory, 2000, OTHER + 64, &result);
    assert_access(load(memory, 3000, OTHER + 64), 3004, LEVEL_L1, 0);
    memory_free(memory);
}

static void a_set_of_pages(void **state) {
    (void)state;
    struct page_set set = {0}, copy = {0};
    for (uint64_t page = 0; page < 1000; page++)
        assert_true(page_set_add(&set, page * page));
    for (uint64_t page = 0; page < 1000; page++)
        assert_false(page_set_add(&set, page * page));
    assert_int_equal(set.count, 1000);
    page_set_copy(&copy, &set);
    assert_false(page_set_add(&copy, 999 * 999));
    assert_true(page_set_add(&copy, 2));
    assert_true(page_set_add(&set, 2)); /* its own */
    for (uint64_t page = 1; set.count < PAGE_SET_MOST; page++)
        page_set_add(&set, page << 40);
    assert_false(page_set_add(&set, 3)); /* full: all count as known */
    page_set_copy(&copy, &set);
    assert_false(page_set_add(&copy, 5));
    page_set_free(&set);
    page_set_free(&copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_are_there_after_the_first_store),
                                       cmocka_unit_test(lines_on_their_way_stay_so),
                                       cmocka_unit_test(when_the_store_is_translated),
                                       cmocka_unit_test(only_once),
                                       cmocka_unit_test(a_page_that_was_read_is_copied),
                                       cmocka_unit_test(not_of_what_was_stored_to_before),
                                       cmocka_unit_test(a_set_of_pages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
