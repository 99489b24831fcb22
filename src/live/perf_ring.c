/* The kernel moves data_head behind each record that it has written; we move data_tail behind what
 * we have copied. A record never begins in the last bytes that have no room for a header, but it
 * may wrap, so everything is copied to flat memory first. */
#include "live/perf_ring.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "live/perf_record.h"
#include "util/array.h"

bool perf_ring_map(struct perf_ring *ring, int counter, size_t pages) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *mapped = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, counter, 0);
    if (mapped == MAP_FAILED)
        return false;
    *ring = (struct perf_ring){.counter = counter, .mapped = mapped, .data_bytes = pages * page};
    return true;
}

void perf_ring_close(struct perf_ring *ring) {
    if (ring->mapped)
        munmap(ring->mapped, ring->data_bytes + (size_t)sysconf(_SC_PAGESIZE));
    free(ring->pending);
    *ring = (struct perf_ring){0};
}

bool perf_ring_read(struct perf_ring *ring, struct error *error) {
    struct perf_event_mmap_page *page = ring->mapped;
    const uint8_t *data = (const uint8_t *)ring->mapped + sysconf(_SC_PAGESIZE);
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail;
    size_t size = (size_t)(head - tail);
    if (!size)
        return true;
    if (size > ring->data_bytes)
        return error_set(error, "a ring buffer of samples is not consistent");
    size_t kept = ring->pending_end - ring->pending_begin;
    if (ring->pending_begin)
        memmove(ring->pending, ring->pending + ring->pending_begin, kept);
    ring->pending_begin = 0;
    ring->pending_end = kept;
    if (!array_reserve((void **)&ring->pending, &ring->pending_capacity, kept + size, 1))
        return error_set(error, "out of memory for samples");
    size_t at = tail & (ring->data_bytes - 1), first = ring->data_bytes - at;
    if (first > size)
        first = size;
    memcpy(ring->pending + kept, data + at, first);
    memcpy(ring->pending + kept + first, data, size - first);
    ring->pending_end += size;
    __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
    return true;
}

/* The next pending record's size and time; 0: there is none. A damaged rest is given up. */
static size_t next_record(struct perf_ring *ring, uint64_t *time) {
    size_t rest = ring->pending_end - ring->pending_begin;
    struct perf_event_header header;
    if (rest < sizeof header)
        return 0;
    memcpy(&header, ring->pending + ring->pending_begin, sizeof header);
    if (header.size < sizeof header || header.size > rest) {
        ring->pending_begin = ring->pending_end;
        return 0;
    }
    *time = perf_record_time(ring->pending + ring->pending_begin, header.size);
    return header.size;
}

/* The ring whose next record is the earliest, and the time up to which it stays so. */
static struct perf_ring *earliest(struct perf_ring *rings, size_t count, uint64_t *until) {
    struct perf_ring *first = NULL;
    uint64_t first_time = UINT64_MAX, second_time = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        uint64_t time;
        if (!next_record(&rings[i], &time))
            continue;
        if (!first || time < first_time) {
            second_time = first_time;
            first_time = time;
            first = &rings[i];
        } else if (time < second_time)
            second_time = time;
    }
    if (second_time < *until)
        *until = second_time;
    return first && first_time <= *until ? first : NULL;
}

bool perf_rings_merge(struct perf_ring *rings, size_t count, uint64_t until,
                      perf_ring_visitor *visit, void *context, struct error *error) {
    for (;;) {
        uint64_t limit = until, time;
        struct perf_ring *ring = earliest(rings, count, &limit);
        if (!ring)
            return true;
        for (size_t size; (size = next_record(ring, &time)) && time <= limit;
             ring->pending_begin += size)
            if (!visit(context, ring->pending + ring->pending_begin, size, error))
                return false;
    }
}
