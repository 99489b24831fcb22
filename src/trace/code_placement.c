/* Functions follow each other as they did. Each begins at the first place that has the remainder
 * which its hash chose, so that one that grows moves others by whole lines. They lie 2 GiB into the
 * 4 GiB that the program begins in, where an emulated process has nothing else. */
#include "trace/code_placement.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "program/program.h"
#include "trace/memory_layout.h"
#include "util/array.h"
#include "util/hash_index.h"
#include "util/order.h"

enum { LINE = 64 };
#define SPACE (UINT64_C(1) << 32)

/* ---- functions ---- */

struct reading {
    struct movable_code *code;
    struct program *program;
    uint32_t image;
    size_t capacity;
    uint64_t end; /* of the last function, as linked */
    bool failed;
};

static uint64_t alignment_of(uint64_t section) {
    const bool usable = section && !(section & (section - 1));
    return !usable ? 1 : section < MEMORY_LAYOUT_PAGE ? section : MEMORY_LAYOUT_PAGE;
}

static bool take_function(void *context, const struct program_function *function) {
    struct reading *reading = context;
    struct movable_code *code = reading->code;
    struct program_data section;
    if (function->address < reading->end || !function->name ||
        function->size > UINT64_MAX - function->address)
        return true;
    if (!program_locate_data(reading->program, reading->image, function->address, &section) ||
        strncmp(section.section, ".text", strlen(".text")) != 0)
        return true;
    const uint64_t alignment = alignment_of(section.alignment);
    const struct movable_function found = {.offset = function->file_offset,
                                           .size = function->size,
                                           .alignment = alignment,
                                           .remainder = function->address % alignment,
                                           .key =
                                               XXH3_64bits(function->name, strlen(function->name))};
    reading->end = function->address + function->size;
    reading->failed = !array_push(code->functions, reading->capacity, code->count, found);
    return !reading->failed;
}

ORDER(by_offset, struct movable_function, ascending(a->offset, b->offset))

static void keep_disjoint(struct movable_code *code) {
    size_t kept = 0;
    if (code->count)
        qsort(code->functions, code->count, sizeof *code->functions, by_offset);
    for (size_t i = 0; i < code->count; i++) {
        const struct movable_function *last = kept ? &code->functions[kept - 1] : NULL;
        if (!last || code->functions[i].offset - last->offset >= last->size)
            code->functions[kept++] = code->functions[i];
    }
    code->count = kept;
}

bool movable_code_read(const char *path, struct movable_code *code) {
    *code = (struct movable_code){.path = realpath(path, NULL)};
    if (!code->path)
        return true;
    struct reading reading = {.code = code, .program = program_new_local()};
    if (!reading.program)
        return false;
    reading.image = program_add_image(reading.program, code->path, NULL, 0);
    if (!program_image_is_stripped(reading.program, reading.image))
        program_each_function(reading.program, reading.image, take_function, &reading);
    program_free(reading.program);
    keep_disjoint(code);
    return !reading.failed;
}

void movable_code_free(struct movable_code *code) {
    free(code->path);
    free(code->functions);
    *code = (struct movable_code){.path = NULL};
}

/* ---- places ---- */

/* The first place from `at` on whose remainder is the one that the hash chooses, of those that keep
 * the alignment. */
static uint64_t place_from(uint64_t at, const struct movable_function *function, uint64_t hash) {
    uint64_t step = LINE, remainder = function->remainder;
    if (function->alignment < LINE)
        remainder += hash % (LINE / function->alignment) * function->alignment;
    else
        step = function->alignment;
    return at + (remainder - at) % step;
}

bool code_placement_make(const struct movable_code *code, uint32_t layout,
                         struct code_placement *placement) {
    uint64_t at = (uint64_t)memory_layout(layout).program_pages * MEMORY_LAYOUT_PAGE;
    *placement = (struct code_placement){.code = code};
    placement->moved = malloc((code->count + 1) * sizeof *placement->moved);
    for (size_t i = 0; placement->moved && i < code->count; i++) {
        const struct movable_function *function = &code->functions[i];
        at = place_from(at, function, hash_pair(function->key, layout));
        placement->moved[i] = at;
        at += function->size;
    }
    return placement->moved;
}

void code_placement_free(struct code_placement *placement) {
    free(placement->moved);
    placement->moved = NULL;
}

uint64_t code_placement_at(const struct code_placement *placement, uint64_t address,
                           uint64_t offset) {
    const struct movable_code *code = placement->code;
    const size_t behind = first_where(i, code->count, code->functions[i].offset > offset);
    if (!behind)
        return address;
    const struct movable_function *function = &code->functions[behind - 1];
    const uint64_t within = offset - function->offset;
    if (within >= function->size)
        return address;
    return (address - within) / SPACE * SPACE + SPACE / 2 + placement->moved[behind - 1] + within;
}
