/* The memory that culprit's process and every emulator it traces share: one sparse memory file,
 * mapped once at start by each emulator (and inherited by fork), so that the guest's process owns
 * no file descriptor. Producers are the plugin's threads, the one consumer is capture.c.
 *
 *   control | per process slot: a record ring (definitions and requests) | chunks of events |
 *   markers
 *
 * Chunks. A thread owns one chunk at a time: FREE → HELD (filled by its thread) → FULL (queued) →
 * FREE (read). The cursor lives in the chunk itself, so that what a killed process left in HELD
 * chunks can be harvested. Ownership is one word per chunk changed by compare-and-swap: a process
 * that dies at any instant leaves nothing locked.
 *
 * Records. Each process slot has a byte ring of records. A record is complete before `head` moves
 * over it, and a definition precedes every chunk that needs it. A request is answered in `reply`;
 * its sender waits until `replies` moves.
 *
 * Markers. Which executions of which instructions are to be reported: written before the start,
 * then only read. Sites are sorted by image and offset, targets by process, thread, site and
 * count.
 *
 * Everything here can be overwritten by a hostile guest: the consumer checks every value it uses.
 *
 * Sleeping is by futex: the consumer on `doorbell`, producers on `released` or on their `replies`.
 */
#pragma once

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "program/allocator_routines.h"
#include "program/python_layout.h"
#include "trace/counts.h"
#include "trace/memory_layout.h"
#include "trace/thread_event.h"

enum {
    RING_CHUNK_BYTES = 512 << 10,
    RING_CHUNK_HEADER = 128,
    RING_CHUNK_EVENTS = (RING_CHUNK_BYTES - RING_CHUNK_HEADER) / 8,
    RING_CHUNK_RESERVE = 4096, /* kept for the accesses of a chunk's last block */
    RING_CHUNKS = 4096,
    RING_QUEUE = 64, /* chunks that may wait for the consumer: where it is slower for a while */
    RING_PROCESSES = 256,
    RING_RECORD_BYTES = 256 << 10,
    RING_PATH_BYTES = 4096,
    RING_CONTROL_BYTES = 512 << 10,
    RING_MARKERS = 1 << 17,    /* sites, and targets */
    RING_MAX_BLOCK_INSNS = 512 /* QEMU's TCG_MAX_INSNS */
};

/* Of the whole capture. Phases only ever ascend: from RING_CAPTURE on, capture and pause take
 * turns, each with the next number, until RING_DONE. */
enum ring_phase {
    RING_WAIT, /* for the function named by `from_symbol` to be entered */
    RING_SKIP,
    RING_CAPTURE,
    RING_PAUSE,
    RING_DONE = INT32_MAX
};

/* What is done in a phase: one of the above. */
static inline enum ring_phase ring_activity(uint32_t phase) {
    if (phase <= RING_CAPTURE || phase >= RING_DONE)
        return (enum ring_phase)phase;
    return (phase - RING_CAPTURE) % 2 ? RING_PAUSE : RING_CAPTURE;
}

/* The next phase of the same kind. */
static inline uint32_t ring_next_capture(uint32_t phase) {
    return phase + 2;
}

enum ring_chunk_state { RING_FREE, RING_HELD, RING_FULL };

/* chunk_state words: state | owner's process slot << 8 */
static inline uint32_t ring_state(enum ring_chunk_state state, uint32_t slot) {
    return (uint32_t)state | slot << 8;
}

struct ring_chunk {
    _Atomic(uint64_t *) cursor; /* in the producer's address space, as the next two */
    uint64_t *end;              /* the producer's slow path begins here */
    uint64_t *events;
    _Atomic uint64_t insns; /* executed in this chunk */
    uint64_t first_insn;    /* of this thread before this chunk */
    uint64_t ticket;        /* order in which chunks were begun */
    uint64_t published;     /* order in which they were queued */
    /* Of `insns`: may be executed, by the chunk's share of the limit; have been accounted for. */
    uint64_t allotted, settled;
    uint32_t thread;
    uint32_t last;    /* the thread ended */
    uint32_t ordinal; /* of the thread in its process */
    uint32_t counted; /* enum chunk_counts */
};
static_assert(sizeof(struct ring_chunk) <= RING_CHUNK_HEADER, "the events follow the header");

enum ring_record_kind {
    RING_HELLO,        /* request: a process begins */
    RING_MAP,          /* request: which file is mapped at an address */
    RING_BLOCK,        /* a block definition, followed by its bytes */
    RING_UNTRACED,     /* a process that will not be traced, followed by its path */
    RING_REACHED,      /* a thread is about to execute a marker; where the others are */
    RING_EFFECT,       /* a system call that would change the world, followed by what it is */
    RING_WAITED,       /* a child that is not traced was waited for */
    RING_PYTHON,       /* a function of Python, followed by its name and the path of its file */
    RING_THREAD_EVENT, /* what a thread did with others, before anything that it does after it */
};

struct ring_record {
    uint32_t kind;
    uint32_t size; /* bytes of the whole record, a multiple of 8 */
};

enum ring_origin { RING_STARTED, RING_FORKED };

struct ring_hello {
    struct ring_record record;
    uint32_t pid;
    uint32_t origin;           /* enum ring_origin; an exec is told by the same pid */
    uint32_t parent;           /* forked: process number of the parent */
    uint32_t inherited_blocks; /* forked: blocks defined by the parent before */
    uint32_t fork;             /* forked: number among the forks of the parent, from 0 */
    uint32_t reserved;
};

struct ring_map {
    struct ring_record record;
    uint64_t address;    /* of the guest */
    uint64_t guest_base; /* host address − guest address */
};

enum { RING_BLOCK_EVEX = 1 }; /* has an instruction of AVX-512 */

struct ring_block {
    struct ring_record record;
    uint32_t block, image, insn_count, size;
    uint32_t flags, reserved;
    uint64_t address, offset;
    uint64_t time; /* of its translation, on CLOCK_MONOTONIC; of anonymous code */
};

/* A moment of a process, between what was queued before `published` and what was queued from there
 * on; followed by how far other threads had filled the chunks that they held, RING_CUTS at most. */
struct ring_reached {
    struct ring_record record;
    uint32_t target; /* RING_NO_TARGET: the thread ends */
    uint32_t thread;
    uint64_t position; /* instructions that the thread has executed */
    uint64_t published;
};

struct ring_cut {
    uint64_t ticket; /* of the chunk */
    uint32_t chunk;
    uint32_t events;
};
enum { RING_CUTS = 1024, RING_NO_TARGET = UINT32_MAX };

enum ring_untraced { RING_NOT_FOLLOWED, RING_SET_USER_ID, RING_OTHER_MACHINE, RING_UNREACHABLE };

struct ring_untraced_process {
    struct ring_record record;
    uint32_t pid;
    uint32_t parent; /* process number */
    uint32_t reason; /* enum ring_untraced */
    uint32_t forked; /* a fork child; else an exec */
};

struct ring_waited {
    struct ring_record record;
    uint32_t pid, reserved;
    uint64_t user_microseconds; /* of it and the children that it waited for, natively */
};

struct ring_thread_event {
    struct ring_record record;
    struct thread_event event; /* no `number` */
};

enum { RING_EFFECT_BYTES = 256 };

struct ring_effect {
    struct ring_record record;
    uint32_t thread, reserved;
    uint64_t position; /* instructions that the thread executed before */
};

struct ring_python_function {
    struct ring_record record;
    uint32_t function, first_line; /* as of an item_python */
};

/* An interpreter of Python in a mapping, in addresses of the guest. */
struct ring_python {
    uint64_t loop; /* PYTHON_LOOP; 0: there is none, or it is not known */
    uint64_t code_type, text_type, bytes_type;
    struct python_layout layout;
};

struct ring_reply {
    uint32_t process;     /* number of the process (hello) */
    uint32_t known;       /* `process` of its targets (hello) */
    uint32_t image;       /* UINT32_MAX: anonymous */
    uint64_t start, end;  /* guest addresses of the mapping; empty: nothing is there */
    uint64_t file_offset; /* of start */
    uint64_t symbol;      /* guest address of from_symbol in this mapping, 0: none */
    uint32_t marked;      /* `image` of the sites in this mapping; RING_UNMARKED: it has none */
    struct ring_python python;
    uint32_t allocations; /* it is the library that tells of allocations */
    /* Allocators of the program's own that lie in it, in addresses of the guest. */
    uint32_t routine_count;
    struct allocator_routine routines[ALLOCATOR_ROUTINES];
};

enum { RING_UNMARKED = UINT32_MAX };

struct ring_site {
    uint32_t image, reserved;
    uint64_t offset; /* in the file; the address when there is none */
};

struct ring_target {
    uint32_t process, thread; /* as of a capture_marker */
    uint32_t site, reserved;
    uint64_t count; /* at least 1: executions of the site by the thread, this one included */
};

struct ring_process {
    _Atomic uint32_t claimed;
    uint32_t pid;
    _Atomic uint64_t head, tail; /* bytes ever written and read */
    _Atomic uint32_t replies;
    struct ring_reply reply;
    /* A parent's blocks must be kept while a fork child may still say hello. */
    _Atomic uint32_t forks_begun, forks_arrived;
};

/* What a thread does in the kernel, by the thread itself. */
enum ring_wait_state {
    RING_WAITS_NOT, /* nobody's */
    RING_RUNS,
    RING_WAITS,        /* for a time, or for the world */
    RING_WAITS_FOREVER /* in a futex */
};
enum { RING_WAIT_SLOTS = 256, RING_WAIT_BLOCKS = 24 };
struct ring_wait {
    _Atomic uint32_t state;
    uint32_t slot; /* of its process */
    uint32_t thread, tid;
    uint64_t address;                  /* of the futex */
    uint32_t expected;                 /* value of it */
    uint32_t owner;                    /* tid of who has it, if it is a mutex of glibc */
    uint32_t block_count;              /* two of each image, entered last */
    uint32_t blocks[RING_WAIT_BLOCKS]; /* the last first */
};

enum ring_moved { RING_MOVED_MAPPINGS = 1, RING_MOVED_HEAP = 2, RING_MOVED_ALL = 3 };

struct ring_control {
    /* These two stay where they are, for a plugin that was built from another ring.h. */
    uint64_t layout;          /* RING_LAYOUT, from trace/qemu/layout.h: a number of this text */
    _Atomic uint64_t refused; /* the layout of a plugin that has another one; 0: none */
    int32_t consumer;
    uint32_t isa;                                  /* enum isa */
    uint32_t addresses, follow, repeatable, fixed; /* as in capture_options */
    _Atomic uint32_t addresses_needed;             /* from here on, whatever `counted` says */
    struct capture_counts counted;                 /* as in capture_options */
    _Atomic uint32_t
        stop; /* processes are killed when the capture is over, those forked then too */
    int32_t thread;
    uint32_t limited;
    uint32_t watch_effects, harmless;
    uint32_t objects;     /* events of memory are wanted (plugin_memory.c) */
    uint32_t awaited;     /* RING_SKIP lasts until the consumer ends it */
    uint32_t cut_threads; /* markers tell where the other threads are */
    uint64_t seed;
    struct memory_layout memory;       /* of a command that is `fixed` */
    _Atomic uint32_t moved;            /* enum ring_moved: what the plugin could move */
    uint32_t site_count, target_count; /* of markers */
    uint64_t slice_size; /* 0: capture events; else count executions by slices (trace/counts.h) */

    _Atomic uint32_t phase;    /* enum ring_phase */
    _Atomic uint32_t detached; /* nobody reads any more: run on without waiting */
    _Atomic int64_t skip;      /* instructions still to skip */
    /* The limit: instructions that no thread has a share of yet, and those not yet known to be
     * captured. Counting executions (slice_size) there are no shares, and only the first counts. */
    _Atomic int64_t left, unfinished;
    /* A pause ends when this thread has executed so many instructions. */
    _Atomic uint32_t paused_thread;
    _Atomic uint64_t paused_until;

    _Atomic uint32_t doorbell, sleeping;
    _Atomic uint32_t released, waiting;
    _Atomic int32_t queued;
    _Atomic uint64_t tickets, published;
    _Atomic uint64_t event_tickets; /* of thread_event */
    _Atomic uint32_t threads;       /* numbers given out */
    _Atomic uint32_t most_threads;  /* that a process has made */
    _Atomic uint32_t chunk_high;    /* chunks below have been used */
    _Atomic uint32_t timer_set;     /* what runs from then on depends on the time */

    struct ring_wait waits[RING_WAIT_SLOTS];
    _Atomic uint32_t waits_missed; /* threads that found no place among them */

    /* What it takes to run the emulator again after an exec. */
    char emulator[RING_PATH_BYTES];
    char plugin[2 * RING_PATH_BYTES];  /* argument of -plugin */
    char shared[64];                   /* the memory file, as a path */
    char allocations[RING_PATH_BYTES]; /* library to preload into the guest; empty: none */
    char preload[RING_PATH_BYTES];     /* into the emulator: the plugin; empty: none */

    struct ring_process processes[RING_PROCESSES];
    _Atomic uint32_t chunk_state[RING_CHUNKS];
};
static_assert(offsetof(struct ring_control, layout) == 0 &&
                  offsetof(struct ring_control, refused) == 8,
              "known to every plugin");
static_assert(sizeof(struct ring_control) <= RING_CONTROL_BYTES, "rings follow the control page");

static const uint64_t RING_SITES_AT = (uint64_t)RING_CONTROL_BYTES +
                                      (uint64_t)RING_PROCESSES * RING_RECORD_BYTES +
                                      (uint64_t)RING_CHUNKS * RING_CHUNK_BYTES;
static const uint64_t RING_TARGETS_AT = RING_SITES_AT + RING_MARKERS * sizeof(struct ring_site);
static const uint64_t RING_BYTES = RING_TARGETS_AT + RING_MARKERS * sizeof(struct ring_target);

static inline uint8_t *ring_records(struct ring_control *control, uint32_t slot) {
    return (uint8_t *)control + RING_CONTROL_BYTES + (size_t)slot * RING_RECORD_BYTES;
}
static inline struct ring_chunk *ring_chunk(struct ring_control *control, uint32_t number) {
    return (struct ring_chunk *)((uint8_t *)control + RING_CONTROL_BYTES +
                                 (size_t)RING_PROCESSES * RING_RECORD_BYTES +
                                 (size_t)number * RING_CHUNK_BYTES);
}
static inline struct ring_site *ring_sites(struct ring_control *control) {
    return (struct ring_site *)((uint8_t *)control + RING_SITES_AT);
}
static inline struct ring_target *ring_targets(struct ring_control *control) {
    return (struct ring_target *)((uint8_t *)control + RING_TARGETS_AT);
}
/* What the chunk does not use of its share goes back; what it used counts. Whoever brings the last
 * of it ends the capture. For the chunk's owner, between blocks. */
static inline void ring_settle_share(struct ring_control *control, struct ring_chunk *chunk) {
    uint64_t insns = atomic_load(&chunk->insns), used = insns - chunk->settled;
    if (!control->limited || insns < chunk->settled || insns > chunk->allotted)
        return;
    uint64_t unused = chunk->allotted - insns;
    chunk->allotted = chunk->settled = insns;
    atomic_fetch_add(&control->left, (int64_t)unused);
    if (used && atomic_fetch_sub(&control->unfinished, (int64_t)used) <= (int64_t)used)
        atomic_store(&control->phase, RING_DONE);
}
static inline uint64_t *ring_chunk_events(struct ring_chunk *chunk) {
    return (uint64_t *)((uint8_t *)chunk + RING_CHUNK_HEADER);
}
