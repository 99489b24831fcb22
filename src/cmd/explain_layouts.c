/* explain --layouts N: what layout alone does to the cycles of a command. */
#include <string.h>

#include "cmd/explain.h"
#include "cmd/interrupt.h"

/* An option that asks for another report, or for what one run alone has; NULL: none was given. */
static const char *other_report(const struct explain *explain) {
    const struct run *run = &explain->run;
    const struct input_options *input = &run->input;
    return input->trace                           ? "a trace"
           : input->seconds                       ? "--for"
           : input->on_signal                     ? "--on-signal"
           : input->layout                        ? "--layout"
           : run->levels_asked                    ? "--levels"
           : run->roofline_path                   ? "--roofline"
           : run->save_options.save               ? "--save"
           : run->save_options.export             ? "--export"
           : run->struct_options.given            ? "--fields"
           : run->path_options.data               ? "--data"
           : run->path_options.python             ? "--python"
           : run->verb.output.by                  ? "--by"
           : run->verb.output.legend              ? "--legend"
           : path_options_any(&run->path_options) ? "call paths"
                                                  : NULL;
}

void explain_check_layouts(const struct argp_state *state, struct explain *explain) {
    if (explain->layouts.jobs && !explain->layout_count)
        options_fail(state, "--jobs: it is about layouts (add --layouts N)");
    options_check_relink(state, explain->layouts.relinks, explain->layouts.relinks[0] ? 1 : 0,
                         explain->layout_count);
    if (!explain->layout_count)
        return;
    const char *other = other_report(explain);
    if (other)
        options_fail(state, "--layouts: of runs of a command, by function; not with %s", other);
    if (explain->one_pass && !strcmp(explain->one_pass, "--systematic"))
        options_fail(state, "--layouts: not with --systematic");
    explain->run.input.fixed = true;
}

static bool prepare(void *verb, struct error *error) {
    struct explain *explain = verb;
    struct layouts_run *layouts = &explain->layouts;
    struct layouts_report *report = &explain->layouts_report;
    if (!run_prepare(&explain->run, error) ||
        !layouts_report_begin(report, explain->layout_count, error))
        return false;
    explain->layouts_taken.report = report;
    report->report.verb = "explain";
    report->relinked = layouts->relinks[0] != NULL;
    report->top = explain->run.verb.output.top;
    layouts->watch = &verb_watch;
    layouts->machines = &explain->run.machines;
    layouts->inputs[0] = explain->run.input;
    layouts->input_count = 1;
    layouts->count = explain->layout_count;
    layouts->threads = explain->run.study.threads;
    layouts->ideal = explain->run.machine.ideal;
    layouts->over = input_is_part(&explain->run.input) ? UINT64_MAX : explain->over;
    layouts->kept = explain->kept;
    layouts->warm_up = explain->warm_up;
    layouts->simulate_warm_up = explain->simulate_warm_up;
    layouts->regions = explain->regions;
    layouts->enough = true; /* all layouts have the error of the choice in common */
    layouts->take = layouts_take;
    layouts->context = &explain->layouts_taken;
    return true;
}

static bool run(void *verb, struct error *error) {
    struct explain *explain = verb;
    struct layouts_run *layouts = &explain->layouts;
    const bool good = layouts_run_go(layouts, error);
    explain->run.verb.measured = good;
    explain->run.verb.exit = explain->layouts_taken.exit;
    explain->run.verb.ended_by = layouts->signal;
    if (layouts->failed)
        explain->run.verb.failed = layouts->failed;
    if (good)
        layouts_note(&explain->layouts_report, layouts);
    return good;
}

REPORT_FORMS(LAYOUTS, layouts_report_json, layouts_report_text, NULL);

static bool write_report(void *verb, struct error *error) {
    struct explain *explain = verb;
    struct layouts_report *report = &explain->layouts_report;
    if (!layouts_report_build(report, error))
        return false;
    report->report.next = layouts_next(report, explain->run.verb.argc, explain->run.verb.words);
    return verb_write_report(&explain->run.verb, &LAYOUTS, report, error);
}

static void clean_up(void *verb) {
    struct explain *explain = verb;
    layouts_report_free(&explain->layouts_report);
    run_free(&explain->run);
}

const struct verb explain_layouts = {
    .prepare = prepare, .run = run, .report = write_report, .free = clean_up};
