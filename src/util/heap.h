/* The heap in large pages. Simulations touch tens of megabytes of tables that come and go: in pages
 * of 4 KiB each first touch is a page fault, and in a virtual machine these take a tenth of a run's
 * time or more. */
#pragma once

#include <stddef.h>

/* How malloc keeps memory, to be called once, before there are threads: the heap grows into address
 * space that is asked for in large pages (where the kernel has none, nothing changes), and what is
 * given back is used again. Arrays of 2 MiB and more that no longer fit there lie apart: they grow
 * in place (mremap) and go back to the system at once. Takes no memory until it is used. */
void heap_in_large_pages(void);

/* A large array of zeros of which little may ever be written: each of its small pages takes memory
 * when it is first written, where calloc() would write all of the heap's. NULL: out of memory. */
void *sparse_new(size_t count, size_t size);
void sparse_free(void *array, size_t count, size_t size);
