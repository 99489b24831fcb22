/* Events of threads of programs that run: tests/guests/waits.c, for both instruction sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "temporary.h"
#include "trace/thread_event_list.h"
#include "trace/trace.h"

static char folder[TEMPORARY_BYTES];

static const char *file(const char *name) {
    static char paths[2][PATH_MAX];
    static int turn;
    char *path = paths[turn++ % 2];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static bool build(const char *compiler, const char *options, const char *source, const char *name) {
    char command[PATH_MAX];
    snprintf(command, sizeof command, "%s %s -pthread -O1 -o %s %s", compiler, options, file(name),
             source);
    return system(command) == 0;
}

static int build_guests(void **state) {
    (void)state;
    if (!mkdtemp(temporary_name(folder, "thread-capture")) ||
        !build("cc", "", "tests/guests/waits.c", "waits") ||
        !build("cc", "", "tests/guests/bare_loop.c -static -nostdlib -ffreestanding", "alone"))
        return -1;
    if (system("command -v riscv64-linux-gnu-gcc >/dev/null") == 0 &&
        !build("riscv64-linux-gnu-gcc", "-static", "tests/guests/waits.c", "waits-riscv64"))
        return -1;
    return 0;
}

static int remove_guests(void **state) {
    char command[PATH_MAX];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* Captures a guest; what it printed goes to `output`. */
static struct thread_event_list record(const struct capture_options *given, const char *name,
                                       char *output, size_t size) {
    char program[PATH_MAX];
    snprintf(program, sizeof program, "%s", file(name));
    char *const command[] = {program, NULL};
    struct capture_options options = *given;
    struct capture_result result;
    struct error error = {0};
    struct thread_event_list list = {.count = 0};
    int status = 0, out = open(file("output"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(out >= 0);
    options.command = command;
    options.descriptors[1] = out;
    if (!trace_record(&options, file("trace"), false, &(const struct watcher){0}, &result, &status,
                      &error) ||
        !thread_events_read(file("trace"), &list, &error))
        fail_msg("%s", error.message);
    ssize_t n = pread(out, output, size - 1, 0);
    output[n > 0 ? n : 0] = 0;
    close(out);
    return list;
}

static const struct capture_options ALL = {.addresses = true, .thread = -1};

static uint32_t events_of(const struct thread_event_list *list, uint32_t thread) {
    return (uint32_t)(list->first[thread + 1] - list->first[thread]);
}

/* The only event of a thread that the condition on `event` holds for. */
#define only_event(list, thread, ...)                                                              \
    ({                                                                                             \
        const struct thread_event *found_ = NULL;                                                  \
        for (uint32_t i_ = 0; i_ < events_of(list, thread); i_++) {                                \
            const struct thread_event *event = thread_event_at(list, thread, i_);                  \
            if (!(__VA_ARGS__))                                                                    \
                continue;                                                                          \
            assert_null(found_);                                                                   \
            found_ = event;                                                                        \
        }                                                                                          \
        assert_non_null(found_);                                                                   \
        found_;                                                                                    \
    })

static bool overlap(const struct thread_event *one, const struct thread_event *other) {
    return one->entry < other->exit && other->entry < one->exit;
}

/* Each batch has the events of its instructions, and a thread alone has its own. */
static void assert_batches(const struct thread_event_list *list, int only) {
    struct error error;
    struct trace_batch batch;
    struct trace *trace = trace_open(file("trace"), &error);
    size_t seen = 0;
    int status;
    assert_non_null(trace);
    if (only >= 0)
        trace_only(trace, (uint32_t)only);
    while ((status = trace_next(trace, &batch, &error)) > 0)
        for (uint32_t i = 0; i < batch.event_count; i++, seen++) {
            const struct thread_event *event = &batch.events[i];
            const struct thread_event *listed = thread_event_at(list, batch.thread, event->number);
            uint64_t at = event->position - 1 - batch.first_insn;
            assert_true(at < batch.insn_count && batch.insns[at].flags & DYN_SYSCALL);
            assert_memory_equal(event, listed, sizeof *event);
        }
    assert_int_equal(status, 0);
    assert_int_equal(seen, only < 0 ? list->count : events_of(list, (uint32_t)only));
    trace_close(trace);
}

static void check_waits(const char *name) {
    char output[256];
    unsigned long first, second, never;
    struct thread_event_list list = record(&ALL, name, output, sizeof output);
    assert_int_equal(sscanf(output, "%lx %lx %lx", &first, &second, &never), 3);
    assert_int_equal(list.thread_count, 5);
    assert_int_equal(list.threads[0].creator, THREAD_EVENT_NO_THREAD);
    for (uint32_t i = 1; i < 5; i++) {
        assert_int_equal(list.threads[i].creator, 0);
        const struct thread_event *create =
            thread_event_at(&list, 0, list.threads[i].creator_event);
        assert_int_equal(create->kind, THREAD_EVENT_CREATE);
        assert_int_equal(create->other, i);
        assert_true(create->exit < thread_event_at(&list, i, 0)->entry);
        const struct thread_event *end = thread_event_at(&list, i, events_of(&list, i) - 1);
        assert_int_equal(end->kind, THREAD_EVENT_EXIT);
        assert_int_not_equal(end->address, 0);
    }
    const struct thread_event *timed = only_event(&list, 1, event->result == -ETIMEDOUT);
    assert_int_equal(timed->address, never);
    assert_int_equal(timed->asked_ns, 3000000);
    assert_true(timed->duration_ns >= 3000000);
    const struct thread_event *differs = only_event(&list, 1, event->result == -EAGAIN);
    assert_int_equal(differs->value, 1);
    assert_int_equal(differs->asked_ns, THREAD_EVENT_FOREVER);
    const struct thread_event *sleep = only_event(&list, 1, event->cause == THREAD_CAUSE_TIME);
    assert_int_equal(sleep->kind, THREAD_EVENT_BLOCK);
    assert_int_equal(sleep->asked_ns, 2000000);
    const struct thread_event *brief = only_event(&list, 1, event->cause == THREAD_CAUSE_EVENT);
    assert_int_equal(brief->kind, THREAD_EVENT_BLOCK);
    assert_int_equal(brief->asked_ns, 1000);
    assert_int_equal(brief->result, 0);
    only_event(&list, 1, event->kind == THREAD_EVENT_YIELD);

    const struct thread_event *wait[3];
    for (uint32_t i = 0; i < 3; i++)
        wait[i] = only_event(&list, i + 2, event->kind == THREAD_EVENT_WAIT && !event->result);
    const struct thread_event *wake = only_event(&list, 0,
                                                 event->operation == FUTEX_OP_WAKE &&
                                                     event->address == first && event->result == 1);
    assert_true(overlap(wait[0], wake));
    assert_false(overlap(wait[1], wake));
    wake = only_event(&list, 0, event->operation == FUTEX_OP_WAKE_BITSET && event->result == 1);
    assert_true(overlap(wait[1], wake));
    assert_int_equal(wake->bitset, 12);
    assert_int_equal(wait[1]->bitset, 4);
    wake = only_event(&list, 0, event->operation == FUTEX_OP_CMP_REQUEUE && event->result == 1);
    assert_int_equal(wake->address2, second);
    assert_int_equal(wake->value2, 1);
    assert_true(overlap(wait[2], wake));
    wake = only_event(&list, 0, event->address == second && event->result == 1);
    assert_true(overlap(wait[2], wake));
    only_event(&list, 0, event->kind == THREAD_EVENT_EXIT_PROCESS);
    assert_batches(&list, -1);
    for (int i = 0; i < 5; i++)
        assert_batches(&list, i);
    thread_events_free(&list);
}

static void all_kinds_of_waits_are_told(void **state) {
    (void)state;
    check_waits("waits");
}

static void and_of_riscv64_programs(void **state) {
    (void)state;
    if (access(file("waits-riscv64"), X_OK) != 0) {
        print_message("no riscv64-linux-gnu-gcc\n");
        skip();
    }
    check_waits("waits-riscv64");
}

static void a_thread_captured_alone_has_its_events(void **state) {
    (void)state;
    char output[256];
    struct capture_options options = ALL;
    options.thread = 2;
    struct thread_event_list list = record(&options, "waits", output, sizeof output);
    assert_int_equal(list.thread_count, 1);
    only_event(&list, 0, event->kind == THREAD_EVENT_WAIT && !event->result);
    only_event(&list, 0, event->kind == THREAD_EVENT_EXIT);
    assert_batches(&list, -1);
    thread_events_free(&list);
}

/* What comes after the limit is not told of. */
static void events_end_with_the_capture(void **state) {
    (void)state;
    char output[256];
    struct thread_event_list whole = record(&ALL, "waits", output, sizeof output);
    struct capture_options options = ALL;
    options.limit = thread_event_at(&whole, 0, 0)->position + 1000;
    struct thread_event_list list = record(&options, "waits", output, sizeof output);
    assert_true(list.count > 0 && list.count < whole.count);
    for (size_t i = 0; i < list.count; i++)
        assert_true(list.events[i].position <= options.limit);
    thread_events_free(&whole);
    thread_events_free(&list);
}

static void a_program_of_one_thread_has_none(void **state) {
    (void)state;
    char output[256];
    struct thread_event_list list = record(&ALL, "alone", output, sizeof output);
    assert_int_equal(list.count, 0);
    assert_int_equal(list.thread_count, 1);
    thread_events_free(&list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_of_waits_are_told),
        cmocka_unit_test(and_of_riscv64_programs),
        cmocka_unit_test(a_thread_captured_alone_has_its_events),
        cmocka_unit_test(events_end_with_the_capture),
        cmocka_unit_test(a_program_of_one_thread_has_none),
    };
    return cmocka_run_group_tests(tests, build_guests, remove_guests);
}
