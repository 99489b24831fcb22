/* The out-of-order core, inside. Only the files of this folder include this.
 *
 * Each cycle runs the stages in reverse order of the pipeline, as in SimpleScalar: commit, store
 * drain, issue, dispatch, fetch; so what a stage frees a later stage of the same cycle can use, and
 * what it makes waits for the next cycle. When no stage did anything, the clock jumps to the next
 * cycle in which one could.
 *
 * µops have sequence numbers in program order and live in one ring from fetch to commit:
 *
 *      head                 tail                  next
 *       |  reorder buffer     |  fetch buffer       |
 *       oldest not committed  next to dispatch      next to fetch
 *
 * A consumer hangs itself on its producer's list at dispatch; when the producer's completion cycle
 * becomes known (at its issue, mostly) the producer tells its consumers, and the one whose last
 * operand this was enters the calendar at the cycle it becomes ready. Nothing is ever searched. */
#ifndef CULPRIT_CORE_OOO_OOO_H
#define CULPRIT_CORE_OOO_OOO_H

#include "core/core.h"

#include <assert.h>

#define UNKNOWN UINT64_MAX
enum { NO_LINK = UINT32_MAX };

enum uop_state_flags {
    U_LOAD = 1 << 0,
    U_STORE = 1 << 1,
    U_BRANCH = 1 << 2,
    U_MISPREDICTED = 1 << 3, /* fetch waits for it */
    U_LAST = 1 << 4,         /* of its instruction */
    U_FUSED = 1 << 5,
    U_REPEATED = 1 << 6,
    U_FLUSH = 1 << 7, /* flushes when it commits: flushing instruction, system call, signal */
    U_SYSCALL = 1 << 8,
    U_SERIAL = 1 << 9,        /* dispatches into an empty ROB only */
    U_SERIAL_END = 1 << 10,   /* nothing dispatches until it has committed */
    U_HOLD_LOADS = 1 << 11,   /* no later load dispatches until it has committed */
    U_WAIT_HEAD = 1 << 12,    /* issues only at the head, with no older store undrained */
    U_ISSUED = 1 << 13,       /* left its issue queue */
    U_VIOLATED = 1 << 14,     /* load that read before an older store to its address */
    U_PACKET_END = 1 << 15,   /* last of its fetch packet */
    U_INT_REGISTER = 1 << 16, /* holds a physical register */
    U_FP_REGISTER = 1 << 17,
    U_PREFETCH = 1 << 18,
    U_ELIMINATED = 1 << 19, /* needs no functional unit */
    U_MOVE = 1 << 20,       /* eliminated copy: its destination is its source */
    U_TAKEN = 1 << 21,
    U_FORWARDED = 1 << 22,
};

/* Which of a µop's links hangs on a producer's list. */
enum { LINK_DATA = UOP_MAX_SOURCES, LINK_STORE, LINK_COUNT };

struct uop_state {
    uint64_t complete;   /* cycle its result is there; UNKNOWN until issue determines it */
    uint64_t when;       /* waiting: latest known operand; issued: cycle consumers may issue */
    uint64_t address;    /* of its first memory access */
    uint64_t data_ready; /* store: cycle its data is there; UNKNOWN */
    uint32_t consumers;  /* list of links: slot × 8 + LINK_* */
    uint32_t next_ready; /* list of a calendar bucket: slot */
    uint32_t link[LINK_COUNT];
    uint8_t pending; /* operands not yet known */
    uint8_t operation;
    uint8_t queue_index; /* issue queue, or NO_QUEUE */
    uint8_t pool;

    uint32_t flags; /* enum uop_state_flags */
    uint16_t psv;
    uint16_t access_count; /* memory accesses (gathers have several) */
    uint32_t insn;         /* static */
    uint32_t size_bytes;   /* of its first access */
    uint64_t insn_number;  /* dynamic */
    uint64_t access;       /* index of its first access in the access window */
    uint64_t fetched;      /* cycle */
    uint64_t store;        /* load: number of the store it depends on + 1; store: its own */
    uint32_t chunk;        /* of a repeated instruction */
    uint8_t uop_index;
    uint8_t source_count, destination_count;
    uint8_t source[UOP_MAX_SOURCES + 1]; /* the last: store data */
    uint8_t destination[UOP_MAX_DESTINATIONS];
};

/* A store queue entry, from dispatch to the cache write. */
struct store_entry {
    uint64_t uop;
    uint64_t address, end;
    uint64_t resolved; /* cycle its address is known; UNKNOWN */
    uint64_t complete; /* cycle address and data are known; UNKNOWN */
    uint64_t release;  /* drain begun: cycle the entry is free; UNKNOWN */
    uint32_t insn;
    uint32_t forward_waiters; /* loads that wait for its data: list of slots by link[LINK_STORE] */
    uint32_t drain_waiters;   /* loads it covers in part only: wait until it is in the cache */
    uint32_t speculated;      /* loads that passed it before its address was known */
    bool committed;
};

/* Events in the future by cycle: a ring of buckets with a bitmap, and a list for those beyond. */
enum { CALENDAR_CYCLES = 4096 };
struct calendar {
    uint32_t bucket[CALENDAR_CYCLES]; /* slots, by next_ready */
    uint64_t bits[CALENDAR_CYCLES / 64];
    uint64_t summary;
    uint32_t far; /* slots due beyond the ring */
    uint64_t far_earliest;
};

struct ready_queue {
    uint64_t *uops; /* sequence numbers, oldest first */
    uint32_t count;
};

/* What a static µop needs on this machine, looked up once. */
struct prepared {
    uint32_t flags;      /* enum uop_state_flags */
    uint8_t pool, queue; /* queue 255: issues nowhere */
    uint16_t reserved;
};

enum { NO_QUEUE = 255, STORE_FILTER = 4096, WAIT_TABLE = 4096 };

struct core {
    /* ---- configuration, idealisations applied ---- */
    struct machine_core machine;
    uint32_t ideal;
    uint32_t queue_count, pool_count;
    struct machine_queue queues[MACHINE_MAX_QUEUES];
    struct machine_pool pools[MACHINE_MAX_POOLS];
    struct machine_class classes[OP_COUNT];
    bool pool_pipelined[MACHINE_MAX_POOLS];
    uint32_t l1i_latency, l1d_latency, fetch_line_shift, btb_miss_penalty, taken_bubble;
    uint32_t fetch_capacity;
    uint32_t int_available, fp_available; /* renaming registers beyond the architectural ones */
    bool isa_known;

    /* ---- the rooms it drives ---- */
    struct memory *memory;
    struct branch_predictor *predictor;
    struct tap *tap;
    struct tap_buffer *buffer;
    struct tap_state tap_state;
    uint32_t tap_kinds;
    life_function life;
    void *life_context;
    struct life *lives; /* by slot; NULL when nobody asked */

    /* ---- input window ---- */
    const struct code *code;
    struct prepared *prepared; /* by static µop */
    size_t prepared_capacity;
    uint32_t prepared_insns; /* static instructions prepared so far */
    struct dynamic_insn *insns;
    struct memory_access *accesses;
    uint64_t insn_mask, access_mask;
    uint64_t insn_head, insn_end; /* oldest not committed, one past the newest */
    uint64_t access_head, access_end;

    /* ---- time ---- */
    uint64_t cycle;
    bool progress; /* some stage did something in this cycle */

    /* ---- µops ---- */
    struct uop_state *uops;
    uint32_t mask; /* ring size − 1 */
    uint64_t head, tail, next;
    uint64_t rename[REG_COUNT]; /* sequence number + 1 of the last writer, 0 none */

    /* ---- fetch ---- */
    uint64_t fetch_insn;
    uint32_t fetch_uop, fetch_chunk;
    uint64_t fetch_resume; /* cycle; UNKNOWN while a branch or flush decides it */
    uint64_t fetch_line[2];
    uint32_t fetch_psv; /* front-end events for the next packet's first instruction */
    uint32_t fetch_delay_cache, fetch_delay_tlb;
    uint32_t refetch_psv; /* event of the instruction that is fetched again after a violation */
    uint32_t packets;     /* fetch packets in flight */

    /* ---- dispatch ---- */
    uint32_t queue_used[MACHINE_MAX_QUEUES];
    uint32_t loads_used, int_used, fp_used, branches_used;
    uint64_t serial_hold, load_hold; /* µops that must have committed; sequence number + 1 */

    /* ---- issue ---- */
    struct calendar calendar;
    struct ready_queue ready[MACHINE_MAX_QUEUES];
    uint64_t *fresh; /* became ready in the cycle being issued (zero latencies) */
    uint32_t fresh_count;
    bool issuing;
    uint64_t pool_cycle[MACHINE_MAX_POOLS]; /* cycle that pool_used counts */
    uint32_t pool_used[MACHINE_MAX_POOLS];
    uint64_t unit_free[MACHINE_MAX_POOLS][16]; /* pools with unpipelined classes */

    /* ---- stores: numbers grow; [head, drain) being written, [drain, tail) waiting ---- */
    struct store_entry *stores;
    uint32_t store_mask;
    uint64_t store_head, store_drain, store_tail;
    uint64_t drain_resume;
    uint16_t store_filter[STORE_FILTER]; /* stores in the queue by 8-byte granule, hashed */
    uint64_t wait_table[WAIT_TABLE];     /* loads that violated: epoch + 1 */

    /* ---- commit ---- */
    uint32_t empty_reason; /* enum tap_empty should the ROB be found empty */
    uint64_t last_commit;
    uint64_t entered_empty; /* cycle at which a µop last entered an empty ROB */

    struct error error; /* of a worker of the tap */
    bool failed;

    struct core_statistics statistics;
    struct branch_statistics warmed_branch; /* what warming added: not to be reported */
};

/* ---- stages; each sets core->progress when it did something ---- */
void commit_stage(struct core *core);
void drain_stage(struct core *core);
void issue_stage(struct core *core);
void dispatch_stage(struct core *core);
void fetch_stage(struct core *core);

/* ---- shared pieces ---- */
static inline struct uop_state *uop_at(struct core *core, uint64_t sequence) {
    return &core->uops[sequence & core->mask];
}
static inline uint32_t slot_of(const struct core *core, const struct uop_state *uop) {
    return (uint32_t)(uop - core->uops);
}
static inline uint64_t sequence_of(const struct core *core, const struct uop_state *uop) {
    return core->head + ((slot_of(core, uop) - core->head) & core->mask);
}

/* All operands known: the µop may issue from `cycle` on (calendar.c). */
void schedule(struct core *core, struct uop_state *uop, uint64_t cycle);
/* Moves what is due at the current cycle to the ready queues. */
void calendar_deliver(struct core *core);
/* Earliest cycle after the current one with an event; UNKNOWN if there is none. */
uint64_t calendar_next(const struct core *core);
void calendar_clear(struct core *core);

/* The completion cycle of a µop is known: tells its consumers; `wake` is the cycle at which they
 * may issue (wakeup.c). */
void finish(struct core *core, struct uop_state *uop, uint64_t complete, uint64_t wake);

/* ---- load/store queue (lsq.c) ---- */
void store_enter(struct core *core, struct uop_state *uop, uint64_t sequence);
/* Finds the youngest older store in the queue that overlaps the load. */
void load_enter(struct core *core, struct uop_state *uop);
/* Issues a load in this cycle: to the cache, to forwarding, or back to wait. */
void load_issue(struct core *core, struct uop_state *uop);
/* The store's address operands are there: resolves it, finds violations. */
void store_issue(struct core *core, struct uop_state *uop);
/* Address and data of a store are known. */
void store_complete(struct core *core, struct uop_state *uop);
void store_commit(struct core *core, struct uop_state *uop);
void stores_squash(struct core *core);

/* ---- tap ---- */
/* Appends a record about n µops from `first` on. A failure of a worker is kept in core->failed. */
void tap_emit(struct core *core, unsigned kind, unsigned flags, uint64_t first, unsigned n,
              uint64_t empty);

static inline struct life *life_of(struct core *core, const struct uop_state *uop) {
    return core->lives ? &core->lives[slot_of(core, uop)] : NULL;
}

#endif
