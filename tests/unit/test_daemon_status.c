/* What a daemon tells of itself arrives as it was told; what is no answer is refused. */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "live/daemon_status.h"

static char folder[] = "/tmp/culprit-status-XXXXXX", path[64];

static int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/socket", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static const struct daemon_status TOLD = {.pid = 42,
                                          .store = "/a \"quoted\" file.db",
                                          .sampling = "cpu-clock",
                                          .processors = 2,
                                          .uptime = 12.5,
                                          .budget = 0.01,
                                          .cost = 0.009,
                                          .interrupt_seconds = 2e-6,
                                          .epoch = 3,
                                          .unwritten = 17,
                                          .samples = UINT64_C(1) << 40,
                                          .last_merge = -1,
                                          .problem = "disk full",
                                          .program_seconds = -1,
                                          .resident_bytes = 4096};

static void *answer_once(void *listener) {
    struct pollfd wait = {.fd = *(int *)listener, .events = POLLIN};
    poll(&wait, 1, 5000);
    daemon_status_answer(*(int *)listener, &TOLD);
    return NULL;
}

static void what_is_told_arrives(void **state) {
    (void)state;
    struct error error = {0};
    struct daemon_status status;
    pthread_t thread;
    int listener = daemon_status_listen(path, &error);
    assert_true(listener >= 0);
    assert_int_equal(pthread_create(&thread, NULL, answer_once, &listener), 0);
    char *answer = daemon_status_ask(path, &error);
    pthread_join(thread, NULL);
    close(listener);
    assert_non_null(answer);
    assert_true(daemon_status_read(answer, &status, &error));
    free(answer);
    assert_memory_equal(&status, &TOLD, sizeof status);
}

static void who_does_not_read_holds_nobody_up(void **state) {
    (void)state;
    struct error error = {0};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int listener = daemon_status_listen(path, &error), silent = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(connect(silent, (struct sockaddr *)&address, sizeof address), 0);
    daemon_status_answer(listener, &TOLD);
    daemon_status_answer(listener, &TOLD); /* nobody has asked */
    close(silent);
    close(listener);
}

static void without_a_daemon_the_error_says_how_to_start_one(void **state) {
    (void)state;
    struct error error = {0};
    unlink(path);
    assert_null(daemon_status_ask(path, &error));
    assert_non_null(strstr(error.message, "culprit daemon"));
}

static void what_is_no_answer_is_refused(void **state) {
    (void)state;
    static const char *const answers[] = {
        "", "{}", "[]", "{\"pid\": \"42\"}", "{\"pid\": 42}", "\xff\xfe", "{\"pid\": 42"};
    struct daemon_status status;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct error error = {0};
        assert_false(daemon_status_read(answers[i], &status, &error));
        assert_non_null(strstr(error.message, "not understood"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_told_arrives),
        cmocka_unit_test(who_does_not_read_holds_nobody_up),
        cmocka_unit_test(without_a_daemon_the_error_says_how_to_start_one),
        cmocka_unit_test(what_is_no_answer_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
