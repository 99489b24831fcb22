/* A live trace that is read from its beginning once more, while the program runs on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "temporary.h"
#include "unit/live_trace.h"

struct sum {
    uint64_t insns, accesses, hash;
    struct trace_exit exit;
};

static struct trace *start(void) {
    static const char *const COMMAND[] = {"gzip", "-1", "-c", "/bin/ls", "/nowhere", NULL};
    return live_trace(COMMAND);
}

/* Static instructions are numbered by first appearance; their addresses differ from run to run. */
static struct sum read_all(struct trace *trace) {
    struct sum sum = {0};
    struct error error = {0};
    struct trace_batch batch;
    int status;
    while ((status = trace_next(trace, &batch, &error)) > 0) {
        sum.insns += batch.insn_count;
        sum.accesses += batch.access_count;
        for (uint32_t i = 0; i < batch.insn_count; i++)
            sum.hash = sum.hash * 31 + batch.insns[i].insn;
    }
    if (status < 0)
        fail_msg("%s", error.message);
    sum.exit = trace_exit_status(trace);
    return sum;
}

static void check_again(unsigned batches) {
    char path[TEMPORARY_BYTES];
    struct error error = {0};
    struct trace_batch batch;
    close(mkstemp(temporary_name(path, "trace-again")));
    struct trace *plain = start();
    struct sum expected = read_all(plain);
    assert_true(expected.exit.known && expected.exit.status == 1);

    struct trace *trace = start();
    assert_true(trace_keep(trace, path, &error));
    for (unsigned i = 0; i < batches && trace_next(trace, &batch, &error) > 0; i++)
        continue;
    trace = trace_again(trace, path, &error);
    if (!trace)
        fail_msg("%s", error.message);
    struct sum sum = read_all(trace);
    assert_int_equal(sum.insns, expected.insns);
    assert_int_equal(sum.accesses, expected.accesses);
    assert_int_equal(sum.hash, expected.hash);
    assert_memory_equal(&sum.exit, &expected.exit, sizeof sum.exit);
    assert_string_equal(trace_command(trace), trace_command(plain));
    assert_int_equal(trace_process_count(trace), trace_process_count(plain));
    assert_false(trace_is_cut(trace));
    trace_close(trace);
    trace_close(plain);
    unlink(path);
}

static void from_the_first_batch(void **state) {
    (void)state;
    check_again(1);
}
static void from_the_middle(void **state) {
    (void)state;
    check_again(30);
}
static void from_the_end(void **state) {
    (void)state;
    check_again(1000000);
}

static void a_file_that_cannot_be_written_is_named(void **state) {
    struct error error = {0};
    struct trace *trace = start();
    (void)state;
    assert_false(trace_keep(trace, "/nowhere/kept", &error) &&
                 (trace = trace_again(trace, "/nowhere/kept", &error)));
    assert_non_null(strstr(error.message, "/nowhere/kept"));
    trace_close(trace);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_the_first_batch),
        cmocka_unit_test(from_the_middle),
        cmocka_unit_test(from_the_end),
        cmocka_unit_test(a_file_that_cannot_be_written_is_named),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
