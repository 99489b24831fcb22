/* What has still to be done when a signal ends culprit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "util/at_kill.h"

static int done[AT_KILL_PLACES + 1];
static int *const ITEMS[] = {&done[0], &done[1], &done[2]};

static void note(const void *context) {
    ++**(int *const *)context;
}

static void what_was_added_and_not_removed_is_done(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++)
        at_kill_add(note, &ITEMS[i]);
    at_kill_remove(&ITEMS[1]);
    at_kill_remove(&done[5]);
    at_kill_act();
    assert_int_equal(done[0], 1);
    assert_int_equal(done[1], 0);
    assert_int_equal(done[2], 1);
    at_kill_remove(&ITEMS[0]);
    at_kill_remove(&ITEMS[2]);
    at_kill_act();
    assert_int_equal(done[0] + done[2], 2);
}

static void a_forked_process_does_its_own(void **state) {
    (void)state;
    int status;
    done[0] = done[1] = 0;
    at_kill_add(note, &ITEMS[0]);
    const pid_t child = fork();
    if (child == 0) {
        at_kill_add(note, &ITEMS[1]);
        at_kill_act();
        _exit(10 * done[0] + done[1]);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    at_kill_remove(&ITEMS[0]);
}

static void more_than_there_is_room_for_are_left_out(void **state) {
    (void)state;
    static int *items[AT_KILL_PLACES + 1];
    for (int i = 0; i <= AT_KILL_PLACES; i++) {
        done[i] = 0;
        items[i] = &done[i];
        at_kill_add(note, &items[i]);
    }
    at_kill_act();
    assert_int_equal(done[AT_KILL_PLACES - 1], 1);
    assert_int_equal(done[AT_KILL_PLACES], 0);
    for (int i = 0; i <= AT_KILL_PLACES; i++)
        at_kill_remove(&items[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_added_and_not_removed_is_done),
        cmocka_unit_test(a_forked_process_does_its_own),
        cmocka_unit_test(more_than_there_is_room_for_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
