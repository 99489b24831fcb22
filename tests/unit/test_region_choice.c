/* Draws, coverage, merging, predictions and sweeps on a handful of slices, worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "region/choose.h"
#include "region/prediction.h"
#include "region/scatter.h"
#include "region/sweep.h"
#include "temporary.h"

static struct error error;

/* ---- draws ---- */

static struct projection slices_of(size_t count, const uint64_t *instructions) {
    struct projection slices;
    projection_init(&slices, 1, 0);
    slices.count = count;
    slices.coordinates = calloc(count * slices.stride, sizeof(float));
    slices.instructions = calloc(count, sizeof(uint64_t));
    for (size_t i = 0; i < count; i++)
        slices.instructions[i] = instructions ? instructions[i] : 100;
    return slices;
}

/* 4 of 10: a distance of 2.5 from a beginning below 2.5, so that gaps are 2 or 3 slices. */
static void systematic(void **state) {
    (void)state;
    struct projection slices = slices_of(10, NULL);
    struct region_point points[4];
    bool begins[3] = {false};
    for (uint64_t seed = 0; seed < 50; seed++) {
        assert_true(selection_draw(&slices, SELECT_SYSTEMATIC, 4, seed, points, &error));
        assert_true(points[0].slice < 3 && points[3].slice < 10);
        begins[points[0].slice] = true;
        for (uint32_t i = 0; i < 4; i++) {
            assert_true(points[i].cluster == i && points[i].weight == 0.25);
            assert_true(i == 0 || points[i].slice - points[i - 1].slice - 2 <= 1);
        }
    }
    assert_true(begins[0] && begins[1] && begins[2]);
    projection_free(&slices);
}

/* 3 of 5, 5000 times: each slice in three fifths of them, 3000 ± 5 deviations of 35. */
static void at_random(void **state) {
    (void)state;
    struct projection slices = slices_of(5, (uint64_t[]){100, 100, 100, 100, 300});
    struct region_point points[3];
    int drawn[5] = {0};
    for (uint64_t seed = 0; seed < 5000; seed++) {
        assert_true(selection_draw(&slices, SELECT_RANDOM, 3, seed, points, &error));
        double sum = 0;
        for (int i = 0; i < 3; i++) {
            assert_true(i == 0 || points[i].slice > points[i - 1].slice);
            drawn[points[i].slice]++;
            sum += points[i].weight;
        }
        assert_true(fabs(sum - 1) < 1e-12);
        assert_true(points[2].weight == (points[2].slice == 4 ? 0.6 : 1 / 3.));
    }
    for (int i = 0; i < 5; i++)
        assert_true(abs(drawn[i] - 3000) < 175);
    assert_false(selection_draw(&slices, SELECT_RANDOM, 6, 1, points, &error));
    assert_string_equal(error.message, "cannot draw 6 of 5 slices");
    projection_free(&slices);
}

/* ---- scatter ---- */

/* Cluster 0: (1, 0), (0, 1): mean (0.5, 0.5), 1 − 0.5 / 1. Cluster 1: twice (2, 1): 0. Cluster 2:
 * (1, 0), (1, 0), (0, 2): mean (2/3, 2/3), 1 − (8/9) / 2. */
static void far_apart(void **state) {
    (void)state;
    static const float POINTS[][2] = {{1, 0}, {2, 1}, {0, 1}, {1, 0}, {2, 1}, {1, 0}, {0, 2}};
    uint32_t labels[] = {0, 1, 0, 2, 1, 2, 2}, count;
    struct projection slices;
    projection_init(&slices, 2, 0);
    slices.count = 7;
    slices.coordinates = calloc(7 * slices.stride, sizeof(float));
    for (size_t i = 0; i < 7; i++)
        memcpy(slices.coordinates + i * slices.stride, POINTS[i], sizeof POINTS[i]);
    const struct region_choice choice = {.labels = labels, .slice_count = 7};
    double *scatter = region_scatter(&slices, &choice, &count);
    assert_int_equal(count, 3);
    assert_true(fabs(scatter[0] - 0.5) < 1e-12 && fabs(scatter[1]) < 1e-12);
    assert_true(fabs(scatter[2] - 5 / 9.) < 1e-12);
    free(scatter);
    assert_null(region_scatter(&slices, &(struct region_choice){.slice_count = 7}, &count));
    projection_free(&slices);
}

/* ---- predictions ---- */

/* Four slices: 100 instructions of CPI 1 and 3, 200 of CPI 2, 100 of CPI 6. True: 1400 cycles of
 * 500 instructions, 2.8. Clusters {0 1 2} and {3}: weights 0.8 and 0.2, points 0 and 3: 0.8 × 1 +
 * 0.2 × 6 = 2. Mean CPI of the first: (100 + 300 + 400) / 400 = 2; variance (100 × 1 + 100 × 1 + 0)
 * / 400 = 0.5. Misses: true 9 / 500, predicted 0.8 × 2 / 100 + 0.2 × 1 / 100. */
static void predicted(void **state) {
    (void)state;
    struct projection slices = slices_of(4, (uint64_t[]){100, 100, 200, 100});
    double values[] = {100, 2, 300, 2, 400, 4, 600, 1};
    struct region_costs costs = {.column_count = 2, .values = values, .slice_count = 4};
    struct region_point points[] = {{0, 0, 0.8, 0}, {3, 1, 0.2, 1}};
    uint32_t labels[] = {0, 0, 0, 1};
    struct region_choice choice = {
        .points = points, .point_count = 2, .labels = labels, .slice_count = 4};
    struct prediction prediction;
    assert_true(prediction_make(&prediction, &costs, &slices, &choice, 200, 1, &error));
    assert_true(fabs(prediction.truth[0] - 2.8) < 1e-12);
    assert_true(fabs(prediction.predicted[0] - 2) < 1e-12);
    assert_true(fabs(prediction.truth[1] - 0.018) < 1e-12);
    assert_true(fabs(prediction.predicted[1] - 0.018) < 1e-12);
    assert_int_equal(prediction.spread_count, 2);
    assert_true(fabs(prediction.spreads[0].mean - 2) < 1e-12 && prediction.spreads[0].chosen == 1);
    assert_true(fabs(prediction.spreads[0].deviation - sqrt(0.5)) < 1e-12);
    assert_true(prediction.spreads[1].deviation == 0 && prediction.spreads[1].mean == 6);
    /* Systematic pairs are 0 2 and 1 3: (100 + 400) / 300 and (300 + 600) / 200, 40.5 % too low and
     * 60.7 % too high, each as likely. */
    assert_true(prediction.systematic.mean > 0.45 && prediction.systematic.mean < 0.56);
    assert_true(fabs(prediction.systematic.most_95 - (4.5 / 2.8 - 1)) < 1e-12);
    assert_true(prediction.random.most_95 <= 4.5 / 2.8 - 1 + 1e-12);
    prediction_free(&prediction);
    projection_free(&slices);
}

/* ---- files ---- */

static char vectors[TEMPORARY_BYTES];
static char table[sizeof vectors + 8], costs_path[sizeof vectors + 8];

static int make_files(void **state) {
    (void)state;
    int file = mkstemp(temporary_name(vectors, "vectors"));
    snprintf(table, sizeof table, "%s.slices", vectors);
    snprintf(costs_path, sizeof costs_path, "%s.csv", vectors);
    return file < 0 || close(file);
}
static int remove_files(void **state) {
    (void)state;
    unlink(table);
    unlink(costs_path);
    return unlink(vectors);
}

static void put_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
}

#define HEAD                                                                                       \
    "culprit-slices 1\nisa riscv64\ncommand prog\nsize 100\nimage 0 - /bin/prog\n"                 \
    "process 0 7 /bin/prog\nblock 1 0 10 4\nblock 2 0 20 5\nblock 3 - 30 5\n"

/* Five slices of two threads; those of 2 blocks at 20 and 30 are other code than that at 10. */
static void put_run(void) {
    put_file(vectors, "T:1:100\nT:2:60 :3:40\nT:1:104\nT:2:60 :3:40\nT:1:100\n");
    put_file(table, HEAD "slice 0 0 0 100 0 10 1\nslice 0 0 100 100 0 20 1\n"
                         "slice 0 0 200 104 0 10 26\nslice 0 1 0 100 - 30 1\n"
                         "slice 0 1 100 100 0 10 1\nend 504\n");
}

static void whole_way(void **state) {
    (void)state;
    struct choose_settings settings = CHOOSE_DEFAULTS;
    struct region_list list;
    put_run();
    assert_true(region_list_choose(&list, vectors, &settings, &error));
    assert_int_equal(list.isa, ISA_RISCV64);
    assert_string_equal(list.command, "prog");
    assert_true(list.instructions == 504 && list.slice_count == 5 && list.region_count == 2);
    const struct region *first = &list.regions[0], *second = &list.regions[1];
    assert_true(first->slice == 0 && second->slice == 1 && second->cluster == 1);
    assert_true(fabs(first->weight - 304 / 504.) < 1e-12);
    assert_true(fabs(first->multiplier - 3.04) < 1e-12 && second->id == 2);
    assert_true(first->start.offset == 0x10 && first->start.count == 1);
    assert_true(first->end.offset == 0x20 && first->end.count == 1);
    assert_true(second->end.offset == 0x10 && second->end.count == 26);
    assert_string_equal(list.images[first->start.image].path, "/bin/prog");
    region_list_free(&list);

    /* Two at a time: 0 1, 2, 3 4; the one of slice 2 alone ends with its thread. */
    settings.merge_slices = 2;
    settings.selection.clusters.threshold = 1;
    struct profiled_runs runs;
    profiled_runs_init(&runs, 15, 1, false);
    assert_true(profiled_runs_add(&runs, vectors, &error));
    profiled_runs_merge_slices(&runs, 2);
    assert_int_equal(runs.points.count, 3);
    assert_true(runs.slices[0].instructions == 200 && runs.slices[1].first == 200);
    assert_true(runs.slices[2].thread == 1 && runs.slices[2].first_slice == 3);
    struct region_point points[] = {{1, 0, 0.5, 0}, {2, 1, 0.5, 1}};
    assert_true(region_list_build(&list, &runs, 0, points, 2, "simpoint", &error));
    assert_true(list.regions[0].slice == 2 && list.regions[0].end.count == 0);
    assert_true(list.regions[1].slice == 3 && list.regions[1].instructions == 200);
    assert_true(list.regions[1].start.image == MARKER_NO_IMAGE);
    assert_true(list.regions[1].start.offset == 0x30 && list.slice_count == 5);
    region_list_free(&list);
    profiled_runs_free(&runs);
}

/* Merged slices are as if profiled so: (100 : 60 40) has coordinates 0.5 × those of 1 + 0.3, 0.2.
 */
static void merged_points(void **state) {
    (void)state;
    struct profiled_runs two, one;
    put_file(vectors, "T:1:100\nT:2:60 :3:40\n");
    unlink(table);
    profiled_runs_init(&two, 15, 1, false);
    assert_true(profiled_runs_add(&two, vectors, &error));
    profiled_runs_merge_slices(&two, 5);
    put_file(vectors, "T:1:100 :2:60 :3:40\n");
    profiled_runs_init(&one, 15, 1, false);
    assert_true(profiled_runs_add(&one, vectors, &error));
    assert_true(two.points.count == 1 && two.points.instructions[0] == 200);
    for (int d = 0; d < 15; d++)
        assert_true(fabsf(two.points.coordinates[d] - one.points.coordinates[d]) < 1e-6f);
    profiled_runs_free(&two);
    profiled_runs_free(&one);
}

/* The same program with its blocks found in another order. */
static void unified_ids(void **state) {
    (void)state;
    struct region_image a = {.path = "/a", .build_id = {1}, .build_id_size = 1};
    struct region_image images[] = {a, {.path = "/a"}, a};
    struct slice_block first[] = {{0, 4, 0x10}, {0, 5, 0x20}, {MARKER_NO_IMAGE, 5, 0x20}};
    struct slice_block other[] = {{2, 5, 0x20}, {1, 5, 0x20}, {2, 4, 0x10}, {2, 3, 0x10}};
    struct slice_table one = {
        .images = images, .image_count = 3, .blocks = first, .block_count = 3};
    struct slice_table two = {
        .images = images, .image_count = 3, .blocks = other, .block_count = 4};
    struct block_ids blocks = {0};
    uint32_t ids[4];
    assert_true(block_ids_add(&blocks, &one, ids, &error));
    assert_memory_equal(ids, ((uint32_t[]){1, 2, 3}), 12);
    assert_true(block_ids_add(&blocks, &two, ids, &error));
    assert_memory_equal(ids, ((uint32_t[]){2, 4, 1, 5}), 16);
    block_ids_free(&blocks);
}

/* ---- the sweep ---- */

/* Two phases of CPI 1 and 3, one program. One cluster: of the 504 instructions the nearest slice to
 * the centroid is of the phase with 304, CPI 1, where the true one is (304 + 600) / 504: 44 % off,
 * 100 or 104 instructions. Two clusters: no error. Both are on the front; two is what the rule
 * recommends, and of thresholds the least that takes two. */
static void swept(void **state) {
    (void)state;
    struct profiled_runs runs;
    struct region_costs costs = {0};
    struct sweep sweep;
    put_run();
    put_file(costs_path,
             "process,thread,first,instructions,cycles\n0,1,0,100,300\n0,1,100,100,100\n"
             "0,0,0,100,100\n0,0,100,60,200\n0,0,160,40,100\n0,0,200,104,104\n");
    profiled_runs_init(&runs, 15, 1, false);
    assert_true(profiled_runs_add(&runs, vectors, &error));
    assert_true(region_costs_add(&costs, &runs, 0, costs_path, &error));
    assert_true(costs.values[1] == 300 && costs.values[4] == 100);
    struct choose_settings choose = CHOOSE_DEFAULTS;
    double clusters[] = {1, 2, 3}, dimensions[] = {2}, thresholds[] = {0, 0.5, 1}, parts[] = {1};
    struct sweep_settings settings = {.choose = &choose,
                                      .max_clusters = {clusters, 3, 3},
                                      .others = {[SWEEP_DIMENSIONS] = {dimensions, 1, 1},
                                                 [SWEEP_THRESHOLD] = {thresholds, 3, 3},
                                                 [SWEEP_COVERAGE] = {parts, 1, 1}}};
    struct sweep_input input = {&runs, &costs};
    assert_true(sweep_make(&sweep, &settings, &input, 1, NULL, NULL, &error));
    assert_int_equal(sweep.point_count, 18);
    const struct sweep_point *one = &sweep.points[0], *two = &sweep.points[1];
    assert_true(fabs(one->mean_error - (1 - 504 / 904.)) < 1e-9 && one->regions == 1);
    assert_true(two->mean_error < 1e-9 && two->regions == 2 && two->max_clusters == 2);
    assert_true(one->mean_front && two->mean_front && two->max_front);
    assert_int_equal(sweep.recommended_clusters, 1);
    assert_int_equal(sweep.points[sweep.recommended_threshold].kind, SWEEP_THRESHOLD);
    assert_true(sweep.points[sweep.recommended_threshold].value == 0.5);
    sweep_free(&sweep);
    region_costs_free(&costs);
    profiled_runs_free(&runs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(systematic),  cmocka_unit_test(at_random), cmocka_unit_test(far_apart),
        cmocka_unit_test(predicted),   cmocka_unit_test(whole_way), cmocka_unit_test(merged_points),
        cmocka_unit_test(unified_ids), cmocka_unit_test(swept),
    };
    return cmocka_run_group_tests_name("region_choice", tests, make_files, remove_files);
}
