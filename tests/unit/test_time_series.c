/* The run in time, worked by hand: buckets that widen, the cycles of a program on the little
 * machine (core_fixture.h: an add that is fetched in 1 commits in 7, four in a cycle), and what
 * threads did. */
#include "../core_fixture.h"

#include "attribute/time_series.h"
#include "simulate/thread_course.h"

/* Four buckets of ten: what comes at 40 makes them twenty wide, at 200 eighty. */
static void buckets_widen(void **state) {
    (void)state;
    struct time_buckets buckets = time_buckets_of(2, 4, 10);
    time_buckets_at(&buckets, 0)[0] += 1;
    time_buckets_at(&buckets, 15)[0] += 2;
    time_buckets_at(&buckets, 39)[1] += 4;
    assert_int_equal(buckets.width, 10);
    assert_int_equal(buckets.count, 4);
    time_buckets_at(&buckets, 40)[0] += 8;
    static const uint64_t TWENTY[] = {3, 0, 0, 4, 8, 0};
    assert_int_equal(buckets.width, 20);
    assert_int_equal(buckets.count, 3);
    assert_memory_equal(buckets.sums, TWENTY, sizeof TWENTY);
    time_buckets_at(&buckets, 200)[1] += 16;
    static const uint64_t EIGHTY[] = {11, 4, 0, 0, 0, 16};
    assert_int_equal(buckets.width, 80);
    assert_memory_equal(buckets.sums, EIGHTY, sizeof EIGHTY);
    assert_false(buckets.out_of_memory);
    time_buckets_free(&buckets);
}

/* Ticks 5 to 24 lie in three buckets of ten; up to 44 they need ones of twenty. */
static void ticks_are_spread(void **state) {
    (void)state;
    struct time_buckets buckets = time_buckets_of(1, 4, 10);
    time_buckets_spread(&buckets, 5, 25, 0);
    static const uint64_t TEN[] = {5, 10, 5};
    assert_memory_equal(buckets.sums, TEN, sizeof TEN);
    time_buckets_spread(&buckets, 25, 25, 0);
    time_buckets_spread(&buckets, 30, 45, 0);
    static const uint64_t TWENTY[] = {15, 15, 5};
    assert_int_equal(buckets.width, 20);
    assert_memory_equal(buckets.sums, TWENTY, sizeof TWENTY);
    time_buckets_widen(&buckets, 3);
    assert_int_equal(buckets.count, 1);
    assert_int_equal(buckets.sums[0], 35);
    time_buckets_free(&buckets);
}

static struct series_thread *simulate_watched(struct program_fixture *program,
                                              const struct machine *machine,
                                              struct time_series *series) {
    struct series_thread *thread = series_thread(series, 0, 3);
    assert_non_null(thread);
    const struct tap_worker worker = series_worker(thread);
    program->worker = &worker;
    simulate_on(program, machine, 0, 100, NULL, NULL);
    program->worker = NULL;
    return thread;
}

/* Of 400 adds four commit in each cycle from 7 on: 106 cycles, none of which has an event. */
static void cycles_go_to_what_they_are_of(void **state) {
    (void)state;
    const struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    const uint32_t add = alu(program, 20, 0, 0);
    for (int i = 0; i < 400; i++)
        execute(program, add);
    struct time_series *series = time_series_new(false);
    assert_non_null(series);
    const struct series_thread *thread = simulate_watched(program, &machine, series);
    assert_int_equal(thread->cycles.count, 1);
    assert_int_equal(thread->cycles.sums[SERIES_INSTRUCTIONS], 400);
    assert_int_equal(thread->cycles.sums[COMPONENT_EXECUTE], (6 + 100) * CYCLE_UNITS);
    assert_true(time_series_is_whole(series));
    time_series_free(series);
    program_fixture_free(program);
}

/* Over cycles: with one add that waits for the one before in each cycle, 1024 cycles of 1500 lie in
 * the first stretch. They commit in 7, 8, ...: 1017 of them before 1024. */
static void over_cycles(void **state) {
    (void)state;
    const struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    const uint32_t add = alu(program, 20, 20, 0);
    for (int i = 0; i < 1500; i++)
        execute(program, add);
    struct time_series *series = time_series_new(true);
    assert_non_null(series);
    const struct series_thread *thread = simulate_watched(program, &machine, series);
    const uint64_t *sums = thread->cycles.sums;
    assert_int_equal(thread->cycles.count, 2);
    assert_int_equal(sums[SERIES_INSTRUCTIONS], 1017);
    assert_int_equal(sums[COMPONENT_EXECUTE], 1023 * CYCLE_UNITS);
    assert_int_equal(sums[SERIES_COLUMNS + SERIES_INSTRUCTIONS], 1500 - 1017);
    assert_int_equal(sums[SERIES_COLUMNS + COMPONENT_EXECUTE], (1500 - 1017) * CYCLE_UNITS);
    time_series_free(series);
    program_fixture_free(program);
}

/* What the golden reference says, by component. */
static void sums_are_those_of_the_golden_reference(void **state) {
    (void)state;
    const struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    for (uint32_t i = 0; i < 200; i++) {
        execute_at(program, load(program, 1, 2), 0x100000 + 4096 * i, 8);
        execute(program, alu(program, 3, 1, 0));
    }
    struct time_series *series = time_series_new(false);
    assert_non_null(series);
    const struct series_thread *thread = simulate_watched(program, &machine, series);
    uint64_t units[PSV_COMBINATIONS], wanted[COMPONENT_COUNT] = {0}, all = 0;
    pics_by_signature(golden_profile(program->golden), units);
    for (uint32_t psv = 0; psv < PSV_COMBINATIONS; psv++)
        wanted[component_of(psv)] += units[psv];
    assert_memory_equal(thread->cycles.sums, wanted, sizeof wanted);
    for (unsigned i = 0; i < COMPONENT_COUNT; i++)
        all += wanted[i];
    assert_int_equal(all, program->result.cycles * CYCLE_UNITS);
    time_series_free(series);
    program_fixture_free(program);
}

/* Told out of order: 2000 cycles of running, then 1000 behind a lock, then 48 more. */
static void what_a_thread_did(void **state) {
    (void)state;
    struct thread_course *course = course_new(2, 0);
    struct time_buckets doing = time_buckets_of(SERIES_DOING, 4, 1024);
    struct course_counts *counts = calloc(1, sizeof *counts);
    struct course_thread threads[2] = {0};
    struct course_sum sum = {0};
    const struct course_path path = {0};
    assert_non_null(course);
    assert_non_null(counts);
    course_watch(course, 0, &doing);
    course_begin(course, 1, COURSE_NOBODY, 10);
    course_change(course, 1, COURSE_RUNNING, 10);
    course_change(course, 1, COURSE_ABSENT, 4000);
    course_begin(course, 0, COURSE_NOBODY, 0);
    course_change(course, 0, COURSE_RUNNING, 0);
    course_change(course, 0, COURSE_LOCK, 2000);
    course_change(course, 0, COURSE_RUNNING, 3000);
    course_change(course, 0, COURSE_ABSENT, 3048);
    assert_true(course_end(course, 4000, &path, counts, threads, &sum));
    static const uint64_t RUNNING[] = {1024, 976, 48}, LOCK[] = {0, 48, 952};
    assert_int_equal(doing.count, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(doing.sums[i * SERIES_DOING + COURSE_RUNNING], RUNNING[i]);
        assert_int_equal(doing.sums[i * SERIES_DOING + COURSE_LOCK], LOCK[i]);
    }
    course_free(course);
    time_buckets_free(&doing);
    free(counts);
}

/* Others are not kept, and it says so. */
static void only_the_first_threads(void **state) {
    (void)state;
    struct time_series *series = time_series_new(false);
    assert_non_null(series);
    for (uint32_t i = 0; i < SERIES_THREADS; i++)
        assert_ptr_equal(series_thread(series, 0, i), series_thread(series, 0, i));
    assert_false(series->left_out);
    assert_null(series_thread(series, 1, 0));
    assert_true(series->left_out);
    time_series_free(series);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_widen),
        cmocka_unit_test(ticks_are_spread),
        cmocka_unit_test(cycles_go_to_what_they_are_of),
        cmocka_unit_test(over_cycles),
        cmocka_unit_test(sums_are_those_of_the_golden_reference),
        cmocka_unit_test(what_a_thread_did),
        cmocka_unit_test(only_the_first_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
