/* Hand-made threads on one chip: thread 1 reads a word, sleeps, and reads it again, five times
 * over, until thread 0 has written it. */
#include "together_script.h"

enum { SLEEPS = 5, ASKED_NS = 1000 };
static enum thread_event_cause cause = THREAD_CAUSE_TIME; /* of sleeps */

/* The word is read; then comes a sleep, for the branch behind the read falls through to the call.
 */
static void add_round(enum thread_event_kind kind, uint64_t written) {
    struct thread_event *sleep = add_event(1, kind, 1);
    sleep->asked_ns = ASKED_NS;
    if (kind == THREAD_EVENT_BLOCK)
        sleep->cause = cause;
    else
        sleep->result = THREAD_EVENT_TIMED_OUT;
    uint64_t *next = events[chunks++];
    uint32_t count = 0;
    next[count++] = event_block(BLOCK_LOOP);
    next[count++] = event_access(0, 2, 0, WORD);
    if (written) {
        next[count++] = event_mark(MARK_WRITER, 0);
        next[count++] = event_mark(MARK_WRITTEN, written);
    }
    next[count++] = event_block(BLOCK_CALL);
    next[count++] = event_mark(MARK_SYSCALL, 0);
    script_data(&script, 1, next, count);
}

/* The word is read, which has been written; the branch behind it is taken, or not, as before. */
static void add_last(uint64_t written, bool taken) {
    uint64_t *next = events[chunks++];
    uint32_t count = 0;
    next[count++] = event_block(BLOCK_LOOP);
    next[count++] = event_access(0, 2, 0, WORD);
    next[count++] = event_mark(MARK_WRITER, 0);
    next[count++] = event_mark(MARK_WRITTEN, written);
    next[count++] = event_block(taken ? BLOCK_LOOP : BLOCK_CALL);
    if (taken)
        next[count++] = event_access(0, 2, 0, WORD);
    script_data(&script, 1, next, count);
}

/* Thread 0 reads so many words, and writes with the last instruction of that. */
static uint64_t add_writer(uint32_t words) {
    begin();
    add_event(0, THREAD_EVENT_CREATE, 20)->other = 1;
    add_work(0, 20);
    add_work(0, words);
    script_thread_end(&script, 0);
    return (uint64_t)(20 + words) * INSNS + 1;
}

static uint64_t slept(void) {
    return simulation.together.threads[1].cycles[THREAD_SLEEPING];
}

static uint64_t sleep_cycles(void) {
    return (uint64_t)(ASKED_NS * machine.clock_ghz);
}

static void run_rounds(uint64_t written, bool taken) {
    for (unsigned i = 0; i < SLEEPS; i++)
        add_round(THREAD_EVENT_BLOCK, 0);
    add_last(written, taken);
    script_thread_end(&script, 1);
    run(2, 0, false);
    expect_sums();
}

/* The word is written during the first sleep, which goes on to its end; the others are none. */
static void what_is_written_ends_the_polling(void **state) {
    (void)state;
    run_rounds(add_writer(40), true);
    assert_true(simulation.together.threads[0].end < sleep_cycles());
    assert_int_equal(simulation.together.polls, SLEEPS - 1);
    assert_int_equal(slept(), sleep_cycles());
    simulation_free(&simulation);
}

/* And so where it sleeps in a call that waits for events, of which there is none. */
static void what_is_written_ends_the_polling_for_events(void **state) {
    cause = THREAD_CAUSE_EVENT;
    what_is_written_ends_the_polling(state);
    cause = THREAD_CAUSE_TIME;
}

/* It is written in the third sleep. The critical path has the rest of that, and then who writes. */
static void polling_lasts_until_the_write(void **state) {
    (void)state;
    uint32_t words = 40;
    uint64_t end, begin;
    do { /* how many words take 2.5 sleeps */
        words += 40;
        run_rounds(add_writer(words), true);
        end = simulation.together.threads[0].end;
        begin = simulation.together.threads[1].begin;
        if (end - begin < 5 * sleep_cycles() / 2)
            simulation_free(&simulation);
    } while (end - begin < 5 * sleep_cycles() / 2 && words < MOST);
    assert_true(end - begin < 3 * sleep_cycles());
    assert_int_equal(simulation.together.polls, SLEEPS - 3);
    assert_int_equal(slept(), 3 * sleep_cycles());
    const struct course_thread *courses = simulation.together.courses;
    assert_in_range(courses[1].critical[COURSE_SLEEPING], 1, sleep_cycles());
    assert_true(courses[0].critical[COURSE_RUNNING] >= 2 * sleep_cycles());
    assert_int_equal(simulation.together.wait_count, 1);
    assert_in_range(simulation.together.waits[0].cycles, 1, sleep_cycles() - 1);
    simulation_free(&simulation);
}

/* What it reads last does not change what it does: it would have slept five times in any case. */
static void who_only_looks_sleeps_on(void **state) {
    (void)state;
    run_rounds(add_writer(40), false);
    assert_int_equal(simulation.together.polls, 0);
    assert_int_equal(slept(), SLEEPS * sleep_cycles());
    simulation_free(&simulation);
}

/* Each round finds something new, as how far the other is; the last finds that it is done. */
static void what_is_written_meanwhile_does_not_matter(void **state) {
    (void)state;
    const uint64_t written = add_writer(40);
    for (unsigned i = 0; i < SLEEPS; i++)
        add_round(THREAD_EVENT_BLOCK, written - SLEEPS + i);
    add_last(written, true);
    script_thread_end(&script, 1);
    run(2, 0, false);
    expect_sums();
    assert_int_equal(simulation.together.polls, SLEEPS);
    assert_int_equal(slept(), 0);
    simulation_free(&simulation);
}

/* The flag is seen behind waits with a time limit, which ran out each time: here the first is ended
 * by the write, for who writes wakes who waits, and the others do not begin. */
static void waits_with_a_limit_end_with_the_write(void **state) {
    (void)state;
    const uint64_t written = add_writer(40);
    for (unsigned i = 0; i < SLEEPS; i++)
        add_round(THREAD_EVENT_WAIT, 0);
    add_last(written, true);
    script_thread_end(&script, 1);
    run(2, 0, false);
    expect_sums();
    const struct together_thread *threads = simulation.together.threads;
    const uint64_t write = threads[0].end;
    assert_int_equal(simulation.together.polls, SLEEPS - 1);
    assert_true(slept() > 0 && slept() < sleep_cycles());
    assert_true(threads[1].begin + slept() < write);
    assert_true(threads[1].end > write);
    assert_int_equal(threads[1].end - threads[1].begin,
                     slept() + threads[1].cycles[THREAD_RUNNING] + threads[1].cycles[THREAD_READY]);
    simulation_free(&simulation);
}

/* The first look is by another instruction: that wait ends with the write all the same. */
static void the_first_wait_is_like_the_others(void **state) {
    (void)state;
    const uint64_t written = add_writer(40);
    struct thread_event *wait = add_event(1, THREAD_EVENT_WAIT, 20);
    wait->asked_ns = ASKED_NS;
    wait->result = THREAD_EVENT_TIMED_OUT;
    add_work(1, 20);
    for (unsigned i = 0; i < SLEEPS; i++)
        add_round(THREAD_EVENT_WAIT, 0);
    add_last(written, true);
    script_thread_end(&script, 1);
    run(2, 0, false);
    expect_sums();
    assert_int_equal(simulation.together.polls, SLEEPS);
    assert_true(slept() < sleep_cycles());
    simulation_free(&simulation);
}

/* What thread 0 does before it writes. */
enum before { WORKS, WAITS_FOR_WAKE, WAITS_FOR_INPUT };

static struct thread_event *add_wait(enum before before) {
    struct thread_event *wait =
        add_event(0, before == WAITS_FOR_WAKE ? THREAD_EVENT_WAIT : THREAD_EVENT_BLOCK, 80);
    if (before == WAITS_FOR_WAKE)
        wait->address = WORD;
    else
        wait->cause = THREAD_CAUSE_INPUT;
    add_work(0, 80);
    return wait;
}

static void add_wake(struct thread_event *wait) {
    struct thread_event *wake = add_event(1, THREAD_EVENT_WAKE, 1);
    wake->address = WORD;
    wake->operation = FUTEX_OP_WAKE;
    wake->value = wake->result = 1;
    wake->exit = wait->exit = 2 * script.count;
    add_work(1, 1);
}

/* Thread 1 waits for events, five times in vain, then has one within a limit of `asked_ns`, and
 * reads what thread 0 wrote to it with the system call at its end. That may wait before it,
 * until thread 1 wakes it behind its fifth wait, or there is input. */
static void run_heartbeats(uint64_t asked_ns, enum before before) {
    struct thread_event *waits = NULL;
    begin();
    add_event(0, THREAD_EVENT_CREATE, 20)->other = 1;
    add_work(0, 20);
    if (before != WORKS)
        waits = add_wait(before);
    add_work(0, 40);
    script_thread_end(&script, 0);
    for (unsigned i = 0; i <= SLEEPS; i++) {
        struct thread_event *wait = add_event(1, THREAD_EVENT_BLOCK, 1);
        wait->cause = THREAD_CAUSE_EVENT;
        wait->asked_ns = i < SLEEPS ? ASKED_NS : asked_ns;
        wait->result = i == SLEEPS;
        add_work(1, 1);
        if (before == WAITS_FOR_WAKE && i + 1 == SLEEPS)
            add_wake(waits);
    }
    struct thread_event *reads = add_event(1, THREAD_EVENT_BLOCK, 1);
    reads->cause = THREAD_CAUSE_INPUT;
    reads->asked_ns = THREAD_EVENT_FOREVER;
    reads->result = 8;
    reads->value = 0 + 1;
    reads->address2 = before == WORKS ? 60 * INSNS + 2 : 140 * INSNS + 3;
    if (before == WAITS_FOR_INPUT)
        waits->exit = 2 * script.count;
    add_work(1, 1);
    script_thread_end(&script, 1);
    run(2, 0, false);
    expect_sums();
}

/* Here it is written in the first wait, which ends there, and the others do not begin. */
static void a_message_ends_the_wait_for_it(void **state) {
    (void)state;
    run_heartbeats(ASKED_NS, WORKS);
    const struct together_thread *threads = simulation.together.threads;
    const uint64_t write = threads[0].end, ran = threads[1].cycles[THREAD_RUNNING];
    assert_int_equal(simulation.together.polls, SLEEPS - 1);
    assert_true(slept() > 0 && slept() < sleep_cycles());
    assert_true(threads[1].begin + slept() < write && write < threads[1].end);
    assert_int_equal(threads[1].end - threads[1].begin,
                     slept() + ran + threads[1].cycles[THREAD_READY]);
    simulation_free(&simulation);
}

/* Thread 0 comes to its wait in the first wait of thread 1, and cannot write as long as that lasts:
 * thread 1 goes on at once, and waits no more until it has woken thread 0. */
static void who_is_to_write_waits_for_no_limit(void **state) {
    (void)state;
    run_heartbeats(ASKED_NS, WAITS_FOR_WAKE);
    const struct together_thread *threads = simulation.together.threads;
    assert_int_equal(simulation.together.polls, SLEEPS - 1);
    assert_true(slept() > 0 && slept() < sleep_cycles());
    assert_true(threads[0].cycles[THREAD_WAITING] < sleep_cycles());
    assert_true(threads[0].end < threads[1].end);
    simulation_free(&simulation);
}

/* Thread 0 waited itself when those limits ran out, perhaps for thread 1: they do so here. */
static void the_writer_has_waited_too(void **state) {
    (void)state;
    run_heartbeats(ASKED_NS, WAITS_FOR_INPUT);
    assert_int_equal(simulation.together.polls, 0);
    assert_int_equal(slept(), SLEEPS * sleep_cycles());
    simulation_free(&simulation);
}

/* It has no limit in the end, or a far longer one: the others were of timers. */
static void limits_of_timers_run_out(void **state) {
    static const uint64_t asked_ns[] = {THREAD_EVENT_FOREVER, 50000000};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        run_heartbeats(asked_ns[i], WORKS);
        assert_int_equal(simulation.together.polls, 0);
        assert_int_equal(slept(), SLEEPS * sleep_cycles());
        simulation_free(&simulation);
    }
}

/* Thread 0 waits with a limit of some milliseconds, which runs out, and then writes what thread 1
 * reads once, without a loop, as who has Python's interpreter sees that another wants it. In the
 * captured run the wait was over when thread 1 came to that, and so it is here. */
static void a_limit_has_passed_for_who_reads_on(void **state) {
    (void)state;
    enum { LONG_NS = 5000000 };
    begin();
    add_event(0, THREAD_EVENT_CREATE, 20)->other = 1;
    add_work(0, 20);
    struct thread_event *wait = add_event(0, THREAD_EVENT_WAIT, 20);
    wait->asked_ns = LONG_NS;
    wait->result = THREAD_EVENT_TIMED_OUT;
    add_work(0, 20);
    add_work(0, 40);
    script_thread_end(&script, 0);
    add_work(1, 100);
    add_last((uint64_t)80 * INSNS + 2, false);
    script_thread_end(&script, 1);
    run(2, 0, false);
    expect_sums();
    const struct together_thread *threads = simulation.together.threads;
    const uint64_t limit = (uint64_t)(LONG_NS * machine.clock_ghz);
    assert_int_equal(simulation.together.diverged, 0);
    assert_in_range(threads[0].cycles[THREAD_SLEEPING], 1, limit / 100);
    assert_true(threads[1].end < limit / 100);
    simulation_free(&simulation);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_has_passed_for_who_reads_on),
        cmocka_unit_test(what_is_written_ends_the_polling),
        cmocka_unit_test(what_is_written_ends_the_polling_for_events),
        cmocka_unit_test(polling_lasts_until_the_write),
        cmocka_unit_test(who_only_looks_sleeps_on),
        cmocka_unit_test(what_is_written_meanwhile_does_not_matter),
        cmocka_unit_test(waits_with_a_limit_end_with_the_write),
        cmocka_unit_test(the_first_wait_is_like_the_others),
        cmocka_unit_test(a_message_ends_the_wait_for_it),
        cmocka_unit_test(who_is_to_write_waits_for_no_limit),
        cmocka_unit_test(the_writer_has_waited_too),
        cmocka_unit_test(limits_of_timers_run_out),
    };
    return cmocka_run_group_tests(tests, load_machine, remove_trace);
}
