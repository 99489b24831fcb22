/* Entries are in the order of the run. A block that is freed is found by its address in a map of
 * those that live, which has the entry's place; the entry is told from which mark on it is gone.
 * Entries of blocks that came and went between two marks are taken out at the second one. */
#include "attribute/memory_journal.h"

#include <stdlib.h>

#include "attribute/heap_blocks.h"
#include "util/array.h"

static const uint32_t NEVER = UINT32_MAX;
enum { MOST_ENTRIES = 1 << 24 };

struct entry {
    uint64_t address, size;
    uint32_t process, node, image;
    uint32_t gone; /* number of the first mark that it is gone at; NEVER: it stays */
    uint8_t kind;  /* enum trace_memory_kind */
};

struct memory_journal {
    struct entry *entries;
    size_t count, capacity;
    size_t marked;  /* entries at the last mark */
    uint32_t marks; /* so far */
    uint32_t process;
    struct heap_blocks live; /* of the process: blocks, by their entries */
};

struct memory_journal *memory_journal_new(void) {
    struct memory_journal *journal = calloc(1, sizeof *journal);
    if (journal)
        journal->process = UINT32_MAX;
    return journal;
}

void memory_journal_free(struct memory_journal *journal) {
    if (!journal)
        return;
    heap_blocks_free(&journal->live);
    free(journal->entries);
    free(journal);
}

static void end_block(struct memory_journal *journal, uint64_t address) {
    const struct heap_block *block = heap_blocks_at(&journal->live, address);
    if (!block || block->base != address)
        return;
    journal->entries[block->object].gone = journal->marks;
    heap_blocks_remove(&journal->live, address);
}

static void begin_process(struct memory_journal *journal, uint32_t process) {
    if (journal->process == process)
        return;
    heap_blocks_free(&journal->live);
    journal->live = (struct heap_blocks){.most = MOST_ENTRIES};
    journal->process = process;
}

bool memory_journal_note(struct memory_journal *journal, uint32_t process, uint32_t node,
                         const struct trace_memory *event) {
    const struct entry entry = {.address = event->address,
                                .size = event->size,
                                .process = process,
                                .node = node,
                                .image = event->image,
                                .gone = NEVER,
                                .kind = (uint8_t)event->kind};
    begin_process(journal, process);
    if (event->kind == MEMORY_FREED || event->kind == MEMORY_ALLOCATED)
        end_block(journal, event->address);
    if (event->kind == MEMORY_FREED || journal->count >= MOST_ENTRIES)
        return true;
    return (event->kind != MEMORY_ALLOCATED ||
            heap_blocks_add(&journal->live, event->address, event->size,
                            (uint32_t)journal->count)) &&
           array_push(journal->entries, journal->capacity, journal->count, entry);
}

/* Without those that came and went since the last mark. */
static bool compact(struct memory_journal *journal) {
    size_t kept = journal->marked;
    for (size_t i = kept; i < journal->count; i++) {
        const struct entry *entry = &journal->entries[i];
        const bool lives = entry->kind == MEMORY_ALLOCATED && entry->process == journal->process;
        if (entry->gone != NEVER)
            continue;
        if (i != kept && lives) {
            const struct heap_block *block = heap_blocks_at(&journal->live, entry->address);
            if (block && block->object == i &&
                !heap_blocks_add(&journal->live, entry->address, entry->size, (uint32_t)kept))
                return false;
        }
        journal->entries[kept++] = *entry;
    }
    journal->count = journal->marked = kept;
    return true;
}

bool memory_journal_mark(struct memory_journal *journal, uint32_t process,
                         struct memory_mark *mark) {
    begin_process(journal, process);
    if (!compact(journal))
        return false;
    *mark = (struct memory_mark){process, journal->marks++, journal->count};
    return true;
}

bool memory_journal_recall(const struct memory_journal *journal, const struct memory_mark *mark,
                           bool (*see)(void *context, const struct trace_memory *event,
                                       uint32_t node),
                           void *context) {
    for (size_t i = 0; i < mark->events; i++) {
        const struct entry *entry = &journal->entries[i];
        const struct trace_memory event = {.address = entry->address,
                                           .size = entry->size,
                                           .image = entry->image,
                                           .kind = entry->kind};
        if (entry->process == mark->process && entry->gone > mark->number &&
            !see(context, &event, entry->node))
            return false;
    }
    return true;
}
