/* Traces in files: from another tool's into ours and back, and when they are read once more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "study/captured_file.h"
#include "temporary.h"
#include "unit/straight_trace.h"

static char folder[TEMPORARY_BYTES];
static char theirs[TEMPORARY_BYTES + 32], ours[TEMPORARY_BYTES + 32], back[TEMPORARY_BYTES + 32];

static int make_files(void **state) {
    (void)state;
    if (!mkdtemp(temporary_name(folder, "captured")))
        return -1;
    snprintf(theirs, sizeof theirs, "%s/theirs.champsimtrace", folder);
    snprintf(ours, sizeof ours, "%s/ours.ctrace", folder);
    snprintf(back, sizeof back, "%s/back.champsimtrace", folder);
    return straight_trace_write(theirs) ? 0 : -1;
}

static int remove_files(void **state) {
    (void)state;
    unlink(theirs);
    unlink(ours);
    unlink(back);
    return rmdir(folder);
}

struct seen {
    struct watch watch;
    unsigned steps; /* that showed how far they are */
    const char *label;
    int signal; /* sent in the first of them; 0: none */
};

static void observe(void *context, const struct progress *progress) {
    struct seen *seen = context;
    seen->steps += !seen->label || strcmp(seen->label, progress->label) != 0;
    seen->label = progress->label;
    if (seen->signal)
        watch_interrupt(&seen->watch, seen->signal);
}

static struct captured_file import(struct seen *seen, const struct input_options *input,
                                   const char *from, const char *path) {
    seen->watch.observe = observe;
    seen->watch.context = seen;
    return (struct captured_file){
        .watch = &seen->watch, .input = input, .import = from, .path = path};
}

static void what_was_written_is_read_once_more(void **state) {
    (void)state;
    struct seen seen = {0};
    struct error error = {0};
    const struct input_options input = {.thread = -1};
    struct captured_file file = import(&seen, &input, theirs, ours);
    int status = 0;
    if (!captured_file_go(&file, &status, &error))
        fail_msg("%s", error.message);
    assert_int_equal(file.result.instructions, STRAIGHT_INSNS);
    assert_int_equal(file.result.threads, 1);
    assert_string_equal(seen.label, "checking");
    assert_int_equal(status, 0);
}

static void nothing_is_read_again_that_need_not_be(void **state) {
    (void)state;
    struct seen seen = {0};
    struct error error = {0};
    const struct input_options input = {.thread = -1};
    struct captured_file file = import(&seen, &input, theirs, ours);
    file.no_check = true;
    int status = 0;
    assert_true(captured_file_go(&file, &status, &error));
    assert_true(!seen.label || strcmp(seen.label, "checking") != 0);
}

/* All of a record that is told of an instruction comes back. */
static void into_their_format_and_back(void **state) {
    (void)state;
    struct seen seen = {0};
    struct error error = {0};
    const struct input_options input = {.thread = -1};
    struct captured_file file = import(&seen, &input, ours, back);
    file.champsim = true;
    file.no_check = true;
    int status = 0;
    if (!captured_file_go(&file, &status, &error))
        fail_msg("%s", error.message);
    assert_int_equal(file.lost.records, STRAIGHT_INSNS);
    assert_int_equal(file.lost.others, 0);
    struct stat written;
    assert_int_equal(stat(back, &written), 0);
    assert_int_equal(written.st_size, STRAIGHT_INSNS * STRAIGHT_RECORD_BYTES);
}

/* The signal was there before anything was read: not an instruction is in the file. */
static void an_interrupt_before_the_first_instruction_is_an_error(void **state) {
    (void)state;
    struct seen seen = {.watch = {.signal = SIGINT}};
    struct error error = {0};
    const struct input_options input = {.thread = -1};
    struct captured_file file = import(&seen, &input, theirs, ours);
    int status = 0;
    assert_false(captured_file_go(&file, &status, &error));
    assert_string_equal(error.message, "no instruction was captured before the interrupt");
}

static void a_file_that_is_not_there_is_an_error(void **state) {
    (void)state;
    struct seen seen = {0};
    struct error error = {0};
    const struct input_options input = {.thread = -1};
    struct captured_file file = import(&seen, &input, "/nowhere/a.ctrace", ours);
    int status = 0;
    assert_false(captured_file_go(&file, &status, &error));
    assert_non_null(strstr(error.message, "/nowhere/a.ctrace"));
    assert_int_equal(file.result.instructions, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read_once_more),
        cmocka_unit_test(nothing_is_read_again_that_need_not_be),
        cmocka_unit_test(into_their_format_and_back),
        cmocka_unit_test(an_interrupt_before_the_first_instruction_is_an_error),
        cmocka_unit_test(a_file_that_is_not_there_is_an_error)};
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
