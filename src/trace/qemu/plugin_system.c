/* System calls of the guest: marks in the event stream, and what they change in the address
 * space. */
#include "trace/qemu/plugin.h"

#include "isa/insn.h"

/* Numbers differ between the guest's instruction sets; −1: it has none. */
struct call_numbers {
    int mmap, munmap, mremap, rt_sigreturn;
};
static const struct call_numbers CALLS[ISA_COUNT] = {
    [ISA_X86_64] = {9, 11, 25, 15},
    [ISA_RISCV64] = {222, 215, 216, 139},
};

static THREAD_LOCAL uint64_t arguments[6];

void system_call(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2,
                 uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8) {
    (void)id, (void)a7, (void)a8;
    const struct call_numbers *calls = &CALLS[plugin.control->isa];
    uint64_t all[] = {a1, a2, a3, a4, a5, a6};
    for (int i = 0; i < 6; i++)
        arguments[i] = all[i];
    plugin_follow_phase();
    thread_system_call(vcpu, (uint64_t)number);
    if (number == calls->rt_sigreturn)
        thread_mark(vcpu, MARK_SIGNAL, 0);
}

void system_return(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t result) {
    (void)id, (void)vcpu;
    const struct call_numbers *calls = &CALLS[plugin.control->isa];
    if (result < 0 && result > -4096)
        return;
    if (number == calls->mmap || number == calls->mremap) {
        uint64_t start = (uint64_t)result;
        code_unmapped(start, start + arguments[number == calls->mmap ? 1 : 2]);
    }
    if (number == calls->munmap || number == calls->mremap)
        code_unmapped(arguments[0], arguments[0] + arguments[1]);
}
