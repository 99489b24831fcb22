/* IBM's random instruction sampling (paper B §5 and Table B.1): tags while instruction groups are
 * formed in fetch, here the oldest of the group; all of TEA's events but FL-EX and FL-MO. */
#include "attribute/profiler.h"

const struct profiler ris_profiler = {
    .name = "RIS",
    .description = "tags at fetch (IBM): seven events",
    .section = "paper B §5",
    .events = PSV_DR_L1 | PSV_DR_TLB | PSV_DR_SQ | PSV_FL_MB | PSV_ST_L1 | PSV_ST_TLB | PSV_ST_LLC,
    .tags = TAP_FETCH,
};
