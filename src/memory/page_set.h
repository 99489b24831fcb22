/* Pages of a program, by their numbers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pages of 4 KiB of a gigabyte: more are not told apart from those that are in it. */
enum { PAGE_SET_MOST = 1 << 18 };

struct page_set {     /* all zero: empty */
    uint64_t *places; /* number + 1, open addressing, at most half of them taken; 0: free */
    size_t place_count, count;
    bool full;
};
void page_set_free(struct page_set *set);
/* Puts a page in. False: it was there, or the set is full, as it is when memory is out. */
bool page_set_add(struct page_set *set, uint64_t page);
void page_set_copy(struct page_set *set, const struct page_set *from);
