/* Executes a branch, `probed`, again and again, with next to nothing in between; then `called`,
 * each time after some system calls; then `touched`, each time after the first touches of some
 * pages: what a probe takes, and what slices.c leaves of the way into the kernel and back. */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PROBES = 4000, TIMES = 1000, EACH = 16, PAGE = 4096 };

#define BRANCH(name) __asm__ volatile(".globl " #name "\n" #name ": jmp 1f\n1:" ::: "memory")

int main(void) {
    const size_t bytes = (size_t)TIMES * EACH * PAGE;
    char *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        perror("edge_costs");
        return 1;
    }
    for (int i = 0; i < PROBES; i++)
        BRANCH(probed);
    for (int i = 0; i < TIMES; i++) {
        for (int call = 0; call < EACH; call++)
            syscall(SYS_getppid);
        BRANCH(called);
    }
    for (int i = 0; i < TIMES; i++) {
        for (int page = 0; page < EACH; page++, pages += PAGE)
            *(volatile char *)pages = 1;
        BRANCH(touched);
    }
    return 0;
}
