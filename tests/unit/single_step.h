/* Reference for instruction counts: runs a program one instruction at a time with ptrace. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* Only what compilers write: an optional 66, f2/f3, an optional REX, the opcode. */
static inline bool at_rep(pid_t pid, uint64_t address) {
    errno = 0;
    uint64_t word = (uint64_t)ptrace(PTRACE_PEEKTEXT, pid, (void *)address, NULL);
    if ((word & 0xff) == 0x66)
        word >>= 8;
    uint8_t prefix = word & 0xff, next = word >> 8 & 0xff;
    if ((next & 0xf0) == 0x40)
        next = word >> 16 & 0xff;
    return errno == 0 && (prefix == 0xf2 || prefix == 0xf3) && next >= 0xa4 && next <= 0xaf;
}

/* Instructions completed, a rep instruction once; an instruction that faults does not complete.
 * 0: ptrace is not permitted here. */
static inline uint64_t single_step(const char *program, int *status) {
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
            execl(program, program, (char *)NULL);
        _exit(99);
    }
    uint64_t count = 0;
    int signal = 0;
    if (waitpid(pid, status, 0) != pid || !WIFSTOPPED(*status))
        return 0;
    for (;;) {
        struct user_regs_struct before, after;
        ptrace(PTRACE_GETREGS, pid, NULL, &before);
        bool rep = at_rep(pid, before.rip);
        if (ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)(intptr_t)signal) < 0)
            return 0;
        bool delivered = signal != 0; /* the step entered the handler and ran nothing */
        signal = 0;
        if (waitpid(pid, status, 0) != pid)
            return 0;
        if (!WIFSTOPPED(*status))
            return WIFEXITED(*status) ? count + 1 : count; /* the system call exit() */
        if (WSTOPSIG(*status) != SIGTRAP) {
            signal = WSTOPSIG(*status);
            continue;
        }
        ptrace(PTRACE_GETREGS, pid, NULL, &after);
        if (!delivered && !(rep && after.rip == before.rip))
            count++;
    }
}
