/* Which wake released which wait: calls of threads as a table, tickets worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "trace/wake_pairs.h"

enum { A = 0x1000, B = 0x2000, TID = 0x3000, MOST = 32 };

#define NEVER WAKE_PAIRS_NONE

/* What most calls have. */
#define CALL(of, from, to, at, ...)                                                                \
    {                                                                                              \
        .thread = of, .entry = from, .exit = to, .address = at, .other = THREAD_EVENT_NO_THREAD,   \
        .asked_ns = THREAD_EVENT_FOREVER, __VA_ARGS__                                              \
    }
#define WAIT(of, from, to, at, ...) CALL(of, from, to, at, .kind = THREAD_EVENT_WAIT, __VA_ARGS__)
#define WAKE(of, from, to, at, n, ...)                                                             \
    CALL(of, from, to, at, .kind = THREAD_EVENT_WAKE, .operation = FUTEX_OP_WAKE,                  \
         .value = INT32_MAX, .result = n, __VA_ARGS__)
#define EXIT(of, from, at) CALL(of, from, THREAD_EVENT_NO_TICKET, at, .kind = THREAD_EVENT_EXIT)

/* The events are given by thread. expected[i]: what released event i. */
static void assert_pairs(struct thread_event *events, size_t count, const size_t *expected) {
    size_t first[MOST + 1] = {0};
    struct thread_event_list list = {.events = events, .count = count, .first = first};
    struct wake_pairs pairs;
    struct error error;
    size_t waits = 0, released = 0;
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || events[i].thread >= events[i - 1].thread);
        list.thread_count = events[i].thread + 1;
        events[i].bitset = events[i].bitset ? events[i].bitset : UINT32_MAX;
        waits += events[i].kind == THREAD_EVENT_WAIT && events[i].result == 0;
        released += expected[i] != NEVER && events[i].result == 0;
    }
    assert_true(wake_pairs_find(&list, &pairs, &error));
    for (size_t i = 0; i < count; i++)
        if (pairs.released_by[i] != expected[i])
            fail_msg("event %zu: released by %zd, not %zd", i, (ssize_t)pairs.released_by[i],
                     (ssize_t)expected[i]);
    assert_int_equal(pairs.waits, waits);
    assert_int_equal(pairs.released, released);
    wake_pairs_free(&pairs);
}
#define ASSERT_PAIRS(events, ...)                                                                  \
    assert_pairs(events, sizeof(events) / sizeof *(events), (const size_t[]){__VA_ARGS__})

static void test_one(void **state) {
    (void)state;
    struct thread_event events[] = {WAIT(0, 0, 3, A), WAKE(1, 1, 2, A, 1)};
    ASSERT_PAIRS(events, 1, NEVER);
}

/* Thread 0 waits twice; each wake lasts only during one of the waits. The wake may return after
 * the wait, or before the thread has noticed. Wakes of nobody, and at another address. */
static void test_in_turn(void **state) {
    (void)state;
    struct thread_event events[] = {
        WAIT(0, 1, 4, A),      WAIT(0, 10, 14, A),    WAKE(1, 0, 0, A, 0), WAKE(1, 3, 6, A, 1),
        WAKE(1, 11, 12, A, 1), WAKE(1, 15, 16, A, 0), WAKE(2, 2, 13, B, 1)};
    ASSERT_PAIRS(events, 3, 4, NEVER, NEVER, NEVER, NEVER, NEVER);
}

/* One wake of two; a third wait goes on until the next wake. */
static void test_several(void **state) {
    (void)state;
    struct thread_event events[] = {WAIT(0, 0, 6, A), WAIT(1, 1, 7, A), WAIT(2, 2, 10, A),
                                    WAKE(3, 4, 5, A, 2), WAKE(3, 8, 9, A, 1)};
    ASSERT_PAIRS(events, 3, 3, 4, NEVER, NEVER);
}

/* Both wakes last while thread 0 waits, only the second while thread 1 does, whose wait ends
 * first. A pairing by the order of beginnings would leave thread 0 without a wake. */
static void test_crossed(void **state) {
    (void)state;
    struct thread_event events[] = {WAIT(0, 0, 9, A), WAIT(1, 5, 8, A), WAKE(2, 1, 4, A, 1),
                                    WAKE(3, 2, 7, A, 1)};
    ASSERT_PAIRS(events, 2, 3, NEVER, NEVER);
}

/* Timed out, another value, a signal: not released, and no wake is spent on them. */
static void test_not_released(void **state) {
    (void)state;
    struct thread_event events[] = {WAIT(0, 0, 9, A, .result = -ETIMEDOUT),
                                    WAIT(1, 0, 9, A, .result = -EAGAIN),
                                    WAIT(2, 0, 9, A, .result = -EINTR),
                                    WAIT(3, 0, 9, A, .result = -512),
                                    WAIT(4, 1, 10, A),
                                    WAKE(5, 3, 4, A, 1)};
    ASSERT_PAIRS(events, NEVER, NEVER, NEVER, NEVER, 5, NEVER);
}

/* A wait that nothing in the trace released, as what another program wakes; a wake of one whose
 * return is not in the trace; a wake that failed. */
static void test_spurious(void **state) {
    (void)state;
    struct thread_event events[] = {WAIT(0, 0, 3, A), WAIT(0, 10, 15, A), WAIT(0, 20, 25, A),
                                    WAKE(1, 11, 12, A, 2), WAKE(1, 21, 22, A, -EFAULT)};
    ASSERT_PAIRS(events, NEVER, 3, NEVER, NEVER, NEVER);
}

static void test_bits(void **state) {
    (void)state;
    struct thread_event events[] = {WAIT(0, 0, 8, A, .bitset = 1), WAIT(1, 1, 9, A, .bitset = 2),
                                    WAKE(2, 3, 4, A, 1, .bitset = 6), WAKE(2, 5, 6, A, 1)};
    ASSERT_PAIRS(events, 3, 2, NEVER, NEVER);
}

/* A joiner, by the end of a thread; the next thread ends at the same address, on the same stack. */
static void test_join(void **state) {
    (void)state;
    struct thread_event events[] = {WAIT(0, 1, 4, TID), WAIT(0, 10, 14, TID), EXIT(1, 2, TID),
                                    EXIT(2, 12, TID)};
    ASSERT_PAIRS(events, 2, 3, NEVER, NEVER);
}

/* The emulator clears the word a while after the end has begun: the joiner comes in between. */
static void test_late_join(void **state) {
    (void)state;
    struct thread_event events[] = {WAIT(0, 5, 8, TID), EXIT(1, 2, TID)};
    ASSERT_PAIRS(events, 1, NEVER);
}

/* A broadcast wakes one and moves two to the mutex, whose owner then wakes them in turn. */
static void test_moved(void **state) {
    (void)state;
    struct thread_event events[] = {WAIT(0, 0, 8, A),
                                    WAIT(1, 1, 12, A),
                                    WAIT(2, 2, 16, A),
                                    CALL(3, 4, 5, A, .kind = THREAD_EVENT_WAKE,
                                         .operation = FUTEX_OP_CMP_REQUEUE, .address2 = B,
                                         .value = 1, .value2 = INT32_MAX, .result = 3),
                                    WAKE(3, 10, 11, B, 1),
                                    WAKE(4, 13, 14, B, 1)};
    ASSERT_PAIRS(events, 3, 4, 5, NEVER, NEVER, NEVER);
}

/* Two waits moved, one woken at the second address before the move: that is of another wait. */
static void test_moved_after(void **state) {
    (void)state;
    struct thread_event events[] = {WAIT(0, 0, 20, A), WAIT(1, 1, 9, B), WAKE(2, 3, 4, B, 1),
                                    CALL(2, 10, 11, A, .kind = THREAD_EVENT_WAKE,
                                         .operation = FUTEX_OP_REQUEUE, .address2 = B, .value = 0,
                                         .value2 = 1, .result = 1),
                                    WAKE(2, 14, 15, B, 1)};
    ASSERT_PAIRS(events, 4, 2, NEVER, NEVER, NEVER);
}

/* At most one at the first address; the others at the second. */
static void test_wake_op(void **state) {
    (void)state;
    struct thread_event events[] = {WAIT(0, 0, 8, A), WAIT(1, 1, 9, B), WAIT(2, 2, 10, B),
                                    CALL(3, 4, 5, A, .kind = THREAD_EVENT_WAKE,
                                         .operation = FUTEX_OP_WAKE_OP, .address2 = B, .value = 1,
                                         .value2 = 5, .result = 3)};
    ASSERT_PAIRS(events, 3, 3, 3, NEVER);
}

/* An unlock hands the lock to one waiter, and does not tell whether there was one. A lock that was
 * free is got without one. */
static void test_priority(void **state) {
    (void)state;
    struct thread_event events[] = {
        WAIT(0, 1, 6, A, .operation = FUTEX_OP_LOCK_PI),
        WAIT(1, 2, 9, A, .operation = FUTEX_OP_LOCK_PI2),
        WAIT(2, 20, 21, A, .operation = FUTEX_OP_LOCK_PI),
        CALL(3, 3, 4, A, .kind = THREAD_EVENT_WAKE, .operation = FUTEX_OP_UNLOCK_PI),
        CALL(3, 5, 8, A, .kind = THREAD_EVENT_WAKE, .operation = FUTEX_OP_UNLOCK_PI),
        CALL(3, 10, 11, A, .kind = THREAD_EVENT_WAKE, .operation = FUTEX_OP_UNLOCK_PI)};
    ASSERT_PAIRS(events, 3, 4, NEVER, NEVER, NEVER, NEVER);
}

/* The first gets the lock at once from the broadcast, the second when the owner unlocks it. */
static void test_moved_to_a_lock(void **state) {
    (void)state;
    struct thread_event events[] = {
        WAIT(0, 0, 6, A, .operation = FUTEX_OP_WAIT_REQUEUE_PI, .address2 = B),
        WAIT(1, 1, 12, A, .operation = FUTEX_OP_WAIT_REQUEUE_PI, .address2 = B),
        CALL(2, 4, 5, A, .kind = THREAD_EVENT_WAKE, .operation = FUTEX_OP_CMP_REQUEUE_PI,
             .address2 = B, .value = 1, .value2 = INT32_MAX, .result = 2),
        CALL(2, 9, 10, B, .kind = THREAD_EVENT_WAKE, .operation = FUTEX_OP_UNLOCK_PI)};
    ASSERT_PAIRS(events, 2, 3, NEVER, NEVER);
}

/* The same address in another process is another word. */
static void test_processes(void **state) {
    (void)state;
    struct thread_event events[] = {WAIT(0, 0, 5, A), WAKE(1, 1, 2, A, 1, .process = 1),
                                    WAKE(2, 3, 4, A, 1)};
    ASSERT_PAIRS(events, 2, NEVER, NEVER);
}

static void test_nothing(void **state) {
    (void)state;
    size_t first = 0;
    struct thread_event_list list = {.first = &first};
    struct wake_pairs pairs;
    struct error error;
    assert_true(wake_pairs_find(&list, &pairs, &error));
    assert_int_equal(pairs.waits, 0);
    wake_pairs_free(&pairs);
}

/* Of thread 0, with a time limit that runs out. */
#define IN_VAIN(from, to, at)                                                                      \
    {                                                                                              \
        .entry = from, .exit = to, .address = at, .other = THREAD_EVENT_NO_THREAD,                 \
        .asked_ns = 300000000, .kind = THREAD_EVENT_WAIT, .result = -ETIMEDOUT                     \
    }

/* Thread 0 waits with a time limit at a condition, whose words lie side by side, three times in
 * vain, and at a lock in between, before thread 1 wakes it; later once more in vain. */
static void test_released_later(void **state) {
    (void)state;
    struct thread_event events[] = {IN_VAIN(0, 1, A),       IN_VAIN(2, 3, A + 4),
                                    WAIT(0, 4, 7, B),       IN_VAIN(8, 9, A),
                                    WAIT(0, 10, 13, A + 4), IN_VAIN(14, 15, A),
                                    WAKE(1, 5, 6, B, 1),    WAKE(1, 11, 12, A + 4, 1)};
    enum { COUNT = sizeof events / sizeof *events };
    const size_t later[COUNT] = {7, 7, NEVER, 7, NEVER, NEVER, NEVER, NEVER};
    size_t first[] = {0, 6, COUNT};
    struct thread_event_list list = {
        .events = events, .count = COUNT, .first = first, .thread_count = 2};
    struct wake_pairs pairs;
    struct error error;
    for (size_t i = 0; i < COUNT; i++)
        events[i].bitset = UINT32_MAX;
    assert_true(wake_pairs_find(&list, &pairs, &error));
    assert_int_equal(pairs.released_by[2], 6);
    assert_int_equal(pairs.released_by[4], 7);
    assert_memory_equal(pairs.released_later, later, sizeof later);
    wake_pairs_free(&pairs);
}

/* Thread 0 comes too late to wait: the words had other values already. The last wake there of
 * another thread, though it found nobody, and its own unlock at B lies in between. The second time
 * there is none since it last waited; the third time its own is the last but one, and too old. */
static void test_too_late(void **state) {
    (void)state;
    struct thread_event events[] = {WAIT(0, 0, 2, B),
                                    WAKE(0, 5, 9, B, 0),
                                    WAIT(0, 10, 11, A, .result = -EAGAIN),
                                    WAIT(0, 12, 13, A, .result = -EAGAIN),
                                    WAKE(0, 14, 15, A, 0),
                                    WAIT(0, 16, 17, A, .result = -EAGAIN),
                                    WAKE(1, 1, 3, B, 1),
                                    WAKE(1, 4, 6, A, 0),
                                    WAKE(1, 7, 8, A, 0)};
    ASSERT_PAIRS(events, 6, NEVER, 8, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER);
}

/* Threads that wait at a few words in random order, and are woken by one that keeps the truth: all
 * waits find a wake, and each wake as many waits as it released. */
static void test_property(void **state) {
    (void)state;
    enum { WAITERS = 12, WAITS = 60, WORDS = 3, EVENTS = 2 * WAITERS * WAITS };
    static struct thread_event waits[WAITERS][WAITS], wakes[EVENTS];
    static struct thread_event events[EVENTS];
    size_t first[WAITERS + 2], done[WAITERS] = {0}, wake_count = 0, count = 0, left = WAITERS;
    bool waiting[WAITERS] = {false}, woken[WAITERS] = {false};
    uint64_t ticket = 0;
    srand(7);
    while (left) {
        int thread = rand() % (WAITERS + 4);
        if (thread < WAITERS && done[thread] < WAITS) {
            struct thread_event *wait = &waits[thread][done[thread]];
            if (!waiting[thread]) {
                *wait = (struct thread_event)WAIT(thread, ticket++, 0, A + 8 * (rand() % WORDS));
                waiting[thread] = true;
            } else if (woken[thread]) {
                wait->exit = ticket++;
                waiting[thread] = woken[thread] = false;
                left -= ++done[thread] == WAITS;
            }
        } else if (thread >= WAITERS) {
            uint64_t address = A + 8 * (rand() % WORDS), entry = ticket++;
            int most = rand() % 3, released = 0;
            for (int i = 0; i < WAITERS && released < most; i++)
                if (waiting[i] && !woken[i] && waits[i][done[i]].address == address) {
                    woken[i] = true;
                    released++;
                }
            if (wake_count < WAITERS * WAITS && released)
                wakes[wake_count++] =
                    (struct thread_event)WAKE(WAITERS, entry, ticket++, address, released);
        }
    }
    for (uint32_t i = 0; i < WAITERS; i++) {
        first[i] = count;
        memcpy(events + count, waits[i], sizeof waits[i]);
        count += WAITS;
    }
    first[WAITERS] = count;
    memcpy(events + count, wakes, wake_count * sizeof *wakes);
    first[WAITERS + 1] = count += wake_count;
    for (size_t i = 0; i < count; i++)
        events[i].bitset = UINT32_MAX;
    struct thread_event_list list = {
        .events = events, .count = count, .first = first, .thread_count = WAITERS + 1};
    struct wake_pairs pairs;
    struct error error;
    static int64_t released[EVENTS];
    assert_true(wake_pairs_find(&list, &pairs, &error));
    assert_int_equal(pairs.waits, WAITERS * WAITS);
    assert_int_equal(pairs.released, pairs.waits);
    for (size_t i = 0; i < count; i++)
        if (events[i].kind == THREAD_EVENT_WAIT) {
            const struct thread_event *wake = &events[pairs.released_by[i]];
            assert_true(wake->entry < events[i].exit && events[i].entry < wake->exit);
            assert_int_equal(wake->address, events[i].address);
            released[pairs.released_by[i]]++;
        }
    for (size_t i = 0; i < count; i++)
        if (events[i].kind == THREAD_EVENT_WAKE)
            assert_int_equal(released[i], events[i].result);
    wake_pairs_free(&pairs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),
        cmocka_unit_test(test_in_turn),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_crossed),
        cmocka_unit_test(test_not_released),
        cmocka_unit_test(test_spurious),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_late_join),
        cmocka_unit_test(test_moved),
        cmocka_unit_test(test_moved_after),
        cmocka_unit_test(test_wake_op),
        cmocka_unit_test(test_priority),
        cmocka_unit_test(test_moved_to_a_lock),
        cmocka_unit_test(test_processes),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_released_later),
        cmocka_unit_test(test_too_late),
        cmocka_unit_test(test_property),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
