/* Up/down: the next line or the one before, if of late such lines were read. AMD's prefetcher of
 * the L2 "uses memory access history to determine whether to fetch the next or previous line for
 * all memory accesses" (Software Optimization Guide for Family 19h 56665, 2.12). As measured on Zen
 * 3 (docs/results/hosts/zen3.md): among single lines in random order nothing is fetched, among
 * pairs the second line is there, and of more lines in a row each one.
 *
 * How is not published. Here each line that is read, which was not there or was fetched for it,
 * looks whether its neighbours were among the last ones. One that was counts two for its direction,
 * one that was not counts one against it; from THRESHOLD on lines are fetched in the direction that
 * counts more. A direction thus stays on where one line in three or more was of use. */
#include "memory/prefetch.h"

enum { FOR = 2, MOST = 15, THRESHOLD = 8 };

static bool was_read(const struct up_down *known, uint64_t line) {
    return known->lines_plus_one[line % UP_DOWN_LINES] == line + 1;
}

static uint8_t counted(uint8_t count, bool right) {
    if (!right)
        return (uint8_t)(count - (count > 0));
    return (uint8_t)(count + FOR < MOST ? count + FOR : MOST);
}

int64_t up_down_step(struct prefetcher *prefetcher, const struct prefetch_trigger *trigger) {
    struct up_down *known = &prefetcher->up_down;
    const uint64_t line = trigger->address / trigger->line_bytes;
    const int64_t bytes = trigger->line_bytes;
    if (!trigger->missed && !trigger->first_use)
        return 0;
    known->up = counted(known->up, was_read(known, line - 1));
    known->down = counted(known->down, was_read(known, line + 1));
    known->lines_plus_one[line % UP_DOWN_LINES] = line + 1;
    if (known->up < THRESHOLD && known->down < THRESHOLD)
        return 0;
    return known->up >= known->down ? bytes : -bytes;
}
