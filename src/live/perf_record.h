/* One record of a perf ring buffer (perf_event_open(2)), as the recorder's events write them. */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live/live.h"
#include "program/elf_image.h"
#include "program/unwind_step.h"

/* What the events are opened with: sample types, and which records beside samples. */
#define PERF_RECORD_SAMPLE_TYPE                                                                    \
    (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

/* In addition for stacks: callers in the kernel, the registers and the stack of user code. */
#define PERF_RECORD_STACK_TYPE                                                                     \
    (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)
/* ax, bx, cx, dx, si, di, bp, sp, ip; r8 to r15 (asm/perf_regs.h of x86) */
#define PERF_RECORD_REGISTERS UINT64_C(0xff01ff)

struct perf_record {
    uint32_t type; /* PERF_RECORD_SAMPLE, MMAP2, COMM, FORK, EXIT, SWITCH, LOST, LOST_SAMPLES;
                      others are left as they are, with no more than their time */
    uint64_t time; /* ns of the recorder's clock; 0: none */
    uint32_t pid, tid;
    uint32_t processor; /* 1 + the number of that whose ring it was in: the recorder's to say */
    uint32_t parent;    /* of FORK: the process that forked */
    uint64_t id;        /* of a sample and of SWITCH: of the event */
    uint64_t address;
    bool kernel;          /* of a sample: in the kernel */
    bool has_stack;       /* of a sample: what follows was sampled */
    const uint8_t *chain; /* in the bytes given: `chain_count` words of 8 bytes, addresses from the
                             sampled one to its callers; PERF_CONTEXT_* say where they lie */
    size_t chain_count;
    struct unwind_registers registers; /* of user code; none known: a thread of the kernel; rip
                                          alone: of 32 bits */
    struct unwind_memory stack;        /* in the bytes given */
    bool walked;            /* in place of the stack, it was walked; of the registers rip alone is
                               of meaning, if it is known: */
    uint64_t alike;         /* a hash of the walk, for samples of one process */
    const uint8_t *callers; /* `caller_count` words of 8 bytes, places of callers in user code;
                               with `tops` twice as many, and one more before: see walk_stack */
    size_t caller_count;
    bool tops;
    enum live_stack_end end; /* of the walk */
    uint64_t lost;           /* of LOST and LOST_SAMPLES: how many */
    bool samples_alone;      /* of LOST: the recorder's to say */
    bool leaves, runnable;   /* of SWITCH: off its processor; though it could run */
    bool exec;               /* of COMM: by an exec */
    const char *name;        /* of COMM and MMAP2, in the bytes given; terminated */
    uint64_t start, length, offset;
    uint64_t device, inode;
    uint32_t generation;
    uint8_t build_id[BUILD_ID_MAX];
    size_t build_id_size; /* of MMAP2: not 0 in place of device, inode and generation */
};

/* `size` bytes from a record's first on. `build_ids`: the event asked for them; the kernel also
 * sets their mark in records of events that did not, beside others that do. False: it is not all
 * there, or not consistent. */
bool perf_record_read(const uint8_t *bytes, size_t size, bool build_ids,
                      struct perf_record *record);

/* Of a sample with a stack that has `size` bytes, from its first PERF_RECORD_HEAD_BYTES or all if
 * it has fewer: where the word with the room for its stack stands, behind which the stack itself
 * and the word with its length follow. False: it has none, or is not consistent. */
enum { PERF_RECORD_HEAD_BYTES = 4096 };
bool perf_record_find_stack(const uint8_t *head, size_t size, size_t *at, size_t *room);

/* The time alone; 0: none. */
uint64_t perf_record_time(const uint8_t *bytes, size_t size);
