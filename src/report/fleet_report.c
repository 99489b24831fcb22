#include "report/fleet_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/profile_report.h"
#include "report/table.h"
#include "util/file_name.h"

#define OUTLIER_LEAST 0.001 /* of all samples: in rows with less nothing is looked for */

/* ---- reading ---- */

static size_t sampled_hosts(const struct host_matrix *matrix) {
    size_t count = 0;
    for (size_t i = 0; i < matrix->host_count; i++)
        count += matrix->hosts[i].total > 0;
    return count;
}

static bool read_matrix(struct fleet_report *report, const char *process, struct program *program,
                        size_t least, struct error *error) {
    const struct profile_table_options options = {
        .by = report->by, .process = process, .image = report->image};
    if (!host_matrix_read(&report->matrix, report->set, report->event->name, &options, program,
                          error))
        return false;
    const size_t hosts = sampled_hosts(&report->matrix);
    return hosts >= least ||
           error_set(error,
                     "%s: %zu host%s such samples, and %zu are needed (--host '*' takes all)",
                     report->set->label, hosts, hosts == 1 ? " has" : "s have", least);
}

bool fleet_report_outliers(struct fleet_report *report, const char *process,
                           struct program *program, struct error *error) {
    if (!read_matrix(report, process, program, OUTLIER_HOSTS, error))
        return false;
    struct outliers *outliers = &report->outliers;
    if (!outliers_find(outliers, &report->matrix, OUTLIER_LEAST))
        return error_set(error, "out of memory for the hosts");
    return profile_set_note_damage(report->set, &report->report) &&
           report_note(&report->report,
                       "a host stands apart in a row when it is %.1f standard deviations or more "
                       "from the median host (1.4826 times the median absolute deviation, or what "
                       "sampling gives when that is more), and samples alone would make such a "
                       "difference with less than %.0e",
                       outliers->far, outliers->rarest) &&
           report_note(&report->report,
                       "%s pairs of host and %s were looked at: where all hosts have one profile, "
                       "any of them is named with a probability of at most %.0f %%",
                       text_grouped(outliers->tests).s, profile_by_names[report->by],
                       100 * OUTLIER_ALARM);
}

bool fleet_report_spread(struct fleet_report *report, const char *process, struct program *program,
                         struct error *error) {
    if (!read_matrix(report, process, program, 2, error))
        return false;
    struct host_spread *spread = &report->spread;
    if (!host_spread_find(spread, &report->matrix, report->top ? SPREAD_LEAST : 0))
        return error_set(error, "out of memory for the hosts");
    bool good = profile_set_note_damage(report->set, &report->report);
    good &= report_note(
        &report->report,
        "%zu of %zu rows differ between hosts by more than sampling explains (chi-square; where "
        "hosts do not differ, any row does so with a probability of %.0f %%)",
        spread->significant, spread->count, 100 * SPREAD_ALARM);
    good &= report_note(&report->report,
                        "chance: standard deviation of a host's share by sampling alone; beyond: "
                        "what hosts differ by besides, in the same points");
    if (spread->small)
        good &= report_note(&report->report,
                            "left out: %zu row%s with less than 0.1 %% of all each (--top 0 shows "
                            "them)",
                            spread->small, text_plural(spread->small));
    return good || error_set(error, "out of memory for the report");
}

void fleet_report_free(struct fleet_report *report) {
    host_matrix_free(&report->matrix);
    outliers_free(&report->outliers);
    host_spread_free(&report->spread);
    report_free(&report->report);
}

/* ---- text ---- */

static void print_head(const struct fleet_report *report, const struct page *page) {
    profile_set_text(report->set, page->file);
    profile_event_text(report->event, report->matrix.total, "", page);
    fprintf(page->file, "%s hosts", text_grouped(sampled_hosts(&report->matrix)).s);
    char image[256];
    if (report->image)
        fprintf(page->file, "; shares of what they have in %s",
                text_clip(image, sizeof image, report->image, 60));
    fputc('\n', page->file);
}

static void add_name(const struct fleet_report *report, const struct profile_row *row,
                     struct table *table) {
    char name[4096];
    profile_row_name(row, name, sizeof name);
    table_cell(table, report->by == PROFILE_BY_IMAGE ? row->image : name);
    if (report->by != PROFILE_BY_IMAGE)
        table_cell(table, file_base_name(row->image));
}

static void add_name_columns(const struct fleet_report *report, struct table *table) {
    const bool images = report->by == PROFILE_BY_IMAGE;
    table_column(table, profile_by_names[report->by], images ? TABLE_PATH : TABLE_NAME, .gap = 2,
                 .least = images ? 12 : 20);
    if (!images)
        table_column(table, "image", TABLE_PATH, .gap = 2, .least = 12, .rank = 1);
}

/* "1e-07"; what is less than a double can tell, as such. */
static void add_probability(double probability, struct table *table) {
    if (probability < 1e-99)
        table_cell(table, "<1e-99");
    else
        table_figure(table, probability < 0.001 ? "%.0e" : "%.3f", probability);
}

void outliers_text(const struct fleet_report *report, const struct page *page) {
    const struct outliers *outliers = &report->outliers;
    const size_t shown =
        report->top && report->top < outliers->count ? report->top : outliers->count;
    print_head(report, page);
    if (!outliers->count) {
        fputs("\nno host stands apart\n", page->file);
        report_text_foot(&report->report, page);
        return;
    }
    fprintf(page->file, "%zu of them stand%s apart\n\n", outliers->hosts,
            outliers->hosts == 1 ? "s" : "");
    struct table *table = table_new(page);
    table_column(table, "share", TABLE_FIGURE, .gap = 0);
    table_column(table, "median", TABLE_FIGURE, .gap = 2);
    table_column(table, "distance", TABLE_FIGURE, .gap = 2);
    table_column(table, "by chance", TABLE_FIGURE, .gap = 2, .rank = 2);
    table_column(table, "host", TABLE_TEXT, .gap = 2, .least = 12);
    add_name_columns(report, table);
    for (size_t i = 0; i < shown; i++) {
        const struct outlier *outlier = &outliers->items[i];
        table_figure(table, "%.2f%%", 100 * outlier->share);
        table_figure(table, "%.2f%%", 100 * outlier->median);
        table_figure(table, "%+.1f", outlier->distance);
        add_probability(outlier->probability, table);
        table_cell(table, outlier->host->name);
        add_name(report, &outlier->row->shown, table);
    }
    table_more(table, 2, outliers->count - shown);
    table_end(table);
    report_text_foot(&report->report, page);
}

void host_spread_text(const struct fleet_report *report, const struct page *page) {
    const struct host_spread *spread = &report->spread;
    const size_t shown = report->top && report->top < spread->count ? report->top : spread->count;
    print_head(report, page);
    fputc('\n', page->file);
    struct table *table = table_new(page);
    table_column(table, "share", TABLE_FIGURE, .gap = 0);
    table_column(table, "beyond", TABLE_FIGURE, .gap = 2);
    table_column(table, "chance", TABLE_FIGURE, .gap = 2);
    table_column(table, "by chance", TABLE_FIGURE, .gap = 2, .rank = 3);
    table_column(table, "least", TABLE_FIGURE, .gap = 2);
    table_column(table, "on", TABLE_TEXT, .gap = 1, .least = 8, .rank = 2);
    table_column(table, "most", TABLE_FIGURE, .gap = 2);
    table_column(table, "on", TABLE_TEXT, .gap = 1, .least = 8);
    add_name_columns(report, table);
    for (size_t i = 0; i < shown; i++) {
        const struct spread_row *row = &spread->rows[i];
        table_figure(table, "%.2f%%", 100 * row->share);
        table_figure(table, "%.2f", 100 * row->beyond);
        table_figure(table, "%.2f", 100 * row->chance);
        add_probability(row->probability, table);
        table_figure(table, "%.2f%%", 100 * row->least_share);
        table_cell(table, row->least ? row->least->name : "");
        table_figure(table, "%.2f%%", 100 * row->most_share);
        table_cell(table, row->most ? row->most->name : "");
        add_name(report, &row->row->shown, table);
    }
    table_more(table, 0, spread->count - shown);
    table_end(table);
    report_text_foot(&report->report, page);
}

/* ---- JSON ---- */

static json_t *hosts_json(const struct fleet_report *report) {
    json_t *array = json_array();
    for (size_t i = 0; i < report->matrix.host_count; i++) {
        const struct matrix_host *host = &report->matrix.hosts[i];
        json_array_append_new(array,
                              json_pack("{s:o, s:I, s:f, s:f}", "host", json_text(host->name),
                                        "epochs", (json_int_t)host->epochs, "seconds",
                                        host->seconds, "total", host->total));
    }
    return array;
}

static json_t *head_json(const struct fleet_report *report) {
    return json_pack("{s:s, s:o, s:o, s:o, s:s, s:o, s:o}", "verb", report->report.verb, "store",
                     json_text(store_path(report->set->store)), "only",
                     sample_choice_json(&report->set->choice), "event",
                     profile_event_json(report->event, report->matrix.total), "by",
                     profile_by_names[report->by], "image", json_text(report->image), "hosts",
                     hosts_json(report));
}

bool outliers_json(const struct fleet_report *report, FILE *file, struct error *error) {
    const struct outliers *outliers = &report->outliers;
    json_t *array = json_array(), *object = head_json(report);
    for (size_t i = 0; i < outliers->count && (!report->top || i < report->top); i++) {
        const struct outlier *outlier = &outliers->items[i];
        json_t *item = profile_row_json(&outlier->row->shown, report->by);
        json_object_update_new(
            item, json_pack("{s:o, s:f, s:f, s:f, s:f}", "host", json_text(outlier->host->name),
                            "share", outlier->share, "median", outlier->median, "distance",
                            outlier->distance, "probability", outlier->probability));
        json_array_append_new(array, item);
    }
    json_object_update_new(object, json_pack("{s:o, s:I, s:I, s:I, s:f, s:f}", "outliers", array,
                                             "outlier_count", (json_int_t)outliers->count,
                                             "outlier_hosts", (json_int_t)outliers->hosts, "tests",
                                             (json_int_t)outliers->tests, "least_distance",
                                             outliers->far, "most_probability", outliers->rarest));
    return json_write_report(object, &report->report, file, error);
}

static json_t *extreme_json(const struct matrix_host *host, double share) {
    return json_pack("{s:o, s:f}", "host", json_text(host ? host->name : NULL), "share", share);
}

bool host_spread_json(const struct fleet_report *report, FILE *file, struct error *error) {
    const struct host_spread *spread = &report->spread;
    json_t *array = json_array(), *object = head_json(report);
    for (size_t i = 0; i < spread->count && (!report->top || i < report->top); i++) {
        const struct spread_row *row = &spread->rows[i];
        json_t *item = profile_row_json(&row->row->shown, report->by);
        json_object_update_new(item, json_pack("{s:f, s:f, s:f, s:f, s:o, s:o}", "share",
                                               row->share, "chance", row->chance, "beyond",
                                               row->beyond, "probability", row->probability,
                                               "least", extreme_json(row->least, row->least_share),
                                               "most", extreme_json(row->most, row->most_share)));
        json_array_append_new(array, item);
    }
    json_object_update_new(object, json_pack("{s:o, s:I, s:I}", "spread", array, "row_count",
                                             (json_int_t)(spread->count + spread->small),
                                             "significant", (json_int_t)spread->significant));
    return json_write_report(object, &report->report, file, error);
}
