/* TAGE: patterns that it must learn and others cannot, its histories, and that its state stays
 * consistent in long runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "branch/predictors.h"

#include "unit/branch_streams.h"

static struct machine_branch with_direction(enum direction_kind direction) {
    struct machine_branch machine = SMALL;
    machine.direction = direction;
    machine.bimodal_entries = machine.gshare_entries = machine.meta_entries = 8192;
    machine.history = 13;
    return machine;
}

/* Mispredictions of the last `counted` of `loops` runs of a loop of `trips` iterations, with
 * another branch in its body that is taken in every third. */
static int loop_mispredictions(enum direction_kind direction, int trips, int loops, int counted) {
    struct branch_predictor *predictor = new_predictor(with_direction(direction));
    int wrong = 0;
    for (int loop = 0; loop < loops; loop++)
        for (int trip = 0; trip < trips; trip++) {
            int missed = (conditional(predictor, 0x4000, trip % 3 == 0) == PREDICTED_WRONG) +
                         (conditional(predictor, 0x4010, trip + 1 < trips) == PREDICTED_WRONG);
            wrong += loop >= loops - counted ? missed : 0;
        }
    branch_free(predictor);
    return wrong;
}

/* The exit of a loop of 25 iterations, 50 branches, is predicted by a history of 64 bits. */
static void learns_fixed_trip_counts(void **state) {
    (void)state;
    assert_in_range(loop_mispredictions(DIRECTION_TAGE, 5, 400, 200), 0, 2);
    assert_in_range(loop_mispredictions(DIRECTION_TAGE, 25, 400, 200), 0, 4);
    /* gshare's 13 bits see 6 trips: the exit of every loop is missed. */
    assert_true(loop_mispredictions(DIRECTION_GSHARE, 25, 400, 200) >= 190);
    assert_true(loop_mispredictions(DIRECTION_BIMODAL, 25, 400, 200) >= 200);
}

/* A branch repeats a random one `distance` conditional branches before; those between are taken.
 * Percent of mispredictions of the second half. */
static int repeat_mispredictions(enum direction_kind direction, int distance) {
    struct branch_predictor *predictor = new_predictor(with_direction(direction));
    uint64_t random = 7;
    int wrong = 0, rounds = 4000;
    for (int round = 0; round < rounds; round++) {
        bool leader = random_next(&random) >> 33 & 1;
        conditional(predictor, 0x8000, leader);
        for (int i = 1; i < distance; i++)
            conditional(predictor, 0x8000 + 0x20 * (uint64_t)i, true);
        bool missed = conditional(predictor, 0x9000, leader) == PREDICTED_WRONG;
        wrong += round >= rounds / 2 && missed;
    }
    branch_free(predictor);
    return wrong * 100 / (rounds / 2);
}

static void learns_long_correlations(void **state) {
    (void)state;
    assert_in_range(repeat_mispredictions(DIRECTION_TAGE, 1), 0, 1);
    assert_in_range(repeat_mispredictions(DIRECTION_TAGE, 30), 0, 1);
    assert_in_range(repeat_mispredictions(DIRECTION_TAGE, 60), 0, 1);
    assert_in_range(repeat_mispredictions(DIRECTION_GSHARE, 10), 0, 1);
    assert_in_range(repeat_mispredictions(DIRECTION_GSHARE, 30), 40, 60);
    /* Beyond the longest history there is nothing to learn from. */
    assert_in_range(repeat_mispredictions(DIRECTION_TAGE, 80), 40, 60);
}

/* Random outcomes cannot be predicted, but must not spoil the prediction of a steady branch beside
 * them. */
static void noise_stays_noise(void **state) {
    (void)state;
    struct branch_predictor *predictor = new_predictor(with_direction(DIRECTION_TAGE));
    uint64_t random = 99;
    int noise = 0, steady = 0;
    for (int i = 0; i < 20000; i++) {
        noise += conditional(predictor, 0x6000, random_next(&random) >> 21 & 1) == PREDICTED_WRONG;
        steady += conditional(predictor, 0x6010, true) == PREDICTED_WRONG;
    }
    assert_in_range(noise, 9000, 11000);
    assert_in_range(steady, 1, 40);
    branch_free(predictor);
}

/* Histories of SonicBOOM: 2 4 8 16 32 64; crowded ones still differ and stay in bounds. */
static void histories_are_geometric(void **state) {
    (void)state;
    const uint32_t expected[] = {2, 4, 8, 16, 32, 64};
    struct machine_branch machine = SMALL;
    struct tage *tage = calloc(1, sizeof *tage);
    assert_true(tage_init(tage, &machine));
    for (int t = 0; t < 6; t++)
        assert_int_equal(tage->oldest[t] + 1, expected[t]);
    tage_free(tage);

    memset(tage, 0, sizeof *tage);
    machine.tage_tables = 12;
    machine.tage_min_history = 1;
    machine.tage_max_history = 12;
    assert_true(tage_init(tage, &machine));
    for (uint32_t t = 0; t < 12; t++)
        assert_int_equal(tage->oldest[t], t);
    tage_free(tage);
    free(tage);
}

/* Outcomes of age a (0 the newest) xored at bit a % width: what a fold must be. */
static uint32_t fold_of(const uint8_t *outcomes, size_t count, uint32_t length, uint32_t width) {
    uint32_t folded = 0;
    for (uint32_t age = 0; age < length && age < count; age++)
        folded ^= (uint32_t)outcomes[count - 1 - age] << age % width;
    return folded;
}

static void folds_follow_history(void **state) {
    (void)state;
    enum { BRANCHES = 9000 }; /* more than the outcomes kept, twice over */
    static uint8_t outcomes[BRANCHES];
    const struct {
        uint32_t tables, entries, tag_bits, min, max;
    } shapes[] = {{6, 2048, 11, 2, 64}, {12, 512, 15, 3, 1000}, {1, 16, 4, 5, 5}};
    struct tage *tage = malloc(sizeof *tage);
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        struct machine_branch machine = SMALL;
        machine.tage_tables = shapes[s].tables;
        machine.tage_entries = shapes[s].entries;
        machine.tage_tag_bits = shapes[s].tag_bits;
        machine.tage_min_history = shapes[s].min;
        machine.tage_max_history = shapes[s].max;
        memset(tage, 0, sizeof *tage);
        assert_true(tage_init(tage, &machine));
        uint64_t random = 5;
        for (size_t i = 0; i < BRANCHES; i++) {
            outcomes[i] = random_next(&random) >> 17 & 1;
            tage_predict(tage, 0x1000 + random % 64, outcomes[i]);
            if (i % 97 && i + 1 < BRANCHES)
                continue;
            for (uint32_t t = 0; t < tage->tables; t++) {
                uint32_t length = tage->oldest[t] + 1;
                assert_int_equal(tage->index.folded[t / TAGE_LANES][t % TAGE_LANES],
                                 fold_of(outcomes, i + 1, length, tage->index.width));
                assert_int_equal(tage->tag.folded[t / TAGE_LANES][t % TAGE_LANES],
                                 fold_of(outcomes, i + 1, length, tage->tag.width));
            }
        }
        tage_free(tage);
    }
    free(tage);
}

/* Beyond two resets of the useful bits: counters in range, and still learning. */
static void long_run_stays_in_range(void **state) {
    (void)state;
    struct machine_branch machine = SMALL;
    struct tage *tage = calloc(1, sizeof *tage);
    assert_true(tage_init(tage, &machine));
    uint64_t random = 3;
    int wrong = 0;
    for (int i = 0; i < 600000; i++) {
        uint64_t address = 0x1000 + random_next(&random) % 512 * 6;
        tage_predict(tage, address, random >> 50 & 1);
    }
    for (size_t i = 0; i < (size_t)tage->tables * machine.tage_entries; i++) {
        assert_in_range(tage->entries[i].counter + 4, 0, 7);
        assert_in_range(tage->entries[i].useful, 0, 3);
    }
    for (int i = 0; i < 3000; i++)
        wrong += tage_predict(tage, 0x100, i % 7 == 0) != (i % 7 == 0) && i >= 1500;
    assert_in_range(wrong, 0, 5);
    tage_free(tage);
    free(tage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learns_fixed_trip_counts), cmocka_unit_test(learns_long_correlations),
        cmocka_unit_test(noise_stays_noise),        cmocka_unit_test(histories_are_geometric),
        cmocka_unit_test(folds_follow_history),     cmocka_unit_test(long_run_stays_in_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
