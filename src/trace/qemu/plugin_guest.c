/* Reads the guest's memory, which may not be mapped. */

#include "trace/qemu/plugin.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MAX_STRING = 128 << 10, PAGE = 4096, KNOWN_PAGES = 1024 };

/* Pages that were read since the last system call, and so are mapped. */
static struct { uint64_t page, call; } known[KNOWN_PAGES];
static uint64_t calls = 1; /* system calls that have returned */

bool guest_read(uint64_t address, void *to, size_t size) {
    struct iovec here = {to, size},
                 there = {(void *)(uintptr_t)(address + plugin.guest_base), size};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)size;
}

void guest_may_change(void) {
    calls++;
}

bool guest_read_again(uint64_t address, void *to, size_t size) {
    const uint64_t page = address / PAGE, slot = page % KNOWN_PAGES;
    if (plugin.threaded || address % PAGE + size > PAGE)
        return guest_read(address, to, size);
    if (known[slot].page == page && known[slot].call == calls) {
        memcpy(to, (const void *)(uintptr_t)(address + plugin.guest_base), size);
        return true;
    }
    if (!guest_read(address, to, size))
        return false;
    known[slot].page = page;
    known[slot].call = calls;
    return true;
}

bool guest_write(uint64_t address, const void *from, size_t size) {
    struct iovec here = {(void *)from, size},
                 there = {(void *)(uintptr_t)(address + plugin.guest_base), size};
    return process_vm_writev(getpid(), &here, 1, &there, 1, 0) == (ssize_t)size;
}

char *guest_read_string(uint64_t address) {
    char *string = NULL;
    for (size_t used = 0; used < MAX_STRING;) {
        size_t size = PAGE - (address + used) % PAGE; /* never across a page at once */
        char *grown = realloc(string, used + size + 1);
        if (!grown || !guest_read(address + used, grown + used, size)) {
            free(grown ? grown : string);
            return NULL;
        }
        string = grown;
        string[used + size] = 0;
        if (memchr(string + used, 0, size))
            return string;
        used += size;
    }
    free(string);
    return NULL;
}
