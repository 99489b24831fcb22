/* One row of an unwind table (program/unwind_table.h). BPF programs use the same rows
 * (live/bpf/walk.bpf.h), hence flat and of 16 bytes. */
#pragma once

#include <linux/types.h>

/* DWARF's numbers of x86-64's registers (System V ABI, fig. 3.36). */
enum { UNWIND_RBX = 3, UNWIND_RBP = 6, UNWIND_RSP = 7, UNWIND_RIP = 16, UNWIND_REGISTERS = 17 };

enum unwind_kind {
    UNWIND_NO_RULE,     /* nothing covers this code: by frame pointer */
    UNWIND_UNKNOWN,     /* it is covered, by rules that a row cannot say */
    UNWIND_OUTERMOST,   /* there is no caller */
    UNWIND_REGISTER,    /* CFA = register + cfa_offset */
    UNWIND_DEREFERENCE, /* CFA = *(register + cfa_offset) + after */
    UNWIND_LINKAGE, /* CFA = rsp + 8, and 8 more where rip & 15 ≥ cfa_offset: linkage tables */
    UNWIND_SIGNAL   /* the kernel put the registers on the stack, above rsp */
};

enum { UNWIND_RBP_BY_RBP = 1, UNWIND_RBX_BY_RBP = 2 };

struct unwind_row {
    __u32 start;      /* offset in the file of the first instruction */
    __s32 cfa_offset; /* bytes */
    __s16 rbp, rbx;   /* where the caller's lie: words of 8 bytes from the CFA, or, as `flags`
                           say, from rbp; from the CFA 0: they are still in the registers */
    __u8 kind;        /* enum unwind_kind */
    __u8 base;        /* number of the register */
    __u8 after;       /* bytes */
    __u8 flags;
};
_Static_assert(sizeof(struct unwind_row) == 16, "four to a cache line");
