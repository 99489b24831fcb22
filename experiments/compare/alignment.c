/* Records of 64 bytes begin a line no longer: each is read at its begin and its end, which are one
 * line or two. */
#include <stdint.h>
enum { COUNT = 12000 };
struct record {
    uint64_t key, more[6], value;
};
static char room[COUNT * sizeof(struct record) + 128] __attribute__((aligned(64)));
#ifdef CHANGE
#define FROM 32
#else
#define FROM 0
#endif
__attribute__((noinline)) uint64_t score(const struct record *records) {
    uint64_t sum = 0, at = 1;
    for (int i = 0; i < COUNT; i++) {
        at = (at * 4093 + 11 + records[at].key) % COUNT; /* here */
        sum += records[at].key + records[at].value;      /* here */
    }
    return sum;
}
__attribute__((noinline)) uint64_t count_odd(void) {
    uint64_t odd = 0;
    for (unsigned i = 0; i < 100000; i++)
        odd += (i * 2654435761u >> 7) & 1;
    return odd;
}
int main(void) {
    uint64_t sum = 0;
    for (int k = 0; k < 5; k++) {
        sum += score((const struct record *)(room + FROM)) + count_odd();
        __asm__ volatile("" ::: "memory");
    }
    return sum == 7;
}
