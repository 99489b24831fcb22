/* The contention model on profiles made by hand, with every figure worked out, and convolution
 * against the enumeration of the thesis. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/contention.h"

#define CLOSE(a, b) assert_true(fabs((a) - (b)) < 1e-12)

/* A run of 64 accesses that all reach a cache of 4 sets and 2 ways, with points 1, 2, 4 .. 64: S
 * doubles from 1/2 to 4, where b becomes 1/2, 1/2; before that it is 3/4, 1/4. */
static struct locality_level *new_level(void) {
    struct locality_level *level = malloc(sizeof *level);
    static const double SETS[] = {0.5, 1, 2, 4, 4, 4, 4};
    assert_non_null(level);
    assert_true(locality_level_new(level, (struct cache_shape){4, 2, 64}));
    level->run = level->accesses = 64;
    level->points = 7;
    for (int k = 0; k < 7; k++) {
        level->sets[k] = SETS[k];
        level->blocks[k] = 1 << k;
        level->touched[0][k] = k < 4 ? 0.75 : 0.5;
        level->touched[1][k] = k < 4 ? 0.25 : 0.5;
    }
    level->set_touched[0] = 0xf;
    return level;
}

static void free_level(struct locality_level *level) {
    locality_level_free(level);
    free(level);
}

static void add_sequences(struct locality_level *level, uint32_t d, uint32_t octave, uint64_t count,
                          uint64_t mean_r) {
    level->circular[d - 1][octave] =
        (struct circular_count){count, count * mean_r, count * 2, (double)(count * mean_r)};
    level->set_sequences[0] += count;
}

static const struct contention_options MEASURED = {.model = CONTENTION_MEASURED,
                                                   .groups = CONTENTION_GROUPS};

static void extra_of(const struct contention_thread *threads, uint32_t count,
                     const struct contention_options *options, double *extra) {
    struct error error;
    assert_true(contention_extra(threads, count, options, extra, &error));
}

/* T1 has 100 sequences of one block over 4 accesses, and 10 of two over 8. T2 makes half as many
 * accesses: n = 2 and 4, S = 1 and 2 of 4 sets, b = 3/4, 1/4.
 *   d = 1: room for one block: 3/4 + 1/4 × 3/4 = 15/16 still hit
 *   d = 2: room for none: 2/4 still hit
 * Extra: 100/16 + 10/2 = 11.25. With scale 3: 33.75. T2 has no sequences: nothing to lose. */
static void six_steps_by_hand(void **state) {
    (void)state;
    struct locality_level *one = new_level(), *two = new_level();
    double extra[2];
    add_sequences(one, 1, 2, 100, 4);
    add_sequences(one, 2, 3, 10, 8);
    struct contention_thread threads[] = {{one, 0.2, 1, 1}, {two, 0.1, 1, 1}};
    extra_of(threads, 2, &MEASURED, extra);
    CLOSE(extra[0], 11.25);
    CLOSE(extra[1], 0);
    threads[0].scale = 3;
    extra_of(threads, 2, &MEASURED, extra);
    CLOSE(extra[0], 33.75);
    free_level(one);
    free_level(two);
}

/* Sequences of one block over 4 and over 32 accesses: one group takes them for 40 over 18, 20
 * groups see 20 that meet S = 2 and 20 that meet S = 4, b = 1/2, 1/2. T2 as fast as T1. 20 groups:
 * 20 × 1/2 × 1/4 + 20 × 1/2 = 12.5 1 group: n = 18, S = 4, between x = 16 and 32, where b is 1/2,
 * 1/2: 40 × 1/2 = 20 */
static void groups_matter(void **state) {
    (void)state;
    struct locality_level *one = new_level(), *two = new_level();
    double extra[2];
    add_sequences(one, 1, 2, 20, 4);
    add_sequences(one, 1, 5, 20, 32);
    const struct contention_thread threads[] = {{one, 1, 1, 1}, {two, 1, 1, 1}};
    extra_of(threads, 2, &MEASURED, extra);
    CLOSE(extra[0], 12.5);
    struct contention_options options = MEASURED;
    options.groups = 1;
    extra_of(threads, 2, &options, extra);
    CLOSE(extra[0], 20);
    free_level(one);
    free_level(two);
}

/* The same 100 sequences over 4 accesses, which last as long as 8 usually do: n = 4, S = 2 of 4
 * sets, b = 3/4, 1/4 leave 1/2 + 1/2 × 3/4 = 7/8 of them. */
static void slow_sequences_meet_more(void **state) {
    (void)state;
    struct locality_level *one = new_level(), *two = new_level();
    double extra[2];
    add_sequences(one, 1, 2, 100, 4);
    one->circular[0][2].time = 800;
    const struct contention_thread threads[] = {{one, 0.2, 1, 1}, {two, 0.1, 1, 1}};
    extra_of(threads, 2, &MEASURED, extra);
    CLOSE(extra[0], 12.5);
    free_level(one);
    free_level(two);
}

/* Thirty-one others that are alike, one by one and as copies. */
static void copies_are_threads(void **state) {
    (void)state;
    struct locality_level *one = new_level();
    double extra[32], of_copies[1];
    add_sequences(one, 1, 0, 1000, 2);
    struct contention_thread threads[32];
    for (int i = 0; i < 32; i++)
        threads[i] = (struct contention_thread){one, 0.01, 1, 1};
    extra_of(threads, 32, &MEASURED, extra);
    threads[0].copies = 32;
    extra_of(threads, 1, &MEASURED, of_copies);
    CLOSE(extra[0], of_copies[0]);
    CLOSE(extra[31], of_copies[0]);
    /* P(none of 31) + P(exactly one, with one block): S/4 = 1/4. */
    const double hits = pow(0.75, 31) + 31 * pow(0.75, 30) * 0.25 * 0.75;
    assert_true(fabs(of_copies[0] - 1000 * (1 - hits)) < 1e-9);
    free_level(one);
}

/* T1 has all sequences in set 0. T2 only ever uses sets 1 to 3: with known sets, nothing happens to
 * either. When T2 uses sets 0 and 1, and S(4) = 2 of these: it is surely in set 0. */
static void sets_that_never_meet(void **state) {
    (void)state;
    struct locality_level *one = new_level(), *two = new_level();
    struct contention_options options = MEASURED;
    double extra[2];
    add_sequences(one, 1, 2, 100, 4);
    one->set_touched[0] = 1;
    two->set_touched[0] = 0xe;
    const struct contention_thread threads[] = {{one, 1, 1, 1}, {two, 1, 1, 1}};
    for (int model = CONTENTION_MEASURED; model <= CONTENTION_INDUCTIVE; model++) {
        options.model = (enum contention_model)model;
        options.sets_are_known = true;
        extra_of(threads, 2, &options, extra);
        assert_true(extra[0] == 0 && extra[1] == 0);
        options.sets_are_known = false;
        extra_of(threads, 2, &options, extra);
        assert_true(extra[0] > 0);
    }
    options = (struct contention_options){CONTENTION_MEASURED, CONTENTION_GROUPS, true};
    two->set_touched[0] = 0x3;
    extra_of(threads, 2, &options, extra);
    CLOSE(extra[0], 25);
    free_level(one);
    free_level(two);
}

/* Two blocks thrown into four sets: none 9/16, one 6/16, two 1/16. n = 2 accesses, U = 2. Between
 * U = 2 and 4 at n = 3 (log-log: 3 blocks): none 27/64, one 27/64, more 10/64. */
static void binomial_by_hand(void **state) {
    (void)state;
    struct locality_level *one = new_level(), *two = new_level();
    const struct contention_options options = {CONTENTION_BINOMIAL, CONTENTION_GROUPS, false};
    double extra[2];
    add_sequences(one, 1, 1, 1600, 2);
    add_sequences(one, 2, 1, 1600, 3);
    const struct contention_thread threads[] = {{one, 1, 1, 1}, {two, 1, 1, 1}};
    extra_of(threads, 2, &options, extra);
    assert_true(fabs(extra[0] - (1600 * 1.0 / 16 + 1600 * 37.0 / 64)) < 1e-9);
    free_level(one);
    free_level(two);
}

/* Of 100 accesses 60 end sequences of one block, 20 of two: P(1-) = 0.6, P(2-) = 0.8, ways = 3.
 *   n = 1: 1 0 0;  n = 2: 0.6 0.4 0;  n = 3: 0.36, 0.4 × 0.6 + 0.8 × 0.4 = 0.56, 0.2 × 0.4 = 0.08
 */
static void inductive_by_hand(void **state) {
    (void)state;
    struct locality_level level;
    double p[3];
    assert_true(locality_level_new(&level, (struct cache_shape){4, 3, 64}));
    level.run = level.accesses = 100;
    level.circular[0][3].count = 60;
    level.circular[1][9].count = 20;
    contention_inductive(&level, 1, p);
    assert_true(p[0] == 1 && p[1] == 0 && p[2] == 0);
    contention_inductive(&level, 2, p);
    CLOSE(p[0], 0.6);
    CLOSE(p[1], 0.4);
    contention_inductive(&level, 3, p);
    CLOSE(p[0], 0.36);
    CLOSE(p[1], 0.56);
    CLOSE(p[2], 0.08);
    contention_inductive(&level, 2.5, p);
    CLOSE(p[0], 0.48);
    /* Step by step as the thesis has it, against squaring; the sum over d is 1. */
    double by_step[3] = {1, 0, 0};
    for (uint64_t n = 1; n <= 40; n++) {
        contention_inductive(&level, (double)n, p);
        for (int d = 0; d < 3; d++)
            CLOSE(p[d], by_step[d]);
        CLOSE(p[0] + p[1] + p[2], 1);
        by_step[2] += 0.2 * by_step[1];
        by_step[1] = 0.8 * by_step[1] + 0.4 * by_step[0];
        by_step[0] *= 0.6;
    }
    locality_level_free(&level);
}

/* T1's sequences have n = 2. T2 makes half as many accesses and all reach the cache: n = 1, so one
 * block for sure: d = 1 of two ways still hits, d = 2 does not. A third thread, and all miss: with
 * one access each at least, two blocks come in between. */
static void the_prior_model_always_has_a_block(void **state) {
    (void)state;
    struct locality_level *one = new_level();
    const struct contention_options options = {CONTENTION_PRIOR, CONTENTION_GROUPS, false};
    double extra[3];
    add_sequences(one, 1, 1, 30, 2);
    add_sequences(one, 2, 1, 7, 3);
    const struct contention_thread threads[] = {
        {one, 1, 1, 1}, {one, 0.5, 1, 1}, {one, 1e-6, 1, 1}};
    extra_of(threads, 2, &options, extra);
    CLOSE(extra[0], 7);
    extra_of(threads, 3, &options, extra);
    CLOSE(extra[0], 37);
    free_level(one);
}

/* ---- step 5 by subsets ---- */

enum { OTHERS = 3, WAYS = 4 };

/* Sum over blocks k[i] of thread i, not 0 for those in `subset` alone, of the product. */
static double enumerate(const double (*p)[LOCALITY_MAX_WAYS + 1], unsigned subset, uint32_t room) {
    double sum = 0;
    for (uint32_t a = 0; a <= WAYS; a++)
        for (uint32_t b = 0; b <= WAYS; b++)
            for (uint32_t c = 0; c <= WAYS; c++)
                if (a + b + c <= room && (a > 0) == (subset & 1) && (b > 0) == (subset >> 1 & 1) &&
                    (c > 0) == (subset >> 2 & 1))
                    sum += p[0][a] * p[1][b] * p[2][c];
    return sum;
}

/* Of a thread that puts k blocks into the set with probability p[k], however long it has. */
static struct locality_level *level_of(const double *p) {
    struct locality_level *level = malloc(sizeof *level);
    assert_non_null(level);
    assert_true(locality_level_new(level, (struct cache_shape){4, WAYS, 64}));
    level->run = level->accesses = 64;
    level->points = 7;
    for (int k = 0; k < 7; k++) {
        level->sets[k] = 4 * (1 - p[0]);
        for (uint32_t i = 0; i < WAYS; i++)
            level->touched[i][k] = p[i + 1] / (1 - p[0]);
    }
    return level;
}

/* One sequence of so many blocks that there is room for these: it no longer hits if more come. */
static void convolution_is_the_sum_over_subsets(void **state) {
    (void)state;
    srand(7);
    for (int trial = 0; trial < 50; trial++) {
        double p[OTHERS][LOCALITY_MAX_WAYS + 1] = {{0}};
        struct contention_thread threads[1 + OTHERS];
        for (int i = 0; i < OTHERS; i++) {
            double sum = 0;
            for (uint32_t k = 0; k <= WAYS; k++)
                sum += p[i][k] = 1 + rand() % 100;
            for (uint32_t k = 0; k <= WAYS; k++)
                p[i][k] /= sum;
            threads[1 + i] = (struct contention_thread){level_of(p[i]), 1, 1, 1};
        }
        for (uint32_t room = 0; room < WAYS; room++) {
            double sum = 0, extra[1 + OTHERS];
            struct locality_level *one = level_of(p[0]);
            add_sequences(one, WAYS - room, 2, 1, 4);
            threads[0] = (struct contention_thread){one, 1, 1, 1};
            for (unsigned subset = 0; subset < 1 << OTHERS; subset++)
                sum += enumerate((const double(*)[LOCALITY_MAX_WAYS + 1]) p, subset, room);
            extra_of(threads, 1 + OTHERS, &MEASURED, extra);
            CLOSE(extra[0], 1 - sum);
            free_level(one);
        }
        for (int i = 0; i < OTHERS; i++)
            free_level((struct locality_level *)threads[1 + i].level);
    }
}

static void what_the_model_cannot_take(void **state) {
    (void)state;
    struct locality_level *one = new_level(), other;
    struct error error;
    double extra[2];
    assert_true(locality_level_new(&other, (struct cache_shape){4, 4, 64}));
    struct contention_thread threads[] = {{one, 1, 1, 1}, {&other, 1, 1, 1}};
    assert_false(contention_extra(threads, 2, &MEASURED, extra, &error));
    assert_non_null(strstr(error.message, "different shapes"));
    threads[1] = (struct contention_thread){one, 0, 1, 1};
    assert_false(contention_extra(threads, 2, &MEASURED, extra, &error));
    assert_non_null(strstr(error.message, "more than 0"));
    threads[1] = (struct contention_thread){one, 1, 1, CONTENTION_MAX_THREADS - 1};
    assert_true(contention_extra(threads, 2, &MEASURED, extra, &error));
    threads[1].copies++;
    assert_false(contention_extra(threads, 2, &MEASURED, extra, &error));
    assert_string_equal(error.message, "1025 threads: the model takes up to 1024");
    locality_level_free(&other);
    free_level(one);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(six_steps_by_hand),
                                       cmocka_unit_test(groups_matter),
                                       cmocka_unit_test(slow_sequences_meet_more),
                                       cmocka_unit_test(copies_are_threads),
                                       cmocka_unit_test(sets_that_never_meet),
                                       cmocka_unit_test(binomial_by_hand),
                                       cmocka_unit_test(inductive_by_hand),
                                       cmocka_unit_test(the_prior_model_always_has_a_block),
                                       cmocka_unit_test(convolution_is_the_sum_over_subsets),
                                       cmocka_unit_test(what_the_model_cannot_take)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
