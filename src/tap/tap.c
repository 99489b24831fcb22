/* The bus: the core fills a buffer; a full one goes to the executor's thread, where every worker in
 * turn sees it, and the core takes the next of a small pool, waiting when all are under way. A
 * buffer starts with the state after the one before it, so a worker keeps no stream state of its
 * own and may serve the taps of several cores. */
#include "tap/tap.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "util/executor.h"

enum { TAP_MAX_WORKERS = 32, TAP_BUFFERS = 4 };

struct tap {
    struct executor *executor;
    struct tap_worker workers[TAP_MAX_WORKERS];
    uint32_t worker_count, kinds;
    uint64_t current;             /* buffers handed over so far */
    uint64_t ticket[TAP_BUFFERS]; /* of the last hand-over of each */
    atomic_bool failed;           /* `error` is set */
    struct error error;
    struct tap_buffer *buffers[TAP_BUFFERS]; /* the first is there from the start */
};

struct tap *tap_new(struct executor *executor) {
    struct tap *tap = calloc(1, sizeof *tap);
    if (!tap)
        return NULL;
    tap->executor = executor;
    tap->kinds = 1 << TAP_COMMIT | 1 << TAP_FLUSH;
    if (!(tap->buffers[0] = malloc(sizeof *tap->buffers[0]))) {
        free(tap);
        return NULL;
    }
    tap->buffers[0]->used = 0;
    return tap;
}

static void wait_for_workers(const struct tap *tap) {
    if (tap->executor && tap->current)
        executor_wait(tap->executor, tap->ticket[(tap->current - 1) % TAP_BUFFERS]);
}

void tap_free(struct tap *tap) {
    if (!tap)
        return;
    wait_for_workers(tap);
    for (uint32_t i = 0; i < TAP_BUFFERS; i++)
        free(tap->buffers[i]);
    free(tap);
}

bool tap_add_worker(struct tap *tap, const struct tap_worker *worker, struct error *error) {
    if (tap->worker_count == TAP_MAX_WORKERS)
        return error_set(error, "more than %d workers on one tap", TAP_MAX_WORKERS);
    tap->workers[tap->worker_count++] = *worker;
    tap->kinds |= worker->kinds;
    return true;
}

uint32_t tap_kinds(const struct tap *tap) {
    return tap->kinds;
}

struct tap_buffer *tap_current(struct tap *tap) {
    return tap->buffers[tap->current % TAP_BUFFERS];
}

static void consume(void *context, uint64_t number) {
    struct tap *tap = context;
    const struct tap_buffer *buffer = tap->buffers[number % TAP_BUFFERS];
    for (uint32_t i = 0; i < tap->worker_count && !atomic_load(&tap->failed); i++) {
        const struct tap_worker *worker = &tap->workers[i];
        if (!worker->consume(worker->context, buffer, &tap->error)) {
            error_prefix(&tap->error, "%s", worker->name);
            atomic_store(&tap->failed, true);
        }
    }
}

struct tap_buffer *tap_exchange(struct tap *tap, const struct tap_state *state,
                                struct error *error) {
    if (tap->executor) {
        tap->ticket[tap->current % TAP_BUFFERS] =
            executor_submit(tap->executor, consume, tap, tap->current);
        if (++tap->current >= TAP_BUFFERS)
            executor_wait(tap->executor, tap->ticket[tap->current % TAP_BUFFERS]);
    } else {
        consume(tap, tap->current);
    }
    if (atomic_load(&tap->failed)) {
        *error = tap->error;
        return NULL;
    }
    struct tap_buffer **next = &tap->buffers[tap->current % TAP_BUFFERS];
    if (!*next && !(*next = malloc(sizeof **next))) {
        error_set(error, "out of memory for a trace buffer");
        return NULL;
    }
    (*next)->start = *state;
    (*next)->used = 0;
    return *next;
}

bool tap_flush(struct tap *tap, const struct tap_state *state, struct tap_buffer **buffer,
               struct error *error) {
    if (!(*buffer = tap_exchange(tap, state, error)))
        return false;
    wait_for_workers(tap);
    if (!atomic_load(&tap->failed))
        return true;
    *error = tap->error;
    return false;
}
