/* Which slice stands for a cluster, by distances before projection: by hand, on three slices that
 * are one cluster.
 *
 *     slice   blocks 1, 2, 5         on a line (1 dimension, seed 1: 1 at 0.00, 2 at 0.81, 5 at
 * −0.88) 0       1.00  0.00  0.00        0.00 1       0.00  0.60  0.40        0.13 2       0.00
 * 0.45  0.55       −0.12 mean    1/3   0.35  19/60       0.01
 *
 * The line puts slice 0 nearest to the mean, though it has no block in common with the others.
 * Before projection the squared distances are
 *
 *     0       (2/3)² + 0.35² + (19/60)²    = 0.667222
 *     1       (1/3)² + 0.25² + (5/60)²     = 0.180556
 *     2       (1/3)² + 0.10² + (14/60)²    = 0.175556 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "region/full_space.h"
#include "region/selection.h"
#include "temporary.h"

static struct error error;
static const double DISTANCES2[] = {0.667222, 0.180556, 0.175556};

static char vectors[TEMPORARY_BYTES], others[TEMPORARY_BYTES];

static int make_files(void **state) {
    (void)state;
    int one = mkstemp(temporary_name(vectors, "vectors"));
    int two = mkstemp(temporary_name(others, "others"));
    return one < 0 || two < 0 || close(one) || close(two);
}

static char *table_of(const char *path) {
    static char table[TEMPORARY_BYTES + 8];
    snprintf(table, sizeof table, "%s.slices", path);
    return table;
}

static int remove_files(void **state) {
    (void)state;
    unlink(table_of(vectors));
    unlink(table_of(others));
    return unlink(vectors) || unlink(others);
}

static void put_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
}

static struct profiled_runs runs_of(const char *text, uint32_t merged) {
    struct profiled_runs runs;
    put_file(vectors, text);
    profiled_runs_init(&runs, 1, 1, false);
    assert_true(profiled_runs_add(&runs, vectors, &error));
    profiled_runs_merge_slices(&runs, merged);
    return runs;
}

/* All slices are one cluster. */
static void assert_distances(const struct profiled_runs *runs, const double *expected,
                             size_t count) {
    uint32_t labels[8] = {0};
    double found[8];
    const struct region_choice choice = {.point_count = 1, .labels = labels, .slice_count = count};
    assert_int_equal(runs->points.count, count);
    assert_true(full_space_distances(runs, &choice, found, &error));
    for (size_t i = 0; i < count; i++)
        assert_true(fabs(found[i] - expected[i]) < 1e-6);
}

/* A block may come more than once in a slice, in any order. */
#define THREE "T:1:100\nT:5:30 :2:60 :5:10\nT:2:45 :5:55\n"

static void measured(void **state) {
    (void)state;
    struct profiled_runs runs = runs_of(THREE, 1);
    assert_distances(&runs, DISTANCES2, 3);
    profiled_runs_free(&runs);
}

/* The mean is (0.75, 0.25): 2 × 0.25² and 2 × 0.75². */
static void weighted_by_instructions(void **state) {
    (void)state;
    struct profiled_runs runs = runs_of("T:1:300\nT:2:100\n", 1);
    assert_distances(&runs, (double[]){0.125, 1.125}, 2);
    profiled_runs_free(&runs);
}

/* Each cluster has a centroid of its own: of {0, 2} (0.5, 0.225, 0.275), of {1} slice 1. */
static void by_cluster(void **state) {
    (void)state;
    struct profiled_runs runs = runs_of(THREE, 1);
    uint32_t labels[] = {0, 1, 0};
    double found[3];
    const struct region_choice choice = {.point_count = 2, .labels = labels, .slice_count = 3};
    assert_true(full_space_distances(&runs, &choice, found, &error));
    double apart = 0.5 * 0.5 + 0.225 * 0.225 + 0.275 * 0.275;
    assert_true(fabs(found[0] - apart) < 1e-9 && fabs(found[2] - apart) < 1e-9);
    assert_true(fabs(found[1]) < 1e-9);
    profiled_runs_free(&runs);
}

/* Two slices of 100 in a row are one of 200, as if it had been profiled so. */
static void merged_slices(void **state) {
    (void)state;
    struct profiled_runs runs =
        runs_of("T:1:100\nT:1:100\nT:2:100\nT:2:20 :5:80\nT:5:100\nT:2:90 :5:10\n", 2);
    assert_distances(&runs, DISTANCES2, 3);
    profiled_runs_free(&runs);
}

/* Slices 1 and 2 are of a second run, whose ids are other ones. */
static void merged_runs(void **state) {
    (void)state;
#define HEAD                                                                                       \
    "culprit-slices 1\nisa riscv64\ncommand prog\nsize 100\nimage 0 - /bin/prog\nprocess 0 7 "     \
    "/bin/prog\n"
    struct profiled_runs runs;
    put_file(vectors, "T:1:100\n");
    put_file(table_of(vectors), HEAD "block 1 0 10 4\nslice 0 0 0 100 0 10 1\nend 100\n");
    put_file(others, "T:1:40 :2:60\nT:2:45 :1:55\n");
    put_file(table_of(others), HEAD "block 1 0 50 4\nblock 2 0 20 4\nslice 0 0 0 100 0 20 1\n"
                                    "slice 0 0 100 100 0 20 9\nend 200\n");
    profiled_runs_init(&runs, 1, 1, true);
    assert_true(profiled_runs_add(&runs, vectors, &error));
    assert_true(profiled_runs_add(&runs, others, &error));
    assert_distances(&runs, DISTANCES2, 3);
    profiled_runs_free(&runs);
    unlink(table_of(vectors));
}

static uint32_t chosen(const struct profiled_runs *runs, enum selection_space space, double early) {
    struct selection_settings settings = SELECTION_DEFAULTS;
    struct region_choice choice;
    settings.clusters.max_clusters = 1;
    settings.clusters.early = early;
    settings.nearest_in = space;
    assert_true(selection_choose(runs, &settings, &choice, &error));
    assert_true(choice.point_count == 1 && choice.points[0].weight == 1);
    uint32_t slice = choice.points[0].slice;
    region_choice_free(&choice);
    return slice;
}

/* The root mean square is √0.341111 = 0.584, a twentieth of it 0.029: slice 1, at 0.425, is near
 * enough beside 0.419, slice 0, at 0.817, is not. */
static void other_slice(void **state) {
    (void)state;
    struct profiled_runs runs = runs_of(THREE, 1);
    assert_int_equal(chosen(&runs, SPACE_PROJECTED, 0), 0);
    assert_int_equal(chosen(&runs, SPACE_FULL, 0), 2);
    assert_int_equal(chosen(&runs, SPACE_FULL, 0.05), 1);
    profiled_runs_free(&runs);
}

static void changed_file(void **state) {
    (void)state;
    struct profiled_runs runs = runs_of(THREE, 1);
    uint32_t labels[] = {0, 0, 0};
    double found[3];
    const struct region_choice choice = {.point_count = 1, .labels = labels, .slice_count = 3};
    char expected[TEMPORARY_BYTES + 80];
    put_file(vectors, "T:1:100\nT:5:30\nT:1:5\n");
    assert_false(full_space_distances(&runs, &choice, found, &error));
    snprintf(expected, sizeof expected, "%s: slice 1 is not what it was when it was first read",
             vectors);
    assert_string_equal(error.message, expected);
    put_file(vectors, "T:1:100\n");
    assert_false(full_space_distances(&runs, &choice, found, &error));
    assert_string_equal(error.message, expected);
    profiled_runs_free(&runs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(measured, make_files, remove_files),
        cmocka_unit_test_setup_teardown(weighted_by_instructions, make_files, remove_files),
        cmocka_unit_test_setup_teardown(by_cluster, make_files, remove_files),
        cmocka_unit_test_setup_teardown(merged_slices, make_files, remove_files),
        cmocka_unit_test_setup_teardown(merged_runs, make_files, remove_files),
        cmocka_unit_test_setup_teardown(other_slice, make_files, remove_files),
        cmocka_unit_test_setup_teardown(changed_file, make_files, remove_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
