/* What may stall an instruction, what does not, and what is made of it, on the Alpha 21164: lines
 * of 32 bytes, loads that share six miss registers with the write buffer, a fill of at most 2 × (20
 * + 80) cycles, a walk of 40, a mispredicted branch of 1 + 1 + 4. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "../riscv64_words.h"
#include "analyze/culprits.h"
#include "analyze/feeding.h"

#define BIT(cause) (UINT32_C(1) << (cause))
enum {
    I_CACHE = BIT(STALL_IMISS),
    I_TLB = BIT(STALL_ITLB),
    FETCH = BIT(STALL_IMISS) | BIT(STALL_ITLB),
    DATA = BIT(STALL_DMISS) | BIT(STALL_DTLB),
    UNIT = BIT(STALL_UNIT),
    REGISTERS = BIT(STALL_MISS_REGISTERS),
    WRITE = BIT(STALL_WRITE_BUFFER),
    MISPREDICT = BIT(STALL_MISPREDICT),
    SYNC = BIT(STALL_SYNCHRONISATION)
};

enum { BYTES = 1 << 16 };

struct procedure {
    struct machine machine;
    uint8_t bytes[BYTES];
    struct procedure_code code;
    struct cfg cfg;
    uint32_t *causes; /* by instruction */
    struct feeding feeding;
};

static struct procedure *procedure_new(const char *machine) {
    struct procedure *procedure = calloc(1, sizeof *procedure);
    struct error error;
    assert_non_null(procedure);
    if (!machine_load(machine, &procedure->machine, &error))
        fail_msg("%s", error.message);
    return procedure;
}

static void procedure_look(struct procedure *procedure, enum isa isa, uint64_t address,
                           const void *bytes, size_t size) {
    struct error error;
    memcpy(procedure->bytes, bytes, size);
    procedure->code = (struct procedure_code){
        .isa = isa, .bytes = procedure->bytes, .size = size, .address = address};
    if (!cfg_build(&procedure->cfg, &procedure->code, &error))
        fail_msg("%s", error.message);
    procedure->causes = malloc(procedure->cfg.insn_count * sizeof *procedure->causes);
    assert_non_null(procedure->causes);
    assert_true(culprits_possible(&procedure->cfg, &procedure->machine, procedure->causes, &error));
    if (procedure->machine.core.in_order)
        assert_true(
            feeding_find(&procedure->feeding, &procedure->cfg, &procedure->machine, &error));
}

static void procedure_free(struct procedure *procedure) {
    cfg_free(&procedure->cfg);
    feeding_free(&procedure->feeding);
    free(procedure->causes);
    free(procedure);
}

/* Of riscv64 code at an address. */
static struct procedure *words_at(uint64_t address, const uint32_t *words, size_t count) {
    struct procedure *procedure = procedure_new("alpha21164");
    procedure_look(procedure, ISA_RISCV64, address, words, count * sizeof *words);
    return procedure;
}
#define PROCEDURE(...)                                                                             \
    words_at(0x10000, (const uint32_t[]){__VA_ARGS__},                                             \
             sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static uint32_t causes_at(const struct procedure *procedure, uint32_t offset) {
    uint32_t insn = cfg_insn_at(&procedure->cfg, offset);
    assert_int_not_equal(insn, CFG_NONE);
    return procedure->causes[insn];
}
#define CAUSES(number) causes_at(procedure, 4 * (number))

/* Whether a word, or who is none, makes another wait. */
static bool makes_wait(const struct procedure *procedure, enum feed_kind kind, uint32_t maker,
                       uint32_t number) {
    uint32_t insn = cfg_insn_at(&procedure->cfg, 4 * number);
    uint32_t wanted = maker < BYTES ? cfg_insn_at(&procedure->cfg, 4 * maker) : maker;
    const struct feeding *feeding = &procedure->feeding;
    for (size_t i = feeding->first[insn]; i < feeding->first[insn + 1]; i++)
        if (feeding->feeds[i].maker == wanted && feeding->feeds[i].kind == kind)
            return true;
    return false;
}

static bool feeds(const struct procedure *procedure, uint32_t maker, uint32_t number) {
    return makes_wait(procedure, FEED_LOAD, maker, number);
}

/* ---- what is fetched ---- */

static void test_fetch_misses_where_lines_and_pages_begin(void **state) {
    (void)state;
    uint32_t words[20];
    for (int i = 0; i < 19; i++)
        words[i] = NOP;
    words[19] = RET;
    struct procedure *procedure = words_at(0x11fd8, words, 20);
    assert_int_equal(CAUSES(0), FETCH); /* from whoever called */
    assert_int_equal(CAUSES(1), 0);
    assert_int_equal(CAUSES(2), I_CACHE); /* 0x11fe0 */
    assert_int_equal(CAUSES(3), 0);
    assert_int_equal(CAUSES(10), FETCH); /* 0x12000 */
    assert_int_equal(CAUSES(17), 0);
    assert_int_equal(CAUSES(18), I_CACHE); /* 0x12020 */
    procedure_free(procedure);
}

static void test_fetch_misses_where_an_instruction_reaches_into_a_line(void **state) {
    (void)state;
    /* c.nop at 0x1001c; addi from 0x1001e to 0x10021; addi at 0x10022. */
    static const uint8_t bytes[] = {0x01, 0x00, 0x13, 0x00, 0x00, 0x00,
                                    0x13, 0x00, 0x00, 0x00, 0x82, 0x80};
    struct procedure *procedure = procedure_new("alpha21164");
    procedure_look(procedure, ISA_RISCV64, 0x1001c, bytes, sizeof bytes);
    assert_int_equal(causes_at(procedure, 2), I_CACHE);
    assert_int_equal(causes_at(procedure, 6), 0);
    procedure_free(procedure);
}

/* The return address may be on its way to the return: from a caller that restored it and left by a
 * jump. */
static void test_lines_stay_in_loops(void **state) {
    (void)state;
    /* 1 to 3 are a loop in the first line; 9, in the second, branches back to 6, in the first. */
    struct procedure *procedure = PROCEDURE(addi(T0, 0, 9), addi(T0, T0, -1), NOP, bnez(T0, -8),
                                            NOP, NOP, NOP, NOP, NOP, bnez(T0, -12), RET);
    assert_int_equal(CAUSES(1), MISPREDICT);
    assert_int_equal(CAUSES(4), MISPREDICT); /* not taken */
    assert_int_equal(CAUSES(6), MISPREDICT);
    assert_int_equal(CAUSES(8), I_CACHE); /* once */
    assert_true(makes_wait(procedure, FEED_LINE, FEED_CALLER, 8));
    assert_int_equal(CAUSES(10), MISPREDICT | DATA);
    procedure_free(procedure);
}

static void test_calls_in_loops_evict(void **state) {
    (void)state;
    struct procedure *procedure =
        PROCEDURE(NOP, NOP, call(64), NOP, NOP, NOP, NOP, NOP, NOP, bnez(S0, -32), RET);
    assert_int_equal(CAUSES(1) & FETCH, 0); /* 3 has brought it back */
    assert_true(makes_wait(procedure, FEED_LINE, 2, 3));
    assert_true(makes_wait(procedure, FEED_LINE, 2, 8));
    assert_false(makes_wait(procedure, FEED_LINE, FEED_CALLER, 3));
    procedure_free(procedure);
}

/* A loop of 8 KB less a line, and of 8 KB: the line that the prefetcher brings behind its last
 * takes the place of the first, which is beyond reach of the branch: it jumps. */
static void test_code_that_is_too_long_evicts_itself(void **state) {
    (void)state;
    enum { CACHE = 8192 / 4, LINE = 32 / 4 };
    static uint32_t words[CACHE + 1];
    for (int i = 0; i <= CACHE; i++)
        words[i] = NOP;
    for (int length = CACHE - LINE; length <= CACHE; length += LINE) {
        words[length - 1] = jump(-4 * (length - 1));
        struct procedure *procedure = words_at(0x10000, words, (size_t)length);
        assert_true(makes_wait(procedure, FEED_LINE, FEED_CALLER, LINE));
        assert_int_equal(makes_wait(procedure, FEED_LINE, 0, 0), length == CACHE);
        assert_int_equal(makes_wait(procedure, FEED_LINE, 0, LINE), false);
        words[length - 1] = NOP;
        procedure_free(procedure);
    }
}

static void test_a_callee_may_evict_and_its_return_be_mispredicted(void **state) {
    (void)state;
    struct procedure *procedure = PROCEDURE(NOP, call(64), NOP, NOP, jr(T0));
    assert_int_equal(CAUSES(1), DATA); /* it writes ra, which the caller may have loaded */
    assert_int_equal(CAUSES(2), FETCH | MISPREDICT);
    assert_int_equal(CAUSES(3), 0);
    procedure_free(procedure);
}

static void test_perfect_caches_and_predictors_never_miss(void **state) {
    (void)state;
    static const uint32_t words[] = {0x00a50463 /* beq a0, a0, 8 */, NOP, RET};
    struct procedure *procedure = procedure_new("alpha21164");
    procedure->machine.l1i.present = false;
    procedure->machine.itlb.entries = procedure->machine.dtlb.entries = 0;
    procedure->machine.branch.direction = DIRECTION_PERFECT;
    procedure_look(procedure, ISA_RISCV64, 0x10000, words, sizeof words);
    assert_int_equal(CAUSES(0), BIT(STALL_DMISS)); /* a0, from the caller */
    assert_int_equal(CAUSES(1), 0);
    assert_int_equal(CAUSES(2), BIT(STALL_DMISS)); /* ra */
    procedure_free(procedure);
}

/* ---- branches ---- */

static void test_only_branches_that_choose_are_mispredicted(void **state) {
    (void)state;
    /* 0 branches to 3 or goes on to 1; 2 jumps to 4; 3 falls into 4. */
    struct procedure *procedure = PROCEDURE(beqz(0, 12), NOP, jump(8), NOP, NOP, RET);
    assert_int_equal(CAUSES(1), MISPREDICT);
    assert_int_equal(CAUSES(2), 0);
    assert_int_equal(CAUSES(3), MISPREDICT);
    assert_int_equal(CAUSES(4), 0);
    procedure_free(procedure);
}

/* The Alpha computes targets as it fetches; a machine with a table of targets may be wrong. */
static void test_calls_through_registers_mispredict_where_targets_are_guessed(void **state) {
    (void)state;
    static const uint32_t words[] = {NOP, RET};
    for (int guesses = 0; guesses < 2; guesses++) {
        struct procedure *procedure = procedure_new("alpha21164");
        procedure->machine.branch.btb_entries = guesses ? 64 : 0;
        procedure_look(procedure, ISA_RISCV64, 0x10000, words, sizeof words);
        assert_int_equal(CAUSES(0), guesses ? FETCH | MISPREDICT : FETCH);
        procedure_free(procedure);
    }
}

/* ---- what feeds ---- */

static void test_only_the_first_use_of_a_load_waits(void **state) {
    (void)state;
    struct procedure *procedure =
        PROCEDURE(ld(T0, 8, SP), NOP, add(T1, T0, T2), add(T2, T0, T1), RET);
    assert_int_equal(CAUSES(0), FETCH); /* the stack pointer is never loaded */
    assert_int_equal(CAUSES(1), 0);
    assert_int_equal(CAUSES(2), DATA);
    assert_true(feeds(procedure, 0, 2));
    assert_int_equal(CAUSES(3), 0);
    procedure_free(procedure);
}

static void test_results_of_a_register_come_in_order(void **state) {
    (void)state;
    struct procedure *procedure = PROCEDURE(ld(T0, 8, SP), addi(T0, 0, 1), addi(T0, T0, 1),
                                            ld(T0, 0, SP), ld(T0, 8, SP), RET);
    assert_int_equal(CAUSES(1), DATA);
    assert_int_equal(CAUSES(2), 0);
    assert_int_equal(CAUSES(3), 0);
    assert_int_equal(CAUSES(4), DATA);
    assert_true(feeds(procedure, 3, 4));
    procedure_free(procedure);
}

static void test_a_join_waits_unless_every_way_has_waited(void **state) {
    (void)state;
    /* 0 loads; 1 branches to 4; 2 uses it where `both`, 3 jumps to 5; 4 uses it; 5 uses it. */
    for (int both = 0; both < 2; both++) {
        struct procedure *procedure =
            PROCEDURE(ld(T0, 8, SP), beqz(0, 12), both ? add(T1, T0, T0) : NOP, jump(8),
                      add(T1, T0, T0), add(T2, T0, T0), RET);
        assert_int_equal(CAUSES(4) & DATA, DATA);
        assert_int_equal(CAUSES(5) & DATA, both ? 0 : DATA);
        procedure_free(procedure);
    }
}

static void test_a_load_feeds_the_next_iteration(void **state) {
    (void)state;
    /* 1 uses what 3 loaded; 0 only makes what the first iteration uses. */
    struct procedure *procedure =
        PROCEDURE(addi(T0, 0, 0), add(T1, T1, T0), NOP, ld(T0, 8, SP), bnez(T1, -12), RET);
    assert_int_equal(CAUSES(1), DATA | MISPREDICT);
    assert_true(feeds(procedure, 3, 1));
    assert_false(feeds(procedure, FEED_CALLER, 1));
    procedure_free(procedure);
}

static void test_a_load_that_is_used_by_itself_in_a_loop(void **state) {
    (void)state;
    /* A list: 0 waits for itself, of the iteration before, and at first for the caller. */
    struct procedure *procedure = PROCEDURE(ld(A0, 0, A0), bnez(T1, -4), RET);
    assert_int_equal(CAUSES(0), FETCH | MISPREDICT | DATA);
    assert_true(feeds(procedure, 0, 0));
    assert_true(feeds(procedure, FEED_CALLER, 0));
    procedure_free(procedure);
}

static void test_callers_feed_arguments_and_what_is_kept(void **state) {
    (void)state;
    struct procedure *procedure = PROCEDURE(NOP, add(T0, T1, T2), add(T0, A1, T0), add(T0, S0, T0),
                                            add(T0, A1, S0), sd(RA, 8, SP), RET);
    assert_int_equal(CAUSES(1), 0);
    assert_int_equal(CAUSES(2), DATA);
    assert_true(feeds(procedure, FEED_CALLER, 2));
    assert_int_equal(CAUSES(3), DATA);
    assert_int_equal(CAUSES(4), 0);
    assert_int_equal(CAUSES(5), DATA | WRITE); /* a caller that left by a jump restored it */
    procedure_free(procedure);
}

static void test_callees_feed_results_and_what_they_restore(void **state) {
    (void)state;
    struct procedure *procedure =
        PROCEDURE(add(T0, A0, S0), ld(S1, 8, SP), ld(T2, 0, SP), call(64), NOP, add(T0, A0, T1),
                  add(T2, S0, T1), add(T0, S1, T1), addi(T1, SP, 8), RET);
    assert_int_equal(CAUSES(5), DATA);
    assert_true(feeds(procedure, 3, 5));
    assert_int_equal(CAUSES(6), DATA); /* s0, and not t2, which no callee leaves alone */
    assert_false(feeds(procedure, 2, 6));
    assert_int_equal(CAUSES(7), DATA); /* s1: a callee that does not touch it leaves it loading */
    assert_true(feeds(procedure, 1, 7));
    assert_true(feeds(procedure, 3, 7));
    assert_int_equal(CAUSES(8) & DATA, 0);
    procedure_free(procedure);
}

static void test_atomics_wait_for_what_they_load_and_settle_all(void **state) {
    (void)state;
    /* amoadd.d t1, t2, (sp) behind a load: it waits for all results, so t0 is there. */
    struct procedure *procedure = PROCEDURE(ld(T0, 8, SP), 0x0071332f, NOP, add(T1, T0, T0), RET);
    assert_int_equal(CAUSES(1), DATA | WRITE | SYNC);
    assert_true(feeds(procedure, 1, 1));
    assert_int_equal(CAUSES(2), SYNC); /* behind what flushes */
    assert_int_equal(CAUSES(3), 0);
    procedure_free(procedure);
}

/* More than eight loads may have made it: some are told, and that there are others. */
static void test_makers_are_bounded(void **state) {
    (void)state;
    enum { ARMS = 12 };
    uint32_t words[3 * ARMS + 2], count = 0;
    for (int i = 0; i < ARMS; i++) { /* beqz a0, next; ld t0; j end */
        words[count++] = beqz(A0, 12);
        words[count++] = ld(T0, 8 * i, SP);
        words[count] = jump(4 * (int32_t)(3 * ARMS - count));
        count++;
    }
    words[count++] = add(T1, T0, T0);
    words[count++] = RET;
    struct procedure *procedure = words_at(0x10000, words, count);
    uint32_t insn = cfg_insn_at(&procedure->cfg, 4 * 3 * ARMS);
    const struct feeding *feeding = &procedure->feeding;
    const struct feed *feeds = feeding->feeds + feeding->first[insn];
    assert_int_equal(feeds[FEED_MAKERS].kind, FEED_LOAD);
    assert_int_equal(feeds[FEED_MAKERS].maker, FEED_SEVERAL);
    assert_int_equal(feeds[FEED_MAKERS + 1].kind, FEED_LINE);
    procedure_free(procedure);
}

/* ---- loads and stores themselves ---- */

/* Six miss registers, one of which the write buffer may hold: with five loads on their way the
 * sixth may find none. */
static void test_miss_registers_lack_behind_enough_loads(void **state) {
    (void)state;
    struct procedure *procedure =
        PROCEDURE(ld(T0, 0, SP), ld(T1, 8, SP), ld(T2, 16, SP), ld(T3, 24, SP), ld(T3 + 1, 32, SP),
                  ld(T3 + 2, 40, SP), add(T0, T0, T1), ld(T0, 48, SP), RET);
    assert_int_equal(CAUSES(4), 0);
    assert_int_equal(CAUSES(5), REGISTERS);
    assert_int_equal(CAUSES(7), 0); /* two have come */
    procedure_free(procedure);
}

static void test_prefetches_hold_any_number_of_miss_registers(void **state) {
    (void)state;
    struct procedure *procedure = PROCEDURE(NOP, ld(0, 64, SP), ld(T0, 0, SP), RET);
    assert_int_equal(CAUSES(1), 0); /* dropped where none is free */
    assert_int_equal(CAUSES(2), REGISTERS);
    procedure_free(procedure);
}

static void test_stores_wait_for_the_write_buffer(void **state) {
    (void)state;
    struct procedure *procedure = PROCEDURE(ld(T0, 0, SP), sd(T1, 8, SP), sd(T0, 16, SP), RET);
    assert_int_equal(CAUSES(1), WRITE);
    assert_int_equal(CAUSES(2), WRITE | DATA);
    procedure_free(procedure);
}

static void test_a_unit_may_be_busy_with_others_work(void **state) {
    (void)state;
    /* 1 finds what the caller began; what 1 began is in the schedule; 5 finds the callee's. */
    struct procedure *procedure = PROCEDURE(NOP, divide(T0, T1, T2), divide(T1, T1, T2), NOP,
                                            call(64), divide(T0, T1, T2), RET);
    assert_int_equal(CAUSES(1), UNIT);
    assert_int_equal(CAUSES(2), 0);
    assert_int_equal(CAUSES(5) & UNIT, UNIT);
    procedure_free(procedure);
}

static void test_what_serialises_and_what_comes_behind(void **state) {
    (void)state;
    struct procedure *procedure = PROCEDURE(NOP, FENCE, NOP, NOP, ECALL, addi(T0, 0, 1), NOP, RET);
    assert_int_equal(CAUSES(1), SYNC);
    assert_int_equal(CAUSES(2), SYNC);
    assert_int_equal(CAUSES(3), 0);
    assert_int_equal(CAUSES(5) & SYNC, SYNC);
    assert_int_equal(CAUSES(5) & FETCH, FETCH); /* the kernel has run */
    assert_int_equal(CAUSES(6), 0);
    procedure_free(procedure);
}

/* ---- out of order ---- */

static void test_at_commit_loads_wait_for_themselves(void **state) {
    (void)state;
    /* 0: mov rax, [rdi]; 3: add rax, rax; 6: add rcx, [rdi]; 9: mov [rdi], rax; 12: ret */
    static const uint8_t bytes[] = {0x48, 0x8b, 0x07, 0x48, 0x01, 0xc0, 0x48,
                                    0x03, 0x0f, 0x48, 0x89, 0x07, 0xc3};
    struct procedure *procedure = procedure_new("zen4");
    assert_int_not_equal(procedure->machine.l1d.mshrs, 0);
    procedure_look(procedure, ISA_X86_64, 0x400000, bytes, sizeof bytes);
    assert_int_equal(causes_at(procedure, 3), 0);
    assert_int_equal(causes_at(procedure, 6), DATA | REGISTERS);
    assert_int_equal(causes_at(procedure, 9), WRITE | BIT(STALL_DTLB));
    procedure_free(procedure);
}

/* ---- culprits of a procedure that was sampled ---- */

/* Executions and M given, cycles by instruction. */
struct sampled {
    struct procedure *procedure;
    double cycles[BYTES], events[BYTES]; /* by offset */
    struct procedure_samples samples;
    struct schedule schedule;
    struct frequency frequency;
    struct culprits culprits;
};

static struct sampled *sampled_new(struct procedure *procedure) {
    struct sampled *sampled = calloc(1, sizeof *sampled);
    const struct cfg *cfg = &procedure->cfg;
    assert_non_null(sampled);
    sampled->procedure = procedure;
    sampled->samples.cycles = sampled->cycles;
    sampled->samples.period = 1;
    sampled->schedule.cycles = calloc(cfg->insn_count, sizeof(double));
    sampled->schedule.stalls = calloc(cfg->insn_count, sizeof(struct static_stall));
    sampled->frequency.blocks = calloc(cfg->block_count, sizeof(struct frequency_estimate));
    sampled->frequency.edges = calloc(cfg->edge_count, sizeof(struct frequency_estimate));
    assert_true(sampled->schedule.cycles && sampled->schedule.stalls && sampled->frequency.blocks &&
                sampled->frequency.edges);
    return sampled;
}

static void sampled_find(struct sampled *sampled) {
    struct error error;
    culprits_free(&sampled->culprits);
    assert_true(culprits_find(&sampled->culprits, &sampled->procedure->cfg,
                              &sampled->procedure->machine, &sampled->schedule, &sampled->frequency,
                              sampled->procedure->causes, &sampled->samples, &error));
}

static void sampled_free(struct sampled *sampled) {
    culprits_free(&sampled->culprits);
    free(sampled->schedule.cycles);
    free(sampled->schedule.stalls);
    free(sampled->frequency.blocks);
    free(sampled->frequency.edges);
    procedure_free(sampled->procedure);
    free(sampled);
}

static void block_runs(struct sampled *sampled, uint32_t number, double times) {
    const struct cfg *cfg = &sampled->procedure->cfg;
    sampled->frequency.blocks[cfg->insns[cfg_insn_at(cfg, 4 * number)].block] =
        (struct frequency_estimate){
            .executions = times, .confidence = CONFIDENCE_HIGH, .source = ESTIMATE_POINTS};
}

static void edges_run(struct sampled *sampled, enum cfg_edge_kind kind, double times) {
    const struct cfg *cfg = &sampled->procedure->cfg;
    for (uint32_t i = 0; i < cfg->edge_count; i++)
        if (cfg->edges[i].kind == kind)
            sampled->frequency.edges[i] = (struct frequency_estimate){
                .executions = times, .confidence = CONFIDENCE_HIGH, .source = ESTIMATE_FLOW};
}

static void stand(struct sampled *sampled, uint32_t number, double m, double cycles) {
    sampled->schedule.cycles[cfg_insn_at(&sampled->procedure->cfg, 4 * number)] = m;
    sampled->cycles[4 * number] = cycles;
}

static const struct culprit *culprit_of(const struct sampled *sampled, uint32_t number,
                                        enum stall_cause cause, uint32_t blamed) {
    const struct cfg *cfg = &sampled->procedure->cfg;
    uint32_t insn = cfg_insn_at(cfg, 4 * number);
    uint32_t wanted = blamed == CFG_NONE ? CFG_NONE : cfg_insn_at(cfg, 4 * blamed);
    const struct culprits *culprits = &sampled->culprits;
    for (uint32_t i = culprits->first[insn]; i < culprits->first[insn + 1]; i++)
        if (culprits->list[i].cause == cause && culprits->list[i].blamed == wanted)
            return &culprits->list[i];
    return NULL;
}

static uint32_t culprit_count(const struct sampled *sampled, uint32_t number) {
    uint32_t insn = cfg_insn_at(&sampled->procedure->cfg, 4 * number);
    return sampled->culprits.first[insn + 1] - sampled->culprits.first[insn];
}

/* DCPI's Fig. 2, a loop that copies 32 bytes an iteration, at its addresses. */
static struct procedure *copy_loop(void) {
    enum { T4 = 29, T5 = 30, T6 = 31 };
    const uint32_t words[] = {
        ld(T3, 0, A1),    /*  0 9810 */
        addi(T0, T0, 4),  /*  1      */
        ld(T4, 8, A1),    /*  2      */
        ld(T5, 16, A1),   /*  3      */
        ld(T6, 24, A1),   /*  4 9820 */
        addi(A1, A1, 32), /*  5      */
        sd(T3, 0, A2),    /*  6      */
        sltu(T3, T0, T2), /*  7      */
        sd(T4, 8, A2),    /*  8 9830 */
        sd(T5, 16, A2),   /*  9      */
        sd(T6, 24, A2),   /* 10      */
        addi(A2, A2, 32), /* 11      */
        bnez(T3, -48),    /* 12 9840 */
        RET,              /* 13      */
    };
    return words_at(0x9810, words, sizeof words / sizeof *words);
}

static void test_causes_of_the_copy_loop(void **state) {
    (void)state;
    struct procedure *procedure = copy_loop();
    assert_int_equal(CAUSES(0), FETCH | MISPREDICT | DATA); /* a1, from the caller */
    assert_int_equal(CAUSES(1), 0);
    assert_int_equal(CAUSES(2), 0);
    assert_int_equal(CAUSES(3), 0);
    assert_int_equal(CAUSES(4), I_CACHE);
    assert_int_equal(CAUSES(5), 0);
    assert_int_equal(CAUSES(6), DATA | WRITE);
    assert_int_equal(CAUSES(7), 0);
    assert_int_equal(CAUSES(8), DATA | WRITE);
    assert_int_equal(CAUSES(9), DATA | WRITE);
    assert_int_equal(CAUSES(10), DATA | WRITE);
    assert_int_equal(CAUSES(11), 0);
    assert_int_equal(CAUSES(12), I_CACHE);
    assert_int_equal(CAUSES(13), MISPREDICT | DATA); /* ra */
    procedure_free(procedure);
}

/* Called 20 times, 1000 iterations in all. Cycles by hand:
 *
 *     insn   M  cycles   issue  static   stall   of which
 *       0    2    2000    1000    1000       -
 *       3    1     500    1000       -       -   gain 500
 *       4    1    3000    1000       -    2000   I-cache only, at most 20 × 200
 *       5    0     700       0       -     700   nothing explains it
 *       6    1   18000    1000       -   17000   D-cache of 0, at most 200 000, or of the caller's
 *                                               a2, 20 × 200; DTLB of 0, at most 40 000, while 20 ×
 *                                               40 are less than a twentieth; write buffer
 *      12    1   42000    1000       -   41000   I-cache, at most 20 × 200
 *      sum       66200    5000    1000   60700 */
static struct sampled *copied(void) {
    struct sampled *sampled = sampled_new(copy_loop());
    block_runs(sampled, 0, 1000);
    block_runs(sampled, 13, 20);
    edges_run(sampled, EDGE_ENTRY, 20);
    edges_run(sampled, EDGE_TAKEN, 980);
    edges_run(sampled, EDGE_FALL, 20);
    stand(sampled, 0, 2, 2000);
    stand(sampled, 3, 1, 500);
    stand(sampled, 4, 1, 3000);
    stand(sampled, 5, 0, 700);
    stand(sampled, 6, 1, 18000);
    stand(sampled, 12, 1, 42000);
    sampled->schedule.stalls[0] = (struct static_stall){0, STALL_FETCH, CFG_NONE, 1};
    sampled->schedule.stall_count = 1;
    sampled_find(sampled);
    return sampled;
}

static void test_culprits_of_the_copy_loop(void **state) {
    (void)state;
    struct sampled *sampled = copied();
    const struct culprit *culprit = culprit_of(sampled, 6, STALL_DMISS, 0);
    assert_non_null(culprit);
    assert_true(culprit->most == 200000);
    culprit = culprit_of(sampled, 6, STALL_DTLB, 0);
    assert_non_null(culprit);
    assert_true(culprit->most == 40000);
    culprit = culprit_of(sampled, 6, STALL_WRITE_BUFFER, CFG_NONE);
    assert_non_null(culprit);
    assert_true(isinf(culprit->most));
    culprit = culprit_of(sampled, 6, STALL_DMISS, CFG_NONE);
    assert_non_null(culprit);
    assert_true(culprit->most == 4000);
    assert_int_equal(culprit_count(sampled, 6), 4);
    assert_int_equal(culprit_count(sampled, 4), 1);
    assert_non_null(culprit_of(sampled, 4, STALL_IMISS, CFG_NONE));
    assert_int_equal(culprit_count(sampled, 0), 0); /* it does not stall */
    assert_int_equal(culprit_count(sampled, 5), 0);
    assert_true(sampled->culprits.insns[6].explained && !sampled->culprits.insns[5].explained);
    sampled_free(sampled);
}

static void test_summary_of_the_copy_loop(void **state) {
    (void)state;
    struct sampled *sampled = copied();
    const struct stall_summary *summary = &sampled->culprits.summary;
    assert_true(summary->total == 66200);
    assert_true(summary->execution == 5000);
    assert_true(summary->static_stalls[STALL_FETCH] == 1000);
    assert_true(summary->unexplained_gain == 500 && summary->unexplained_stall == 37700);
    assert_true(summary->explained == 23000);
    assert_true(summary->sampling_error == 0);
    assert_true(summary->dynamic[STALL_IMISS].least == 6000);
    assert_true(summary->dynamic[STALL_IMISS].most == 6000);
    assert_true(summary->dynamic[STALL_DMISS].least == 0);
    assert_true(summary->dynamic[STALL_DMISS].most == 17000);
    assert_true(summary->dynamic[STALL_DTLB].most == 17000);
    assert_true(summary->dynamic[STALL_WRITE_BUFFER].most == 17000);
    assert_true(summary->dynamic[STALL_MISPREDICT].most == 0);
    sampled_free(sampled);
}

/* 10 I-cache misses were counted at 12: at most 2000 of its 41000 cycles, less than a twentieth:
 * none of its culprits, but in the range. At 4 there were 8: 1600 of 2000 cycles, and 400 that
 * nothing explains. */
static void test_events_bound(void **state) {
    (void)state;
    struct sampled *sampled = copied();
    sampled->events[4 * 12] = 10;
    sampled->events[4 * 4] = 8;
    sampled->samples.events[EVENT_IMISS] = sampled->events;
    sampled_find(sampled);
    const struct stall_summary *summary = &sampled->culprits.summary;
    assert_int_equal(culprit_count(sampled, 12), 0);
    assert_true(culprit_of(sampled, 4, STALL_IMISS, CFG_NONE)->most == 1600);
    assert_true(!sampled->culprits.insns[12].explained);
    assert_true(summary->dynamic[STALL_IMISS].least == 1600 + 2000);
    assert_true(summary->explained == 18600 + 2000);
    assert_true(summary->unexplained_stall == 700 + 39000 + 400);
    sampled_free(sampled);
}

/* At the loop's head the caller's line, page and a1 may miss once, at 200, 40, 200 and 40 cycles,
 * the branch be mispredicted 999 times, at 6. */
static void test_rare_ways_are_ignored(void **state) {
    (void)state;
    struct sampled *sampled = copied();
    edges_run(sampled, EDGE_ENTRY, 1);
    edges_run(sampled, EDGE_TAKEN, 999);
    stand(sampled, 0, 2, 2000 + 6000); /* a twentieth: 300 */
    sampled_find(sampled);
    assert_int_equal(culprit_count(sampled, 0), 1);
    assert_true(culprit_of(sampled, 0, STALL_MISPREDICT, 12)->most == 5994);
    stand(sampled, 0, 2, 2000 + 1000); /* 50 */
    sampled_find(sampled);
    assert_int_equal(culprit_count(sampled, 0), 3);
    assert_non_null(culprit_of(sampled, 0, STALL_DMISS, CFG_NONE));
    assert_non_null(culprit_of(sampled, 0, STALL_IMISS, CFG_NONE));
    sampled_free(sampled);
}

/* Samples of 100 cycles: 9 more than 10 expected are within 2 √19 = 8.7 of them or not. */
static void test_sampling_error_is_no_stall(void **state) {
    (void)state;
    struct sampled *sampled = copied();
    sampled->samples.period = 100;
    stand(sampled, 4, 1, 1000 + 800);
    stand(sampled, 3, 1, 300); /* 2 √10 = 6.3: a gain of 7 */
    sampled_find(sampled);
    assert_true(sampled->culprits.insns[4].stall == 0 && sampled->culprits.insns[4].error == 800);
    assert_true(sampled->culprits.insns[3].gain == 700);
    stand(sampled, 4, 1, 1000 + 900);
    sampled_find(sampled);
    assert_true(sampled->culprits.insns[4].stall == 900 && sampled->culprits.insns[4].error == 0);
    sampled_free(sampled);
}

/* Nothing is known of how often: all is stall, and no bound is known. */
static void test_without_executions_nothing_is_ruled_out_by_them(void **state) {
    (void)state;
    struct sampled *sampled = copied();
    const struct cfg *cfg = &sampled->procedure->cfg;
    memset(sampled->frequency.blocks, 0, cfg->block_count * sizeof *sampled->frequency.blocks);
    memset(sampled->frequency.edges, 0, cfg->edge_count * sizeof *sampled->frequency.edges);
    sampled_find(sampled);
    assert_true(sampled->culprits.insns[4].stall == 3000);
    assert_true(isinf(culprit_of(sampled, 4, STALL_IMISS, CFG_NONE)->most));
    sampled_free(sampled);
}

/* ---- properties ---- */

static uint64_t random_state;
static uint32_t next_random(uint32_t below) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 20) % below;
}

static void check_identity(const struct sampled *sampled) {
    const struct stall_summary *it = &sampled->culprits.summary;
    double sum = it->execution + it->explained + it->unexplained_stall - it->unexplained_gain +
                 it->sampling_error;
    for (unsigned i = 0; i < STALL_CAUSES; i++) {
        const struct stall_range *range = &it->dynamic[i];
        sum += it->static_stalls[i];
        assert_true(range->least >= 0 && range->least <= range->most);
        assert_true(range->most <= it->explained * (1 + 1e-12));
    }
    assert_true(fabs(sum - it->total) <= 1e-9 * (it->total + it->execution));
}

static void check_list(const struct sampled *sampled) {
    const struct culprits *culprits = &sampled->culprits;
    const struct procedure *procedure = sampled->procedure;
    assert_int_equal(culprits->first[procedure->cfg.insn_count], culprits->count);
    for (uint32_t insn = 0; insn < procedure->cfg.insn_count; insn++)
        for (uint32_t i = culprits->first[insn]; i < culprits->first[insn + 1]; i++) {
            const struct culprit *it = &culprits->list[i];
            assert_int_equal(it->insn, insn);
            assert_true(procedure->causes[insn] & BIT(it->cause));
            assert_true(it->blamed == CFG_NONE || it->blamed < procedure->cfg.insn_count);
            assert_true(it->most > 0 && culprits->insns[insn].stall > 0);
            if (i > culprits->first[insn])
                assert_true(it[-1].cause < it->cause ||
                            (it[-1].cause == it->cause && it[-1].blamed < it->blamed));
        }
}

static void random_profile(struct sampled *sampled) {
    const struct cfg *cfg = &sampled->procedure->cfg;
    sampled->samples.period = next_random(2) ? 1 : 1000;
    for (uint32_t i = 0; i < cfg->block_count; i++)
        sampled->frequency.blocks[i] = (struct frequency_estimate){
            .executions = next_random(3) ? next_random(100000) : 0, .source = next_random(4)};
    for (uint32_t i = 0; i < cfg->edge_count; i++)
        sampled->frequency.edges[i] = (struct frequency_estimate){.executions = next_random(100000),
                                                                  .source = next_random(4)};
    for (uint32_t i = 0; i < cfg->insn_count; i++) {
        sampled->schedule.cycles[i] = next_random(9) / 2.0;
        sampled->cycles[cfg->insns[i].offset] =
            next_random(2) ? next_random(1000) * sampled->samples.period : 0;
        if (next_random(2))
            sampled->schedule.stalls[sampled->schedule.stall_count++] = (struct static_stall){
                i, (uint8_t)(STALL_SLOT + next_random(4)), CFG_NONE, next_random(3)};
    }
}

/* Whatever the bytes are and whatever was sampled of them, on both architectures. */
static void test_random_code(void **state) {
    (void)state;
    uint8_t bytes[512];
    for (uint32_t round = 0; round < 1000; round++) {
        random_state = round + 1;
        next_random(1);
        bool x86 = round % 2;
        size_t size = 4 + next_random(sizeof bytes - 4);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)next_random(256);
        for (size_t i = 0; !x86 && i + 4 <= size; i += 4)
            if (next_random(4)) { /* mostly something with a meaning */
                int32_t to = 4 * ((int32_t)next_random(32) - 16);
                uint32_t a = next_random(32), b = next_random(32);
                const uint32_t words[] = {ld(a, 8, b), sd(a, 8, b), add(a, b, a), bnez(a, to),
                                          jump(to),    call(to),    jr(a),        divide(a, b, b),
                                          FENCE,       ECALL,       RET,          FRFLAGS};
                memcpy(bytes + i, &words[next_random(sizeof words / sizeof *words)], 4);
            }
        struct procedure probe = {.bytes = {0}};
        struct error error;
        probe.code = (struct procedure_code){.isa = x86 ? ISA_X86_64 : ISA_RISCV64,
                                             .bytes = bytes,
                                             .size = size,
                                             .address = 0x10000};
        bool some = cfg_build(&probe.cfg, &probe.code, &error);
        cfg_free(&probe.cfg);
        if (!some)
            continue;
        struct procedure *procedure = procedure_new(round % 4 < 2 ? "alpha21164" : "zen4");
        procedure_look(procedure, probe.code.isa, 0x10000, bytes, size);
        struct sampled *sampled = sampled_new(procedure);
        random_profile(sampled);
        sampled_find(sampled);
        check_identity(sampled);
        check_list(sampled);
        sampled_free(sampled);
    }
}

/* One block of 8000 loads and uses, as many blocks, and a block of as many calls, which together
 * with its lines are too many to follow: each line counts as lost. */
static void test_much_code(void **state) {
    (void)state;
    enum { WORDS = BYTES / 4, BRANCHES = 1, CALLS = 2 };
    uint32_t *words = malloc(WORDS * sizeof *words);
    assert_non_null(words);
    for (int kind = 0; kind <= CALLS; kind++) {
        for (uint32_t i = 0; i < WORDS - 1; i++)
            words[i] = kind == CALLS ? call(1 << 18)
                       : i % 2       ? ld(5 + i % 27, 8, 5 + i / 2 % 27)
                       : kind == BRANCHES
                           ? bnez(5 + i / 3 % 27, i % 3 ? -4 * (int32_t)(i % 500) : 8)
                           : add(5, 6, 7);
        words[WORDS - 1] = RET;
        struct procedure *procedure = words_at(0x10000, words, WORDS);
        assert_int_equal(procedure->cfg.insn_count, WORDS);
        assert_in_range(procedure->feeding.count, 1, WORDS * 4 * (FEED_MAKERS + 1));
        assert_int_equal(makes_wait(procedure, FEED_LINE, FEED_SEVERAL, 8), kind != 0);
        procedure_free(procedure);
    }
    free(words);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fetch_misses_where_lines_and_pages_begin),
        cmocka_unit_test(test_fetch_misses_where_an_instruction_reaches_into_a_line),
        cmocka_unit_test(test_lines_stay_in_loops),
        cmocka_unit_test(test_calls_in_loops_evict),
        cmocka_unit_test(test_code_that_is_too_long_evicts_itself),
        cmocka_unit_test(test_a_callee_may_evict_and_its_return_be_mispredicted),
        cmocka_unit_test(test_perfect_caches_and_predictors_never_miss),
        cmocka_unit_test(test_only_branches_that_choose_are_mispredicted),
        cmocka_unit_test(test_calls_through_registers_mispredict_where_targets_are_guessed),
        cmocka_unit_test(test_only_the_first_use_of_a_load_waits),
        cmocka_unit_test(test_results_of_a_register_come_in_order),
        cmocka_unit_test(test_a_join_waits_unless_every_way_has_waited),
        cmocka_unit_test(test_a_load_feeds_the_next_iteration),
        cmocka_unit_test(test_a_load_that_is_used_by_itself_in_a_loop),
        cmocka_unit_test(test_callers_feed_arguments_and_what_is_kept),
        cmocka_unit_test(test_callees_feed_results_and_what_they_restore),
        cmocka_unit_test(test_atomics_wait_for_what_they_load_and_settle_all),
        cmocka_unit_test(test_makers_are_bounded),
        cmocka_unit_test(test_miss_registers_lack_behind_enough_loads),
        cmocka_unit_test(test_prefetches_hold_any_number_of_miss_registers),
        cmocka_unit_test(test_stores_wait_for_the_write_buffer),
        cmocka_unit_test(test_a_unit_may_be_busy_with_others_work),
        cmocka_unit_test(test_what_serialises_and_what_comes_behind),
        cmocka_unit_test(test_at_commit_loads_wait_for_themselves),
        cmocka_unit_test(test_causes_of_the_copy_loop),
        cmocka_unit_test(test_culprits_of_the_copy_loop),
        cmocka_unit_test(test_summary_of_the_copy_loop),
        cmocka_unit_test(test_events_bound),
        cmocka_unit_test(test_rare_ways_are_ignored),
        cmocka_unit_test(test_sampling_error_is_no_stall),
        cmocka_unit_test(test_without_executions_nothing_is_ruled_out_by_them),
        cmocka_unit_test(test_random_code),
        cmocka_unit_test(test_much_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
