/* culprit annotate: one procedure, instruction by instruction (DCPI's dcpicalc). */
#include "report/annotated.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "cmd/profile_options.h"
#include "report/profile_report.h"
#include "util/text.h"

struct request {
    struct store_options store;
    struct procedure_query query;
    const char *event, *machine, *picture;
    enum annotate_view view;
    bool all, least_given, exact;
    struct annotation_style style;
    struct output_options output;
};

static void take_least(struct argp_state *state, void *request, char *text) {
    char *end;
    double percent = strtod(text, &end);
    if (end == text || *end || !(percent > 0 && percent <= 100))
        options_fail(state, "--least %s: percent of the samples, above 0 and at most 100", text);
    ((struct request *)request)->query.least = percent / 100;
}

static const char *const VIEWS[] = {[ANNOTATE_HEAD] = "head", [ANNOTATE_TIP] = "tip"};

#define REQUEST struct request
static const struct option_row OPTIONS[] = {
    HEADING(2, "Which procedure:"),
    TEXT("event", "NAME", event,
         "Samples of this event (default: head of a simulated core in order, else the first)"),
    PROCESS_ROW(query.process),
    IMAGE_ROW(query.image),
    FLAG("all", all, "Every procedure that has enough of the samples, one by one"),
    TAKE("least", "PERCENT", take_least, "With --all: how much is enough (default 1)",
         GIVEN(least_given)),
    HEADING(3, "What it is compared with:"),
    TEXT("machine", "NAME|FILE", machine,
         "Schedule of this machine (default: that of the simulation; else zen4 for x86-64, "
         "boom-tea for riscv64)"),
    CHOICE("view", "head|tip", view,
           "Samples are at the oldest instruction (head), or shared by those that commit together "
           "(tip); default: of simulations tip for cycles, TIP and TEA, else head; of live samples "
           "tip",
           VIEWS),
    FLAG("exact", exact,
         "Executions as the simulation counted them, in place of estimates from the samples"),
    COUNT("top", "N", style.top,
          "Blocks with most cycles, others folded (default: 40 that have 0.1 %; 0: all with "
          "samples)",
          .group = 4), /* what to print */
    FLAG("full", style.full, "Blocks without samples as well"),
    FLAG("source", style.source, "Source lines between the instructions"),
    TEXT("cfg", "FILE", picture, "The control-flow graph, too, as a picture (SVG)"),
    {0}};

static bool take_procedure(struct argp_state *state, void *request, char *value) {
    if (state->arg_num)
        options_fail(state, "%s: one procedure at a time, or --all", value);
    ((struct request *)request)->query.text = value;
    return true;
}

static void begin(void *given) {
    struct request *request = given;
    request->style.top = 40;
    request->query.least = 0.01;
}

static void check_request(struct argp_state *state, void *given) {
    struct request *request = given;
    if (request->store.store_count > 1)
        options_fail(state, "--store: one store at a time");
    if (request->all && request->query.text)
        options_fail(state, "%s: one procedure, or --all?", request->query.text);
    const char *output = request->output.output;
    if (request->picture && (!output || !strcmp(output, "-")))
        options_file(state, "--cfg", request->picture);
    if (request->all && request->picture)
        options_fail(state, "--cfg: of one procedure, not of --all");
    if (request->least_given && !request->all)
        options_fail(state, "--least: with --all only");
    if (!request->all)
        request->query.least = 0;
}

static const struct option_part PARTS[] = {{&store_group, offsetof(struct request, store)},
                                           {&report_group, offsetof(struct request, output)},
                                           {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .begin = begin, .argument = take_procedure, .end = check_request},
    .parts = PARTS,
    .arguments = "[PROCEDURE]",
    .help = "Shows one procedure of the profiles in the store, instruction by instruction: "
            "samples, estimated executions and cycles, how long each instruction stalls and what "
            "can have caused it; then what all its cycles went to. PROCEDURE is a name, "
            "IMAGE:NAME, IMAGE+0xOFFSET as 'culprit top' shows it, or 0xADDRESS; without it the "
            "one with most samples."
            "\vExample:\n  culprit sim --save --limit 20M -- gzip -9 -c /bin/bash > /dev/null\n"
            "  culprit annotate"};

/* ---- the report ---- */

/* Where a core in order was simulated, what stood at the head of its issue queue; else the first.
 */
static const struct profile_event *default_event(const struct profile_set *set) {
    for (size_t i = 0; i < set->event_count; i++)
        if (set->simulated && !strcmp(set->events[i].name, "head"))
            return &set->events[i];
    return &set->events[0];
}

/* The default one, or that asked for, whose samples must be of cycles. */
static const struct profile_event *
choose_event(const struct request *request, const struct profile_set *set, struct error *error) {
    const struct profile_event *event = request->event || !set->event_count
                                            ? profile_set_event(set, request->event, error)
                                            : default_event(set);
    if (!event)
        return NULL;
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
static char *next_of(const struct request *request, const struct procedure_choices *choices) {
    static const char *const VIEWS[] = {
        [ANNOTATE_BY_EVENT] = NULL, [ANNOTATE_HEAD] = "head", [ANNOTATE_TIP] = "tip"};
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return NULL;
    fputs("culprit annotate", file);
    for (size_t i = 0; i < request->store.store_count; i++)
        text_put_option(file, "store", request->store.stores[i]);
    for (size_t i = 0; i < request->store.epoch_count; i++)
        text_put_option(file, "epoch", request->store.epochs[i]);
    text_put_option(file, "event", request->event);
    text_put_option(file, "process", request->query.process);
    text_put_option(file, "image", request->query.image);
    text_put_option(file, "machine", request->machine);
    text_put_option(file, "view", VIEWS[request->view]);
    if (request->exact)
        fputs(" --exact", file);
    if (!request->all && !request->style.source)
        fputs(" --source", file);
    else if (!request->all && !request->picture)
        fputs(" --cfg graph.svg", file);
    fputc(' ', file);
    text_put_word(file, choices->items[0].name);
    if (fclose(file) == 0)
        return text;
    free(text);
    return NULL;
}

static bool write_picture(const struct request *request, const struct annotation *annotation,
                          struct error *error) {
    struct output picture;
    if (!request->picture)
        return true;
    bool good = output_open(&picture, "--cfg", request->picture, stdout, error) &&
                annotation_svg(annotation, picture.file, error) && output_close(&picture, error);
    output_discard(&picture);
    return good;
}

struct writing {
    const struct request *request;
    struct annotate_settings *settings;
    struct report *report; /* of all procedures together */
    json_t *array;         /* NULL: text is written */
    const struct page *page;
    size_t written;
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
    const struct request *request = writing->request;
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
        if ((!request->all && !join_reports(&annotation->report, writing->report)) ||
            !annotation_text(annotation, &request->style, writing->page))
            return error_set(error, "out of memory for the report");
    }
    writing->written++;
    return write_picture(request, annotation, error);
}

/* Of several, those that cannot be analysed are left out, with a note. */
static bool write_procedures(struct writing *writing, const struct procedure_choices *choices,
                             struct error *error) {
    bool all = writing->request->all;
    for (size_t i = 0; i < choices->count; i++) {
        struct annotated annotated;
        bool good = annotate(&annotated, writing->settings, &choices->items[i], error) &&
                    write_procedure(writing, &annotated, error);
        annotated_free(&annotated);
        if (!good && !(all && report_note(writing->report, "left out: %s", error->message)))
            return false;
    }
    if (all)
        report_note(writing->report, "%zu procedure%s with %g %% of the %s or more each",
                    writing->written, text_plural(writing->written),
                    100 * writing->request->query.least, writing->settings->event->unit);
    return writing->written > 0;
}

static bool write_json(const struct writing *writing, struct error *error) {
    const struct profile_set *set = writing->settings->set;
    return profile_write_json(
        json_pack("{s:s, s:o, s:o, s:o, s:O, s:o, s:o}", "verb", "annotate", "store",
                  profile_json_text(store_path(set->store)), "epochs", profile_set_epochs_json(set),
                  "event", profile_event_json(writing->settings->event, writing->total),
                  "procedures", writing->array, "notes", profile_notes_json(writing->report),
                  "next", profile_json_text(writing->report->next)),
        writing->page->file, error);
}

static bool write_report(const struct request *request, struct annotate_settings *settings,
                         const struct procedure_choices *choices, struct report *report,
                         struct output *output, struct error *error) {
    const struct page page = page_of(output->file);
    struct writing writing = {
        .request = request, .settings = settings, .report = report, .page = &page};
    if (request->output.json && !(writing.array = json_array()))
        return error_set(error, "out of memory for the JSON object");
    report->next = next_of(request, choices);
    bool good = write_procedures(&writing, choices, error);
    if (good && request->output.json)
        good = write_json(&writing, error);
    else if (good && request->all)
        report_text_foot(report, &page);
    json_decref(writing.array);
    return good && output_close(output, error);
}

static bool annotate_set(void *context, const struct profile_set *set, struct program *program,
                         struct output *output, struct error *error) {
    struct request *request = context;
    struct annotate_settings settings = {.set = set,
                                         .program = program,
                                         .machines = {.asked = request->machine},
                                         .view = request->view,
                                         .exact = request->exact,
                                         .source = request->style.source || request->output.json};
    struct procedure_choices choices = {0};
    struct report report = {.verb = "annotate"};
    bool good = (settings.event = choose_event(request, set, error)) &&
                procedure_choose(&choices, set, settings.event, &request->query, program, error) &&
                (!choices.note || report_note(&report, "%s", choices.note) ||
                 error_set(error, "out of memory for the report")) &&
                write_report(request, &settings, &choices, &report, output, error);
    procedure_choices_free(&choices);
    annotate_settings_free(&settings);
    report_free(&report);
    return good;
}

int cmd_annotate(int argc, char **argv) {
    struct request request = {0};
    struct error error = {0};
    free(options_parse(&LINE, argc, argv, &request));
    if (profile_set_report(&request.store, request.output.output, annotate_set, &request, &error))
        return 0;
    print_error(&error);
    return STATUS_FAILED;
}
