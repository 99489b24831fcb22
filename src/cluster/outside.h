/* Inside of this room: another program that is run to its end, without a shell, and what it says.
 *
 * It gets no standard input, and a process group of its own, so that a Ctrl-C of the terminal does
 * not end a submission in its middle. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

struct outside {
    int status;          /* its exit status; 128 and the signal that ended it */
    char *said;          /* standard output, with an end; to be freed */
    size_t said_size;    /* without it */
    char complaint[512]; /* the last line of standard error that says something, or empty */
};

/* False: it cannot be run, said too much, or did not end within `seconds`. outside_free() either
 * way. */
bool outside_run(struct outside *outside, const char *const *words, double seconds,
                 struct error *error);
void outside_free(struct outside *outside);

/* The last line with something in it, cut where there is no room. */
void last_line(const char *text, size_t size, char *line, size_t room);
