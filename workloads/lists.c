/* lists [STEPS] [LINES]: pointer chasing along lists whose misses overlap, or stand in series.
 *
 * Every load of the kernels misses: four lists, each a random order of a quarter of 64 MiB of
 * lines. walk_both follows two lists at once: the two misses of a step overlap, so that prefetching
 * one list is worth nothing, but both nearly all time (interaction cost: positive).
 * walk_twice_as_fast follows one list by two lines a step and another by one: the two loads of the
 * first are in series, and the second list takes half as long beside them, so that prefetching
 * either of the two saves half of the time, and both no more than that (negative). */
#include "workload.h"

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
        uint64_t other = random_below(&seed, i);
        uint32_t swapped = order[i];
        order[i] = order[other];
        order[other] = swapped;
    }
    for (uint64_t i = 0; i < count; i++) {
        lines[order[i]].next = &lines[order[(i + 1) % count]];
        lines[order[i]].value = order[i];
    }
    free(order);
}

kernel uint64_t walk_both(struct line *first, struct line *second, uint64_t steps) {
    while (steps--) {
        first = first->next;
        second = second->next;
    }
    return first->value + second->value;
}

kernel uint64_t walk_twice_as_fast(struct line *first, struct line *second, uint64_t steps) {
    while (steps--) {
        first = first->next->next;
        second = second->next;
    }
    return first->value + second->value;
}

int main(int count, char **arguments) {
    uint64_t steps = argument(count, arguments, 1, 1000000, "steps of each kernel");
    uint64_t size = argument(count, arguments, 2, 1 << 20, "cache lines");
    if (size < 4 || size > UINT32_MAX) {
        fprintf(stderr, "lists: from 4 to 2^32 - 1 lines\n");
        return 2;
    }
    struct line *lines = allocate(size, sizeof *lines), *lists[4];
    for (int i = 0; i < 4; i++) {
        lists[i] = lines + size / 4 * i;
        link_lines(lists[i], size / 4);
    }
    uint64_t sum = walk_both(lists[0], lists[1], steps);
    sum = sum * 31 + walk_twice_as_fast(lists[2], lists[3], steps);
    printf("lists %" PRIu64 "\n", sum);
    free(lines);
    return 0;
}
