/* Slots of each class, worked by hand on the little machine (core_fixture.h): 4 slots in a cycle,
 * the first µop is fetched in 1 and dispatched in 4, and an add commits 3 cycles after its
 * dispatch. */
#include "../core_fixture.h"

enum { LINE = 64, FAR = 0x100000 };

/* A window of one cycle's µops: the fifth is held until one of the first four has committed. */
static struct machine narrow_machine(void) {
    struct machine machine = little_machine();
    machine.core.rob = 4;
    return machine;
}

static uint64_t slots_of(const struct program_fixture *program, uint32_t insn,
                         enum slot_class class) {
    return units_of(top_down_profile(program->levels), insn, class);
}

static void adds(struct program_fixture *program, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        execute(program, alu(program, (uint8_t)(20 + i % 8), 0, 0));
}

/* Every slot of the run but those that µops took is in `count` cells; simulate_on() asserts that
 * they sum to what there are. */
struct expected {
    uint32_t insn;
    enum slot_class class;
    uint64_t slots;
};
static void expect(struct program_fixture *program, const struct machine *machine, uint64_t cycles,
                   const struct expected *expected, size_t count) {
    uint64_t sum = 0;
    simulate(program, machine, 0);
    assert_int_equal(program->result.cycles, cycles);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(slots_of(program, expected[i].insn, expected[i].class), expected[i].slots);
        sum += expected[i].slots;
    }
    assert_int_equal(sum, 4 * cycles - program->statistics.uops);
    program_fixture_free(program);
}
#define EXPECT(program_, machine_, cycles_, ...)                                                   \
    do {                                                                                           \
        const struct expected expected_[] = {__VA_ARGS__};                                         \
        expect(program_, machine_, cycles_, expected_, sizeof expected_ / sizeof *expected_);      \
    } while (0)

/* Eight independent adds take all slots of cycles 4 and 5, and commit in 7 and 8. Before and behind
 * them there is nothing. */
static void independent_adds_retire(void **state) {
    (void)state;
    const struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    adds(program, 8);
    EXPECT(program, &machine, 8, {0, SLOT_FETCH_OTHER, 4 * 3}, {7, SLOT_FETCH_OTHER, 4 * 3});
}

/* Two instructions are fetched in a cycle: two slots of cycle 4 wait for the third; those of 5
 * behind the last, and of 6 to 8, are of the end. */
static void narrow_fetch_is_bandwidth(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.core.fetch_width = 2;
    struct program_fixture *program = program_fixture_new();
    adds(program, 4);
    EXPECT(program, &machine, 8, {0, SLOT_FETCH_OTHER, 4 * 3}, {2, SLOT_FETCH_BANDWIDTH, 2},
           {3, SLOT_FETCH_OTHER, 2 + 4 * 3});
}

/* Lines and translations of code that are not there: 30 cycles of a walk and the 100 of memory are
 * felt by the first instruction, dispatched in 134. */
static void code_misses_are_latency_of_fetch(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.l1i = (struct machine_cache){
        .present = true, .size = 1024, .ways = 2, .line = LINE, .latency = 1, .mshrs = 2};
    machine.itlb = (struct machine_tlb){.entries = 16};
    machine.page_walk = 30;
    struct program_fixture *program = program_fixture_new();
    adds(program, 4);
    EXPECT(program, &machine, 137, {0, SLOT_FETCH_OTHER, 4 * 3}, {0, SLOT_ICACHE, 4 * 100},
           {0, SLOT_ITLB, 4 * 30}, {3, SLOT_FETCH_OTHER, 4 * 3});
}

static void branch_and_add(struct program_fixture *program, enum branch_kind kind) {
    const uint32_t jump = branch(program, kind, 0);
    program->address = 0x20000;
    const uint32_t add = alu(program, 1, 0, 0);
    execute_taken(program, jump);
    execute(program, add);
}

/* A call with two bubbles dispatches in 4, what is behind it in 7: three slots of 4 are bandwidth,
 * 5 and 6 are bubbles of the call. */
static void taken_branches_have_bubbles(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.branch.call_bubble = 2;
    struct program_fixture *program = program_fixture_new();
    branch_and_add(program, BRANCH_CALL);
    EXPECT(program, &machine, 10, {0, SLOT_FETCH_OTHER, 4 * 3}, {1, SLOT_FETCH_BANDWIDTH, 3},
           {0, SLOT_BUBBLE, 4 * 2}, {1, SLOT_FETCH_OTHER, 3 + 4 * 3});
}

static struct machine predicting_machine(void) {
    struct machine machine = little_machine();
    machine.branch.direction = DIRECTION_BIMODAL;
    machine.branch.bimodal_entries = 64;
    machine.branch.btb_entries = 64;
    machine.branch.btb_ways = 4;
    machine.branch.btb_miss_penalty = 3;
    return machine;
}

/* A jump whose target only decode knows, three cycles later: 5 to 7. */
static void late_targets_are_resteers(void **state) {
    (void)state;
    const struct machine machine = predicting_machine();
    struct program_fixture *program = program_fixture_new();
    branch_and_add(program, BRANCH_JUMP);
    EXPECT(program, &machine, 11, {0, SLOT_FETCH_OTHER, 4 * 3}, {1, SLOT_FETCH_BANDWIDTH, 3},
           {0, SLOT_RESTEER, 4 * 3}, {1, SLOT_FETCH_OTHER, 3 + 4 * 3});
}

/* A mispredicted branch dispatches in 4 and has executed in 6: the rest of 4, and 5 and 6, were for
 * what is not there; what follows is fetched in 7 and dispatches in 10. */
static void mispredictions_are_bad_speculation(void **state) {
    (void)state;
    const struct machine machine = predicting_machine();
    struct program_fixture *program = program_fixture_new();
    branch_and_add(program, BRANCH_CONDITIONAL);
    EXPECT(program, &machine, 13, {0, SLOT_FETCH_OTHER, 4 * 3}, {0, SLOT_RESOLVE, 3 + 4 * 2},
           {0, SLOT_REFILL, 4 * 3}, {1, SLOT_FETCH_OTHER, 3 + 4 * 3});
}

/* A load goes ahead of a store whose address a division makes. It and the add behind it dispatch in
 * 4 and are squashed; all slots until both dispatch again, in 23, are the load's. */
static void violations_are_machine_clears(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.core.disambiguation = DISAMBIGUATE_SPECULATE;
    struct program_fixture *program = program_fixture_new();
    const uint32_t divide = operation(program, OP_INT_DIV, 1, 0);
    const uint32_t write = store(program, 0, 1), read = load(program, 2, 0);
    const uint32_t add = alu(program, 3, 2, 0);
    execute(program, divide);
    execute_at(program, write, FAR, 8);
    execute_at(program, read, FAR, 8);
    execute(program, add);
    EXPECT(program, &machine, 28, {divide, SLOT_FETCH_OTHER, 4 * 3}, {read, SLOT_SQUASHED, 2},
           {read, SLOT_CLEAR_REFILL, 4 * 18}, {add, SLOT_FETCH_OTHER, 2 + 4 * 5});
}

/* The fifth µop is through the front end in 5 and held until the first commits, in 109. */
static void misses_are_dram_latency(void **state) {
    (void)state;
    const struct machine machine = narrow_machine();
    struct program_fixture *program = program_fixture_new();
    execute_at(program, load(program, 1, 0), FAR, 8);
    adds(program, 4);
    EXPECT(program, &machine, 112, {0, SLOT_FETCH_OTHER, 4 * 3},
           {0, SLOT_DRAM_LATENCY, 4 * (109 - 5)}, {4, SLOT_FETCH_OTHER, 3 + 4 * 3});
}

/* A line takes 20 cycles of the bus: the second load has its line 20 cycles after the first, in
 * 128. When the first has committed, in 109, one add comes in; the next is held from then on by the
 * second, for what the bus was taken by the first. */
static void a_busy_bus_is_dram_bandwidth(void **state) {
    (void)state;
    struct machine machine = narrow_machine();
    machine.dram.bandwidth = 3.2;
    struct program_fixture *program = program_fixture_new();
    execute_at(program, load(program, 1, 0), FAR, 8);
    execute_at(program, load(program, 2, 0), FAR + LINE, 8);
    adds(program, 4);
    EXPECT(program, &machine, 132, {0, SLOT_FETCH_OTHER, 4 * 3},
           {0, SLOT_DRAM_LATENCY, 4 * (109 - 5)}, {1, SLOT_DRAM_BANDWIDTH, 3 + 4 * (129 - 110)},
           {5, SLOT_FETCH_OTHER, 3 + 4 * 3});
}

/* 30 cycles of the wait are for the walk, which comes first. */
static void walks_are_dtlb(void **state) {
    (void)state;
    struct machine machine = narrow_machine();
    machine.dtlb = (struct machine_tlb){.entries = 16};
    machine.page_walk = 30;
    struct program_fixture *program = program_fixture_new();
    execute_at(program, load(program, 1, 0), FAR, 8);
    adds(program, 4);
    /* Issued in 5, as if in 6 when it may commit: 5 to 35; then until 139. */
    EXPECT(program, &machine, 142, {0, SLOT_FETCH_OTHER, 4 * 3}, {0, SLOT_DTLB, 4 * (36 - 5)},
           {0, SLOT_DRAM_LATENCY, 4 * (139 - 36)}, {4, SLOT_FETCH_OTHER, 3 + 4 * 3});
}

/* Loads that depend on each other and hit: each holds the dispatch of another for its three cycles,
 * of which the one dispatched then takes a slot. */
static void chains_of_hits_are_l1(void **state) {
    (void)state;
    const struct machine machine = narrow_machine();
    struct program_fixture *program = program_fixture_new();
    execute_at(program, load(program, 1, 0), FAR, 8);
    for (int i = 0; i < 5; i++)
        execute_at(program, load(program, 1, 1), FAR, 8);
    EXPECT(program, &machine, 124, {0, SLOT_FETCH_OTHER, 4 * 3},
           {0, SLOT_DRAM_LATENCY, 4 * (109 - 5)}, {1, SLOT_L1, 3 + 4 * 2},
           {5, SLOT_FETCH_OTHER, 3 + 4 * 12});
}

/* An L1 of one line, which the second load takes from the first: the third finds its line in the
 * level behind, which takes ten cycles, and holds what is behind it. */
static void expect_behind_l1(struct machine *machine, enum slot_class class) {
    machine->l1d.size = LINE;
    machine->l1d.ways = 1;
    struct program_fixture *program = program_fixture_new();
    const uint32_t first = load(program, 1, 1), second = load(program, 1, 1);
    const uint32_t third = load(program, 1, 1);
    execute_at(program, first, FAR, 8);
    execute_at(program, second, FAR + LINE, 8);
    execute_at(program, third, FAR, 8);
    adds(program, 8);
    /* 1 for the address, 10 through the L1 and the level behind, 100 for memory: the first is
     * complete in 5 + 111 and commits in 117; the second 111 later, in 228; the third 11 later. One
     * µop enters when each commits. */
    simulate(program, machine, 0);
    assert_int_equal(program->lives[0].commit, 117);
    assert_int_equal(program->lives[1].commit, 228);
    assert_int_equal(program->lives[2].commit, 239);
    assert_int_equal(slots_of(program, first, SLOT_DRAM_LATENCY), 4 * (117 - 5));
    assert_int_equal(slots_of(program, second, SLOT_DRAM_LATENCY), 3 + 4 * (228 - 118));
    assert_int_equal(slots_of(program, third, class), 3 + 4 * (239 - 229));
    program_fixture_free(program);
}

static void hits_behind_l1_are_of_their_level(void **state) {
    (void)state;
    const struct machine_cache behind = {
        .present = true, .size = 65536, .ways = 8, .line = LINE, .latency = 10, .mshrs = 8};
    struct machine machine = narrow_machine();
    machine.l2 = behind;
    expect_behind_l1(&machine, SLOT_L2);
    machine = narrow_machine();
    machine.llc = behind;
    expect_behind_l1(&machine, SLOT_LLC);
}

/* One instruction commits in a cycle: four adds, complete in 6, commit in 7 to 10. The fifth enters
 * in 7; the sixth is held in the rest of 7 by the second, which is done. */
static void narrow_commit_is_commit(void **state) {
    (void)state;
    struct machine machine = narrow_machine();
    machine.core.commit_width = 1;
    struct program_fixture *program = program_fixture_new();
    adds(program, 6);
    EXPECT(program, &machine, 12, {0, SLOT_FETCH_OTHER, 4 * 3}, {0, SLOT_LATENCY, 4 * 2},
           {1, SLOT_COMMIT, 3}, {5, SLOT_FETCH_OTHER, 3 + 4 * 4});
}

/* A load has what a store before it holds, FORWARD cycles after both have their address, in 6. */
static void forwarded_loads_are_store_forwarding(void **state) {
    (void)state;
    enum { FORWARD = 20 };
    struct machine machine = narrow_machine();
    machine.core.store_forward = FORWARD;
    struct program_fixture *program = program_fixture_new();
    const uint32_t write = store(program, 0, 0), read = load(program, 1, 0);
    execute_at(program, write, FAR, 8);
    execute_at(program, read, FAR, 8);
    adds(program, 4);
    /* The store commits in 7 and one add enters; the load is complete in 6 + 20. */
    EXPECT(program, &machine, 30, {write, SLOT_FETCH_OTHER, 4 * 3}, {write, SLOT_LATENCY, 4 * 2},
           {read, SLOT_FORWARDING, 3 + 4 * (27 - 8)}, {5, SLOT_FETCH_OTHER, 3 + 4 * 3});
}

/* One entry: the second store waits until the line of the first has come. It has an entry from 4 on
 * and commits in 7: until then the slots are of its execution, behind that of its write. */
static void a_full_store_queue_is_store_bound(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.core.store_queue = 1;
    struct program_fixture *program = program_fixture_new();
    execute_at(program, store(program, 0, 0), FAR, 8);
    execute_at(program, store(program, 0, 0), FAR + LINE, 8);
    adds(program, 1);
    EXPECT(program, &machine, 112, {0, SLOT_FETCH_OTHER, 4 * 3}, {0, SLOT_LATENCY, 3 + 4 * 2},
           {0, SLOT_STORE, 4 * (109 - 7)}, {2, SLOT_FETCH_OTHER, 2 + 4 * 3});
}

/* Ten cycles of a division: it commits in 16, and holds the fifth µop from 5 on. */
static void divisions_are_divider(void **state) {
    (void)state;
    const struct machine machine = narrow_machine();
    struct program_fixture *program = program_fixture_new();
    execute(program, operation(program, OP_INT_DIV, 1, 0));
    adds(program, 4);
    EXPECT(program, &machine, 19, {0, SLOT_FETCH_OTHER, 4 * 3}, {0, SLOT_DIVIDER, 4 * (16 - 5)},
           {4, SLOT_FETCH_OTHER, 3 + 4 * 3});
}

/* Dependent adds commit one in a cycle from 7 on: the fifth enters in 7, the sixth in 8. */
static void dependent_adds_are_latency(void **state) {
    (void)state;
    const struct machine machine = narrow_machine();
    struct program_fixture *program = program_fixture_new();
    for (int i = 0; i < 6; i++)
        execute(program, alu(program, 1, 1, 0));
    EXPECT(program, &machine, 12, {0, SLOT_FETCH_OTHER, 4 * 3}, {0, SLOT_LATENCY, 4 * 2},
           {1, SLOT_LATENCY, 3}, {5, SLOT_FETCH_OTHER, 3 + 4 * 4});
}

/* One multiplier for independent multiplications: the second waited a cycle for it, and that cycle
 * is what holds the sixth µop when the first has committed. */
static void waits_for_a_unit_are_ports(void **state) {
    (void)state;
    const struct machine machine = narrow_machine();
    struct program_fixture *program = program_fixture_new();
    for (int i = 0; i < 6; i++)
        execute(program, operation(program, OP_INT_MUL, (uint8_t)(1 + i), 0));
    EXPECT(program, &machine, 15, {0, SLOT_FETCH_OTHER, 4 * 3}, {0, SLOT_LATENCY, 4 * (9 - 5)},
           {1, SLOT_PORTS, 3}, {5, SLOT_FETCH_OTHER, 3 + 4 * 5});
}

/* A system call commits in 7; ten cycles later fetch goes on, and dispatch in 20. */
static void system_calls_are_serializing(void **state) {
    (void)state;
    const struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    execute(program, with_flags(program, alu(program, 5, 0, 0), INSN_SYSCALL));
    adds(program, 1);
    EXPECT(program, &machine, 23, {0, SLOT_FETCH_OTHER, 4 * 3},
           {0, SLOT_SERIALISING, 3 + 4 * (20 - 5)}, {1, SLOT_FETCH_OTHER, 3 + 4 * 3});
}

static void push_four(struct program_fixture *program, struct core *core, uint32_t first) {
    struct error error;
    const struct core_input input = {.code = &program->code,
                                     .insns = program->dynamic + first,
                                     .accesses = program->accesses,
                                     .insn_count = 4};
    assert_true(core_push(core, &input, &error));
    assert_true(core_finish(core, &error));
    assert_true(top_down_finish(program->levels));
}

/* Four adds take cycles 1 to 7. Then the core waits until cycle 100, in which the others are
 * fetched: they are dispatched in 103 and commit in 106. The cycles from 8 to 100 have no slots. */
static void waits_have_no_slots(void **state) {
    (void)state;
    const struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    struct tap *tap = tap_new(NULL);
    struct error error;
    adds(program, 8);
    program->levels = top_down_new(&machine, 0);
    const struct tap_worker worker = top_down_worker(program->levels);
    assert_true(tap_add_worker(tap, &worker, &error));
    const struct core_options options = {.tap = tap};
    struct core *core = core_new(&machine, &options, &error);
    push_four(program, core, 0);
    top_down_wait_until(program->levels, 100);
    core_wait_until(core, 100);
    push_four(program, core, 4);
    core_statistics(core, &program->statistics);
    assert_int_equal(program->statistics.cycles, 7 + 6);
    assert_int_equal(pics_total(top_down_profile(program->levels)), 4 * (7 + 6));
    assert_int_equal(slots_of(program, 0, SLOT_FETCH_OTHER), 4 * 3);
    assert_int_equal(slots_of(program, 3, SLOT_FETCH_OTHER), 4 * 3);
    assert_int_equal(slots_of(program, 4, SLOT_FETCH_OTHER), 4 * 2);
    assert_int_equal(slots_of(program, 7, SLOT_FETCH_OTHER), 4 * 3);
    core_free(core);
    tap_free(tap);
    program_fixture_free(program);
}

/* Every class is in one level that has no parts, and the parts of a level are all of it. */
static void the_tree_is_a_tree(void **state) {
    (void)state;
    uint64_t slots[SLOT_CLASSES];
    for (uint32_t i = 0; i < SLOT_CLASSES; i++)
        slots[i] = 1 + i;
    for (uint32_t i = 0; i < slot_level_count; i++) {
        const struct slot_level *level = &slot_levels[i];
        uint64_t parts = 0;
        for (uint32_t k = i + 1; k < slot_level_count && slot_levels[k].depth > level->depth; k++)
            if (slot_levels[k].depth == level->depth + 1)
                parts += slot_level_slots(&slot_levels[k], slots);
        assert_true(parts == slot_level_slots(level, slots) ||
                    (parts == 0 && level->first == level->last));
    }
    uint64_t first = 0;
    for (uint32_t i = 0; i < slot_level_count; i++)
        if (slot_levels[i].depth == 1)
            first += slot_level_slots(&slot_levels[i], slots);
    assert_int_equal(first, SLOT_CLASSES * (SLOT_CLASSES + 1) / 2);
}

static void what_has_no_slots_says_so(void **state) {
    (void)state;
    struct machine machine = little_machine();
    assert_null(top_down_missing(&machine, 0));
    assert_non_null(top_down_missing(&machine, IDEAL_BW));
    machine.core.in_order = true;
    assert_non_null(top_down_missing(&machine, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(independent_adds_retire),
        cmocka_unit_test(narrow_fetch_is_bandwidth),
        cmocka_unit_test(code_misses_are_latency_of_fetch),
        cmocka_unit_test(taken_branches_have_bubbles),
        cmocka_unit_test(late_targets_are_resteers),
        cmocka_unit_test(mispredictions_are_bad_speculation),
        cmocka_unit_test(violations_are_machine_clears),
        cmocka_unit_test(misses_are_dram_latency),
        cmocka_unit_test(a_busy_bus_is_dram_bandwidth),
        cmocka_unit_test(walks_are_dtlb),
        cmocka_unit_test(chains_of_hits_are_l1),
        cmocka_unit_test(hits_behind_l1_are_of_their_level),
        cmocka_unit_test(narrow_commit_is_commit),
        cmocka_unit_test(forwarded_loads_are_store_forwarding),
        cmocka_unit_test(a_full_store_queue_is_store_bound),
        cmocka_unit_test(divisions_are_divider),
        cmocka_unit_test(dependent_adds_are_latency),
        cmocka_unit_test(waits_for_a_unit_are_ports),
        cmocka_unit_test(system_calls_are_serializing),
        cmocka_unit_test(waits_have_no_slots),
        cmocka_unit_test(the_tree_is_a_tree),
        cmocka_unit_test(what_has_no_slots_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
