/* The schedule of a loop against the loop itself: a long run on the whole machine, with caches that
 * always hit and branches that are always predicted, and what the core, Oracle and NCI say of each
 * instruction's cycles in a round. */
#include "../cfg_fixture.h"

#include <math.h>

#include "analyze/schedule.h"
#include "attribute/profiler.h"
#include "core/core.h"
#include "util/heap.h"

enum { ROUNDS = 400, WARM = 400, BODY = 24, BEFORE = 4, ADDRESS = 0x10000 };

struct loop {
    uint32_t words[BEFORE + BODY + 2]; /* before it, the body and a branch back, a return */
    uint32_t count;                    /* of the body and the branch */
    struct insn insns[BEFORE + BODY + 2];
    struct static_insn statics[BEFORE + BODY + 1];
    struct uop uops[(BEFORE + BODY + 1) * INSN_MAX_UOPS];
    struct code code;
};

static uint32_t next_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* Adds, multiplies, loads, stores, floating-point adds and multiplies. */
static uint32_t random_word(uint64_t *random) {
    uint32_t rd = 5 + next_random(random) % 8, a = 5 + next_random(random) % 8;
    uint32_t b = 5 + next_random(random) % 8;
    switch (next_random(random) % 8) {
    case 0:
        return 1u << 25 | b << 20 | a << 15 | rd << 7 | 0x33; /* mul */
    case 1:
        return a << 15 | 3 << 12 | rd << 7 | 0x03; /* ld */
    case 2:
        return b << 20 | a << 15 | 3 << 12 | 0x23; /* sd */
    case 3:
        return 1u << 25 | b << 20 | a << 15 | 7 << 12 | rd << 7 | 0x53; /* fadd.d */
    case 4:
        return 9u << 25 | b << 20 | a << 15 | 7 << 12 | rd << 7 | 0x53; /* fmul.d */
    default:
        return b << 20 | a << 15 | rd << 7 | 0x33; /* add */
    }
}

static void make_loop(struct loop *loop, uint64_t seed) {
    uint64_t random = seed;
    uint32_t body = 1 + next_random(&random) % BODY;
    *loop = (struct loop){.count = body + 1};
    for (uint32_t i = 0; i < BEFORE + body; i++)
        loop->words[i] = random_word(&random);
    uint32_t back = -(4 * body); /* bne x20, x21, to the body's first */
    loop->words[BEFORE + body] = 0x1063u | 21u << 20 | 20u << 15 | (back >> 12 & 1) << 31 |
                                 (back >> 5 & 63) << 25 | (back >> 1 & 15) << 8 |
                                 (back >> 11 & 1) << 7;
    loop->words[BEFORE + body + 1] = 0x8067; /* ret */
    loop->code = (struct code){.isa = ISA_RISCV64, .insns = loop->statics, .uops = loop->uops};
    for (uint32_t i = 0; i < BEFORE + body + 2; i++) {
        struct insn *insn = &loop->insns[i];
        assert_true(insn_decode(ISA_RISCV64, (uint8_t *)&loop->words[i], 4, insn));
        if (i == BEFORE + body + 1)
            break;
        loop->statics[loop->code.insn_count++] = (struct static_insn){
            .address = ADDRESS + 4 * i,
            .target = UINT32_MAX,
            .first_uop = loop->code.uop_count,
            .uop_count = (uint8_t)insn_crack(insn, loop->uops + loop->code.uop_count),
            .length = 4,
            .branch = insn->branch,
            .operation = insn->operation};
        loop->code.uop_count += loop->statics[i].uop_count;
    }
}

/* ---- the loop itself ---- */

static const struct memory_access ACCESSES[] = {
    {.address = 0x1000000, .size_bytes = 8},
    {.address = 0x2000000, .size_bytes = 8, .is_store = true}};

static void execute(struct core *core, const struct loop *loop, uint32_t rounds) {
    struct error error = {0};
    uint32_t count = BEFORE + rounds * loop->count;
    struct dynamic_insn *insns = calloc(count, sizeof *insns);
    assert_non_null(insns);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = i < BEFORE ? i : BEFORE + (i - BEFORE) % loop->count;
        uint8_t operation = loop->insns[number].operation;
        insns[i] = (struct dynamic_insn){
            .insn = number,
            .memory = operation == OP_STORE,
            .memory_count = operation == OP_LOAD || operation == OP_STORE,
            .flags = loop->insns[number].branch && i + 1 < count ? DYN_TAKEN : 0};
    }
    const struct core_input input = {&loop->code, insns, ACCESSES, count, 2, 0};
    if (!core_push(core, &input, &error) || !core_finish(core, &error))
        fail_msg("%s", error.message);
    free(insns);
}

/* Cycles of each instruction in a run of so many rounds. */
static void run_loop(const struct machine *machine, enum schedule_view view,
                     const struct loop *loop, uint32_t rounds, double *cycles) {
    struct error error = {0};
    struct core_options options = {.ideal = IDEAL_IMISS | IDEAL_DMISS | IDEAL_BMISP,
                                   .tap = tap_new(NULL),
                                   .causes = machine->core.in_order ? stall_causes_new() : NULL};
    struct oracle *oracle = oracle_new();
    struct profile_options every = {profiler_find("NCI"), {.period = 1}, 8};
    struct profile_group *group = profile_group_new(&every, 1, &error);
    struct profile_lane *lane = profile_lane_new(group);
    struct tap_worker worker = oracle_worker(oracle), next = profile_lane_worker(lane);
    assert_true(tap_add_worker(options.tap, &worker, &error));
    assert_true(tap_add_worker(options.tap, &next, &error));
    struct core *core = core_new(machine, &options, &error);
    assert_non_null(core);
    execute(core, loop, rounds);
    core_free(core);
    tap_free(options.tap);
    profile_lane_free(lane);
    struct profile_result result;
    assert_true(profile_group_finish(group, &result, &error));
    memset(cycles, 0, (BEFORE + BODY + 1) * sizeof *cycles);
    if (options.causes && view == VIEW_HEAD) {
        size_t count;
        struct stall_cell *cells = stall_causes_cells(options.causes, &count);
        for (size_t i = 0; i < count; i++)
            cycles[cells[i].insn] += (double)cells[i].cycles;
        free(cells);
    } else {
        uint64_t count;
        struct pics_cell *cells =
            pics_cells(view == VIEW_HEAD ? result.pics : oracle_profile(oracle), &count);
        for (uint64_t i = 0; i < count; i++)
            cycles[cells[i].insn] += (double)cells[i].units / CYCLE_UNITS;
        free(cells);
    }
    profile_group_free(group);
    oracle_free(oracle);
    stall_causes_free(options.causes);
}

/* ---- its schedule ---- */

static const struct cfg_edge EDGES[] = {{CFG_NONE, 0, EDGE_ENTRY},
                                        {0, 1, EDGE_FALL},
                                        {1, 1, EDGE_TAKEN},
                                        {1, 2, EDGE_FALL},
                                        {2, CFG_NONE, EDGE_RETURN}};

static void schedule_loop(struct scheduler *scheduler, const struct loop *loop, double *cycles) {
    struct error error = {0};
    struct cfg cfg;
    struct schedule schedule;
    const struct procedure_code code = {.isa = ISA_RISCV64,
                                        .bytes = (const uint8_t *)loop->words,
                                        .size = 4 * (BEFORE + loop->count + 1),
                                        .address = ADDRESS};
    const uint32_t sizes[] = {BEFORE, loop->count, 1};
    cfg_fixture_make(&cfg, 3, sizes, EDGES, 5);
    cfg.code = &code;
    cfg.blocks[1].loop_depth = 1;
    for (uint32_t i = 0; i < cfg.insn_count; i++)
        cfg.insns[i].insn = loop->insns[i];
    if (!schedule_make(&schedule, scheduler, &cfg, NULL, &error))
        fail_msg("%s", error.message);
    memcpy(cycles, schedule.by_edge + schedule.entered[cfg_fixture_edge(&cfg, 1, 1)],
           loop->count * sizeof *cycles);
    schedule_free(&schedule);
    cfg_fixture_free(&cfg);
}

enum { LOOPS = 100 };

/* Out of so many loops, those whose instructions are all right, and those whose rounds are. */
struct right {
    uint32_t insns, rounds;
};

static struct right compare(const char *name, enum schedule_view view, double tolerance) {
    struct machine machine;
    struct error error = {0};
    struct right right = {0, 0};
    if (!machine_load(name, &machine, &error))
        fail_msg("%s", error.message);
    struct scheduler *scheduler = scheduler_new(&machine, view, &error);
    assert_non_null(scheduler);
    for (uint64_t seed = 1; seed <= LOOPS; seed++) {
        static struct loop loop;
        double few[BEFORE + BODY + 1], many[BEFORE + BODY + 1], scheduled[BODY + 1];
        double worst = 0, sum = 0;
        make_loop(&loop, seed);
        run_loop(&machine, view, &loop, WARM, few);
        run_loop(&machine, view, &loop, WARM + ROUNDS, many);
        schedule_loop(scheduler, &loop, scheduled);
        for (uint32_t i = 0; i < loop.count; i++) {
            double wrong = scheduled[i] - (many[BEFORE + i] - few[BEFORE + i]) / ROUNDS;
            worst = fmax(worst, fabs(wrong));
            sum += wrong;
        }
        right.insns += worst < tolerance;
        right.rounds += fabs(sum) < tolerance;
    }
    scheduler_free(scheduler);
    return right;
}

/* Issue in order comes to rest within a few rounds. */
static void in_order_all_are_right(void **state) {
    (void)state;
    for (int view = VIEW_HEAD; view <= VIEW_TIP; view++) {
        struct right right = compare("alpha21164", (enum schedule_view)view, 0.001);
        assert_int_equal(right.insns, LOOPS);
        assert_int_equal(right.rounds, LOOPS);
    }
}

/* Out of order some loops come to rest only after longer than the schedule looks back, or swing
 * between several ways to go round. */
static void out_of_order_most_are_right(void **state) {
    (void)state;
    static const char *const machines[] = {"boom-tip", "zen4"};
    for (int i = 0; i < 2; i++)
        for (int view = VIEW_HEAD; view <= VIEW_TIP; view++) {
            struct right right = compare(machines[i], (enum schedule_view)view, 0.1);
            assert_true(right.insns >= LOOPS * 9 / 10);
            assert_true(right.rounds >= LOOPS * 19 / 20);
        }
}

int main(void) {
    heap_in_large_pages(); /* a core for each loop */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_order_all_are_right),
        cmocka_unit_test(out_of_order_most_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
