/* The most that one event can cost the instruction that waits for it, in cycles. */
#pragma once

#include "machine/machine.h"

struct costs {
    double fill; /* of a line from memory */
    double walk; /* of the page tables */
    double
        mispredict; /* from the issue of a branch that was mispredicted to that of its successor */
    double unit;    /* the longest that a unit which is not pipelined is held */
};
struct costs costs_of(const struct machine *machine);
