/* This processor as a meter: kernels run in sandboxed children (child.h), against a chain of
 * additions as the clock. Beside other load and in virtual machines what is said holds, or is said
 * to be HOST_UNSTABLE. */
#pragma once

#include "host/meter.h"

/* False where there is no x86-64 processor, or no time stamp counter. `watcher` may be all zero.
 * `quick`: less effort. Nothing needs to be freed. */
bool host_native_meter(struct host_meter *meter, bool quick, const struct watcher *watcher,
                       struct error *error);
