/* What the store holds of one procedure: the values of an event at every byte of its code, the
 * events that bound causes of stalls, and, of a simulation, how it truly was. */
#pragma once

#include "analyze/procedure.h"
#include "core/stall_causes.h"
#include "query/image_profiles.h"

/* Whose values, and where. All images are builds of one file. */
struct procedure_extent {
    const char *path;                /* of the image, as the store has it */
    const struct store_image *build; /* whose code it is */
    uint64_t offset, size;           /* bytes, in the image's file; size ≥ 1 */
    const char *process; /* only of processes of this command or executable; NULL: all */
};

/* Cycles of one combination of events at an offset (tap/tap.h). */
struct signature_part {
    uint32_t offset, psv;
    double cycles;
};

struct procedure_profile {
    size_t size;
    double *values;    /* of the event, in its unit; these and all below by byte offset */
    double *cycles;    /* values × period */
    double period;     /* mean cycles between samples; 1: every cycle was counted */
    double sum, total; /* values here, and of all that the process filter admits */
    double sum_cycles;
    double other_builds; /* values of all code of other builds of the file */

    double *events[PROCEDURE_EVENTS]; /* times that they happened; NULL: not sampled */

    /* How it truly was; NULL: it is not known. */
    double *executions, *taken;   /* the latter: branches that did not fall through */
    double *stalls[STALL_CAUSES]; /* cycles of the true cause; NULL: none has it */
    bool has_stalls;
    struct signature_part *parts; /* of the event, by offset, the largest first of each */
    size_t part_count;
};

/* From what was read of the extent's build. `clock_ghz` turns periods of time into cycles. False:
 * out of memory. procedure_profile_free() either way. */
bool procedure_profile_read(struct procedure_profile *profile, const struct image_profiles *of,
                            const struct profile_event *event,
                            const struct procedure_extent *extent, double clock_ghz,
                            struct error *error);
void procedure_profile_free(struct procedure_profile *profile);

/* The parts at an offset; *count of them. */
const struct signature_part *procedure_profile_parts(const struct procedure_profile *profile,
                                                     uint32_t offset, size_t *count);
