/* Studies: every combination of values is a machine; what is no study is told. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simulate/sensitivity.h"

static struct machine machine;
static struct sensitivity study;

static int load(void **state) {
    (void)state;
    struct error error;
    study = (struct sensitivity){0};
    return machine_load("fields2004", &machine, &error) ? 0 : -1;
}

static int forget(void **state) {
    (void)state;
    sensitivity_free(&study);
    return 0;
}

static void add(const char *text) {
    struct error error;
    if (!sensitivity_add(&study, text, &error))
        fail_msg("%s", error.message);
}

static void a_grid_has_every_combination(void **state) {
    (void)state;
    struct error error;
    add("core.rob+core.load_queue=32,64,128");
    add("l1d.latency=2,4");
    assert_true(sensitivity_build(&study, &machine, IDEAL_BW, &error));
    assert_int_equal(study.run_count, 6);
    assert_int_equal(sensitivity_seconds(&study), 2);
    static const uint32_t ROBS[] = {32, 64, 128}, LATENCIES[] = {2, 4};
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t i = 0; i < 3; i++) {
            const struct multisim_run *run = sensitivity_run(&study, i, k);
            assert_int_equal(run->machine->core.rob, ROBS[i]);
            assert_int_equal(run->machine->core.load_queue, ROBS[i]);
            assert_int_equal(run->machine->core.store_queue, machine.core.store_queue);
            assert_int_equal(run->machine->l1d.latency, LATENCIES[k]);
            assert_int_equal(run->ideal, IDEAL_BW);
        }
}

/* 120 cycles with the first value, 100 with the second: 20 % faster. */
static void speedup_is_against_the_first(void **state) {
    (void)state;
    struct error error;
    add("core.rob=32,64,128");
    assert_true(sensitivity_build(&study, &machine, 0, &error));
    assert_int_equal(sensitivity_seconds(&study), 1);
    study.runs[0].cycles = 120;
    study.runs[1].cycles = 100;
    study.runs[0].done = study.runs[1].done = true;
    assert_true(fabs(sensitivity_speedup(&study, 0, 0)) < 1e-12);
    assert_true(fabs(sensitivity_speedup(&study, 1, 0) - 0.2) < 1e-12);
    assert_true(isnan(sensitivity_speedup(&study, 2, 0)));
}

static void expect_refused(const char *text, const char *part) {
    struct error error = {0};
    struct sensitivity refused = {0};
    bool good =
        sensitivity_add(&refused, text, &error) && sensitivity_build(&refused, &machine, 0, &error);
    sensitivity_free(&refused);
    assert_false(good);
    if (!strstr(error.message, part))
        fail_msg("%s: '%s' is not in it", error.message, part);
}

static void what_is_no_study_is_refused(void **state) {
    (void)state;
    struct error error = {0};
    expect_refused("core.rob", "core.rob=64,128,256");
    expect_refused("=1,2", "core.rob=64,128,256");
    expect_refused("core.rob=", "empty");
    expect_refused("core.rob=64,,128", "empty");
    expect_refused("core.rob=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", "more than 16");
    expect_refused("core.robb=1", "core.robb");
    expect_refused("core.rob=many", "core.rob=many");
    expect_refused("core.rob+=64", "=64");
    add("core.rob=1");
    add("core.load_queue=1");
    assert_false(sensitivity_add(&study, "core.store_queue=1", &error));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_grid_has_every_combination, load, forget),
        cmocka_unit_test_setup_teardown(speedup_is_against_the_first, load, forget),
        cmocka_unit_test_setup_teardown(what_is_no_study_is_refused, load, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
