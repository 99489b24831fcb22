/* Which cycles are sampled: one in every period, its last cycle (periodic, as perf's timer does) or
 * a random one (paper A §5.2). Cycles count from 1, so sample k ≥ 1 lies in the cycles from (k − 1)
 * × period + 1 to k × period. A sample weighs the cycles since the one before it.
 *
 * The cycle of sample k depends on the options alone, so all profilers with the same options sample
 * the same cycles, in whatever order and on whatever thread they look.
 *
 * When a number of samples is asked for, not a period, the period starts at one cycle and doubles
 * whenever twice that number has been taken. Of two neighbours one is kept (periodic: the second;
 * random: either), so the samples of a level are among those of the level below. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum sampler_mode { SAMPLER_PERIODIC, SAMPLER_RANDOM };

struct sampler_options {
    enum sampler_mode mode;
    uint64_t period;  /* cycles; 1: every cycle, exactly; 0: as `samples` asks */
    uint64_t samples; /* with period 0: at least so many over the run, if it has as many cycles, and
                         fewer than twice as many */
    uint64_t seed;
};

struct sampler {
    struct sampler_options options;
    unsigned level; /* times the period has doubled */
};

struct sampler sampler_start(const struct sampler_options *options);

/* Cycles; at the present level. */
uint64_t sampler_period(const struct sampler *sampler);
/* The cycle of sample `number`; of number 0: 0. */
uint64_t sampler_cycle(const struct sampler *sampler, uint64_t number);
/* What a sample in `cycle` (one of sampler_cycle) weighs: cycles since the one before. */
uint64_t sampler_weight(const struct sampler *sampler, uint64_t cycle);
/* Whether a sample of this level is one of the next level as well. */
bool sampler_keeps(const struct sampler *sampler, uint64_t cycle);

/* Samples in ascending order. */
struct sample_cursor {
    uint64_t number, next; /* the next sample and its cycle */
    uint64_t previous;     /* cycle of the sample before */
};

/* Moves to the first sample after `cycle`. */
void sampler_seek(const struct sampler *sampler, struct sample_cursor *cursor, uint64_t cycle);

/* Moves past one sample. */
static inline void sampler_step(const struct sampler *sampler, struct sample_cursor *cursor) {
    cursor->previous = cursor->next;
    cursor->next = sampler_cycle(sampler, ++cursor->number);
}

/* Moves past all samples up to and including cycle `end`. Returns what they weigh together, and
 * adds to *count how many they are. */
uint64_t sampler_take(const struct sampler *sampler, struct sample_cursor *cursor, uint64_t end,
                      uint64_t *count);
