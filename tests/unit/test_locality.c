/* Profiles of hand-made programs: what passes the L1, several shapes at once, what else is counted,
 * and which machines a profile fits. */
#include "core/core.h"
#include "unit/data_program.h"

#include <math.h>

#include "memory/frame.h"
#include "model/locality.h"

/* L1D: two sets of one line of 64 bytes. */
static struct machine small_machine(void) {
    struct machine machine = roomy_machine(PREFETCH_NONE);
    machine.l1d.size = 128;
    machine.l1d.ways = 1;
    machine.branch.direction = DIRECTION_PERFECT;
    machine.branch.ras_entries = 1;
    machine.dtlb.entries = 2;
    machine.classes[OP_INT_DIV].latency = 20;
    return machine;
}

static void measure(const struct program_trace *program, const struct machine *machine,
                    const struct cache_shape *shapes, uint32_t shape_count, bool frames,
                    struct locality *locality) {
    struct error error = {0};
    const struct locality_options options = {.machine = machine,
                                             .shared = shapes,
                                             .shared_count = shape_count,
                                             .frames = frames,
                                             .core = true};
    struct locality_pass *pass = locality_new(&options, &error);
    assert_non_null(pass);
    assert_true(
        locality_add(pass,
                     &(struct core_input){&program->code, program->dynamic, program->accesses,
                                          program->count, program->access_count, 0},
                     &error));
    assert_true(locality_finish(pass, locality, &error));
}

/* Lines 0, 1 (other set), 0 (hit), 2 (misses, drops 0), 0 (misses), 1 (hit), and 3 (drops 1). The
 * shared cache of one set and two ways sees 0 1 2 0 3 at accesses 0 1 3 4 6: 0 . . . 0 would be
 * cseq(3, 4, 5), too deep for two ways and right for four. */
static void misses_go_on(void **state) {
    (void)state;
    const struct line lines[] = {LOAD(1, 2, 0), LOAD(1, 2, 64), STORE(1, 2, 8), LOAD(1, 2, 128),
                                 NOTHING,       LOAD(1, 2, 0),  LOAD(1, 2, 64), LOAD(1, 2, 192)};
    struct program_trace *program = new_program(lines, 8);
    const struct machine machine = small_machine();
    const struct cache_shape shapes[] = {{1, 2, 64}, {1, 4, 64}, {2, 2, 64}};
    struct locality locality;
    measure(program, &machine, shapes, 3, false, &locality);
    const struct locality_level *l1d = &locality.levels[0];
    assert_int_equal(locality.level_count, 4);
    assert_int_equal(locality.events.instructions, 8);
    assert_int_equal(locality.events.turns, 8);
    assert_int_equal(locality.events.accesses, 7);
    assert_int_equal(locality.events.l1d_misses, 5);
    assert_int_equal(l1d->accesses, 7);
    assert_int_equal(l1d->misses, 5);
    assert_int_equal(l1d->circular[0][1].count, 1); /* 0 1 0 */
    assert_int_equal(l1d->circular[0][1].n, 2);
    assert_int_equal(l1d->circular[0][2].count, 1); /* 1 0 2 0 1 */
    assert_int_equal(l1d->circular[0][2].r, 5);
    for (int i = 1; i < 4; i++) {
        assert_int_equal(locality.levels[i].run, 7);
        assert_int_equal(locality.levels[i].accesses, 5);
        assert_true(locality.levels[i].blocks[locality.levels[i].points - 1] == 4);
    }
    assert_int_equal(locality.levels[1].misses, 5);
    assert_int_equal(locality.levels[2].misses, 4);
    assert_int_equal(locality.levels[2].circular[2][2].count, 1);
    assert_int_equal(locality.levels[2].circular[2][2].r, 5);
    assert_int_equal(locality.levels[2].circular[2][2].n, 4);
    /* Two sets: 0 2 0 in the even one is cseq(2, 3, 5). */
    assert_int_equal(locality.levels[3].misses, 4);
    assert_int_equal(locality.levels[3].circular[1][2].n, 3);
    locality_free(&locality);
    free(program);
}

/* A load of 200 bytes from the middle of line 0 touches lines 0 to 3, and takes four turns. Three
 * pages of 4096 go through a TLB of two. Divisions take 20 cycles, 19 of them beyond the first. */
static void lines_pages_and_operations(void **state) {
    (void)state;
    const struct line lines[] = {LOAD(1, 2, 32),
                                 LOAD(1, 2, 0x1000),
                                 LOAD(1, 2, 0x2000),
                                 LOAD(1, 2, 0),
                                 {OP_INT_DIV, 3, 4, NO, 0}};
    struct program_trace *program = new_program(lines, 5);
    struct machine machine = small_machine();
    const struct cache_shape shape = {16, 4, 64};
    struct locality locality;
    program->accesses[0].size_bytes = 200;
    measure(program, &machine, &shape, 1, false, &locality);
    assert_int_equal(locality.events.accesses, 7);
    assert_int_equal(locality.events.turns, 8);
    assert_int_equal(locality.events.dtlb_misses, 4);
    assert_int_equal(locality.events.long_operations, 1);
    assert_int_equal(locality.events.long_cycles, 19);
    locality_free(&locality);
    free(program);
}

/* First 2^15 loads of block 0, a cycle each; then as many of blocks 0 and 2 in turn, each before a
 * division of 20 cycles: 11 cycles in the mean. Block 0 comes back over two accesses: 2^15 − 1
 * times in 2 cycles, once, between the phases, in 1 + 21; later both over three in 63. */
static void slow_phases_last(void **state) {
    (void)state;
    enum { EACH = 1 << 15 };
    const struct line lines[] = {
        LOAD(1, 2, 0), {OP_INT_DIV, 3, 4, NO, 0}, LOAD(1, 2, 128), {OP_INT_DIV, 3, 4, NO, 0}};
    struct program_trace *program = new_program(lines, 4);
    struct machine machine = small_machine();
    const struct cache_shape shape = {16, 4, 64};
    struct locality locality;
    struct error error = {0};
    machine.l1d = (struct machine_cache){.present = true, .size = 256, .ways = 2, .line = 64};
    machine.l2.latency = 1;
    machine.llc.present = machine.dram.banked = false;
    machine.page_walk = machine.dram.latency = 0;
    const struct locality_options options = {
        .machine = &machine, .shared = &shape, .shared_count = 1};
    struct locality_pass *pass = locality_new(&options, &error);
    assert_non_null(pass);
    for (int i = 0; i < EACH; i++)
        assert_true(locality_add(
            pass,
            &(struct core_input){&program->code, program->dynamic, program->accesses, 1, 1, 0},
            &error));
    for (int i = 0; i < EACH / 2; i++)
        assert_true(locality_add(
            pass,
            &(struct core_input){&program->code, program->dynamic, program->accesses, 4, 2, 0},
            &error));
    assert_true(locality_finish(pass, &locality, &error));
    const struct circular_count *one = &locality.levels[0].circular[0][1],
                                *two = &locality.levels[0].circular[1][1];
    assert_int_equal(one->count, EACH);
    assert_int_equal(two->count, EACH - 2);
    assert_true(fabs(one->time - ((EACH - 1) * 2 + 22) / 11.0) < 1e-6);
    assert_true(fabs(two->time - (EACH - 2) * 63 / 11.0) < 1e-6);
    locality_free(&locality);
    free(program);
}

/* What threads of a core share besides. 40 instructions of 4 bytes are three lines of code of 64
 * bytes in one page, each looked up once. Loads of pages 0 1 0 0 2 0: the third finds page 0 behind
 * page 1, cseq(2, 3, 3); the fourth is of the same page as the one before and is passed over, so
 * that the last is cseq(2, 3, 4) since the third. */
static void what_a_core_shares(void **state) {
    (void)state;
    static const uint64_t PAGES[] = {0, 1, 0, 0, 2, 0};
    struct line lines[40];
    for (int i = 0; i < 40; i++)
        lines[i] = i < 6 ? (struct line)LOAD(1, 2, PAGES[i] << 12) : (struct line)NOTHING;
    struct program_trace *program = new_program(lines, 40);
    struct machine machine = small_machine();
    const struct cache_shape shape = {16, 4, 128};
    struct locality locality;
    machine.l1i = machine.l1d;
    machine.itlb.entries = 4;
    measure(program, &machine, &shape, 1, false, &locality);
    const struct locality_level *code = &locality.core[LOCALITY_L1I];
    const struct locality_level *itlb = &locality.core[LOCALITY_ITLB];
    const struct locality_level *dtlb = &locality.core[LOCALITY_DTLB];
    assert_int_equal(code->run, 3);
    assert_int_equal(code->misses, 3);
    assert_int_equal(locality.events.l1i_misses, 3);
    assert_int_equal(locality.events.code_lines, 2); /* the first two lie in one of 128 bytes */
    assert_int_equal(itlb->run, 3);
    assert_int_equal(itlb->accesses, 1);
    assert_int_equal(locality.events.itlb_misses, 1);
    assert_int_equal(dtlb->run, 6);
    assert_int_equal(dtlb->accesses, 5);
    assert_int_equal(dtlb->misses, 3);
    assert_int_equal(locality.events.dtlb_misses, 3);
    assert_int_equal(dtlb->circular[1][1].r, 3);
    assert_int_equal(dtlb->circular[1][2].r, 4);
    assert_int_equal(dtlb->circular[1][2].n, 3);
    locality_free(&locality);
    machine.dtlb.entries = LOCALITY_MAX_WAYS + 1; /* fully associative */
    measure(program, &machine, &shape, 1, false, &locality);
    assert_false(locality_has(&locality.core[LOCALITY_DTLB]));
    assert_int_equal(locality.events.dtlb_misses, 3);
    locality_free(&locality);
    free(program);
}

/* Frames move pages, not what is within one: lines 0 and 1 of a page stay neighbours, pages 0 and
 * 16 of a cache of 16 pages need not meet in one set any more. */
static void frames_scatter_pages(void **state) {
    (void)state;
    struct line lines[64];
    for (uint64_t i = 0; i < 64; i++)
        lines[i] = LOAD(1, 2, i / 2 % 32 * 0x10000 + i % 2 * 64);
    struct program_trace *program = new_program(lines, 64);
    const struct machine machine = small_machine();
    const struct cache_shape shape = {1024, 1, 64};
    struct locality plain, scattered;
    measure(program, &machine, &shape, 1, false, &plain);
    measure(program, &machine, &shape, 1, true, &scattered);
    assert_true(plain.levels[1].sets[plain.levels[1].points - 1] == 2);
    assert_true(scattered.levels[1].sets[scattered.levels[1].points - 1] >= 20);
    assert_true(scattered.levels[1].sets[1] == 2);
    const uint64_t first = frame_address(0, 0, 12) >> 6 & 1023;
    assert_true(scattered.levels[1].set_touched[first / 64] >> first % 64 & 1);
    locality_free(&plain);
    locality_free(&scattered);
    free(program);
}

static void a_private_l2_filters(void **state) {
    (void)state;
    const struct line lines[] = {LOAD(1, 2, 0), LOAD(1, 2, 128), LOAD(1, 2, 0), LOAD(1, 2, 128)};
    struct program_trace *program = new_program(lines, 4);
    struct machine machine = small_machine();
    machine.l2 = machine.llc = machine.l1d;
    machine.l2.size = 256;
    machine.l2.ways = 4;
    const struct cache_shape shape = {16, 4, 64};
    struct locality locality;
    measure(program, &machine, &shape, 1, false, &locality);
    assert_int_equal(locality.events.l1d_misses, 4);
    assert_int_equal(locality.levels[1].accesses, 2);
    locality_free(&locality);
    free(program);
}

static void what_a_profile_fits(void **state) {
    (void)state;
    const struct line lines[] = {LOAD(1, 2, 0)};
    struct program_trace *program = new_program(lines, 1);
    struct machine machine;
    struct error error = {0};
    const struct cache_shape shape = {16, 4, 64};
    struct locality locality;
    assert_true(machine_load("niagara", &machine, &error));
    measure(program, &machine, &shape, 1, true, &locality);
    assert_true(locality_fits(&locality, &machine, &error));
    assert_true(machine_set(&machine, "l2.size=1M", &error));
    assert_true(machine_set(&machine, "dram.latency=300", &error));
    assert_true(locality_fits(&locality, &machine, &error));
    assert_true(machine_set(&machine, "l1d.size=32K", &error));
    assert_false(locality_fits(&locality, &machine, &error));
    assert_string_equal(error.message, "it was measured with l1d.size = 16K, machine niagara has "
                                       "l1d.size = 32K (measure it again)");
    locality_free(&locality);
    free(program);
}

static void nothing_to_measure(void **state) {
    (void)state;
    const struct line lines[] = {NOTHING, NOTHING};
    struct program_trace *program = new_program(lines, 2);
    const struct machine machine = small_machine();
    struct error error = {0};
    struct locality locality;
    struct cache_shape shape = {16, 4, 64};
    const struct locality_options options = {
        .machine = &machine, .shared = &shape, .shared_count = 1};
    struct locality_pass *pass = locality_new(&options, &error);
    assert_true(locality_add(
        pass, &(struct core_input){&program->code, program->dynamic, NULL, 2, 0, 0}, &error));
    assert_false(locality_finish(pass, &locality, &error));
    assert_string_equal(error.message, "none of the 2 instructions loads or stores anything");
    shape.sets = 12;
    assert_null(locality_new(&options, &error));
    assert_non_null(strstr(error.message, "powers of two"));
    free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(misses_go_on),
                                       cmocka_unit_test(slow_phases_last),
                                       cmocka_unit_test(lines_pages_and_operations),
                                       cmocka_unit_test(frames_scatter_pages),
                                       cmocka_unit_test(a_private_l2_filters),
                                       cmocka_unit_test(what_a_profile_fits),
                                       cmocka_unit_test(nothing_to_measure),
                                       cmocka_unit_test(what_a_core_shares)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
