/* Dispatch (AMD IBS, Arm SPE; paper A §2.1): the oldest instruction that dispatches in the sampled
 * cycle or next after it; it is returned when it commits. While a load stalls commit and the ROB is
 * full, that is always the one waiting behind it. */
#include "attribute/profiler.h"

const struct profiler dispatch_profiler = {
    .name = "Dispatch",
    .description = "the next instruction to dispatch, tagged and returned when it commits",
    .section = "paper A §2.1",
    .tags = TAP_DISPATCH,
};
