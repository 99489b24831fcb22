/* How long this processor waits for a line that another processor of the host has.
 *
 * Two threads, each on a processor of its own. One asks the other to write or read some lines, and
 * then takes the time of its own chain of loads, or of atomic additions, through them, in cycles as
 * clock.h has them. The order of the chain is drawn anew each time, so that no prefetcher knows it.
 * Nothing is made code, and nobody but the two threads has the lines. */
#pragma once

#include "host/meter.h"

enum host_line {
    HOST_LINE_MODIFIED,  /* a load of a line that the other processor wrote */
    HOST_LINE_CLEAN,     /* a load of a line that it read, and has alone */
    HOST_LINE_ATOMIC,    /* an atomic addition to a line that this processor owns */
    HOST_LINE_ATOMIC_TO, /* and to one that the other processor wrote */
    HOST_LINE_UPGRADE,   /* and to one that both have read */
    HOST_LINE_TURNS,     /* both write the same line by turns: half of a round */
    HOST_LINE_KEPT,      /* both add atomically to the same word all the time, without waiting for
                            what it was: for how long one has the line, from the first addition to
                            the middle of the last. Depends on where on the chip the two are */
    HOST_LINES
};

/* Two processors that this process may use, best of two cores with a cache in common. False: there
 * is one. */
bool host_two_processors(int processors[2]);
/* Keeps the calling thread there. */
bool host_pin(int processor);

/* Cycles of each, by enum host_line. Where there is only one processor to be had, all are
 * HOST_UNSUPPORTED; where other load keeps the two from running together, HOST_UNSTABLE. False:
 * there is no memory, or no second thread. */
bool host_lines_measure(bool quick, const struct watcher *watcher,
                        struct host_result results[HOST_LINES], struct error *error);
