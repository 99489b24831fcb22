/* Instructions one after the other, as other tools record them, to blocks and chunks as items have
 * them. Inside of this room.
 *
 *     reader ──► foreign_blocks_add() ──► foreign_blocks_next() ──► CODE, DATA items
 *
 * A block is what is executed in a row up to a branch, and is made once for all executions that are
 * alike. */
#pragma once

#include "trace/event.h"
#include "trace/item.h"
#include "util/arena.h"
#include "util/hash_index.h"

enum {
    BLOCK_INSNS = 64,         /* of a block at most */
    BLOCK_EVENTS = 256,       /* accesses and marks of one execution of a block, beyond which it
                                 ends */
    BLOCK_CODE_MAX = 1 << 24, /* instructions in all blocks together */
    CHUNK_EVENTS = 16 << 10
};

struct foreign_insn {
    uint64_t address;
    const uint8_t *code; /* DESCRIBED_BYTES if described, else `length` bytes */
    uint8_t length;
    bool described;
    bool ends;              /* its block: a branch, or a call of the kernel */
    const uint64_t *events; /* EVENT_LOAD and others, of index 0: they get their place here */
    uint32_t event_count;   /* at most BLOCK_EVENTS */
};

struct foreign_block {
    uint64_t address;
    uint8_t *bytes; /* in the arena */
    uint32_t insn_count, size;
    bool described;
};

struct foreign_blocks {
    uint32_t image; /* of all code */
    uint32_t process, thread;
    uint64_t ticket;

    struct foreign_block *known; /* by number */
    size_t capacity;
    uint32_t count;
    uint32_t told; /* as CODE items */
    struct hash_index index;
    struct arena arena;
    uint64_t code_insns;

    struct foreign_block open; /* the one in the making; insn_count 0: none. `bytes` is `code` */
    size_t code_size;
    uint8_t code[BLOCK_INSNS * DESCRIBED_BYTES];
    uint64_t open_events[BLOCK_EVENTS + 2];
    uint32_t open_event_count;

    uint64_t *events; /* of the chunk */
    size_t event_capacity;
    uint32_t event_count;
    uint64_t insn_count; /* in the chunk */
    uint64_t first_insn; /* of the thread before it */
};

void foreign_blocks_free(struct foreign_blocks *blocks);

/* The next instruction. What is behind a discontinuity is given by foreign_blocks_gap() before. */
bool foreign_blocks_add(struct foreign_blocks *blocks, const struct foreign_insn *insn,
                        struct error *error);
/* Ends the block; `mark` is an event that follows it, or 0. */
bool foreign_blocks_end(struct foreign_blocks *blocks, uint64_t mark, struct error *error);
/* Between two instructions others are missing, or control came there in another way than by the
 * code. */
static inline bool foreign_blocks_gap(struct foreign_blocks *blocks, struct error *error) {
    return foreign_blocks_end(blocks, (uint64_t)EVENT_MARK << 62 | (uint64_t)MARK_GAP << 56, error);
}

/* Whether there is an item to take, after what was added; `flush`: the chunk is also one when it is
 * not full. The block in the making is none. */
bool foreign_blocks_next(struct foreign_blocks *blocks, bool flush, struct item *item);
