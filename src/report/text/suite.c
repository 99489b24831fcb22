#include "report/suite_report.h"

#include <math.h>

#include "report/json_values.h"
#include "report/table.h"

/* By how many percent cycles changed, in the geometric mean of what could be compared; 0 of none.
 */
static double suite_report_mean(const struct suite_report *report) {
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < report->count; i++)
        if (report->rows[i].report) {
            sum += log1p(report->rows[i].report->percent / 100);
            count++;
        }
    return count ? 100 * expm1(sum / (double)count) : 0;
}

/* ± of a figure that is not exact. */
static void interval_cell(struct table *table, double interval) {
    if (interval > 0)
        table_figure(table, "±%.2f", interval);
    else
        table_cell(table, interval < 0 ? "?" : "");
}

static void add_row(struct table *table, const struct suite_row *row) {
    const struct compare_report *report = row->report;
    table_cell(table, row->name);
    if (!report) {
        for (int i = 0; i < 4; i++)
            table_cell(table, "");
        table_cell(table, row->failure);
        return;
    }
    table_cell(table, text_quantity((double)report->runs[0].elapsed).s);
    table_cell(table, text_quantity((double)report->runs[1].elapsed).s);
    table_figure(table, "%+.2f %%", text_shown(report->percent, 2));
    interval_cell(table, report->interval);
    table_cell(table, report->sentence);
}

void suite_report_text(const struct suite_report *report, const struct page *page) {
    struct table *table = table_new(page);
    table_column(table, "pair", TABLE_NAME, .gap = 0, .least = 12);
    table_column(table, "before", TABLE_FIGURE, .gap = 2);
    table_column(table, "after", TABLE_FIGURE, .gap = 2);
    table_column(table, "change", TABLE_FIGURE, .gap = 2);
    table_column(table, "", TABLE_FIGURE, .gap = 1);
    table_column(table, "what changed", TABLE_TEXT, .gap = 2, .least = 20);
    for (size_t i = 0; i < report->count; i++)
        add_row(table, &report->rows[i]);
    table_end(table);
    fprintf(page->file, "\ngeometric mean: %+.2f %% cycles\n",
            text_shown(suite_report_mean(report), 2));
    report_text_foot(&report->report, page);
}

void suite_report_markdown(const struct suite_report *report, FILE *file) {
    fprintf(file,
            "**%+.2f %% cycles in the geometric mean of %zu pairs**\n\n"
            "| pair | before | after | change | ± | what changed |\n"
            "|---|---:|---:|---:|---:|---|\n",
            text_shown(suite_report_mean(report), 2), report->count);
    for (size_t i = 0; i < report->count; i++) {
        const struct suite_row *row = &report->rows[i];
        const struct compare_report *of = row->report;
        fputs("| ", file);
        compare_put_cell(row->name, file);
        if (!of) {
            fputs(" | | | | | ", file);
            compare_put_cell(row->failure, file);
            fputs(" |\n", file);
            continue;
        }
        fprintf(file, " | %s | %s | %+.2f %% | ", text_quantity((double)of->runs[0].elapsed).s,
                text_quantity((double)of->runs[1].elapsed).s, text_shown(of->percent, 2));
        if (of->interval > 0)
            fprintf(file, "%.2f", of->interval);
        fputs(" | ", file);
        compare_put_cell(of->sentence, file);
        fputs(" |\n", file);
    }
}

static json_t *pair_json(const struct suite_row *row) {
    json_t *pair = row->report ? compare_report_object(row->report) : json_object();
    json_object_set_new(pair, "name", json_text(row->name));
    json_object_set_new(pair, "failure", json_text(row->report ? NULL : row->failure));
    return pair;
}

bool suite_report_json(const struct suite_report *report, FILE *file, struct error *error) {
    json_t *pairs = json_array();
    for (size_t i = 0; i < report->count; i++)
        json_array_append_new(pairs, pair_json(&report->rows[i]));
    return json_write_report(json_pack("{s:s, s:f, s:o}", "verb", "compare",
                                       "geometric_mean_percent", suite_report_mean(report), "pairs",
                                       pairs),
                             &report->report, file, error);
}
