/* Regions chosen from programs whose phases are known; the search and its rule; SimPoint's files.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "region/bic.h"
#include "region/split.h"
#include "temporary.h"

static struct error error;

/* A slice of `scale` × 1000 instructions, roughly, in phase `phase`: 40 blocks of its own and 10
 * that all share; each count off by up to `noise` percent. */
static void add_slice(struct projection *slices, uint32_t phase, uint64_t scale, unsigned noise) {
    struct bbv_set set = {0};
    for (uint32_t i = 0; i < 50; i++) {
        uint32_t block = i < 40 ? 1000 * (phase + 1) + i : i;
        uint64_t percent = 100 - noise + (uint64_t)random() % (2 * noise + 1);
        assert_true(bbv_set_block(&set, block, scale * (5 + block % 31) * percent, &error));
    }
    assert_true(bbv_set_slice(&set, &error));
    assert_true(projection_add(slices, &set, 0, &error));
    bbv_set_free(&set);
}

enum { PHASES = 6, SLICES = 600 };
static uint32_t phase_of(size_t slice) {
    return (uint32_t)(slice / 25 * 7 % 11 % PHASES);
}

static struct projection program(unsigned noise) {
    struct projection slices;
    projection_init(&slices, 15, 1);
    srandom(11);
    for (size_t i = 0; i < SLICES; i++)
        add_slice(&slices, phase_of(i), 10, noise);
    return slices;
}

/* Every phase is a cluster; weights are shares of instructions; points lie in their clusters. */
static void finds_phases(unsigned noise) {
    struct projection slices = program(noise);
    struct region_choice choice;
    assert_true(region_choose(&slices, &REGION_DEFAULTS, &choice, &error));
    assert_int_equal(choice.point_count, PHASES);
    assert_int_equal(choice.slice_count, SLICES);
    double sum = 0, total = 0;
    for (size_t i = 0; i < SLICES; i++)
        total += (double)slices.instructions[i];
    uint32_t next = 0;
    for (size_t i = 0; i < SLICES; i++) {
        assert_true(choice.labels[i] <= next); /* numbered by first slice */
        next += choice.labels[i] == next;
    }
    for (uint32_t c = 0; c < PHASES; c++) {
        const struct region_point *point = choice.points + c;
        assert_int_equal(point->cluster, c);
        assert_int_equal(choice.labels[point->slice], c);
        double share = 0;
        for (size_t i = 0; i < SLICES; i++) {
            assert_int_equal(phase_of(i) == phase_of(point->slice), choice.labels[i] == c);
            share += choice.labels[i] == c ? (double)slices.instructions[i] / total : 0;
        }
        assert_true(fabs(point->weight - share) < 1e-12);
        sum += point->weight;
    }
    assert_true(fabs(sum - 1) < 1e-12);
    region_choice_free(&choice);
    projection_free(&slices);
}

static void phases(void **state) {
    (void)state;
    finds_phases(20);
}

/* Without noise all slices of a phase are one point: the variance is 0. */
static void phases_without_noise(void **state) {
    (void)state;
    finds_phases(0);
}

/* One slice of 9 times the instructions weighs 9 of 12. */
static void long_slice(void **state) {
    (void)state;
    struct projection slices;
    projection_init(&slices, 15, 1);
    add_slice(&slices, 0, 10, 0);
    add_slice(&slices, 1, 90, 0);
    add_slice(&slices, 0, 20, 0);
    struct region_choice choice;
    assert_true(region_choose(&slices, &REGION_DEFAULTS, &choice, &error));
    assert_int_equal(choice.point_count, 2);
    double total = (double)slices.instructions[0] + slices.instructions[1] + slices.instructions[2];
    assert_true(fabs(choice.points[1].weight - slices.instructions[1] / total) < 1e-12);
    assert_true(choice.points[1].slice == 1 && choice.points[0].slice != 1);
    region_choice_free(&choice);
    projection_free(&slices);
}

/* The rule, recomputed from the scores; k as SimPoint 3.2 tries them. */
static void threshold_rule(void **state) {
    (void)state;
    struct projection slices = program(20);
    uint32_t before = 0;
    for (int eighths = 0; eighths <= 8; eighths++) {
        const double threshold = eighths / 8.0;
        struct region_settings settings = REGION_DEFAULTS;
        struct region_choice choice;
        settings.threshold = threshold;
        assert_true(region_choose(&slices, &settings, &choice, &error));
        assert_int_equal(choice.tried[0].clusters, 1);
        assert_int_equal(choice.tried[1].clusters, 30);
        assert_int_equal(choice.tried[2].clusters, 15);
        double lowest = INFINITY, highest = -INFINITY;
        for (uint32_t i = 0; i < choice.tried_count; i++) {
            lowest = fmin(lowest, choice.tried[i].score);
            highest = fmax(highest, choice.tried[i].score);
        }
        double limit = threshold * (highest - lowest) + lowest;
        uint32_t smallest = 31;
        for (uint32_t i = 0; i < choice.tried_count; i++)
            if (choice.tried[i].score >= limit && choice.tried[i].clusters < smallest)
                smallest = choice.tried[i].clusters;
        assert_int_equal(choice.tried[choice.chosen].clusters, smallest);
        assert_true(smallest >= before);
        before = smallest;
        region_choice_free(&choice);
    }
    projection_free(&slices);
}

/* The same seed, the same choice; another seed may differ in clusters, not in their number here. */
static void by_seed(void **state) {
    (void)state;
    struct projection slices = program(40), again = program(40);
    for (uint64_t seed = 1; seed < 4; seed++) {
        struct region_settings settings = REGION_DEFAULTS;
        struct region_choice one, two;
        settings.seed = seed;
        assert_true(region_choose(&slices, &settings, &one, &error));
        assert_true(region_choose(&again, &settings, &two, &error));
        assert_int_equal(one.point_count, two.point_count);
        for (uint32_t i = 0; i < one.point_count; i++) {
            assert_int_equal(one.points[i].slice, two.points[i].slice);
            assert_int_equal(one.points[i].cluster, two.points[i].cluster);
            assert_true(one.points[i].weight == two.points[i].weight);
            assert_int_equal(one.points[i].whole, two.points[i].whole);
        }
        assert_memory_equal(one.labels, two.labels, SLICES * sizeof *one.labels);
        assert_memory_equal(one.tried, two.tried, sizeof one.tried);
        assert_int_equal(one.point_count, PHASES);
        region_choice_free(&one);
        region_choice_free(&two);
    }
    projection_free(&slices);
    projection_free(&again);
}

/* One dimension, one cluster of 8 0 6 6.5 7 10 12.5: centroid 7.14; nearest is 7, slice 4; within
 * 0.15 times the spread of 3.59, 0.54 more, 6.5, slice 3; within 0.5 times 8, slice 0. */
static void early_points(void **state) {
    (void)state;
    static const float at[] = {8, 0, 6, 6.5, 7, 10, 12.5};
    static const struct {
        double early;
        uint32_t slice;
    } expected[] = {{0, 4}, {0.15, 3}, {0.5, 0}};
    struct projection slices;
    projection_init(&slices, 1, 1);
    for (size_t i = 0; i < 7; i++) {
        add_slice(&slices, 0, 1, 0);
        slices.coordinates[i * slices.stride] = at[i];
    }
    for (size_t i = 0; i < 3; i++) {
        struct region_settings settings = REGION_DEFAULTS;
        struct region_choice choice;
        settings.max_clusters = 1;
        settings.early = expected[i].early;
        assert_true(region_choose(&slices, &settings, &choice, &error));
        assert_int_equal(choice.point_count, 1);
        assert_int_equal(choice.points[0].slice, expected[i].slice);
        assert_true(choice.points[0].weight == 1);
        region_choice_free(&choice);
    }
    projection_free(&slices);
}

/* SimPoint 3.2's search tries k = 30 from centroids drawn at random: ours is not worse. */
static void as_good_as_random_seeds(void **state) {
    (void)state;
    struct projection slices;
    projection_init(&slices, 15, 1);
    srandom(5);
    for (size_t i = 0; i < 2000; i++)
        add_slice(&slices, (uint32_t)random() % 40, 10, 60);
    struct region_choice choice;
    assert_true(region_choose(&slices, &REGION_DEFAULTS, &choice, &error));
    struct kmeans kmeans;
    assert_true(kmeans_init(&kmeans, &slices, 30, &error));
    for (int seed = 0; seed < 5; seed++) {
        float centroids[30 * 16];
        for (int c = 0; c < 30; c++)
            memcpy(centroids + c * 16, slices.coordinates + random() % 2000 * 16, 64);
        kmeans_run(&kmeans, 30, centroids);
        assert_true(bic_score(2000, 15, 30, kmeans.distortion, kmeans.shares) <=
                    choice.tried[1].score);
    }
    kmeans_free(&kmeans);
    region_choice_free(&choice);
    projection_free(&slices);
}

static void nothing(void **state) {
    (void)state;
    struct projection slices;
    struct region_choice choice;
    projection_init(&slices, 15, 1);
    assert_false(region_choose(&slices, &REGION_DEFAULTS, &choice, &error));
    assert_string_equal(error.message, "no slices to choose from");
}

/* ---- files ---- */

static char simpoints[TEMPORARY_BYTES];
static char weights[TEMPORARY_BYTES];

static int make_files(void **state) {
    (void)state;
    int a = mkstemp(temporary_name(simpoints, "simpoints")),
        b = mkstemp(temporary_name(weights, "weights"));
    return a < 0 || b < 0 || close(a) || close(b);
}
static int remove_files(void **state) {
    (void)state;
    return unlink(simpoints) | unlink(weights);
}

static void put_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
}

static void round_trip(void **state) {
    (void)state;
    static const struct region_point points[] = {
        {7, 0, 1 / 3., 0}, {4000000000, 1, 1 / 3., 1}, {0, 5, 1 / 3., 5}};
    struct region_point *again;
    uint32_t count;
    assert_true(region_points_write(points, 3, simpoints, weights, &error));
    char text[100] = "";
    FILE *file = fopen(simpoints, "r");
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_string_equal(text, "7 0\n4000000000 1\n0 5\n");
    assert_true(region_points_read(&again, &count, simpoints, weights, &error));
    assert_int_equal(count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(again[i].slice, points[i].slice);
        assert_int_equal(again[i].cluster, points[i].cluster);
        assert_true(fabs(again[i].weight - points[i].weight) < 1e-12);
    }
    free(again);
}

/* As SimPoint 3.2 prints them: six digits, clusters in any order. */
static void of_simpoint(void **state) {
    (void)state;
    struct region_point *points;
    uint32_t count;
    put_file(simpoints, "345 0\n72 2\n339 1\n");
    put_file(weights, "0.02 0\n0.964 1\n1.6e-02 2\n");
    assert_true(region_points_read(&points, &count, simpoints, weights, &error));
    assert_int_equal(count, 3);
    assert_true(points[1].slice == 339 && points[1].weight == 0.964);
    assert_true(points[2].slice == 72 && points[2].weight == 0.016);
    free(points);
}

static void refused(const char *points_text, const char *weights_text, const char *message) {
    struct region_point *points;
    uint32_t count;
    put_file(simpoints, points_text);
    put_file(weights, weights_text);
    assert_false(region_points_read(&points, &count, simpoints, weights, &error));
    if (!strstr(error.message, message))
        assert_string_equal(error.message, message);
}

static void not_right(void **state) {
    (void)state;
    refused("", "1 0\n", ": no regions in it");
    refused("1 0\n", "", ": no regions in it");
    refused("1 0\nx\n", "1 0\n", ": line 2: no slice number");
    refused("1.5 0\n", "1 0\n", ": line 1: no slice number");
    refused("-1 0\n", "1 0\n", ": line 1: no slice number");
    refused("1\n", "1 0\n", ": line 1: no cluster number behind it");
    refused("1 0 0\n", "1 0\n", ": line 1: no cluster number behind it");
    refused("1 -1\n", "1 0\n", ": line 1: no cluster number behind it");
    refused("1 0\n", "nan 0\n", ": line 1: no weight from 0 to 1");
    refused("1 0\n", "1.5 0\n", ": line 1: no weight from 0 to 1");
    refused("1 0\n2 0\n", "1 0\n", ": cluster 0 comes twice");
    refused("1 0\n2 1\n", "1 0\n", "has no cluster 1, which ");
    refused("1 0\n", "0.5 0\n0.5 3\n", "has no cluster 3, which ");
    refused("1 0\n2 1\n", "0.5 0\n0.4 1\n", ": the weights sum to 0.9, not to 1");
}

/* `count` slices of 100 instructions in cluster 0, then `light` of 50 in cluster 1. */
static struct region_choice two_clusters(struct projection *slices, size_t count, size_t light) {
    struct region_choice choice = {.point_count = 2, .slice_count = count + light};
    double all = (double)(100 * count + 50 * light);
    projection_init(slices, 2, 1);
    choice.points = calloc(2, sizeof *choice.points);
    choice.labels = calloc(choice.slice_count, sizeof *choice.labels);
    for (size_t i = 0; i < choice.slice_count; i++) {
        struct bbv_set set = {0};
        bool is_light = i >= count;
        assert_true(bbv_set_block(&set, 1 + is_light, is_light ? 50 : 100, &error) &&
                    bbv_set_slice(&set, &error) && projection_add(slices, &set, 0, &error));
        bbv_set_free(&set);
        choice.labels[i] = is_light;
    }
    choice.points[0] = (struct region_point){.slice = 7, .weight = 100 * (double)count / all};
    choice.points[1] = (struct region_point){
        .slice = (uint32_t)count, .cluster = 1, .whole = 1, .weight = 50 * (double)light / all};
    return choice;
}

/* Eight slices of one cluster into three parts: 800 instructions, 266.7 each. The middles 50, 150,
 * 250 lie in the first, 350 and 450 in the second, 550, 650, 750 in the third. The other cluster,
 * slice 8, cannot be split. Each slice of a part is its point as often as any other. */
static void split_in_time(void **state) {
    (void)state;
    static const uint32_t LABELS[] = {0, 0, 0, 1, 1, 2, 2, 2, 3}, SIZES[] = {3, 2, 3, 1};
    static const double WEIGHTS[] = {300. / 850, 200. / 850, 300. / 850, 50. / 850};
    enum { DRAWS = 600 };
    uint32_t drawn[9] = {0};
    for (uint64_t seed = 1; seed <= DRAWS; seed++) {
        struct projection slices;
        struct region_choice choice = two_clusters(&slices, 8, 1);
        assert_true(region_split(&slices, 2, seed, &choice, &error)); /* there are two */
        assert_int_equal(choice.points[0].slice, 7);
        assert_true(region_split(&slices, 4, seed, &choice, &error));
        assert_int_equal(choice.point_count, 4);
        for (uint32_t i = 0; i < 4; i++) {
            assert_int_equal(LABELS[choice.points[i].slice], i);
            assert_int_equal(choice.points[i].cluster, i);
            assert_int_equal(choice.points[i].whole, i == 3);
            assert_float_equal(choice.points[i].weight, WEIGHTS[i], 1e-12);
            drawn[choice.points[i].slice]++;
        }
        assert_memory_equal(choice.labels, LABELS, sizeof LABELS);
        /* No more than there are slices; what was a part is still of the same cluster. */
        assert_true(region_split(&slices, 100, seed, &choice, &error));
        assert_int_equal(choice.point_count, 9);
        for (uint32_t i = 0; i < 9; i++)
            assert_int_equal(choice.points[i].whole, i == 8);
        region_choice_free(&choice);
        projection_free(&slices);
    }
    for (uint32_t i = 0; i < 9; i++) {
        double expected = (double)DRAWS / SIZES[LABELS[i]];
        assert_true(fabs(drawn[i] - expected) < 0.2 * expected);
    }
}

/* 3000 instructions and 100: by weight alone all four would be of the first cluster, or three of
 * it; the second has two all the same. */
static void every_cluster_has_two(void **state) {
    (void)state;
    struct projection slices;
    struct region_choice choice = two_clusters(&slices, 30, 2);
    assert_true(region_split(&slices, 4, 1, &choice, &error));
    assert_int_equal(choice.point_count, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(choice.points[i].whole, i >= 2);
    region_choice_free(&choice);
    projection_free(&slices);
    choice = two_clusters(&slices, 30, 2);
    /* Not enough for all: the heavier one. */
    assert_true(region_split(&slices, 3, 1, &choice, &error));
    assert_int_equal(choice.point_count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(choice.points[i].whole, i == 2);
    region_choice_free(&choice);
    projection_free(&slices);
}

/* The rest of a run behind its last whole slice represents nothing longer. */
static void short_slices_stand_for_none(void **state) {
    (void)state;
    struct projection slices;
    struct region_choice choice;
    projection_init(&slices, 15, 1);
    srandom(3);
    for (size_t i = 0; i < 40; i++)
        add_slice(&slices, 0, 1000, 20);
    add_slice(&slices, 0, 100, 0); /* no noise: nearest to the centroid */
    assert_true(region_choose(&slices, &REGION_DEFAULTS, &choice, &error));
    for (uint32_t i = 0; i < choice.point_count; i++)
        if (choice.points[i].slice == 40)
            for (size_t k = 0; k < 40; k++)
                assert_int_not_equal(choice.labels[k], choice.points[i].cluster);
    region_choice_free(&choice);
    projection_free(&slices);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases),
        cmocka_unit_test(phases_without_noise),
        cmocka_unit_test(long_slice),
        cmocka_unit_test(threshold_rule),
        cmocka_unit_test(by_seed),
        cmocka_unit_test(early_points),
        cmocka_unit_test(split_in_time),
        cmocka_unit_test(every_cluster_has_two),
        cmocka_unit_test(short_slices_stand_for_none),
        cmocka_unit_test(as_good_as_random_seeds),
        cmocka_unit_test(nothing),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(of_simpoint),
        cmocka_unit_test(not_right),
    };
    return cmocka_run_group_tests_name("region_points", tests, make_files, remove_files);
}
