/* The code of a run, as its profile numbers it: blocks of all processes get ids from 1, in the
 * order in which they are met; the same block (file, place, bytes) in several processes is one. */
#pragma once

#include "region/slices.h"
#include "trace/item.h"
#include "util/hash_index.h"

struct profile_block {
    struct slice_block place;
    size_t bytes;  /* into profile_code.bytes */
    uint32_t size; /* of its bytes */
    /* Not filled in for a counting capture, which watches blocks itself. */
    bool watched;    /* a slice may end before it (trace/counts.h) */
    uint8_t branch;  /* enum branch_kind of the last instruction */
    uint64_t target; /* offset that a direct branch leads to, else 0 */
};

struct profile_code {
    enum isa isa;
    bool counted;                 /* by the capture */
    struct profile_block *blocks; /* by id − 1 */
    size_t block_count, block_capacity;
    uint8_t *bytes;
    size_t byte_count, byte_capacity;
    struct region_image *images; /* numbered as in the items */
    size_t image_count, image_capacity;
    struct profile_process {
        uint32_t *ids; /* by the process's number of the block */
        size_t count, capacity;
        uint32_t threads; /* of it that were seen */
        uint32_t told;    /* and whose places are in the table */
    } * processes;
    size_t process_count, process_capacity;
    struct hash_index index; /* of blocks */
    struct profile_site {
        uint32_t image;
        uint64_t offset;
        uint32_t *ids; /* blocks that contain the instruction, of the first `seen` blocks */
        size_t count, capacity, seen;
    } * sites;
    struct hash_index site_index;
    size_t site_count, site_capacity;
};

void profile_code_free(struct profile_code *code);

bool profile_code_image(struct profile_code *code, const struct item_image *item,
                        struct error *error);
bool profile_code_process(struct profile_code *code, uint32_t number, struct error *error);
bool profile_code_block(struct profile_code *code, const struct item_code *item,
                        struct error *error);

/* 0: not defined. */
static inline uint32_t profile_code_id(const struct profile_code *code, uint32_t process,
                                       uint32_t block) {
    if (process >= code->process_count || block >= code->processes[process].count)
        return 0;
    return code->processes[process].ids[block];
}
static inline const struct profile_block *profile_code_at(const struct profile_code *code,
                                                          uint32_t id) {
    return code->blocks + id - 1;
}

/* All blocks that contain the first instruction of this one. NULL: out of memory. */
const struct profile_site *profile_code_site(struct profile_code *code, uint32_t id);

/* Offsets of the instructions of a block within it, and with one more its size. Returns how many
 * instructions could be told apart; `starts` has room for one more than the block has. */
uint32_t profile_code_starts(const struct profile_code *code, uint32_t id, uint32_t *starts);
