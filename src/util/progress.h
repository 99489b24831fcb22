/* Progress of long work, for the person who waits: on a terminal a bar with the time left, redrawn
 * ten times a second and wiped at the end; elsewhere (a log) one plain line a minute.
 *
 *     struct progress progress;
 *     progress_start(&progress, stderr, "simulating", "instructions", total);
 *     while (work) progress_update(&progress, done);
 *     progress_finish(&progress);
 *
 * It is the caller, in src/cmd/, that passes the stream; rooms report numbers through callbacks.
 * Not for use by two threads at once. Nothing is allocated: a progress that is never finished leaks
 * nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
    FILE *stream; /* NULL: silent */
    bool terminal;
    const char *label, *unit; /* must live as long as the progress */
    uint64_t total, done;
    bool at_most;         /* the work may end before the total */
    double started, next; /* seconds of the monotonic clock: the start, the next drawing */
    double waiting;       /* since when nothing is done but to wait; 0: not so */
    bool drawn;           /* a bar stands on the terminal */
};

/* `total` 0: not known (no bar, no time left, but count and rate). `stream` NULL: silent. Draws
 * nothing yet: work that ends within half a second shows no bar. */
void progress_start(struct progress *progress, FILE *stream, const char *label, const char *unit,
                    uint64_t total);

/* The same of work that ends at `most` units, or before: of a run that is cut there it is not known
 * which. 0: without limit. */
void progress_start_within(struct progress *progress, FILE *stream, const char *label,
                           const char *unit, uint64_t most);

/* `done` of `total` units so far; more than that shows that the total is not known. Cheap (one
 * clock reading): once per batch, not per instruction.
 */
void progress_update(struct progress *progress, uint64_t done);

/* In place of progress_update() while nothing is left to do but to wait: says for what, and how
 * long it has been; in a log after two seconds, then once a minute. */
void progress_wait(struct progress *progress, const char *what);

/* A total that becomes known, or changes, on the way. */
void progress_set_total(struct progress *progress, uint64_t total);

/* Wipes the bar so that something else can be printed; the next update draws it again. */
void progress_clear(struct progress *progress);

/* Wipes the bar for good. May be called twice. */
void progress_finish(struct progress *progress);

/* The line as drawn after `seconds`: at most `columns` columns (the bar, then the rate, give way
 * first), without line end. Pure; progress_update() prints it. */
void progress_line(const struct progress *progress, double seconds, unsigned columns, char *buffer,
                   size_t size);
