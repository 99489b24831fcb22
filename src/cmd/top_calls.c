#include "cmd/top_calls.h"

#include <stdlib.h>

#include "options/path_options.h"
#include "options/store_next.h"

#define REQUEST struct call_options
static const struct option_row OPTIONS[] = {
    HEADING(4, "Who called whom, of what was recorded with --stacks:"),
    TREE_ROW(tree),
    TEXT("callers", "PROCEDURE", procedure,
         "The callers of this procedure, with what it called; without a name, of the procedures "
         "with most samples, --top of them",
         .optional = true, GIVEN(callers)),
    PERCENT("least", least, "Frames of at least this share of all (1)"),
    {0}};

static void begin(void *request) {
    ((struct call_options *)request)->least = 0.01;
}

static void check(struct argp_state *state, void *request) {
    const struct call_options *options = request;
    path_options_check_tree(state, options->tree, options->callers);
}

const struct option_group calls_group = {.options = OPTIONS, .begin = begin, .end = check};

struct calls {
    struct profile_run *run;
    const struct call_options *options;
    struct call_profile profile;
    struct call_report report;
};

REPORT_FORMS(CALLS, call_report_json, call_report_text, NULL);

static bool write_report(struct calls *calls, struct error *error) {
    struct call_report *report = &calls->report;
    const struct output_options *output = &calls->run->verb.output;
    if (calls->options->callers && !call_report_find_callers(report, calls->options->procedure,
                                                             output->top, !output->json, error))
        return false;
    if (!call_report_add_worth(report))
        return error_set(error, "out of memory for the report");
    report->report.next = store_next_of_calls(report, calls->options->tree,
                                              &calls->run->store_options, &calls->run->samples);
    return verb_write_report(&calls->run->verb, &CALLS, report, error);
}

bool top_calls_report(struct profile_run *run, const struct call_options *options,
                      const struct row_options *rows, struct error *error) {
    const struct profile_event *event =
        profile_set_event(&run->set, rows->event_count ? rows->events[0] : NULL, error);
    struct calls calls = {.run = run,
                          .options = options,
                          .report = {.report = {.verb = "top"},
                                     .set = &run->set,
                                     .event = event,
                                     .profile = &calls.profile,
                                     .least = options->least}};
    const struct call_query query = {.process = run->samples.process, .event = event};
    bool good = event &&
                call_profile_read(&calls.profile, &run->set, &query, run->program, error) &&
                write_report(&calls, error);
    call_report_free_callers(&calls.report);
    call_profile_free(&calls.profile);
    report_free(&calls.report.report);
    return good;
}
