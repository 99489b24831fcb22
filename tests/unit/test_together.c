/* Hand-made threads on one chip: each thread's cycles fall into the states that its events say, and
 * what one does to another happens in simulated time. */
#include "trace_script.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include "program/program.h"
#include "simulate/simulate.h"
#include "simulate/together_plan.h"
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

static void begin(void) {
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, INSNS, LOOP, 10);
    script_block(&script, 0, 0x100a, 1, CALL, 2);
    chunks = 0;
    memset(words_read, 0, sizeof words_read);
}

/* The thread reads so many words, from an address of its own on, then makes a system call. */
static void add_work(uint32_t thread, uint32_t words) {
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
static struct thread_event *add_event(uint32_t thread, enum thread_event_kind kind,
                                      uint32_t words) {
    return script_event(&script, thread, kind, (uint64_t)words * INSNS + 1);
}

static void write_trace(void) {
    struct error error = {""};
    struct file_writer *writer = file_writer_open(path, false, &error);
    assert_non_null(writer);
    for (size_t i = 0; i < script.count; i++)
        if (!file_writer_put(writer, &script.items[i], &error))
            fail_msg("%s", error.message);
    assert_true(file_writer_close(writer, NULL, &error));
}

static void run(uint32_t cores, uint32_t slack, bool alone) {
    struct error error = {""};
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
static void expect_sums(void) {
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

/* One thread alone on a chip takes as long as without one. */
static void one_thread(void **state) {
    (void)state;
    begin();
    add_work(0, 4000);
    add_work(0, 300);
    script_thread_end(&script, 0);
    run(2, 0, true);
    const uint64_t alone = simulation.cycles;
    simulation_free(&simulation);
    run(2, 0, false);
    expect_sums();
    assert_int_equal(simulation.cycles, alone);
    assert_int_equal(simulation.together.cycles, alone);
    simulation_free(&simulation);
}

/* Thread 0 works, makes thread 1, works a little and waits for its end. */
static void make_and_join_after(uint32_t words, uint32_t own) {
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

static void make_and_join(uint32_t words) {
    make_and_join_after(words, 100);
}

static void created_and_joined(void **state) {
    (void)state;
    make_and_join(4000);
    run(2, 0, false);
    expect_sums();
    const struct together_thread *first = &simulation.together.threads[0], *second = first + 1;
    assert_int_equal(first->begin, 0);
    assert_true(second->begin > 0);
    assert_int_equal(first->waits, 1);
    assert_true(first->cycles[THREAD_WAITING] > 0);
    assert_int_equal(second->cycles[THREAD_RUNNING], second->end - second->begin);
    assert_int_equal(simulation.together.wait_count, 1);
    assert_int_equal(simulation.together.waits[0].reason, WAIT_FOR_END);
    assert_int_equal(simulation.together.waits[0].cycles, first->cycles[THREAD_WAITING]);
    /* What it had left to do took from then on as long as its waiting did not. */
    assert_int_equal(first->end - first->cycles[THREAD_WAITING], simulation.threads[0].cycles);
    assert_true(first->end > second->end);
    simulation_free(&simulation);
}

/* The other has ended long before it is waited for: there is no wait, whatever the captured run
 * did.
 */
static void no_wait_for_what_is_over(void **state) {
    (void)state;
    begin();
    add_event(0, THREAD_EVENT_CREATE, 20)->other = 1;
    add_work(0, 20);
    struct thread_event *wait = add_event(0, THREAD_EVENT_WAIT, 4000);
    wait->address = WORD;
    add_event(1, THREAD_EVENT_EXIT, 10)->address = WORD;
    add_work(1, 10);
    script_thread_end(&script, 1);
    wait->exit = 2 * script.count + 1;
    add_work(0, 4000);
    script_thread_end(&script, 0);
    run(2, 0, false);
    expect_sums();
    assert_int_equal(simulation.together.threads[0].waits, 0);
    assert_int_equal(simulation.together.threads[0].cycles[THREAD_WAITING], 0);
    simulation_free(&simulation);
}

/* On one core they take turns: nobody runs beside another. */
static void one_core(void **state) {
    (void)state;
    make_and_join(4000);
    run(1, 0, false);
    expect_sums();
    const struct together_result *result = &simulation.together;
    uint64_t running = 0;
    for (uint32_t i = 0; i < 2; i++)
        running += result->threads[i].cycles[THREAD_RUNNING];
    assert_int_equal(result->cycles, running);
    simulation_free(&simulation);
}

/* Short turns: the one that waits for the core has it after one. */
static uint64_t elapsed_on(uint32_t cores, const struct together_affinity *places) {
    affinity = places;
    run(cores, 0, false);
    affinity = NULL;
    expect_sums();
    const uint64_t cycles = simulation.together.cycles;
    simulation_free(&simulation);
    return cycles;
}

/* Two cores, of which one is used, are one; each thread on its own is where they would be anyway.
 * The first thread, which may be anywhere, makes room for one that is kept on the first core. */
static void kept_on_cores(void **state) {
    (void)state;
    const struct together_affinity one = {.in_turn = {1}, .in_turn_count = 1},
                                   two = {.in_turn = {0, 1}, .in_turn_count = 2},
                                   second = {.groups = {{.first = 1, .last = 1, .core = 0}},
                                             .group_count = 1};
    make_and_join(4000);
    const uint64_t on_one = elapsed_on(1, NULL), on_two = elapsed_on(2, NULL);
    assert_int_equal(elapsed_on(2, &one), on_one);
    assert_int_equal(elapsed_on(2, &two), on_two);
    assert_true(on_two < on_one);
    affinity = &second;
    run(2, 0, false);
    affinity = NULL;
    expect_sums();
    assert_true(simulation.together.threads[1].cycles[THREAD_READY] < 300);
    simulation_free(&simulation);
}

static void turns(void **state) {
    (void)state;
    make_and_join_after(2000, 2000);
    struct error error = {""};
    write_trace();
    struct trace *trace = trace_open(path, &error);
    assert_non_null(trace);
    together = (struct together){.path = path, .cores = 1, .turn = 50};
    const struct simulation_options options = {.machine = &machine,
                                               .sampling = sampling_everything(),
                                               .selection = {.thread = -1},
                                               .together = &together};
    assert_true(simulation_run(trace, &options, &simulation, &error));
    trace_close(trace);
    expect_sums();
    assert_true(simulation.together.threads[0].cycles[THREAD_READY] > 0);
    simulation_free(&simulation);
}

/* A sleep takes the time that was asked for, at the machine's clock, and no core. */
static void sleeping(void **state) {
    (void)state;
    begin();
    add_event(0, THREAD_EVENT_CREATE, 20)->other = 1;
    add_work(0, 20);
    struct thread_event *sleep = add_event(0, THREAD_EVENT_BLOCK, 20);
    sleep->cause = THREAD_CAUSE_TIME;
    sleep->asked_ns = 1000;
    add_work(0, 20);
    add_work(0, 20);
    script_thread_end(&script, 0);
    add_work(1, 20);
    script_thread_end(&script, 1);
    run(2, 0, false);
    expect_sums();
    assert_int_equal(simulation.together.threads[0].cycles[THREAD_SLEEPING],
                     (uint64_t)(1000 * machine.clock_ghz));
    simulation_free(&simulation);
}

/* Thread 0 makes thread 1, works and ends the program, or itself alone. */
static void make_and_exit(uint32_t words, bool program) {
    begin();
    add_event(0, THREAD_EVENT_CREATE, 20)->other = 1;
    add_work(0, 20);
    struct thread_event *exit =
        add_event(0, program ? THREAD_EVENT_EXIT_PROCESS : THREAD_EVENT_EXIT, words);
    exit->exit = exit->entry;
    add_work(0, words);
    script_thread_end(&script, 0);
}

/* Nobody sleeps on when another thread ends the program: it is over then, and what the other did
 * behind its sleep in the captured run is left out. */
static void sleep_ends_with_the_program(void **state) {
    (void)state;
    make_and_exit(3000, true);
    for (unsigned i = 0; i < 2; i++) {
        struct thread_event *sleep = add_event(1, THREAD_EVENT_BLOCK, 20);
        sleep->cause = THREAD_CAUSE_TIME;
        sleep->asked_ns = 1000000;
        add_work(1, 20);
    }
    script_thread_end(&script, 1);
    run(2, 0, false);
    expect_sums();
    const struct together_result *result = &simulation.together;
    const struct together_thread *threads = result->threads;
    assert_true(threads[1].cycles[THREAD_SLEEPING] > 0);
    assert_int_equal(threads[1].end, threads[0].end);
    assert_int_equal(result->cycles, threads[0].end);
    assert_int_equal(threads[1].instructions, 20 * INSNS + 1);
    assert_int_equal(result->cut, 20 * INSNS + 1);
    assert_int_equal(result->courses[0].critical[COURSE_RUNNING], threads[0].end);
    assert_int_equal(result->courses[1].critical[COURSE_RUNNING], 0);
    simulation_free(&simulation);
}

static volatile sig_atomic_t stop;

static void stop_behind(void *context, uint64_t done) {
    stop = done > *(const uint64_t *)context;
}

/* An interrupted simulation has the threads as they are then, and their sums. */
static void interrupted(void **state) {
    (void)state;
    struct error error = {""};
    uint64_t enough = 200 * INSNS;
    begin();
    add_event(0, THREAD_EVENT_CREATE, 20)->other = 1;
    add_work(0, 20);
    add_work(0, MOST);
    script_thread_end(&script, 0);
    struct thread_event *sleep = add_event(1, THREAD_EVENT_BLOCK, 20);
    sleep->cause = THREAD_CAUSE_TIME;
    sleep->asked_ns = 1000000;
    add_work(1, 20);
    script_thread_end(&script, 1);
    write_trace();
    struct trace *trace = trace_open(path, &error);
    assert_non_null(trace);
    together = (struct together){.path = path, .cores = 2};
    stop = 0;
    const struct simulation_options options = {.machine = &machine,
                                               .sampling = sampling_everything(),
                                               .selection = {.thread = -1},
                                               .together = &together,
                                               .watcher = {stop_behind, &enough, &stop}};
    if (!simulation_run(trace, &options, &simulation, &error))
        fail_msg("%s", error.message);
    trace_close(trace);
    assert_true(simulation.interrupted);
    assert_true(simulation.instructions > 0);
    assert_true(simulation.together.cycles > 0);
    expect_sums();
    simulation_free(&simulation);
}

/* A wait with a time limit, which ran out in the captured run, ends with a wake that comes before.
 */
static void woken_before_its_time(void **state) {
    (void)state;
    begin();
    add_event(0, THREAD_EVENT_CREATE, 20)->other = 1;
    add_work(0, 20);
    struct thread_event *wait = add_event(1, THREAD_EVENT_WAIT, 20);
    wait->address = WORD;
    wait->asked_ns = 1000000;
    wait->result = -110;
    add_work(1, 20);
    add_work(1, 20);
    script_thread_end(&script, 1);
    struct thread_event *wake = add_event(0, THREAD_EVENT_WAKE, 2000);
    wake->address = WORD;
    wake->operation = FUTEX_OP_WAKE;
    wake->value = 1;
    add_work(0, 2000);
    add_work(0, 4000);
    script_thread_end(&script, 0);
    run(2, 0, false);
    expect_sums();
    const struct together_thread *first = &simulation.together.threads[0], *second = first + 1;
    assert_true(second->cycles[THREAD_SLEEPING] > 0);
    assert_true(second->cycles[THREAD_SLEEPING] < 1000000 * machine.clock_ghz);
    assert_true(second->end < first->end);
    simulation_free(&simulation);
}

/* Threads that wait for each other, as only a damaged trace has it, are let go, and that is told.
 */
static void a_circle_is_broken(void **state) {
    (void)state;
    begin();
    add_event(0, THREAD_EVENT_CREATE, 20)->other = 1;
    add_work(0, 20);
    struct thread_event *first = add_event(0, THREAD_EVENT_WAIT, 20);
    first->address = WORD;
    add_work(0, 20);
    struct thread_event *wake = add_event(0, THREAD_EVENT_WAKE, 20);
    wake->address = WORD + 64;
    wake->operation = FUTEX_OP_WAKE;
    wake->value = wake->result = 1;
    add_work(0, 20);
    script_thread_end(&script, 0);
    struct thread_event *second = add_event(1, THREAD_EVENT_WAIT, 20);
    second->address = WORD + 64;
    add_work(1, 20);
    struct thread_event *other = add_event(1, THREAD_EVENT_WAKE, 20);
    other->address = WORD;
    other->operation = FUTEX_OP_WAKE;
    other->value = other->result = 1;
    add_work(1, 20);
    script_thread_end(&script, 1);
    const uint64_t late = 2 * script.count;
    first->exit = second->exit = late + 10;
    wake->exit = other->exit = late + 11;
    run(2, 0, false);
    assert_int_equal(simulation.together.diverged, 1);
    assert_int_equal(simulation.instructions, 2 * (3 * 20 * INSNS + 3) - 20 * INSNS - 1);
    simulation_free(&simulation);
}

/* ---- orders of the captured run ---- */

/* The thread reads so many words, as add_work(), and at the end of them, if `written` is not 0,
 * what `writer` has written as the last of so many instructions. */
static void add_reads(uint32_t thread, uint32_t words, uint32_t writer, uint64_t written) {
    uint64_t *next = events[chunks++];
    uint32_t count = 0;
    for (uint32_t i = 0; i < words; i++) {
        next[count++] = event_block(BLOCK_LOOP);
        next[count++] =
            event_access(0, 2, 0, 0x1000000 * (thread + 1) + 4 * (words_read[thread] + i));
    }
    words_read[thread] += words;
    if (written) {
        next[count++] = event_block(BLOCK_LOOP);
        next[count++] = event_access(0, 2, 0, WORD);
        next[count++] = event_mark(MARK_WRITER, writer);
        next[count++] = event_mark(MARK_WRITTEN, written);
    }
    script_data(&script, thread, next, count);
}

/* The thread reads the same word again and again; with a writer, until that has written. */
static void add_spin(uint32_t thread, uint32_t rounds, uint32_t writer, uint64_t written) {
    uint64_t *next = events[chunks++];
    uint32_t count = 0;
    for (uint32_t i = 0; i < rounds; i++) {
        next[count++] = event_block(BLOCK_LOOP);
        next[count++] = event_access(0, 2, 0, WORD);
    }
    if (written) {
        next[count++] = event_mark(MARK_WRITER, writer);
        next[count++] = event_mark(MARK_WRITTEN, written);
    }
    script_data(&script, thread, next, count);
}

static void run_both(void) {
    script_thread_end(&script, 0);
    script_thread_end(&script, 1);
    run(2, 0, false);
    expect_sums();
}

/* Nobody runs on behind the end of the program. Thread 1 has been given n instructions when thread
 * 0 ends the program, and ends when those are done, in the cycle in which it does in a run in which
 * it has no more to do. */
static void work_ends_with_the_program(void **state) {
    (void)state;
    make_and_exit(200, true);
    add_reads(1, 4000, 0, 0);
    script_thread_end(&script, 1);
    run(2, 0, false);
    expect_sums();
    const struct together_result *result = &simulation.together;
    const uint64_t exit = result->threads[0].end, end = result->threads[1].end;
    const uint64_t done = result->threads[1].instructions;
    assert_true(exit <= end);
    assert_int_equal(result->cycles, end);
    assert_true(done > 0 && done < 4000 * INSNS);
    assert_int_equal(result->cut, 4000 * INSNS - done);
    simulation_free(&simulation);
    assert_int_equal(done % INSNS, 0);
    make_and_exit(200, false);
    add_reads(1, (uint32_t)done / INSNS, 0, 0);
    script_thread_end(&script, 1);
    run(2, 0, false);
    assert_int_equal(simulation.together.threads[0].end, exit);
    assert_int_equal(simulation.together.threads[1].end, end);
    assert_int_equal(simulation.together.cut, 0);
    simulation_free(&simulation);
}

/* Thread 0 waited for input before it ended the program, for no simulated time: what thread 1 does
 * may have come before, and is all done. */
static void work_that_may_come_before_the_end_is_done(void **state) {
    (void)state;
    begin();
    add_event(0, THREAD_EVENT_CREATE, 20)->other = 1;
    add_work(0, 20);
    add_event(0, THREAD_EVENT_BLOCK, 20)->cause = THREAD_CAUSE_INPUT;
    add_work(0, 20);
    add_event(0, THREAD_EVENT_EXIT_PROCESS, 200);
    add_work(0, 200);
    script_thread_end(&script, 0);
    add_reads(1, 4000, 0, 0);
    script_thread_end(&script, 1);
    run(2, 0, false);
    expect_sums();
    assert_int_equal(simulation.together.threads[1].instructions, 4000 * INSNS);
    assert_int_equal(simulation.together.cut, 0);
    simulation_free(&simulation);
}

/* Thread 0 writes with the last of 2,000 words, which are done when its pipeline is empty behind
 * them, in cycle W; thread 1 comes to its read behind 100 words, when its own is, in cycle R. Both
 * are the ends of the same threads when they do nothing more. So it waits for W − R cycles, and
 * what it does then takes as long as it did. */
static void reader_waits_for_writer(void **state) {
    (void)state;
    begin();
    add_reads(0, 2000, 0, 0);
    add_reads(1, 100, 0, 0);
    run_both();
    const uint64_t written = simulation.together.threads[0].end;
    const uint64_t read = simulation.together.threads[1].end;
    simulation_free(&simulation);
    begin();
    add_reads(0, 2000, 0, 0);
    add_reads(0, 1000, 0, 0);
    add_reads(1, 100, 0, 2000 * INSNS);
    run_both();
    const struct together_result *result = &simulation.together;
    const struct together_thread *reader = &result->threads[1];
    assert_true(written > read);
    assert_int_equal(reader->cycles[THREAD_SPINNING], written - read);
    assert_int_equal(reader->waits, 1);
    assert_int_equal(result->orders, 1);
    assert_int_equal(result->waits[0].reason, WAIT_SPINNING);
    assert_int_equal(result->waits[0].address, WORD);
    assert_int_equal(result->waits[0].cycles, written - read);
    assert_true(result->threads[0].end > written);
    simulation_free(&simulation);
}

/* Thread 0 makes thread 1, reads 100 words and, with `joins`, the word that the kernel clears at
 * the end of thread 1, behind whose last instruction the captured run was then. */
static void make_and_find_ended(uint32_t words, bool joins) {
    begin();
    add_event(0, THREAD_EVENT_CREATE, 20)->other = 1;
    add_work(0, 20);
    add_event(1, THREAD_EVENT_EXIT, words)->address = WORD;
    add_work(1, words);
    add_reads(0, 100, 1, joins ? words * INSNS + 1 : 0);
    add_reads(0, joins ? 50 : 0, 0, 0);
    run_both();
}

/* In the captured run thread 1 had ended when thread 0 looked, so that this did not sleep; here it
 * has not. Thread 0 comes to the read when its pipeline is empty behind 100 words, in cycle R: its
 * end when it does nothing more. Thread 1 ends in cycle E. So thread 0 waits for E - R cycles for
 * the end of a thread, not for what one writes, and then does the rest. */
static void who_had_ended_is_waited_for(void **state) {
    (void)state;
    make_and_find_ended(4000, false);
    const uint64_t read = simulation.together.threads[0].end;
    simulation_free(&simulation);
    make_and_find_ended(4000, true);
    const struct together_result *result = &simulation.together;
    const struct together_thread *first = &result->threads[0], *second = first + 1;
    assert_true(second->end > read);
    assert_int_equal(first->cycles[THREAD_WAITING], second->end - read);
    assert_int_equal(first->cycles[THREAD_SPINNING], 0);
    assert_int_equal(first->waits, 1);
    assert_int_equal(result->wait_count, 1);
    assert_int_equal(result->waits[0].reason, WAIT_FOR_END);
    assert_int_equal(result->waits[0].address, WORD);
    assert_int_equal(result->waits[0].cycles, second->end - read);
    assert_int_equal(result->orders, 0); /* it is one of simulated time */
    assert_true(first->end > second->end);
    simulation_free(&simulation);
}

/* Nor is one waited for that has ended here too, and then nothing takes longer for it. */
static void who_has_ended_is_not_waited_for(void **state) {
    (void)state;
    uint64_t cycles[2];
    for (unsigned joins = 0; joins < 2; joins++) {
        begin();
        add_event(0, THREAD_EVENT_CREATE, 20)->other = 1;
        add_work(0, 20);
        add_event(1, THREAD_EVENT_EXIT, 10)->address = WORD;
        add_work(1, 10);
        add_reads(0, 3000, 1, joins ? 10 * INSNS + 1 : 1);
        run_both();
        assert_int_equal(simulation.together.threads[0].waits, 0);
        cycles[joins] = simulation.together.cycles;
        simulation_free(&simulation);
    }
    assert_int_equal(cycles[0], cycles[1]);
}

/* What is written long before it is read makes nobody wait, and changes no cycle. */
static void no_wait_for_what_is_written(void **state) {
    (void)state;
    uint64_t cycles[2];
    for (unsigned i = 0; i < 2; i++) {
        begin();
        add_reads(0, 100, 0, 0);
        add_reads(1, 3000, 0, i ? 50 * INSNS : 100 * INSNS);
        run_both();
        assert_int_equal(simulation.together.threads[1].cycles[THREAD_SPINNING], 0);
        assert_int_equal(simulation.together.threads[1].waits, 0);
        cycles[i] = simulation.together.cycles;
        simulation_free(&simulation);
    }
    assert_int_equal(cycles[0], cycles[1]);
}

/* A loop that ends when another thread writes lasts until then, however many rounds it had: two are
 * simulated, and the one that reads what is written. */
static void spinning_lasts_until_the_write(void **state) {
    (void)state;
    static const uint32_t ROUNDS[] = {50, 3000};
    uint64_t ends[2], spinning[2];
    for (unsigned i = 0; i < 2; i++) {
        begin();
        add_reads(0, 4000, 0, 0);
        add_spin(1, ROUNDS[i], 0, 2000 * INSNS);
        run_both();
        const struct together_thread *spinner = &simulation.together.threads[1];
        assert_int_equal(simulation.together.spun, (ROUNDS[i] - 3) * INSNS);
        assert_int_equal(spinner->instructions, 3 * INSNS);
        ends[i] = spinner->end;
        spinning[i] = spinner->cycles[THREAD_SPINNING];
        simulation_free(&simulation);
    }
    assert_true(spinning[0] > 0);
    assert_int_equal(spinning[0], spinning[1]);
    assert_int_equal(ends[0], ends[1]);
}

/* The same loop without one who writes ends by itself: all of its rounds are work. */
static void what_nobody_ends_is_work(void **state) {
    (void)state;
    begin();
    add_reads(0, 100, 0, 0);
    add_spin(1, 3000, 0, 0);
    run_both();
    assert_int_equal(simulation.together.spun, 0);
    assert_int_equal(simulation.together.threads[1].instructions, 3000 * INSNS);
    simulation_free(&simulation);
}

/* Two threads that hand a word to each other work one after the other: while one runs, the other
 * waits. So of each moment behind the first words exactly one of the two has it, and each runs as
 * long as it does alone. */
static void two_threads_in_turns(void **state) {
    (void)state;
    enum { TURNS = 4, WORDS = 500 };
    const uint64_t turn = (WORDS + 1) * INSNS; /* with the read */
    begin();
    add_reads(0, WORDS, 0, 0);
    for (uint32_t i = 1; i <= TURNS; i++) {
        add_reads(1, 0, 0, WORDS * INSNS + (i - 1) * turn);
        add_reads(1, WORDS, 0, 0);
        add_reads(0, 0, 1, i * turn);
        add_reads(0, WORDS, 0, 0);
    }
    run_both();
    const struct together_thread *first = &simulation.together.threads[0], *second = first + 1;
    assert_int_equal(first->waits, TURNS);
    assert_int_equal(second->waits, TURNS);
    assert_int_equal(first->cycles[THREAD_RUNNING] + first->cycles[THREAD_SPINNING], first->end);
    assert_int_equal(second->cycles[THREAD_RUNNING] + second->cycles[THREAD_SPINNING], second->end);
    /* Thread 0 waits while thread 1 has its turns, and the other way round but for the last. */
    assert_int_equal(first->cycles[THREAD_SPINNING], second->cycles[THREAD_RUNNING]);
    simulation_free(&simulation);
}

/* Orders in a circle, as only a damaged trace has them: one is let go, and that is told. */
static void orders_in_a_circle(void **state) {
    (void)state;
    begin();
    add_reads(0, 100, 1, 2000 * INSNS);
    add_reads(0, 2000, 0, 0);
    add_reads(1, 100, 0, 2000 * INSNS);
    add_reads(1, 2000, 0, 0);
    script_thread_end(&script, 0);
    script_thread_end(&script, 1);
    run(2, 0, false);
    assert_int_equal(simulation.together.diverged, 1);
    assert_int_equal(simulation.instructions, 2 * 2101 * INSNS);
    simulation_free(&simulation);
}

/* Many threads in turn, each on the core that the one before left. */
static void the_same_every_time(void **state) {
    (void)state;
    uint64_t cycles[2], sums[2];
    for (unsigned i = 0; i < 2; i++) {
        make_and_join(3000);
        run(2, 50, false);
        cycles[i] = simulation.together.cycles;
        sums[i] = simulation.cycles;
        simulation_free(&simulation);
    }
    assert_int_equal(cycles[0], cycles[1]);
    assert_int_equal(sums[0], sums[1]);
}

/* A thread that waits for the end of another runs so much later than that: 1000 ns of a machine of
 * 5 cycles a nanosecond. Where there is no wait, nobody is woken. */
static void waking_takes_time(void **state) {
    (void)state;
    const uint64_t late = (uint64_t)(1000 * machine.clock_ghz);
    uint64_t waited[2], cycles[2];
    for (unsigned i = 0; i < 2; i++) {
        machine.chip.wake_latency = i ? 1000 : 0;
        make_and_join(4000);
        run(2, 0, false);
        expect_sums();
        waited[i] = simulation.together.threads[0].cycles[THREAD_WAITING];
        cycles[i] = simulation.together.cycles;
        assert_int_equal(simulation.together.waits[0].cycles, waited[i]);
        assert_int_equal(simulation.together.waits[0].waking, i ? late : 0);
        assert_int_equal(simulation.together.wake_calls, 0);
        simulation_free(&simulation);
    }
    machine.chip.wake_latency = 0;
    assert_int_equal(waited[1], waited[0] + late);
    assert_int_equal(cycles[1], cycles[0] + late);
}

/* One that waits for less than it takes to fall asleep, 1500 cycles, is not woken. */
static void who_is_awake_is_not_woken(void **state) {
    (void)state;
    uint64_t waited[2];
    for (unsigned i = 0; i < 2; i++) {
        machine.chip.wake_latency = i ? 1000 : 0;
        make_and_join(20);
        run(2, 0, false);
        expect_sums();
        waited[i] = simulation.together.threads[0].cycles[THREAD_WAITING];
        assert_int_equal(simulation.together.waits[0].waking, 0);
        simulation_free(&simulation);
    }
    machine.chip.wake_latency = 0;
    assert_in_range(waited[0], 1, TOGETHER_FALL_ASLEEP_NS * (uint64_t)machine.clock_ghz);
    assert_int_equal(waited[1], waited[0]);
}

/* Who wakes another thread is busy with that for a while: 400 ns. That waits for 1000 ns more, and
 * so both end so much later. Entry and exit of a system call,
 * which else take 300 cycles, are in the time of the call by which it wakes. */
static void waking_takes_the_waker_time(void **state) {
    (void)state;
    uint64_t ends[2][2], waited[2][2];
    for (unsigned i = 0; i < 2; i++) {
        machine.chip.wake_latency = i ? 1000 : 0;
        machine.chip.wake_cost = i ? 400 : 0;
        begin();
        add_event(0, THREAD_EVENT_CREATE, 20)->other = 1;
        add_work(0, 20);
        add_work(0, 4000);
        add_work(0, 4000);
        struct thread_event *wake = add_event(0, THREAD_EVENT_WAKE, 20);
        wake->address = WORD;
        wake->operation = FUTEX_OP_WAKE;
        wake->value = wake->result = 1;
        add_work(0, 20);
        add_work(0, 40);
        script_thread_end(&script, 0);
        struct thread_event *wait = add_event(1, THREAD_EVENT_WAIT, 20);
        wait->address = WORD;
        add_work(1, 20);
        add_work(1, 40);
        script_thread_end(&script, 1);
        const uint64_t late = 2 * script.count;
        wait->exit = late + 10;
        wake->exit = late + 11;
        run(2, 0, false);
        expect_sums();
        for (unsigned thread = 0; thread < 2; thread++) {
            ends[i][thread] = simulation.together.threads[thread].end;
            waited[i][thread] = simulation.together.threads[thread].cycles[THREAD_WAITING];
        }
        assert_int_equal(simulation.together.wake_calls, i);
        simulation_free(&simulation);
    }
    const uint64_t call = (uint64_t)(400 * machine.clock_ghz);
    const uint64_t late = (uint64_t)(1000 * machine.clock_ghz);
    machine.chip.wake_latency = machine.chip.wake_cost = 0;
    assert_int_equal(waited[0][0], 0);
    assert_int_equal(waited[1][0], call);
    assert_int_equal(waited[1][1], waited[0][1] + late);
    assert_int_equal(ends[1][0], ends[0][0] + call - machine.core.syscall_cycles);
    assert_int_equal(ends[1][1], ends[0][1] + late);
}

/* ---- regions ---- */

static uint8_t no_flags[INSNS + 8];

/* By regions, as run(). */
static void run_regions(const struct together_plan *plan) {
    struct error error = {""};
    write_trace();
    struct trace *trace = trace_open(path, &error);
    assert_non_null(trace);
    together = (struct together){.path = path, .cores = 2, .plan = plan};
    const struct simulation_options options = {.machine = &machine,
                                               .sampling = sampling_everything(),
                                               .selection = {.thread = -1},
                                               .together = &together};
    if (!simulation_run(trace, &options, &simulation, &error))
        fail_msg("%s", error.message);
    trace_close(trace);
}

/* One that lasts as long as the run is the run, and if it stands for three such, three times it. */
static void a_region_of_all_is_the_run(void **state) {
    (void)state;
    make_and_join(1000);
    run(2, 0, false);
    const struct simulation whole = simulation;
    simulation = (struct simulation){0};
    const uint64_t waited = whole.together.threads[0].cycles[THREAD_WAITING];
    assert_true(waited > 0);
    for (uint64_t weight = 1; weight <= 3; weight += 2) {
        struct planned_region region = {.work = whole.executed,
                                        .stands_for = weight * whole.executed};
        const struct together_plan plan = {.flags = no_flags,
                                           .regions = &region,
                                           .count = 1,
                                           .instructions = whole.executed,
                                           .work = whole.executed,
                                           .slices = 1};
        run_regions(&plan);
        const struct together_result *result = &simulation.together;
        assert_int_equal(result->regions, 1);
        assert_int_equal(result->cycles, weight * whole.together.cycles);
        assert_int_equal(simulation.cycles, weight * whole.cycles);
        assert_int_equal(simulation.instructions, weight * whole.executed);
        assert_int_equal(result->threads[0].cycles[THREAD_WAITING], weight * waited);
        assert_int_equal(result->wait_count, 1);
        assert_int_equal(result->waits[0].count, weight);
        assert_int_equal(result->course.active, weight * whole.together.course.active);
        assert_int_equal(result->courses[1].active, weight * whole.together.courses[1].active);
        simulation_free(&simulation);
    }
    simulation = whole;
    simulation_free(&simulation);
}

/* The first thread waits for the other's end when the region begins, and still when it ends: all of
 * its cycles are waited, by nobody woken. */
static void a_region_begins_with_who_waits(void **state) {
    (void)state;
    enum { WORDS = 8000, BEFORE = (200 + 100) * INSNS + 2 + 4000, LONG = 8000 };
    make_and_join(WORDS / 2);
    struct planned_region region = {
        .before = BEFORE, .work_before = BEFORE, .work = LONG, .stands_for = LONG};
    const struct together_plan plan = {.flags = no_flags,
                                       .regions = &region,
                                       .count = 1,
                                       .warm_up = 1000,
                                       .instructions = WORDS * INSNS,
                                       .work = WORDS * INSNS,
                                       .slices = 1};
    run_regions(&plan);
    const struct together_result *result = &simulation.together;
    const struct together_thread *first = &result->threads[0], *second = first + 1;
    assert_int_equal(first->cycles[THREAD_WAITING], result->cycles);
    assert_int_equal(second->cycles[THREAD_RUNNING], result->cycles);
    assert_int_equal(first->cycles[THREAD_RUNNING], 0);
    assert_int_equal(result->waits[0].cycles, result->cycles);
    assert_int_equal(result->waits[0].count, 0);
    /* It ends between two pieces that are handed to a core. */
    assert_in_range(simulation.simulated, LONG, LONG + CORE_PUSH);
    assert_int_equal(simulation.instructions, simulation.simulated);
    assert_in_range(simulation.warmed, 1000, 1000 + 2 * CORE_PUSH);
    assert_int_equal(result->course.unknown, 0);
    simulation_free(&simulation);
}

/* A sleep in which no thread works lies in no region, or in one that stands for several such: it is
 * told once, either way. */
static void a_long_sleep_counts_once(void **state) {
    (void)state;
    enum { SLEEP_NS = 1000000, WORDS = 2000, ALL = 2 * (WORDS * INSNS + 1) };
    for (unsigned inside = 0; inside < 2; inside++) {
        begin();
        struct thread_event *sleep = add_event(0, THREAD_EVENT_BLOCK, WORDS);
        sleep->cause = THREAD_CAUSE_TIME;
        sleep->asked_ns = SLEEP_NS;
        add_work(0, WORDS);
        add_work(0, WORDS);
        script_thread_end(&script, 0);
        struct planned_region region = {.before = inside ? WORDS * INSNS - 500 : 1000,
                                        .work_before = inside ? WORDS * INSNS - 500 : 1000,
                                        .work = 1000,
                                        .stands_for = 5000};
        const struct together_plan plan = {.flags = no_flags,
                                           .regions = &region,
                                           .count = 1,
                                           .warm_up = 1000,
                                           .instructions = ALL,
                                           .work = ALL,
                                           .slices = 1};
        run_regions(&plan);
        const struct together_thread *thread = &simulation.together.threads[0];
        const double cycles = SLEEP_NS * machine.clock_ghz;
        assert_in_range(thread->cycles[THREAD_SLEEPING], (uint64_t)cycles - 1,
                        (uint64_t)cycles + 1);
        assert_int_equal(simulation.together.cycles,
                         thread->cycles[THREAD_SLEEPING] + thread->cycles[THREAD_RUNNING]);
        assert_int_equal(simulation.instructions, 5 * simulation.simulated);
        simulation_free(&simulation);
    }
}

/* ---- barriers ---- */

static Dl_info library; /* the C library */
static uint64_t routine_offset;

static bool find_routine(void *context, const struct program_function *function) {
    if (function->name && !strcmp(function->name, context))
        routine_offset = function->file_offset;
    return !routine_offset;
}

/* Makes it known where in its file a routine of the C library is. False: it has none of that name,
 * or none can be read. */
static bool find(const char *name) {
    char wanted[32];
    struct program *program = program_new_local();
    assert_non_null(program);
    routine_offset = 0;
    snprintf(wanted, sizeof wanted, "%s", name);
    if (dladdr((void *)(uintptr_t)pthread_create, &library) && library.dli_fname)
        program_each_function(program, program_add_image(program, library.dli_fname, NULL, 0),
                              find_routine, wanted);
    program_free(program);
    return routine_offset;
}

static void add_library(void) {
    struct item_image *image = &script_add(&script, ITEM_IMAGE)->image;
    *image = (struct item_image){.image = 1, .path = library.dli_fname, .kind = CODE_IMAGE_FILE};
    image->start = 0x100000;
    image->end = 0x900000;
    image->file_offset = routine_offset;
}

/* 0x2000: call 0x100000, where pthread_barrier_wait() is: lock xadd [rdi], eax; ret, or with
 * syscall before the ret; 0x2005: nop. False: this C library has no such routine. */
enum { BLOCK_TO = 2, BLOCK_MEET, BLOCK_ENTER, BLOCK_RETURN, BLOCK_BACK };
enum { BARRIER = 0x9000 };

/* Code of the routine that was found, so far behind its beginning. */
static void add_routine(uint64_t address, uint64_t behind, uint32_t insns, const char *bytes,
                        uint32_t size) {
    script_block(&script, 0, address + behind, insns, bytes, size);
    script.items[script.count - 1].code.image = 1;
    script.items[script.count - 1].code.offset = routine_offset + behind;
}

static bool add_barrier_code(void) {
    if (!find("pthread_barrier_wait"))
        return false;
    add_library();
    script_block(&script, 0, 0x2000, 1, "\xe8\xfb\xdf\x0f\x00", 5);
    add_routine(0x100000, 0, 2, "\xf0\x0f\xc1\x07\xc3", 5);
    add_routine(0x100000, 0, 2, "\xf0\x0f\xc1\x07\x0f\x05", 6);
    add_routine(0x100000, 6, 1, "\xc3", 1);
    script_block(&script, 0, 0x2005, 1, "\x90", 1);
    return true;
}

/* The thread comes to the barrier; `kind`: what it asks of the kernel there, with this result, or
 * THREAD_EVENT_KINDS, nothing. */
static void add_meeting(uint32_t thread, enum thread_event_kind kind, int64_t result) {
    uint64_t *next = events[chunks++];
    const bool calls = kind != THREAD_EVENT_KINDS;
    uint32_t count = 0;
    if (calls) {
        struct thread_event *event = script_event(&script, thread, kind, 3);
        event->address = BARRIER + 4;
        event->result = result;
        event->operation = kind == THREAD_EVENT_WAKE ? FUTEX_OP_WAKE : FUTEX_OP_WAIT;
        event->value = kind == THREAD_EVENT_WAKE ? INT32_MAX : 0;
    }
    next[count++] = event_block(BLOCK_TO);
    next[count++] = event_block(calls ? BLOCK_ENTER : BLOCK_MEET);
    next[count++] = event_access(0, 2, 0, BARRIER);
    next[count++] = event_access(1, 2, 0, BARRIER);
    if (calls) {
        next[count++] = event_mark(MARK_SYSCALL, 0);
        next[count++] = event_block(BLOCK_RETURN);
    }
    next[count++] = event_block(BLOCK_BACK);
    script_data(&script, thread, next, count);
}

/* In both rounds thread 0, which has the most to do, came last, and called the kernel to wake
 * others. Of two threads, the other did not sleep then: it was stopped between its arrival and its
 * call. Of three, one did, so that two called. All wait for thread 0, two rounds long. */
static void who_did_not_sleep_at_a_barrier_is_counted(void **state) {
    (void)state;
    for (uint32_t threads = 2; threads <= 3; threads++) {
        begin();
        if (!add_barrier_code())
            skip();
        for (unsigned round = 0; round < 2; round++)
            for (uint32_t i = 0; i < threads; i++) {
                const bool sleeps = i == 1 && threads == 3;
                add_work(i, i ? 100 : 2000);
                add_meeting(i,
                            !i       ? THREAD_EVENT_WAKE
                            : sleeps ? THREAD_EVENT_WAIT
                                     : THREAD_EVENT_KINDS,
                            !i && threads == 3 ? 1 : 0);
            }
        for (uint32_t i = 0; i < threads; i++) {
            add_work(i, 10);
            script_thread_end(&script, i);
        }
        run(4, 0, false);
        const struct together_thread *of = simulation.together.threads;
        assert_int_equal(of[0].cycles[THREAD_WAITING], 0);
        for (uint32_t i = 1; i < threads; i++) {
            assert_int_equal(of[i].waits, 2);
            assert_true(of[i].cycles[THREAD_WAITING] > of[0].cycles[THREAD_RUNNING] / 2);
        }
        assert_int_equal(simulation.together.waits[0].reason, WAIT_AT_BARRIER);
        assert_int_equal(simulation.together.diverged, 0);
        simulation_free(&simulation);
    }
}

/* ---- messages under locks ---- */

/* 0x3000: call 0x110000, pthread_mutex_lock(); 0x3005: nop; 0x3010: call 0x120000, ..._unlock();
 * 0x3015: nop; 0x4000: mov [rdi], eax; 0x4002: mov eax, [rdi]. */
enum { BLOCK_LOCK = 2, BLOCK_LOCKS, BLOCK_LOCKED, BLOCK_UNLOCK, BLOCK_UNLOCKS, BLOCK_UNLOCKED };
enum {
    BLOCK_STORE = BLOCK_UNLOCKED + 1,
    BLOCK_LOAD,
    OUTER = 0x9000,
    INNER = 0xa000,
    MESSAGE = 0xb000
};

static bool add_lock_code(void) {
    static const char *const NAMES[] = {"pthread_mutex_lock", "pthread_mutex_unlock"};
    static const char *const CALLS[] = {"\xe8\xfb\xcf\x10\x00", "\xe8\xeb\xcf\x11\x00"};
    for (unsigned i = 0; i < 2; i++) {
        if (!find(NAMES[i]))
            return false;
        if (!i)
            add_library();
        script_block(&script, 0, 0x3000 + 0x10 * i, 1, CALLS[i], 5);
        add_routine(0x110000 + 0x10000 * i, 0, 2, "\xf0\x0f\xc1\x07\xc3", 5);
        script_block(&script, 0, 0x3005 + 0x10 * i, 1, "\x90", 1);
    }
    script_block(&script, 0, 0x4000, 1, "\x89\x07", 2);
    script_block(&script, 0, 0x4002, 1, "\x8b\x07", 2);
    return true;
}

/* Calls a routine: its call, itself, and what comes behind are three blocks. */
static void add_call(uint32_t thread, uint32_t first, uint64_t lock) {
    uint64_t *next = events[chunks++];
    next[0] = event_block(first);
    next[1] = event_block(first + 1);
    next[2] = event_access(0, 2, 0, lock);
    next[3] = event_access(1, 2, 0, lock);
    next[4] = event_block(first + 2);
    script_data(&script, thread, next, 5);
}

static void add_message(uint32_t thread, bool store) {
    uint64_t *next = events[chunks++];
    next[0] = event_block(store ? BLOCK_STORE : BLOCK_LOAD);
    next[1] = event_access(store, 2, 0, MESSAGE);
    script_data(&script, thread, next, 2);
}

/* Thread 0 takes a lock that it keeps, makes thread 1, which leaves a word under another lock, and
 * reads that word under it: it must not wait for the word where it takes the first lock, before
 * thread 1 is there. With no first lock it waits where it takes the other. */
static void no_wait_for_what_comes_of_it(void **state) {
    (void)state;
    for (unsigned outer = 0; outer < 2; outer++) {
        begin();
        if (!add_lock_code())
            skip();
        if (outer)
            add_call(0, BLOCK_LOCK, OUTER);
        add_event(0, THREAD_EVENT_CREATE, 20)->other = 1;
        add_work(0, 20);
        struct thread_event *wait = add_event(0, THREAD_EVENT_WAIT, 20);
        wait->address = WORD;
        add_call(1, BLOCK_LOCK, INNER);
        add_message(1, true);
        add_call(1, BLOCK_UNLOCK, INNER);
        add_event(1, THREAD_EVENT_EXIT, 400)->address = WORD;
        add_work(1, 400);
        script_thread_end(&script, 1);
        wait->exit = 2 * script.count + 1;
        add_work(0, 20);
        add_call(0, BLOCK_LOCK, INNER);
        add_message(0, false);
        add_call(0, BLOCK_UNLOCK, INNER);
        add_work(0, 20);
        script_thread_end(&script, 0);
        run(2, 0, false);
        expect_sums();
        assert_int_equal(simulation.together.diverged, 0);
        assert_int_equal(simulation.together.handed, outer ? 0 : 1);
        simulation_free(&simulation);
    }
}

/* A reader of one thread that has the code of a trace read before says what one with code of its
 * own does, and its instructions are that trace's. */
static void code_is_shared_by_readers(void **state) {
    (void)state;
    struct error error = {""};
    struct trace_batch batch;
    char own[1 << 13], shared[1 << 13];
    begin();
    add_work(0, 6);
    add_work(1, 9);
    add_work(1, 4);
    write_trace();
    struct trace *whole = trace_open(path, &error), *alone = trace_open(path, &error);
    assert_true(whole && alone);
    while (trace_next(whole, &batch, &error) > 0)
        ;
    trace_alone(alone, 1);
    assert_int_equal(render_trace(alone, own, sizeof own, &error), 0);
    for (unsigned i = 0; i < 2; i++) { /* at the same time, too */
        struct trace *beside = trace_open_beside(path, whole, &error);
        struct trace *other = trace_open_beside(path, whole, &error);
        assert_true(beside && other);
        trace_alone(beside, 1);
        trace_alone(other, i);
        assert_int_equal(trace_next(other, &batch, &error), 1);
        assert_int_equal(render_trace(beside, shared, sizeof shared, &error), 0);
        assert_string_equal(shared, own);
        assert_ptr_equal(trace_code(beside), trace_code(whole));
        trace_close(beside);
        trace_close(other);
    }
    assert_non_null(strstr(own, "l200020+4/0"));
    trace_close(alone);
    trace_close(whole);
}

static int load_machine(void **state) {
    (void)state;
    struct error error;
    const int file = mkstemp(temporary_name(path, "together"));
    return file >= 0 && close(file) == 0 && machine_load("machines/zen4.ini", &machine, &error)
               ? 0
               : -1;
}

static int remove_trace(void **state) {
    (void)state;
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread),
        cmocka_unit_test(created_and_joined),
        cmocka_unit_test(no_wait_for_what_is_over),
        cmocka_unit_test(one_core),
        cmocka_unit_test(kept_on_cores),
        cmocka_unit_test(turns),
        cmocka_unit_test(sleeping),
        cmocka_unit_test(sleep_ends_with_the_program),
        cmocka_unit_test(work_ends_with_the_program),
        cmocka_unit_test(work_that_may_come_before_the_end_is_done),
        cmocka_unit_test(interrupted),
        cmocka_unit_test(woken_before_its_time),
        cmocka_unit_test(a_circle_is_broken),
        cmocka_unit_test(reader_waits_for_writer),
        cmocka_unit_test(who_had_ended_is_waited_for),
        cmocka_unit_test(who_has_ended_is_not_waited_for),
        cmocka_unit_test(no_wait_for_what_is_written),
        cmocka_unit_test(spinning_lasts_until_the_write),
        cmocka_unit_test(what_nobody_ends_is_work),
        cmocka_unit_test(two_threads_in_turns),
        cmocka_unit_test(orders_in_a_circle),
        cmocka_unit_test(the_same_every_time),
        cmocka_unit_test(waking_takes_time),
        cmocka_unit_test(who_is_awake_is_not_woken),
        cmocka_unit_test(waking_takes_the_waker_time),
        cmocka_unit_test(a_region_of_all_is_the_run),
        cmocka_unit_test(a_region_begins_with_who_waits),
        cmocka_unit_test(a_long_sleep_counts_once),
        cmocka_unit_test(who_did_not_sleep_at_a_barrier_is_counted),
        cmocka_unit_test(no_wait_for_what_comes_of_it),
        cmocka_unit_test(code_is_shared_by_readers),
    };
    return cmocka_run_group_tests(tests, load_machine, remove_trace);
}
