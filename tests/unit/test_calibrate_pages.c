/* Page walks of loads that do not wait for each other, and pages that are stored to for the first
 * time: what is read of simulated machines, and what is concluded of known results. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "calibrate/parts.h"
#include "calibrate/simulated.h"
#include "calibrate/walks.h"

static struct machine machine;
static struct simulated_meter simulated;
static struct host_meter known;
static struct calibration calibration;

/* ---- what is given ---- */

static void load(const char *name) {
    struct error error = {0};
    if (!machine_load(name, &machine, &error) ||
        !simulated_meter(&simulated, &machine, true, &(struct watcher){0}, &error))
        fail_msg("%s", error.message);
    calibration = (struct calibration){.meter = &simulated.meter, .part = &calibrate_tlb};
}

enum { MOST_KNOWN = 9 };
static double known_cycles[MOST_KNOWN]; /* NAN: disturbed */

static bool give_known(struct host_meter *meter, const struct host_kernel *const *kernels,
                       size_t count, struct host_result *results, struct error *error) {
    (void)meter, (void)kernels, (void)error;
    assert_in_range(count, 1, MOST_KNOWN);
    for (size_t i = 0; i < count; i++)
        results[i] =
            (struct host_result){.state = isnan(known_cycles[i]) ? HOST_UNSTABLE : HOST_MEASURED,
                                 .cycles = known_cycles[i]};
    return true;
}

static void give(const double *cycles, size_t count) {
    known = (struct host_meter){.measure = give_known, .simulated = true};
    calibration = (struct calibration){.meter = &known, .part = &calibrate_tlb};
    memcpy(known_cycles, cycles, count * sizeof *cycles);
}

static int end(void **state) {
    (void)state;
    calibration_free(&calibration);
    return 0;
}

/* ---- what is found ---- */

static const struct finding *last_of(const char *key) {
    for (size_t i = calibration.count; i-- > 0;)
        if (calibration.findings[i].key && !strcmp(calibration.findings[i].key, key))
            return &calibration.findings[i];
    fail_msg("nothing is said of %s", key);
    return NULL;
}

/* The value; NAN: unknown. */
static double value_of(const char *key) {
    const struct finding *finding = last_of(key);
    return finding->state == FINDING_MEASURED ? finding->value : NAN;
}

static void run_pages(void) {
    struct error error = {0};
    if (!calibration_run(&calibration, &calibrate_pages, &error))
        fail_msg("%s", error.message);
}

/* ---- walks ---- */

static void assert_walks(uint32_t pages, double walk, double walkers, double interval) {
    struct error error = {0};
    if (!walks_measure(&calibration, pages, walk, &error))
        fail_msg("%s", error.message);
    const double found[] = {value_of("tlb.walkers"), value_of("tlb.walk_interval")};
    const double expected[] = {walkers, interval};
    for (unsigned i = 0; i < 2; i++)
        if (isnan(found[i]) != isnan(expected[i]) || fabs(found[i] - expected[i]) > 0.5)
            fail_msg("%u: %f, not %f", i, found[i], expected[i]);
}

/* Walks of 30 cycles from a second level of 3072 entries. Where six go on at once, one ends each 5
 * cycles; four of 60 let one go each 15, whatever the interval lets, and each 22 where it lets no
 * more. */
static void walks_are_read_back(void **state) {
    (void)state;
    static const struct {
        uint32_t page_walk, walkers, walk_interval;
        double found_walkers, found_interval;
    } CASES[] = {{30, 0, 0, NAN, 0}, {30, 0, 7, NAN, 7}, {30, 0, 16, NAN, 16}, {30, 6, 0, 6, 0},
                 {30, 2, 0, 2, 0},   {60, 4, 3, 4, 0},   {60, 4, 22, 4, 22},   {30, 1, 0, 1, NAN}};
    for (unsigned i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        load("zen4");
        machine.page_walk = CASES[i].page_walk;
        machine.walkers = CASES[i].walkers;
        machine.walk_interval = CASES[i].walk_interval;
        print_message("case %u\n", i);
        assert_walks(3072, machine.page_walk, CASES[i].found_walkers, CASES[i].found_interval);
        calibration_free(&calibration);
    }
}

/* Three reads of the L2 and 3 cycles make a walk; four begin at once, and then one each 21. */
static void walks_through_a_hosts_tables_are_read_back(void **state) {
    (void)state;
    load("granite-rapids");
    assert_walks(2560, machine_walk_cycles(&machine), machine.walkers, machine.walk_interval);
}

/* Four at once, each for some 80 cycles, though a load waits for 60: the stream tells. Its
 * iterations are of 16 loads, those of bursts of 3 to 7 of fewer. */
static void a_stream_slower_than_walkers_let_it_has_an_interval(void **state) {
    (void)state;
    const double cycles[MOST_KNOWN] = {16 * 80.0, 8 * 85.0,  5 * 90.0,  4 * 95.0, 3 * 134.0,
                                       2 * 146.0, 2 * 154.0, 2 * 160.0, 16 * 30.0};
    give(cycles, MOST_KNOWN);
    assert_walks(2560, 60, 4, 30);
}

/* Bursts of which none shows a walker, and a stream as if there were two. */
static void a_stream_that_bursts_do_not_explain_is_unknown(void **state) {
    (void)state;
    const double cycles[MOST_KNOWN] = {16 * 80.0, 8 * 90.0,  5 * 100.0, 4 * 110.0, 3 * 120.0,
                                       2 * 130.0, 2 * 140.0, 2 * 150.0, 16 * 30.0};
    give(cycles, MOST_KNOWN);
    assert_walks(2560, 60, NAN, NAN);
    assert_string_equal(last_of("tlb.walk_interval")->note,
                        "loads of a stream wait longer than those of bursts");
}

static void disturbed_walks_are_unknown(void **state) {
    (void)state;
    const double cycles[MOST_KNOWN] = {NAN, 2, 3, 4, 5, 6, 7, 8, 9};
    give(cycles, MOST_KNOWN);
    assert_walks(2560, 60, NAN, NAN);
    assert_string_equal(last_of("tlb.walkers")->note, "other load disturbed it too often");
    assert_string_equal(last_of("tlb.walk_interval")->note, "other load disturbed it too often");
}

/* ---- new pages ---- */

static void cleared_pages_are_read_back(void **state) {
    (void)state;
    for (unsigned cleared = 0; cleared < 2; cleared++)
        for (unsigned i = 0; i < 2; i++) {
            load(i ? "granite-rapids" : "zen4");
            machine.l1d.cleared_pages = cleared;
            run_pages();
            assert_string_equal(last_of("l1d.cleared_pages")->word, cleared ? "yes" : "no");
            assert_int_equal(last_of("l1d.cleared_pages")->state, FINDING_MEASURED);
            calibration_free(&calibration);
        }
}

/* 24 loads of a page. Cycles by many lines and one, of new pages and of old: lines of these
 * take 400 cycles more, but where there is nothing to tell. */
static void assert_pages(double new_many, double old_many, enum finding_state expected,
                         const char *said) {
    const double cycles[] = {9000 + 24 * new_many, 9000, 1000 + 24 * old_many, 1000};
    give(cycles, sizeof cycles / sizeof *cycles);
    run_pages();
    const struct finding *finding = last_of("l1d.cleared_pages");
    assert_int_equal(finding->state, expected);
    assert_string_equal(expected == FINDING_MEASURED ? finding->word : finding->note, said);
    calibration_free(&calibration);
}

static void what_is_between_is_unknown(void **state) {
    (void)state;
    assert_pages(70, 400, FINDING_MEASURED, "yes");
    assert_pages(90, 400, FINDING_UNKNOWN, "some are, or are in an outer cache");
    assert_pages(210, 400, FINDING_MEASURED, "no");
    assert_pages(3, 15, FINDING_UNKNOWN, "lines of old pages are there, too");
    assert_pages(NAN, 400, FINDING_UNKNOWN, "other load disturbed it too often");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(walks_are_read_back, end),
        cmocka_unit_test_teardown(walks_through_a_hosts_tables_are_read_back, end),
        cmocka_unit_test_teardown(a_stream_slower_than_walkers_let_it_has_an_interval, end),
        cmocka_unit_test_teardown(a_stream_that_bursts_do_not_explain_is_unknown, end),
        cmocka_unit_test_teardown(disturbed_walks_are_unknown, end),
        cmocka_unit_test_teardown(cleared_pages_are_read_back, end),
        cmocka_unit_test_teardown(what_is_between_is_unknown, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
