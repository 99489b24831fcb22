/* counters [together|apart|shared|private] [THREADS] [STEPS]: threads count.
 *
 * together  each thread counts in memory of its own, but the counters lie in one cache line, which
 *           moves from core to core though no thread reads what another wrote: false sharing
 * apart     the same, each counter in a line of its own: the remedy of `together`
 * shared    all count atomically in one counter: true sharing, of every step
 * private   each counts in a register, and adds to the counter at the end: the remedy of `shared`
 */
#include "threaded.h"

static const char *const VARIANTS[] = {"together", "apart", "shared", "private", NULL};
enum { TOGETHER, APART, SHARED, PRIVATE };

static uint64_t near_counters[MOST_THREADS] __attribute__((aligned(LINE)));
static struct { uint64_t count; } __attribute__((aligned(LINE))) far_counters[MOST_THREADS];
static uint64_t shared_counter __attribute__((aligned(LINE)));
static int chosen;

kernel void count_in_memory(uint64_t *counter, uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; i++)
        add_in_memory(counter, scatter(i) >> 61);
}

kernel void count_together(uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; i++)
        __atomic_fetch_add(&shared_counter, scatter(i) >> 61, __ATOMIC_RELAXED);
}

kernel void count_alone(uint64_t begin, uint64_t end) {
    uint64_t own = 0;
    for (uint64_t i = begin; i < end; i++)
        own += scatter(i) >> 61;
    __atomic_fetch_add(&shared_counter, own, __ATOMIC_RELAXED);
}

static void count_part(const struct part *part) {
    if (chosen == TOGETHER)
        count_in_memory(&near_counters[part->number], part->begin, part->end);
    else if (chosen == APART)
        count_in_memory(&far_counters[part->number].count, part->begin, part->end);
    else if (chosen == SHARED)
        count_together(part->begin, part->end);
    else
        count_alone(part->begin, part->end);
}

int main(int count, char **arguments) {
    chosen = variant(count, arguments, VARIANTS);
    const uint64_t threads = thread_count(count, arguments);
    run_parts(threads, argument(count, arguments, 3, 400000, "steps"), count_part);
    uint64_t sum = shared_counter;
    for (uint64_t i = 0; i < threads; i++)
        sum += near_counters[i] + far_counters[i].count;
    printf("counters %" PRIu64 "\n", sum);
    return 0;
}
