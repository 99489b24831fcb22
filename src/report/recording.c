/* The summary of a recording. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/session.h"
#include "query/profile_table.h"
#include "report/json_values.h"
#include "report/profile_report.h"
#include "report/recording.h"
#include "report/short_name.h"
#include "report/trace_notes.h"
#include "store/address.h"
#include "util/file_name.h"
#include "util/text.h"

static const char USER_ALONE[] = "user code alone: samples of the kernel need CAP_PERFMON (or "
                                 "root), or kernel.perf_event_paranoid at most 1";

static const char NO_PLACES[] = "where threads waited is not known, only how long: that needs "
                                "CAP_PERFMON (or root), or kernel.perf_event_paranoid at most 1";

static const char NO_SAMPLES[] =
    "no samples: it used less processor time than lies between two, or (--pid) leaves its work to "
    "children that it had already, each of which is recorded by its own number, or it is a program "
    "that is setuid or that you may not read, of which the kernel gives samples to root alone";

static bool sees_kernel(const struct recording *recording) {
    return recording->event_count && recording->events[0].kernel;
}

/* ---- text ---- */

enum { ROWS = 5, NAME_LEAST = 16, NAME_USUAL = 40, COMMAND_COLUMNS = 55 };

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
    const struct python_statistics *python = &recording->recorded.python;
    if (python->samples)
        fprintf(file, "Python: of %s sample%s %s %% with all functions, %s %% with some\n",
                text_grouped(python->samples).s, text_plural(python->samples),
                text_percent((double)python->whole, (double)python->samples).s,
                text_percent((double)python->partial, (double)python->samples).s);
}

static const char UNSURE[] =
    "these times are not sure: with what was dropped some waits are missing, and of others the end";

static bool times_waits(const struct recording *recording) {
    return recording->event_count &&
           recording->events[recording->event_count - 1].kind == LIVE_RUN_QUEUE;
}

static bool waits_are_unsure(const struct recording *recording) {
    return times_waits(recording) && recording->recorded.dropped_tasks;
}

/* How long threads waited, of all together. */
static void print_waits(const struct recording *recording, const struct page *page) {
    const uint64_t *lasting = recording->attributed.lasting;
    if (times_waits(recording))
        page_print(page, "threads waited: %s blocked, %s for a processor%s%s",
                   text_duration((double)lasting[recording->event_count - 2] / 1e9).s,
                   text_duration((double)lasting[recording->event_count - 1] / 1e9).s,
                   sees_kernel(recording) ? "" : "; ", sees_kernel(recording) ? "" : NO_PLACES);
    if (waits_are_unsure(recording))
        page_wrap(page, UNSURE, NULL, "", "  ");
}

/* Less than this of the time is said. */
static const double COUNTED = 0.995;

/* "counters took turns: imiss was counted 43.0 % of the time, ..."; NULL: all were counted. */
static char *describe_turns(const struct recording *recording) {
    struct text_printer printer;
    FILE *file = NULL;
    for (size_t i = 0; i < recording->event_count; i++) {
        const struct live_event_times *times = &recording->times[i];
        if ((double)times->running >= COUNTED * (double)times->enabled)
            continue;
        if (file)
            fputs(", ", file);
        else if ((file = text_printer_begin(&printer)))
            fputs("counters took turns, and each sample stands for so many more events: ", file);
        else
            return NULL;
        fprintf(file, "%s was counted %s %% of the time", recording->events[i].name,
                text_percent((double)times->running, (double)times->enabled).s);
    }
    return file ? text_printer_end(&printer) : NULL;
}

/* The kind of wait to look at; NULL: of none there is anything. */
static const char *waited_event(const struct recording *recording) {
    const uint64_t *lasting = recording->attributed.lasting;
    if (!times_waits(recording))
        return NULL;
    for (size_t i = recording->event_count - 2; i < recording->event_count; i++)
        if (lasting[i])
            return recording->events[i].name;
    return NULL;
}

static void print_next(const struct recording *recording, const char *store, FILE *file) {
    const struct live_event *last = &recording->events[recording->event_count - 1];
    const char *waits = waited_event(recording);
    const bool placed = !waits || last->kernel;
    if (!recording->attributed.samples && !waits)
        return;
    fprintf(file, "next: culprit top%s%s%s --epoch %lld",
            !placed                  ? " --by thread"
            : stack_count(recording) ? " --tree"
                                     : "",
            waits ? " --event " : "", waits ?: "", (long long)recording->session);
    char shown[PATH_MAX];
    text_put_option(file, "store", store ? store_shown_address(store, shown) : NULL);
    fputc('\n', file);
}

/* "2 processes of the command still run (4711, 4712): each is ..."; NULL: none does. */
static char *describe_running(const struct recording *recording) {
    struct text_printer printer;
    FILE *file = recording->running ? text_printer_begin(&printer) : NULL;
    if (!file)
        return NULL;
    fprintf(file, "%zu process%s of the command still run%s (", recording->running,
            recording->running == 1 ? "" : "es", recording->running == 1 ? "s" : "");
    for (size_t i = 0; i < recording->running && i < RECORDING_RUNNING_TOLD; i++)
        fprintf(file, "%s%" PRIu32, i ? ", " : "", recording->running_pids[i]);
    fprintf(file, "%s): %s not waited for, and not recorded any more (--pid records it)",
            recording->running > RECORDING_RUNNING_TOLD ? " ..." : "",
            recording->running == 1 ? "it is" : "each is");
    return text_printer_end(&printer);
}

static unsigned widest(const char *const *texts, size_t count) {
    unsigned most = 0;
    for (size_t i = 0; i < count; i++)
        most = text_columns(texts[i]) > most ? text_columns(texts[i]) : most;
    return most;
}

/* As wide as they need to be, if the page has room for that. */
static unsigned columns_of_names(const struct page *page, const char *const *names,
                                 const char *const *images, size_t count) {
    enum { FIGURE = 2 + 6 + 2 + 2, GAP = 2 };
    const unsigned room = page->table_columns ? page->table_columns : page->columns;
    const unsigned taken = FIGURE + GAP + widest(images, count), needed = widest(names, count);
    const unsigned left = room > taken + NAME_LEAST ? room - taken : NAME_LEAST;
    return needed > left ? left : needed < NAME_USUAL && left > NAME_USUAL ? NAME_USUAL : needed;
}

static bool print_rows(const struct profile_table *table, const struct page *page) {
    const size_t count = profile_table_count(table) < ROWS ? profile_table_count(table) : ROWS;
    const char *names[ROWS], *images[ROWS];
    char text[4096], full[4096], image[PATH_MAX];
    struct arena arena = {0};
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        const struct profile_row *row = profile_table_row(table, i);
        profile_row_name(row, full, sizeof full);
        text_clean(text, sizeof text, full);
        names[i] = arena_copy(&arena, text, strlen(text));
        text_clean(image, sizeof image, file_base_name(row->image));
        images[i] = arena_copy(&arena, image, strlen(image));
        good = names[i] && images[i];
    }
    const unsigned columns = good ? columns_of_names(page, names, images, count) : 0;
    good = good && short_names(names, count, columns, &arena);
    for (size_t i = 0; good && i < count; i++)
        fprintf(page->file, "  %6s %%  %s  %s\n",
                text_percent(profile_table_row(table, i)->values[0], profile_table_sum(table, 0)).s,
                text_fit(text, sizeof text, names[i], columns, TEXT_LEFT), images[i]);
    arena_free(&arena);
    return good;
}

/* The procedures with most samples of the first event, on `page` unless it is NULL, and notes on
 * those without a name. */
static bool show_rows(const struct recording *recording, const struct page *page,
                      struct report *notes, struct error *error) {
    const struct profile_table_options options = {.by = PROFILE_BY_PROCEDURE, .columns = 1};
    struct store *store = store_open(recording->store, STORE_READ, error);
    struct program *program = program_new();
    struct profile_table *table = program ? profile_table_new(&options, program) : NULL;
    bool good = store && (table || error_set(error, "out of memory for the summary")) &&
                profile_table_add(table, store, &recording->session, 1, recording->events[0].name,
                                  1, 0, error) &&
                profile_table_finish(table, ROWS, error);
    good = good &&
           (!page || print_rows(table, page) || error_set(error, "out of memory for the summary"));
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

bool recording_text(const struct recording *recording, const char *store, const struct page *page,
                    struct error *error) {
    char text[2048];
    FILE *file = page->file;
    const struct resolver_statistics *attributed = &recording->attributed;
    live_events_describe(recording->events, recording->event_count, text, sizeof text);
    page_wrap(page, text, NULL, "", "  ");
    if (!sees_kernel(recording))
        page_wrap(page, USER_ALONE, NULL, "", "  ");
    if (recording->note)
        page_wrap(page, recording->note, NULL, "", "  ");
    char *turns = describe_turns(recording);
    if (turns)
        page_wrap(page, turns, NULL, "", "  ");
    free(turns);
    if (recording->stack_note[0])
        page_wrap(page, recording->stack_note, NULL, "", "  ");
    if (!attributed->samples)
        page_wrap(page, NO_SAMPLES, NULL, "", "  ");
    fprintf(file, "%s: %s sample%s in %s%s\n",
            text_clip(text, sizeof text, recording->name, COMMAND_COLUMNS),
            text_grouped(attributed->samples).s, text_plural(attributed->samples),
            text_duration(recording->seconds).s, recording->partial ? " (partial)" : "");
    fprintf(file, "%s %% kernel, %s unknown, %s dropped\n",
            text_percent((double)attributed->kernel, (double)attributed->samples).s,
            text_grouped(attributed->unknown).s, text_grouped(recording->recorded.dropped).s);
    print_stacks(recording, file);
    print_waits(recording, page);
    if (signal_that_ended(recording->exit, text, sizeof text))
        page_wrap(page, text, NULL, "", "  ");
    char *running = describe_running(recording);
    if (running)
        page_wrap(page, running, NULL, "", "  ");
    free(running);
    if (attributed->coarse)
        page_print(page,
                   "%s %% of the samples are not told apart by process id, thread and processor: "
                   "these are more than %d slices",
                   text_percent((double)attributed->coarse, (double)attributed->samples).s,
                   SLICES_MOST);
    struct report notes = {0};
    bool good = !attributed->samples || show_rows(recording, page, &notes, error);
    for (uint32_t i = 0; i < notes.note_count; i++)
        report_text_note(&notes, i, "", "  ", page);
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
        const struct live_event_times *times = &recording->times[i];
        json_array_append_new(
            events,
            json_pack("{s:s, s:I, s:s, s:f, s:b, s:b}", "name", event->name, "period",
                      (json_int_t)event->period, "period_unit", live_event_period_unit(event),
                      "counted",
                      times->enabled ? (double)times->running / (double)times->enabled : 1.0,
                      "precise", live_event_is_precise(event), "kernel", (int)event->kernel));
        if (live_event_lasts(event->kind))
            json_object_set_new(json_array_get(events, i), "seconds",
                                json_real((double)recording->attributed.lasting[i] / 1e9));
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
        json_array_append_new(notes, json_text(recording->note));
    if (waits_are_unsure(recording))
        json_array_append_new(notes, json_string(UNSURE));
    char *turns = describe_turns(recording);
    if (turns)
        json_array_append_new(notes, json_text(turns));
    free(turns);
    if (recording->stack_note[0])
        json_array_append_new(notes, json_text(recording->stack_note));
    if (signal_that_ended(recording->exit, text, sizeof text))
        json_array_append_new(notes, json_string(text));
    char *running = describe_running(recording);
    if (running)
        json_array_append_new(notes, json_text(running));
    free(running);
    if (recording->attributed.samples)
        show_rows(recording, NULL, &names, &ignored);
    else
        json_array_append_new(notes, json_string(NO_SAMPLES));
    for (uint32_t i = 0; i < names.note_count; i++)
        json_array_append_new(notes, json_text(names.notes[i]));
    report_free(&names);
    return notes;
}

static json_t *python_json(const struct recording *recording) {
    const struct python_statistics *python = &recording->recorded.python;
    return json_pack("{s:I, s:I, s:I}", "samples", (json_int_t)python->samples, "whole",
                     (json_int_t)python->whole, "partial", (json_int_t)python->partial);
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
        "{s:o, s:I, s:o, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:f, s:b, s:o}", "command",
        json_text(recording->name), "epoch", (json_int_t)recording->session, "events",
        events_json(recording), "samples", (json_int_t)attributed->samples, "kernel_samples",
        (json_int_t)attributed->kernel, "unknown", (json_int_t)attributed->unknown, "dropped",
        (json_int_t)recording->recorded.dropped, "stacks", stacks_json(recording), "python",
        python_json(recording), "coarse", (json_int_t)attributed->coarse, "seconds",
        recording->seconds, "partial", (int)recording->partial, "notes", notes_json(recording));
    return json_write(object, file, error);
}
