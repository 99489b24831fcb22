/* The data side of a profile: loads and stores through the L1D, whose LRU stacks are its profile
 * too, then through a plain cache between it and the shared ones, if there is one, to these. */
#pragma once

#include "memory/cache.h"
#include "memory/tlb.h"
#include "model/circular.h"
#include "model/crowded_l1.h"
#include "model/locality.h"
#include "model/shared_caches.h"

struct locality_data {
    uint32_t page_shift;
    bool frames;
    uint64_t time; /* loads and stores so far */
    uint64_t turns, l1d_misses, dtlb_misses;
    struct tlb dtlb;
    struct circular dtlb_circular; /* in place of it; no stacks: not counted */
    uint64_t page, frame;          /* translated last; what to add to an address of it */
    struct circular l1d;
    struct cache inner; /* absent: no tags */
    struct shared_caches shared;
    struct crowded_l1 *crowded; /* by rising rate */
    uint32_t crowded_count;
    const struct machine *machine;
    struct pace pace;
    double elsewhere; /* cycles so far that instructions took but for what is counted here */
};

/* The machine must live as long. locality_data_free() either way. */
bool locality_data_new(struct locality_data *data, const struct locality_options *options,
                       struct error *error);
void locality_data_free(struct locality_data *data);

/* Until the instructions of these accesses were done, instructions took `elsewhere` cycles from the
 * start of the run but for turns of accesses and misses of data. False: out of memory. */
bool locality_data_add(struct locality_data *data, const struct memory_access *accesses,
                       uint32_t count, double elsewhere);

/* The run is over, of at least one access: fills in levels
 * [1 + shared.shape_count]. False: out of memory. */
bool locality_data_levels(struct locality_data *data, struct locality_level *levels);
