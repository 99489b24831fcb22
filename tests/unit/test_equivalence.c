/* Classes of blocks and edges: worked by hand, and against the definition on random graphs. */
#include <math.h>
#include <time.h>

#include "analyze/components.h"
#include "analyze/equivalence.h"
#include "analyze/network.h"
#include "cfg_fixture.h"
#include "util/random.h"

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof *(array))
#define OUT          CFG_NONE

struct made {
    struct cfg cfg;
    struct equivalence equivalence;
};

static void make(struct made *made, uint32_t blocks, const struct cfg_edge *edges, uint32_t count,
                 uint32_t flags) {
    struct error error;
    cfg_fixture_make(&made->cfg, blocks, NULL, edges, count);
    made->cfg.flags = flags;
    assert_true(equivalence_find(&made->equivalence, &made->cfg, &error));
}

static void unmake(struct made *made) {
    equivalence_free(&made->equivalence);
    cfg_fixture_free(&made->cfg);
}

static uint32_t block(const struct made *made, uint32_t b) {
    return made->equivalence.block_class[b];
}
static uint32_t edge(const struct made *made, uint32_t from, uint32_t to) {
    return made->equivalence.edge_class[cfg_fixture_edge(&made->cfg, from, to)];
}

/* 0 → 1 or 2 → 3. */
static void diamond(void **state) {
    (void)state;
    static const struct cfg_edge EDGES[] = {{OUT, 0, EDGE_ENTRY}, {0, 1, EDGE_FALL},
                                            {0, 2, EDGE_TAKEN},   {1, 3, EDGE_TAKEN},
                                            {2, 3, EDGE_FALL},    {3, OUT, EDGE_RETURN}};
    struct made made;
    make(&made, 4, EDGES, COUNT(EDGES), 0);
    assert_int_equal(made.equivalence.class_count, 3);
    assert_int_equal(block(&made, 0), block(&made, 3));
    assert_int_equal(block(&made, 0), edge(&made, OUT, 0));
    assert_int_equal(block(&made, 0), edge(&made, 3, OUT));
    assert_int_equal(block(&made, 1), edge(&made, 0, 1));
    assert_int_equal(block(&made, 1), edge(&made, 1, 3));
    assert_int_equal(block(&made, 2), edge(&made, 0, 2));
    assert_int_equal(block(&made, 2), edge(&made, 2, 3));
    assert_int_not_equal(block(&made, 1), block(&made, 2));
    assert_int_not_equal(block(&made, 1), block(&made, 0));
    unmake(&made);
}

/* 0, a loop 1 → 2 → 1 that 2 leaves to 3, in which 2 → 2 is a loop of its own. Once per call: 0, 3
 * and what leads to and from them; once per round of the outer: 1 and 1 → 2 and, but for the last,
 * 2 → 1; of the inner: 2 alone. */
static void nested_loops(void **state) {
    (void)state;
    static const struct cfg_edge EDGES[] = {
        {OUT, 0, EDGE_ENTRY}, {0, 1, EDGE_FALL}, {1, 2, EDGE_FALL},    {2, 2, EDGE_TAKEN},
        {2, 1, EDGE_TAKEN},   {2, 3, EDGE_FALL}, {3, OUT, EDGE_RETURN}};
    struct made made;
    make(&made, 4, EDGES, COUNT(EDGES), 0);
    assert_int_equal(made.equivalence.class_count, 5);
    assert_int_equal(block(&made, 0), block(&made, 3));
    assert_int_equal(edge(&made, 0, 1), edge(&made, 2, 3));
    assert_int_equal(edge(&made, 0, 1), block(&made, 0));
    assert_int_equal(block(&made, 1), edge(&made, 1, 2));
    const uint32_t different[] = {block(&made, 0), block(&made, 1), edge(&made, 2, 1),
                                  block(&made, 2), edge(&made, 2, 2)};
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < i; k++)
            assert_int_not_equal(different[i], different[k]);
    unmake(&made);
}

/* A switch of three cases, one of which falls into the next. */
static void cases(void **state) {
    (void)state;
    static const struct cfg_edge EDGES[] = {
        {OUT, 0, EDGE_ENTRY}, {0, 1, EDGE_TABLE}, {0, 2, EDGE_TABLE}, {0, 3, EDGE_TABLE},
        {1, 4, EDGE_TAKEN},   {2, 3, EDGE_FALL},  {3, 4, EDGE_FALL},  {4, OUT, EDGE_RETURN}};
    struct made made;
    make(&made, 5, EDGES, COUNT(EDGES), 0);
    assert_int_equal(made.equivalence.class_count, 5);
    assert_int_equal(block(&made, 0), block(&made, 4));
    assert_int_equal(block(&made, 1), edge(&made, 1, 4));
    assert_int_equal(block(&made, 2), edge(&made, 2, 3));
    assert_int_equal(block(&made, 3), edge(&made, 3, 4));
    assert_int_not_equal(block(&made, 3), edge(&made, 0, 3));
    unmake(&made);
}

/* A loop of two entries: 0 goes to 1 or 2, 1 → 2 → 1, and 2 leaves to 3. Each round passes 1 and 2;
 * 2 once more where it was entered first. */
static void irreducible_loop(void **state) {
    (void)state;
    static const struct cfg_edge EDGES[] = {
        {OUT, 0, EDGE_ENTRY}, {0, 1, EDGE_FALL}, {0, 2, EDGE_TAKEN},   {1, 2, EDGE_FALL},
        {2, 1, EDGE_TAKEN},   {2, 3, EDGE_FALL}, {3, OUT, EDGE_RETURN}};
    struct made made;
    make(&made, 4, EDGES, COUNT(EDGES), 0);
    assert_int_equal(block(&made, 1), edge(&made, 1, 2));
    assert_int_equal(block(&made, 0), block(&made, 3));
    assert_int_not_equal(block(&made, 1), block(&made, 2));
    assert_int_not_equal(block(&made, 2), edge(&made, 2, 1));
    unmake(&made);
}

/* 0 → 1 → 2 → 1 for ever: left at the head of 1, each round is a class of three edges and blocks
 * more. */
static void endless_loop(void **state) {
    (void)state;
    static const struct cfg_edge EDGES[] = {
        {OUT, 0, EDGE_ENTRY}, {0, 1, EDGE_FALL}, {1, 2, EDGE_FALL}, {2, 1, EDGE_TAKEN}};
    struct made made;
    make(&made, 3, EDGES, COUNT(EDGES), CFG_ENDLESS);
    assert_int_equal(made.equivalence.outer_count, 1);
    assert_int_equal(made.equivalence.outer[0].from, 1);
    assert_int_equal(made.equivalence.outer[0].to, OUT);
    assert_int_equal(made.equivalence.class_count, 2);
    assert_int_equal(block(&made, 1), block(&made, 2));
    assert_int_equal(block(&made, 1), edge(&made, 2, 1));
    assert_int_equal(block(&made, 0), made.equivalence.outer_class[0]);
    unmake(&made);
}

static void missing_edges_part_everything(void **state) {
    (void)state;
    static const struct cfg_edge EDGES[] = {{OUT, 0, EDGE_ENTRY},
                                            {0, 1, EDGE_FALL},
                                            {1, OUT, EDGE_TAIL},
                                            {OUT, 2, EDGE_UNKNOWN},
                                            {2, OUT, EDGE_RETURN}};
    struct made made;
    make(&made, 3, EDGES, COUNT(EDGES), CFG_MISSING_EDGES | CFG_UNREACHED);
    assert_int_equal(made.equivalence.class_count, 8);
    assert_int_equal(made.equivalence.outer_count, 0);
    assert_int_not_equal(block(&made, 0), edge(&made, 0, 1));
    assert_int_not_equal(block(&made, 0), block(&made, 1));
    unmake(&made);
}

/* ---- against the definition ---- */

/* Whether a walk leads from one node to another without an arc. */
static bool leads(const struct network *network, uint32_t from, uint32_t to, uint32_t without) {
    bool reached[64] = {0};
    assert_true(network->node_count <= 64);
    reached[from] = true;
    for (bool grew = true; grew;) {
        grew = false;
        for (uint32_t a = 0; a < network->arc_count; a++) {
            const struct network_arc *arc = &network->arcs[a];
            if (a != without && reached[arc->from] && !reached[arc->to])
                reached[arc->to] = grew = true;
        }
    }
    return reached[to];
}

/* By definition: every cycle through the one contains the other, so without the other it is on no
 * cycle. */
static bool needs(const struct network *network, uint32_t arc, uint32_t other) {
    return !leads(network, network->arcs[arc].to, network->arcs[arc].from, other);
}

static void check_definition(const struct made *made) {
    const struct equivalence *equivalence = &made->equivalence;
    struct network network;
    struct error error;
    assert_true(
        network_make(&network, &made->cfg, equivalence->outer, equivalence->outer_count, &error));
    uint32_t class[256], blocks = made->cfg.block_count, edges = made->cfg.edge_count;
    memcpy(class, equivalence->block_class, blocks * sizeof *class);
    memcpy(class + blocks, equivalence->edge_class, edges * sizeof *class);
    if (equivalence->outer_count)
        memcpy(class + blocks + edges, equivalence->outer_class,
               equivalence->outer_count * sizeof *class);
    uint32_t used = 0;
    for (uint32_t a = 0; a < network.arc_count; a++) {
        assert_true(class[a] < equivalence -> class_count);
        used = class[a] >= used ? class[a] + 1 : used;
        assert_false(needs(&network, a, CFG_NONE)); /* each is on a cycle */
        for (uint32_t b = 0; b < a; b++)
            if ((class[a] == class[b]) != (needs(&network, a, b) && needs(&network, b, a)))
                fail_msg("arcs %u and %u of %u blocks", b, a, blocks);
    }
    assert_int_equal(used, equivalence->class_count);
    network_free(&network);
}

static uint32_t below(uint64_t *random, uint32_t limit) {
    return (uint32_t)(random_fraction(random) * limit);
}

static void random_graphs(void **state) {
    (void)state;
    uint64_t random = 1;
    uint32_t outer = 0;
    for (int round = 0; round < 6000; round++) {
        uint32_t blocks = 1 + below(&random, 8), count = 0;
        struct cfg_edge edges[40];
        edges[count++] = (struct cfg_edge){OUT, 0, EDGE_ENTRY};
        uint32_t more = below(&random, 3 * blocks) + (blocks > 1);
        for (uint32_t e = 0; e < more; e++)
            edges[count++] =
                (struct cfg_edge){below(&random, blocks), below(&random, blocks), EDGE_TAKEN};
        for (uint32_t b = 0; b < blocks; b++)
            if (random_fraction(&random) < 0.2)
                edges[count++] = (struct cfg_edge){b, OUT, EDGE_RETURN};
        if (random_fraction(&random) < 0.2)
            edges[count++] = (struct cfg_edge){OUT, below(&random, blocks), EDGE_UNKNOWN};
        struct made made;
        make(&made, blocks, edges, count, 0);
        outer += made.equivalence.outer_count > 0;
        check_definition(&made);
        unmake(&made);
    }
    assert_in_range(outer, 500, 5500); /* both kinds came up */
}

/* ---- components ---- */

/* 0 → 1 ⇄ 2, and 3 ⇄ 4 that nothing reaches. */
static void strong_components(void **state) {
    (void)state;
    static const struct cfg_edge EDGES[] = {{OUT, 0, EDGE_ENTRY}, {0, 1, EDGE_FALL},
                                            {1, 2, EDGE_FALL},    {2, 1, EDGE_TAKEN},
                                            {3, 4, EDGE_FALL},    {4, 3, EDGE_TAKEN}};
    struct cfg cfg;
    struct components components;
    struct error error;
    cfg_fixture_make(&cfg, 5, NULL, EDGES, COUNT(EDGES));
    assert_true(components_find(&components, &cfg, &error));
    assert_int_equal(components.count, 4); /* outside; 0; 1 and 2; 3 and 4 */
    assert_int_equal(components.of[1], components.of[2]);
    assert_int_equal(components.of[3], components.of[4]);
    assert_int_equal(components.head[components.of[2]], 1);
    assert_int_equal(components.head[components.of[4]], 3);
    assert_int_equal(components.head[components.of[5]], OUT);
    components_free(&components);
    cfg_fixture_free(&cfg);
}

/* A ladder of 100 000 blocks that each may skip the next, as deep as a search can go, with a switch
 * at its foot that leads everywhere. */
static void large_graph(void **state) {
    (void)state;
    enum { BLOCKS = 100000 };
    struct cfg_edge *edges = malloc(4 * BLOCKS * sizeof *edges);
    assert_non_null(edges);
    uint32_t count = 0;
    edges[count++] = (struct cfg_edge){OUT, 0, EDGE_ENTRY};
    for (uint32_t b = 0; b < BLOCKS; b++) {
        edges[count++] = (struct cfg_edge){b, b + 1 < BLOCKS ? b + 1 : OUT, EDGE_FALL};
        if (b + 2 < BLOCKS)
            edges[count++] = (struct cfg_edge){b, b + 2, EDGE_TAKEN};
        edges[count++] = (struct cfg_edge){BLOCKS - 1, b, EDGE_TABLE};
    }
    struct made made;
    clock_t begin = clock();
    make(&made, BLOCKS, edges, count, 0);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    print_message("100 000 blocks, %u edges: %u classes in %.0f ms\n", count,
                  made.equivalence.class_count, 1e3 * seconds);
    assert_true(seconds < 20);
    unmake(&made);
    free(edges);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(diamond),       cmocka_unit_test(nested_loops),
        cmocka_unit_test(cases),         cmocka_unit_test(irreducible_loop),
        cmocka_unit_test(endless_loop),  cmocka_unit_test(missing_edges_part_everything),
        cmocka_unit_test(random_graphs), cmocka_unit_test(strong_components),
        cmocka_unit_test(large_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
