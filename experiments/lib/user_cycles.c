/* user_cycles TIMES COMMAND...: runs a command so many times, its output discarded (by a pipe), and
 * writes a line for each: seconds of user and system time; the clock in Hz around it, by dependent
 * additions, as `culprit validate --host` takes them; and the additions in a cycle that one thread
 * of the core could do then, of those before and after the fewer: less beside a busy sibling. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/clock.h"
#include "host/frequency.h"
#include "util/clock.h"

static double seconds_of(struct timeval time) {
    return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

/* Independent additions for a dependent one; of a register, as some processors add constants while
 * they rename. */
static double additions(void) {
    enum { TIMES = 4000 };
    double found[51], spread;
    for (unsigned i = 0; i < 51; i++) {
        const int64_t before = clock_nanoseconds(CLOCK_MONOTONIC);
        for (int k = 0; k < TIMES; k++)
            __asm__ volatile(
                "lea (%%rax,%%rax), %%rcx\n lea (%%rax,%%rax), %%rdx\n lea (%%rax,%%rax), %%rsi\n"
                "lea (%%rax,%%rax), %%rdi\n lea (%%rax,%%rax), %%r8\n lea (%%rax,%%rax), %%r9\n"
                "lea (%%rax,%%rax), %%rcx\n lea (%%rax,%%rax), %%rdx\n lea (%%rax,%%rax), %%rsi\n"
                "lea (%%rax,%%rax), %%rdi\n lea (%%rax,%%rax), %%r8\n lea (%%rax,%%rax), %%r9" ::
                    : "rcx", "rdx", "rsi", "rdi", "r8", "r9");
        const int64_t between = clock_nanoseconds(CLOCK_MONOTONIC);
        for (int k = 0; k < TIMES; k++)
            __asm__ volatile("lea (%%rcx,%%rax), %%rcx\n lea (%%rcx,%%rax), %%rcx\n"
                             "lea (%%rcx,%%rax), %%rcx\n lea (%%rcx,%%rax), %%rcx" ::
                                 : "rcx");
        const int64_t after = clock_nanoseconds(CLOCK_MONOTONIC);
        found[i] = 3.0 * (double)(after - between) / (double)(between - before);
    }
    return clock_median(found, 51, &spread);
}

static pid_t start(char **command, const int ends[2]) {
    const pid_t child = fork();
    if (child)
        return child;
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    close(ends[0]);
    close(ends[1]);
    execvp(command[0], command);
    _exit(127);
}

/* Whether the command succeeded. */
static bool run(char **command, struct rusage *used) {
    static char buffer[1 << 16];
    int ends[2], status;
    if (pipe(ends) < 0)
        return false;
    const pid_t child = start(command, ends);
    close(ends[1]);
    while (read(ends[0], buffer, sizeof buffer) > 0)
        continue;
    close(ends[0]);
    while (wait4(child, &status, 0, used) < 0 && errno == EINTR)
        continue;
    return child > 0 && !status;
}

int main(int count, char **words) {
    struct error error;
    double before, after, room = additions(), room_after;
    if (count < 3 || !host_frequency(&before, &error))
        return 2;
    for (int i = atoi(words[1]); i > 0; i--) {
        struct rusage used;
        if (!run(words + 2, &used) || !host_frequency(&after, &error))
            return 1;
        room_after = additions();
        printf("%.6f %.6f %.0f %.2f\n", seconds_of(used.ru_utime), seconds_of(used.ru_stime),
               0.5 * (before + after), room < room_after ? room : room_after);
        fflush(stdout);
        before = after;
        room = room_after;
    }
    return 0;
}
