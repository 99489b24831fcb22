/* For a caller who waits for something that takes long: it is told how far that is, and may end it
 * early. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct watcher {                                    /* all zero: nobody */
    void (*progress)(void *context, uint64_t done); /* may be NULL; mostly told instructions */
    void *context;
    const volatile sig_atomic_t *stop; /* becomes not 0: end with what is done. May be NULL */
};

static inline void watcher_tell(const struct watcher *watcher, uint64_t done) {
    if (watcher->progress)
        watcher->progress(watcher->context, done);
}
static inline bool watcher_stops(const struct watcher *watcher) {
    return watcher->stop && *watcher->stop;
}
