/* Chunks of events, from FULL back to FREE.
 *
 * Chunks of one thread were queued in their order; taking the lowest queue number first keeps it.
 * Events are handed out where they lie, in the shared memory. Only the events of fork children are
 * looked at here: their block numbers are the parent's, and change to dense numbers of their own
 * as blocks are first entered. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "trace/event.h"
#include "trace/qemu/capture.h"
#include "trace/qemu/futex.h"
#include "util/array.h"

enum { RESIDENT_CHUNKS = 32, MAX_THREADS = 1 << 20 };

static struct traced_thread *find_thread(struct capture *capture, uint32_t number) {
    if (number >= MAX_THREADS ||
        !array_reserve((void **)&capture->threads, &capture->thread_capacity, (size_t)number + 1,
                       sizeof *capture->threads))
        return NULL;
    while (capture->thread_count <= number)
        capture->threads[capture->thread_count++] = (struct traced_thread){0};
    return &capture->threads[number];
}

/* ---- fork children ---- */

/* The process's own number of a block, defined as an item on first use. */
static bool renumber(struct capture *capture, struct traced *process, uint32_t plugin_number,
                     uint32_t *number) {
    struct block_table *table = process->blocks;
    if (plugin_number >= table->renumbered_count) {
        size_t count = blocks_count(table);
        if (plugin_number >= count)
            return false;
        uint32_t *grown = realloc(table->renumbered, 2 * count * sizeof *grown);
        if (!grown)
            return false;
        memset(grown + table->renumbered_count, 0,
               (2 * count - table->renumbered_count) * sizeof *grown);
        table->renumbered = grown;
        table->renumbered_count = 2 * count;
    }
    uint32_t *known = &table->renumbered[plugin_number];
    if (!*known) {
        const struct block_table *owner;
        const struct block_definition *block = blocks_find(table, plugin_number, &owner);
        if (!block)
            return false;
        bool announced;
        const struct image_mapping *mapping =
            blocks_mapping(table, block->image, block->address, &announced);
        if (mapping && !announced) {
            struct queued *image = capture_queue(capture, ITEM_IMAGE);
            image->process = process->number;
            image->mapping = *mapping;
            blocks_announce(table, &image->mapping);
        }
        *known = ++table->entered;
        struct queued *code = capture_queue(capture, ITEM_CODE);
        code->process = process->number;
        code->number = *known - 1;
        code->blocks = (struct block_table *)owner;
        code->blocks->references++;
        code->definition = (size_t)(block - owner->items);
    }
    *number = *known - 1;
    return true;
}

static void renumber_events(struct capture *capture, struct traced *process, uint64_t *events,
                            size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t number;
        if (event_kind(events[i]) != EVENT_BLOCK)
            continue;
        if (renumber(capture, process, event_block_number(events[i]), &number))
            events[i] = event_block(number);
        else
            events[i] = event_mark(MARK_GAP, 0);
    }
}

/* ---- taking and releasing ---- */

static size_t event_count(const struct ring_chunk *chunk) {
    uintptr_t from = (uintptr_t)chunk->events, to = (uintptr_t)atomic_load(&chunk->cursor);
    size_t count = (to - from) / sizeof(uint64_t);
    return to >= from && count <= RING_CHUNK_EVENTS ? count : 0;
}

static uint32_t used_chunks(const struct capture *capture) {
    uint32_t high = atomic_load(&capture->control->chunk_high);
    return high < RING_CHUNKS ? high : RING_CHUNKS;
}

static bool oldest_chunk(struct capture *capture, uint32_t *oldest) {
    struct ring_control *control = capture->control;
    uint32_t high = used_chunks(capture);
    uint64_t best = UINT64_MAX;
    bool found = false;
    for (uint32_t i = 0; i < high; i++) {
        if ((atomic_load(&control->chunk_state[i]) & 0xff) != RING_FULL)
            continue;
        uint64_t published = ring_chunk(control, i)->published;
        if (!found || published < best) {
            found = true;
            best = published;
            *oldest = i;
        }
    }
    return found;
}

bool chunks_take(struct capture *capture) {
    struct ring_control *control = capture->control;
    if (!oldest_chunk(capture, &capture->chunk))
        return false;
    capture->chunk_taken = true;
    capture->chunk_given = true; /* unless there is something to give */
    capture->chunk_is_last = false;
    struct ring_chunk *chunk = ring_chunk(control, capture->chunk);
    uint32_t slot = atomic_load(&control->chunk_state[capture->chunk]) >> 8;
    if (slot >= RING_PROCESSES)
        return true;
    records_read_slot(capture, slot);
    struct traced *process = &capture->slots[slot];
    struct traced_thread *thread = find_thread(capture, chunk->thread);
    if (!process->live || !thread || thread->ended || (thread->known && thread->slot != slot))
        return true;
    *thread = (struct traced_thread){.slot = slot, .known = true};
    size_t count = event_count(chunk);
    uint64_t *events = ring_chunk_events(chunk);
    capture->data = (struct item_data){.process = process->number,
                                       .thread = chunk->thread,
                                       .ticket = chunk->ticket,
                                       .first_insn = chunk->first_insn,
                                       .insn_count = atomic_load(&chunk->insns),
                                       .event_count = (uint32_t)count,
                                       .events = events};
    if (process->blocks->parent)
        renumber_events(capture, process, events, count);
    capture->chunk_given = count == 0;
    thread->ended = capture->chunk_is_last = chunk->last != 0;
    return true;
}

void chunks_release(struct capture *capture) {
    struct ring_control *control = capture->control;
    uint32_t number = capture->chunk;
    capture->chunk_taken = false;
    if (capture->chunk_is_last)
        capture_queue(capture, ITEM_THREAD_END)->number = capture->data.thread;
    uint64_t offset = (uint64_t)((uint8_t *)ring_chunk(control, number) - (uint8_t *)control);
    if (number >= RESIDENT_CHUNKS)
        fallocate(capture->memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
                  RING_CHUNK_BYTES);
    atomic_store(&control->chunk_state[number], ring_state(RING_FREE, 0));
    atomic_fetch_sub(&control->queued, 1);
    atomic_fetch_add(&control->released, 1);
    if (atomic_load(&control->waiting))
        futex_wake(&control->released);
}

/* ---- what a dead process left ---- */

/* The plugin counts a block before its event is complete; count again what is there. */
static uint64_t count_insns(const struct traced *process, const struct ring_chunk *chunk,
                            size_t count) {
    const uint64_t *events = ring_chunk_events((struct ring_chunk *)chunk);
    uint64_t insns = 0, block = 0;
    for (size_t i = 0; i < count; i++) {
        const struct block_table *owner;
        const struct block_definition *definition;
        if (event_kind(events[i]) == EVENT_BLOCK) {
            definition = blocks_find(process->blocks, event_block_number(events[i]), &owner);
            block = definition ? definition->insn_count : 0;
            insns += block;
        } else if (event_kind(events[i]) == EVENT_MARK &&
                   event_mark_kind(events[i]) == MARK_EXECUTED &&
                   event_payload(events[i]) < block) {
            insns -= block - event_payload(events[i]);
        }
    }
    return insns;
}

void chunks_harvest(struct capture *capture, uint32_t slot) {
    struct ring_control *control = capture->control;
    struct traced *process = &capture->slots[slot];
    records_read_slot(capture, slot);
    for (uint32_t i = 0, high = used_chunks(capture); i < high; i++) {
        if (atomic_load(&control->chunk_state[i]) != ring_state(RING_HELD, slot))
            continue;
        struct ring_chunk *chunk = ring_chunk(control, i);
        if (control->slice_size) /* half of what it was to say */
            atomic_store(&chunk->cursor, chunk->events);
        atomic_store(&chunk->insns, count_insns(process, chunk, event_count(chunk)));
        chunk->last = 0;
        chunk->published = atomic_fetch_add(&control->published, 1);
        atomic_store(&control->chunk_state[i], ring_state(RING_FULL, slot));
        atomic_fetch_add(&control->queued, 1);
    }
}

bool chunks_pending(const struct capture *capture, uint32_t slot) {
    for (uint32_t i = 0, high = used_chunks(capture); i < high; i++) {
        uint32_t state = atomic_load(&capture->control->chunk_state[i]);
        if ((state & 0xff) != RING_FREE && state >> 8 == slot)
            return true;
    }
    return false;
}
