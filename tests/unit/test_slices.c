/* What samples are told apart by: steps of time, their lengthening, the limit, and which slices a
 * choice admits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "live/slices.h"
#include "query/timeline.h"
#include "store/store.h"
#include "util/when.h"

static const int64_t SECOND = 1000000000;

static void parsing(void **state) {
    (void)state;
    struct sample_slicing by;
    struct error error = {0};
    assert_true(sample_slicing_parse("pid,time=5min", &by, &error));
    assert_true(by.pid && !by.thread && !by.processor && !by.cgroup);
    assert_int_equal(by.step_ns, 300 * SECOND);
    assert_true(sample_slicing_parse("thread,cpu,cgroup", &by, &error));
    assert_true(!by.pid && by.thread && by.processor && by.cgroup && !by.step_ns);
    assert_true(sample_slicing_parse("none", &by, &error));
    assert_true(!by.pid && !by.thread && !by.processor && !by.cgroup && !by.step_ns);
    static const char *const BAD[] = {"",
                                      "tid",
                                      "pid,,thread",
                                      "time",
                                      "time=",
                                      "time=0",
                                      "time=-1s",
                                      "time=1us",
                                      "pid thread",
                                      "cpucpucpucpucpucpucpucpucpucpucpucpucpu"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        assert_false(sample_slicing_parse(BAD[i], &by, &error));
}

static uint32_t slice_at(struct slices *slices, uint32_t process, uint32_t thread, uint32_t cpu,
                         int64_t time) {
    const struct live_sample sample = {
        .thread = thread, .processor = cpu, .time = time, .count = 1};
    return slices_find(slices, process, &sample);
}

static void apart(void **state) {
    (void)state;
    const struct sample_slicing by = {.thread = true, .processor = true, .step_ns = 2 * SECOND};
    struct slices slices = {0};
    slices_begin(&slices, &by);
    assert_int_equal(slice_at(&slices, 7, 1, 1, 5 * SECOND), 0);
    assert_int_equal(slice_at(&slices, 7, 1, 1, 4 * SECOND), 0);
    assert_int_equal(slice_at(&slices, 7, 1, 1, 6 * SECOND), 1);
    assert_int_equal(slice_at(&slices, 7, 2, 1, 5 * SECOND), 2);
    assert_int_equal(slice_at(&slices, 7, 1, 2, 5 * SECOND), 3);
    assert_int_equal(slice_at(&slices, 8, 1, 1, 5 * SECOND), 4);
    assert_int_equal(slices.items[0].begin, 4 * SECOND);
    assert_int_equal(slices.items[0].end, 6 * SECOND);
    /* A sample whose time nobody told. */
    const uint32_t untimed = slice_at(&slices, 7, 1, 1, 0);
    assert_int_equal(slices.items[untimed].end, 0);
    slices_clear(&slices);
    assert_int_equal(slice_at(&slices, 9, 1, 1, 5 * SECOND), 0);
    slices_free(&slices);

    slices_begin(&slices, &(struct sample_slicing){0});
    assert_int_equal(slice_at(&slices, 7, 1, 1, 5 * SECOND), 0);
    assert_int_equal(slice_at(&slices, 7, 2, 2, 9 * SECOND), 0);
    slices_free(&slices);
}

/* A day of one thread, a slice a second: steps double, and as good as all samples stay apart. */
static void lengthens(void **state) {
    (void)state;
    const struct sample_slicing by = {.thread = true, .step_ns = SECOND};
    struct slices slices = {0};
    slices_begin(&slices, &by);
    for (int64_t second = 1000000; second < 1000000 + 86400; second++)
        slice_at(&slices, 0, 1, 1, second * SECOND);
    assert_in_range(slices.count, SLICES_LENGTHEN, 8 * SLICES_LENGTHEN);
    assert_int_equal(slices.coarse, 0);
    const struct sample_slice *last = &slices.items[slices.count - 1];
    assert_int_equal(last->begin % (last->end - last->begin), 0);
    assert_true(last->end - last->begin > 16 * SECOND);
    slices_begin(&slices, &by); /* another epoch */
    assert_int_equal(slices.step_ns, SECOND);
    slices_free(&slices);
}

/* A storm of threads: the limit holds, and what lies beyond is counted. */
static void limited(void **state) {
    (void)state;
    const struct sample_slicing by = {.thread = true, .processor = true};
    struct slices slices = {0};
    slices_begin(&slices, &by);
    for (uint32_t thread = 1; thread <= 3 * SLICES_MOST; thread++)
        slice_at(&slices, 0, thread, 1, SECOND);
    assert_int_equal(slices.count, SLICES_MOST + 1);
    assert_int_equal(slices.coarse, 2 * SLICES_MOST);
    /* A wait is no sample, however long. */
    const struct live_sample wait = {.thread = 1, .count = 5 * SECOND, .lasts = true};
    slices_find(&slices, 0, &wait);
    assert_int_equal(slices.coarse, 2 * SLICES_MOST);
    assert_int_equal(slices.items[SLICES_MOST].thread, 0);
    assert_int_equal(slices.items[SLICES_MOST].processor, 0);
    /* Those that the store has count as well. */
    slices_clear(&slices);
    slices.saved = SLICES_MOST;
    slice_at(&slices, 0, 1, 1, SECOND);
    assert_int_equal(slices.items[0].thread, 0);
    slices_free(&slices);
}

static bool admits(const struct sample_choice *choice, const struct store_slice *slice) {
    const struct store_session session = {.start = 100 * SECOND, .end = 200 * SECOND};
    struct store_process process = {.slice = *slice};
    if (!process.slice.cgroup)
        process.slice.cgroup = "";
    return sample_choice_admits(choice, &session, &process);
}

static void choices(void **state) {
    (void)state;
    const struct store_slice slice = {.pid = 4,
                                      .thread = 5,
                                      .processor = 1,
                                      .cgroup = "/system.slice/web.service/a",
                                      .begin = 110 * SECOND,
                                      .end = 120 * SECOND};
    const struct store_slice nothing = {.pid = 0};
#define ADMITS(...) admits(&(struct sample_choice){__VA_ARGS__}, &slice)
    assert_true(ADMITS(.pid = 0));
    assert_true(ADMITS(.pid = 4, .thread = 5, .processor = 1));
    assert_false(ADMITS(.pid = 5));
    assert_false(ADMITS(.thread = 4));
    assert_false(ADMITS(.processor = 2));
    assert_false(admits(&(struct sample_choice){.pid = 4}, &nothing));
    static const char *const INSIDE[] = {"/",
                                         "/system.slice",
                                         "/system.slice/",
                                         "system.slice",
                                         "web.service",
                                         "web.service/a",
                                         "a",
                                         "/system.slice/web.service/a"};
    static const char *const OUTSIDE[] = {"/web.service",
                                          "system",
                                          "slice",
                                          "service/a",
                                          "b",
                                          "/system.slice/web",
                                          "/system.slice/web.service/ab"};
    for (size_t i = 0; i < sizeof INSIDE / sizeof *INSIDE; i++)
        assert_true(ADMITS(.cgroup = INSIDE[i]));
    for (size_t i = 0; i < sizeof OUTSIDE / sizeof *OUTSIDE; i++)
        assert_false(ADMITS(.cgroup = OUTSIDE[i]));
    /* By the middle: 115 s. */
    assert_true(ADMITS(.since = 115 * SECOND));
    assert_false(ADMITS(.since = 116 * SECOND));
    assert_true(ADMITS(.until = 116 * SECOND));
    assert_false(ADMITS(.until = 115 * SECOND));
    /* What is not told apart by time is of the middle of its session: 150 s. */
    assert_true(admits(&(struct sample_choice){.since = 150 * SECOND}, &nothing));
    assert_false(admits(&(struct sample_choice){.since = 151 * SECOND}, &nothing));
#undef ADMITS
}

static void steps(void **state) {
    (void)state;
    const struct timeline timeline = {.begin = 100, .step = 10, .count = 3};
    assert_int_equal(timeline_step(&timeline, &(struct store_slice){.begin = 100, .end = 110}), 0);
    assert_int_equal(timeline_step(&timeline, &(struct store_slice){.begin = 115, .end = 120}), 1);
    assert_int_equal(timeline_step(&timeline, &(struct store_slice){.begin = 120, .end = 130}), 2);
    assert_true(timeline_step(&timeline, &(struct store_slice){.begin = 130, .end = 140}) ==
                SIZE_MAX);
    assert_true(timeline_step(&timeline, &(struct store_slice){.begin = 80, .end = 90}) ==
                SIZE_MAX);
    assert_true(timeline_step(&timeline, &(struct store_slice){.begin = 0}) == SIZE_MAX);
}

/* In UTC, whatever zone the machine is in. */
static void moments(void **state) {
    (void)state;
    const int64_t now = 1795662245 * SECOND; /* 2026-11-26 03:04:05 UTC */
    static const struct {
        const char *text;
        int64_t seconds;
    } GOOD[] = {{"2026-11-26T03:04:05Z", 1795662245},
                {"2026-11-26 03:04:05 UTC", 1795662245},
                {"2026-11-26 00:00Z", 1795651200},
                {"2026-11-25Z", 1795564800},
                {"01:02:03Z", 1795654923},
                {"01:02Z", 1795654920},
                {"now", 1795662245},
                {"10min ago", 1795661645},
                {"-2h", 1795655045},
                {"2h", 1795655045},
                {"@1795660000", 1795660000}};
    static const char *const BAD[] = {"",           "yesterday", "25:00",   "10",     "ago",
                                      "-",          "@",         "@-5",     "@1e300", "-99999999w",
                                      "2026-13-01", "03:04:05x", "0x10 ago"};
    int64_t moment;
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        assert_true(when_read(GOOD[i].text, now, &moment));
        assert_int_equal(moment / SECOND, GOOD[i].seconds);
    }
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        assert_false(when_read(BAD[i], now, &moment));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(parsing),   cmocka_unit_test(apart),
                                       cmocka_unit_test(lengthens), cmocka_unit_test(limited),
                                       cmocka_unit_test(choices),   cmocka_unit_test(steps),
                                       cmocka_unit_test(moments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
