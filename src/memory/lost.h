/* Inside the memory room: lines that a core has had to give up, and until when it had them.
 *
 * A request for a line reaches the core that has it some cycles after it was made, and that core
 * uses the line until then. Accesses come in the order of the program, not of cycles, and cores
 * take turns: one may be computed after the request was, though it comes before its arrival. So of
 * each line that was given up the last interval [gained, until) is kept, and an access in it finds
 * the line as it was. Directly mapped: the line given up last keeps its place. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { LOST_LINES = 256 }; /* of a core; a power of two */
struct lost_line {
    uint64_t line;          /* address */
    uint64_t gained, until; /* cycles; until = 0: none */
    uint64_t known; /* cycle: who comes to it has computed the request before, whatever the bound */
    bool owned;     /* it might be written, too */
};

static inline struct lost_line *lost_place(struct lost_line *lines, uint64_t line,
                                           uint32_t line_shift) {
    return &lines[(line >> line_shift) % LOST_LINES];
}

/* The line as the core had it in this cycle; NULL: it is not known to have had it. */
static inline const struct lost_line *lost_find(struct lost_line *lines, uint64_t line,
                                                uint32_t line_shift, uint64_t cycle, bool own) {
    const struct lost_line *lost = lost_place(lines, line, line_shift);
    return lost->line == line && cycle < lost->until && (lost->owned || !own) ? lost : NULL;
}
