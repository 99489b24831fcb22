/* What a study runs or reads. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "machine/choice.h"
#include "simulate/selection.h"
#include "study/study.h"

enum { INPUT_MOST_TRACES = 64, INPUT_MOST_VARIABLES = 64 };

/* [options] [--] COMMAND... or, where allowed, TRACE.ctrace. */
struct input_options {
    bool traces_allowed;   /* set before parsing */
    uint32_t more_allowed; /* traces beside the first, up to INPUT_MOST_TRACES; likewise */
    char **command;        /* NULL: none */
    const char *trace;     /* NULL: none */
    const char *more_traces[INPUT_MOST_TRACES];
    uint32_t more_count;
    uint64_t skip, limit;
    const char *from;
    int thread; /* −1: all */
    bool follow, no_follow;
    bool objects;    /* its memory is told of, where it is captured (capture_options) */
    bool stop;       /* at the limit, the command */
    double seconds;  /* --for; 0: to the end */
    int on_signal;   /* begin when it comes; 0: at once */
    bool repeatable; /* the command gets the same random numbers every time */
    uint64_t seed;   /* which ones */
    bool seed_given;
    bool fixed;      /* all that the command can see but files is the same everywhere */
    uint32_t layout; /* of its memory then (trace/memory_layout.h) */
    const char *variables[INPUT_MOST_VARIABLES]; /* of its environment then, too */
    uint32_t variable_count;
    int descriptors[3]; /* of the command, as of capture_options */
};

/* Whether it is a part of a run, of which no regions are chosen. */
static inline bool input_is_part(const struct input_options *input) {
    return input->skip || input->from || input->thread >= 0;
}
/* What its command is and sees, whatever part of it is captured. */
struct capture_options input_conditions(const struct input_options *input);
/* How its command is captured, with addresses, under the watch, which keeps open the files that it
 * maps; and what of its trace file is meant. */
struct capture_options input_capture(struct watch *watch, const struct input_options *input);
struct selection input_selection(const struct input_options *input);

/* As machine_choice_load(). False also when the machine for the program of the command cannot be
 * had, which is thus said before it starts. */
bool input_choose_machine(const struct input_options *input, const struct machine_options *options,
                          struct machine_choice *choice, struct error *error);

/* The error of a study in which nothing was selected that could be `done`: "simulated"; false.
 * `trace` NULL: its notes are not known. */
bool input_nothing(const struct watch *watch, const struct input_options *input,
                   const struct trace *trace, const char *done, struct error *error);

/* What is written of it in the current folder when no file is named: of "dir/gzip" and of
 * "dir/gzip.ctrace" "gzip" and the ending. The error, which is of a name that makes none, calls it
 * `what`: "the vectors". */
bool input_default_path(const struct input_options *input, const char *ending, const char *what,
                        char path[NAME_MAX + 1], struct error *error);

/* Whether the program of a command, or of a trace in a regular file, found as a shell would, is one
 * of Python, or a script whose interpreter is. */
bool input_runs_python(const struct input_options *input);
