/* When what comes before a region was accessed last (memory/stamps.h): from the chunks of its trace
 * (warming.c), or from those that its capture tells (struct region_capture_options, `before`), so
 * that its trace need not hold them. */
#pragma once

#include "machine/machine.h"
#include "memory/memory.h"
#include "memory/stamps.h"
#include "trace/kept_code.h"

struct stamped_before {
    struct stamped_line *lines; /* as stamps_lines() has them; from malloc() */
    size_t count;
    uint64_t events, instructions; /* that were stamped */
};
void stamped_before_free(struct stamped_before *before);

/* The blocks that chunks enter: so many; how many instructions one of them has, and where it lies.
 */
struct stamped_blocks {
    void *context;
    uint32_t count;
    uint32_t (*insns)(void *context, uint32_t block);
    stamps_span *span;
};
/* Those that a process has entered in a capture. */
struct stamped_blocks stamped_blocks_of(const struct kept_code *code);

struct stamped_chunk {
    const uint64_t *events;
    uint32_t event_count;
    uint64_t insn_count;
};

struct before_region;
/* NULL: out of memory. */
struct before_region *before_region_new(const struct machine *machine);
void before_region_free(struct before_region *before);
/* Nothing came before. */
void before_region_clear(struct before_region *before);
/* The next chunk of the region's thread: its first `insns` instructions, to the end of a block. */
bool before_region_add(struct before_region *before, const struct stamped_chunk *chunk,
                       uint64_t insns, const struct stamped_blocks *blocks, struct error *error);
/* `blocks`: those of the chunks. The result is the caller's. */
bool before_region_end(const struct before_region *before, const struct stamped_blocks *blocks,
                       struct stamped_before *result, struct error *error);
