/* What follows from the flow, worked by hand. */
#include <math.h>
#include <time.h>

#include "analyze/flow.h"
#include "analyze/frequency.h"
#include "cfg_fixture.h"

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof *(array))
#define OUT          CFG_NONE

static void near(double value, double expected, double within) {
    if (!(fabs(value - expected) <= within))
        fail_msg("%.12f is not %.12f ± %g", value, expected, within);
}

struct made {
    struct cfg cfg;
    struct equivalence equivalence;
    struct flow_value *values;
};

static void make(struct made *made, uint32_t blocks, const struct cfg_edge *edges, uint32_t count,
                 uint32_t flags) {
    struct error error;
    cfg_fixture_make(&made->cfg, blocks, NULL, edges, count);
    made->cfg.flags = flags;
    assert_true(equivalence_find(&made->equivalence, &made->cfg, &error));
    made->values = calloc(made->equivalence.class_count, sizeof *made->values);
    assert_non_null(made->values);
}

static void unmake(struct made *made) {
    free(made->values);
    equivalence_free(&made->equivalence);
    cfg_fixture_free(&made->cfg);
}

static struct flow_value *block(const struct made *made, uint32_t b) {
    return &made->values[made->equivalence.block_class[b]];
}
static struct flow_value *edge(const struct made *made, uint32_t from, uint32_t to) {
    return &made->values[made->equivalence.edge_class[cfg_fixture_edge(&made->cfg, from, to)]];
}

static void propagate(const struct made *made) {
    struct error error;
    assert_true(flow_propagate(&made->cfg, &made->equivalence, made->values, &error));
}

static const struct cfg_edge DIAMOND[] = {{OUT, 0, EDGE_ENTRY}, {0, 1, EDGE_FALL},
                                          {0, 2, EDGE_TAKEN},   {1, 3, EDGE_TAKEN},
                                          {2, 3, EDGE_FALL},    {3, OUT, EDGE_RETURN}};

/* 100 ± 3 enter, 60 ± 4 go through 1: 40 ± 5 through 2. */
static void difference(void **state) {
    (void)state;
    struct made made;
    make(&made, 4, DIAMOND, COUNT(DIAMOND), 0);
    *block(&made, 0) = (struct flow_value){100, 9, FLOW_OWN};
    *block(&made, 1) = (struct flow_value){60, 16, FLOW_OWN};
    propagate(&made);
    near(block(&made, 2)->executions, 40, 0);
    near(block(&made, 2)->variance, 25, 0);
    assert_int_equal(block(&made, 2)->origin, FLOW_FOLLOWS);
    assert_int_equal(block(&made, 0)->origin, FLOW_OWN);
    near(edge(&made, 2, 3)->executions, 40, 0);
    unmake(&made);
}

/* 60 ± 3 enter, 100 ± 4 go through 1: none through 2, never −40. All of what is left goes through
 * 1, at 9/25 of the way from 60 to 100. */
static void never_negative(void **state) {
    (void)state;
    struct made made;
    make(&made, 4, DIAMOND, COUNT(DIAMOND), 0);
    *block(&made, 0) = (struct flow_value){60, 9, FLOW_OWN};
    *block(&made, 1) = (struct flow_value){100, 16, FLOW_OWN};
    propagate(&made);
    near(block(&made, 2)->executions, 0, 0);
    near(block(&made, 0)->executions, 74.4, 1e-6);
    near(block(&made, 1)->executions, 74.4, 1e-6);
    near(block(&made, 1)->variance, 16 + 25.6 * 25.6, 1e-4);
    unmake(&made);
}

/* 100 ± 3 and 60 ± 4 are surer than the 90 ± 50 of 2. These weigh 25 / (25 + 2500) = 1/101 beside
 * the 40 ± 5 that follow: 40 + 50/101, of variance 2500 × 25 / 2525. The 50/101 that then leave
 * beyond what enters are smoothed by variances of 9, 16 and that. */
static void sure_neighbours_repair(void **state) {
    (void)state;
    struct made made;
    make(&made, 4, DIAMOND, COUNT(DIAMOND), 0);
    *block(&made, 0) = (struct flow_value){100, 9, FLOW_OWN};
    *block(&made, 1) = (struct flow_value){60, 16, FLOW_OWN};
    *block(&made, 2) = (struct flow_value){90, 2500, FLOW_OWN};
    propagate(&made);
    double variance = 2500.0 / 101, excess = 50.0 / 101;
    double moved = excess * variance / (9 + 16 + variance);
    near(block(&made, 2)->executions, 40 + excess - moved, 1e-9);
    near(block(&made, 2)->variance, variance + moved * moved, 1e-9);
    assert_int_equal(block(&made, 2)->origin, FLOW_BOTH);
    near(block(&made, 0)->executions - block(&made, 1)->executions, block(&made, 2)->executions,
         1e-9);
    unmake(&made);
}

/* Of 1 → 2 → 1 with entries to 1 and an exit from 2, where 2 → 2 as well: from 0: 10, 1: 50, 2: 200
 * follow 2 → 1: 50 − 10 = 40, 2 → 2: 200 − 50 = 150, and 2 → 3: 200 − 150 − 40 = 10. */
static void loops(void **state) {
    (void)state;
    static const struct cfg_edge EDGES[] = {
        {OUT, 0, EDGE_ENTRY}, {0, 1, EDGE_FALL}, {1, 2, EDGE_FALL},    {2, 2, EDGE_TAKEN},
        {2, 1, EDGE_TAKEN},   {2, 3, EDGE_FALL}, {3, OUT, EDGE_RETURN}};
    struct made made;
    make(&made, 4, EDGES, COUNT(EDGES), 0);
    *block(&made, 1) = (struct flow_value){50, 1, FLOW_OWN};
    *block(&made, 2) = (struct flow_value){200, 1, FLOW_OWN};
    *block(&made, 3) = (struct flow_value){10, 1, FLOW_OWN};
    propagate(&made);
    near(edge(&made, 2, 1)->executions, 40, 0);
    near(edge(&made, 2, 2)->executions, 150, 0);
    near(edge(&made, 0, 1)->executions, 10, 0);
    unmake(&made);
}

/* Two branches to the same two places: any of the four edges may be 0. The first is given half of
 * the 50 of block 1, which follow from blocks 0 and 2 as well (100 − 50) and so have a variance of
 * 1 × 2 / (1 + 2): a quarter of that, and 50² / 12, the variance of a share between 0 and 50. */
static void what_does_not_follow_is_shared(void **state) {
    (void)state;
    static const struct cfg_edge EDGES[] = {
        {OUT, 0, EDGE_ENTRY}, {0, 1, EDGE_FALL},     {0, 2, EDGE_TAKEN},
        {1, 3, EDGE_FALL},    {1, 4, EDGE_TAKEN},    {2, 3, EDGE_FALL},
        {2, 4, EDGE_TAKEN},   {3, OUT, EDGE_RETURN}, {4, OUT, EDGE_RETURN}};
    struct made made;
    make(&made, 5, EDGES, COUNT(EDGES), 0);
    for (uint32_t b = 0; b < 5; b++)
        *block(&made, b) = (struct flow_value){b ? 50 : 100, 1, FLOW_OWN};
    propagate(&made);
    assert_int_equal(edge(&made, 1, 3)->origin, FLOW_SHARED);
    near(edge(&made, 1, 3)->executions, 25, 1e-9);
    near(edge(&made, 1, 3)->variance, (2500.0 + 2) / 12, 1e-9);
    assert_int_equal(edge(&made, 2, 4)->origin, FLOW_FOLLOWS);
    assert_true(edge(&made, 2, 4)->variance >= 2500.0 / 12);
    near(edge(&made, 0, 2)->executions, 50, 0);
    unmake(&made);
}

/* A loop that is seldom called, and is passed by then or not: 0 leads to 1 or past it to 2. Of the
 * 2 calls, half may come to it, so of the 1000 rounds 999 ± 2 or less come from itself. */
static void small_rests_do_not_matter(void **state) {
    (void)state;
    static const struct cfg_edge EDGES[] = {{OUT, 0, EDGE_ENTRY}, {0, 1, EDGE_FALL},
                                            {0, 2, EDGE_TAKEN},   {1, 1, EDGE_TAKEN},
                                            {1, 2, EDGE_FALL},    {2, OUT, EDGE_RETURN}};
    struct made made;
    make(&made, 3, EDGES, COUNT(EDGES), 0);
    *block(&made, 0) = (struct flow_value){2, 1, FLOW_OWN};
    *block(&made, 1) = (struct flow_value){1000, 1, FLOW_OWN};
    propagate(&made);
    assert_int_equal(edge(&made, 0, 1)->origin, FLOW_SHARED);
    near(edge(&made, 1, 1)->executions, 999, 1e-9);
    near(edge(&made, 1, 1)->variance, 1 + 4.0 / 12 + 0.25, 1e-9);
    unmake(&made);
}

/* With missing edges what leaves a block follows, what enters it does not: 3 may be entered by a
 * jump that is not known. */
static void missing_edges_open_heads(void **state) {
    (void)state;
    struct made made;
    make(&made, 4, DIAMOND, COUNT(DIAMOND), CFG_MISSING_EDGES);
    *block(&made, 1) = (struct flow_value){60, 1, FLOW_OWN};
    *block(&made, 3) = (struct flow_value){100, 1, FLOW_OWN};
    propagate(&made);
    near(edge(&made, 1, 3)->executions, 60, 0);
    near(edge(&made, 3, OUT)->executions, 100, 0);
    assert_int_equal(edge(&made, 2, 3)->origin, FLOW_UNKNOWN);
    assert_int_equal(block(&made, 2)->origin, FLOW_UNKNOWN);
    unmake(&made);
}

/* 5 calls, 100 rounds for ever: 105 enter the head, of which 5 leave by the outer edge. */
static void endless_loop(void **state) {
    (void)state;
    static const struct cfg_edge EDGES[] = {
        {OUT, 0, EDGE_ENTRY}, {0, 1, EDGE_FALL}, {1, 2, EDGE_FALL}, {2, 1, EDGE_TAKEN}};
    struct made made;
    make(&made, 3, EDGES, COUNT(EDGES), CFG_ENDLESS);
    *block(&made, 0) = (struct flow_value){5, 1, FLOW_OWN};
    *block(&made, 2) = (struct flow_value){100, 1, FLOW_OWN};
    propagate(&made);
    near(edge(&made, 2, 1)->executions, 100, 0);
    near(edge(&made, 0, 1)->executions, 5, 0);
    near(block(&made, 1)->executions, 100, 0);
    unmake(&made);
}

/* Counts: 0 is executed 100 times, 1 60 times, 2 40 times. */
static void exact_counts(void **state) {
    (void)state;
    struct cfg cfg;
    struct frequency frequency;
    struct error error;
    const uint32_t sizes[] = {2, 1, 1, 1};
    cfg_fixture_make(&cfg, 4, sizes, DIAMOND, COUNT(DIAMOND));
    const double executions[] = {100, 100, 60, 40, 100};
    assert_true(frequency_exact(&frequency, &cfg, executions, &error));
    near(frequency.blocks[1].executions, 60, 0);
    near(frequency.blocks[3].executions, 100, 0);
    assert_int_equal(frequency.blocks[3].source, ESTIMATE_EXACT);
    assert_int_equal(frequency.blocks[3].confidence, CONFIDENCE_HIGH);
    const struct {
        uint32_t from, to;
        double executions;
    } EXPECTED[] = {{OUT, 0, 100}, {0, 1, 60}, {0, 2, 40}, {1, 3, 60}, {2, 3, 40}, {3, OUT, 100}};
    for (uint32_t i = 0; i < COUNT(EXPECTED); i++) {
        uint32_t e = cfg_fixture_edge(&cfg, EXPECTED[i].from, EXPECTED[i].to);
        near(frequency.edges[e].executions, EXPECTED[i].executions, 0);
        assert_int_equal(frequency.edges[e].source, ESTIMATE_FLOW);
    }
    frequency_free(&frequency);
    cfg_fixture_free(&cfg);
}

/* A chain of 33 000 diamonds, in which the joints and every other left side are known. */
static void large_graph(void **state) {
    (void)state;
    enum { DIAMONDS = 33000 };
    struct cfg_edge *edges = malloc((5 * DIAMONDS + 2) * sizeof *edges);
    assert_non_null(edges);
    uint32_t count = 0;
    edges[count++] = (struct cfg_edge){OUT, 0, EDGE_ENTRY};
    for (uint32_t b = 0; b < 3 * DIAMONDS; b += 3) {
        edges[count++] = (struct cfg_edge){b, b + 1, EDGE_FALL};
        edges[count++] = (struct cfg_edge){b, b + 2, EDGE_TAKEN};
        edges[count++] = (struct cfg_edge){b + 1, b + 3, EDGE_TAKEN};
        edges[count++] = (struct cfg_edge){b + 2, b + 3, EDGE_FALL};
    }
    edges[count++] = (struct cfg_edge){3 * DIAMONDS, OUT, EDGE_RETURN};
    struct made made;
    make(&made, 3 * DIAMONDS + 1, edges, count, 0);
    *block(&made, 0) = (struct flow_value){100, 1, FLOW_OWN};
    for (uint32_t b = 0; b < 3 * DIAMONDS; b += 6)
        *block(&made, b + 1) = (struct flow_value){b % 100, 1, FLOW_OWN};
    clock_t begin = clock();
    propagate(&made);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    print_message("100 000 blocks, %u edges: %.0f ms\n", count, 1e3 * seconds);
    near(edge(&made, 12, 14)->executions, 88, 0);
    near(edge(&made, 15, 17)->executions, 50, 0);
    assert_true(seconds < 20);
    unmake(&made);
    free(edges);
}

/* Exact counts of blocks do not tell those edges either, and what is shared out is not exact. */
static void exact_counts_leave_open(void **state) {
    (void)state;
    static const struct cfg_edge EDGES[] = {
        {OUT, 0, EDGE_ENTRY}, {0, 1, EDGE_FALL},     {0, 2, EDGE_TAKEN},
        {1, 3, EDGE_FALL},    {1, 4, EDGE_TAKEN},    {2, 3, EDGE_FALL},
        {2, 4, EDGE_TAKEN},   {3, OUT, EDGE_RETURN}, {4, OUT, EDGE_RETURN}};
    struct cfg cfg;
    struct frequency frequency;
    struct error error;
    cfg_fixture_make(&cfg, 5, NULL, EDGES, COUNT(EDGES));
    assert_true(frequency_exact(&frequency, &cfg, (const double[]){100, 50, 50, 50, 50}, &error));
    assert_int_equal(frequency.edges[cfg_fixture_edge(&cfg, 1, 3)].source, ESTIMATE_NONE);
    assert_int_equal(frequency.edges[cfg_fixture_edge(&cfg, 2, 4)].source, ESTIMATE_NONE);
    near(frequency.edges[cfg_fixture_edge(&cfg, 0, 1)].executions, 50, 0);
    frequency_free(&frequency);
    assert_true(frequency_exact(&frequency, &cfg, (const double[]){100, 100, 0, 40, 60}, &error));
    near(frequency.edges[cfg_fixture_edge(&cfg, 1, 3)].executions, 40, 0);
    near(frequency.edges[cfg_fixture_edge(&cfg, 1, 4)].executions, 60, 0);
    assert_int_equal(frequency.edges[cfg_fixture_edge(&cfg, 2, 4)].source, ESTIMATE_FLOW);
    frequency_free(&frequency);
    cfg_fixture_free(&cfg);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(difference),
        cmocka_unit_test(never_negative),
        cmocka_unit_test(sure_neighbours_repair),
        cmocka_unit_test(loops),
        cmocka_unit_test(what_does_not_follow_is_shared),
        cmocka_unit_test(small_rests_do_not_matter),
        cmocka_unit_test(missing_edges_open_heads),
        cmocka_unit_test(endless_loop),
        cmocka_unit_test(exact_counts),
        cmocka_unit_test(exact_counts_leave_open),
        cmocka_unit_test(large_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
