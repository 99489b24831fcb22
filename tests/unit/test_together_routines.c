/* Hand-made threads on one chip that come to a barrier, or take locks, in routines of the C
 * library. */
#include "together_library.h"

/* 0x2000: call 0x100000, where pthread_barrier_wait() is: lock xadd [rdi], eax; ret, or with
 * syscall before the ret; 0x2005: nop. False: this C library has no such routine. */
enum { BLOCK_TO = 2, BLOCK_MEET, BLOCK_ENTER, BLOCK_RETURN, BLOCK_BACK };
enum { BARRIER = 0x9000 };

static bool add_barrier_code(void) {
    if (!find("pthread_barrier_wait"))
        return false;
    add_library();
    script_block(&script, 0, 0x2000, 1, "\xe8\xfb\xdf\x0f\x00", 5);
    add_routine(0x100000, 0, 2, "\xf0\x0f\xc1\x07\xc3", 5);
    add_routine(0x100000, 0, 2, "\xf0\x0f\xc1\x07\x0f\x05", 6);
    add_routine(0x100000, 6, 1, "\xc3", 1);
    script_block(&script, 0, 0x2005, 1, "\x90", 1);
    return true;
}

/* The thread comes to the barrier; `kind`: what it asks of the kernel there, with this result, or
 * THREAD_EVENT_KINDS, nothing. */
static void add_meeting(uint32_t thread, enum thread_event_kind kind, int64_t result) {
    uint64_t *next = events[chunks++];
    const bool calls = kind != THREAD_EVENT_KINDS;
    uint32_t count = 0;
    if (calls) {
        struct thread_event *event = script_event(&script, thread, kind, 3);
        event->address = BARRIER + 4;
        event->result = result;
        event->operation = kind == THREAD_EVENT_WAKE ? FUTEX_OP_WAKE : FUTEX_OP_WAIT;
        event->value = kind == THREAD_EVENT_WAKE ? INT32_MAX : 0;
    }
    next[count++] = event_block(BLOCK_TO);
    next[count++] = event_block(calls ? BLOCK_ENTER : BLOCK_MEET);
    next[count++] = event_access(0, 2, 0, BARRIER);
    next[count++] = event_access(1, 2, 0, BARRIER);
    if (calls) {
        next[count++] = event_mark(MARK_SYSCALL, 0);
        next[count++] = event_block(BLOCK_RETURN);
    }
    next[count++] = event_block(BLOCK_BACK);
    script_data(&script, thread, next, count);
}

/* In both rounds thread 0, which has the most to do, came last, and called the kernel to wake
 * others. Of two threads, the other did not sleep then: it was stopped between its arrival and its
 * call. Of three, one did, so that two called. All wait for thread 0, two rounds long. */
static void who_did_not_sleep_at_a_barrier_is_counted(void **state) {
    (void)state;
    for (uint32_t threads = 2; threads <= 3; threads++) {
        begin();
        if (!add_barrier_code())
            skip();
        for (unsigned round = 0; round < 2; round++)
            for (uint32_t i = 0; i < threads; i++) {
                const bool sleeps = i == 1 && threads == 3;
                add_work(i, i ? 100 : 2000);
                add_meeting(i,
                            !i       ? THREAD_EVENT_WAKE
                            : sleeps ? THREAD_EVENT_WAIT
                                     : THREAD_EVENT_KINDS,
                            !i && threads == 3 ? 1 : 0);
            }
        for (uint32_t i = 0; i < threads; i++) {
            add_work(i, 10);
            script_thread_end(&script, i);
        }
        run(4, 0, false);
        const struct together_thread *of = simulation.together.threads;
        assert_int_equal(of[0].cycles[THREAD_WAITING], 0);
        for (uint32_t i = 1; i < threads; i++) {
            assert_int_equal(of[i].waits, 2);
            assert_true(of[i].cycles[THREAD_WAITING] > of[0].cycles[THREAD_RUNNING] / 2);
        }
        assert_int_equal(simulation.together.waits[0].reason, WAIT_AT_BARRIER);
        assert_int_equal(simulation.together.diverged, 0);
        simulation_free(&simulation);
    }
}

static void add_message(uint32_t thread, bool store) {
    uint64_t *next = events[chunks++];
    next[0] = event_block(store ? BLOCK_STORE : BLOCK_LOAD);
    next[1] = event_access(store, 2, 0, MESSAGE);
    script_data(&script, thread, next, 2);
}

/* Thread 0 takes a lock that it keeps, which thread 2 takes in the end, makes thread 1, which
 * leaves a word under another lock, and reads that word under it: it must not wait for the word
 * where it takes the first lock, before thread 1 is there. With no first lock, or with one that
 * nobody else takes, it waits where it takes the other. */
static void no_wait_for_what_comes_of_it(void **state) {
    (void)state;
    enum { NO_OUTER, OWN_OUTER, COMMON_OUTER };
    for (unsigned outer = NO_OUTER; outer <= COMMON_OUTER; outer++) {
        begin();
        if (!add_lock_code())
            skip();
        if (outer != NO_OUTER)
            add_call(0, BLOCK_LOCK, OUTER);
        add_event(0, THREAD_EVENT_CREATE, 20)->other = 1;
        add_work(0, 20);
        struct thread_event *wait = add_event(0, THREAD_EVENT_WAIT, 20);
        wait->address = WORD;
        add_call(1, BLOCK_LOCK, INNER);
        add_message(1, true);
        add_call(1, BLOCK_UNLOCK, INNER);
        add_event(1, THREAD_EVENT_EXIT, 400)->address = WORD;
        add_work(1, 400);
        script_thread_end(&script, 1);
        wait->exit = 2 * script.count + 1;
        add_work(0, 20);
        add_call(0, BLOCK_LOCK, INNER);
        add_message(0, false);
        add_call(0, BLOCK_UNLOCK, INNER);
        add_work(0, 20);
        if (outer != NO_OUTER)
            add_call(0, BLOCK_UNLOCK, OUTER);
        script_thread_end(&script, 0);
        if (outer == COMMON_OUTER) {
            add_work(2, 400);
            add_call(2, BLOCK_LOCK, OUTER);
            add_call(2, BLOCK_UNLOCK, OUTER);
            script_thread_end(&script, 2);
        }
        run(3, 0, false);
        expect_sums();
        assert_int_equal(simulation.together.diverged, 0);
        assert_int_equal(simulation.together.handed, outer == COMMON_OUTER ? 0 : 1);
        simulation_free(&simulation);
    }
}

/* Behind the code of locks, 0x3020: call 0x130000, pthread_mutex_trylock() or such: nop; lock xadd
 * [rdi], eax; then, if it has it, mov [rdi+8], eax; ret; 0x3025: nop. Or with syscall before the
 * mov; or mov eax, [rdi]; ret alone; or twice lock xadd; or nop; lock xadd; jne 0x130000; or
 * nop; ret. */
enum {
    BLOCK_TRY = BLOCK_LOAD + 1,
    BLOCK_TAKES,
    BLOCK_TRIED,
    BLOCK_FAILS,
    BLOCK_ASKS,
    BLOCK_ANSWERED,
    BLOCK_LOOKS,
    BLOCK_RETRIES,
    BLOCK_BEGINS,
    BLOCK_LEAVES
};

static bool add_try_code(const char *name) {
    if (!add_lock_code() || !find(name))
        return false;
    script_block(&script, 0, 0x3020, 1, "\xe8\xdb\xcf\x12\x00", 5);
    add_routine(0x130000, 0, 4, "\x90\xf0\x0f\xc1\x07\x89\x47\x08\xc3", 9);
    script_block(&script, 0, 0x3025, 1, "\x90", 1);
    add_routine(0x130000, 0, 3, "\x90\xf0\x0f\xc1\x07\xc3", 6);
    add_routine(0x130000, 0, 3, "\x90\xf0\x0f\xc1\x07\x0f\x05", 7);
    add_routine(0x130000, 7, 2, "\x89\x47\x08\xc3", 4);
    add_routine(0x130000, 0, 2, "\x8b\x07\xc3", 3);
    add_routine(0x130000, 0, 4, "\x90\xf0\x0f\xc1\x07\xf0\x0f\xc1\x07\xc3", 10);
    add_routine(0x130000, 0, 3, "\x90\xf0\x0f\xc1\x07\x75\xf9", 7);
    add_routine(0x130000, 0, 2, "\x90\xc3", 2);
    return true;
}

/* It has read what thread 0 wrote as the last of so many instructions, unless that is 0. */
static void add_try(uint32_t thread, bool takes, uint64_t written) {
    uint64_t *next = events[chunks++];
    uint32_t count = 0;
    next[count++] = event_block(BLOCK_TRY);
    next[count++] = event_block(takes ? BLOCK_TAKES : BLOCK_FAILS);
    next[count++] = event_access(0, 2, 1, OUTER);
    next[count++] = event_access(1, 2, 1, OUTER);
    if (written) {
        next[count++] = event_mark(MARK_WRITER, UINT64_C(1) << 45);
        next[count++] = event_mark(MARK_WRITTEN, written);
    }
    if (takes)
        next[count++] = event_access(1, 2, 2, OUTER + 8);
    next[count++] = event_block(BLOCK_TRIED);
    script_data(&script, thread, next, count);
}

/* Thread 0 has the lock while it works, by a try or as usual. Thread 1 tries to take it. If it got
 * it in the captured run, it waits here until it is free; if not, it goes on, though what it saw
 * there was written much later. */
static void who_tries_waits_if_it_got_the_lock(void **state) {
    (void)state;
    static const char *const NAMES[] = {"pthread_mutex_trylock", "pthread_mutex_timedlock",
                                        "pthread_mutex_clocklock", "pthread_rwlock_trywrlock",
                                        "pthread_rwlock_timedwrlock"};
    for (unsigned round = 0; round < 4 * sizeof NAMES / sizeof *NAMES; round++) {
        const bool takes = round & 1, tried = round & 2;
        begin();
        if (!add_try_code(NAMES[round / 4]))
            skip();
        add_event(0, THREAD_EVENT_CREATE, 20)->other = 1;
        add_work(0, 20);
        if (tried)
            add_try(0, true, 0);
        else
            add_call(0, BLOCK_LOCK, OUTER);
        add_work(0, 2000);
        add_call(0, BLOCK_UNLOCK, OUTER);
        script_thread_end(&script, 0);
        add_work(1, 100);
        add_try(1, takes, 2000 * INSNS);
        add_work(1, 20);
        if (takes)
            add_call(1, BLOCK_UNLOCK, OUTER);
        script_thread_end(&script, 1);
        run(2, 0, false);
        expect_sums();
        const struct together_thread *threads = simulation.together.threads;
        assert_int_equal(simulation.together.diverged, 0);
        assert_int_equal(threads[1].cycles[THREAD_SPINNING], 0);
        if (takes) {
            assert_true(threads[1].cycles[THREAD_LOCKED] > threads[0].cycles[THREAD_RUNNING] / 2);
            assert_int_equal(simulation.together.waits[0].reason, WAIT_FOR_LOCK);
        } else {
            assert_int_equal(threads[1].cycles[THREAD_LOCKED], 0);
            assert_true(threads[1].end < threads[0].end);
        }
        simulation_free(&simulation);
    }
}

/* It waited in the kernel, and what it wrote behind that is that it gives up, if it does. */
static void add_timed_try(uint32_t thread, bool takes) {
    uint64_t *next = events[chunks++];
    uint32_t count = 0;
    struct thread_event *wait = script_event(&script, thread, THREAD_EVENT_WAIT, 4);
    wait->address = OUTER;
    wait->operation = FUTEX_OP_WAIT;
    wait->asked_ns = 10;
    wait->result = takes ? 0 : THREAD_EVENT_TIMED_OUT;
    next[count++] = event_block(BLOCK_TRY);
    next[count++] = event_block(BLOCK_ASKS);
    next[count++] = event_access(0, 2, 1, OUTER);
    next[count++] = event_access(1, 2, 1, OUTER);
    next[count++] = event_mark(MARK_SYSCALL, 0);
    next[count++] = event_block(BLOCK_ANSWERED);
    next[count++] = event_access(1, 2, 0, OUTER + 8);
    next[count++] = event_block(BLOCK_TRIED);
    script_data(&script, thread, next, count);
}

/* If it does not take it, it has seen by its first instruction what thread 0 wrote in the end. */
static void add_try_to_read(uint32_t thread, bool takes) {
    uint64_t *next = events[chunks++];
    uint32_t count = 0;
    next[count++] = event_block(BLOCK_TRY);
    next[count++] = event_block(takes ? BLOCK_FAILS : BLOCK_LOOKS);
    if (takes) {
        next[count++] = event_access(0, 2, 1, OUTER);
        next[count++] = event_access(1, 2, 1, OUTER);
    } else {
        next[count++] = event_access(0, 2, 0, OUTER);
        next[count++] = event_mark(MARK_WRITER, 0);
        next[count++] = event_mark(MARK_WRITTEN, 2000 * INSNS);
    }
    next[count++] = event_block(BLOCK_TRIED);
    script_data(&script, thread, next, count);
}

/* Thread 0 has the lock while it works; thread 1 takes it as `add` says, or does not. */
static void waits_if_it_takes(const char *name, void (*add)(uint32_t thread, bool takes)) {
    for (unsigned takes = 0; takes < 2; takes++) {
        begin();
        if (!add_try_code(name))
            skip();
        add_event(0, THREAD_EVENT_CREATE, 20)->other = 1;
        add_work(0, 20);
        add_call(0, BLOCK_LOCK, OUTER);
        add_work(0, 2000);
        add_call(0, BLOCK_UNLOCK, OUTER);
        script_thread_end(&script, 0);
        add_work(1, 100);
        add(1, takes);
        add_work(1, 20);
        if (takes)
            add_call(1, BLOCK_UNLOCK, OUTER);
        script_thread_end(&script, 1);
        run(2, 0, false);
        expect_sums();
        const struct together_thread *threads = simulation.together.threads;
        assert_int_equal(simulation.together.diverged, 0);
        assert_int_equal(threads[1].cycles[THREAD_SPINNING], 0);
        if (takes)
            assert_true(threads[1].cycles[THREAD_LOCKED] > threads[0].cycles[THREAD_RUNNING] / 2);
        else
            assert_int_equal(threads[1].cycles[THREAD_LOCKED], 0);
        assert_true(takes || threads[1].end < threads[0].end);
        simulation_free(&simulation);
    }
}

/* Another thread came first, and then again, unless it takes it. */
static void add_retried(uint32_t thread, bool takes) {
    uint64_t *next = events[chunks++];
    uint32_t count = 0;
    if (takes) {
        add_try(thread, takes, 0);
        return;
    }
    next[count++] = event_block(BLOCK_TRY);
    next[count++] = event_block(BLOCK_RETRIES);
    for (unsigned insn = 1; insn <= 2; insn++) {
        next[count++] = event_access(0, 2, insn, OUTER);
        next[count++] = event_access(1, 2, insn, OUTER);
    }
    next[count++] = event_block(BLOCK_TRIED);
    script_data(&script, thread, next, count);
}

static void who_fails_twice_goes_on(void **state) {
    (void)state;
    waits_if_it_takes("pthread_rwlock_trywrlock", add_retried);
}

/* Another reader came first: it begins again, as does who takes it then; else it sees that it is
 * written now. */
static void add_lost_race(uint32_t thread, bool takes) {
    uint64_t *next = events[chunks++];
    uint32_t count = 0;
    next[count++] = event_block(BLOCK_TRY);
    next[count++] = event_block(BLOCK_BEGINS);
    next[count++] = event_access(0, 2, 1, OUTER);
    next[count++] = event_access(1, 2, 1, OUTER);
    next[count++] = event_block(takes ? BLOCK_FAILS : BLOCK_LEAVES);
    if (takes) {
        next[count++] = event_access(0, 2, 1, OUTER);
        next[count++] = event_access(1, 2, 1, OUTER);
    }
    next[count++] = event_block(BLOCK_TRIED);
    script_data(&script, thread, next, count);
}

static void who_loses_a_race_to_read_goes_on(void **state) {
    (void)state;
    waits_if_it_takes("pthread_rwlock_tryrdlock", add_lost_race);
}

static void who_waited_in_vain_goes_on(void **state) {
    (void)state;
    waits_if_it_takes("pthread_mutex_timedlock", add_timed_try);
    waits_if_it_takes("pthread_rwlock_timedwrlock", add_timed_try);
    waits_if_it_takes("pthread_rwlock_timedrdlock", add_timed_try);
}

static void who_tries_to_read_waits_for_who_writes(void **state) {
    (void)state;
    waits_if_it_takes("pthread_rwlock_tryrdlock", add_try_to_read);
}

/* The code of locks, of a spin lock, which is given back by a plain store: mov [rdi], eax; ret. */
static bool add_spin_code(void) {
    if (!find("pthread_spin_lock"))
        return false;
    add_library();
    script_block(&script, 0, 0x3000, 1, "\xe8\xfb\xcf\x10\x00", 5);
    add_routine(0x110000, 0, 3, "\x90\xf0\x0f\xc1\x07\xc3", 6);
    script_block(&script, 0, 0x3005, 1, "\x90", 1);
    if (!find("pthread_spin_unlock") && !find("pthread_spin_init"))
        return false;
    script_block(&script, 0, 0x3010, 1, "\xe8\xeb\xcf\x11\x00", 5);
    add_routine(0x120000, 0, 2, "\x89\x07\xc3", 3);
    script_block(&script, 0, 0x3015, 1, "\x90", 1);
    return true;
}

static void add_store_of(uint32_t thread, uint64_t lock) {
    uint64_t *next = events[chunks++];
    next[0] = event_block(BLOCK_UNLOCK);
    next[1] = event_block(BLOCK_UNLOCKS);
    next[2] = event_access(1, 2, 0, lock);
    next[3] = event_block(BLOCK_UNLOCKED);
    script_data(&script, thread, next, 4);
}

/* Thread 0 has a spin lock while it works, and gives it back; it works on. Thread 1 has it in
 * between. */
static void a_spin_lock_is_given_back(void **state) {
    (void)state;
    begin();
    if (!add_spin_code())
        skip();
    add_event(0, THREAD_EVENT_CREATE, 20)->other = 1;
    add_work(0, 20);
    add_call(0, BLOCK_LOCK, OUTER);
    add_work(0, 1000);
    add_store_of(0, OUTER);
    add_work(0, 2000);
    script_thread_end(&script, 0);
    add_work(1, 100);
    add_call(1, BLOCK_LOCK, OUTER);
    add_work(1, 20);
    add_store_of(1, OUTER);
    script_thread_end(&script, 1);
    run(2, 0, false);
    expect_sums();
    const struct together_thread *threads = simulation.together.threads;
    assert_int_equal(simulation.together.diverged, 0);
    assert_in_range(threads[1].cycles[THREAD_LOCKED], 1, threads[0].cycles[THREAD_RUNNING] / 2);
    assert_true(threads[1].end < threads[0].end);
    simulation_free(&simulation);
}

/* Thread 0 has a spin lock while it works. Thread 1 tries to take it, by the same instructions
 * whether it gets it: that it gives it back tells that it did. It tries once in vain before. */
static void who_tries_a_spin_lock_waits_if_it_gives_it_back(void **state) {
    (void)state;
    for (unsigned takes = 0; takes < 2; takes++) {
        begin();
        if (!add_spin_code() || !find("pthread_spin_trylock"))
            skip();
        const uint32_t try = script_block(&script, 0, 0x3020, 1, "\xe8\xdb\xcf\x12\x00", 5);
        add_routine(0x130000, 0, 3, "\x90\xf0\x0f\xc1\x07\xc3", 6);
        script_block(&script, 0, 0x3025, 1, "\x90", 1);
        add_event(0, THREAD_EVENT_CREATE, 20)->other = 1;
        add_work(0, 20);
        add_call(0, BLOCK_LOCK, OUTER);
        add_work(0, 2000);
        add_store_of(0, OUTER);
        script_thread_end(&script, 0);
        add_work(1, 100);
        add_call(1, try, OUTER);
        add_work(1, 100);
        if (takes) {
            add_call(1, try, OUTER);
            add_work(1, 20);
            add_store_of(1, OUTER);
        }
        script_thread_end(&script, 1);
        run(2, 0, false);
        expect_sums();
        const struct together_thread *threads = simulation.together.threads;
        assert_int_equal(simulation.together.diverged, 0);
        assert_int_equal(threads[1].waits, takes);
        if (takes)
            assert_true(threads[1].cycles[THREAD_LOCKED] > threads[0].cycles[THREAD_RUNNING] / 2);
        assert_true(takes || threads[1].end < threads[0].end);
        simulation_free(&simulation);
    }
}

/* In pthread_mutex_lock(), for the only thread there is: its first instruction; 0x110010: mov
 * [rdi], eax; mov [rdi+8], eax; ret; or, of a lock that it has, 0x110020: add [rdi+4], eax; ret. */
enum { BLOCK_ENTER_LOCK = BLOCK_LOAD + 1, BLOCK_PLAINLY, BLOCK_AGAIN };

static bool add_plain_code(void) {
    if (!add_lock_code() || !find("pthread_mutex_lock"))
        return false;
    add_routine(0x110000, 0, 1, "\x90", 1);
    add_routine(0x110000, 0x10, 3, "\x89\x07\x89\x47\x08\xc3", 6);
    add_routine(0x110000, 0x20, 2, "\x01\x47\x04\xc3", 4);
    return true;
}

static void add_plain_lock(uint32_t thread, bool has) {
    uint64_t *next = events[chunks++];
    uint32_t count = 0;
    next[count++] = event_block(BLOCK_LOCK);
    next[count++] = event_block(BLOCK_ENTER_LOCK);
    next[count++] = event_block(has ? BLOCK_AGAIN : BLOCK_PLAINLY);
    if (has)
        next[count++] = event_access(0, 2, 0, OUTER + 4);
    next[count++] = event_access(1, 2, 0, OUTER + (has ? 4 : 0));
    if (!has)
        next[count++] = event_access(1, 2, 1, OUTER + 8);
    next[count++] = event_block(BLOCK_LOCKED);
    script_data(&script, thread, next, count);
}

/* Thread 0 takes a lock before there is another thread, once or twice, and keeps it while it works.
 * Thread 1 waits for it. */
static void the_only_thread_takes_a_lock(void **state) {
    (void)state;
    for (unsigned again = 0; again < 2; again++) {
        begin();
        if (!add_plain_code())
            skip();
        add_plain_lock(0, false);
        if (again)
            add_plain_lock(0, true);
        add_event(0, THREAD_EVENT_CREATE, 20)->other = 1;
        add_work(0, 20);
        add_work(0, 2000);
        add_call(0, BLOCK_UNLOCK, OUTER);
        script_thread_end(&script, 0);
        add_work(1, 100);
        add_call(1, BLOCK_LOCK, OUTER);
        add_work(1, 20);
        add_call(1, BLOCK_UNLOCK, OUTER);
        script_thread_end(&script, 1);
        run(2, 0, false);
        expect_sums();
        const struct together_thread *threads = simulation.together.threads;
        assert_int_equal(simulation.together.diverged, 0);
        assert_true(threads[1].cycles[THREAD_LOCKED] > threads[0].cycles[THREAD_RUNNING] / 2);
        assert_int_equal(simulation.together.waits[0].address, OUTER);
        simulation_free(&simulation);
    }
}

/* Thread 0 takes two locks that lie side by side, and gives back the first, while it keeps the
 * second: thread 1, which wants the first, waits for the beginning only. */
static void a_lock_is_not_its_neighbour(void **state) {
    (void)state;
    enum { NEXT = OUTER + 0x28 }; /* as in an array of mutexes */
    begin();
    if (!add_lock_code())
        skip();
    add_call(0, BLOCK_LOCK, OUTER);
    add_call(0, BLOCK_LOCK, NEXT);
    add_work(0, 400);
    add_call(0, BLOCK_UNLOCK, OUTER);
    add_work(0, 4000);
    add_call(0, BLOCK_UNLOCK, NEXT);
    script_thread_end(&script, 0);
    add_work(1, 100);
    add_call(1, BLOCK_LOCK, OUTER);
    add_work(1, 20);
    add_call(1, BLOCK_UNLOCK, OUTER);
    script_thread_end(&script, 1);
    run(2, 0, false);
    expect_sums();
    const struct together_thread *threads = simulation.together.threads;
    assert_int_equal(simulation.together.diverged, 0);
    assert_in_range(threads[1].cycles[THREAD_LOCKED], 1, threads[0].cycles[THREAD_RUNNING] / 4);
    assert_true(threads[1].end < threads[0].end / 2);
    simulation_free(&simulation);
}

/* Thread 1 writes under the lock what thread 0 reads under it, as they did one after the other in
 * the captured run. Here thread 0 comes first and has it: thread 1 gets it all the same, while
 * thread 0 waits for what it writes; the other way round thread 1 is in line before thread 0 reads.
 */
static void who_is_waited_for_gets_the_lock(void **state) {
    (void)state;
    for (unsigned late = 0; late < 2; late++) {
        begin();
        if (!add_lock_code())
            skip();
        const uint32_t before = late ? 20 : 400, read = late ? 400 : 20;
        add_work(1, before);
        add_call(1, BLOCK_LOCK, OUTER);
        add_work(1, 20);
        const uint64_t written = script.first_insn[1];
        add_call(1, BLOCK_UNLOCK, OUTER);
        script_thread_end(&script, 1);
        add_call(0, BLOCK_LOCK, OUTER);
        add_work(0, read);
        uint64_t *next = events[chunks++];
        next[0] = event_block(BLOCK_LOAD);
        next[1] = event_access(0, 2, 0, MESSAGE);
        next[2] = event_mark(MARK_WRITER, 1);
        next[3] = event_mark(MARK_WRITTEN, written);
        script_data(&script, 0, next, 4);
        add_call(0, BLOCK_UNLOCK, OUTER);
        script_thread_end(&script, 0);
        run(2, 0, false);
        expect_sums();
        const struct together_thread *threads = simulation.together.threads;
        assert_int_equal(simulation.together.orders, 1);
        assert_true(threads[0].cycles[THREAD_SPINNING] > 0);
        assert_true((threads[1].cycles[THREAD_LOCKED] > 0) == (late == 1));
        simulation_free(&simulation);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spin_lock_is_given_back),
        cmocka_unit_test(who_tries_a_spin_lock_waits_if_it_gives_it_back),
        cmocka_unit_test(who_did_not_sleep_at_a_barrier_is_counted),
        cmocka_unit_test(no_wait_for_what_comes_of_it),
        cmocka_unit_test(who_tries_waits_if_it_got_the_lock),
        cmocka_unit_test(who_fails_twice_goes_on),
        cmocka_unit_test(who_loses_a_race_to_read_goes_on),
        cmocka_unit_test(who_waited_in_vain_goes_on),
        cmocka_unit_test(who_tries_to_read_waits_for_who_writes),
        cmocka_unit_test(the_only_thread_takes_a_lock),
        cmocka_unit_test(a_lock_is_not_its_neighbour),
        cmocka_unit_test(who_is_waited_for_gets_the_lock),
    };
    return cmocka_run_group_tests(tests, load_machine, remove_trace);
}
