/* The calls that led to what took the cycles, as far as it is asked for: trees, lines of Python,
 * and a file of folded stacks. */
#pragma once

#include "attribute/program_extents.h"
#include "query/path_profile.h"
#include "query/python_rows.h"
#include "report/call_report.h"
#include "util/output.h"

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
/* Whether they ask for anything about calls. */
bool path_options_any(const struct path_options *options);
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
    struct error *late;
};

/* Opens the file for folded stacks, before anything runs. `late`: what failed first though there is
 * a report, which is the caller's. */
bool paths_prepare(struct paths *paths, const struct path_options *options, struct error *late,
                   struct error *error);

/* Where functions are, if paths are wanted for these options or for another reason; else NULL.
 * *good: whether that could be told. */
const struct path_extents *paths_begin(struct paths *paths, const struct path_options *options,
                                       bool wanted, bool *good, struct error *error);
/* What the report shows beside them. */
struct paths_shown {
    enum report_by by;
    uint32_t top;
    bool json, page;
};
/* Reads the paths of a simulation, and adds the trees that were asked for to the report. What
 * becomes of the file for folded stacks is told late. */
bool paths_report(struct paths *paths, const struct paths_shown *shown,
                  const struct simulation *simulation, const struct code *code,
                  struct program *program, struct report *report, struct error *error);
/* Then: who called whom; NULL: nothing asked for it. */
const struct call_profile *paths_profile(const struct paths *paths);
void paths_free(struct paths *paths);
