/* Whether another thread of this core is at work, of another program or another virtual machine.
 * It takes slots, units and ports from code that would use most of them, but nothing from a chain
 * of dependent operations: the clock (host/frequency.h) does not feel it, measured times do. */
#pragma once

#include <stddef.h>

struct host_neighbour { /* all zero: not looked for yet */
    double *stretches;  /* seconds of each: independent additions, always as many; malloc'ed */
    size_t count, capacity;
};

/* Looks for some 10 ms; where there is no x86-64 processor, or memory is out, not at all. */
void host_neighbour_look(struct host_neighbour *neighbour);
/* Notes how long one stretch took. */
void host_neighbour_add(struct host_neighbour *neighbour, double seconds);
/* How many times as long as the shortest stretch they took on average, without those that took more
 * than four times as long, which something else interrupted; NAN: none is known. One that is always
 * at work is in the shortest, too, and is not seen. */
double host_neighbour_slowdown(const struct host_neighbour *neighbour);
void host_neighbour_free(struct host_neighbour *neighbour);
