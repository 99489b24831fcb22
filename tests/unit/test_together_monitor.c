/* Hand-made threads on one chip, one of which is the monitor of a run-time system: nobody waits for
 * its sleeps. This program has the routine that such a thread is known by. */
#include "together_script.h"

#include "program/program.h"

/* Sixteen bytes, so that its second instruction is inside of it. */
__asm__(".text\n"
        ".globl runtime.sysmon\n"
        ".type runtime.sysmon, @function\n"
        "runtime.sysmon: .fill 15, 1, 0x90\n"
        "ret\n"
        ".size runtime.sysmon, 16\n");

enum { BLOCK_IN_ROUTINE = 2, BLOCK_ELSEWHERE };
enum { BEFORE = 20, BETWEEN = 10, BEHIND = 30 }; /* words */
static uint64_t routine_offset;

static bool find_routine(void *context, const struct program_function *function) {
    (void)context;
    if (function->name && !strcmp(function->name, "runtime.sysmon"))
        routine_offset = function->file_offset;
    return !routine_offset;
}

static void find(void) {
    struct program *program = program_new_local();
    assert_non_null(program);
    program_each_function(program, program_add_image(program, "/proc/self/exe", NULL, 0),
                          find_routine, NULL);
    program_free(program);
    assert_int_not_equal(routine_offset, 0);
}

static void begin_with_routine(void) {
    begin();
    struct item_image *image = &script_add(&script, ITEM_IMAGE)->image;
    *image = (struct item_image){
        .image = 1, .path = "/proc/self/exe", .kind = CODE_IMAGE_FILE, .start = 0x100000};
    image->end = 0x101000;
    image->file_offset = routine_offset;
    script_block(&script, 0, 0x100001, 1, "\x90", 1);
    script.items[script.count - 1].code.image = 1;
    script.items[script.count - 1].code.offset = routine_offset + 1;
    script_block(&script, 0, 0x2005, 1, "\x90", 1);
}

static void add_nop(uint32_t thread, uint64_t block) {
    uint64_t *next = events[chunks++];
    next[0] = event_block(block);
    script_data(&script, thread, next, 1);
}

/* A millisecond behind the work that is added. */
static void add_sleep(uint32_t thread, uint32_t words) {
    struct thread_event *sleep = add_event(thread, THREAD_EVENT_BLOCK, words);
    sleep->cause = THREAD_CAUSE_TIME;
    sleep->asked_ns = 1000000;
    add_work(thread, words);
}

/* The thread reads 100 words and, if `written` is not 0, what thread 1 wrote then. */
static void add_reader(uint64_t written) {
    uint64_t *next = events[chunks++];
    uint32_t count = 0;
    for (uint32_t i = 0; i < 100; i++) {
        next[count++] = event_block(BLOCK_LOOP);
        next[count++] = event_access(0, 2, 0, 0x1000000 + 4 * i);
    }
    if (written) {
        next[count++] = event_block(BLOCK_LOOP);
        next[count++] = event_access(0, 2, 0, WORD);
        next[count++] = event_mark(MARK_WRITER, 1);
        next[count++] = event_mark(MARK_WRITTEN, written);
    }
    script_data(&script, 0, next, count);
}

static void run_both(void) {
    script_thread_end(&script, 0);
    script_thread_end(&script, 1);
    run(2, 0, false);
    expect_sums();
}

/* Thread 1 works, sleeps, works, sleeps, and then writes what thread 0 reads. */
static void make(uint64_t block) {
    begin_with_routine();
    add_nop(1, block);
    add_sleep(1, BEFORE);
    add_sleep(1, BETWEEN);
    add_work(1, BEHIND);
    add_reader(1 + (BEFORE + BETWEEN + BEHIND) * INSNS + 2);
    run_both();
}

/* Thread 1 falls asleep in cycle S and thread 0 comes to its read in cycle R: the ends of threads
 * that do no more than that. So thread 1 sleeps for R − S cycles, and not again: between the two it
 * has 10 words to read, and 30 behind. */
static void who_waits_for_a_monitor_wakes_it(void **state) {
    (void)state;
    find();
    begin_with_routine();
    add_nop(1, BLOCK_IN_ROUTINE);
    add_work(1, BEFORE);
    add_reader(0);
    run_both();
    const uint64_t slept = simulation.together.threads[1].end;
    const uint64_t read = simulation.together.threads[0].end;
    assert_true(slept < read);
    simulation_free(&simulation);
    make(BLOCK_IN_ROUTINE);
    const struct together_result *result = &simulation.together;
    assert_int_equal(result->threads[1].cycles[THREAD_SLEEPING], read - slept);
    assert_int_equal(result->polls, 1);
    assert_int_equal(result->orders, 1);
    const uint64_t waited = result->threads[0].cycles[THREAD_SPINNING];
    assert_true(waited > 0 && waited < 10000);
    simulation_free(&simulation);
}

/* Two milliseconds, at 5 GHz. */
static void who_waits_for_another_waits_for_its_sleeps(void **state) {
    (void)state;
    find();
    make(BLOCK_ELSEWHERE);
    const struct together_result *result = &simulation.together;
    assert_int_equal(result->threads[1].cycles[THREAD_SLEEPING], 2 * 5000000);
    assert_int_equal(result->polls, 0);
    assert_true(result->threads[0].cycles[THREAD_SPINNING] > 9900000);
    simulation_free(&simulation);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_for_a_monitor_wakes_it),
        cmocka_unit_test(who_waits_for_another_waits_for_its_sleeps),
    };
    return cmocka_run_group_tests(tests, load_machine, remove_trace);
}
