/* How the caller of any instruction of an image is found: the unwind rules of x86-64, one row from
 * each address at which they change to the next. Made from the frame description entries
 * (program/frame_entries.h); from the table that Go programs carry, where there are none; code that
 * neither covers is walked by frame pointers. The same rows are used in the kernel, hence flat and
 * of 16 bytes.
 *
 * The canonical frame address (CFA) is the stack pointer before the call: the return address lies
 * below it, and it is the caller's stack pointer. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/elf_image.h"

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
    uint32_t start;     /* offset in the file of the first instruction */
    int32_t cfa_offset; /* bytes */
    int16_t rbp, rbx;   /* where the caller's lie: words of 8 bytes from the CFA, or, as `flags`
                           say, from rbp; from the CFA 0: they are still in the registers */
    uint8_t kind;       /* enum unwind_kind */
    uint8_t base;       /* number of the register */
    uint8_t after;      /* bytes */
    uint8_t flags;
};
_Static_assert(sizeof(struct unwind_row) == 16, "four to a cache line");

enum { UNWIND_ROWS_MAX = 1 << 22 }; /* of one image; what is beyond them is not covered */

struct unwind_table {
    struct unwind_row *rows; /* sorted, no two with one start, none the same as the one before */
    size_t count, capacity;
};

/* Of another machine than x86-64: no rows. False: out of memory. unwind_table_free() either way. */
bool unwind_table_build(struct unwind_table *table, const struct elf_image *image);
void unwind_table_free(struct unwind_table *table);

/* The row of an instruction at this offset in the file. Of code before the first row, a row of
 * UNWIND_NO_RULE; never NULL. */
const struct unwind_row *unwind_table_find(const struct unwind_table *table, uint64_t offset);
