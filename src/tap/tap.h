/* The tracing bus (TraceDoctor, paper C §3): what a core shows of every cycle, as deltas.
 *
 * The core appends records to a buffer; full buffers go to the workers. A record is one 64-bit
 * header word and, for groups, one payload word per µop. Each buffer begins with the full state, so
 * a worker can start anywhere and the result is exact.
 *
 * Cycles between two COMMIT records belong to no commit: they are Stalled, Flushed or Drained
 * (time-proportional.md), and the later record says how many of them the ROB was empty for. */
#ifndef CULPRIT_TAP_TAP_H
#define CULPRIT_TAP_TAP_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

/* Performance signature of a µop (TEA, paper B Table B.1): 9 events. */
enum psv {
    PSV_DR_L1 = 1 << 0,  /* L1I miss: first instruction of the fetch packet */
    PSV_DR_TLB = 1 << 1, /* ITLB miss, likewise */
    PSV_DR_SQ = 1 << 2,  /* store that could not dispatch into an empty ROB: store queue full */
    PSV_FL_MB = 1 << 3,  /* mispredicted branch */
    PSV_FL_EX = 1 << 4,  /* exception (system call, flushing instruction) */
    PSV_FL_MO = 1 << 5,  /* memory ordering violation */
    PSV_ST_L1 = 1 << 6,  /* L1D miss */
    PSV_ST_TLB = 1 << 7, /* DTLB miss */
    PSV_ST_LLC = 1 << 8  /* LLC miss by a load */
};
enum { PSV_BITS = 9, PSV_COMBINATIONS = 512 };

/* "DR-L1" ... of one bit; "ST-L1+ST-TLB" of a combination, "Base" of none. */
const char *psv_name(unsigned bit);
void psv_format(uint32_t psv, char *text, uint32_t size);

enum tap_kind {
    TAP_COMMIT,   /* n µops committed in this cycle; payload: their tap_uop words */
    TAP_DISPATCH, /* n µops entered the ROB; payload likewise (events so far) */
    TAP_FETCH,    /* n µops fetched; payload likewise */
    TAP_FLUSH,    /* ROB squashed; first payload word: the offending µop's tap_uop */
    TAP_KINDS
};

/* Why the ROB was empty before a commit group (flags of TAP_COMMIT), by what the last µop that left
 * it did. */
enum tap_empty {
    TAP_DRAINED,      /* front end supplied nothing: goes to the next µop */
    TAP_FLUSHED_LAST, /* the last committed µop flushed (mispredict, exception, flushing) */
    TAP_FLUSHED_NEXT  /* the next µop to commit caused the flush (ordering violation, exception) */
};

/* Header word: kind 3 bits | flags 5 | n 8 | empty 24 | delta 24.
 * delta: cycles since the previous record of any kind (≥ 0). empty (TAP_COMMIT): of the cycles
 * between the previous commit and this one, how many began with an empty ROB; they come first.
 * Longer spans than 2^24 − 1 are split by the core into TAP_COMMIT records of n = 0. */
enum { TAP_DELTA_BITS = 24, TAP_EMPTY_BITS = 24 };
#define TAP_DELTA_MAX ((1u << TAP_DELTA_BITS) - 1)

static inline uint64_t tap_header(unsigned kind, unsigned flags, unsigned n, uint64_t empty,
                                  uint64_t delta) {
    return kind | flags << 3 | n << 8 | empty << 16 | delta << 40;
}
static inline unsigned tap_header_kind(uint64_t word) {
    return word & 7;
}
static inline unsigned tap_header_flags(uint64_t word) {
    return word >> 3 & 31;
}
static inline unsigned tap_header_count(uint64_t word) {
    return word >> 8 & 255;
}
static inline uint64_t tap_header_empty(uint64_t word) {
    return word >> 16 & 0xffffff;
}
static inline uint64_t tap_header_delta(uint64_t word) {
    return word >> 40;
}

/* Payload word of a µop: static instruction 32 bits | psv 9 | flags. */
enum tap_uop_flags {
    TAP_UOP_LAST = 1 << 0, /* last µop of its instruction */
    TAP_UOP_LOAD = 1 << 1,
    TAP_UOP_STORE = 1 << 2,
    TAP_UOP_FUSED = 1 << 3,   /* compare fused with the branch: counts two instructions */
    TAP_UOP_REPEATED = 1 << 4 /* a rep's µop that is not the instruction's last */
};
static inline uint64_t tap_uop(uint32_t insn, uint32_t psv, uint32_t flags) {
    return insn | (uint64_t)psv << 32 | (uint64_t)flags << 41;
}
static inline uint32_t tap_uop_insn(uint64_t word) {
    return (uint32_t)word;
}
static inline uint32_t tap_uop_psv(uint64_t word) {
    return word >> 32 & 511;
}
static inline uint32_t tap_uop_flags(uint64_t word) {
    return (uint32_t)(word >> 41);
}

/* Full state at the start of a buffer. */
struct tap_state {
    uint64_t cycle; /* of the previous record */
    uint64_t
        last_commit;   /* cycle of the previous commit (one before the first cycle at the start) */
    uint64_t uop;      /* sequence number of the next µop to commit */
    uint64_t last_uop; /* tap_uop word of the last committed µop */
};

enum { TAP_BUFFER_WORDS = 16384 };
struct tap_buffer {
    struct tap_state start;
    uint32_t used; /* words */
    uint64_t words[TAP_BUFFER_WORDS];
};

/* A worker. `consume` is called with every buffer in order (from one thread at a time). Returns
 * false with an error to end the run; other workers' results stay whole. */
struct tap_worker {
    const char *name;
    uint32_t
        kinds; /* bit set of enum tap_kind wanted; records of kinds nobody wants are not made */
    bool (*consume)(void *context, const struct tap_buffer *buffer, struct error *error);
    void *context;
};

struct tap;
struct tap *tap_new(void);
/* Before the first record only. */
bool tap_add_worker(struct tap *tap, const struct tap_worker *worker, struct error *error);
uint32_t tap_kinds(const struct tap *tap);

/* The core's side: the buffer being filled, and its exchange for an empty one once fewer than
 * 256 + 1 words are left. tap_flush at the end hands over the rest and waits for the workers. */
struct tap_buffer *tap_current(struct tap *tap);
struct tap_buffer *tap_exchange(struct tap *tap, const struct tap_state *state);
bool tap_flush(struct tap *tap, const struct tap_state *state, struct error *error);
void tap_free(struct tap *tap);

#endif
