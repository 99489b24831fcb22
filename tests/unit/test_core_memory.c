/* Loads and stores in the core, cycle by cycle, on the little machine (core_fixture.h): address
 * generation 1, L1 hit 2 more, forwarding 1 beyond address generation, memory 100 beyond the L1. */
#include "../core_fixture.h"

enum { LINE = 64, FAR = 0x100000 };

/* Dependent loads that hit take 3 cycles each: issue in 5 + 100 + ..., every 3 after the first,
 * which fetches the line: 5 + 1 + 2 + 100 = 108. */
static void dependent_loads_hit(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    for (int i = 0; i < 5; i++)
        execute_at(program, load(program, 1, 1), FAR, 8);
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[0].complete, 108);
    for (uint32_t i = 1; i < 5; i++)
        assert_int_equal(program->lives[i].complete, 108 + 3 * i);
    simulate(program, &machine, IDEAL_DL1); /* address generation alone */
    assert_int_equal(program->lives[4].complete - program->lives[3].complete, 1);
    simulate(program, &machine, IDEAL_DMISS);
    assert_int_equal(program->lives[0].complete, 8);
    program_fixture_free(program);
}

/* A gather from three lines has one MSHR for them, until 107, 209 and 311. The first line has left
 * a cache of one line when the third is fetched, and is not read again. */
static void a_gather_keeps_what_it_has_read(void **state) {
    (void)state;
    for (unsigned small = 0; small < 2; small++) {
        struct machine machine = little_machine();
        machine.l1d.mshrs = 1;
        machine.l1d.ways = small ? 1 : machine.l1d.ways;
        machine.l1d.size = small ? LINE : machine.l1d.size;
        struct program_fixture *program = program_fixture_new();
        struct dynamic_insn *gather = execute_at(program, load(program, 2, 0), FAR, 8);
        for (uint64_t line = 2; line <= 4; line += 2)
            program->accesses[program->access_count++] =
                (struct memory_access){.address = FAR + line * LINE, .size_bytes = 8};
        gather->memory_count = 3;
        simulate(program, &machine, 0);
        assert_int_equal(program->lives[0].issue, 209);
        assert_int_equal(program->lives[0].mshr_wait, 209 - 5);
        assert_int_equal(program->lives[0].complete, 209 + 103);
        assert_int_equal(program->lives[0].psv, PSV_ST_L1 | PSV_ST_LLC);
        program_fixture_free(program);
    }
}

/* Eight independent misses use the eight MSHRs at two ports a cycle: issue in 5, 5, 6, 6 ... The
 * ninth (issued 9) finds none until the first fill, in 107; then it takes its 103 cycles. */
static void mshrs_limit_misses(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    for (int i = 0; i < 9; i++)
        execute_at(program, load(program, (uint8_t)(1 + i), 0), FAR + (uint64_t)i * LINE, 8);
    simulate(program, &machine, 0);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(program->lives[i].complete, 108 + i / 2);
    assert_int_equal(program->lives[8].issue, 107);
    assert_int_equal(program->lives[8].mshr_wait, 107 - 9);
    assert_int_equal(program->lives[8].complete, 107 + 103);
    program_fixture_free(program);
}

/* A pending hit: a second load from the line in flight gets its data when the line arrives, carries
 * ST-L1 and ST-LLC, and names the load that fetched the line. */
static void pending_hit_waits_for_the_fill(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    execute_at(program, load(program, 1, 0), FAR, 8);
    execute_at(program, load(program, 2, 0), FAR + 8, 8);
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[1].issue, 5);
    assert_int_equal(program->lives[1].complete, 108);
    assert_int_equal(program->lives[1].bringer, 0);
    assert_true(program->lives[1].memory_events & MEMORY_PENDING_HIT);
    assert_int_equal(program->lives[1].psv, PSV_ST_L1 | PSV_ST_LLC);
    program_fixture_free(program);
}

/* A software prefetch issues in 5 and is complete when a hit would be, in 8: it commits in 9 while
 * its line is on its way, and no event is its own. A load from that line waits for it until 108. */
static void prefetch_waits_for_nothing(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    execute_at(program, with_flags(program, load(program, 0, 0), INSN_PREFETCH), FAR, 8);
    execute_at(program, load(program, 2, 0), FAR + 8, 8);
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[0].complete, 8);
    assert_int_equal(program->lives[0].commit, 9);
    assert_int_equal(program->lives[0].psv, 0);
    assert_int_equal(program->lives[1].complete, 108);
    assert_true(program->lives[1].memory_events & MEMORY_PENDING_HIT);
    program_fixture_free(program);
}

/* A trace may have an instruction that follows itself, which no program has: it is no basic block,
 * and each of its accesses is its own. 40 stores commit four a cycle from 7 on. */
static void an_instruction_that_follows_itself(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.core.store_queue = 64;
    machine.core.rob = machine.queues[0].entries = 64;
    machine.pools[1].units = 4;
    struct program_fixture *program = program_fixture_new();
    const uint32_t insn = store(program, 0, 0);
    for (int i = 0; i < 40; i++)
        execute_at(program, insn, FAR + 8 * (unsigned)i, 8);
    simulate(program, &machine, 0);
    assert_int_equal(program->life_count, 40);
    assert_int_equal(program->lives[39].commit, 7 + 9);
    program_fixture_free(program);
}

/* A load passes a store whose address hangs on a division (5 to 15), and reads the old value: found
 * out when the store issues in 15. The division commits in 16, the store (complete 16) in 17; the
 * load is then the oldest and flushes in 18. Fetched again 2 later, in 20, dispatched in 23, issued
 * in 24: the store has left the queue, the line is there: 27, committed in 28. Cycles 18 to 27 are
 * the load's, with FL-MO. */
static void ordering_violation_flushes(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.core.disambiguation = DISAMBIGUATE_SPECULATE;
    struct program_fixture *program = program_fixture_new();
    uint32_t warm = load(program, 9, 0);
    uint32_t divide = operation(program, OP_INT_DIV, 1, 9);
    uint32_t write = store(program, 0, 1), read = load(program, 2, 9), add = alu(program, 3, 2, 0);
    execute_at(program, warm, FAR, 8);
    execute(program, divide);
    execute_at(program, write, FAR, 8);
    execute_at(program, read, FAR, 8);
    execute(program, add);
    simulate(program, &machine, 0);
    /* Everything is 103 later: the first load fetches the line (complete 108) and the rest depends
     * on it. */
    assert_int_equal(program->lives[1].issue, 108);
    assert_int_equal(program->lives[2].issue, 118);
    assert_int_equal(program->statistics.ordering_violations, 1);
    assert_int_equal(program->lives[2].commit, 120);
    /* flushed in 121, fetched in 123, dispatched in 126, issued in 127, complete in 130 */
    assert_int_equal(program->lives[3].fetch, 123);
    assert_int_equal(program->lives[3].complete, 130);
    assert_int_equal(program->lives[3].commit, 131);
    assert_int_equal(program->squashed, 2);
    const struct pics *golden = golden_profile(program->golden);
    /* 121 flushing at the head, 122 to 126 empty, 127 to 130 stalled, 131 committing alone */
    assert_int_equal(units_of(golden, read, PSV_FL_MO), (1 + 5 + 4 + 1) * CYCLE_UNITS);
    assert_int_equal(program->result.states[STATE_FLUSHED], 5);

    machine.core.disambiguation = DISAMBIGUATE_PERFECT;
    simulate(program, &machine, 0);
    assert_int_equal(program->statistics.ordering_violations, 0);
    assert_int_equal(program->squashed, 0);
    assert_true(program->lives[3].flags & LIFE_FORWARDED);
    assert_int_equal(program->lives[3].complete, 120);
    program_fixture_free(program);
}

/* With a wait table the second meeting of the pair does not violate. */
static void wait_table_learns(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    uint32_t divide = operation(program, OP_INT_DIV, 1, 0);
    uint32_t write = store(program, 0, 1), read = load(program, 2, 0);
    for (int i = 0; i < 20; i++) {
        execute(program, divide);
        execute_at(program, write, FAR, 8);
        execute_at(program, read, FAR, 8);
    }
    machine.core.disambiguation = DISAMBIGUATE_SPECULATE;
    simulate(program, &machine, 0);
    uint64_t speculated = program->statistics.ordering_violations;
    assert_true(speculated >= 10);
    machine.core.disambiguation = DISAMBIGUATE_WAIT_TABLE;
    simulate(program, &machine, 0);
    assert_true(program->statistics.ordering_violations <= 2);
    program_fixture_free(program);
}

/* A load that goes ahead of an unknown store but finds no MSHR has read nothing: it asks again, and
 * when the store has issued meanwhile it forwards. One MSHR, taken by the first load until 107; the
 * store issues when the division has finished, in 15. */
static void retried_load_does_not_violate(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.core.disambiguation = DISAMBIGUATE_SPECULATE;
    machine.l1d.mshrs = 1;
    struct program_fixture *program = program_fixture_new();
    execute_at(program, load(program, 3, 0), FAR + 4096, 8);
    execute(program, operation(program, OP_INT_DIV, 1, 0));
    execute_at(program, store(program, 0, 1), FAR, 8);
    execute_at(program, load(program, 2, 0), FAR, 8);
    simulate(program, &machine, 0);
    assert_int_equal(program->statistics.ordering_violations, 0);
    assert_true(program->lives[3].flags & LIFE_FORWARDED);
    assert_int_equal(program->lives[3].issue, 107);
    assert_int_equal(program->lives[3].complete, 109);
    program_fixture_free(program);
}

/* A gather that goes ahead of an unknown store and finds no MSHR for its second line reads the
 * first one again, in 107: the store has written there meanwhile. With the store's that is four
 * accesses.
 */
static void a_retried_gather_reads_what_was_stored(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.core.disambiguation = DISAMBIGUATE_SPECULATE;
    machine.l1d.mshrs = 1;
    struct program_fixture *program = program_fixture_new();
    execute(program, operation(program, OP_INT_DIV, 1, 0));
    execute_at(program, store(program, 0, 1), FAR, 8);
    struct dynamic_insn *gather = execute_at(program, load(program, 2, 0), FAR, 8);
    program->accesses[program->access_count++] =
        (struct memory_access){.address = FAR + 2 * LINE, .size_bytes = 8};
    gather->memory_count = 2;
    simulate(program, &machine, 0);
    assert_int_equal(program->statistics.ordering_violations, 0);
    assert_int_equal(program->statistics.memory.l1d.accesses, 4);
    program_fixture_free(program);
}

/* A load that passes an older store of unknown address without overlapping it is not disturbed. */
static void independent_load_passes_unknown_store(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.core.disambiguation = DISAMBIGUATE_SPECULATE;
    struct program_fixture *program = program_fixture_new();
    execute(program, operation(program, OP_INT_DIV, 1, 0));
    execute_at(program, store(program, 0, 1), FAR + 4096, 8);
    execute_at(program, load(program, 2, 0), FAR, 8);
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[2].issue, 5);
    assert_int_equal(program->statistics.ordering_violations, 0);
    program_fixture_free(program);
}

/* A store queue of 2 and stores that miss: the third store cannot dispatch into the empty ROB until
 * the first has been written. Stores commit in 7, are written from 7 and 8: there in 109 and 110.
 * The third dispatches in 109 and carries DR-SQ. */
static void full_store_queue_drains_the_rob(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.core.store_queue = 2;
    struct program_fixture *program = program_fixture_new();
    for (int i = 0; i < 3; i++)
        execute_at(program, store(program, 0, 0), FAR + (uint64_t)i * LINE, 8);
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[1].commit, 7);
    assert_int_equal(program->lives[2].dispatch, 109);
    assert_int_equal(program->lives[2].dispatch_block, DISPATCH_STORE_QUEUE);
    assert_int_equal(program->lives[2].psv, PSV_DR_SQ);
    assert_int_equal(program->result.states[STATE_DRAINED], 4 + 109 - 7);
    program_fixture_free(program);
}

static uint32_t clock_call(struct program_fixture *program) {
    uint32_t number = with_flags(program, operation(program, OP_CLOCK, 1, 0), INSN_SYSCALL);
    program->insns[number].operation = OP_CLOCK;
    return number;
}

/* Two reads of the clock, 30 cycles each on the only unit, an operation, and a load, which waits
 * until the calls have committed. None flushes; the operation dispatches with the calls. */
static void clock_of_a_vdso(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.core.vdso = true;
    machine.classes[OP_CLOCK].latency = machine.classes[OP_CLOCK].interval = 30;
    machine.pools[machine.classes[OP_CLOCK].pool].units = 1;
    struct program_fixture *program = program_fixture_new();
    execute(program, clock_call(program));
    execute(program, clock_call(program));
    execute(program, operation(program, OP_INT_MUL, 2, 0));
    execute_at(program, load(program, 3, 0), FAR, 8);
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[1].issue, program->lives[0].issue + 30);
    assert_int_equal(program->lives[1].complete, program->lives[0].issue + 60);
    assert_int_equal(program->lives[2].dispatch, program->lives[1].dispatch);
    assert_int_equal(program->lives[3].dispatch, program->lives[1].commit);
    program_fixture_free(program);
}

/* The same is a system call where there is none. */
static void clock_without_a_vdso(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.core.syscall_cycles = 50;
    struct program_fixture *program = program_fixture_new();
    execute(program, clock_call(program));
    execute(program, operation(program, OP_INT_ALU, 2, 0));
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[1].fetch, program->lives[0].commit + 50);
    program_fixture_free(program);
}

/* A fence waits for the head and for the store before it to be in the cache (109, see above), and
 * the load behind it does not enter until it has committed. */
static void fence_waits_for_stores(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    execute_at(program, store(program, 0, 0), FAR, 8);
    execute(program, with_flags(program, operation(program, OP_SYSTEM, 0, 0),
                                INSN_FENCE_LOAD | INSN_FENCE_STORE));
    execute_at(program, load(program, 2, 0), FAR, 8);
    simulate(program, &machine, 0);
    /* released in 110: commit looks before the drain of a cycle */
    assert_int_equal(program->lives[1].issue, 110);
    assert_int_equal(program->lives[1].commit, 112);
    assert_int_equal(program->lives[2].dispatch, 112);
    program_fixture_free(program);
}

/* A load that misses the TLB carries ST-TLB and waits for the walk (20); a store translates before
 * it completes. */
static void tlb_misses_show(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.dtlb = (struct machine_tlb){.entries = 16};
    machine.page_walk = 20;
    struct program_fixture *program = program_fixture_new();
    execute_at(program, load(program, 1, 0), FAR, 8);
    execute_at(program, store(program, 0, 0), FAR + 8192, 8);
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[0].complete, 5 + 20 + 103);
    assert_int_equal(program->lives[0].psv, PSV_ST_TLB | PSV_ST_L1 | PSV_ST_LLC);
    assert_int_equal(program->lives[1].complete, 5 + 1 + 20);
    assert_int_equal(program->lives[1].psv, PSV_ST_TLB);
    program_fixture_free(program);
}

/* Instruction cache misses: 16 instructions to a line, each line 1 + 100 cycles late; the first
 * instruction of the packet carries DR-L1 and the cycles are Drained. */
static void fetch_misses_drain(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.l1i = (struct machine_cache){
        .present = true, .size = 4096, .ways = 1, .line = 64, .latency = 1, .mshrs = 1};
    struct program_fixture *program = program_fixture_new();
    for (int i = 0; i < 32; i++)
        execute(program, alu(program, (uint8_t)(1 + i % 20), 0, 0));
    simulate(program, &machine, 0);
    /* missed in 1, there 100 later than a hit would be */
    assert_int_equal(program->lives[0].fetch, 101);
    assert_int_equal(program->lives[0].psv, PSV_DR_L1);
    assert_int_equal(program->lives[0].fetch_delay_cache, 100);
    assert_int_equal(program->lives[1].psv, 0);
    /* the second line: asked for in 105, there in 205 */
    assert_int_equal(program->lives[16].fetch, 205);
    assert_int_equal(program->lives[16].psv, PSV_DR_L1);
    simulate(program, &machine, IDEAL_IMISS);
    assert_int_equal(program->lives[16].fetch, 5);
    program_fixture_free(program);
}

/* Packets of three: the sixth is cut short by the second line. It goes without delay, in 106, when
 * that line is asked for; what is in the line comes in 206 and had to wait for it. */
static void a_line_missed_within_a_packet_delays_the_next(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.core.fetch_width = 3;
    machine.l1i = (struct machine_cache){
        .present = true, .size = 4096, .ways = 1, .line = 64, .latency = 1, .mshrs = 1};
    struct program_fixture *program = program_fixture_new();
    for (int i = 0; i < 32; i++)
        execute(program, alu(program, (uint8_t)(1 + i % 20), 0, 0));
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[15].fetch, 106);
    assert_int_equal(program->lives[15].fetch_delay_cache, 0);
    assert_int_equal(program->lives[15].psv, 0);
    assert_int_equal(program->lives[16].fetch, 206);
    assert_int_equal(program->lives[16].fetch_delay_cache, 100);
    assert_int_equal(program->lives[16].psv, PSV_DR_L1);
    assert_int_equal(program->lives[19].fetch_delay_cache, 0);
    program_fixture_free(program);
}

/* Fetch takes 4 cycles for a line of 16 instructions. Prediction asks for a line two ahead of it:
 * for the first two in 1, so that the second, to which fetch comes in 105, has missed nothing; for
 * the third when the first is there, in 101: 92 cycles late in 109. The fourth is asked for in 105,
 * and there when fetch comes in 205; the fifth in 201. */
static void prediction_asks_for_lines_ahead(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.l1i = (struct machine_cache){
        .present = true, .size = 4096, .ways = 1, .line = 64, .latency = 1, .mshrs = 4};
    machine.branch.lines_ahead = 2;
    struct program_fixture *program = program_fixture_new();
    for (int i = 0; i < 80; i++)
        execute(program, alu(program, (uint8_t)(1 + i % 20), 0, 0));
    simulate(program, &machine, 0);
    static const struct {
        uint32_t fetch, delay;
    } LINES[] = {{101, 100}, {105, 0}, {201, 92}, {205, 0}, {301, 92}};
    for (int line = 0; line < 5; line++) {
        const struct life *first = &program->lives[16 * line];
        assert_int_equal(first->fetch, LINES[line].fetch);
        assert_int_equal(first->fetch_delay_cache, LINES[line].delay);
        assert_int_equal(first->psv, LINES[line].delay ? PSV_DR_L1 : 0);
    }
    program_fixture_free(program);
}

/* A branch at the end of the first line is mispredicted: fetched in 104, complete in 109.
 * Prediction was on another path: it asks for the line of the target in 110, when fetch goes on,
 * and for the one behind it. With the branch predicted right all were asked for in 1. */
static void lines_of_another_path_are_not_ahead(void **state) {
    (void)state;
    static const uint32_t FETCHES[3][2] = {{210, 314}, {210, 214}, {105, 109}};
    for (uint32_t kind = 0; kind < 3; kind++) {
        struct machine machine = little_machine();
        machine.l1i = (struct machine_cache){
            .present = true, .size = 4096, .ways = 1, .line = 64, .latency = 1, .mshrs = 4};
        machine.branch = (struct machine_branch){.direction = DIRECTION_BIMODAL,
                                                 .bimodal_entries = 1024,
                                                 .ras_entries = 8,
                                                 .lines_ahead = kind ? 4 : 0};
        struct program_fixture *program = program_fixture_new();
        for (int i = 0; i < 15; i++)
            execute(program, alu(program, (uint8_t)(1 + i), 0, 0));
        const uint32_t jump = branch(program, BRANCH_CONDITIONAL, 0);
        program->address += 0x100;
        execute_taken(program, jump);
        for (int i = 0; i < 32; i++)
            execute(program, alu(program, (uint8_t)(1 + i % 20), 0, 0));
        simulate(program, &machine, kind == 2 ? IDEAL_BMISP : 0);
        assert_int_equal(program->lives[15].fetch, 104);
        assert_int_equal(program->lives[16].fetch, FETCHES[kind][0]);
        assert_int_equal(program->lives[32].fetch, FETCHES[kind][1]);
        program_fixture_free(program);
    }
}

/* The branch behind a load that violated the order is fetched twice, and mispredicted both times:
 * the line of its target, which was asked for first behind the squashed one, has no lead by that,
 * and comes when it would without any. */
static void squashed_work_gives_no_lead(void **state) {
    (void)state;
    uint64_t fetched[2];
    for (uint32_t ahead = 0; ahead < 2; ahead++) {
        struct machine machine = little_machine();
        machine.core.disambiguation = DISAMBIGUATE_SPECULATE;
        machine.l1i = (struct machine_cache){
            .present = true, .size = 4096, .ways = 1, .line = 64, .latency = 1, .mshrs = 4};
        machine.branch = (struct machine_branch){.direction = DIRECTION_BIMODAL,
                                                 .bimodal_entries = 1024,
                                                 .ras_entries = 8,
                                                 .lines_ahead = ahead * MACHINE_MOST_LINES_AHEAD};
        struct program_fixture *program = program_fixture_new();
        const uint32_t first = load(program, 3, 0);
        const uint32_t divide = operation(program, OP_INT_DIV, 1, 3);
        const uint32_t write = store(program, 0, 1), read = load(program, 2, 3);
        const uint32_t jump = branch(program, BRANCH_CONDITIONAL, 3);
        program->address += 0x100;
        const uint32_t target = alu(program, 4, 0, 0);
        execute_at(program, first, FAR, 8);
        execute(program, divide);
        execute_at(program, write, FAR, 8);
        execute_at(program, read, FAR, 8);
        execute_taken(program, jump);
        execute(program, target);
        simulate(program, &machine, 0);
        assert_int_equal(program->statistics.ordering_violations, 1);
        fetched[ahead] = program->lives[5].fetch;
        program_fixture_free(program);
    }
    assert_int_equal(fetched[1], fetched[0]);
}

/* A repeated string store of 200 bytes is four line-sized pieces, one instruction. */
static void repeated_stores_expand(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    uint32_t rep = with_flags(program, store(program, 0, 0), INSN_REP);
    struct dynamic_insn *dynamic = execute_at(program, rep, FAR, 200);
    dynamic->flags |= DYN_REP;
    dynamic->repeat = 25;
    execute(program, alu(program, 1, 0, 0));
    simulate(program, &machine, 0);
    assert_int_equal(program->statistics.instructions, 2);
    assert_int_equal(program->statistics.uops, 5);
    assert_int_equal(program->statistics.stores, 4);
    program_fixture_free(program);
}

/* Nothing is dispatched behind a repeated string instruction while its microcode starts, however
 * many pieces it has: the addition in 4 + 28, where it would be with the last piece. */
static void microcode_stops_dispatch(void **state) {
    (void)state;
    struct machine machine = little_machine();
    for (uint32_t pieces = 1; pieces <= 4; pieces += 3) {
        struct program_fixture *program = program_fixture_new();
        const uint32_t rep = with_flags(program, store(program, 0, 0), INSN_REP);
        struct dynamic_insn *dynamic = execute_at(program, rep, FAR, 64 * pieces);
        dynamic->flags |= DYN_REP;
        dynamic->repeat = 8 * pieces;
        execute(program, alu(program, 1, 0, 0));
        machine.core.string_start = 0;
        simulate(program, &machine, 0);
        assert_int_equal(program->lives[pieces].dispatch, pieces == 4 ? 5 : 4);
        machine.core.string_start = 28;
        simulate(program, &machine, 0);
        assert_int_equal(program->lives[pieces - 1].dispatch, 4);
        assert_int_equal(program->lives[pieces].dispatch, 4 + 28);
        simulate(program, &machine, IDEAL_BW);
        assert_int_equal(program->lives[pieces].dispatch, 4);
        program_fixture_free(program);
    }
}

/* A compare and the branch behind it are one µop that counts as two instructions; without fusion
 * two. */
static void compare_and_branch_fuse(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    uint32_t compare =
        with_flags(program, alu(program, REG_X86_FLAGS, 1, 2), INSN_SETS_FLAGS_FOR_FUSION);
    uint32_t jump = with_flags(program, branch(program, BRANCH_CONDITIONAL, REG_X86_FLAGS),
                               INSN_FUSES_WITH_FLAGS);
    execute(program, compare);
    execute(program, jump);
    execute(program, alu(program, 1, 0, 0));
    simulate(program, &machine, 0);
    assert_int_equal(program->statistics.uops, 3);
    assert_int_equal(program->lives[1].issue, 6); /* after the compare */
    machine.core.fuse_compare_branch = true;
    simulate(program, &machine, 0);
    assert_int_equal(program->statistics.uops, 2);
    assert_int_equal(program->statistics.instructions, 3);
    assert_int_equal(program->lives[0].issue, 5);
    assert_int_equal(program->lives[0].insn, jump);
    program_fixture_free(program);
}

/* An eliminated move renames: the add behind it issues with its producer's result, a cycle after
 * the first add and not two. */
static void moves_are_eliminated(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    execute(program, alu(program, 1, 0, 0));
    execute(program, with_flags(program, alu(program, 2, 1, 0), INSN_MOVE));
    execute(program, alu(program, 3, 2, 0));
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[2].issue, 7);
    machine.core.eliminate_moves = true;
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[2].issue, 6);
    assert_int_equal(program->statistics.uops, 3); /* it still takes a ROB entry */
    program_fixture_free(program);
}

/* An instruction that adds a constant to a register, and writes the flags. */
static uint32_t add_constant(struct program_fixture *program, uint8_t to, uint8_t from) {
    const uint32_t number = alu(program, to, from, 0);
    struct uop *uop = &program->uops[program->insns[number].first_uop];
    uop->destination[uop->destination_count++] = REG_X86_CF;
    uop->destination[uop->destination_count++] = REG_X86_FLAGS;
    program->insns[number].adds_constant = true;
    return number;
}

/* The product issues in 5 and is there in 8, the addition in 9: who reads its register or one of
 * its flags issues with it, or, where the addition is eliminated, with the product, in 8. Two of
 * the readers are the fifth and sixth µop, which dispatch in 5. */
static void additions_of_constants_are_eliminated(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    execute(program, operation(program, OP_INT_MUL, 1, 0));
    execute(program, add_constant(program, 2, 1));
    execute(program, alu(program, 3, 2, 0));
    execute(program, alu(program, 4, REG_X86_CF, 0));
    execute(program, alu(program, 5, REG_X86_FLAGS, 0));
    execute(program, add_constant(program, 2, 2));
    execute(program, alu(program, 6, 2, 0));
    for (int eliminated = 0; eliminated < 2; eliminated++) {
        machine.core.eliminate_additions = eliminated;
        machine.core.eliminate_moves = !eliminated; /* each by itself */
        simulate(program, &machine, 0);
        for (uint32_t k = 2; k < 5; k++)
            assert_int_equal(program->lives[k].issue, eliminated ? 8 : 9);
        assert_int_equal(program->lives[6].issue, eliminated ? 8 : 10);
        assert_int_equal((program->lives[1].flags & LIFE_ELIMINATED) != 0, eliminated);
        assert_int_equal(program->lives[1].commit, eliminated ? 9 : 10); /* after the product */
        assert_int_equal(program->statistics.uops, 7); /* it still takes a ROB entry */
    }
    program_fixture_free(program);
}

/* Of the one register beyond the architecture's 32, which the product holds until it commits in 9,
 * the addition needs none and dispatches with it in 4; executed, in 9. */
static void eliminated_additions_hold_no_register(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    machine.core.int_registers = 33;
    execute(program, operation(program, OP_INT_MUL, 1, 0));
    execute(program, add_constant(program, 2, 1));
    for (int eliminated = 0; eliminated < 2; eliminated++) {
        machine.core.eliminate_additions = eliminated;
        simulate(program, &machine, 0);
        assert_int_equal(program->lives[0].commit, 9);
        assert_int_equal(program->lives[1].dispatch, eliminated ? 4 : 9);
    }
    program_fixture_free(program);
}

/* An addition that fuses with a branch executes as that, on the branch's unit, and holds a
 * register: the pair issues when the product is there, in 8. Of the two registers beyond the
 * architecture's the product's is free when it commits, in 9: then who reads the sum dispatches. */
static void fused_additions_execute(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    machine.core.fuse_compare_branch = true;
    machine.core.int_registers = 34;
    execute(program, operation(program, OP_INT_MUL, 1, 0));
    execute(program, with_flags(program, add_constant(program, 2, 1), INSN_SETS_FLAGS_FOR_FUSION));
    execute(program, with_flags(program, branch(program, BRANCH_CONDITIONAL, REG_X86_FLAGS),
                                INSN_FUSES_WITH_FLAGS));
    execute(program, alu(program, 3, 2, 0));
    for (int eliminated = 0; eliminated < 2; eliminated++) {
        machine.core.eliminate_additions = eliminated;
        simulate(program, &machine, 0);
        assert_int_equal(program->statistics.uops, 3);
        assert_false(program->lives[1].flags & LIFE_ELIMINATED);
        assert_true(program->lives[1].flags & LIFE_INT_REGISTER);
        assert_int_equal(program->lives[1].issue, 8);
        assert_int_equal(program->lives[2].dispatch, 9);
        assert_int_equal(program->lives[2].issue, 10);
    }
    program_fixture_free(program);
}

static struct core_statistics run_alone(struct core *core, const struct program_fixture *program) {
    struct error error = {0};
    struct core_statistics statistics;
    const struct core_input input = {.code = &program->code,
                                     .insns = program->dynamic,
                                     .accesses = program->accesses,
                                     .insn_count = program->dynamic_count,
                                     .access_count = program->access_count};
    if (!core_push(core, &input, &error) || !core_finish(core, &error))
        fail_msg("%s", error.message);
    core_statistics(core, &statistics);
    return statistics;
}

/* The next core finds the lines that one core has fetched: its first load hits, and everything ends
 * 100 cycles earlier. Its time starts at 0 again: a line that arrived in 108 is there in 5. */
static void a_core_begins_with_what_another_learned(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    struct error error = {0};
    const struct core_options options = {0};
    struct core_learned learned = {0}, copy = {0};
    const struct core_options begun = {.learned = &learned}, again = {.learned = &copy};
    for (int i = 0; i < 5; i++)
        execute_at(program, load(program, 1, 1), FAR, 8);
    struct core *first = core_new(&machine, &options, &error);
    struct core_statistics cold = run_alone(first, program);
    assert_true(
        core_learned_copy(&copy, &machine, 0, core_memory(first), core_predictor(first), &error));
    core_give(first, &learned);
    core_free(first);
    struct core *second = core_new(&machine, &begun, &error);
    assert_null(learned.memory);
    struct core_statistics warm = run_alone(second, program);
    assert_int_equal(warm.cycles, cold.cycles - 100);
    assert_int_equal(cold.memory.l1d.misses, 1);
    assert_int_equal(warm.memory.l1d.misses, 1); /* that of the first */
    core_give(second, &learned);
    core_free(second);
    /* A copy knows the same; its counts begin with it. */
    struct core *third = core_new(&machine, &again, &error);
    struct core_statistics copied = run_alone(third, program);
    assert_int_equal(copied.cycles, warm.cycles);
    assert_int_equal(copied.memory.l1d.misses, 0);
    core_give(third, &copy);
    core_free(third);
    /* What a copy takes the place of is forgotten: with nothing learned the line is fetched. */
    struct core *fresh = core_new(&machine, &options, &error);
    assert_true(
        core_learned_copy(&copy, &machine, 0, core_memory(fresh), core_predictor(fresh), &error));
    core_free(fresh);
    struct core *fourth = core_new(&machine, &again, &error);
    assert_int_equal(run_alone(fourth, program).cycles, cold.cycles);
    core_free(fourth);
    core_learned_free(&learned);
    core_learned_free(&learned); /* nothing */
    program_fixture_free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dependent_loads_hit),
        cmocka_unit_test(mshrs_limit_misses),
        cmocka_unit_test(a_gather_keeps_what_it_has_read),
        cmocka_unit_test(pending_hit_waits_for_the_fill),
        cmocka_unit_test(prefetch_waits_for_nothing),
        cmocka_unit_test(an_instruction_that_follows_itself),
        cmocka_unit_test(ordering_violation_flushes),
        cmocka_unit_test(wait_table_learns),
        cmocka_unit_test(retried_load_does_not_violate),
        cmocka_unit_test(a_retried_gather_reads_what_was_stored),
        cmocka_unit_test(independent_load_passes_unknown_store),
        cmocka_unit_test(full_store_queue_drains_the_rob),
        cmocka_unit_test(clock_of_a_vdso),
        cmocka_unit_test(clock_without_a_vdso),
        cmocka_unit_test(fence_waits_for_stores),
        cmocka_unit_test(tlb_misses_show),
        cmocka_unit_test(fetch_misses_drain),
        cmocka_unit_test(prediction_asks_for_lines_ahead),
        cmocka_unit_test(lines_of_another_path_are_not_ahead),
        cmocka_unit_test(squashed_work_gives_no_lead),
        cmocka_unit_test(a_line_missed_within_a_packet_delays_the_next),
        cmocka_unit_test(repeated_stores_expand),
        cmocka_unit_test(microcode_stops_dispatch),
        cmocka_unit_test(compare_and_branch_fuse),
        cmocka_unit_test(moves_are_eliminated),
        cmocka_unit_test(additions_of_constants_are_eliminated),
        cmocka_unit_test(eliminated_additions_hold_no_register),
        cmocka_unit_test(fused_additions_execute),
        cmocka_unit_test(a_core_begins_with_what_another_learned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
