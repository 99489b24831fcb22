/* Unwind tables of code that is written here, instruction by instruction, against rules worked out
 * by hand; of whole libraries against libdw's; and steps over stacks made by hand. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "program/unwind_step.h"

/* ---- code ---- */

/* pushes: rbx is saved 16 below the CFA; leave: rbp as well, and the CFA is found by it; linkage:
 * what linkers say of lazy linkage tables; aligned: a stack that gcc realigns; strange: an
 * expression that no row says; outermost: no return address. */
__asm__(".text\n"
        "pushes: .cfi_startproc\n"
        "  push %rbx\n"
        "pushes_1: .cfi_adjust_cfa_offset 8\n .cfi_offset rbx, -16\n"
        "  sub $48, %rsp\n"
        "pushes_2: .cfi_adjust_cfa_offset 48\n"
        "  test %edi, %edi\n"
        "  jz pushes_4\n"
        "  .cfi_remember_state\n"
        "  add $48, %rsp\n"
        "pushes_3: .cfi_adjust_cfa_offset -48\n"
        "  pop %rbx\n"
        "pushes_ret: .cfi_adjust_cfa_offset -8\n .cfi_restore rbx\n"
        "  ret\n"
        "pushes_4: .cfi_restore_state\n"
        "  ud2\n .cfi_endproc\n"
        "pushes_end: nop\n"
        "leave: .cfi_startproc\n"
        "  push %rbp\n"
        "leave_1: .cfi_def_cfa_offset 16\n .cfi_offset rbp, -16\n"
        "  mov %rsp, %rbp\n"
        "leave_2: .cfi_def_cfa_register rbp\n"
        "  leave\n"
        "leave_ret: .cfi_def_cfa rsp, 8\n .cfi_restore rbp\n"
        "  ret\n .cfi_endproc\n"
        "linkage: .cfi_startproc\n"
        "  .cfi_escape 0x0f, 0x0b, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22\n"
        "  nop\n .cfi_endproc\n"
        "aligned: .cfi_startproc\n"
        "  .cfi_escape 0x0f, 3, 0x76, 0x78, 6\n" /* CFA: *(rbp - 8) */
        "  .cfi_escape 0x10, 6, 2, 0x76, 0\n"    /* rbp: at rbp + 0 */
        "  .cfi_escape 0x10, 3, 2, 0x76, 0x70\n" /* rbx: at rbp - 16 */
        "  nop\n .cfi_endproc\n"
        "deref: .cfi_startproc\n"
        "  .cfi_escape 0x0f, 5, 0x77, 56, 6, 0x23, 8\n" /* CFA: *(rsp + 56) + 8 */
        "  nop\n .cfi_endproc\n"
        "strange: .cfi_startproc\n"
        "  .cfi_escape 0x0f, 3, 0x70, 0, 0x1f\n" /* −rax */
        "  nop\n .cfi_endproc\n"
        "outermost: .cfi_startproc\n .cfi_undefined rip\n"
        "  nop\n .cfi_endproc\n"
        "handler_return: .cfi_startproc\n .cfi_signal_frame\n"
        "  nop\n .cfi_endproc\n");
extern const char pushes[], pushes_1[], pushes_2[], pushes_3[], pushes_4[], pushes_ret[],
    pushes_end[], leave[], leave_1[], leave_2[], leave_ret[], linkage[], aligned[], deref[],
    strange[], outermost[], handler_return[];

static struct elf_image own;
static struct unwind_table table;
static uint64_t base; /* where this program is loaded */

static void open_image(struct elf_image *image, const char *path) {
    struct error error;
    if (!elf_image_open(image, path, &error))
        fail_msg("%s", error.message);
}

extern const char __ehdr_start[];

static int set_up(void **state) {
    (void)state;
    open_image(&own, "/proc/self/exe");
    base = own.header.e_type == ET_DYN ? (uint64_t)__ehdr_start : 0;
    return unwind_table_build(&table, &own) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    unwind_table_free(&table);
    elf_image_close(&own);
    return 0;
}

static const struct unwind_row *row_at(const char *label) {
    uint64_t offset;
    assert_true(elf_image_address_to_offset(&own, (uint64_t)label - base, &offset));
    return unwind_table_find(&table, offset);
}

static void assert_row(const char *label, enum unwind_kind kind, unsigned number, int offset,
                       int rbp, int rbx) {
    const struct unwind_row *row = row_at(label);
    assert_int_equal(row->kind, kind);
    assert_int_equal(row->base, number);
    assert_int_equal(row->cfa_offset, offset);
    assert_int_equal(row->rbp, rbp);
    assert_int_equal(row->rbx, rbx);
}

static void pushes_and_pops(void **state) {
    (void)state;
    assert_row(pushes, UNWIND_REGISTER, UNWIND_RSP, 8, 0, 0);
    assert_row(pushes_1, UNWIND_REGISTER, UNWIND_RSP, 16, 0, -2);
    assert_row(pushes_2, UNWIND_REGISTER, UNWIND_RSP, 64, 0, -2);
    assert_row(pushes_3, UNWIND_REGISTER, UNWIND_RSP, 16, 0, -2);
    assert_row(pushes_ret, UNWIND_REGISTER, UNWIND_RSP, 8, 0, 0);
    assert_row(pushes_4, UNWIND_REGISTER, UNWIND_RSP, 64, 0, -2);
    assert_int_equal(row_at(pushes_end)->kind, UNWIND_NO_RULE);
}

static void frame_pointer(void **state) {
    (void)state;
    assert_row(leave, UNWIND_REGISTER, UNWIND_RSP, 8, 0, 0);
    assert_row(leave_1, UNWIND_REGISTER, UNWIND_RSP, 16, -2, 0);
    assert_row(leave_2, UNWIND_REGISTER, UNWIND_RBP, 16, -2, 0);
    assert_row(leave_ret, UNWIND_REGISTER, UNWIND_RSP, 8, 0, 0);
}

static void expressions(void **state) {
    (void)state;
    assert_row(linkage, UNWIND_LINKAGE, UNWIND_RSP, 11, 0, 0);
    assert_row(aligned, UNWIND_DEREFERENCE, UNWIND_RBP, -8, 0, -2);
    assert_int_equal(row_at(aligned)->flags, UNWIND_RBP_BY_RBP | UNWIND_RBX_BY_RBP);
    assert_row(deref, UNWIND_DEREFERENCE, UNWIND_RSP, 56, 0, 0);
    assert_int_equal(row_at(deref)->after, 8);
    assert_int_equal(row_at(strange)->kind, UNWIND_UNKNOWN);
    assert_int_equal(row_at(outermost)->kind, UNWIND_OUTERMOST);
    assert_int_equal(row_at(handler_return)->kind, UNWIND_SIGNAL);
}

/* ---- libraries, against libdw ---- */

static void compare_saved(Dwarf_Frame *frame, int number, const struct unwind_row *row,
                          int16_t words, bool by_rbp) {
    Dwarf_Op memory[3], *operations;
    size_t count;
    assert_int_equal(dwarf_frame_register(frame, number, memory, &operations, &count), 0);
    if (!count) {
        assert_int_equal(words, 0); /* as it was, or undefined */
    } else if (operations[0].atom == DW_OP_call_frame_cfa) {
        assert_false(by_rbp);
        assert_int_equal((int64_t)operations[1].number, 8 * words);
    } else if (row->kind != UNWIND_UNKNOWN && by_rbp) {
        assert_int_equal(operations[0].atom, DW_OP_breg6);
        assert_int_equal((int64_t)operations[0].number, 8 * words);
    }
}

/* 1: a row of rules that libdw tells as well. */
static unsigned compare_row(const struct elf_image *image, Dwarf_CFI *frames,
                            const struct unwind_row *row) {
    uint64_t address;
    Dwarf_Frame *frame;
    Dwarf_Op *operations;
    size_t count;
    assert_true(elf_image_offset_to_address(image, row->start, &address));
    if (dwarf_cfi_addrframe(frames, address, &frame) != 0) {
        assert_int_equal(row->kind, UNWIND_NO_RULE);
        return 0;
    }
    unsigned compared = 0;
    assert_true(row->kind != UNWIND_NO_RULE);
    assert_int_equal(dwarf_frame_cfa(frame, &operations, &count), 0);
    if (row->kind == UNWIND_REGISTER) {
        assert_int_equal(count, 1);
        if (operations[0].atom == DW_OP_bregx) {
            assert_int_equal(operations[0].number, row->base);
            assert_int_equal((int64_t)operations[0].number2, row->cfa_offset);
        } else {
            assert_int_equal(operations[0].atom, DW_OP_breg0 + row->base);
            assert_int_equal((int64_t)operations[0].number, row->cfa_offset);
        }
        compare_saved(frame, UNWIND_RBP, row, row->rbp, row->flags & UNWIND_RBP_BY_RBP);
        compare_saved(frame, UNWIND_RBX, row, row->rbx, row->flags & UNWIND_RBX_BY_RBP);
        compared = 1;
    } else if (row->kind == UNWIND_DEREFERENCE) {
        assert_true(count >= 2 && operations[1].atom == DW_OP_deref);
        assert_int_equal(operations[0].atom, DW_OP_breg0 + row->base);
    } else if (row->kind == UNWIND_LINKAGE) {
        assert_true(count > 4);
    }
    free(frame);
    return compared;
}

static void compare_library(const char *path) {
    struct elf_image image = {0};
    struct unwind_table rows;
    unsigned compared = 0;
    open_image(&image, path);
    assert_true(unwind_table_build(&rows, &image));
    Dwarf_CFI *frames = dwarf_getcfi_elf(image.elf);
    assert_non_null(frames);
    for (size_t i = 0; i < rows.count; i++) {
        if (i)
            assert_true(rows.rows[i - 1].start < rows.rows[i].start);
        compared += compare_row(&image, frames, &rows.rows[i]);
    }
    assert_true(compared > 100);
    dwarf_cfi_end(frames);
    unwind_table_free(&rows);
    elf_image_close(&image);
}

static void as_libdw_has_them(void **state) {
    (void)state;
    compare_library("/proc/self/exe");
    compare_library("/lib/x86_64-linux-gnu/libc.so.6");
}

/* ---- steps ---- */

enum { STACK = 0x7000, WORDS = 64 };
static uint64_t words[WORDS];
static const struct unwind_memory memory = {STACK, (const uint8_t *)words, sizeof words};

static struct unwind_registers at_bottom(uint64_t rbp) {
    struct unwind_registers registers = {.known = (1u << UNWIND_REGISTERS) - 1};
    memset(words, 0, sizeof words);
    registers.values[UNWIND_RSP] = STACK;
    registers.values[UNWIND_RBP] = rbp;
    registers.values[UNWIND_RBX] = 3;
    return registers;
}

/* 48 bytes, a saved rbx, the return address: the CFA is 64 above rsp. */
static void step_by_stack_pointer(void **state) {
    (void)state;
    struct unwind_registers registers = at_bottom(6);
    words[6] = 33;
    words[7] = 0x401000;
    assert_int_equal(unwind_step(&registers, row_at(pushes_2), &memory), UNWIND_STEPPED);
    assert_int_equal(registers.values[UNWIND_RIP], 0x401000);
    assert_int_equal(registers.values[UNWIND_RSP], STACK + 64);
    assert_int_equal(registers.values[UNWIND_RBX], 33);
    assert_int_equal(registers.values[UNWIND_RBP], 6);
    /* What a callee may change is not known of the caller. */
    assert_false(registers.known & 1);
}

/* An epilogue that has popped rbx, which its rules say is still saved: below the stack pointer. */
static void step_from_an_epilogue(void **state) {
    (void)state;
    struct unwind_registers registers = at_bottom(6);
    const struct unwind_row row = {
        .kind = UNWIND_REGISTER, .base = UNWIND_RSP, .cfa_offset = 8, .rbx = -2};
    words[0] = 0x401000;
    assert_int_equal(unwind_step(&registers, &row, &memory), UNWIND_STEPPED);
    assert_int_equal(registers.values[UNWIND_RIP], 0x401000);
    assert_int_equal(registers.values[UNWIND_RBX], 3);
}

static void step_by_saved_frame_pointer(void **state) {
    (void)state;
    struct unwind_registers registers = at_bottom(STACK + 80);
    words[10] = 66;
    words[11] = 0x402000;
    assert_int_equal(unwind_step(&registers, row_at(leave_2), &memory), UNWIND_STEPPED);
    assert_int_equal(registers.values[UNWIND_RIP], 0x402000);
    assert_int_equal(registers.values[UNWIND_RSP], STACK + 96);
    assert_int_equal(registers.values[UNWIND_RBP], 66);
    /* The same without rules. */
    registers = at_bottom(STACK + 80);
    words[10] = 66;
    words[11] = 0x402000;
    assert_int_equal(unwind_step(&registers, row_at(pushes_end), &memory), UNWIND_STEPPED);
    assert_int_equal(registers.values[UNWIND_RIP], 0x402000);
    assert_int_equal(registers.values[UNWIND_RBP], 66);
}

/* rbp is 0x7040; the CFA, 0x7100, was put 8 below it, rbx 16 below; the caller's rbp is there. */
static void step_over_an_aligned_stack(void **state) {
    (void)state;
    struct unwind_registers registers = at_bottom(STACK + 0x40);
    words[7] = STACK + 0x100;
    words[6] = 33;
    words[8] = 66;
    words[31] = 0x403000;
    assert_int_equal(unwind_step(&registers, row_at(aligned), &memory), UNWIND_STEPPED);
    assert_int_equal(registers.values[UNWIND_RSP], STACK + 0x100);
    assert_int_equal(registers.values[UNWIND_RIP], 0x403000);
    assert_int_equal(registers.values[UNWIND_RBP], 66);
    assert_int_equal(registers.values[UNWIND_RBX], 33);
}

/* An entry of 16 bytes: up to its 11th it was called, from there on it has pushed a number. */
static void step_over_a_linkage_entry(void **state) {
    (void)state;
    for (unsigned pushed = 0; pushed < 2; pushed++) {
        struct unwind_registers registers = at_bottom(6);
        registers.values[UNWIND_RIP] = 0x401020 + (pushed ? 11 : 10);
        words[pushed] = 0x404000;
        assert_int_equal(unwind_step(&registers, row_at(linkage), &memory), UNWIND_STEPPED);
        assert_int_equal(registers.values[UNWIND_RIP], 0x404000);
        assert_int_equal(registers.values[UNWIND_RSP], STACK + 8 + 8 * pushed);
    }
}

static void step_over_a_signal(void **state) {
    (void)state;
    struct unwind_registers registers = at_bottom(6);
    registers.known = 1u << UNWIND_RSP | 1u << UNWIND_RIP;
    words[120 / 8] = 66;
    words[144 / 8] = 1;
    words[160 / 8] = STACK + 0x180;
    words[168 / 8] = 0x405000;
    assert_int_equal(unwind_step(&registers, row_at(handler_return), &memory), UNWIND_STEPPED);
    assert_int_equal(registers.values[UNWIND_RIP], 0x405000);
    assert_int_equal(registers.values[UNWIND_RSP], STACK + 0x180);
    assert_int_equal(registers.values[UNWIND_RBP], 66);
    assert_int_equal(registers.values[0], 1);
    assert_true(registers.known & 1);
}

static void ends(void **state) {
    (void)state;
    struct unwind_registers registers = at_bottom(0);
    assert_int_equal(unwind_step(&registers, row_at(outermost), &memory), UNWIND_ENDED);
    assert_int_equal(unwind_step(&registers, row_at(pushes_end), &memory), UNWIND_ENDED);
    /* A return address of 0. */
    assert_int_equal(unwind_step(&registers, row_at(pushes), &memory), UNWIND_ENDED);
    /* The return address lies behind the copy. */
    registers = at_bottom(STACK + sizeof words - 8);
    words[WORDS - 1] = 66;
    assert_int_equal(unwind_step(&registers, row_at(leave_2), &memory), UNWIND_TRUNCATED);
    /* A frame pointer that points below the stack, or nowhere. */
    registers = at_bottom(STACK - 64);
    assert_int_equal(unwind_step(&registers, row_at(leave_2), &memory), UNWIND_FAILED);
    registers = at_bottom(STACK + 3);
    assert_int_equal(unwind_step(&registers, row_at(pushes_end), &memory), UNWIND_FAILED);
    registers = at_bottom(6);
    assert_int_equal(unwind_step(&registers, row_at(strange), &memory), UNWIND_FAILED);
    registers.known = 1u << UNWIND_RSP;
    assert_int_equal(unwind_step(&registers, row_at(leave_2), &memory), UNWIND_FAILED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushes_and_pops),
        cmocka_unit_test(frame_pointer),
        cmocka_unit_test(expressions),
        cmocka_unit_test(as_libdw_has_them),
        cmocka_unit_test(step_by_stack_pointer),
        cmocka_unit_test(step_from_an_epilogue),
        cmocka_unit_test(step_by_saved_frame_pointer),
        cmocka_unit_test(step_over_an_aligned_stack),
        cmocka_unit_test(step_over_a_linkage_entry),
        cmocka_unit_test(step_over_a_signal),
        cmocka_unit_test(ends),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
