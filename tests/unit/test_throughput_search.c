/* Which chips a search looks at, which is the best, and how programs go round. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/throughput_search.h"

static void ranges(void **state) {
    (void)state;
    const struct machine machine = {.chip = {.cores = 8, .threads = 4}};
    struct throughput_space space = {0};
    struct error error;
    assert_true(throughput_space_add(&space, " cores=2..6  threads=3", &error));
    throughput_space_finish(&space, &machine);
    assert_int_equal(space.cores.first, 2);
    assert_int_equal(space.cores.last, 6);
    assert_int_equal(space.threads.first, 3);
    assert_int_equal(space.threads.last, 3);
    space = (struct throughput_space){0};
    assert_true(throughput_space_add(&space, "threads=1..4", &error));
    throughput_space_finish(&space, &machine);
    assert_int_equal(space.cores.first, 8);
    assert_int_equal(space.cores.last, 8);
    assert_int_equal(space.threads.last, 4);
}

static void no_ranges(void **state) {
    (void)state;
    static const char *const WRONG[] = {"",          "  ",
                                        "cores",     "cores=",
                                        "cores=0",   "cores=4..2",
                                        "cores=1..", "cores=1...4",
                                        "cores=-1",  "threads=1..17",
                                        "cores=65",  "cores=99999999999999999999",
                                        "core=1",    "cores=1 cores=2",
                                        "threads=2x"};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        struct throughput_space space = {0};
        struct error error = {0};
        if (throughput_space_add(&space, WRONG[i], &error))
            fail_msg("'%s' is taken", WRONG[i]);
        assert_true(error.message[0]);
    }
}

/* Of two chips with the same IPC the one with fewer threads; what was not simulated is not the best
 * simulated. */
static void best(void **state) {
    (void)state;
    struct throughput_point points[] = {
        {.cores = 2, .threads = 4, .ipc = {[THROUGHPUT_BEST] = 2}, .simulated = 1.5},
        {.cores = 2, .threads = 2, .ipc = {[THROUGHPUT_BEST] = 2}, .simulated = 1.75},
        {.cores = 1, .threads = 4, .ipc = {[THROUGHPUT_BEST] = 1}, .simulated = NAN}};
    const struct throughput_search search = {.points = points, .count = 3};
    assert_ptr_equal(throughput_best(&search, false), &points[1]);
    assert_ptr_equal(throughput_best(&search, true), &points[1]);
    points[1].simulated = NAN;
    assert_ptr_equal(throughput_best(&search, true), &points[0]);
}

static void programs_go_round(void **state) {
    (void)state;
    const struct locality a = {0}, b = {0}, *programs[] = {&a, &b, &a}, *out[5];
    throughput_go_round(programs, 3, 5, out);
    assert_ptr_equal(out[1], &b);
    assert_ptr_equal(out[2], &a);
    assert_ptr_equal(out[3], &a);
    assert_ptr_equal(out[4], &b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranges), cmocka_unit_test(no_ranges),
                                       cmocka_unit_test(best), cmocka_unit_test(programs_go_round)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
