/* Words that the models understand: instructions per cycle, shapes of caches, methods. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/contend.h"
#include "model/predict.h"

static void instructions_per_cycle(void **state) {
    (void)state;
    static const char *const WRONG[] = {"", "x", "0", "-1", "65", "1,", ",1", "1;2", "nan"};
    double ipc[3];
    uint32_t count;
    assert_true(contend_read_ipc("0.5,2,64", 3, ipc, &count));
    assert_int_equal(count, 3);
    assert_float_equal(ipc[0], 0.5, 0);
    assert_float_equal(ipc[2], 64, 0);
    assert_false(contend_read_ipc("1,2,3,4", 3, ipc, &count));
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++)
        if (contend_read_ipc(WRONG[i], 3, ipc, &count))
            fail_msg("'%s' was taken", WRONG[i]);
}

static void shapes_of_caches(void **state) {
    (void)state;
    static const char *const WRONG[] = {"x",   "3x4",  "4",       "4x",
                                        "4x0", "4x65", "4x4;8x4", "8388608x4"};
    struct cache_shape shapes[3];
    struct error error;
    uint32_t count = 0;
    assert_true(cache_shapes_add("4096x12", 3, shapes, &count, &error));
    assert_true(cache_shapes_add("1x64,1024x8", 3, shapes, &count, &error));
    assert_int_equal(count, 3);
    assert_int_equal(shapes[0].sets, 4096);
    assert_int_equal(shapes[0].ways, 12);
    assert_int_equal(shapes[1].ways, 64);
    assert_int_equal(shapes[2].sets, 1024);
    assert_false(cache_shapes_add("2x2", 3, shapes, &count, &error));
    assert_string_equal(error.message, "at most 3");
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        count = 0;
        if (cache_shapes_add(WRONG[i], 3, shapes, &count, &error))
            fail_msg("'%s' was taken", WRONG[i]);
    }
}

/* "1/2" is the fixed part that there is by default. */
static void methods(void **state) {
    (void)state;
    struct predict_method method = {0};
    assert_true(predict_method_compensate(&method, "window"));
    assert_int_equal(method.compensation, COMPENSATE_WINDOW);
    assert_true(predict_method_compensate(&method, "none"));
    assert_int_equal(method.compensation, COMPENSATE_NONE);
    static const char *const PARTS[] = {"oldest", "1/4", "1/2", "3/4", "youngest"};
    for (int i = 0; i < 5; i++) {
        assert_true(predict_method_compensate(&method, PARTS[i]));
        assert_int_equal(method.compensation, COMPENSATE_FIXED);
        assert_float_equal(method.fixed, 0.25 * i, 0);
    }
    assert_false(predict_method_compensate(&method, "1/3"));
    assert_true(predict_method_take_parts(&method, "ca"));
    assert_int_equal(method.parts, 5);
    assert_true(predict_method_take_parts(&method, ""));
    assert_int_equal(method.parts, 0);
    assert_false(predict_method_take_parts(&method, "abd"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(instructions_per_cycle),
                                       cmocka_unit_test(shapes_of_caches),
                                       cmocka_unit_test(methods)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
