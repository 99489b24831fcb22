/* A simulated machine as a meter: the same machine code that the native meter runs, under the
 * emulator and through a core of the machine. What it measures is known, so it tells whether a
 * method is right. Results are exact, with a spread of 0.
 *
 * A list of kernels costs one start of the emulator: measure many at once. */
#pragma once

#include "host/meter.h"
#include "machine/machine.h"

struct simulated_meter {
    struct host_meter meter;       /* what parts are given */
    const struct machine *machine; /* the caller's */
};

/* False: the machine has several threads, which are not simulated so. `watcher` may be all zero. */
bool simulated_meter(struct simulated_meter *simulated, const struct machine *machine, bool quick,
                     const struct watcher *watcher, struct error *error);
