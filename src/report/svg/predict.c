/* CPI due to long data misses: values of the first figure at equal distances, a line for each
 * combination of the others. */
#include <math.h>
#include <string.h>

#include "report/predict_report.h"
#include "report/svg.h"

enum { AREA_WIDTH = 420, AREA_HEIGHT = 300, LEFT = 64, TOP = 44, BOTTOM = 56, LEGEND = 260 };
enum { LINE = 16 };

struct picture {
    const struct predict_report *report;
    FILE *out;
    double most;
    uint32_t columns, lines; /* machines are [column × lines + line] */
};

static double value_of(const struct picture *picture, uint32_t column, uint32_t line,
                       bool simulated) {
    const struct predict_report *report = picture->report;
    const uint32_t machine = column * picture->lines + line;
    return simulated ? simulated_cpi(report->prediction, &report->prediction->machines[machine])
                     : predicted_cpi(report->prediction, predict_result(report, machine, 0));
}

static double x_of(const struct picture *picture, uint32_t column) {
    const uint32_t steps = picture->columns - 1;
    return LEFT + (steps ? AREA_WIDTH * (double)column / steps : AREA_WIDTH / 2.0);
}

static double y_of(const struct picture *picture, double value) {
    return TOP + AREA_HEIGHT * (1 - fmax(value, 0) / picture->most);
}

static void find_most(struct picture *picture) {
    picture->most = 1e-6;
    for (uint32_t column = 0; column < picture->columns; column++)
        for (uint32_t line = 0; line < picture->lines; line++) {
            picture->most = fmax(picture->most, value_of(picture, column, line, false));
            if (picture->report->checked)
                picture->most = fmax(picture->most, value_of(picture, column, line, true));
        }
}

static const char *value_name(const struct sweep_axis *axis, uint32_t value) {
    bool unlimited = axis->axis == AXIS_MSHR && !strcmp(axis->values[value], "0");
    return unlimited ? "unlimited" : axis->values[value];
}

static void draw_axes(const struct picture *picture) {
    const double step = svg_step(picture->most, 6);
    for (int i = 0; i * step <= picture->most * 1.0001; i++) {
        char label[32];
        const double y = y_of(picture, i * step);
        snprintf(label, sizeof label, "%g", i * step);
        fprintf(picture->out, "<path d=\"M%d %.1f h%d\" stroke=\"#ddd\"/>\n", LEFT, y, AREA_WIDTH);
        svg_text(picture->out, LEFT - 6, y + 4, SVG_END, label);
    }
    const struct sweep_axis *first = &picture->report->sweep->axis[0];
    for (uint32_t i = 0; i < picture->columns; i++)
        svg_text(picture->out, x_of(picture, i), TOP + AREA_HEIGHT + 18, SVG_MIDDLE,
                 value_name(first, i));
    svg_text(picture->out, LEFT + AREA_WIDTH / 2.0, TOP + AREA_HEIGHT + 38, SVG_MIDDLE,
             predict_axis_name(first->axis));
}

static void draw_path(const struct picture *picture, uint32_t line, bool simulated) {
    fputs("<path d=\"", picture->out);
    for (uint32_t column = 0; column < picture->columns; column++)
        fprintf(picture->out, "%s%.1f %.1f ", column ? "L" : "M", x_of(picture, column),
                y_of(picture, value_of(picture, column, line, simulated)));
    fprintf(picture->out, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s/>\n",
            svg_colour(line).code, simulated ? " stroke-dasharray=\"5 4\"" : "");
}

/* "mshr unlimited, prefetch tagged" */
static void draw_name(const struct picture *picture, uint32_t line) {
    const struct predict_sweep *sweep = picture->report->sweep;
    char name[128] = "";
    uint32_t left = line;
    for (uint32_t i = sweep->axes; i-- > 1;) {
        char more[128];
        const struct sweep_axis *axis = &sweep->axis[i];
        snprintf(more, sizeof more, "%s %s%s%.80s", predict_axis_name(axis->axis),
                 value_name(axis, left % axis->count), *name ? ", " : "", name);
        left /= axis->count;
        memcpy(name, more, sizeof name);
    }
    const double y = TOP + (line + 1) * (double)LINE, x = LEFT + AREA_WIDTH + 20;
    fprintf(picture->out, "<path d=\"M%.0f %.0f h18\" stroke=\"%s\" stroke-width=\"2\"/>\n", x,
            y - 4, svg_colour(line).code);
    svg_text(picture->out, x + 24, y, SVG_START, *name ? name : "predicted");
}

void predict_svg(const struct predict_report *report, FILE *out) {
    struct picture picture = {.report = report, .out = out};
    picture.columns = report->sweep->axis[0].count;
    picture.lines = report->machine_count / picture.columns;
    const double legend = TOP + (picture.lines + 2) * (double)LINE;
    char rest[160];
    svg_begin(out, LEFT + AREA_WIDTH + LEGEND, fmax(TOP + AREA_HEIGHT + BOTTOM, legend));
    snprintf(rest, sizeof rest, " on %.60s: CPI due to long data misses%s",
             report->report.machine->name, report->checked ? " (dashed: simulated)" : "");
    svg_title(out, 8, LEFT + AREA_WIDTH + LEGEND, report->report.program, rest);
    find_most(&picture);
    draw_axes(&picture);
    for (uint32_t line = 0; line < picture.lines; line++) {
        draw_path(&picture, line, false);
        if (report->checked)
            draw_path(&picture, line, true);
        draw_name(&picture, line);
    }
    svg_end(out);
}
