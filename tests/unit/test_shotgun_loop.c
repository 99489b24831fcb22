/* Shotgun profiling of a simulated loop: its fragments must be what the graph itself has. */
#include "core_fixture.h"
#include "graph/build.h"
#include "shotgun/construct.h"
#include "shotgun/sampler.h"
#include "shotgun/validate.h"

struct watch {
    struct shotgun_sampler *sampler;
    struct graph_builder *builder;
};

static bool take(void *context, const struct graph_uop *uops, const struct packed_life *lives,
                 uint32_t count, bool first, struct error *error) {
    const struct watch *watch = context;
    (void)lives;
    return shotgun_sampler_take(watch->sampler, uops, count, first, error);
}

/* Fields that do not depend on cycles must be the graph's own, but for edges from before the
 * fragment; the others come from samples of the same steady loop. */
static void assert_same_uop(const struct graph_uop *made, const struct graph_uop *real,
                            size_t number) {
    assert_int_equal(made->insn, real->insn);
    assert_int_equal(made->flags, real->flags);
    assert_int_equal(made->operation, real->operation);
    assert_int_equal(made->pool, real->pool);
    assert_int_equal(made->execution, real->execution);
    const uint16_t *a = made->producer, *b = real->producer;
    for (int i = 0; i <= UOP_MAX_SOURCES; i++)
        assert_int_equal(a[i], b[i] <= number ? b[i] : 0);
    const uint16_t distances[][2] = {{made->store, real->store},
                                     {made->load_entry, real->load_entry},
                                     {made->store_entry, real->store_entry},
                                     {made->int_register, real->int_register},
                                     {made->fetch_width, real->fetch_width},
                                     {made->fetch_taken, real->fetch_taken}};
    for (size_t i = 0; i < sizeof distances / sizeof *distances; i++)
        assert_int_equal(distances[i][0], distances[i][1] <= number ? distances[i][1] : 0);
}

/*  0 load r1 ← [r2]     a loop of five, 3,000 times, all hits, predicted right; the first access
 *  1 alu  r1 ← r1       and the predictor's first rounds are over when the first fragment begins
 *  2 store r1 → [r2]
 *  3 alu  r3 ← r3       (with `fuse` compare and branch are one µop)
 *  4 branch to 0 on r3
 * 1 and 3 add constants; with `eliminate` renaming does that, unless 3 is fused. With `operand` 0
 * computes besides, and has one place or, taken apart, two. */
static void loop_is_found_again(bool fuse, bool eliminate, bool operand, bool apart) {
    enum { ROUNDS = 3000, INSNS = 5, FRAGMENT = 100 };
    struct error error;
    struct program_fixture *program = program_fixture_new();
    struct machine machine = little_machine();
    machine.core.fuse_compare_branch = fuse;
    machine.core.eliminate_additions = eliminate;
    machine.core.int_registers = 40;
    machine.core.fuse_loads = machine.core.unlaminate_indexed = operand;
    uint32_t first = load(program, 1, 2);
    if (operand)
        add_uop(program, OP_INT_ALU, 1, 1, 0)->flags |= apart ? UOP_UNLAMINATED : 0;
    alu(program, 1, 1, 0);
    store(program, 1, 2);
    with_flags(program, alu(program, 3, 3, 0), INSN_SETS_FLAGS_FOR_FUSION);
    uint32_t last =
        with_flags(program, branch(program, BRANCH_CONDITIONAL, 3), INSN_FUSES_WITH_FLAGS);
    program->insns[last].target_displacement = -16;
    program->insns[first + 1].adds_constant = program->insns[first + 3].adds_constant = true;
    for (int i = 0; i < ROUNDS; i++) {
        execute_at(program, first, 0x1000, 8);
        execute(program, first + 1);
        execute_at(program, first + 2, 0x1000, 8);
        execute(program, first + 3);
        execute_taken(program, last);
    }
    struct shotgun_options options = {.period = 50,
                                      .length = FRAGMENT,
                                      .seed = 3,
                                      .pc_bit = 1 + 2,
                                      .truth = true,
                                      .perfect = true};
    struct shotgun_database database;
    struct shotgun_truth truth = {0};
    struct shotgun_code code = {0};
    shotgun_database_init(&database, &options);
    struct places *places = places_new();
    assert_non_null(places);
    assert_true(places_learn(places, &program->code, &error));
    struct watch watch = {.sampler = shotgun_sampler_new(&database, places, &truth)};
    struct graph_sink sink = {take, &watch};
    watch.builder = graph_builder_new(&machine, ISA_RISCV64, &sink);
    struct tap_worker worker = graph_builder_worker(watch.builder);
    program->worker = &worker;
    program->without_life = true;
    simulate_on(program, &machine, 0, FIXTURE_DYNAMIC, NULL, NULL);

    assert_in_range(database.sample_count, 100, 600);
    assert_in_range(database.skeleton_count, 40, 110);
    assert_int_equal(database.instructions, ROUNDS * INSNS);
    assert_true(shotgun_code_learn(&code, &program->code, &error));
    assert_true(shotgun_code_link(&code, &error));
    struct shotgun_constructor *constructor =
        shotgun_constructor_new(&database, &code, &machine, SHOTGUN_LONG_AND_SHORT, &error);
    assert_non_null(constructor);
    struct shotgun_statistics statistics = {0};
    uint64_t shared = 0;
    for (size_t i = 0; i < database.skeleton_count; i++) {
        const struct shotgun_fragment *fragment = shotgun_construct(constructor, i);
        assert_int_equal(fragment->outcome, SHOTGUN_COMPLETE);
        const uint64_t *bits = shotgun_bits(&database, i);
        for (uint32_t k = 0; k < FRAGMENT; k++) /* also of a compare without a µop */
            assert_int_equal((signature_at(bits, k) & SIGNATURE_PC) != 0,
                             program->insns[fragment->path[k]].address >> 2 & 1);
        shotgun_count(&statistics, fragment, truth.paths + i * FRAGMENT);
        size_t begin = i ? truth.graph_ends[i - 1] : 0;
        assert_int_equal(fragment->uop_count, truth.graph_ends[i] - begin);
        for (size_t k = 0; i > 0 && k < fragment->uop_count; k++) {
            assert_same_uop(&fragment->uops[k], &truth.graphs[begin + k], k);
            shared += (fragment->uops[k].flags & GRAPH_SHARES) != 0;
        }
    }
    assert_int_equal(shared > 0, operand && !apart);
    places_free(places);
    assert_int_equal(statistics.errant, 0);
    assert_int_equal(statistics.sources[SHOTGUN_MISSING], 0);
    shotgun_constructor_free(constructor);

    /* Designs 2 and 3 go the same way. */
    for (int design = SHOTGUN_ONE_SAMPLE; design <= SHOTGUN_SHORT_SIGNATURES; design++) {
        constructor = shotgun_constructor_new(&database, &code, &machine,
                                              (enum shotgun_design)design, &error);
        const struct shotgun_fragment *fragment = shotgun_construct(constructor, 1);
        assert_int_equal(fragment->outcome, SHOTGUN_COMPLETE);
        for (uint32_t k = 0; k < FRAGMENT; k++)
            assert_int_equal(fragment->path[k], (fragment->path[0] - first + k) % INSNS + first);
        shotgun_constructor_free(constructor);
    }
    graph_builder_free(watch.builder);
    shotgun_sampler_free(watch.sampler);
    shotgun_code_free(&code);
    shotgun_truth_free(&truth);
    shotgun_database_free(&database);
    program_fixture_free(program);
}

static void simulated_loop(void **state) {
    (void)state;
    loop_is_found_again(false, false, false, false);
}
static void simulated_loop_of_fused_pairs(void **state) {
    (void)state;
    loop_is_found_again(true, false, false, false);
}
static void simulated_loop_of_eliminated_additions(void **state) {
    (void)state;
    loop_is_found_again(false, true, false, false);
    loop_is_found_again(true, true, false, false);
}
/* A load and its operation have one place, or two. */
static void simulated_loop_of_operands(void **state) {
    (void)state;
    loop_is_found_again(false, false, true, false);
    loop_is_found_again(true, false, true, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simulated_loop),
        cmocka_unit_test(simulated_loop_of_fused_pairs),
        cmocka_unit_test(simulated_loop_of_eliminated_additions),
        cmocka_unit_test(simulated_loop_of_operands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
