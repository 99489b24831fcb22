/* AMD's instruction-based sampling (paper B §5 and Table B.1): tags at dispatch; all of TEA's
 * events but DR-SQ, FL-EX and FL-MO. */
#include "attribute/profiler.h"

const struct profiler ibs_profiler = {
    .name = "IBS",
    .description = "tags at dispatch (AMD): six events",
    .section = "paper B §5",
    .events = PSV_DR_L1 | PSV_DR_TLB | PSV_FL_MB | PSV_ST_L1 | PSV_ST_TLB | PSV_ST_LLC,
    .tags = TAP_DISPATCH,
};
