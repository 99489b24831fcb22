/* A table of figures, each with how it is taken from a run and how it is written. */
#include "report/usage_report.h"

#include <stdlib.h>

#include "report/json_values.h"
#include "report/table.h"
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
static const struct figure {
    const char *label, *key;
    enum unit unit;
    double (*of)(const struct usage *usage);
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

/* False: out of memory. */
static bool summarize(const struct usages *usages, const struct figure *figure,
                      struct summary *summary) {
    double *values = calloc(usages->count, sizeof *values);
    if (!values)
        return false;
    for (size_t i = 0; i < usages->count; i++)
        values[i] = figure->of(&usages->runs[i]);
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
        good = summarize(usages, &FIGURES[i], &summary);
        if (!good)
            break;
        table_cell(table, FIGURES[i].label);
        put_value(table, FIGURES[i].unit, summary.median);
        if (several) {
            put_value(table, FIGURES[i].unit, summary.least);
            put_value(table, FIGURES[i].unit, summary.most);
        }
    }
    table_end(table);
    return good || error_set(error, "out of memory for the report");
}

static json_t *runs_json(const struct usages *usages) {
    json_t *array = json_array();
    for (size_t i = 0; i < usages->count; i++) {
        json_t *object = json_object();
        for (int k = 0; k < FIGURE_COUNT; k++)
            json_object_set_new(object, FIGURES[k].key, json_real(FIGURES[k].of(&usages->runs[i])));
        json_array_append_new(array, object);
    }
    return array;
}

bool usage_json(const struct usages *usages, const char *name, FILE *file, struct error *error) {
    json_t *medians = json_object();
    for (int i = 0; i < FIGURE_COUNT && usages->count; i++) {
        struct summary summary = {0};
        if (!summarize(usages, &FIGURES[i], &summary)) {
            json_decref(medians);
            return error_set(error, "out of memory for the report");
        }
        json_object_set_new(medians, FIGURES[i].key,
                            json_pack("{s:f, s:f, s:f}", "median", summary.median, "least",
                                      summary.least, "most", summary.most));
    }
    json_t *object = json_pack("{s:o, s:b, s:o, s:o}", "command", json_text(name), "partial",
                               (int)usages->partial, "figures", medians, "runs", runs_json(usages));
    return json_write(object, file, error);
}
