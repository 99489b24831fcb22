/* makes_code SECONDS [quiet]: generates a loop at run time and executes it for so long, but eight
 * times at least: 16 million instructions however slow the machine is. Lists it in
 * /tmp/perf-PID.map unless quiet, and removes nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* mov %edi,%ecx; again: dec %ecx; jnz again; ret */
static const unsigned char LOOP[] = {0x89, 0xf9, 0xff, 0xc9, 0x75, 0xfc, 0xc3};

int main(int argc, char **argv) {
    char path[64];
    void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (argc < 2 || code == MAP_FAILED)
        return 1;
    memcpy(code, LOOP, sizeof LOOP);
    if (mprotect(code, 4096, PROT_READ | PROT_EXEC) != 0)
        return 1;
    if (argc == 2) {
        snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
        FILE *map = fopen(path, "w");
        if (!map)
            return 1;
        fprintf(map, "%lx %zx hot loop\n", (unsigned long)code, sizeof LOOP);
        fclose(map);
        puts(path);
        fflush(stdout);
    }
    clock_t end = clock() + (clock_t)(atof(argv[1]) * CLOCKS_PER_SEC);
    for (int calls = 0; calls < 8 || clock() < end; calls++)
        ((void (*)(int))code)(1000000);
    return 0;
}
