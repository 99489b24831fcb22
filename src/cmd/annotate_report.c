/* The report of `culprit annotate`: one procedure, or several. */
#include <string.h>

#include "cmd/annotate.h"
#include "report/event_places.h"
#include "report/profile_report.h"
#include "util/array.h"
#include "util/text.h"

/* Where a core in order was simulated, what stood at the head of its issue queue; else the first
 * that is time; else the first. */
static const struct profile_event *default_event(const struct profile_set *set) {
    const size_t head = index_where(i, set->event_count, !strcmp(set->events[i].name, "head"));
    const size_t time = index_where(i, set->event_count, profile_event_is_time(&set->events[i]));
    const size_t chosen = set->simulated && head < set->event_count ? head : time;
    return &set->events[chosen < set->event_count ? chosen : 0];
}

/* The default one, or that asked for. What a simulation counted exactly is no event to sample. */
static const struct profile_event *
choose_event(const struct annotate_job *job, const struct profile_set *set, struct error *error) {
    const struct profile_event *event = job->event || !set->event_count
                                            ? profile_set_event(set, job->event, error)
                                            : default_event(set);
    if (!event)
        return NULL;
    if (profile_event_lasts(event)) {
        error_set(error,
                  "--event %s: time in which threads waited, not of instructions ('culprit top "
                  "--tree --event %s' shows where)",
                  event->name, event->name);
        return NULL;
    }
    if (!profile_event_is_time(event)) {
        if (!job->picture && !job->exact && !job->machine && job->view == ANNOTATE_BY_EVENT)
            return event;
        error_set(error,
                  "--%s: %s is not time, so that there is no schedule to compare it with (choose "
                  "one with --event)",
                  job->picture   ? "cfg"
                  : job->exact   ? "exact"
                  : job->machine ? "machine"
                                 : "view",
                  event->name);
        return NULL;
    }
    bool other = !strcmp(event->name, "executions") || !strncmp(event->name, "stall:", 6);
    for (int i = 0; i < STALL_EVENTS; i++)
        other |= !strcmp(event->name, stall_event_name((enum stall_event)i));
    if (!other)
        return event;
    error_set(error,
              "--event %s: it does not sample cycles, but bounds what can have caused stalls (the "
              "default of %s is %s)",
              event->name, set->label, default_event(set)->name);
    return NULL;
}

/* What to look at next, of the same samples in the same way: the source, the picture, or the
 * hottest of several. */
static char *next_of(const struct annotate_job *job, const struct profile_event *event,
                     const struct procedure_choices *choices) {
    static const char *const VIEWS[] = {
        [ANNOTATE_BY_EVENT] = NULL, [ANNOTATE_HEAD] = "head", [ANNOTATE_TIP] = "tip"};
    struct text_printer printer;
    FILE *file = text_printer_begin(&printer);
    if (!file)
        return NULL;
    fputs("culprit annotate", file);
    for (size_t i = 0; i < job->run.store_options.store_count; i++)
        text_put_option(file, "store", job->run.store_options.stores[i]);
    for (size_t i = 0; i < job->run.store_options.epoch_count; i++)
        text_put_option(file, "epoch", job->run.store_options.epochs[i]);
    text_put_option(file, "event", job->event);
    sample_options_put(&job->run.samples, file);
    text_put_option(file, "image", job->query.image);
    text_put_option(file, "machine", job->machine);
    text_put_option(file, "view", VIEWS[job->view]);
    if (job->exact)
        fputs(" --exact", file);
    if (job->simulated_epoch)
        text_put_option(file, "simulated", job->simulated_epoch);
    const struct profile_set *set = &job->run.set;
    const bool simulate = !set->simulated && !job->simulated.epoch_count && set->command &&
                          job->style.source && profile_event_is_time(event);
    if (!job->all && !job->style.source)
        fputs(" --source", file);
    else if (!job->all && !job->picture && !simulate && profile_event_is_time(event))
        fputs(" --cfg graph.svg", file);
    fputc(' ', file);
    text_put_word(file, choices->items[0].name);
    if (!job->all && simulate)
        fprintf(file, " --simulate -- %s", set->command);
    return text_printer_end(&printer);
}

static bool write_picture(const struct annotate_job *job, const struct annotation *annotation,
                          struct error *error) {
    struct output picture;
    if (!job->picture)
        return true;
    bool good = output_open(&picture, "--cfg", job->picture, stdout, error) &&
                annotation_svg(annotation, picture.file, error) && output_close(&picture, error);
    output_discard(&picture);
    return good;
}

struct writing {
    const struct annotate_job *job;
    struct annotate_settings *settings;
    struct report *report; /* of all procedures together */
    json_t *array;         /* NULL: text is written */
    const struct page *page;
    size_t written;
    struct annotation_totals totals;
    double total; /* of the event */
};

/* The one procedure's notes and what to do next are those of the whole. */
static bool join_reports(struct report *to, const struct report *from) {
    bool good = true;
    for (uint32_t i = 0; i < from->note_count; i++) {
        good &= report_note(to, "%s", from->notes[i]);
        if (good)
            to->note_commands[to->note_count - 1] = from->note_commands[i];
    }
    to->next = from->next ? strdup(from->next) : NULL;
    return good;
}

static bool write_procedure(struct writing *writing, struct annotated *annotated,
                            struct error *error) {
    const struct annotate_job *job = writing->job;
    struct annotation *annotation = &annotated->annotation;
    if (!writing->written)
        writing->total = annotated->profile.total;
    if (writing->array) {
        if (json_array_append_new(writing->array, annotation_json(annotation)) != 0)
            return error_set(error, "out of memory for the JSON object");
    } else {
        if (!writing->written)
            annotation_text_head(writing->settings->set, writing->settings->event, writing->total,
                                 writing->page);
        if ((!job->all && !join_reports(&annotation->report, writing->report)) ||
            !annotation_text(annotation, &job->style, writing->page))
            return error_set(error, "out of memory for the report");
    }
    writing->written++;
    annotation_totals_add(&writing->totals, annotation);
    return write_picture(job, annotation, error);
}

/* Of an event that is not time. */
static bool write_places(struct writing *writing, struct event_places *places,
                         struct error *error) {
    const struct annotate_job *job = writing->job;
    const struct event_places_style style = {job->style.full, job->style.source};
    if (!writing->written)
        writing->total = places->profile.total;
    if (writing->array) {
        if (json_array_append_new(writing->array, event_places_json(places)) != 0)
            return error_set(error, "out of memory for the JSON object");
    } else {
        if (!writing->written)
            annotation_text_head(writing->settings->set, writing->settings->event, writing->total,
                                 writing->page);
        if ((!job->all && !join_reports(&places->report, writing->report)) ||
            !event_places_text(places, &style, writing->page))
            return error_set(error, "out of memory for the report");
    }
    writing->written++;
    return true;
}

static bool annotate_places(struct writing *writing, const struct procedure_choice *choice,
                            struct error *error) {
    const struct annotate_settings *settings = writing->settings;
    struct event_places places;
    const bool good = event_places_build(&places, settings->set, settings->event, settings->program,
                                         choice, error) &&
                      write_places(writing, &places, error);
    event_places_free(&places);
    return good;
}

static bool annotate_one(struct writing *writing, const struct procedure_choice *choice,
                         struct error *error) {
    struct annotated annotated;
    if (!profile_event_is_time(writing->settings->event))
        return annotate_places(writing, choice, error);
    const bool good = annotate(&annotated, writing->settings, choice, error) &&
                      write_procedure(writing, &annotated, error);
    annotated_free(&annotated);
    return good;
}

/* Of several, those that cannot be analysed are left out, with a note. */
static bool write_procedures(struct writing *writing, const struct procedure_choices *choices,
                             struct error *error) {
    bool all = writing->job->all;
    for (size_t i = 0; i < choices->count; i++) {
        const bool good = annotate_one(writing, &choices->items[i], error);
        if (!good && !(all && report_note(writing->report, "left out: %s", error->message)))
            return false;
    }
    if (all)
        report_note(writing->report, "%zu procedure%s with %g %% of the %s or more each",
                    writing->written, text_plural(writing->written),
                    100 * writing->job->query.least, writing->settings->event->unit);
    return writing->written > 0;
}

static bool write_json(const struct writing *writing, struct error *error) {
    const struct profile_set *set = writing->settings->set;
    json_t *object =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:O}", "verb", "annotate", "store",
                  json_text(store_path(set->store)), "epochs", profile_set_epochs_json(set), "only",
                  sample_choice_json(&set->choice), "event",
                  profile_event_json(writing->settings->event, writing->total), "summary",
                  annotation_totals_json(&writing->totals), "procedures", writing->array);
    return json_write_report(object, writing->report, writing->page->file, error);
}

static bool write_report(const struct annotate_job *job, struct annotate_settings *settings,
                         const struct procedure_choices *choices, struct report *report,
                         struct error *error) {
    const struct page page = output_page(&job->run.verb.files.report);
    struct writing writing = {.job = job, .settings = settings, .report = report, .page = &page};
    if (job->run.verb.output.json && !(writing.array = json_array()))
        return error_set(error, "out of memory for the JSON object");
    report->next = next_of(job, settings->event, choices);
    bool good = write_procedures(&writing, choices, error);
    if (good && job->run.verb.output.json)
        good = write_json(&writing, error);
    else if (good && job->all) {
        annotation_totals_text(&writing.totals, &page);
        report_text_foot(report, &page);
    }
    json_decref(writing.array);
    return good;
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
                                         .source = job->style.source || job->run.verb.output.json};
    if (job->simulated.epoch_count)
        settings.simulation.set = &job->simulated;
    struct procedure_choices choices = {0};
    struct report report = {.verb = "annotate"};
    bool good = (settings.event = choose_event(job, set, error)) &&
                procedure_choose(&choices, set, settings.event, &job->query, program, error) &&
                (!choices.note || report_note(&report, "%s", choices.note) ||
                 error_set(error, "out of memory for the report")) &&
                write_report(job, &settings, &choices, &report, error);
    procedure_choices_free(&choices);
    annotate_settings_free(&settings);
    report_free(&report);
    return good;
}
