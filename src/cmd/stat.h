/* Inside of this room: culprit stat, of a command as it runs here (stat.c), or simulated
 * (stat_simulated.c). */
#pragma once

#include "cmd/explain.h"
#include "study/usage.h"

struct stat_job {
    struct explain explain; /* of a simulation; its run.verb is the verb's in any case */
    char **command;
    bool simulated;
    uint32_t runs;
    const char *events;
    char *name;
    struct usages usages;
};

/* The options are known. */
void stat_simulated_begin(struct stat_job *job);
extern const struct verb stat_simulated;
