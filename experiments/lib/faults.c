/* faults: cycles of user time that go with a page's first touch, and with a system call, by loops
 * that do nothing else: the least of several. The system counts time by ticks, of which those that
 * come due while the kernel has interrupts off hit what it returns to. */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/frequency.h"

enum { PAGES = 50000, PAGE = 4096, CALLS = 500000, TIMES = 7 };

static double user_seconds(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec;
}

static double touch(void) {
    const size_t size = (size_t)PAGES * PAGE;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 0;
    madvise(memory, size, MADV_NOHUGEPAGE);
    const double before = user_seconds();
    for (size_t i = 0; i < PAGES; i++)
        memory[i * PAGE] = 1;
    const double took = user_seconds() - before;
    munmap(memory, size);
    return took / PAGES;
}

static double call(void) {
    const double before = user_seconds();
    for (int i = 0; i < CALLS; i++)
        syscall(SYS_getppid);
    return (user_seconds() - before) / CALLS;
}

static double least(double (*of)(void)) {
    double found = of();
    for (int i = 1; i < TIMES; i++) {
        const double took = of();
        found = took < found ? took : found;
    }
    return found;
}

int main(void) {
    struct error error;
    double frequency;
    if (!host_frequency(&frequency, &error))
        return 1;
    printf("%.0f %.0f\n", frequency * least(touch), frequency * least(call));
    return 0;
}
