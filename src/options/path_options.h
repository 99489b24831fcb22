/* Options of verbs that simulate, about the calls that led to what took the cycles. */
#pragma once

#include "options/options.h"

struct path_options {
    bool tree, callers, inlined, least_given;
    bool python;           /* its lines are asked for */
    bool python_found;     /* the command is one of Python */
    bool no_python;        /* even where the command is one of Python, they are not */
    bool data;             /* tell of data objects */
    const char *procedure; /* whose callers; NULL: of those that took most */
    double least;          /* share, 0 to 1 */
    const char *folded;    /* file; NULL: none */
};
extern const struct option_group path_group;
extern const struct option_group path_more_group; /* of Python and data, of the same struct */
/* Once options are known: what they show beside the grain. */
void path_options_check(const struct argp_state *state, const struct path_options *options,
                        enum report_by by);
/* Whether they ask for anything about calls. */
bool path_options_any(const struct path_options *options);
/* Lines of Python are wanted where Python is what runs. */
void path_options_look(struct path_options *options, const struct input_options *input);
/* Whether they, or the grain, ask for data objects. */
bool path_options_data(const struct path_options *options, enum report_by by);
