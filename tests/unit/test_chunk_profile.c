/* Slices of a live run against a second run of the same program, which is decoded in full: where
 * each slice begins, and that its marker is what is executed there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "region/chunk_profile.h"
#include "unit/live_trace.h"

static struct chunk_profile *profile_run(struct trace *trace,
                                         const struct chunk_profile_settings *settings,
                                         uint64_t *instructions) {
    struct error error = {0};
    struct trace_batch batch;
    struct chunk_profile *profile = chunk_profile_new(trace, settings);
    int status;
    assert_non_null(profile);
    *instructions = 0;
    trace_watch(trace, chunk_profile_chunk, profile);
    while (trace_pass(trace, UINT64_MAX), (status = trace_next(trace, &batch, &error)) > 0)
        *instructions += batch.insn_count + batch.passed;
    if (status < 0)
        fail_msg("%s", error.message);
    return profile;
}

/* Each slice begins at its marker, for the marker's time. */
static void check_markers(struct trace *trace, const struct slice_table *table) {
    struct error error = {0};
    struct trace_batch batch;
    uint64_t *executions = calloc(1 << 20, sizeof *executions), position = 0;
    size_t next = 0, checked = 0;
    uint32_t process = 0;
    int status;
    while ((status = trace_next(trace, &batch, &error)) > 0) {
        if (batch.process != process) { /* exec: everything counts from none */
            process = batch.process;
            position = 0;
            memset(executions, 0, (1 << 20) * sizeof *executions);
        }
        for (uint32_t i = 0; i < batch.insn_count; i++, position++) {
            const struct code *code = trace_code(trace);
            const struct static_insn *insn = &code->insns[batch.insns[i].insn];
            assert_true(batch.insns[i].insn < 1 << 20);
            executions[batch.insns[i].insn]++;
            if (next == table->slice_count || process != table->slices[next].process ||
                position < table->slices[next].first)
                continue;
            const struct region_marker *marker = &table->slices[next].start;
            assert_int_equal(table->slices[next].first, position);
            if (marker->image != MARKER_NO_IMAGE) {
                assert_int_equal(marker->offset, insn->offset);
                assert_string_equal(table->images[marker->image].path,
                                    code->images[insn->image].path);
                assert_int_equal(marker->count, executions[batch.insns[i].insn]);
                checked++;
            }
            next++;
        }
    }
    assert_int_equal(status, 0);
    assert_int_equal(next, table->slice_count);
    assert_true(checked + 2 >= next); /* the vDSO has no file */
    free(executions);
}

/* `events`: instructions whose events are captured; of all others executions are counted. 0: all.
 */
static void check_program(const char *const *command, uint64_t slice, size_t most,
                          uint64_t events) {
    const struct chunk_profile_settings settings = {
        .slice = slice, .longest = UINT64_MAX, .most_slices = most, .dimensions = 15, .seed = 1};
    const struct projection *slices;
    const struct slice_table *table;
    struct error error = {0};
    uint64_t instructions, sum = 0, before = 0;
    struct trace *trace = live_counts(command, chunk_profile_counts(&settings, events));
    struct chunk_profile *profile = profile_run(trace, &settings, &instructions);
    assert_true(chunk_profile_finish(profile, &slices, &table, &error));
    assert_int_equal(chunk_profile_instructions(profile), instructions);
    assert_false(chunk_profile_threaded(profile));
    assert_int_equal(slices->count, table->slice_count);
    assert_true(table->slice_count > 1 && table->slice_count <= most);
    for (size_t i = 0; i < table->slice_count; i++) {
        const struct slice_place *next = &table->slices[i + 1];
        bool last = i + 1 == table->slice_count || next->process != table->slices[i].process;
        assert_int_equal(table->slices[i].first, sum - before);
        assert_int_equal(slices->instructions[i], table->slices[i].instructions);
        sum += table->slices[i].instructions;
        if (last)
            before = sum;
        else
            assert_true(table->slices[i].instructions >= table->size);
    }
    assert_int_equal(sum, instructions);
    struct trace *again = live_trace(command);
    check_markers(again, table);
    trace_close(again);
    chunk_profile_free(profile);
    trace_close(trace);
}

static void slices_begin_at_their_markers(void **state) {
    (void)state;
    check_program((const char *const[]){"gzip", "-1", "-c", "/bin/ls", NULL}, 20000, 4096, 0);
    check_program((const char *const[]){"sort", "--parallel=1", "/etc/services", NULL}, 1, 4096, 0);
}

static void slices_double_to_stay_few(void **state) {
    (void)state;
    check_program((const char *const[]){"gzip", "-1", "-c", "/bin/ls", NULL}, 1, 8, 0);
}

/* Slices of both programs, also when most are merged; none lies in both. */
static void programs_after_exec_go_on(void **state) {
    (void)state;
    static const char *const COMMAND[] = {"sh", "-c", "exec env gzip -1 -c /bin/true", NULL};
    check_program(COMMAND, 20000, 4096, 0);
    check_program(COMMAND, 1000, 16, 0);
}

/* From the first chunk that begins behind 300,000 instructions. */
static void counts_give_slices_too(void **state) {
    (void)state;
    static const char *const GZIP[] = {"gzip", "-1", "-c", "/bin/ls", NULL};
    static const char *const EXEC[] = {"sh", "-c", "exec env gzip -1 -c /bin/ls", NULL};
    check_program(GZIP, 20000, 4096, 300000);
    check_program(GZIP, 1000, 16, 300000);
    check_program(EXEC, 20000, 4096, 300000);
}

static void threads_are_told(void **state) {
    const struct chunk_profile_settings settings = CHUNK_PROFILE_DEFAULTS;
    uint64_t instructions;
    (void)state;
    struct trace *trace = live_trace((const char *const[]){"build/workloads/x86_64/threads", NULL});
    struct chunk_profile *profile = profile_run(trace, &settings, &instructions);
    assert_true(chunk_profile_threaded(profile));
    chunk_profile_free(profile);
    trace_close(trace);
}

/* Two slices of 100 and 300 instructions at 1 and 5 are one of 400 at 4. */
static void merged_slices_are_the_mean_by_instructions(void **state) {
    struct projection projection;
    struct error error = {0};
    (void)state;
    projection_init(&projection, 1, 1);
    struct bbv_set set = {0};
    static const uint64_t COUNTS[] = {100, 300, 7};
    for (int i = 0; i < 3; i++)
        assert_true(bbv_set_block(&set, 1, COUNTS[i], &error) && bbv_set_slice(&set, &error) &&
                    projection_add(&projection, &set, (size_t)i, &error));
    projection.coordinates[0] = 1;
    projection.coordinates[projection.stride] = 5;
    projection_merge(&projection, 0, 0, 2);
    assert_int_equal(projection.instructions[0], 400);
    assert_float_equal(projection.coordinates[0], 4, 1e-6);
    bbv_set_free(&set);
    projection_free(&projection);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_begin_at_their_markers),
        cmocka_unit_test(slices_double_to_stay_few),
        cmocka_unit_test(programs_after_exec_go_on),
        cmocka_unit_test(counts_give_slices_too),
        cmocka_unit_test(threads_are_told),
        cmocka_unit_test(merged_slices_are_the_mean_by_instructions),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
