/* pages [TOUCHES] [PAGES]: one word of each of many pages, in random order.
 *
 * 8192 pages are more than any first-level TLB and most second-level ones hold, but the words
 * touched (one line of each page, at a different place in each) fit an L2: the time of the load is
 * address translation (ST-TLB). Addresses are computed, so that several walks may be in flight. */
#include "workload.h"

enum { PAGE = 4096, LINE = 64 };

kernel uint64_t touch(const unsigned char *memory, uint64_t pages, uint64_t touches) {
    uint64_t seed = 192837465, sum = 0;
    while (touches--) {
        DIVIDE_IF(touches % 16384 == 0);
        uint64_t page = random_below(&seed, pages);
        sum += memory[page * PAGE + page % (PAGE / LINE) * LINE];
    }
    return sum;
}

int main(int count, char **arguments) {
    uint64_t touches = argument(count, arguments, 1, 8000000, "touches");
    uint64_t pages = argument(count, arguments, 2, 8192, "pages");
    if (pages > UINT32_MAX) {
        fprintf(stderr, "pages: at most 2^32 - 1 pages\n");
        return 2;
    }
    unsigned char *memory = allocate(pages, PAGE);
    for (uint64_t page = 0; page < pages; page++)
        memory[page * PAGE + page % (PAGE / LINE) * LINE] = (unsigned char)page;
    printf("pages %" PRIu64 "\n", touch(memory, pages, touches));
    free(memory);
    return 0;
}
