/* µops of the out-of-order core: what each is on this machine, and what predecode puts into the
 * stream that timing takes. Only the files of this folder include this. */
#pragma once

#include "core/input.h"
#include "core/uop_timing.h"
#include "tap/life.h"

#include <assert.h>

#define UNKNOWN UINT64_MAX
enum { NO_LINK = UINT32_MAX };

enum ooo_flags {
    /* The low six are those of enum tap_uop_flags. */
    U_LAST = 1 << 0, /* of its instruction */
    U_LOAD = 1 << 1,
    U_STORE = 1 << 2,
    U_FUSED = 1 << 3,
    U_REPEATED = 1 << 4,
    U_BRANCH = 1 << 5,
    U_TAP = TAP_UOP_FLAGS,
    U_MISPREDICTED = 1 << 6, /* fetch waits for it */
    U_FLUSH = 1 << 7,       /* flushes when it commits: flushing instruction, system call, signal */
    U_SYSCALL = 1 << 8,     /* and goes on when served; with U_SERIAL_END: CPUID by a host */
    U_SERIAL = 1 << 9,      /* dispatches into an empty ROB only */
    U_SERIAL_END = 1 << 10, /* nothing dispatches until it has committed */
    U_HOLD_LOADS = 1 << 11, /* no later load dispatches until it has committed */
    U_WAIT_HEAD = 1 << 12,  /* issues only at the head, with no older store undrained */
    U_FLAG_REGISTER = 1 << 13, /* physical register of flags, until commit; in lives bit 18 */
    U_INT_REGISTER = 1 << 16,  /* physical register, until commit (held_flag()) */
    U_FP_REGISTER = 1 << 17,
    U_LOAD_ENTRY = 1 << 18,   /* of the load queue, until commit */
    U_BRANCH_ENTRY = 1 << 19, /* of the unresolved branches, until it has executed */
    U_MANY = 1 << 14,         /* more than two sources or destinations */
    U_RENAMES = 1 << 15,      /* load or store of an integer that memory renaming may take */
    U_LONG = 1 << 28,         /* takes a unit for more than a cycle; or a load in two lines */
    U_PREFETCH = 1 << 29,
    U_ELIMINATED = 1 << 30, /* needs no functional unit */
    U_MOVE = 1 << 20,       /* eliminated copy or addition: its destinations are its source */
    U_TAKEN = 1 << 21,
    U_SHARES = 1 << 22,       /* the place of the µop before (core/places.h) */
    U_FIRST = 1 << 23,        /* of its instruction, or of a fused pair */
    U_NEW_LINE = 1 << 24,     /* its instruction begins in another line than the one before ended */
    U_CROSSES_LINE = 1 << 25, /* and ends in another than it begins */
    U_NEW_BLOCK = 1 << 26,    /* begins in another aligned fetch block than the one before */
    U_LATE = 1 << 27,         /* branch whose target fetch learns only at decode */

    /* What a plain µop may have: a cycle at one unit. */
    U_PLAIN = U_LAST | U_REPEATED | U_INT_REGISTER | U_FLAG_REGISTER | U_FIRST | U_NEW_BLOCK |
              U_MANY | U_RENAMES | U_NEW_LINE,
    U_PLACE = U_NEW_LINE | U_CROSSES_LINE | U_NEW_BLOCK, /* only with U_FIRST */
    U_MICROCODED = INT32_MIN, /* bit 31: the last of a repeated string instruction */

    U_ENDS_PACKET = U_MISPREDICTED | U_FLUSH | U_LATE | U_TAKEN /* perhaps */
};
static_assert(U_LAST == (int)TAP_UOP_LAST && U_LOAD == (int)TAP_UOP_LOAD &&
                  U_STORE == (int)TAP_UOP_STORE && U_FUSED == (int)TAP_UOP_FUSED &&
                  U_REPEATED == (int)TAP_UOP_REPEATED && U_BRANCH == (int)TAP_UOP_BRANCH,
              "flags go to the tap as they are");
enum {
    U_LIFE = U_LAST | U_LOAD | U_STORE | U_FUSED | U_REPEATED | U_MISPREDICTED | U_FLUSH |
             U_SYSCALL | U_SERIAL | U_SERIAL_END | U_HOLD_LOADS | U_WAIT_HEAD | U_INT_REGISTER |
             U_FP_REGISTER | U_BRANCH_ENTRY | U_TAKEN | U_SHARES | U_FIRST | U_LATE | U_LONG |
             U_PREFETCH | U_ELIMINATED | U_MICROCODED
};
static_assert(U_LAST == (int)LIFE_LAST && U_LOAD == (int)LIFE_LOAD && U_STORE == (int)LIFE_STORE &&
                  U_FUSED == (int)LIFE_FUSED && U_REPEATED == (int)LIFE_REPEATED &&
                  U_MISPREDICTED == (int)LIFE_MISPREDICTED && U_FLUSH == (int)LIFE_FLUSHES &&
                  U_SYSCALL == (int)LIFE_SYSTEM_CALL && U_SERIAL == (int)LIFE_SERIAL &&
                  U_SERIAL_END == (int)LIFE_SERIAL_END && U_HOLD_LOADS == (int)LIFE_HOLDS_LOADS &&
                  U_WAIT_HEAD == (int)LIFE_WAITS_HEAD && U_INT_REGISTER == (int)LIFE_INT_REGISTER &&
                  U_FP_REGISTER == (int)LIFE_FP_REGISTER && U_BRANCH_ENTRY == (int)LIFE_BRANCH &&
                  U_TAKEN == (int)LIFE_TAKEN && U_SHARES == (int)LIFE_SHARES &&
                  U_FIRST == (int)LIFE_FIRST && U_LATE == (int)LIFE_LATE &&
                  U_LONG == (int)LIFE_LONG && U_PREFETCH == (int)LIFE_PREFETCH &&
                  U_ELIMINATED == (int)LIFE_ELIMINATED && U_MICROCODED == (int)LIFE_MICROCODED &&
                  !(U_LIFE & (LIFE_ISSUED | LIFE_FLAG_REGISTER | LIFE_DISPATCHED | LIFE_COMPLETED |
                              LIFE_FLUSHED | LIFE_COVERED | LIFE_FORWARDED)),
              "so do those of lives");

/* What a µop may hold from dispatch to commit. */
enum held_kind { HELD_INT, HELD_FP, HELD_LOAD, HELD_FLAG, HELD_KINDS };
static inline uint32_t held_flag(enum held_kind kind) {
    return kind == HELD_FLAG ? U_FLAG_REGISTER : 1u << (16 + kind);
}

/* Beside the registers: what an operand that a µop does not have reads, and writes. */
enum { RENAME_READ_NONE = REG_COUNT, RENAME_WRITE_NONE, RENAME_COUNT };
static_assert(RENAME_COUNT <= UINT8_MAX, "operands are bytes");

/* A static µop on this machine, made and numbered when it is first executed. */
struct prepared_uop {
    uint32_t flags;    /* enum ooo_flags */
    uint8_t index;     /* within its instruction */
    uint8_t operation; /* enum operation */
    uint8_t memory;    /* load or store: index into the instruction's memory operands, or 255 */
    uint8_t insn_length;
    uint64_t insn_address;
    uint8_t source[UOP_MAX_SOURCES], destination[UOP_MAX_DESTINATIONS]; /* unused: RENAME_* */
    uint8_t data;              /* OP_STORE: register stored; RENAME_READ_NONE */
    uint16_t unit;             /* where it executes: its row of `units` */
    uint8_t steps;             /* destination that it adds a constant to; RENAME_READ_NONE */
    uint8_t loads, overwrites; /* of the instruction, with core.renaming_overwritten
                                  (load_operation.h); 0: nothing of that kind */
    uint8_t reserved;
};
static_assert(sizeof(struct prepared_uop) == 32, "two to a cache line");
enum { PREPARED_CHUNK = 1 << 12, PREPARED_CHUNKS = 1 << 14 };

/* Rows of `units`: the first are those of classes, by operation; others come with the instruction
 * forms of which the machine's table says something else. */
enum { MOST_UNITS = 2048 };
static_assert(MOST_UNITS <= UINT16_MAX, "rows are 16 bits");

/* A static instruction on this machine, as predecode has it. */
enum known_traits {
    KNOWN_COMPARE = 1 << 0,       /* fuses with a branch behind it that is FUSING */
    KNOWN_FUSING_BRANCH = 1 << 1, /* one µop */
    KNOWN_MOVES_STACK = 1 << 2,   /* by the stack engine (core.stack_sync) */
    KNOWN_READS_STACK = 1 << 3, /* the µop before its first brings the stack pointer up to date */
    KNOWN_WRITES_STACK = 1 << 4,
    KNOWN_EXECUTABLE = 1 << 5, /* code of the executable */
    KNOWN_LIBRARY = 1 << 6,    /* or of another file */
    KNOWN_FILE = KNOWN_EXECUTABLE | KNOWN_LIBRARY,
    KNOWN_STACK = KNOWN_MOVES_STACK | KNOWN_READS_STACK | KNOWN_WRITES_STACK
};
struct block;
struct known_insn {
    const struct prepared_uop *uops; /* its first, the others follow; NULL: not executed so far */
    struct block *block; /* the basic block that begins here (blocks.h), if one is kept */
    uint8_t uop_count;
    uint8_t branch; /* enum branch_kind */
    uint8_t traits; /* enum known_traits; most instructions have none */
};

/* A µop on its way to fetch (predecode.c). */
struct stream_uop {
    uint32_t flags; /* enum ooo_flags */
    uint32_t insn;
    const struct prepared_uop *operands; /* whose it has: for a fused branch the compare */
    uint64_t address; /* of its first memory access; of a fused branch its last byte */
    union {
        uint16_t size_bytes; /* of its first memory access */
        uint16_t bubble;     /* of a branch, the µop that resolves it, if it is taken: enum
                                block_end */
    };
    uint16_t unit; /* where it executes: its row of `units` */
    uint32_t access_count : 7;
    uint32_t decoded : 1; /* the op cache has it not (branch/op_cache.h) */
    uint32_t access : 24; /* more than one access: low bits of their first index in `gathers` */
};
static_assert(sizeof(struct stream_uop) == 32, "two to a cache line");

/* A dynamic instruction with its accesses, as predecode takes it. */
struct input {
    const struct dynamic_insn *insn;
    const struct memory_access *accesses; /* its own */
};
