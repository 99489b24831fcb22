/* The chain has a state for each number of suspended threads. A step is a cycle: the instruction
 * that issues suspends its thread with probability p, and each thread that was suspended before
 * wakes with probability 1/M. */
#include "model/markov.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "util/array.h"

/* q(i, k), k of i suspended threads wake, from q(i − 1, k): the i-th wakes or does not. */
static void add_suspended(double *wakes, uint32_t suspended, double wake, double stay) {
    wakes[suspended] = wakes[suspended - 1] * wake;
    for (uint32_t k = suspended; k-- > 1;)
        wakes[k] = wakes[k] * stay + wakes[k - 1] * wake;
    wakes[0] *= stay;
}

__attribute__((unused)) static double sum_of(const double *row, uint32_t states) {
    return sum_over(double, j, states, row[j]);
}

void markov_transitions(uint32_t threads, double p, double latency, double *matrix) {
    double wakes[MARKOV_MAX_THREADS + 1] = {1};
    const double wake = 1 / latency, stay = (latency - 1) / latency;
    memset(matrix, 0, sizeof *matrix * (threads + 1) * (threads + 1));
    for (uint32_t i = 0; i <= threads; i++) {
        double *row = &matrix[i * (threads + 1)];
        if (i > 0)
            add_suspended(wakes, i, wake, stay);
        for (uint32_t k = 0; k <= i; k++)
            if (i == threads) {
                row[i - k] = wakes[k];
            } else {
                row[i - k] += (1 - p) * wakes[k];
                row[i - k + 1] += p * wakes[k];
            }
        assert(fabs(sum_of(row, threads + 1) - 1) < 1e-12);
    }
}

/* Takes states out from the last on: each path through state k becomes a direct transition. What
 * leaves k is summed over the states that remain, never as 1 − P(k -> k). */
void markov_steady_state(double *matrix, uint32_t states, double *probability) {
    uint32_t first = 0; /* nothing leads from here on to those before */
    for (uint32_t k = states; k-- > 1;) {
        double leaves = sum_over(double, j, k, matrix[k * states + j]);
        if (leaves == 0) {
            first = k;
            break;
        }
        for (uint32_t i = 0; i < k; i++) {
            matrix[i * states + k] /= leaves;
            for (uint32_t j = 0; j < k; j++)
                matrix[i * states + j] += matrix[i * states + k] * matrix[k * states + j];
        }
    }
    memset(probability, 0, sizeof *probability * states);
    probability[first] = 1;
    double sum = 1;
    for (uint32_t k = first + 1; k < states; k++) {
        for (uint32_t i = first; i < k; i++)
            probability[k] += probability[i] * matrix[i * states + k];
        sum += probability[k];
    }
    for (uint32_t k = 0; k < states; k++)
        probability[k] /= sum;
}

double markov_throughput(uint32_t threads, double p, double latency) {
    double matrix[(MARKOV_MAX_THREADS + 1) * (MARKOV_MAX_THREADS + 1)];
    double probability[MARKOV_MAX_THREADS + 1];
    markov_transitions(threads, p, latency, matrix);
    markov_steady_state(matrix, threads + 1, probability);
    return sum_over(double, i, threads, probability[i]);
}
