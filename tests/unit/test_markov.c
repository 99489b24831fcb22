/* The Markov chain of a multithreaded core: transitions and steady states worked by hand, against
 * power iteration, and where elimination with subtraction fails. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/markov.h"

enum { MAX = MARKOV_MAX_THREADS + 1 };

static void assert_near(double is, double should, double part) {
    if (!(fabs(is - should) <= part * fabs(should)))
        fail_msg("%.17g should be %.17g", is, should);
}

/* Table 4.1 with p = 1/2, M = 4, so that a suspended thread wakes with 1/4. For example
 *     p21 = (1-p) 2 (1/4) (3/4) + p (1/4)^2     = 6/32 + 1/32
 *     p33 = (1-p) (3/4)^3 + p 3 (1/4) (3/4)^2   = 27/128 + 27/128
 *     p42 = 6 (1/4)^2 (3/4)^2                   = 54/256
 * All are exact in binary. */
static void table_4_1(void **state) {
    (void)state;
    static const double TABLE[5][5] = {
        {1 / 2., 1 / 2.},
        {1 / 8., 4 / 8., 3 / 8.},
        {1 / 32., 7 / 32., 15 / 32., 9 / 32.},
        {1 / 128., 10 / 128., 36 / 128., 54 / 128., 27 / 128.},
        {1 / 256., 12 / 256., 54 / 256., 108 / 256., 81 / 256.},
    };
    double matrix[25];
    markov_transitions(4, 0.5, 4, matrix);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            if (matrix[i * 5 + j] != TABLE[i][j])
                fail_msg("p%d%d is %.17g, not %.17g", i, j, matrix[i * 5 + j], TABLE[i][j]);
}

static const struct {
    uint32_t threads;
    double p, latency;
} CHAINS[] = {{1, 0.3, 7},     {2, 0.01, 1.5},   {3, 0.999, 2}, {4, 0.05, 110},
              {8, 0.4, 30},    {16, 0.003, 250}, {32, 0.1, 20}, {64, 0.02, 60},
              {64, 1e-6, 1e6}, {5, 1, 3},        {4, 0.5, 1},   {7, 0, 10}};
enum { CHAIN_COUNT = sizeof CHAINS / sizeof *CHAINS };

static void rows_sum_to_one(void **state) {
    (void)state;
    static double matrix[MAX * MAX];
    for (uint32_t c = 0; c < CHAIN_COUNT; c++) {
        const uint32_t states = CHAINS[c].threads + 1;
        markov_transitions(CHAINS[c].threads, CHAINS[c].p, CHAINS[c].latency, matrix);
        for (uint32_t i = 0; i < states; i++) {
            double sum = 0;
            for (uint32_t j = 0; j < states; j++) {
                assert_true(matrix[i * states + j] >= 0);
                sum += matrix[i * states + j];
            }
            assert_near(sum, 1, 1e-14);
        }
    }
}

/* Two threads, p = 1/2, M = 4:
 *     0: 1/2  1/2   0          8 π0 = 2 π1 + π2     what leaves and enters 0
 *     1: 1/8  1/2  3/8         7 π2 = 6 π1          what leaves and enters 2
 *     2: 1/16 6/16 9/16
 * so π = (5, 14, 12) / 31. */
static void solved_by_hand(void **state) {
    (void)state;
    double matrix[9], is[3];
    markov_transitions(2, 0.5, 4, matrix);
    markov_steady_state(matrix, 3, is);
    assert_near(is[0], 5 / 31., 1e-15);
    assert_near(is[1], 14 / 31., 1e-15);
    assert_near(is[2], 12 / 31., 1e-15);
    assert_near(markov_throughput(2, 0.5, 4), 19 / 31., 1e-15);
}

/* One thread takes a cycle and, with probability p, M more: 1 / (1 + p M). */
static void one_thread(void **state) {
    (void)state;
    assert_near(markov_throughput(1, 0.1, 20), 1 / 3., 1e-15);
    assert_near(markov_throughput(1, 1, 1), 1 / 2., 1e-15);
    assert_near(markov_throughput(1, 0.03125, 110), 1 / (1 + 110 / 32.), 1e-15);
}

static void limits(void **state) {
    (void)state;
    assert_true(markov_throughput(0, 0.5, 10) == 0);
    assert_true(markov_throughput(3, 0, 10) == 1);
    /* Each instruction suspends its thread for a cycle in which the other issues. State 0 is left
       at once and never seen again. */
    assert_true(markov_throughput(2, 1, 1) == 1);
    /* Threads that nearly always wait do not meet: four times one thread. */
    assert_near(markov_throughput(4, 0.5, 1e12), 4 / (1 + 0.5e12), 1e-10);
}

static void power_iteration(double *matrix, uint32_t states, double *probability) {
    double next[MAX];
    memset(probability, 0, sizeof *probability * states);
    probability[0] = 1;
    for (int step = 0; step < 200000; step++) {
        memset(next, 0, sizeof next);
        for (uint32_t i = 0; i < states; i++)
            for (uint32_t j = 0; j < states; j++)
                next[j] += probability[i] * matrix[i * states + j];
        memcpy(probability, next, sizeof *probability * states);
    }
}

static void against_power_iteration(void **state) {
    (void)state;
    for (uint32_t c = 0; c < 5; c++) {
        const uint32_t states = CHAINS[c].threads + 1;
        double matrix[81], is[9], should[9];
        markov_transitions(CHAINS[c].threads, CHAINS[c].p, CHAINS[c].latency, matrix);
        power_iteration(matrix, states, should);
        markov_steady_state(matrix, states, is);
        for (uint32_t i = 0; i < states; i++)
            assert_near(is[i], should[i], 1e-9);
    }
}

/* Gauss on πP = π with P(k -> k) as it is. */
static void plain_elimination(double (*a)[4], double *probability) {
    for (int k = 3; k > 0; k--)
        for (int i = 0; i < k; i++) {
            a[i][k] /= 1 - a[k][k];
            for (int j = 0; j < k; j++)
                a[i][j] += a[i][k] * a[k][j];
        }
    double sum = probability[0] = 1;
    for (int k = 1; k < 4; k++) {
        probability[k] = 0;
        for (int i = 0; i < k; i++)
            probability[k] += probability[i] * a[i][k];
        sum += probability[k];
    }
    for (int k = 0; k < 4; k++)
        probability[k] /= sum;
}

/* 0 <-> 1 and 2 <-> 3 are quick, from 1 to 2 leads 1e-18, back 2e-18: π0 / 2 = π1 / 4,
 * π1 = 2 π2, π2 = π3, so π = (1, 2, 1, 1) / 5. Rounded, P(2 -> 2) = 3/4 knows nothing of the way
 * back: eliminating 3 makes it 1. */
static void nearly_decoupled(void **state) {
    (void)state;
    double a[4][4] = {{1 / 2., 1 / 2., 0, 0},
                      {1 / 4., 3 / 4., 1e-18, 0},
                      {0, 2e-18, 3 / 4., 1 / 4.},
                      {0, 0, 1 / 4., 3 / 4.}};
    double again[4][4], is[4], cancelled[4];
    memcpy(again, a, sizeof a);
    markov_steady_state(&a[0][0], 4, is);
    assert_near(is[0], 0.2, 1e-15);
    assert_near(is[1], 0.4, 1e-15);
    assert_near(is[2], 0.2, 1e-15);
    assert_near(is[3], 0.2, 1e-15);
    plain_elimination(again, cancelled);
    assert_false(fabs(cancelled[1] - 0.4) < 0.01);
}

static double toss(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* What the chain is a model of: each cycle the next thread in turn that is not suspended issues and
 * is suspended with probability p, for exactly `latency` cycles. */
static double core_of_coin_tosses(uint32_t threads, double p, uint32_t latency, uint32_t cycles) {
    uint32_t ready[MAX] = {0}, last = 0, issued = 0;
    uint64_t random = 1;
    for (uint32_t cycle = 0; cycle < cycles; cycle++)
        for (uint32_t k = 1; k <= threads; k++) {
            const uint32_t thread = (last + k) % threads;
            if (ready[thread] > cycle)
                continue;
            ready[thread] = cycle + 1 + (toss(&random) < p ? latency : 0);
            last = thread;
            issued++;
            break;
        }
    return (double)issued / cycles;
}

/* That a thread wakes with 1/M a cycle and not after M cycles makes little difference. */
static void against_coin_tosses(void **state) {
    (void)state;
    static const struct {
        uint32_t threads;
        double p;
        uint32_t latency;
    } CORES[] = {{1, 0.05, 20}, {2, 0.1, 9}, {4, 0.05, 53},
                 {4, 0.11, 69}, {4, 0.2, 9}, {8, 0.3, 30}};
    for (size_t i = 0; i < sizeof CORES / sizeof *CORES; i++)
        assert_near(markov_throughput(CORES[i].threads, CORES[i].p, CORES[i].latency),
                    core_of_coin_tosses(CORES[i].threads, CORES[i].p, CORES[i].latency, 1000000),
                    0.03);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_4_1),        cmocka_unit_test(rows_sum_to_one),
        cmocka_unit_test(solved_by_hand),   cmocka_unit_test(one_thread),
        cmocka_unit_test(limits),           cmocka_unit_test(against_power_iteration),
        cmocka_unit_test(nearly_decoupled), cmocka_unit_test(against_coin_tosses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
