/* The calling context trees of two runs as one, for a differential flame graph (Gregg 2014): a
 * frame of one is that of the other where the functions of their chains have the same names,
 * whatever images they lie in, for builds differ in those.
 *
 *     call_difference_add() of each side, in any order ──► frames ──► call_difference_free() */
#pragma once

#include "query/call_profile.h"

struct difference_frame {
    uint32_t parent, name; /* indices; the first frame is everything and has no parent */
    double self[2];        /* of each side, without what it called */
    double calls[2];       /* times that it was entered */
};

struct call_difference {             /* all zero: empty */
    struct difference_frame *frames; /* parents before children */
    size_t frame_count, frame_capacity;
    struct intern names;
    uint32_t *images; /* of each name, where it was first met: in `image_names` */
    size_t image_capacity;
    struct intern image_names;
    struct hash_index index;
    bool has[2];      /* the side was added */
    double scales[2]; /* what `self` is multiplied by to be in `unit`; 0: 1 */
    char unit[64];    /* "": cycles */
};

/* What is added is copied. False: out of memory. */
bool call_difference_add(struct call_difference *difference, unsigned side,
                         const struct call_profile *profile, struct error *error);
void call_difference_free(struct call_difference *difference);
