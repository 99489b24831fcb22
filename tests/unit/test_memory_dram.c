/* Banked and fixed DRAM, cycle by cycle. */
#include "memory/dram.h"
#include "unit/memory_machine.h"

/* Core 2 GHz, DRAM clock 1 GHz: a DRAM clock is 2 cycles. tCL 10, tRCD 11, tRP 12: row hit 20,
 * closed 42, conflict 66 cycles to the data. A line takes 64 B / 12.8 GB/s = 5 ns = 10 cycles on
 * the bus. 30 cycles outside. 1 rank of 2 banks, rows of 1 KB: rows alternate between the banks. */
static struct machine banked_machine(void) {
    struct machine machine = small_machine();
    machine.dram = (struct machine_dram){.banked = true,
                                         .base_latency = 30,
                                         .ranks = 1,
                                         .banks = 2,
                                         .row = 1024,
                                         .tcl = 10,
                                         .trcd = 11,
                                         .trp = 12,
                                         .clock_ghz = 1.0,
                                         .bandwidth = 12.8};
    return machine;
}

static struct dram new_dram(const struct machine *machine) {
    struct dram dram = {0};
    struct error error = {0};
    if (!dram_new(&dram, machine, 64, &error))
        fail_msg("%s", error.message);
    return dram;
}

static void row_hit_closed_conflict(void **state) {
    (void)state;
    struct machine machine = banked_machine();
    struct dram dram = new_dram(&machine);
    assert_int_equal(dram_read(&dram, 1000, 0), 1000 + 42 + 10 + 30);    /* closed */
    assert_int_equal(dram_read(&dram, 2000, 64), 2000 + 20 + 10 + 30);   /* hit */
    assert_int_equal(dram_read(&dram, 3000, 2048), 3000 + 66 + 10 + 30); /* same bank, next row */
    assert_int_equal(dram_read(&dram, 4000, 1024), 4000 + 42 + 10 + 30); /* other bank: closed */
    assert_int_equal(dram_read(&dram, 5000, 2112), 5000 + 20 + 10 + 30); /* row left open */
    assert_int_equal(dram.reads, 5);
    assert_int_equal(dram.row_hits, 2);
    dram_free(&dram);
}

static void row_hits_stream_at_bus_speed(void **state) {
    (void)state;
    struct machine machine = banked_machine();
    struct dram dram = new_dram(&machine);
    /* The first opens the row: data from 1042, arrives 1052 + 30. The others follow on the bus,
     * one every 10 cycles: 16 lines of one row. */
    for (uint64_t line = 0; line < 16; line++)
        assert_int_equal(dram_read(&dram, 1000, 64 * line), 1082 + 10 * line);
    dram_free(&dram);
}

static void banks_overlap_but_share_the_bus(void **state) {
    (void)state;
    struct machine machine = banked_machine();
    struct dram dram = new_dram(&machine);
    assert_int_equal(dram_read(&dram, 1000, 0), 1082);
    /* Other bank, also closed, data at 1042: the bus is taken until 1052. */
    assert_int_equal(dram_read(&dram, 1000, 1024), 1092);
    /* First bank, other row: the bank is free one transfer after its column command at 1022:
     * 1032 + 66 = 1098, + 10 + 30. */
    assert_int_equal(dram_read(&dram, 1000, 2048), 1138);
    dram_free(&dram);
    /* The second read's column command waited 10 cycles for the bus, 1032, so its bank takes
     * another row from 1042 on: + 66 + 10 + 30. */
    dram = new_dram(&machine);
    dram_read(&dram, 1000, 0);
    dram_read(&dram, 1000, 1024);
    assert_int_equal(dram_read(&dram, 1000, 3072), 1148);
    dram_free(&dram);
}

static void writes_take_bandwidth_only(void **state) {
    (void)state;
    struct machine machine = banked_machine();
    struct dram dram = new_dram(&machine);
    dram_read(&dram, 1000, 0);
    dram_write(&dram, 2000); /* bus 2000 to 2010, 2010 to 2020, ... to 2050 */
    for (int i = 0; i < 4; i++)
        dram_write(&dram, 2000);
    assert_int_equal(dram_read(&dram, 2000, 64), 2050 + 10 + 30); /* row hit data at 2020 waits */
    assert_int_equal(dram.writes, 5);
    dram_free(&dram);
}

static void queue_slots(void **state) {
    (void)state;
    struct machine machine = banked_machine();
    machine.dram.queue = 1;
    struct dram dram = new_dram(&machine);
    assert_int_equal(dram_read(&dram, 1000, 0), 1082);
    /* Starts when the slot frees, with the first line's last byte at 1052. */
    assert_int_equal(dram_read(&dram, 1000, 64), 1052 + 20 + 10 + 30);
    dram_free(&dram);
}

static void fractions_are_kept_exactly(void **state) {
    (void)state;
    struct machine machine = banked_machine();
    /* 3.2 GHz and 16 GB/s: 12.8 cycles per line. tCL 32, closed 21 × 3.2 = 67.2 up to 68. */
    machine.clock_ghz = 3.2;
    machine.dram.bandwidth = 16;
    struct dram dram = new_dram(&machine);
    assert_int_equal(dram_read(&dram, 1000, 0), 1068 + 13 + 30); /* 1080.8 up, + 30 */
    assert_int_equal(dram_read(&dram, 1000, 64), 1094 + 30);     /* 1093.6 */
    assert_int_equal(dram_read(&dram, 1000, 128), 1107 + 30);    /* 1106.4 */
    assert_int_equal(dram_read(&dram, 1000, 192), 1120 + 30);    /* 1119.2 */
    assert_int_equal(dram_read(&dram, 1000, 256), 1132 + 30);    /* 1132 exactly */
    assert_int_equal(dram_read(&dram, 2000, 320), 2000 + 32 + 13 + 30);
    dram_free(&dram);
}

static void bandwidth_of_a_long_stream(void **state) {
    (void)state;
    /* A million lines asked for as fast as possible: 64 MB at 16 GB/s and 3.2 GHz are 12.8 M
     * cycles, to which the first access and row changes hidden behind the other bank add little. */
    struct machine machine = banked_machine();
    machine.clock_ghz = 3.2;
    machine.dram.bandwidth = 16;
    struct dram dram = new_dram(&machine);
    uint64_t end = 0;
    for (uint64_t line = 0; line < 1000000; line++)
        end = dram_read(&dram, line, 64 * line);
    assert_in_range(end, 12800000, 12800000 + 200);
    dram_free(&dram);
}

static void fixed_latency(void **state) {
    (void)state;
    struct machine machine = small_machine();
    struct dram dram = new_dram(&machine);
    for (int i = 0; i < 3; i++)
        assert_int_equal(dram_read(&dram, 1000, 64), 1100);
    dram_free(&dram);
    /* With a bandwidth: 10 cycles apart at least. */
    machine.dram.bandwidth = 12.8;
    dram = new_dram(&machine);
    assert_int_equal(dram_read(&dram, 1000, 0), 1100);
    assert_int_equal(dram_read(&dram, 1000, 64), 1110);
    assert_int_equal(dram_read(&dram, 1025, 128), 1125);
    dram_free(&dram);
}

/* Through the caches: 40 cycles to the LLC's miss, then DRAM as above. */
static void behind_the_caches(void **state) {
    (void)state;
    struct machine machine = banked_machine();
    struct memory *memory = new_memory(&machine, 0);
    assert_access(load(memory, 1000, 0x10000), 1000 + 40 + 82, LEVEL_DRAM, MISSED_ALL);
    assert_access(load(memory, 2000, 0x10040), 2000 + 40 + 60, LEVEL_DRAM, MISSED_ALL);
    assert_int_equal(statistics_of(memory).dram_row_hits, 1);
    memory_free(memory);
}

/* Asked in the order of a program, not of cycles: what comes first is served first. */
static void what_arrives_first_is_served_first(void **state) {
    (void)state;
    struct machine machine = banked_machine();
    struct dram dram = new_dram(&machine);
    assert_int_equal(dram_read(&dram, 2000, 0), 2082);
    /* Long before it, in the same bank: as if it were alone. */
    assert_int_equal(dram_read(&dram, 1000, 2048), 1082);
    /* Data at 2042 too, but the line that came 5 cycles before, in the other bank, has the bus
     * until 2052. */
    assert_int_equal(dram_read(&dram, 2005, 1024), 2092);
    /* Data at 2037: the bus is free, but not for 10 cycles before the line that was placed. */
    struct dram other = new_dram(&machine);
    dram_read(&other, 2000, 0);
    assert_int_equal(dram_read(&other, 1995, 1024), 2092);
    dram_free(&other);
    /* A bank that was to serve another row from 2000 on, and has no time for this one before. */
    other = new_dram(&machine);
    dram_read(&other, 1000, 0);
    assert_int_equal(dram_read(&other, 2000, 2048), 2000 + 66 + 10 + 30);
    /* Conflict, 46 cycles to the column command, from 1990 on: behind it, from 2056 on. */
    assert_int_equal(dram_read(&other, 1990, 4096), 2056 + 66 + 10 + 30);
    dram_free(&other);
    dram_free(&dram);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(row_hit_closed_conflict),
                                       cmocka_unit_test(row_hits_stream_at_bus_speed),
                                       cmocka_unit_test(banks_overlap_but_share_the_bus),
                                       cmocka_unit_test(writes_take_bandwidth_only),
                                       cmocka_unit_test(queue_slots),
                                       cmocka_unit_test(fractions_are_kept_exactly),
                                       cmocka_unit_test(bandwidth_of_a_long_stream),
                                       cmocka_unit_test(fixed_latency),
                                       cmocka_unit_test(behind_the_caches),
                                       cmocka_unit_test(what_arrives_first_is_served_first)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
