/* Cycles by call path, by example: main calls f; every unit goes to one of the two. */
#include "attribute/call_paths.h"
#include "attribute/profiler.h"
#include "call_script.h"
#include "tap_script.h"

enum { MAIN = 1, F = 2 }; /* paths: behind the thread */

/* 0 main, 1 main calls, 2 f, 3 f returns, 4 main. */
static void write_program(struct call_script *script) {
    script_begin(script, ISA_X86_64);
    plain(script, at('m', 0));
    call(script, at('m', 4), 0xff8);
    plain(script, at('f', 0));
    back(script, at('f', 4), 0xff8);
    plain(script, at('m', 8));
}

static uint64_t uop(const struct call_script *script, uint32_t step, uint32_t psv) {
    return tap_uop(script->steps[step].insn, psv, TAP_UOP_LAST);
}

/* Cycle 3: main's first commits: it has waited for 2 cycles. Cycle 4: the call, and f's first,
 * which missed the L1. Cycles 5 to 7: nothing is there, for f's first has flushed; 8: f's return
 * waits, and in 9 commits with main's last.
 *
 *     main  2 + 1 + 1/2 + 1/2 = 4 cycles; f  1/2 + 3 with ST-L1, and 1 + 1/2 */
static void write_cycles(const struct call_script *program, struct tap_script *script) {
    script_record(script, TAP_COMMIT, 3, TAP_DRAINED, 0, UOPS(uop(program, 0, 0)));
    script_record(script, TAP_COMMIT, 4, TAP_DRAINED, 0,
                  UOPS(uop(program, 1, 0), uop(program, 2, PSV_ST_L1)));
    script_record(script, TAP_COMMIT, 9, TAP_FLUSHED_LAST, 3,
                  UOPS(uop(program, 3, 0), uop(program, 4, 0)));
}

static void assert_cell(const struct pics_cell *cell, uint32_t path, uint32_t psv, uint64_t units) {
    assert_int_equal(cell->insn, path);
    assert_int_equal(cell->psv, psv);
    assert_int_equal(cell->units, units);
}

/* Instructions come in pieces of so many before the tap shows them; a run of weight 2 counts twice.
 */
static void attribute(uint32_t piece) {
    struct error error;
    struct call_script program;
    struct tap_script *script = tap_script_new();
    struct call_paths *paths =
        call_paths_new(&(struct path_extents){.locate = script_locate}, NULL);
    assert_non_null(paths);
    struct call_lane *lane = call_lane_new(paths, 0);
    assert_non_null(lane);
    write_program(&program);
    for (uint32_t i = 0; i < program.step_count; i += piece) {
        const uint32_t left = program.step_count - i;
        const struct trace_batch batch = script_piece(&program, i, left < piece ? left : piece);
        assert_true(call_lane_see(lane, &program.code, &batch, true, &error));
    }
    write_cycles(&program, script);
    const struct tap_worker worker = call_lane_worker(lane);
    assert_true(worker.consume(worker.context, &script->buffer, &error));
    assert_true(call_paths_collect(paths, 2));
    call_lane_free(lane);

    uint64_t units, instructions;
    call_paths_total(paths, &units, &instructions);
    assert_int_equal(units, 2 * 9 * CYCLE_UNITS);
    assert_int_equal(instructions, 2 * 5);
    struct call_path_result result;
    assert_true(call_paths_finish(paths, &program.code, &result, NULL));
    assert_int_equal(result.count, 3);
    assert_int_equal(result.paths[0].kind, PATH_THREAD);
    assert_int_equal(result.paths[MAIN].parent, 0);
    assert_int_equal(result.paths[F].parent, MAIN);
    assert_int_equal(result.paths[F].site, program.steps[1].insn);
    assert_int_equal(result.paths[MAIN].units, 2 * 4 * CYCLE_UNITS);
    assert_int_equal(result.paths[F].units, 2 * 5 * CYCLE_UNITS);
    assert_int_equal(result.paths[MAIN].instructions, 2 * 3);
    assert_int_equal(result.paths[F].instructions, 2 * 2);
    assert_int_equal(result.cell_count, 3);
    assert_cell(&result.cells[0], MAIN, 0, 2 * 4 * CYCLE_UNITS);
    assert_cell(&result.cells[1], F, 0, 2 * CYCLE_UNITS * 3 / 2);
    assert_cell(&result.cells[2], F, PSV_ST_L1, 2 * CYCLE_UNITS * 7 / 2);
    assert_int_equal(result.functions[result.paths[F].function].offset, at('f', 0));
    call_path_result_free(&result);
    call_paths_free(paths);
    tap_script_free(script);
}

static void every_unit_to_its_path(void **state) {
    (void)state;
    attribute(1);
    attribute(2);
    attribute(SCRIPT_INSNS);
}

/* A µop at the head of the pipeline that is flushed, again and again, has its wait; instructions
 * that only warmed are walked, and count nowhere. */
static void flushes_and_warming(void **state) {
    (void)state;
    struct error error;
    struct call_script program;
    struct tap_script *script = tap_script_new();
    struct call_paths *paths =
        call_paths_new(&(struct path_extents){.locate = script_locate}, NULL);
    struct call_lane *lane = call_lane_new(paths, 0);
    write_program(&program);
    const struct trace_batch warm = script_piece(&program, 0, 2),
                             rest = script_piece(&program, 2, 3);
    assert_true(call_lane_see(lane, &program.code, &warm, false, &error));
    assert_true(call_lane_see(lane, &program.code, &rest, true, &error));
    script_record(script, TAP_FLUSH, 2, TAP_DRAINED, 1, UOPS(uop(&program, 2, PSV_FL_MO)));
    script_record(script, TAP_COMMIT, 5, TAP_DRAINED, 0, UOPS(uop(&program, 2, PSV_FL_MO)));
    script_record(script, TAP_COMMIT, 6, TAP_DRAINED, 0,
                  UOPS(uop(&program, 3, 0), uop(&program, 4, 0)));
    const struct tap_worker worker = call_lane_worker(lane);
    assert_true(worker.consume(worker.context, &script->buffer, &error));
    assert_true(call_paths_collect(paths, 1));
    call_lane_free(lane);
    struct call_path_result result;
    assert_true(call_paths_finish(paths, &program.code, &result, NULL));
    assert_int_equal(result.count, 3);
    assert_int_equal(result.cell_count, 3);
    assert_cell(&result.cells[0], MAIN, 0, CYCLE_UNITS / 2);
    assert_cell(&result.cells[1], F, 0, CYCLE_UNITS / 2);
    assert_cell(&result.cells[2], F, PSV_FL_MO, 5 * CYCLE_UNITS);
    assert_int_equal(result.paths[F].instructions, 2);
    assert_int_equal(result.paths[MAIN].instructions, 1);
    call_path_result_free(&result);
    call_paths_free(paths);
    tap_script_free(script);
}

/* TIP and TEA sample every cycle of the same program by node: they say what the paths have. LCI
 * names the last that committed, and so gives f, behind which the pipeline is empty and its return
 * waits, more than main. */
static void profilers_by_node(void **state) {
    (void)state;
    struct error error;
    struct call_script program;
    struct tap_script *script = tap_script_new();
    struct call_paths *paths =
        call_paths_new(&(struct path_extents){.locate = script_locate}, NULL);
    struct call_lane *lane = call_lane_new(paths, 0);
    static const char *const NAMES[] = {"TIP", "TEA", "LCI"};
    struct profile_group *groups[3];
    struct profile_lane *lanes[3];
    struct profile_result results[3];
    for (int i = 0; i < 3; i++) {
        const struct profile_options options = {
            .profiler = profiler_find(NAMES[i]), .sampling = {.period = 1}, .commit_width = 4};
        assert_non_null(groups[i] = profile_group_new(&options, 1, &error));
        assert_non_null(lanes[i] = profile_lane_new(groups[i]));
        const struct tap_worker worker = profile_lane_worker(lanes[i]);
        assert_true(call_lane_follow(lane, &worker));
    }
    write_program(&program);
    const struct trace_batch all = script_piece(&program, 0, program.step_count);
    assert_true(call_lane_see(lane, &program.code, &all, true, &error));
    write_cycles(&program, script);
    const struct tap_worker worker = call_lane_worker(lane);
    assert_true(worker.consume(worker.context, &script->buffer, &error));
    assert_true(call_paths_collect(paths, 1));
    for (int i = 0; i < 3; i++) {
        profile_lane_free(lanes[i]);
        assert_true(profile_group_finish(groups[i], &results[i], &error));
    }
    call_lane_free(lane);
    struct call_path_result result;
    assert_true(call_paths_finish(paths, &program.code, &result, NULL));
    for (int i = 0; i < 3; i++) {
        uint64_t count, main = 0, f = 0, missed = 0;
        struct pics_cell *cells = pics_cells(results[i].pics, &count);
        for (uint64_t k = 0; k < count; k++) {
            const uint32_t path = result.node_paths[cells[k].insn];
            *(path == MAIN ? &main : &f) += cells[k].units;
            missed += cells[k].psv == PSV_ST_L1 ? cells[k].units : 0;
            assert_true(path == MAIN || path == F);
        }
        if (i < 2) {
            assert_int_equal(main, 4 * CYCLE_UNITS);
            assert_int_equal(f, 5 * CYCLE_UNITS);
        } else {
            assert_int_equal(main + f, (9 - results[i].lost) * CYCLE_UNITS);
            assert_true(f > main);
        }
        assert_int_equal(missed, i == 1 ? CYCLE_UNITS * 7 / 2 : 0);
        free(cells);
        profile_group_free(groups[i]);
    }
    call_path_result_free(&result);
    call_paths_free(paths);
    tap_script_free(script);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_unit_to_its_path),
                                       cmocka_unit_test(profilers_by_node),
                                       cmocka_unit_test(flushes_and_warming)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
