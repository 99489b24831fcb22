/* Markers of work that survive a change of a program: instructions of two builds, or of two runs of
 * one, that are the same place of the program and are executed equally often in both. The k-th
 * execution of one and the k-th of the other then begin the same work (after PinPoints §3.1, where
 * a marker is found again in another run of the same code).
 *
 * What can be a marker begins a function or a loop: where a function begins, what a direct call
 * leads to, what a direct jump leads back to. It is the same place in both
 *
 *     - by its offset, where its file is the same (build id);
 *     - else by the name of its function, without what compilers append to it, and whether it
 *       begins the function or a loop;
 *     - or by the instructions of its block, as in stripped code.
 *
 * Several of one name that are executed equally often are told apart by their order, if there are
 * as many in both; of one shape they are not. */
#pragma once

#include "region/chunk_profile.h"

struct program;

/* A run whose profile is complete. */
struct marked_run {
    const struct trace *trace;
    const struct chunk_profile *profile;
};

/* An instruction that could be a marker. */
struct marker_candidate {
    uint64_t place;  /* a hash of what it is the beginning of: the same in both runs */
    bool alone;      /* others of that place may be another's: it must be the only one */
    uint64_t times;  /* executed */
    uint64_t offset; /* orders those of a place */
    uint32_t insn;   /* static instruction */
};

struct work_marker {
    uint32_t insns[2]; /* static instruction of each run */
    uint64_t times;    /* executed, in each */
};

struct work_markers {
    struct work_marker *items;
    size_t count, capacity;
};

/* Both arrays are sorted. False: out of memory; to be freed either way. */
bool work_markers_match(struct marker_candidate *before, size_t before_count,
                        struct marker_candidate *after, size_t after_count,
                        struct work_markers *markers);
/* Of two profiled runs, with the names of their files in `program`. Likewise. */
bool work_markers_find(const struct marked_run runs[2], struct program *program,
                       struct work_markers *markers);
void work_markers_free(struct work_markers *markers);
