/* Waits of threads, by hand: who left when, and returned when; what is lost, assumed, or goes on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "live/waits.h"

enum { BLOCKED = 1, RUNNABLE = 2, SCHEDULER = 0x1000, SCHEDULER_END = 0x2000 };

static char told[1024];

static bool tell(void *context, const struct live_sample *sample, struct error *error) {
    (void)context, (void)error;
    const size_t used = strlen(told);
    assert_true(sample->lasts);
    snprintf(told + used, sizeof told - used, "%u event %u at %llx+%zu from %lld for %llu\n",
             sample->thread, sample->event, (unsigned long long)sample->at.offset,
             sample->caller_count, (long long)sample->time, (unsigned long long)sample->count);
    return true;
}

static int begin(void **state) {
    const struct waits_options options = {.blocked = BLOCKED,
                                          .runnable = RUNNABLE,
                                          .scheduler_start = SCHEDULER,
                                          .scheduler_end = SCHEDULER_END};
    const struct live_sink sink = {.sample = tell};
    *state = waits_new(&options, &sink);
    told[0] = 0;
    return *state ? 0 : -1;
}

static int end(void **state) {
    waits_free(*state);
    return 0;
}

static struct live_sample nowhere(uint32_t thread) {
    return (struct live_sample){.thread = thread, .at.place = PLACE_UNKNOWN};
}

static void place(struct waits *waits, uint32_t thread, const uint64_t *addresses, size_t count) {
    struct live_frame frames[8];
    for (size_t i = 0; i < count; i++)
        frames[i] = (struct live_frame){.place = PLACE_KERNEL, .offset = addresses[i]};
    const struct live_sample sample = {.thread = thread,
                                       .at = frames[0],
                                       .callers = frames + 1,
                                       .caller_count = count - 1,
                                       .end = LIVE_STACK_WHOLE};
    assert_true(waits_place(waits, &sample));
    memset(frames, 0xff, sizeof frames); /* they were copied */
}

static void leave(struct waits *waits, uint32_t thread, uint64_t time, bool runnable) {
    const struct live_sample sample = nowhere(thread);
    assert_true(waits_leave(waits, &sample, time, runnable));
}

static void back(struct waits *waits, uint32_t thread, uint64_t time) {
    struct error error;
    assert_true(waits_return(waits, thread, time, 1000, &error));
}

static void placed(void **state) {
    struct waits *waits = *state;
    place(waits, 7, (const uint64_t[]){0x1000, 0x1fff, 0x2000, 0x1500, 0x3000}, 5);
    leave(waits, 7, 100, false);
    place(waits, 8, (const uint64_t[]){0x2500, 0x3000}, 2);
    leave(waits, 8, 110, true);
    back(waits, 8, 112);
    back(waits, 7, 150);
    /* Those of the scheduler are left out up to the first that is not. */
    assert_string_equal(told, "8 event 2 at 2500+1 from 1110 for 2\n"
                              "7 event 1 at 2000+2 from 1100 for 50\n");
}

static void scheduler_alone(void **state) {
    struct waits *waits = *state;
    place(waits, 7, (const uint64_t[]){0x1000, 0x1100}, 2);
    leave(waits, 7, 100, false);
    back(waits, 7, 150);
    assert_string_equal(told, "7 event 1 at 1100+0 from 1100 for 50\n");
}

/* Without a place; of another wait the place is not taken. */
static void unplaced(void **state) {
    struct waits *waits = *state;
    place(waits, 7, (const uint64_t[]){0x2500, 0x3000}, 2);
    leave(waits, 7, 100, false);
    back(waits, 7, 110);
    leave(waits, 7, 120, false);
    back(waits, 7, 125);
    assert_string_equal(told, "7 event 1 at 2500+1 from 1100 for 10\n"
                              "7 event 1 at 0+0 from 1120 for 5\n");
}

/* A return that was lost: the first wait is not known. One that was not seen to leave says nothing.
 */
static void lost(void **state) {
    struct waits *waits = *state;
    back(waits, 7, 90);
    leave(waits, 7, 100, false);
    leave(waits, 7, 200, true);
    back(waits, 7, 205);
    back(waits, 7, 300);
    leave(waits, 9, 100, false);
    waits_forget(waits, 9);
    back(waits, 9, 200);
    assert_string_equal(told, "7 event 2 at 0+0 from 1200 for 5\n");
}

/* Of three threads that ran before, one sleeps on, one wakes, and one is seen to run. */
static void assumed(void **state) {
    struct waits *waits = *state;
    struct error error;
    for (uint32_t thread = 1; thread <= 3; thread++) {
        const struct live_sample sample = nowhere(thread);
        assert_true(waits_assume(waits, &sample, 100));
    }
    waits_runs(waits, 3);
    back(waits, 2, 130);
    back(waits, 3, 140);
    leave(waits, 2, 150, false);
    waits_runs(waits, 2); /* an older sample, of before it left */
    assert_true(waits_finish(waits, 400, 1000, &error));
    assert_true(waits_finish(waits, 500, 1000, &error));
    assert_string_equal(told, "2 event 1 at 0+0 from 1100 for 30\n"
                              "1 event 1 at 0+0 from 1100 for 300\n"
                              "2 event 1 at 0+0 from 1150 for 250\n");
}

static bool is_odd(uint32_t pid, uint32_t thread) {
    assert_int_equal(pid, 5);
    return thread % 2;
}

/* The ends of threads were lost: how long these waited is not known. */
static void ends_lost(void **state) {
    struct waits *waits = *state;
    struct error error;
    for (uint32_t thread = 1; thread <= 4; thread++) {
        const struct live_sample sample = {.thread = thread, .process.pid = 5};
        assert_true(waits_leave(waits, &sample, 100, false));
    }
    waits_forget_where(waits, is_odd);
    assert_true(waits_finish(waits, 400, 1000, &error));
    assert_string_equal(told, "2 event 1 at 0+0 from 1100 for 300\n"
                              "4 event 1 at 0+0 from 1100 for 300\n");
}

/* Entries of threads that ended are given up, and of the others none. */
static void storm(void **state) {
    struct waits *waits = *state;
    struct error error;
    leave(waits, 1, 50, false);
    for (uint32_t thread = 2; thread < 10000; thread++) {
        leave(waits, thread, 100, false);
        waits_forget(waits, thread);
    }
    assert_in_range(waits_count(waits), 1, 2500);
    leave(waits, 9999, 200, true); /* another thread of that number */
    assert_true(waits_finish(waits, 400, 1000, &error));
    assert_string_equal(told, "1 event 1 at 0+0 from 1050 for 350\n"
                              "9999 event 2 at 0+0 from 1200 for 200\n");
}

int main(void) {
#define WITH_WAITS(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        WITH_WAITS(placed),  WITH_WAITS(scheduler_alone), WITH_WAITS(unplaced), WITH_WAITS(lost),
        WITH_WAITS(assumed), WITH_WAITS(ends_lost),       WITH_WAITS(storm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
