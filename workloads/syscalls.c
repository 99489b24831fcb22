/* syscalls [CALLS]: a system call every hundred or so instructions.
 *
 * Each call enters the kernel, which drains and flushes the pipeline (FL-EX); between calls a short
 * loop of additions keeps the core busy. The kernel's own time is not simulated. */
#include <sys/syscall.h>
#include <unistd.h>

#include "workload.h"

kernel uint64_t compute(uint64_t x) {
    for (int i = 0; i < 25; i++) {
        x += x >> 7;
        __asm__("" : "+r"(x));
    }
    return x;
}

kernel uint64_t call_often(uint64_t calls) {
    uint64_t x = 1, parent = (uint64_t)syscall(SYS_getppid), same = 0;
    while (calls--) {
        x = compute(x + 12345);
        same += (uint64_t)syscall(SYS_getppid) == parent;
    }
    return x ^ same;
}

int main(int count, char **arguments) {
    uint64_t calls = argument(count, arguments, 1, 700000, "system calls");
    printf("syscalls %" PRIu64 "\n", call_often(calls));
    return 0;
}
