/* How far the current thread has come, and what it executed last. */
#include "trace/qemu/plugin_thread.h"

#include <string.h>

enum { OF_AN_IMAGE = 6 /* blocks: a call, and what binds a symbol when it is first used */ };

uint64_t thread_position(void) {
    if (plugin.counting)
        return count_position();
    return self.insns_before +
           (self.held ? atomic_load_explicit(&thread_chunk->insns, memory_order_relaxed) : 0);
}

uint64_t thread_position_before(void) {
    return self.insns_before;
}

void thread_go_on_at(uint64_t position) {
    self.insns_before = position;
    self.between = true;
}

bool thread_place(uint32_t *number, uint64_t *position) {
    if (plugin.counting)
        return false;
    pthread_mutex_lock(&thread_ownership);
    *number = self.number;
    *position = thread_position();
    bool captured = thread_is_capturing() && self.state == CAPTURED && (self.held || self.between);
    pthread_mutex_unlock(&thread_ownership);
    return captured;
}

bool thread_at(uint32_t index, uint32_t *number, uint64_t *position) {
    if (self.state != CAPTURED || !self.held)
        return false;
    const uint32_t block = thread_last_block();
    const uint32_t insns = block == FAULT_UNNUMBERED ? 0 : code_block_insns(block);
    *number = self.number;
    *position = thread_position();
    if (index < insns && !self.cut)
        *position -= insns - index - 1;
    return true;
}

uint64_t thread_ticket(void) {
    return self.held ? thread_chunk->ticket + 1 : 0;
}

uint32_t thread_last_block(void) {
    const uint64_t *first = thread_chunk->events, *event = chunk_cursor(thread_chunk);
    while (event > first)
        if (event_kind(*--event) == EVENT_BLOCK)
            return event_block_number(*event);
    return FAULT_UNNUMBERED;
}

uint32_t thread_last_events(uint64_t *events, uint32_t most) {
    uint32_t count = 0;
    if (!self.held)
        return 0;
    for (const uint64_t *event = chunk_cursor(thread_chunk);
         event > thread_chunk->events && count < most; count++)
        events[count] = *--event;
    return count;
}

/* Of the thread's chunk from event `from` on. */
static uint32_t copy_ends(uint64_t *events, uint32_t most, uint32_t from, uint32_t count) {
    if (count <= most)
        return thread_last_events(events, count);
    const uint32_t early = most / 2, late = thread_last_events(events, most - early);
    memcpy(events + late, thread_chunk->events + from, early * sizeof *events);
    return late + early;
}

uint32_t thread_events_since(struct thread_moment *moment, uint64_t *events, uint32_t most) {
    pthread_mutex_lock(&thread_ownership);
    const uint64_t chunk = thread_ticket();
    const uint32_t now = chunk ? (uint32_t)(chunk_cursor(thread_chunk) - thread_chunk->events) : 0;
    const bool same = chunk && chunk == moment->chunk && moment->event <= now;
    const uint32_t from = same ? moment->event : 0;
    const uint32_t count = copy_ends(events, most, from, now - from);
    *moment = (struct thread_moment){chunk, now};
    pthread_mutex_unlock(&thread_ownership);
    return count;
}

static uint32_t last_of_images(uint32_t *blocks, uint32_t most) {
    uint32_t count = 0;
    for (const uint64_t *event = chunk_cursor(thread_chunk); event > thread_chunk->events;) {
        if (event_kind(*--event) != EVENT_BLOCK || count == most)
            continue;
        const uint32_t number = event_block_number(*event), image = code_block_image(number);
        uint32_t there = 0;
        for (uint32_t i = 0; i < count; i++)
            there += code_block_image(blocks[i]) == image;
        if (there < OF_AN_IMAGE)
            blocks[count++] = number;
    }
    return count;
}

/* From a system call: meanwhile another thread may end the phase and take the chunk away. */
uint32_t thread_last_of_images(uint32_t *blocks, uint32_t most) {
    pthread_mutex_lock(&thread_ownership);
    const uint32_t count = self.held ? last_of_images(blocks, most) : 0;
    pthread_mutex_unlock(&thread_ownership);
    return count;
}
