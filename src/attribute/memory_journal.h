/* What a process has allocated and mapped at some places of its run, for simulations that begin
 * there: events of memory as they happened, each with the node of the calling context tree that it
 * happened below. Of blocks that were freed before the next place nothing is kept.
 *
 *     memory_journal_note() each ──► memory_journal_mark() at a place ──► memory_journal_recall()
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/dynamic.h"

struct memory_journal;
/* NULL: out of memory. */
struct memory_journal *memory_journal_new(void);
void memory_journal_free(struct memory_journal *journal);

/* The next event of a run, whose processes come one after the other. False: out of memory. */
bool memory_journal_note(struct memory_journal *journal, uint32_t process, uint32_t node,
                         const struct trace_memory *event);

/* A place of the run. */
struct memory_mark {
    uint32_t process;
    uint32_t number; /* of marks before it */
    size_t events;
};
/* Here, in this process. False: out of memory. */
bool memory_journal_mark(struct memory_journal *journal, uint32_t process,
                         struct memory_mark *mark);

/* Shows, in the order of the run, all that its process had at the mark; `event` is valid while it
 * is shown, its position is 0. False: `see` returned false. Several threads may do so at once. */
bool memory_journal_recall(const struct memory_journal *journal, const struct memory_mark *mark,
                           bool (*see)(void *context, const struct trace_memory *event,
                                       uint32_t node),
                           void *context);
