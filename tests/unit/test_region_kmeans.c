/* k-means and BIC on points whose clusters can be worked out by hand, in plain form (lloyd.h) and
 * in fast form; and one against the other. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "region/bic.h"
#include "region/kmeans.h"
#include "region/lloyd.h"
#include "region/swap.h"
#include "region/ward.h"

static struct error error;

/* Points as they are: `count` rows of `dimensions`. */
static struct projection points_of(size_t count, uint32_t dimensions, const float *values,
                                   const uint64_t *instructions) {
    struct projection points;
    projection_init(&points, dimensions, 0);
    points.count = count;
    points.coordinates = calloc(count * points.stride, sizeof(float));
    points.instructions = calloc(count, sizeof(uint64_t));
    for (size_t i = 0; i < count; i++) {
        points.instructions[i] = instructions ? instructions[i] : 100;
        for (uint32_t d = 0; d < dimensions; d++)
            points.coordinates[i * points.stride + d] = values[i * dimensions + d];
    }
    return points;
}

/* 0 1 10 11 12, from centroids 0 and 1: pass 1 {0} {1 10 11 12}, centroids 0 and 8.5; pass 2 {0 1}
 * {10 11 12}, centroids 0.5 and 11; pass 3 moves none. Distortion 2 × 0.25 + 1 + 0 + 1 = 2.5. */
static void by_hand(void **state) {
    (void)state;
    struct projection points = points_of(5, 1, (float[]){0, 1, 10, 11, 12}, NULL);
    struct kmeans kmeans;
    float centroids[16] = {[0] = 0, [8] = 1};
    assert_true(kmeans_init(&kmeans, &points, 2, &error));
    kmeans_run(&kmeans, 2, centroids);
    assert_memory_equal(kmeans.labels, ((uint32_t[]){0, 0, 1, 1, 1}), 20);
    assert_true(centroids[0] == 0.5f && centroids[8] == 11);
    assert_true(kmeans.distortion == 2.5 && kmeans.converged);
    assert_int_equal(kmeans.passes, 3);
    float plain[16] = {[0] = 0, [8] = 1};
    uint32_t labels[5];
    assert_int_equal(lloyd(&points, 2, KMEANS_MAX_PASSES, plain, labels, &error), 3);
    assert_memory_equal(labels, kmeans.labels, sizeof labels);
    assert_memory_equal(plain, centroids, sizeof plain);
    assert_true(kmeans.shares[0] == 0.4 && kmeans.shares[1] == 0.6);
    assert_true(kmeans_distance2(&kmeans, 4, centroids, 1) == 1);
    kmeans_free(&kmeans);
    projection_free(&points);
}

/* 300 instructions at 0 and 100 at 4: the centroid is 1; weights 1.5 and 0.5, 1.5 × 1 + 0.5 × 9. */
static void weighted(void **state) {
    (void)state;
    struct projection points = points_of(2, 1, (float[]){0, 4}, (uint64_t[]){300, 100});
    struct kmeans kmeans;
    float centroid[8] = {3};
    assert_true(kmeans_init(&kmeans, &points, 1, &error));
    kmeans_run(&kmeans, 1, centroid);
    assert_true(centroid[0] == 1 && kmeans.distortion == 6 && kmeans.shares[0] == 1);
    float plain[8] = {3};
    uint32_t labels[2];
    assert_int_equal(lloyd(&points, 1, KMEANS_MAX_PASSES, plain, labels, &error), 2);
    assert_true(plain[0] == 1);
    kmeans_free(&kmeans);
    projection_free(&points);
}

/* A centroid to which nothing is nearest stays where it was, and has no share. */
static void empty_cluster(void **state) {
    (void)state;
    struct projection points = points_of(4, 2, (float[]){0, 0, 0, 2, 6, 0, 6, 2}, NULL);
    struct kmeans kmeans;
    float centroids[24] = {[0] = 0, [8] = 100, [9] = 50, [16] = 6};
    assert_true(kmeans_init(&kmeans, &points, 3, &error));
    kmeans_run(&kmeans, 3, centroids);
    assert_memory_equal(kmeans.labels, ((uint32_t[]){0, 0, 2, 2}), 16);
    assert_true(kmeans.shares[1] == 0 && centroids[8] == 100 && centroids[9] == 50);
    assert_true(centroids[1] == 1 && centroids[17] == 1 && kmeans.distortion == 4);
    float plain[24] = {[0] = 0, [8] = 100, [9] = 50, [16] = 6};
    uint32_t labels[4];
    assert_int_equal(lloyd(&points, 3, KMEANS_MAX_PASSES, plain, labels, &error), kmeans.passes);
    assert_memory_equal(plain, centroids, sizeof plain);
    kmeans_free(&kmeans);
    projection_free(&points);
}

/* Each different point once, however often it comes, and no more; a shorter draw is a prefix. */
static void seeds(void **state) {
    (void)state;
    struct projection points = points_of(7, 1, (float[]){5, 5, 1, 5, 1, 9, 5}, NULL);
    struct kmeans kmeans;
    assert_true(kmeans_init(&kmeans, &points, 5, &error));
    for (uint64_t seed = 0; seed < 50; seed++) {
        float many[40], few[16];
        assert_int_equal(kmeans_seed(&kmeans, seed, 5, many), 3);
        assert_true(many[0] + many[8] + many[16] == 15);
        assert_int_equal(kmeans_seed(&kmeans, seed, 2, few), 2);
        assert_memory_equal(many, few, sizeof few);
    }
    kmeans_free(&kmeans);
    projection_free(&points);
}

/* ---- the fast form against the plain one ---- */

enum { MANY = 3000, WIDE = 15, CLUSTERS = 21 };

static void same_as_plain(void **state) {
    (void)state;
    static float values[MANY * WIDE];
    static uint64_t instructions[MANY];
    srandom(7);
    for (size_t i = 0; i < MANY; i++) {
        instructions[i] = 500 + (uint64_t)random() % 1000;
        for (int d = 0; d < WIDE; d++)
            values[i * WIDE + d] = (float)random() / (float)RAND_MAX + (i % 3 == 0 ? 0.4f : 0);
    }
    struct projection points = points_of(MANY, WIDE, values, instructions);
    struct kmeans kmeans;
    assert_true(kmeans_init(&kmeans, &points, CLUSTERS, &error));
    for (uint64_t seed = 1; seed <= 6; seed++) {
        float ours[CLUSTERS * 16], theirs[CLUSTERS * 16];
        if (seed == 6)
            kmeans.lanes = 8; /* as on processors without AVX-512 */
        uint32_t labels[MANY];
        assert_int_equal(kmeans_seed(&kmeans, seed, CLUSTERS, ours), CLUSTERS);
        memcpy(theirs, ours, sizeof ours);
        kmeans_run(&kmeans, CLUSTERS, ours);
        const uint32_t passes = lloyd(&points, CLUSTERS, KMEANS_MAX_PASSES, theirs, labels, &error);
        assert_true(kmeans.converged && kmeans.passes > 5);
        assert_int_equal(kmeans.passes, passes);
        assert_memory_equal(kmeans.labels, labels, sizeof labels);
        for (size_t i = 0; i < CLUSTERS * 16; i++)
            assert_true(fabsf(ours[i] - theirs[i]) < 1e-6f);
    }
    kmeans_free(&kmeans);
    projection_free(&points);
}

/* After one pass the labels are those of the first centroids, after two the centroids have moved
 * once: 0 1 10 11 12 from 0 and 1 is {0} {1 10 11 12}, then {0 1} {10 11 12} by 0 and 8.5. */
static void few_passes(void **state) {
    (void)state;
    struct projection points = points_of(5, 1, (float[]){0, 1, 10, 11, 12}, NULL);
    struct kmeans kmeans;
    assert_true(kmeans_init(&kmeans, &points, 2, &error));
    for (uint32_t passes = 1; passes <= 2; passes++) {
        float centroids[16] = {[0] = 0, [8] = 1};
        kmeans.max_passes = passes;
        kmeans_run(&kmeans, 2, centroids);
        assert_true(kmeans.passes == passes && !kmeans.converged);
        assert_int_equal(kmeans.labels[1], passes == 1 ? 1 : 0);
        assert_true(centroids[8] == (passes == 1 ? 1 : 8.5f));
        float plain[16] = {[0] = 0, [8] = 1};
        uint32_t labels[5];
        assert_int_equal(lloyd(&points, 2, passes, plain, labels, &error), passes);
        assert_memory_equal(labels, kmeans.labels, sizeof labels);
        assert_memory_equal(plain, centroids, sizeof plain);
    }
    kmeans_free(&kmeans);
    projection_free(&points);
}

/* ---- beginnings ---- */

/* 0 1 5 6 8.5, by Ward: merging 0 1 and 5 6 raises the distortion by 0.5 each, 5.5 (of 2) with 8.5
 * by 2/3 × 9 = 6, 0.5 (of 2) with 5.5 (of 2) by 25, and with all three others by 6/5 × 36. */
static void ward(void **state) {
    (void)state;
    static const float expected[5][5] = {
        {4.1f}, {0.5f, 6.5f}, {0.5f, 5.5f, 8.5f}, {0.5f, 5, 6, 8.5f}, {0, 1, 5, 6, 8.5f}};
    const float values[] = {0, 1, 5, 6, 8.5f};
    struct ward ward;
    assert_true(ward_begin(&ward, 1, &error));
    for (int i = 0; i < 5; i++)
        ward_add(&ward, &values[i], 2);
    assert_true(ward_end(&ward, &error));
    for (uint32_t count = 1; count <= 5; count++) {
        float centroids[5];
        assert_true(ward_centroids(&ward, count, centroids, &error));
        for (uint32_t i = 0; i < count; i++) /* into the first of two, by place */
            assert_true(fabsf(centroids[i] - expected[count - 1][i]) < 1e-6f);
    }
    ward_free(&ward);
    struct projection points = points_of(5, 1, values, NULL);
    assert_true(ward_init(&ward, &points, 1, &error));
    float two[16];
    assert_int_equal(ward.count, 5);
    assert_true(ward_centroids(&ward, 2, two, &error));
    assert_true(fabsf(two[0] + two[8] - 7) < 1e-6f);
    ward_free(&ward);
    projection_free(&points);
}

/* 0, 10, 4, 5: of {0 .. 5} and 10 the slice furthest from any, after 0 it is 10, then 5 (5 away
 * from both), then 4. */
static void furthest(void **state) {
    (void)state;
    struct projection points = points_of(4, 1, (float[]){0, 10, 4, 5}, NULL);
    struct kmeans kmeans;
    assert_true(kmeans_init(&kmeans, &points, 4, &error));
    bool seen = false;
    for (uint64_t seed = 0; seed < 50; seed++) {
        float centroids[40];
        assert_int_equal(kmeans_seed_furthest(&kmeans, seed, 4, centroids), 4);
        if (centroids[0] != 0)
            continue;
        seen = true;
        assert_true(centroids[8] == 10 && centroids[16] == 5 && centroids[24] == 4);
    }
    assert_true(seen);
    kmeans_free(&kmeans);
    projection_free(&points);
}

/* 0 0.1 | 10 10.1 | 20 20.1 with two centroids in the first cloud is where Lloyd stays: {0} {0.1}
 * {10 10.1 20 20.1}. One swap merges the first two and begins a new one at a slice farthest from
 * 15.05. */
static void swapped(void **state) {
    (void)state;
    struct projection points = points_of(6, 1, (float[]){0, 0.1f, 10, 10.1f, 20, 20.1f}, NULL);
    struct kmeans kmeans;
    float centroids[24] = {[0] = 0, [8] = 0.1f, [16] = 15}, scratch[24];
    assert_true(kmeans_init(&kmeans, &points, 3, &error));
    kmeans_run(&kmeans, 3, centroids);
    assert_true(kmeans.converged && kmeans.distortion > 99);
    assert_true(swap_clusters(&kmeans, 3, 1, centroids, scratch, &error));
    assert_true(kmeans.distortion < 0.016 && kmeans.labels[0] == kmeans.labels[1]);
    assert_true(kmeans.labels[2] == kmeans.labels[3] && kmeans.labels[4] == kmeans.labels[5]);
    kmeans_free(&kmeans);
    projection_free(&points);
}

/* ---- BIC ---- */

/* The five points of by_hand(): n = 5, D = 1, variance 2.5 / 5 = 0.5.
 * k = 2: 5 (0.4 ln 0.4 + 0.6 ln 0.6 − (ln(pi) + 1)/2) − (1 + 2 + 1)/2 ln 5
 *      = 5 (−0.673012 − 1.072365) − 3.218876 = −11.945761.
 * k = 1: centroid 6.8, distortion 46.24 + 33.64 + 10.24 + 17.64 + 27.04 = 134.8, variance 26.96:
 *        5 (−(ln(2 pi 26.96) + 1)/2) − (0 + 1 + 1)/2 ln 5
 *      = 5 (−(1.837877 + 3.294354 + 1)/2) − 1.609438 = −16.940016. */
static void bic(void **state) {
    (void)state;
    assert_true(fabs(bic_score(5, 1, 2, 2.5, (double[]){0.4, 0.6}) + 11.945761) < 1e-5);
    assert_true(fabs(bic_score(5, 1, 1, 134.8, (double[]){1}) + 16.940016) < 1e-5);
    /* Slices that are all alike: more clusters cost parameters and gain nothing. */
    double one = bic_score(5, 1, 1, 0, (double[]){1});
    assert_true(isfinite(one) && bic_score(5, 1, 2, 0, (double[]){1, 0}) < one);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),    cmocka_unit_test(weighted), cmocka_unit_test(empty_cluster),
        cmocka_unit_test(seeds),      cmocka_unit_test(bic),      cmocka_unit_test(same_as_plain),
        cmocka_unit_test(few_passes), cmocka_unit_test(ward),     cmocka_unit_test(furthest),
        cmocka_unit_test(swapped),
    };
    return cmocka_run_group_tests_name("region_kmeans", tests, NULL, NULL);
}
