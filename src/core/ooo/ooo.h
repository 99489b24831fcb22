/* The out-of-order core, inside. Only the files of this folder include this.
 *
 * No cycle is stepped through. The core takes one µop after the other, in program order, and says
 * of each in which cycle it was fetched, dispatched, ready, issued, complete and committed: from
 * the cycles of the µops before it, and from what is free when. Issue takes the oldest ready µop
 * first, so an older µop never waits for a younger one, and giving out slots and units in program
 * order, each at the first free cycle from the one in which the µop is ready, gives the schedule of
 * a machine that steps. The equations (timing.c), of µop i:
 *
 *     fetch(i)    = its packet's cycle: width, block, taken branches, lines, redirects, room
 *     dispatch(i) = max(fetch(i) + depth, dispatch(i-1), dispatch(i-width) + 1, commit(i-ROB),
 *                       room in its issue queue, registers, load and store queue)
 *     ready(i)    = max(dispatch(i) + 1, results of its producers, what it waits for in memory)
 *     issue(i)    = the first cycle from ready(i) with a slot of its queue and a unit of its pool
 *     complete(i) = issue(i) + latency; of a load, what memory says of an access in issue(i)
 *     commit(i)   = max(complete(i) + 1, commit(i-1), commit(i-width) + 1)
 *
 * They are the nodes and edges of the dependence graph of Fields and others (graph/). Stages have a
 * header each (fetch.h, dispatch.h, issue.h, loads_stores.h), so that they become one loop; that
 * and commit are in timing.c.
 *
 * What depends on program order alone is done ahead, by the thread that pushes input: µops, fusion
 * and branch prediction (predecode.c), copies of basic blocks (blocks.h), into a stream of µops;
 * timing takes them from there and may run on a thread of its own. */
#pragma once

#include "core/cores.h"
#include "core/input.h"
#include "core/uop_timing.h"
#include "util/executor.h"

#include <assert.h>
#include <stdatomic.h>

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
    U_FLUSH = 1 << 7, /* flushes when it commits: flushing instruction, system call, signal */
    U_SYSCALL = 1 << 8,
    U_SERIAL = 1 << 9,        /* dispatches into an empty ROB only */
    U_SERIAL_END = 1 << 10,   /* nothing dispatches until it has committed */
    U_HOLD_LOADS = 1 << 11,   /* no later load dispatches until it has committed */
    U_WAIT_HEAD = 1 << 12,    /* issues only at the head, with no older store undrained */
    U_ISSUED = 1 << 13,       /* of lives only */
    U_INT_REGISTER = 1 << 16, /* physical register, until commit: 1 << (16 + enum held_kind) */
    U_FP_REGISTER = 1 << 17,
    U_LOAD_ENTRY = 1 << 18,   /* of the load queue, until commit */
    U_HELD = 7 << 16,         /* any of these */
    U_BRANCH_ENTRY = 1 << 19, /* of the unresolved branches, until it has executed */
    U_MANY = 1 << 14,         /* more than two sources or destinations */
    U_RENAMES = 1 << 15,      /* load or store of an integer that memory renaming may take */
    U_LONG = 1 << 28,         /* takes a unit for more than a cycle; or a load in two lines */
    U_PREFETCH = 1 << 29,
    U_ELIMINATED = 1 << 30, /* needs no functional unit */
    U_MOVE = 1 << 20,       /* eliminated copy: its destination is its source */
    U_TAKEN = 1 << 21,
    U_FORWARDED = 1 << 22,    /* of lives only */
    U_FIRST = 1 << 23,        /* of its instruction, or of a fused pair */
    U_NEW_LINE = 1 << 24,     /* its instruction begins in another line than the one before ended */
    U_CROSSES_LINE = 1 << 25, /* and ends in another than it begins */
    U_NEW_BLOCK = 1 << 26,    /* begins in another aligned fetch block than the one before */
    U_LATE = 1 << 27,         /* branch whose target fetch learns only at decode */

    /* What a plain µop may have: a cycle at one unit. */
    U_PLAIN = U_LAST | U_REPEATED | U_INT_REGISTER | U_FIRST | U_NEW_BLOCK | U_MANY | U_RENAMES,
    U_PLACE = U_NEW_LINE | U_CROSSES_LINE | U_NEW_BLOCK,        /* only with U_FIRST */
    U_ENDS_PACKET = U_MISPREDICTED | U_FLUSH | U_LATE | U_TAKEN /* perhaps */
};
static_assert(U_LAST == (int)TAP_UOP_LAST && U_LOAD == (int)TAP_UOP_LOAD &&
                  U_STORE == (int)TAP_UOP_STORE && U_FUSED == (int)TAP_UOP_FUSED &&
                  U_REPEATED == (int)TAP_UOP_REPEATED && U_BRANCH == (int)TAP_UOP_BRANCH,
              "flags go to the tap as they are");
enum {
    U_LIFE = U_LAST | U_LOAD | U_STORE | U_FUSED | U_REPEATED | U_MISPREDICTED | U_FLUSH |
             U_SYSCALL | U_SERIAL | U_SERIAL_END | U_HOLD_LOADS | U_WAIT_HEAD | U_ISSUED |
             U_INT_REGISTER | U_FP_REGISTER | U_BRANCH_ENTRY | U_TAKEN | U_FORWARDED | U_FIRST |
             U_LATE | U_LONG | U_PREFETCH | U_ELIMINATED
};
static_assert(U_LAST == (int)LIFE_LAST && U_LOAD == (int)LIFE_LOAD && U_STORE == (int)LIFE_STORE &&
                  U_FUSED == (int)LIFE_FUSED && U_REPEATED == (int)LIFE_REPEATED &&
                  U_MISPREDICTED == (int)LIFE_MISPREDICTED && U_FLUSH == (int)LIFE_FLUSHES &&
                  U_SYSCALL == (int)LIFE_SYSTEM_CALL && U_SERIAL == (int)LIFE_SERIAL &&
                  U_SERIAL_END == (int)LIFE_SERIAL_END && U_HOLD_LOADS == (int)LIFE_HOLDS_LOADS &&
                  U_WAIT_HEAD == (int)LIFE_WAITS_HEAD && U_ISSUED == (int)LIFE_ISSUED &&
                  U_INT_REGISTER == (int)LIFE_INT_REGISTER &&
                  U_FP_REGISTER == (int)LIFE_FP_REGISTER && U_BRANCH_ENTRY == (int)LIFE_BRANCH &&
                  U_TAKEN == (int)LIFE_TAKEN && U_FORWARDED == (int)LIFE_FORWARDED &&
                  U_FIRST == (int)LIFE_FIRST && U_LATE == (int)LIFE_LATE &&
                  U_LONG == (int)LIFE_LONG && U_PREFETCH == (int)LIFE_PREFETCH &&
                  U_ELIMINATED == (int)LIFE_ELIMINATED &&
                  !(U_LIFE & (LIFE_DISPATCHED | LIFE_COMPLETED | LIFE_FLUSHED | LIFE_COVERED)),
              "so do those of lives");

/* What a µop may hold from dispatch to commit. */
enum held_kind { HELD_INT, HELD_FP, HELD_LOAD, HELD_KINDS };

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
    uint8_t data;  /* OP_STORE: register stored; RENAME_READ_NONE */
    uint16_t unit; /* where it executes: its row of `units` */
    uint8_t steps; /* destination that it adds a constant to; RENAME_READ_NONE */
    uint8_t reserved[3];
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
    uint32_t access_count : 8;
    uint32_t access : 24; /* more than one access: low bits of their first index in `gathers` */
};
static_assert(sizeof(struct stream_uop) == 32, "two to a cache line");

/* A dynamic instruction with its accesses, as predecode takes it. */
struct input {
    const struct dynamic_insn *insn;
    const struct memory_access *accesses; /* its own */
};

/* ---- what is held until when ---- */

/* A store queue entry, from dispatch to the cache write. */
struct store_entry {
    uint64_t uop;
    uint64_t address, end;
    uint64_t issue;    /* its address is known to loads that issue from this cycle on */
    uint64_t complete; /* cycle address and data are there */
    uint64_t known;    /* and the one from which that is known: its data's producer has issued */
    uint64_t commit;   /* cycle; UNKNOWN: not computed yet */
    uint64_t release;  /* cycle the entry is free: the line is owned, and that of all older ones.
                          Known once it has been drained */
    uint32_t insn;
    uint16_t write_latency; /* cycles until the line is owned, UINT16_MAX at most; 1: no longer than
                               the store before it */
    uint16_t fill;          /* cycles that it holds an MSHR */
    uint8_t write_level;    /* enum memory_level that serves the line */
    bool coherent;          /* it, or one before it that it waits for, waits for another core */
};

/* Words of 4 bytes that were written to a piece of 64 bytes, by stores one after the other. */
struct written_words {
    uint64_t piece; /* number + 1; 0: none */
    uint64_t cycle; /* the last */
    uint32_t words; /* bit set */
};
enum { WRITTEN = 16 };

/* What issues in one cycle. Given out in program order, in cycles to come. */
struct issue_slots {
    uint16_t queue[MACHINE_MAX_QUEUES]; /* µops that each queue issues: so many leave it */
    uint64_t taken;                     /* units, by number */
};
static_assert(sizeof(struct issue_slots) == 16, "four to a cache line");

/* Units are numbered over all pools. This one is never taken: as many µops go there as like. */
#define UNLIMITED_UNIT (UINT64_C(1) << 63)
static inline uint64_t take_one(uint64_t free_units) {
    return free_units & -free_units & ~UNLIMITED_UNIT;
}

/* Cycles that are kept apart, from the last dispatch on. What issues later, behind a long chain of
 * misses, takes no slots; it is noted when its cycle comes so near (issue.h). */
enum { SLOT_CYCLES = 1 << 14 };
struct far_issue {
    uint64_t cycle, units;
    uint8_t queue, branch;
};

/* Where µops go, and how long they take. */
struct unit {
    uint32_t latency;  /* cycles from issue to the result; of a load before the L1 */
    uint32_t wake;     /* to the issue of consumers; of a load to the result, if it hits */
    uint32_t interval; /* cycles that a unit is taken */
    uint8_t queue;
    uint8_t operation;     /* enum operation */
    uint16_t queue_issues; /* µops that the queue may issue in a cycle */
    uint64_t units;        /* that can execute it, by number: the first free one does */
    uint64_t place, full;  /* of `occupancy`: a place of the queue, and set when it is full; of a
                              store whose data have units also those for the data */
    uint64_t second;       /* both in one queue: the place of one; else 0 */
};

/* The cycles of one µop. */
struct uop_cycles {
    uint64_t fetch, dispatch, ready, issue;
    uint64_t complete; /* its result is there */
    uint64_t wake;     /* its consumers may issue */
    uint64_t commit;
    uint16_t psv;
    bool violated; /* a load that read before an older store to its address; number of that: */
    uint64_t passed_store;
    uint64_t lost; /* or UNKNOWN, and before its line was lost to another core in this cycle */
    const struct remembered_store *renamed; /* what a load reads is another name for; or NULL */
};

enum { WINDOW_STRIDE = 2048 };

/* What prediction makes of the branch at the end of a block: cycles that it loses behind it, and
 * whether another block may be predicted in the same cycle. */
enum block_end {
    BUBBLE_CYCLES = 0xfff,
    BLOCK_FOLLOWS = 1 << 12, /* this one with the one before: a direct jump without a bubble */
    BLOCK_LEADS = 1 << 13    /* the next one with this: a direct branch or call */
};

/* Where the core stands: behind the last µop. Squashed work takes it back to what it was. The loop
 * over µops keeps a copy of its own, which no pointer reaches: it stays in registers (timing.c). */
struct standing {
    /* fetch: the packet that µops join as long as it is open */
    uint64_t packet; /* number */
    uint64_t packet_cycle, fetch_resume;
    uint64_t predicted;        /* cycle from which on it is known what the next packet has */
    uint32_t predicted_blocks; /* in the cycle before that; prediction_width: no more may be */
    uint64_t packet_room;      /* room from this cycle on comes too late for it; 0: none is open */
    uint32_t packet_ends;      /* flags of a µop that it does not take */
    uint32_t packet_insns, packet_taken;
    uint32_t delay_cache, delay_tlb;           /* cycles that the packet waited for lines */
    uint32_t next_delay_cache, next_delay_tlb; /* that the next one does */
    bool packet_filled;                        /* it has µops */
    uint64_t insns, fused; /* instructions begun, a fused pair as one; and such pairs */
    /* dispatch */
    uint64_t dispatch;               /* of the last µop */
    uint64_t serial_hold, load_hold; /* commits that all µops, or loads, wait for */
    uint64_t order_hold;             /* the later of the two */
    uint64_t held[HELD_KINDS];       /* µops so far that hold one of each until commit */
    uint64_t stores;                 /* dispatched so far: the next one's number */
    uint64_t remembered;             /* of them, those that memory renaming remembered */
    uint64_t commit;                 /* of the last µop */
};

/* Fetch and prediction go on in this cycle at the earliest: the lead is lost. */
static inline void resume_fetch(struct standing *now, uint64_t cycle) {
    now->fetch_resume = cycle;
    now->predicted = cycle;
    now->predicted_blocks = UINT32_MAX;
}

/* By register: when its value wakes those who read it; with lives, who writes it; where operations
 * may take no time, when that issued. Squashed work takes it back, too. */
struct registers {
    uint64_t wake[RENAME_COUNT], writer[RENAME_COUNT], issue[RENAME_COUNT];
    uint64_t changed[RENAME_COUNT]; /* with memory renaming: the µop that wrote it last, + 1 */
};

/* A store as memory renaming remembers it (memory_renaming.h). */
struct remembered_store {
    uint64_t number, uop, address;
    uint64_t wake, writer, issue; /* as those of a register, of what it stores */
    uint8_t base, index;          /* its address's registers */
};
enum { REMEMBERED_STORES = 64, MOST_PREDICTED = 64 };
/* A load that read from the store so many before it; 0: there is none. */
struct predicted_forward {
    uint32_t insn, stores_back;
};

/* A record of the tap whose cycle has come for all that may come before it, or not yet (records.c).
 */
struct waiting_record {
    uint64_t cycle, first; /* µop */
    uint64_t empty, word;  /* as in the record; the payload of a flush */
    uint32_t count;
    uint8_t kind, flags; /* enum tap_kind, enum tap_empty */
};
struct record_queue {
    struct waiting_record *items;
    uint32_t begin, end;
};

/* The stream is filled and handed over in chunks of about so many µops; so many may be under way.
 */
enum { CHUNK_UOPS = 2048, CHUNKS = 16, GATHER_MAX = 16 };
enum { BLOCK_INSNS = 32, BLOCK_UOPS = 96 }; /* of a basic block that is kept, at most */

enum { STORE_SLOTS = 4096, WAIT_TABLE = 4096 };
enum {
    ORDER_MAX = UINT16_MAX
}; /* no window is larger, and no life names a producer farther back */

struct ooo {
    /* ---- configuration, idealisations applied ---- */
    struct machine_core machine;
    uint32_t ideal;
    uint32_t queue_count, pool_count;
    struct machine_queue queues[MACHINE_MAX_QUEUES];
    struct machine_pool pools[MACHINE_MAX_POOLS];
    uint8_t unit_number[MACHINE_MAX_POOLS][16];
    struct machine_class classes[OP_COUNT];
    struct unit units[MOST_UNITS];
    struct unit data_unit; /* for the data of stores, if data_apart; they are there a cycle later */
    bool data_apart;
    uint32_t unit_count; /* the input side's own, as are rows that no µop has been given yet */
    struct machine *with_forms; /* the machine as described, if it has a table of forms; or NULL */
    uint64_t no_occupancy;      /* `occupancy` when all queues are empty */
    uint32_t l1i_latency, l1d_latency, btb_miss_penalty;
    uint16_t bubbles[BRANCH_KINDS]; /* enum block_end, by enum branch_kind, of near targets */
    uint16_t far_bubble;
    uint32_t far_bit, prediction_ahead, prediction_width;
    uint32_t fetch_line_shift;
    uint64_t fetch_line_mask, fetch_block_mask; /* of an address: in which it lies */
    uint64_t
        split_mask; /* place in a line of the L1D; all ones: loads in two lines are as others */
    uint32_t fetch_capacity;     /* µops between fetch and dispatch */
    uint64_t lookahead;          /* µops that may be in flight, for a flush to squash */
    uint32_t limits[HELD_KINDS]; /* of what is held until commit */
    uint32_t branches_available; /* unresolved ones */
    uint32_t limited;            /* U_HELD and U_BRANCH_ENTRY of what has a limit */
    bool notes_more;             /* some operations take no time, or memory is renamed */
    uint32_t packet_limit;       /* packets in flight; 0: no limit */
    bool isa_known;
    bool one_of_several;                 /* shares memory with others (core/core.h) */
    struct predecoded *kept;             /* it only predecodes, and keeps that; NULL: it times it */
    const struct machine_branch *branch; /* of such a core: the machine's */

    /* ---- the rooms it drives ---- */
    struct memory *memory;
    struct branch_predictor *predictor;

    /* ---- input window, as both sides of the hand-over see it ---- */
    const struct code *code;
    struct stream_uop *stream; /* [0, produced): as many as are on their way, or may be squashed */
    uint64_t stream_mask;
    struct memory_access *gathers; /* accesses of µops that have several */
    uint64_t gather_mask;
    struct prepared_uop *prepared[PREPARED_CHUNKS]; /* by static µop, in the order in which they
                                                       were first executed; chunks never move */

    /* ---- the input side's own; the long array above keeps what it writes for every instruction
     * out of the cache lines that timing reads ---- */
    struct known_insn *known; /* by static instruction */
    size_t known_capacity;
    uint32_t known_count;
    uint32_t prepared_count;
    uint64_t produced; /* µops put into the stream */
    uint64_t gather_end;
    bool stack_moved;            /* since the stack pointer was last up to date */
    struct dynamic_insn waiting; /* last instruction of the input: its successor is not known */
    struct memory_access *waiting_accesses;
    size_t waiting_capacity;
    bool is_waiting;
    uint64_t rep_piece; /* of a repeated instruction that the chunk had no room for */
    const struct prepared_uop *fused_operands; /* of a compare whose branch comes next; or NULL */
    uint32_t fused_places;
    uint64_t last_begin, last_end; /* first and last byte of the instruction before */
    bool at_block;                 /* a basic block may begin with the next instruction */

    /* ---- hand-over: the input side above fills chunks of the stream, timing below takes all of
     * them, on the executor's thread if there is one ---- */
    struct executor *executor;
    struct chunk {
        uint64_t produced; /* at its end */
        uint64_t ticket;
        bool all; /* run until everything has committed */
    } chunks[CHUNKS];
    uint64_t handed_over;               /* chunks */
    uint64_t chunk_start, gather_start; /* of the chunk being filled */
    atomic_bool failed;                 /* `error` is set */
    struct error error;
    uint64_t available; /* end of the last chunk */

    /* ---- timing ---- */
    uint64_t next;   /* sequence number of the first µop that has not been taken */
    uint64_t until;  /* one of several: no µop is taken once one has dispatched in this cycle;
                        UNKNOWN: all are */
    uint64_t others; /* and up to this cycle it knows what the others ask for; UNKNOWN: always */
    uint64_t waits_until; /* cycle before which the next µop does nothing; 0: it may go */
    uint64_t idle;        /* cycles that were not its thread's, and are not on the tap */
    uint64_t mask;        /* of the rings below, which hold twice the µops that may be in flight */
    /* Cycles by µop, from `origin` on: those of the µops that may be in flight before the next one,
     * room for WINDOW_STRIDE more, and for as many as may be squashed behind them. */
    uint64_t *dispatch, *commit;
    struct earlier {              /* the same, of µops before */
        const uint64_t *fetch;    /* dispatch: so many as are between fetch and dispatch */
        const uint64_t *dispatch; /* so many as dispatch in a cycle */
        const uint64_t *rob;      /* commit: so many as the reorder buffer holds */
        const uint64_t *commit;   /* so many as commit in a cycle */
    } earlier;
    uint64_t origin, window;    /* so many before the next one when they have just moved down */
    uint64_t *held[HELD_KINDS]; /* commits of those who held one, by how many held one before */
    uint64_t *packet_commit;    /* by packet: of its last µop */
    struct standing now;
    struct registers registers;
    uint64_t end_of_time;          /* squashed work: the cycle of the flush; else UNKNOWN */
    uint64_t first_squashed_store; /* and the number of its first store */

    /* issue; cycles up to `left` are over, and those up to `swept` cleared */
    struct issue_slots slots[SLOT_CYCLES];
    uint64_t slot_bits[SLOT_CYCLES / 64]; /* set: something issues in that cycle */
    uint16_t *branch_slots;               /* those that resolve, of a limited number */
    uint64_t left, swept, sweep_at;       /* when `left` comes to that: swept once more */
    uint64_t occupancy; /* µops in each queue after `swept`, 16 bits each, the highest of which is
                           set when it is full */
    uint32_t branches;  /* unresolved after `swept` */
    struct far_issue *far;
    uint32_t far_count, far_capacity;
    uint64_t far_earliest;

    /* stores by number: [drained, now.stores) are not in the cache yet */
    struct store_entry *stores;
    uint32_t store_mask;
    uint64_t drained, committed_stores;
    uint64_t drain_due; /* the cycle in which the oldest of them can be; UNKNOWN: none that has
                           committed */
    uint64_t drain_cycle, last_release;
    bool last_coherent;             /* what last_release is of waits for another core */
    uint64_t awaited_line, awaited; /* the last line that a store asked another core for: its
                                       number, UNKNOWN: none, and the cycle in which it is owned */
    uint64_t drained_block;         /* the last that was written to; 0 where blocks do not matter */
    struct written_words written[WRITTEN]; /* the latest, a ring, with core.partial_store */
    uint32_t written_last;
    uint32_t drained_in_cycle, store_block_shift, line_shift;
    struct store_range {
        uint64_t address, end;
    } * store_ranges; /* of the youngest stores: as many as the queue holds, or for lives
                         LIFE_STORES_BACK times as many */
    uint32_t store_range_mask, store_reach;
    uint64_t youngest_store[STORE_SLOTS]; /* number + 1 by hashed 8-byte granule; 0 none */
    uint64_t wait_table[WAIT_TABLE];      /* loads that violated: epoch + 1 */
    struct remembered_store remembered[REMEMBERED_STORES]; /* by low bits of their count */
    struct predicted_forward predicted[MOST_PREDICTED];

    /* ---- tap ---- */
    struct tap *tap;
    struct tap_buffer *buffer;
    struct tap_state tap_state;
    uint32_t tap_kinds;
    bool merge;            /* records of fetch and dispatch, too */
    uint64_t *words;       /* by µop: its tap_uop word. With `merge`: else the buffer has them */
    uint64_t *group_words; /* those of the group, where its record will have them */
    struct packed_life *lives;    /* by µop; NULL: not wanted */
    uint64_t record_mask;         /* of both */
    struct packed_life *squashed; /* by a flush whose record waits, if it does */
    size_t squashed_count, squashed_capacity;
    struct waiting_record group; /* the commit that µops join as long as their cycle is the same */
    uint32_t group_flags;        /* of its last µop */
    uint8_t empty_reason;        /* enum tap_empty should the ROB be found empty */
    uint64_t last_close;         /* cycle of the last commit or flush */
    struct waiting_record dispatching, fetching; /* the groups that µops join */
    struct record_queue closings, dispatches, fetches;

    struct core_statistics statistics;
    struct branch_statistics warmed_branch; /* what warming added: not to be reported */

    struct memory_statistics memory_before; /* what was predecoded was pushed (ooo_needless()) */
    uint32_t pushed_flags;                  /* of all its µops */
    bool failed_forward;                    /* a store that covers only a part of a load was met */
    bool met_split;                         /* and a load or store that lies in two lines */
};

/* Whether a load lies in two lines, which this machine minds: then it accesses the L1 twice, and so
 * takes its unit for a cycle more, and is core.split_load later (loads_stores.h). */
static inline bool is_split_load(const struct ooo *core, uint64_t address, uint64_t size) {
    return (address & core->split_mask) + size - 1 > core->split_mask;
}

/* Puts instructions number *at to `end` of the batch into the stream, in order, until the chunk is
 * full; *at becomes that of the first that is left. The chunk may end within a repeated
 * instruction: hand it over, then go on from there. Number `end` is in the batch, too: the
 * successor of the last. False: the input is wrong, or memory out. */
bool predecode_run(struct ooo *core, const struct core_input *batch, uint32_t *at, uint32_t end,
                   struct error *error);
/* The same for one; `next` is its successor, or NULL. False: the chunk is full. */
bool predecode_step(struct ooo *core, const struct input *input, const struct dynamic_insn *next);

/* Looks up what the µops of a static instruction are on this machine (prepare.c). */
bool prepare(struct ooo *core, uint32_t insn_number, struct error *error);
/* The same unless that was done. False also: the code has no such instruction. */
static inline bool meet_insn(struct ooo *core, uint32_t insn_number, struct error *error) {
    if (__builtin_expect(insn_number >= core->known_count, 0))
        return core_input_error(error);
    return __builtin_expect(core->known[insn_number].uops != NULL, 1) ||
           prepare(core, insn_number, error);
}
/* Registers that renaming may hand out: those beyond the architectural state. */
bool set_registers(struct ooo *core, enum isa isa, struct error *error);

/* What the input side begins with, before the first instruction. */
void begin_input(struct ooo *core);

/* The machine with its idealisations (configure.c). False: out of memory. */
bool configure(struct ooo *core, const struct machine *machine);
struct unit unit_for(const struct ooo *core, enum operation operation,
                     const struct uop_timing *timing);
/* The row of `units` for µops of this operation that take so long on the machine as described, made
 * if it is new; MOST_UNITS: there is no room. */
uint32_t unit_row(struct ooo *core, enum operation operation, const struct uop_timing *timing);

/* Hands the stream over to timing as far as it is filled; with `all`, waits until everything has
 * committed (ooo.c). */
bool hand_over(struct ooo *core, bool all, struct error *error);
void wait_for_pipeline(const struct ooo *core);

/* What a core that only predecodes keeps (predecoded.c). */
struct predecoded *predecoded_new(void); /* NULL: out of memory */
void predecoded_free(struct predecoded *kept);
/* µops of a row of units take so long on the machine as described. */
void predecoded_note_row(struct predecoded *kept, uint32_t row, const struct uop_timing *timing);
/* The chunk that the stream has been filled with. */
bool predecoded_add_chunk(struct ooo *core, struct error *error);

/* Takes all µops of the stream; with `all`, time goes on behind the last commit (timing.c). */
void run_timing(struct ooo *core, bool all);

/* ---- records of the tap (records.c) ---- */
/* The words of µops that commit together go where their record will be. */
void begin_group_words(struct ooo *core);
/* The µops that commit together are known. */
void end_group(struct ooo *core);
/* The µop at `first` flushes all from it on, in this cycle; `empty` as in tap.h. Its life and those
 * of the squashed are in `squashed`. */
void flush_record(struct ooo *core, uint64_t cycle, uint64_t first, uint64_t word, uint64_t empty);
/* The µop was fetched, or entered, in this cycle. Only where core->merge. */
void note_fetch(struct ooo *core, uint64_t at, uint64_t cycle);
void note_dispatch(struct ooo *core, uint64_t at, uint64_t cycle);
/* Nothing more happens before this cycle: shows what did. UNKNOWN: all. */
void show_until(struct ooo *core, uint64_t cycle);

/* Read-modify-write as one: its load owns the line, its store is done before another core has it.
 */
static inline bool is_atomic(const struct ooo *core, uint32_t insn) {
    return core->one_of_several && core->code->insns[insn].flags & INSN_ATOMIC;
}

/* A stage: part of the one loop over µops. */
#define STAGE static inline __attribute__((always_inline))

/* ---- shared pieces ---- */
static inline uint64_t lesser(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}
static inline uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}
static inline uint16_t low16(uint64_t cycles) {
    return cycles < UINT16_MAX ? (uint16_t)cycles : UINT16_MAX;
}
static inline bool chunk_is_full(const struct ooo *core) {
    return core->produced - core->chunk_start >= CHUNK_UOPS ||
           core->gather_end - core->gather_start >= CHUNK_UOPS;
}
static inline const struct stream_uop *stream_at(const struct ooo *core, uint64_t sequence) {
    return &core->stream[sequence & core->stream_mask];
}
static inline const struct unit *unit_of(const struct ooo *core, const struct stream_uop *uop) {
    return &core->units[uop->unit];
}
/* Where the cycles of a µop are. */
static inline uint64_t place_of(const struct ooo *core, uint64_t sequence) {
    return sequence - core->origin;
}
static inline struct store_entry *store_at(struct ooo *core, uint64_t number) {
    return &core->stores[number & core->store_mask];
}
