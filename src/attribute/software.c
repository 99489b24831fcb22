/* Software profiling (perf without hardware; paper A §2.1): the interrupt lets what is in flight
 * drain, and the sample names where execution resumes: the next instruction of the correct path
 * that had not been fetched. The skid is everything in flight. */
#include "attribute/profiler.h"

const struct profiler software_profiler = {
    .name = "Software",
    .description = "where execution resumes after an interrupt: the next not yet fetched",
    .section = "paper A §2.1",
    .tags = TAP_FETCH,
};
