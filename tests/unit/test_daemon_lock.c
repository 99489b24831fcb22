/* The daemon's lock: one holder at a time, its number for all to read, and none left by the dead.
 */
#include <signal.h>
#include <sys/wait.h>

#include "live/daemon_lock.h"
#include "store_fixture.h"

static void one_at_a_time(void **state) {
    struct fixture *fixture = *state;
    char run[TEMPORARY_BYTES + 32];
    struct error error;
    snprintf(run, sizeof run, "%s/run", fixture->folder);
    setenv("CULPRIT_RUN", run, 1);
    assert_int_equal(daemon_lock_pid(&error), 0);
    int lock = daemon_lock_take(&error);
    assert_true(lock >= 0);
    assert_int_equal(daemon_lock_pid(&error), getpid());
    assert_int_equal(daemon_lock_take(&error), -1);
    assert_non_null(strstr(error.message, "a daemon runs already"));
    daemon_lock_release(lock);
    assert_int_equal(daemon_lock_pid(&error), 0);
    lock = daemon_lock_take(&error);
    assert_true(lock >= 0);
    daemon_lock_release(lock);
}

/* Killed, it leaves its number in the file, which then says nothing. */
static void killed(void **state) {
    struct fixture *fixture = *state;
    int ready[2];
    struct error error;
    setenv("CULPRIT_RUN", fixture->folder, 1);
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        if (daemon_lock_take(&error) >= 0 && write(ready[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(daemon_lock_pid(&error), child);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(daemon_lock_pid(&error), 0);
    int lock = daemon_lock_take(&error);
    assert_int_equal(daemon_lock_pid(&error), getpid());
    daemon_lock_release(lock);
    close(ready[0]);
    close(ready[1]);
}

static void no_folder(void **state) {
    (void)state;
    struct error error;
    setenv("CULPRIT_RUN", "/proc/none/run", 1);
    assert_int_equal(daemon_lock_take(&error), -1);
    assert_non_null(strstr(error.message, "cannot make the folder"));
    assert_int_equal(daemon_lock_pid(&error), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_at_a_time, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(killed, fixture_setup, fixture_teardown),
        cmocka_unit_test(no_folder)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
