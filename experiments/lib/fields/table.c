/* A hash table with open addressing; its slots hold key, name and value, most looks hit other keys
 * first. -DREMEDY: the keys have a table of their own. */
#include <stdlib.h>

enum { SLOTS = 1 << 16, FILLED = 48000, LOOKUPS = 150000 };

#ifdef REMEDY
struct slot {
    unsigned long key;
};
struct rest {
    char name[40];
    long value, age;
};
struct rest rests[SLOTS];
#define VALUE(i) rests[i].value
#else
struct slot {
    unsigned long key;
    char name[40];
    long value, age;
};
#define VALUE(i) slots[i].value
#endif
struct slot slots[SLOTS];

static unsigned long next_random(unsigned long *random) {
    *random = *random * 6364136223846793005 + 1442695040888963407;
    return (*random >> 33) | 1;
}

__attribute__((noinline)) static unsigned long find(const struct slot *all, unsigned long key) {
    unsigned long at = key * 0x9e3779b97f4a7c15 >> 48;
    while (all[at].key && all[at].key != key)
        at = (at + 1) % SLOTS;
    return at;
}

int main(void) {
    unsigned long random = 3;
    long found = 0;
    for (long i = 0; i < FILLED; i++) {
        unsigned long key = next_random(&random), at = find(slots, key);
        slots[at].key = key;
        VALUE(at) = i;
    }
    random = 11;
    for (long i = 0; i < LOOKUPS; i++)
        found += slots[find(slots, next_random(&random))].key != 0;
    return found < 0;
}
