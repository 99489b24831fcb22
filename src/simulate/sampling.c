/* The schedule is a pure function of the position, so that it needs no state and can be tested by
 * example. Level k covers `windows` periods of 2^k windows; its first position follows by summing
 * the levels before it, at most 63 of them, once per step (a step is many thousands of
 * instructions).
 *
 * The interval is the textbook one of stratified sampling (Cochran 1977 §5.6):
 * Var(total) = Σ_k w_k² n_k s_k² (1 − 1/w_k), times Student's t for the windows behind it. */
#include "simulate/sampling.h"

#include <math.h>

#include "util/student.h"

static uint64_t add(uint64_t position, uint64_t insns) {
    return position <= UINT64_MAX - insns ? position + insns : UINT64_MAX;
}

struct sampling_step sampling_step(const struct sampling *sampling, uint64_t position) {
    struct sampling_step step = {.action = SAMPLING_SKIP, .end = sampling->skip, .weight = 1};
    if (position < step.end)
        return step;
    step.action = SAMPLING_WARM;
    if (position < (step.end = add(step.end, sampling->lead)))
        return step;
    step.action = SAMPLING_SIMULATE;
    if (position < (step.end = add(step.end, sampling->full)))
        return step;
    if (!sampling->windows) {
        step.action = SAMPLING_STOP;
        step.end = UINT64_MAX;
        return step;
    }
    uint64_t start = step.end;
    for (uint32_t level = 1; level < SAMPLING_MAX_LEVELS; level++) {
        uint64_t period, length, end;
        if (__builtin_mul_overflow(sampling->window, 1ull << level, &period) ||
            __builtin_mul_overflow(period, sampling->windows, &length) ||
            __builtin_add_overflow(start, length, &end))
            break;
        if (position >= end) {
            start = end;
            continue;
        }
        step.level = level;
        step.weight = 1ull << level;
        uint64_t before = position - start;
        uint64_t period_start = start + before / period * period;
        uint64_t window_start = period_start + (period - sampling->window);
        uint64_t warm_start = sampling->warm < window_start - period_start
                                  ? window_start - sampling->warm
                                  : period_start;
        if (position < warm_start) {
            step.action = SAMPLING_SKIP;
            step.end = warm_start;
        } else if (position < window_start) {
            step.action = SAMPLING_WARM;
            step.end = window_start;
        } else {
            step.end = period_start + period;
        }
        return step;
    }
    step.action = SAMPLING_SKIP; /* near 2^64 instructions: no run gets there */
    step.end = UINT64_MAX;
    return step;
}

void sampling_observe(struct sampling_spread *spread, uint32_t level, double window_cycles) {
    uint64_t n = ++spread->level[level].windows;
    double deviation = window_cycles - spread->level[level].mean;
    spread->level[level].mean += deviation / (double)n;
    spread->level[level].squares += deviation * (window_cycles - spread->level[level].mean);
}

/* Chan, Golub and LeVeque's update of a mean and a sum of squared deviations by another's. */
void sampling_spread_add(struct sampling_spread *spread, const struct sampling_spread *more) {
    for (int level = 0; level < SAMPLING_MAX_LEVELS; level++) {
        double n = (double)spread->level[level].windows, m = (double)more->level[level].windows;
        double apart = more->level[level].mean - spread->level[level].mean;
        if (m == 0)
            continue;
        spread->level[level].windows += more->level[level].windows;
        spread->level[level].mean += apart * m / (n + m);
        spread->level[level].squares +=
            more->level[level].squares + apart * apart * n * m / (n + m);
    }
}

uint64_t sampling_windows(const struct sampling_spread *spread) {
    uint64_t windows = 0;
    for (int level = 1; level < SAMPLING_MAX_LEVELS; level++)
        windows += spread->level[level].windows;
    return windows;
}

double sampling_interval(const struct sampling_spread *spread) {
    double variance = 0, pooled_squares = 0, degrees = 0;
    for (int level = 1; level < SAMPLING_MAX_LEVELS; level++)
        if (spread->level[level].windows > 1) {
            pooled_squares += spread->level[level].squares;
            degrees += (double)(spread->level[level].windows - 1);
        }
    if (sampling_windows(spread) == 0)
        return 0;
    if (degrees == 0)
        return -1;
    for (int level = 1; level < SAMPLING_MAX_LEVELS; level++) {
        double n = (double)spread->level[level].windows, weight = ldexp(1, level);
        if (n == 0)
            continue;
        /* A lone window says nothing of its level's spread: that of all levels stands in. */
        double spread_squared =
            n > 1 ? spread->level[level].squares / (n - 1) : pooled_squares / degrees;
        variance += weight * weight * n * spread_squared * (1 - 1 / weight);
    }
    return student_t95(degrees) * sqrt(variance);
}
