/* Interaction-cost paper Fig. 3: values of the first parameter at equal distances, a line for each
 * value of the second. */
#include <math.h>

#include "report/sensitivity_report.h"
#include "report/svg.h"

enum { WIDTH = 420, HEIGHT = 300, LEFT = 64, TOP = 44, BOTTOM = 56, LEGEND = 180, LINE = 16 };

struct picture {
    const struct sensitivity *study;
    FILE *out;
    double most, least; /* speedups */
};

static double x_of(const struct picture *picture, uint32_t first) {
    uint32_t steps = picture->study->parameters[0].count - 1;
    return LEFT + (steps ? WIDTH * (double)first / steps : WIDTH / 2.0);
}

static double y_of(const struct picture *picture, double speedup) {
    return TOP + HEIGHT * (picture->most - speedup) / (picture->most - picture->least);
}

static void find_limits(struct picture *picture) {
    picture->most = 0.01;
    for (uint32_t k = 0; k < sensitivity_seconds(picture->study); k++)
        for (uint32_t i = 0; i < picture->study->parameters[0].count; i++) {
            /* fmax and fmin take the other of what is not known. */
            picture->most = fmax(picture->most, sensitivity_speedup(picture->study, i, k));
            picture->least = fmin(picture->least, sensitivity_speedup(picture->study, i, k));
        }
}

static void draw_axes(const struct picture *picture) {
    const struct sensitivity_parameter *first = &picture->study->parameters[0];
    double step = svg_step(picture->most - picture->least, 6);
    for (int i = (int)ceil(picture->least / step); i * step <= picture->most * 1.0001; i++) {
        char label[32];
        double y = y_of(picture, i * step);
        snprintf(label, sizeof label, "%g %%", round(1000 * i * step) / 10);
        fprintf(picture->out, "<path d=\"M%d %.1f h%d\" stroke=\"#ddd\"/>\n", LEFT, y, WIDTH);
        svg_text(picture->out, LEFT - 6, y + 4, SVG_END, label);
    }
    for (uint32_t i = 0; i < first->count; i++)
        svg_text(picture->out, x_of(picture, i), TOP + HEIGHT + 18, SVG_MIDDLE, first->values[i]);
    svg_text(picture->out, LEFT + WIDTH / 2.0, TOP + HEIGHT + 38, SVG_MIDDLE, first->keys);
}

static void draw_line(const struct picture *picture, uint32_t second) {
    struct svg_colour colour = svg_colour(second);
    bool begun = false;
    fputs("<path d=\"", picture->out);
    for (uint32_t i = 0; i < picture->study->parameters[0].count; i++) {
        double speedup = sensitivity_speedup(picture->study, i, second);
        if (isnan(speedup))
            continue;
        fprintf(picture->out, "%s%.1f %.1f ", begun ? "L" : "M", x_of(picture, i),
                y_of(picture, speedup));
        begun = true;
    }
    fprintf(picture->out, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", colour.code);
    if (picture->study->parameter_count < 2)
        return;
    double y = TOP + (second + 1) * (double)LINE, x = LEFT + WIDTH + 20;
    fprintf(picture->out, "<path d=\"M%.0f %.0f h18\" stroke=\"%s\" stroke-width=\"2\"/>\n", x,
            y - 4, colour.code);
    svg_text(picture->out, x + 24, y, SVG_START, picture->study->parameters[1].values[second]);
}

void sensitivity_svg(const struct sensitivity_report *report, FILE *out) {
    struct picture picture = {.study = report->study, .out = out};
    char rest[96];
    svg_begin(out, LEFT + WIDTH + LEGEND, TOP + HEIGHT + BOTTOM);
    snprintf(rest, sizeof rest, " on %.60s: speedup", report->report.machine->name);
    svg_title(out, 8, LEFT + WIDTH + LEGEND, report->report.program, rest);
    find_limits(&picture);
    draw_axes(&picture);
    if (report->study->parameter_count > 1)
        svg_text(out, LEFT + WIDTH + 20, TOP, SVG_START, report->study->parameters[1].keys);
    for (uint32_t k = 0; k < sensitivity_seconds(report->study); k++)
        draw_line(&picture, k);
    svg_end(out);
}
