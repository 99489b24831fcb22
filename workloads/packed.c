/* packed [VARIANT] [STEPS]: a list through records of 64 bytes, one behind the other.
 *
 * The link of each is its last 8 bytes. `packed`: a header of 4 bytes stands before the records, as
 * it would in a file, so every link lies over the end of a cache line; a processor accesses the
 * cache twice for it. `padded`, its remedy: the header has a line of its own. The records stay in
 * the cache, and the loop runs at the latency of a load. */
#include "workload.h"

#include <string.h>

enum { RECORD = 64, RECORDS = 256, HEADER = 4, LINK = RECORD - 8 };

static unsigned char table[RECORD * (RECORDS + 2)] __attribute__((aligned(RECORD)));

kernel uint64_t follow(const unsigned char *link, uint64_t steps) {
    uint64_t at = (uintptr_t)link, sum = 0;
    while (steps--) {
        memcpy(&at, (const unsigned char *)(uintptr_t)at, sizeof at);
        sum++;
    }
    return sum + at % 2;
}

int main(int count, char **arguments) {
    const char *variant = count > 1 ? arguments[1] : "packed";
    const int padded = !strcmp(variant, "padded");
    if (!padded && strcmp(variant, "packed")) {
        fprintf(stderr, "%s: '%s' is no variant: packed, padded\n", arguments[0], variant);
        return 2;
    }
    uint64_t steps = argument(count, arguments, 2, 10000000, "steps");
    unsigned char *records = table + (padded ? RECORD : HEADER);
    for (int i = 0; i < RECORDS; i++) {
        const uint64_t next = (uint64_t)(uintptr_t)(records + RECORD * ((i + 77) % RECORDS) + LINK);
        memcpy(records + RECORD * i + LINK, &next, sizeof next);
    }
    printf("packed %" PRIu64 "\n", follow(records + LINK, steps));
    return 0;
}
