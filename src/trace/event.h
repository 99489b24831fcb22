/* The capture protocol: what the plugin puts into a ring and DATA records carry, 64 bits an event.
 *
 * bits 63:62 kind
 *   EVENT_BLOCK  31:0 block number, dense per process generation: the block was *entered*. Its
 *                memory events follow, in program order, before the next block's.
 *   EVENT_LOAD   61:59 log2 of the size in bytes | 58:48 index of the instruction in its block |
 *   EVENT_STORE  47:0 address. Wide accesses arrive in pieces; the decoder joins them.
 *   EVENT_MARK   61:56 mark | 55:0 payload
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum event_kind { EVENT_BLOCK, EVENT_LOAD, EVENT_STORE, EVENT_MARK };

enum event_mark {
    MARK_REP,  /* payload 55:45 index in the block of a rep instruction | 44:0 elements executed.
                  Its operands follow: each a load or store event with the lowest address and
                  the element's size, then MARK_SPAN */
    MARK_SPAN, /* payload 55 descending | 54:0 bytes covered by the access event before it */
    MARK_EXECUTED, /* payload: only so many instructions of the last block were executed */
    MARK_SYSCALL,  /* payload: number, and perhaps SYSCALL_OF_VDSO; the last instruction executed
                      entered the kernel */
    MARK_SIGNAL, /* payload 0: a signal handler returns; else the next block begins where a handler
                    does: enum event_handler */
    MARK_GAP,    /* instructions are missing here (capture was off) */
    MARK_WRITER, /* payload 55:45 index in the block of an instruction that read what another thread
                    wrote | 44:0 that thread. MARK_WRITTEN follows */
    MARK_WRITTEN, /* payload: instructions of that thread up to and including the one that wrote, as
                     the capture counts */
    MARK_PYTHON,  /* payload: struct python_mark. From behind this instruction on, this is the
                     innermost Python frame of the thread, and where it is */
    MARK_PYTHON_FRAME, /* likewise a frame further out, which may have been told before */
    MARK_MEMORY,       /* memory was allocated, freed, mapped: 55:48 enum trace_memory_kind | 47:0
                          address. MARK_EXTENT follows */
    MARK_EXTENT, /* payload: bytes; of MEMORY_MAPPED 55:20 pages | 19:0 1 more than the number of
                    its IMAGE; 0: anonymous */
    MARK_COUNT
};

/* What a handler of signals is registered for; both: for some of each. */
enum event_handler {
    HANDLER_OF_OTHERS = 1, /* signals that arrive between blocks: timers, kill() */
    HANDLER_OF_FAULTS = 2  /* SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP */
};

enum { EVENT_MAX_BLOCK_INSNS = 2048 };
#define WRITER_THREAD ((UINT64_C(1) << 45) - 1) /* of a MARK_WRITER */
enum { EXTENT_PAGE_BITS = 12, EXTENT_IMAGE_BITS = 20 };
/* The emulator offers no vDSO; outside of it the call would not have entered the kernel. */
#define SYSCALL_OF_VDSO (UINT64_C(1) << 55)

/* What Python runs, of MARK_PYTHON and MARK_PYTHON_FRAME. */
struct python_mark {
    uint32_t index;    /* 55:45 of the instruction in its block */
    bool begins;       /* 44 the frame is the first of a run of the interpreter's loop */
    uint32_t depth;    /* 43:34 of the frame, the outermost 1; 0: there is none. What is deeper than
                          PYTHON_DEPTH_MAX has that */
    uint32_t function; /* 33:17 its number in its process, from 1; 0: not known */
    uint32_t line;     /* 16:0; 0: not known */
};
enum {
    PYTHON_DEPTH_MAX = (1 << 10) - 1,
    PYTHON_FUNCTION_MAX = (1 << 17) - 1,
    PYTHON_LINE_MAX = (1 << 17) - 1
};
static inline uint64_t python_mark_payload(struct python_mark mark) {
    return (uint64_t)mark.index << 45 | (uint64_t)mark.begins << 44 | (uint64_t)mark.depth << 34 |
           (uint64_t)mark.function << 17 | mark.line;
}
static inline struct python_mark python_mark_of(uint64_t payload) {
    return (struct python_mark){.index = (uint32_t)(payload >> 45),
                                .begins = payload >> 44 & 1,
                                .depth = payload >> 34 & PYTHON_DEPTH_MAX,
                                .function = payload >> 17 & PYTHON_FUNCTION_MAX,
                                .line = payload & PYTHON_LINE_MAX};
}

static inline uint64_t event_block(uint32_t block) {
    return block;
}
static inline uint64_t event_access(int is_store, unsigned log2_size, unsigned index,
                                    uint64_t address) {
    return (uint64_t)(is_store ? EVENT_STORE : EVENT_LOAD) << 62 | (uint64_t)log2_size << 59 |
           (uint64_t)index << 48 | (address & 0xffffffffffff);
}
static inline uint64_t event_mark(unsigned mark, uint64_t payload) {
    return (uint64_t)EVENT_MARK << 62 | (uint64_t)mark << 56 | (payload & 0xffffffffffffff);
}
static inline unsigned event_kind(uint64_t event) {
    return (unsigned)(event >> 62);
}
static inline uint32_t event_block_number(uint64_t event) {
    return (uint32_t)event;
}
static inline unsigned event_log2_size(uint64_t event) {
    return event >> 59 & 7;
}
static inline unsigned event_index(uint64_t event) {
    return event >> 48 & 0x7ff;
}
/* Canonical: bit 47 extends upwards. */
static inline uint64_t event_address(uint64_t event) {
    return (uint64_t)((int64_t)(event << 16) >> 16);
}
static inline unsigned event_mark_kind(uint64_t event) {
    return event >> 56 & 63;
}
static inline uint64_t event_payload(uint64_t event) {
    return event & 0xffffffffffffff;
}
