/* Bandwidth between levels: lines that come over one bus, by hand. */
#include "unit/memory_machine.h"

/* Lines that the L2 has and the L1 does not: they come in turn, each to another set of the L1. */
enum { IN_L2 = 0x20000, LINE = 64 };

/* 64 bytes over this many a cycle. */
static struct machine machine_of(double l2_bandwidth, double llc_bandwidth) {
    struct machine machine = small_machine();
    machine.l2.bandwidth = l2_bandwidth;
    machine.llc.bandwidth = llc_bandwidth;
    return machine;
}

/* Puts lines into the L2, and pushes them out of the L1 by two others of each set. */
static void fill_l2(struct memory *memory, unsigned lines) {
    for (unsigned i = 0; i < lines; i++)
        for (unsigned other = 0; other < 3; other++)
            load(memory, 1000 + 500 * (3 * i + other), IN_L2 + LINE * i + 512 * other);
}

/* A line takes four cycles, the last ones of its latency of 12. */
static void lines_come_one_after_the_other(void **state) {
    (void)state;
    const struct machine machine = machine_of(16, 0);
    struct memory *memory = new_memory(&machine, 0);
    fill_l2(memory, 4);
    assert_access(load(memory, 20000, IN_L2), 20012, LEVEL_L2, MEMORY_MISSED_L1);
    assert_access(load(memory, 20000, IN_L2 + LINE), 20016, LEVEL_L2, MEMORY_MISSED_L1);
    assert_access(load(memory, 20001, IN_L2 + 2 * LINE), 20020, LEVEL_L2, MEMORY_MISSED_L1);
    /* The bus is free from 20020 on: this one begins at 20021. */
    assert_access(load(memory, 20013, IN_L2 + 3 * LINE), 20025, LEVEL_L2, MEMORY_MISSED_L1);
    assert_true(memory_consistent(memory));
    memory_free(memory);
}

/* 25.6 bytes a cycle: two and a half cycles a line. From 9 on they end at 11.5, 14 and 16.5. */
static void parts_of_cycles_add_up(void **state) {
    (void)state;
    const struct machine machine = machine_of(25.6, 0);
    struct memory *memory = new_memory(&machine, 0);
    fill_l2(memory, 3);
    assert_int_equal(load(memory, 20000, IN_L2).ready, 20012);
    assert_int_equal(load(memory, 20000, IN_L2 + LINE).ready, 20014);
    assert_int_equal(load(memory, 20000, IN_L2 + 2 * LINE).ready, 20017);
    memory_free(memory);
}

/* Asked for out of order, as a core in program order does: the second has the bus from 20014 on.
 * The third would come before it, and has no room there; the fourth comes behind all. */
static void no_two_lines_cross_at_a_time(void **state) {
    (void)state;
    const struct machine machine = machine_of(16, 0);
    struct memory *memory = new_memory(&machine, 0);
    memory_in_program_order(memory);
    fill_l2(memory, 4);
    assert_int_equal(load(memory, 20000, IN_L2).ready, 20012);
    assert_int_equal(load(memory, 20006, IN_L2 + LINE).ready, 20018);
    assert_int_equal(load(memory, 20003, IN_L2 + 2 * LINE).ready, 20022);
    assert_int_equal(load(memory, 20007, IN_L2 + 3 * LINE).ready, 20026);
    assert_true(memory_consistent(memory));
    memory_free(memory);
}

/* What waits for a line on its way waits for the bus, too. */
static void pending_hits_wait_for_the_bus(void **state) {
    (void)state;
    const struct machine machine = machine_of(16, 0);
    struct memory *memory = new_memory(&machine, 0);
    fill_l2(memory, 2);
    load(memory, 20000, IN_L2);
    load(memory, 20000, IN_L2 + LINE);
    assert_access(load(memory, 20002, IN_L2 + LINE + 8), 20016, LEVEL_L2,
                  MEMORY_MISSED_L1 | MEMORY_PENDING_HIT);
    memory_free(memory);
}

/* A line from memory, asked for first, crosses when it comes; what comes from the L2 meanwhile is
 * not held up. */
static void lines_cross_as_they_come(void **state) {
    (void)state;
    const struct machine machine = machine_of(16, 0);
    struct memory *memory = new_memory(&machine, 0);
    fill_l2(memory, 3);
    assert_access(load(memory, 20000, 0x90000), 20140, LEVEL_DRAM, MISSED_ALL);
    assert_access(load(memory, 20001, IN_L2), 20013, LEVEL_L2, MEMORY_MISSED_L1);
    /* Due at 20140 as well, when the line from memory has the bus from 20136 on. */
    assert_access(load(memory, 20128, IN_L2 + LINE), 20144, LEVEL_L2, MEMORY_MISSED_L1);
    memory_free(memory);
}

/* The LLC's bus is between it and the L2: ten cycles a line. */
static void each_level_has_its_own_bus(void **state) {
    (void)state;
    const struct machine machine = machine_of(0, 6.4);
    struct memory *memory = new_memory(&machine, 0);
    fill_l2(memory, 2);
    assert_int_equal(load(memory, 20000, IN_L2).ready, 20012);
    assert_int_equal(load(memory, 20000, IN_L2 + LINE).ready, 20012);
    assert_int_equal(load(memory, 30000, 0x90000).ready, 30140);
    assert_int_equal(load(memory, 30000, 0xa0040).ready, 30150);
    memory_free(memory);
}

/* The load of IN_L2 sends the dirty line of its set back. That leaves at 20012, when the line
 * come from the L2, and has the bus until 20016. The next line would have come from 20012 on. */
static void write_backs(struct machine machine, uint64_t next_ready) {
    struct memory *memory = new_memory(&machine, 0);
    fill_l2(memory, 2);
    store(memory, 10000, IN_L2 + 1024); /* dirty; beside it IN_L2 + 512 in the set */
    load(memory, 11000, IN_L2 + 512);
    assert_access(load(memory, 20000, IN_L2), 20012, LEVEL_L2, MEMORY_MISSED_L1);
    assert_int_equal(statistics_of(memory).l1d.writebacks, 1);
    assert_int_equal(load(memory, 20001, IN_L2 + LINE).ready, next_ready);
    memory_free(memory);
}

static void write_backs_take_the_bus_if_the_machine_says_so(void **state) {
    (void)state;
    struct machine machine = machine_of(16, 0);
    write_backs(machine, 20016);
    machine.l2.write_bandwidth = 16;
    write_backs(machine, 20020);
    machine.l2.write_bandwidth = 10.67; /* six cycles */
    write_backs(machine, 20022);
}

/* Warming takes no time, and no bus. */
static void warming_leaves_the_bus_free(void **state) {
    (void)state;
    const struct machine machine = machine_of(16, 0);
    struct memory *memory = new_memory(&machine, 0);
    fill_l2(memory, 2);
    memory_warm_load(memory, IN_L2, 8, 0, false);
    assert_int_equal(load(memory, 20000, IN_L2 + LINE).ready, 20012);
    memory_free(memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_one_after_the_other),
        cmocka_unit_test(parts_of_cycles_add_up),
        cmocka_unit_test(no_two_lines_cross_at_a_time),
        cmocka_unit_test(pending_hits_wait_for_the_bus),
        cmocka_unit_test(lines_cross_as_they_come),
        cmocka_unit_test(each_level_has_its_own_bus),
        cmocka_unit_test(write_backs_take_the_bus_if_the_machine_says_so),
        cmocka_unit_test(warming_leaves_the_bus_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
