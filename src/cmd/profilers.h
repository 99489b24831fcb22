/* What `profilers` asks of a run beyond what `sim` does. */
#ifndef CULPRIT_CMD_PROFILERS_H
#define CULPRIT_CMD_PROFILERS_H

#include <stdbool.h>
#include <stdint.h>

#include "attribute/profiler.h"

enum { PROFILERS_MAX = 40 }; /* configurations; those for --systematic come on top */

struct profilers_request {
    struct profile_options profiles[2 * PROFILERS_MAX]; /* those asked for; one of every cycle of
                                                            each profiler for --systematic */
    const char *labels[PROFILERS_MAX];                  /* of those asked for */
    uint32_t count, profile_count;
    uint32_t threads; /* that the profilers run on */
    bool systematic;
    double floor; /* wanted, share; 0: none. Then profiles with neither period nor samples get
                     the period that it takes */
};

#endif
