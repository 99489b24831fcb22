/* A file that takes the place of another. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

/* linkat() is refused, as some file systems and sandboxes do. Of this process from now on. */
static bool refuse_links(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_linkat, 0, 1),
        BPF_STMT(BPF_RET, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
           !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

enum { UNFILTERED = 77 }; /* this system has no such filters */

static int write_without_links(void) {
    struct new_file file;
    if (!refuse_links())
        return UNFILTERED;
    FILE *stream = new_file_find(&file, path, &error) ? new_file_open(&file) : NULL;
    if (!stream || fputs("new", stream) < 0 || !new_file_close(stream, true))
        return 1;
    return new_file_rename(&file) ? 0 : 2;
}

static void what_cannot_be_named_is_copied(void **state) {
    (void)state;
    struct stat made;
    int status;
    put(path, "old");
    assert_int_equal(chmod(path, 0640), 0);
    const pid_t child = fork();
    if (child == 0)
        _exit(write_without_links());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == UNFILTERED)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
    holds(path, "new");
    assert_int_equal(stat(path, &made), 0);
    assert_int_equal(made.st_mode & 07777, 0640);
    assert_int_equal(files_in(folder), 1);
    unlink(path);
}

/* The temporary name is no longer than the file system takes. */
static void the_longest_name_is_taken(void **state) {
    (void)state;
    char longest[TEMPORARY_BYTES + NAME_MAX + 2];
    struct new_file file;
    const int begin = snprintf(longest, sizeof longest, "%s/", folder);
    memset(longest + begin, 'a', NAME_MAX);
    longest[begin + NAME_MAX] = 0;
    assert_true(new_file_find(&file, longest, &error));
    FILE *stream = new_file_open(&file);
    assert_non_null(stream);
    fputs("new", stream);
    assert_true(new_file_close(stream, false));
    assert_true(new_file_rename(&file));
    holds(longest, "new");
    unlink(longest);
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
        cmocka_unit_test(what_cannot_be_named_is_copied),
        cmocka_unit_test(the_longest_name_is_taken),
        cmocka_unit_test(some_places_take_none),
        cmocka_unit_test(a_full_disk_is_told),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
