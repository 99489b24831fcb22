/* The calls that led to what took the cycles, of a verb that simulates: what its options ask for.
 */
#pragma once

#include "attribute/program_extents.h"
#include "cmd/verb.h"
#include "options/path_options.h"
#include "query/path_profile.h"
#include "query/python_rows.h"
#include "report/call_report.h"

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
/* Reads the paths of a simulation, and adds the trees that were asked for to the report. What
 * becomes of the file for folded stacks is reported late. */
bool paths_report(struct paths *paths, struct verb_run *verb, const struct simulation *simulation,
                  const struct code *code, struct program *program, struct report *report,
                  struct error *error);
/* Then: who called whom; NULL: nothing asked for it. */
const struct call_profile *paths_profile(const struct paths *paths);
void paths_free(struct paths *paths);
