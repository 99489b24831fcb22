/* The summary of a recording. */
#include <stdio.h>
#include <string.h>

#include "live/session.h"
#include "query/profile_table.h"
#include "report/json_values.h"
#include "report/profile_report.h"
#include "report/recording.h"
#include "util/text.h"

static const char USER_ALONE[] = "user code alone: samples of the kernel need CAP_PERFMON (or "
                                 "root), or kernel.perf_event_paranoid at most 1";

static bool sees_kernel(const struct recording *recording) {
    return recording->event_count && recording->events[0].kernel;
}

/* ---- text ---- */

enum { ROWS = 5, NAME_COLUMNS = 40, IMAGE_COLUMNS = 40, COMMAND_COLUMNS = 55 };

/* Samples whose callers were looked for. */
static uint64_t stack_count(const struct recording *recording) {
    const uint64_t *ends = recording->attributed.stacks;
    return ends[LIVE_STACK_WHOLE] + ends[LIVE_STACK_TRUNCATED] + ends[LIVE_STACK_FAILED];
}

/* How many stacks were walked to their roots. */
static void print_stacks(const struct recording *recording, FILE *file) {
    const uint64_t *ends = recording->attributed.stacks;
    const uint64_t all = stack_count(recording);
    if (all)
        fprintf(file, "stacks: %s %% whole, %s truncated, %s failed\n",
                text_percent((double)ends[LIVE_STACK_WHOLE], (double)all).s,
                text_grouped(ends[LIVE_STACK_TRUNCATED]).s,
                text_grouped(ends[LIVE_STACK_FAILED]).s);
}

static void print_next(const struct recording *recording, const char *store, FILE *file) {
    fprintf(file, "next: culprit top%s --epoch %lld", stack_count(recording) ? " --tree" : "",
            (long long)recording->session);
    text_put_option(file, "store", store);
    fputc('\n', file);
}

static void print_row(const struct profile_row *row, double total, FILE *file) {
    char name[512], text[NAME_COLUMNS * 4 + 1], image[IMAGE_COLUMNS * 4 + 1];
    const char *slash = strrchr(row->image, '/');
    profile_row_name(row, name, sizeof name);
    fprintf(file, "  %6s %%  %s  %s\n", text_percent(row->values[0], total).s,
            text_fit(text, sizeof text, name, NAME_COLUMNS, TEXT_LEFT),
            text_clip(image, sizeof image, slash ? slash + 1 : row->image, IMAGE_COLUMNS));
}

/* The procedures with most samples of the first event, to `file` unless it is NULL, and notes on
 * those without a name. */
static bool show_rows(const struct recording *recording, FILE *file, struct report *notes,
                      struct error *error) {
    const struct profile_table_options options = {.by = PROFILE_BY_PROCEDURE, .columns = 1};
    struct store *store = store_open(recording->store, STORE_READ, error);
    struct program *program = program_new();
    struct profile_table *table = program ? profile_table_new(&options, program) : NULL;
    bool good = store && (table || error_set(error, "out of memory for the summary")) &&
                profile_table_add(table, store, &recording->session, 1, recording->events[0].name,
                                  1, 0, error) &&
                profile_table_finish(table, ROWS, error);
    for (size_t i = 0; good && file && i < profile_table_count(table); i++)
        print_row(profile_table_row(table, i), profile_table_sum(table, 0), file);
    good = good &&
           (profile_note_images(table, PROFILE_BY_PROCEDURE, ROWS, "samples", program, notes) ||
            error_set(error, "out of memory for the summary"));
    if (table)
        profile_table_free(table);
    if (program)
        program_free(program);
    if (store)
        store_close(store);
    return good;
}

bool recording_text(const struct recording *recording, const char *store, FILE *file,
                    struct error *error) {
    char text[2048];
    const struct page page = page_of(file);
    const struct resolver_statistics *attributed = &recording->attributed;
    live_events_describe(recording->events, recording->event_count, text, sizeof text);
    page_wrap(&page, text, NULL, "", "  ");
    if (!sees_kernel(recording))
        page_wrap(&page, USER_ALONE, NULL, "", "  ");
    if (recording->note)
        page_wrap(&page, recording->note, NULL, "", "  ");
    fprintf(file, "%s: %s sample%s in %s%s\n",
            text_clip(text, sizeof text, recording->name, COMMAND_COLUMNS),
            text_grouped(attributed->samples).s, text_plural(attributed->samples),
            text_duration(recording->seconds).s, recording->partial ? " (partial)" : "");
    fprintf(file, "%s %% kernel, %s unknown, %s dropped\n",
            text_percent((double)attributed->kernel, (double)attributed->samples).s,
            text_grouped(attributed->unknown).s, text_grouped(recording->recorded.dropped).s);
    print_stacks(recording, file);
    struct report notes = {0};
    bool good = !attributed->samples || show_rows(recording, file, &notes, error);
    for (uint32_t i = 0; i < notes.note_count; i++)
        report_text_note(&notes, i, "", "  ", &page);
    report_free(&notes);
    fprintf(file, "saved as epoch %lld\n", (long long)recording->session);
    print_next(recording, store, file);
    return good;
}

/* ---- JSON ---- */

static json_t *events_json(const struct recording *recording) {
    json_t *events = json_array();
    for (size_t i = 0; i < recording->event_count; i++) {
        const struct live_event *event = &recording->events[i];
        json_array_append_new(events, json_pack("{s:s, s:I, s:s, s:b, s:b}", "name", event->name,
                                                "period", (json_int_t)event->period, "period_unit",
                                                live_event_period_unit(event), "precise",
                                                event->precise > 1, "kernel", (int)event->kernel));
    }
    return events;
}

static json_t *notes_json(const struct recording *recording) {
    char text[4096];
    struct error ignored;
    struct report names = {0};
    json_t *notes = json_array();
    live_events_describe(recording->events, recording->event_count, text, sizeof text);
    json_array_append_new(notes, json_string(text));
    if (!sees_kernel(recording))
        json_array_append_new(notes, json_string(USER_ALONE));
    if (recording->note)
        json_array_append_new(notes, json_string(recording->note));
    if (recording->attributed.samples)
        show_rows(recording, NULL, &names, &ignored);
    for (uint32_t i = 0; i < names.note_count; i++)
        json_array_append_new(notes, json_text(names.notes[i]));
    report_free(&names);
    return notes;
}

static json_t *stacks_json(const struct recording *recording) {
    const uint64_t *ends = recording->attributed.stacks;
    return json_pack("{s:I, s:I, s:I}", "whole", (json_int_t)ends[LIVE_STACK_WHOLE], "truncated",
                     (json_int_t)ends[LIVE_STACK_TRUNCATED], "failed",
                     (json_int_t)ends[LIVE_STACK_FAILED]);
}

bool recording_json(const struct recording *recording, FILE *file, struct error *error) {
    const struct resolver_statistics *attributed = &recording->attributed;
    json_t *object = json_pack(
        "{s:o, s:I, s:o, s:I, s:I, s:I, s:I, s:o, s:f, s:b, s:o}", "command",
        json_text(recording->name), "epoch", (json_int_t)recording->session, "events",
        events_json(recording), "samples", (json_int_t)attributed->samples, "kernel_samples",
        (json_int_t)attributed->kernel, "unknown", (json_int_t)attributed->unknown, "dropped",
        (json_int_t)recording->recorded.dropped, "stacks", stacks_json(recording), "seconds",
        recording->seconds, "partial", (int)recording->partial, "notes", notes_json(recording));
    return json_write(object, file, error);
}
