/* Fragments constructed from samples made by hand, on programs whose path is known: what is
 * inferred and chosen, where they go, and the rules that abort one. */
#include "shotgun/validate.h"
#include "shotgun_hand.h"

/*  0 load  r1 ← [r2]        8 of them: 0 1 2 0 1 2 0 1, the branch taken
 *  1 alu   r3 ← r1, r3
 *  2 branch to 0 on r3
 *
 * No sample was taken; bit 2 says that the first load missed the L1, the second the L2 as well (bit
 * 1 reset), and that the second branch was mispredicted. */
static void check_loop(const struct shotgun_fragment *fragment) {
    static const uint32_t path[LENGTH] = {0, 1, 2, 0, 1, 2, 0, 1};
    assert_int_equal(fragment->outcome, SHOTGUN_COMPLETE);
    assert_path(fragment, path, LENGTH);
    assert_int_equal(fragment->uop_count, LENGTH);
    const struct graph_uop *uops = fragment->uops;
    for (uint32_t i = 0; i < LENGTH; i++) {
        assert_int_equal(fragment->source[i], SHOTGUN_MISSING);
        assert_int_equal(uops[i].insn, path[i]);
        assert_int_equal(!!(uops[i].flags & GRAPH_TAKEN), path[i] == 2);
        assert_int_equal(!!(uops[i].flags & GRAPH_MISPREDICTED), i == 5);
        assert_int_equal(uops[i].fetch_width, i >= 4 ? 4 : 0); /* four are fetched in a cycle */
        /* The load reads r2, which nobody wrote; the alu the load and the alu of the last round;
         * the branch the alu. */
        assert_int_equal(uops[i].producer[0], path[i] == 0 ? 0 : 1);
        assert_int_equal(uops[i].producer[1], path[i] == 1 && i > 1 ? 3 : 0);
    }
    assert_int_equal(uops[4].fetch_taken, 2); /* fetch stopped at the branch */
    assert_int_equal(uops[0].miss, 10);       /* L2 of 12 cycles, less the L1's 2 */
    assert_int_equal(uops[3].miss, 110);      /* and 100 to memory */
    assert_int_equal(uops[6].miss, 0);
}

static uint32_t make_loop(struct hand *hand) {
    uint32_t first = load(hand->program, 1, 2);
    alu(hand->program, 3, 1, 3);
    uint32_t last = branch(hand->program, BRANCH_CONDITIONAL, 3);
    goes_to(hand, last, first);
    return first;
}

static void infers_without_samples(void **state) {
    (void)state;
    struct hand hand;
    hand_open(&hand);
    hand.machine.l2 = (struct machine_cache){.present = true, .latency = 12};
    skeleton(&hand, make_loop(&hand), "11 00 10 01 00 11 10 00");
    construct(&hand, SHOTGUN_LONG_AND_SHORT, check_loop);
    hand_close(&hand);
}

/* The loop, and a load elsewhere of which there are two samples with both bits: the one whose
 * surroundings are those of the first load waited for its instruction, the other for its data. */
static void check_alike(const struct shotgun_fragment *fragment) {
    assert_int_equal(fragment->source[0], SHOTGUN_MISSING);
    assert_int_equal(fragment->uops[0].fetch_cache, 40);
    assert_int_equal(fragment->uops[0].miss, 0);
}

static void infers_from_the_most_alike(void **state) {
    (void)state;
    static const struct shotgun_uop fetch = {.fetch_cache = 40},
                                    miss = {.miss = 77, .level = LEVEL_L2};
    struct hand hand;
    uint64_t there;
    hand_open(&hand);
    uint32_t first = make_loop(&hand), other = load(hand.program, 5, 6);
    skeleton(&hand, first, "11 00 10 10 00 10 10 00");
    uint64_t context = signature_context(shotgun_bits(&hand.database, 0), LENGTH, 0, &there);
    uint64_t own = (uint64_t)SIGNATURE_ALL << CONTEXT_INSNS * SIGNATURE_BITS;
    sample(&hand, other, (context ^ CONTEXT_ALL) | own, SHOTGUN_NONE, &miss);
    sample(&hand, other, context, SHOTGUN_NONE, &fetch);
    construct(&hand, SHOTGUN_LONG_AND_SHORT, check_alike);
    hand_close(&hand);
}

/* The same loop; of two samples of the load the one whose signatures match is taken at each place,
 * design 2 takes the first of them everywhere. Fragment: the first load missed, the others did not.
 */
static void check_matched(const struct shotgun_fragment *fragment) {
    assert_int_equal(fragment->outcome, SHOTGUN_COMPLETE);
    assert_int_equal(fragment->uops[0].miss, 77);
    assert_int_equal(fragment->source[0], SHOTGUN_EXACT);
    assert_int_equal(fragment->uops[3].miss, 0);
    assert_int_equal(fragment->uops[3].unit_wait, 5);
    assert_int_equal(fragment->uops[6].unit_wait, 5);
}
static void check_one(const struct shotgun_fragment *fragment) {
    assert_int_equal(fragment->outcome, SHOTGUN_COMPLETE);
    assert_int_equal(fragment->uops[0].miss, 77);
    assert_int_equal(fragment->uops[3].miss, 77);
    assert_int_equal(fragment->source[3], SHOTGUN_INEXACT);
    assert_int_equal(fragment->uops[6].miss, 77);
}

static void chooses_by_signature(void **state) {
    (void)state;
    static const struct shotgun_uop miss = {.miss = 77, .level = LEVEL_L2}, hit = {.unit_wait = 5};
    struct hand hand;
    uint64_t there;
    hand_open(&hand);
    uint32_t first = make_loop(&hand);
    skeleton(&hand, first, "11 00 10 10 00 10 10 00");
    uint64_t context = signature_context(shotgun_bits(&hand.database, 0), LENGTH, 0, &there);
    sample(&hand, first, context, SHOTGUN_NONE, &miss);
    context = signature_context(shotgun_bits(&hand.database, 0), LENGTH, 3, &there);
    sample(&hand, first, context, SHOTGUN_NONE, &hit);
    construct(&hand, SHOTGUN_LONG_AND_SHORT, check_matched);
    construct(&hand, SHOTGUN_ONE_SAMPLE, check_one);
    hand_close(&hand);
}

/* ---- paths ---- */

/*  0 call 3          4 return        From 0: into the function and back to 1, by the stack; then
 *  1 jump 5          5 alu           the function's own return, called from nowhere: no sample says
 *  2 jump 2          6 return        where it goes. One says that it goes to 2, and of 16
 *  3 alu                             instructions there are ten behind it; of 15 there are not. */
enum { CALLS = 16 };
static void check_calls(const struct shotgun_fragment *fragment) {
    static const uint32_t path[] = {0, 3, 4, 1, 5, 6};
    assert_int_equal(fragment->outcome, SHOTGUN_NO_TARGET);
    assert_path(fragment, path, 6);
    assert_false(fragment->by_sample[2]);
    assert_true(fragment->by_sample[5]);
    assert_int_equal(fragment->uop_count, 6);
}
static void check_returned(const struct shotgun_fragment *fragment) {
    static const uint32_t path[CALLS] = {0, 3, 4, 1, 5, 6, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    assert_int_equal(fragment->outcome, SHOTGUN_COMPLETE);
    assert_path(fragment, path, CALLS);
    assert_int_equal(fragment->uop_count, CALLS);
}
static void check_shortened(const struct shotgun_fragment *fragment) {
    static const uint32_t path[] = {0, 3, 4, 1, 5, 6};
    assert_int_equal(fragment->outcome, SHOTGUN_COMPLETE);
    assert_path(fragment, path, 6);
    assert_int_equal(fragment->uop_count, 6);
}

static void make_calls(struct hand *hand) {
    branch(hand->program, BRANCH_CALL, 0);
    branch(hand->program, BRANCH_JUMP, 0);
    branch(hand->program, BRANCH_JUMP, 0);
    alu(hand->program, 1, 0, 0);
    branch(hand->program, BRANCH_RETURN, 1);
    alu(hand->program, 1, 0, 0);
    branch(hand->program, BRANCH_RETURN, 1);
    goes_to(hand, 0, 3);
    goes_to(hand, 1, 5);
    goes_to(hand, 2, 2);
}

/* The sample of 6, which went on as the signature sample does. */
static void sample_return(struct hand *hand) {
    static const struct shotgun_uop nothing = {.execution = 1};
    uint64_t there;
    sample(hand, 6,
           signature_context(shotgun_bits(&hand->database, 0), hand->database.options.length, 5,
                             &there),
           2, &nothing);
}

#define CALLS_SHORTENED "10 00 10 10 00 10 10 10 10 10 10 10 10 10 10"
#define CALLS_IN_FULL   CALLS_SHORTENED " 10"

static void follows_calls_and_returns(void **state) {
    (void)state;
    struct hand hand;
    hand_open(&hand);
    make_calls(&hand);
    skeleton(&hand, 0, CALLS_IN_FULL);
    construct(&hand, SHOTGUN_LONG_AND_SHORT, check_calls);
    sample_return(&hand);
    construct(&hand, SHOTGUN_LONG_AND_SHORT, check_returned);
    hand_close(&hand);
    hand_open(&hand);
    make_calls(&hand);
    skeleton(&hand, 0, CALLS_SHORTENED);
    construct(&hand, SHOTGUN_LONG_AND_SHORT, check_shortened);
    sample_return(&hand);
    construct(&hand, SHOTGUN_LONG_AND_SHORT, check_shortened);
    hand_close(&hand);
}

/*  0 indirect jump    1 alu    2 jump 0    3 alu    4 jump 0. The only sample of 0 went to 3, and
 * its next four instructions were a load, an alu and two branches not taken; a sample whose next
 * four missed went the same way for all one knows. Twelve instructions, so that there are ten
 * behind the first. */
enum { JUMPS = 12 };
static void check_elsewhere(const struct shotgun_fragment *fragment) {
    assert_int_equal(fragment->outcome, SHOTGUN_NO_TARGET);
    assert_int_equal(fragment->insns, 1);
}
static void check_believed(const struct shotgun_fragment *fragment) {
    assert_true(fragment->insns > 1);
    assert_int_equal(fragment->path[1], 3);
}

static void believes_targets(void **state) {
    (void)state;
    static const struct shotgun_uop nothing = {.execution = 1};
    struct hand hand;
    uint64_t there;
    hand_open(&hand);
    branch(hand.program, BRANCH_INDIRECT, 1);
    alu(hand.program, 1, 0, 0);
    goes_to(&hand, branch(hand.program, BRANCH_JUMP, 0), 0);
    alu(hand.program, 1, 0, 0);
    goes_to(&hand, branch(hand.program, BRANCH_JUMP, 0), 0);
    skeleton(&hand, 0, "10 00 10 10 00 10 10 00 10 10 00 10");
    uint64_t context = signature_context(shotgun_bits(&hand.database, 0), JUMPS, 0, &there);
    uint64_t ways = (uint64_t)011111 << (CONTEXT_INSNS + 1) * SIGNATURE_BITS;
    uint64_t misses = (uint64_t)02222 << (CONTEXT_INSNS + 1) * SIGNATURE_BITS;
    sample(&hand, 0, context ^ ways, 3, &nothing);
    construct(&hand, SHOTGUN_LONG_AND_SHORT, check_elsewhere);
    sample(&hand, 0, context ^ misses, 3, &nothing);
    construct(&hand, SHOTGUN_LONG_AND_SHORT, check_believed);
    hand_close(&hand);
}

/* The same, both samples of 0 as its skeleton but for bit 3 behind it, which is bit 3 of the
 * program counter: 1 of instruction 2 at 0x..8 and of 3 at 0x..c, 0 of 0, 1 and 4. The skeleton
 * went to 3; of a fragment that went to 1, that bit is not the skeleton's. */
static void check_astray(const struct shotgun_fragment *fragment) {
    assert_int_equal(fragment->outcome, SHOTGUN_ILLEGAL);
    assert_int_equal(fragment->insns, 1);
}

static void tells_targets_apart(void **state) {
    (void)state;
    static const struct shotgun_uop nothing = {.execution = 1};
    struct hand hand;
    uint64_t words[1] = {0}, there;
    hand_open(&hand);
    branch(hand.program, BRANCH_INDIRECT, 1);
    for (int i = 0; i < 2; i++) {
        alu(hand.program, 1, 0, 0);
        goes_to(&hand, branch(hand.program, BRANCH_JUMP, 0), 0);
    }
    assert_int_equal(hand.program->insns[0].address & 15, 0);
    hand.database.options.length = JUMPS;
    hand.database.options.pc_bit = 1 + 3;
    for (uint32_t i = 0; i < JUMPS; i++)
        signature_put(words, i, (unsigned[]){SIGNATURE_1, SIGNATURE_PC, SIGNATURE_1}[i % 3]);
    assert_true(
        shotgun_add_skeleton(&hand.database, 0, words, NULL, NULL, NULL, 0, &(struct error){0}));
    uint64_t context = signature_context(words, JUMPS, 0, &there);
    uint64_t both = (uint64_t)044 << (CONTEXT_INSNS + 1) * SIGNATURE_BITS; /* of 3 and 4 */
    sample(&hand, 0, context ^ both, 1, &nothing);
    construct(&hand, SHOTGUN_LONG_AND_SHORT, check_astray);
    sample(&hand, 0, context, 3, &nothing);
    construct(&hand, SHOTGUN_LONG_AND_SHORT, check_believed);
    hand_close(&hand);
}

/* The same; one sample of 0 fits best and went to 3, three others went elsewhere, each to a place
 * of its own: so will the next. When two more went to 3 that is no longer likely. */
static void settles_targets(void **state) {
    (void)state;
    static const struct shotgun_uop nothing = {.execution = 1};
    struct hand hand;
    uint64_t there;
    hand_open(&hand);
    branch(hand.program, BRANCH_INDIRECT, 1);
    for (int i = 0; i < 2; i++) {
        alu(hand.program, 1, 0, 0);
        goes_to(&hand, branch(hand.program, BRANCH_JUMP, 0), 0);
    }
    skeleton(&hand, 0, "10 00 10 10 00 10 10 00 10 10 00 10");
    uint64_t context = signature_context(shotgun_bits(&hand.database, 0), JUMPS, 0, &there);
    uint64_t farther = context ^ (uint64_t)1 << (CONTEXT_INSNS + 2) * SIGNATURE_BITS;
    sample(&hand, 0, context, 3, &nothing);
    sample(&hand, 0, farther, 1, &nothing);
    sample(&hand, 0, farther, 2, &nothing);
    construct(&hand, SHOTGUN_LONG_AND_SHORT, check_believed); /* three are too few to tell */
    sample(&hand, 0, farther, 4, &nothing);
    construct(&hand, SHOTGUN_LONG_AND_SHORT, check_elsewhere);
    for (int i = 0; i < 2; i++)
        sample(&hand, 0, farther, 3, &nothing);
    construct(&hand, SHOTGUN_LONG_AND_SHORT, check_believed);
    hand_close(&hand);
}

/*  0 store    1 alu    2 load: of three rounds the load of the last read what the store did so many
 * µops before as the sample says, or next to that; a store of another instruction does not count.
 */
static void check_stores(const struct shotgun_fragment *fragment) {
    assert_int_equal(fragment->outcome, SHOTGUN_COMPLETE);
    assert_int_equal(fragment->uops[2].store, 0); /* before the fragment */
    assert_int_equal(fragment->uops[6].store, 6); /* 5 before it is no store: the nearest is 0 */
}

static void finds_stores(void **state) {
    (void)state;
    static const struct shotgun_uop far = {.execution = 1, .store = 5, .store_insn = 0};
    struct hand hand;
    hand_open(&hand);
    store(hand.program, 1, 2);
    alu(hand.program, 1, 0, 0);
    load(hand.program, 3, 2);
    goes_to(&hand, branch(hand.program, BRANCH_JUMP, 0), 0);
    skeleton(&hand, 0, "10 00 10 10 10 00 10 10");
    sample(&hand, 2, 0, SHOTGUN_NONE, &far);
    construct(&hand, SHOTGUN_LONG_AND_SHORT, check_stores);
    hand_close(&hand);
}

/* ---- aborted ---- */

static void check_illegal_at_1(const struct shotgun_fragment *fragment) {
    assert_int_equal(fragment->outcome, SHOTGUN_ILLEGAL);
    assert_int_equal(fragment->insns, 1);
    assert_int_equal(fragment->next, 1);
}
static void check_illegal_at_2(const struct shotgun_fragment *fragment) {
    assert_int_equal(fragment->outcome, SHOTGUN_ILLEGAL);
    assert_int_equal(fragment->insns, 2);
}
static void check_left_at_3(const struct shotgun_fragment *fragment) {
    assert_int_equal(fragment->outcome, SHOTGUN_LEFT_CODE);
    assert_int_equal(fragment->insns, 3);
    assert_int_equal(fragment->next, CODE_UNKNOWN);
}

static void aborts(void **state) {
    (void)state;
    static const struct {
        const char *bits;
        void (*check)(const struct shotgun_fragment *fragment);
    } cases[] = {
        {"10 10 10 10 00 10 10 00", check_illegal_at_1}, /* the alu is no load, store or branch */
        {"10 00 00 10 00 10 10 00", check_left_at_3},    /* not taken: there is nothing behind */
    };
    for (size_t i = 0; i < 2; i++) {
        struct hand hand;
        hand_open(&hand);
        skeleton(&hand, make_loop(&hand), cases[i].bits);
        construct(&hand, SHOTGUN_LONG_AND_SHORT, cases[i].check);
        hand_close(&hand);
    }
    /* A jump that was not taken, a load with neither bit. */
    struct hand hand;
    hand_open(&hand);
    load(hand.program, 1, 2);
    alu(hand.program, 1, 0, 0);
    uint32_t jump = branch(hand.program, BRANCH_JUMP, 0);
    goes_to(&hand, jump, 0);
    skeleton(&hand, 0, "10 00 01 10 00 10 10 00");
    construct(&hand, SHOTGUN_LONG_AND_SHORT, check_illegal_at_2);
    assert_true(shotgun_illegal(&hand.code, 0, 0));
    assert_false(shotgun_illegal(&hand.code, 0, SIGNATURE_2));
    assert_false(shotgun_illegal(&hand.code, 0, SIGNATURE_1));
    assert_false(shotgun_illegal(&hand.code, 1, SIGNATURE_2));
    hand_close(&hand);
}

/* What is counted of a fragment beside the path that was executed. */
static void check_validation(const struct shotgun_fragment *fragment) {
    static const uint32_t right[CALLS] = {0, 3, 4, 1, 5, 6, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2},
                          wrong[CALLS] = {0, 3, 4, 2, 5, 6, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    struct shotgun_statistics statistics = {0};
    shotgun_count(&statistics, fragment, right);
    assert_int_equal(statistics.errant + statistics.errant_discarded, 0);
    assert_int_equal(statistics.targets, 1);
    assert_int_equal(statistics.targets_right, 1);
    shotgun_count(&statistics, fragment, wrong);
    assert_int_equal(statistics.errant, 1);
    assert_int_equal(statistics.errant_discarded, 0);
    assert_int_equal(statistics.outcomes[SHOTGUN_COMPLETE], 2);
    assert_int_equal(statistics.sources[SHOTGUN_MISSING], 2 * (CALLS - 1));

    struct shotgun_fragment aborted = *fragment;
    aborted.outcome = SHOTGUN_ILLEGAL; /* behind its sixth, at the wrong target */
    aborted.insns = 6;
    aborted.next = 1;
    statistics = (struct shotgun_statistics){0};
    shotgun_count(&statistics, &aborted, right);
    assert_int_equal(statistics.errant, 1);
    assert_int_equal(statistics.errant_discarded, 1);
    assert_int_equal(statistics.targets, 1);
    assert_int_equal(statistics.targets_right, 0);
}

/* Where it goes behind the last of its instructions is no part of it: that 6 really went to 0 makes
 * it no errant one. */
static void check_end(const struct shotgun_fragment *fragment) {
    static const uint32_t path[] = {0, 3, 4, 1, 5, 6, 0, 3, 4, 1, 5, 6, 0, 3, 4};
    struct shotgun_statistics statistics = {0};
    shotgun_count(&statistics, fragment, path);
    assert_int_equal(statistics.outcomes[SHOTGUN_COMPLETE], 1);
    assert_int_equal(statistics.errant + statistics.targets, 0);
    assert_int_equal(statistics.sources[SHOTGUN_MISSING], 5);
}

static void validates(void **state) {
    (void)state;
    static const struct {
        const char *bits;
        void (*check)(const struct shotgun_fragment *fragment);
    } cases[] = {{CALLS_IN_FULL, check_validation}, {CALLS_SHORTENED, check_end}};
    for (size_t i = 0; i < 2; i++) {
        struct hand hand;
        hand_open(&hand);
        make_calls(&hand);
        skeleton(&hand, 0, cases[i].bits);
        sample_return(&hand);
        construct(&hand, SHOTGUN_LONG_AND_SHORT, cases[i].check);
        hand_close(&hand);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(infers_without_samples),
        cmocka_unit_test(infers_from_the_most_alike),
        cmocka_unit_test(chooses_by_signature),
        cmocka_unit_test(follows_calls_and_returns),
        cmocka_unit_test(believes_targets),
        cmocka_unit_test(tells_targets_apart),
        cmocka_unit_test(settles_targets),
        cmocka_unit_test(finds_stores),
        cmocka_unit_test(aborts),
        cmocka_unit_test(validates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
