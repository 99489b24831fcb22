/* Slices that stand for a run: chosen, or taken from SimPoint's files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "study/slice_choice.h"
#include "temporary.h"

static struct error error;

static void write_file(char path[TEMPORARY_BYTES], const char *text) {
    const int descriptor = mkstemp(temporary_name(path, "slices"));
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, text, strlen(text)), strlen(text));
    close(descriptor);
}

/* Slices of 100 instructions: four of one phase, then two of another. */
static const char VECTORS[] = "T:1:100\nT:1:100\nT:1:100\nT:1:100\nT:2:100\nT:2:100\n";

static void phases_are_chosen_by_their_share(void **state) {
    (void)state;
    char path[TEMPORARY_BYTES];
    write_file(path, VECTORS);
    const char *const vectors[] = {path};
    const struct choose_settings settings = CHOOSE_DEFAULTS;
    struct slice_choice chosen = {.vectors = vectors, .vector_count = 1, .settings = &settings};
    if (!slice_choice_go(&chosen, &error))
        fail_msg("%s", error.message);
    assert_int_equal(chosen.choice.point_count, 2);
    assert_true(chosen.choice.points[0].slice < 4);
    assert_true(chosen.choice.points[1].slice >= 4);
    assert_float_equal(chosen.choice.points[0].weight, 4.0 / 6, 1e-9);
    assert_float_equal(chosen.choice.points[1].weight, 2.0 / 6, 1e-9);
    slice_choice_free(&chosen);
    unlink(path);
}

/* They are printed with few digits: 7500 and 2496 of 9996. */
static void weights_of_files_are_made_to_sum_to_1(void **state) {
    (void)state;
    char path[TEMPORARY_BYTES], points[TEMPORARY_BYTES], weights[TEMPORARY_BYTES];
    write_file(path, VECTORS);
    write_file(points, "1 0\n5 1\n");
    write_file(weights, "0.7500 0\n0.2496 1\n");
    const char *const vectors[] = {path};
    const struct choose_settings settings = CHOOSE_DEFAULTS;
    struct slice_choice chosen = {.vectors = vectors,
                                  .vector_count = 1,
                                  .settings = &settings,
                                  .simpoints = points,
                                  .weights = weights};
    if (!slice_choice_go(&chosen, &error))
        fail_msg("%s", error.message);
    assert_int_equal(chosen.choice.point_count, 2);
    assert_int_equal(chosen.choice.points[0].slice, 1);
    assert_float_equal(chosen.choice.points[0].weight, 7500.0 / 9996, 1e-9);
    assert_float_equal(chosen.choice.points[1].weight, 2496.0 / 9996, 1e-9);
    slice_choice_free(&chosen);
    unlink(path);
    unlink(points);
    unlink(weights);
}

static void a_point_behind_the_run_is_an_error(void **state) {
    (void)state;
    char path[TEMPORARY_BYTES], points[TEMPORARY_BYTES], weights[TEMPORARY_BYTES];
    write_file(path, VECTORS);
    write_file(points, "6 0\n");
    write_file(weights, "1 0\n");
    const char *const vectors[] = {path};
    const struct choose_settings settings = CHOOSE_DEFAULTS;
    struct slice_choice chosen = {.vectors = vectors,
                                  .vector_count = 1,
                                  .settings = &settings,
                                  .simpoints = points,
                                  .weights = weights};
    assert_false(slice_choice_go(&chosen, &error));
    assert_non_null(strstr(error.message, "slice 6: "));
    assert_non_null(strstr(error.message, " has only 6"));
    slice_choice_free(&chosen);
    unlink(path);
    unlink(points);
    unlink(weights);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(phases_are_chosen_by_their_share),
                                       cmocka_unit_test(weights_of_files_are_made_to_sum_to_1),
                                       cmocka_unit_test(a_point_behind_the_run_is_an_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
