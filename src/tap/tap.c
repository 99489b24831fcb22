/* The bus: one buffer that the core fills, handed to every worker in turn when it is full. A buffer
 * starts with the state after the one before it, so a worker keeps no stream state of its own and
 * may serve the taps of several cores. */
#include "tap/tap.h"

#include <stdlib.h>

enum { TAP_MAX_WORKERS = 32 };

struct tap {
    struct tap_worker workers[TAP_MAX_WORKERS];
    uint32_t worker_count, kinds;
    struct tap_buffer buffer;
};

struct tap *tap_new(void) {
    struct tap *tap = calloc(1, sizeof *tap);
    if (tap)
        tap->kinds = 1 << TAP_COMMIT | 1 << TAP_FLUSH;
    return tap;
}

void tap_free(struct tap *tap) {
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
    return &tap->buffer;
}

struct tap_buffer *tap_exchange(struct tap *tap, const struct tap_state *state,
                                struct error *error) {
    if (tap->buffer.used)
        for (uint32_t i = 0; i < tap->worker_count; i++) {
            const struct tap_worker *worker = &tap->workers[i];
            if (!worker->consume(worker->context, &tap->buffer, error)) {
                error_prefix(error, "%s", worker->name);
                return NULL;
            }
        }
    tap->buffer.start = *state;
    tap->buffer.used = 0;
    return &tap->buffer;
}

bool tap_flush(struct tap *tap, const struct tap_state *state, struct error *error) {
    return tap_exchange(tap, state, error) != NULL;
}
