/* The bus by itself: buffers filled by hand, workers on threads that can be held up. And what a
 * core shows of dispatch and fetch, against the lives of its µops. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

#include "core_fixture.h"
#include "tap/tap.h"

/* A core that commits one µop in each cycle, from its own point of view. */
struct little_core {
    struct tap *tap;
    struct tap_state state;
    struct tap_buffer *buffer;
};

static void begin(struct little_core *core, struct tap *tap) {
    *core = (struct little_core){.tap = tap, .buffer = tap_current(tap)};
    core->buffer->start = core->state;
}

/* One commit, then the buffer is handed over. */
static bool commit(struct little_core *core, struct error *error) {
    struct tap_buffer *buffer = core->buffer;
    buffer->words[0] = tap_header(TAP_COMMIT, 0, 1, 0, 1);
    buffer->words[1] = tap_uop((uint32_t)core->state.uop, 0, TAP_UOP_LAST);
    buffer->used = 2;
    buffer->records[TAP_COMMIT] = 1;
    core->state.cycle = core->state.last_commit = core->state.uop + 1;
    core->state.last_uop = buffer->words[1];
    core->state.uop++;
    core->buffer = tap_exchange(core->tap, &core->state, error);
    return core->buffer;
}

/* ---- workers ---- */

struct seen {
    uint64_t count, numbers[64], uops[64];
    uint64_t fails_at; /* call in which it fails; 0: none */
    sem_t *gate;       /* waits here once */
    const struct tap_index *index;
};

static bool see(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct seen *seen = context;
    if (seen->gate)
        sem_wait(seen->gate);
    seen->gate = NULL;
    seen->numbers[seen->count] = buffer->number;
    seen->uops[seen->count++] = buffer->start.uop;
    if (seen->count == seen->fails_at)
        return error_set(error, "the disk is full");
    return true;
}

static void add(struct tap *tap, const char *name, struct seen *seen, struct executor *executor,
                uint32_t part, uint32_t parts) {
    struct error error;
    struct tap_worker worker = {.name = name,
                                .consume = see,
                                .context = seen,
                                .executor = executor,
                                .part = part,
                                .parts = parts};
    assert_true(tap_add_worker(tap, &worker, &error));
}

static struct executor *thread(void) {
    struct error error;
    struct executor *executor = executor_new("worker", &error);
    assert_non_null(executor);
    return executor;
}

/* ---- order, parts ---- */

/* Ten buffers: to a worker in the core's thread, to one of its own thread, and split over three. */
static void test_every_worker_gets_its_buffers_in_order(void **state) {
    (void)state;
    struct executor *executors[] = {NULL, thread(), thread(), thread(), thread()};
    struct seen seen[5] = {0};
    struct tap *tap = tap_new(NULL);
    for (uint32_t i = 0; i < 5; i++)
        add(tap, "seen", &seen[i], executors[i], i < 2 ? 0 : i - 2, i < 2 ? 0 : 3);
    struct little_core core;
    struct error error;
    begin(&core, tap);
    for (int i = 0; i < 10; i++)
        assert_true(commit(&core, &error));
    assert_true(tap_flush(tap, &core.state, &core.buffer, &error));
    assert_int_equal(seen[0].count, 10);
    assert_int_equal(seen[1].count, 10);
    for (uint64_t i = 0; i < 10; i++) {
        assert_int_equal(seen[0].numbers[i], i);
        assert_int_equal(seen[1].numbers[i], i);
        assert_int_equal(seen[1].uops[i], i);
        assert_int_equal(seen[2 + i % 3].numbers[i / 3], i);
    }
    assert_int_equal(seen[2].count + seen[3].count + seen[4].count, 10);
    tap_free(tap);
    for (int i = 1; i < 5; i++)
        executor_free(executors[i]);
}

/* Two cores, one worker: its executor never runs it twice at once. */
static void test_taps_share_a_worker(void **state) {
    (void)state;
    struct executor *executor = thread();
    struct seen seen = {0};
    struct tap_bus *bus = tap_bus_new();
    struct tap *taps[] = {tap_new(bus), tap_new(bus)};
    struct little_core cores[2];
    struct error error;
    for (int i = 0; i < 2; i++) {
        add(taps[i], "seen", &seen, executor, 0, 0);
        begin(&cores[i], taps[i]);
    }
    for (int i = 0; i < 20; i++)
        assert_true(commit(&cores[i % 2], &error));
    for (int i = 0; i < 2; i++)
        assert_true(tap_flush(taps[i], &cores[i].state, &cores[i].buffer, &error));
    assert_int_equal(seen.count, 20);
    for (uint64_t i = 0; i < 20; i++)
        assert_int_equal(seen.numbers[i], i / 2);
    for (int i = 0; i < 2; i++)
        tap_free(taps[i]);
    tap_bus_free(bus);
    executor_free(executor);
}

/* ---- back-pressure ---- */

struct gate {
    sem_t semaphore;
    atomic_bool open;
};

static void *open_gate(void *context) {
    struct gate *gate = context;
    usleep(20000);
    gate->open = true;
    sem_post(&gate->semaphore);
    return NULL;
}

/* A worker is held up: the pool's buffers can be filled without a wait, the next has to wait until
 * it goes on. */
static void test_core_waits_when_the_pool_is_empty(void **state) {
    (void)state;
    struct executor *slow = thread(), *quick = thread();
    struct gate gate = {.open = false};
    sem_init(&gate.semaphore, 0, 0);
    struct seen held = {.gate = &gate.semaphore}, other = {0};
    struct tap_bus *bus = tap_bus_new();
    struct tap *tap = tap_new(bus);
    add(tap, "held", &held, slow, 0, 0);
    add(tap, "other", &other, quick, 0, 0);
    struct little_core core;
    struct error error;
    begin(&core, tap);
    for (int i = 0; i < TAP_POOL_BUFFERS; i++)
        assert_true(commit(&core, &error));
    pthread_t opener;
    pthread_create(&opener, NULL, open_gate, &gate);
    assert_true(commit(&core, &error));
    assert_true(gate.open);
    assert_true(tap_flush(tap, &core.state, &core.buffer, &error));
    assert_int_equal(held.count, TAP_POOL_BUFFERS + 1);
    assert_int_equal(other.count, TAP_POOL_BUFFERS + 1);
    pthread_join(opener, NULL);
    tap_free(tap);
    tap_bus_free(bus);
    executor_free(slow);
    executor_free(quick);
    sem_destroy(&gate.semaphore);
}

/* ---- failure ---- */

/* One worker fails at its third buffer. It is not called again, the run ends with its message, on
 * another tap as well; the others have seen all that was handed over. */
static void check_failure(struct executor *executor) {
    struct executor *own = thread();
    struct seen before = {0}, bad = {.fails_at = 3}, after = {0}, alone = {0};
    struct tap_bus *bus = tap_bus_new();
    struct tap *tap = tap_new(bus), *second = tap_new(bus);
    add(tap, "before", &before, executor, 0, 0);
    add(tap, "trace", &bad, executor, 0, 0);
    add(tap, "after", &after, executor, 0, 0);
    add(tap, "alone", &alone, own, 0, 0);
    struct little_core core, other;
    struct error error = {0};
    begin(&core, tap);
    begin(&other, second);
    uint64_t handed_over = 1;
    while (commit(&core, &error))
        assert_true(++handed_over < 64);
    assert_string_equal(error.message, "trace: the disk is full");
    assert_true(handed_over >= 3);
    error.message[0] = 0;
    assert_false(tap_flush(tap, &core.state, &core.buffer, &error));
    assert_string_equal(error.message, "trace: the disk is full");
    assert_null(core.buffer);
    assert_int_equal(before.count, handed_over);
    assert_int_equal(bad.count, 3);
    assert_int_equal(after.count, handed_over);
    assert_int_equal(alone.count, handed_over);
    error.message[0] = 0;
    assert_false(commit(&other, &error));
    assert_string_equal(error.message, "trace: the disk is full");
    tap_free(tap);
    tap_free(second);
    tap_bus_free(bus);
    executor_free(own);
}

static void test_failure_ends_the_run_and_spares_the_others(void **state) {
    (void)state;
    check_failure(NULL);
    struct executor *executor = thread();
    check_failure(executor);
    executor_free(executor);
}

/* ---- index ---- */

static bool ask(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct seen *seen = context;
    seen->index = tap_index(buffer);
    seen->count++;
    return seen->index || error_set(error, "out of memory");
}

/* By hand: cycle 4 dispatches µops 0 to 3, cycle 5 commits nothing and fetches 8, cycle 7 commits
 * two, cycle 9 squashes from µop 2 on, which is fetched in cycle 12 and dispatched in cycle 15. */
static void test_index_by_hand(void **state) {
    (void)state;
    struct executor *executors[] = {thread(), thread()};
    struct seen seen[2] = {0};
    struct tap *tap = tap_new(NULL);
    struct error error;
    for (int i = 0; i < 2; i++) {
        struct tap_worker worker = {
            .name = "asks", .consume = ask, .context = &seen[i], .executor = executors[i]};
        assert_true(tap_add_worker(tap, &worker, &error));
    }
    struct tap_buffer *buffer = tap_current(tap);
    const uint64_t words[] = {tap_header(TAP_DISPATCH, 0, 4, 0, 4),
                              tap_header(TAP_FETCH, 0, 8, 0, 1),
                              tap_header(TAP_COMMIT, 0, 2, 0, 2),
                              tap_uop(0, 0, 0),
                              tap_uop(1, 0, 0),
                              tap_header(TAP_FLUSH, 0, 1, 0, 2),
                              tap_uop(2, 0, 0),
                              tap_header(TAP_FETCH, 0, 6, 0, 3),
                              tap_header(TAP_DISPATCH, 0, 4, 0, 3)};
    memcpy(buffer->words, words, sizeof words);
    buffer->used = sizeof words / sizeof *words;
    buffer->start = (struct tap_state){0};
    buffer->records[TAP_DISPATCH] = buffer->records[TAP_FETCH] = 2;
    buffer->records[TAP_COMMIT] = buffer->records[TAP_FLUSH] = 1;
    struct tap_state after = {0};
    assert_true(tap_flush(tap, &after, &buffer, &error));
    const struct tap_index *index = seen[0].index;
    assert_ptr_equal(index, seen[1].index);
    assert_int_equal(index->closing_count, 2);
    assert_int_equal(index->dispatch_count, 2);
    assert_int_equal(index->fetch_count, 2);
    const struct tap_point closing[] = {{7, 0, 2}, {9, 2, 5}}, dispatch[] = {{4, 0, 0}, {15, 2, 8}},
                           fetch[] = {{5, 0, 1}, {12, 2, 7}};
    for (int i = 0; i < 2; i++) {
        const struct tap_point *want[] = {&closing[i], &dispatch[i], &fetch[i]};
        const struct tap_point *got[] = {&index->closing[i], &index->dispatch[i], &index->fetch[i]};
        for (int kind = 0; kind < 3; kind++) {
            assert_int_equal(got[kind]->cycle, want[kind]->cycle);
            assert_int_equal(got[kind]->sequence, want[kind]->sequence);
            assert_int_equal(got[kind]->word, want[kind]->word);
        }
    }
    tap_free(tap);
    executor_free(executors[0]);
    executor_free(executors[1]);
}

/* ---- what a core shows ---- */

struct shown {
    uint64_t committed[FIXTURE_DYNAMIC], dispatched[FIXTURE_DYNAMIC], fetched[FIXTURE_DYNAMIC];
    uint64_t count, buffers, flushes;
};

static void note(const struct tap_buffer *buffer, const struct tap_point *points, uint32_t count,
                 uint64_t *cycles) {
    for (uint32_t i = 0; i < count; i++) {
        struct tap_record record;
        tap_read(buffer->words + points[i].word, &record);
        for (unsigned k = 0; k < record.count; k++)
            cycles[points[i].sequence + k] = points[i].cycle;
    }
}

static bool show(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct shown *shown = context;
    const struct tap_index *index = tap_index(buffer);
    (void)error;
    assert_int_equal(buffer->start.uop, shown->count);
    note(buffer, index->closing, index->closing_count, shown->committed);
    note(buffer, index->dispatch, index->dispatch_count, shown->dispatched);
    note(buffer, index->fetch, index->fetch_count, shown->fetched);
    const struct tap_point *last = &index->closing[index->closing_count - 1];
    struct tap_record record;
    tap_read(buffer->words + last->word, &record);
    shown->count = last->sequence + (record.kind == TAP_COMMIT ? record.count : 0);
    shown->flushes += buffer->records[TAP_FLUSH];
    shown->buffers++;
    return true;
}

/* Stores whose address is late, loads behind them that come too early and are squashed, arithmetic
 * between: each µop's last fetch, dispatch and commit are those of its life. */
static void test_core_shows_what_its_uops_lived(void **state) {
    (void)state;
    struct program_fixture *program = program_fixture_new();
    struct machine machine = little_machine();
    machine.core.disambiguation = DISAMBIGUATE_SPECULATE;
    uint32_t slow = operation(program, OP_INT_MUL, 2, 3), writes = store(program, 4, 2);
    uint32_t reads = load(program, 5, 6), plain = alu(program, 7, 5, 0);
    for (int i = 0; i < 3000; i++) {
        execute(program, slow);
        execute_at(program, writes, 0x1000 + 64 * (i % 50), 8);
        execute_at(program, reads, 0x1000 + 64 * (i % 70), 8);
        execute(program, plain);
    }
    struct shown *shown = calloc(1, sizeof *shown);
    struct tap_worker worker = {.name = "shown",
                                .kinds = 1 << TAP_DISPATCH | 1 << TAP_FETCH,
                                .consume = show,
                                .context = shown};
    program->worker = &worker;
    simulate_on(program, &machine, 0, FIXTURE_DYNAMIC, NULL, NULL);
    assert_true(shown->buffers > 1);
    assert_true(shown->flushes > 0);
    assert_int_equal(program->life_count, 12000);
    for (uint32_t i = 0; i < program->life_count; i++) {
        assert_int_equal(shown->fetched[i], program->lives[i].fetch);
        assert_int_equal(shown->dispatched[i], program->lives[i].dispatch);
        assert_int_equal(shown->committed[i], program->lives[i].commit);
    }
    free(shown);
    program_fixture_free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_worker_gets_its_buffers_in_order),
        cmocka_unit_test(test_taps_share_a_worker),
        cmocka_unit_test(test_core_waits_when_the_pool_is_empty),
        cmocka_unit_test(test_failure_ends_the_run_and_spares_the_others),
        cmocka_unit_test(test_index_by_hand),
        cmocka_unit_test(test_core_shows_what_its_uops_lived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
