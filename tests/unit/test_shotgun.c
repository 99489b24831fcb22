/* Shotgun profiling: signature bits by hand, fragments constructed by hand-made samples on programs
 * whose path is known, the rules that abort one, the four designs, and a simulated loop whose
 * fragments must be what the graph itself has. */
#include "core_fixture.h"
#include "graph/build.h"
#include "shotgun/construct.h"
#include "shotgun/sampler.h"
#include "shotgun/stand_in.h"
#include "shotgun/validate.h"

/* ---- signatures ---- */

static unsigned bits_of(const struct graph_uop *uops, unsigned count) {
    unsigned events = 0;
    for (unsigned i = 0; i < count; i++)
        events |= signature_events(&uops[i]);
    return signature_of(events);
}

/* Table VI. */
static void bits_by_hand(void **state) {
    (void)state;
    static const struct {
        struct graph_uop uop;
        unsigned bits;
    } cases[] = {
        {{.flags = GRAPH_SHORT}, 0},
        {{.flags = GRAPH_TAKEN}, SIGNATURE_1},
        {{.flags = GRAPH_STORE}, SIGNATURE_1},
        {{.flags = GRAPH_LOAD, .level = LEVEL_L1}, SIGNATURE_1},
        {{.flags = GRAPH_LOAD, .level = LEVEL_L2}, SIGNATURE_1 | SIGNATURE_2},
        {{.flags = GRAPH_LOAD, .level = LEVEL_LLC}, SIGNATURE_2}, /* L2 miss resets bit 1 */
        {{.flags = GRAPH_LOAD, .level = LEVEL_DRAM}, SIGNATURE_2},
        {{.flags = GRAPH_LOAD, .tlb = 1}, SIGNATURE_1 | SIGNATURE_2},
        {{.flags = GRAPH_MISPREDICTED}, SIGNATURE_2}, /* not taken, mispredicted */
        {{.flags = GRAPH_MISPREDICTED | GRAPH_TAKEN}, SIGNATURE_1 | SIGNATURE_2},
        {{.flags = GRAPH_SHORT, .fetch_cache = 10}, SIGNATURE_2},
        {{.flags = GRAPH_SHORT, .fetch_tlb = 30}, SIGNATURE_2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(bits_of(&cases[i].uop, 1), cases[i].bits);
    /* An instruction has the events of all its µops: load from memory, add, store. */
    static const struct graph_uop rmw[] = {
        {.flags = GRAPH_LOAD, .level = LEVEL_DRAM}, {.flags = GRAPH_SHORT}, {.flags = GRAPH_STORE}};
    assert_int_equal(bits_of(rmw, 3), SIGNATURE_2);
}

/* 25 instructions, number i with the bits i % 4. */
static void contexts_by_hand(void **state) {
    (void)state;
    uint64_t words[1] = {0}, pushed = 0, there;
    for (uint32_t i = 0; i < 25; i++) {
        signature_put(words, i, i % 4);
        pushed = context_push(pushed, i % 4);
    }
    assert_int_equal(signature_at(words, 6), 2);
    /* The last 21, around number 14. */
    assert_int_equal(signature_context(words, 25, 14, &there), pushed);
    assert_int_equal(there, CONTEXT_ALL);
    assert_int_equal(context_own(pushed), 14 % 4);
    /* At the begin the ten before are not there, at the end the ten behind. */
    assert_int_equal(signature_context(words, 25, 0, &there) & ~there, 0);
    assert_int_equal(there, CONTEXT_ALL & ~(((uint64_t)1 << 20) - 1));
    signature_context(words, 25, 24, &there);
    assert_int_equal(there, (1u << 22) - 1);
    assert_int_equal(context_match(0, CONTEXT_ALL, there), 0);
    assert_int_equal(context_match(5, 4, there), 21);
}

/* ---- hand-made programs ---- */

enum { LENGTH = 8 };

struct hand {
    struct program_fixture *program;
    struct machine machine;
    struct shotgun_code code;
    struct shotgun_database database;
    uint64_t bits[1];
};

static void hand_open(struct hand *hand) {
    *hand = (struct hand){.program = program_fixture_new(), .machine = little_machine()};
    struct shotgun_options options = {.period = 100, .length = LENGTH, .seed = 1};
    shotgun_database_init(&hand->database, &options);
}

static void hand_close(struct hand *hand) {
    shotgun_database_free(&hand->database);
    shotgun_code_free(&hand->code);
    program_fixture_free(hand->program);
}

static void goes_to(struct hand *hand, uint32_t branch, uint32_t target) {
    struct static_insn *insns = hand->program->insns;
    insns[branch].target_displacement =
        (int32_t)((int64_t)insns[target].address - (int64_t)insns[branch].address);
}

/* A signature sample from `start`; two digits' worth of bits each, "10" is bit 1 alone. */
static void skeleton(struct hand *hand, uint32_t start, const char *text) {
    struct error error;
    uint64_t words[1] = {0};
    for (uint32_t i = 0; i < LENGTH; i++, text += 3)
        signature_put(words, i,
                      (text[0] == '1' ? SIGNATURE_1 : 0) | (text[1] == '1' ? SIGNATURE_2 : 0));
    assert_true(shotgun_add_skeleton(&hand->database, start, words, NULL, NULL, NULL, 0, &error));
}

static void sample(struct hand *hand, uint32_t insn, uint64_t context, uint32_t target,
                   const struct shotgun_uop *uop) {
    struct error error;
    struct shotgun_sample sample = {
        .insn = insn, .context = context, .target = target, .uop_count = 1, .uops_executed = 1};
    assert_true(shotgun_add_sample(&hand->database, &sample, uop, &error));
}

/* Constructs from skeleton 0 and hands the fragment to `check`. */
static void construct(struct hand *hand, enum shotgun_design design,
                      void (*check)(const struct shotgun_fragment *fragment)) {
    struct error error;
    shotgun_code_free(&hand->code);
    assert_true(shotgun_code_learn(&hand->code, &hand->program->code, &error));
    assert_true(shotgun_code_link(&hand->code, &error));
    struct shotgun_constructor *constructor =
        shotgun_constructor_new(&hand->database, &hand->code, &hand->machine, design, &error);
    assert_non_null(constructor);
    const struct shotgun_fragment *fragment = shotgun_construct(constructor, 0);
    assert_non_null(fragment);
    check(fragment);
    shotgun_constructor_free(constructor);
}

static void assert_path(const struct shotgun_fragment *fragment, const uint32_t *path,
                        uint32_t count) {
    assert_int_equal(fragment->insns, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(fragment->path[i], path[i]);
}

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
    uint64_t own = (uint64_t)3 << CONTEXT_INSNS * SIGNATURE_BITS;
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
 *  2 alu             6 return        where it goes.
 *  3 alu                                                                                     */
static void check_calls(const struct shotgun_fragment *fragment) {
    static const uint32_t path[] = {0, 3, 4, 1, 5, 6};
    assert_int_equal(fragment->outcome, SHOTGUN_NO_TARGET);
    assert_path(fragment, path, 6);
    assert_false(fragment->by_sample[2]);
    assert_true(fragment->by_sample[5]);
}
static void check_returned(const struct shotgun_fragment *fragment) {
    static const uint32_t path[] = {0, 3, 4, 1, 5, 6, 2, 3};
    assert_int_equal(fragment->outcome, SHOTGUN_COMPLETE);
    assert_path(fragment, path, LENGTH);
}

static void follows_calls_and_returns(void **state) {
    (void)state;
    static const struct shotgun_uop nothing = {.execution = 1};
    struct hand hand;
    hand_open(&hand);
    branch(hand.program, BRANCH_CALL, 0);
    branch(hand.program, BRANCH_JUMP, 0);
    alu(hand.program, 1, 0, 0);
    alu(hand.program, 1, 0, 0);
    branch(hand.program, BRANCH_RETURN, 1);
    alu(hand.program, 1, 0, 0);
    branch(hand.program, BRANCH_RETURN, 1);
    goes_to(&hand, 0, 3);
    goes_to(&hand, 1, 5);
    skeleton(&hand, 0, "10 00 10 10 00 10 00 00");
    construct(&hand, SHOTGUN_LONG_AND_SHORT, check_calls);
    sample(&hand, 6, 0, 2, &nothing);
    construct(&hand, SHOTGUN_LONG_AND_SHORT, check_returned);
    hand_close(&hand);
}

/*  0 indirect jump    1 alu    2 jump 0    3 alu    4 jump 0. The only sample of 0 went to 3, and
 * its next four instructions were a load, an alu and two branches not taken; a sample whose next
 * four missed went the same way for all one knows. */
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
    skeleton(&hand, 0, "10 00 10 10 00 10 10 00");
    uint64_t context = signature_context(shotgun_bits(&hand.database, 0), LENGTH, 0, &there);
    uint64_t ways = (uint64_t)0x155 << (CONTEXT_INSNS + 1) * SIGNATURE_BITS;
    uint64_t misses = (uint64_t)0xaa << (CONTEXT_INSNS + 1) * SIGNATURE_BITS;
    sample(&hand, 0, context ^ ways, 3, &nothing);
    construct(&hand, SHOTGUN_LONG_AND_SHORT, check_elsewhere);
    sample(&hand, 0, context ^ misses, 3, &nothing);
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
    static const uint32_t right[] = {0, 3, 4, 1, 5, 6, 2, 3}, wrong[] = {0, 3, 4, 2, 5, 6, 2, 3};
    struct shotgun_statistics statistics = {0};
    shotgun_count(&statistics, fragment, right);
    assert_int_equal(statistics.errant + statistics.errant_discarded, 0);
    assert_int_equal(statistics.targets, 1);
    assert_int_equal(statistics.targets_right, 1);
    shotgun_count(&statistics, fragment, wrong);
    assert_int_equal(statistics.errant, 1);
    assert_int_equal(statistics.errant_discarded, 0);
    assert_int_equal(statistics.outcomes[SHOTGUN_COMPLETE], 2);
    assert_int_equal(statistics.sources[SHOTGUN_MISSING], 14);

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

static void validates(void **state) {
    (void)state;
    static const struct shotgun_uop nothing = {.execution = 1};
    struct hand hand;
    hand_open(&hand);
    branch(hand.program, BRANCH_CALL, 0);
    branch(hand.program, BRANCH_JUMP, 0);
    for (int i = 0; i < 2; i++)
        alu(hand.program, 1, 0, 0);
    branch(hand.program, BRANCH_RETURN, 1);
    alu(hand.program, 1, 0, 0);
    branch(hand.program, BRANCH_RETURN, 1);
    goes_to(&hand, 0, 3);
    goes_to(&hand, 1, 5);
    skeleton(&hand, 0, "10 00 10 10 00 10 00 00");
    sample(&hand, 6, 0, 2, &nothing);
    construct(&hand, SHOTGUN_LONG_AND_SHORT, check_validation);
    hand_close(&hand);
}

/* ---- the database ---- */

/* One more than it holds: of each pair one stays, with its own µop. */
static void database_is_bounded(void **state) {
    (void)state;
    struct hand hand;
    hand_open(&hand);
    for (uint32_t i = 0; i <= SHOTGUN_SAMPLES_MAX; i++) {
        struct shotgun_uop uop = {.miss = (uint16_t)i};
        sample(&hand, i, 0, SHOTGUN_NONE, &uop);
    }
    const struct shotgun_database *database = &hand.database;
    assert_int_equal(database->sample_count, SHOTGUN_SAMPLES_MAX / 2 + 1);
    assert_int_equal(database->uop_count, database->sample_count);
    assert_int_equal(database->sample_level, 1);
    for (uint32_t i = 0; i < database->sample_count; i++) {
        const struct shotgun_sample *kept = &database->samples[i];
        assert_int_equal(kept->insn / 2, i);
        assert_int_equal(database->uops[kept->first_uop].miss, kept->insn % 65536);
    }
    for (uint32_t i = 0; i <= SHOTGUN_SKELETONS_MAX; i++)
        skeleton(&hand, i, "10 00 01 10 00 10 10 00");
    assert_int_equal(database->skeleton_count, SHOTGUN_SKELETONS_MAX / 2 + 1);
    assert_int_equal(database->starts[100] / 2, 100);
    hand_close(&hand);
}

/* Of four instructions each: 0 has loads only, 1 two misses, 2 three; 1 was discarded, and 2 is
 * more like it than 0. */
static void stands_in(void **state) {
    (void)state;
    const uint64_t words[4] = {0x55, 0xf5, 0xfd, 0x55};
    struct signature_profile profiles[4];
    bool complete[4] = {true, false, true, false};
    uint32_t weights[4];
    for (int i = 0; i < 4; i++)
        profiles[i] = signature_profile_of(&words[i], 4);
    assert_int_equal(profiles[1].insns[1], 2);
    assert_int_equal(profiles[1].insns[3], 2);
    shotgun_weigh(profiles, complete, 4, weights);
    assert_int_equal(weights[0], 2); /* itself and 3 */
    assert_int_equal(weights[1], 0);
    assert_int_equal(weights[2], 2); /* itself and 1 */
    assert_int_equal(weights[3], 0);
    complete[0] = complete[2] = false;
    shotgun_weigh(profiles, complete, 4, weights);
    assert_int_equal(weights[0] + weights[1] + weights[2] + weights[3], 0);
}

/* ---- a simulated program ---- */

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
 */
static void loop_is_found_again(bool fuse) {
    enum { ROUNDS = 3000, INSNS = 5, FRAGMENT = 100 };
    struct error error;
    struct program_fixture *program = program_fixture_new();
    struct machine machine = little_machine();
    machine.core.fuse_compare_branch = fuse;
    uint32_t first = load(program, 1, 2);
    alu(program, 1, 1, 0);
    store(program, 1, 2);
    with_flags(program, alu(program, 3, 3, 0), INSN_SETS_FLAGS_FOR_FUSION);
    uint32_t last =
        with_flags(program, branch(program, BRANCH_CONDITIONAL, 3), INSN_FUSES_WITH_FLAGS);
    program->insns[last].target_displacement = -16;
    for (int i = 0; i < ROUNDS; i++) {
        execute_at(program, first, 0x1000, 8);
        execute(program, first + 1);
        execute_at(program, first + 2, 0x1000, 8);
        execute(program, first + 3);
        execute_taken(program, last);
    }
    struct shotgun_options options = {
        .period = 50, .length = FRAGMENT, .seed = 3, .truth = true, .perfect = true};
    struct shotgun_database database;
    struct shotgun_truth truth = {0};
    struct shotgun_code code = {0};
    shotgun_database_init(&database, &options);
    struct watch watch = {.sampler = shotgun_sampler_new(&database, &truth)};
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
    for (size_t i = 0; i < database.skeleton_count; i++) {
        const struct shotgun_fragment *fragment = shotgun_construct(constructor, i);
        assert_int_equal(fragment->outcome, SHOTGUN_COMPLETE);
        shotgun_count(&statistics, fragment, truth.paths + i * FRAGMENT);
        size_t begin = i ? truth.graph_ends[i - 1] : 0;
        assert_int_equal(fragment->uop_count, truth.graph_ends[i] - begin);
        for (size_t k = 0; i > 0 && k < fragment->uop_count; k++)
            assert_same_uop(&fragment->uops[k], &truth.graphs[begin + k], k);
    }
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
    loop_is_found_again(false);
}
static void simulated_loop_of_fused_pairs(void **state) {
    (void)state;
    loop_is_found_again(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_by_hand),
        cmocka_unit_test(contexts_by_hand),
        cmocka_unit_test(infers_without_samples),
        cmocka_unit_test(infers_from_the_most_alike),
        cmocka_unit_test(chooses_by_signature),
        cmocka_unit_test(follows_calls_and_returns),
        cmocka_unit_test(believes_targets),
        cmocka_unit_test(finds_stores),
        cmocka_unit_test(aborts),
        cmocka_unit_test(validates),
        cmocka_unit_test(database_is_bounded),
        cmocka_unit_test(stands_in),
        cmocka_unit_test(simulated_loop),
        cmocka_unit_test(simulated_loop_of_fused_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
