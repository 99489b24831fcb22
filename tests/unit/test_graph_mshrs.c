/* MSHRs over time: against a search of every bucket, one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "graph/mshrs.h"

static uint64_t random_state;

static uint32_t next_random(uint32_t below) {
    random_state = random_state * 6364136223846793005 + 1442695040888963407;
    return (uint32_t)((random_state >> 33) % below);
}

/* Two of three misses at once begin in cycle 40; the third with the first bucket that neither has.
 */
static void the_third_of_two_waits(void **state) {
    (void)state;
    struct mshrs *mshrs = calloc(1, sizeof *mshrs);
    assert_int_equal(mshrs_take(mshrs, 0, 40, 64, 2), 40);
    assert_int_equal(mshrs_take(mshrs, 0, 40, 96, 2), 40);
    assert_int_equal(mshrs_take(mshrs, 0, 40, 64, 2), 96); /* [1, 3) is full: [3, 5) */
    assert_int_equal(mshrs_take(mshrs, 0, 40, 32, 0), 40); /* unlimited */
    assert_int_equal(mshrs_take(mshrs, 0, 40, 15, 2), 40); /* no half of a bucket */
    assert_int_equal(mshrs_take(mshrs, 0, 3, 32, 2), 3);   /* before them */
    assert_int_equal(mshrs_take(mshrs, 0, 3, 64, 2), 128); /* [3] has two */
    mshrs_begin(mshrs);
    assert_int_equal(mshrs_take(mshrs, 0, 40, 64, 1), 40);
    free(mshrs);
}

enum { TIME = 1 << 16 };

/* As mshrs_take(), slowly; `first`: nothing before it counts. */
static int64_t take_slowly(uint8_t held[TIME], int64_t first, int64_t cycle, uint32_t fill,
                           uint32_t limit) {
    int64_t count = (fill + MSHR_CYCLES / 2) / MSHR_CYCLES, at = cycle / MSHR_CYCLES, from = at;
    if (count == 0 || at < first)
        return cycle;
    for (int64_t bucket = from; bucket < from + count && from + count <= first + MSHR_BUCKETS;
         bucket++)
        if (held[bucket] >= limit)
            from = bucket + 1;
    for (int64_t i = 0; from + count <= first + MSHR_BUCKETS && i < count; i++)
        held[from + i]++;
    return from > at ? from * MSHR_CYCLES : cycle;
}

/* Sparse and crowded ones, of fills alike and not, with times moved back now and then. */
static void every_bucket_is_looked_at(void **state) {
    (void)state;
    struct mshrs *mshrs = calloc(1, sizeof *mshrs);
    uint8_t *held = calloc(1, TIME);
    random_state = 5;
    for (uint32_t round = 0; round < 12; round++) {
        int64_t now = 0, moved = 0;
        memset(held, 0, TIME);
        mshrs_begin(mshrs);
        for (int i = 0; i < 20000; i++) {
            now += next_random(60);
            int64_t cycle = now + next_random(round % 2 ? 3000 : 20000);
            uint32_t fill = round % 3 ? 280 + next_random(200) : next_random(500);
            uint32_t limit = round % 4 == 3 && next_random(3) ? 5 : 10;
            int64_t first = now / MSHR_CYCLES / MSHR_BLOCK * MSHR_BLOCK - MSHR_BEHIND;
            first = first > 0 ? first : 0;
            int64_t slow = take_slowly(held, first, cycle, fill, limit);
            int64_t quick = mshrs_take(mshrs, now - moved, cycle - moved, fill, limit) + moved;
            /* Near the end of what is looked at a stretch in vain may be shorter. */
            if (slow / MSHR_CYCLES < first + MSHR_BUCKETS - 16)
                assert_int_equal(quick, slow);
            if (now - moved > 4 * MSHR_PERIOD && next_random(100) == 0) {
                int64_t by = ((now - moved) / MSHR_PERIOD - 1) * MSHR_PERIOD;
                mshrs_move(mshrs, by);
                moved += by;
            }
        }
    }
    free(held);
    free(mshrs);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_third_of_two_waits),
                                       cmocka_unit_test(every_bucket_is_looked_at)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
