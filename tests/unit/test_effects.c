/* Programs that change the world, and programs that do not, as a live capture tells them apart; and
 * that a harmless run does no harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/trace.h"

static char folder[] = "culprit-effects-XXXXXX"; /* below the current one: not a temporary folder */

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    char command[PATH_MAX];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static const char *inside(const char *name) {
    static char paths[4][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return path;
}

static void make_file(const char *path) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 1000; i++)
        fprintf(file, "line %d\n", i * 7919 % 1000);
    fclose(file);
}

struct outcome {
    char what[256]; /* empty: no effect */
    uint64_t position, instructions;
    struct trace_exit exit;
};

static struct outcome run(bool harmless, const char *const *command) {
    struct outcome outcome = {0};
    struct error error = {0};
    int null = open("/dev/null", O_RDWR), status;
    struct capture_options options = {.command = (char *const *)command,
                                      .thread = -1,
                                      .watch_effects = true,
                                      .harmless = harmless,
                                      .descriptors = {null, null, null}};
    struct trace *trace = trace_capture(&options, &status, &error);
    if (!trace)
        fail_msg("%s", error.message);
    struct trace_batch batch;
    int got;
    while ((got = trace_next(trace, &batch, &error)) > 0)
        if (batch.process == 0)
            outcome.instructions += batch.insn_count;
    assert_int_equal(got, 0);
    const struct trace_effect *effect = trace_effect(trace);
    if (effect) {
        snprintf(outcome.what, sizeof outcome.what, "%s", effect->what);
        outcome.position = effect->position;
    }
    outcome.exit = trace_exit_status(trace);
    trace_close(trace);
    close(null);
    return outcome;
}
#define RUN(...)          run(false, (const char *const[]){__VA_ARGS__, NULL})
#define RUN_HARMLESS(...) run(true, (const char *const[]){__VA_ARGS__, NULL})

static void readers_change_nothing(void **state) {
    (void)state;
    make_file(inside("a"));
    assert_string_equal(RUN("true").what, "");
    assert_string_equal(RUN("cat", inside("a")).what, "");
    assert_string_equal(RUN("ls", "-l", "/").what, "");
    assert_string_equal(RUN("gzip", "-c", inside("a")).what, "");
    assert_string_equal(RUN("cp", inside("a"), "/dev/null").what, "");
}

/* sort writes temporary files, and deletes them, when its buffer is small. */
static void own_temporary_files_are_nobodys_loss(void **state) {
    (void)state;
    make_file(inside("a"));
    assert_string_equal(RUN("sort", "-T", "/tmp", "--parallel=1", "-S", "1k", inside("a")).what,
                        "");
}

static void writers_change_files(void **state) {
    char expected[PATH_MAX];
    (void)state;
    make_file(inside("a"));
    snprintf(expected, sizeof expected, "writing %s", inside("b"));
    assert_string_equal(RUN("cp", inside("a"), inside("b")).what, expected);
    snprintf(expected, sizeof expected, "deleting %s", inside("b"));
    assert_string_equal(RUN("rm", "-f", inside("b")).what, expected);
    snprintf(expected, sizeof expected, "making %s", inside("c"));
    assert_string_equal(RUN("mkdir", inside("c")).what, expected);
    snprintf(expected, sizeof expected, "writing %s.gz", inside("a"));
    assert_string_equal(RUN("gzip", "-k", inside("a")).what, expected);
}

static void timers_do_not_repeat(void **state) {
    (void)state;
    const char *timers = inside("timers");
    char command[PATH_MAX + 100];
    snprintf(command, sizeof command, "cc -O1 -static -o %s tests/guests/timers.c", timers);
    assert_int_equal(system(command), 0);
    assert_string_equal(RUN(timers, "alarm", "0", "100").what, "setting a timer");
    assert_string_equal(RUN(timers, "alarm", "0").what, "");
    assert_string_equal(RUN(timers, "profile", "100").what, "setting a timer");
    assert_string_equal(RUN(timers, "profile", "0").what, "");
}

static void others_are_not_started(void **state) {
    (void)state;
    assert_string_equal(RUN("sh", "-c", "/bin/true; /bin/true").what, "starting another process");
}

/* exec continues the same process: its next program is watched like the first. The rights of
 * another user would not survive the emulator, so such a program runs without it. */
static void exec_is_watched_where_it_can_be_followed(void **state) {
    char expected[PATH_MAX], command[3 * PATH_MAX];
    (void)state;
    assert_string_equal(RUN("env", "true").what, "");
    make_file(inside("a"));
    snprintf(expected, sizeof expected, "deleting %s", inside("a"));
    assert_string_equal(RUN("env", "rm", "-f", inside("a")).what, expected);
    const char *privileged = inside("privileged");
    snprintf(command, sizeof command, "cp /bin/true %s && chmod u+s %s", privileged, privileged);
    assert_int_equal(system(command), 0);
    snprintf(expected, sizeof expected, "starting %s", privileged);
    assert_string_equal(RUN("env", privileged).what, expected);
}

/* The position is that of the system call: what was executed before is all that a harmless run
 * executes. */
static void harmless_run_ends_before_the_effect(void **state) {
    (void)state;
    make_file(inside("a"));
    struct outcome outcome = RUN_HARMLESS("rm", "-f", inside("a"));
    assert_int_equal(access(inside("a"), F_OK), 0);
    assert_true(outcome.exit.signaled);
    assert_true(outcome.position > 1000);
    assert_int_equal(outcome.instructions, outcome.position);
    struct outcome free_run = RUN("rm", "-f", inside("a"));
    assert_int_equal(access(inside("a"), F_OK), -1);
    assert_int_equal(free_run.position, outcome.position);
    assert_true(free_run.instructions > free_run.position);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_change_nothing),
        cmocka_unit_test(own_temporary_files_are_nobodys_loss),
        cmocka_unit_test(writers_change_files),
        cmocka_unit_test(others_are_not_started),
        cmocka_unit_test(timers_do_not_repeat),
        cmocka_unit_test(exec_is_watched_where_it_can_be_followed),
        cmocka_unit_test(harmless_run_ends_before_the_effect),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
