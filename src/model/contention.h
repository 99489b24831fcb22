/* Extra misses of threads that share a cache (Chen 2009 §3.3), and the models it is compared with:
 * b and S by the binomial distribution (§6.2.2), b by Chandra's induction (§6.2.3), and Chandra's
 * own model for many threads (§3.1, footnote 2). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/locality.h"

enum contention_model {
    CONTENTION_MEASURED,  /* S(x) and b(i,x) as profiled */
    CONTENTION_BINOMIAL,  /* from U(x) */
    CONTENTION_INDUCTIVE, /* b(i,x) = P(seq(i, n)), n = accesses to the level in x / S(x) */
    CONTENTION_PRIOR      /* Chandra's Prob for N threads */
};
enum { CONTENTION_GROUPS = 20, CONTENTION_MAX_GROUPS = 32, CONTENTION_MAX_THREADS = 1024 };

struct contention_thread {
    const struct locality_level *level; /* all of one shape */
    double frequency;                   /* memory accesses (all loads and stores) per cycle, > 0 */
    double scale;    /* sequences happen so many times as often as profiled: instructions run over
                        those profiled */
    uint32_t copies; /* threads exactly like this one that run, itself included; ≥ 1: many alike
                        cost no more than one */
};

struct contention_options {
    enum contention_model model;
    uint32_t groups;     /* 1 .. CONTENTION_MAX_GROUPS; 12, as in the thesis: r < 2^5, octaves 5 to
                            14, r >= 2^15; 20: octaves 5 to 22, which larger caches need */
    bool sets_are_known; /* threads index the cache by the same bits: those whose sets never meet
                            do not contend (locality_level.set_touched) */
};

/* extra[i]: misses of thread i (of one of its copies) beyond those alone, times its scale. Errors:
 * shapes differ, a frequency that is not positive, more threads, copies included, than
 * CONTENTION_MAX_THREADS. */
bool contention_extra(const struct contention_thread *threads, uint32_t count,
                      const struct contention_options *options, double *extra, struct error *error);

/* P(seq(d, n)) for d = 1 .. ways in out[d − 1], the last being "ways or more"; P(cseq(i, .)) from
 * the level's counts; n >= 1, a fraction is interpolated between its neighbours. */
void contention_inductive(const struct locality_level *level, double n, double *out);
