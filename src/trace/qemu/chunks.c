/* Chunks of events, from FULL back to FREE.
 *
 * The chunks of one thread are queued in their order; taking the lowest queue number first keeps
 * it. Events are handed out where they are, in the shared memory: of a chunk that its thread is
 * still filling those up to a cut, and later the rest. Only the events of fork children are looked
 * at here: their block numbers are the parent's, and change to dense numbers of their own as blocks
 * are first entered. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "trace/event.h"
#include "trace/qemu/capture.h"
#include "trace/qemu/futex.h"
#include "util/array.h"

enum { RESIDENT_CHUNKS = RING_QUEUE + 8, MAX_THREADS = 1 << 20 };

struct traced_thread *chunks_thread(struct capture *capture, uint32_t number) {
    if (number >= MAX_THREADS ||
        !array_zeroed_room(capture->threads, capture->thread_capacity, (size_t)number + 1))
        return NULL;
    if (capture->thread_count <= number)
        capture->thread_count = number + 1;
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
        const struct kept_block *block = blocks_find(table, plugin_number, &owner);
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
        code->definition = (size_t)(block - owner->code.blocks);
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

/* Looks for a full chunk older than *best; UINT64_MAX: for any. */
static bool find_older(const struct capture *capture, uint64_t *best, uint32_t *oldest) {
    bool found = false;
    for (uint32_t i = 0, high = used_chunks(capture); i < high; i++) {
        if ((atomic_load(&capture->control->chunk_state[i]) & 0xff) != RING_FULL)
            continue;
        const uint64_t published = ring_chunk(capture->control, i)->published;
        if (published < *best) {
            found = true;
            *best = published;
            *oldest = i;
        }
    }
    return found;
}

/* Chunks are published while they are looked through. What was published before the one that is
 * found, by its own thread or by whoever made that thread, may be among those already passed: they
 * are looked through again, until nothing older is there. */
static bool oldest_chunk(const struct capture *capture, uint32_t *oldest) {
    uint64_t best = UINT64_MAX;
    while (find_older(capture, &best, oldest))
        ;
    return best != UINT64_MAX;
}

/* The live process and the thread that a chunk is of; false: there are none, or not any more. */
static bool find_owner(struct capture *capture, uint32_t slot, const struct ring_chunk *chunk,
                       struct traced **process, struct traced_thread **owner) {
    *process = &capture->slots[slot];
    struct traced_thread *thread = *owner = chunks_thread(capture, chunk->thread);
    if (!(*process)->live || !thread || thread->ended || (thread->known && thread->slot != slot))
        return false;
    thread->slot = slot;
    thread->known = true;
    return true;
}

/* The events of a chunk that were not handed out yet, up to `end`. */
static struct item_data describe(struct capture *capture, const struct traced *process,
                                 uint32_t number, size_t end, uint64_t insns) {
    struct ring_chunk *chunk = ring_chunk(capture->control, number);
    const struct chunk_part *part = &capture->parts[number];
    size_t begin = part->events < end ? part->events : end;
    return (struct item_data){.process = process->number,
                              .thread = chunk->thread,
                              .ordinal = chunk->ordinal,
                              .ticket = chunk->ticket,
                              .first_insn = chunk->first_insn + part->insns,
                              .insn_count = insns,
                              .event_count = (uint32_t)(end - begin),
                              .events = ring_chunk_events(chunk) + begin,
                              .counted = chunk->counted};
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
    reached_queue(capture, slot, chunk->published);
    struct traced *process;
    struct traced_thread *thread;
    if (!find_owner(capture, slot, chunk, &process, &thread))
        return true;
    uint64_t insns = atomic_load(&chunk->insns), given = capture->parts[capture->chunk].insns;
    capture->data = describe(capture, process, capture->chunk, event_count(chunk),
                             insns > given ? insns - given : 0);
    if (process->blocks->parent)
        renumber_events(capture, process, (uint64_t *)capture->data.events,
                        capture->data.event_count);
    capture->chunk_given = capture->data.event_count == 0;
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
    capture->parts[number] = (struct chunk_part){0};
    atomic_store(&control->chunk_state[number], ring_state(RING_FREE, 0));
    atomic_fetch_sub(&control->queued, 1);
    atomic_fetch_add(&control->released, 1);
    if (atomic_load(&control->waiting))
        futex_wake(&control->released);
}

/* ---- instructions of events ---- */

/* The plugin counts a block before its event is complete, so the events that are there are counted
 * again. */
static uint64_t count_insns(const struct traced *process, const uint64_t *events, size_t count) {
    uint64_t insns = 0, block = 0;
    for (size_t i = 0; i < count; i++) {
        const struct block_table *owner;
        const struct kept_block *definition;
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

/* ---- cuts ---- */

/* Where the last block that was entered before `end` begins; `begin`: none was. */
static size_t last_block(const uint64_t *events, size_t begin, size_t end) {
    while (end > begin && event_kind(events[end - 1]) != EVENT_BLOCK)
        end--;
    return end > begin ? end - 1 : begin;
}

void chunks_cut(struct capture *capture, uint32_t slot, const struct ring_cut *cut) {
    struct ring_control *control = capture->control;
    if (cut->chunk >= used_chunks(capture))
        return;
    uint32_t state = atomic_load(&control->chunk_state[cut->chunk]);
    struct ring_chunk *chunk = ring_chunk(control, cut->chunk);
    struct chunk_part *part = &capture->parts[cut->chunk];
    struct traced *process;
    struct traced_thread *thread;
    if ((state != ring_state(RING_HELD, slot) && state != ring_state(RING_FULL, slot)) ||
        chunk->ticket != cut->ticket || cut->events > event_count(chunk) ||
        cut->events <= part->events || !find_owner(capture, slot, chunk, &process, &thread))
        return;
    uint64_t *events = ring_chunk_events(chunk);
    size_t end = last_block(events, part->events, cut->events), count = end - part->events;
    if (!count)
        return;
    uint64_t insns = count_insns(process, events + part->events, count);
    struct item_data data = describe(capture, process, cut->chunk, end, insns);
    if (process->blocks->parent)
        renumber_events(capture, process, events + part->events, count);
    capture_queue(capture, ITEM_DATA)->data = data;
    part->events = (uint32_t)end;
    part->insns += insns;
}

/* ---- what a dead process left ---- */

void chunks_harvest(struct capture *capture, uint32_t slot) {
    struct ring_control *control = capture->control;
    struct traced *process = &capture->slots[slot];
    records_read_slot(capture, slot);
    for (uint32_t i = 0, high = used_chunks(capture); i < high; i++) {
        if (atomic_load(&control->chunk_state[i]) != ring_state(RING_HELD, slot))
            continue;
        struct ring_chunk *chunk = ring_chunk(control, i);
        if (chunk->counted) /* the counts may be incomplete */
            atomic_store(&chunk->cursor, chunk->events);
        ring_settle_share(control, chunk);
        const struct chunk_part *part = &capture->parts[i];
        size_t count = event_count(chunk) > part->events ? event_count(chunk) - part->events : 0;
        const uint64_t *events = ring_chunk_events(chunk) + part->events;
        atomic_store(&chunk->insns, part->insns + count_insns(process, events, count));
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
