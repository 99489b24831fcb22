/* The report of `culprit annotate`: one procedure, or several. */

#include "cmd/annotate.h"
#include "report/procedures_report.h"
#include "util/text.h"

/* What to look at next, of the same samples. */
static char *next_of(const struct annotate_job *job, const struct procedures_report *request,
                     const struct procedure_choices *choices) {
    struct text_printer printer;
    FILE *file = text_printer_begin(&printer);
    if (!file)
        return NULL;
    fputs("culprit annotate", file);
    store_options_put(&job->run.store_options, true, file);
    text_put_option(file, "event", job->event);
    sample_options_put(&job->run.samples, file);
    text_put_option(file, "image", job->query.image);
    procedures_next(request, choices, job->simulated_epoch, file);
    return text_printer_end(&printer);
}

/* The same as an object, with notes of its own. */
static bool write_page(const struct annotate_job *job, struct procedures_report request,
                       const struct procedure_choices *choices, struct error *error) {
    struct report report = {.verb = "annotate"};
    if (!(request.json = job->run.verb.files.html.data))
        return true;
    request.picture = NULL;
    request.report = &report;
    const bool good = procedures_report(&request, choices, error);
    report_free(&report);
    return good;
}

static bool write_report(const struct annotate_job *job, struct annotate_settings *settings,
                         const struct procedure_choices *choices, struct report *report,
                         struct error *error) {
    const struct output *output = &job->run.verb.files.report;
    const struct page page = output_page(output);
    const struct procedures_report request = {.settings = settings,
                                              .style = job->style,
                                              .all = job->all,
                                              .least = job->query.least,
                                              .picture = job->picture,
                                              .json =
                                                  job->run.verb.output.json ? output->file : NULL,
                                              .report = report,
                                              .page = &page};
    report->next = next_of(job, &request, choices);
    return write_page(job, request, choices, error) && procedures_report(&request, choices, error);
}

bool annotate_report(void *verb, struct error *error) {
    struct annotate_job *job = verb;
    const struct profile_set *set = &job->run.set;
    struct program *program = job->run.program;
    struct annotate_settings settings = {.set = set,
                                         .program = program,
                                         .machines = {.asked = job->machine},
                                         .view = job->view,
                                         .exact = job->exact,
                                         .source = job->style.source || job->run.verb.output.json ||
                                                   job->run.verb.output.html};
    if (job->simulated.epoch_count)
        settings.simulation.set = &job->simulated;
    struct procedure_choices choices = {0};
    struct report report = {.verb = "annotate"};
    bool good =
        (settings.event = annotate_choose_event(&settings, job->event, job->picture, error)) &&
        procedure_choose(&choices, set, settings.event, &job->query, program, error) &&
        (!choices.note || report_note(&report, "%s", choices.note) ||
         error_set(error, "out of memory for the report")) &&
        write_report(job, &settings, &choices, &report, error);
    procedure_choices_free(&choices);
    annotate_settings_free(&settings);
    report_free(&report);
    return good;
}
