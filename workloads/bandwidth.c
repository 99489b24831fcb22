/* bandwidth [memory|cache] [THREADS] [LINES] [MIB]: threads read arrays of their own, line by line.
 *
 * memory  the arrays have MIB megabytes together, more than the last cache: the threads share the
 *         bandwidth of memory, and two are hardly faster than one when one can fill it
 * cache   each has 16 KiB, which stay in its core's L1: twice as many threads take half the time */
#include "threaded.h"

static const char *const VARIANTS[] = {"memory", "cache", NULL};
enum { MEMORY, CACHE, CACHE_LINES = 256, MIB_LINES = (1 << 20) / LINE };

struct line {
    uint64_t words[LINE / sizeof(uint64_t)];
};
static struct line *lines;
static uint64_t own_lines; /* of each thread */
static uint64_t sum __attribute__((aligned(LINE)));

static void write_lines(struct line *to) {
    for (uint64_t i = 0; i < own_lines; i++)
        to[i].words[0] = 1;
}

kernel uint64_t read_lines(const struct line *from, uint64_t count) {
    uint64_t own = 0;
    for (uint64_t i = 0; i < count; i++)
        own += from[i].words[0];
    return own;
}

static void read_part(const struct part *part) {
    struct line *array = lines + part->number * own_lines;
    uint64_t own = 0;
    write_lines(array);
    for (uint64_t left = part->end - part->begin, count; left; left -= count) {
        count = left < own_lines ? left : own_lines;
        own += read_lines(array, count);
    }
    __atomic_fetch_add(&sum, own, __ATOMIC_RELAXED);
}

int main(int count, char **arguments) {
    const int chosen = variant(count, arguments, VARIANTS);
    const uint64_t threads = thread_count(count, arguments);
    const uint64_t work = argument(count, arguments, 3, 1 << 21, "lines");
    const uint64_t mib = argument(count, arguments, 4, 64, "MiB");
    if (mib > 1 << 20) {
        fprintf(stderr, "%s: at most %d MiB\n", arguments[0], 1 << 20);
        return 2;
    }
    own_lines = chosen == MEMORY ? mib * MIB_LINES / threads : CACHE_LINES;
    lines = aligned_alloc(LINE, threads * own_lines * sizeof *lines); /* each writes its own */
    if (!lines) {
        fprintf(stderr, "no memory for %" PRIu64 " MiB\n", mib);
        return 1;
    }
    run_parts(threads, work, read_part);
    printf("bandwidth %" PRIu64 "\n", sum);
    free(lines);
    return 0;
}
