/* Procedures as they are shown: DCPI's copy loop as Fig. 2 has it, a summary as Fig. 4 has it, the
 * JSON object and the picture, of an analysis that is filled in by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/annotation.h"
#include "report/graph_layout.h"

enum { INSNS = 14, LOOP = 13, BLOCKS = 2, EDGES = 4, BASE = 0x9810 };

/* DCPI's Fig. 2 in riscv64, and a return behind it:
 *
 *     9810 ld t4, 0(t1)      9820 ld a0, 24(t1)     9830 sd t5, 8(t2)      9840 bnez t4, 9810
 *     9814 addi t0, t0, 4    9824 addi t1, t1, 32   9834 sd t6, 16(t2)     9844 ret
 *     9818 ld t5, 8(t1)      9828 sd t4, 0(t2)      9838 sd a0, 24(t2)
 *     981c ld t6, 16(t1)     982c sltu t4, t0, a1   983c addi t2, t2, 32 */
static const uint32_t CODE[INSNS] = {0x00033e83, 0x00428293, 0x00833f03, 0x01033f83, 0x01833503,
                                     0x02030313, 0x01d3b023, 0x00b2beb3, 0x01e3b423, 0x01f3b823,
                                     0x00a3bc23, 0x02038393, 0xfc0e98e3, 0x00008067};

/* The samples of the figure. Executed 1527 times (Fig. 7); the period is one cycle. */
static const double SAMPLES[INSNS] = {3126, 0,    1636,   390,  1482, 0,    27766,
                                      0,    1493, 174727, 1548, 0,    1586, 0};
static const double BEST[INSNS] = {1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1};
static const double EXECUTIONS = 1527;

struct hand {
    struct procedure_code code;
    struct procedure_profile profile;
    struct procedure_extent extent;
    struct analysis analysis;
    struct machine machine;
    struct profile_set set;
    struct store_session epoch;
    struct profile_event event;
    struct annotation_input input;
    struct annotation annotation;

    struct cfg_insn insns[INSNS];
    struct cfg_block blocks[BLOCKS];
    struct cfg_edge edges[EDGES];
    uint32_t in_edges[3];
    struct frequency_estimate block_estimates[BLOCKS], edge_estimates[EDGES];
    double best[INSNS], cycles[INSNS];
    double values[4 * INSNS], sampled[4 * INSNS], executions[4 * INSNS], taken[4 * INSNS];
    double misses[4 * INSNS];
    uint32_t possible[INSNS], first[INSNS + 1];
    struct static_stall stall;
    struct culprit list[8];
    struct insn_stall stalls[INSNS];
};

static void blame(struct hand *hand, uint32_t insn, enum stall_cause cause, uint32_t blamed,
                  double most) {
    hand->list[hand->analysis.culprits.count++] = (struct culprit){insn, cause, blamed, most};
}

/* What stalls, in the order of culprits.h: 0 for 3126 − 1527 = 1599 cycles, 6 for 26239, 9 for
 * 173200; all else is within the error of sampling. */
static void fill_culprits(struct hand *hand) {
    struct culprits *culprits = &hand->analysis.culprits;
    blame(hand, 0, STALL_DTLB, CFG_NONE, INFINITY);
    blame(hand, 0, STALL_MISPREDICT, 12, 1527 * 5);
    for (uint32_t insn = 6; insn <= 9; insn += 3) {
        blame(hand, insn, STALL_DMISS, insn == 6 ? 0 : 3, INFINITY);
        blame(hand, insn, STALL_DTLB, CFG_NONE, INFINITY);
        blame(hand, insn, STALL_WRITE_BUFFER, CFG_NONE, INFINITY);
    }
    for (uint32_t i = 0; i < INSNS; i++) {
        double beyond = SAMPLES[i] - EXECUTIONS * BEST[i];
        bool stalls = i == 0 || i == 6 || i == 9;
        hand->stalls[i].explained = stalls;
        hand->stalls[i].stall = stalls ? beyond : 0;
        hand->stalls[i].executed = i < LOOP ? EXECUTIONS * BEST[i] : 0;
        hand->stalls[i].error = stalls || i == LOOP ? 0 : beyond;
        hand->first[i + 1] = hand->first[i];
        for (size_t k = 0; k < culprits->count; k++)
            hand->first[i + 1] += hand->list[k].insn == i;
    }
    culprits->list = hand->list;
    culprits->first = hand->first;
    culprits->insns = hand->stalls;
}

/* Stores stall for 26239 + 173200 = 199439 cycles, all for 201038; issues are 8 × 1527; the rest,
 * 109 + 390 − 45 − 34 + 21 + 59 = 500, is error. */
static void fill_summary(struct stall_summary *summary) {
    *summary = (struct stall_summary){
        .total = 213754, .explained = 201038, .execution = 12216, .sampling_error = 500};
    summary->dynamic[STALL_DMISS].most = summary->dynamic[STALL_WRITE_BUFFER].most = 199439;
    summary->dynamic[STALL_DTLB].most = 201038;
    summary->dynamic[STALL_MISPREDICT].most = 1599;
}

static void fill_graph(struct hand *hand) {
    struct cfg *cfg = &hand->analysis.cfg;
    for (uint32_t i = 0; i < INSNS; i++) {
        hand->insns[i] = (struct cfg_insn){.offset = 4 * i, .block = i / LOOP};
        assert_true(insn_decode(ISA_RISCV64, (const uint8_t *)&CODE[i], 4, &hand->insns[i].insn));
    }
    hand->blocks[0] = (struct cfg_block){
        .insn_count = LOOP, .out_count = 2, .in_count = 2, .loop_depth = 1, .outer_loop = CFG_NONE};
    hand->blocks[1] = (struct cfg_block){.first_insn = LOOP,
                                         .insn_count = 1,
                                         .first_out = 2,
                                         .out_count = 1,
                                         .first_in = 2,
                                         .in_count = 1,
                                         .loop = CFG_NONE};
    memcpy(hand->in_edges, (const uint32_t[]){1, 3, 0}, sizeof hand->in_edges);
    hand->edges[0] = (struct cfg_edge){0, 1, EDGE_FALL};
    hand->edges[1] = (struct cfg_edge){0, 0, EDGE_TAKEN};
    hand->edges[2] = (struct cfg_edge){1, CFG_NONE, EDGE_RETURN};
    hand->edges[3] = (struct cfg_edge){CFG_NONE, 0, EDGE_ENTRY};
    *cfg = (struct cfg){.code = &hand->code,
                        .insns = hand->insns,
                        .blocks = hand->blocks,
                        .edges = hand->edges,
                        .in_edges = hand->in_edges,
                        .insn_count = INSNS,
                        .block_count = BLOCKS,
                        .edge_count = EDGES,
                        .outer_count = 1};
}

static void fill_analysis(struct hand *hand) {
    struct analysis *analysis = &hand->analysis;
    fill_graph(hand);
    hand->block_estimates[0] = (struct frequency_estimate){
        .executions = EXECUTIONS, .confidence = CONFIDENCE_HIGH, .source = ESTIMATE_POINTS};
    hand->edge_estimates[1] = (struct frequency_estimate){
        .executions = EXECUTIONS, .confidence = CONFIDENCE_MEDIUM, .source = ESTIMATE_FLOW};
    hand->edge_estimates[3].executions = 3; /* 1527 rounds: 509 each time */
    analysis->frequency.blocks = hand->block_estimates;
    analysis->frequency.edges = hand->edge_estimates;
    memcpy(hand->best, BEST, sizeof BEST);
    memcpy(hand->cycles, SAMPLES, sizeof SAMPLES);
    analysis->schedule.cycles = analysis->schedule.least = analysis->schedule.most = hand->best;
    hand->stall = (struct static_stall){9, STALL_SLOT, 8, 1};
    analysis->schedule.stalls = &hand->stall;
    analysis->schedule.stall_count = 1;
    analysis->cycles = hand->cycles;
    analysis->possible = hand->possible;
    hand->possible[0] = 1u << STALL_DTLB | 1u << STALL_MISPREDICT;
    fill_culprits(hand);
    fill_summary(&analysis->culprits.summary);
}

static int set_up(void **state) {
    struct hand *hand = calloc(1, sizeof *hand);
    *state = hand;
    hand->code = (struct procedure_code){
        .isa = ISA_RISCV64, .bytes = (const uint8_t *)CODE, .size = sizeof CODE, .address = BASE};
    hand->extent = (struct procedure_extent){.path = "/bin/copy", .offset = 0x810, .size = 56};
    for (size_t i = 0; i < INSNS; i++)
        hand->values[4 * i] = hand->sampled[4 * i] = SAMPLES[i];
    hand->profile = (struct procedure_profile){.size = sizeof CODE,
                                               .values = hand->values,
                                               .cycles = hand->sampled,
                                               .period = 1,
                                               .sum = 213754,
                                               .sum_cycles = 213754,
                                               .total = 427508};
    snprintf(hand->machine.name, sizeof hand->machine.name, "alpha21164");
    hand->machine.core.in_order = true;
    hand->machine.clock_ghz = 0.333;
    hand->epoch = (struct store_session){
        .id = 1, .name = "copy", .host = "vm", .kernel = "", .processor = "ev5", .weight = 1};
    hand->set = (struct profile_set){
        .label = "epoch 1", .command = "copy", .epochs = &hand->epoch, .epoch_count = 1};
    hand->event = (struct profile_event){.name = "cycles",
                                         .unit = "samples",
                                         .scale = 1,
                                         .period = 1,
                                         .period_unit = "cycles",
                                         .precise = true};
    fill_analysis(hand);
    hand->input = (struct annotation_input){.set = &hand->set,
                                            .event = &hand->event,
                                            .name = "copy_loop",
                                            .image = "/bin/copy",
                                            .extent = &hand->extent,
                                            .profile = &hand->profile,
                                            .code = &hand->code,
                                            .analysis = &hand->analysis,
                                            .machine = &hand->machine,
                                            .own_machine = true};
    return 0;
}

static int tear_down(void **state) {
    struct hand *hand = *state;
    annotation_free(&hand->annotation);
    free(hand);
    return 0;
}

static void build(struct hand *hand) {
    struct error error;
    assert_true(annotation_build(&hand->annotation, &hand->input, &error));
}

static char *text_of(struct hand *hand, struct annotation_style style) {
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    const struct page page = page_of(file, false);
    build(hand);
    assert_true(annotation_text(&hand->annotation, &style, &page));
    fclose(file);
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        size_t columns = 0;
        for (size_t i = 0; line[i] && line[i] != '\n'; i++)
            columns += (line[i] & 0xc0) != 0x80;
        assert_true(columns <= 100);
    }
    return text;
}

static void expect(char *text, const char *expected) {
    if (!strstr(text, expected))
        fail_msg("does not have\n%s\nbut\n%s", expected, text);
    free(text);
}

/* Where a meaning has no room beside its letters it is told all the same, once. */
static void narrow(void **state) {
    struct hand *hand = *state;
    static char text[1 << 16];
    FILE *file = fmemopen(text, sizeof text, "w");
    assert_non_null(file);
    struct page page = page_of(file, false);
    page.columns = 20;
    build(hand);
    alarm(60); /* of which a few milliseconds are needed: otherwise lines go on without end */
    assert_true(annotation_text(&hand->annotation, &(struct annotation_style){0}, &page));
    alarm(0);
    fclose(file);
    const char *meaning = strstr(text, "(p = branch mispredict");
    assert_non_null(meaning);
    assert_null(strstr(meaning + 1, "(p = branch mispredict"));
    assert_non_null(strstr(text, "(w = write buffer"));
}

/* As in the figure; bubbles also tell how long (27766 / 1527 − 1 = 17.2). The store at 9834 waits
 * for a slot as well, since 9830 has it. */
static void copy_loop(void **state) {
    expect(
        text_of(*state, (struct annotation_style){0}),
        "copy_loop\n"
        "0x9810 to 0x9848 of /bin/copy: 14 instructions in 2 blocks\n"
        "213,754 samples, 50.0 % of all; best case 0.62 CPI, actual 10.77 CPI\n"
        "best case: the schedule of machine alpha21164\n"
        "\n"
        "  address  instruction                                      samples           CPI  "
        "culprit\n"
        "\n"
        "*** Best-case 8/13 = 0.62 CPI, actual 140/13 = 10.77 CPI\n"
        "*** 100.0 % of the samples; executed 1.53 k times, confidence high; in 1 loop\n"
        "│          pD 1.0cy  (p = branch mispredict, D = DTLB miss)\n"
        "│          pD\n"
        "│    9810  ld t4,0(t1)                                        3,126         2.0cy  9840\n"
        "│    9814  addi t0,t0,4                                           0  (dual issue)\n"
        "│    9818  ld t5,8(t1)                                        1,636         1.1cy\n"
        "│    981c  ld t6,16(t1)                                         390        0.26cy\n"
        "│    9820  ld a0,24(t1)                                       1,482         1.0cy\n"
        "│    9824  addi t1,t1,32                                          0  (dual issue)\n"
        "│          dwD ... 17.2cy  (d = D-cache miss, w = write buffer)\n"
        "│          dwD\n"
        "│          dwD\n"
        "│    9828  sd t4,0(t2)                                       27,766        18.2cy  9810\n"
        "│    982c  sltu t4,t0,a1                                          0  (dual issue)\n"
        "│    9830  sd t5,8(t2)                                        1,493         1.0cy\n"
        "│          s 1.0cy  (s = slotting)\n"
        "│          s\n"
        "│          dwD ... 113.4cy\n"
        "│          dwD\n"
        "│          dwD\n"
        "│    9834  sd t6,16(t2)                                     174,727       114.4cy  981c "
        "9830\n"
        "│    9838  sd a0,24(t2)                                       1,548         1.0cy\n"
        "│    983c  addi t2,t2,32                                          0  (dual issue)\n"
        "│    9840  bnez t4,0x9810                                     1,586         1.0cy\n"
        "\n"
        "… 1 instruction, no samples\n"
        "\n"
        "loop at    cycles  insns  rounds  each time  best case  cycles a round\n"
        " 9810     100.0 %     13  1.53 k        509       8.00             140\n"
        "\n"
        "where the cycles of this procedure went\n"
        "  p branch mispredict         0.0 % to   0.7 %\n"
        "  d D-cache miss              0.0 % to  93.3 %\n"
        "  w write buffer              0.0 % to  93.3 %\n"
        "  D DTLB miss                 0.0 % to  94.1 %\n"
        "  i I-cache miss              0.0 % to   0.0 %\n"
        "  I ITLB miss                 0.0 % to   0.0 %\n"
        "  m miss registers            0.0 % to   0.0 %\n"
        "  y synchronisation           0.0 % to   0.0 %\n"
        "  ? unexplained stall         0.0 %\n"
        "    unexplained gain          0.0 %\n"
        "    subtotal dynamic                            94.1 %\n"
        "    subtotal static                              0.0 %\n"
        "    total stall                                 94.1 %\n"
        "    execution                                    5.7 %\n"
        "    net sampling error                           0.2 %\n"
        "    total tallied                              100.0 %\n"
        "    (214 k cycles)\n");
}

/* The percentages of Fig. 4, of 1000 cycles: 461 of dynamic stall explained, so that with 23 of
 * unexplained stall less 43 of gain they are 441. */
static void set_figure_4(struct hand *hand) {
    struct stall_summary *summary = &hand->analysis.culprits.summary;
    *summary = (struct stall_summary){.total = 1000,
                                      .explained = 461,
                                      .unexplained_stall = 23,
                                      .unexplained_gain = 43,
                                      .execution = 512,
                                      .sampling_error = -1};
    summary->dynamic[STALL_IMISS] = (struct stall_range){0, 3};
    summary->dynamic[STALL_DMISS] = (struct stall_range){279, 279};
    summary->dynamic[STALL_DTLB] = (struct stall_range){92, 183};
    summary->dynamic[STALL_WRITE_BUFFER] = (struct stall_range){0, 63};
    summary->dynamic[STALL_MISPREDICT] = (struct stall_range){0, 26};
    summary->static_stalls[STALL_SLOT] = 18;
    summary->static_stalls[STALL_DEPENDENCE] = 30;
    hand->analysis.lost = 250;
}

static void figure_4(void **state) {
    set_figure_4(*state);
    expect(text_of(*state, (struct annotation_style){.top = 1}),
           "where the cycles of this procedure went\n"
           "  p branch mispredict         0.0 % to   2.6 %\n"
           "  d D-cache miss             27.9 % to  27.9 %\n"
           "  w write buffer              0.0 % to   6.3 %\n"
           "  D DTLB miss                 9.2 % to  18.3 %\n"
           "  i I-cache miss              0.0 % to   0.3 %\n"
           "  I ITLB miss                 0.0 % to   0.0 %\n"
           "  m miss registers            0.0 % to   0.0 %\n"
           "  y synchronisation           0.0 % to   0.0 %\n"
           "  ? unexplained stall         2.3 %\n"
           "    unexplained gain         -4.3 %\n"
           "    subtotal dynamic                            44.1 %\n"
           "  s slotting                  1.8 %\n"
           "  r dependence                3.0 %\n"
           "    subtotal static                              4.8 %\n"
           "    total stall                                 48.9 %\n"
           "    execution                                   51.2 %\n"
           "    net sampling error                          -0.1 %\n"
           "    total tallied                              100.0 %\n"
           "    (1.00 k cycles, without 20.0 % of the samples, at which no instruction begins)\n");
}

/* The same with what a simulation knows: 300 cycles of D-cache misses, all by one instruction. */
static void truth_beside(void **state) {
    struct hand *hand = *state;
    set_figure_4(hand);
    hand->profile.has_stalls = true;
    hand->profile.stalls[STALL_DMISS] = hand->misses;
    hand->misses[24] = 300;
    expect(text_of(hand, (struct annotation_style){0}),
           "where the cycles of this procedure went                   in truth\n"
           "  p branch mispredict         0.0 % to   2.6 %               0.0 %\n"
           "  d D-cache miss             27.9 % to  27.9 %              30.0 %\n");
}

/* Of a core out of order: what TEA says stands beside; letters are told once only. */
static void exact_stacks(void **state) {
    static struct signature_part parts[] = {
        {24, PSV_ST_L1, 20000}, {24, 0, 7766}, {36, PSV_ST_LLC | PSV_ST_TLB, 174727}};
    struct hand *hand = *state;
    hand->machine.core.in_order = false;
    hand->profile.parts = parts;
    hand->profile.part_count = 3;
    expect(
        text_of(hand, (struct annotation_style){0}),
        "│    9828  sd t4,0(t2)                         27,766        18.2cy  9810       72% ST-L1 "
        "28% Base\n"
        "│    982c  sltu t4,t0,a1                            0  (same cycle)\n");
}

/* Without executions there is no CPI; blocks that are not among the hottest are folded. */
static void unknown_and_folded(void **state) {
    struct hand *hand = *state;
    hand->block_estimates[0] = (struct frequency_estimate){0};
    expect(text_of(hand, (struct annotation_style){0}),
           "*** Best-case 8/13 = 0.62 CPI, actual not known\n"
           "*** 100.0 % of the samples; executed ? times; in 1 loop\n"
           "│    9810  ld t4,0(t1)                                        3,126             ?\n");
    annotation_free(&hand->annotation);
    hand->values[52] = hand->cycles[13] = 200000;
    hand->input.name = "x\033[1m"; /* a name may hold anything */
    expect(text_of(hand, (struct annotation_style){.top = 1}), "\nx?[1m\n");
    annotation_free(&hand->annotation);
    hand->cycles[13] = 300000;
    expect(text_of(hand, (struct annotation_style){.top = 1}),
           "\n… 13 instructions, 213,754 samples\n\n*** Best-case 1/1");
}

/* Of 100 samples 25 lie inside of instructions. */
static void lost_samples_are_noted(void **state) {
    struct hand *hand = *state;
    hand->analysis.culprits.summary.total = 75;
    build(hand);
    for (int lost = 25; lost >= 0; lost -= 25) {
        const struct report *report = &hand->annotation.report;
        hand->analysis.lost = lost;
        annotation_free(&hand->annotation);
        build(hand);
        assert_true(annotation_add_worth(&hand->annotation));
        bool noted = false;
        for (uint32_t i = 0; i < report->note_count; i++)
            noted |= strstr(report->notes[i],
                            "25.0 % of the samples lie where no instruction begins") != NULL;
        assert_int_equal(noted, lost > 0);
    }
}

static void notes(void **state) {
    struct hand *hand = *state;
    hand->event.name = "cpu-clock";
    hand->event.precise = hand->input.own_machine = false;
    hand->analysis.cfg.flags = CFG_MISSING_EDGES;
    hand->analysis.cfg.unresolved = 2;
    hand->profile.period = 1000; /* 213.8 samples at nine places: 23.8 at each, ± 21 % */
    build(hand);
    assert_true(annotation_add_worth(&hand->annotation));
    static const char *const WORDS[] = {"timer's interrupt", "± 21 %; about 900 samples",
                                        "high confidence for 100 %",
                                        "not of the processor that ran this", "2 indirect jumps"};
    const struct report *report = &hand->annotation.report;
    assert_int_equal(report->note_count, 5);
    for (size_t i = 0; i < 5; i++)
        if (!strstr(report->notes[i], WORDS[i]))
            fail_msg("%s: %s", WORDS[i], report->notes[i]);
}

static bool a_part_is_noted(struct hand *hand, double simulated, bool same_command) {
    const struct procedure_profile profile = {.sum_cycles = simulated};
    const struct annotation_simulated beside = {.profile = &profile, .same_command = same_command};
    bool noted = false;
    hand->input.simulated = &beside;
    annotation_free(&hand->annotation);
    build(hand);
    assert_true(annotation_add_worth(&hand->annotation));
    const struct report *report = &hand->annotation.report;
    for (uint32_t i = 0; i < report->note_count; i++)
        noted |= strstr(report->notes[i], "one of them is of a part of the run") != NULL;
    hand->input.simulated = NULL;
    return noted;
}

/* Samples of 213754 cycles. */
static void a_simulated_part_is_noted(void **state) {
    struct hand *hand = *state;
    assert_false(a_part_is_noted(hand, 100000, true));
    assert_true(a_part_is_noted(hand, 2000, true));
    assert_true(a_part_is_noted(hand, 2000000, true));
    assert_false(a_part_is_noted(hand, 2000, false));
    hand->profile.period = 100000; /* two samples tell nothing */
    assert_false(a_part_is_noted(hand, 2000, true));
}

/* ---- JSON ---- */

static double real_of(json_t *object, const char *key) {
    json_t *value = json_object_get(object, key);
    if (!json_is_number(value))
        fail_msg("%s is no number", key);
    return json_number_value(value);
}

static const char *string_of(json_t *object, const char *key) {
    json_t *value = json_object_get(object, key);
    return json_is_string(value) ? json_string_value(value) : "";
}

/* Taken 1500 of 1527 times, so that 27 fall through. */
static void json_object_of(void **state) {
    struct hand *hand = *state;
    hand->profile.executions = hand->executions;
    hand->profile.taken = hand->taken;
    for (uint32_t i = 0; i < LOOP; i++)
        hand->executions[4 * i] = 1527;
    hand->taken[48] = 1500;
    build(hand);
    json_t *object = annotation_json(&hand->annotation);
    assert_non_null(object);
    assert_string_equal(string_of(object, "procedure"), "copy_loop");
    assert_string_equal(string_of(object, "executions"), "estimated");
    assert_true(fabs(real_of(object, "cpi") - 213754.0 / 1527 / 13) < 1e-9);
    assert_true(real_of(object, "share") == 0.5);
    json_t *edges = json_object_get(object, "edges");
    assert_int_equal(json_array_size(edges), EDGES);
    assert_true(real_of(json_array_get(edges, 0), "true_executions") == 27);
    assert_true(real_of(json_array_get(edges, 1), "true_executions") == 1500);
    assert_true(json_is_null(json_object_get(json_array_get(edges, 2), "to")));
    json_t *insn = json_array_get(json_object_get(object, "instructions"), 6);
    assert_string_equal(string_of(insn, "text"), "sd t4,0(t2)");
    json_t *culprits = json_object_get(insn, "culprits");
    assert_int_equal(json_array_size(culprits), 3);
    assert_string_equal(string_of(json_array_get(culprits, 0), "cause"), "dmiss");
    assert_true(real_of(json_array_get(culprits, 0), "blamed") == 0x9810);
    assert_true(json_is_null(json_object_get(json_array_get(culprits, 0), "most_cycles")));
    assert_true(real_of(json_object_get(insn, "truth"), "executions") == 1527);
    json_t *dynamic = json_object_get(json_object_get(object, "summary"), "dynamic");
    assert_true(real_of(json_object_get(dynamic, "dtlbmiss"), "most") == 201038);
    json_decref(object);
}

/* ---- pictures ---- */

static void picture(void **state) {
    struct hand *hand = *state;
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    struct error error;
    hand->input.name = "operator<";
    build(hand);
    assert_true(annotation_svg(&hand->annotation, file, &error));
    fclose(file);
    assert_non_null(strstr(text, "operator&lt;: 214 k samples"));
    assert_non_null(strstr(text, ">9810 to 9840, 13 instructions<"));
    assert_non_null(strstr(text, ">CPI 10.77, best case 0.62<"));
    assert_non_null(strstr(text, "100.0 % of its samples: pDdw<"));
    free(text);
}

/* 0 → 1, 0 → 2, 1 → 3, 2 → 3, 3 → 0 back, 0 → 3 past the middle: three layers. */
static void diamond(void **state) {
    (void)state;
    struct layout_node nodes[4] = {
        {10, 10, 0, 0, 0}, {10, 10, 0, 0, 0}, {30, 20, 0, 0, 0}, {10, 10, 0, 0, 0}};
    struct layout_edge edges[6] = {{.from = 0, .to = 1}, {.from = 0, .to = 2},
                                   {.from = 1, .to = 3}, {.from = 2, .to = 3},
                                   {.from = 3, .to = 0}, {.from = 0, .to = 3}};
    struct graph_layout layout = {.nodes = nodes, .node_count = 4, .edges = edges, .edge_count = 6};
    struct error error;
    assert_true(graph_layout_make(&layout, &error));
    assert_int_equal(nodes[0].layer, 0);
    assert_int_equal(nodes[1].layer, 1);
    assert_int_equal(nodes[2].layer, 1);
    assert_int_equal(nodes[3].layer, 2);
    assert_true(edges[4].back && !edges[0].back && !edges[5].back);
    assert_int_equal(edges[0].point_count, 2);
    assert_int_equal(edges[5].point_count, 4);
    assert_true(fabs(nodes[1].x - nodes[2].x) >= 20 + LAYOUT_GAP - 1e-9);
    assert_true(nodes[3].y >= nodes[1].y + 20 + LAYOUT_LAYER_GAP - 1e-9);
    graph_layout_free(&layout);
}

/* `packed`: of several parts, whose layers are their own. */
static void check_layout(const struct graph_layout *layout, bool packed) {
    for (uint32_t i = 0; i < layout->node_count; i++) {
        const struct layout_node *a = &layout->nodes[i];
        assert_true(a->x - a->width / 2 >= 0 && a->x + a->width / 2 <= layout->width);
        assert_true(a->y >= 0 && a->y + a->height <= layout->height);
        for (uint32_t k = 0; k < i; k++) {
            const struct layout_node *b = &layout->nodes[k];
            double apart = fabs(a->x - b->x) - (a->width + b->width) / 2;
            bool above = a->y + a->height <= b->y || b->y + b->height <= a->y;
            assert_true(packed ? apart > 0 || above
                               : a->layer != b->layer || apart >= LAYOUT_GAP - 1e-6);
        }
    }
    for (uint32_t i = 0; i < layout->edge_count; i++) {
        const struct layout_edge *edge = &layout->edges[i];
        const struct layout_node *from = &layout->nodes[edge->from], *to = &layout->nodes[edge->to];
        if (edge->from == edge->to) {
            assert_true(edge->back && !edge->point_count);
            continue;
        }
        assert_true(edge->back ? from->layer > to->layer : from->layer < to->layer);
        const struct layout_point *points = layout->points + edge->first_point;
        assert_true(fabs(points[0].x - from->x) < from->width / 2);
        assert_true(fabs(points[edge->point_count - 1].x - to->x) < to->width / 2);
        for (uint32_t k = 1; k < edge->point_count; k++)
            assert_true(edge->back ? points[k].y <= points[k - 1].y
                                   : points[k].y >= points[k - 1].y);
    }
}

/* Whatever the graph: nodes keep apart, edges lead down but for those that close cycles. */
static void random_graphs(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int trial = 0; trial < 300; trial++) {
        struct layout_node nodes[40];
        struct layout_edge edges[90];
        struct graph_layout layout = {.nodes = nodes, .edges = edges};
        struct error error;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        layout.node_count = 1 + (uint32_t)(seed >> 33) % 40;
        layout.edge_count = (uint32_t)(seed >> 40) % 90;
        for (uint32_t i = 0; i < layout.node_count; i++)
            nodes[i] = (struct layout_node){.width = 10 + i % 7, .height = 5 + i % 3};
        for (uint32_t i = 0; i < layout.edge_count; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            edges[i] = (struct layout_edge){.from = (uint32_t)(seed >> 33) % layout.node_count,
                                            .to = (uint32_t)(seed >> 48) % layout.node_count};
        }
        assert_true(graph_layout_make(&layout, &error));
        check_layout(&layout, false);
        graph_layout_free(&layout);
        assert_true(graph_layout_pack(&layout, 200, &error));
        check_layout(&layout, true);
        graph_layout_free(&layout);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(copy_loop, set_up, tear_down),
        cmocka_unit_test_setup_teardown(narrow, set_up, tear_down),
        cmocka_unit_test_setup_teardown(figure_4, set_up, tear_down),
        cmocka_unit_test_setup_teardown(truth_beside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(exact_stacks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unknown_and_folded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lost_samples_are_noted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(notes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_simulated_part_is_noted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(json_object_of, set_up, tear_down),
        cmocka_unit_test_setup_teardown(picture, set_up, tear_down),
        cmocka_unit_test(diamond),
        cmocka_unit_test(random_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
