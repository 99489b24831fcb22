/* Options of verbs that simulate, about the calls that led to what took the cycles. */
#pragma once

#include "attribute/program_extents.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "query/path_profile.h"
#include "query/python_rows.h"
#include "report/call_report.h"

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
/* Whether the program of a command, or of a trace in a regular file, found as a shell would, is one
 * of Python, or a script whose interpreter is. */
bool input_runs_python(const struct input_options *input);

/* Whether they, or the grain, ask for data objects. */
bool path_options_data(const struct path_options *options, enum report_by by);

/* What a run keeps for them. */
struct paths {
    const struct path_options *options;
    struct program_extents *functions;
    struct path_extents extents;
    struct object_names names;
    struct call_profile profile;
    struct python_rows python;
    struct call_report report;
    struct output folded;
};

/* Opens the file for folded stacks, before anything runs. */
bool paths_prepare(struct paths *paths, const struct path_options *options, struct error *error);

/* Where functions are, if paths are wanted for these options or for another reason; else NULL.
 * *good: whether that could be told. */
const struct path_extents *paths_begin(struct paths *paths, const struct path_options *options,
                                       bool wanted, bool *good, struct error *error);
struct verb_run;
/* Reads the paths of a simulation, and adds the trees that were asked for to the report. What
 * becomes of the file for folded stacks is reported late. */
bool paths_report(struct paths *paths, struct verb_run *verb, const struct simulation *simulation,
                  const struct code *code, struct program *program, struct report *report,
                  struct error *error);
/* Then: who called whom; NULL: nothing asked for it. */
const struct call_profile *paths_profile(const struct paths *paths);
void paths_free(struct paths *paths);
