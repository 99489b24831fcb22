/* The guest's signal handlers, by what rt_sigaction() was told. The plugin interface tells nothing
 * of signals; that a block begins where a handler does is what shows that one was delivered, when
 * the block before it could have led anywhere.
 *
 * QEMU 7.2 begins x86-64 handlers with a stack pointer that is a multiple of 16, where the ABI has
 * 8 more (System V ABI for AMD64, 3.2.2), as behind a call: a handler that keeps 16-byte values on
 * its stack dies, bash's for SIGCHLD among them. So the frame is moved down by 8 bytes before the
 * handler begins, with the three registers that point to it. There is no interface to registers;
 * QEMU's generated code has them in the structure that the host's %rbp points to, the first sixteen
 * words, all of them up to date at the beginning of a block. What lies there is checked against the
 * frame. */
#include "trace/qemu/plugin.h"

#include <errno.h>
#include <signal.h>

#include "isa/insn.h"

enum { SIGNALS = 64 };

/* The handlers, by signal − 1; handler 0, 1: ignored or left to its default. Any thread may
 * register one; a fork child inherits them, and an exec starts without any. */
static struct { _Atomic uint64_t handler, restorer; } actions[SIGNALS];

bool signal_is_fault(uint64_t signal) {
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
           signal == SIGTRAP;
}

void signal_registered(uint64_t signal, uint64_t action) {
    struct {
        uint64_t handler, flags, restorer; /* the kernel's; riscv64 has no restorer */
    } given;
    if (signal < 1 || signal > SIGNALS || !guest_read(action, &given, sizeof given))
        return;
    atomic_store(&actions[signal - 1].restorer, given.restorer);
    atomic_store(&actions[signal - 1].handler, given.handler);
}

static enum event_handler handler_at(uint64_t address) {
    unsigned handler = 0;
    for (int signal = 1; signal <= SIGNALS; signal++)
        if (atomic_load_explicit(&actions[signal - 1].handler, memory_order_relaxed) == address)
            handler |= signal_is_fault((uint64_t)signal) ? HANDLER_OF_FAULTS : HANDLER_OF_OTHERS;
    return address > 1 ? (enum event_handler)handler : 0;
}

/* ---- the stack of x86-64 handlers ---- */

/* A handler begins with the signal in rdi, struct siginfo in rsi, struct ucontext in rdx; at the
 * stack pointer is the frame: address of the restorer, ucontext, siginfo. */
static void align_frame(uint64_t registers[16]) {
    enum { RDX = 2, RSP = 4, RSI = 6, RDI = 7, WORD = 8, SIGINFO = 128, MAX_FRAME = 2048 };
    uint64_t at = registers[RSP], info = registers[RSI], restorer;
    uint64_t signal = registers[RDI], size = info + SIGINFO - at;
    uint8_t frame[MAX_FRAME];
    if (at % 16 || registers[RDX] != at + WORD || size > sizeof frame || size < SIGINFO + WORD ||
        signal < 1 || signal > SIGNALS || !guest_read(at, &restorer, sizeof restorer) ||
        restorer != atomic_load(&actions[signal - 1].restorer) || !guest_read(at, frame, size) ||
        !guest_write(at - WORD, frame, size))
        return;
    registers[RSP] -= WORD;
    registers[RSI] -= WORD;
    registers[RDX] -= WORD;
}

static __attribute__((used)) void on_handler(unsigned vcpu, void *userdata, uint64_t *registers) {
    int saved = errno;
    uint64_t pc;
    if (registers && plugin.control->isa == ISA_X86_64)
        align_frame(registers);
    if ((uintptr_t)userdata & HANDLER_OF_FAULTS && fault_at(registers, &pc))
        thread_fault(pc);
    thread_mark(vcpu, MARK_SIGNAL, (uintptr_t)userdata); /* enum event_handler */
    order_handler_begins();
    errno = saved;
}

/* Called by generated code: passes its %rbp on. */
#ifdef __x86_64__
void handler_entered(unsigned vcpu, void *userdata);
__asm__(".text\n"
        ".type handler_entered, @function\n"
        "handler_entered:\n"
        "    mov %rbp, %rdx\n"
        "    jmp on_handler\n"
        ".size handler_entered, . - handler_entered\n");
#else
static void handler_entered(unsigned vcpu, void *userdata) {
    on_handler(vcpu, userdata, NULL);
}
#endif

void signal_instrument(struct qemu_plugin_tb *tb) {
    enum event_handler handler = handler_at(qemu_plugin_tb_vaddr(tb));
    if (handler)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, handler_entered, QEMU_PLUGIN_CB_RW_REGS,
                                             (void *)(uintptr_t)handler);
}
