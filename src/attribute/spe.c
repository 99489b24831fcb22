/* Arm's statistical profiling extension (paper B §5 and Table B.1): tags at dispatch; knows nothing
 * of the front end. */
#include "attribute/profiler.h"

const struct profiler spe_profiler = {
    .name = "SPE",
    .description = "tags at dispatch (Arm): five events",
    .section = "paper B §5",
    .events = PSV_FL_MB | PSV_FL_EX | PSV_ST_L1 | PSV_ST_TLB | PSV_ST_LLC,
    .tags = TAP_DISPATCH,
};
