/* Lines that another processor has: what is measured here is a cycle at least, and what a
 * calibration concludes of known results. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "calibrate/parts.h"
#include "host/lines.h"

static struct host_result known[HOST_LINES];
static struct calibration calibration;

static bool give_known(struct host_meter *meter, struct host_result *results, struct error *error) {
    (void)meter, (void)error;
    memcpy(results, known, sizeof known);
    return true;
}
static struct host_meter meter = {.measure_lines = give_known};

static int start(void **state) {
    (void)state;
    static const double CYCLES[] = {62, 60, 5, 70, 145, 96, 40};
    calibration = (struct calibration){.meter = &meter};
    meter.measure_lines = give_known;
    for (unsigned line = 0; line < HOST_LINES; line++)
        known[line] = (struct host_result){
            .state = HOST_MEASURED, .cycles = CYCLES[line], .spread = 0.5 + line};
    return 0;
}

static int end(void **state) {
    (void)state;
    calibration_free(&calibration);
    return 0;
}

/* As if it had been measured in a part before. */
static void last_cache_takes(double cycles) {
    static const struct calibrate_part CACHES = {.name = "caches"};
    calibration.part = &CACHES;
    calibration_found(&calibration,
                      &(struct finding){.key = "llc.load_to_use", .what = "", .value = cycles});
}

static void run(void) {
    struct error error = {0};
    if (!calibration_run(&calibration, &calibrate_transfers, &error))
        fail_msg("%s", error.message);
}

static const struct finding *finding_of(const char *what) {
    for (size_t i = 0; i < calibration.count; i++)
        if (strstr(calibration.findings[i].what, what))
            return &calibration.findings[i];
    fail_msg("nothing was found of %s", what);
    return NULL;
}

static void assert_found(const char *what, const char *key, double value, double spread) {
    const struct finding *finding = finding_of(what);
    assert_int_equal(finding->state, FINDING_MEASURED);
    assert_true(finding->value == value && finding->spread == spread);
    assert_true(key ? finding->key && !strcmp(finding->key, key) : !finding->key);
}

/* An addition to a line that both read takes 145 cycles, one to a line of its own 5, of which 3 are
 * the access to the L1 (4 from load to use, with the address): 143 that it waits. Its spread is the
 * larger one of the two. A line that both add to is kept for 40, in the first 3 of which nobody
 * asks for it. */
static void findings_are_made_of_results(void **state) {
    (void)state;
    last_cache_takes(50);
    run();
    assert_found("another core wrote", "chip.modified_load_to_use", 62, 0.5);
    assert_found("another core read", "chip.clean_load_to_use", 60, 1.5);
    assert_found("both read", "chip.upgrade", 143, 4.5);
    assert_found("both add to", "chip.request_latency", 40 - 3, 6.5);
    assert_found("atomic addition", NULL, 70, 3.5);
    assert_found("by turns", NULL, 96, 5.5);
}

/* 62 cycles are more than four times 15: no key is filled, and the figure is told. What is reported
 * stays. */
static void processors_without_a_common_cache_fill_no_key(void **state) {
    (void)state;
    last_cache_takes(15);
    run();
    const struct finding *finding = finding_of("another core wrote");
    assert_int_equal(finding->state, FINDING_UNKNOWN);
    assert_string_equal(finding->note, "62 cycles, 4.1 times a load from the last cache: the two "
                                       "processors do not share it");
    assert_int_equal(finding_of("another core read")->state, FINDING_UNKNOWN);
    assert_int_equal(finding_of("both read")->state, FINDING_UNKNOWN);
    assert_int_equal(finding_of("both add to")->state, FINDING_UNKNOWN);
    assert_found("by turns", NULL, 96, 5.5);
}

static void what_was_disturbed_is_unknown(void **state) {
    (void)state;
    known[HOST_LINE_ATOMIC].state = HOST_UNSTABLE;
    known[HOST_LINE_TURNS].state = HOST_UNSTABLE;
    run();
    assert_found("another core wrote", "chip.modified_load_to_use", 62, 0.5);
    assert_int_equal(finding_of("both read")->state, FINDING_UNKNOWN);
    assert_string_equal(finding_of("by turns")->note, "other load disturbed it too often");
}

static void a_machine_of_one_core_has_no_other(void **state) {
    (void)state;
    meter.measure_lines = NULL;
    run();
    for (size_t i = 0; i < calibration.count; i++)
        assert_int_equal(calibration.findings[i].state, FINDING_UNSUPPORTED);
    assert_int_equal(calibration.count, 6);
}

/* Whatever the load is. That of its own lines is measured if anything is, as it needs nobody. */
static void this_host_is_measured_or_not(void **state) {
    (void)state;
#if defined __x86_64__
    struct host_result results[HOST_LINES];
    const struct watcher nobody = {0};
    struct error error = {0};
    if (!host_lines_measure(true, &nobody, results, &error))
        fail_msg("%s", error.message);
    for (unsigned line = 0; line < HOST_LINES; line++) {
        const struct host_result *result = &results[line];
        print_message("%u: %.1f +- %.2f %s\n", line, result->cycles, result->spread,
                      result->failure);
        assert_int_not_equal(result->state, HOST_NOT_RUN);
        if (result->state == HOST_MEASURED)
            assert_true(result->cycles >= 1 && result->spread < result->cycles);
    }
#else
    print_message("this processor is not x86-64\n");
    skip();
#endif
}

static volatile sig_atomic_t stop = 1;

static void a_stop_leaves_all(void **state) {
    (void)state;
#if defined __x86_64__
    struct host_result results[HOST_LINES];
    const struct watcher stopped = {.stop = &stop};
    struct error error = {0};
    assert_true(host_lines_measure(false, &stopped, results, &error));
    for (unsigned line = 0; line < HOST_LINES; line++)
        assert_true(results[line].state == HOST_NOT_RUN || results[line].state == HOST_UNSUPPORTED);
#else
    print_message("this processor is not x86-64\n");
    skip();
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(findings_are_made_of_results, start, end),
        cmocka_unit_test_setup_teardown(processors_without_a_common_cache_fill_no_key, start, end),
        cmocka_unit_test_setup_teardown(what_was_disturbed_is_unknown, start, end),
        cmocka_unit_test_setup_teardown(a_machine_of_one_core_has_no_other, start, end),
        cmocka_unit_test(this_host_is_measured_or_not),
        cmocka_unit_test(a_stop_leaves_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
