/* Hand-made threads on one chip: what a thread read of what another had written in the captured run
 * is waited for in simulated time. */
#include "together_script.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_ends_with_the_program),
        cmocka_unit_test(work_that_may_come_before_the_end_is_done),
        cmocka_unit_test(reader_waits_for_writer),
        cmocka_unit_test(who_had_ended_is_waited_for),
        cmocka_unit_test(who_has_ended_is_not_waited_for),
        cmocka_unit_test(no_wait_for_what_is_written),
        cmocka_unit_test(spinning_lasts_until_the_write),
        cmocka_unit_test(what_nobody_ends_is_work),
        cmocka_unit_test(two_threads_in_turns),
        cmocka_unit_test(orders_in_a_circle),
        cmocka_unit_test(the_same_every_time),
    };
    return cmocka_run_group_tests(tests, load_machine, remove_trace);
}
