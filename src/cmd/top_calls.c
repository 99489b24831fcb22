#include "cmd/top_calls.h"

#include <stdlib.h>

#include "report/call_report.h"
#include "util/text.h"

#define REQUEST struct call_options
static const struct option_row OPTIONS[] = {
    HEADING(4, "Who called whom, of what was recorded with --stacks:"),
    FLAG("tree", tree, "Procedures below their callers, with what they called and alone"),
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
    if (options->tree && options->callers)
        options_fail(state, "--tree and --callers: one at a time");
}

const struct option_group calls_group = {.options = OPTIONS, .begin = begin, .end = check};

struct calls {
    const struct profile_run *run;
    const struct call_options *options;
    struct call_profile profile;
    struct caller_tree *trees;
    struct call_report report;
};

static bool find_callers(struct calls *calls, struct error *error) {
    struct call_report *report = &calls->report;
    const uint32_t top = calls->run->verb.output.top;
    const size_t all = calls->profile.procedure_count;
    size_t most = top && top < all ? top : all;
    uint32_t *sorted = call_profile_sorted(&calls->profile);
    calls->trees = calloc(all + 1, sizeof *calls->trees);
    bool good = (sorted && calls->trees) || error_set(error, "out of memory for the callers");
    if (good && calls->options->procedure) {
        most = 1;
        sorted[0] = call_profile_find(&calls->profile, calls->options->procedure, error);
        good = sorted[0] != UINT32_MAX;
        report->inclusive = true;
    }
    const double least = report->least * calls->profile.frames.items[0].total;
    for (size_t i = 0; good && i < most; i++) {
        const struct call_procedure *procedure = &calls->profile.procedures[sorted[i]];
        if (!report->inclusive && i && procedure->self < least && !calls->run->verb.output.json)
            break;
        struct caller_tree *tree = &calls->trees[report->caller_count++];
        tree->procedure = sorted[i];
        good = call_profile_callers(&calls->profile, sorted[i], report->inclusive, &tree->frames) ||
               error_set(error, "out of memory for the callers");
    }
    report->callers = calls->trees;
    free(sorted);
    return good;
}

/* Of a tree, the callers of what takes most; of callers, the whole tree, or the code itself. */
static char *next_of(const struct calls *calls) {
    struct text_printer printer;
    FILE *file = text_printer_begin(&printer);
    if (!file)
        return NULL;
    fputs("culprit top", file);
    store_options_put(&calls->run->store_options, true, file);
    sample_options_put(&calls->run->samples, file);
    if (calls->report.event != calls->run->set.events)
        text_put_option(file, "event", calls->report.event->name);
    fputs(calls->options->tree ? " --callers" : " --tree", file);
    return text_printer_end(&printer);
}

static bool write_report(struct calls *calls, struct error *error) {
    struct call_report *report = &calls->report;
    const struct page page = output_page(&calls->run->verb.files.report);
    if (calls->options->callers && !find_callers(calls, error))
        return false;
    if (!call_report_add_worth(report))
        return error_set(error, "out of memory for the report");
    report->report.next = next_of(calls);
    if (calls->run->verb.output.json)
        return call_report_json(report, page.file, error);
    call_report_text(report, &page);
    return true;
}

bool top_calls_report(const struct profile_run *run, const struct call_options *options,
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
    for (size_t i = 0; i < calls.report.caller_count; i++)
        call_frames_free(&calls.trees[i].frames);
    free(calls.trees);
    call_profile_free(&calls.profile);
    report_free(&calls.report.report);
    return good;
}
