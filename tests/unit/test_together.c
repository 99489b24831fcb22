/* Hand-made threads on one chip: each thread's cycles fall into the states that its events say, and
 * what one does to another happens in simulated time. */
#include "together_script.h"

#include <errno.h>

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

enum { CALL_SITES = 25 }; /* 0x2000: call 0x2005; 0x2005: call 0x200a; ... */

/* Thread 1 makes calls, which no return ends, in so many rounds, and ends itself behind them. */
static void end_in_calls(uint32_t rounds) {
    begin();
    for (uint32_t i = 0; i < CALL_SITES; i++)
        script_block(&script, 0, 0x2000 + 5 * i, 1, "\xe8\x00\x00\x00\x00", 5);
    add_event(0, THREAD_EVENT_CREATE, 20)->other = 1;
    add_work(0, 20);
    struct thread_event *wait = add_event(0, THREAD_EVENT_WAIT, 20);
    wait->address = WORD;
    for (uint32_t round = 0; round < rounds; round++) {
        uint64_t *next = events[chunks++];
        for (uint32_t i = 0; i < CALL_SITES; i++) {
            next[2 * i] = event_block(BLOCK_CALL + 1 + i);
            next[2 * i + 1] = event_access(1, 3, 0, 0x800000 - 8 * (CALL_SITES * round + i));
        }
        script_data(&script, 1, next, 2 * CALL_SITES);
        add_work(1, 2);
    }
    add_event(1, THREAD_EVENT_EXIT, 4000)->address = WORD;
    add_work(1, 4000);
    script_thread_end(&script, 1);
    wait->exit = 2 * script.count + 1;
    add_work(0, 20);
    script_thread_end(&script, 0);
    run(2, 0, false);
}

/* The call that it ends in is told, unless there are more than any thread ends in: calls that an
 * exception left, whose returns were never seen. */
static void the_call_that_a_thread_ends_in(void **state) {
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        end_in_calls(i ? 3 : 1);
        assert_int_equal(simulation.together.wait_count, 1);
        assert_int_equal(simulation.together.waits[0].reason, WAIT_FOR_END);
        if (i)
            assert_int_equal(simulation.together.waits[0].other, UINT32_MAX);
        else
            assert_int_not_equal(simulation.together.waits[0].other, UINT32_MAX);
        simulation_free(&simulation);
    }
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
    struct error error = {0};
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

/* When thread 0 ends, which waits in a system call that gave `result` in the captured run, and how
 * many cycles it slept. */
static uint64_t end_behind(enum thread_event_cause cause, uint64_t asked_ns, int64_t result,
                           uint64_t *slept) {
    begin();
    add_event(0, THREAD_EVENT_CREATE, 20)->other = 1;
    add_work(0, 20);
    struct thread_event *wait = add_event(0, THREAD_EVENT_BLOCK, 20);
    wait->cause = cause;
    wait->asked_ns = asked_ns;
    wait->result = result;
    wait->duration_ns = 2000000;
    add_work(0, 20);
    add_work(0, 20);
    script_thread_end(&script, 0);
    add_work(1, 20);
    script_thread_end(&script, 1);
    run(2, 0, false);
    expect_sums();
    const uint64_t end = simulation.together.threads[0].end;
    *slept = simulation.together.threads[0].cycles[THREAD_SLEEPING];
    assert_int_equal(simulation.together.blocked, cause == THREAD_CAUSE_EVENT && !*slept);
    simulation_free(&simulation);
    return end;
}

/* A limit of 1000 ns that ran out is a sleep: it takes the cycles of 1000 ns, 5000 at 5 GHz, and no
 * core. A limit of 0, an event before the limit, and a wait without one take no time. */
static void limits_that_run_out(void **state) {
    (void)state;
    static const struct {
        uint64_t asked_ns;
        int64_t result;
    } others[] = {{0, 0}, {1000, 1}, {THREAD_EVENT_FOREVER, 1}, {1000, -EINTR}};
    uint64_t slept;
    const uint64_t end = end_behind(THREAD_CAUSE_TIME, 1000, 0, &slept);
    assert_int_equal(slept, 5000);
    assert_int_equal(end_behind(THREAD_CAUSE_EVENT, 1000, 0, &slept), end);
    assert_int_equal(slept, 5000);
    const uint64_t early = end_behind(THREAD_CAUSE_TIME, 0, 0, &slept);
    assert_true(early < end);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const uint64_t other =
            end_behind(THREAD_CAUSE_EVENT, others[i].asked_ns, others[i].result, &slept);
        assert_int_equal(slept, 0);
        assert_int_equal(other, early);
    }
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
    struct error error = {0};
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

/* A reader of one thread that has the code of a trace read before says what one with code of its
 * own does, and its instructions are that trace's. */
static void code_is_shared_by_readers(void **state) {
    (void)state;
    struct error error = {0};
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread),
        cmocka_unit_test(created_and_joined),
        cmocka_unit_test(the_call_that_a_thread_ends_in),
        cmocka_unit_test(no_wait_for_what_is_over),
        cmocka_unit_test(one_core),
        cmocka_unit_test(kept_on_cores),
        cmocka_unit_test(turns),
        cmocka_unit_test(sleeping),
        cmocka_unit_test(limits_that_run_out),
        cmocka_unit_test(sleep_ends_with_the_program),
        cmocka_unit_test(interrupted),
        cmocka_unit_test(woken_before_its_time),
        cmocka_unit_test(a_circle_is_broken),
        cmocka_unit_test(code_is_shared_by_readers),
    };
    return cmocka_run_group_tests(tests, load_machine, remove_trace);
}
