/* `top --over-time` for people: a line of blocks for each row, from 0 to the row's own peak. */
#include <math.h>
#include <time.h>

#include "report/over_time.h"
#include "report/table.h"

enum { BLOCK_BYTES = 3, NAME_BYTES = 4096 };

struct over_time_rate over_time_rate(const struct profile_report *report) {
    const struct profile_event *event = report->events[0];
    const bool samples = !strcmp(event->unit, "samples");
    if (profile_event_lasts(event))
        return (struct over_time_rate){1e-6, "waiting"};
    if (samples && event->period && !strcmp(event->period_unit, "ns"))
        return (struct over_time_rate){(double)event->period / 1e9, "cpu"};
    if (samples && event->period)
        return (struct over_time_rate){(double)event->period, "/s"};
    return (struct over_time_rate){1, "/s"};
}

static double over_time_peak(const double *values, size_t count) {
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, values[i]);
    return most;
}

/* Blank where there is nothing, the lowest block for anything at all. */
static void draw_line(const double *values, size_t count, char *text) {
    static const char BLOCKS[][BLOCK_BYTES + 1] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const double most = over_time_peak(values, count);
    for (size_t i = 0; i < count; i++) {
        const double height = most > 0 ? 8 * values[i] / most : 0;
        const int block = values[i] > 0 && height < 1 ? 1 : (int)lround(height);
        text = stpcpy(text, BLOCKS[block]);
    }
}

/* Of an epoch there is no room for what it is of. */
static const char *place_heading(const struct profile_report *report) {
    return report->by == PROFILE_BY_EPOCH ? NULL : profile_place_heading(report->by);
}

static void add_row(const struct profile_report *report, const double *values, const char *name,
                    const char *image, struct table *table) {
    const struct over_time_rate rate = over_time_rate(report);
    const size_t count = report->timeline->count;
    double each[TIMELINE_STEPS_MAX];
    const double all = profile_table_sum(report->table, 0);
    char line[TIMELINE_STEPS_MAX * BLOCK_BYTES + 1];
    for (size_t i = 0; i < count; i++)
        each[i] = values[1 + i] / timeline_seconds(report->timeline, i);
    draw_line(each, count, line);
    table_figure(table, "%.2f%%", all > 0 ? 100 * values[0] / all : 0);
    table_figure(table, "%.3g %s", rate.factor * over_time_peak(each, count), rate.unit);
    table_cell(table, line);
    table_cell(table, name);
    if (place_heading(report))
        table_cell(table, image);
}

static void add_all(const struct profile_report *report, struct table *table) {
    double sums[1 + TIMELINE_STEPS_MAX];
    for (size_t i = 0; i <= report->timeline->count; i++)
        sums[i] = profile_table_sum(report->table, i);
    add_row(report, sums, "all", "", table);
}

void over_time_clock(const struct timeline *timeline, double step, char *text, size_t size) {
    static const int64_t SECOND = 1000000000;
    const int64_t ns = timeline->begin + (int64_t)(step * (double)timeline->step);
    const time_t seconds = (time_t)(ns / SECOND);
    struct tm broken;
    const size_t used = strftime(text, size, "%H:%M:%S", gmtime_r(&seconds, &broken));
    if (timeline->step % SECOND)
        snprintf(text + used, size - used, ".%d", (int)(ns % SECOND / (SECOND / 10)));
}

static void print_axis(const struct timeline *timeline, const struct page *page) {
    char begin[32], end[32];
    over_time_clock(timeline, 0, begin, sizeof begin);
    over_time_clock(timeline, timeline->count, end, sizeof end);
    page_print(page, "from %s to %s UTC, a block for %s; each row from 0 to its own peak", begin,
               end, text_duration((double)timeline->step / 1e9).s);
}

void over_time_text(const struct profile_report *report, const struct page *page) {
    struct table *table = table_new(page);
    table_column(table, "     %", TABLE_FIGURE, .gap = 0);
    table_column(table, "peak", TABLE_FIGURE, .gap = 2);
    table_column(table, "over time", TABLE_WORD, .gap = 2);
    table_column(table, profile_by_names[report->by], TABLE_NAME, .gap = 2, .least = 12);
    if (place_heading(report))
        table_column(table, place_heading(report), TABLE_PATH, .gap = 2, .least = 12, .rank = 2);
    add_all(report, table);
    for (size_t i = 0; i < profile_table_count(report->table); i++) {
        const struct profile_row *row = profile_table_row(report->table, i);
        char name[NAME_BYTES];
        profile_row_name(row, name, sizeof name);
        add_row(report, row->values, report->by == PROFILE_BY_IMAGE ? row->image : name,
                report->by == PROFILE_BY_IMAGE ? "" : row->image, table);
    }
    fputc('\n', page->file);
    print_axis(report->timeline, page);
    table_end(table);
}
