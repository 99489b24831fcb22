/* The static schedule, worked by hand on alpha21164: fetch packets of four instructions that lie in
 * 16 bytes, each issuing wholly before the next; two integer pipes, of which one alone stores and
 * shifts and the other alone branches; loads take two cycles, multiplies 12 and the next may begin
 * after 8, floating point 4.
 *
 * Control comes from outside by a jump at the end of two full packets, which take four cycles to
 * issue and two to be fetched: that hides its bubble and that of one more jump. */
#include "../cfg_fixture.h"

#include <math.h>
#include <stdio.h>

#include "analyze/schedule.h"
#include "core/core.h"

/* ---- riscv64 ---- */

#define R_TYPE(funct7, funct3, opcode, rd, a, b)                                                   \
    ((uint32_t)(funct7) << 25 | (b) << 20 | (a) << 15 | (funct3) << 12 | (rd) << 7 | (opcode))
#define I_TYPE(funct3, opcode, rd, a, immediate)                                                   \
    ((uint32_t)(immediate) << 20 | (a) << 15 | (funct3) << 12 | (rd) << 7 | (opcode))
#define ADD(rd, a, b)          R_TYPE(0, 0, 0x33, rd, a, b)
#define SLTU(rd, a, b)         R_TYPE(0, 3, 0x33, rd, a, b)
#define MUL(rd, a, b)          R_TYPE(1, 0, 0x33, rd, a, b)
#define FADD(rd, a, b)         R_TYPE(1, 7, 0x53, rd, a, b)
#define ADDI(rd, a, immediate) I_TYPE(0, 0x13, rd, a, immediate)
#define LD(rd, base)           I_TYPE(3, 0x03, rd, base, 0)
#define SD(data, base)         (0x3023u | (uint32_t)(data) << 20 | (uint32_t)(base) << 15)
#define RET                    0x8067u
#define FENCE                  0x0ff0000fu
#define ECALL                  0x73u
#define FRFLAGS(rd)            (0x00102073u | (uint32_t)(rd) << 7)

static uint32_t bne(uint32_t a, uint32_t b, int32_t displacement) {
    uint32_t d = (uint32_t)displacement;
    return 0x1063u | b << 20 | a << 15 | (d >> 12 & 1) << 31 | (d >> 5 & 63) << 25 |
           (d >> 1 & 15) << 8 | (d >> 11 & 1) << 7;
}

static uint32_t jal(uint32_t rd, uint32_t displacement) {
    uint32_t d = displacement;
    return 0x6fu | rd << 7 | (d >> 20 & 1) << 31 | (d >> 1 & 1023) << 21 | (d >> 11 & 1) << 20 |
           (d >> 12 & 255) << 12;
}

/* ---- a graph and its schedule ---- */

struct fixture {
    struct procedure_code code;
    struct cfg cfg;
    struct scheduler *scheduler;
    struct schedule schedule;
};

static struct scheduler *scheduler_with(const char *machine_name, const char *setting,
                                        enum schedule_view view) {
    struct machine machine;
    struct error error = {0};
    if (!machine_load(machine_name, &machine, &error) ||
        (setting && !machine_set(&machine, setting, &error)))
        fail_msg("%s", error.message);
    struct scheduler *scheduler = scheduler_new(&machine, view, &error);
    if (!scheduler)
        fail_msg("%s", error.message);
    return scheduler;
}

static struct scheduler *scheduler_for(const char *machine_name, enum schedule_view view) {
    return scheduler_with(machine_name, NULL, view);
}

static void decode(struct fixture *fixture, enum isa isa, const void *bytes, size_t size) {
    struct cfg *cfg = &fixture->cfg;
    fixture->code =
        (struct procedure_code){.isa = isa, .bytes = bytes, .size = size, .address = 0x10000};
    cfg->code = &fixture->code;
    uint32_t at = 0;
    for (uint32_t i = 0; i < cfg->insn_count; i++) {
        assert_true(insn_decode(isa, (const uint8_t *)bytes + at, size - at, &cfg->insns[i].insn));
        cfg->insns[i].offset = at;
        at += cfg->insns[i].insn.length;
    }
    assert_int_equal(at, size);
}

static void make(struct fixture *fixture, const double *cycles) {
    struct error error = {0};
    if (!schedule_make(&fixture->schedule, fixture->scheduler, &fixture->cfg, cycles, &error))
        fail_msg("%s", error.message);
}

static void fixture_free(struct fixture *fixture) {
    schedule_free(&fixture->schedule);
    cfg_fixture_free(&fixture->cfg);
    scheduler_free(fixture->scheduler);
}

/* One block, called and returning. */
static void schedule_words(struct fixture *fixture, const uint32_t *words, uint32_t count) {
    static const struct cfg_edge edges[] = {{CFG_NONE, 0, EDGE_ENTRY}, {0, CFG_NONE, EDGE_RETURN}};
    *fixture = (struct fixture){.scheduler = scheduler_for("alpha21164", VIEW_HEAD)};
    cfg_fixture_make(&fixture->cfg, 1, &count, edges, 2);
    decode(fixture, ISA_RISCV64, words, count * sizeof *words);
    make(fixture, NULL);
}
#define SCHEDULE(fixture, ...)                                                                     \
    schedule_words(fixture, (const uint32_t[]){__VA_ARGS__},                                       \
                   sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void expect(const double *cycles, const double *expected, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (fabs(cycles[i] - expected[i]) > 1e-9)
            fail_msg("M of instruction %u is %g, not %g", i, cycles[i], expected[i]);
}
#define EXPECT(cycles, ...)                                                                        \
    expect(cycles, (const double[]){__VA_ARGS__},                                                  \
           sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static double stalled(const struct fixture *fixture, uint32_t insn, enum stall_cause cause,
                      uint32_t culprit) {
    for (size_t i = 0; i < fixture->schedule.stall_count; i++) {
        const struct static_stall *stall = &fixture->schedule.stalls[i];
        if (stall->insn == insn && stall->cause == cause && stall->culprit == culprit)
            return stall->cycles;
    }
    return 0;
}

/* ---- one block ---- */

static void adds_issue_in_pairs(void **state) {
    (void)state;
    struct fixture fixture;
    SCHEDULE(&fixture, ADD(5, 1, 1), ADD(6, 1, 1), ADD(7, 1, 1), ADD(8, 1, 1), ADD(9, 1, 1));
    EXPECT(fixture.schedule.cycles, 1, 0, 1, 0, 1);
    assert_int_equal(fixture.schedule.stall_count, 0);
    fixture_free(&fixture);
}

static void load_is_used_after_two_cycles(void **state) {
    (void)state;
    struct fixture fixture;
    SCHEDULE(&fixture, LD(5, 6), ADD(7, 5, 5));
    EXPECT(fixture.schedule.cycles, 1, 2);
    assert_true(stalled(&fixture, 1, STALL_DEPENDENCE, 0) == 1);
    fixture_free(&fixture);
}

/* The multiplies begin in t and t + 8, the first one's product is there in t + 12. */
static void multiplier_is_busy(void **state) {
    (void)state;
    struct fixture fixture;
    SCHEDULE(&fixture, MUL(5, 6, 7), MUL(8, 6, 7), ADD(9, 5, 5));
    EXPECT(fixture.schedule.cycles, 1, 8, 4);
    assert_true(stalled(&fixture, 1, STALL_UNIT, CFG_NONE) == 7);
    assert_true(stalled(&fixture, 2, STALL_DEPENDENCE, 0) == 3);
    fixture_free(&fixture);
}

static void floating_point_takes_four_cycles(void **state) {
    (void)state;
    struct fixture fixture;
    SCHEDULE(&fixture, FADD(1, 2, 3), FADD(4, 1, 1));
    EXPECT(fixture.schedule.cycles, 1, 4);
    fixture_free(&fixture);
}

/* An add goes beside the first store. The write buffer of six never fills. */
static void stores_do_not_pair(void **state) {
    (void)state;
    struct fixture fixture;
    SCHEDULE(&fixture, SD(5, 6), ADD(7, 1, 1), SD(5, 6), SD(5, 6), SD(5, 6), SD(5, 6), SD(5, 6),
             SD(5, 6), SD(5, 6), SD(5, 6));
    EXPECT(fixture.schedule.cycles, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    fixture_free(&fixture);
}

/* One of a single line would, with the line that is being written, just when the second store
 * comes. */
static void write_buffer_has_room(void **state) {
    (void)state;
    struct fixture fixture;
    SCHEDULE(&fixture, SD(5, 6), ADD(7, 1, 1), ADD(8, 1, 1), SD(5, 6));
    schedule_free(&fixture.schedule);
    scheduler_free(fixture.scheduler);
    fixture.scheduler = scheduler_with("alpha21164", "core.store_queue=1", VIEW_HEAD);
    make(&fixture, NULL);
    EXPECT(fixture.schedule.cycles, 1, 0, 1, 0);
    fixture_free(&fixture);
}

/* The callee is not known: behind it nothing is on its way. */
static void call_comes_back_to_an_empty_pipeline(void **state) {
    (void)state;
    struct fixture fixture;
    SCHEDULE(&fixture, MUL(5, 6, 7), jal(1, 0x1000), ADD(8, 5, 5), ADD(9, 1, 1));
    EXPECT(fixture.schedule.cycles, 1, 0, 1, 0);
    assert_int_equal(fixture.schedule.stall_count, 0);
    fixture_free(&fixture);
}

/* The fence waits for the store to be written, reading the flags flushes the pipeline, and a system
 * call takes longer still; all of that is dynamic. */
static void fences_and_flushes_cost_nothing_static(void **state) {
    (void)state;
    struct fixture fixture;
    SCHEDULE(&fixture, SD(5, 6), FENCE, FRFLAGS(7), ADD(8, 1, 1), ADD(9, 1, 1), ECALL,
             ADD(8, 1, 1));
    EXPECT(fixture.schedule.cycles, 1, 1, 1, 1, 1, 0, 1);
    assert_int_equal(fixture.schedule.stall_count, 0);
    fixture_free(&fixture);
}

/* ---- edges ---- */

/* Jumps that are alone in their packets: two bubbles are hidden by what came before from outside,
 * each further one shows. */
static void bubbles_of_taken_branches(void **state) {
    (void)state;
    static const struct cfg_edge edges[] = {{CFG_NONE, 0, EDGE_ENTRY},
                                            {0, 1, EDGE_TAKEN},
                                            {1, 2, EDGE_TAKEN},
                                            {2, 3, EDGE_TAKEN},
                                            {3, CFG_NONE, EDGE_RETURN}};
    const uint32_t words[] = {jal(0, 16), jal(0, 16), jal(0, 16), RET};
    struct fixture fixture = {.scheduler = scheduler_for("alpha21164", VIEW_HEAD)};
    cfg_fixture_make(&fixture.cfg, 4, NULL, edges, 5);
    decode(&fixture, ISA_RISCV64, words, sizeof words);
    for (uint32_t i = 0; i < 4; i++)
        fixture.cfg.insns[i].offset = 16 * i;
    make(&fixture, NULL);
    EXPECT(fixture.schedule.cycles, 1, 1, 2, 2);
    assert_true(stalled(&fixture, 2, STALL_FETCH, 1) == 1);
    assert_true(stalled(&fixture, 3, STALL_FETCH, 2) == 1);
    fixture_free(&fixture);
}

/* 0: bne 2 (taken past 1), 1: mul, 2: add of the product. The multiply, which issues beside the
 * branch, holds it up 11 cycles; taken, the branch does not, its bubble is hidden. */
static void block_has_a_schedule_for_each_edge(void **state) {
    (void)state;
    static const struct cfg_edge edges[] = {{CFG_NONE, 0, EDGE_ENTRY},
                                            {0, 1, EDGE_FALL},
                                            {0, 2, EDGE_TAKEN},
                                            {1, 2, EDGE_FALL},
                                            {2, CFG_NONE, EDGE_RETURN}};
    static const uint32_t sizes[] = {1, 1, 2};
    const uint32_t words[] = {bne(6, 7, 8), MUL(5, 6, 7), ADD(8, 5, 5), RET};
    struct fixture fixture = {.scheduler = scheduler_for("alpha21164", VIEW_HEAD)};
    struct schedule *schedule = &fixture.schedule;
    cfg_fixture_make(&fixture.cfg, 3, sizes, edges, 5);
    decode(&fixture, ISA_RISCV64, words, sizeof words);
    make(&fixture, NULL);
    uint32_t taken = cfg_fixture_edge(&fixture.cfg, 0, 2);
    uint32_t fall = cfg_fixture_edge(&fixture.cfg, 1, 2);
    EXPECT(schedule->by_edge + schedule->entered[taken], 1, 0);
    EXPECT(schedule->by_edge + schedule->entered[fall], 12, 0);
    assert_true(schedule->entered[cfg_fixture_edge(&fixture.cfg, 2, CFG_NONE)] == SIZE_MAX);
    EXPECT(schedule->cycles, 1, 0, 6.5, 0);
    EXPECT(schedule->least, 1, 0, 1, 0);
    EXPECT(schedule->most, 1, 0, 12, 0);
    assert_true(stalled(&fixture, 2, STALL_DEPENDENCE, 1) == 5.5);
    /* Taken three times of four. */
    double executions[5] = {0};
    executions[taken] = 3;
    executions[fall] = 1;
    schedule_weigh(schedule, &fixture.cfg, executions);
    EXPECT(schedule->cycles, 1, 0, 3.75, 0);
    assert_true(stalled(&fixture, 2, STALL_DEPENDENCE, 1) == 2.75);
    fixture_free(&fixture);
}

/* Block 1 is a loop. */
static const struct cfg_edge LOOP[] = {{CFG_NONE, 0, EDGE_ENTRY},
                                       {0, 1, EDGE_FALL},
                                       {1, 1, EDGE_TAKEN},
                                       {1, 2, EDGE_FALL},
                                       {2, CFG_NONE, EDGE_RETURN}};

/* The product of one round is the multiplicand of the next; before the first round it is there. */
static void loop_waits_for_itself(void **state) {
    (void)state;
    static const uint32_t sizes[] = {4, 2, 1};
    const uint32_t words[] = {ADD(5, 1, 1), ADD(6, 1, 1),  ADD(7, 1, 1), ADD(8, 1, 1),
                              MUL(5, 5, 7), bne(8, 9, -4), RET};
    struct fixture fixture = {.scheduler = scheduler_for("alpha21164", VIEW_HEAD)};
    struct schedule *schedule = &fixture.schedule;
    cfg_fixture_make(&fixture.cfg, 3, sizes, LOOP, 5);
    fixture.cfg.blocks[1].loop_depth = 1;
    decode(&fixture, ISA_RISCV64, words, sizeof words);
    make(&fixture, NULL);
    uint32_t back = cfg_fixture_edge(&fixture.cfg, 1, 1);
    EXPECT(schedule->by_edge + schedule->entered[cfg_fixture_edge(&fixture.cfg, 0, 1)], 1, 0);
    EXPECT(schedule->by_edge + schedule->entered[back], 12, 0);
    size_t first = schedule->edge_stall_first[back];
    assert_int_equal(schedule->edge_stall_first[back + 1], first + 1);
    const struct static_stall *stall = &schedule->edge_stalls[first];
    assert_int_equal(stall->insn, 4);
    assert_int_equal(stall->culprit, 4);
    assert_int_equal(stall->cause, STALL_DEPENDENCE);
    assert_true(stall->cycles == 11);
    EXPECT(schedule->cycles, 1, 0, 1, 0, 6.5, 0, 1);
    fixture_free(&fixture);
}

/* DCPI Figs 2 and 7: 8 cycles for 13 instructions. Packets lie at the paper's addresses. */
static void copy_loop_of_the_paper(void **state) {
    (void)state;
    enum { T4 = 10, T5, T6, A0, T0, T1, T2, V0 };
    static const uint32_t sizes[] = {1, 13, 1};
    const uint32_t words[] = {
        ADD(5, 1, 1), LD(T4, T1),       ADDI(T0, T0, 4),  LD(T5, T1),       LD(T6, T1),
        LD(A0, T1),   ADDI(T1, T1, 32), SD(T4, T2),       SLTU(T4, T0, V0), SD(T5, T2),
        SD(T6, T2),   SD(A0, T2),       ADDI(T2, T2, 32), bne(T4, 0, -48),  RET};
    struct fixture fixture = {.scheduler = scheduler_for("alpha21164", VIEW_HEAD)};
    struct schedule *schedule = &fixture.schedule;
    cfg_fixture_make(&fixture.cfg, 3, sizes, LOOP, 5);
    fixture.cfg.blocks[1].loop_depth = 1;
    decode(&fixture, ISA_RISCV64, words, sizeof words);
    fixture.code.address = 0x980c;
    make(&fixture, NULL);
    size_t back = schedule->entered[cfg_fixture_edge(&fixture.cfg, 1, 1)];
    EXPECT(schedule->by_edge + back, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1);
    fixture_free(&fixture);
}

/* ---- out of order ---- */

/* A loop of x86-64, in which some bytes stand between its head and `dec ecx; jne`. */
static double round_of(enum schedule_view view, const uint8_t *body, uint32_t insns, size_t size,
                       double *cycles) {
    static const uint8_t nop = 0x90, ret = 0xc3;
    uint8_t bytes[256];
    size_t at = 0;
    bytes[at++] = nop;
    memcpy(bytes + at, body, size);
    at += size;
    memcpy(bytes + at, (const uint8_t[]){0xff, 0xc9, 0x75, (uint8_t) - (int)(size + 4)}, 4);
    at += 4;
    bytes[at++] = ret;
    const uint32_t sizes[] = {1, insns + 2, 1};
    struct fixture fixture = {.scheduler = scheduler_for("zen4", view)};
    struct schedule *schedule = &fixture.schedule;
    cfg_fixture_make(&fixture.cfg, 3, sizes, LOOP, 5);
    fixture.cfg.blocks[1].loop_depth = 1;
    decode(&fixture, ISA_X86_64, bytes, at);
    make(&fixture, NULL);
    assert_int_equal(schedule->stall_count, 0);
    double sum = 0;
    size_t back = schedule->entered[cfg_fixture_edge(&fixture.cfg, 1, 1)];
    for (uint32_t i = 0; i < insns + 2; i++) {
        cycles[i] = schedule->by_edge[back + i];
        sum += cycles[i];
    }
    fixture_free(&fixture);
    return sum;
}

/* imul rax, rax takes three cycles, in which the count is long done. Commit waits for the multiply
 * (NCI); in the cycle that it commits in the fused dec and jne commit as well (TIP). */
static void rounds_take_as_long_as_their_chain(void **state) {
    (void)state;
    static const uint8_t multiply[] = {0x48, 0x0f, 0xaf, 0xc0};
    double cycles[3];
    assert_true(fabs(round_of(VIEW_HEAD, multiply, 1, sizeof multiply, cycles) - 3) < 0.02);
    EXPECT(cycles, 3, 0, 0);
    assert_true(fabs(round_of(VIEW_TIP, multiply, 1, sizeof multiply, cycles) - 3) < 0.02);
    EXPECT(cycles, 2.5, 0, 0.5);
}

/* Twelve adds to twelve registers for four ALUs take three cycles; dec and jne go in one µop to a
 * branch unit, and thirteen µops are dispatched in less than three. */
static void rounds_take_as_long_as_their_units(void **state) {
    (void)state;
    static const uint8_t registers[] = {0,  2,  3,  5,  8,  9,
                                        10, 11, 12, 13, 14, 15}; /* not rcx, rsp */
    uint8_t adds[12][4];
    double cycles[14], most = 0;
    for (int i = 0; i < 12; i++) /* add r, 1 */
        memcpy(adds[i],
               (const uint8_t[]){0x48 | registers[i] >> 3, 0x83, 0xc0 | (registers[i] & 7), 1}, 4);
    double head = round_of(VIEW_HEAD, adds[0], 12, sizeof adds, cycles);
    double tip = round_of(VIEW_TIP, adds[0], 12, sizeof adds, cycles);
    assert_true(fabs(head - 3) < 0.05);
    assert_true(fabs(tip - 3) < 0.05);
    for (int i = 0; i < 14; i++)
        most = fmax(most, cycles[i]);
    assert_true(most < 1); /* they commit several at a time */
}

/* ---- bounds ---- */

/* A return that many jumps lead to. */
static void many_edges_share_the_mean(void **state) {
    (void)state;
    enum { JUMPS = 40000 };
    struct cfg_edge *edges = calloc(2 * JUMPS + 2, sizeof *edges);
    uint32_t *words = calloc(JUMPS + 1, sizeof *words);
    assert_true(edges && words);
    uint32_t count = 0;
    for (uint32_t i = 0; i < JUMPS; i++) {
        words[i] = bne(6, 7, 16);
        edges[count++] = (struct cfg_edge){i, JUMPS, EDGE_TAKEN};
        edges[count++] = (struct cfg_edge){i ? i - 1 : CFG_NONE, i, i ? EDGE_FALL : EDGE_ENTRY};
    }
    words[JUMPS] = RET;
    struct fixture fixture = {.scheduler = scheduler_for("alpha21164", VIEW_HEAD)};
    struct schedule *schedule = &fixture.schedule;
    cfg_fixture_make(&fixture.cfg, JUMPS + 1, NULL, edges, count);
    decode(&fixture, ISA_RISCV64, words, (JUMPS + 1) * sizeof *words);
    make(&fixture, NULL);
    uint32_t scheduled = 0, others = 0;
    double sum = 0, other = -1;
    for (uint32_t e = 0; e < count; e++) {
        if (fixture.cfg.edges[e].to != JUMPS)
            continue;
        double cycles = schedule->by_edge[schedule->entered[e]];
        if (schedule->scheduled[e]) {
            scheduled++;
            sum += cycles;
        } else {
            others++;
            other = cycles;
        }
    }
    assert_int_equal(scheduled, SCHEDULE_EDGES);
    assert_int_equal(others, JUMPS - SCHEDULE_EDGES);
    assert_true(fabs(other - sum / scheduled) < 1e-9);
    assert_true(fabs(schedule->cycles[JUMPS] - other) < 1e-9);
    fixture_free(&fixture);
    free(edges);
    free(words);
}

/* Packets of four adds, two cycles each. */
static void long_block(void **state) {
    (void)state;
    enum { ADDS = 100000 };
    uint32_t *words = malloc(ADDS * sizeof *words);
    assert_non_null(words);
    for (uint32_t i = 0; i < ADDS; i++)
        words[i] = ADD(5 + i % 4, 1, 1);
    struct fixture fixture;
    schedule_words(&fixture, words, ADDS);
    for (uint32_t i = 1; i < ADDS; i++)
        assert_true(fixture.schedule.cycles[i] == (i % 2 ? 0 : 1));
    fixture_free(&fixture);
    free(words);
}

/* Random bytes have schedules too, by whatever core: M is finite, between the least and the most of
 * its edges, and the stalls of an instruction are what M has beyond the cycle it issues in. */
static void check_any(const struct fixture *fixture, bool tells_causes) {
    const struct schedule *schedule = &fixture->schedule;
    size_t stall = 0;
    for (uint32_t i = 0; i < fixture->cfg.insn_count; i++) {
        double cycles = schedule->cycles[i], stalls = 0;
        assert_true(cycles >= schedule->least[i] - 1e-9 && cycles <= schedule->most[i] + 1e-9);
        assert_true(schedule->least[i] >= 0 && schedule->most[i] < 1e4);
        for (; stall < schedule->stall_count && schedule->stalls[stall].insn == i; stall++) {
            enum stall_cause cause = schedule->stalls[stall].cause;
            assert_true(cause != STALL_NONE && !stall_cause_is_dynamic(cause));
            stalls += schedule->stalls[stall].cycles;
        }
        assert_true(stalls <= cycles + 1e-9 && (stalls == 0 || tells_causes));
        /* Each µop issues in one cycle. */
        assert_true(!tells_causes || cycles - stalls <= INSN_MAX_UOPS + 1e-9);
    }
    assert_int_equal(stall, schedule->stall_count);
}

static void any_bytes(void **state) {
    (void)state;
    static const char *const machines[] = {"alpha21164", "boom-tip", "zen4"};
    uint64_t random = 1;
    for (int m = 0; m < 3; m++)
        for (int view = VIEW_HEAD; view <= VIEW_TIP; view++) {
            struct fixture fixture = {.scheduler =
                                          scheduler_for(machines[m], (enum schedule_view)view)};
            for (int round = 0; round < 60; round++) {
                uint8_t bytes[300];
                struct error error = {0};
                for (size_t i = 0; i < sizeof bytes; i++) {
                    random = random * UINT64_C(6364136223846793005) + 1;
                    bytes[i] = (uint8_t)(random >> 56);
                }
                fixture.code = (struct procedure_code){
                    .isa = round % 2 ? ISA_X86_64 : ISA_RISCV64, .bytes = bytes, .size = 300};
                if (cfg_build(&fixture.cfg, &fixture.code, &error)) {
                    make(&fixture, NULL);
                    check_any(&fixture, m == 0 && view == VIEW_HEAD);
                    schedule_free(&fixture.schedule);
                }
                cfg_free(&fixture.cfg);
            }
            scheduler_free(fixture.scheduler);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_issue_in_pairs),
        cmocka_unit_test(load_is_used_after_two_cycles),
        cmocka_unit_test(multiplier_is_busy),
        cmocka_unit_test(floating_point_takes_four_cycles),
        cmocka_unit_test(stores_do_not_pair),
        cmocka_unit_test(write_buffer_has_room),
        cmocka_unit_test(call_comes_back_to_an_empty_pipeline),
        cmocka_unit_test(fences_and_flushes_cost_nothing_static),
        cmocka_unit_test(bubbles_of_taken_branches),
        cmocka_unit_test(block_has_a_schedule_for_each_edge),
        cmocka_unit_test(loop_waits_for_itself),
        cmocka_unit_test(copy_loop_of_the_paper),
        cmocka_unit_test(rounds_take_as_long_as_their_chain),
        cmocka_unit_test(rounds_take_as_long_as_their_units),
        cmocka_unit_test(many_edges_share_the_mean),
        cmocka_unit_test(long_block),
        cmocka_unit_test(any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
