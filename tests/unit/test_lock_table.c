/* Locks in simulated time: who has one, and who has it next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "simulate/lock_table.h"

static struct lock_table table;

static int end_table(void **state) {
    (void)state;
    lock_table_free(&table);
    return 0;
}

static void one_at_a_time(void **state) {
    (void)state;
    struct lock *lock = lock_table_at(&table, 0x1000);
    assert_true(lock_take(lock, 1, false));
    assert_false(lock_take(lock, 2, false));
    assert_true(lock_wait(lock, 2, false));
    assert_true(lock_wait(lock, 3, false));
    assert_int_equal(lock_release(lock, 1), 1); /* the first in line has it now */
    assert_int_equal(lock->waiters[0].thread, 2);
    lock_forget(lock, 1);
    assert_int_equal(lock->owner, 2);
    assert_int_equal(lock_release(lock, 2), 1);
    lock_forget(lock, 1);
    assert_int_equal(lock->owner, 3);
    assert_int_equal(lock_release(lock, 3), 0);
    assert_int_equal(lock->owner, LOCK_NOBODY);
}

static void again_by_its_owner(void **state) {
    (void)state;
    struct lock *lock = lock_table_at(&table, 0x1000);
    assert_true(lock_take(lock, 1, false));
    assert_true(lock_take(lock, 1, false));
    assert_true(lock_wait(lock, 2, false));
    assert_int_equal(lock_release(lock, 1), 0);
    assert_int_equal(lock->owner, 1);
    assert_int_equal(lock_release(lock, 1), 1);
    assert_int_equal(lock->owner, 2);
}

/* Readers together; a writer behind them, and readers behind that. */
static void readers(void **state) {
    (void)state;
    struct lock *lock = lock_table_at(&table, 0x1000);
    assert_true(lock_take(lock, 1, true));
    assert_true(lock_take(lock, 2, true));
    assert_false(lock_take(lock, 3, false));
    assert_true(lock_wait(lock, 3, false));
    assert_int_equal(lock_release(lock, 1), 0);
    assert_int_equal(lock_release(lock, 2), 1);
    lock_forget(lock, 1);
    assert_int_equal(lock->owner, 3);
    assert_true(lock_wait(lock, 4, true));
    assert_true(lock_wait(lock, 5, true));
    assert_true(lock_wait(lock, 6, false));
    assert_int_equal(lock_release(lock, 3), 2);
    lock_forget(lock, 2);
    assert_int_equal(lock->readers, 2);
    assert_int_equal(lock->waiters[0].thread, 6);
}

/* Given up without the next in line having it: whoever comes first has it. */
static void left_free(void **state) {
    (void)state;
    struct lock *lock = lock_table_at(&table, 0x1000);
    assert_true(lock_take(lock, 1, false));
    assert_true(lock_wait(lock, 2, false));
    lock_free(lock, 1);
    assert_true(lock_take(lock, 3, false));
    assert_int_equal(lock_release(lock, 3), 1);
    assert_int_equal(lock->owner, 2);
}

static void forced(void **state) {
    (void)state;
    struct lock *lock = lock_table_at(&table, 0x1000);
    assert_true(lock_take(lock, 1, false));
    assert_true(lock_wait(lock, 2, false));
    assert_true(lock_wait(lock, 3, false));
    lock_force(lock, 3);
    assert_int_equal(lock->owner, 3);
    assert_int_equal(lock->waiter_count, 1);
    assert_int_equal(lock->waiters[0].thread, 2);
    assert_int_equal(lock_release(lock, 1), 0); /* it has it no more */
    assert_int_equal(lock->owner, 3);
    assert_int_equal(lock_release(lock, 3), 1);
    assert_int_equal(lock->owner, 2);
}

static void by_address(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        struct lock *lock = lock_table_at(&table, 0x1000 + 64 * i);
        assert_non_null(lock);
        assert_int_equal(lock->address, 0x1000 + 64 * i);
    }
    assert_int_equal(table.count, 1000);
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(lock_table_find(&table, 0x1000 + 64 * i)->address, 0x1000 + 64 * i);
    assert_null(lock_table_find(&table, 0x1001));
    assert_int_equal(table.count, 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(one_at_a_time, end_table),
        cmocka_unit_test_teardown(again_by_its_owner, end_table),
        cmocka_unit_test_teardown(readers, end_table),
        cmocka_unit_test_teardown(left_free, end_table),
        cmocka_unit_test_teardown(forced, end_table),
        cmocka_unit_test_teardown(by_address, end_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
