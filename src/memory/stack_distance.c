#include "memory/stack_distance.h"

#include "util/random.h"

/* Four buckets for each power of two; the first ones are of one time each. */
enum { PARTS = 4, FIRST_TIMES = 2 * PARTS };
/* The limit is found anew after so many samples; past so many, what was sampled before counts half.
 */
enum { FIND_AFTER = 256, MOST = 1 << 14 };

static uint32_t bucket_of(uint64_t time) {
    if (time < FIRST_TIMES)
        return (uint32_t)time;
    const uint32_t power = 63 - (uint32_t)__builtin_clzll(time);
    return PARTS * (power - 1) + (uint32_t)(time >> (power - 2) & (PARTS - 1));
}

/* The least time in a bucket. */
static double begin_of(uint32_t bucket) {
    if (bucket < FIRST_TIMES)
        return bucket;
    return (double)(PARTS + bucket % PARTS) * (double)(UINT64_C(1) << (bucket / PARTS - 1));
}

static uint32_t accesses_to_next(struct stack_distance *distance) {
    return 1 + (uint32_t)(random_next(&distance->random) % (2 * STACK_DISTANCE_EVERY - 1));
}

void stack_distance_begin(struct stack_distance *distance, uint64_t lines) {
    *distance = (struct stack_distance){.limit = STACK_DISTANCE_NONE, .lines = lines};
    distance->left = accesses_to_next(distance);
}

void stack_distance_restart(struct stack_distance *distance) {
    distance->last = 0;
}

/* Of the accesses of an event, each counts as the share of longer reuse times. In a bucket half of
 * its own are longer. */
static void find_limit(struct stack_distance *distance) {
    const double rate = distance->taken * STACK_DISTANCE_EVERY / distance->events;
    double longer = distance->taken, lines = 0;
    distance->limit = STACK_DISTANCE_NONE;
    distance->since = 0;
    for (uint32_t i = 0; i + 1 < STACK_DISTANCE_BUCKETS && longer > 0; i++) {
        const double width = begin_of(i + 1) - begin_of(i);
        const double share = (longer - distance->times[i] / 2) / distance->taken;
        const double more = rate * width * share;
        if (lines + more > (double)distance->lines) {
            const double part = ((double)distance->lines - lines) / more;
            distance->limit = (uint64_t)(begin_of(i) + part * width);
            return;
        }
        lines += more;
        longer -= distance->times[i];
    }
}

static void forget_half(struct stack_distance *distance) {
    distance->events /= 2;
    distance->taken /= 2;
    for (uint32_t i = 0; i < STACK_DISTANCE_BUCKETS; i++)
        distance->times[i] /= 2;
}

void stack_distance_sample(struct stack_distance *distance, uint64_t now, uint64_t reuse) {
    distance->left = accesses_to_next(distance);
    distance->events += (double)(now - distance->last);
    distance->last = now;
    distance->taken++;
    if (reuse != STACK_DISTANCE_NONE)
        distance->times[bucket_of(reuse)]++;
    if (++distance->since == FIND_AFTER)
        find_limit(distance);
    if (distance->taken >= MOST)
        forget_half(distance);
}
