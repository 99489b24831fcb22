/* The cost of a sample does not depend on how many there are: at half the rate sampling costs half.
 * Steps of the square root of two keep the rates in a store few. */
#include "live/budget.h"

#include <math.h>

static const double RATE_LEAST = 10, OWN_MEMORY_SECONDS = 60, IDLE = 0.05, ENOUGH = 0.9;
enum { STEPS_DOWN_MOST = 4 };

struct budget budget_begin(double share, double rate) {
    return (struct budget){.share = share, .rate_most = rate, .cost = -1};
}

static double rate_of(const struct budget *budget, unsigned step) {
    return budget->rate_most * pow(M_SQRT1_2, step);
}

double budget_rate(const struct budget *budget) {
    return rate_of(budget, budget->step);
}

static void step_down(struct budget *budget) {
    const double steps = ceil(log(budget->cost / budget->share) / log(M_SQRT2));
    for (int i = 0; i < STEPS_DOWN_MOST && i < steps; i++)
        if (rate_of(budget, budget->step + 1) >= RATE_LEAST)
            budget->step++;
}

bool budget_adjust(struct budget *budget, const struct budget_interval *interval) {
    const unsigned before = budget->step;
    if (interval->seconds <= 0)
        return false;
    const double part = fmin(1, interval->seconds / OWN_MEMORY_SECONDS);
    budget->own_share += part * (interval->own / interval->seconds - budget->own_share);
    if (interval->busy <= 0 || interval->busy < IDLE * interval->capacity)
        return false;
    budget->cost =
        (interval->interrupts + interval->program + budget->own_share * interval->seconds) /
        interval->busy;
    if (budget->share <= 0)
        return false;
    if (budget->cost > budget->share)
        step_down(budget);
    else if (budget->step && budget->cost * M_SQRT2 < ENOUGH * budget->share)
        budget->step--;
    return budget->step != before;
}
