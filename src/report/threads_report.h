/* What is to be told of threads that were simulated together (simulate/together.h): what limits
 * them, their waits with names, what cores were used for.
 *
 * A speedup stack (Eyerman, Du Bois and Eeckhout 2012) has the height of as many cores as the
 * program can use. What its threads ran is the speedup; the rest of it is what cores were idle for,
 * by what the threads waited for then, and what of the running waited for other cores' lines. That
 * threads share a last level and memory is in the running: it is not told apart. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/page.h"
#include "simulate/thread_what_if.h"
#include "simulate/together.h"

enum speedup_part {
    SPEEDUP_RUNNING,   /* but for the next */
    SPEEDUP_COHERENCE, /* ran, but waited for a line that another core had */
    SPEEDUP_LOCK,
    SPEEDUP_BARRIER,
    SPEEDUP_EVENT,
    SPEEDUP_JOIN,
    SPEEDUP_SLEEP,
    SPEEDUP_READY,   /* a thread was about to run */
    SPEEDUP_NOTHING, /* fewer threads were there than cores */
    SPEEDUP_PARTS
};
struct speedup {
    uint32_t cores;
    double parts[SPEEDUP_PARTS]; /* in cores: they sum to `cores` */
    double beyond;               /* and so many more ran, on the average, on further cores */
};
/* `coherence`: share of the running that waited for lines. Without cycles all is 0. */
struct speedup speedup_of(const struct course_counts *counts, uint32_t most_cores,
                          double coherence);
const char *speedup_part_name(enum speedup_part part);
const char *speedup_part_key(enum speedup_part part);
const char *speedup_part_description(enum speedup_part part);
const char *speedup_part_colour(enum speedup_part part); /* "#1f77b4" */

/* Where in the program. */
struct thread_place {
    bool known;
    const char *function, *file; /* NULL: not known */
    uint32_t line;               /* 0: not known */
    const char *image;           /* base name of the file */
    uint64_t offset;             /* in it */
};

/* Waits of one kind, by one line of code, because of another; `address` is that of the one that
 * took most. */
struct wait_row {
    struct together_wait sum;
    uint32_t objects; /* different addresses, or processes */
    struct thread_place waiter, other;
};

enum thread_cause {
    CAUSE_NONE,
    CAUSE_LOCK,
    CAUSE_BARRIER,
    CAUSE_EVENT,
    CAUSE_JOIN,
    CAUSE_COHERENCE,
    CAUSE_MEMORY, /* its bandwidth */
    CAUSE_SERIAL,
    CAUSE_SLEEP,
    CAUSES
};
const char *thread_cause_key(enum thread_cause cause);

/* On another number of cores. */
struct scale_row {
    uint32_t cores;
    uint64_t cycles;
    struct speedup speedup;
    enum speedup_part loss; /* the part that takes most beside the running */
};

struct report;
struct threads_report {
    const struct together_result *together;
    double ghz;
    uint64_t stack_cycles; /* summed over threads */
    uint32_t top;          /* rows of tables; 0: all */
    uint64_t lives;        /* cycles from the begin to the end of each thread, summed */
    uint32_t known;        /* threads that began */
    struct speedup speedup;
    double bus; /* share of the elapsed cycles that the memory's bus is busy; 0: no limit */
    struct wait_row *waits; /* most cycles first */
    size_t wait_count;
    struct scale_row scales[TOGETHER_SCALES + 1]; /* fewest cores first; with what is reported */
    uint32_t scale_count;                         /* 0: only that was asked for */
    struct thread_place shared; /* the instruction that waited most for other cores' lines */
    enum thread_cause first;    /* that costs most */
    double cost;                /* of it: share of the cores' time */
    const struct thread_what_ifs *what_ifs; /* NULL: not asked for */
};

/* Of a report that is otherwise built; nothing (together NULL) when threads were not simulated
 * together. threads_report_free() either way. */
struct error;
bool threads_report_build(const struct report *report, uint32_t top, struct threads_report *threads,
                          struct error *error);
void threads_report_free(struct threads_report *threads);

/* Cycles of the critical path in which it waits for a time to come. */
uint64_t threads_slept(const struct together_result *together);

/* "lock" */
const char *wait_reason_name(enum together_reason reason);
/* "work_locked (critical.c:41)"; "not known". */
void thread_place_text(const struct thread_place *place, char *text, size_t size);
/* An object, or null where it is not known (json/threads.c). */
json_t *thread_place_json(const struct thread_place *place);

/* The head: elapsed cycles, and what costs most; the rest (text/threads.c). Nothing where threads
 * were not simulated together. */
void threads_text_head(const struct threads_report *threads, const struct page *page);
void threads_text(const struct threads_report *threads, const struct page *page);
/* Two of its parts: the table of waits, and the line of the critical path. */
void threads_text_waits(const struct threads_report *threads, const struct page *page);
void threads_text_path(const struct threads_report *threads, const struct page *page);
/* What the parts of the speedup stack mean. */
void threads_text_words(const struct page *page);

/* A bar with the parts of the speedup stack; a box for each thread, its share of the time high and
 * its parallelism wide (svg/speedup.c, svg/bottles.c). */
void speedup_svg(const struct threads_report *threads, const char *program, FILE *out);
void bottles_svg(const struct threads_report *threads, const char *program, FILE *out);
