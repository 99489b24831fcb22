/* From what perf script prints of an address to an image and an offset in it. Addresses change from
 * run to run, so they are worth little alone. In order of preference a place is
 *
 *  1. an offset in a file whose build id is known: from the mapping that --show-mmap-events showed,
 *     or from the file here, if its symbols agree with what was printed;
 *  2. a symbol and the distance from its beginning: see gathered_place_of_name();
 *  3. the address as it was printed. */
#pragma once

#include "exchange/gathered.h"
#include "exchange/perf_line.h"

struct perf_places;

struct perf_places *perf_places_new(struct gathered *gathered, struct error *error);
void perf_places_free(struct perf_places *places);

/* False: out of memory. */
bool perf_places_map(struct perf_places *places, const struct perf_mapping *mapping);
/* A thread or process has the mappings of its parent, beside its own. */
bool perf_places_fork(struct perf_places *places, int64_t child, int64_t parent);

struct perf_place {
    uint32_t image; /* of `gathered` */
    uint64_t offset;
    bool unknown;  /* in no known image */
    bool unplaced; /* by its address, which says nothing in another run: preference 3 */
};
/* `stacked`: the frame stands below its head, where perf prints offsets for addresses of files.
 * False: out of memory. */
bool perf_places_find(struct perf_places *places, const struct perf_head *head,
                      const struct perf_frame *frame, bool stacked, struct perf_place *place);
