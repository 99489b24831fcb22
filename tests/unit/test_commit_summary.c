/* What the summary of commits makes of a hand-made sequence of records. */
#include <math.h>
#include <string.h>

#include "attribute/commit_summary.h"
#include "tap_script.h"

static struct tap_script *script;

static void begin(void) {
    tap_script_free(script);
    script = tap_script_new();
}

/* A commit or flush in a cycle, of the µops given. */
static void record(unsigned kind, uint64_t at, enum tap_empty why, uint64_t empty, unsigned n,
                   const uint64_t *uops) {
    script_record(script, kind, at, why, empty, n, uops);
}

static uint64_t uop(uint32_t insn, uint32_t psv, uint32_t flags) {
    return tap_uop(insn, psv, flags | TAP_UOP_LAST);
}

/* 31 cycles:
 *
 *   cycle  1-3  empty at the start                     front end 3, to instruction 0
 *   cycle    4  0 and 1 commit                         execute
 *   cycle  5-9  load 2 is the oldest, no event         load stall 5; event-free, length 5
 *   cycle   10  2 commits                              execute
 *   cycle 11-17 load 3 is the oldest, ST-L1+ST-TLB     load stall 7
 *   cycle   18  3 and branch 4 (FL-MB) commit          execute
 *   cycle 19-21 empty, refilled after the branch       mispredict 3, to 4
 *   cycle   22  store 5 is the oldest, no event        store stall 1; event-free, length 1
 *   cycle   23  5 and 6 (FL-EX) commit                 execute
 *   cycle 24-25 empty after 6                          miscellaneous flush 2, to 6
 *   cycle 26-27 divide 7 is the oldest, no event       ALU stall 2; event-free, length 2
 *   cycle   28  7 commits                              execute
 *   cycle   29  load 8 (FL-MO) is squashed             load stall 1 (it was the oldest)
 *   cycle   30  empty after that                       miscellaneous flush 1, to 8
 *   cycle   31  8 commits, FL-MO                       execute */
static void make_run(void) {
    begin();
    record(TAP_COMMIT, 4, TAP_DRAINED, 3, UOPS(uop(0, 0, 0), uop(1, 0, 0)));
    record(TAP_COMMIT, 10, TAP_DRAINED, 0, UOPS(uop(2, 0, TAP_UOP_LOAD)));
    record(TAP_COMMIT, 18, TAP_DRAINED, 0,
           UOPS(uop(3, PSV_ST_L1 | PSV_ST_TLB, TAP_UOP_LOAD), uop(4, PSV_FL_MB, 0)));
    record(TAP_COMMIT, 23, TAP_FLUSHED_LAST, 3,
           UOPS(uop(5, 0, TAP_UOP_STORE), uop(6, PSV_FL_EX, 0)));
    record(TAP_COMMIT, 28, TAP_FLUSHED_LAST, 2, UOPS(uop(7, 0, 0)));
    record(TAP_FLUSH, 29, TAP_DRAINED, 0, UOPS(uop(8, PSV_FL_MO, TAP_UOP_LOAD)));
    record(TAP_COMMIT, 31, TAP_FLUSHED_NEXT, 1, UOPS(uop(8, PSV_FL_MO, TAP_UOP_LOAD)));
}

static struct commit_summary summarise(void) {
    struct commit_observer *observer = commit_observer_new();
    struct tap_worker worker = commit_observer_worker(observer);
    struct commit_summary summary;
    struct error error = {0};
    assert_true(worker.consume(worker.context, &script->buffer, &error));
    assert_true(commit_observer_summary(observer, &summary));
    commit_observer_free(observer);
    return summary;
}

static void categories(void **state) {
    (void)state;
    make_run();
    struct commit_summary summary = summarise();
    static const uint64_t expected[CATEGORY_COUNT] = {
        [CATEGORY_EXECUTE] = 6,     [CATEGORY_ALU_STALL] = 2, [CATEGORY_LOAD_STALL] = 13,
        [CATEGORY_STORE_STALL] = 1, [CATEGORY_FRONT_END] = 3, [CATEGORY_MISPREDICT] = 3,
        [CATEGORY_FLUSH] = 3};
    uint64_t sum = 0;
    for (int i = 0; i < CATEGORY_COUNT; i++) {
        assert_int_equal(summary.categories[i], expected[i]);
        sum += expected[i];
    }
    assert_int_equal(sum, 31);
    static const struct pics_cell waits[] = {
        {0, CATEGORY_FRONT_END, 3},  {2, CATEGORY_LOAD_STALL, 5},  {3, CATEGORY_LOAD_STALL, 7},
        {4, CATEGORY_MISPREDICT, 3}, {5, CATEGORY_STORE_STALL, 1}, {6, CATEGORY_FLUSH, 2},
        {7, CATEGORY_ALU_STALL, 2},  {8, CATEGORY_LOAD_STALL, 1},  {8, CATEGORY_FLUSH, 1}};
    assert_int_equal(summary.wait_count, sizeof waits / sizeof *waits);
    for (uint64_t i = 0; i < summary.wait_count; i++) {
        assert_int_equal(summary.waits[i].insn, waits[i].insn);
        assert_int_equal(summary.waits[i].psv, waits[i].psv);
        assert_int_equal(summary.waits[i].units, waits[i].units * CYCLE_UNITS);
    }
    commit_summary_free(&summary);
}

static void classes(void **state) {
    (void)state;
    /* Half is not more than half; 3 % is not more than 3 %. */
    uint64_t cycles[CATEGORY_COUNT] = {[CATEGORY_EXECUTE] = 501, [CATEGORY_LOAD_STALL] = 499};
    assert_int_equal(program_class_of(cycles), CLASS_COMPUTE);
    cycles[CATEGORY_EXECUTE]--;
    cycles[CATEGORY_FLUSH]++;
    assert_int_equal(program_class_of(cycles), CLASS_STALL);
    cycles[CATEGORY_LOAD_STALL] -= 29;
    cycles[CATEGORY_MISPREDICT] += 29;
    assert_int_equal(program_class_of(cycles), CLASS_STALL);
    cycles[CATEGORY_LOAD_STALL]--;
    cycles[CATEGORY_MISPREDICT]++;
    assert_int_equal(program_class_of(cycles), CLASS_FLUSH);
}

/* µops 3, 4, 6 and 8 commit with events, 3 with two. */
static void events(void **state) {
    (void)state;
    make_run();
    struct commit_summary summary = summarise();
    assert_int_equal(summary.executions, 9);
    struct event_share share = commit_summary_combined(&summary);
    assert_int_equal(share.any, 4);
    assert_int_equal(share.several, 1);
    assert_int_equal(summary.event_count, 4);
    assert_int_equal(summary.events[0].insn, 3);
    assert_int_equal(summary.events[0].psv, PSV_ST_L1 | PSV_ST_TLB);
    assert_int_equal(summary.events[0].units, 1);
    commit_summary_free(&summary);
}

/* An LLC miss is an L1 miss as well, and no second event; with a TLB miss it is. */
static void misses_of_both_caches(void **state) {
    (void)state;
    struct pics_cell cells[] = {{.insn = 1, .psv = PSV_ST_L1 | PSV_ST_LLC, .units = 5},
                                {.insn = 1, .psv = PSV_ST_L1 | PSV_ST_TLB | PSV_ST_LLC, .units = 2},
                                {.insn = 2, .psv = PSV_ST_L1, .units = 1}};
    struct commit_summary summary = {.events = cells, .event_count = 3};
    struct event_share share = commit_summary_combined(&summary);
    assert_int_equal(share.any, 8);
    assert_int_equal(share.several, 2);
}

static void stalls_without_events(void **state) {
    (void)state;
    make_run();
    struct commit_summary summary = summarise();
    for (unsigned length = 0; length < STALL_LENGTHS; length++)
        assert_int_equal(summary.stalls[length], length == 1 || length == 2 || length == 5);
    assert_int_equal(commit_summary_stall_quantile(&summary, 0.3), 1);
    assert_int_equal(commit_summary_stall_quantile(&summary, 0.6), 2);
    assert_int_equal(commit_summary_stall_quantile(&summary, 0.99), 5);
    commit_summary_free(&summary);

    /* Long ones share the last place. */
    begin();
    record(TAP_COMMIT, 5000, TAP_DRAINED, 0, UOPS(uop(0, 0, 0)));
    summary = summarise();
    assert_int_equal(summary.stalls[STALL_LENGTHS - 1], 1);
    assert_int_equal(commit_summary_stall_quantile(&summary, 0.99), STALL_LENGTHS - 1);
    commit_summary_free(&summary);
}

/* Instructions 1, 2 and 3 had ST-L1 1, 2 and 3 times, 2 of those of 3 together with ST-TLB, and
 * spent 10, 20 and 60 cycles with it: dx = -1 0 1, dy = -20 -10 30: 50 / √(2 × 1400).
 * ST-TLB is one instruction's: no correlation. */
static void correlations(void **state) {
    (void)state;
    static struct pics_cell counted[] = {{1, PSV_ST_L1, 1},
                                         {2, PSV_ST_L1, 2},
                                         {2, PSV_FL_MB, 9},
                                         {3, PSV_ST_L1, 1},
                                         {3, PSV_ST_L1 | PSV_ST_TLB, 2}};
    static const struct pics_cell golden[] = {
        {0, PSV_ST_L1, 5 * CYCLE_UNITS},  {1, PSV_ST_L1, 10 * CYCLE_UNITS},
        {2, 0, 77 * CYCLE_UNITS},         {2, PSV_ST_L1, 20 * CYCLE_UNITS},
        {3, PSV_ST_L1, 20 * CYCLE_UNITS}, {3, PSV_ST_L1 | PSV_ST_TLB, 40 * CYCLE_UNITS}};
    struct commit_summary summary = {.events = counted, .event_count = 5};
    double r;
    uint64_t n;
    assert_true(commit_summary_correlation(&summary, golden, 6, 6, &r, &n));
    assert_int_equal(n, 3);
    assert_true(fabs(r - 50 / sqrt(2800)) < 1e-12);
    assert_true(commit_summary_correlation(&summary, golden, 6, 7, &r, &n));
    assert_int_equal(n, 1);
    assert_true(isnan(r));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(categories),
        cmocka_unit_test(classes),
        cmocka_unit_test(events),
        cmocka_unit_test(misses_of_both_caches),
        cmocka_unit_test(stalls_without_events),
        cmocka_unit_test(correlations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
