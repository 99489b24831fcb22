/* The out-of-order core, inside. Only the files of this folder include this.
 *
 * Each cycle runs the stages in reverse order of the pipeline, as in SimpleScalar: commit, store
 * drain, issue, dispatch, fetch; so a later stage of the same cycle can use what a stage frees, and
 * what a stage makes waits for the next cycle. When no stage did anything, the clock jumps to the
 * next cycle in which one could.
 *
 * µops have sequence numbers in program order and live in one ring from fetch to commit:
 *
 *      head                 tail                  next
 *       |  reorder buffer     |  fetch buffer       |
 *       oldest not committed  next to dispatch      next to fetch
 *
 * A consumer hangs itself on its producer's list at dispatch; when the producer's completion cycle
 * becomes known (at its issue, mostly) the producer tells its consumers, and the one whose last
 * operand this was enters the calendar at the cycle it becomes ready. Nothing is ever searched.
 *
 * What depends on program order alone is done ahead, by the thread that pushes input: µops, fusion
 * and branch prediction (predecode.c), renaming and the store that a load depends on (order.c),
 * into a stream of µops; the pipeline takes them from there and may run on a thread of its own. */
#ifndef CULPRIT_CORE_OOO_OOO_H
#define CULPRIT_CORE_OOO_OOO_H

#include "core/cores.h"
#include "util/executor.h"

#include <assert.h>
#include <stdatomic.h>

#define UNKNOWN UINT64_MAX
enum { NO_LINK = UINT32_MAX };

enum uop_state_flags {
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
    U_ISSUED = 1 << 13,       /* left its issue queue */
    U_VIOLATED = 1 << 14,     /* load that read before an older store to its address */
    U_TAKES_SHIFT = 16,       /* what it holds, and gives back, in four bits */
    U_INT_REGISTER = 1 << 16, /* physical register, until commit */
    U_FP_REGISTER = 1 << 17,
    U_LOAD_ENTRY = 1 << 18,   /* of the load queue, until commit */
    U_BRANCH_ENTRY = 1 << 19, /* of the unresolved branches, until it has executed */
    U_PREFETCH = 1 << 29,
    U_ELIMINATED = 1 << 30, /* needs no functional unit */
    U_MOVE = 1 << 20,       /* eliminated copy: its destination is its source */
    U_TAKEN = 1 << 21,
    U_FORWARDED = 1 << 22,
    U_FIRST = 1 << 23,        /* of its instruction, or of a fused pair */
    U_NEW_LINE = 1 << 24,     /* its instruction begins in another line than the one before ended */
    U_CROSSES_LINE = 1 << 25, /* and ends in another than it begins */
    U_NEW_BLOCK = 1 << 26,    /* begins in another aligned fetch block than the one before */
    U_DEPENDS = 1 << 28,      /* load that overlaps an older store in the queue */
    U_LATE = 1 << 27,         /* branch whose target fetch learns only at decode */

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
             U_LATE | U_PREFETCH | U_ELIMINATED
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
                  U_PREFETCH == (int)LIFE_PREFETCH && U_ELIMINATED == (int)LIFE_ELIMINATED &&
                  !(U_LIFE & (LIFE_DISPATCHED | LIFE_COMPLETED | LIFE_FLUSHED | LIFE_COVERED)),
              "so do those of lives");

/* Which of a µop's links hangs on a producer's list. */
enum { LINK_DATA = UOP_MAX_SOURCES, LINK_STORE, LINK_COUNT };

/* What a µop is: the static part of its state, flags changing as it lives. */
struct uop_kind {
    uint32_t flags;  /* enum uop_state_flags */
    uint8_t pending; /* operands not yet known, once it is dispatched; in the stream: its index
                        within its instruction */
    uint8_t operation;
    uint8_t queue; /* issue queue; NO_QUEUE: issues nowhere */
    uint8_t pool;
};
enum { NO_QUEUE = MACHINE_MAX_QUEUES }; /* its free entries never run out */

/* Beside the registers: what an operand that a µop does not have reads, and writes. */
enum { RENAME_READ_NONE = REG_COUNT, RENAME_WRITE_NONE, RENAME_COUNT };
static_assert(RENAME_COUNT <= UINT8_MAX, "operands are bytes");

/* A static µop on this machine, made and numbered when it is first executed. */
struct prepared_uop {
    struct uop_kind is;
    uint64_t insn_address;
    uint8_t source[UOP_MAX_SOURCES], destination[UOP_MAX_DESTINATIONS]; /* unused: RENAME_* */
    uint8_t data; /* OP_STORE: register stored; RENAME_READ_NONE */
    uint8_t insn_length;
    uint8_t memory; /* load or store: index into the instruction's memory operands, or 255 */
    uint8_t many;   /* more than two sources or destinations */
    uint8_t reserved[4];
};
static_assert(sizeof(struct prepared_uop) == 32, "two to a cache line");
enum { PREPARED_SHIFT = 12, PREPARED_CHUNK = 1 << PREPARED_SHIFT, PREPARED_CHUNKS = 1 << 14 };

/* A static instruction on this machine, as predecode has it. */
enum known_traits {
    KNOWN_COMPARE = 1 << 0,      /* fuses with a branch behind it that is FUSING */
    KNOWN_FUSING_BRANCH = 1 << 1 /* one µop */
};
struct known_insn {
    const struct prepared_uop *uops; /* its first; NULL: was not executed so far */
    uint32_t first_uop; /* its number in `prepared`; its others follow, in the same chunk */
    uint8_t uop_count;
    uint8_t branch; /* enum branch_kind */
    uint8_t traits; /* enum known_traits; most instructions have none */
    uint8_t reserved;
};
static_assert(sizeof(struct known_insn) == 16, "read once per instruction");

/* A µop on its way to fetch (predecode.c). */
struct stream_uop {
    struct uop_kind is;
    uint32_t insn;
    uint32_t static_uop; /* whose operands it has: for a fused branch the compare's */
    uint64_t address;    /* of its first memory access; of a fused branch its last byte */
    uint16_t size_bytes; /* of its first memory access */
    uint16_t access_count;
    uint32_t access; /* more than one access: low bits of their first index in `gathers` */
};
static_assert(sizeof(struct stream_uop) == 32, "two to a cache line");

/* What program order says of a µop in the stream (order.c). */
struct uop_order {
    /* How many µops back the last writer of each source is, and that of a store's data; 0: there is
     * none that can be in flight. An eliminated move's destination has the writer of its source. */
    uint16_t producer[UOP_MAX_SOURCES + 1]; /* the last: of stores only */
    /* Load: how many stores back the youngest store is that overlaps it; 0: none in reach. */
    uint16_t store;
    uint16_t insns; /* begun up to it and with it: low bits */
    /* Events before it enters the reorder buffer. The pipeline adds those of the front end. */
    uint16_t psv : 15;
    uint16_t covered : 1; /* that store holds all the load reads */
};
static_assert(sizeof(struct uop_order) == 16, "four to a cache line");
enum { ORDER_MAX = UINT16_MAX }; /* no window is larger */

struct store_range {
    uint64_t address, end;
};

/* A dynamic instruction with its accesses, as predecode takes it. */
struct input {
    const struct dynamic_insn *insn;
    const struct memory_access *accesses; /* its own */
};

/* What the pipeline keeps of a µop, in one cache line; what does not change stays in the stream. */
struct uop_state {
    uint64_t complete;   /* cycle its result is there; UNKNOWN until issue determines it */
    uint64_t when;       /* waiting: latest known operand; issued: cycle consumers may issue */
    uint32_t consumers;  /* list of links: slot × 8 + LINK_* */
    uint32_t next_ready; /* list of a calendar bucket: slot */
    uint32_t link[LINK_COUNT];
    struct uop_kind is;
    /* Low bits of the number of a store, or (U_DEPENDS) of the store a load needs. */
    uint32_t store;
    uint16_t psv;
    uint16_t reserved;
};
static_assert(sizeof(struct uop_state) == 64, "one cache line");

/* µops that were fetched together. */
struct packet {
    uint64_t end;                    /* sequence number behind its last µop */
    uint64_t arrives;                /* cycle in which it is through the front end */
    uint32_t delay_cache, delay_tlb; /* cycles that it waited for */
};

/* A store queue entry, from dispatch to the cache write. */
struct store_entry {
    uint64_t uop;
    uint64_t address, end;
    uint64_t data_ready; /* cycle its data is there; UNKNOWN */
    uint64_t resolved;   /* cycle its address is known; UNKNOWN */
    uint64_t complete;   /* cycle address and data are known; UNKNOWN */
    uint64_t release;    /* drain begun: cycle the entry is free; UNKNOWN */
    uint32_t insn;
    uint32_t forward_waiters; /* loads that wait for its data: list of slots by link[LINK_STORE] */
    uint32_t drain_waiters;   /* loads it covers in part only: wait until it is in the cache */
    uint32_t speculated;      /* loads that passed it before its address was known */
    uint16_t write_latency;   /* drain begun: cycles until the line is owned, UINT16_MAX at most; 1:
                                 no longer than the store before it */
    uint16_t fill;            /* cycles that it holds an MSHR */
    uint8_t write_level;      /* enum memory_level that serves the line */
};

/* Events in the future by cycle: a wheel of arrays for the next WHEEL_CYCLES, to which most µops go
 * without a branch; a ring of lists beyond; a list for those beyond that. */
enum { WHEEL_CYCLES = 64, CALENDAR_CYCLES = 4096 };
struct calendar {
    uint32_t *wheel; /* WHEEL_CYCLES arrays of slots, as long as the ring of µops each */
    uint32_t wheel_count[WHEEL_CYCLES];
    uint64_t wheel_bits;              /* arrays that are not empty */
    uint32_t bucket[CALENDAR_CYCLES]; /* slots, by next_ready */
    uint64_t bits[CALENDAR_CYCLES / 64];
    uint64_t summary;
    uint32_t far; /* slots due beyond the ring */
    uint64_t far_earliest;
};

/* The stream is filled and handed over in chunks of about so many µops; so many may be under way.
 */
enum { CHUNK_UOPS = 2048, CHUNKS = 4, GATHER_MAX = 16 };

/* Most µops that become ready go to one of the last so many places of the list of ready ones. */
enum { READY_STEPS = 4, READY_ZEROS = READY_STEPS + 1 };

enum { STORE_SLOTS = 4096, WAIT_TABLE = 4096 };

enum { POOL_SLOTS = 16 }; /* MACHINE_MAX_POOLS, as two vectors */
static_assert((int)MACHINE_MAX_POOLS <= (int)POOL_SLOTS, "every pool has its slot");

struct ooo {
    /* ---- configuration, idealisations applied ---- */
    struct machine_core machine;
    uint32_t ideal;
    uint32_t queue_count, pool_count;
    struct machine_queue queues[MACHINE_MAX_QUEUES];
    struct machine_pool pools[MACHINE_MAX_POOLS];
    struct machine_class classes[OP_COUNT];
    uint16_t pool_units[POOL_SLOTS];
    uint16_t queue_issues[MACHINE_MAX_QUEUES]; /* µops a queue may issue in a cycle */
    uint32_t queue_pools[MACHINE_MAX_QUEUES];  /* bit set: the pools of a queue */
    uint32_t open_pools; /* bit set: those with a place when a cycle begins, so all */
    struct timing {
        uint32_t latency, wake; /* cycles from issue to the result, and to the issue of consumers */
    } timing[OP_COUNT];
    uint32_t slow_pools;   /* bit set: those with classes that are not pipelined */
    uint32_t load_latency; /* of a load that hits, its address generation included */
    uint32_t l1i_latency, l1d_latency, btb_miss_penalty, taken_bubble;
    uint32_t fetch_line_shift;
    uint64_t fetch_line_mask, fetch_block_mask; /* of an address: in which it lies */
    uint32_t fetch_capacity;
    uint32_t int_available, fp_available; /* renaming registers beyond the architectural ones */
    uint32_t branches_available;
    bool isa_known;

    /* ---- the rooms it drives ---- */
    struct memory *memory;
    struct branch_predictor *predictor;
    struct tap *tap;
    struct tap_buffer *buffer;
    struct tap_state tap_state;
    uint32_t tap_kinds;
    struct kept_life *lives; /* by slot; NULL: not wanted */
    uint8_t dispatch_held;   /* enum dispatch_block: what held the µop at the tail last */
    struct life_cursor {
        uint64_t insns;  /* instructions begun up to the µop shown last */
        uint32_t packet; /* that it was fetched in, or an older one */
    } life_cursor;

    /* ---- input window, as both sides of the hand-over see it ---- */
    const struct code *code;
    struct stream_uop *stream;     /* [head, produced) */
    struct uop_order *order;       /* beside it */
    uint64_t *insn_starts;         /* sequence number of each instruction's first µop */
    uint64_t *marks;               /* sequence numbers of µops at which fetch has to look */
    uint64_t stream_mask;          /* of all four */
    struct memory_access *gathers; /* accesses of µops that have several */
    uint64_t gather_mask;
    struct prepared_uop *prepared[PREPARED_CHUNKS]; /* by static µop, in the order in which they
                                                       were first executed; chunks never move */

    /* ---- the input side's own; the long array above keeps what it writes for every instruction
     * out of the cache lines that the pipeline reads ---- */
    struct known_insn *known; /* by static instruction */
    size_t known_capacity;
    uint32_t known_count;
    uint32_t prepared_count;
    uint64_t produced; /* µops put into the stream */
    uint64_t gather_end;
    struct dynamic_insn waiting; /* last instruction of the input: its successor is not known */
    struct memory_access *waiting_accesses;
    size_t waiting_capacity;
    bool is_waiting;
    uint64_t rep_piece;      /* of a repeated instruction that the chunk had no room for */
    uint32_t fused_operands; /* µop of a compare whose branch comes next; UINT32_MAX: none */
    uint32_t fused_places;
    uint64_t last_begin, last_end; /* first and last byte of the instruction before */
    uint64_t writer[RENAME_COUNT]; /* sequence number of the last writer */
    uint64_t insns_seen, marks_seen, stores_seen; /* up to the last chunk that was put in order */
    /* The youngest stores: as many as the queue holds, or for lives LIFE_STORES_BACK times as many.
     */
    struct store_range *store_ranges;
    uint32_t store_range_mask, store_reach;
    uint64_t youngest_store[STORE_SLOTS]; /* number + 1 by hashed 8-byte granule; 0 none */

    /* ---- hand-over: the input side above fills chunks of the stream, the pipeline below runs as
     * far as the last chunk handed over reaches, on the executor's thread if there is one ---- */
    struct executor *executor;
    struct chunk {
        uint64_t produced, insns, marks; /* at its end; a fused pair is one instruction */
        uint64_t ticket;
        bool all; /* run until everything has committed */
    } chunks[CHUNKS];
    uint64_t handed_over;               /* chunks */
    uint64_t chunk_start, gather_start; /* of the chunk being filled */
    atomic_bool failed;                 /* `error` is set */
    struct error error;
    uint64_t available, available_insns, available_marks; /* end of the last chunk */

    /* ---- time ---- */
    uint64_t cycle;
    bool progress; /* some stage did something in this cycle */

    /* ---- µops ---- */
    struct uop_state *uops; /* and one behind the ring, complete for ever */
    uint32_t mask;          /* ring size − 1 */
    uint64_t head, tail, next;

    /* ---- fetch ---- */
    uint64_t fetched_insns;
    uint64_t next_mark;    /* number of the first mark not passed */
    uint64_t fetch_resume; /* cycle; UNKNOWN while a branch or flush decides it */
    uint32_t fetch_lines;  /* U_NEW_LINE, U_CROSSES_LINE: done for the next instruction */
    uint32_t fetch_delay_cache, fetch_delay_tlb; /* cycles that the next packet waited for */
    /* Packets in flight, to commit: [packet_oldest, packet_end), those committed meanwhile let go
     * when fetch wants room; [packet_head, packet_end) are on their way through the front end, and
     * the one behind them never arrives. */
    struct packet *packets;
    uint32_t packet_mask, packet_oldest, packet_head, packet_end;
    uint32_t packet_limit;
    uint64_t arrived; /* sequence number behind the last µop that came through the front end */

    /* ---- dispatch ---- */
    uint32_t queue_free[NO_QUEUE + 1]; /* entries; by uop_kind.queue */
    uint32_t loads_free, int_free, fp_free, branches_free;
    uint64_t room;                   /* at least so many µops may certainly enter */
    uint64_t serial_hold, load_hold; /* µops that must have committed; sequence number + 1 */

    /* ---- issue ---- */
    struct calendar calendar;
    uint64_t *ready; /* µops that may issue, of all queues, oldest first, behind READY_ZEROS zeros:
                        as ready_entry */
    uint32_t ready_count;
    uint64_t *fresh; /* became ready in the cycle being issued (zero latencies) */
    uint32_t fresh_count;
    bool issuing;
    uint64_t unit_free[MACHINE_MAX_POOLS][16]; /* pools with unpipelined classes */

    /* ---- stores: numbers grow; [head, drain) being written, [drain, tail) waiting ---- */
    struct store_entry *stores;
    uint32_t store_mask;
    uint64_t store_head, store_drain, store_tail;
    uint64_t drain_resume;
    uint64_t wait_table[WAIT_TABLE]; /* loads that violated: epoch + 1 */

    /* ---- commit ---- */
    uint32_t empty_reason; /* enum tap_empty should the ROB be found empty */
    uint64_t last_commit;
    uint64_t entered_empty; /* cycle at which a µop last entered an empty ROB */

    struct core_statistics statistics;
    struct branch_statistics warmed_branch; /* what warming added: not to be reported */
};

/* ---- stages; each sets core->progress when it did something ---- */
void commit_stage(struct ooo *core);
void drain_stage(struct ooo *core);
void issue_stage(struct ooo *core);
void dispatch_stage(struct ooo *core);
/* Takes the place of dispatch_stage() when the reorder buffer is full and lives are recorded. */
void dispatch_full(struct ooo *core);
void fetch_stage(struct ooo *core);

/* Puts instructions into the stream, in order, until the chunk is full; returns how many. The chunk
 * may end within a repeated instruction: hand it over, then go on from there. insns[count] is there
 * too, the successor of the last, and accesses[0] even if no instruction has any. */
uint32_t predecode_run(struct ooo *core, const struct dynamic_insn *insns, uint32_t count,
                       const struct memory_access *accesses, uint32_t first_access);
/* The same for one; `next` is its successor, or NULL. False: the chunk is full. */
bool predecode_step(struct ooo *core, const struct input *input, const struct dynamic_insn *next);

/* Puts in order what the chunk was filled with (order.c). */
void order_chunk(struct ooo *core);

/* Looks up what the µops of a static instruction are on this machine (prepare.c). */
bool prepare(struct ooo *core, uint32_t insn_number, struct error *error);
/* Registers that renaming may hand out: those beyond the architectural state. */
bool set_registers(struct ooo *core, enum isa isa, struct error *error);

/* Hands the stream over to the pipeline as far as it is filled; with `all`, waits until everything
 * has committed (ooo.c). */
bool hand_over(struct ooo *core, bool all, struct error *error);
void wait_for_pipeline(const struct ooo *core);

/* ---- shared pieces ---- */
static inline uint64_t lesser(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}
static inline bool chunk_is_full(const struct ooo *core) {
    return core->produced - core->chunk_start >= CHUNK_UOPS ||
           core->gather_end - core->gather_start >= CHUNK_UOPS;
}
static inline struct prepared_uop *prepared_at(const struct ooo *core, uint32_t static_uop) {
    return &core->prepared[static_uop >> PREPARED_SHIFT][static_uop % PREPARED_CHUNK];
}
static inline struct uop_state *uop_at(struct ooo *core, uint64_t sequence) {
    return &core->uops[sequence & core->mask];
}
static inline const struct stream_uop *stream_at(const struct ooo *core, uint64_t sequence) {
    return &core->stream[sequence & core->stream_mask];
}
static inline const struct uop_order *order_at(const struct ooo *core, uint64_t sequence) {
    return &core->order[sequence & core->stream_mask];
}
/* What is known of a µop in the stream before it is dispatched: by program order, and now. */
static inline struct uop_order *front_end_of(struct ooo *core, uint64_t sequence) {
    return &core->order[sequence & core->stream_mask];
}
static inline uint32_t slot_of(const struct ooo *core, const struct uop_state *uop) {
    return (uint32_t)(uop - core->uops);
}
static inline uint64_t sequence_of(const struct ooo *core, const struct uop_state *uop) {
    return core->head + ((slot_of(core, uop) - core->head) & core->mask);
}

/* What a kind of µop holds: four counts of 16 bits each, of integer registers, fp registers, load
 * queue entries and unresolved branches. */
static inline uint64_t resources_of(uint32_t flags) {
    static const uint64_t by_kind[16] = {
        0x0000000000000000, 0x0000000000000001, 0x0000000000010000, 0x0000000000010001,
        0x0000000100000000, 0x0000000100000001, 0x0000000100010000, 0x0000000100010001,
        0x0001000000000000, 0x0001000000000001, 0x0001000000010000, 0x0001000000010001,
        0x0001000100000000, 0x0001000100000001, 0x0001000100010000, 0x0001000100010001,
    };
    return by_kind[flags >> U_TAKES_SHIFT & 15];
}

/* A µop in the list of the ready. */
static inline uint64_t ready_entry(uint64_t sequence, uint32_t pool) {
    return sequence * POOL_SLOTS + pool;
}

/* Puts the µop on the wheel for a cycle at most WHEEL_CYCLES − 1 ahead if `condition`; without a
 * branch, since neither the condition nor the distance follows a pattern. */
static inline void wheel_put_if(struct ooo *core, uint32_t slot, uint64_t cycle, bool condition) {
    struct calendar *calendar = &core->calendar;
    uint32_t at = cycle % WHEEL_CYCLES, count = calendar->wheel_count[at];
    calendar->wheel[at * (core->mask + 1) + count] = slot;
    calendar->wheel_count[at] = count + condition;
    calendar->wheel_bits |= (uint64_t)condition << at;
}

/* All operands known: the µop may issue from `cycle` on (calendar.c). */
void schedule(struct ooo *core, struct uop_state *uop, uint64_t cycle);
/* Moves what is due at the current cycle to the ready µops. */
void calendar_deliver(struct ooo *core);
/* Earliest cycle after the current one with an event; UNKNOWN if there is none. */
uint64_t calendar_next(const struct ooo *core);
void calendar_clear(struct ooo *core);

/* The window is empty: everything that limits dispatch is free. */
void free_window(struct ooo *core);

/* ---- load/store queue (lsq.c) ---- */
void store_enter(struct ooo *core, struct uop_state *uop, uint64_t sequence, uint64_t data_ready);
/* The load depends on this store, which is in the queue. */
void load_enter(struct ooo *core, struct uop_state *load, uint64_t sequence, uint64_t number);
/* Issues a load in this cycle: to the cache, to forwarding, or back to wait. */
void load_issue(struct ooo *core, struct uop_state *load);
/* The store's address operands are there: resolves its address, and finds violations. */
void store_issue(struct ooo *core, struct uop_state *uop);
/* The cycle of the store's data is known. */
void store_data(struct ooo *core, struct uop_state *uop, uint64_t ready);
void stores_squash(struct ooo *core);

/* ---- tap ---- */
/* Appends a record: n µops were fetched or dispatched. A failure of a worker is kept in
 * core->failed. */
void tap_emit(struct ooo *core, unsigned kind, unsigned n);

/* The buffer has no room for what may come next: hands it over. */
void tap_next_buffer(struct ooo *core);

/* ---- lives (lives.c) ---- */
/* The µops from `first` on have entered; the first one had been held. */
void lives_dispatched(struct ooo *core, uint64_t first, uint8_t held);
/* The µops [first, end) committed or (LIFE_FLUSHED) were squashed: shows their lives.
 */
void lives_show(struct ooo *core, uint64_t first, uint64_t end, enum life_flags squashed);

static inline struct kept_life *life_of(struct ooo *core, const struct uop_state *uop) {
    return core->lives ? &core->lives[slot_of(core, uop)] : NULL;
}

#endif
