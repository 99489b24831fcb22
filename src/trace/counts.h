/* What a counting capture (capture_options.slice_size) hands over: not what was executed one after
 * the other, but how often each block was, slice by slice of each thread. DATA items of a thread
 * carry, in its order, as events (event.h):
 *
 *   EVENT_BLOCK                a slice begins: just before this block
 *   EVENT_BLOCK, MARK_TIMES    a block and how often it was entered, since the last such word of it
 *   MARK_MISSED                behind MARK_TIMES: its instructions that were not executed, because
 *                              others before them in the block raised signals
 *   MARK_SLICE                 the slice, or what precedes the first one, ends; the next follows
 *
 * A slice may come in several items. The last one of a thread ends with its THREAD_END.
 *
 * A slice ends before the first *watched* block at which it has its instructions. Each cycle of the
 * control flow passes one: a block that ends in a backward jump or call, or in an indirect one that
 * is not a return. (In a cycle some transfer must lead backwards; a return leads behind its call.)
 * Long blocks are watched too: what lies between two watched blocks stays short. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "isa/insn.h"
#include "util/error.h"

enum {
    MARK_TIMES = 40,  /* payload: executions of the block before it */
    MARK_SLICE = 41,  /* payload: 0 */
    MARK_MISSED = 42, /* payload: instructions, in all executions */
};

/* Words that cannot be: always false, with that error. */
static inline bool counts_make_no_sense(struct error *error) {
    return error_set(error, "the counts of a thread make no sense: the program may have "
                            "overwritten the memory they pass through");
}

/* What a chunk has. A slice may lie in several, the last of which says so. */
enum chunk_counts { CHUNK_OF_EVENTS, CHUNK_OF_COUNTS, CHUNK_ENDS_COUNTS };

/* Not all zero: who reads looks at executions of blocks in chunks alone (trace_watch()), and passes
 * everything, beyond so many instructions. Chunks that begin beyond them are counts, as far as that
 * is possible, or else tell of no accesses, which takes the command half or a third of the time;
 * but for those behind a system call that would change the world (watch_effects), or that makes a
 * thread or a process, so that who goes on from there finds them. */
struct capture_counts {
    uint64_t from;    /* instructions; 0: nothing is counted */
    uint64_t slice;   /* those of a chunk, at least; which are twice as many ... */
    uint64_t longest; /* ... up to so many, */
    uint64_t slices;  /* whenever the thread has executed so many chunks of this length */
};

enum { COUNTS_LONG_BLOCK = 12 }; /* instructions; longer ones are watched */

/* A slice that is due waits for a watched block of code that lies in a file, as long as it is not
 * longer by more than 1/64. */
static inline uint64_t counts_patience(uint64_t size) {
    return size + size / 64;
}

/* ---- when to look ----
 *
 * Blocks that are not watched go unnoticed until a look takes the exact sum. Until then watched
 * blocks may take `left`, which is set so that a slice has a few looks, in ever smaller steps, by
 * how many instructions went with those of watched blocks since the last look. It depends on what
 * is executed alone: the same run gives the same slices, live or from a trace. */
struct counts_pace {
    int64_t left; /* a look is due at the next watched block when it is used up */
    int64_t left_at_look;
    uint64_t done_at_look; /* instructions of the slice */
    uint64_t reach; /* all instructions / those of watched blocks, lately; × COUNTS_REACH_ONE */
};

enum {
    COUNTS_NEAR = 64, /* instructions: no step before the end of a slice is smaller */
    COUNTS_REACH_ONE = 1 << 10,
    COUNTS_REACH_FIRST = 3 * COUNTS_REACH_ONE,
    COUNTS_REACH_MOST = 64 * COUNTS_REACH_ONE,
};

/* At a look, `done` instructions into the slice. A peak is forgotten slowly. */
static inline void counts_learn(struct counts_pace *pace, uint64_t done) {
    uint64_t watched = (uint64_t)(pace->left_at_look - pace->left);
    uint64_t reach = (done - pace->done_at_look) * COUNTS_REACH_ONE / (watched ? watched : 1);
    if (reach > COUNTS_REACH_MOST)
        reach = COUNTS_REACH_MOST;
    pace->reach = reach > pace->reach ? reach : pace->reach - (pace->reach - reach) / 16;
}

/* The next look. At first half the way there, for the next phase may have fewer watched blocks. */
static inline void counts_plan(struct counts_pace *pace, uint64_t size, uint64_t done) {
    uint64_t missing = size > done ? size - done : 0;
    uint64_t way = missing > size / 64 ? missing / 2 : missing - missing / 5;
    pace->left = missing <= COUNTS_NEAR
                     ? 0
                     : (int64_t)((unsigned __int128)way * COUNTS_REACH_ONE / pace->reach);
    pace->left_at_look = pace->left;
    pace->done_at_look = done;
}

/* Likewise where a slice may be longer than asked for, by some thirtieth: with few looks. */
static inline void counts_plan_loosely(struct counts_pace *pace, uint64_t size, uint64_t done) {
    const uint64_t missing = size > done ? size - done : 0, way = missing + size / 32;
    pace->left = !missing ? 0 : (int64_t)((unsigned __int128)way * COUNTS_REACH_ONE / pace->reach);
    pace->left_at_look = pace->left;
    pace->done_at_look = done;
}

static inline bool counts_due(uint64_t size, uint64_t done, bool anonymous) {
    return done >= size && (!anonymous || done >= counts_patience(size));
}

static inline bool counts_x86_leads_back(const uint8_t *bytes, size_t size) {
    size_t at = 0;
    while (at < size &&
           (bytes[at] == 0x66 || bytes[at] == 0x67 || bytes[at] == 0x2e || bytes[at] == 0x36 ||
            bytes[at] == 0x3e || bytes[at] == 0x26 || bytes[at] == 0x64 || bytes[at] == 0x65 ||
            bytes[at] == 0xf2 || bytes[at] == 0xf3))
        at++;
    if (at < size && (bytes[at] & 0xf0) == 0x40)
        at++; /* REX */
    if (at + 1 >= size)
        return false;
    uint8_t operation = bytes[at], next = bytes[at + 1];
    bool byte_sized = (operation & 0xf0) == 0x70 || operation == 0xeb || /* jcc, jmp */
                      (operation >= 0xe0 && operation <= 0xe3);          /* loop, jrcxz */
    bool wide = operation == 0xe8 || operation == 0xe9 ||                /* call, jmp */
                (operation == 0x0f && (next & 0xf0) == 0x80);            /* jcc */
    if (byte_sized || wide)
        return bytes[size - 1] & 0x80; /* the sign of the displacement */
    unsigned kind = next >> 3 & 7;
    return operation == 0xff && kind >= 2 && kind <= 5; /* indirect call, jmp */
}

static inline bool counts_riscv64_leads_back(const uint8_t *bytes, size_t size) {
    enum { RA = 1, T0 = 5 };
    uint16_t half;
    uint32_t word;
    if (size == 2) {
        memcpy(&half, bytes, 2);
        unsigned function = half >> 13, base = half >> 7 & 31;
        if ((half & 3) == 1 && function >= 5) /* c.j, c.beqz, c.bnez */
            return half >> 12 & 1;
        bool jumps = (half & 3) == 2 && function == 4 && !(half >> 2 & 31) && base;
        return jumps && ((half >> 12 & 1) || (base != RA && base != T0)); /* c.jalr, c.jr */
    }
    if (size != 4)
        return false;
    memcpy(&word, bytes, 4);
    unsigned operation = word & 127, base = word >> 15 & 31, link = word >> 7 & 31;
    if (operation == 0x63 || operation == 0x6f) /* branch, jal */
        return word >> 31;
    return operation == 0x67 && (link || (base != RA && base != T0)); /* jalr */
}

/* The instruction, the last of its block, may close a cycle. */
static inline bool counts_leads_back(enum isa isa, const uint8_t *bytes, size_t size) {
    return isa == ISA_X86_64 ? counts_x86_leads_back(bytes, size)
                             : counts_riscv64_leads_back(bytes, size);
}
