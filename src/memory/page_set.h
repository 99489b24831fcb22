/* Pages of a program, by their numbers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pages of 4 KiB of a gigabyte: more are not told apart from those that are in it. */
enum { PAGE_SET_MOST = 1 << 18, PAGE_SET_NEAR = 256 };

struct page_set {     /* all zero: empty */
    uint64_t *places; /* number + 1, open addressing, at most half of them taken; 0: free */
    size_t place_count, count;
    bool full;
    uint64_t near[PAGE_SET_NEAR]; /* number + 1 of pages that are in it, by number */
};
void page_set_free(struct page_set *set);
/* Puts a page in. False: it was there, or the set is full, as it is when memory is out. */
bool page_set_add(struct page_set *set, uint64_t page);
/* Quick: true when the page is in it, and was put in lately. */
static inline bool page_set_knows(const struct page_set *set, uint64_t page) {
    return set->near[page % PAGE_SET_NEAR] == page + 1;
}
void page_set_copy(struct page_set *set, const struct page_set *from);
