/* Sampled cycles by example, and that a longer period keeps a part of a shorter one's samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attribute/sampler.h"

/* Period 10: cycles 10, 20, 30 ..., each weighing 10. */
static void periodic_by_example(void **state) {
    (void)state;
    struct sampler_options options = {.mode = SAMPLER_PERIODIC, .period = 10};
    struct sampler sampler = sampler_start(&options);
    assert_int_equal(sampler_cycle(&sampler, 0), 0);
    assert_int_equal(sampler_cycle(&sampler, 1), 10);
    assert_int_equal(sampler_cycle(&sampler, 7), 70);
    assert_int_equal(sampler_weight(&sampler, 70), 10);

    struct sample_cursor cursor;
    sampler_seek(&sampler, &cursor, 0);
    assert_int_equal(cursor.next, 10);
    sampler_seek(&sampler, &cursor, 29);
    assert_int_equal(cursor.next, 30);
    sampler_seek(&sampler, &cursor, 30);
    assert_int_equal(cursor.next, 40);
    assert_int_equal(cursor.previous, 30);

    uint64_t count = 0;
    assert_int_equal(sampler_take(&sampler, &cursor, 39, &count), 0);
    assert_int_equal(sampler_take(&sampler, &cursor, 75, &count), 40); /* 40, 50, 60, 70 */
    assert_int_equal(count, 4);
    assert_int_equal(cursor.next, 80);
}

/* Every cycle weighs one, in either mode; a span is taken whole. */
static void period_one_takes_every_cycle(void **state) {
    (void)state;
    for (enum sampler_mode mode = SAMPLER_PERIODIC; mode <= SAMPLER_RANDOM; mode++) {
        struct sampler_options options = {.mode = mode, .period = 1, .seed = 5};
        struct sampler sampler = sampler_start(&options);
        struct sample_cursor cursor;
        uint64_t count = 0;
        sampler_seek(&sampler, &cursor, 0);
        assert_int_equal(sampler_take(&sampler, &cursor, 1000000000000, &count), 1000000000000);
        assert_int_equal(count, 1000000000000);
        assert_int_equal(cursor.next, 1000000000001);
        assert_int_equal(sampler_take(&sampler, &cursor, 1000000000001, &count), 1);
    }
}

/* One in each period, any of its cycles alike; weights sum to the last sample's cycle. */
static void random_takes_one_of_each_period(void **state) {
    (void)state;
    enum { PERIOD = 7, SAMPLES = 70000 };
    struct sampler_options options = {.mode = SAMPLER_RANDOM, .period = PERIOD, .seed = 1};
    struct sampler sampler = sampler_start(&options);
    uint64_t at[PERIOD] = {0}, weights = 0;
    for (uint64_t number = 1; number <= SAMPLES; number++) {
        uint64_t cycle = sampler_cycle(&sampler, number);
        assert_in_range(cycle, (number - 1) * PERIOD + 1, number * PERIOD);
        at[(cycle - 1) % PERIOD]++;
        weights += sampler_weight(&sampler, cycle);
    }
    assert_int_equal(weights, sampler_cycle(&sampler, SAMPLES));
    for (int i = 0; i < PERIOD; i++) /* 10,000 each: standard deviation 93 */
        assert_in_range(at[i], 9500, 10500);

    struct sample_cursor cursor;
    uint64_t count = 0;
    sampler_seek(&sampler, &cursor, 0);
    uint64_t end = sampler_cycle(&sampler, 1000);
    assert_int_equal(sampler_take(&sampler, &cursor, end, &count), end);
    assert_int_equal(count, 1000);

    struct sampler_options other = options;
    other.seed = 2;
    struct sampler others = sampler_start(&other);
    unsigned same = 0;
    for (uint64_t number = 1; number <= 700; number++)
        same += sampler_cycle(&sampler, number) == sampler_cycle(&others, number);
    assert_in_range(same, 50, 150); /* one in seven */
}

/* The samples of level l + 1 are those of level l that sampler_keeps keeps, one of every two, and
 * each lies in its own period. */
static void longer_period_keeps_a_part(void **state) {
    (void)state;
    for (enum sampler_mode mode = SAMPLER_PERIODIC; mode <= SAMPLER_RANDOM; mode++) {
        struct sampler_options options = {.mode = mode, .period = 0, .samples = 100, .seed = 9};
        struct sampler sampler = sampler_start(&options), longer = sampler;
        for (sampler.level = 0; sampler.level < 12; sampler.level++) {
            longer.level = sampler.level + 1;
            assert_int_equal(sampler_period(&longer), 2 * sampler_period(&sampler));
            for (uint64_t number = 1; number <= 500; number++) {
                uint64_t cycle = sampler_cycle(&longer, number);
                uint64_t first = sampler_cycle(&sampler, 2 * number - 1);
                uint64_t second = sampler_cycle(&sampler, 2 * number);
                assert_true(cycle == first || cycle == second);
                assert_int_equal(sampler_keeps(&sampler, first), cycle == first);
                assert_int_equal(sampler_keeps(&sampler, second), cycle == second);
            }
        }
    }
}

/* Random periods of 2^10 cycles, made by doubling, do not keep step with a loop of 8 cycles. */
static void random_levels_do_not_alias(void **state) {
    (void)state;
    struct sampler_options options = {.mode = SAMPLER_RANDOM, .samples = 1, .seed = 3};
    struct sampler sampler = sampler_start(&options);
    sampler.level = 10;
    uint64_t at[8] = {0};
    for (uint64_t number = 1; number <= 80000; number++)
        at[sampler_cycle(&sampler, number) % 8]++;
    for (int i = 0; i < 8; i++)
        assert_in_range(at[i], 9500, 10500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(periodic_by_example),
        cmocka_unit_test(period_one_takes_every_cycle),
        cmocka_unit_test(random_takes_one_of_each_period),
        cmocka_unit_test(longer_period_keeps_a_part),
        cmocka_unit_test(random_levels_do_not_alias),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
