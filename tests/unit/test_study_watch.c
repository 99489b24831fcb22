/* A watch: what a signal leaves in it, its progress, and its temporary files. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "study/study.h"

static void a_signal_is_taken_once(void **state) {
    (void)state;
    struct watch watch = {0};
    assert_int_equal(watch_take(&watch), 0);
    watch_interrupt(&watch, SIGTERM);
    assert_int_equal(watch.signal, SIGTERM);
    assert_int_equal(watch_take(&watch), SIGTERM);
    assert_int_equal(watch.signal, 0);
    assert_int_equal(watch_take(&watch), 0);
}

static void remember(void *context, const struct progress *progress) {
    *(uint64_t *)context = progress->done * 1000 + progress->total;
}

static void progress_is_observed_without_a_stream(void **state) {
    (void)state;
    uint64_t seen = 0;
    struct watch watch = {.observe = remember, .context = &seen};
    watch_begin(&watch, "counting", "sheep", 90);
    watch_progress(&watch, 7);
    assert_int_equal(seen, 7090);
    watch_progress_of(&watch, 8, 80);
    assert_int_equal(seen, 8080);
    const struct watcher watcher = watcher_of(&watch);
    watcher_tell(&watcher, 9);
    assert_int_equal(seen, 9080);
    watch_region_capture(&watch, &(const struct region_capture_progress){.instructions = 10});
    assert_int_equal(seen, 10080);
    watch_end(&watch);
}

static bool exists(const char *path) {
    struct stat status;
    return stat(path, &status) == 0;
}

static char *make_folder(struct temporaries *temporaries) {
    struct error error = {0};
    char path[4096], *folder = temporary_folder(temporaries, &error);
    if (!folder)
        fail_msg("%s", error.message);
    snprintf(path, sizeof path, "%s/inside", folder);
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    assert_true(exists(path));
    return folder;
}

/* More than there are places for: each is removed all the same. */
static void temporary_files_are_removed(void **state) {
    (void)state;
    static struct temporaries temporaries;
    char *folders[TEMPORARIES + 2];
    for (int i = 0; i < TEMPORARIES + 2; i++)
        folders[i] = make_folder(&temporaries);
    for (int i = 0; i < TEMPORARIES + 2; i++) {
        char *path = strdup(folders[i]);
        temporary_remove(&temporaries, folders[i]);
        assert_false(exists(path));
        free(path);
    }
    temporaries_free(&temporaries);
}

/* As a second signal does, which ends culprit. */
static void what_is_left_is_abandoned(void **state) {
    (void)state;
    struct temporaries temporaries = {.paths = {NULL}}, others = {.paths = {NULL}};
    struct error error = {0};
    char *folder = make_folder(&temporaries), *other = make_folder(&others);
    char *trace = temporary_trace(&temporaries, "--for", &error);
    assert_non_null(trace);
    temporary_abandon(&temporaries);
    assert_false(exists(folder));
    assert_true(exists(other));
    temporary_remove(&temporaries, folder);
    temporary_remove(&temporaries, trace);
    temporary_remove(&others, other);
    temporaries_free(&temporaries);
    temporaries_free(&others);
}

/* A trace has no name below the parent, and its room is free once it is closed. */
static void traces_have_no_names(void **state) {
    (void)state;
    struct temporaries temporaries = {.paths = {NULL}};
    struct error error = {0};
    struct stat status;
    char *path = temporary_trace(&temporaries, "--for", &error);
    assert_non_null(path);
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(write(file, "trace", 5), 5);
    close(file);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_nlink, 0);
    assert_int_equal(status.st_size, 5);
    char *copy = strdup(path);
    temporary_remove(&temporaries, path);
    assert_false(exists(copy));
    free(copy);
    temporaries_free(&temporaries);
}

/* What a process that was killed left behind is removed by the next one; what is in use is not. */
static void what_killed_ones_left_is_removed(void **state) {
    (void)state;
    struct temporaries mine = {.paths = {NULL}}, later = {.paths = {NULL}};
    char *own = make_folder(&mine), left[4096];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        struct temporaries temporaries = {.paths = {NULL}};
        const char *folder = make_folder(&temporaries);
        if (write(ends[1], folder, strlen(folder) + 1) < 0)
            _exit(1);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(read(ends[0], left, sizeof left) > 0);
    close(ends[0]);
    close(ends[1]);
    assert_true(exists(left));
    char *next = make_folder(&later);
    assert_false(exists(left));
    assert_true(exists(own));
    temporary_remove(&mine, own);
    temporary_remove(&later, next);
    temporaries_free(&mine);
    temporaries_free(&later);
}

/* Also of a file that is gone. */
static void errors_do_not_name_them(void **state) {
    (void)state;
    struct temporaries temporaries = {.paths = {NULL}};
    struct error error = {0};
    char expected[sizeof error.message], *folder = make_folder(&temporaries);
    error_set(&error, "region 3: %s/r3.ctrace: too short (%s)", folder, folder);
    temporary_remove(&temporaries, folder);
    temporary_unname(&temporaries, &error);
    snprintf(expected, sizeof expected,
             "region 3: a temporary file in %s: too short (a temporary file in %s)",
             temporary_parent(), temporary_parent());
    assert_string_equal(error.message, expected);
    temporaries_free(&temporaries);
}

/* Of one that is full another is named, and of nothing whose name only says so. */
static void another_folder_is_named_where_one_is_full(void **state) {
    (void)state;
    struct temporaries temporaries = {.paths = {NULL}};
    struct error error = {0};
    char expected[sizeof error.message], *folder = make_folder(&temporaries);
    errno = ENOSPC;
    error_errno(&error, "%s/r3.ctrace: cannot write", folder);
    error_prefix(&error, "region 3");
    temporary_unname(&temporaries, &error);
    snprintf(expected, sizeof expected,
             "region 3: a temporary file in %s: cannot write: %s (TMPDIR=FOLDER names another)",
             temporary_parent(), strerror(ENOSPC));
    assert_string_equal(error.message, expected);
    error_set(&error, "%s/r3.ctrace is not of %s", folder, strerror(ENOSPC));
    temporary_unname(&temporaries, &error);
    assert_null(strstr(error.message, "TMPDIR"));
    temporary_remove(&temporaries, folder);
    temporaries_free(&temporaries);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_is_taken_once),
        cmocka_unit_test(progress_is_observed_without_a_stream),
        cmocka_unit_test(temporary_files_are_removed),
        cmocka_unit_test(what_is_left_is_abandoned),
        cmocka_unit_test(traces_have_no_names),
        cmocka_unit_test(what_killed_ones_left_is_removed),
        cmocka_unit_test(errors_do_not_name_them),
        cmocka_unit_test(another_folder_is_named_where_one_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
