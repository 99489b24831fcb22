/* Threads of different programs that share the issue slots of a core: a closed queueing network of
 * one server, which threads use in turn, and a delay, where they wait without being in each other's
 * way. Exact mean value analysis (Reiser and Lavenberg 1980): by the arrival theorem a thread that
 * becomes ready finds as many others ready as there are on average without it.
 *
 * The Markov chain (markov.h) knows how many threads are suspended, not which; its one p and M are
 * off when programs differ much (one that seldom waits is nearly always the one that issues). This
 * knows which, and how the slots are divided. */
#pragma once

#include <stdint.h>

#include "util/error.h"

struct mean_value_class {
    uint32_t threads; /* alike, ≥ 1 */
    double service;   /* issue slots per instruction, > 0 */
    double delay;     /* cycles of waiting per instruction, >= 0 */
};

/* throughput[class]: instructions per cycle of one of its threads. Errors: out of memory (of
 * product of (threads + 1) states). */
bool mean_value_analysis(const struct mean_value_class *classes, uint32_t count, double *throughput,
                         struct error *error);
