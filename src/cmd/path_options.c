#include "cmd/path_options.h"

#include "report/call_report.h"

#define REQUEST struct path_options
static const struct option_row OPTIONS[] = {
    HEADING(12, "Who called whom:"),
    FLAG("tree", tree, "Procedures below their callers, with what they called and alone",
         .not_again = true),
    TEXT("callers", "PROCEDURE", procedure,
         "The callers of this procedure, with what it called; without a name, of the procedures "
         "that took most, --top of them",
         .optional = true, .not_again = true, GIVEN(callers)),
    FLAG("inlined", inlined,
         "Functions that the compiler inlined have frames of their own, where debug information "
         "tells of them; slower",
         .not_again = true),
    PERCENT("least", least, "Frames of at least this share of all (1)", .not_again = true),
    WRITTEN_FILE("folded", "FILE", folded,
                 "Write the cycles of each call stack there, by event, for flame graphs",
                 .not_again = true),
    {0}};

static void begin(void *request) {
    ((struct path_options *)request)->least = 0.01;
}

bool path_options_any(const struct path_options *options) {
    return options->tree || options->callers || options->folded;
}

static void check(struct argp_state *state, void *request) {
    const struct path_options *options = request;
    if (options->tree && options->callers)
        options_fail(state, "--tree and --callers: one at a time");
    if (options->inlined && !path_options_any(options))
        options_fail(state, "--inlined: it is about --tree, --callers and --folded");
}

const struct option_group path_group = {.options = OPTIONS, .begin = begin, .end = check};

const struct path_extents *paths_begin(struct paths *paths, const struct path_options *options,
                                       bool wanted, bool *good, struct error *error) {
    *good = true;
    if (!wanted && !path_options_any(options))
        return NULL;
    if (!paths->functions && !(paths->functions = program_extents_new())) {
        *good = error_set(error, "out of memory for call paths");
        return NULL;
    }
    paths->extents = program_extents_of(paths->functions, options->inlined);
    return &paths->extents;
}

bool paths_prepare(struct paths *paths, const struct path_options *options, struct error *error) {
    paths->options = options;
    return !options->folded ||
           output_open(&paths->folded, "--folded", options->folded, NULL, error);
}

static bool write_folded(struct paths *paths, struct error *error) {
    return !paths->folded.file || ((call_report_folded(&paths->profile, paths->folded.file) ||
                                    error_set(error, "out of memory for folded stacks")) &&
                                   output_close(&paths->folded, error));
}

bool paths_report(struct paths *paths, const struct output_options *output,
                  const struct simulation *simulation, const struct code *code,
                  struct program *program, struct report *report, struct error *error) {
    const struct path_options *options = paths->options;
    if (!options) /* of regions, which have none */
        return true;
    const bool flat = output->by == BY_PATH, tree = options->tree || options->callers || flat;
    if (!simulation->paths.count || (!tree && !options->folded))
        return true;
    if (!path_profile_read(&paths->profile, simulation, code, program, error) ||
        !write_folded(paths, error))
        return false;
    if (!tree)
        return true;
    paths->report = (struct call_report){.profile = &paths->profile,
                                         .inlined = options->inlined,
                                         .least = flat ? 0 : options->least,
                                         .flat = flat && !options->tree && !options->callers,
                                         .rows = output->top};
    if (options->callers && !call_report_find_callers(&paths->report, options->procedure,
                                                      output->top, !output->json, error))
        return false;
    report->calls = &paths->report;
    return call_report_note_paths(report, &simulation->paths) ||
           error_set(error, "out of memory for the report");
}

void paths_free(struct paths *paths) {
    output_discard(&paths->folded);
    call_report_free_callers(&paths->report);
    call_profile_free(&paths->profile);
    program_extents_free(paths->functions);
}
