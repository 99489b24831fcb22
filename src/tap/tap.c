/* The bus: the core fills a buffer of the pool. A full buffer goes to every executor that has
 * workers for it; the executor's thread calls its workers in turn and gives the buffer back, which
 * is counted. The core only hands over and takes the next buffer. More workers on other threads
 * therefore cost it nothing, unless they fall behind by the whole pool: then it waits. */
#include "tap/tap.h"

#include <assert.h>
#include <stdlib.h>

#include "tap/pool.h"
#include "util/executor.h"

/* The workers of one executor, by number in a bit set. */
struct group {
    struct tap *tap;
    struct executor *executor;
    uint64_t workers;
    uint64_t ticket; /* of its last buffer */
};

struct tap {
    struct tap_bus *bus;
    bool owns_bus;
    uint32_t worker_count, group_count, kinds;
    uint64_t number; /* of the next buffer handed over */
    struct tap_buffer *current;
    struct tap_worker workers[TAP_MAX_WORKERS];
    bool failed[TAP_MAX_WORKERS]; /* each is written by its executor alone */
    struct group groups[TAP_MAX_WORKERS];
};
static_assert(TAP_MAX_WORKERS <= 64, "one bit each");

struct tap *tap_new(struct tap_bus *bus) {
    struct tap *tap = calloc(1, sizeof *tap);
    if (!tap)
        return NULL;
    tap->owns_bus = !bus;
    tap->bus = bus ? bus : tap_bus_new();
    tap->kinds = 1 << TAP_COMMIT | 1 << TAP_FLUSH;
    if (tap->bus)
        pool_join(tap->bus);
    if (!tap->bus || !(tap->current = pool_take(tap->bus))) {
        tap_free(tap);
        return NULL;
    }
    return tap;
}

static void wait_for_workers(const struct tap *tap) {
    for (uint32_t i = 0; i < tap->group_count; i++)
        if (tap->groups[i].executor && tap->groups[i].ticket)
            executor_wait(tap->groups[i].executor, tap->groups[i].ticket);
}

void tap_free(struct tap *tap) {
    if (!tap)
        return;
    wait_for_workers(tap);
    if (tap->current)
        pool_hand_over(tap->bus, tap->current, 0);
    if (tap->bus)
        pool_leave(tap->bus);
    if (tap->owns_bus)
        tap_bus_free(tap->bus);
    free(tap);
}

static struct group *group_of(struct tap *tap, struct executor *executor) {
    for (uint32_t i = 0; i < tap->group_count; i++)
        if (tap->groups[i].executor == executor)
            return &tap->groups[i];
    struct group *group = &tap->groups[tap->group_count++];
    *group = (struct group){.tap = tap, .executor = executor};
    return group;
}

bool tap_add_worker(struct tap *tap, const struct tap_worker *worker, struct error *error) {
    if (tap->worker_count == TAP_MAX_WORKERS)
        return error_set(error, "more than %d workers on one tap", TAP_MAX_WORKERS);
    group_of(tap, worker->executor)->workers |= UINT64_C(1) << tap->worker_count;
    tap->workers[tap->worker_count++] = *worker;
    tap->kinds |= worker->kinds;
    return true;
}

uint32_t tap_kinds(const struct tap *tap) {
    return tap->kinds;
}

struct tap_buffer *tap_current(struct tap *tap) {
    return tap->current;
}

static bool takes(const struct tap_worker *worker, const struct tap_buffer *buffer) {
    return worker->parts < 2 || buffer->number % worker->parts == worker->part;
}

static bool group_takes(const struct group *group, const struct tap_buffer *buffer) {
    for (uint64_t left = group->workers; left; left &= left - 1)
        if (takes(&group->tap->workers[__builtin_ctzll(left)], buffer))
            return true;
    return false;
}

static void consume(void *context, uint64_t address) {
    const struct group *group = context;
    struct tap *tap = group->tap;
    struct tap_buffer *buffer = (struct tap_buffer *)(uintptr_t)address; /* NOLINT */
    for (uint64_t left = group->workers; left; left &= left - 1) {
        int i = __builtin_ctzll(left);
        const struct tap_worker *worker = &tap->workers[i];
        struct error error;
        if (tap->failed[i] || !takes(worker, buffer) ||
            worker->consume(worker->context, buffer, &error))
            continue;
        tap->failed[i] = true;
        error_prefix(&error, "%s", worker->name);
        pool_fail(tap->bus, &error);
    }
    pool_give_back(tap->bus, buffer);
}

/* Hands the current buffer over. */
static void hand_over(struct tap *tap) {
    struct tap_buffer *buffer = tap->current;
    struct group *takers[TAP_MAX_WORKERS];
    uint32_t count = 0;
    tap->current = NULL;
    buffer->number = tap->number++;
    for (uint32_t i = 0; i < tap->group_count; i++)
        if (group_takes(&tap->groups[i], buffer))
            takers[count++] = &tap->groups[i];
    pool_hand_over(tap->bus, buffer, count);
    for (uint32_t i = 0; i < count; i++)
        if (takers[i]->executor)
            takers[i]->ticket = executor_submit(takers[i]->executor, consume, takers[i],
                                                (uint64_t)(uintptr_t)buffer);
    for (uint32_t i = 0; i < count; i++)
        if (!takers[i]->executor)
            consume(takers[i], (uint64_t)(uintptr_t)buffer);
}

/* The next buffer. */
static struct tap_buffer *take(struct tap *tap, const struct tap_state *state,
                               struct error *error) {
    if (!pool_good(tap->bus, error))
        return NULL;
    if (!(tap->current = pool_take(tap->bus)))
        return error_null(error, "out of memory for a trace buffer");
    tap->current->start = *state;
    return tap->current;
}

struct tap_buffer *tap_exchange(struct tap *tap, const struct tap_state *state,
                                struct error *error) {
    hand_over(tap);
    return take(tap, state, error);
}

bool tap_flush(struct tap *tap, const struct tap_state *state, struct tap_buffer **buffer,
               struct error *error) {
    if (tap->current && (tap->current->used || tap->current->life_count))
        hand_over(tap);
    wait_for_workers(tap);
    if (!pool_good(tap->bus, error)) {
        *buffer = tap->current;
        return false;
    }
    *buffer = tap->current ? tap->current : take(tap, state, error);
    return *buffer != NULL;
}
