#include "options/path_options.h"

#define REQUEST struct path_options
static const struct option_row OPTIONS[] = {
    HEADING(12, "Who called whom:"),
    TREE_ROW(tree),
    TEXT("callers", "PROCEDURE", procedure,
         "The callers of this procedure, with what it called; without a name, of the procedures "
         "that took most, --top of them",
         .optional = true, GIVEN(callers)),
    FLAG("inlined", inlined,
         "Functions that the compiler inlined have frames of their own, where debug information "
         "tells of them; slower"),
    PERCENT("least", least, "Frames of at least this share of all (1)", GIVEN(least_given)),
    WRITTEN_FILE("folded", "FILE", folded,
                 "Write the cycles of each call stack there, by event, for flame graphs",
                 .not_again = true),
    {0}};

static const struct option_row MORE_OPTIONS[] = {
    FLAG("python", python,
         "Lines and functions of Python (CPython 3.11 to 3.13) first, wherever it runs (default: "
         "where the command is one of Python)",
         .group = 12),
    FLAG("no-python", no_python, "No tables of Python, not even where the command is one of Python",
         .group = 12),
    HEADING(13, "Which data:"),
    FLAG("data", data,
         "The variables, heap blocks by who allocated them, stack frames and files whose misses "
         "took the cycles"),
    {0}};

void path_options_check_tree(const struct argp_state *state, bool tree, bool callers) {
    if (tree && callers)
        options_fail(state, "--tree and --callers: one at a time");
}

static void begin(void *request) {
    ((struct path_options *)request)->least = 0.01;
}

void path_options_check(const struct argp_state *state, const struct path_options *options,
                        enum report_by by) {
    if (by == BY_PATH && (options->tree || options->callers))
        options_fail(state, "--by path: the same chains as of %s, as rows: one of them",
                     options->tree ? "--tree" : "--callers");
}

void path_options_look(struct path_options *options, const struct input_options *input) {
    options->python_found |= !options->no_python && input_runs_python(input);
    options->python |= options->python_found;
}

static void check(struct argp_state *state, void *request) {
    const struct path_options *options = request;
    path_options_check_tree(state, options->tree, options->callers);
    if (options->inlined && !options->tree && !options->callers && !options->folded)
        options_fail(state, "--inlined: it is about --tree, --callers and --folded");
    if (options->least_given && !options->tree && !options->callers)
        options_fail(state, "--least: it is about --tree and --callers");
}

static void check_more(struct argp_state *state, void *request) {
    const struct path_options *options = request;
    if (options->python && options->no_python)
        options_fail(state, "--python and --no-python: one of them");
}

const struct option_group path_more_group = {.options = MORE_OPTIONS, .end = check_more};
const struct option_group path_group = {.options = OPTIONS, .begin = begin, .end = check};
