/* Hand-made threads on one chip, and their simulation: for tests of threads simulated together. */
#pragma once

#include "trace_script.h"

#include <unistd.h>

#include "simulate/simulate.h"
#include "temporary.h"

static struct script script;
static struct machine machine;
static struct simulation simulation;
static struct together together;
static char path[TEMPORARY_BYTES];
static const struct together_affinity *affinity;

/* 0x1000: mov eax,[rdi]; add rdi,4; dec ecx; jnz 0x1000   0x100a: syscall. */
#define LOOP "\x8b\x07\x48\x83\xc7\x04\xff\xc9\x75\xf6"
#define CALL "\x0f\x05"

enum { BLOCK_LOOP, BLOCK_CALL, INSNS = 4, MOST = 4096 };
enum { WORD = 0x8000 }; /* a futex */

static uint64_t events[24][2 * MOST + 8];
static unsigned chunks;
static uint32_t words_read[2]; /* by add_reads(), so that all are different */

static inline void begin(void) {
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, INSNS, LOOP, 10);
    script_block(&script, 0, 0x100a, 1, CALL, 2);
    chunks = 0;
    memset(words_read, 0, sizeof words_read);
}

/* The thread reads so many words, from an address of its own on, then makes a system call. */
static inline void add_work(uint32_t thread, uint32_t words) {
    uint64_t *next = events[chunks++];
    uint32_t count = 0;
    for (uint32_t i = 0; i < words; i++) {
        next[count++] = event_block(BLOCK_LOOP);
        next[count++] = event_access(0, 2, 0, 0x100000 * (thread + 1) + 4 * i);
    }
    next[count++] = event_block(BLOCK_CALL);
    next[count++] = event_mark(MARK_SYSCALL, 0);
    script_data(&script, thread, next, count);
}

/* An event of the system call at the end of the work that is added next. */
static inline struct thread_event *add_event(uint32_t thread, enum thread_event_kind kind,
                                             uint32_t words) {
    return script_event(&script, thread, kind, (uint64_t)words * INSNS + 1);
}

static inline void write_trace(void) {
    struct error error = {0};
    struct file_writer *writer = file_writer_open(path, false, &error);
    assert_non_null(writer);
    for (size_t i = 0; i < script.count; i++)
        if (!file_writer_put(writer, &script.items[i], &error))
            fail_msg("%s", error.message);
    assert_true(file_writer_close(writer, NULL, &error));
}

static inline void run(uint32_t cores, uint32_t slack, bool alone) {
    struct error error = {0};
    write_trace();
    struct trace *trace = trace_open(path, &error);
    assert_non_null(trace);
    together =
        (struct together){.path = path, .cores = cores, .slack = slack, .affinity = affinity};
    const struct simulation_options options = {.machine = &machine,
                                               .sampling = sampling_everything(),
                                               .selection = {.thread = -1},
                                               .together = alone ? NULL : &together};
    if (!simulation_run(trace, &options, &simulation, &error))
        fail_msg("%s", error.message);
    trace_close(trace);
}

/* Cycles in states sum to a thread's life, those on a core to what its profile has. */
static inline void expect_sums(void) {
    const struct together_result *result = &simulation.together;
    uint64_t last = 0;
    assert_true(result->done);
    for (uint32_t i = 0; i < result->thread_count; i++) {
        const struct together_thread *thread = &result->threads[i];
        uint64_t sum = 0;
        for (unsigned state = 0; state < THREAD_STATES; state++)
            sum += thread->cycles[state];
        assert_int_equal(sum, thread->end - thread->begin);
        assert_int_equal(thread->cycles[THREAD_RUNNING], simulation.threads[i].cycles);
        last = thread->end > last ? thread->end : last;
    }
    assert_int_equal(result->cycles, last);
    assert_int_equal(result->diverged, 0);
    assert_int_equal(result->unexplained, 0);
}

/* Thread 0 works, makes thread 1, works a little and waits for its end. */
static inline void make_and_join_after(uint32_t words, uint32_t own) {
    begin();
    add_event(0, THREAD_EVENT_CREATE, 200)->other = 1;
    add_work(0, 200);
    struct thread_event *wait = add_event(0, THREAD_EVENT_WAIT, own);
    wait->address = WORD;
    struct thread_event *end = add_event(1, THREAD_EVENT_EXIT, words);
    end->address = WORD;
    add_work(1, words);
    script_thread_end(&script, 1);
    wait->exit = 2 * script.count + 1;
    add_work(0, own);
    add_work(0, 50);
    script_thread_end(&script, 0);
}

static inline void make_and_join(uint32_t words) {
    make_and_join_after(words, 100);
}

/* Thread 0 makes thread 1, works and ends the program, or itself alone. */
static inline void make_and_exit(uint32_t words, bool program) {
    begin();
    add_event(0, THREAD_EVENT_CREATE, 20)->other = 1;
    add_work(0, 20);
    struct thread_event *exit =
        add_event(0, program ? THREAD_EVENT_EXIT_PROCESS : THREAD_EVENT_EXIT, words);
    exit->exit = exit->entry;
    add_work(0, words);
    script_thread_end(&script, 0);
}

static inline int load_machine(void **state) {
    (void)state;
    struct error error;
    const int file = mkstemp(temporary_name(path, "together"));
    return file >= 0 && close(file) == 0 && machine_load("machines/zen4.ini", &machine, &error)
               ? 0
               : -1;
}

static inline int remove_trace(void **state) {
    (void)state;
    return unlink(path);
}
