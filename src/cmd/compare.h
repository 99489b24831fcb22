/* Inside of this room: what culprit compare is asked (compare_options.c), and its runs. */
#pragma once

#include "attribute/program_extents.h"
#include "cmd/cmd.h"
#include "cmd/verb.h"
#include "report/compare_taken.h"

struct compare_side {
    const char *word;   /* as typed */
    const char *report; /* a JSON file; NULL: it is run */
    char *copy, **command;
};

struct compare_job {
    struct verb_run verb;
    const char *suite;          /* file of pairs, in place of words; NULL: none */
    struct suite *several;      /* those (compare_suite.c) */
    struct input_options input; /* of commands and traces alike */
    struct machine_options machine;
    struct machine_choice machines;
    bool markdown;
    bool over_given, regions_given;
    bool full;   /* every instruction of long runs, too */
    bool judged; /* the exit status tells whether it is slower, by more than a share */
    double fail_above;
    unsigned word_count;
    struct compare_side sides[2];
    char **arguments;       /* of both commands; NULL: none */
    const char *relinks[2]; /* of each side */
    uint32_t relink_count;
    uint32_t layout_count; /* 1: the plain one */
    struct compare_run run;
    struct layouts_run layouts;
    struct compare_report report;
    bool python, no_python; /* as of struct path_options */
    /* For a page, and for Python: who called whom. */
    struct program_extents *functions[2];
    struct path_extents extents[2];
    struct compare_taken taken;
};

extern const struct command_line compare_line;

/* Several pairs (compare_suite.c). */
extern const struct verb compare_suite;

/* The steps of one pair, but for what is opened and written. */
bool compare_prepare_pair(struct compare_job *job, struct error *error);
bool compare_run_pair(struct compare_job *job, struct error *error);
void compare_clean_up_pair(struct compare_job *job);
