/* Lanes find exactly the lengths that plain evaluations do: of random graphs with every kind of
 * edge, on several machines, in several fragments, with standard categories and others, at every
 * level that the processor has. */
#include "core_fixture.h"

#include "graph/evaluate.h"
#include "graph/lanes.h"

enum { UOPS = 3000, INSNS = 50 };

static uint64_t random_state;
static uint32_t next_random(uint32_t below) {
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(random_state >> 33) % below;
}

enum { STANDARD = 9 }; /* categories */

static bool chance(uint32_t percent) {
    return next_random(100) < percent;
}

/* A distance that is mostly small; 0 when it would be before the begin. */
static uint16_t distance(uint32_t number, uint32_t most) {
    uint32_t d = 1 + (chance(80) ? next_random(12) : next_random(most));
    return d <= number ? (uint16_t)d : 0;
}

/* To an older µop with this flag, so many of them back; 0: there are not so many. */
static uint16_t to_flagged(const struct graph_uop *uops, uint32_t number, uint32_t flag,
                           uint32_t back) {
    for (uint32_t d = 1; d <= number && d < GRAPH_FAR; d++)
        if (uops[number - d].flags & flag && back-- == 0)
            return (uint16_t)d;
    return 0;
}

static void add_load(struct graph_uop *uop, const struct graph_uop *uops, uint32_t number) {
    uop->flags |= GRAPH_LOAD;
    uop->execution = 1;
    uop->pool = 1;
    uop->load_entry = to_flagged(uops, number, GRAPH_LOAD, 15);
    if (chance(20)) {
        uop->level = (1 + next_random(3)) & 3;
        uop->miss = (uint16_t)(10 + next_random(chance(5) ? 2000 : 200));
        uop->mshr_wait = (uint16_t)(chance(20) ? next_random(30) : 0);
        uop->fill = (uint16_t)(chance(80) ? uop->miss : 0);
    }
    uop->walk = (uint16_t)(chance(10) ? next_random(chance(5) ? 2000 : 100) : 0);
    if (chance(10) && (uop->fetched_by = to_flagged(uops, number, GRAPH_LOAD, next_random(5))) &&
        (uops[number - uop->fetched_by].miss || uops[number - uop->fetched_by].fetched_by) &&
        chance(50))
        uop->flags |= GRAPH_PENDING;
    if (chance(25) &&
        (uop->store = to_flagged(uops, number, GRAPH_STORE, next_random(chance(10) ? 300 : 4)))) {
        uop->flags |= chance(60) ? GRAPH_COVERED : 0;
        uop->flags |= chance(10) ? GRAPH_FORWARDED : 0;
        uop->flags |= chance(30) ? GRAPH_HUNG : 0;
        uop->store_wait = (uint16_t)(chance(20) ? next_random(100) : 0);
        uop->store_data = distance(number, 100);
    }
}

static void add_store(struct graph_uop *uop, const struct graph_uop *uops, uint32_t number) {
    uop->flags |= GRAPH_STORE;
    uop->execution = 1;
    uop->pool = 1;
    uop->walk = (uint16_t)(chance(5) ? next_random(50) : 0);
    uop->producer[UOP_MAX_SOURCES] = distance(number, 2000);
    uop->store_entry = to_flagged(uops, number, GRAPH_STORE, 15);
    if (uop->store_entry && chance(20)) {
        uop->level = (1 + next_random(3)) & 3;
        uop->write_wait = (uint16_t)next_random(200);
        uop->fill = (uint16_t)(chance(50) ? next_random(400) : 0);
    }
}

static void add_operation(struct graph_uop *uop) {
    uop->operation = OP_INT_ALU;
    if (chance(15)) {
        uop->flags |= GRAPH_LONG;
        uop->operation = chance(50) ? OP_INT_MUL : OP_FP_ADD;
        uop->execution = (uint16_t)(2 + next_random(20));
        uop->pool = 2;
        uop->unit_wait = (uint16_t)(chance(10) ? next_random(20) : 0);
    } else if (chance(95)) {
        uop->flags |= GRAPH_SHORT;
        uop->execution = 1;
    } else
        uop->flags |= GRAPH_ELIMINATED;
}

static void make_graph(struct graph_uop *uops, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        struct graph_uop *uop = &uops[i];
        *uop = (struct graph_uop){.insn = next_random(INSNS)};
        uint32_t kind = next_random(100);
        if (kind < 25)
            add_load(uop, uops, i);
        else if (kind < 37)
            add_store(uop, uops, i);
        else
            add_operation(uop);
        for (uint32_t source = 0; source < 1 + next_random(UOP_MAX_SOURCES); source++) {
            uop->producer[source] = distance(i, 4000);
            uop->flags |= chance(30) ? (uint32_t)GRAPH_WAKEUP << source : 0;
        }
        uop->flags |= chance(1) ? GRAPH_MISPREDICTED | GRAPH_TAKEN : 0;
        uop->flags |= chance(1) ? GRAPH_LATE | GRAPH_TAKEN : 0;
        uop->flags |= chance(8) ? GRAPH_TAKEN : 0;
        uop->flags |= chance(5) ? GRAPH_BREAK_UNIT : 0;
        uop->flags |= chance(1) ? 4 * GRAPH_BREAK_UNIT : 0;
        uop->flags |= chance(80) ? GRAPH_FIRST : 0;
        uop->flags |= chance(1) && chance(30) ? GRAPH_WAITS_HEAD : 0;
        uop->fetch_width = uop->flags & GRAPH_FIRST ? to_flagged(uops, i, GRAPH_FIRST, 3) : 0;
        uop->fetch_taken = to_flagged(uops, i, GRAPH_TAKEN, 0);
        uop->fetch_packet = chance(50) ? distance(i, 200) : 0;
        uop->after_commit = (uint16_t)(chance(1) ? 1 + next_random(20) : 0);
        uop->fetch_cache = (uint16_t)(chance(2) ? next_random(100) : 0);
        uop->fetch_tlb = (uint16_t)(chance(1) ? next_random(30) : 0);
        uop->int_register = chance(30) ? distance(i, 100) : 0;
        uop->fp_register = chance(10) ? distance(i, 100) : 0;
        uop->queue_entry = chance(5) ? distance(i, 60) : 0;
        uop->serial = chance(1) ? distance(i, 30) : 0;
    }
}

/* Operations behind loads share their places. */
static void share_places(struct graph_uop *uops, uint32_t count) {
    const uint32_t memory = GRAPH_LOAD | GRAPH_STORE;
    for (uint32_t i = 1; i < count; i++)
        if (uops[i - 1].flags & GRAPH_LOAD && !(uops[i].flags & memory))
            uops[i].flags |= GRAPH_SHARES;
}

static struct graph_machine graph_machine(void) {
    struct machine machine = little_machine();
    struct graph_machine graph;
    machine.branch.taken_bubble = 1;
    machine.core.issue_wakeup = 2;
    graph_machine_of(&machine, &graph);
    return graph;
}

/* Adds to the cycles expected of each set those of a fragment. */
static void expect(const struct graph_machine *machine, const struct categories *categories,
                   const struct graph_uop *uops, uint32_t count, int64_t *expected) {
    const uint32_t sets = 1u << (categories ? categories->count : STANDARD);
    for (uint32_t set = 0; set < sets; set++) {
        struct graph_evaluation *evaluation = graph_evaluation_new_of(machine, categories, set);
        int64_t last = 0;
        for (uint32_t i = 0; i < count; i++)
            last = graph_evaluate(evaluation, &uops[i])->commit;
        expected[set] += last;
        graph_evaluation_free(evaluation);
    }
}

/* A fragment in pieces of changing size. */
static void add_fragment(struct graph_lanes *lanes, const struct graph_uop *uops, uint32_t count) {
    uint32_t piece;
    for (uint32_t i = 0; i < count; i += piece) {
        piece = 1 + next_random(1500);
        piece = piece < count - i ? piece : count - i;
        graph_lanes_add(lanes, uops + i, piece, i == 0);
    }
}

static void check(const struct graph_lanes *lanes, enum lanes_level level, uint32_t fragment,
                  uint32_t sets, const int64_t *expected) {
    double *times = calloc(sets, sizeof *times);
    graph_lanes_times(lanes, times);
    for (uint32_t set = 0; set < sets; set++)
        if (times[set] != (double)expected[set])
            fail_msg("%s, fragment %u, set %u: %.0f cycles instead of %lld",
                     lanes_level_name(level), fragment, set, times[set], (long long)expected[set]);
    free(times);
}

/* Whether the processor has it, or the reason why not is given. */
static bool usable(enum lanes_level level) {
    if (!lanes_level_usable(level))
        print_message("%s: not on this processor\n", lanes_level_name(level));
    return lanes_level_usable(level);
}

/* Each of the levels from `first` to `last` that this processor has, with the same fragments:
 * lengths of three, of which the last is short. */
static void compare(const struct graph_machine *machine, const struct categories *categories,
                    enum lanes_level first, enum lanes_level last) {
    static struct graph_uop uops[UOPS];
    const uint32_t lengths[] = {UOPS, 1200, 7};
    const uint32_t sets = 1u << (categories ? categories->count : STANDARD);
    struct error error = {0};
    struct graph_lanes *lanes[LANES_BEST + 1] = {0};
    for (enum lanes_level level = first; level <= last; level++)
        if (level == LANES_BEST || usable(level))
            assert_non_null(lanes[level] = graph_lanes_new(machine, categories, level, &error));
    int64_t *expected = calloc(sets, sizeof *expected);
    for (uint32_t fragment = 0; fragment < 3; fragment++) {
        make_graph(uops, lengths[fragment]);
        if (machine->most_of_place == 2)
            share_places(uops, lengths[fragment]);
        expect(machine, categories, uops, lengths[fragment], expected);
        for (enum lanes_level level = first; level <= last; level++)
            if (lanes[level]) {
                add_fragment(lanes[level], uops, lengths[fragment]);
                check(lanes[level], level, fragment, sets, expected);
            }
    }
    free(expected);
    for (enum lanes_level level = first; level <= last; level++)
        graph_lanes_free(lanes[level]);
}

static void every_set_of_random_graphs(void **state) {
    (void)state;
    struct graph_machine machine = graph_machine();
    random_state = 7;
    compare(&machine, NULL, LANES_PLAIN, LANES_BEST - 1);
}

/* Of two queues with pools that issue less than they, in two tables. */
static void queues_in_tables_of_their_own(void **state) {
    (void)state;
    struct graph_machine machine = graph_machine();
    machine.queue_issue[0] = 3;
    machine.queue_issue[1] = 9;
    machine.pool_units[0] = machine.pool_units[1] = 2;
    machine.pool_queue[2] = 1;
    for (uint32_t pool = 3; pool < MACHINE_MAX_POOLS - 2; pool++) {
        machine.pool_queue[pool] = 1;
        machine.pool_units[pool] = 5;
    }
    random_state = 8;
    compare(&machine, NULL, LANES_BEST, LANES_BEST);
    /* As many pools as there can be. */
    machine.pool_units[2] = 8;
    for (uint32_t pool = 3; pool < MACHINE_MAX_POOLS; pool++) {
        machine.pool_queue[pool] = 1;
        machine.pool_units[pool] = 8;
    }
    compare(&machine, NULL, LANES_BEST, LANES_BEST);
}

/* Of one queue and pool, with counters of as many bits as a level may keep, and of more. */
static void wide_issue(void **state) {
    (void)state;
    const uint32_t limits[][2] = {{9, 8}, {15, 11}, {18, 17}, {40, 33}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct graph_machine machine = graph_machine();
        machine.dispatch_width = machine.commit_width = 64;
        machine.window = 128;
        machine.ideal_window = 2560;
        machine.fetch_room = 256;
        for (uint32_t pool = 0; pool < MACHINE_MAX_POOLS; pool++)
            machine.pool_queue[pool] = 0;
        machine.queue_issue[0] = limits[i][0];
        machine.pool_units[0] = machine.pool_units[1] = limits[i][1];
        random_state = 10;
        compare(&machine, NULL, LANES_BEST, LANES_BEST);
    }
}

/* Rings of any length: a window that is no power of two, a commit wider than it, fetch that is
 * ahead of dispatch by fewer µops than are dispatched in a cycle. */
static void odd_windows(void **state) {
    (void)state;
    struct graph_machine machine = graph_machine();
    machine.window = 61;
    machine.ideal_window = 20 * 61;
    machine.commit_width = 70;
    machine.dispatch_width = 9;
    machine.fetch_room = 5;
    random_state = 12;
    compare(&machine, NULL, LANES_PLAIN, LANES_BEST - 1);
}

/* Places of two µops: of a window, bandwidths and a fetch that are no powers of two. */
static void places_of_two(void **state) {
    (void)state;
    struct graph_machine machine = graph_machine();
    machine.most_of_place = 2;
    machine.commit_width = 3;
    random_state = 13;
    compare(&machine, NULL, LANES_PLAIN, LANES_BEST - 1);
    machine.window = 61;
    machine.ideal_window = 20 * 61;
    machine.dispatch_width = 9;
    machine.fetch_room = 5;
    compare(&machine, NULL, LANES_PLAIN, LANES_BEST - 1);
}

/* Loads of some µops miss, each when the one before is there. */
static void chain_misses(struct graph_uop *uops, uint32_t from, uint32_t to, uint32_t percent,
                         uint16_t miss) {
    for (uint32_t i = from; i < to; i++) {
        if (!(uops[i].flags & GRAPH_LOAD) || !chance(percent))
            continue;
        uops[i].flags &= ~(uint32_t)GRAPH_PENDING;
        uops[i].fetched_by = 0;
        uops[i].level = LEVEL_DRAM;
        uops[i].miss = uops[i].fill = miss;
        uops[i].producer[0] = to_flagged(uops, i, GRAPH_LOAD, 0);
    }
}

/* Cycles that 16 bits do not hold: a dispatch that goes on for longer, results that are far ahead
 * of it, a single edge that is too long, fetch that is far behind it and comes up again, stores
 * that were written long ago; between them stretches that they hold. */
static void far_apart(void **state) {
    (void)state;
    enum { QUICK = 20000, COUNT = 3 * QUICK, SETS = 1 << STANDARD };
    struct graph_machine machine = graph_machine();
    struct graph_uop *uops = calloc(COUNT, sizeof *uops);
    int64_t expected[SETS] = {0};
    random_state = 11;
    make_graph(uops, COUNT);
    chain_misses(uops, 1000, 1500, 100, 3000);        /* 350,000 cycles */
    chain_misses(uops, QUICK, QUICK + 12000, 15, 30); /* moves, as it does without */
    uops[2 * QUICK].fetch_cache = UINT16_MAX;         /* wide once more */
    chain_misses(uops, COUNT - 9000, COUNT - 6000, 20, 200);
    for (uint32_t i = COUNT - 6000; i < COUNT - 2000; i++) /* F comes up, with imiss not ideal */
        uops[i].fetch_cache = 120;
    expect(&machine, NULL, uops, COUNT, expected);
    for (enum lanes_level level = LANES_AVX2; level < LANES_BEST; level++) {
        struct error error = {0};
        struct graph_lanes *lanes = graph_lanes_new(&machine, NULL, level, &error);
        assert_non_null(lanes);
        add_fragment(lanes, uops, COUNT);
        check(lanes, level, 0, SETS, expected);
        /* A fragment behind it begins anew. */
        add_fragment(lanes, uops, 500);
        int64_t more[SETS];
        memcpy(more, expected, sizeof more);
        expect(&machine, NULL, uops, 500, more);
        check(lanes, level, 1, SETS, more);
        graph_lanes_free(lanes);
    }
    free(uops);
}

static void other_categories(void **state) {
    (void)state;
    struct graph_machine machine = graph_machine();
    struct error error = {0};
    struct categories categories = {0};
    uint32_t *some = calloc(INSNS / 32 + 1, sizeof *some);
    some[0] = 0x0f0f3355;
    const struct category list[] = {
        {.name = "dram", .parts = UINT64_C(1) << GRAPH_PART_MISS_DRAM},
        {.name = "some",
         .parts = UINT64_C(1) << GRAPH_PART_MISS_DRAM | UINT64_C(1) << GRAPH_PART_SHORT,
         .insns = some,
         .insn_count = INSNS},
        {.name = "faster",
         .parts = UINT64_C(1) << GRAPH_PART_L1 | UINT64_C(1) << GRAPH_PART_LONG,
         .change = CATEGORY_FASTER,
         .amount = 1},
        {.name = "half",
         .parts = UINT64_C(1) << GRAPH_PART_MISS_DRAM | UINT64_C(1) << GRAPH_PART_MISS_L2,
         .change = CATEGORY_SCALE,
         .amount = 50},
        {.name = "win", .parts = UINT64_C(1) << GRAPH_PART_WINDOW},
        {.name = "win2",
         .parts = UINT64_C(1) << GRAPH_PART_WINDOW,
         .change = CATEGORY_SCALE,
         .amount = 200},
        {.name = "mul", .parts = UINT64_C(1) << (GRAPH_PART_OPERATION + OP_INT_MUL)},
        {.name = "branch",
         .parts = UINT64_C(1) << GRAPH_PART_MISPREDICT,
         .change = CATEGORY_SCALE,
         .amount = 30},
        {.name = "bw", .parts = UINT64_C(1) << GRAPH_PART_BANDWIDTH}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        assert_true(categories_add(&categories, &list[i], &error));
    random_state = 9;
    compare(&machine, &categories, LANES_PLAIN, LANES_BEST - 1);
    categories_free(&categories);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_set_of_random_graphs),
                                       cmocka_unit_test(queues_in_tables_of_their_own),
                                       cmocka_unit_test(wide_issue),
                                       cmocka_unit_test(odd_windows),
                                       cmocka_unit_test(places_of_two),
                                       cmocka_unit_test(far_apart),
                                       cmocka_unit_test(other_categories)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
