/* What the profiler has to begin with: signature bits by hand, a database that does not grow, and
 * which fragments stand in for those discarded. */
#include "shotgun/match.h"
#include "shotgun/stand_in.h"
#include "shotgun_hand.h"
#include "util/random.h"

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
        {{.flags = GRAPH_LOAD, .walk = 1}, SIGNATURE_1 | SIGNATURE_2},
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
    uint64_t words[2] = {0}, pushed = 0, there;
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
    assert_int_equal(there, CONTEXT_ALL & ~(((uint64_t)1 << 30) - 1));
    signature_context(words, 25, 24, &there);
    assert_int_equal(there, ((uint64_t)1 << 33) - 1);
    assert_int_equal(context_match(0, CONTEXT_ALL, there), 0);
    assert_int_equal(context_match(5, 4, there), 32);
}

/* Bit 3 is the program counter's: what befell the instruction is bits 1 and 2. */
static void third_bit(void **state) {
    (void)state;
    uint64_t words[2] = {0}, there;
    for (uint32_t i = 0; i < 22; i++)
        signature_put(words, i, i % 2 ? SIGNATURE_PC | SIGNATURE_1 : SIGNATURE_2);
    assert_int_equal(signature_at(words, 20), SIGNATURE_2);
    assert_int_equal(signature_at(words, 21), SIGNATURE_PC | SIGNATURE_1); /* the second word's */
    uint64_t context = signature_context(words, 22, 11, &there);
    assert_int_equal(context_own(context), SIGNATURE_PC | SIGNATURE_1);
    struct signature_profile profile = signature_profile_of(words, 22);
    assert_int_equal(profile.insns[SIGNATURE_1], 11);
    assert_int_equal(profile.insns[SIGNATURE_2], 11);
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

/* 300 samples of a loop, whose contexts are 50 different ones; the newest two instructions, one or
 * none of what is looked for are not known. What comes has all bits that are, where any has, else
 * as many as any, its own two first; and in the end all come that have them. */
static void any_of_those_that_match_best(void **state) {
    (void)state;
    struct hand hand;
    struct shotgun_index index;
    struct error error;
    uint64_t random = 7;
    const struct shotgun_uop uop = {0};
    hand_open(&hand);
    for (uint32_t i = 0; i < 300; i++) {
        uint64_t seed = i * 7 % 50;
        sample(&hand, 0, (uint64_t)(random_fraction(&seed) * 0x1p53) & CONTEXT_ALL, SHOTGUN_NONE,
               &uop);
    }
    assert_true(shotgun_index_new(&index, &hand.database, 1, &error));
    for (uint32_t round = 0; round < 3 * 60; round++) {
        uint64_t seed = round / 3, there = CONTEXT_ALL >> round % 3 * SIGNATURE_BITS;
        uint64_t context = (uint64_t)(random_fraction(&seed) * 0x1p53) & CONTEXT_ALL;
        unsigned most = 0, known = (unsigned)__builtin_popcountll(there);
        bool all[300] = {false}, came[300] = {false};
        for (int pass = 0; pass < 2; pass++)
            for (uint32_t i = 0; i < 300; i++) {
                uint64_t other = hand.database.samples[i].context;
                unsigned alike = context_match(other, context, there) +
                                 (context_own(other) == context_own(context) ? 100 : 0);
                most = alike > most ? alike : most;
                all[i] = pass && alike == most;
            }
        for (uint32_t draw = 0; draw < 400; draw++) {
            bool exact;
            const struct shotgun_sample *found =
                shotgun_match(&index, 0, context, there, &random, &exact);
            assert_int_equal(exact, most == 100 + known);
            came[found - hand.database.samples] = true;
        }
        assert_memory_equal(came, all, sizeof all);
    }
    shotgun_index_free(&index);
    hand_close(&hand);
}

/* Of four instructions each, in octal the bits of each of them: 0 has loads only, 1 two misses, 2
 * three; 1 was discarded, and 2 is more like it than 0. */
static void stands_in(void **state) {
    (void)state;
    const uint64_t words[4] = {01111, 03311, 03331, 01111};
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_by_hand),
        cmocka_unit_test(contexts_by_hand),
        cmocka_unit_test(third_bit),
        cmocka_unit_test(database_is_bounded),
        cmocka_unit_test(any_of_those_that_match_best),
        cmocka_unit_test(stands_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
