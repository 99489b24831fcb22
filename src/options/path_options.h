/* Options of verbs that simulate, about the calls that led to what took the cycles. */
#pragma once

#include "options/options.h"
#include "report/paths.h"

#define TREE_ROW(member_)                                                                          \
    FLAG("tree", member_, "Procedures below their callers, with what they called and alone")
/* Refuses both. */
void path_options_check_tree(const struct argp_state *state, bool tree, bool callers);

extern const struct option_group path_group;      /* of a struct path_options */
extern const struct option_group path_more_group; /* of Python and data, of the same struct */
/* Once options are known: what they show beside the grain. */
void path_options_check(const struct argp_state *state, const struct path_options *options,
                        enum report_by by);
/* Lines of Python are wanted where Python is what runs. */
void path_options_look(struct path_options *options, const struct input_options *input);
