/* When what comes before a region was accessed last (memory/stamps.h), from the chunks that its
 * capture tells (struct region_capture_options, `before`), so that its trace need not hold them. */
#pragma once

#include "machine/machine.h"
#include "memory/memory.h"
#include "trace/item.h"
#include "trace/kept_code.h"

struct stamped_before {
    struct stamped_line *lines; /* as stamps_lines() has them; from malloc() */
    size_t count;
    uint64_t events, instructions; /* that were stamped */
};
void stamped_before_free(struct stamped_before *before);

/* Of a machine: the size of lines that are stamped, and of how many the levels before the last one
 * hold, if that matters (stamps_new()). */
uint32_t stamped_line_bytes(const struct machine *machine);
uint64_t stamped_inner_lines(const struct machine *machine);

struct before_region;
/* NULL: out of memory. */
struct before_region *before_region_new(const struct machine *machine);
void before_region_free(struct before_region *before);
/* The next chunk of the region's thread, of its instructions those before `until`, to the end of a
 * block. */
bool before_region_add(struct before_region *before, const struct item_data *data,
                       const struct kept_code *code, uint64_t until, struct error *error);
/* `code`: that of the chunks. The result is the caller's. */
bool before_region_end(const struct before_region *before, const struct kept_code *code,
                       struct stamped_before *result, struct error *error);
