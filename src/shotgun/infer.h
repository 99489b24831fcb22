/* What a detailed sample would say of a µop, had there been one (interaction-cost paper, §5.4):
 * inferred from the signature and the binary. */
#ifndef CULPRIT_SHOTGUN_INFER_H
#define CULPRIT_SHOTGUN_INFER_H

#include <stdbool.h>

#include "machine/machine.h"
#include "shotgun/database.h"

/* Cycles of an instruction miss, and of a data miss that the L2 served (near) or did not (far). */
struct shotgun_guess {
    uint16_t fetch_miss, near_miss, far_miss;
    uint8_t far_level; /* enum memory_level that serves what the L2 does not */
};
/* On the average of the samples; what the machine says where there are none. */
struct shotgun_guess shotgun_guess_of(const struct shotgun_database *database,
                                      const struct machine *machine);

/* Bit 2 on a branch means a misprediction, on a load a data miss, else an instruction miss. `uop`:
 * its static part. */
struct shotgun_uop shotgun_infer(const struct shotgun_guess *guess, const struct graph_uop *uop,
                                 unsigned signature, bool branch);

#endif
