/* Calls of the allocators that a program brings along (program/allocator_routines.h), as marks in
 * its events: the block that a call returns, with the size that was asked for, and what is freed.
 *
 * A routine's arguments are read where it begins, its result where its caller goes on, in the
 * registers of the emulator's generated code, which are up to date at the beginning of a block (see
 * plugin_signal.c). A call ends at the block behind it when the stack pointer is what it was before
 * the call; every block that lies behind a call looks, for which of them the allocator returns to
 * is not known when it is translated. Routines of an allocator may call each other: what the outer
 * one returns takes the place of what the inner one did. */
#include "trace/qemu/plugin.h"

#include <errno.h>
#include <string.h>

#include "isa/insn.h"

enum {
    RAX = 0, /* places of x86-64's registers there */
    RDX = 2,
    RSP = 4,
    RSI = 6,
    RDI = 7,
    ARGUMENTS = 4
};

static struct allocator_routine routines[ALLOCATOR_ROUTINES];
static _Atomic uint32_t routine_count;

/* Calls that have not returned. */
enum { MOST_CALLS = 16 };
struct call {
    uint64_t back;  /* where the caller goes on; 0: no call */
    uint64_t stack; /* the stack pointer then */
    uint64_t size, old;
    uint64_t into; /* where the address is put, in place of a result; 0: nowhere */
};
static THREAD_LOCAL struct {
    struct call items[MOST_CALLS];
    uint32_t count; /* that are in use, or were, from the first on */
    uint32_t next;  /* to be given up when there are too many */
} calls;

void allocators_found(const struct ring_reply *reply) {
    const uint32_t count = reply->routine_count;
    if (!count || count > ALLOCATOR_ROUTINES)
        return;
    memcpy(routines, reply->routines, count * sizeof *routines);
    atomic_store(&routine_count, count);
}

/* ---- registers ---- */

/* Of a routine that is entered. False: its caller cannot be known. */
static bool read_call(const uint64_t *registers, bool of_go, struct call *call,
                      uint64_t arguments[ARGUMENTS]) {
    static const uint8_t X86[ARGUMENTS] = {RDI, RSI, RDX, 1 /* RCX */};
    enum { RA = 1, SP = 2, A0 = 10 };
    *call = (struct call){0};
    if (plugin.control->isa == ISA_X86_64) {
        for (int i = 0; i < ARGUMENTS; i++)
            arguments[i] = registers[X86[i]];
        if (of_go)
            arguments[0] = registers[RAX];
        call->stack = registers[RSP] + 8;
        return guest_read_again(registers[RSP], &call->back, sizeof call->back);
    }
    memcpy(arguments, registers + A0, ARGUMENTS * sizeof *arguments);
    call->stack = registers[SP];
    call->back = registers[RA];
    return !of_go;
}

static uint64_t stack_pointer(const uint64_t *registers) {
    return registers[plugin.control->isa == ISA_X86_64 ? RSP : 2 /* sp */];
}

static uint64_t result(const uint64_t *registers) {
    return registers[plugin.control->isa == ISA_X86_64 ? RAX : 10 /* a0 */];
}

/* ---- calls ---- */

static void expect_return(const struct call *call) {
    uint32_t at = calls.count;
    for (uint32_t i = 0; i < calls.count; i++) {
        if (calls.items[i].stack == call->stack) {
            /* A routine goes on to another in place of its own return: its call serves. */
            if (calls.items[i].back == call->back)
                return;
            at = i;
            break;
        }
        if (!calls.items[i].back)
            at = i;
    }
    if (at == MOST_CALLS)
        at = calls.next++ % MOST_CALLS;
    calls.count += at == calls.count;
    calls.items[at] = *call;
}

static __attribute__((used)) void on_routine(unsigned vcpu, void *userdata,
                                             const uint64_t *registers) {
    const enum allocator_action action = (enum allocator_action)(uintptr_t)userdata;
    uint64_t arguments[ARGUMENTS];
    struct call call;
    if (!read_call(registers, action == ALLOCATOR_OF_GO, &call, arguments))
        return;
    switch (action) {
    case ALLOCATOR_FREE:
        if (arguments[0])
            memory_tell_freed(vcpu, arguments[0]);
        return;
    case ALLOCATOR_COUNTED:
        call.size = arguments[0] * arguments[1];
        break;
    case ALLOCATOR_ALIGNED:
        call.size = arguments[1];
        break;
    case ALLOCATOR_INTO:
        call.into = arguments[0];
        call.size = arguments[2];
        break;
    case ALLOCATOR_AGAIN:
        call.old = arguments[0];
        call.size = arguments[1];
        break;
    case ALLOCATOR_AGAIN_COUNT:
        call.old = arguments[0];
        call.size = arguments[1] * arguments[2];
        break;
    case ALLOCATOR_AGAIN_FOURTH:
        call.old = arguments[0];
        call.size = arguments[3];
        break;
    default:
        call.size = arguments[0];
    }
    expect_return(&call);
}

static void end_call(unsigned vcpu, const struct call *call, uint64_t value) {
    if (call->into && ((uint32_t)value || !guest_read(call->into, &value, sizeof value)))
        value = 0;
    if (call->old && (value || !call->size))
        memory_tell_freed(vcpu, call->old);
    if (value)
        memory_tell_allocated(vcpu, value, call->size);
}

static __attribute__((used)) void on_return(unsigned vcpu, void *userdata,
                                            const uint64_t *registers) {
    const uint64_t address = (uintptr_t)userdata, stack = stack_pointer(registers);
    for (uint32_t i = 0; i < calls.count; i++) {
        const struct call call = calls.items[i];
        if (call.back != address || call.stack != stack)
            continue;
        calls.items[i] = (struct call){0};
        while (calls.count && !calls.items[calls.count - 1].back)
            calls.count--;
        end_call(vcpu, &call, result(registers));
        return;
    }
}

/* Called by generated code: pass its %rbp on. */
#ifdef __x86_64__
void routine_entered(unsigned vcpu, void *userdata);
void call_returned(unsigned vcpu, void *userdata);
__asm__(".text\n"
        ".type routine_entered, @function\n"
        "routine_entered:\n"
        "    mov %rbp, %rdx\n"
        "    jmp on_routine\n"
        ".size routine_entered, . - routine_entered\n"
        ".type call_returned, @function\n"
        "call_returned:\n"
        "    mov %rbp, %rdx\n"
        "    jmp on_return\n"
        ".size call_returned, . - call_returned\n");
#endif

/* ---- translation ---- */

static bool is_call_x86(const uint8_t *before) { /* the 7 bytes before an address */
    enum { CALL = 0xe8, GROUP = 0xff, CALL_INDIRECT = 2, MOST = 7 };
    if (before[MOST - 5] == CALL)
        return true;
    for (int length = 2; length <= MOST; length++)
        if (before[MOST - length] == GROUP && (before[MOST - length + 1] >> 3 & 7) == CALL_INDIRECT)
            return true;
    return false;
}

static bool is_call_riscv(const uint8_t *before) {
    const uint32_t wide = (uint32_t)before[3] | (uint32_t)before[4] << 8 |
                          (uint32_t)before[5] << 16 | (uint32_t)before[6] << 24;
    const uint32_t narrow = wide >> 16;
    return (wide & 0xfff) == 0x0ef || (wide & 0xfff) == 0x0e7 ||   /* jal ra; jalr ra */
           ((narrow & 0xf07f) == 0x9002 && (narrow & 0xf80) != 0); /* c.jalr */
}

/* Or what may be one. */
static bool lies_behind_call(const struct qemu_plugin_tb *tb) {
    uint8_t before[7];
    return guest_read(qemu_plugin_tb_vaddr(tb) - sizeof before, before, sizeof before) &&
           (plugin.control->isa == ISA_X86_64 ? is_call_x86(before) : is_call_riscv(before));
}

void allocators_instrument(struct qemu_plugin_tb *tb) {
#ifdef __x86_64__
    const uint32_t count = atomic_load(&routine_count);
    const uint64_t address = qemu_plugin_tb_vaddr(tb);
    if (!count)
        return;
    if (lies_behind_call(tb))
        qemu_plugin_register_vcpu_tb_exec_cb(tb, call_returned, QEMU_PLUGIN_CB_R_REGS,
                                             (void *)(uintptr_t)address);
    for (uint32_t i = 0; i < count; i++)
        if (routines[i].address == address)
            qemu_plugin_register_vcpu_tb_exec_cb(tb, routine_entered, QEMU_PLUGIN_CB_R_REGS,
                                                 (void *)(uintptr_t)routines[i].action);
#else
    (void)tb;
#endif
}
