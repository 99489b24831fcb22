/* How far the stack of a run that was estimated from regions may be off (simulate/estimate.h). */
#pragma once

#include "report/report.h"

/* Which cycles: of some performance signatures, or of a commit state. */
struct stack_figure {
    bool has_state;
    enum commit_state state;
    bool signatures[PSV_COMBINATIONS];
};
struct stack_figure figure_of_component(enum component component);
struct stack_figure figure_of_state(enum commit_state state);

/* Half of its 95 % interval, in cycles. Negative: not known, or nothing was estimated. */
double interval_of_cycles(const struct simulation *simulation, const struct stack_figure *figure);
/* The same of its share of all cycles, as a ratio of two estimates (Cochran 1977 §6.4): 0 to 1. */
double interval_of_share(const struct simulation *simulation, const struct stack_figure *figure);
