/* Hand-made threads on one chip: what it costs to wake a thread, and how late that then runs. */
#include "together_script.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waking_takes_time),
        cmocka_unit_test(who_is_awake_is_not_woken),
        cmocka_unit_test(waking_takes_the_waker_time),
    };
    return cmocka_run_group_tests(tests, load_machine, remove_trace);
}
