/* System calls of the guest: marks in the event stream, and what they change in the address
 * space. */
#include "trace/qemu/plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

#include "isa/insn.h"

/* Numbers differ between the guest's instruction sets; −1: it has none. */
struct call_numbers {
    int mmap, munmap, mremap, shmat, rt_sigreturn, execve, execveat, getrandom, exit, exit_group,
        kill;
};
static const struct call_numbers CALLS[ISA_COUNT] = {
    [ISA_X86_64] = {9, 11, 25, 30, 15, 59, 322, 318, 60, 231, 62},
    [ISA_RISCV64] = {222, 215, 216, 196, 139, 221, 281, 278, 93, 94, 129},
};

static THREAD_LOCAL uint64_t arguments[6];

/* Random numbers that repeat: the guest gets this process's sequence (splitmix64), not the
 * kernel's. */
static void overwrite_random(uint64_t address, uint64_t size) {
    static _Atomic uint64_t drawn;
    uint8_t *bytes = (uint8_t *)(uintptr_t)(address + plugin.guest_base);
    uint64_t word = 0;
    for (uint64_t i = 0; i < size; i++) {
        if (i % 8 == 0) {
            word = plugin.control->seed + 0x9e3779b97f4a7c15 * (atomic_fetch_add(&drawn, 1) + 1);
            word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
            word = (word ^ word >> 27) * 0x94d049bb133111eb;
            word ^= word >> 31;
        }
        bytes[i] = (uint8_t)(word >> i % 8 * 8);
    }
}

/* After these there may be no other chance. */
static void publish_counts(const struct call_numbers *calls, int64_t number, uint64_t second) {
    if (number == calls->exit_group || (number == calls->kill && second == SIGKILL))
        count_publish_all();
    else if (number == calls->exit)
        count_publish();
}

void system_call(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2,
                 uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8) {
    (void)id, (void)a7, (void)a8;
    const struct call_numbers *calls = &CALLS[plugin.control->isa];
    uint64_t all[] = {a1, a2, a3, a4, a5, a6};
    for (int i = 0; i < 6; i++)
        arguments[i] = all[i];
    int saved = errno;
    plugin_follow_phase();
    thread_system_call(vcpu, (uint64_t)number);
    effect_watch(vcpu, number, all);
    /* QEMU translates anew for memory shared with other processes, and then not again when the
     * guest makes its second thread. */
    plugin.parallel |= number == calls->shmat || (number == calls->mmap && (a4 & MAP_SHARED));
    if (number == calls->rt_sigreturn)
        thread_mark(vcpu, MARK_SIGNAL, 0);
    if (plugin.control->slice_size)
        publish_counts(calls, number, a2);
    if (number == calls->execve)
        exec_follow(&(struct exec_call){AT_FDCWD, 0, a1, a2, a3});
    if (number == calls->execveat)
        exec_follow(&(struct exec_call){(int)a1, (int)a5, a2, a3, a4});
    errno = saved;
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
    if (number == calls->getrandom && plugin.control->repeatable)
        overwrite_random(arguments[0], (uint64_t)result);
}
