/* The true causes of the cycles in which an in-order core's oldest instruction stood at the head of
 * the issue queue: what analyses of samples are measured against (DCPI §6.3). Every cycle has one
 * owner, the head, and one cause; they sum to the run's cycles. Counted as well is how often each
 * instruction had the events of a processor's counters (DCPI §4.1). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stall_cause {
    STALL_NONE, /* it issues in this cycle, and was the oldest to do so */
    /* Static: the same in every execution. */
    STALL_SLOT, /* no slot, pipe or unit was left in the cycle before, or its group had to wait
                   for the one before */
    STALL_DEPENDENCE, /* an operand, for as long as its producer takes when it hits */
    STALL_UNIT,       /* a unit that is not pipelined is busy */
    STALL_FETCH,      /* the front end had nothing, though it missed nowhere: taken branches */
    /* Dynamic. */
    STALL_IMISS,
    STALL_ITLB,
    STALL_DMISS, /* an operand that a load brings late */
    STALL_DTLB,
    STALL_MISS_REGISTERS, /* a load that finds none free */
    STALL_WRITE_BUFFER,
    STALL_MISPREDICT,
    STALL_SYNCHRONISATION, /* fences, serialising and flushing instructions, system calls */
    STALL_CAUSES
};
const char *stall_cause_name(enum stall_cause cause); /* "D-cache miss" */
const char *stall_cause_key(enum stall_cause cause);  /* "dmiss" */
static inline bool stall_cause_is_dynamic(enum stall_cause cause) {
    return cause >= STALL_IMISS;
}

/* What happened, whether or not anything waited for it. */
enum stall_event {
    EVENT_IMISS,      /* the line of the instruction missed the L1 I-cache, or was on its way */
    EVENT_ITLB,       /* its page missed the first-level I-TLB */
    EVENT_DMISS,      /* a load missed the L1 D-cache, or hit a line on its way */
    EVENT_DTLB,       /* a load's page missed the first-level D-TLB */
    EVENT_MISPREDICT, /* a branch went elsewhere than predicted */
    EVENT_TAKEN,      /* a branch did not fall through */
    STALL_EVENTS
};
const char *stall_event_name(enum stall_event event); /* "imiss" */

struct stall_cell {
    uint32_t insn;    /* that stood at the head */
    uint32_t culprit; /* the instruction to blame: the load, the branch; `insn` itself if there is
                         no other */
    uint32_t cause;
    uint64_t cycles;
};

struct stall_causes;
struct stall_causes *stall_causes_new(void); /* NULL: out of memory */
void stall_causes_free(struct stall_causes *causes);

/* Does nothing of 0 cycles, or to NULL. When memory runs out, stall_causes_cells() fails. */
void stall_causes_add(struct stall_causes *causes, uint32_t insn, enum stall_cause cause,
                      uint32_t culprit, uint64_t cycles);
/* Counts an event. Does nothing to NULL. */
void stall_causes_count(struct stall_causes *causes, uint32_t insn, enum stall_event event);

/* Adds all that `from` holds, `weight` times, and empties it. False: out of memory, also before. */
bool stall_causes_move(struct stall_causes *to, struct stall_causes *from, uint64_t weight);

/* Forgets cycles alone: quick, however many instructions there are. */
void stall_causes_clear_cycles(struct stall_causes *causes);
/* Sorted by instruction, cause, culprit; to be freed. NULL: out of memory. */
struct stall_cell *stall_causes_cells(const struct stall_causes *causes, size_t *count);

/* Events by instruction, up to the last instruction that had any. Valid while `causes` lives and
 * nothing is added. */
struct stall_events {
    uint64_t times[STALL_EVENTS];
};
const struct stall_events *stall_causes_events(const struct stall_causes *causes, size_t *count);
