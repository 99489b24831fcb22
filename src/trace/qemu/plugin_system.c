/* System calls of the guest: marks in the event stream, and what they change in the address
 * space. */
#include "trace/qemu/plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

#include "isa/insn.h"

/* Numbers differ between the guest's instruction sets; −1: it has none. */
struct call_numbers {
    int mmap, munmap, mremap, shmat, rt_sigaction, rt_sigreturn, execve, execveat, exit, exit_group,
        kill, wait4, waitid, socketpair, clone, fork, vfork;
    int clock_gettime, clock_getres, gettimeofday, time, getcpu; /* that the vDSO serves */
};
static const struct call_numbers CALLS[ISA_COUNT] = {
    [ISA_X86_64] = {9,  11,  25, 30, 13, 15, 59,  322, 60, 231, 62,
                    61, 247, 53, 56, 57, 58, 228, 229, 96, 201, 309},
    [ISA_RISCV64] = {222, 215, 216, 196, 134, 139, 221, 281, 93,  94, 129,
                     260, 95,  199, 220, -1,  -1,  113, 114, 169, -1, -1},
};

static THREAD_LOCAL uint64_t arguments[6];

/* What Linux's vDSO does without the kernel when the time stamp counter is the clock; clocks of
 * processes and threads and alarms it leaves to the kernel (lib/vdso). */
static bool vdso_serves(const struct call_numbers *calls, int64_t number, uint64_t first) {
    static const uint64_t clocks = 1u << CLOCK_REALTIME | 1u << CLOCK_MONOTONIC |
                                   1u << CLOCK_MONOTONIC_RAW | 1u << CLOCK_REALTIME_COARSE |
                                   1u << CLOCK_MONOTONIC_COARSE | 1u << CLOCK_BOOTTIME |
                                   1u << CLOCK_TAI;
    if (number == calls->clock_gettime || number == calls->clock_getres)
        return first < 64 && clocks >> first & 1;
    return number == calls->gettimeofday || number == calls->time || number == calls->getcpu;
}

/* After these calls there may be no other chance to publish. */
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
    layout_place_rest();
    plugin_follow_phase();
    thread_system_call(vcpu,
                       (uint64_t)number | (vdso_serves(calls, number, a1) ? SYSCALL_OF_VDSO : 0));
    effect_watch(vcpu, number, all);
    /* QEMU translates anew for memory shared with other processes, and then not again when the
     * guest makes its second thread. */
    plugin.parallel |= number == calls->shmat || (number == calls->mmap && (a4 & MAP_SHARED));
    if (number == calls->rt_sigreturn) {
        thread_mark(vcpu, MARK_SIGNAL, 0);
        order_handler_returns();
    }
    if (plugin.counting)
        publish_counts(calls, number, a2);
    if (plugin.control->objects)
        memory_before_call(number);
    if (number == calls->clone || number == calls->fork || number == calls->vfork)
        addresses_needed();
    if (number == calls->execve)
        exec_follow(vcpu, &(struct exec_call){AT_FDCWD, 0, a1, a2, a3});
    if (number == calls->execveat)
        exec_follow(vcpu, &(struct exec_call){(int)a1, (int)a5, a2, a3, a4});
    event_entered(vcpu, number, all);
    if (number == calls->clone)
        birth_begins(a1);
    errno = saved;
}

/* Its siginfo: signal, error, code, padding, process. */
static uint32_t waited_pid(uint64_t siginfo) {
    uint32_t words[5] = {0};
    return siginfo && guest_read(siginfo, words, sizeof words) ? words[4] : 0;
}

static void pair_made(uint64_t address) {
    int32_t descriptors[2];
    if (guest_read(address, descriptors, sizeof descriptors))
        channel_pair(descriptors);
}

void system_return(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t result) {
    (void)id;
    int saved = errno;
    const struct call_numbers *calls = &CALLS[plugin.control->isa];
    guest_may_change();
    if (number == calls->clone)
        birth_ends(result);
    event_returned(result);
    if (result < 0 && result > -4096) {
        errno = saved;
        return;
    }
    if (plugin.control->objects)
        memory_call(vcpu, number, arguments, (uint64_t)result);
    if (number == calls->mmap || number == calls->mremap) {
        uint64_t start = (uint64_t)result;
        code_unmapped(start, start + arguments[number == calls->mmap ? 1 : 2]);
    }
    if (number == calls->munmap || number == calls->mremap)
        code_unmapped(arguments[0], arguments[0] + arguments[1]);
    if (number == calls->rt_sigaction && arguments[1])
        signal_registered(arguments[0], arguments[1]);
    if (number == calls->wait4 && result > 0)
        process_waited((uint32_t)result);
    if (number == calls->waitid)
        process_waited(waited_pid(arguments[2]));
    if (number == calls->socketpair)
        pair_made(arguments[3]);
    if (plugin.control->repeatable)
        repeat_call(number, arguments, (uint64_t)result);
    errno = saved;
}
