/* The in-order core, inside. Only the files of this folder include this.
 *
 * µops issue in program order; the oldest that has not issued stands at the head of the issue queue
 * and owns the cycles that it waits there (DCPI §6.1). So each µop's cycle of issue follows from
 * those of older ones: no cycle is stepped through. What else happens, packets fetched and lines of
 * the write buffer written, are events with cycles of their own; memory is asked in the order of
 * cycles.
 *
 *      head                  fetched               end
 *       |  fetch buffer       |  input               |
 *       next to issue         next to fetch          of what was pushed
 */
#pragma once

#include <assert.h>

#include "core/cores.h"

#define UNKNOWN UINT64_MAX

enum inorder_flags {
    /* The low six are those of enum tap_uop_flags. */
    I_LAST = TAP_UOP_LAST,
    I_LOAD = TAP_UOP_LOAD,
    I_STORE = TAP_UOP_STORE,
    I_BRANCH = TAP_UOP_BRANCH,
    I_FIRST = 1 << 6,
    I_TAKEN = 1 << 7,
    I_MISPREDICTED = 1 << 8, /* fetch waits until it has issued */
    I_FLUSH = 1 << 9,        /* likewise: flushing instruction, system call, signal */
    I_SYSCALL = 1 << 10,
    I_LATE = 1 << 11,        /* branch whose target fetch learns only at decode */
    I_SERIAL = 1 << 12,      /* waits for all results */
    I_WAIT_STORES = 1 << 13, /* waits until the write buffer is empty */
    I_PREFETCH = 1 << 14,
    I_REACHED = 1 << 15 /* its packet has begun to be fetched */
};

/* Operands are registers, or one of two dummies behind them: NOTHING_READ is always ready, and
 * NOTHING_WRITTEN is never read. */
enum { NOTHING_READ = REG_COUNT, NOTHING_WRITTEN, OPERANDS };

struct inorder_uop {
    uint64_t address; /* of its memory access */
    uint64_t pc;      /* address of its instruction */
    uint64_t arrives; /* cycle in which it can be at the head; set when fetched */
    uint32_t insn;
    uint32_t size_bytes; /* of the access; 0: none */
    uint32_t packet;     /* that it was fetched in */
    uint16_t flags;
    uint8_t operation, length;
    uint8_t source[UOP_MAX_SOURCES + 1]; /* the last: data of a store */
    uint8_t destination[UOP_MAX_DESTINATIONS];
    uint16_t psv; /* of what it met in the front end */
};
static_assert(sizeof(struct inorder_uop) <= 64, "one cache line");

enum { INPUT_UOPS = 8192, PACKET_UOPS = 64 };

/* Why a packet came late, so that the front end had nothing for the head. */
struct front_delay {
    uint32_t cache, tlb; /* cycles beyond an L1 hit */
};

/* A result on its way. */
struct result {
    uint64_t ready;     /* cycle from which it can be used */
    uint64_t hit_ready; /* when it would have been there had its load hit L1 and TLB */
    uint32_t tlb;       /* cycles of ready − hit_ready spent on translation, which comes first */
    uint32_t insn;      /* that makes it */
    uint16_t psv;       /* ST-* of that load */
};

struct write_line {
    uint64_t line;    /* address >> shift */
    uint64_t entered; /* cycle */
    uint64_t release; /* cycle from which its entry is free; UNKNOWN: not written yet */
    uint32_t insn;
    uint64_t uop;
};
enum { WRITE_LINES = 64 }; /* ring */

struct inorder {
    struct machine machine;
    uint32_t ideal;
    struct core_learned learned;
    struct tap *tap;
    struct tap_buffer *buffer;
    struct tap_state tap_state;
    struct error error;
    bool failed;

    /* ---- input ---- */
    const struct code *code;
    struct inorder_uop *uops; /* ring of INPUT_UOPS */
    uint64_t head, fetched, end;
    uint64_t lookahead;          /* µops beyond the head that fetch may want */
    struct dynamic_insn waiting; /* its successor is not known yet */
    struct memory_access *waiting_accesses;
    size_t waiting_capacity;
    bool is_waiting;

    /* ---- fetch ---- */
    uint64_t fetch_cycle; /* of the next packet; UNKNOWN: a µop that has not issued decides */
    uint64_t line;        /* fetched last */
    bool starved;         /* of room in the fetch buffer */
    uint32_t packet;
    struct front_delay delay;   /* of the next packet so far */
    struct front_delay *delays; /* ring, by packet */

    /* ---- issue ---- */
    uint64_t cycle;       /* in which the last µop issued; 0: none has */
    uint32_t issued;      /* in that cycle */
    uint64_t in_cycle[8]; /* tap words of those µops */
    uint64_t empty;       /* cycles before that cycle in which nothing was at the head */
    uint32_t packet_issued, last_insn, last_flags; /* of the last µop */
    uint32_t empty_reason, next_empty_reason;      /* enum tap_empty */
    uint32_t width;
    uint8_t queue_used[MACHINE_MAX_QUEUES], pool_used[MACHINE_MAX_POOLS];
    uint64_t unit_free[MACHINE_MAX_POOLS][16];
    struct result results[OPERANDS];
    uint64_t all_done; /* every result so far is there */

    /* ---- write buffer: [written, entered) wait or are being written ---- */
    struct write_line lines[WRITE_LINES];
    uint64_t freed, written, entered;
    uint64_t write_cycle; /* the earliest of the next write */

    struct stall_causes *causes; /* NULL: not asked for */
    struct core_statistics statistics;
    struct branch_statistics warmed;
};

static inline struct inorder_uop *uop_at(const struct inorder *core, uint64_t sequence) {
    return &core->uops[sequence % INPUT_UOPS];
}

/* Does the fetches and writes that are due up to `cycle`. */
void inorder_advance(struct inorder *core, uint64_t cycle);
/* Advances until the µop at the head of the queue is fetched. */
void inorder_fetch_head(struct inorder *core);
/* The fetch buffer has room from `cycle` on. */
void inorder_room(struct inorder *core, uint64_t cycle);

/* The cycle, from `cycle` on, in which a store to the line has an entry in the write buffer. */
uint64_t inorder_store_entry(struct inorder *core, uint64_t address, uint64_t cycle);
void inorder_store_enter(struct inorder *core, const struct inorder_uop *uop, uint64_t sequence,
                         uint64_t cycle);
/* The cycle in which all that is in the write buffer is written. */
uint64_t inorder_stores_done(struct inorder *core);
/* The cycle of the next write; UNKNOWN: nothing waits. */
uint64_t inorder_next_write(const struct inorder *core);
void inorder_write(struct inorder *core);

/* Issues µops as long as the input reaches `lookahead` beyond; with `all` every one. */
bool inorder_run(struct inorder *core, bool all, struct error *error);
/* Shows the last cycle's group on the tap. */
void inorder_show(struct inorder *core);
