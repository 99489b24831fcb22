/* Words that threads read and then write under locks: counters of what is done, or is there. Most
 * bind nobody, for in whatever order threads add to one, the same comes of it. A thread that does
 * something by what it read may be bound:
 *
 * - It writes nothing that depends on what it read, like who looks whether all have come. It waits
 *   for the last count of each other thread if the conditional branch that depends on what it read
 *   goes another way than the last time, or is new, or no branch of the section depends on it, nor
 *   an address, so that it is not known what comes of it. If some thread has gone from this branch
 * to wait at a condition, or this one has waited at one before, it does so every time.
 * - It counts, and then branches by that, like the last of those that come. It waits for the same
 *   if the branch goes another way than the last time.
 * - It branches by what it read, and then counts: it takes something. Counts before which there is
 *   no such branch put something there. While there have always been as many of these, each taking
 *   waits for one of them; from when there have not, it waits for none: something was there from
 *   the beginning, or nothing is, as where numbers are dealt out until there are no more.
 *
 * To count is to write what depends on what was read there. Who then waits at a condition has not
 * done anything yet, and is not bound. */
#pragma once

#include "isa/insn.h"
#include "trace/dynamic.h"

enum {
    SECTION_SOURCES = 8, /* threads that one section waits for */
    SECTION_LOOKS = 16   /* reads of counters that are remembered of one: the last */
};
typedef uint16_t look_set;

/* What a thread does from when it has a lock until it has none. */
struct lock_section {
    uint32_t number; /* over all threads, from 1; 0: none is under way */
    uint32_t thread;
    uint64_t begin; /* instructions of its thread before it */
    uint32_t source_count;
    struct trace_order sources[SECTION_SOURCES]; /* that it waits for; `written` as guests count */

    uint32_t known_count;
    struct trace_order known[SECTION_SOURCES]; /* that sections before it have waited for */

    uint32_t look_count;
    uint64_t begun; /* instructions of its sections, with this one */
    struct counter_look {
        uint64_t address;
        uint64_t until;     /* `begun` at which it is forgotten unless it has a counter by then */
        uint32_t counter;   /* UINT32_MAX: it has not been written as one yet */
        uint32_t insn;      /* static instruction that reads */
        uint32_t outcome;   /* the one behind the branch; UINT32_MAX: there was none */
        bool first, turned; /* the branch was new, or went another way than the last time */
        bool waited;        /* a thread has waited at a condition after the branch */
        bool written;       /* the word is, behind it: with what depends on it */
        bool taken;         /* and behind the branch */
        bool own;           /* the section had written the word before */
    } looks[SECTION_LOOKS];
    struct look_sets {          /* of looks, a bit for each */
        look_set uncounted;     /* they have no counter so far */
        look_set fresh;         /* the instruction that reads is under way */
        look_set stores;        /* the one under way stores what depends on them */
        look_set indexes;       /* what depends on them is part of an address */
        look_set at_branch;     /* the last one was a branch that depends on them, the first */
        look_set decided;       /* they have an outcome */
        look_set of[REG_COUNT]; /* by register: what it holds depends on them */
    } sets;
    unsigned __int128 held; /* registers that may depend on a look */
    bool woken;             /* the thread has waited at a condition before it */
};

void lock_section_begin(struct lock_section *section, uint32_t number, uint64_t begin);
/* A section waits at its beginning. So it is not bound to what a thread did in one that began
 * later, under another lock, while it lasted: that may need what this one does first. */
static inline bool lock_section_may_bind(const struct lock_section *section, uint32_t thread,
                                         uint32_t number) {
    return thread != section->thread && number < section->number;
}
/* It waits for what another thread has done up to there. */
void lock_section_bind(struct lock_section *section, uint32_t writer, uint64_t written);
/* Whether the thread has waited for that before. */
bool lock_section_knows(const struct lock_section *section, uint32_t writer, uint64_t written);
void lock_section_end(struct lock_section *section);

struct lock_counters;
/* `code` of the whole trace. NULL: no memory. */
struct lock_counters *lock_counters_new(const struct code *code);
void lock_counters_free(struct lock_counters *counters);
bool lock_counters_failed(const struct lock_counters *counters); /* no memory */

/* An instruction of a section: it begins, then come its reads, what it computes, its writes. */
void lock_counters_begin(struct lock_counters *counters, struct lock_section *section,
                         uint32_t insn);
/* `known`: there may be a counter at the address. */
void lock_counters_read(struct lock_counters *counters, struct lock_section *section,
                        uint64_t address, bool known, uint32_t insn);
void lock_counters_compute(const struct lock_counters *counters, struct lock_section *section,
                           uint32_t insn);
/* `has_read`: the section has read the word. `place`: the thread's instructions up to and with it.
 */
void lock_counters_write(struct lock_counters *counters, struct lock_section *section,
                         uint64_t address, bool has_read, uint64_t place);
/* The section ends. `waits`: at a condition. */
void lock_counters_end(struct lock_counters *counters, struct lock_section *section, bool waits);
