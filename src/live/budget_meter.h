/* What sampling has cost since it was asked last, and what processors did meanwhile. */
#pragma once

#include "live/budget.h"
#include "live/source.h"

struct budget_reading {
    double time;             /* clock_monotonic() */
    double idle, all;        /* processor seconds of all processors */
    double own;              /* of this process */
    double samples, program; /* interrupts; seconds in their program */
};

struct budget_meter {
    double interrupt_seconds; /* of one */
    int counts_time; /* while it is open the kernel times BPF programs; < 0: not permitted */
    struct budget_reading before;
};

/* Measures the interrupt (interrupt_cost.h) and has the kernel time BPF programs, if it may; else
 * the program is taken to cost what docs/results/live-cost.md has: 0.1 us a hit, 0.9 us a miss. */
void budget_meter_begin(struct budget_meter *meter, const struct live_event *event);
void budget_meter_end(struct budget_meter *meter);

/* Since the last call, or since the beginning. */
struct budget_interval budget_meter_read(struct budget_meter *meter,
                                         const struct live_source *source);
