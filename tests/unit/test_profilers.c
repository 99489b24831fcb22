/* Every profiler over programs of ten instructions, I0 to I9, each worked by hand: one for each
 * commit state, and one with an ordering violation. All cycles are sampled. The little machine
 * commits 4 µops in a cycle; what is fetched in cycle f dispatches in f + 3 and commits in f + 6.
 *
 * "Lost" are the cycles in which nothing more was left to dispatch (Dispatch, IBS, SPE) or to fetch
 * (Software, RIS). Shares are in quarters of a cycle. */
#include "profile_fixture.h"

enum { INSNS = 10 };

struct expected {
    const char *profilers; /* names, separated by spaces */
    uint64_t lost;         /* cycles */
    uint64_t quarters[INSNS];
};

static bool named(const char *names, const char *name) {
    size_t length = strlen(name);
    for (const char *at = names; (at = strstr(at, name)); at++)
        if ((at == names || at[-1] == ' ') && (at[length] == 0 || at[length] == ' '))
            return true;
    return false;
}

static void check(const char *name, const struct profile_result *result, uint32_t events,
                  const struct expected *expected, const uint32_t *signatures) {
    if (result->lost != expected->lost)
        fail_msg("%s: %lu cycles lost, not %lu", name, result->lost, expected->lost);
    for (uint32_t i = 0; i < INSNS; i++) {
        uint64_t all = units_of(result->pics, i, -1);
        uint64_t right = expected->quarters[i] * CYCLE_UNITS / 4;
        if (all != right)
            fail_msg("%s: I%u has %lu units, not %lu", name, i, all, right);
        if (units_of(result->pics, i, (int)(signatures[i] & events)) != all)
            fail_msg("%s: I%u has units of other signatures than %u", name, i,
                     signatures[i] & events);
    }
}

/* Runs the program; each profiler must be in one line of the table. Signatures: what I0 to I9
 * commit with. */
static void profile_all(struct program_fixture *program, const struct machine *machine,
                        const struct expected *expected, const uint32_t *signatures) {
    struct recording recording = {NULL, 0, 0};
    struct tap_worker recorder = recording_worker(&recording);
    program->worker = &recorder;
    simulate_on(program, machine, 0, FIXTURE_DYNAMIC, NULL, NULL);
    for (unsigned cut = 0; cut <= 3; cut++) { /* records in a buffer; 0: all */
        struct profile_set set;
        set_open(&set, &EVERY_CYCLE);
        struct tap_worker worker = set_worker(&set);
        replay(&recording, &worker, cut);
        set_finish(&set);
        for (unsigned i = 0; i < SET_PROFILERS; i++) {
            const struct expected *row = expected;
            while (row->profilers && !named(row->profilers, profilers[i]->name))
                row++;
            assert_non_null(row->profilers);
            check(profilers[i]->name, &set.results[i], profilers[i]->events, row, signatures);
        }
        assert_same_pics("TIP", result_of(&set, "TIP")->pics, oracle_profile(program->oracle));
        assert_same_pics("TEA", result_of(&set, "TEA")->pics, golden_profile(program->golden));
        set_close(&set);
    }
    free(recording.words);
    program_fixture_free(program);
}

/* ---- Computing ---- */

/* Ten independent adds. Fetched 1, 2, 3: I0-I3, I4-I7, I8-I9; dispatched 4, 5, 6; committed 7,
 * 8, 9.
 *
 * Cycles 1-4 Drained, 5-6 Stalled: I0 is awaited. 7: I0-I3, 8: I4-I7, 9: I8 and I9 commit.
 *   TIP        I0 6 1/4, I1-I7 1/4 each, I8 and I9 1/2
 *   NCI        the oldest of the next group: I0 7, I4 1, I8 1; so LCI (before the first commit it
 *              has nothing else) and TIP-ILP
 *   NCI+ILP    I0-I3 7/4 each, I4-I7 1/4, I8 and I9 1/2
 *   Dispatch   next to dispatch: I0 in 1-4, I4 in 5, I8 in 6; nothing in 7-9
 *   Software   next to fetch: I0 in 1, I4 in 2, I8 in 3; nothing in 4-9 */
static void computing(void **state) {
    (void)state;
    static const struct expected expected[] = {
        {"TIP TEA", 0, {25, 1, 1, 1, 1, 1, 1, 1, 2, 2}},
        {"NCI NCI-TEA LCI TIP-ILP", 0, {28, 0, 0, 0, 4, 0, 0, 0, 4, 0}},
        {"NCI+ILP", 0, {7, 7, 7, 7, 1, 1, 1, 1, 2, 2}},
        {"Dispatch IBS SPE", 3, {16, 0, 0, 0, 4, 0, 0, 0, 4, 0}},
        {"Software RIS", 6, {4, 0, 0, 0, 4, 0, 0, 0, 4, 0}},
        {0},
    };
    static const uint32_t signatures[INSNS] = {0};
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    for (int i = 0; i < INSNS; i++)
        execute(program, alu(program, (uint8_t)(1 + i), 0, 0));
    profile_all(program, &machine, expected, signatures);
}

/* ---- Stalled ---- */

/* A reorder buffer of 4 and, third, a division of 10 cycles (issued in 5, complete in 15, committed
 * in 16), on which I4 hangs (issued in 15). I0 and I1 commit in 7 and let I4 and I5 in; then all
 * waits. 16: I2 and I3 leave, I6 and I7 enter; 17: I4 and I5 leave, I8 and I9 enter; I6 and I7
 * commit in 19, I8 and I9 in 20. (Fig. A.2: I6 is the one stuck at dispatch.)
 *
 * Drained 1-4, Stalled 5-6 (I0), 8-15 (I2), 18 (I6).
 *   TIP        I0 6 1/2, I1 1/2, I2 8 1/2, I3 1/2, I4 1/2, I5 1/2, I6 1 1/2, I7 1/2, I8 1/2, I9 1/2
 *   NCI        I0 7, I2 9, I4 1, I6 2, I8 1; so TIP-ILP
 *   NCI+ILP    halves of the same: I3 has as much of the stall as the division
 *   LCI        I0 7, I1 8 (8-15), I2 1, I4 1, I5 1 (18), I6 1, I8 1
 *   Dispatch   I0 4, I4 3 (5-7), I6 9 (8-16), I8 1; nothing in 18-20
 *   Software   all is fetched in 1 to 3 */
static void stalled(void **state) {
    (void)state;
    static const struct expected expected[] = {
        {"TIP TEA", 0, {26, 2, 34, 2, 2, 2, 6, 2, 2, 2}},
        {"NCI NCI-TEA TIP-ILP", 0, {28, 0, 36, 0, 4, 0, 8, 0, 4, 0}},
        {"NCI+ILP", 0, {14, 14, 18, 18, 2, 2, 4, 4, 2, 2}},
        {"LCI", 0, {28, 32, 4, 0, 4, 4, 4, 0, 4, 0}},
        {"Dispatch IBS SPE", 3, {16, 0, 0, 0, 12, 0, 36, 0, 4, 0}},
        {"Software RIS", 17, {4, 0, 0, 0, 4, 0, 0, 0, 4, 0}},
        {0},
    };
    static const uint32_t signatures[INSNS] = {0};
    struct machine machine = little_machine();
    machine.core.rob = 4;
    struct program_fixture *program = program_fixture_new();
    for (int i = 0; i < INSNS; i++)
        execute(program, i == 2 ? operation(program, OP_INT_DIV, 3, 0)
                                : alu(program, (uint8_t)(1 + i), i == 4 ? 3 : 0, 0));
    profile_all(program, &machine, expected, signatures);
}

/* ---- Flushed ---- */

/* The fourth is a mispredicted branch: complete in 6, the right path fetched in 7 (I4-I7) and 8
 * (I8, I9), dispatched in 10 and 11. I0-I3 commit in 7, I4-I7 in 13, I8 and I9 in 14.
 *
 * Drained 1-4, Stalled 5-6 (I0), Flushed 8-10 (I3), Stalled 11-12 (I4).
 *   TIP        I0 6 1/4, I1 and I2 1/4, I3 3 1/4, I4 2 1/4, I5-I7 1/4, I8 and I9 1/2
 *   TIP-ILP    I0 7, I3 3, I4 3, I8 1
 *   NCI        I0 7, I4 6, I8 1: nothing for the branch
 *   NCI+ILP    I0-I3 7/4, I4-I7 6/4, I8 and I9 1/2
 *   LCI        I0 7, I3 5 (8-12), I4 1, I8 1
 *   Dispatch   I0 4, I4 6 (5-10), I8 1; nothing in 12-14
 *   Software   I0 1, I4 6 (2-7), I8 1; nothing in 9-14 */
static void flushed(void **state) {
    (void)state;
    static const struct expected expected[] = {
        {"TIP TEA", 0, {25, 1, 1, 13, 9, 1, 1, 1, 2, 2}},
        {"TIP-ILP", 0, {28, 0, 0, 12, 12, 0, 0, 0, 4, 0}},
        {"NCI NCI-TEA", 0, {28, 0, 0, 0, 24, 0, 0, 0, 4, 0}},
        {"NCI+ILP", 0, {7, 7, 7, 7, 6, 6, 6, 6, 2, 2}},
        {"LCI", 0, {28, 0, 0, 20, 4, 0, 0, 0, 4, 0}},
        {"Dispatch IBS SPE", 3, {16, 0, 0, 0, 24, 0, 0, 0, 4, 0}},
        {"Software RIS", 6, {4, 0, 0, 0, 24, 0, 0, 0, 4, 0}},
        {0},
    };
    static const uint32_t signatures[INSNS] = {[3] = PSV_FL_MB};
    struct machine machine = little_machine();
    machine.branch = (struct machine_branch){
        .direction = DIRECTION_BIMODAL, .bimodal_entries = 1024, .ras_entries = 8};
    struct program_fixture *program = program_fixture_new();
    for (int i = 0; i < INSNS; i++) {
        if (i == 3) {
            execute_taken(program, branch(program, BRANCH_CONDITIONAL, 0));
            program->address += 0x100;
        } else {
            execute(program, alu(program, (uint8_t)(1 + i), 0, 0));
        }
    }
    profile_all(program, &machine, expected, signatures);
}

/* ---- Drained ---- */

/* I0 and I4 each begin a line of an empty instruction cache, 100 cycles away: I0-I3 are fetched in
 * 101, I4-I7 in 202, I8 and I9 in 203; dispatched 104, 205, 206; committed 107, 208, 209.
 *
 * Drained 1-104 (I0) and 108-205 (I4), Stalled 105-106 and 206-207.
 *   TIP        I0 106 1/4, I1-I3 1/4, I4 100 1/4, I5-I7 1/4, I8 and I9 1/2
 *   NCI        I0 107, I4 101, I8 1; so TIP-ILP
 *   NCI+ILP    I0-I3 107/4, I4-I7 101/4, I8 and I9 1/2
 *   LCI        I0 107, I3 100 (108-207), I4 1, I8 1
 *   Dispatch   I0 104, I4 101 (105-205), I8 1; nothing in 207-209
 *   Software   I0 101, I4 101 (102-202), I8 1; nothing in 204-209 */
static void drained(void **state) {
    (void)state;
    static const struct expected expected[] = {
        {"TIP TEA", 0, {425, 1, 1, 1, 401, 1, 1, 1, 2, 2}},
        {"NCI NCI-TEA TIP-ILP", 0, {428, 0, 0, 0, 404, 0, 0, 0, 4, 0}},
        {"NCI+ILP", 0, {107, 107, 107, 107, 101, 101, 101, 101, 2, 2}},
        {"LCI", 0, {428, 0, 0, 400, 4, 0, 0, 0, 4, 0}},
        {"Dispatch IBS SPE", 3, {416, 0, 0, 0, 404, 0, 0, 0, 4, 0}},
        {"Software RIS", 6, {404, 0, 0, 0, 404, 0, 0, 0, 4, 0}},
        {0},
    };
    static const uint32_t signatures[INSNS] = {[0] = PSV_DR_L1, [4] = PSV_DR_L1};
    struct machine machine = little_machine();
    machine.l1i = (struct machine_cache){
        .present = true, .size = 32768, .ways = 8, .line = 64, .latency = 1, .mshrs = 8};
    struct program_fixture *program = program_fixture_new();
    for (int i = 0; i < INSNS; i++) {
        if (i == 4)
            program->address = 0x10040;
        execute(program, alu(program, (uint8_t)(1 + i), 0, 0));
    }
    profile_all(program, &machine, expected, signatures);
}

/* ---- an ordering violation ---- */

/* I0 brings a line (committed in 109), the division I1 hangs on it (119), the store I2 on that for
 * its address (120), and the load I3 has read too early: it flushes in 121. Fetched again in 123
 * (I3-I6) and 124 (I7-I9), dispatched in 126 and 127; I3 is complete in 130 and commits in 131, I4,
 * which hangs on it, with I5-I7 in 132, I8 and I9 in 133.
 *
 * Drained 1-4, Stalled 5-108 (I0), 110-118 (I1) and 121 (I3), Flushed 122-126 (I3, that comes
 * again), Stalled 127-130 (I3). TIP        I0 109, I1 10, I2 1, I3 11, I4-I7 1/4, I8 and I9 1/2; so
 * NCI+ILP NCI        I0 109, I1 10, I2 1, I3 11 (those until it is squashed as well: it is the next
 * to commit), I4 1, I8 1; so TIP-ILP LCI        I0 118 (1-118), I1 1, I2 11 (120-130), I3 1, I4 1,
 * I8 1 Dispatch   I0 4, I4 1 and I8 1 (tagged in 5 and 6, squashed, returned after all), I3 120
 * (7-126), I7 1; nothing in 128-133 Software   I0 1, I4 1, I8 1, I3 120 (4-123), I7 1; nothing in
 * 125-133 */
static void violated(void **state) {
    (void)state;
    static const struct expected expected[] = {
        {"TIP TEA NCI+ILP", 0, {436, 40, 4, 44, 1, 1, 1, 1, 2, 2}},
        {"NCI NCI-TEA TIP-ILP", 0, {436, 40, 4, 44, 4, 0, 0, 0, 4, 0}},
        {"LCI", 0, {472, 4, 44, 4, 4, 0, 0, 0, 4, 0}},
        {"Dispatch IBS SPE", 6, {16, 0, 0, 480, 4, 0, 0, 4, 4, 0}},
        {"Software RIS", 9, {4, 0, 0, 480, 4, 0, 0, 4, 4, 0}},
        {0},
    };
    static const uint32_t signatures[INSNS] = {[0] = PSV_ST_L1 | PSV_ST_LLC, [3] = PSV_FL_MO};
    enum { FAR = 0x100000 };
    struct machine machine = little_machine();
    machine.core.disambiguation = DISAMBIGUATE_SPECULATE;
    struct program_fixture *program = program_fixture_new();
    execute_at(program, load(program, 9, 0), FAR, 8);
    execute(program, operation(program, OP_INT_DIV, 1, 9));
    execute_at(program, store(program, 0, 1), FAR, 8);
    execute_at(program, load(program, 2, 9), FAR, 8);
    execute(program, alu(program, 3, 2, 0));
    for (int i = 5; i < INSNS; i++)
        execute(program, alu(program, (uint8_t)(1 + i), 0, 0));
    profile_all(program, &machine, expected, signatures);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computing), cmocka_unit_test(stalled),  cmocka_unit_test(flushed),
        cmocka_unit_test(drained),   cmocka_unit_test(violated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
