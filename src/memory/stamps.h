/* When each line of data, and each block of code, was accessed last: a memory timestamp record
 * (Barr et al. 2005). Of however long a stretch of a run it is one word per line. What caches of
 * any size and TLBs hold at its end follows from it, for both keep what was used last.
 *
 *     stamps_events(stamps, events, count)            as the run was captured, in program order
 *     lines = stamps_lines(stamps, span, context, &count)
 *     memory_rebuild(memory, lines, count, stretch)   (memory/memory.h)
 *
 * Of one address space. Memory: an eighth of the data that was accessed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/memory.h"

struct stamps;
/* Lines of so many bytes, a power of two from 16 to 4096: the shortest of the machine's. `inner`:
 * so many of them the levels before the last one hold; 0: `again` is not asked. NULL: out of
 * memory.
 */
struct stamps *stamps_new(uint32_t line_bytes, uint64_t inner);
void stamps_free(struct stamps *stamps);
/* Nothing was accessed. */
void stamps_clear(struct stamps *stamps);

/* The next events (trace/event.h) of a thread. Blocks have numbers below `block_count`; others are
 * passed over. False: out of memory. */
bool stamps_events(struct stamps *stamps, const uint64_t *events, uint32_t count,
                   uint32_t block_count);

/* Since it was new or cleared. */
uint64_t stamps_events_seen(const struct stamps *stamps);

/* The bytes [*start, *end) that a block's instructions lie in. */
typedef void stamps_span(void *context, uint32_t block, uint64_t *start, uint64_t *end);

/* What was accessed, that which was accessed longest ago first: each line of data once, each line
 * of code once for each block in it. The caller's (free). NULL: out of memory. */
struct stamped_line *stamps_lines(const struct stamps *stamps, stamps_span *span, void *context,
                                  size_t *count);
