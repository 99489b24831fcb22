/* Events of threads on their way: from items into files, into the batches that hold their
 * instructions, and into lists. */
#include "trace_script.h"

#include <unistd.h>

#include "temporary.h"
#include "trace/thread_event_list.h"
#include "trace/trace.h"

static struct script script;

#define CALL "\x0f\x05"                 /* syscall */
#define STEP "\x48\xff\xc0\x48\xff\xc0" /* inc rax, twice */
#define LOAD "\x8b\x07\x90"             /* mov eax, [rdi]; nop */

enum { BLOCK_CALL, BLOCK_STEP, BLOCK_LOAD };

static void begin_script(void) {
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, 1, CALL, 2);
    script_block(&script, 0, 0x1002, 2, STEP, 6);
    script_block(&script, 0, 0x1008, 2, LOAD, 3);
}

static uint64_t call_mark(void) {
    return event_mark(MARK_SYSCALL, 202);
}

/* "thread:position number; ..." of all batches; each event's instruction entered the kernel. */
static void render_events(struct trace *trace, char *text, size_t size) {
    struct trace_batch batch;
    struct error error;
    int status;
    size_t n = 0;
    text[0] = 0;
    while ((status = trace_next(trace, &batch, &error)) > 0)
        for (uint32_t i = 0; i < batch.event_count; i++) {
            const struct thread_event *event = &batch.events[i];
            assert_int_equal(event->thread, batch.thread);
            uint64_t at = event->position - 1 - batch.first_insn;
            assert_true(at < batch.insn_count);
            assert_true(batch.insns[at].flags & DYN_SYSCALL);
            n += (size_t)snprintf(text + n, size - n, "%u:%lu %u; ", event->thread,
                                  (unsigned long)event->position, event->number);
        }
    if (status < 0)
        fail_msg("%s", error.message);
}

static void assert_events(int only, const char *expected) {
    char text[1024];
    struct trace *trace = script_open(&script);
    if (only >= 0)
        trace_only(trace, (uint32_t)only);
    render_events(trace, text, sizeof text);
    assert_string_equal(text, expected);
    trace_close(trace);
}

/* Two calls in one chunk, and one at its end whose mark is the first of the next chunk. */
static void test_batches(void **state) {
    (void)state;
    begin_script();
    const uint64_t first[] = {event_block(BLOCK_STEP), event_block(BLOCK_CALL), call_mark(),
                              event_block(BLOCK_STEP), event_block(BLOCK_CALL), call_mark(),
                              event_block(BLOCK_CALL)};
    const uint64_t second[] = {call_mark(), event_block(BLOCK_STEP)};
    const uint64_t other[] = {event_block(BLOCK_CALL), call_mark(), event_block(BLOCK_STEP),
                              event_block(BLOCK_CALL), call_mark()};
    script_event(&script, 0, THREAD_EVENT_CREATE, 3)->other = 1;
    script_event(&script, 0, THREAD_EVENT_WAKE, 6);
    script_event(&script, 1, THREAD_EVENT_WAIT, 1);
    script_data(&script, 0, first, 7);
    script_event(&script, 1, THREAD_EVENT_EXIT, 4);
    script_data(&script, 1, other, 5);
    script_thread_end(&script, 1);
    script_event(&script, 0, THREAD_EVENT_WAIT, 0);
    script_data(&script, 0, second, 2);
    script_thread_end(&script, 0);
    assert_events(-1, "0:3 0; 0:6 1; 1:1 0; 1:4 1; 0:7 2; ");
    assert_events(0, "0:3 0; 0:6 1; 0:7 2; ");
    assert_events(1, "1:1 0; 1:4 1; ");
}

/* A load that faults is an instruction of the stream, but does not count as captured: what comes
 * behind it has moved. */
static void test_fault_before(void **state) {
    (void)state;
    begin_script();
    const uint64_t events[] = {event_block(BLOCK_LOAD), event_mark(MARK_EXECUTED, 0),
                               event_mark(MARK_SIGNAL, HANDLER_OF_FAULTS), event_block(BLOCK_CALL),
                               call_mark()};
    script_data(&script, 0, events, 5);
    struct item data = script.items[--script.count];
    data.data.insn_count = 1;
    script_event(&script, 0, THREAD_EVENT_YIELD, 0)->position = 1;
    script.items[script.count++] = data;
    assert_events(-1, "0:2 0; ");
}

/* Calls without an event, and an event whose instruction is not there. */
static void test_missing(void **state) {
    (void)state;
    begin_script();
    const uint64_t events[] = {event_block(BLOCK_CALL), call_mark(), event_block(BLOCK_STEP),
                               event_block(BLOCK_CALL), call_mark(), event_block(BLOCK_STEP)};
    script_event(&script, 0, THREAD_EVENT_YIELD, 2);
    script_event(&script, 0, THREAD_EVENT_WAIT, 4);
    script_event(&script, 0, THREAD_EVENT_WAIT, 400);
    script_data(&script, 0, events, 6);
    assert_events(-1, "0:4 1; ");
}

/* What is passed over takes its events with it. */
static void test_passed(void **state) {
    (void)state;
    begin_script();
    static uint64_t events[8192];
    for (int i = 0; i < 8192; i += 2)
        events[i] = event_block(BLOCK_CALL), events[i + 1] = call_mark();
    const uint64_t last[] = {event_block(BLOCK_STEP), event_block(BLOCK_CALL), call_mark()};
    script_event(&script, 0, THREAD_EVENT_YIELD, 7);
    script_data(&script, 0, events, 8192);
    script_event(&script, 0, THREAD_EVENT_YIELD, 3);
    script_data(&script, 0, last, 3);
    struct trace *trace = script_open(&script);
    char text[256];
    trace_pass(trace, 10000);
    render_events(trace, text, sizeof text);
    assert_string_equal(text, "0:4099 1; ");
    trace_close(trace);
}

static void test_origins(void **state) {
    (void)state;
    begin_script();
    const uint64_t call[] = {event_block(BLOCK_CALL), call_mark()};
    script.first_insn[0] = 100; /* captured from there on */
    script_event(&script, 0, THREAD_EVENT_YIELD, 1);
    script_data(&script, 0, call, 2);
    script_event(&script, 0, THREAD_EVENT_CREATE, 1)->other = 1;
    script_data(&script, 1, call, 2);
    script_data(&script, 0, call, 2);
    struct trace *trace = script_open(&script);
    trace_only(trace, 1);
    struct trace_batch batch;
    struct error error;
    assert_int_equal(trace_next(trace, &batch, &error), 1);
    assert_int_equal(batch.thread, 1);
    struct trace_thread made = trace_thread(trace, 1), first = trace_thread(trace, 0);
    assert_int_equal(made.creator, 0);
    assert_int_equal(made.creator_event, 1);
    assert_int_equal(made.creator_position, 2);
    assert_int_equal(first.creator, THREAD_EVENT_NO_THREAD);
    assert_int_equal(trace_thread(trace, 7).creator, THREAD_EVENT_NO_THREAD);
    trace_close(trace);
}

static void write_script(const char *path) {
    struct error error;
    struct file_writer *writer = file_writer_open(path, true, &error);
    assert_non_null(writer);
    for (size_t i = 0; i < script.count; i++)
        if (!file_writer_put(writer, &script.items[i], &error))
            fail_msg("%s", error.message);
    assert_true(file_writer_close(writer, NULL, &error));
}

/* The list numbers events as batches do, whatever order they come in. */
static void test_list(void **state) {
    (void)state;
    char path[TEMPORARY_BYTES];
    int descriptor = mkstemp(temporary_name(path, "thread-events"));
    assert_true(descriptor >= 0);
    close(descriptor);
    begin_script();
    const uint64_t calls[] = {event_block(BLOCK_CALL), call_mark(), event_block(BLOCK_STEP),
                              event_block(BLOCK_CALL), call_mark()};
    script.first_insn[2] = 50;
    script_event(&script, 0, THREAD_EVENT_CREATE, 1)->other = 2;
    script_event(&script, 2, THREAD_EVENT_WAIT, 1);
    script_event(&script, 0, THREAD_EVENT_WAKE, 4);
    script_data(&script, 0, calls, 5);
    script_event(&script, 2, THREAD_EVENT_EXIT, 4)->address = 0x5000;
    script_data(&script, 2, calls, 5);
    write_script(path);
    struct thread_event_list list;
    struct error error;
    if (!thread_events_read(path, &list, &error))
        fail_msg("%s", error.message);
    unlink(path);
    assert_int_equal(list.thread_count, 3);
    assert_int_equal(list.count, 4);
    const size_t first[] = {0, 2, 2, 4};
    const uint64_t positions[] = {1, 4, 1, 4};
    assert_memory_equal(list.first, first, sizeof first);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(list.events[i].thread, i / 2 * 2);
        assert_int_equal(list.events[i].number, i % 2);
        assert_int_equal(list.events[i].position, positions[i]);
    }
    assert_int_equal(thread_event_at(&list, 2, 1)->address, 0x5000);
    assert_null(thread_event_at(&list, 2, 2));
    assert_null(thread_event_at(&list, 1, 0));
    assert_null(thread_event_at(&list, 3, 0));
    assert_int_equal(list.threads[2].creator, 0);
    assert_int_equal(list.threads[0].creator, THREAD_EVENT_NO_THREAD);
    thread_events_free(&list);
}

static void assert_refused(const char *why) {
    struct trace *trace = script_open(&script);
    struct trace_batch batch;
    struct error error;
    int status;
    while ((status = trace_next(trace, &batch, &error)) > 0)
        ;
    assert_int_equal(status, -1);
    assert_non_null(strstr(error.message, why));
    trace_close(trace);
}

static void test_hostile(void **state) {
    (void)state;
    begin_script();
    script_event(&script, 0, THREAD_EVENT_YIELD, 9);
    script_event(&script, 0, THREAD_EVENT_YIELD, 8);
    assert_refused("out of order");
    begin_script();
    script_event(&script, 0, THREAD_EVENT_YIELD, 0)->thread = UINT32_MAX - 1;
    assert_refused("thread number");
    begin_script();
    script_event(&script, 0, THREAD_EVENT_CREATE, 1)->other = UINT32_MAX - 1;
    assert_refused("thread number");
    begin_script();
    script_event(&script, 0, THREAD_EVENT_CREATE, 1)->other = 1;
    script_event(&script, 0, THREAD_EVENT_CREATE, 2)->other = 1;
    assert_refused("created twice");
    begin_script();
    script_event(&script, 0, THREAD_EVENT_YIELD, 1)->process = 1;
    assert_refused("unknown process");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches), cmocka_unit_test(test_fault_before),
        cmocka_unit_test(test_missing), cmocka_unit_test(test_passed),
        cmocka_unit_test(test_origins), cmocka_unit_test(test_list),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
