/* The kernel moves data_head behind each record that it has written; we move data_tail behind what
 * we have copied. A record never begins in the last bytes that have no room for a header, but it
 * may wrap, so everything is copied to flat memory first, at once, so that the ring has room. */
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

/* Copies out of the ring, around its end. */
static void copy_out(const struct perf_ring *ring, uint64_t from, size_t size, void *to) {
    const uint8_t *data = (const uint8_t *)ring->mapped + sysconf(_SC_PAGESIZE);
    const size_t at = from & (ring->data_bytes - 1);
    const size_t first = size < ring->data_bytes - at ? size : ring->data_bytes - at;
    memcpy(to, data + at, first);
    memcpy((uint8_t *)to + first, data, size - first);
}

/* Of a stack there is room for much more than most have: what was not written is left out, and the
 * record says so. Returns its size; 0: it has none, or is not consistent. */
static size_t copy_stack(const struct perf_ring *ring, uint64_t from, size_t size, uint8_t *to) {
    size_t at, room;
    uint64_t written;
    copy_out(ring, from, size < PERF_RECORD_HEAD_BYTES ? size : PERF_RECORD_HEAD_BYTES, to);
    if (!perf_record_find_stack(to, size, &at, &room))
        return 0;
    copy_out(ring, from + at + 8 + room, sizeof written, &written);
    const uint64_t kept = (written + 7) / 8 * 8;
    if (written > room || kept > room)
        return 0;
    struct perf_event_header header;
    memcpy(&header, to, sizeof header);
    header.size = (uint16_t)(at + 8 + kept + 8);
    memcpy(to, &header, sizeof header);
    memcpy(to + at, &kept, sizeof kept);
    copy_out(ring, from + at + 8, kept, to + at + 8);
    memcpy(to + at + 8 + kept, &written, sizeof written);
    return header.size;
}

/* Moves what is pending to the beginning, and makes room behind it. */
static bool make_room(struct perf_ring *ring, size_t size) {
    size_t kept = ring->pending_end - ring->pending_begin;
    if (ring->pending_begin)
        memmove(ring->pending, ring->pending + ring->pending_begin, kept);
    ring->pending_begin = 0;
    ring->pending_end = kept;
    return array_reserve((void **)&ring->pending, &ring->pending_capacity, kept + size, 1);
}

bool perf_ring_read(struct perf_ring *ring, struct error *error) {
    struct perf_event_mmap_page *page = ring->mapped;
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail;
    if (head == tail)
        return true;
    if (head - tail > ring->data_bytes)
        return error_set(error, "a ring buffer of samples is not consistent");
    if (!make_room(ring, (size_t)(head - tail)))
        return error_set(error, "out of memory for samples");
    while (head - tail >= sizeof(struct perf_event_header)) {
        struct perf_event_header header;
        uint8_t *to = ring->pending + ring->pending_end;
        copy_out(ring, tail, sizeof header, &header);
        /* A damaged rest is given up by who reads it. */
        if (header.size < sizeof header || header.size > head - tail)
            header.size = (uint16_t)sizeof header;
        size_t size =
            header.size > PERF_RECORD_HEAD_BYTES ? copy_stack(ring, tail, header.size, to) : 0;
        if (!size) {
            size = header.size;
            copy_out(ring, tail, size, to);
        }
        ring->pending_end += size;
        tail += header.size;
    }
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
            if (!visit(context, (size_t)(ring - rings), ring->pending + ring->pending_begin, size,
                       error))
                return false;
    }
}
