/* How long the last cache of this processor keeps lines, where others use it too.
 *
 * Lines that no cache holds are loaded in a random order, and pushed out of the inner caches by
 * others; that once, twice or four times. After a wait some of them are loaded once more, each
 * timed: from the last cache they come sooner than from memory. */
#pragma once

#include "host/meter.h"

enum host_loads { HOST_LOADED_ONCE, HOST_LOADED_TWICE, HOST_LOADED_OFTEN, HOST_LOADS };
enum { HOST_WAITS = 13 };
struct host_retention {
    enum host_state state;     /* HOST_MEASURED: what follows holds */
    char failure[120];         /* as struct host_result */
    double cycles[HOST_WAITS]; /* of the waits, ascending; the first is 0 */
    double kept[HOST_LOADS]
               [HOST_WAITS]; /* share of the lines, from 0 to 1: medians of several tries */
};

/* False: memory is out. */
bool host_retention_measure(bool quick, const struct watcher *watcher,
                            struct host_retention *retention, struct error *error);
