/* Warming tells the branch predictor, caches and prefetchers all that simulation would.
 *
 * Branch predictor: a core that was warmed with the
 * beginning of a program, in whatever pieces, simulates the rest as the core does that simulated
 * the beginning and then let its pipeline run empty. Instructions and branches only, so that
 * nothing but the predictor can differ. */
#include "../core_fixture.h"

enum { BEGINNING = 6000, REST = 3000, PAUSE = 5 };

static struct machine predicting_machine(bool in_order) {
    struct machine machine = little_machine();
    machine.core.in_order = in_order;
    machine.branch = (struct machine_branch){.direction = DIRECTION_TAGE,
                                             .bimodal_entries = 64,
                                             .tage_tables = 6,
                                             .tage_entries = 1024,
                                             .tage_tag_bits = 10,
                                             .tage_min_history = 2,
                                             .tage_max_history = 64,
                                             .btb_ways = 1,
                                             .btb_entries = 64,
                                             .ras_entries = 4};
    return machine;
}

/* A branch that is taken two times in every seven after one that never is: only who has seen all
 * outcomes knows what comes next. */
static struct program_fixture *pattern(void) {
    struct program_fixture *program = program_fixture_new();
    uint32_t never = branch(program, BRANCH_CONDITIONAL, 1);
    uint32_t some = branch(program, BRANCH_CONDITIONAL, 1), skipped = alu(program, 2, 3, 0);
    uint32_t back = branch(program, BRANCH_JUMP, 0);
    for (uint32_t i = 0; program->dynamic_count < BEGINNING + REST; i++) {
        execute(program, never);
        if (i % 7 == 2 || i % 7 == 3) {
            execute_taken(program, some);
        } else {
            execute(program, some);
            execute(program, skipped);
        }
        execute_taken(program, back);
    }
    return program;
}

typedef bool take(struct core *core, const struct core_input *input, struct error *error);

static void hand(struct core *core, take *how, const struct program_fixture *program,
                 uint32_t begin, uint32_t end, uint32_t piece) {
    struct error error;
    for (; begin < end; begin += piece) {
        const struct core_input input = {.code = &program->code,
                                         .insns = program->dynamic + begin,
                                         .accesses = program->accesses,
                                         .insn_count = end - begin < piece ? end - begin : piece,
                                         .access_count = program->access_count};
        assert_true(how(core, &input, &error));
    }
    assert_true(core_drain(core, &error));
}

/* How long the rest takes after a beginning that was simulated or warmed in pieces. */
static struct core_statistics take_rest(const struct machine *machine,
                                        const struct program_fixture *program, take *how,
                                        uint32_t piece) {
    const struct core_options options = {.ideal = 0};
    struct core_statistics before, after;
    struct error error;
    struct core *core = core_new(machine, &options, &error);
    assert_non_null(core);
    hand(core, how, program, 0, BEGINNING, piece);
    core_statistics(core, &before);
    hand(core, core_push, program, BEGINNING, BEGINNING + REST, REST);
    core_statistics(core, &after);
    core_free(core);
    after.cycles -= before.cycles;
    after.branch.conditional_wrong -= before.branch.conditional_wrong;
    return after;
}

static void warmed_is_as_simulated(bool in_order) {
    static const uint32_t PIECES[] = {BEGINNING, 1000, 64, 3, 1};
    const struct machine machine = predicting_machine(in_order);
    struct program_fixture *program = pattern();
    const struct core_statistics wanted = take_rest(&machine, program, core_push, BEGINNING);
    for (size_t i = 0; i < sizeof PIECES / sizeof *PIECES; i++) {
        struct core_statistics warmed = take_rest(&machine, program, core_warm, PIECES[i]);
        if (!in_order) /* which fetches on while it runs empty */
            assert_int_equal(warmed.cycles, wanted.cycles);
        assert_int_equal(warmed.branch.conditional_wrong, wanted.branch.conditional_wrong);
    }
    program_fixture_free(program);
}

static void out_of_order(void **state) {
    (void)state;
    warmed_is_as_simulated(false);
}

static void in_order(void **state) {
    (void)state;
    warmed_is_as_simulated(true);
}

/* A pipeline that ran empty behind a branch, time and again, predicts the next as one that did not:
 * the pattern is known, so that nothing is mispredicted. */
static void pauses_hide_no_branch(void **state) {
    (void)state;
    const struct core_options options = {.ideal = 0};
    for (int in_order = 0; in_order < 2; in_order++) {
        const struct machine machine = predicting_machine(in_order);
        struct program_fixture *program = pattern();
        struct core_statistics before, after;
        struct error error;
        struct core *core = core_new(&machine, &options, &error);
        assert_non_null(core);
        hand(core, core_push, program, 0, BEGINNING, BEGINNING);
        core_statistics(core, &before);
        for (uint32_t i = BEGINNING; i < BEGINNING + REST; i += PAUSE)
            hand(core, core_push, program, i, i + PAUSE, PAUSE);
        core_statistics(core, &after);
        assert_int_equal(after.branch.conditional_wrong, before.branch.conditional_wrong);
        core_free(core);
        program_fixture_free(program);
    }
}

/* Misses of what comes behind the first `warmed` instructions. */
static struct memory_statistics misses_behind(const struct machine *machine,
                                              const struct program_fixture *program,
                                              uint32_t warmed) {
    const struct core_options options = {.ideal = 0};
    struct core_statistics statistics;
    struct error error;
    struct core *core = core_new(machine, &options, &error);
    assert_non_null(core);
    hand(core, core_warm, program, 0, warmed, warmed);
    hand(core, core_push, program, warmed, program->dynamic_count, program->dynamic_count);
    core_statistics(core, &statistics);
    core_free(core);
    return statistics.memory;
}

/* A jump at +0x3e to +0x41, over the end of a line into one where nothing else is executed: after
 * warming both are there, and the target's. */
static void both_lines_of_an_instruction(void **state) {
    (void)state;
    for (int in_order = 0; in_order < 2; in_order++) {
        struct machine machine = little_machine();
        machine.core.in_order = in_order;
        machine.l1i = (struct machine_cache){
            .present = true, .size = 4096, .ways = 1, .line = 64, .latency = 1, .mshrs = 1};
        struct program_fixture *program = program_fixture_new();
        program->address = 0x1003e;
        uint32_t jump = branch(program, BRANCH_JUMP, 0);
        program->address = 0x20080;
        uint32_t target = alu(program, 1, 0, 0);
        for (int i = 0; i < 2; i++) {
            execute_taken(program, jump);
            execute(program, target);
        }
        assert_int_equal(misses_behind(&machine, program, 2).l1i.misses, 0);
        program_fixture_free(program);
    }
}

/* Loads of one instruction at +0 and +256 teach its stride, so that +512 is there; software
 * prefetches at the same places do not. */
static void loads_teach_strides(void **state) {
    (void)state;
    for (int in_order = 0; in_order < 2; in_order++)
        for (int software = 0; software < 2; software++) {
            struct machine machine = little_machine();
            machine.core.in_order = in_order;
            machine.l1d.prefetcher = PREFETCH_STRIDE;
            machine.l1d.prefetch_degree = 1;
            struct program_fixture *program = program_fixture_new();
            uint32_t taught = load(program, 1, 2), asks = load(program, 1, 2);
            with_flags(program, taught, software ? INSN_PREFETCH : 0);
            execute_at(program, taught, 0x40000, 8);
            execute_at(program, taught, 0x40100, 8);
            execute_at(program, asks, 0x40200, 8);
            const struct memory_statistics found = misses_behind(&machine, program, 2);
            assert_int_equal(found.l1d.misses, software);
            assert_int_equal(found.l1d.useful_prefetches, !software);
            program_fixture_free(program);
        }
}

/* The last level keeps a line 1000 cycles beyond its last use, for others use it too; the L1D has
 * one line. Nothing was simulated yet, so an instruction that is not takes one cycle: 500 later the
 * line is there, 5,000 later it is not. */
static void others_go_on_meanwhile(void **state) {
    (void)state;
    for (int in_order = 0; in_order < 2; in_order++)
        for (uint64_t passed = 500; passed <= 5000; passed += 4500) {
            const struct core_options options = {.ideal = 0};
            struct machine machine = little_machine();
            struct core_statistics before, after;
            struct error error;
            machine.core.in_order = in_order;
            machine.l1d.size = machine.l1d.line;
            machine.l1d.ways = 1;
            machine.llc = (struct machine_cache){.present = true,
                                                 .size = 16384,
                                                 .ways = 4,
                                                 .line = machine.l1d.line,
                                                 .latency = 40,
                                                 .retention = 1000,
                                                 .admission = 100,
                                                 .readmission = 100};
            struct program_fixture *program = program_fixture_new();
            const uint32_t loads = load(program, 1, 2);
            execute_at(program, loads, 0x40000, 8);
            execute_at(program, loads, 0x50000, 8);
            execute_at(program, loads, 0x40000, 8);
            struct core *core = core_new(&machine, &options, &error);
            assert_non_null(core);
            core_pass(core, 1000000); /* before anything is there */
            hand(core, core_warm, program, 0, 2, 2);
            core_pass(core, passed);
            core_statistics(core, &before);
            hand(core, core_push, program, 2, 3, 1);
            core_statistics(core, &after);
            assert_int_equal(after.memory.llc.misses - before.memory.llc.misses, passed > 1000);
            core_free(core);
            program_fixture_free(program);
        }
}

static struct core_input input_of(const struct program_fixture *program, uint32_t begin,
                                  uint32_t end) {
    return (struct core_input){
        .code = &program->code, .insns = program->dynamic + begin, .insn_count = end - begin};
}

/* What a copy of the core's predictor has counted: the core was given the first `seen`
 * instructions, the copy is told of the last one if it `awaits`, and is warmed with the rest. */
static struct branch_statistics counted_by_copy(const struct machine *machine,
                                                const struct program_fixture *program,
                                                uint32_t seen, uint32_t all, bool awaits) {
    const struct core_options options = {.ideal = 0};
    struct branch_statistics counted;
    struct error error;
    struct core *core = core_new(machine, &options, &error);
    const struct core_input first = input_of(program, 0, seen), rest = input_of(program, seen, all);
    assert_true(core_push(core, &first, &error));
    const struct core_learned copy = {NULL, branch_copy(core_predictor(core), &machine->branch)};
    if (awaits)
        core_await_branch(copy.predictor, &program->code, &program->dynamic[seen - 1]);
    assert_true(core_learned_warm(&copy, machine, &rest, &error));
    branch_statistics(copy.predictor, &counted);
    branch_free(copy.predictor);
    core_free(core);
    return counted;
}

/* pattern() begins with never, some, skipped, back, twice; then twice never, some (taken), back;
 * then as it began. Of its first 20 instructions 12 are conditional branches, the last of which
 * still awaits its successor, and 5 jumps. A branch that comes last before the copy is made is lost
 * when the copy is not told of it; the rest of the pattern is predicted as by who saw all. */
static void last_branch_meets_the_copy(void **state) {
    (void)state;
    static const struct {
        uint32_t seen;
        bool conditional, jump;
    } LAST[] = {
        {1, true, false}, {3, false, false}, {4, false, true}, {10, true, false}, {11, false, true},
    };
    for (int in_order = 0; in_order < 2; in_order++) {
        const struct machine machine = predicting_machine(in_order);
        struct program_fixture *program = pattern();
        const struct branch_statistics whole =
            counted_by_copy(&machine, program, 3, BEGINNING, true);
        for (size_t i = 0; i < sizeof LAST / sizeof *LAST; i++) {
            const uint32_t seen = LAST[i].seen;
            struct branch_statistics counted = counted_by_copy(&machine, program, seen, 20, false);
            assert_int_equal(counted.conditional, 11 - LAST[i].conditional);
            assert_int_equal(counted.direct, 5 - LAST[i].jump);
            counted = counted_by_copy(&machine, program, seen, 20, true);
            assert_int_equal(counted.conditional, 11);
            assert_int_equal(counted.direct, 5);
            counted = counted_by_copy(&machine, program, seen, BEGINNING, true);
            assert_memory_equal(&counted, &whole, sizeof whole);
        }
        program_fixture_free(program);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(out_of_order),           cmocka_unit_test(in_order),
        cmocka_unit_test(pauses_hide_no_branch),  cmocka_unit_test(both_lines_of_an_instruction),
        cmocka_unit_test(loads_teach_strides),    cmocka_unit_test(last_branch_meets_the_copy),
        cmocka_unit_test(others_go_on_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
