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

void *sparse_new(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    void *array = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return array == MAP_FAILED ? NULL : array;
}

void sparse_free(void *array, size_t count, size_t size) {
    if (array)
        munmap(array, count * size);
}
