/* What a simulation tells of idealisations that would not have changed it: those of which nothing
 * came up. Each is told of a program with the matter and of one without. */
#include "../core_fixture.h"

enum { FAR = 0x100000, ALL = IDEAL_IMISS | IDEAL_BMISP | IDEAL_STFWD | IDEAL_SPLIT };

/* Little, with a predictor that has learned nothing. */
static struct machine predicting_machine(void) {
    struct machine machine = little_machine();
    machine.branch = (struct machine_branch){.direction = DIRECTION_BIMODAL, .bimodal_entries = 64};
    return machine;
}

static struct core *new_core(const struct machine *machine, uint32_t ideal, bool predecodes) {
    struct error error;
    const struct core_options options = {.ideal = ideal, .predecodes = predecodes};
    struct core *core = core_new(machine, &options, &error);
    assert_non_null(core);
    return core;
}

struct timed {
    uint64_t cycles;
    uint32_t needless;
};

static struct timed simulate_predecoded(const struct machine *machine,
                                        const struct core *predecoded, uint32_t ideal) {
    struct error error;
    struct core_statistics statistics;
    struct core *core = new_core(machine, ideal, false);
    assert_true(core_push_predecoded(core, predecoded, &error) && core_finish(core, &error));
    core_statistics(core, &statistics);
    const struct timed timed = {statistics.cycles, core_needless(core)};
    core_free(core);
    return timed;
}

/* What is needless; that it is, is tried. */
static uint32_t needless(const struct machine *machine, const struct program_fixture *program) {
    struct error error;
    const struct core_input input = {.code = &program->code,
                                     .insns = program->dynamic,
                                     .accesses = program->accesses,
                                     .insn_count = program->dynamic_count,
                                     .access_count = program->access_count};
    struct core *fresh = new_core(machine, 0, false), *predecoded = new_core(machine, 0, true);
    assert_true(core_predecode_again(predecoded, core_predictor(fresh), &error) &&
                core_push(predecoded, &input, &error) && core_finish(predecoded, &error));
    const struct timed as_it_is = simulate_predecoded(machine, predecoded, 0);
    for (uint32_t left = as_it_is.needless; left; left &= left - 1)
        assert_int_equal(simulate_predecoded(machine, predecoded, left & -left).cycles,
                         as_it_is.cycles);
    core_free(predecoded);
    core_free(fresh);
    return as_it_is.needless;
}

/* The store has all that the load reads, or only its last four bytes. */
static void a_store_forwards_or_not(void **state) {
    (void)state;
    const struct machine machine = predicting_machine();
    for (int partly = 0; partly < 2; partly++) {
        struct program_fixture *program = program_fixture_new();
        execute_at(program, store(program, 0, 0), FAR + 4, 4);
        execute_at(program, load(program, 2, 0), partly ? FAR : FAR + 4, partly ? 8 : 4);
        assert_int_equal(needless(&machine, program), partly ? ALL & ~IDEAL_STFWD : ALL);
        program_fixture_free(program);
    }
}

/* A load in one line or in two. */
static void a_load_lies_in_two_lines_or_not(void **state) {
    (void)state;
    struct machine machine = predicting_machine();
    machine.core.split_load = 1;
    for (int split = 0; split < 2; split++) {
        struct program_fixture *program = program_fixture_new();
        execute_at(program, load(program, 2, 2), FAR + (split ? 60 : 0), 8);
        execute_at(program, load(program, 2, 2), FAR + (split ? 60 : 0), 8);
        assert_int_equal(needless(&machine, program), split ? ALL & ~IDEAL_SPLIT : ALL);
        program_fixture_free(program);
    }
}

/* A new counter says not taken. */
static void a_branch_is_mispredicted_or_not(void **state) {
    (void)state;
    const struct machine machine = predicting_machine();
    for (int taken = 0; taken < 2; taken++) {
        struct program_fixture *program = program_fixture_new();
        const uint32_t forward = branch(program, BRANCH_CONDITIONAL, 1);
        const uint32_t skipped = alu(program, 1, 0, 0), target = alu(program, 2, 0, 0);
        if (taken) {
            execute_taken(program, forward);
        } else {
            execute(program, forward);
            execute(program, skipped);
        }
        execute(program, target);
        assert_int_equal(needless(&machine, program), taken ? ALL & ~IDEAL_BMISP : ALL);
        program_fixture_free(program);
    }
}

/* A cold instruction cache, or none. */
static void a_fetch_misses_or_not(void **state) {
    (void)state;
    struct machine machine = predicting_machine();
    for (int cold = 0; cold < 2; cold++) {
        machine.l1i = machine.l1d;
        machine.l1i.present = cold;
        struct program_fixture *program = program_fixture_new();
        execute(program, alu(program, 1, 0, 0));
        assert_int_equal(needless(&machine, program), cold ? ALL & ~IDEAL_IMISS : ALL);
        program_fixture_free(program);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_store_forwards_or_not),
        cmocka_unit_test(a_load_lies_in_two_lines_or_not),
        cmocka_unit_test(a_branch_is_mispredicted_or_not),
        cmocka_unit_test(a_fetch_misses_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
