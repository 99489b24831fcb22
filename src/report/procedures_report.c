#include "report/procedures_report.h"

#include <string.h>

#include "report/event_places.h"
#include "report/profile_report.h"
#include "util/output.h"
#include "util/text.h"

struct writing {
    const struct procedures_report *request;
    json_t *array; /* NULL: text is written */
    size_t written;
    struct annotation_totals totals;
    double total; /* of the event */
};

static bool write_picture(const char *path, const struct annotation *annotation,
                          struct error *error) {
    struct output picture;
    if (!path)
        return true;
    bool good = output_open(&picture, "--cfg", path, stdout, error) &&
                annotation_svg(annotation, picture.file, error) && output_close(&picture, error);
    output_discard(&picture);
    return good;
}

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

/* In front of the first procedure. */
static void write_head(const struct writing *writing) {
    const struct procedures_report *request = writing->request;
    if (!writing->written)
        annotation_text_head(request->settings->set, request->settings->event, writing->total,
                             request->page);
}

static bool write_procedure(struct writing *writing, struct annotated *annotated,
                            struct error *error) {
    const struct procedures_report *request = writing->request;
    struct annotation *annotation = &annotated->annotation;
    if (!writing->written)
        writing->total = annotated->profile.total;
    if (writing->array) {
        if (json_array_append_new(writing->array, annotation_json(annotation)) != 0)
            return error_set(error, "out of memory for the JSON object");
    } else {
        write_head(writing);
        if ((!request->all && !join_reports(&annotation->report, writing->request->report)) ||
            !annotation_text(annotation, &request->style, writing->request->page))
            return error_set(error, "out of memory for the report");
    }
    writing->written++;
    annotation_totals_add(&writing->totals, annotation);
    return write_picture(request->picture, annotation, error);
}

/* Of an event that is not time. */
static bool write_places(struct writing *writing, struct event_places *places,
                         struct error *error) {
    const struct procedures_report *request = writing->request;
    const struct event_places_style style = {request->style.full, request->style.source};
    if (!writing->written)
        writing->total = places->profile.total;
    if (writing->array) {
        if (json_array_append_new(writing->array, event_places_json(places)) != 0)
            return error_set(error, "out of memory for the JSON object");
    } else {
        write_head(writing);
        if ((!request->all && !join_reports(&places->report, writing->request->report)) ||
            !event_places_text(places, &style, writing->request->page))
            return error_set(error, "out of memory for the report");
    }
    writing->written++;
    return true;
}

static bool annotate_places(struct writing *writing, const struct procedure_choice *choice,
                            struct error *error) {
    const struct annotate_settings *settings = writing->request->settings;
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
    if (!profile_event_is_time(writing->request->settings->event))
        return annotate_places(writing, choice, error);
    const bool good = annotate(&annotated, writing->request->settings, choice, error) &&
                      write_procedure(writing, &annotated, error);
    annotated_free(&annotated);
    return good;
}

/* Of several, those that cannot be analysed are left out, with a note. */
static bool write_procedures(struct writing *writing, const struct procedure_choices *choices,
                             struct error *error) {
    bool all = writing->request->all;
    for (size_t i = 0; i < choices->count; i++) {
        const bool good = annotate_one(writing, &choices->items[i], error);
        if (!good &&
            !(all && report_note(writing->request->report, "left out: %s", error->message)))
            return false;
    }
    if (all)
        report_note(writing->request->report, "%zu procedure%s with %g %% of the %s or more each",
                    writing->written, text_plural(writing->written), 100 * writing->request->least,
                    writing->request->settings->event->unit);
    return writing->written > 0;
}

static bool write_json(const struct writing *writing, struct error *error) {
    const struct profile_set *set = writing->request->settings->set;
    json_t *object =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:O}", "verb", "annotate", "store",
                  json_text(store_path(set->store)), "epochs", profile_set_epochs_json(set), "only",
                  sample_choice_json(&set->choice), "event",
                  profile_event_json(writing->request->settings->event, writing->total), "summary",
                  annotation_totals_json(&writing->totals), "procedures", writing->array);
    return json_write_report(object, writing->request->report, writing->request->json, error);
}

bool procedures_report(const struct procedures_report *request,
                       const struct procedure_choices *choices, struct error *error) {
    struct writing writing = {.request = request};
    if (request->json && !(writing.array = json_array()))
        return error_set(error, "out of memory for the JSON object");
    bool good = write_procedures(&writing, choices, error);
    if (good && request->json)
        good = write_json(&writing, error);
    else if (good && request->all) {
        annotation_totals_text(&writing.totals, request->page);
        report_text_foot(request->report, request->page);
    }
    json_decref(writing.array);
    return good;
}

void procedures_next(const struct procedures_report *request,
                     const struct procedure_choices *choices, const char *simulated, FILE *file) {
    static const char *const VIEWS[] = {
        [ANNOTATE_BY_EVENT] = NULL, [ANNOTATE_HEAD] = "head", [ANNOTATE_TIP] = "tip"};
    const struct annotate_settings *settings = request->settings;
    const struct profile_set *set = settings->set;
    const bool time = profile_event_is_time(settings->event), source = request->style.source;
    const bool simulate =
        !set->simulated && !settings->simulation.set && set->command && source && time;
    text_put_option(file, "machine", settings->machines.asked);
    text_put_option(file, "view", VIEWS[settings->view]);
    if (settings->exact)
        fputs(" --exact", file);
    if (simulated)
        text_put_option(file, "simulated", simulated);
    if (!request->all && !source)
        fputs(" --source", file);
    else if (!request->all && !request->picture && !simulate && time)
        fputs(" --cfg graph.svg", file);
    fputc(' ', file);
    text_put_word(file, choices->items[0].name);
    if (!request->all && simulate)
        fprintf(file, " --simulate -- %s", set->command);
}
