/* A pool of threads: items are begun in their order, each once, some at once; an error and `stop`
 * end it; the caller's thread looks on, or does items itself. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/thread_pool.h"

enum { ITEMS = 100, THREADS = 4, NONE = 1000 };

struct items {
    struct thread_pool_work work;
    pthread_t caller;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    size_t begun[ITEMS], begun_count; /* in this order */
    uint32_t most_thread;
    bool by_caller, by_another;
    uint32_t under_way, await; /* items; each waits until so many were under way at once */
    bool together;
    size_t fails, ends; /* items that fail, and after which it is to stop */
    volatile sig_atomic_t stop;
    uint32_t looks;
    bool seen_failed;
};

static bool do_item(void *context, uint32_t thread, size_t number, struct error *error) {
    struct items *items = context;
    const bool own = pthread_equal(pthread_self(), items->caller);
    pthread_mutex_lock(&items->lock);
    items->begun[items->begun_count++] = number;
    items->most_thread = thread > items->most_thread ? thread : items->most_thread;
    items->by_caller |= own;
    items->by_another |= !own;
    items->together |= ++items->under_way >= items->await;
    pthread_cond_broadcast(&items->changed);
    while (!items->together)
        pthread_cond_wait(&items->changed, &items->lock);
    items->under_way--;
    if (number == items->ends)
        items->stop = SIGINT;
    pthread_mutex_unlock(&items->lock);
    return number != items->fails || error_set(error, "item %zu", number);
}

static void look(void *context, bool failed) {
    struct items *items = context;
    assert_true(pthread_equal(pthread_self(), items->caller));
    items->looks++;
    items->seen_failed |= failed;
}

static struct items items_of(size_t count, uint32_t jobs) {
    return (struct items){.work = {.count = count, .jobs = jobs, .item = do_item},
                          .caller = pthread_self(),
                          .lock = PTHREAD_MUTEX_INITIALIZER,
                          .changed = PTHREAD_COND_INITIALIZER,
                          .fails = NONE,
                          .ends = NONE};
}

static bool run(struct items *items, struct error *error) {
    items->work.context = items;
    items->work.stop = &items->stop;
    const bool good = thread_pool_run(&items->work, error);
    assert_int_equal(items->under_way, 0);
    return good;
}

static void one_thread_is_the_callers_and_keeps_the_order(void **state) {
    (void)state;
    struct items items = items_of(ITEMS, 1);
    struct error error;
    assert_int_equal(thread_pool_size(&items.work), 1);
    assert_true(run(&items, &error));
    assert_int_equal(items.begun_count, ITEMS);
    for (size_t i = 0; i < ITEMS; i++)
        assert_int_equal(items.begun[i], i);
    assert_true(items.by_caller);
    assert_false(items.by_another);
}

/* No item ends before four have begun, which takes four threads, with the caller's if it does not
 * look on; and there are no more. */
static void as_many_as_jobs_are_done_at_once(void **state) {
    (void)state;
    struct error error;
    for (int looks = 0; looks < 2; looks++) {
        struct items items = items_of(ITEMS, THREADS);
        size_t count[ITEMS] = {0};
        items.await = THREADS;
        items.work.look = looks ? look : NULL;
        assert_true(run(&items, &error));
        assert_int_equal(items.begun_count, ITEMS);
        for (size_t i = 0; i < ITEMS; i++)
            count[items.begun[i]]++;
        for (size_t i = 0; i < ITEMS; i++)
            assert_int_equal(count[i], 1);
        assert_int_equal(items.most_thread, THREADS - 1);
        assert_true(items.by_another);
        assert_false(looks && items.by_caller);
        assert_int_equal(items.looks > 0, looks);
        assert_false(items.seen_failed);
    }
}

static void there_are_no_more_threads_than_items(void **state) {
    (void)state;
    struct error error;
    struct items items = items_of(2, ITEMS);
    items.work.look = look;
    assert_int_equal(thread_pool_size(&items.work), 2);
    assert_true(run(&items, &error));
    assert_int_equal(items.begun_count, 2);
    items = items_of(0, THREADS);
    assert_int_equal(thread_pool_size(&items.work), 0);
    assert_true(run(&items, &error));
    assert_int_equal(items.begun_count, 0);
}

static void nothing_is_begun_after_an_error(void **state) {
    (void)state;
    struct error error;
    struct items items = items_of(ITEMS, 1);
    items.fails = 5;
    items.work.look = look;
    assert_false(run(&items, &error));
    assert_string_equal(error.message, "item 5");
    assert_int_equal(items.begun_count, 6);
    assert_true(items.seen_failed);
}

static void nothing_is_begun_after_a_stop(void **state) {
    (void)state;
    struct error error;
    struct items items = items_of(ITEMS, 1);
    items.ends = 7;
    assert_true(run(&items, &error));
    assert_int_equal(items.begun_count, 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread_is_the_callers_and_keeps_the_order),
        cmocka_unit_test(as_many_as_jobs_are_done_at_once),
        cmocka_unit_test(there_are_no_more_threads_than_items),
        cmocka_unit_test(nothing_is_begun_after_an_error),
        cmocka_unit_test(nothing_is_begun_after_a_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
