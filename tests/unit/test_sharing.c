/* Trace files side by side on a chip: programs begin again, alone and together, from memory or from
 * the file; what cannot be run is refused in a line. */
#include "unit/loop_trace.h"

#include <sys/stat.h>

#include "core/multithreaded/penalties.h"
#include "simulate/repeated.h"
#include "simulate/sharing.h"

enum {
    INSNS = LOOP_INSNS,
    ITERATIONS = LOOP_ITERATIONS,
    SHORT = 3,
    LONG = 20 /* chunks: 80,000 instructions */
};

static char short_path[TEMPORARY_BYTES], long_path[TEMPORARY_BYTES], other_path[TEMPORARY_BYTES];
static struct machine machine;

/* Thread 0 goes through 256 bytes for each iteration of a chunk, always the same; thread 1 stays
 * where it is. */
static uint64_t address_of(unsigned thread, unsigned chunk, unsigned iteration) {
    (void)chunk;
    return 0x20000 + (thread ? 0 : 256 * iteration);
}

static int setup(void **state) {
    (void)state;
    struct error error;
    write_loop_trace(short_path, "sharing", ISA_X86_64, SHORT, address_of);
    write_loop_trace(long_path, "sharing", ISA_X86_64, LONG, address_of);
    assert_true(machine_load("machines/niagara.ini", &machine, &error));
    assert_true(machine_set(&machine, "chip.cores=2", &error));
    assert_true(machine_set(&machine, "chip.threads=2", &error));
    return 0;
}

static int teardown(void **state) {
    (void)state;
    return unlink(short_path) | unlink(long_path);
}

/* ---- a program again and again ---- */

/* FNV-1a over what is handed out until it ends; *insns: how many. */
static uint64_t hash_of_run(struct runner *runner, uint64_t *insns) {
    uint64_t hash = 14695981039346656037ull;
    struct error error;
    struct trace_batch batch;
    const struct code *code;
    bool ends = false;
    *insns = 0;
    while (!ends) {
        if (!runner_next(runner, &code, &batch, &ends, &error))
            fail_msg("%s", error.message);
        assert_true(batch.insn_count <= REPEATED_BATCH);
        *insns += batch.insn_count;
        for (uint32_t i = 0; i < batch.insn_count; i++) {
            hash = (hash ^ code->insns[batch.insns[i].insn].address) * 1099511628211ull;
            for (uint32_t k = 0; k < batch.insns[i].memory_count; k++) {
                uint32_t at = batch.insns[i].memory - (uint32_t)batch.first_access + k;
                assert_true(at < batch.access_count);
                hash = (hash ^ batch.accesses[at].address) * 1099511628211ull;
            }
        }
    }
    return hash;
}

static void runs_are_the_same(void **state) {
    (void)state;
    const struct {
        const char *path;
        struct selection selection;
        uint64_t insns;
    } cases[] = {{short_path, {.thread = -1}, SHORT * ITERATIONS * INSNS},
                 {short_path, {.thread = 1}, SHORT * ITERATIONS * INSNS},
                 {short_path, {.thread = 0, .skip = 5, .limit = 70}, 70},
                 {long_path, {.thread = -1}, LONG * ITERATIONS * INSNS},
                 {long_path, {.thread = 1, .skip = 1001, .limit = 70001}, 70001}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error error;
        struct repeated *program = repeated_open(cases[i].path, &cases[i].selection, &error);
        assert_non_null(program);
        assert_int_equal(repeated_isa(program), ISA_X86_64);
        struct runner *one = runner_new(program, &error), *other = runner_new(program, &error);
        uint64_t insns, first = hash_of_run(one, &insns);
        assert_int_equal(insns, cases[i].insns);
        for (int again = 0; again < 2; again++) {
            assert_true(hash_of_run(one, &insns) == first);
            assert_true(hash_of_run(other, &insns) == first);
            assert_int_equal(insns, cases[i].insns);
        }
        runner_free(one);
        runner_free(other);
        repeated_close(program);
    }
}

/* What is held is what the file has: the long program's first 60,000 instructions are held, its
 * first 80,000 are read. */
static void held_as_read(void **state) {
    (void)state;
    struct error error;
    struct selection selection = {.limit = 60000, .thread = 0}, all = {.thread = 0};
    struct repeated *held = repeated_open(long_path, &selection, &error);
    struct repeated *read = repeated_open(long_path, &all, &error);
    struct runner *one = runner_new(held, &error), *other = runner_new(read, &error);
    struct trace_batch left, right;
    const struct code *code;
    bool ends;
    uint32_t compared = 0, l = 0, r = 0;
    left.insn_count = right.insn_count = 0;
    while (compared < 60000) {
        if (l == left.insn_count && (l = 0, true))
            assert_true(runner_next(one, &code, &left, &ends, &error));
        if (r == right.insn_count && (r = 0, true))
            assert_true(runner_next(other, &code, &right, &ends, &error));
        for (; l < left.insn_count && r < right.insn_count; l++, r++, compared++) {
            assert_int_equal(left.insns[l].insn, right.insns[r].insn);
            assert_int_equal(left.insns[l].memory_count, right.insns[r].memory_count);
            if (left.insns[l].memory_count)
                assert_true(
                    left.accesses[left.insns[l].memory - (uint32_t)left.first_access].address ==
                    right.accesses[right.insns[r].memory - (uint32_t)right.first_access].address);
        }
    }
    runner_free(one);
    runner_free(other);
    repeated_close(held);
    repeated_close(read);
}

/* ---- on a chip ---- */

static struct sharing_result run(const char *const *traces, struct selection selection) {
    struct sharing_options options = {
        .machine = &machine, .traces = traces, .selection = selection};
    struct sharing_result result;
    struct error error;
    if (!sharing_run(&options, &result, &error))
        fail_msg("%s", error.message);
    return result;
}

/* A program of 12,000 instructions with 3,000 loads: the first round brings 1,000 lines of 256
 * bytes from memory, which the L1D of 16 KiB (they meet in 64 of its lines) does not keep and the
 * L2 does. */
static void alone(void **state) {
    (void)state;
    const char *traces[4] = {[2] = short_path};
    struct sharing_result result = run(traces, (struct selection){.thread = -1});
    const struct chip_thread_statistics *first = &result.first[2];
    assert_int_equal(result.threads, 4);
    assert_int_equal(first->instructions, SHORT * ITERATIONS * INSNS);
    assert_int_equal(first->accesses, SHORT * ITERATIONS);
    assert_int_equal(first->turns, first->instructions + 32); /* pages of 8 KiB */
    assert_int_equal(first->l1d_misses, SHORT * ITERATIONS);
    assert_int_equal(first->l2_misses, ITERATIONS);
    /* Nobody is in its way: each event takes its penalty, and each cycle is a turn or waited for.
     */
    struct chip_penalties penalties = chip_penalties(&machine);
    const uint64_t *waited = first->cycles_in, *events = first->events;
    assert_int_equal(waited[SUSPENDED_L2_HIT], (SHORT - 1) * ITERATIONS * penalties.l2_hit);
    assert_int_equal(waited[SUSPENDED_L2_MISS], ITERATIONS * penalties.memory);
    assert_int_equal(waited[SUSPENDED_FETCH], first->l1i_misses * penalties.fetch +
                                                  first->l2_fetch_misses * machine.dram.latency);
    assert_int_equal(events[SUSPENDED_TRANSLATION], 32 + 1); /* pages of data, and one of code */
    assert_int_equal(waited[SUSPENDED_TRANSLATION], 33 * penalties.translation - 32);
    assert_true(events[SUSPENDED_BRANCH] > 0);
    uint64_t sum = first->turns;
    for (int cause = 0; cause < SUSPENSIONS; cause++)
        sum += waited[cause];
    assert_int_equal(first->cycles, sum);
    assert_true(result.all[2].instructions >= first->instructions);
    assert_int_equal(result.all[0].turns, 0);
    assert_true(result.cycles >= first->cycles && result.cycles < first->cycles + 20000);
    sharing_free(&result);
}

/* Cycles are where the counts say. */
static void assert_adds_up(const struct chip_thread_statistics *thread) {
    uint64_t waited = 0;
    for (int cause = 0; cause < SUSPENSIONS; cause++)
        waited += thread->cycles_in[cause];
    assert_true(thread->turns >= thread->instructions);
    assert_true(thread->cycles >= thread->turns);
    assert_true(waited <= thread->cycles + 200);
}

static void together(void **state) {
    (void)state;
    const char *traces[4] = {short_path, long_path, short_path, long_path};
    struct sharing_result one = run(traces, (struct selection){.thread = -1});
    struct sharing_result two = run(traces, (struct selection){.thread = -1});
    assert_int_equal(one.cycles, two.cycles);
    assert_memory_equal(one.first, two.first, 4 * sizeof *one.first);
    assert_memory_equal(one.all, two.all, 4 * sizeof *one.all);
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t insns = (i % 2 ? LONG : SHORT) * ITERATIONS * INSNS;
        assert_int_equal(one.first[i].instructions, insns);
        assert_true(one.all[i].instructions >= insns);
        assert_adds_up(&one.first[i]);
        assert_adds_up(&one.all[i]);
    }
    /* The short ones have run many times until the long ones are done. */
    assert_true(one.all[0].instructions > 5 * one.first[0].instructions);
    sharing_free(&one);
    sharing_free(&two);
}

/* ---- what is refused ---- */

static const char *refusal(const char *const *traces, struct selection selection) {
    static struct error error;
    struct sharing_options options = {
        .machine = &machine, .traces = traces, .selection = selection};
    struct sharing_result result;
    assert_false(sharing_run(&options, &result, &error));
    sharing_free(&result);
    return error.message;
}

static void refusals(void **state) {
    (void)state;
    struct selection everything = {.thread = -1};
    const char *traces[4] = {NULL};
    assert_string_equal(refusal(traces, everything), "no program for any hardware thread");
    traces[0] = short_path;
    traces[1] = "/nowhere/x.ctrace";
    assert_non_null(strstr(refusal(traces, everything), "/nowhere/x.ctrace: No such file"));
    traces[1] = "/dev/null";
    assert_non_null(strstr(refusal(traces, everything), "/dev/null: not a file"));
    traces[1] = NULL;
    assert_non_null(strstr(refusal(traces, (struct selection){.thread = 7}), "no instructions"));
    assert_non_null(strstr(refusal(traces, (struct selection){.thread = -1, .skip = 1 << 20}),
                           "no instructions"));
    assert_non_null(strstr(refusal(traces, (struct selection){.from_symbol = "x", .thread = -1}),
                           "x was never entered"));
    write_loop_trace(other_path, "sharing", ISA_RISCV64, 1, address_of);
    traces[3] = other_path;
    assert_non_null(strstr(refusal(traces, everything), "of different architectures"));
    unlink(other_path);
}

static void stops(void **state) {
    (void)state;
    const volatile sig_atomic_t stop = 1;
    const char *traces[4] = {short_path};
    struct sharing_options options = {
        .machine = &machine, .traces = traces, .selection = {.thread = -1}, .watcher.stop = &stop};
    struct sharing_result result;
    struct error error;
    assert_true(sharing_run(&options, &result, &error));
    assert_true(result.interrupted);
    assert_int_equal(result.first[0].instructions, 0);
    sharing_free(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_the_same),
        cmocka_unit_test(held_as_read),
        cmocka_unit_test(alone),
        cmocka_unit_test(together),
        cmocka_unit_test(refusals),
        cmocka_unit_test(stops),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
