/* What a second processor evaluates is what one alone would: of many batches of events, for few
 * configurations, all of which it gets, and many, of which it gets some. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/hybrid_split.h"

enum { EVENTS = 40000, MANY = 17 };

/* Loads and stores that miss, every third of which waits for the one before it. */
static struct data_event *make_events(void) {
    struct data_event *events = calloc(EVENTS, sizeof *events);
    uint64_t position = 0;
    assert_non_null(events);
    for (uint32_t i = 0; i < EVENTS; i++) {
        position += i * 2654435761u >> 26;
        events[i] = (struct data_event){.position = position,
                                        .stores = i / 5,
                                        .flags = i % 5 ? DATA_MISS : DATA_STORE,
                                        .producers = {1},
                                        .producer_count = i % 3 == 2};
    }
    return events;
}

static void make_configs(struct hybrid_config configs[MANY]) {
    for (uint32_t i = 0; i < MANY; i++)
        configs[i] = (struct hybrid_config){.rob = 64 + 16 * i,
                                            .width = 4,
                                            .latency = 200,
                                            .hit_latency = 10,
                                            .mshrs = i % 4 * 4,
                                            .store_queue = 16,
                                            .pending_hits = true,
                                            .windows = i % 2 ? WINDOWS_SLIDING : WINDOWS_SWAM,
                                            .parts = PARTS_ALL};
}

static void compare(uint32_t count, struct executor *second) {
    struct error error;
    struct hybrid_config configs[MANY];
    struct data_event *events = make_events();
    make_configs(configs);
    struct hybrid *alone = hybrid_new(configs, count, &error);
    struct hybrid_split *split = hybrid_split_new(configs, count, second, &error);
    assert_true(alone && split);
    hybrid_add(alone, events, EVENTS);
    for (uint32_t i = 0; i < EVENTS; i += 5000)
        hybrid_split_take(split, events + i, 5000);
    for (uint32_t i = 0; i < count; i++) {
        const struct hybrid_result one = hybrid_result(alone, i);
        const struct hybrid_result other = hybrid_split_result(split, i);
        assert_true(one.cycles > 0);
        assert_memory_equal(&one, &other, sizeof one);
    }
    hybrid_free(alone);
    hybrid_split_free(split);
    free(events);
}

static void a_second_processor_changes_nothing(void **state) {
    (void)state;
    struct error error;
    struct executor *second = executor_new("model", &error);
    assert_non_null(second);
    compare(1, second);
    compare(MANY, second);
    executor_free(second);
}

static void there_may_be_none(void **state) {
    (void)state;
    compare(MANY, NULL);
}

static void events_may_not_have_been_read(void **state) {
    (void)state;
    struct error error;
    struct hybrid_config configs[MANY];
    struct executor *second = executor_new("model", &error);
    make_configs(configs);
    struct hybrid_split *split = hybrid_split_new(configs, 1, second, &error);
    assert_non_null(split);
    struct data_event *events = make_events();
    hybrid_split_take(split, events, EVENTS);
    free(events);
    hybrid_split_free(split);
    executor_free(second);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_second_processor_changes_nothing),
                                       cmocka_unit_test(there_may_be_none),
                                       cmocka_unit_test(events_may_not_have_been_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
