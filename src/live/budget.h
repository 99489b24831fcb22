/* How often to sample so that it costs at most a share of the time that processors work: arithmetic
 * alone, on what was measured of an interval (budget_meter.h). */
#pragma once

#include <stdbool.h>

struct budget {
    double share;     /* of the busy time, that sampling may cost: 0.01; 0: whatever it costs */
    double rate_most; /* samples per second and processor, of step 0 */
    unsigned step;    /* each samples half as often as the one two before */
    double own_share; /* of one processor, that the daemon itself takes: the mean of the last minute
                         or so */
    double cost;      /* share of the busy time in the last interval that told; < 0: none yet */
};

/* Processor seconds of all processors, but `seconds`. */
struct budget_interval {
    double seconds;    /* that it lasted */
    double capacity;   /* that there were */
    double busy;       /* that were not idle */
    double interrupts; /* taken by the interrupts of sampling, and */
    double program;    /* by the program in them */
    double own;        /* by the daemon */
};

struct budget budget_begin(double share, double rate);

/* Chooses the step for the next interval: of a cost above the budget the one that would meet it, at
 * most a quarter of the rate; of one so low that the next faster would cost under nine tenths of
 * the budget, that. An interval in which the machine was idle but for a twentieth tells nothing.
 * Whether the step has changed. */
bool budget_adjust(struct budget *budget, const struct budget_interval *interval);

/* Samples per second and processor: from rate_most down to 10, or rate_most when that is less. */
double budget_rate(const struct budget *budget);
