/* What is read off curves: steps, and levels. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "calibrate/level.h"
#include "calibrate/step.h"

enum { COUNT = 12 };

/* n = 10, 20, ... */
static void points_of(struct step_point points[COUNT], const double y[COUNT]) {
    for (unsigned i = 0; i < COUNT; i++)
        points[i] = (struct step_point){10 * (i + 1), y[i]};
}

/* Six points at 1 and six at 2: the border is 1.5, and lies between n = 60 and 70. A disturbed
 * point on either side does not move it, nor does one that is not known. */
static void a_step_is_found(void **state) {
    (void)state;
    static const double CURVES[][COUNT] = {{1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2},
                                           {1, 1, 9, 1, 1, 1, 2, 2, 2, 0, 2, 2},
                                           {1, NAN, 1, 1, 1, 1, 2, 2, 2, 2, NAN, 2}};
    for (unsigned i = 0; i < 3; i++) {
        struct step_point points[COUNT];
        unsigned below = 0, above = 0;
        points_of(points, CURVES[i]);
        assert_true(step_find(points, COUNT, 0.5, &below, &above));
        assert_int_equal(below, 60);
        assert_int_equal(above, 70);
    }
}

/* A step of 1 is none where 1.5 is asked for; a flat curve has none; five points are too few. */
static void what_is_no_step_is_not_found(void **state) {
    (void)state;
    struct step_point points[COUNT];
    unsigned below, above;
    points_of(points, (double[COUNT]){1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2});
    assert_false(step_find(points, COUNT, 1.5, &below, &above));
    assert_false(step_find(points, 5, 0, &below, &above));
    points_of(points, (double[COUNT]){1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
    assert_false(step_find(points, COUNT, 0, &below, &above));
}

/* Two low points of twelve are too few for a level to be seen, but enough where it is known. */
static void an_early_step_is_found_where_the_levels_are_known(void **state) {
    (void)state;
    struct step_point points[COUNT];
    unsigned below = 0, above = 0;
    points_of(points, (double[COUNT]){0, 0, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7});
    assert_true(step_across(points, COUNT, 3.5, &below, &above));
    assert_int_equal(below, 20);
    assert_int_equal(above, 30);
    assert_false(step_across(points, COUNT, 8, &below, &above));
    assert_false(step_across(points, COUNT, -1, &below, &above));
}

/* 4, 4, 4, 4 | 13, 14, 14, 14 | 24, 24, 24, 30 | 50, 48, 50, 50. The border of the first two is
 * √(4 × 14) = 7.5, that of 14 and 50 √(14 × 50) = 26.5: 30 lies above it. Within a quarter of 14
 * are those up to n = 80, within a quarter of 50, from 40 on, those from n = 130 on. Three points,
 * 24, are no level, nor is one. */
static void levels_are_found(void **state) {
    (void)state;
    static const double CURVE[] = {4, 4, 4, 4, 13, 14, 14, 14, 24, 24, 24, 30, 50, 48, 50, 50};
    enum { LENGTH = sizeof CURVE / sizeof *CURVE };
    struct step_point points[LENGTH];
    struct level levels[4];
    for (unsigned i = 0; i < LENGTH; i++)
        points[i] = (struct step_point){10 * (i + 1), CURVE[i]};
    assert_int_equal(levels_find(points, LENGTH, levels, 4), 3);
    assert_float_equal(levels[0].height, 4, 0);
    assert_float_equal(levels[1].height, 14, 0);
    assert_float_equal(levels[2].height, 50, 0);
    assert_int_equal(levels[0].below, 40);
    assert_int_equal(levels[0].above, 50);
    assert_int_equal(levels[1].below, 110);
    assert_int_equal(levels[1].above, 120);
    assert_int_equal(levels[1].last_low, 80);
    assert_int_equal(levels[1].first_high, 130);
    assert_int_equal(levels[2].below, 0);
    assert_int_equal(levels_find(points, LENGTH, levels, 2), 2);
}

/* What rises by a tenth from point to point is one level, and so are two that differ by less than
 * LEVEL_APART. */
static void slopes_are_no_levels(void **state) {
    (void)state;
    struct step_point points[COUNT];
    struct level levels[4];
    for (unsigned i = 0; i < COUNT; i++)
        points[i] = (struct step_point){i + 1, pow(1.1, i)};
    assert_int_equal(levels_find(points, COUNT, levels, 4), 1);
    points_of(points, (double[COUNT]){10, 10, 10, 10, 10, 10, 13, 13, 13, 13, 13, 13});
    assert_int_equal(levels_find(points, COUNT, levels, 4), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_found),
        cmocka_unit_test(what_is_no_step_is_not_found),
        cmocka_unit_test(an_early_step_is_found_where_the_levels_are_known),
        cmocka_unit_test(levels_are_found),
        cmocka_unit_test(slopes_are_no_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
