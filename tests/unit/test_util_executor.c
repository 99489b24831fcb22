/* Jobs on a thread of their own: in order, all of them; who waits for one sees what it wrote. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "util/executor.h"

enum { JOBS = 1000 };

struct log {
    uint64_t seen[JOBS];
    uint64_t count;
    pthread_mutex_t gate; /* jobs run while it is free */
};

static void note(void *context, uint64_t argument) {
    struct log *log = context;
    pthread_mutex_lock(&log->gate);
    log->seen[log->count++] = argument;
    pthread_mutex_unlock(&log->gate);
}

static struct executor *start(struct log *log) {
    struct error error;
    struct executor *executor = executor_new("test", &error);
    assert_non_null(executor);
    pthread_mutex_init(&log->gate, NULL);
    return executor;
}

/* More than the queue holds: submitting waits for room, waiting for the one job. */
static void jobs_run_in_order(void **state) {
    (void)state;
    struct log log = {.count = 0};
    struct executor *executor = start(&log);
    for (uint64_t i = 0; i < JOBS; i++) {
        const uint64_t ticket = executor_submit(executor, note, &log, i);
        assert_int_equal(ticket, i + 1);
        if (i % 100 == 50) {
            executor_wait(executor, ticket - 20);
            executor_wait(executor, ticket);
            assert_int_equal(log.count, i + 1);
        }
    }
    executor_free(executor);
    assert_int_equal(log.count, JOBS);
    for (uint64_t i = 0; i < JOBS; i++)
        assert_int_equal(log.seen[i], i);
    pthread_mutex_destroy(&log.gate);
}

static void what_has_not_run_is_known(void **state) {
    (void)state;
    struct log log = {.count = 0};
    struct executor *executor = start(&log);
    const uint64_t first = executor_submit(executor, note, &log, 1);
    executor_wait(executor, first);
    assert_true(executor_has_run(executor, first));
    pthread_mutex_lock(&log.gate);
    const uint64_t second = executor_submit(executor, note, &log, 2);
    assert_false(executor_has_run(executor, second));
    pthread_mutex_unlock(&log.gate);
    executor_wait(executor, second);
    assert_true(executor_has_run(executor, second));
    executor_free(executor);
    pthread_mutex_destroy(&log.gate);
}

struct waiter {
    struct executor *executor;
    uint64_t ticket;
};

static void *wait_for(void *context) {
    const struct waiter *waiter = context;
    executor_wait(waiter->executor, waiter->ticket);
    return NULL;
}

/* The later ticket is waited for first, then the earlier one: both waiters are woken. */
static void several_wait(void **state) {
    (void)state;
    struct log log = {.count = 0};
    struct executor *executor = start(&log);
    struct waiter waiters[4];
    pthread_t threads[4];
    pthread_mutex_lock(&log.gate);
    for (unsigned i = 0; i < 8; i++)
        executor_submit(executor, note, &log, i);
    for (unsigned i = 0; i < 4; i++) {
        waiters[i] = (struct waiter){executor, 8 - 2 * i};
        assert_int_equal(pthread_create(&threads[i], NULL, wait_for, &waiters[i]), 0);
    }
    pthread_mutex_unlock(&log.gate);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_true(executor_has_run(executor, 8));
    executor_free(executor);
    pthread_mutex_destroy(&log.gate);
}

/* ---- signals ---- */

static volatile sig_atomic_t pipes_broken;

static void note_pipe(int signal) {
    (void)signal;
    pipes_broken++;
}

struct written {
    int fd, failure;
    sigset_t blocked;
};

static void write_there(void *context, uint64_t argument) {
    struct written *written = context;
    (void)argument;
    pthread_sigmask(SIG_BLOCK, NULL, &written->blocked);
    written->failure = write(written->fd, "x", 1) < 0 ? errno : 0;
}

/* What asks the process to end is for others. A pipe that nobody reads is told of where it is
 * written to. */
static void signals_are_for_others(void **state) {
    (void)state;
    struct error error;
    struct executor *executor = executor_new("test", &error);
    const struct sigaction action = {.sa_handler = note_pipe};
    struct sigaction before;
    int ends[2];
    assert_non_null(executor);
    assert_int_equal(sigaction(SIGPIPE, &action, &before), 0);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    struct written written = {.fd = ends[1]};
    executor_wait(executor, executor_submit(executor, write_there, &written, 0));
    assert_int_equal(written.failure, EPIPE);
    assert_int_equal(pipes_broken, 1);
    assert_true(sigismember(&written.blocked, SIGINT));
    assert_true(sigismember(&written.blocked, SIGTERM));
    executor_free(executor);
    sigaction(SIGPIPE, &before, NULL);
    close(ends[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_run_in_order),
        cmocka_unit_test(what_has_not_run_is_known),
        cmocka_unit_test(several_wait),
        cmocka_unit_test(signals_are_for_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
