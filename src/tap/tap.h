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
    TAP_COMMIT, /* n ≥ 1 µops committed in this cycle; payload: their tap_uop words */
    TAP_FLUSH,  /* the ROB was squashed in this cycle by the µop at its head, which did not commit;
                   payload: that µop's tap_uop word. Closes the span since the previous commit as a
                   commit does, this cycle included */
    TAP_DISPATCH, /* n µops entered the ROB; payload likewise (events so far) */
    TAP_FETCH,    /* n µops were fetched; payload likewise */
    TAP_KINDS
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

struct tap_record {
    unsigned kind, flags, count;
    uint64_t empty, delta; /* cycles */
    const uint64_t *uops;  /* count payload words */
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
    return word + record->count;
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
    /* Cycle of the previous commit or flush; 0 before the first: cycles count from 1. */
    uint64_t last_commit;
    uint64_t uop;      /* sequence number of the next µop to commit */
    uint64_t last_uop; /* tap_uop word of the last committed µop */
};

enum { TAP_BUFFER_WORDS = 16384, TAP_RECORD_WORDS = 3 + 255 };
struct tap_buffer {
    struct tap_state start;
    uint32_t used; /* words */
    uint64_t words[TAP_BUFFER_WORDS];
};

/* A worker. `consume` is called with every buffer in order (from one thread at a time). Returns
 * false with an error to end the run; other workers' results stay whole. */
struct tap_worker {
    const char *name;
    /* Bit set of 1 << enum tap_kind wanted. TAP_COMMIT and TAP_FLUSH are always made; the others
     * only when a worker wants them, and then every worker sees and skips them. */
    uint32_t kinds;
    bool (*consume)(void *context, const struct tap_buffer *buffer, struct error *error);
    void *context;
};

struct executor;
struct tap;
/* The workers run on the executor's thread, behind the core by a few buffers; NULL: in the core's
 * own. One executor may serve many taps; their workers then never run at once. */
struct tap *tap_new(struct executor *executor);
/* Before the first record only. */
bool tap_add_worker(struct tap *tap, const struct tap_worker *worker, struct error *error);
uint32_t tap_kinds(const struct tap *tap);

/* The core's side: the buffer being filled, its exchange for an empty one once fewer than
 * TAP_RECORD_WORDS are left, and the flush, which hands over the rest, waits for the workers and
 * gives an empty buffer for more. They fail when a worker did: tap_exchange with NULL. `state` is
 * the state after the last record in the buffer. */
struct tap_buffer *tap_current(struct tap *tap);
struct tap_buffer *tap_exchange(struct tap *tap, const struct tap_state *state,
                                struct error *error);
bool tap_flush(struct tap *tap, const struct tap_state *state, struct tap_buffer **buffer,
               struct error *error);
void tap_free(struct tap *tap);

#endif
