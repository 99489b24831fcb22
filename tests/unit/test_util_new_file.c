/* A file that takes the place of another. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "temporary.h"
#include "util/at_kill.h"
#include "util/new_file.h"

static char folder[TEMPORARY_BYTES], path[TEMPORARY_BYTES + 16], name[TEMPORARY_BYTES + 16];
static struct error error;

static void put(const char *file, const char *text) {
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
}

static void holds(const char *file, const char *text) {
    char found[32] = "";
    FILE *stream = fopen(file, "r");
    assert_non_null(stream);
    assert_non_null(fgets(found, sizeof found, stream));
    fclose(stream);
    assert_string_equal(found, text);
}

/* A link stays one, and the file keeps its permissions; until the end it is the old one. */
static void it_takes_the_place_of_what_a_link_names(void **state) {
    (void)state;
    struct new_file file;
    struct stat status;
    put(path, "old");
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink(path, name), 0);
    assert_true(new_file_find(&file, name, &error));
    assert_true(file.exists && !file.special);
    FILE *stream = new_file_open(&file);
    assert_non_null(stream);
    fputs("new", stream);
    assert_true(new_file_close(stream, true));
    holds(name, "old");
    assert_true(new_file_rename(&file));
    new_file_discard(&file);
    holds(path, "new");
    assert_int_equal(lstat(name, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
    unlink(name);
    unlink(path);
}

static void what_is_discarded_leaves_nothing(void **state) {
    (void)state;
    struct new_file file;
    assert_true(new_file_find(&file, path, &error));
    assert_false(file.exists);
    FILE *stream = new_file_open(&file);
    assert_non_null(stream);
    assert_true(new_file_name(&file));
    assert_int_equal(access(file.temporary, F_OK), 0);
    assert_true(new_file_close(stream, false));
    char temporary[sizeof file.temporary];
    strcpy(temporary, file.temporary);
    new_file_discard(&file);
    assert_int_equal(access(temporary, F_OK), -1);
    assert_int_equal(access(path, F_OK), -1);
}

/* A signal ends culprit while it is written, and another when it is complete. */
static void what_is_not_complete_goes_with_culprit(void **state) {
    (void)state;
    struct new_file file;
    assert_true(new_file_find(&file, path, &error));
    FILE *stream = new_file_open(&file);
    assert_non_null(stream);
    assert_true(new_file_name(&file));
    assert_int_equal(access(file.temporary, F_OK), 0);
    at_kill_act();
    assert_int_equal(access(file.temporary, F_OK), -1);
    fclose(stream);
    new_file_discard(&file);
    stream = new_file_open(&file);
    assert_non_null(stream);
    fputs("new", stream);
    assert_true(new_file_close(stream, false));
    assert_true(new_file_rename(&file));
    at_kill_act();
    holds(path, "new");
    unlink(path);
}

static size_t files_in(const char *of) {
    struct dirent **entries;
    const int count = scandir(of, &entries, NULL, NULL);
    assert_true(count >= 2);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return (size_t)count - 2; /* without . and .. */
}

/* A kill that no process can catch, while it is written. */
static void nothing_is_left_of_a_killed_process(void **state) {
    (void)state;
    const int probe = open(folder, O_TMPFILE | O_WRONLY, 0600);
    if (probe < 0)
        skip();
    close(probe);
    int status;
    const pid_t child = fork();
    if (child == 0) {
        struct new_file file;
        if (new_file_find(&file, path, &error) && new_file_open(&file))
            raise(SIGKILL);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(files_in(folder), 0);
}

static void some_places_take_none(void **state) {
    (void)state;
    struct new_file file;
    assert_true(new_file_find(&file, "/dev/null", &error));
    assert_true(file.special);
    assert_true(new_file_find(&file, "/nowhere/new", &error));
    assert_null(new_file_open(&file));
    assert_int_equal(errno, ENOENT);
    assert_string_equal(file.temporary, "");
    char *far = malloc(PATH_MAX + 1);
    memset(far, 'a', PATH_MAX);
    far[PATH_MAX] = 0;
    assert_false(new_file_find(&file, far, &error));
    assert_string_equal(error.message, "the name is too long");
    free(far);
}

/* What was not written is told when the stream is closed. */
static void a_full_disk_is_told(void **state) {
    (void)state;
    FILE *stream = fopen("/dev/full", "w");
    assert_non_null(stream);
    fputs("lost", stream);
    assert_false(new_file_close(stream, false));
    assert_int_equal(errno, ENOSPC);
}

int main(void) {
    if (!mkdtemp(temporary_name(folder, "new-file")))
        return 1;
    snprintf(path, sizeof path, "%s/file", folder);
    snprintf(name, sizeof name, "%s/link", folder);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_takes_the_place_of_what_a_link_names),
        cmocka_unit_test(what_is_discarded_leaves_nothing),
        cmocka_unit_test(what_is_not_complete_goes_with_culprit),
        cmocka_unit_test(nothing_is_left_of_a_killed_process),
        cmocka_unit_test(some_places_take_none),
        cmocka_unit_test(a_full_disk_is_told),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
