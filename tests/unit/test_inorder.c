/* The in-order core's timing, cycle by cycle, worked by hand: 4 wide, 3 cycles from fetch to the
 * head of the issue queue, so the first µop is fetched in 1 and issues in 4. "Commits" are issues.
 */
#include "../core_fixture.h"

#include "core/stall_causes.h"

static struct machine inorder_machine(void) {
    struct machine machine = little_machine();
    machine.core.in_order = true;
    return machine;
}

/* ---- the cycle in which each µop issued ---- */

struct issues {
    uint64_t cycle[FIXTURE_DYNAMIC];
    uint32_t count;
};

static bool keep_issues(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct issues *issues = context;
    struct tap_state state = buffer->start;
    (void)error;
    for (const uint64_t *word = buffer->words, *end = word + buffer->used; word < end;) {
        struct tap_record record;
        word = tap_read(word, &record);
        tap_advance(&state, &record);
        for (unsigned i = 0; i < record.count; i++)
            issues->cycle[issues->count++] = state.cycle;
    }
    return true;
}

struct run {
    struct program_fixture *program;
    struct issues issues;
    struct stall_cell *cells;
    size_t cell_count;
    struct stall_events events[FIXTURE_DYNAMIC]; /* by static instruction */
};

static struct run *run_new(void) {
    struct run *run = calloc(1, sizeof *run);
    assert_non_null(run);
    run->program = program_fixture_new();
    run->program->without_life = true;
    return run;
}

static void run_free(struct run *run) {
    program_fixture_free(run->program);
    free(run->cells);
    free(run);
}

/* Simulates; causes sum to the cycles. */
static void issue_all(struct run *run, const struct machine *machine, uint32_t ideal,
                      uint32_t batch) {
    struct tap_worker worker = {.name = "issues", .consume = keep_issues, .context = &run->issues};
    run->issues.count = 0;
    free(run->cells);
    run->program->worker = &worker;
    run->program->causes = stall_causes_new();
    simulate_on(run->program, machine, ideal, batch, NULL, NULL);
    run->cells = stall_causes_cells(run->program->causes, &run->cell_count);
    size_t known;
    const struct stall_events *events = stall_causes_events(run->program->causes, &known);
    assert_true(known <= FIXTURE_DYNAMIC);
    memset(run->events, 0, sizeof run->events);
    if (known)
        memcpy(run->events, events, known * sizeof *events);
    stall_causes_free(run->program->causes);
    assert_non_null(run->cells);
    uint64_t sum = 0;
    for (size_t i = 0; i < run->cell_count; i++)
        sum += run->cells[i].cycles;
    assert_int_equal(sum, run->program->statistics.cycles);
}

static void issues_in(struct run *run, const struct machine *machine, uint32_t ideal,
                      const uint64_t *cycles, uint32_t count) {
    issue_all(run, machine, ideal, FIXTURE_DYNAMIC);
    assert_int_equal(run->issues.count, count);
    for (uint32_t i = 0; i < count; i++)
        if (run->issues.cycle[i] != cycles[i])
            fail_msg("µop %u issued in %llu, not %llu", i, (unsigned long long)run->issues.cycle[i],
                     (unsigned long long)cycles[i]);
}
#define ISSUES_IN(run, machine, ideal, ...)                                                        \
    issues_in(run, machine, ideal, (const uint64_t[]){__VA_ARGS__},                                \
              sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static uint64_t caused(const struct run *run, uint32_t insn, enum stall_cause cause,
                       uint32_t culprit) {
    for (size_t i = 0; i < run->cell_count; i++)
        if (run->cells[i].insn == insn && run->cells[i].cause == cause &&
            run->cells[i].culprit == culprit)
            return run->cells[i].cycles;
    return 0;
}

/* ---- issue ---- */

/* Packets of four arrive in 4 and 5 and issue whole. */
static void independent_adds_take_the_width(void **state) {
    (void)state;
    struct machine machine = inorder_machine();
    struct run *run = run_new();
    for (int i = 0; i < 8; i++)
        execute(run->program, alu(run->program, (uint8_t)(1 + i), 0, 0));
    ISSUES_IN(run, &machine, 0, 4, 4, 4, 4, 5, 5, 5, 5);
    /* Cycles 1 to 3 nothing was at the head. */
    assert_int_equal(caused(run, 0, STALL_FETCH, UINT32_MAX), 3);
    assert_int_equal(caused(run, 0, STALL_NONE, 0), 1);
    assert_int_equal(caused(run, 4, STALL_NONE, 4), 1);
    assert_int_equal(run->program->statistics.cycles, 5);
    run_free(run);
}

/* The second waits a cycle for the first, and all behind it with it, though they are ready. */
static void order_holds_back_what_is_ready(void **state) {
    (void)state;
    struct machine machine = inorder_machine();
    struct run *run = run_new();
    execute(run->program, alu(run->program, 1, 0, 0));
    execute(run->program, alu(run->program, 2, 1, 0));
    for (int i = 0; i < 6; i++)
        execute(run->program, alu(run->program, (uint8_t)(3 + i), 0, 0));
    /* In 5 go the second to the fifth, which is of the next packet. */
    ISSUES_IN(run, &machine, 0, 4, 5, 5, 5, 5, 6, 6, 6);
    /* When packets issue whole the second packet begins a cycle of its own. */
    machine.core.group_issue = true;
    ISSUES_IN(run, &machine, 0, 4, 5, 5, 5, 6, 6, 6, 6);
    assert_int_equal(caused(run, 4, STALL_NONE, 4), 1);
    run_free(run);
}

/* Two pipes of which one alone stores, as E0 and E1 of the 21164: an add goes beside a store, a
 * second store waits a cycle. */
static void pipes_are_slots(void **state) {
    (void)state;
    struct machine machine = inorder_machine();
    machine.queues[0].issue = 2;
    machine.pools[0].units = 2;
    machine.pools[1].units = 1;
    struct run *run = run_new();
    struct program_fixture *program = run->program;
    uint32_t first = store(program, 1, 0), add = alu(program, 2, 0, 0);
    uint32_t second = store(program, 1, 0), third = store(program, 1, 0);
    execute_at(program, first, 0x1000, 8);
    execute(program, add);
    execute_at(program, second, 0x1008, 8);
    execute_at(program, third, 0x1010, 8);
    ISSUES_IN(run, &machine, 0, 4, 4, 5, 6);
    assert_int_equal(caused(run, third, STALL_NONE, third), 1);
    /* Slots are bandwidth. */
    ISSUES_IN(run, &machine, IDEAL_BW, 4, 4, 4, 4);
    run_free(run);
}

/* The multiplier takes another after 8 cycles; its result is there after 12. */
static void multiplier_is_busy(void **state) {
    (void)state;
    struct machine machine = inorder_machine();
    machine.classes[OP_INT_MUL] = (struct machine_class){2, 12, 8};
    struct run *run = run_new();
    struct program_fixture *program = run->program;
    uint32_t first = operation(program, OP_INT_MUL, 1, 0);
    uint32_t second = operation(program, OP_INT_MUL, 2, 0), use = alu(program, 3, 1, 0);
    execute(program, first);
    execute(program, second);
    execute(program, use);
    ISSUES_IN(run, &machine, 0, 4, 12, 16);
    assert_int_equal(caused(run, second, STALL_UNIT, second), 7);
    assert_int_equal(caused(run, use, STALL_DEPENDENCE, first), 3);
    run_free(run);
}

/* Results of one register come in order: the add must not finish before the multiply. */
static void results_come_in_order(void **state) {
    (void)state;
    struct machine machine = inorder_machine();
    struct run *run = run_new();
    execute(run->program, operation(run->program, OP_INT_MUL, 1, 0));
    execute(run->program, alu(run->program, 1, 0, 0));
    /* The multiply's result is there in 7; the add's is one cycle after its issue. */
    ISSUES_IN(run, &machine, 0, 4, 6);
    run_free(run);
}

/* ---- memory ---- */

/* A load that hits is used 1 + 2 cycles later. One that misses is there 100 later; the first two
 * cycles of the stall are those of a hit. What does not need it goes on. */
static void loads_stall_their_users(void **state) {
    (void)state;
    struct machine machine = inorder_machine();
    struct run *run = run_new();
    struct program_fixture *program = run->program;
    uint32_t miss = load(program, 1, 0), other = alu(program, 2, 0, 0);
    uint32_t use = alu(program, 3, 1, 0), hit = load(program, 4, 0), last = alu(program, 5, 4, 0);
    execute_at(program, miss, 0x1000, 8);
    execute(program, other);
    execute(program, use);
    execute_at(program, hit, 0x1008, 8);
    execute(program, last);
    /* Access in 5, a hit's data in 7, the miss's in 107. */
    ISSUES_IN(run, &machine, 0, 4, 4, 107, 107, 110);
    assert_int_equal(caused(run, use, STALL_DEPENDENCE, miss), 2);
    assert_int_equal(caused(run, use, STALL_DMISS, miss), 100);
    assert_int_equal(caused(run, last, STALL_DEPENDENCE, hit), 2);
    /* The stalled instruction has the load's event. */
    assert_int_equal(units_of(golden_profile(program->golden), use, PSV_ST_L1 | PSV_ST_LLC),
                     103 * CYCLE_UNITS - CYCLE_UNITS / 2);
    ISSUES_IN(run, &machine, IDEAL_DMISS, 4, 4, 7, 7, 10);
    ISSUES_IN(run, &machine, IDEAL_DMISS | IDEAL_DL1, 4, 4, 5, 5, 6);
    run_free(run);
}

/* A translation that misses takes 30 cycles, before the access. */
static void translation_comes_first(void **state) {
    (void)state;
    struct machine machine = inorder_machine();
    machine.dtlb = (struct machine_tlb){.entries = 4};
    machine.page_walk = 30;
    struct run *run = run_new();
    uint32_t miss = load(run->program, 1, 0), use = alu(run->program, 2, 1, 0);
    execute_at(run->program, miss, 0x1000, 8);
    execute(run->program, use);
    ISSUES_IN(run, &machine, 0, 4, 137);
    assert_int_equal(caused(run, use, STALL_DEPENDENCE, miss), 2);
    assert_int_equal(caused(run, use, STALL_DTLB, miss), 30);
    assert_int_equal(caused(run, use, STALL_DMISS, miss), 100);
    run_free(run);
}

/* One miss register: the second load stands at the head until the first line is there. */
static void miss_registers_stall_the_load(void **state) {
    (void)state;
    struct machine machine = inorder_machine();
    machine.l1d.mshrs = 1;
    struct run *run = run_new();
    uint32_t first = load(run->program, 1, 0), second = load(run->program, 2, 0);
    execute_at(run->program, first, 0x1000, 8);
    execute_at(run->program, second, 0x2000, 8);
    /* Accesses in 5 and in 107. */
    ISSUES_IN(run, &machine, 0, 4, 106);
    assert_int_equal(caused(run, second, STALL_MISS_REGISTERS, second), 101);
    assert_int_equal(run->events[first].times[EVENT_DMISS], 1);
    assert_int_equal(run->events[second].times[EVENT_DMISS], 1);
    run_free(run);
}

/* A write buffer of two lines. Stores enter a cycle after they issue, two a cycle; a line that
 * misses is owned 2 + 100 cycles later. Lines are written one by one: the first from 5 to 107, the
 * second to 209. The third store finds both places taken until 107, the fourth until 209. A store
 * to a line that waits joins it. */
static void write_buffer_fills(void **state) {
    (void)state;
    struct machine machine = inorder_machine();
    machine.core.store_queue = 2;
    struct run *run = run_new();
    struct program_fixture *program = run->program;
    uint32_t stores[5];
    static const uint64_t lines[] = {0x1000, 0x2000, 0x2008, 0x3000, 0x4000};
    for (int i = 0; i < 5; i++)
        stores[i] = store(program, 1, 0);
    for (int i = 0; i < 5; i++)
        execute_at(program, stores[i], lines[i], 8);
    ISSUES_IN(run, &machine, 0, 4, 4, 5, 107, 209);
    assert_int_equal(caused(run, stores[3], STALL_WRITE_BUFFER, stores[3]), 101);
    assert_int_equal(caused(run, stores[4], STALL_WRITE_BUFFER, stores[4]), 101);
    run_free(run);
}

/* A fence waits until the write buffer is empty: the line is owned in 107. */
static void fence_waits_for_stores(void **state) {
    (void)state;
    struct machine machine = inorder_machine();
    struct run *run = run_new();
    struct program_fixture *program = run->program;
    uint32_t write = store(program, 1, 0);
    uint32_t fence = with_flags(program, operation(program, OP_SYSTEM, 0, 0), INSN_FENCE_STORE);
    execute_at(program, write, 0x1000, 8);
    execute(program, fence);
    ISSUES_IN(run, &machine, 0, 4, 107);
    assert_int_equal(caused(run, fence, STALL_SYNCHRONISATION, fence), 102);
    run_free(run);
}

/* ---- the front end ---- */

/* A branch that was taken and predicted not to be: issues in 4, executed in 5, the right path is
 * fetched in 6 and arrives in 9. */
static void misprediction_empties_the_front_end(void **state) {
    (void)state;
    struct machine machine = inorder_machine();
    machine.branch = (struct machine_branch){
        .direction = DIRECTION_BIMODAL, .bimodal_entries = 1024, .ras_entries = 8};
    struct run *run = run_new();
    struct program_fixture *program = run->program;
    uint32_t jump = branch(program, BRANCH_CONDITIONAL, 0);
    program->address += 0x100;
    uint32_t add = alu(program, 1, 0, 0);
    execute_taken(program, jump);
    execute(program, add);
    ISSUES_IN(run, &machine, 0, 4, 9);
    assert_int_equal(caused(run, add, STALL_MISPREDICT, jump), 4);
    assert_int_equal(run->events[jump].times[EVENT_MISPREDICT], 1);
    assert_int_equal(run->events[jump].times[EVENT_TAKEN], 1);
    assert_int_equal(program->result.states[STATE_FLUSHED], 4);
    ISSUES_IN(run, &machine, IDEAL_BMISP, 4, 5);
    machine.branch.taken_bubble = 2;
    ISSUES_IN(run, &machine, IDEAL_BMISP, 4, 7);
    assert_int_equal(caused(run, add, STALL_FETCH, jump), 2);
    run_free(run);
}

/* Lines of 16 instructions come 100 cycles late, the first in 101; fetch of the second begins when
 * the first is fetched, in 105. */
static void instruction_misses_delay_packets(void **state) {
    (void)state;
    struct machine machine = inorder_machine();
    machine.l1i.present = true;
    machine.l1i.size = 4096;
    machine.l1i.mshrs = 4;
    struct run *run = run_new();
    for (int i = 0; i < 20; i++)
        execute(run->program, alu(run->program, (uint8_t)(1 + i), 0, 0));
    issue_all(run, &machine, 0, FIXTURE_DYNAMIC);
    assert_int_equal(run->issues.cycle[0], 104);
    assert_int_equal(run->issues.cycle[15], 107);
    assert_int_equal(run->issues.cycle[16], 208);
    assert_int_equal(caused(run, 0, STALL_IMISS, 0), 100);
    assert_int_equal(caused(run, 16, STALL_IMISS, 16), 100);
    for (int i = 0; i < 20; i++)
        assert_int_equal(run->events[i].times[EVENT_IMISS], i % 16 == 0);
    run_free(run);
}

/* What one recorder holds goes into another, weighted, and is gone from the first. */
static void causes_are_moved(void **state) {
    (void)state;
    struct stall_causes *from = stall_causes_new(), *to = stall_causes_new();
    stall_causes_add(from, 7, STALL_DMISS, 3, 10);
    stall_causes_count(from, 7, EVENT_DMISS);
    stall_causes_add(to, 7, STALL_DMISS, 3, 1);
    assert_true(stall_causes_move(to, from, 4));
    assert_true(stall_causes_move(to, from, 4));
    size_t count;
    struct stall_cell *cells = stall_causes_cells(to, &count);
    assert_int_equal(count, 1);
    assert_int_equal(cells[0].cycles, 41);
    assert_int_equal(stall_causes_events(to, &count)[7].times[EVENT_DMISS], 4);
    assert_int_equal(count, 8);
    assert_int_equal((stall_causes_events(from, &count), count), 0);
    free(cells);
    stall_causes_free(from);
    stall_causes_free(to);
}

/* A system call: fetch goes on 10 cycles after its issue. */
static void system_call_flushes(void **state) {
    (void)state;
    struct machine machine = inorder_machine();
    struct run *run = run_new();
    struct program_fixture *program = run->program;
    uint32_t call = with_flags(program, operation(program, OP_SYSTEM, 1, 0), INSN_SYSCALL);
    uint32_t add = alu(program, 2, 0, 0);
    execute(program, call)->flags |= DYN_SYSCALL;
    execute(program, add);
    ISSUES_IN(run, &machine, 0, 4, 17);
    assert_int_equal(caused(run, add, STALL_SYNCHRONISATION, call), 12);
    assert_int_equal(program->statistics.system_calls, 1);
    run_free(run);
}

/* CPUID in a virtual machine flushes likewise: fetch goes on 40 cycles after its issue. */
static void host_executes_cpuid(void **state) {
    (void)state;
    struct machine machine = inorder_machine();
    machine.core.cpuid_cycles = 40;
    struct run *run = run_new();
    struct program_fixture *program = run->program;
    uint32_t cpuid = with_flags(program, operation(program, OP_SYSTEM, 1, 0), INSN_SERIALISING);
    program->insns[cpuid].is_cpuid = true;
    execute(program, cpuid);
    execute(program, alu(program, 2, 0, 0));
    ISSUES_IN(run, &machine, 0, 4, 47);
    assert_int_equal(program->statistics.system_calls, 0);
    assert_int_equal(program->statistics.flushes, 1);
    run_free(run);
}

/* One that a vDSO serves does not: the add issues with what was fetched with it. */
static void clock_call_does_not_flush(void **state) {
    (void)state;
    struct machine machine = inorder_machine();
    machine.core.vdso = true;
    struct run *run = run_new();
    struct program_fixture *program = run->program;
    uint32_t call = with_flags(program, operation(program, OP_CLOCK, 1, 0), INSN_SYSCALL);
    program->insns[call].operation = OP_CLOCK;
    execute(program, call)->flags |= DYN_SYSCALL;
    execute(program, alu(program, 2, 0, 0));
    ISSUES_IN(run, &machine, 0, 4, 4);
    assert_int_equal(program->statistics.system_calls, 0);
    run_free(run);
}

/* The fetch buffer holds two packets: behind a long stall fetch waits for room, so the ninth add is
 * fetched in the cycle after the stalled one has issued. */
static void full_buffer_stops_fetch(void **state) {
    (void)state;
    struct machine machine = inorder_machine();
    machine.core.fetch_buffer = 8;
    struct run *run = run_new();
    struct program_fixture *program = run->program;
    execute_at(program, load(program, 1, 0), 0x1000, 8);
    execute(program, alu(program, 2, 1, 0));
    for (int i = 0; i < 10; i++)
        execute(program, alu(program, (uint8_t)(3 + i), 0, 0));
    /* µops 1 to 4 in 107 free the first packet; fetched in 108, there in 111. */
    ISSUES_IN(run, &machine, 0, 4, 107, 107, 107, 107, 108, 108, 108, 111, 111, 111, 111);
    run_free(run);
}

/* ---- all of it ---- */

static void batches_change_nothing(void **state) {
    (void)state;
    struct machine machine = inorder_machine();
    machine.core.store_queue = 2;
    machine.core.group_issue = true;
    machine.branch = (struct machine_branch){
        .direction = DIRECTION_GSHARE, .gshare_entries = 1024, .history = 8, .ras_entries = 8};
    struct run *run = run_new();
    struct program_fixture *program = run->program;
    uint32_t body[8];
    for (int i = 0; i < 5; i++)
        body[i] = alu(program, (uint8_t)(1 + i % 3), (uint8_t)(1 + i % 2), 0);
    body[5] = store(program, 3, 1);
    body[6] = load(program, 4, 1);
    body[7] = branch(program, BRANCH_CONDITIONAL, 4);
    for (int i = 0; i < 2000; i++) {
        for (int k = 0; k < 5; k++)
            execute(program, body[k]);
        execute_at(program, body[5], 0x2000000 + (uint64_t)(i * 31 % 512) * 64, 8);
        execute_at(program, body[6], 0x1000000 + (uint64_t)(i * 7919 % 512) * 64, 8);
        execute_taken(program, body[7]);
    }
    issue_all(run, &machine, 0, FIXTURE_DYNAMIC);
    struct issues *whole = malloc(sizeof *whole);
    assert_non_null(whole);
    *whole = run->issues;
    static const uint32_t batches[] = {1, 2, 3, 7, 100, 4096};
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        issue_all(run, &machine, 0, batches[i]);
        assert_memory_equal(whole, &run->issues, sizeof *whole);
    }
    free(whole);
    run_free(run);
}

/* No idealisation makes a run slower. */
static void idealising_never_costs(void **state) {
    (void)state;
    struct machine machine = inorder_machine();
    machine.core.store_queue = 2;
    machine.l1d.mshrs = 2;
    struct run *run = run_new();
    struct program_fixture *program = run->program;
    uint32_t body[] = {load(program, 1, 2),   alu(program, 2, 1, 0),
                       store(program, 2, 1),  operation(program, OP_INT_MUL, 3, 2),
                       alu(program, 4, 3, 0), branch(program, BRANCH_CONDITIONAL, 4)};
    for (int i = 0; i < 500; i++) {
        execute_at(program, body[0], 0x1000000 + (uint64_t)(i * 7919 % 999) * 64, 8);
        execute(program, body[1]);
        execute_at(program, body[2], 0x3000000 + (uint64_t)(i * 31 % 999) * 64, 8);
        execute(program, body[3]);
        execute(program, body[4]);
        execute_taken(program, body[5]);
    }
    issue_all(run, &machine, 0, FIXTURE_DYNAMIC);
    uint64_t base = program->statistics.cycles;
    static const uint32_t ideals[] = {IDEAL_DMISS, IDEAL_DL1,   IDEAL_SHALU, IDEAL_LGALU,
                                      IDEAL_BW,    IDEAL_BMISP, IDEAL_IMISS};
    for (size_t i = 0; i < sizeof ideals / sizeof *ideals; i++) {
        issue_all(run, &machine, ideals[i], FIXTURE_DYNAMIC);
        assert_true(program->statistics.cycles <= base);
    }
    run_free(run);
}

/* What the core cannot do it refuses, and says what can. */
static void windows_and_lives_are_refused(void **state) {
    (void)state;
    struct machine machine = inorder_machine();
    struct error error = {0};
    struct core_options options = {.ideal = IDEAL_WIN};
    assert_null(core_new(&machine, &options, &error));
    assert_non_null(strstr(error.message, "in order"));
    options.ideal = IDEAL_STFWD;
    assert_null(core_new(&machine, &options, &error));
    assert_non_null(strstr(error.message, "write buffer"));
    struct tap *tap = tap_new(NULL);
    struct issues *issues = calloc(1, sizeof *issues);
    struct tap_worker worker = {
        .name = "lives", .kinds = 1 << TAP_LIFE, .consume = keep_issues, .context = issues};
    assert_true(tap_add_worker(tap, &worker, &error));
    options = (struct core_options){.tap = tap};
    assert_null(core_new(&machine, &options, &error));
    assert_non_null(strstr(error.message, "out of order"));
    tap_free(tap);
    free(issues);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(independent_adds_take_the_width),
        cmocka_unit_test(order_holds_back_what_is_ready),
        cmocka_unit_test(pipes_are_slots),
        cmocka_unit_test(multiplier_is_busy),
        cmocka_unit_test(results_come_in_order),
        cmocka_unit_test(loads_stall_their_users),
        cmocka_unit_test(translation_comes_first),
        cmocka_unit_test(miss_registers_stall_the_load),
        cmocka_unit_test(write_buffer_fills),
        cmocka_unit_test(fence_waits_for_stores),
        cmocka_unit_test(misprediction_empties_the_front_end),
        cmocka_unit_test(instruction_misses_delay_packets),
        cmocka_unit_test(causes_are_moved),
        cmocka_unit_test(system_call_flushes),
        cmocka_unit_test(clock_call_does_not_flush),
        cmocka_unit_test(host_executes_cpuid),
        cmocka_unit_test(full_buffer_stops_fetch),
        cmocka_unit_test(batches_change_nothing),
        cmocka_unit_test(idealising_never_costs),
        cmocka_unit_test(windows_and_lives_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
