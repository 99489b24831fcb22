/* Frequencies from samples: the paper's example, rules one by one, and made-up procedures whose
 * executions are known. */
#include <math.h>

#include "analyze/frequency.h"
#include "cfg_fixture.h"
#include "random_procedure.h"

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof *(array))

static void near(double value, double expected, double within) {
    if (!(fabs(value - expected) <= within))
        fail_msg("%.6f is not %.6f ± %g", value, expected, within);
}

/* ---- one class ---- */

/* DCPI Fig. 7. Samples are Poisson: of the lowest four, whose mean is 1527, χ² is 7103 / 1527
 * = 4.7, within 3 + 2 √6 = 7.9; with 1636 it is 16564 / 1549 = 10.7, or 10.3 as the model is
 * allowed an error, beyond 4 + 2 √8 = 9.7. */
static void copy_loop_of_the_paper(void **state) {
    (void)state;
    static const double RATIOS[] = {3126, 1636, 1482, 27766, 1493, 174727, 1548, 1586};
    struct issue_point points[8];
    for (uint32_t i = 0; i < 8; i++)
        points[i] = (struct issue_point){.insn = i, .cycles = RATIOS[i], .m = 1, .suspect = true};
    struct frequency_estimate estimate = frequency_of_points(points, 8, 1);
    near(estimate.executions, 1527, 0.5);
    assert_int_equal(estimate.source, ESTIMATE_POINTS);
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < 8; i++) {
        bool expected = points[i].insn == 2 || points[i].insn == 4 || points[i].insn >= 6;
        assert_int_equal(points[i].chosen, expected);
        chosen += points[i].chosen;
    }
    assert_int_equal(chosen, 4);
}

/* The same in cycles, with a sample every 62 000, is 62 000 times as many executions. */
static void period_scales(void **state) {
    (void)state;
    static const double SAMPLES[] = {1482, 1493, 1548, 1586, 1636};
    struct issue_point points[5];
    for (uint32_t i = 0; i < 5; i++)
        points[i] =
            (struct issue_point){.insn = i, .cycles = 62000 * SAMPLES[i], .m = 1, .suspect = true};
    near(frequency_of_points(points, 5, 62000).executions, 62000 * 1527.0, 62000 * 0.5);
    assert_false(points[4].chosen);
}

/* Three suspects agree on 1500, but two innocents on 1000 and 2040 / 2: what all suspects share is
 * a stall. */
static void innocents_decide(void **state) {
    (void)state;
    struct issue_point points[] = {{.insn = 0, .cycles = 1500, .m = 1, .suspect = true},
                                   {.insn = 1, .cycles = 1510, .m = 1, .suspect = true},
                                   {.insn = 2, .cycles = 1490, .m = 1, .suspect = true},
                                   {.insn = 3, .cycles = 1000, .m = 1},
                                   {.insn = 4, .cycles = 2040, .m = 2}};
    struct frequency_estimate estimate = frequency_of_points(points, 5, 1);
    near(estimate.executions, 3040.0 / 3, 1);
    assert_int_equal(estimate.confidence, CONFIDENCE_HIGH);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(points[i].chosen, points[i].insn >= 3);
}

/* Nothing stalls the first two, but whether they issue with the one before depends on the way: they
 * do, always. What is sure of its M decides. */
static void doubtful_innocents_do_not_decide(void **state) {
    (void)state;
    struct issue_point points[] = {{.insn = 0, .cycles = 0, .m = 0.5, .m_error = 0.577},
                                   {.insn = 1, .cycles = 8, .m = 0.5, .m_error = 0.577},
                                   {.insn = 2, .cycles = 1010, .m = 1, .suspect = true},
                                   {.insn = 3, .cycles = 1000, .m = 1, .suspect = true},
                                   {.insn = 4, .cycles = 1990, .m = 2, .suspect = true}};
    struct frequency_estimate estimate = frequency_of_points(points, 5, 1);
    near(estimate.executions, 1000, 5);
}

/* One suspect alone is believed little; four that agree a good deal. */
static void agreement_is_confidence(void **state) {
    (void)state;
    struct issue_point points[4];
    enum confidence confidence[5];
    for (uint32_t count = 1; count <= 4; count++) {
        for (uint32_t i = 0; i < count; i++)
            points[i] =
                (struct issue_point){.insn = i, .cycles = 10000 + i, .m = 1, .suspect = true};
        struct frequency_estimate estimate = frequency_of_points(points, count, 1);
        confidence[count] = estimate.confidence;
        near(estimate.executions, 10000, 5);
    }
    assert_int_equal(confidence[1], CONFIDENCE_LOW);
    assert_int_equal(confidence[2], CONFIDENCE_LOW);
    assert_int_equal(confidence[4], CONFIDENCE_HIGH);
}

/* As many points, as close as can be, but of few samples. */
static void few_samples_are_low_confidence(void **state) {
    (void)state;
    struct issue_point points[4];
    for (uint32_t i = 0; i < 4; i++)
        points[i] = (struct issue_point){.insn = i, .cycles = 10, .m = 1};
    struct frequency_estimate estimate = frequency_of_points(points, 4, 1);
    near(estimate.executions, 10, 0.1);
    assert_int_equal(estimate.confidence, CONFIDENCE_LOW);
    near(estimate.error, sqrt(41) / 40, 0.01);
}

/* 10 samples over an M of 5, none of them innocent: ΣS / ΣM. */
static void few_samples_are_summed(void **state) {
    (void)state;
    struct issue_point points[] = {{.insn = 0, .cycles = 1, .m = 1, .suspect = true},
                                   {.insn = 1, .cycles = 3, .m = 2, .suspect = true},
                                   {.insn = 2, .cycles = 6, .m = 2, .suspect = true}};
    struct frequency_estimate estimate = frequency_of_points(points, 3, 1);
    near(estimate.executions, 2, 1e-9);
    assert_int_equal(estimate.source, ESTIMATE_SUM);
    assert_int_equal(estimate.confidence, CONFIDENCE_LOW);
}

/* One of ten ratios at 100, nine at 1000: its M must be wrong. */
static void a_lonely_low_ratio_is_discarded(void **state) {
    (void)state;
    struct issue_point points[10];
    for (uint32_t i = 0; i < 10; i++)
        points[i] =
            (struct issue_point){.insn = i, .cycles = i == 3 ? 100 : 1000, .m = 1, .suspect = true};
    near(frequency_of_points(points, 10, 1).executions, 1000, 1);
}

/* Two of four at 10, two at 100 000: 10 executions would make these stall for 10 000 cycles each
 * time. A system call may. */
static void absurd_stalls_discard(void **state) {
    (void)state;
    struct issue_point points[4];
    for (int unbounded = 0; unbounded < 2; unbounded++) {
        for (uint32_t i = 0; i < 4; i++)
            points[i] = (struct issue_point){.insn = i,
                                             .cycles = i < 2 ? 20 : 100000,
                                             .m = 1,
                                             .suspect = true,
                                             .unbounded = unbounded};
        near(frequency_of_points(points, 4, 1).executions, unbounded ? 20 : 100000, 1);
    }
}

/* What the code calls innocent cannot be where a timer's interrupt comes late: of a loop's 500
 * samples, each of 1000 cycles, 492 lie at the instruction behind a load. 4000 executions, as the
 * innocents agree, would be 123 cycles each time and are believed; 40, in which it stalls for 12
 * 300 cycles, are not. */
static void absurd_innocents_are_not_believed(void **state) {
    (void)state;
    struct issue_point points[3];
    double scale[2] = {1, 100};
    for (unsigned i = 0; i < 2; i++) {
        points[0] = (struct issue_point){.insn = 0, .cycles = 4000, .m = scale[i]};
        points[1] = (struct issue_point){.insn = 1, .cycles = 492000, .m = 1, .suspect = true};
        points[2] = (struct issue_point){.insn = 2, .cycles = 4000, .m = scale[i]};
        struct frequency_estimate estimate = frequency_of_points(points, 3, 1000);
        if (i == 0)
            near(estimate.executions, 4000, 1);
        else
            near(estimate.executions, 492000, 1);
        assert_true(i == 0 || estimate.confidence == CONFIDENCE_LOW);
    }
}

static void no_points(void **state) {
    (void)state;
    struct frequency_estimate estimate = frequency_of_points(NULL, 0, 1);
    assert_int_equal(estimate.source, ESTIMATE_NONE);
    assert_int_equal(estimate.confidence, CONFIDENCE_NONE);
}

/* ---- a procedure ---- */

/* 492 of 500 samples, of 1000 cycles each, lie at an instruction of M 1, between two of M 100: its
 * ratio of 492 000 is the only one that lets nothing stall absurdly, but so often the three cannot
 * have run in 500 000 cycles: 500 000 / 201 times at most. */
static void not_more_than_all_cycles_allow(void **state) {
    (void)state;
    static const struct cfg_edge EDGES[] = {{CFG_NONE, 0, EDGE_ENTRY}, {0, CFG_NONE, EDGE_RETURN}};
    struct cfg cfg;
    struct equivalence equivalence;
    struct frequency frequency;
    struct error error;
    double m[] = {100, 1, 100}, cycles[] = {4000, 492000, 4000};
    struct schedule schedule = {.cycles = m, .least = m, .most = m};
    cfg_fixture_make(&cfg, 1, (const uint32_t[]){3}, EDGES, COUNT(EDGES));
    assert_true(equivalence_find(&equivalence, &cfg, &error));
    assert_true(
        frequency_estimate(&frequency, &cfg, &equivalence, &schedule, cycles, 1000, NULL, &error));
    near(frequency.blocks[0].executions, 500000.0 / 201, 1);
    assert_int_equal(frequency.blocks[0].source, ESTIMATE_SUM);
    assert_int_equal(frequency.blocks[0].confidence, CONFIDENCE_LOW);
    frequency_free(&frequency);
    equivalence_free(&equivalence);
    cfg_fixture_free(&cfg);
}

/* 2 waits for 0, for one cycle of its two. 1 stalls for a cycle in half of 1000 executions, in
 * which 2 then need not wait: 1500 and 1500 samples. Alone 2 would tell 750 executions, with what
 * lies between it and 0, 3000 / (1 + 2). */
static void waits_are_summed(void **state) {
    (void)state;
    static const struct cfg_edge EDGES[] = {{CFG_NONE, 0, EDGE_ENTRY}, {0, CFG_NONE, EDGE_RETURN}};
    struct cfg cfg;
    struct equivalence equivalence;
    struct frequency frequency;
    struct error error;
    double m[] = {1, 1, 2, 1}, cycles[] = {1000, 1500, 1500, 1000};
    struct static_stall stall = {.insn = 2, .cause = STALL_DEPENDENCE, .culprit = 0, .cycles = 1};
    struct schedule schedule = {
        .cycles = m, .least = m, .most = m, .stalls = &stall, .stall_count = 1};
    cfg_fixture_make(&cfg, 1, (const uint32_t[]){4}, EDGES, COUNT(EDGES));
    assert_true(equivalence_find(&equivalence, &cfg, &error));
    assert_true(
        frequency_estimate(&frequency, &cfg, &equivalence, &schedule, cycles, 1, NULL, &error));
    near(frequency.blocks[0].executions, 1000, 1);
    near(frequency.edges[0].executions, 1000, 1);
    uint32_t class = equivalence.block_class[0];
    uint32_t first = frequency.point_first[class];
    assert_int_equal(frequency.point_first[class + 1] - first, 4);
    for (uint32_t i = first; i < first + 4; i++) {
        const struct issue_point *point = &frequency.points[i];
        near(point->cycles, point->insn == 2 ? 3000 : cycles[point->insn], 0);
        near(point->m, point->insn == 2 ? 3 : 1, 0);
        near(point->m_error, 0, 0);
    }
    frequency_free(&frequency);
    equivalence_free(&equivalence);
    cfg_fixture_free(&cfg);
}

/* 1 waits for something before the block, for 2 of its 3 cycles, which a stall there may hide: with
 * 0 its M of 4 may be from 2 on: (4 − 2) / √12 / 4. */
static void waits_from_outside_are_in_doubt(void **state) {
    (void)state;
    static const struct cfg_edge EDGES[] = {{CFG_NONE, 0, EDGE_ENTRY}, {0, CFG_NONE, EDGE_RETURN}};
    struct cfg cfg;
    struct equivalence equivalence;
    struct frequency frequency;
    struct error error;
    double m[] = {1, 3}, cycles[] = {100, 200};
    struct static_stall stall = {
        .insn = 1, .cause = STALL_DEPENDENCE, .culprit = CFG_NONE, .cycles = 2};
    struct schedule schedule = {
        .cycles = m, .least = m, .most = m, .stalls = &stall, .stall_count = 1};
    cfg_fixture_make(&cfg, 1, (const uint32_t[]){2}, EDGES, COUNT(EDGES));
    assert_true(equivalence_find(&equivalence, &cfg, &error));
    assert_true(
        frequency_estimate(&frequency, &cfg, &equivalence, &schedule, cycles, 1, NULL, &error));
    for (uint32_t i = 0; i < 2; i++)
        if (frequency.points[i].insn == 1) {
            near(frequency.points[i].cycles, 300, 0);
            near(frequency.points[i].m, 4, 0);
            near(frequency.points[i].m_error, 0.5 / sqrt(12), 1e-9);
        }
    frequency_free(&frequency);
    equivalence_free(&equivalence);
    cfg_fixture_free(&cfg);
}

/* ---- made-up procedures ---- */

/* Samples. */
struct score {
    double all;
    double off, off_low;   /* by more than 15 %; of these of low confidence, or of none */
    double high, high_off; /* of high confidence */
};

static void score_procedure(struct score *score, struct random_procedure *made, bool know) {
    struct equivalence equivalence;
    struct frequency frequency;
    struct error error;
    assert_true(equivalence_find(&equivalence, &made->cfg, &error));
    assert_true(frequency_estimate(&frequency, &made->cfg, &equivalence, &made->schedule,
                                   made->cycles, made->period, know ? made->suspect : NULL,
                                   &error));
    for (uint32_t i = 0; i < made->cfg.insn_count; i++) {
        uint32_t block = made->cfg.insns[i].block;
        const struct frequency_estimate *estimate = &frequency.blocks[block];
        double samples = made->cycles[i] / made->period;
        bool off = fabs(estimate->executions - made->blocks[block]) > 0.15 * made->blocks[block];
        bool high = estimate->confidence == CONFIDENCE_HIGH;
        assert_true(estimate->executions >= 0 && isfinite(estimate->executions));
        score->all += samples;
        score->off += off ? samples : 0;
        score->off_low += off && estimate->confidence <= CONFIDENCE_LOW ? samples : 0;
        score->high += high ? samples : 0;
        score->high_off += high && off ? samples : 0;
    }
    for (uint32_t e = 0; e < made->cfg.edge_count; e++)
        assert_true(frequency.edges[e].executions >= 0);
    frequency_free(&frequency);
    equivalence_free(&equivalence);
}

static struct score score_of(double samples, bool know) {
    struct score score = {0};
    uint64_t random = 1;
    for (int round = 0; round < 400; round++) {
        struct random_procedure made;
        random_procedure_make(&made, &random, samples);
        score_procedure(&score, &made, know);
        random_procedure_free(&made);
    }
    print_message("%.0f samples%s: %.1f %% within 15 %%; of those off %.1f %% low; %.1f %% high\n",
                  samples, know ? "" : ", all suspect", 100 - 100 * score.off / score.all,
                  100 * score.off_low / score.off, 100 * score.high / score.all);
    return score;
}

/* The more samples the nearer; what is off by more than 15 % is nearly all of low confidence, and
 * what is of high confidence nearly never off. More is of high confidence if it is known what
 * cannot stall. */
static void made_up_procedures(void **state) {
    (void)state;
    struct score few = score_of(1000, true), many = score_of(100000, true);
    struct score blind = score_of(100000, false);
    assert_true(few.off < 0.4 * few.all);
    assert_true(many.off < 0.15 * many.all);
    assert_true(few.off_low > 0.9 * few.off);
    assert_true(many.off_low > 0.9 * many.off);
    assert_true(blind.off_low > 0.9 * blind.off);
    assert_true(many.high_off < 0.02 * many.high);
    assert_true(many.high > 1.2 * blind.high);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copy_loop_of_the_paper),
        cmocka_unit_test(period_scales),
        cmocka_unit_test(innocents_decide),
        cmocka_unit_test(doubtful_innocents_do_not_decide),
        cmocka_unit_test(agreement_is_confidence),
        cmocka_unit_test(few_samples_are_low_confidence),
        cmocka_unit_test(few_samples_are_summed),
        cmocka_unit_test(a_lonely_low_ratio_is_discarded),
        cmocka_unit_test(absurd_stalls_discard),
        cmocka_unit_test(absurd_innocents_are_not_believed),
        cmocka_unit_test(no_points),
        cmocka_unit_test(not_more_than_all_cycles_allow),
        cmocka_unit_test(waits_are_summed),
        cmocka_unit_test(waits_from_outside_are_in_doubt),
        cmocka_unit_test(made_up_procedures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
