/* What an instruction is on any architecture: between machine code and all other rooms.
 * `insn_decode` turns bytes into `struct insn`; `insn_crack` turns a `struct insn` into the µops a
 * core executes; `insn_text` prints it.
 *
 * All three are pure functions of their arguments and safe on hostile bytes: for bytes that are no
 * instruction insn_decode returns false and sets no field. */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum isa { ISA_X86_64, ISA_RISCV64, ISA_COUNT };

/* Class of work of a µop. A machine maps each class to a pool of functional units with a latency
 * (machine/machine.h). Keep in step with OPERATION_NAMES in insn.c. */
enum operation {
    OP_NOP,      /* takes a ROB entry, no functional unit */
    OP_INT_ALU,  /* one-cycle integer: add, logic, shift, compare, lea, move */
    OP_INT_MUL,  /* integer multiply */
    OP_INT_DIV,  /* integer divide */
    OP_BRANCH,   /* any control transfer */
    OP_FP_ADD,   /* fp add, subtract, scalar or vector */
    OP_FP_MUL,   /* fp multiply */
    OP_FP_FMA,   /* fp fused multiply-add */
    OP_FP_DIV,   /* fp divide */
    OP_FP_SQRT,  /* fp square root */
    OP_FP_MISC,  /* fp compare, convert, sign, min/max, moves between fp and integer registers */
    OP_VEC_ALU,  /* vector integer add, logic, compare, move, blend */
    OP_VEC_MUL,  /* vector integer multiply */
    OP_VEC_PERM, /* shuffles, packs, inserts, extracts */
    OP_CRYPTO,   /* AES, SHA, carry-less multiply, CRC */
    OP_LOAD,     /* memory read */
    OP_STORE,    /* memory write: address and data parts tracked apart */
    OP_SYSTEM,   /* cpuid, rdtsc, CSR access, fences, system calls, anything microcoded */
    OP_CLOCK, /* a system call that the kernel's vDSO serves: reading the clock or the processor's
                 number without the kernel (trace/code.h) */
    OP_COUNT
};

const char *operation_name(enum operation operation); /* "int_alu", as in machine files */

/* Register numbers, one name space per ISA, small enough for a flat rename map.
 * x86-64: 0-15 rax..r15 (hardware numbers), 16 CF, 17 the other arithmetic flags (OF SF ZF AF PF
 *   as one), 18 DF, 19 MXCSR and x87 control/status, 32-63 vector registers, 64-71 x87/MMX,
 *   72-79 mask registers.
 * riscv64: 1-31 x1..x31 (x0 is never named), 32-63 f0..f31, 64 fcsr flags (fflags), 65 frm,
 *   66 vector state, 32.. as above.
 * 84-89 and 90-95: integer and fp/vector temporaries that carry values between µops of one
 *   instruction. */
enum {
    REG_X86_RSP = 4,
    REG_X86_CF = 16,
    REG_X86_FLAGS = 17,
    REG_X86_DF = 18,
    REG_X86_FPCONTROL = 19,
    REG_VECTOR = 32,
    REG_X86_X87 = 64,
    REG_X86_MASK = 72,
    REG_RISCV_FFLAGS = 64,
    REG_RISCV_FRM = 65,
    REG_TEMPORARY = 84,
    REG_FP_TEMPORARY = 90,
    REG_COUNT = 96,
    REG_NONE = 255
};

/* True for registers renamed from the fp/vector physical register file (x87, MMX and masks too). */
static inline bool register_is_fp(uint8_t reg) {
    return reg < REG_COUNT && reg >= REG_VECTOR && (reg < REG_TEMPORARY || reg >= REG_FP_TEMPORARY);
}

/* True for the arithmetic flags of x86-64, which some cores rename by themselves. */
static inline bool register_is_flags(enum isa isa, uint8_t reg) {
    return isa == ISA_X86_64 && (reg == REG_X86_CF || reg == REG_X86_FLAGS);
}

enum branch_kind {
    BRANCH_NONE,
    BRANCH_CONDITIONAL,   /* direct, may fall through */
    BRANCH_JUMP,          /* direct, always taken */
    BRANCH_CALL,          /* direct call */
    BRANCH_INDIRECT,      /* jump through register or memory */
    BRANCH_INDIRECT_CALL, /* call through register or memory */
    BRANCH_RETURN
};
enum { BRANCH_KINDS = BRANCH_RETURN + 1 };

enum insn_flags {
    INSN_SERIALISING = 1 << 0, /* dispatches alone, into an empty ROB, and holds back what follows
                                  until it commits: cpuid, iret, lfence, ... */
    INSN_FLUSHING = 1 << 1,    /* flushes the pipeline when it commits: riscv writes and reads of fp
                                  flags as in BOOM (frflags, fsflags, fscsr, csrrw fcsr...), fence.i */
    INSN_FENCE_LOAD =
        1 << 2, /* later loads wait until it commits (lfence, mfence, locked, fence) */
    INSN_FENCE_STORE = 1 << 3, /* waits itself until the store queue is empty (mfence, sfence,
                                  locked operations, xchg with memory, fence, amo/sc) */
    INSN_ATOMIC = 1 << 4,      /* locked read-modify-write, lr/sc, amo */
    INSN_SYSCALL = 1 << 5,     /* syscall, ecall, int 0x80: an exception at commit */
    INSN_REP = 1 << 6,         /* repeated string instruction: executes dynamic `repeat` times */
    INSN_MOVE = 1 << 7,        /* register copy that rename may eliminate */
    INSN_ZERO = 1 << 8,        /* zero idiom: no sources, rename may eliminate */
    INSN_NOP = 1 << 9,         /* no operation (also endbr64, prefetch hints without memory) */
    INSN_PREFETCH = 1 << 10,   /* software prefetch: a load nobody waits for; on riscv64 a load into
                                  x0, as into the zero registers of Alpha and PA-RISC (prefetch.r of
                                  Zicbop is an ori into x0, whose address no trace holds) */
    INSN_SETS_FLAGS_FOR_FUSION = 1 << 11, /* x86 cmp, test (and add, sub, and, inc, dec): may fuse
                                             with a conditional branch that follows directly */
    INSN_FUSES_WITH_FLAGS = 1 << 12,      /* x86 jcc that can fuse with such an instruction */
    INSN_TRAP = 1 << 13,                  /* ud2, int3, ebreak, hlt: never completes normally */
    INSN_GATHER = 1 << 14,                /* gather/scatter: one access per lane */
    INSN_ADDRESS_IS_DATA = 1 << 15        /* source[0] is read as data and for an address too; all
                                             other address registers only for addresses */
};

/* How an instruction of x86-64 uses the stack pointer, beside addresses; of others: not. */
enum stack_use {
    STACK_MOVED = 1 << 0, /* push, pop, call and return move it (insn_crack) */
    STACK_READ = 1 << 1,  /* an operation reads it, other than lea */
    STACK_WRITTEN = 1 << 2,
    STACK_STEPPED = 1 << 3 /* by adding a constant to it or subtracting one */
};

enum { INSN_MAX_SOURCES = 8, INSN_MAX_DESTINATIONS = 5, INSN_MAX_MEMORY = 3, INSN_MAX_LENGTH = 15 };

struct insn_memory {
    uint16_t size_bytes; /* of one execution; 0: unknown (xsave...) */
    bool is_load, is_store;
    uint8_t base, index; /* registers or REG_NONE (also for rip-relative) */
};

struct insn {
    uint8_t isa;       /* enum isa */
    uint8_t length;    /* bytes */
    uint8_t operation; /* enum operation of its main work (OP_LOAD for a plain load) */
    uint8_t branch;    /* enum branch_kind */
    uint16_t flags;    /* enum insn_flags */
    uint8_t source_count, destination_count, memory_count;
    uint8_t source[INSN_MAX_SOURCES]; /* registers read, address registers included; partial writes
                                         read the register they merge into; no duplicates. Data
                                         first, then those read only for addresses */
    uint8_t destination[INSN_MAX_DESTINATIONS]; /* registers written, flags included; of what
                                                   restores or clears whole register files
                                                   (xrstor, vzeroall) none */
    struct insn_memory memory[INSN_MAX_MEMORY]; /* in the order the hardware performs them: loads
                                                   before stores */
    int64_t target;     /* direct branches: target minus address of this instruction; else 0 */
    uint64_t form;      /* insn_form (isa/form.h); of no x86-64 instruction: none */
    uint8_t stack_use;  /* enum stack_use */
    bool adds_constant; /* x86-64: add, sub, inc, dec or lea of one 64-bit register and a constant
                           of 11 bits, which rename may add */
    bool is_cpuid;      /* x86-64 */
    bool unlaminated;   /* x86-64: a VEX or EVEX instruction loads by an index register, reads a
                           register besides, and writes one that it does not read: of some cores
                           the load and the operation come apart (core/places.h) */
};

/* Decodes the instruction at `bytes` (`size` bytes readable). False: not an instruction, or
 * truncated. Never reads past size. */
bool insn_decode(enum isa isa, const uint8_t *bytes, size_t size, struct insn *insn);

/* Writes assembly text (Intel syntax on x86-64, the usual mnemonics and aliases on riscv64), with
 * branch targets and rip-relative addresses resolved for `address`; always NUL-terminated.
 * Bytes that do not decode print as ".byte 0x..". Returns the length like snprintf. */
size_t insn_text(enum isa isa, const uint8_t *bytes, size_t size, uint64_t address, char *text,
                 size_t text_size);

/* ---- µops ---- */

enum uop_flags {
    UOP_LAST = 1 << 0,   /* last µop of its instruction: the instruction counts when it commits */
    UOP_BRANCH = 1 << 1, /* resolves the instruction's branch */
    UOP_FIRST = 1 << 2,
    UOP_UNLAMINATED = 1 << 3 /* of an instruction of which struct insn says so */
};

enum { UOP_MAX_SOURCES = 4, UOP_MAX_DESTINATIONS = 4, INSN_MAX_UOPS = 8 };

/* A static µop. For OP_STORE, `source` holds the address registers only and `data` the register
 * stored, so that a core can resolve the address before the data is there. */
struct uop {
    uint8_t operation; /* enum operation */
    uint8_t flags;     /* enum uop_flags */
    uint8_t memory;    /* index into the instruction's memory operands, or 255 */
    uint8_t data;      /* OP_STORE: register stored, or REG_NONE */
    uint8_t source_count, destination_count;
    uint8_t source[UOP_MAX_SOURCES];
    uint8_t destination[UOP_MAX_DESTINATIONS];
    uint16_t reserved;
};
static_assert(sizeof(struct uop) == 16, "µops are hot: four to a cache line");

/* Cracks an instruction into 1 to INSN_MAX_UOPS µops in program order and returns how many: loads
 * first, then the operation, then stores (and the branch last of all for calls and returns).
 * A plain load, store or operation is one µop. push/call/pop/ret: the stack pointer update is free
 * (stack engine tracks it at rename): no µop names rsp as its destination, so nothing waits for a
 * pop to load before it uses rsp. String instructions step their pointers last; INSN_REP
 * instructions give the µops of one element; the core repeats them per cache line. Gathers give one
 * load µop (it performs all its accesses) and one OP_VEC_PERM. */
int insn_crack(const struct insn *insn, struct uop uops[INSN_MAX_UOPS]);
