/* The reorder buffer that slides, worked by hand: 256 µops, four a cycle, hits of 10 cycles, 200
 * more from memory. In the time of a µop a miss takes 840, a hit 40. */
#include "unit/data_program.h"

static struct hybrid_config config_of(uint32_t mshrs) {
    return (struct hybrid_config){.rob = 256,
                                  .width = 4,
                                  .latency = 200,
                                  .hit_latency = 10,
                                  .mshrs = mshrs,
                                  .prefetching = true,
                                  .pending_hits = true,
                                  .windows = WINDOWS_SLIDING,
                                  .parts = PARTS_ALL};
}

static struct hybrid_result run(const struct data_event *events, uint32_t count, uint32_t mshrs) {
    const struct hybrid_config config = config_of(mshrs);
    return evaluate(&config, events, count);
}
#define RUN(events, mshrs) run(events, sizeof(events) / sizeof *(events), mshrs)
#define MISS(at, ...)                                                                              \
    ((struct data_event){.position = (at),                                                         \
                         .flags = DATA_MISS,                                                       \
                         .producers = {__VA_ARGS__},                                               \
                         .producer_count =                                                         \
                             sizeof((uint16_t[]){0, __VA_ARGS__}) / sizeof(uint16_t) - 1})

/* The first commits 840 late; the second, in the reorder buffer with it, overlaps. µop 256 enters
 * at 840, 584 late, and so does 1040, which is then there at 1040 + 584 + 840: 1424 late. With
 * hits, all are 40 late. (1424 − 40) / 4 cycles: 200 and 210 − 64. */
static void later_misses_hide_a_reorder_buffer(void **state) {
    (void)state;
    const struct data_event events[] = {MISS(0), MISS(40), MISS(1040)};
    const struct hybrid_result result = RUN(events, 0);
    assert_true(result.cycles == 200 + 146);
    assert_true(result.misses == 3);
    assert_true(result.windows == 2);
    assert_true(result.distance == 148);
    assert_true(result.serialized == 346.0 / 200);
}

/* Each waits for the one before, three µops on: hits would be in series as well, 200 cycles each
 * are lost and nothing is hidden. */
static void chains_lose_all_of_the_latency(void **state) {
    (void)state;
    struct data_event events[50];
    for (uint32_t i = 0; i < 50; i++)
        events[i] = i ? MISS(3 * i, 1) : MISS(0);
    assert_true(RUN(events, 0).cycles == 50 * 200);
}

/* A chain 200 apart: 0 is there at 840, 200 at 1680, 400, which entered at 400 + 584, at 2520: 2120
 * late. Hits: 200 begins when it enters and is there at 240. (2120 − 40) / 4 = 520 cycles; windows
 * of 256 µops cut the chain after two. */
static void no_window_cuts_a_chain(void **state) {
    (void)state;
    const struct data_event events[] = {MISS(0), MISS(200, 1), MISS(400, 1)};
    assert_true(RUN(events, 0).cycles == 520);
}

/* A prefetch that begins at 0 is there at 840; its block is wanted at 100: 740 late, which is (A)
 * of Fig. 2.5: 210 − 100/4. */
static void prefetches_hide_their_distance(void **state) {
    (void)state;
    const struct data_event events[] = {{.position = 0, .flags = DATA_TRIGGER},
                                        {.position = 100,
                                         .flags = DATA_HIT | DATA_PREFETCHED | DATA_FIRST_USE,
                                         .fetched_by = 1,
                                         .fetched_by_uops = 100}};
    assert_true(RUN(events, 0).cycles == 185);
    assert_true(RUN(events, 0).misses == 1);
}

/* Fig. 2.6: i5 waits for i1 and i6 for i5: the prefetch would begin at 1681. i8 waits for i1 alone,
 * asks at 841 and misses itself. i5 is the last to commit, at 1681, 1676 late; with hits at 81, 76
 * late: 400 cycles. */
static void loads_overtake_prefetches(void **state) {
    (void)state;
    const struct data_event events[] = {
        MISS(1),
        MISS(5, 1),
        {.position = 6, .flags = DATA_TRIGGER, .producer_count = 1, .producers = {1}},
        {.position = 8,
         .flags = DATA_HIT | DATA_PREFETCHED | DATA_FIRST_USE,
         .fetched_by = 1,
         .fetched_by_uops = 2,
         .producer_count = 1,
         .producers = {3}}};
    const struct hybrid_result result = RUN(events, 0);
    assert_true(result.cycles == 400);
    assert_true(result.tardy == 1);
}

/* Two MSHRs are taken from 0 and 1 on; the third miss begins at 840 and is there at 1680, 1678
 * late: (1678 − 40) / 4. */
static void misses_wait_for_mshrs(void **state) {
    (void)state;
    const struct data_event events[] = {MISS(0), MISS(1), MISS(2)};
    assert_true(RUN(events, 0).cycles == 200);
    assert_true(RUN(events, 2).cycles == 409.5);
}

/* Misses 0 and 1 hold both MSHRs until 840 and 841. 2 waits for both and takes the second until
 * 1681; 3 and 4 wait for 2 and take both from 1681 on. 5 waits for nothing: the first MSHR is idle
 * from 840 to 1681. So 3 is the last, there at 2521, 2518 late; with hits 118: 600 cycles. */
static void an_idle_mshr_is_taken(void **state) {
    (void)state;
    const struct data_event events[] = {MISS(0),    MISS(1),    MISS(2, 1, 2),
                                        MISS(3, 1), MISS(4, 2), MISS(5)};
    assert_true(RUN(events, 2).cycles == 600);
}

/* With one MSHR, taken by the miss, no prefetch is sent, and the load at 100 asks for the block
 * itself, when the MSHR is free at 840: there at 1680, 1580 late. With hits the prefetch comes in
 * time: (1580 − 40) / 4. One of a level beyond needs no MSHR. */
static void prefetches_are_dropped(void **state) {
    (void)state;
    struct data_event events[] = {{.position = 0, .flags = DATA_MISS | DATA_TRIGGER},
                                  {.position = 100,
                                   .flags = DATA_HIT | DATA_PREFETCHED | DATA_FIRST_USE,
                                   .fetched_by = 1,
                                   .fetched_by_uops = 100}};
    assert_true(RUN(events, 2).cycles == 200);
    assert_true(RUN(events, 1).cycles == 385);
    events[0].flags |= DATA_BEYOND;
    assert_true(RUN(events, 1).cycles == 200);
}

/* The prefetch that begins at 0 holds one of two MSHRs; one for another line of its block holds the
 * other until the block is there, and the miss at 2 begins at 840: (1678 - 40) / 4. */
static void more_of_a_block_takes_an_mshr(void **state) {
    (void)state;
    struct data_event events[] = {{.position = 0, .flags = DATA_TRIGGER},
                                  {.position = 1, .flags = DATA_ALONG_PREFETCHED, .along = 1},
                                  MISS(2)};
    assert_true(RUN(events, 2).cycles == 409.5);
    assert_true(RUN(events, 3).cycles == 200);
    events[1] = (struct data_event){.position = 1};
    assert_true(RUN(events, 2).cycles == 200);
}

/* A store asks for its block when it commits, at 0; the load at 2 finds it on its way until 840,
 * 838 late, or 38. Behind a miss the store commits at 841: the load is first. Nobody waits for
 * stores, but with two MSHRs they leave none until 840. */
static void stores_fetch_when_they_commit(void **state) {
    (void)state;
    const struct data_event store = {.position = 0, .flags = DATA_STORE};
    const struct data_event behind = {.position = 1, .flags = DATA_STORE};
    const struct data_event load = {
        .position = 2, .flags = DATA_HIT, .fetched_by = 1, .fetched_by_uops = 1};
    const struct data_event pending[] = {store, load}, overtaken[] = {MISS(0), behind, load},
                            taken[] = {store, behind, MISS(2)};
    assert_true(RUN(pending, 0).cycles == 200);
    assert_true(RUN(overtaken, 0).cycles == 200);
    assert_true(RUN(overtaken, 0).windows == 1);
    assert_true(RUN(taken, 0).cycles == 200);
    assert_true(RUN(taken, 2).cycles == 409.5);
}

/* One MSHR: three stores that miss hold it until 2520, so that the load is there at 3360, 2360
 * late: (2360 - 40) / 4 cycles. Of another part of the run it would be 840 late. */
static void a_break_frees_mshrs(void **state) {
    (void)state;
    struct data_event events[] = {MISS(0), MISS(1), MISS(2), MISS(1000)};
    for (int i = 0; i < 3; i++)
        events[i].flags = DATA_STORE | DATA_MISS;
    const struct hybrid_config config = config_of(1);
    assert_true(RUN(events, 1).cycles == 580);
    struct error error;
    struct hybrid *hybrid = hybrid_new(&config, 1, &error);
    assert_non_null(hybrid);
    hybrid_add(hybrid, events, 3);
    hybrid_break(hybrid);
    hybrid_add(hybrid, events + 3, 1);
    assert_true(hybrid_result(hybrid, 0).cycles == 200);
    hybrid_free(hybrid);
}

static double lost_with_store_queue(const struct data_event *events, uint32_t count,
                                    uint32_t entries) {
    struct hybrid_config config = config_of(0);
    config.store_queue = entries;
    return evaluate(&config, events, count).cycles;
}

/* Stores 0 and 1 commit at once and have their blocks at 840 and 850. Where the queue holds two,
 * store 2 enters when store 0 leaves, 820 late, and the miss behind it is there at 850 + 840, 1660
 * late; with hits 20 and 60: 400 cycles. */
static void stores_wait_for_an_entry(void **state) {
    (void)state;
    struct data_event events[] = {MISS(0), MISS(10), MISS(20), MISS(30)};
    for (uint32_t i = 0; i < 4; i++) {
        events[i].stores = i;
        events[i].flags = i < 3 ? DATA_STORE : DATA_MISS;
    }
    assert_true(lost_with_store_queue(events, 4, 2) == 400);
    assert_true(lost_with_store_queue(events, 4, 3) == 200);
}

/* They leave in order: store 1 hits and commits at 10, and leaves with store 0 at 840. Store 3, at
 * 30, enters then, 810 late, and the miss with it is 1650 late; with hits 10 and 50. */
static void stores_leave_in_order(void **state) {
    (void)state;
    struct data_event events[] = {MISS(0), {.position = 10, .stores = 1}, MISS(30)};
    events[0].flags = DATA_STORE;
    events[2].stores = 3;
    events[2].flags |= DATA_STORE;
    struct data_event behind = MISS(30);
    behind.stores = 4;
    const struct data_event all[] = {events[0], events[1], events[2], behind};
    assert_true(lost_with_store_queue(all, 4, 2) == 400);
}

/* 100 stores lie evenly between two misses, 400 apart, and none leaves before the first miss, at
 * 840. In a queue of 50 number 50, at 200, enters then, 640 late: the second miss is 1480 late. A
 * queue of 64 is full at 256, where the reorder buffer is. */
static void stores_behind_a_miss_fill_the_queue(void **state) {
    (void)state;
    struct data_event events[] = {MISS(0), MISS(400)};
    events[1].stores = 100;
    assert_true(lost_with_store_queue(events, 2, 50) == 360);
    assert_true(lost_with_store_queue(events, 2, 64) == 346);
    assert_true(lost_with_store_queue(events, 2, 0) == 346);
}

/* The fence is the oldest at 841, when the miss before it has committed; the miss behind it is
 * dispatched one µop later, at 842, and there at 1682, 1680 late; with hits 80. A store that has
 * not been to the cache is waited for as well: it commits at 0 and has its block at 840. */
static void nothing_overlaps_at_a_fence(void **state) {
    (void)state;
    const struct data_event fence = {.position = 1, .flags = DATA_FENCE};
    const struct data_event store = {.position = 0, .flags = DATA_STORE};
    const struct data_event loads[] = {MISS(0), fence, MISS(2)}, both[] = {store, fence, MISS(2)};
    assert_true(RUN(loads, 0).cycles == 400);
    assert_true(RUN(both, 0).cycles == 400);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_misses_hide_a_reorder_buffer),
        cmocka_unit_test(chains_lose_all_of_the_latency),
        cmocka_unit_test(no_window_cuts_a_chain),
        cmocka_unit_test(prefetches_hide_their_distance),
        cmocka_unit_test(loads_overtake_prefetches),
        cmocka_unit_test(misses_wait_for_mshrs),
        cmocka_unit_test(an_idle_mshr_is_taken),
        cmocka_unit_test(prefetches_are_dropped),
        cmocka_unit_test(more_of_a_block_takes_an_mshr),
        cmocka_unit_test(stores_fetch_when_they_commit),
        cmocka_unit_test(a_break_frees_mshrs),
        cmocka_unit_test(stores_wait_for_an_entry),
        cmocka_unit_test(stores_leave_in_order),
        cmocka_unit_test(stores_behind_a_miss_fill_the_queue),
        cmocka_unit_test(nothing_overlaps_at_a_fence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
