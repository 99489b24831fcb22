#include "util/heap.h"

#include <limits.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LARGE_ARRAY = 2 << 20, RESERVED = 512 << 20, FIRST = 1 << 20 };

void heap_in_large_pages(void) {
    mallopt(M_MMAP_THRESHOLD, LARGE_ARRAY);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_ARENA_MAX, 1);
    /* The first piece is more than the heap has: it grows by that and by the padding, once. */
    mallopt(M_TOP_PAD, RESERVED);
    void *volatile first = malloc(FIRST);
    mallopt(M_TOP_PAD, FIRST);
    const uintptr_t end = (uintptr_t)sbrk(0), begin = (uintptr_t)first + FIRST;
    if (first && begin < end && end - begin > RESERVED / 2) {
        const uintptr_t page = (begin | (LARGE_ARRAY - 1)) + 1;
        madvise((char *)first + (page - (uintptr_t)first), end - page, MADV_HUGEPAGE);
    }
    free(first);
}
