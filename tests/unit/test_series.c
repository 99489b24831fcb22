/* Cycles of what happens one after the other, added up by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/series.h"

static const struct locality_events EVENTS = {.turns = 100,
                                              .long_cycles = 5,
                                              .system_cycles = 7,
                                              .mispredictions = 2,
                                              .late_branches = 3,
                                              .dtlb_misses = 1,
                                              .itlb_misses = 2,
                                              .l1i_misses = 4,
                                              .code_lines = 1,
                                              .l1d_misses = 25};

/* A branch executes in 1 cycle, redirects in 1 and goes through 2 stages, of which 1 is its turn.
 */
static struct machine machine_of(void) {
    struct machine machine = {.page_walk = 50};
    machine.classes[OP_BRANCH].latency = machine.core.redirect = 1;
    machine.core.frontend_depth = machine.branch.btb_miss_penalty = 2;
    machine.l2 = (struct machine_cache){.present = true, .latency = 10};
    machine.dram.latency = 110;
    return machine;
}

/* 100 + 5 + 7, branches 2 × 3 + 3 × 2, translations 3 × 50, code 4 × 9 + 110; of data 25 × 9, and
 * 3 × 110 from memory. */
static void a_shared_l2(void **state) {
    (void)state;
    const struct machine machine = machine_of();
    assert_true(series_cycles(&machine, &EVENTS, 25, 3) == 112 + 12 + 150 + 146 + 25 * 9 + 3 * 110);
}

/* Of 25 misses of the L1D 15 hit the private L2, 10 come to the last level. */
static void a_private_l2(void **state) {
    (void)state;
    struct machine machine = machine_of();
    machine.llc = (struct machine_cache){.present = true, .latency = 40};
    assert_true(series_cycles(&machine, &EVENTS, 10, 3) ==
                112 + 12 + 150 + 146 + 15 * 9 + 10 * 39 + 3 * 110);
}

/* 40 cycles to the banks and back, and 10 cycles of theirs at 1 GHz, 20 of the core at 2 GHz. */
static void banks_of_memory(void **state) {
    (void)state;
    const struct locality_events nothing = {0};
    struct machine machine = machine_of();
    machine.clock_ghz = 2;
    machine.dram = (struct machine_dram){
        .banked = true, .base_latency = 40, .trcd = 4, .tcl = 6, .clock_ghz = 1};
    assert_true(series_cycles(&machine, &nothing, 0, 1) == 40 + 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_shared_l2),
                                       cmocka_unit_test(a_private_l2),
                                       cmocka_unit_test(banks_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
