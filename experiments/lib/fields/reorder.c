/* Records of two and a half lines are looked up at random; each look-up reads a field of the first
 * line, one of the second and one of the last. -DREMEDY: the three stand together. */
#include <stdlib.h>

enum { COUNT = 20000, LOOKUPS = 400000 };

struct record {
#ifdef REMEDY
    long stamp, state, count;
    char title[56], author[64], padding[16];
#else
    long stamp;
    char title[56];
    long state;
    char author[64];
    long count;
    char padding[16];
#endif
};
struct record records[COUNT];

__attribute__((noinline)) static long look_up(const struct record *record) {
    return record->stamp + record->state * record->count;
}

int main(void) {
    unsigned long random = 1;
    long sum = 0;
    for (long i = 0; i < COUNT; i++) {
        records[i].stamp = i;
        records[i].state = i & 3;
        records[i].count = 5;
    }
    for (long i = 0; i < LOOKUPS; i++) {
        random = random * 6364136223846793005 + 1442695040888963407;
        sum += look_up(&records[(random >> 33) % COUNT]);
    }
    return sum == 0;
}
