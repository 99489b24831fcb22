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

/* Of a file of vectors, and of points and weights that were chosen before. */
struct chosen_before {
    char path[TEMPORARY_BYTES], points[TEMPORARY_BYTES], weights[TEMPORARY_BYTES];
    const char *vectors[1];
    struct choose_settings settings;
    struct slice_choice chosen;
};

static void choose_before(struct chosen_before *before, const char *points, const char *weights) {
    *before = (struct chosen_before){.settings = CHOOSE_DEFAULTS};
    write_file(before->path, VECTORS);
    write_file(before->points, points);
    write_file(before->weights, weights);
    before->vectors[0] = before->path;
    before->chosen = (struct slice_choice){.vectors = before->vectors,
                                           .vector_count = 1,
                                           .settings = &before->settings,
                                           .simpoints = before->points,
                                           .weights = before->weights};
}

static void choose_before_free(struct chosen_before *before) {
    slice_choice_free(&before->chosen);
    unlink(before->path);
    unlink(before->points);
    unlink(before->weights);
}

/* They are printed with few digits: 7500 and 2496 of 9996. */
static void weights_of_files_are_made_to_sum_to_1(void **state) {
    (void)state;
    struct chosen_before before;
    choose_before(&before, "1 0\n5 1\n", "0.7500 0\n0.2496 1\n");
    const struct slice_choice *chosen = &before.chosen;
    if (!slice_choice_go(&before.chosen, &error))
        fail_msg("%s", error.message);
    assert_int_equal(chosen->choice.point_count, 2);
    assert_int_equal(chosen->choice.points[0].slice, 1);
    assert_float_equal(chosen->choice.points[0].weight, 7500.0 / 9996, 1e-9);
    assert_float_equal(chosen->choice.points[1].weight, 2496.0 / 9996, 1e-9);
    choose_before_free(&before);
}

static void a_point_behind_the_run_is_an_error(void **state) {
    (void)state;
    struct chosen_before before;
    choose_before(&before, "6 0\n", "1 0\n");
    assert_false(slice_choice_go(&before.chosen, &error));
    assert_non_null(strstr(error.message, "slice 6: "));
    assert_non_null(strstr(error.message, " has only 6"));
    choose_before_free(&before);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(phases_are_chosen_by_their_share),
                                       cmocka_unit_test(weights_of_files_are_made_to_sum_to_1),
                                       cmocka_unit_test(a_point_behind_the_run_is_an_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
