/* What a program executed, as every room to the right of trace/ sees it: static code, and for each
 * guest thread the sequence of dynamic instructions with their memory accesses.
 *
 * A dynamic instruction is 16 bytes and names its static instruction; its successor is the next
 * entry of the same thread. Sequence numbers are implicit: the n-th instruction of a thread. */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "isa/described.h"
#include "isa/insn.h"

/* One static instruction, numbered densely from 0 over the whole trace in order of appearance.
 * The same (image, offset, bytes) in several processes is one static instruction. */
struct static_insn {
    uint64_t address;   /* virtual address where first seen */
    uint64_t offset;    /* offset in the image file (ELF file offset); anonymous: the address,
                           or the offset in the image's symbol */
    uint32_t image;     /* index into struct code images */
    uint32_t target;    /* direct branch: static number of its target if known, else UINT32_MAX */
    uint32_t first_uop; /* into struct code uops; instructions may share them */
    uint8_t uop_count;
    uint8_t length; /* bytes */
    uint8_t branch; /* enum branch_kind */
    uint8_t memory_count;
    uint16_t flags;            /* enum insn_flags */
    uint8_t operation;         /* enum operation */
    uint8_t reached : 1;       /* once a taken branch or a signal was seen to lead here */
    uint8_t stack_use : 4;     /* enum stack_use */
    uint8_t described : 1;     /* `bytes` is a description (isa/described.h) */
    uint8_t adds_constant : 1; /* as struct insn has it, as the next */
    uint8_t is_cpuid : 1;
    int32_t target_displacement; /* direct branch: target − address (fits 32 bits on both ISAs) */
    uint8_t bytes[16];           /* machine code */
    uint64_t form;               /* insn_form (isa/form.h) */
};
static_assert(sizeof(struct static_insn) == 64, "static instructions are read once per execution");

/* Whether it is a compare that fuses with a branch behind it (x86), by its last µop: one that
 * stores in the compare's place (add [mem], 1) does not. And whether it is such a branch. */
static inline bool insn_fuses_compare(const struct static_insn *insn, const struct uop *last) {
    return insn->flags & INSN_SETS_FLAGS_FOR_FUSION && last->operation == OP_INT_ALU;
}
static inline bool insn_fuses_branch(const struct static_insn *insn) {
    return insn->flags & INSN_FUSES_WITH_FLAGS && insn->uop_count == 1;
}

/* Its text, like insn_text(). */
static inline size_t static_insn_text(enum isa isa, const struct static_insn *insn,
                                      uint64_t address, char *text, size_t size) {
    return insn->described ? insn_described_text(insn->bytes, address, text, size)
                           : insn_text(isa, insn->bytes, insn->length, address, text, size);
}

enum code_image_kind { CODE_IMAGE_FILE, CODE_IMAGE_VDSO, CODE_IMAGE_ANONYMOUS /* JIT, stack */ };

struct code_image {
    char *path;   /* as the guest mapped it, absolute; "[vdso]", "[anon]" */
    char *symbol; /* anonymous code that its program named: the function, which is all of this
                     image; NULL: none */
    enum code_image_kind kind;
    uint8_t build_id[20];
    uint8_t build_id_size; /* 0: none */
    uint64_t base; /* of its first appearance: address − file offset of its first mapping */
};

/* A function of Python, as a process had it. */
struct python_source {
    char *name, *path; /* "Class.method"; of its file */
    uint32_t first_line;
};

/* Where a process has a file: the first mapping of it that the trace tells of. */
struct code_mapping {
    uint32_t process, image; /* index into struct code images */
    uint64_t address, file_offset;
};

/* All static code seen so far. Arrays grow (and may move) only inside trace_next(); counts never
 * shrink. Owned by the trace. */
struct code {
    enum isa isa;
    struct static_insn *insns;
    uint32_t insn_count;
    struct uop *uops;
    uint32_t uop_count;
    struct code_image *images;
    uint32_t image_count;
    struct python_source *python;
    uint32_t python_count;
    struct code_mapping *mappings; /* in the order of the trace; the first of a pair counts */
    uint32_t mapping_count;
};

enum dynamic_flags {
    DYN_TAKEN = 1 << 0,   /* branch: control did not fall through */
    DYN_REP = 1 << 1,     /* executed `repeat` elements (0 is possible) */
    DYN_SYSCALL = 1 << 2, /* entered the kernel */
    DYN_SIGNAL = 1 << 3,  /* the successor is a signal handler (or its return) or otherwise not
                             reachable by this instruction: control was taken away after it */
    DYN_FAULT = 1 << 4,   /* raised an exception and did not complete (it does not count) */
    DYN_GAP = 1 << 5      /* instructions are missing between this one and the next (window ended,
                             another thread selected...) */
};

struct dynamic_insn {
    uint32_t insn;   /* index into struct code insns */
    uint32_t memory; /* low 32 bits of the thread's index of its first memory access */
    uint32_t repeat; /* elements, with DYN_REP; saturates */
    uint16_t memory_count;
    uint16_t flags; /* enum dynamic_flags */
};
static_assert(sizeof(struct dynamic_insn) == 16, "the window holds thousands of these");

/* One memory access. Wide accesses are coalesced to what the instruction did (one 32-byte access,
 * not four of 8). A rep instruction has one access per operand that covers all of its elements;
 * accesses over UINT32_MAX bytes are split. */
struct memory_access {
    uint64_t address;    /* lowest byte */
    uint32_t size_bytes; /* ≥ 1 */
    uint8_t is_store;
    uint8_t operand;    /* index into insn.memory[], 255 if it matches none */
    uint8_t descending; /* rep with the direction flag set */
    uint8_t reserved;
};
static_assert(sizeof(struct memory_access) == 16, "the window holds thousands of these");

/* Where a thread's Python is from an instruction on (trace/event.h). */
struct trace_python {
    uint64_t position; /* sequence number of the instruction within its thread */
    uint32_t function; /* index + 1 into struct code python; 0: not known */
    uint32_t line;     /* 0: not known */
    uint16_t depth;    /* of the frame, the outermost 1; 0: there is none */
    bool begins;       /* the frame is the first of a run of the interpreter's loop */
    bool innermost;    /* else it is restated, and others are within it */
};

/* An instruction that read what another thread had written, in words that threads synchronise by:
 * those that several wrote atomically, and those that one read again and again until another wrote
 * them. */
struct trace_order {
    uint64_t reader;  /* sequence number of the instruction within its thread */
    uint64_t written; /* instructions of the writer's thread up to and including the one that wrote,
                         as struct trace_chunk counts */
    uint32_t writer;  /* thread */
    uint32_t reserved;
};

/* What happened to memory as the program has it: allocated and freed by the routines of the C
 * library, or mapped by system calls. Only of captures that were asked for it. */
enum trace_memory_kind {
    MEMORY_ALLOCATED = 1, /* malloc() and its kin returned a block */
    MEMORY_FREED,         /* the block that begins there; its size is not told */
    MEMORY_MAPPED,        /* [address, address + size) is what `image` is, or anonymous */
    MEMORY_UNMAPPED,
    MEMORY_BREAK, /* the heap that brk() makes is now [address, address + size) */
    MEMORY_STACK, /* [address, address + size) is for a stack: the first, or mapped to be one */
    TRACE_MEMORY_KINDS
};

struct trace_memory {
    uint64_t position; /* instructions of the thread before it, as sequence numbers count */
    uint64_t address, size;
    uint32_t image; /* MEMORY_MAPPED: index into struct code images; UINT32_MAX: anonymous */
    uint32_t kind;  /* enum trace_memory_kind */
};
