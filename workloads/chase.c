/* chase [STEPS] [CHAINS] [LINES]: pointer chasing, in one chain or several.
 *
 * Each step loads the address of the next from a cache line that is in no cache (64 MiB of lines in
 * random order). With one chain the misses are in series and nearly all time belongs to that one
 * load; with N chains (1 to 8) N misses are in flight together and time falls to nearly 1/N. */
#include "workload.h"

enum { MOST_CHAINS = 8 };

struct line {
    struct line *next;
    uint64_t value;
    uint64_t unused[6];
};

/* One cycle through all lines in random order (Sattolo's shuffle). */
static void link_lines(struct line *lines, uint64_t count) {
    uint32_t *order = allocate(count, sizeof *order);
    uint64_t seed = 88172645463325252;
    for (uint64_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (uint64_t i = count - 1; i > 0; i--) {
        DIVIDE_IF(i % 8192 == 0);
        uint64_t other = random_below(&seed, i);
        uint32_t swapped = order[i];
        order[i] = order[other];
        order[other] = swapped;
    }
    for (uint64_t i = 0; i < count; i++) {
        DIVIDE_IF(i % 4096 == 0);
        lines[order[i]].next = &lines[order[(i + 1) % count]];
        lines[order[i]].value = order[i];
    }
    free(order);
}

kernel struct line *chase_one(struct line *at, uint64_t steps) {
    while (steps--) {
        DIVIDE_IF(steps % 1024 == 0);
        at = at->next;
    }
    return at;
}

kernel void chase_many(struct line **at, uint64_t chains, uint64_t steps) {
    while (steps--)
        for (uint64_t i = 0; i < chains; i++)
            at[i] = at[i]->next;
}

int main(int count, char **arguments) {
    uint64_t steps = argument(count, arguments, 1, 4000000, "steps in all");
    uint64_t chains = argument(count, arguments, 2, 1, "chains");
    uint64_t size = argument(count, arguments, 3, 1 << 20, "cache lines");
    if (chains > MOST_CHAINS || size > UINT32_MAX) {
        fprintf(stderr, "chase: at most %d chains and 2^32 - 1 lines\n", MOST_CHAINS);
        return 2;
    }
    struct line *lines = allocate(size, sizeof *lines);
    link_lines(lines, size);
    struct line *at[MOST_CHAINS];
    for (uint64_t i = 0; i < chains; i++)
        at[i] = &lines[size * i / chains];
    if (chains == 1)
        at[0] = chase_one(at[0], steps);
    else
        chase_many(at, chains, steps / chains);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < chains; i++)
        sum = sum * 31 + at[i]->value;
    printf("chase %" PRIu64 "\n", sum);
    free(lines);
    return 0;
}
