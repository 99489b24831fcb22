/* The code table: all static code of a trace, and the blocks that the capture reports executions
 * of.
 *
 * The same code in several processes is kept once: instructions by (image, offset, bytes), blocks
 * by (image, address, bytes); anonymous code only within its process. Instructions that differ in
 * constants and displacements alone share their µops. A process maps its dense
 * block numbers to shared blocks with four bytes each.
 *
 * Every block carries what makes its next execution quick to decode: a template of its dynamic
 * instructions, the pattern of memory events it had last time, and its last two successors. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/memo.h"
#include "trace/dynamic.h"
#include "trace/item.h"
#include "trace/notes.h"
#include "util/error.h"
#include "util/hash_index.h"

enum { CODE_NONE = UINT32_MAX };

/* What the decoder needs to know of a static instruction's memory operands. */
struct insn_operands {
    uint16_t size_bytes[INSN_MAX_MEMORY];
    uint8_t directions[INSN_MAX_MEMORY]; /* OPERAND_LOAD | OPERAND_STORE */
    uint8_t count;
    uint8_t gather;
};
enum { OPERAND_LOAD = 1, OPERAND_STORE = 2 };

/* One expected memory event of a block. */
struct event_pattern {
    uint32_t size_bytes; /* of the whole access; the next 4 bytes as in struct memory_access */
    uint8_t is_store, operand, descending, reserved;
    uint16_t tag;  /* the event's upper 16 bits: kind, size, instruction index */
    uint8_t piece; /* 1: continues the access of the event before it */
    uint8_t unused;
};
static_assert(sizeof(struct event_pattern) == 12, "one per memory event of every block");

struct code_block {
    uint64_t address, end;       /* virtual; end is the fall-through address */
    uint64_t target;             /* of a direct branch at its end; else 0 */
    uint32_t insn_count;         /* 1..EVENT_MAX_BLOCK_INSNS */
    uint32_t template;           /* its first in code_table.templates */
    uint32_t successor[2];       /* blocks seen to follow a full execution; CODE_NONE */
    uint16_t successor_flags[2]; /* enum dynamic_flags of the last instruction then */
    uint8_t branch;              /* enum branch_kind of the last instruction */
    bool patterned;              /* pattern and template counts hold the last plain execution */
    uint32_t pattern;            /* its first in code_table.patterns */
    uint32_t pattern_room;       /* entries reserved there */
    uint32_t event_count;        /* memory events in the pattern */
    uint32_t access_count;       /* accesses after joining pieces */
};

struct process_blocks {
    uint32_t *blocks; /* block number of the process → index into code_table.blocks */
    size_t capacity;
    uint32_t count;
    uint32_t *python; /* functions of Python, by number − 1: index + 1 into code.python */
    size_t python_capacity;
    uint32_t python_count;
};

/* Templates are copied so many at a time, a few too many. */
enum { TEMPLATE_GROUP = 4 };

struct code_table {
    struct code code;
    struct insn_operands *operands; /* per static instruction */
    uint32_t *owners;               /* per static instruction: process if anonymous, or CODE_NONE */
    struct insn_memo *memo;         /* not the table's; NULL: none */
    uint32_t *clock_calls;          /* likewise: code_table_clock_call() of it; 0: none yet */
    struct code_block *blocks;
    struct dynamic_insn *templates; /* memory is the number of accesses before it in the block;
                                       there is room for TEMPLATE_GROUP behind the last */
    struct event_pattern *patterns;
    struct process_blocks *processes;
    uint32_t *images; /* image number of the items → index into code.images */
    uint32_t block_count, template_count, pattern_count, process_count, image_count;
    uint32_t anonymous;                     /* index of the "[anon]" image, or CODE_NONE */
    const struct code_placement *placement; /* not the table's; NULL: none */
    uint32_t placed;                        /* index of its image + 1; 0: not yet seen */
    uint32_t undecodable_count;
    size_t mapping_capacity;
    size_t insn_capacity, uop_capacity, code_image_capacity, operand_capacity, owner_capacity;
    size_t clock_call_capacity;
    size_t python_capacity;
    size_t block_capacity, template_capacity, pattern_capacity, process_capacity, image_capacity;
    struct hash_index insn_index, block_index, uop_index; /* the last: of first µops of lists */
};

struct code_placement;

void code_table_init(struct code_table *table, enum isa isa);
void code_table_free(struct code_table *table);

/* Frees all but the instructions and images: no more is added and nothing decoded. */
void code_table_settle(struct code_table *table);

/* Each checks what it is given (numbers dense and ascending, sizes in range). Undecodable
 * instructions become one-µop system instructions, with a note. */
bool code_table_add_process(struct code_table *table, uint32_t process, struct error *error);
bool code_table_add_image(struct code_table *table, const struct item_image *image,
                          struct error *error);
bool code_table_add_block(struct code_table *table, const struct item_code *item,
                          struct notes *notes, struct error *error);

/* The symbols of a process's anonymous code, as known at its end (trace/code_symbols.h). */
bool code_table_add_symbols(struct code_table *table, const struct item_symbols *item,
                            struct error *error);

/* A function of Python of a process; likewise. */
bool code_table_add_python(struct code_table *table, const struct item_python *item,
                           struct error *error);
/* The index + 1 in code.python of a process's function by its number; 0: there is none. */
static inline uint32_t code_table_python(const struct code_table *table, uint32_t process,
                                         uint32_t function) {
    const struct process_blocks *of = &table->processes[process];
    return function - 1 < of->python_count ? of->python[function - 1] : 0;
}

/* The instruction, a system call, as it is executed when a vDSO serves the call: another static
 * instruction at the same place, of OP_CLOCK. CODE_NONE: out of memory. */
uint32_t code_table_clock_call(struct code_table *table, uint32_t insn);

/* Room for `count` patterns of a block, whose old ones are lost. False when out of memory. */
bool code_table_reserve_pattern(struct code_table *table, struct code_block *block, uint32_t count);
