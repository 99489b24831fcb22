/* Waking of threads: what a calibration makes of known results, and that this host is measured, or
 * is not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "calibrate/parts.h"
#include "host/wakes.h"

static bool give_known(struct host_meter *meter, struct host_result *results, struct error *error) {
    (void)meter, (void)error;
    results[HOST_WAKE_LATENCY] =
        (struct host_result){.state = HOST_MEASURED, .cycles = 11400, .spread = 120};
    results[HOST_WAKE_LATE] =
        (struct host_result){.state = HOST_MEASURED, .cycles = 52000, .spread = 900};
    results[HOST_WAKE_CALL] =
        (struct host_result){.state = HOST_UNSTABLE, .cycles = 1, .spread = 1};
    return true;
}

static void findings_are_made_of_results(void **state) {
    (void)state;
    struct error error = {0};
    struct host_meter meter = {.measure_wakes = give_known};
    struct calibration calibration = {.meter = &meter};
    assert_true(calibration_run(&calibration, &calibrate_wakes, &error));
    assert_int_equal(calibration.count, HOST_WAKES);
    const struct finding *latency = &calibration.findings[HOST_WAKE_LATENCY];
    assert_int_equal(latency->state, FINDING_MEASURED);
    assert_string_equal(latency->key, "chip.wake_latency");
    assert_true(latency->value == 11400 && latency->spread == 120);
    assert_null(calibration.findings[HOST_WAKE_LATE].key);
    assert_true(calibration.findings[HOST_WAKE_LATE].value == 52000);
    assert_string_equal(calibration.findings[HOST_WAKE_CALL].key, "chip.wake_cost");
    assert_int_equal(calibration.findings[HOST_WAKE_CALL].state, FINDING_UNKNOWN);
    calibration_free(&calibration);
}

static void a_simulated_machine_has_no_kernel(void **state) {
    (void)state;
    struct error error = {0};
    struct host_meter meter = {.simulated = true};
    struct calibration calibration = {.meter = &meter};
    assert_true(calibration_run(&calibration, &calibrate_wakes, &error));
    for (size_t i = 0; i < calibration.count; i++)
        assert_int_equal(calibration.findings[i].state, FINDING_UNSUPPORTED);
    calibration_free(&calibration);
}

#if defined __x86_64__
static enum host_state state_of(double ns, double step) {
    enum { COUNT = 60 };
    struct host_result result = {0};
    double samples[COUNT];
    for (unsigned i = 0; i < COUNT; i++)
        samples[i] = ns + step * i;
    host_wake_conclude(&result, samples, COUNT);
    return result.state;
}

/* Threads that each wait for the other load's time slice do so equally long. */
static void a_time_slice_is_no_wake(void **state) {
    (void)state;
    struct host_result nothing = {0};
    host_wake_conclude(&nothing, NULL, 0);
    assert_int_equal(nothing.state, HOST_UNSTABLE);
    assert_int_equal(state_of(30000, 100), HOST_MEASURED);
    assert_int_equal(state_of(30000, 3000), HOST_UNSTABLE);
    assert_int_equal(state_of(3500000, 100), HOST_UNSTABLE);
}
#endif

/* Whatever the load is, and with however many processors. */
static void this_host_is_measured_or_not(void **state) {
    (void)state;
#if defined __x86_64__
    struct host_result results[HOST_WAKES];
    const struct watcher nobody = {0};
    struct error error = {0};
    if (!host_wakes_measure(true, &nobody, results, &error))
        fail_msg("%s", error.message);
    for (unsigned wake = 0; wake < HOST_WAKES; wake++) {
        print_message("%u: %.0f +- %.0f ns %s\n", wake, results[wake].cycles, results[wake].spread,
                      results[wake].failure);
        assert_int_not_equal(results[wake].state, HOST_NOT_RUN);
        if (results[wake].state == HOST_MEASURED)
            assert_true(results[wake].cycles > 0);
    }
#else
    print_message("this processor is not x86-64\n");
    skip();
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(findings_are_made_of_results),
        cmocka_unit_test(a_simulated_machine_has_no_kernel),
#if defined __x86_64__
        cmocka_unit_test(a_time_slice_is_no_wake),
#endif
        cmocka_unit_test(this_host_is_measured_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
