/* The profile of a simulation as a page needs it to draw all of it: every function, the frames of
 * who called whom, the instructions of the functions that have nearly all cycles with their source,
 * and top-down levels. Compact: texts are numbers in one list, events likewise (docs/html.md). */
#pragma once

#include "query/call_profile.h"
#include "simulate/simulate.h"
#include "trace/dynamic.h"

struct html_profile {
    const struct simulation *simulation;
    const struct code *code;
    struct program *program;
    const struct call_profile *calls; /* NULL: none */
    uint32_t width;                   /* slots of a cycle, for top-down levels */
};

/* One object. False: out of memory. */
bool html_profile_write(const struct html_profile *profile, FILE *file, struct error *error);
