/* Which files of a profile have no function names, and the command that brings them: told in the
 * same words by every verb. */
#pragma once

#include "program/program.h"
#include "report/report.h"

struct missing_names {
    uint32_t image; /* number in the program */
    double share;   /* of all values, 0 to 1: those in its functions without a name */
};

/* Adds notes on the files among `items` (which are sorted) that are stripped and hold at least a
 * hundredth of the values: which they are, and one command for all; and on those whose file cannot
 * be used, why. `what` is what the shares are of: "cycles". False: memory is out. */
bool missing_names_note(struct report *report, const struct program *program,
                        struct missing_names *items, size_t count, const char *what);

/* The same of the files of a simulation's code. */
bool missing_names_note_code(struct report *report, const struct code *code,
                             struct program *program);
