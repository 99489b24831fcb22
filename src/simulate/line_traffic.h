/* Lines of memory that move between the cores of a chip (together.h): which bytes of them which
 * instruction of which thread touches, and whether what moves them is what they hold.
 *
 * A thread that asks for a line holds it until another core takes it, or the right to write it.
 * What it asked for then was of true sharing if it touched, while it held the line, bytes that
 * others have to do with: those that another thread wrote since it had the line last and, when it
 * stored, those that the cores that lost the line had touched. Else it was false sharing, and the
 * bytes of each thread in lines of their own would have needed no transfer (of misses: Dubois et
 * al. 1993).
 *
 * Accesses are seen when their core gets them, in pieces (CORE_PUSH), some before they are
 * simulated: when a thread did what is known to two pieces. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simulate/instruction_observer.h"
#include "simulate/together.h"

enum {
    LINE_PARTS = 64, /* of a line: bytes, of lines of up to 64; else parts of equal size */
    LINE_TRAFFIC_LINES = 1 << 16, /* that are kept; the rest are those that waited least */
    LINE_TRAFFIC_SIDES = 1 << 20, /* of all lines */
    LINE_SIDES = 128,
    LINE_THREADS = 64 /* of one */
};

/* What one instruction did to a line, for one thread. */
struct line_side {
    uint32_t thread, insn;  /* static instruction */
    uint64_t read, written; /* bit per part */
    uint64_t reads, writes; /* accesses */
    uint64_t moves;         /* transfers and upgrades that it asked for */
    uint64_t cycles;        /* that it waited for them */
    uint32_t bytes;         /* of its last access, in this line */
};

struct line_masks {
    uint64_t touched, written;
};
struct line_thread {
    uint32_t thread;
    uint32_t hint;                 /* side that was used last */
    uint64_t read, written;        /* parts, ever */
    uint64_t touched;              /* since it got the line */
    uint64_t foreign;              /* written by others since then */
    uint64_t piece;                /* number of the thread's last piece that touched it: */
    struct line_masks now, before; /* in that, and the one before */
    /* While it holds the line: */
    uint64_t at_stake;      /* parts that others had to do with when it asked */
    uint64_t moves, cycles; /* that it asked for, and waited */
    bool known;             /* what others had done was */
};

struct moved_line {
    uint64_t address; /* of its first byte */
    uint32_t process;
    uint64_t transfers, upgrades;
    uint64_t prefetched; /* of the transfers, for accesses to other lines: nobody waited */
    uint64_t cycles;     /* that accesses waited */
    uint64_t dropped;    /* accesses of instructions that there was no room for */
    uint64_t false_moves, true_moves; /* transfers and upgrades; of the others it is not known */
    uint64_t false_cycles, true_cycles;
    struct line_side *sides;
    struct line_thread *threads;
    size_t side_count, side_capacity, thread_count, thread_capacity;
};

struct line_stack {     /* what calls of a thread pushed */
    uint64_t low, high; /* low > high: nothing */
    uint32_t process;
};

struct line_traffic;
struct line_traffic_sum {
    struct moved_line *lines; /* most cycles first */
    size_t count;
    uint64_t moves, cycles; /* of all lines, those dropped included */
    uint64_t dropped_lines, dropped_moves;
    const struct line_stack *stacks; /* by thread */
    size_t stack_count;
};

struct line_traffic *line_traffic_new(uint32_t line_bytes, struct error *error);
void line_traffic_free(struct line_traffic *traffic);
/* Both are for one simulation of threads together. */
struct instruction_observer line_traffic_observer(struct line_traffic *traffic);
struct together_watch line_traffic_watch(struct line_traffic *traffic);
/* Memory ran out on the way: a line or side is missing. */
bool line_traffic_failed(const struct line_traffic *traffic);
/* Sorts; owned by `traffic`. */
struct line_traffic_sum line_traffic_sum(struct line_traffic *traffic);

/* ---- what the two above are made of ---- */

/* The thread gets its next piece. */
void line_traffic_piece(struct line_traffic *traffic, uint32_t thread);
void line_traffic_access(struct line_traffic *traffic, uint32_t process, uint32_t thread,
                         uint32_t insn, const struct memory_access *access);
void line_traffic_move(struct line_traffic *traffic, const struct line_move *move);
