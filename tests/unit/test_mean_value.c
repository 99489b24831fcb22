/* Mean value analysis of a core: worked by hand, and against cores of coin tosses, where the chain
 * that knows one p and M is far off. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/markov.h"
#include "model/mean_value.h"

static void assert_near(double is, double should, double part) {
    if (!(fabs(is - should) <= part * fabs(should)))
        fail_msg("%.17g should be %.17g", is, should);
}

static void analyse(const struct mean_value_class *classes, uint32_t count, double *throughput) {
    struct error error;
    if (!mean_value_analysis(classes, count, throughput, &error))
        fail_msg("%s", error.message);
}

/* A waits a cycle for each instruction, B never. Alone A is ready half of the time, B always. So
 * with both A takes 1 + 1 cycles to issue, beside 1 of waiting: 1/3 instructions per cycle; B takes
 * 1 + 1/2: 2/3. */
static void two_programs(void **state) {
    (void)state;
    const struct mean_value_class classes[] = {{1, 1, 1}, {1, 1, 0}};
    double is[2];
    analyse(classes, 2, is);
    assert_near(is[0], 1 / 3., 1e-15);
    assert_near(is[1], 2 / 3., 1e-15);
}

/* Two slots an instruction, 6 cycles of waiting, 3 threads: one is ready 2/8 of the time; of two,
 * 2 × 2.5 / 8.5 = 10/17; of three each takes 2 × (1 + 10/17) = 54/17 to issue. */
static void three_threads_alike(void **state) {
    (void)state;
    const struct mean_value_class together[] = {{3, 2, 6}};
    const struct mean_value_class apart[] = {{1, 2, 6}, {1, 2, 6}, {1, 2, 6}};
    double is[3];
    analyse(together, 1, is);
    assert_near(is[0], 1 / (6 + 54 / 17.), 1e-15);
    analyse(apart, 3, is);
    for (int i = 0; i < 3; i++)
        assert_near(is[i], 1 / (6 + 54 / 17.), 1e-15);
}

static double toss(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

enum { THREADS = 4, CYCLES = 1000000 };
struct thread {
    double p;
    uint32_t latency;
};

/* Instructions per cycle of each thread: ready ones issue in turn, and are suspended with
 * probability p for `latency` cycles. */
static void toss_coins(const struct thread *threads, double *issued) {
    uint32_t ready[THREADS] = {0}, last = 0;
    uint64_t random = 1;
    for (uint32_t i = 0; i < THREADS; i++)
        issued[i] = 0;
    for (uint32_t cycle = 0; cycle < CYCLES; cycle++)
        for (uint32_t k = 1; k <= THREADS; k++) {
            const uint32_t thread = (last + k) % THREADS;
            if (ready[thread] > cycle)
                continue;
            ready[thread] =
                cycle + 1 + (toss(&random) < threads[thread].p ? threads[thread].latency : 0);
            last = thread;
            issued[thread] += 1. / CYCLES;
            break;
        }
}

/* Three programs that mostly wait beside one that hardly does: the chain loses more than a twelfth.
 */
static void against_coin_tosses(void **state) {
    (void)state;
    static const struct thread CORES[][THREADS] = {
        {{0.05, 53}, {0.05, 53}, {0.05, 53}, {0.05, 53}},
        {{0.5, 31}, {0.5, 31}, {0.5, 31}, {0.01, 9}},
        {{0.11, 69}, {0.02, 119}, {0.1, 9}, {0.02, 14}},
    };
    for (size_t i = 0; i < sizeof CORES / sizeof *CORES; i++) {
        struct mean_value_class classes[THREADS];
        double is[THREADS], should[THREADS], sum = 0, sum_should = 0;
        for (uint32_t t = 0; t < THREADS; t++)
            classes[t] = (struct mean_value_class){1, 1, CORES[i][t].p * CORES[i][t].latency};
        analyse(classes, THREADS, is);
        toss_coins(CORES[i], should);
        for (uint32_t t = 0; t < THREADS; t++) {
            assert_near(is[t], should[t], 0.05);
            sum += is[t];
            sum_should += should[t];
        }
        assert_near(sum, sum_should, 0.015);
    }
}

/* The second of these cores by the chain: parts of the instructions as IPCs alone, 2/33 each of
 * three, 100/109 of the fourth. */
static void one_p_and_latency_are_not_enough(void **state) {
    (void)state;
    static const struct thread CORE[THREADS] = {{0.5, 31}, {0.5, 31}, {0.5, 31}, {0.01, 9}};
    double ipcs = 0, events = 0, cycles = 0, issued[THREADS], sum = 0;
    for (uint32_t t = 0; t < THREADS; t++) {
        const double ipc = 1 / (1 + CORE[t].p * CORE[t].latency);
        ipcs += ipc;
        events += ipc * CORE[t].p;
        cycles += ipc * CORE[t].p * CORE[t].latency;
    }
    toss_coins(CORE, issued);
    for (uint32_t t = 0; t < THREADS; t++)
        sum += issued[t];
    assert_true(markov_throughput(THREADS, events / ipcs, cycles / events) < sum * 11 / 12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_programs), cmocka_unit_test(three_threads_alike),
        cmocka_unit_test(against_coin_tosses), cmocka_unit_test(one_p_and_latency_are_not_enough)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
