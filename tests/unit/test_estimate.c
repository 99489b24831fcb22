/* Intervals of what regions tell, worked by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "simulate/estimate.h"
#include "simulate/paired.h"
#include "util/student.h"

static struct region_sample sample(uint32_t cluster, uint64_t stands_for, uint64_t cycles) {
    return (struct region_sample){.cluster = cluster,
                                  .instructions = 100,
                                  .stands_for = stands_for,
                                  .cycles = cycles,
                                  .states = {cycles / 2, cycles - cycles / 2}};
}

static double interval(const struct region_sample *samples, size_t count) {
    return estimate_interval(samples, count, region_cycles, NULL);
}

static void assert_near(double found, double expected) {
    assert_true(fabs(found - expected) < 1e-6 * fabs(expected) + 1e-9);
}

/* CPI 1, 2, 4 of regions of 100 that stand for 1000 each: s² = (1 + 4) / (2 · 2) = 1.25; Var =
 * 1.25 · 3 · 1000 · 900 = 3.375e6; 2 · 4 / 5 = 1.6 degrees of freedom; and 0.3 % of 7000 cycles. */
static void one_cluster(void **state) {
    (void)state;
    const struct region_sample samples[] = {sample(0, 1000, 100), sample(0, 1000, 200),
                                            sample(0, 1000, 400)};
    assert_near(interval(samples, 3), student_t95(1.6) * sqrt(3.375e6) + 21);
}

/* Cluster 0: CPI 1 and 2, s² = 0.5, Var = 0.5 · 2 · 900000 = 9e5. Cluster 7: CPI 3 and 3.2, s² =
 * 0.02, standing for 2000 each: 0.02 · 2 · 2000 · 1900 = 1.52e5. Satterthwaite: (1.052e6)² /
 * (9e5² + 1.52e5²) = 1.3284 degrees of freedom. Regions of clusters may come in turn. */
static void two_clusters(void **state) {
    (void)state;
    const struct region_sample samples[] = {sample(0, 1000, 100), sample(7, 2000, 300),
                                            sample(0, 1000, 200), sample(7, 2000, 320)};
    const double degrees = 1.052e6 * 1.052e6 / (9e5 * 9e5 + 1.52e5 * 1.52e5);
    assert_near(interval(samples, 4), student_t95(degrees) * sqrt(1.052e6) + 0.003 * 15400);
}

/* A lone region differs as the others do in proportion to their CPI of 1.5: s² / CPI² = 0.5 / 2.25,
 * of one degree of freedom; its own CPI is 3: s² = 2, Var = 2 · 500 · 400 = 4e5. */
static void lone_region(void **state) {
    (void)state;
    const struct region_sample samples[] = {sample(0, 1000, 100), sample(0, 1000, 200),
                                            sample(1, 500, 300)};
    const double degrees = 1.3e6 * 1.3e6 / (9e5 * 9e5 + 4e5 * 4e5);
    assert_near(interval(samples, 3), student_t95(degrees) * sqrt(1.3e6) + 0.003 * 4500);
}

/* Regions of 100 instructions that stand for 1000, of one cluster, CPI 1, 2 and 4. The second build
 * takes 10, 10 and 40 cycles more and 0, 0 and 20 instructions more: its CPI is (110 + 210 + 440) /
 * 320 = 2.375, and it takes 7600 / 7000 of the cycles. What is left of the pairs: 110 - 237.5 -
 * 108.571 = -236.071, 210 - 237.5 - 217.143 = -244.643, and 440 - 285 - 434.286 = -279.286, so per
 * instruction they differ by 0.0857143 and 0.3464286: s² = (0.0857143² + 0.3464286²) / 4; Var = s²
 * · 3 · 1000 · 900; 1.6 degrees of freedom. Of what regions have in common 0.3 % of the
 * difference is left open. It has
 * 3200 instructions for the first build's 3000. */
static void pairs(void **state) {
    (void)state;
    struct region_sample before[] = {sample(0, 1000, 100), sample(0, 1000, 200),
                                     sample(0, 1000, 400)};
    struct region_sample after[] = {sample(0, 1000, 110), sample(0, 1000, 210),
                                    sample(0, 1200, 440)};
    after[2].instructions = 120;
    const struct simulation old = {.cycles = 7000,
                                   .regions = {.count = 3, .simulated = 3, .samples = before}};
    struct simulation new = {.cycles = 7600,
                             .regions = {.count = 3, .simulated = 3, .samples = after}};
    struct paired_difference difference;
    assert_true(paired_difference_of(&old, &new, &difference));
    assert_near(difference.share, 600.0 / 7000);
    const double squares = (0.6 / 7 * 0.6 / 7 + 2.425 / 7 * 2.425 / 7) / 4;
    assert_near(difference.half,
                student_t95(1.6) * sqrt(squares * 2.7e6) / 7000 + 0.003 * 600 / 7000);
    assert_near(difference.instructions, 3200);
    new.regions.simulated = 2;
    assert_false(paired_difference_of(&old, &new, &difference));
}

/* All of them are the same work: nothing is left open. */
static void equal_pairs(void **state) {
    (void)state;
    struct region_sample samples[] = {sample(0, 1000, 100), sample(0, 1000, 100),
                                      sample(1, 900, 300), sample(1, 900, 300)};
    const struct simulation run = {.cycles = 7400,
                                   .regions = {.count = 4, .simulated = 4, .samples = samples}};
    struct paired_difference difference;
    assert_true(paired_difference_of(&run, &run, &difference));
    assert_true(difference.share == 0 && difference.half == 0);
}

static void nothing_to_tell(void **state) {
    (void)state;
    /* Each stands for itself alone: no error. */
    const struct region_sample all[] = {sample(0, 100, 100), sample(0, 100, 200)};
    assert_true(interval(all, 2) == 0);
    assert_true(interval(all, 0) == 0);
    /* No two of a cluster: not known. */
    const struct region_sample lone[] = {sample(0, 1000, 100), sample(1, 1000, 200)};
    assert_true(interval(lone, 2) == -1);
    /* Alike: no difference seen, and what they share is left. */
    const struct region_sample alike[] = {sample(0, 1000, 100), sample(0, 1000, 100)};
    assert_near(interval(alike, 2), 6);
}

static double first_state(const struct region_sample *region, const void *scale) {
    return *(const double *)scale * (double)region->states[0];
}

/* Any figure that adds up: half the cycles, doubled, has the interval of the cycles. */
static void other_figures(void **state) {
    (void)state;
    const double two = 2;
    const struct region_sample samples[] = {sample(0, 1000, 100), sample(0, 1000, 200),
                                            sample(1, 500, 300)};
    assert_near(estimate_interval(samples, 3, first_state, &two), interval(samples, 3));
}

/* What all regions share may be of any component: 1 % of the cycles, alike in both regions, has 0.3
 * % of all cycles to both sides. */
static void small_figure(void **state) {
    (void)state;
    const double part = 0.02;
    const struct region_sample alike[] = {sample(0, 1000, 100), sample(0, 1000, 100)};
    assert_near(estimate_interval(alike, 2, first_state, &part), 6);
}

/* Of a normal population 19 of 20 intervals hold the truth: 2000 draws of 5 strata with 2 to 6
 * regions each, whose means and spreads differ. */
static uint64_t seed = 1;
static double uniform(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) * 0x1p-53;
}
static double normal(void) {
    return sqrt(-2 * log(1 - uniform())) * cos(2 * acos(-1) * uniform());
}

static void holds_the_truth(void **state) {
    (void)state;
    enum { DRAWS = 2000 };
    unsigned held = 0;
    for (unsigned draw = 0; draw < DRAWS; draw++) {
        struct region_sample samples[32];
        size_t count = 0;
        double truth = 0, found = 0;
        for (uint32_t cluster = 0; cluster < 5; cluster++)
            for (uint32_t i = 0; i < 2 + cluster; i++) {
                double mean = 10000 * (1 + cluster), cycles = mean * (1 + 0.1 * normal());
                samples[count++] = sample(cluster, 1000000, (uint64_t)cycles);
                truth += mean * 10000;
                found += cycles * 10000;
            }
        held += fabs(found - truth) <= interval(samples, count);
    }
    assert_in_range(held, DRAWS * 93 / 100, DRAWS * 98 / 100); /* 0.3 % is little beside these */
}

/* From tables: t of 95 %, two-sided. */
static void students_t(void **state) {
    (void)state;
    assert_true(fabs(student_t95(1) - 12.706) < 0.001);
    assert_true(fabs(student_t95(2) - 4.303) < 0.001);
    assert_true(fabs(student_t95(3) - 3.182) < 0.032);
    assert_true(fabs(student_t95(10) - 2.228) < 0.002);
    assert_true(fabs(student_t95(1e9) - 1.96) < 0.001);
    for (int hundredths = 50; hundredths < 2000; hundredths++)
        assert_true(student_t95(hundredths / 100.0) >= student_t95((hundredths + 1) / 100.0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_cluster),     cmocka_unit_test(two_clusters),
        cmocka_unit_test(lone_region),     cmocka_unit_test(pairs),
        cmocka_unit_test(equal_pairs),     cmocka_unit_test(nothing_to_tell),
        cmocka_unit_test(other_figures),   cmocka_unit_test(small_figure),
        cmocka_unit_test(holds_the_truth), cmocka_unit_test(students_t),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
