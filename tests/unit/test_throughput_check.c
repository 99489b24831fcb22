/* What the simulated chip executes, where programs of unlike length share a core: rates of
 * different spans do not add up. */
#include "unit/loop_trace.h"

#include "model/throughput_check.h"
#include "simulate/sharing.h"

enum { SHORT = 3, LONG = 20 /* chunks of 4,000 instructions */ };

static char quick_path[TEMPORARY_BYTES], late_path[TEMPORARY_BYTES];
static struct machine machine;

static uint64_t stays(unsigned thread, unsigned chunk, unsigned iteration) {
    (void)thread, (void)chunk, (void)iteration;
    return 0x20000;
}

/* The first chunk brings a line from memory with each iteration, the others find theirs. */
static uint64_t waits_first(unsigned thread, unsigned chunk, unsigned iteration) {
    (void)thread;
    return 0x20000 + (chunk ? 0 : 256 * iteration);
}

static int setup(void **state) {
    (void)state;
    struct error error;
    write_loop_trace(quick_path, "quick", ISA_X86_64, SHORT, stays);
    write_loop_trace(late_path, "late", ISA_X86_64, LONG, waits_first);
    assert_true(machine_load("machines/niagara.ini", &machine, &error));
    assert_true(machine_set(&machine, "chip.cores=1", &error));
    assert_true(machine_set(&machine, "chip.threads=2", &error));
    return 0;
}

static int teardown(void **state) {
    (void)state;
    return unlink(quick_path) | unlink(late_path);
}

/* The quick program has run its 12,000 instructions while the other still waits for memory, in
 * nearly every turn of the core; the other's 80,000 take a little more than half of the turns once
 * it no longer waits. Their rates, each over its own first run, sum to more than a core that issues
 * one instruction in a cycle can do; what it did is what both executed until the longer one ended,
 * in that time. */
static void unlike_lengths(void **state) {
    (void)state;
    const char *traces[] = {quick_path, late_path};
    const struct selection selection = {.thread = 0};
    const struct throughput_check_options options = {
        .machine = &machine, .traces = traces, .thread_count = 2, .selection = selection};
    const struct sharing_options sharing = {
        .machine = &machine, .traces = traces, .selection = selection};
    struct throughput_simulated simulated;
    struct sharing_result result;
    struct error error;
    assert_true(throughput_simulate(&options, &simulated, &error));
    assert_true(sharing_run(&sharing, &result, &error));
    assert_true(simulated.by_thread[0].ipc + simulated.by_thread[1].ipc > 1);
    assert_true(simulated.ipc <= 1);
    const double executed = (double)result.all[0].instructions + (double)result.all[1].instructions;
    assert_float_equal(simulated.ipc * (double)result.cycles, executed, 1e-6 * executed);
    assert_float_equal(simulated.by_core[0], simulated.ipc, 1e-12);
    throughput_simulated_free(&simulated);
    sharing_free(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(unlike_lengths)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
