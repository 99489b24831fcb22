/* How often is sampled, given what it cost: by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live/budget.h"

/* Ten seconds of two processors, so many of whose 20 seconds were busy, at so much for a sample. */
static struct budget_interval interval_of(const struct budget *budget, double busy,
                                          double sample_seconds) {
    return (struct budget_interval){.seconds = 10,
                                    .capacity = 20,
                                    .busy = busy,
                                    .interrupts = 0.9 * busy * budget_rate(budget) * sample_seconds,
                                    .program = 0.1 * busy * budget_rate(budget) * sample_seconds};
}

static void near(double value, double expected) {
    if (fabs(value - expected) > 1e-9 * fabs(expected))
        fail_msg("%.9g is not %.9g", value, expected);
}

/* 10 us a sample: 5 % at 5000 a second. Under 1 % there may be at most 1000: of 5000 / 2^(n/2), the
 * first is 884, five steps down; four at a time. Then it stays. */
static void the_rate_falls_to_the_budget(void **state) {
    (void)state;
    struct budget budget = budget_begin(0.01, 5000);
    assert_true(budget.cost < 0);
    near(budget_rate(&budget), 5000);
    struct budget_interval interval = interval_of(&budget, 16, 10e-6);
    assert_true(budget_adjust(&budget, &interval));
    near(budget.cost, 0.05);
    near(budget_rate(&budget), 1250);
    interval = interval_of(&budget, 16, 10e-6);
    assert_true(budget_adjust(&budget, &interval));
    near(budget.cost, 0.0125);
    near(budget_rate(&budget), 1250 / sqrt(2));
    for (int i = 0; i < 5; i++) {
        interval = interval_of(&budget, 4 + i, 10e-6);
        assert_false(budget_adjust(&budget, &interval));
        near(budget.cost, 0.00125 / sqrt(2) * 10);
    }
}

/* From 884 at 2 us a sample, 0.18 %: a step at a time while the next costs under 0.9 %; 3536 would
 * cost 0.71 and does, 5000 would cost 1 % and is not tried. */
static void the_rate_rises_again(void **state) {
    (void)state;
    struct budget budget = budget_begin(0.01, 5000);
    budget.step = 5;
    for (unsigned step = 4; step >= 1; step--) {
        struct budget_interval interval = interval_of(&budget, 10, 2e-6);
        assert_true(budget_adjust(&budget, &interval));
        assert_int_equal(budget.step, step);
    }
    struct budget_interval interval = interval_of(&budget, 10, 2e-6);
    assert_false(budget_adjust(&budget, &interval));
    assert_int_equal(budget.step, 1);
    interval = interval_of(&budget, 10, 1e-6);
    assert_true(budget_adjust(&budget, &interval));
    near(budget_rate(&budget), 5000); /* and no further */
    interval = interval_of(&budget, 10, 0);
    assert_false(budget_adjust(&budget, &interval));
}

static void bounds(void **state) {
    (void)state;
    struct budget budget = budget_begin(1e-9, 5000);
    for (int i = 0; i < 20; i++) {
        struct budget_interval interval = interval_of(&budget, 20, 1e-3);
        budget_adjust(&budget, &interval);
    }
    assert_true(budget_rate(&budget) >= 10 && budget_rate(&budget) < 10 * sqrt(2));
    budget = budget_begin(1e-9, 7);
    struct budget_interval interval = interval_of(&budget, 20, 1);
    assert_false(budget_adjust(&budget, &interval));
    near(budget_rate(&budget), 7);
    /* No budget: what it costs is told, the rate stays. */
    budget = budget_begin(0, 5000);
    interval = interval_of(&budget, 20, 1e-3);
    assert_false(budget_adjust(&budget, &interval));
    near(budget.cost, 5);
}

/* What the daemon takes itself counts, spread over a minute: a burst of a second in ten is a tenth
 * of a processor, of which a sixth counts at once; of 4 busy ones 10 seconds long 1/60 s of 4. */
static void the_daemons_own_time(void **state) {
    (void)state;
    struct budget budget = budget_begin(0.01, 5000);
    struct budget_interval interval = {.seconds = 10, .capacity = 20, .busy = 4, .own = 1};
    assert_true(budget_adjust(&budget, &interval));
    near(budget.own_share, 0.1 / 6);
    near(budget.cost, 0.1 / 6 * 10 / 4);
    interval.own = 0;
    budget_adjust(&budget, &interval);
    near(budget.own_share, 0.1 / 6 * 5 / 6);
    /* An interval of more than a minute forgets what was before. */
    interval = (struct budget_interval){.seconds = 100, .capacity = 200, .busy = 100, .own = 0.1};
    budget_adjust(&budget, &interval);
    near(budget.own_share, 0.001);
}

static void an_idle_machine_tells_nothing(void **state) {
    (void)state;
    struct budget budget = budget_begin(0.01, 5000);
    struct budget_interval interval = {
        .seconds = 10, .capacity = 20, .busy = 0.9, .interrupts = 0.5};
    assert_false(budget_adjust(&budget, &interval));
    assert_true(budget.cost < 0);
    interval = (struct budget_interval){0};
    assert_false(budget_adjust(&budget, &interval));
    interval = (struct budget_interval){.seconds = 10, .interrupts = 1};
    assert_false(budget_adjust(&budget, &interval));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rate_falls_to_the_budget), cmocka_unit_test(the_rate_rises_again),
        cmocka_unit_test(bounds), cmocka_unit_test(the_daemons_own_time),
        cmocka_unit_test(an_idle_machine_tells_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
