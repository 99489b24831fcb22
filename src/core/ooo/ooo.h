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
 * Width, ROB and what is between fetch and dispatch count places: i-width is then the last µop of
 * the place so many before that of i. A µop has a place of its own, or that of the µop before it
 * (core/places.h).
 *
 * They are the nodes and edges of the dependence graph of Fields and others (graph/). Stages have a
 * header each (fetch.h, dispatch.h, issue.h, loads_stores.h), so that they become one loop; that
 * and commit are in timing.c. What they keep is in headers of its own, from which struct ooo is
 * made: µops (uops.h), where the core stands (standing.h), issue slots and units (issue_slots.h),
 * stores (stores.h), records of the tap (tap_records.h).
 *
 * What depends on program order alone is done ahead, by the thread that pushes input: µops, fusion
 * and branch prediction (predecode.c), copies of basic blocks (blocks.h), into a stream of µops;
 * timing takes them from there and may run on a thread of its own. */
#pragma once

#include "core/cores.h"
#include "core/input.h"
#include "core/ooo/issue_slots.h"
#include "core/ooo/schedulers.h"
#include "core/ooo/standing.h"
#include "core/ooo/stores.h"
#include "core/ooo/tap_records.h"
#include "core/ooo/uops.h"
#include "core/uop_timing.h"
#include "util/executor.h"

#include <assert.h>
#include <stdatomic.h>

/* The stream is filled and handed over in chunks of about so many µops; so many may be under way.
 */
enum { CHUNK_UOPS = 2048, CHUNKS = 16, GATHER_MAX = 16 };
enum { NOBODYS_WORDS = 512 }; /* room for the tap's largest record, where there is no tap */
enum { BLOCK_INSNS = 32, BLOCK_UOPS = 96 }; /* of a basic block that is kept, at most */

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
    struct machine
        *described;        /* the machine, if more than classes says where µops execute; or NULL */
    uint64_t no_occupancy; /* `occupancy` when all queues are empty */
    uint32_t l1i_latency, l1d_latency, btb_miss_penalty;
    uint16_t bubbles[BRANCH_KINDS]; /* enum block_end, by enum branch_kind, of near targets */
    uint16_t far_bubble, near_bubble, indirect_bubble, override_bubble;
    uint16_t owed_bubble; /* cycles of branches not taken, for the next taken one */
    uint32_t far_bit, prediction_ahead, prediction_width, lines_ahead;
    uint32_t fetch_line_shift;
    uint64_t fetch_line_mask, fetch_block_mask; /* of an address: in which it lies */
    uint64_t decode_mask;                       /* likewise, of what is decoded in a cycle */
    bool has_op_cache;
    uint64_t
        split_mask; /* place in a line of the L1D; all ones: loads in two lines are as others */
    uint32_t most_of_place;      /* µops */
    uint32_t fetch_capacity;     /* places between fetch and dispatch */
    uint64_t lookahead;          /* µops that may be in flight, for a flush to squash */
    uint32_t limits[HELD_KINDS]; /* of what is held until commit */
    uint32_t branches_available; /* unresolved ones */
    uint32_t limited;            /* held_flag() and U_BRANCH_ENTRY of what has a limit */
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
    /* Cycles by place, of its last µop so far: those of as many as µops may be in flight before the
     * next one, room for WINDOW_STRIDE more, and for as many as may be squashed behind them. */
    uint64_t *dispatch, *commit;
    struct earlier {              /* the same, of places before */
        const uint64_t *fetch;    /* dispatch: so many as are between fetch and dispatch */
        const uint64_t *dispatch; /* so many as dispatch in a cycle */
        const uint64_t *rob;      /* commit: so many as the reorder buffer holds */
        const uint64_t *commit;   /* so many as commit in a cycle */
    } earlier;
    uint64_t origin; /* the number of a µop less its place: one more with each that shares one */
    uint64_t window; /* so many before the next one when they have just moved down */
    uint64_t *held[HELD_KINDS]; /* commits of those who held one, by how many held one before */
    uint64_t *packet_commit;    /* by packet: of its last µop */
    struct standing now;
    uint64_t line_cycles[MACHINE_MOST_LINES_AHEAD]; /* in which the last lines were fetched; with
                                                       lines_ahead */
    struct registers registers;
    uint64_t end_of_time;          /* squashed work: the cycle of the flush; else UNKNOWN */
    uint64_t first_squashed_store; /* and the number of its first store */

    /* issue; cycles up to `left` are over, and those up to `swept` cleared */
    uint64_t result_bus;          /* units that return one result a cycle */
    struct schedulers schedulers; /* of units that are given at dispatch */
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
    struct wrong_paths *wrong_paths; /* NULL: nothing is done down them */

    /* ---- tap ---- */
    struct tap *tap;
    struct tap_buffer *buffer;
    struct tap_state tap_state;
    uint32_t tap_kinds;
    bool merge;      /* records of fetch and dispatch, too */
    uint64_t *words; /* with `merge`, by µop: its tap_uop word; else where they go that nobody
                        wants */
    struct packed_life *lives;    /* by µop; NULL: not wanted */
    uint64_t record_mask;         /* of both */
    struct packed_life *squashed; /* by a flush whose record waits, if it does */
    size_t squashed_count, squashed_capacity;
    struct open_record open;     /* without `merge`: the last commit */
    struct waiting_record group; /* with it: the one that µops join while their cycle is the same */
    uint8_t empty_reason;        /* enum tap_empty should the ROB be found empty */
    uint64_t last_close;         /* cycle of the last commit or flush */
    struct waiting_record dispatching, fetching; /* the groups that µops join */
    struct record_queue closings, dispatches, fetches;

    struct core_statistics statistics;
    struct branch_statistics warmed_branch; /* what warming added: not to be reported */

    struct memory_statistics memory_before; /* what was predecoded was pushed (ooo_needless()) */
    uint32_t pushed_flags;                  /* of all its µops */
    bool pushed_decoded;                    /* the op cache did not have all of it */
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
/* Notes which is a load's whose operation goes elsewhere, into the branch that it fuses with. */
void unit_row_alone(struct ooo *core, uint32_t row, const struct uop_timing *timing);

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
/* The buffer is another, or its end. */
void open_buffer(struct ooo *core);
/* With core->merge: the µop commits (else: commit_record.h). */
void note_commit(struct ooo *core, uint64_t at, uint64_t word, const struct uop_cycles *uop);
/* The µops before `at` have committed, and nothing is open. */
void end_commits(struct ooo *core, uint64_t at);
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
/* Cycles from the last commit or flush to this one, if it is later. */
static inline uint64_t since_close(const struct ooo *core, uint64_t cycle) {
    return later(cycle, core->last_close) - core->last_close;
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
/* Where the cycles of the µop that is being taken are, of one of the same place or of the next. */
static inline uint64_t place_of(const struct ooo *core, uint64_t sequence) {
    return sequence - core->origin;
}
static inline struct store_entry *store_at(struct ooo *core, uint64_t number) {
    return &core->stores[number & core->store_mask];
}
