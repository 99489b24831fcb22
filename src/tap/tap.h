/* The tracing bus (TraceDoctor, paper C §3): what a core shows of every cycle, as deltas.
 *
 * The core appends records to a buffer; full buffers go to the workers. A record is one 64-bit
 * header word and, for some kinds, payload words. Each buffer begins with the full state, so a
 * worker can start anywhere and the result is exact.
 *
 * Cycles between two COMMIT records belong to no commit: they are Stalled, Flushed or Drained
 * (paper A §2.2), and the later record says how many of them the ROB was empty for. */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

/* Performance signature of a µop: the nine events of TEA (paper B Table B.1), and two of ours. */
enum psv {
    PSV_DR_L1 = 1 << 0,  /* L1I miss: first instruction of the fetch packet */
    PSV_DR_TLB = 1 << 1, /* ITLB miss, likewise */
    PSV_DR_SQ = 1 << 2,  /* store that could not dispatch into an empty ROB: store queue full */
    PSV_FL_MB = 1 << 3,  /* mispredicted branch */
    PSV_FL_EX = 1 << 4,  /* flush by an exception; ours also: system call, flushing instruction */
    PSV_FL_MO = 1 << 5,  /* memory ordering violation */
    PSV_ST_L1 = 1 << 6,  /* L1D miss */
    PSV_ST_TLB = 1 << 7, /* DTLB miss */
    PSV_ST_LLC = 1 << 8, /* LLC miss by a load */
    PSV_ST_FW = 1 << 9,  /* load that waited for an older store, which could not forward, to be in
                            the cache; not the paper's */
    PSV_ST_CO = 1 << 10, /* load whose line another core had, or an atomic's that others had, too;
                            with DR-SQ: such a line is what the store queue waits for. Of
                            simulations of several cores, which are not sampled; not the paper's */
};
enum { PSV_BITS = 11, PSV_COMBINATIONS = 1 << PSV_BITS };
enum { PSV_DATA_MISS = PSV_ST_L1 | PSV_ST_TLB | PSV_ST_LLC };
enum {
    PSV_TEA_BITS = 9, /* of the paper */
    PSV_SAMPLED_BITS = 10,
    PSV_SAMPLED = (1 << PSV_SAMPLED_BITS) - 1
};

/* "DR-L1" ... of one bit; "ST-L1+ST-TLB" of a combination, "Base" of none. */
const char *psv_name(unsigned bit);
void psv_format(uint32_t psv, char *text, uint32_t size);

/* Whose µops a core's tap shows: numbers of the trace, dense from 0. Threads are numbered over all
 * processes; a process has a new number after an exec. */
struct tap_source {
    uint32_t process, thread;
};

/* ---- records ---- */

enum tap_kind {
    TAP_COMMIT, /* n ≥ 1 µops committed in this cycle; payload: their tap_uop words */
    TAP_FLUSH,  /* the ROB was squashed in this cycle by the µop at its head, which did not commit;
                   payload: that µop's tap_uop word. Closes the span since the previous commit as a
                   commit does, this cycle included. Its µop and all younger ones are dispatched
                   and fetched again, with the same sequence numbers */
    TAP_DISPATCH, /* n µops entered the ROB: those from tap_state.dispatched on; no payload */
    TAP_FETCH,    /* n µops were fetched: those from tap_state.fetched on; no payload */
    TAP_KINDS,
    TAP_LIFE = TAP_KINDS /* not a record: lives lie beside the records (tap_buffer), but workers ask
                            for them in the same way */
};

/* Why the ROB was empty before a commit or flush: low bits of the flags. */
enum tap_empty {
    TAP_DRAINED,      /* front end supplied nothing: goes to the next µop */
    TAP_FLUSHED_LAST, /* the last committed µop flushed (mispredict, exception, flushing) */
    TAP_FLUSHED_NEXT, /* the next µop to commit caused the flush (ordering violation) */
    TAP_EMPTY_MASK = 3,
    TAP_WIDE = 1 << 4 /* delta and empty do not fit: they follow the header in a word each */
};

/* Header word: kind 3 bits | flags 5 | n 8 | empty 24 | delta 24.
 * delta: cycles since the previous record of any kind (≥ 0). empty (commit and flush): of the
 * cycles between the previous commit or flush and this one, both ends excluded, how many began with
 * an empty ROB; they come first. */
enum { TAP_FIELD_MAX = (1 << 24) - 1 };

static inline uint64_t tap_header(unsigned kind, unsigned flags, unsigned n, uint64_t empty,
                                  uint64_t delta) {
    return kind | flags << 3 | n << 8 | empty << 16 | delta << 40;
}

/* Whether a header takes three words. */
static inline bool tap_is_wide(uint64_t empty, uint64_t delta) {
    return delta > TAP_FIELD_MAX || empty > TAP_FIELD_MAX;
}

/* Writes a header of one word or three. Returns the word behind it. */
static inline uint64_t *tap_put_header(uint64_t *word, unsigned kind, unsigned flags, unsigned n,
                                       uint64_t empty, uint64_t delta) {
    if (!tap_is_wide(empty, delta)) {
        *word++ = tap_header(kind, flags, n, empty, delta);
    } else {
        *word++ = tap_header(kind, flags | TAP_WIDE, n, 0, 0);
        *word++ = delta;
        *word++ = empty;
    }
    return word;
}

/* Words of payload of a record of n. Kinds whose second bit is set have none. */
static_assert((TAP_DISPATCH & 2) != 0 && (TAP_FETCH & 2) != 0, "no payload");
static inline unsigned tap_payload(unsigned kind, unsigned n) {
    return kind & 2 ? 0 : n;
}

struct tap_record {
    unsigned kind, flags, count;
    uint64_t empty, delta; /* cycles */
    const uint64_t *uops;  /* payload */
};

/* Reads the record at `word`; returns the next record. */
static inline const uint64_t *tap_read(const uint64_t *word, struct tap_record *record) {
    uint64_t header = *word++;
    record->kind = header & 7;
    record->flags = header >> 3 & 31;
    record->count = header >> 8 & 255;
    record->empty = header >> 16 & TAP_FIELD_MAX;
    record->delta = header >> 40;
    if (record->flags & TAP_WIDE) {
        record->delta = *word++;
        record->empty = *word++;
    }
    record->uops = word;
    return word + tap_payload(record->kind, record->count);
}

/* Payload word of a µop: static instruction 32 bits | psv PSV_BITS | flags. */
enum tap_uop_flags {
    TAP_UOP_LAST = 1 << 0, /* last µop of its instruction */
    TAP_UOP_LOAD = 1 << 1,
    TAP_UOP_STORE = 1 << 2,
    TAP_UOP_FUSED = 1 << 3,    /* compare fused with the branch: counts two instructions */
    TAP_UOP_REPEATED = 1 << 4, /* a rep's µop that is not the instruction's last */
    TAP_UOP_BRANCH = 1 << 5,   /* resolves its instruction's branch */
    TAP_UOP_FLAGS = (1 << 6) - 1
};
static inline uint64_t tap_uop(uint32_t insn, uint32_t psv, uint32_t flags) {
    return insn | (uint64_t)psv << 32 | (uint64_t)flags << (32 + PSV_BITS);
}
static inline uint32_t tap_uop_insn(uint64_t word) {
    return (uint32_t)word;
}
static inline uint32_t tap_uop_psv(uint64_t word) {
    return word >> 32 & (PSV_COMBINATIONS - 1);
}
static inline uint32_t tap_uop_flags(uint64_t word) {
    return (uint32_t)(word >> (32 + PSV_BITS));
}

/* Full state at the start of a buffer. Sequence numbers of µops are in program order. */
struct tap_state {
    uint64_t cycle; /* of the previous record */
    /* Cycle of the previous commit or flush; 0 before the first: cycles count from 1. */
    uint64_t last_commit;
    uint64_t uop;      /* sequence number of the next µop to commit */
    uint64_t last_uop; /* tap_uop word of the last committed µop */
    /* Sequence numbers of the next µop to enter the ROB, and of the next to be fetched; both go
     * back to `uop` at a TAP_FLUSH. Counted only while their records are made (0 otherwise). */
    uint64_t dispatched, fetched;
};

/* Advances the state from before a record to after it. */
static inline void tap_advance(struct tap_state *state, const struct tap_record *record) {
    state->cycle += record->delta;
    if (record->kind == TAP_COMMIT) {
        state->last_commit = state->cycle;
        state->uop += record->count;
        state->last_uop = record->uops[record->count - 1];
    } else if (record->kind == TAP_FLUSH) {
        state->last_commit = state->cycle;
        state->dispatched = state->fetched = state->uop;
    } else if (record->kind == TAP_DISPATCH) {
        state->dispatched += record->count;
    } else if (record->kind == TAP_FETCH) {
        state->fetched += record->count;
    }
}

/* ---- buffers ---- */

enum { TAP_BUFFER_WORDS = 16384, TAP_RECORD_WORDS = 3 + 255, TAP_BUFFER_LIVES = 4096 };
struct packed_life;

/* Owned by the tap; workers only read, and only until `consume` returns. */
struct tap_buffer {
    struct tap_state start;
    uint64_t number;             /* of its tap: 0, 1, 2 ... */
    uint64_t *words;             /* room for TAP_BUFFER_WORDS */
    uint32_t used;               /* of them */
    uint32_t records[TAP_KINDS]; /* how many of each kind they hold */
    uint32_t life_count;
    /* Lives of µops that committed or were squashed (tap/life.h), in the order in which they did,
     * µops of one cycle in program order; room for TAP_BUFFER_LIVES. Each is in the buffer of the
     * commit or flush, or in the one behind it. */
    struct packed_life *lives;
    struct shared_index *index; /* inside of the tap */
};

/* Where a record is. */
struct tap_point {
    uint64_t cycle;    /* of the record */
    uint64_t sequence; /* number of its first µop */
    uint32_t word;     /* its header is words[word] */
};

/* Where the records are, by ascending cycle; `closing` are TAP_COMMIT and TAP_FLUSH. */
struct tap_index {
    const struct tap_point *closing, *dispatch, *fetch;
    uint32_t closing_count, dispatch_count, fetch_count;
};

/* The index of a buffer, for workers that look at a few cycles only: made by the first that asks,
 * shared by all, valid as long as the buffer. NULL when out of memory. */
const struct tap_index *tap_index(const struct tap_buffer *buffer);

/* ---- workers ---- */

struct executor;

/* `consume` is called with the buffers of a tap in order; false with an error ends the run, and it
 * is not called again. Other workers still get every buffer, so their results stay whole.
 *
 * What a worker writes to belongs to its executor's thread. Workers of several taps (or of one) may
 * share it when they have the same executor. It is safe to read once tap_flush() or tap_free() has
 * returned on every such tap. */
struct tap_worker {
    const char *name; /* in front of its errors */
    /* Bit set of 1 << enum tap_kind wanted. TAP_COMMIT and TAP_FLUSH are always made; the others
     * only when a worker wants them, and then every worker sees and skips them (lives: need not
     * look at them). */
    uint32_t kinds;
    bool (*consume)(void *context, const struct tap_buffer *buffer, struct error *error);
    void *context;
    /* The executor on whose thread it runs, behind the core; workers with the same one run in turn.
     * NULL: the core's own thread. */
    struct executor *executor;
    /* A slow analysis is split over several workers: this one gets the buffers whose number %
     * parts is `part`. 0 parts: all. */
    uint32_t part, parts;
};

/* ---- the bus: what the taps of a run share (pool.c) ---- */

enum { TAP_POOL_BUFFERS = 8 };

/* A pool of buffers for all taps of a run. A tap that wants one when TAP_POOL_BUFFERS are under way
 * waits (back-pressure). NULL: out of memory. */
struct tap_bus;
struct tap_bus *tap_bus_new(void);
/* Only after its taps have been freed. */
void tap_bus_free(struct tap_bus *bus);

/* ---- a tap: one core's outlet ---- */

enum { TAP_MAX_WORKERS = 64 };

struct tap;
/* NULL bus: one of its own. NULL when out of memory. */
struct tap *tap_new(struct tap_bus *bus);
/* Only before the first record. */
bool tap_add_worker(struct tap *tap, const struct tap_worker *worker, struct error *error);
uint32_t tap_kinds(const struct tap *tap);
/* Waits for the workers, then ends the tap; what is in the current buffer is lost. */
void tap_free(struct tap *tap);

/* The core's side: the buffer being filled, its exchange for an empty one once fewer than
 * TAP_RECORD_WORDS are left or no room for a life, and the flush, which hands over the rest, waits
 * for the workers and gives an empty buffer for more. They fail when a worker of any tap on the bus
 * has failed (tap_exchange returns NULL); what was recorded before has been handed over even then.
 * `state` is the state after the last record in the buffer. */
struct tap_buffer *tap_current(struct tap *tap);
struct tap_buffer *tap_exchange(struct tap *tap, const struct tap_state *state,
                                struct error *error);
bool tap_flush(struct tap *tap, const struct tap_state *state, struct tap_buffer **buffer,
               struct error *error);
