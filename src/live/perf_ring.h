/* Ring buffers that the kernel writes perf records to, one for each processor, merged by time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct perf_ring {
    int counter; /* the event that it belongs to: the caller's descriptor */
    void *mapped;
    size_t data_bytes; /* of the ring: a power of 2 */
    uint8_t *pending;  /* records that were read and not merged yet */
    size_t pending_begin, pending_end, pending_capacity;
};

/* Maps a ring of `pages` data pages (a power of 2) to the event. False with errno. */
bool perf_ring_map(struct perf_ring *ring, int counter, size_t pages);
void perf_ring_close(struct perf_ring *ring);

/* Moves what the kernel wrote to `pending`. */
bool perf_ring_read(struct perf_ring *ring, struct error *error);

/* Hands out the pending records of all rings in the order of their time, those before `until` (ns;
 * UINT64_MAX: all), each with the number of its ring. Within a ring they keep their order. The
 * visitor's false ends it. */
typedef bool perf_ring_visitor(void *context, size_t ring, const uint8_t *record, size_t size,
                               struct error *error);
bool perf_rings_merge(struct perf_ring *rings, size_t count, uint64_t until,
                      perf_ring_visitor *visit, void *context, struct error *error);
