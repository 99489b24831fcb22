#include "report/paths.h"

bool path_options_data(const struct path_options *options, enum report_by by) {
    return options->data || by == BY_OBJECT;
}

bool path_options_any(const struct path_options *options) {
    return options->tree || options->callers || options->folded || options->python;
}

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
    paths->names = program_extents_names(paths->functions);
    return &paths->extents;
}

bool paths_prepare(struct paths *paths, const struct path_options *options, struct error *late,
                   struct error *error) {
    paths->options = options;
    paths->late = late;
    return !options->folded ||
           output_open(&paths->folded, "--folded", options->folded, NULL, error);
}

static bool write_folded(struct paths *paths, struct error *error) {
    return !paths->folded.file || ((call_report_folded(&paths->profile, paths->folded.file) ||
                                    error_set(error, "out of memory for folded stacks")) &&
                                   output_close(&paths->folded, error));
}

/* The run is over, and worth a report also without what was asked for. */
static bool note_missing(const struct paths *paths, struct report *report, bool *missing) {
    struct error why;
    const char *procedure = paths->options->procedure;
    *missing = procedure && call_profile_find(&paths->profile, procedure, &why) == UINT32_MAX;
    return !*missing || report_note(report, "--callers %s", why.message);
}

bool paths_report(struct paths *paths, const struct paths_shown *shown,
                  const struct simulation *simulation, const struct code *code,
                  struct program *program, struct report *report, struct error *error) {
    const struct path_options *options = paths->options;
    struct error late;
    if (!options) /* of regions, which have none */
        return true;
    if (options->python && simulation->paths.count) {
        if (!python_rows_build(&simulation->paths, code, shown->top, &paths->python))
            return error_set(error, "out of memory for the lines of Python");
        report->python = &paths->python;
        if (!options->python_found && !paths->python.line_total &&
            !report_note(report, "--python: no Python was run of which lines are known (CPython "
                                 "3.11 to 3.13, x86-64)"))
            return error_set(error, "out of memory for the report");
    }
    const bool flat = shown->by == BY_PATH, tree = options->tree || options->callers || flat;
    if (!simulation->paths.count || (!tree && !options->folded && !shown->page))
        return true;
    if (!path_profile_read(&paths->profile, simulation, code, program, error))
        return false;
    if (!write_folded(paths, &late) && !paths->late->message[0])
        *paths->late = late;
    bool missing;
    if (!note_missing(paths, report, &missing))
        return error_set(error, "out of memory for the report");
    if (!tree || missing)
        return true;
    paths->report = (struct call_report){.profile = &paths->profile,
                                         .inlined = options->inlined,
                                         .least = flat ? 0 : options->least,
                                         .flat = flat && !options->tree && !options->callers,
                                         .rows = shown->top};
    if (options->callers && !call_report_find_callers(&paths->report, options->procedure,
                                                      shown->top, !shown->json, error))
        return false;
    report->calls = &paths->report;
    return call_report_note_paths(report, &simulation->paths) ||
           error_set(error, "out of memory for the report");
}

const struct call_profile *paths_profile(const struct paths *paths) {
    return paths->profile.frames.count ? &paths->profile : NULL;
}

void paths_free(struct paths *paths) {
    output_discard(&paths->folded);
    call_report_free_callers(&paths->report);
    call_profile_free(&paths->profile);
    python_rows_free(&paths->python);
    program_extents_free(paths->functions);
}
