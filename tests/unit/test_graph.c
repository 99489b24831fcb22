/* The dependence graph: node times, edge by edge, of graphs made by hand on the wide machine of
 * graph_fixture.h. */
#include "graph_fixture.h"

static const struct graph_nodes *times_of(struct graph *graph, uint32_t ideal) {
    struct graph_fragment fragment = whole(graph);
    struct graph_evaluation *evaluation = graph_evaluation_new(&graph->machine, ideal);
    assert_non_null(evaluation);
    graph_fragment_times(evaluation, &fragment, graph->nodes);
    graph_evaluation_free(evaluation);
    return graph->nodes;
}

static void expect_nodes(const struct graph_nodes *nodes, const int64_t (*expected)[6],
                         uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const int64_t found[6] = {nodes[i].fetch,   nodes[i].dispatch, nodes[i].ready,
                                  nodes[i].execute, nodes[i].complete, nodes[i].commit};
        for (int k = 0; k < 6; k++)
            if (found[k] != expected[i][k])
                fail_msg("%c(%u) is %lld, not %lld", "FDREPC"[k], i, (long long)found[k],
                         (long long)expected[i][k]);
    }
}

/* A machine as in Fig. 2: four instructions in the window, two fetched and two committed in a
 * cycle; a cycle from each node to the next. i0 takes 10 cycles, i1 needs it; i2 and i3, which
 * takes 5, need nothing; i4 needs i2, and room in the window; i5 needs i4. */
static void example_of_figure_2(void **state) {
    (void)state;
    struct graph *graph = graph_new();
    graph->machine.dispatch_width = graph->machine.commit_width = 2;
    graph->machine.window = 4;
    graph->machine.ideal_window = 80;
    graph->machine.frontend_depth = 1;
    add(graph, GRAPH_LONG, 10);
    add(graph, GRAPH_SHORT, 1)->producer[0] = 1;
    add(graph, GRAPH_SHORT, 1);
    add(graph, GRAPH_LONG, 5);
    add(graph, GRAPH_SHORT, 1)->producer[0] = 2;
    add(graph, GRAPH_SHORT, 1)->producer[0] = 1;
    for (uint32_t i = 2; i < 6; i++)
        graph->uops[i].fetch_width = 2;
    static const int64_t real[6][6] = {{0, 1, 2, 2, 12, 13},    {0, 1, 12, 12, 13, 14},
                                       {1, 2, 3, 3, 4, 14},     {1, 2, 3, 3, 8, 15},
                                       {2, 13, 14, 14, 15, 16},  /* D: C(0) */
                                       {2, 14, 15, 15, 16, 17}}; /* D: C(1) */
    expect_nodes(times_of(graph, 0), real, 6);
    static const int64_t win[2][6] = {{2, 3, 4, 4, 5, 15}, {2, 3, 5, 5, 6, 16}}; /* C: CC, CBW */
    expect_nodes(times_of(graph, IDEAL_WIN) + 4, win, 2);
    static const int64_t lgalu[6][6] = {{0, 1, 2, 2, 2, 3}, {0, 1, 2, 2, 3, 4}, {1, 2, 3, 3, 4, 5},
                                        {1, 2, 3, 3, 3, 5}, {2, 3, 4, 4, 5, 6}, {2, 4, 5, 5, 6, 7}};
    expect_nodes(times_of(graph, IDEAL_LGALU), lgalu, 6);
    static const int64_t bw[6][6] = {{0, 1, 2, 2, 12, 13},    {0, 1, 12, 12, 13, 14},
                                     {0, 1, 2, 2, 3, 14},     {0, 1, 2, 2, 7, 14},
                                     {0, 13, 14, 14, 15, 16}, {0, 14, 15, 15, 16, 17}};
    expect_nodes(times_of(graph, IDEAL_BW), bw, 6);
    graph_free(graph);
}

/* Of four adds the last gets what `set` gives it: a node of its without and with, and with `ideal`,
 * which takes it away again. Without, F is 0, D 3, R and E 4, P 5, C 6, as of all. */
#define EXPECT_EDGE(member, without, with, ideal, set)                                             \
    do {                                                                                           \
        struct graph *graph = graph_new();                                                         \
        for (int i_ = 0; i_ < 4; i_++)                                                             \
            add(graph, GRAPH_SHORT, 1);                                                            \
        struct graph_uop *uop = &graph->uops[3];                                                   \
        struct graph_machine *machine = &graph->machine;                                           \
        (void)uop, (void)machine;                                                                  \
        assert_int_equal(times_of(graph, 0)[3].member, without);                                   \
        set;                                                                                       \
        assert_int_equal(times_of(graph, 0)[3].member, with);                                      \
        if (ideal)                                                                                 \
            assert_int_equal(times_of(graph, ideal)[3].member, without);                           \
        graph_free(graph);                                                                         \
    } while (0)

static void edges_to_fetch(void **state) {
    (void)state;
    EXPECT_EDGE(fetch, 0, 1, IDEAL_BW, uop->fetch_width = 3);           /* FBW */
    EXPECT_EDGE(fetch, 0, 1, IDEAL_BW, uop->fetch_taken = 1);           /* FT */
    EXPECT_EDGE(fetch, 0, 1, IDEAL_BW, uop->flags |= GRAPH_BREAK_UNIT); /* FB */
    EXPECT_EDGE(fetch, 0, 5, IDEAL_BW, uop->flags |= 5 * GRAPH_BREAK_UNIT);
    EXPECT_EDGE(fetch, 0, 7, IDEAL_BW, /* FB */
                (uop[-1].flags |= GRAPH_TAKEN, machine->taken_bubble = 7));
    EXPECT_EDGE(fetch, 0, 2, IDEAL_BMISP, uop[-1].flags |= GRAPH_LATE);             /* FL */
    EXPECT_EDGE(fetch, 0, 3, IDEAL_BW, machine->fetch_room = 2);                    /* DF: D(1) */
    EXPECT_EDGE(fetch, 0, 6, IDEAL_WIN, uop->fetch_packet = 3);                     /* CT: C(0) */
    EXPECT_EDGE(fetch, 0, 6 + 4, 0, uop->after_commit = 5);                         /* CF: C(2) */
    EXPECT_EDGE(fetch, 0, 5 + 2, IDEAL_BMISP, uop[-1].flags |= GRAPH_MISPREDICTED); /* PD */
    EXPECT_EDGE(fetch, 0, 11 + 6, IDEAL_IMISS, (uop->fetch_cache = 11, uop->fetch_tlb = 6));
    /* The cache comes behind the edge that counts. */
    EXPECT_EDGE(fetch, 0, 7 + 11, IDEAL_BMISP | IDEAL_IMISS,
                (uop[-1].flags |= GRAPH_MISPREDICTED, uop->fetch_cache = 11));
}

static void edges_to_dispatch(void **state) {
    (void)state;
    EXPECT_EDGE(dispatch, 3, 3 + 28, IDEAL_BW, /* MD */
                (uop[-1].flags |= (uint32_t)GRAPH_MICROCODED, machine->string_start = 28));
    EXPECT_EDGE(dispatch, 3, 8, IDEAL_IMISS, uop[-2].fetch_cache = 5);  /* FF, FD, DD */
    EXPECT_EDGE(dispatch, 3, 4, IDEAL_BW, machine->dispatch_width = 3); /* DBW */
    EXPECT_EDGE(dispatch, 3, 6, IDEAL_WIN, machine->window = 3);        /* CD: C(0) */
    EXPECT_EDGE(dispatch, 3, 6, IDEAL_WIN, uop->load_entry = 3);        /* CQ */
    EXPECT_EDGE(dispatch, 3, 6 + 1, IDEAL_WIN, uop->store_entry = 3);
    EXPECT_EDGE(dispatch, 3, 6, IDEAL_WIN, uop->int_register = 3);
    EXPECT_EDGE(dispatch, 3, 6, IDEAL_WIN, uop->fp_register = 3);
    EXPECT_EDGE(dispatch, 3, 6 + 21, IDEAL_WIN, (uop->store_entry = 2, uop->write_wait = 20));
    EXPECT_EDGE(dispatch, 3, 6 + 21, IDEAL_DMISS | IDEAL_WIN, /* SQ */
                (uop->store_entry = 2, uop->write_wait = 20));
    EXPECT_EDGE(dispatch, 3, 4, IDEAL_WIN, uop->queue_entry = 1); /* ED: E(2) */
    EXPECT_EDGE(dispatch, 3, 6, 0, uop->serial = 1);              /* CS: C(2) */
    /* A window 20 times as large is one, too: C(0) of 21 before. */
    struct graph *graph = graph_new();
    graph->machine.window = 1;
    graph->machine.ideal_window = 20;
    for (int i = 0; i < 22; i++)
        add(graph, GRAPH_SHORT, 1);
    assert_int_equal(times_of(graph, IDEAL_WIN)[19].dispatch, 3);
    assert_int_equal(times_of(graph, IDEAL_WIN)[20].dispatch, 6);
    assert_int_equal(times_of(graph, 0)[1].dispatch, 6);
    graph_free(graph);
}

static void edges_to_ready_and_execute(void **state) {
    (void)state;
    EXPECT_EDGE(ready, 4, 5, 0, uop->producer[3] = 1); /* PR: P(2) */
    EXPECT_EDGE(ready, 4, 5, IDEAL_SHALU, uop->producer[0] = 3);
    EXPECT_EDGE(ready, 4, 6, IDEAL_SHALU, (uop->producer[1] = 3, uop->flags |= GRAPH_WAKEUP << 1));
    EXPECT_EDGE(ready, 4, 6 + 9, 0, (uop->flags |= GRAPH_WAITS_HEAD, uop->store_wait = 9)); /* CR */
    /* SW: of a load, of the add at 1. It may not be forwarded: C(1) + 1; was written late: more. */
    EXPECT_EDGE(ready, 4, 6 + 1, IDEAL_STFWD, (uop->flags = GRAPH_LOAD, uop->store = 2));
    EXPECT_EDGE(ready, 4, 6 + 1 + 9, IDEAL_STFWD,
                (uop->flags = GRAPH_LOAD, uop->store = 2, uop->store_wait = 9));
    EXPECT_EDGE(ready, 4, 4, 0, (uop->flags = GRAPH_LOAD | GRAPH_COVERED, uop->store = 2));
    /* SR: it knew that it waited: P(1) - 1, E(1), E(0) of the data. */
    EXPECT_EDGE(ready, 4, 14 - 1, 0,
                (uop->flags = GRAPH_LOAD | GRAPH_COVERED | GRAPH_HUNG, uop->store = 2,
                 uop[-2].execution = 10));
    EXPECT_EDGE(ready, 4, 9, 0,
                (uop->flags = GRAPH_LOAD | GRAPH_COVERED | GRAPH_HUNG, uop->store = 2,
                 uop->store_data = 1, uop[-1].unit_wait = 5));
    EXPECT_EDGE(execute, 4, 4 + 6, IDEAL_BW, uop->unit_wait = 6); /* RE */
    EXPECT_EDGE(execute, 4, 4 + 6, IDEAL_DMISS, (uop->flags = GRAPH_LOAD, uop->mshr_wait = 6));
    EXPECT_EDGE(execute, 4, 5, IDEAL_BW, machine->queue_issue[0] = 3);
    EXPECT_EDGE(execute, 4, 7, IDEAL_BW, machine->pool_units[0] = 1);
    EXPECT_EDGE(execute, 4, 4, 0, (machine->pool_units[0] = 3, uop->pool = 1));
    EXPECT_EDGE(execute, 4, 5, IDEAL_BW,
                (machine->queue_issue[0] = 3, uop->pool = 1)); /* another pool of the queue */
}

/* A load waits for the issue of a store's data, three µops back, in 9; but only if the two were in
 * the window together, also where the window is ideal: with three entries there R is D + 1 and, as
 * it is, D waits for C(0) in 11. */
static void issues_wait_within_the_window(void **state) {
    (void)state;
    struct graph *graph = graph_new();
    for (int i = 0; i < 4; i++)
        add(graph, GRAPH_SHORT, 1);
    graph->uops[0].unit_wait = 5;
    graph->uops[3].flags = GRAPH_LOAD | GRAPH_COVERED | GRAPH_HUNG;
    graph->uops[3].store = 2;
    graph->uops[3].store_data = 3;
    graph->machine.ideal_window = 80;
    graph->machine.window = 4;
    assert_int_equal(times_of(graph, IDEAL_WIN)[3].ready, 9);
    graph->machine.window = 3;
    assert_int_equal(times_of(graph, IDEAL_WIN)[3].ready, 4);
    assert_int_equal(times_of(graph, 0)[3].ready, 12);
    graph_free(graph);
}

/* Six loads are ready in 4. With an ideal window they share two MSHRs, each for 64 cycles, which
 * are two buckets: from 4 on, from 64, and from 128, where the last has its data in 128 + 1 + 2
 * + 64. As observed, with other windows, none waits. */
static void mshrs_are_counted_with_an_ideal_window(void **state) {
    (void)state;
    struct graph *graph = graph_new();
    graph->machine.mshrs[LEVEL_DRAM] = 2;
    for (int i = 0; i < 6; i++) {
        struct graph_uop *uop = add_load(graph, 64);
        uop->level = LEVEL_DRAM;
        uop->fill = 64;
    }
    const int64_t begins[6] = {4, 4, 64, 64, 128, 128};
    const struct graph_nodes *times = times_of(graph, IDEAL_WIN);
    for (int i = 0; i < 6; i++)
        assert_int_equal(times[i].execute, begins[i]);
    assert_int_equal(times[5].commit, 196);
    assert_int_equal(times_of(graph, 0)[5].commit, 72);
    assert_int_equal(times_of(graph, IDEAL_WIN | IDEAL_DMISS)[5].execute, 4);
    graph_free(graph);
}

/* Four stores commit in 6; four more take their entries of a store queue of four. D of these: */
static void expect_entries(void (*change)(struct graph *), uint32_t ideal, const int64_t free[4]) {
    struct graph *graph = graph_new();
    graph->machine.store_drain = 1;
    for (int i = 0; i < 8; i++)
        add(graph, GRAPH_STORE, 1)->store_entry = i < 4 ? 0 : 4;
    if (change)
        change(graph);
    const struct graph_nodes *times = times_of(graph, ideal);
    for (int i = 0; i < 4; i++)
        assert_int_equal(times[4 + i].dispatch, free[i]);
    graph_free(graph);
}

static void first_write_is_late(struct graph *graph) {
    graph->uops[4].write_wait = 20;
}

static void writes_miss(struct graph *graph) {
    graph->machine.mshrs[LEVEL_L2] = 1;
    for (int i = 4; i < 8; i++) {
        graph->uops[i].level = LEVEL_L2;
        graph->uops[i].write_wait = 63;
        graph->uops[i].fill = 64;
    }
}

static void stores_are_written_in_order(void **state) {
    (void)state;
    /* Written one a cycle, from 6 on; an entry is free in the next. */
    expect_entries(NULL, 0, (int64_t[]){7, 8, 9, 10});
    expect_entries(NULL, IDEAL_BW, (int64_t[]){7, 7, 7, 7});
    expect_entries(NULL, IDEAL_WIN, (int64_t[]){3, 3, 3, 3});
    /* The others are written in 7, 8 and 9, but leave behind the first, which is in 6 + 1 + 20. */
    expect_entries(first_write_is_late, 0, (int64_t[]){27, 27, 27, 27});
    expect_entries(first_write_is_late, IDEAL_DMISS, (int64_t[]){7, 8, 9, 10});
    /* One MSHR, for two buckets each: written in 6, 64, 128 and 192; 64 cycles each. */
    expect_entries(writes_miss, 0, (int64_t[]){70, 128, 192, 256});
    expect_entries(writes_miss, IDEAL_DMISS | IDEAL_BW, (int64_t[]){7, 7, 7, 7});
}

/* An older µop that is ready later leaves its slot to a younger one; one per cycle. Ready in 9, 4,
 * 4 and 5: they issue in 9, 4, 5 and 6. */
static void slots_go_to_the_oldest(void **state) {
    (void)state;
    struct graph *graph = graph_new();
    graph->machine.queue_issue[0] = 1;
    add(graph, GRAPH_SHORT, 1)->unit_wait = 5;
    add(graph, GRAPH_SHORT, 1);
    add(graph, GRAPH_SHORT, 1);
    add(graph, GRAPH_SHORT, 1)->producer[0] = 2;
    const struct graph_nodes *nodes = times_of(graph, 0);
    assert_int_equal(nodes[0].execute, 9);
    assert_int_equal(nodes[1].execute, 4);
    assert_int_equal(nodes[2].execute, 5);
    assert_int_equal(nodes[3].execute, 6);
    graph_free(graph);
}

static void edges_to_complete_and_commit(void **state) {
    (void)state;
    /* EP: a load takes 1 + 2, and what it misses. */
    EXPECT_EDGE(complete, 5, 4 + 1 + 2 + 80, 0, (uop->flags = GRAPH_LOAD, uop->miss = 80));
    EXPECT_EDGE(complete, 5, 4 + 1 + 2 + 80, IDEAL_DL1 | IDEAL_DMISS,
                (uop->flags = GRAPH_LOAD, uop->miss = 80));
    EXPECT_EDGE(complete, 5, 4 + 30, 0, (uop->flags = GRAPH_LONG, uop->execution = 30));
    EXPECT_EDGE(complete, 5, 4 + 1 + 8, IDEAL_DMISS, (uop->flags = GRAPH_STORE, uop->walk = 8));
    EXPECT_EDGE(complete, 5, 4 + 1 + 2 + 30 + 80, 0,
                (uop->flags = GRAPH_LOAD, uop->walk = 30, uop->miss = 80));
    /* Data of a store: P(2) = 14. */
    EXPECT_EDGE(
        complete, 5, 14, 0,
        (uop->flags = GRAPH_STORE, uop->producer[UOP_MAX_SOURCES] = 1, uop[-1].execution = 10));
    /* PP: the line comes with P(2) = 54; 3 cycles after it, if it was on its way. */
    EXPECT_EDGE(complete, 5, 54, 0,
                (uop->flags = GRAPH_LOAD, uop->fetched_by = 1, uop[-1].execution = 50));
    EXPECT_EDGE(complete, 5, 54 + 3, 0,
                (uop->flags = GRAPH_LOAD | GRAPH_PENDING, uop->fetched_by = 1, uop->miss = 3,
                 uop[-1].execution = 50));
    EXPECT_EDGE(complete, 5, 54 + 3, IDEAL_DMISS | IDEAL_DL1,
                (uop->flags = GRAPH_LOAD | GRAPH_PENDING, uop->fetched_by = 1, uop->miss = 3,
                 uop[-1].execution = 50));
    /* SP: the store at 2, P = 14, is in the queue when the load issues in 4; 4 more. */
    EXPECT_EDGE(complete, 5, 14 + 4, 0,
                (uop->flags = GRAPH_LOAD | GRAPH_COVERED, uop->store = 2, uop[-2].execution = 10));
    EXPECT_EDGE(complete, 5, 5 + 4, IDEAL_DL1,
                (uop->flags = GRAPH_LOAD | GRAPH_COVERED, uop->store = 2));
    /* It left long ago, but its write took longer. */
    EXPECT_EDGE(complete, 5, 14 + 5, 0,
                (uop->flags = GRAPH_LOAD | GRAPH_COVERED | GRAPH_FORWARDED, uop->store = 3,
                 uop->unit_wait = 10));
    EXPECT_EDGE(complete, 5, 14 + 3, 0,
                (uop->flags = GRAPH_LOAD | GRAPH_COVERED, uop->store = 3, uop->unit_wait = 10));
    EXPECT_EDGE(commit, 6, 15, 0, uop[-2].execution = 10);          /* CC */
    EXPECT_EDGE(commit, 6, 7, IDEAL_BW, machine->commit_width = 3); /* CBW */
    EXPECT_EDGE(complete, 5, 3, 0, uop->flags = GRAPH_ELIMINATED);
}

/* The time of the result of a load that overlaps the store at 1 (P 5, C 6), which holds a part. */
static int64_t loaded(uint32_t forward, uint16_t unit_wait, uint16_t store_wait, uint32_t ideal) {
    struct graph *graph = graph_new();
    graph->machine.forward_latency = forward;
    for (int i = 0; i < 4; i++)
        add(graph, GRAPH_SHORT, 1);
    graph->uops[3].flags = GRAPH_LOAD;
    graph->uops[3].store = 2;
    graph->uops[3].unit_wait = unit_wait;
    graph->uops[3].store_wait = store_wait;
    int64_t complete = times_of(graph, ideal)[3].complete;
    graph_free(graph);
    return complete;
}

/* It issues when the store is in the cache, in C + 1 or later, and takes 1 + 2. Idealised it issues
 * in 4 and is forwarded, 1 + 1, where that takes no longer than the L1; but not if it issues, for
 * want of a unit, when the store has been written: in 7, or 9 later. */
static void part_of_a_load_is_forwarded(void **state) {
    (void)state;
    assert_int_equal(loaded(1, 0, 0, 0), 7 + 3);
    assert_int_equal(loaded(1, 0, 0, IDEAL_STFWD), 4 + 2);
    assert_int_equal(loaded(4, 0, 0, IDEAL_STFWD), 4 + 3);
    assert_int_equal(loaded(1, 2, 0, IDEAL_STFWD), 6 + 2);
    assert_int_equal(loaded(1, 3, 0, IDEAL_STFWD), 7 + 3);
    assert_int_equal(loaded(1, 0, 9, 0), 16 + 3);
    assert_int_equal(loaded(1, 11, 9, IDEAL_STFWD), 15 + 2);
    assert_int_equal(loaded(1, 12, 9, IDEAL_STFWD), 16 + 3);
    assert_int_equal(loaded(1, 3, 9, IDEAL_STFWD | IDEAL_DMISS), 7 + 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example_of_figure_2),
        cmocka_unit_test(edges_to_fetch),
        cmocka_unit_test(edges_to_dispatch),
        cmocka_unit_test(edges_to_ready_and_execute),
        cmocka_unit_test(issues_wait_within_the_window),
        cmocka_unit_test(slots_go_to_the_oldest),
        cmocka_unit_test(mshrs_are_counted_with_an_ideal_window),
        cmocka_unit_test(stores_are_written_in_order),
        cmocka_unit_test(edges_to_complete_and_commit),
        cmocka_unit_test(part_of_a_load_is_forwarded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
