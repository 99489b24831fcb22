/* Hand-made threads on one chip that count under a lock, or leave a word there, and do something by
 * what they read. The lock itself binds nobody: the first to come has it. */
#include "together_library.h"

enum { COUNTER = 0xb000, NOBODY = 1000 };

/* Behind the code of locks: 0x4010: add dword [rdi], 1; 0x4020: cmp dword [rdi], 1; jg 0x4030;
 * 0x4025: nop; 0x4030: nop; 0x4040: mov eax, [rdi]; test eax, eax; je 0x4030; 0x4046: sub eax, 1;
 * mov [rdi], eax; 0x4050: mov eax, [rdi]; mov [rsi + 4*rax], ecx. */
enum {
    BLOCK_ADD = BLOCK_LOAD + 1,
    BLOCK_LOOK,
    BLOCK_FEW,
    BLOCK_MANY,
    BLOCK_TAKE,
    BLOCK_TAKEN,
    BLOCK_INDEX
};

static bool add_counter_code(void) {
    if (!add_lock_code())
        return false;
    script_block(&script, 0, 0x4010, 1, "\x83\x07\x01", 3);
    script_block(&script, 0, 0x4020, 2, "\x83\x3f\x01\x7f\x0b", 5);
    script_block(&script, 0, 0x4025, 1, "\x90", 1);
    script_block(&script, 0, 0x4030, 1, "\x90", 1);
    script_block(&script, 0, 0x4040, 3, "\x8b\x07\x85\xc0\x74\xea", 6);
    script_block(&script, 0, 0x4046, 2, "\x83\xe8\x01\x89\x07", 5);
    script_block(&script, 0, 0x4050, 2, "\x8b\x07\x89\x0c\x86", 5);
    return true;
}

enum deed {
    ADD,       /* adds one */
    LOOK_FEW,  /* looks, and branches one way */
    LOOK_MANY, /* or the other */
    TAKE,      /* looks, branches one way and takes one off */
    TAKE_NONE, /* looks, and branches the other way */
    READ,      /* reads it */
    INDEX,     /* writes where it says */
    SET        /* writes what has nothing to do with what was there */
};

static uint32_t add_deed(uint64_t *next, enum deed deed) {
    uint32_t count = 0;
    switch (deed) {
    case ADD:
        next[count++] = event_block(BLOCK_ADD);
        next[count++] = event_access(0, 2, 0, COUNTER);
        next[count++] = event_access(1, 2, 0, COUNTER);
        break;
    case LOOK_FEW:
    case LOOK_MANY:
        next[count++] = event_block(BLOCK_LOOK);
        next[count++] = event_access(0, 2, 0, COUNTER);
        next[count++] = event_block(deed == LOOK_FEW ? BLOCK_FEW : BLOCK_MANY);
        break;
    case TAKE:
    case TAKE_NONE:
        next[count++] = event_block(BLOCK_TAKE);
        next[count++] = event_access(0, 2, 0, COUNTER);
        next[count++] = event_block(deed == TAKE ? BLOCK_TAKEN : BLOCK_MANY);
        if (deed == TAKE)
            next[count++] = event_access(1, 2, 1, COUNTER);
        break;
    case READ:
        next[count++] = event_block(BLOCK_LOAD);
        next[count++] = event_access(0, 2, 0, COUNTER);
        break;
    case INDEX:
        next[count++] = event_block(BLOCK_INDEX);
        next[count++] = event_access(0, 2, 0, COUNTER);
        next[count++] = event_access(1, 2, 1, COUNTER + 0x1000);
        break;
    case SET:
        next[count++] = event_block(BLOCK_STORE);
        next[count++] = event_access(1, 2, 0, COUNTER);
        break;
    }
    return count;
}

/* The thread takes the lock, does so, and gives it back. In the captured run it came behind what
 * `other` (NOBODY: none) has done so far. */
static void add_section(uint32_t thread, uint32_t other, enum deed first, enum deed second,
                        bool both) {
    uint64_t *next = events[chunks++];
    uint32_t count = 0;
    next[count++] = event_block(BLOCK_LOCK);
    next[count++] = event_block(BLOCK_LOCKS);
    next[count++] = event_access(0, 2, 1, OUTER);
    next[count++] = event_access(1, 2, 1, OUTER);
    if (other != NOBODY) {
        next[count++] = event_mark(MARK_WRITER, UINT64_C(1) << 45 | other);
        next[count++] = event_mark(MARK_WRITTEN, script.first_insn[other]);
    }
    next[count++] = event_block(BLOCK_LOCKED);
    count += add_deed(next + count, first);
    if (both)
        count += add_deed(next + count, second);
    next[count++] = event_block(BLOCK_UNLOCK);
    next[count++] = event_block(BLOCK_UNLOCKS);
    next[count++] = event_access(0, 2, 1, OUTER);
    next[count++] = event_access(1, 2, 1, OUTER);
    next[count++] = event_block(BLOCK_UNLOCKED);
    script_data(&script, thread, next, count);
}

static void add_one(uint32_t thread, uint32_t other, enum deed deed) {
    add_section(thread, other, deed, deed, false);
}

/* So many sections were bound. */
static void end_and_run(uint32_t threads, uint64_t bound) {
    for (uint32_t i = 0; i < threads; i++)
        script_thread_end(&script, i);
    run(4, 0, false);
    expect_sums();
    assert_int_equal(simulation.together.handed, bound);
}

static const struct together_thread *thread_of(uint32_t thread) {
    return &simulation.together.threads[thread];
}

/* Threads 1 and 2 count up, and thread 0 looks whether both have. In the captured run the slower
 * one had come first. It looks 3 times: before, where it binds it to nobody, when thread 1 has
 * counted, where it goes the same way, and when both have. */
static void a_latch_opens_when_all_have_come(void **state) {
    (void)state;
    begin();
    if (!add_counter_code())
        skip();
    add_one(0, NOBODY, LOOK_FEW);
    add_work(1, 4000);
    add_one(1, 0, ADD);
    add_one(0, 1, LOOK_FEW);
    add_work(2, 20);
    add_one(2, 0, ADD);
    add_one(0, 2, LOOK_MANY);
    end_and_run(3, 1 + 2);
    const struct together_thread *of = simulation.together.threads;
    assert_int_equal(of[1].cycles[THREAD_WAITING], 0);
    assert_int_equal(of[2].cycles[THREAD_WAITING], 0);
    assert_true(of[2].end < of[1].end / 4);
    assert_true(of[0].cycles[THREAD_WAITING] > of[1].cycles[THREAD_RUNNING] * 3 / 4);
    simulation_free(&simulation);
}

/* Who looks again and again without doing anything else for it waits where it looks first, and
 * where it does something else, which is the last time here. */
static void looks_that_change_nothing_bind_nobody(void **state) {
    (void)state;
    begin();
    if (!add_counter_code())
        skip();
    for (unsigned i = 0; i < 4; i++) {
        add_work(1, 400);
        add_one(1, i ? 0 : NOBODY, ADD);
        add_one(0, 1, i < 3 ? LOOK_FEW : LOOK_MANY);
    }
    end_and_run(2, 2);
    assert_true(thread_of(0)->end > thread_of(1)->end);
    simulation_free(&simulation);
}

/* Who writes where a counter says is bound by what is there, and not by the count; of who only
 * reads it, it is not known what comes of that. */
static void places_bind_nobody(void **state) {
    (void)state;
    for (unsigned reads = 0; reads < 2; reads++) {
        begin();
        if (!add_counter_code())
            skip();
        for (unsigned i = 0; i < 4; i++) {
            add_work(1, 400);
            add_one(1, i ? 0 : NOBODY, ADD);
            add_one(0, 1, reads ? READ : INDEX);
        }
        end_and_run(2, reads ? 4 : 0);
        simulation_free(&simulation);
    }
}

/* The last of two that count up goes on to work: it is the quicker one, and waits for the other,
 * which came first in the captured run. */
static void the_last_one_in_waits(void **state) {
    (void)state;
    begin();
    if (!add_counter_code())
        skip();
    add_work(0, 4000);
    add_section(0, NOBODY, ADD, LOOK_FEW, true);
    add_work(1, 20);
    add_section(1, 0, ADD, LOOK_MANY, true);
    end_and_run(2, 1);
    assert_int_equal(thread_of(0)->cycles[THREAD_WAITING], 0);
    assert_true(thread_of(1)->end > thread_of(0)->cycles[THREAD_RUNNING]);
    simulation_free(&simulation);
}

/* Thread 1 makes 4 items and thread 0 takes them, which in the captured run came when all were
 * there. Each waits for one item: behind the last thread 0 uses only that one, which takes it
 * less than a tenth of the time of making it. */
static void items_are_taken_one_by_one(void **state) {
    (void)state;
    enum { ITEMS = 4 };
    begin();
    if (!add_counter_code())
        skip();
    for (unsigned i = 0; i < ITEMS; i++) {
        add_work(1, 2000);
        add_one(1, NOBODY, ADD);
    }
    for (unsigned i = 0; i < ITEMS; i++) {
        add_one(0, 1, TAKE);
        add_work(0, 100);
    }
    end_and_run(2, ITEMS);
    const struct together_thread *of = simulation.together.threads;
    assert_int_equal(of[1].cycles[THREAD_WAITING], 0);
    assert_true(of[0].cycles[THREAD_WAITING] > of[1].cycles[THREAD_RUNNING] / 2);
    assert_in_range(of[0].end - of[1].end, 1, of[1].end / ITEMS / 2);
    simulation_free(&simulation);
}

/* What is taken had been there from the beginning, at least in part: it is not counted. */
static void what_was_there_is_not_waited_for(void **state) {
    (void)state;
    begin();
    if (!add_counter_code())
        skip();
    add_one(0, NOBODY, TAKE);
    for (unsigned i = 0; i < 3; i++) {
        add_work(1, 2000);
        add_one(1, i ? NOBODY : 0, ADD);
    }
    for (unsigned i = 0; i < 3; i++)
        add_one(0, 1, TAKE);
    end_and_run(2, 0);
    assert_true(thread_of(0)->end < thread_of(1)->end / 4);
    simulation_free(&simulation);
}

/* Both threads take work by a counter until none is left, one after the other in the captured run:
 * only where thread 0 finds none it has to wait. */
static void work_is_dealt_out_in_simulated_time(void **state) {
    (void)state;
    for (unsigned exits = 0; exits < 2; exits++) {
        begin();
        if (!add_counter_code())
            skip();
        for (unsigned i = 0; i < 4; i++) {
            add_one(1, NOBODY, TAKE);
            add_work(1, 2000);
        }
        for (unsigned i = 0; i < 2; i++) {
            add_one(0, 1, TAKE);
            add_work(0, 20);
        }
        if (exits)
            add_one(0, NOBODY, TAKE_NONE);
        end_and_run(2, exits);
        assert_int_equal(thread_of(0)->cycles[THREAD_WAITING] > 0, exits);
        assert_true((thread_of(0)->end < thread_of(1)->end / 4) == !exits);
        simulation_free(&simulation);
    }
}

/* Sums, with or without a look at them that always goes the same way, and a greatest number. */
static void sums_bind_nobody(void **state) {
    (void)state;
    static const enum deed DEEDS[][2] = {{ADD, ADD}, {ADD, LOOK_MANY}, {LOOK_FEW, SET}};
    for (unsigned i = 0; i < 3; i++) {
        begin();
        if (!add_counter_code())
            skip();
        for (unsigned round = 0; round < 4; round++) {
            add_work(1, 2000);
            add_section(1, NOBODY, DEEDS[i][0], DEEDS[i][1], true);
            if (i == 2)
                add_one(1, NOBODY, LOOK_MANY);
        }
        for (unsigned round = 0; round < 4; round++)
            add_section(0, 1, DEEDS[i][0], DEEDS[i][1], true);
        end_and_run(2, 0);
        assert_true(thread_of(0)->end < thread_of(1)->end / 4);
        simulation_free(&simulation);
    }
}

/* What thread 1 writes, once, the other two read, each twice. Both wait for it where they read it
 * first. */
static void all_readers_wait_for_what_is_written(void **state) {
    (void)state;
    begin();
    if (!add_counter_code())
        skip();
    add_work(1, 4000);
    add_one(1, NOBODY, SET);
    for (unsigned round = 0; round < 2; round++)
        for (uint32_t i = 0; i <= 2; i += 2)
            add_one(i, 1, LOOK_FEW);
    end_and_run(3, 2);
    for (uint32_t i = 0; i <= 2; i += 2)
        assert_true(thread_of(i)->cycles[THREAD_WAITING] >
                    thread_of(1)->cycles[THREAD_RUNNING] / 2);
    simulation_free(&simulation);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_latch_opens_when_all_have_come),
        cmocka_unit_test(looks_that_change_nothing_bind_nobody),
        cmocka_unit_test(places_bind_nobody),
        cmocka_unit_test(the_last_one_in_waits),
        cmocka_unit_test(items_are_taken_one_by_one),
        cmocka_unit_test(what_was_there_is_not_waited_for),
        cmocka_unit_test(work_is_dealt_out_in_simulated_time),
        cmocka_unit_test(sums_bind_nobody),
        cmocka_unit_test(all_readers_wait_for_what_is_written),
    };
    return cmocka_run_group_tests(tests, load_machine, remove_trace);
}
