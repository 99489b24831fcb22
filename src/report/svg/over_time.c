/* `top --over-time` as a picture: what each row had at each time, above one another. */
#include <math.h>

#include "report/over_time.h"
#include "report/svg.h"

enum { WIDTH = 820, HEIGHT = 320, LEFT = 64, TOP = 40, BOTTOM = 40, LEGEND = 280, LINE = 18 };

/* What stands at the top of the first `rows` rows at a step, of a second. */
static double height_of(const struct profile_report *report, size_t rows, size_t step) {
    double sum = 0;
    for (size_t i = 0; i < rows; i++)
        sum += profile_table_row(report->table, i)->values[1 + step];
    return sum / timeline_seconds(report->timeline, step);
}

static double all_of(const struct profile_report *report, size_t step) {
    return profile_table_sum(report->table, 1 + step) / timeline_seconds(report->timeline, step);
}

static double highest(const struct profile_report *report) {
    double most = 0;
    for (size_t i = 0; i < report->timeline->count; i++)
        most = fmax(most, all_of(report, i));
    return most > 0 ? most : 1;
}

static double x_of(const struct profile_report *report, size_t step) {
    return LEFT + (double)step * WIDTH / (double)report->timeline->count;
}

/* The area between what lies below and above, a step for each step of time. */
static void draw_area(const double *below, const double *above, const struct profile_report *report,
                      double scale, const char *colour, const char *name, FILE *out) {
    const size_t count = report->timeline->count;
    fputs("<path d=\"", out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%.1f %.1fH%.1f", i ? "L" : "M", x_of(report, i),
                TOP + HEIGHT - scale * above[i], x_of(report, i + 1));
    for (size_t i = count; i-- > 0;)
        fprintf(out, "L%.1f %.1fH%.1f", x_of(report, i + 1), TOP + HEIGHT - scale * below[i],
                x_of(report, i));
    fprintf(out, "Z\" fill=\"%s\"><title>", colour);
    svg_escape(out, name);
    fputs("</title></path>\n", out);
}

static void draw_rows(const struct profile_report *report, double scale, FILE *out) {
    const size_t rows = profile_table_count(report->table);
    double below[TIMELINE_STEPS_MAX], above[TIMELINE_STEPS_MAX];
    char name[4096];
    for (size_t row = 0; row <= rows; row++) {
        for (size_t i = 0; i < report->timeline->count; i++) {
            below[i] = height_of(report, row, i);
            above[i] = row < rows ? height_of(report, row + 1, i) : all_of(report, i);
        }
        if (row < rows && report->by == PROFILE_BY_IMAGE)
            snprintf(name, sizeof name, "%s", profile_table_row(report->table, row)->image);
        else if (row < rows)
            profile_row_name(profile_table_row(report->table, row), name, sizeof name);
        else
            snprintf(name, sizeof name, "all others");
        const char *colour = row < rows ? svg_colour((uint32_t)row).code : "#ddd";
        draw_area(below, above, report, scale, colour, name, out);
        const double y = TOP + (double)(row + 1) * LINE;
        char shown[64];
        fprintf(out, "<rect x=\"%d\" y=\"%.1f\" width=\"12\" height=\"12\" fill=\"%s\"/>\n",
                LEFT + WIDTH + 16, y - 10, colour);
        svg_text(out, LEFT + WIDTH + 34, y, SVG_START, text_clip(shown, sizeof shown, name, 40));
    }
}

static void draw_axes(const struct profile_report *report, double most, FILE *out) {
    enum { TIMES = 6 };
    const struct over_time_rate rate = over_time_rate(report);
    const struct timeline *timeline = report->timeline;
    const double scaled = most * rate.factor, step = svg_step(scaled, 6);
    char label[64];
    for (int i = 0; i * step <= scaled * 1.0001; i++) {
        const double y = TOP + HEIGHT * (1 - i * step / scaled);
        fprintf(out, "<path d=\"M%d %.1f h%d\" stroke=\"#bbb\" stroke-width=\"0.5\"/>\n", LEFT, y,
                WIDTH);
        snprintf(label, sizeof label, "%g %s", i * step, rate.unit);
        svg_text(out, LEFT - 6, y + 4, SVG_END, label);
    }
    for (int i = 0; i <= TIMES; i++) {
        const double part = (double)i / TIMES;
        over_time_clock(timeline, part * (double)timeline->count, label, sizeof label);
        svg_text(out, LEFT + part * WIDTH, TOP + HEIGHT + 18, SVG_MIDDLE, label);
    }
}

void over_time_svg(const struct profile_report *report, FILE *file) {
    const double most = highest(report), scale = HEIGHT / most;
    const double legend = TOP + (double)(profile_table_count(report->table) + 3) * LINE;
    const double height = TOP + HEIGHT + BOTTOM;
    char rest[160];
    snprintf(rest, sizeof rest, ": %.40s by %s, UTC", report->events[0]->name,
             profile_by_names[report->by]);
    svg_begin(file, LEFT + WIDTH + LEGEND, legend > height ? legend : height);
    svg_title(file, 8, LEFT + WIDTH + LEGEND,
              report->set->command ? report->set->command : report->set->label, rest);
    draw_rows(report, scale, file);
    draw_axes(report, most, file);
    svg_end(file);
}
