/* Circular sequences, S(x), b(i, x) and U(x) of access strings: by hand, and against a program that
 * counts them by their definitions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/circular.h"

enum { LINE = 64 };

/* Blocks by letter, all in one set. */
static void add_text(struct circular *circular, const char *blocks) {
    for (uint64_t time = 0; blocks[time]; time++)
        assert_int_not_equal(circular_add(circular, (uint64_t)blocks[time] * LINE, time), 0);
}

static void check_count(const struct locality_level *level, uint32_t d, uint32_t octave,
                        uint64_t count, uint64_t r, uint64_t n) {
    const struct circular_count *found = &level->circular[d - 1][octave];
    assert_int_equal(found->count, count);
    assert_int_equal(found->r, r);
    assert_int_equal(found->n, n);
}

static void check_point(const struct locality_level *level, uint32_t k, double blocks,
                        const double b[4]) {
    assert_true(level->sets[k] == 1);
    assert_true(level->blocks[k] == blocks);
    for (int i = 0; i < 4; i++)
        assert_true(level->touched[i][k] == b[i]);
}

/* Fig. 3.1: A B A A C D B E A in a set of four ways. A B A is cseq(2,3), A A cseq(1,2), B A A C D B
 * cseq(4,6), the last A of A C D B E A a miss, as d = 5. Nothing else is in the cache, so r = n. */
static void the_figure(void **state) {
    (void)state;
    struct circular circular;
    struct locality_level level;
    assert_true(circular_new(&circular, (struct cache_shape){1, 4, LINE}, true));
    add_text(&circular, "ABAACDBEA");
    assert_true(circular_end(&circular, 9));
    assert_true(circular_level(&circular, 4, &level));
    check_count(&level, 2, 1, 1, 3, 3);
    check_count(&level, 1, 1, 1, 2, 2);
    check_count(&level, 4, 2, 1, 6, 6);
    assert_int_equal(level.accesses, 9);
    assert_int_equal(level.misses, 6); /* A, B, C, D, E cold, and the last A */
    assert_int_equal(level.set_sequences[0], 3);
    assert_int_equal(level.set_touched[0], 1);
    /* Windows of two: AB AA CD BE, of four: ABAA CDBE, of eight: ABAACDBE; then the run of nine. */
    assert_int_equal(level.points, 5);
    check_point(&level, 0, 1, (double[]){1, 0, 0, 0});
    check_point(&level, 1, 7.0 / 4, (double[]){0.25, 0.75, 0, 0});
    check_point(&level, 2, 3, (double[]){0, 0.5, 0, 0.5});
    check_point(&level, 3, 5, (double[]){0, 0, 0, 1});
    check_point(&level, 4, 5, (double[]){0, 0, 0, 1});
    locality_level_free(&level);
    /* With two ways, B A A C D B is a miss too. */
    assert_true(circular_level(&circular, 2, &level));
    assert_int_equal(level.misses, 7);
    assert_int_equal(level.set_sequences[0], 2);
    assert_true(level.touched[1][2] == 1);
    locality_level_free(&level);
    circular_free(&circular);
}

/* Two sets, a at even and b at odd lines, and accesses that stay in the L1: a0 . b1 a0 . . b3 b1.
 * r counts all eight, n those of the set: a0 . b1 a0 is cseq(1, 2, 4), b1 a0 . . b3 b1 cseq(2, 3,
 * 6). Pairs: [a0 .] [b1 a0] [. .] [b3 b1]: S(2) = (1 + 2 + 0 + 1) / 4, U(2) = (1 + 2 + 0 + 2) / 4,
 * and of the four sets touched one has two blocks. */
static void accesses_that_stay_inside_count_for_r(void **state) {
    (void)state;
    struct circular circular;
    struct locality_level level;
    assert_true(circular_new(&circular, (struct cache_shape){2, 4, LINE}, true));
    circular_add(&circular, 0 * LINE, 0);
    circular_add(&circular, 1 * LINE, 2);
    circular_add(&circular, 0 * LINE, 3);
    circular_add(&circular, 3 * LINE, 6);
    circular_add(&circular, 1 * LINE, 7);
    assert_true(circular_end(&circular, 8));
    assert_true(circular_level(&circular, 4, &level));
    check_count(&level, 1, 2, 1, 4, 2);
    check_count(&level, 2, 2, 1, 6, 3);
    assert_int_equal(level.points, 4);
    assert_true(level.sets[0] == 5.0 / 8);
    assert_true(level.sets[1] == 1);
    assert_true(level.blocks[1] == 5.0 / 4);
    assert_true(level.touched[0][1] == 0.75 && level.touched[1][1] == 0.25);
    assert_true(level.sets[2] == 1.5); /* [a0 . b1 a0] [. . b3 b1] */
    assert_true(level.sets[3] == 2 && level.blocks[3] == 3);
    /* In proportion between 1 and 2 in log x, and below 1; as they are beyond the run. */
    assert_true(fabs(locality_sets(&level, sqrt(2)) - sqrt(5.0 / 8)) < 1e-12);
    assert_true(locality_sets(&level, 0.5) == 5.0 / 16);
    assert_true(locality_sets(&level, 1e9) == 2);
    locality_level_free(&level);
    circular_free(&circular);
}

/* ---- by definition ---- */

enum { ACCESSES = 700, SETS = 8, BLOCKS = 96 };

struct access_string {
    uint64_t block[ACCESSES], time[ACCESSES], run;
};

static uint64_t next_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static void make_string(struct access_string *string, uint64_t seed) {
    uint64_t time = 0;
    for (int i = 0; i < ACCESSES; i++) {
        const uint64_t among = i / 100 % 2 ? BLOCKS : 20;
        string->block[i] = next_random(&seed) % among;
        time += next_random(&seed) % 4 ? 0 : next_random(&seed) % 9;
        string->time[i] = time++;
    }
    string->run = time + seed % 5;
}

/* The sequence that access `last` ends; false: it is the first of its block. */
static bool sequence(const struct access_string *string, int last, uint32_t *d, uint64_t *n,
                     uint64_t *r) {
    bool seen[BLOCKS] = {false};
    const uint64_t block = string->block[last];
    *d = 1;
    *n = 1;
    for (int i = last - 1; i >= 0; i--) {
        if (string->block[i] % SETS != block % SETS)
            continue;
        ++*n;
        *r = string->time[last] - string->time[i] + 1;
        if (string->block[i] == block)
            return true;
        *d += !seen[string->block[i]];
        seen[string->block[i]] = true;
    }
    return false;
}

static void check_sequences(const struct access_string *string,
                            const struct locality_level *level) {
    struct circular_count counts[LOCALITY_MAX_WAYS][LOCALITY_OCTAVES] = {{{0}}};
    uint64_t misses = 0, n, r;
    uint32_t d;
    for (int i = 0; i < ACCESSES; i++) {
        if (!sequence(string, i, &d, &n, &r) || d > level->shape.ways) {
            misses++;
            continue;
        }
        uint32_t octave = 0;
        while (2ull << octave <= r)
            octave++;
        struct circular_count *count = &counts[d - 1][octave];
        *count = (struct circular_count){count->count + 1, count->r + r, count->n + n,
                                         (double)(count->r + r)};
    }
    assert_int_equal(misses, level->misses);
    for (uint32_t i = 0; i < level->shape.ways; i++)
        for (uint32_t octave = 0; octave < LOCALITY_OCTAVES; octave++)
            check_count(level, i + 1, octave, counts[i][octave].count, counts[i][octave].r,
                        counts[i][octave].n);
}

/* The windows [w × size, (w + 1) × size) below `end`, each from its accesses alone. */
static void check_windows(const struct access_string *string, const struct locality_level *level,
                          uint32_t k, uint64_t size, uint64_t windows) {
    const uint32_t ways = level->shape.ways;
    uint64_t sets = 0, blocks = 0, with[LOCALITY_MAX_WAYS + 1] = {0};
    for (uint64_t window = 0; window < windows; window++) {
        bool seen[BLOCKS] = {false};
        uint32_t in_set[SETS] = {0};
        for (int i = 0; i < ACCESSES; i++)
            if (string->time[i] / size == window && !seen[string->block[i]]) {
                seen[string->block[i]] = true;
                in_set[string->block[i] % SETS]++;
            }
        for (int set = 0; set < SETS; set++) {
            sets += in_set[set] > 0;
            blocks += in_set[set];
            with[in_set[set] < ways ? in_set[set] : ways]++;
        }
    }
    assert_true(level->sets[k] == (double)sets / (double)windows);
    assert_true(level->blocks[k] == (double)blocks / (double)windows);
    for (uint32_t i = 1; i <= ways; i++)
        assert_true(level->touched[i - 1][k] == (sets ? (double)with[i] / (double)sets : 0));
}

static void as_by_definition(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct access_string string;
        struct circular circular;
        make_string(&string, seed);
        assert_true(circular_new(&circular, (struct cache_shape){SETS, 7, LINE}, true));
        for (int i = 0; i < ACCESSES; i++)
            assert_int_not_equal(circular_add(&circular, string.block[i] * LINE, string.time[i]),
                                 0);
        assert_true(circular_end(&circular, string.run));
        for (uint32_t ways = 1; ways <= 7; ways += 3) {
            struct locality_level level;
            assert_true(circular_level(&circular, ways, &level));
            check_sequences(&string, &level);
            for (uint32_t k = 0; k + 1 < level.points; k++)
                check_windows(&string, &level, k, 1ull << k, string.run >> k);
            check_windows(&string, &level, level.points - 1, string.run, 1);
            locality_level_free(&level);
        }
        circular_free(&circular);
    }
}

/* Accesses of the first interval take 2 cycles each, those after it 4. A at 0 and 9: 10 accesses,
 * 20 cycles. A again at 2^15 + 99: from 9 to the end of the interval (2^15 − 9) × 2, then 100 × 4.
 * The run of 2^15 + 100 accesses takes 2^16 + 400 cycles. */
static void sequences_go_at_the_pace_of_the_thread(void **state) {
    (void)state;
    const uint64_t second = 1 << PACE_SHIFT;
    struct pace pace = {0};
    struct circular circular;
    struct locality_level level;
    assert_true(circular_new(&circular, (struct cache_shape){2, 1, LINE}, false));
    circular_follow(&circular, &pace);
    assert_int_equal(circular_add(&circular, 0, 0), 2);
    assert_int_equal(circular_add(&circular, 0, 9), 1);
    circular_pass(&circular, 2);
    assert_true(pace_end_interval(&pace, 65536));
    assert_int_equal(circular_add(&circular, LINE, 500), 2);
    assert_int_equal(circular_add(&circular, LINE, 501), 1);
    assert_int_equal(circular_add(&circular, 0, second + 99), 1);
    circular_pass(&circular, 4);
    pace.mean = (65536 + 400) / (double)(second + 100);
    assert_true(circular_end(&circular, second + 100));
    assert_true(circular_level(&circular, 1, &level));
    assert_true(fabs(level.circular[0][1].time - 4 / pace.mean) < 1e-9);
    assert_true(fabs(level.circular[0][3].time - 20 / pace.mean) < 1e-9);
    assert_true(fabs(level.circular[0][15].time - (65536 - 18 + 400) / pace.mean) < 1e-9);
    locality_level_free(&level);
    circular_free(&circular);
    pace_free(&pace);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_figure),
                                       cmocka_unit_test(accesses_that_stay_inside_count_for_r),
                                       cmocka_unit_test(sequences_go_at_the_pace_of_the_thread),
                                       cmocka_unit_test(as_by_definition)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
