/* For checkers of the source alone, which do not know that an assertion of cmocka's that fails ends
 * the test (`make lint` includes this in front of each file of tests/). */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define ENDS_UNLESS(holds) ((holds) ? (void)0 : abort())
#undef assert_true
#define assert_true(holds) ENDS_UNLESS(holds)
#undef assert_false
#define assert_false(holds) ENDS_UNLESS(!(holds))
#undef assert_null
#define assert_null(pointer) ENDS_UNLESS(!(pointer))
#undef assert_non_null
#define assert_non_null(pointer) ENDS_UNLESS(pointer)
#undef assert_int_equal
#define assert_int_equal(a, b) ENDS_UNLESS((a) == (b))
#undef fail_msg
#define fail_msg(...) (print_error(__VA_ARGS__), abort())
#undef fail
#define fail() abort()
#undef skip
#define skip() abort()
