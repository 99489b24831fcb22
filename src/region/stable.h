/* Which slices a second profile of the same command confirms: those that begin there, too, at the
 * same execution of the same instruction. Code whose count varies from run to run (it polls, waits
 * for another thread, hashes addresses) makes poor markers, and what follows it moves. */
#ifndef CULPRIT_REGION_STABLE_H
#define CULPRIT_REGION_STABLE_H

#include "region/slices.h"

enum slice_stability {
    SLICE_STABLE, /* the same marker at the same instruction of its thread */
    SLICE_MOVED,  /* the same marker, elsewhere */
    SLICE_LOST    /* no slice of the other profile begins at its marker */
};

struct slice_confirmation {
    enum slice_stability stability;
    int64_t skew; /* MOVED: instructions by which it begins later in the other profile */
};

struct slice_confirmations {
    struct slice_confirmation *slices; /* one for each of the first profile's */
    size_t stable, moved, lost;
};

/* Compares by thread, image (its build id, or path when it has none), offset and count. Fails when
 * the two cannot be profiles of one program: another instruction set or size of slices.
 * slice_confirmations_free() either way. */
bool slices_confirm(const struct slice_table *profile, const struct slice_table *other,
                    struct slice_confirmations *confirmations, struct error *error);
void slice_confirmations_free(struct slice_confirmations *confirmations);

#endif
