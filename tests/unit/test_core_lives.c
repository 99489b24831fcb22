/* Lives of the µops of windows: whole, contiguous, the same as when all are shown; and the core
 * takes the same cycles. */
#include "core_fixture.h"

enum { FAR = 1 << 20 };

/* Windows of 3 in periods of 10 lie in their periods, at every place there is, and at the same
 * places again. */
static void a_window_in_each_period(void **state) {
    (void)state;
    const struct tap_windows windows = {3, 10, 0};
    unsigned met = 0;
    for (uint64_t period = 0; period < 1000; period++) {
        struct tap_window window = tap_window(windows, period);
        struct tap_window again = tap_window(windows, period);
        assert_int_equal(window.end - window.from, 3);
        assert_true(window.from >= 10 * period && window.end <= 10 * (period + 1));
        assert_int_equal(window.from, again.from);
        met |= 1u << (window.from - 10 * period);
    }
    assert_int_equal(met, 0xff); /* places 0 to 7 */
    const struct tap_windows begun = {.length = 3, .every = 10, .all = 25};
    struct tap_window beginning = tap_window(begun, 0);
    assert_int_equal(beginning.from, 0);
    assert_int_equal(beginning.end, 25);
    for (uint64_t period = 0; period < 4; period++) {
        struct tap_window window = tap_window(begun, period + 1);
        assert_int_equal(window.from, 25 + tap_window(windows, period).from);
        assert_int_equal(window.end, window.from + 3);
    }
    struct tap_window all = tap_window((struct tap_windows){0}, 0);
    assert_int_equal(all.from, 0);
    assert_int_equal(all.end, UINT64_MAX);
}

static uint32_t random_state;
static uint32_t next_random(uint32_t below) {
    random_state = random_state * 1103515245 + 12345;
    return (random_state >> 16) % below;
}

/* Everything that is squashed, held or waits: loads that go ahead of stores to the same few
 * addresses, which hang on divisions; misses, mispredicted branches, system calls. */
static void execute_anything(struct program_fixture *program, uint32_t count) {
    uint32_t divide = operation(program, OP_INT_DIV, 1, 0), add = alu(program, 2, 2, 3);
    uint32_t write = store(program, 2, 1), read = load(program, 3, 0), wide = load(program, 4, 3);
    uint32_t jump = branch(program, BRANCH_CONDITIONAL, 3);
    uint32_t call = with_flags(program, alu(program, 5, 0, 0), INSN_SYSCALL);
    random_state = 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kind = next_random(100);
        uint64_t address = FAR + 8 * next_random(4);
        if (kind < 4)
            execute(program, divide);
        else if (kind < 40)
            execute(program, add);
        else if (kind < 55)
            execute_at(program, write, address, 8);
        else if (kind < 75)
            execute_at(program, read, address, 8);
        else if (kind < 85)
            execute_at(program, wide, FAR + 64 * next_random(4096), 8);
        else if (kind < 99)
            execute(program, jump)->flags |= next_random(2) ? DYN_TAKEN : 0;
        else
            execute(program, call);
    }
}

static struct machine rough_machine(void) {
    struct machine machine = little_machine();
    machine.core.disambiguation = DISAMBIGUATE_SPECULATE;
    machine.core.store_queue = 6;
    machine.l1d.mshrs = 2;
    machine.branch.direction = DIRECTION_BIMODAL;
    machine.branch.bimodal_entries = 64;
    machine.branch.btb_entries = 64;
    machine.branch.btb_ways = 4;
    return machine;
}

/* A worker that keeps every life, squashed ones too, in the order in which they come. */
struct kept {
    struct life lives[1 << 16];
    uint32_t count;
};

static bool keep(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct kept *kept = context;
    (void)error;
    for (uint32_t i = 0; i < buffer->life_count; i++)
        life_unpack(&buffer->lives[i], &kept->lives[kept->count++]);
    return true;
}

static bool in_a_window(struct tap_windows windows, uint64_t uop) {
    struct tap_window window = tap_window(windows, uop / windows.every);
    return window.from <= uop && uop < window.end;
}

static void simulate_keeping(struct program_fixture *program, const struct machine *machine,
                             struct tap_windows windows, struct kept *kept) {
    const struct tap_worker worker = {
        .name = "keep", .kinds = 1 << TAP_LIFE, .consume = keep, .context = kept, .lives = windows};
    kept->count = 0;
    program->windows = windows;
    program->worker = &worker;
    simulate_on(program, machine, 0, 1000, NULL, NULL);
}

/* What is shown of windows is what is shown of all µops, without those between. */
static void windows_show_what_a_full_run_shows(void **state) {
    (void)state;
    static struct kept all, some;
    const struct machine machine = rough_machine();
    struct program_fixture *program = program_fixture_new();
    execute_anything(program, 20000);
    simulate_keeping(program, &machine, (struct tap_windows){0}, &all);
    const struct oracle_result expected = program->result;
    assert_true(program->statistics.ordering_violations > 100);
    assert_true(program->squashed > 1000);
    assert_true(program->statistics.branch.conditional_wrong > 100);
    assert_int_equal(program->life_count, program->statistics.uops);

    /* Rare, dense, one µop, touching, as long as their periods. */
    const struct tap_windows windows[] = {{1000, 5000, 0}, {50, 100, 0}, {1, 7, 0},    {99, 100, 0},
                                          {100, 100, 0},   {1, 1, 0},    {3, 10000, 0}};
    for (unsigned i = 0; i < sizeof windows / sizeof *windows; i++) {
        simulate_keeping(program, &machine, windows[i], &some);
        assert_memory_equal(&expected, &program->result, sizeof expected);
        uint32_t met = 0;
        for (uint32_t k = 0; k < all.count; k++)
            if (in_a_window(windows[i], all.lives[k].uop)) {
                assert_true(met < some.count);
                assert_memory_equal(&some.lives[met++], &all.lives[k], sizeof *all.lives);
            }
        assert_int_equal(met, some.count);
    }
    program_fixture_free(program);
}

/* Two workers that want the same windows get them; two that want different ones get all. */
static void workers_that_differ_get_all(void **state) {
    (void)state;
    static struct kept kept;
    const struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    uint32_t add = alu(program, 1, 1, 0);
    for (int i = 0; i < 1000; i++)
        execute(program, add);
    simulate_keeping(program, &machine, (struct tap_windows){10, 100, 0}, &kept);
    assert_int_equal(kept.count, 100);
    const struct tap_worker other = {.name = "keep",
                                     .kinds = 1 << TAP_LIFE,
                                     .consume = keep,
                                     .context = &kept,
                                     .lives = {20, 100}};
    kept.count = 0;
    program->worker = &other;
    simulate_on(program, &machine, 0, 1000, NULL, NULL);
    assert_int_equal(kept.count, 1000);
    assert_int_equal(program->life_count, 1000);
    program_fixture_free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_in_each_period),
        cmocka_unit_test(windows_show_what_a_full_run_shows),
        cmocka_unit_test(workers_that_differ_get_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
