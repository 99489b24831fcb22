/* Routines that threads synchronise with, by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "program/lock_routines.h"

/* "acquire mutex shared may-fail"; "" for none. */
static void describe(const char *symbol, char *text, size_t size) {
    static const char *const ACTIONS[LOCK_ACTIONS] = {
        "", "acquire", "release", "wait", "signal", "broadcast", "meet", "join", "sleep"};
    static const char *const OBJECTS[LOCK_OBJECTS] = {
        "", "mutex", "spin lock", "read-write lock", "condition", "barrier", "semaphore", "thread"};
    struct lock_routine routine = lock_routine_of(symbol);
    snprintf(text, size, "%s%s%s%s%s", ACTIONS[routine.action],
             routine.action && routine.object ? " " : "", OBJECTS[routine.object],
             routine.shared ? " shared" : "", routine.may_fail ? " may-fail" : "");
}

static void test_names(void **state) {
    static const struct {
        const char *symbol, *expected;
    } CASES[] = {
        {"pthread_mutex_lock", "acquire mutex"},
        {"__pthread_mutex_lock", "acquire mutex"},
        {"___pthread_mutex_lock", "acquire mutex"},
        {"__GI___pthread_mutex_lock", "acquire mutex"},
        {"pthread_mutex_lock@@GLIBC_2.2.5", "acquire mutex"},
        {"pthread_mutex_lock@GLIBC_2.27", "acquire mutex"},
        {"pthread_mutex_lock@plt", ""},
        {"pthread_mutex_locks", ""},
        {"pthread_mutex_loc", ""},
        {"my_pthread_mutex_lock", ""},
        {"pthread_mutex_init", ""},
        {"main", ""},
        {"", ""},
        {"____", ""},
        {"pthread_mutex_trylock", "acquire mutex may-fail"},
        {"pthread_mutex_unlock", "release mutex"},
        {"pthread_rwlock_rdlock", "acquire read-write lock shared"},
        {"pthread_rwlock_timedwrlock", "acquire read-write lock may-fail"},
        {"pthread_cond_wait", "wait condition"},
        {"___pthread_cond_timedwait", "wait condition may-fail"},
        {"pthread_cond_signal", "signal condition"},
        {"pthread_cond_broadcast", "broadcast condition"},
        {"___pthread_barrier_wait", "meet barrier"},
        {"__new_sem_wait", "acquire semaphore"},
        {"sem_post@@GLIBC_2.34", "release semaphore"},
        {"pthread_spin_lock", "acquire spin lock"},
        {"pthread_join", "join thread"},
        {"mtx_lock", "acquire mutex"},
        {"__lll_lock_wait", "sleep mutex"},
        {"__lll_lock_wait_private", "sleep mutex"},
        {"__futex_abstimed_wait_cancelable64", "sleep may-fail"},
        {"std::sys::sync::mutex::futex::Mutex::lock_contended", "sleep mutex"},
        {"std::sys::unix::locks::futex_mutex::Mutex::lock_contended", "sleep mutex"},
        {"std::sys::sync::condvar::futex::Condvar::wait", "wait condition"},
        {"app::Mutex::lock_contended", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char text[64];
        describe(CASES[i].symbol, text, sizeof text);
        if (strcmp(text, CASES[i].expected) != 0)
            fail_msg("%s: \"%s\", not \"%s\"", CASES[i].symbol, text, CASES[i].expected);
    }
}

/* Under the names that glibc has for them. */
static void what_glibc_does_for_itself(void **state) {
    (void)state;
    static const char *const INTERNAL[] = {"pthread_create@@GLIBC_2.34",
                                           "__pthread_create_2_1",
                                           "start_thread",
                                           "_int_free",
                                           "__libc_malloc",
                                           "__malloc_arena_thread_freeres",
                                           "tcache_init.part.0",
                                           "detach_arena.part.0"};
    for (size_t i = 0; i < sizeof INTERNAL / sizeof *INTERNAL; i++)
        assert_true(lock_routine_is_internal(INTERNAL[i]));
    assert_false(lock_routine_is_internal("free@plt"));
    assert_false(lock_routine_is_internal("freed"));
    assert_false(lock_routine_is_internal("sem_post"));
}

/* And Go's run-time system: its memory, not its channels and its scheduler. */
static void what_go_does_for_itself(void **state) {
    (void)state;
    assert_true(lock_routine_is_internal("runtime.mallocgc"));
    assert_true(lock_routine_is_internal("runtime.(*mheap).allocSpan"));
    assert_true(lock_routine_is_internal("runtime.gcDrainN"));
    assert_false(lock_routine_is_internal("runtime.chansend"));
    assert_false(lock_routine_is_internal("runtime.runqput"));
    assert_false(lock_routine_is_internal("main.mallocgc"));
    assert_true(lock_routine_is_for_caller("runtime.lock2"));
    assert_true(lock_routine_is_for_caller("runtime.futexsleep"));
    assert_true(lock_routine_is_for_caller("__lll_lock_wait"));
    assert_false(lock_routine_is_for_caller("pthread_mutex_lock"));
    assert_false(lock_routine_is_for_caller("runtime.lock"));
    assert_true(lock_routine_is_monitor("runtime.sysmon"));
    assert_false(lock_routine_is_monitor("runtime.sysmonUpdate"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(what_glibc_does_for_itself),
        cmocka_unit_test(what_go_does_for_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
