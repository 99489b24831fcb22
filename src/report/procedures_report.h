/* What `culprit annotate` tells: one procedure, or several with the sum of their causes, as text or
 * as one JSON object; of an event that is not time, where its samples lie. */
#pragma once

#include "report/annotated.h"

struct procedures_report {
    struct annotate_settings *settings;
    struct annotation_style style;
    bool all;              /* several: those that cannot be analysed are left out, with a note */
    double least;          /* of several: the share of the event that each has, 0 to 1 */
    const char *picture;   /* where the flow graph of one goes; NULL: nowhere */
    FILE *json;            /* where an object goes, in place of text; NULL: text */
    struct report *report; /* verb, notes and what to do next, of all together */
    const struct page *page;
};

/* The end of the command to look at next, in the same way: the source, the picture, the simulation,
 * or the hottest of several. What chose the samples stands before it. `simulated`: the epoch of a
 * simulation beside them; NULL: none. */
void procedures_next(const struct procedures_report *request,
                     const struct procedure_choices *choices, const char *simulated, FILE *file);

bool procedures_report(const struct procedures_report *request,
                       const struct procedure_choices *choices, struct error *error);
