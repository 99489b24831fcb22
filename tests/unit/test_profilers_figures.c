/* The papers' own examples, as records made by hand: Figs A.4 and B.1, the registers behind them
 * (Fig. A.6), and thesis Table 2.1. */
#include "attribute/tip.h"
#include "profile_fixture.h"

struct stream {
    struct profile_set set;
    struct oracle *oracle;
    struct golden *golden;
    struct tap_script *script;
};

static void stream_open(struct stream *stream, const struct sampler_options *sampling) {
    set_open(&stream->set, sampling);
    stream->oracle = oracle_new();
    stream->golden = golden_new();
    stream->script = tap_script_new();
}

static void stream_end(struct stream *stream) {
    struct error error;
    struct tap_worker workers[] = {set_worker(&stream->set), oracle_worker(stream->oracle),
                                   golden_worker(stream->golden)};
    for (int i = 0; i < 3; i++)
        assert_true(workers[i].consume(workers[i].context, &stream->script->buffer, &error));
    tap_script_free(stream->script);
    set_finish(&stream->set);
}

static void stream_close(struct stream *stream) {
    set_close(&stream->set);
    oracle_free(stream->oracle);
    golden_free(stream->golden);
}

/* Instructions `first`, first + 1, ..., each of one µop without events, commit. */
static void commit(struct stream *stream, uint64_t cycle, unsigned why, uint64_t empty,
                   uint32_t first, unsigned n) {
    uint64_t uops[8];
    for (unsigned i = 0; i < n; i++)
        uops[i] = tap_uop(first + i, 0, TAP_UOP_LAST);
    script_record(stream->script, TAP_COMMIT, cycle, why, empty, n, uops);
}

static void assert_cycles(const struct stream *stream, const char *name, uint32_t insn,
                          double cycles) {
    const struct pics *pics = !strcmp(name, "Oracle") ? oracle_profile(stream->oracle)
                                                      : result_of(&stream->set, name)->pics;
    uint64_t units = units_of(pics, insn, -1);
    if (units != (uint64_t)(cycles * CYCLE_UNITS))
        fail_msg("%s: I%u has %lu units, not %g cycles", name, insn, units, cycles);
}

/* ---- Fig. A.4: a core that commits two in a cycle ---- */

/* (a) I1 and I2 commit in cycle 1: half a cycle each; NCI and LCI take the first. */
static void figure_a4_computing(void **state) {
    (void)state;
    struct stream stream;
    stream_open(&stream, &EVERY_CYCLE);
    commit(&stream, 1, TAP_DRAINED, 0, 1, 2);
    stream_end(&stream);
    for (uint32_t i = 1; i <= 2; i++) {
        assert_cycles(&stream, "Oracle", i, 0.5);
        assert_cycles(&stream, "TIP", i, 0.5);
        assert_cycles(&stream, "NCI", i, i == 1);
        assert_cycles(&stream, "LCI", i, i == 1);
    }
    stream_close(&stream);
}

/* (b) I1 commits in cycle 1, the load I2 stalls from 2 to 41 and commits with I3 in 42. Oracle: I1
 * 1, the load 40 1/2, I3 1/2. NCI: the load 41. LCI: I1 41, the load 1. */
static void figure_a4_stalled(void **state) {
    (void)state;
    struct stream stream;
    stream_open(&stream, &EVERY_CYCLE);
    commit(&stream, 1, TAP_DRAINED, 0, 1, 1);
    commit(&stream, 42, TAP_DRAINED, 0, 2, 2);
    stream_end(&stream);
    static const double oracle[] = {0, 1, 40.5, 0.5}, nci[] = {0, 1, 41, 0}, lci[] = {0, 41, 1, 0};
    for (uint32_t i = 1; i <= 3; i++) {
        assert_cycles(&stream, "Oracle", i, oracle[i]);
        assert_cycles(&stream, "TIP", i, oracle[i]);
        assert_cycles(&stream, "NCI", i, nci[i]);
        assert_cycles(&stream, "LCI", i, lci[i]);
    }
    stream_close(&stream);
}

/* (c) I1 and the mispredicted branch I2 commit in cycle 1; the ROB is empty for 4 cycles, I5 stalls
 * in cycle 6 and commits with I6 in 7. Oracle: I1 1/2, the branch 4 1/2, I5 1 1/2, I6 1/2. NCI
 * gives the branch nothing: I1 1, I5 6. LCI: I1 1, the branch 5, I5 1. */
static void figure_a4_flushed(void **state) {
    (void)state;
    struct stream stream;
    stream_open(&stream, &EVERY_CYCLE);
    commit(&stream, 1, TAP_DRAINED, 0, 1, 2);
    commit(&stream, 7, TAP_FLUSHED_LAST, 4, 5, 2);
    stream_end(&stream);
    static const double oracle[] = {0, 0.5, 4.5, 0, 0, 1.5, 0.5}, nci[] = {0, 1, 0, 0, 0, 6, 0},
                        lci[] = {0, 1, 5, 0, 0, 1, 0};
    for (uint32_t i = 1; i <= 6; i++) {
        assert_cycles(&stream, "Oracle", i, oracle[i]);
        assert_cycles(&stream, "TIP", i, oracle[i]);
        assert_cycles(&stream, "NCI", i, nci[i]);
        assert_cycles(&stream, "LCI", i, lci[i]);
    }
    stream_close(&stream);
}

/* (d) I1 and I2 commit in cycle 1, the ROB is empty from 2 to 41 because I3 missed in the
 * instruction cache; it stalls in 42 and commits with I4 in 43. Oracle: I1 and I2 1/2, I3 41 1/2,
 * I4 1/2. NCI: I3
 * 42. LCI: I2 41. */
static void figure_a4_drained(void **state) {
    (void)state;
    struct stream stream;
    stream_open(&stream, &EVERY_CYCLE);
    commit(&stream, 1, TAP_DRAINED, 0, 1, 2);
    commit(&stream, 43, TAP_DRAINED, 40, 3, 2);
    stream_end(&stream);
    static const double oracle[] = {0, 0.5, 0.5, 41.5, 0.5}, nci[] = {0, 1, 0, 42, 0},
                        lci[] = {0, 1, 41, 1, 0};
    for (uint32_t i = 1; i <= 4; i++) {
        assert_cycles(&stream, "Oracle", i, oracle[i]);
        assert_cycles(&stream, "TIP", i, oracle[i]);
        assert_cycles(&stream, "NCI", i, nci[i]);
        assert_cycles(&stream, "LCI", i, lci[i]);
    }
    stream_close(&stream);
}

/* ---- Fig. B.1 ---- */

/* One round of the loop I1 to I4 commits, I1 and I4 with these events. */
static void commit_loop(struct stream *stream, uint64_t cycle, unsigned why, uint64_t empty,
                        uint32_t first_events, uint32_t last_events) {
    uint64_t uops[] = {tap_uop(1, first_events, TAP_UOP_LAST), tap_uop(2, 0, TAP_UOP_LAST),
                       tap_uop(3, 0, TAP_UOP_LAST), tap_uop(4, last_events, TAP_UOP_LAST)};
    script_record(stream->script, TAP_COMMIT, cycle, why, empty, 4, uops);
}

/* A sample every 1,000 cycles. 1: the ROB is drained, I1 missed in the instruction cache. 2: it is
 * flushed, I4 was mispredicted. 3: I1 stalls on a data cache miss. 4 and 5: all four commit.
 *   I1 1,000 cycles of DR-L1, 1,000 of ST-L1 and 500 of Base; I2 and I3 500 of Base; I4 1,000 of
 *   FL-MB and 500 of Base.
 * NCI-TEA gives sample 2 to the I1 of the next round, which had no event, and 4 and 5 to I1. */
static void figure_b1(void **state) {
    (void)state;
    static const struct sampler_options options = {.period = 1000};
    struct stream stream;
    stream_open(&stream, &options);
    commit(&stream, 900, TAP_DRAINED, 0, 0, 1); /* IX */
    commit_loop(&stream, 1010, TAP_DRAINED, 105, PSV_DR_L1, PSV_FL_MB);
    commit_loop(&stream, 2010, TAP_FLUSHED_LAST, 995, 0, 0);
    commit_loop(&stream, 3050, TAP_DRAINED, 0, PSV_ST_L1, 0);
    for (uint64_t cycle = 3051; cycle <= 5000; cycle++)
        commit_loop(&stream, cycle, TAP_DRAINED, 0, 0, 0);
    commit(&stream, 5001, TAP_DRAINED, 0, 5, 1); /* IY */
    stream_end(&stream);

    const struct profile_result *tea = result_of(&stream.set, "TEA");
    assert_int_equal(tea->samples, 5);
    assert_int_equal(tea->bytes, 5 * 88);
    assert_int_equal(pics_total(tea->pics), 5000 * CYCLE_UNITS);
    assert_int_equal(units_of(tea->pics, 1, PSV_DR_L1), 1000 * CYCLE_UNITS);
    assert_int_equal(units_of(tea->pics, 1, PSV_ST_L1), 1000 * CYCLE_UNITS);
    assert_int_equal(units_of(tea->pics, 4, PSV_FL_MB), 1000 * CYCLE_UNITS);
    for (uint32_t i = 1; i <= 4; i++)
        assert_int_equal(units_of(tea->pics, i, 0), 500 * CYCLE_UNITS);

    const struct profile_result *nci = result_of(&stream.set, "NCI-TEA");
    assert_int_equal(units_of(nci->pics, 1, PSV_DR_L1), 1000 * CYCLE_UNITS);
    assert_int_equal(units_of(nci->pics, 1, PSV_ST_L1), 1000 * CYCLE_UNITS);
    assert_int_equal(units_of(nci->pics, 1, 0), 3000 * CYCLE_UNITS);
    assert_int_equal(pics_total(nci->pics), 5000 * CYCLE_UNITS);
    stream_close(&stream);
}

/* ---- TIP's registers ---- */

static bool only_valid(const struct tip_registers *registers, unsigned bank) {
    for (unsigned i = 0; i < registers->banks; i++)
        if (tip_valid(registers, i) != (i == bank))
            return false;
    return true;
}

/* Four banks; µops 6, 7 and 8 commit: banks 2, 3 and 0. */
static void registers_computing(void **state) {
    (void)state;
    uint64_t uops[] = {tap_uop(60, 0, 0), tap_uop(70, PSV_ST_L1, 0), tap_uop(80, 0, 0)}, named[4];
    struct commit_view view = {
        .state = STATE_COMPUTING, .uops = uops, .count = 3, .sequence = 6, .closes = 100};
    struct tip_registers registers;
    tip_select(&view, 4, &registers);
    assert_int_equal(registers.flags, 0);
    assert_int_equal(registers.oldest, 2);
    assert_true(tip_valid(&registers, 2) && tip_valid(&registers, 3) && tip_valid(&registers, 0));
    assert_false(tip_valid(&registers, 1));
    assert_int_equal(registers.address[3], uops[1]);
    assert_int_equal(registers.address[0], uops[2]);
    assert_int_equal(registers.ready, 0);
    assert_int_equal(tip_attribute(&registers, named), 3);
    assert_memory_equal(named, uops, sizeof uops);
    tea_select(&view, 4, &registers);
    assert_int_equal(registers.ready, 0);
}

/* The same µops commit in 100, and now it is earlier: the oldest alone, Stalled. TEA waits for its
 * signature. */
static void registers_stalled(void **state) {
    (void)state;
    uint64_t uops[] = {tap_uop(60, PSV_ST_L1, 0), tap_uop(70, 0, 0)}, named[4];
    struct commit_view view = {
        .state = STATE_STALLED, .uops = uops, .count = 2, .sequence = 6, .closes = 100};
    struct tip_registers registers;
    tip_select(&view, 4, &registers);
    assert_int_equal(registers.flags, TIP_STALLED);
    assert_int_equal(registers.oldest, 2);
    assert_true(only_valid(&registers, 2));
    assert_int_equal(registers.ready, 0);
    assert_int_equal(tip_attribute(&registers, named), 1);
    assert_int_equal(named[0], uops[0]);
    tea_select(&view, 4, &registers);
    assert_int_equal(registers.ready, 100);
}

/* An empty ROB: address 0 holds the offending instruction, with the flag that says why. An ordering
 * violation is an exception, and TEA waits for the load to be executed again. */
static void registers_flushed(void **state) {
    (void)state;
    uint64_t next = tap_uop(60, PSV_FL_MO, 0), named[4];
    struct commit_view view = {.state = STATE_FLUSHED,
                               .uops = &next,
                               .count = 1,
                               .sequence = 6,
                               .last_uop = tap_uop(50, PSV_FL_MB | PSV_ST_L1, 0),
                               .enters = 90,
                               .closes = 100};
    struct tip_registers registers;
    tea_select(&view, 4, &registers);
    assert_int_equal(registers.flags, TIP_MISPREDICTED);
    assert_int_equal(registers.oldest, 0);
    assert_true(only_valid(&registers, 0));
    assert_int_equal(registers.ready, 0);
    assert_int_equal(tip_attribute(&registers, named), 1);
    assert_int_equal(named[0], view.last_uop);

    view.last_uop = tap_uop(50, PSV_FL_EX, 0);
    tip_select(&view, 4, &registers);
    assert_int_equal(registers.flags, TIP_FLUSH);

    view.squashed = true;
    tip_select(&view, 4, &registers);
    assert_int_equal(registers.flags, TIP_EXCEPTION);
    assert_int_equal(registers.ready, 0);
    assert_int_equal(tip_attribute(&registers, named), 1);
    assert_int_equal(named[0], next);
    tea_select(&view, 4, &registers);
    assert_int_equal(registers.ready, 100);
}

/* Drained: the flag at once, the address in 90, when the first µop dispatches; TEA's in 100. */
static void registers_drained(void **state) {
    (void)state;
    uint64_t uops[] = {tap_uop(60, PSV_DR_L1, 0), tap_uop(70, 0, 0)}, named[4];
    struct commit_view view = {.state = STATE_DRAINED,
                               .uops = uops,
                               .count = 2,
                               .sequence = 7,
                               .last_uop = tap_uop(50, PSV_FL_MB, 0),
                               .enters = 90,
                               .closes = 100};
    struct tip_registers registers;
    tip_select(&view, 4, &registers);
    assert_int_equal(registers.flags, TIP_FRONT_END);
    assert_int_equal(registers.oldest, 3);
    assert_true(only_valid(&registers, 3));
    assert_int_equal(registers.ready, 90);
    assert_int_equal(tip_attribute(&registers, named), 1);
    assert_int_equal(named[0], uops[0]);
    tea_select(&view, 4, &registers);
    assert_int_equal(registers.ready, 100);
}

/* An idealised core commits 255 in a cycle: as many banks, whatever the width. */
static void registers_of_an_unlimited_core(void **state) {
    (void)state;
    uint64_t uops[COMMIT_GROUP_MAX], named[COMMIT_GROUP_MAX];
    for (uint32_t i = 0; i < COMMIT_GROUP_MAX; i++)
        uops[i] = tap_uop(i, 0, 0);
    struct commit_view view = {
        .state = STATE_COMPUTING, .uops = uops, .count = COMMIT_GROUP_MAX, .sequence = 1000};
    struct tip_registers registers;
    tip_select(&view, 4, &registers);
    assert_int_equal(tip_attribute(&registers, named), COMMIT_GROUP_MAX);
    assert_memory_equal(named, uops, sizeof uops);
}

/* ---- thesis Table 2.1 ---- */

/* A profiler covers a state when a sample in any of the state's cycles names what Oracle names. The
 * stream has one sequence of all four, on a machine that dispatches 3 cycles after it fetches:
 *
 *   1      I0 and I1 commit
 *   2-21   I2 stalls
 *   22, 23 I2 and I3 commit, then I4 and the mispredicted branch I5
 *   24-33  Flushed; I6 and I7 are fetched in 30 and dispatch in 33
 *   34, 35 I6 stalls; I6 and I7 commit
 *   36-75  Drained: I8 misses in the instruction cache. I8 and I9 are fetched in 72, I10 and I11 in
 *          73, I12 and I13 in 74; they dispatch in 75, 76 and 77
 *   76, 77 I8 stalls; I8 and I9 commit
 *   78     I10 and I11 commit
 *
 * The thesis counts all tagging in the front end as covering Drained. That holds for tags at
 * dispatch (IBS, SPE). A tag at fetch (RIS; Software resumes there) is right until I8 has been
 * fetched, and then is behind it for the three cycles until I8 enters the ROB. */
enum { BEFORE = 1000, LAST = 78 }; /* the stream begins after so many cycles; its last */

static void front_end(struct stream *stream, unsigned kind, uint64_t cycle, unsigned n) {
    script_record(stream->script, kind, BEFORE + cycle, TAP_DRAINED, 0, n, NULL);
}

static void play_table_stream(struct stream *stream) {
    front_end(stream, TAP_DISPATCH, 0, 6);
    front_end(stream, TAP_FETCH, 0, 6);
    commit(stream, BEFORE + 1, TAP_DRAINED, 0, 0, 2);
    commit(stream, BEFORE + 22, TAP_DRAINED, 0, 2, 2);
    commit(stream, BEFORE + 23, TAP_DRAINED, 0, 4, 2);
    front_end(stream, TAP_FETCH, 30, 2);
    front_end(stream, TAP_DISPATCH, 33, 2);
    commit(stream, BEFORE + 35, TAP_FLUSHED_LAST, 10, 6, 2);
    front_end(stream, TAP_FETCH, 72, 2);
    front_end(stream, TAP_FETCH, 73, 2);
    front_end(stream, TAP_FETCH, 74, 2);
    front_end(stream, TAP_DISPATCH, 75, 2);
    front_end(stream, TAP_DISPATCH, 76, 2);
    commit(stream, BEFORE + 77, TAP_DRAINED, 40, 8, 2);
    front_end(stream, TAP_DISPATCH, 77, 2);
    commit(stream, BEFORE + 78, TAP_DRAINED, 0, 10, 2);
    front_end(stream, TAP_FETCH, 80, 1);
    commit(stream, BEFORE + 80, TAP_DRAINED, 0, 12, 2);
    front_end(stream, TAP_DISPATCH, 83, 1);
    commit(stream, BEFORE + 86, TAP_DRAINED, 3, 14, 1);
}

static const struct {
    uint64_t first, last; /* cycles */
    enum commit_state state;
    uint32_t insn; /* that Oracle names; Computing: and the one after it */
} in_the_stream[] = {
    {1, 1, STATE_COMPUTING, 0},   {2, 21, STATE_STALLED, 2},    {22, 22, STATE_COMPUTING, 2},
    {23, 23, STATE_COMPUTING, 4}, {24, 33, STATE_FLUSHED, 5},   {34, 34, STATE_STALLED, 6},
    {35, 35, STATE_COMPUTING, 6}, {36, 75, STATE_DRAINED, 8},   {76, 76, STATE_STALLED, 8},
    {77, 77, STATE_COMPUTING, 8}, {78, 78, STATE_COMPUTING, 10}};

static const struct {
    const char *name;
    bool covers[STATE_COUNT]; /* Computing, Stalled, Flushed, Drained */
} table_2_1[] = {
    {"Software", {false, false, false, false}}, {"Dispatch", {false, false, false, true}},
    {"IBS", {false, false, false, true}},       {"SPE", {false, false, false, true}},
    {"RIS", {false, false, false, false}},      {"NCI", {false, true, false, true}},
    {"NCI-TEA", {false, true, false, true}},    {"LCI", {false, false, true, false}},
    {"TIP", {true, true, true, true}},          {"TEA", {true, true, true, true}},
    {"TIP-ILP", {false, true, true, true}},     {"NCI+ILP", {true, false, false, false}}};

static void thesis_table_2_1(void **state) {
    (void)state;
    bool covers[SET_PROFILERS][STATE_COUNT];
    memset(covers, true, sizeof covers);
    unsigned at = 0;
    for (uint64_t cycle = 1; cycle <= LAST; cycle++) {
        at += cycle > in_the_stream[at].last;
        enum commit_state is = in_the_stream[at].state;
        /* A period of that many cycles: the stream is sampled in this one alone. */
        struct sampler_options options = {.period = BEFORE + cycle};
        struct stream stream;
        stream_open(&stream, &options);
        play_table_stream(&stream);
        stream_end(&stream);
        uint64_t sharers = is == STATE_COMPUTING ? 2 : 1;
        uint64_t units = (BEFORE + cycle) * CYCLE_UNITS / sharers;
        for (unsigned i = 0; i < SET_PROFILERS; i++) {
            const struct profile_result *result = result_of(&stream.set, table_2_1[i].name);
            assert_int_equal(result->samples, 1);
            for (uint32_t sharer = 0; sharer < sharers; sharer++)
                covers[i][is] &=
                    units_of(result->pics, in_the_stream[at].insn + sharer, -1) == units;
        }
        stream_close(&stream);
    }
    for (unsigned i = 0; i < SET_PROFILERS; i++)
        for (enum commit_state is = 0; is < STATE_COUNT; is++)
            if (covers[i][is] != table_2_1[i].covers[is])
                fail_msg("%s covers %s: %d", table_2_1[i].name, commit_state_name(is),
                         covers[i][is]);
}

/* ---- what the hardware takes ---- */

/* Paper A §3.2: 9 bytes for the OIR and six registers of 8. Paper B §3, boom-tea: fetch buffer 48 ×
 * 2 bits = 12 bytes, ROB 192 × 9 = 216, last committed 2; and 3 × 2 in fetch, (4 + 4) × 2 in decode
 * and dispatch, 1 for DR-SQ, 64 + 64 in the queues: 151 bits = 19 bytes, 249 in all. boom-tip by
 * the same rules: 64 + 1152 + 16 + 6 + 16 + 1 + 64 = 1319 bits = 165 bytes. */
static void storage(void **state) {
    (void)state;
    static const struct {
        const char *machine, *profiler;
        uint32_t bytes;
    } rows[] = {
        {"boom-tip", "TIP", 57},       {"boom-tea", "TIP", 57}, {"boom-tea", "TEA", 57 + 249},
        {"boom-tip", "TEA", 57 + 165}, {"boom-tea", "IBS", 1},  {"boom-tea", "SPE", 1},
        {"boom-tea", "RIS", 1},        {"boom-tea", "NCI", 0},  {"boom-tea", "Dispatch", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error = {0};
        struct machine machine;
        if (!machine_load(rows[i].machine, &machine, &error))
            fail_msg("%s", error.message);
        assert_int_equal(profiler_storage_bytes(profiler_find(rows[i].profiler), &machine.core),
                         rows[i].bytes);
    }
}

/* ---- what a sample takes ---- */

/* Paper A §3.2: 88 bytes for TIP on a core that commits four, 56 for the others; paper B §3: TEA's
 * nine events fit into the 88. At a width of 8 there are 8 addresses, and 72 bits of signatures do
 * not fit beside the flags: 40 + (cycle, 8 addresses, flags) 80 = 120, and two words more. */
static void sample_sizes(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint32_t bytes, bytes_at_8;
    } sizes[] = {{"TIP", 88, 120}, {"TEA", 88, 136}, {"NCI", 56, 56},
                 {"LCI", 56, 56},  {"IBS", 64, 64},  {"NCI+ILP", 88, 120}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct profiler *profiler = profiler_find(sizes[i].name);
        assert_int_equal(profiler_sample_bytes(profiler, 4), sizes[i].bytes);
        assert_int_equal(profiler_sample_bytes(profiler, 8), sizes[i].bytes_at_8);
    }
    assert_ptr_equal(profiler_find("tip-ilp"), profiler_find("TIP-ILP"));
    assert_null(profiler_find("PEBS"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_a4_computing),
        cmocka_unit_test(figure_a4_stalled),
        cmocka_unit_test(figure_a4_flushed),
        cmocka_unit_test(figure_a4_drained),
        cmocka_unit_test(figure_b1),
        cmocka_unit_test(registers_computing),
        cmocka_unit_test(registers_stalled),
        cmocka_unit_test(registers_flushed),
        cmocka_unit_test(registers_drained),
        cmocka_unit_test(registers_of_an_unlimited_core),
        cmocka_unit_test(thesis_table_2_1),
        cmocka_unit_test(sample_sizes),
        cmocka_unit_test(storage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
