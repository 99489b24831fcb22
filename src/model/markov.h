/* Throughput of a fine-grained multithreaded core: the Markov chain of Chen 2009 §4.4. State i: i
 * of N threads are suspended. */
#pragma once

#include <stdint.h>

enum { MARKOV_MAX_THREADS = 64 };

/* P(i -> j) at matrix[i * (threads + 1) + j] (Chen 2009 Table 4.2): p, the probability that the
 * instruction issued suspends its thread, in [0, 1]; latency M >= 1, cycles a thread stays
 * suspended. Rows sum to 1. */
void markov_transitions(uint32_t threads, double p, double latency, double *matrix);

/* The steady state of `states` states, by elimination without subtraction (Grassmann, Taksar and
 * Heyman 1985), exact to rounding. `matrix` is destroyed. States that cannot be reached from the
 * rest have probability 0. */
void markov_steady_state(double *matrix, uint32_t states, double *probability);

/* 1 - P(all threads are suspended). */
double markov_throughput(uint32_t threads, double p, double latency);
