/* What threads did at the same time, told in any order: shares, cores, critical path, worked out by
 * hand; and that sums hold of any course. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "report/threads_report.h"
#include "simulate/course_balance.h"
#include "simulate/thread_course.h"
#include "util/random.h"

enum { THREADS = 8, LOCK = 7, WAITS = 16 };

struct outcome {
    struct course_counts counts;
    struct course_thread threads[THREADS];
    struct course_sum sum;
    uint64_t passed[WAITS]; /* cycles of the path within each wait */
    uint64_t runs[4][3];    /* thread, begin and end of what it ran on the path */
    unsigned run_count;
};

static void pass(void *context, uint32_t wait, uint64_t cycles) {
    assert_true(wait < WAITS);
    ((struct outcome *)context)->passed[wait] += cycles;
}

static void note_run(void *context, uint32_t thread, uint64_t begin, uint64_t end) {
    struct outcome *outcome = context;
    if (outcome->run_count < 4) {
        uint64_t *run = outcome->runs[outcome->run_count++];
        run[0] = thread;
        run[1] = begin;
        run[2] = end;
    }
}

static void finish(struct thread_course *course, uint64_t end, struct outcome *outcome) {
    const struct course_path path = {.pass = pass, .run = note_run, .context = outcome};
    memset(outcome, 0, sizeof *outcome);
    assert_true(course_end(course, end, &path, &outcome->counts, outcome->threads, &outcome->sum));
    course_free(course);
}

static struct thread_course *begin(size_t most_steps) {
    struct thread_course *course = course_new(THREADS, most_steps);
    assert_non_null(course);
    return course;
}

static void assert_near(double value, double wanted) {
    assert_true(value > wanted - 1e-6 && value < wanted + 1e-6);
}

static uint64_t path_cycles(const struct outcome *outcome) {
    uint64_t cycles = outcome->sum.unknown;
    for (unsigned i = 0; i < THREADS; i++)
        for (unsigned activity = 0; activity < COURSE_ACTIVITIES; activity++)
            cycles += outcome->threads[i].critical[activity];
    return cycles;
}

/*          0        20        60      80      100    120
 * thread 0 runs ............................. ends
 * thread 1          runs ..... lock .. runs ....... ends    thread 0 gives the lock up in 80 */
static void tell_first(struct thread_course *course) {
    course_begin(course, 0, COURSE_NOBODY, 0);
    course_change(course, 0, COURSE_RUNNING, 0);
    course_change(course, 0, COURSE_ABSENT, 100);
}
static void tell_second(struct thread_course *course) {
    course_begin(course, 1, 0, 20);
    course_change(course, 1, COURSE_RUNNING, 20);
    course_change(course, 1, COURSE_LOCK, 60);
    course_ends_wait(course, 1, 0, LOCK);
    course_change(course, 1, COURSE_READY, 80);
    course_change(course, 1, COURSE_RUNNING, 80);
    course_change(course, 1, COURSE_ABSENT, 120);
}

/* Thread 0 has 20 + 40/2 + 20 + 20/2 cycles, thread 1 40/2 + 20/2 + 20. */
static void assert_two(const struct outcome *outcome) {
    assert_near(outcome->threads[0].height, 70);
    assert_near(outcome->threads[1].height, 50);
    assert_int_equal(outcome->threads[0].active, 100);
    assert_int_equal(outcome->threads[1].active, 80);
    assert_int_equal(outcome->sum.active, 120);
    assert_int_equal(course_demand(&outcome->counts), 2);
    const struct course_cores cores = course_cores(&outcome->counts, 2);
    assert_int_equal(cores.cycles, 120);
    assert_near(cores.running, 180);
    assert_near(cores.waiting[COURSE_LOCK], 20);
    assert_near(cores.nothing, 40);
    assert_near(cores.beyond, 0);
    /* From 120 to 80 in thread 1; the lock's wait leads to thread 0, which began in 0. */
    assert_int_equal(outcome->threads[1].critical[COURSE_RUNNING], 40);
    assert_int_equal(outcome->threads[0].critical[COURSE_RUNNING], 80);
    assert_int_equal(outcome->passed[LOCK], 20);
    assert_int_equal(path_cycles(outcome), 120);
    /* Thread 1 had run 40 cycles before it waited. */
    static const uint64_t RUNS[2][3] = {{1, 40, 80}, {0, 0, 80}};
    assert_int_equal(outcome->run_count, 2);
    assert_memory_equal(outcome->runs, RUNS, sizeof RUNS);
}

static void two_threads(void **state) {
    (void)state;
    struct outcome outcome;
    struct thread_course *course = begin(0);
    tell_first(course);
    tell_second(course);
    finish(course, 120, &outcome);
    assert_two(&outcome);
}

static void told_in_any_order(void **state) {
    (void)state;
    struct outcome outcome;
    struct thread_course *course = begin(0);
    tell_second(course);
    tell_first(course);
    finish(course, 120, &outcome);
    assert_two(&outcome);
}

/* One core of the two is enough for what ran up to 20 and from 100 on; from 20 to 60, and from 80,
 * one ran beyond it. */
static void fewer_cores_than_ran(void **state) {
    (void)state;
    struct outcome outcome;
    struct thread_course *course = begin(0);
    tell_first(course);
    tell_second(course);
    finish(course, 120, &outcome);
    const struct course_cores cores = course_cores(&outcome.counts, 1);
    assert_near(cores.running, 120);
    assert_near(cores.beyond, 60);
    assert_near(cores.waiting[COURSE_LOCK], 0);
    assert_near(cores.nothing, 0);
}

/* Up to 20 and from 100 on, one thread is there: two cores share that in half of the time. From 60
 * to 80, one runs and one waits for the lock: shared, these are 10 cycles. */
static void shared_out_evenly(void **state) {
    (void)state;
    struct outcome outcome;
    struct thread_course *course = begin(0);
    tell_first(course);
    tell_second(course);
    finish(course, 120, &outcome);
    assert_near(course_spread_saves(&outcome.counts, 2), 20);
    assert_near(course_spread_saves(&outcome.counts, 1), 0);
    assert_near(course_balance_saves(&outcome.counts, 2, COURSE_LOCK), 10);
    assert_near(course_balance_saves(&outcome.counts, 2, COURSE_BARRIER), 0);
    assert_near(course_balance_saves(&outcome.counts, 1, COURSE_LOCK), 0);
}

/* Of three cores, one runs; two threads wait for a lock, one at a barrier, one for another's end:
 * two free cores belong to the three by thirds, none to the last. */
static void more_wait_than_cores(void **state) {
    (void)state;
    struct outcome outcome;
    struct thread_course *course = begin(0);
    static const enum course_activity DOES[] = {COURSE_RUNNING, COURSE_LOCK, COURSE_LOCK,
                                                COURSE_BARRIER, COURSE_JOIN};
    for (uint32_t i = 0; i < 5; i++) {
        course_begin(course, i, COURSE_NOBODY, 0);
        course_change(course, i, DOES[i], 0);
        course_change(course, i, COURSE_ABSENT, 300);
    }
    finish(course, 300, &outcome);
    struct course_cores cores = course_cores(&outcome.counts, 3);
    assert_near(cores.running, 300);
    assert_near(cores.waiting[COURSE_LOCK], 400);
    assert_near(cores.waiting[COURSE_BARRIER], 200);
    assert_near(cores.waiting[COURSE_JOIN], 0);
    assert_near(cores.nothing, 0);
    /* All three cores share the work with those that wait for the lock: a third is left; two with
     * the one at the barrier. */
    assert_near(course_balance_saves(&outcome.counts, 3, COURSE_LOCK), 200);
    assert_near(course_balance_saves(&outcome.counts, 3, COURSE_BARRIER), 150);
    /* Of six, each has its own, and one has nothing. */
    cores = course_cores(&outcome.counts, 6);
    assert_near(cores.waiting[COURSE_LOCK], 600);
    assert_near(cores.waiting[COURSE_BARRIER], 300);
    assert_near(cores.waiting[COURSE_JOIN], 300);
    assert_near(cores.nothing, 300);
    assert_int_equal(course_demand(&outcome.counts), 4);
}

/* Who ends last was made by one that waits for its end: the path is its life, and its creator's up
 * to there. A wait that nobody ended lies on the path itself. */
static void path_over_creation(void **state) {
    (void)state;
    struct outcome outcome;
    struct thread_course *course = begin(0);
    course_begin(course, 0, COURSE_NOBODY, 0);
    course_change(course, 0, COURSE_RUNNING, 0);
    course_change(course, 0, COURSE_SLEEPING, 10);
    course_change(course, 0, COURSE_READY, 30);
    course_change(course, 0, COURSE_RUNNING, 35);
    course_begin(course, 1, 0, 50);
    course_change(course, 1, COURSE_RUNNING, 50);
    course_change(course, 0, COURSE_JOIN, 60);
    course_change(course, 1, COURSE_EVENT, 70);
    course_change(course, 1, COURSE_READY, 90); /* let go: by no thread */
    course_change(course, 1, COURSE_RUNNING, 90);
    course_ends_wait(course, 0, 1, 3);
    course_change(course, 0, COURSE_READY, 150);
    course_change(course, 1, COURSE_ABSENT, 150);
    course_change(course, 0, COURSE_RUNNING, 150);
    course_change(course, 0, COURSE_ABSENT, 160);
    finish(course, 160, &outcome);
    const struct course_thread *zero = &outcome.threads[0], *one = &outcome.threads[1];
    assert_int_equal(zero->critical[COURSE_RUNNING], 10 + 10 + 15);
    assert_int_equal(zero->critical[COURSE_SLEEPING], 20);
    assert_int_equal(zero->critical[COURSE_READY], 5);
    assert_int_equal(zero->critical[COURSE_JOIN], 0);
    assert_int_equal(one->critical[COURSE_RUNNING], 80);
    assert_int_equal(one->critical[COURSE_EVENT], 20);
    assert_int_equal(outcome.passed[3], 90); /* thread 0 waits from 60 on */
    assert_int_equal(path_cycles(&outcome), 160);
}

/*          0     10    20         50      60    80        100
 * thread 0 runs ....... waits ... runs .................. ends the program
 * thread 1       runs ........................... sleeps  wakes, ends in 109
 * thread 2          sleeps .............. sleeps ........ wakes, ends in 110
 *
 * Thread 1 wakes thread 0 in 50. The program ends in 100, and that wakes threads 1 and 2. Nobody
 * waited for thread 2, though it ends last: the path is that of thread 0, and up to the wake that
 * of thread 1. */
static void path_from_the_end_of_the_program(void **state) {
    (void)state;
    struct outcome outcome;
    struct thread_course *course = begin(0);
    course_begin(course, 0, COURSE_NOBODY, 0);
    course_change(course, 0, COURSE_RUNNING, 0);
    course_begin(course, 1, 0, 10);
    course_change(course, 1, COURSE_RUNNING, 10);
    course_begin(course, 2, 0, 15);
    course_change(course, 2, COURSE_RUNNING, 15);
    course_change(course, 2, COURSE_SLEEPING, 16);
    course_change(course, 0, COURSE_EVENT, 20);
    course_ends_wait(course, 0, 1, 3);
    course_change(course, 0, COURSE_READY, 50);
    course_change(course, 0, COURSE_RUNNING, 50);
    course_change(course, 2, COURSE_READY, 60); /* its time was over: it looked, and slept on */
    course_change(course, 2, COURSE_RUNNING, 60);
    course_change(course, 2, COURSE_SLEEPING, 62);
    course_change(course, 1, COURSE_SLEEPING, 80);
    course_exit(course, 0, 100);
    course_change(course, 0, COURSE_ABSENT, 100);
    course_change(course, 1, COURSE_READY, 100);
    course_change(course, 1, COURSE_RUNNING, 102);
    course_change(course, 1, COURSE_ABSENT, 109);
    course_change(course, 2, COURSE_READY, 101);
    course_change(course, 2, COURSE_RUNNING, 104);
    course_exit(course, 2, 110); /* too late */
    course_change(course, 2, COURSE_ABSENT, 110);
    finish(course, 110, &outcome);
    const struct course_thread *threads = outcome.threads;
    assert_int_equal(threads[0].critical[COURSE_RUNNING], 50 + 10);
    assert_int_equal(threads[0].critical[COURSE_EVENT], 0);
    assert_int_equal(threads[1].critical[COURSE_RUNNING], 40);
    assert_int_equal(threads[1].critical[COURSE_SLEEPING], 0);
    /* From the end of the program on: woken in 101, on a core in 104. */
    assert_int_equal(threads[2].critical[COURSE_SLEEPING], 1);
    assert_int_equal(threads[2].critical[COURSE_READY], 3);
    assert_int_equal(threads[2].critical[COURSE_RUNNING], 6);
    assert_int_equal(outcome.passed[3], 30);
    assert_int_equal(path_cycles(&outcome), 110);
    /* Thread 2 had run 1 + 2 cycles before, thread 0 20. */
    static const uint64_t RUNS[4][3] = {{2, 3, 9}, {0, 20, 70}, {1, 0, 40}, {0, 0, 10}};
    assert_int_equal(outcome.run_count, 4);
    assert_memory_equal(outcome.runs, RUNS, sizeof RUNS);
}

/* Threads 0 and 1 take turns of 10 cycles, each waiting for the other; two waits are remembered. */
/* A region ends in cycle 100: thread 0 runs, thread 1 sleeps and thread 2 waits, neither of which
 * is over. The path is what thread 0 did; where that sleeps too, from 60 on, it is thread 1's
 * sleep. */
static void path_of_who_runs_at_the_end(void **state) {
    (void)state;
    for (unsigned sleeps = 0; sleeps < 2; sleeps++) {
        struct thread_course *course = begin(0);
        struct outcome outcome;
        course_begin(course, 0, COURSE_NOBODY, 0);
        course_change(course, 0, COURSE_RUNNING, 0);
        if (sleeps)
            course_change(course, 0, COURSE_SLEEPING, 60);
        for (uint32_t thread = 1; thread < 3; thread++) {
            course_begin(course, thread, COURSE_NOBODY, 0);
            course_change(course, thread, thread == 1 ? COURSE_SLEEPING : COURSE_EVENT, 0);
        }
        for (uint32_t thread = 0; thread < 3; thread++)
            course_change(course, thread, COURSE_ABSENT, 100);
        finish(course, 100, &outcome);
        assert_int_equal(path_cycles(&outcome), 100);
        assert_int_equal(outcome.threads[0].critical[COURSE_RUNNING], sleeps ? 0 : 100);
        assert_int_equal(outcome.threads[1].critical[COURSE_SLEEPING], sleeps ? 100 : 0);
    }
}

static void old_waits_are_forgotten(void **state) {
    (void)state;
    struct outcome outcome;
    struct thread_course *course = begin(2);
    course_begin(course, 0, COURSE_NOBODY, 0);
    course_begin(course, 1, COURSE_NOBODY, 0);
    course_change(course, 0, COURSE_RUNNING, 0);
    course_change(course, 1, COURSE_LOCK, 0);
    for (uint32_t turn = 0; turn < 6; turn++) {
        const uint32_t from = turn % 2, to = 1 - from;
        const uint64_t cycle = 10 * (turn + 1);
        course_ends_wait(course, to, from, turn);
        course_change(course, to, COURSE_READY, cycle);
        course_change(course, from, turn < 5 ? COURSE_LOCK : COURSE_ABSENT, cycle);
        course_change(course, to, COURSE_RUNNING, cycle);
    }
    course_change(course, 0, COURSE_ABSENT, 70);
    finish(course, 70, &outcome);
    /* Waits ended in 10, 20 ... 60. Those of 50 and 60 are known: thread 0 ran from 60 on, thread 1
     * from 50, thread 0 from 40 or earlier. */
    assert_int_equal(outcome.threads[0].critical[COURSE_RUNNING], 20);
    assert_int_equal(outcome.threads[1].critical[COURSE_RUNNING], 10);
    assert_int_equal(outcome.sum.unknown, 40);
    assert_int_equal(path_cycles(&outcome), 70);
}

/* Of any course: heights sum to the cycles in which any ran, what cores did to cores × cycles, the
 * path to all cycles. */
static void sums_of_any_course(void **state) {
    (void)state;
    static const enum course_activity NEXT[] = {COURSE_RUNNING, COURSE_LOCK,     COURSE_BARRIER,
                                                COURSE_EVENT,   COURSE_SLEEPING, COURSE_JOIN};
    uint64_t seed = 1;
    for (unsigned trial = 0; trial < 200; trial++) {
        struct outcome outcome;
        struct thread_course *course = begin(1 + random_next(&seed) % 60);
        uint64_t now[THREADS], end = 0, active = 0;
        enum course_activity does[THREADS];
        for (uint32_t i = 0; i < THREADS; i++) {
            now[i] = i ? random_next(&seed) % 50 : 0;
            course_begin(course, i, i ? 0 : COURSE_NOBODY, now[i]);
            does[i] = COURSE_READY;
        }
        for (unsigned change = 0; change < 300; change++) {
            const uint32_t i = random_next(&seed) % THREADS;
            now[i] += random_next(&seed) % 20;
            const enum course_activity next =
                does[i] == COURSE_RUNNING ? NEXT[random_next(&seed) % 6] : COURSE_READY;
            if (next == COURSE_READY && random_next(&seed) % 4)
                course_ends_wait(course, i, random_next(&seed) % THREADS,
                                 (uint32_t)(random_next(&seed) % WAITS));
            course_change(course, i, next, now[i]);
            does[i] = next;
            if (next == COURSE_READY) {
                course_change(course, i, COURSE_RUNNING, now[i]);
                does[i] = COURSE_RUNNING;
            }
        }
        if (trial % 2)
            course_exit(course, trial % THREADS, now[trial % THREADS]);
        for (uint32_t i = 0; i < THREADS; i++) {
            course_change(course, i, COURSE_ABSENT, now[i]);
            end = now[i] > end ? now[i] : end;
        }
        finish(course, end, &outcome);
        double heights = 0;
        for (uint32_t i = 0; i < THREADS; i++) {
            heights += outcome.threads[i].height;
            active += outcome.threads[i].active;
        }
        assert_near(heights, (double)outcome.sum.active);
        assert_int_equal(path_cycles(&outcome), end);
        for (uint32_t count = 1; count <= THREADS + 1; count++) {
            const struct course_cores cores = course_cores(&outcome.counts, count);
            double sum = cores.running + cores.nothing;
            for (unsigned activity = 0; activity < COURSE_ACTIVITIES; activity++)
                sum += cores.waiting[activity];
            assert_int_equal(cores.cycles, end);
            assert_near(sum, (double)end * count);
            assert_near(cores.running + cores.beyond, (double)active);
            const struct speedup speedup = speedup_of(&outcome.counts, count, 0.25);
            sum = 0;
            for (unsigned part = 0; part < SPEEDUP_PARTS; part++)
                sum += speedup.parts[part];
            assert_near(sum, speedup.cores);
            assert_near(speedup.parts[SPEEDUP_RUNNING], 3 * speedup.parts[SPEEDUP_COHERENCE]);
        }
    }
}

/* Changes are taken in pieces while the course goes on, with the same outcome. */
static void advancing_changes_nothing(void **state) {
    (void)state;
    struct outcome outcome[2];
    for (unsigned advancing = 0; advancing < 2; advancing++) {
        struct thread_course *course = begin(0);
        for (uint32_t i = 0; i < 3; i++)
            course_begin(course, i, COURSE_NOBODY, 0);
        for (uint64_t turn = 1; turn < 10000; turn++)
            for (uint32_t i = 0; i < 3; i++) {
                course_change(course, i, turn % 2 ? COURSE_RUNNING : COURSE_LOCK,
                              7 * turn + 5 * (turn * (i + 1) % 3));
                if (advancing)
                    course_advance(course, 7 * turn);
            }
        for (uint32_t i = 0; i < 3; i++)
            course_change(course, i, COURSE_ABSENT, 80000);
        finish(course, 80000, &outcome[advancing]);
    }
    assert_memory_equal(&outcome[0].counts, &outcome[1].counts, sizeof outcome[0].counts);
    assert_memory_equal(outcome[0].threads, outcome[1].threads, sizeof outcome[0].threads);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_threads),
        cmocka_unit_test(told_in_any_order),
        cmocka_unit_test(shared_out_evenly),
        cmocka_unit_test(fewer_cores_than_ran),
        cmocka_unit_test(more_wait_than_cores),
        cmocka_unit_test(path_over_creation),
        cmocka_unit_test(path_from_the_end_of_the_program),
        cmocka_unit_test(path_of_who_runs_at_the_end),
        cmocka_unit_test(old_waits_are_forgotten),
        cmocka_unit_test(sums_of_any_course),
        cmocka_unit_test(advancing_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
