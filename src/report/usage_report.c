/* A table of figures, each with how it is taken from a run and how it is written. */
#include "report/usage_report.h"

#include <stdlib.h>

#include "report/json_values.h"
#include "report/table.h"
#include "report/trace_notes.h"
#include "util/median.h"

static double wall(const struct usage *usage) {
    return usage->wall;
}
static double user(const struct usage *usage) {
    return usage->user;
}
static double of_kernel(const struct usage *usage) {
    return usage->system;
}
static double processors(const struct usage *usage) {
    return usage->wall > 0 ? (usage->user + usage->system) / usage->wall : 0;
}
static double resident(const struct usage *usage) {
    return (double)usage->resident_bytes;
}
static double minor(const struct usage *usage) {
    return (double)usage->minor_faults;
}
static double major(const struct usage *usage) {
    return (double)usage->major_faults;
}
static double waits(const struct usage *usage) {
    return (double)usage->waits;
}
static double preemptions(const struct usage *usage) {
    return (double)usage->preemptions;
}

enum unit { SECONDS, NUMBER, BYTES, COUNT };
typedef double take_figure(const struct usage *usage);
static const struct figure {
    const char *label, *key;
    enum unit unit;
    take_figure *of;
} FIGURES[] = {
    {"time from start to end", "wall_seconds", SECONDS, wall},
    {"processor time in user code", "user_seconds", SECONDS, user},
    {"processor time in the kernel", "system_seconds", SECONDS, of_kernel},
    {"processors in use", "processors", NUMBER, processors},
    {"memory of the largest process", "resident_bytes", BYTES, resident},
    {"page faults without the disk", "minor_faults", COUNT, minor},
    {"page faults from the disk", "major_faults", COUNT, major},
    {"context switches to wait", "waits", COUNT, waits},
    {"context switches by preemption", "preemptions", COUNT, preemptions},
};
enum { FIGURE_COUNT = sizeof FIGURES / sizeof *FIGURES };

struct summary {
    double median, least, most;
};

/* Of a figure, or without one of an event. False: out of memory. */
static bool summarize(const struct usages *usages, take_figure *of, size_t event,
                      struct summary *summary) {
    double *values = calloc(usages->count, sizeof *values);
    if (!values)
        return false;
    for (size_t i = 0; i < usages->count; i++)
        values[i] =
            of ? of(&usages->runs[i]) : live_event_scaled_count(&usages->runs[i].counts[event]);
    summary->median = median_of(values, usages->count);
    summary->least = values[0];
    summary->most = values[usages->count - 1];
    free(values);
    return true;
}

static void put_value(struct table *table, enum unit unit, double value) {
    switch (unit) {
    case SECONDS:
        table_cell(table, text_duration(value).s);
        return;
    case NUMBER:
        table_figure(table, "%.2f", value);
        return;
    case BYTES:
        table_cell(table, text_bytes((uint64_t)value).s);
        return;
    default:
        table_cell(table, text_grouped((uint64_t)(value + 0.5)).s);
    }
}

/* ---- events ---- */

/* Of the time that all runs took: how much an event was counted. */
static double counted_share(const struct usages *usages, size_t event) {
    double enabled = 0, running = 0;
    for (size_t i = 0; i < usages->count; i++) {
        enabled += (double)usages->runs[i].counts[event].enabled;
        running += (double)usages->runs[i].counts[event].running;
    }
    return enabled > 0 ? running / enabled : 0;
}

static enum unit unit_of(const struct live_event *event) {
    return event->kind == LIVE_CPU_CLOCK ? SECONDS : COUNT;
}

static void put_summary(struct table *table, enum unit unit, double scale,
                        const struct summary *summary, bool several) {
    put_value(table, unit, scale * summary->median);
    if (several) {
        put_value(table, unit, scale * summary->least);
        put_value(table, unit, scale * summary->most);
    }
}

/* "cycles (scaled from 43 %)": as perf stat says of counters that took turns. */
static bool put_event(struct table *table, const struct usages *usages, size_t event) {
    enum { ALL_PERCENT = 100 };
    const double share = counted_share(usages, event);
    const unsigned percent = (unsigned)(100 * share + 0.5);
    const bool several = usages->count > 1;
    const enum unit unit = unit_of(&usages->events[event]);
    char label[LIVE_EVENT_NAME_BYTES + 64];
    struct summary summary;
    snprintf(label, sizeof label,
             percent && percent < ALL_PERCENT ? "%s (scaled from %u %%)" : "%s",
             usages->events[event].name, percent);
    table_cell(table, label);
    if (share > 0) {
        if (!summarize(usages, NULL, event, &summary))
            return false;
        put_summary(table, unit, unit == SECONDS ? 1e-9 : 1, &summary, several);
    } else {
        table_cell(table, "not counted");
        for (int i = 0; several && i < 2; i++)
            table_cell(table, "");
    }
    return true;
}

/* How the last run ended, where that is worth a line: by a signal, or with a status that ended the
 * series. NULL: neither. */
static const char *describe_end(const struct usages *usages, char *text, size_t size) {
    if (signal_that_ended(usages->exit, text, size))
        return text;
    if (!usages->partial || !usages->exit.status)
        return NULL;
    snprintf(text, size, "a run ended with status %d: no more were made", usages->exit.status);
    return text;
}

bool usage_text(const struct usages *usages, const char *name, const struct page *page,
                struct error *error) {
    page_title(page, name, usages->partial);
    if (!usages->count)
        return true;
    const bool several = usages->count > 1;
    struct table *table = table_new(page);
    char heading[32] = "one run";
    if (several)
        snprintf(heading, sizeof heading, "median of %zu", usages->count);
    table_column(table, "", TABLE_TEXT, .gap = 0, .least = 16);
    table_column(table, heading, TABLE_FIGURE, .gap = 2);
    if (several) {
        table_column(table, "least", TABLE_FIGURE, .gap = 2);
        table_column(table, "most", TABLE_FIGURE, .gap = 2);
    }
    bool good = table;
    for (int i = 0; good && i < FIGURE_COUNT; i++) {
        struct summary summary;
        good = summarize(usages, FIGURES[i].of, 0, &summary);
        if (!good)
            break;
        table_cell(table, FIGURES[i].label);
        put_summary(table, FIGURES[i].unit, 1, &summary, several);
    }
    for (size_t i = 0; good && i < usages->event_count; i++)
        good = put_event(table, usages, i);
    table_end(table);
    char end[192];
    if (describe_end(usages, end, sizeof end))
        page_wrap(page, end, NULL, "", "  ");
    if (usages->event_count && usages->user_only)
        page_print(page, "events of user code alone: those in the kernel need CAP_PERFMON (or "
                         "root), or kernel.perf_event_paranoid at most 1");
    return good || error_set(error, "out of memory for the report");
}

static json_t *counts_json(const struct usages *usages, const struct usage *usage) {
    json_t *object = json_object();
    for (size_t i = 0; i < usages->event_count; i++) {
        const struct live_event_times *times = &usage->counts[i];
        json_object_set_new(object, usages->events[i].name,
                            times->running ? json_real(live_event_scaled_count(times))
                                           : json_null());
    }
    return object;
}

static json_t *known(bool is_known, double value) {
    return is_known ? json_real(value) : json_null();
}

/* NULL: out of memory. */
static json_t *events_json(const struct usages *usages) {
    json_t *array = json_array();
    for (size_t i = 0; usages->count && i < usages->event_count; i++) {
        const double share = counted_share(usages, i);
        struct summary summary;
        if (!summarize(usages, NULL, i, &summary)) {
            json_decref(array);
            return NULL;
        }
        json_array_append_new(
            array,
            json_pack("{s:s, s:s, s:f, s:o, s:o, s:o}", "name", usages->events[i].name, "unit",
                      unit_of(&usages->events[i]) == SECONDS ? "ns" : "events", "counted", share,
                      "median", known(share > 0, summary.median), "least",
                      known(share > 0, summary.least), "most", known(share > 0, summary.most)));
    }
    return array;
}

static json_t *runs_json(const struct usages *usages) {
    json_t *array = json_array();
    for (size_t i = 0; i < usages->count; i++) {
        json_t *object = json_object();
        for (int k = 0; k < FIGURE_COUNT; k++)
            json_object_set_new(object, FIGURES[k].key, json_real(FIGURES[k].of(&usages->runs[i])));
        json_object_set_new(object, "events", counts_json(usages, &usages->runs[i]));
        json_array_append_new(array, object);
    }
    return array;
}

bool usage_json(const struct usages *usages, const char *name, FILE *file, struct error *error) {
    json_t *medians = json_object();
    for (int i = 0; i < FIGURE_COUNT && usages->count; i++) {
        struct summary summary = {0};
        if (!summarize(usages, FIGURES[i].of, 0, &summary)) {
            json_decref(medians);
            return error_set(error, "out of memory for the report");
        }
        json_object_set_new(medians, FIGURES[i].key,
                            json_pack("{s:f, s:f, s:f}", "median", summary.median, "least",
                                      summary.least, "most", summary.most));
    }
    char end[192];
    json_t *notes = json_array();
    if (describe_end(usages, end, sizeof end))
        json_array_append_new(notes, json_string(end));
    json_t *object = json_pack("{s:o, s:b, s:o, s:o, s:o, s:o}", "command", json_text(name),
                               "partial", (int)usages->partial, "figures", medians, "events",
                               events_json(usages), "runs", runs_json(usages), "notes", notes);
    return json_write(object, file, error);
}

static bool print_next(const struct page *page, const char *intro, const char *verb,
                       const char *command, struct error *error) {
    char *next = NULL;
    if (asprintf(&next, "%s -- %s", verb, command) < 0)
        return error_set(error, "out of memory for the report");
    page_wrap(page, next, next, intro, "      ");
    free(next);
    return true;
}

bool usage_next_text(const char *name, const struct page *page, struct error *error) {
    return print_next(page, "next: ", "culprit record", name, error) &&
           print_next(page,
                      "cycles, misses and top-down levels, simulated: ", "culprit stat --simulated",
                      name, error);
}
