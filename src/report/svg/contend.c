/* Misses of the shared cache per 1000 instructions: dark alone, light extra; below it what was
 * simulated. */
#include <math.h>

#include "report/contend_report.h"
#include "report/svg.h"

enum { LEFT = 150, TOP = 54, AREA = 460, BAR = 16, GAP = 14, RIGHT = 130, BOTTOM = 44 };

struct picture {
    const struct contend_report *report;
    FILE *out;
    double most;
};

static double x_of(const struct picture *picture, double misses) {
    return LEFT + AREA * 1000 * fmax(misses, 0) / picture->most;
}

static void draw_bar(const struct picture *picture, const struct contend_program *program,
                     bool simulated, double y) {
    const double alone = x_of(picture, program->alone.shared);
    const double beside = fmax(x_of(picture, program->beside.shared), alone);
    const char *dark = simulated ? "#7f7f7f" : "#1f77b4",
               *light = simulated ? "#c7c7c7" : "#aec7e8";
    char label[64];
    fprintf(picture->out, "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n",
            LEFT, y, alone - LEFT, BAR, dark);
    fprintf(picture->out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", alone, y,
            beside - alone, BAR, light);
    snprintf(label, sizeof label, "+%.3f%s",
             1000 * fmax(program->beside.shared - program->alone.shared, 0),
             simulated ? " simulated" : "");
    svg_text(picture->out, beside + 4, y + BAR - 4, SVG_START, label);
}

static void draw_axis(const struct picture *picture, double bottom) {
    const double step = svg_step(picture->most, 6);
    for (int i = 0; i * step <= picture->most * 1.0001; i++) {
        char label[32];
        const double x = x_of(picture, i * step / 1000);
        snprintf(label, sizeof label, "%g", i * step);
        fprintf(picture->out, "<path d=\"M%.1f %d V%.1f\" stroke=\"#ddd\"/>\n", x, TOP, bottom);
        svg_text(picture->out, x, bottom + 16, SVG_MIDDLE, label);
    }
    svg_text(picture->out, LEFT + AREA / 2.0, bottom + 34, SVG_MIDDLE,
             "misses per 1000 instructions");
}

void contend_svg(const struct contend_report *report, FILE *out) {
    struct picture picture = {.report = report, .out = out, .most = 1e-6};
    const double row = GAP + BAR * (report->check ? 2 : 1);
    const double bottom = TOP + row * report->program_count + GAP;
    char rest[160];
    for (uint32_t i = 0; i < report->program_count; i++) {
        picture.most = fmax(picture.most, 1000 * report->programs[i].beside.shared);
        if (report->check)
            picture.most = fmax(picture.most, 1000 * report->check->programs[i].beside.shared);
    }
    svg_begin(out, LEFT + AREA + RIGHT, bottom + BOTTOM);
    snprintf(rest, sizeof rest, " on %.60s: misses of the %s, alone (dark) and extra",
             report->report.machine->name, contend_cache_name(report));
    svg_title(out, 8, LEFT + AREA + RIGHT, report->report.program, rest);
    draw_axis(&picture, bottom);
    for (uint32_t i = 0; i < report->program_count; i++) {
        const double y = TOP + GAP + row * i;
        char name[96];
        snprintf(name, sizeof name, report->programs[i].copies > 1 ? "%.40s*%u" : "%.40s",
                 report->labels[i], report->programs[i].copies);
        svg_text(out, LEFT - 8, y + BAR - 4, SVG_END, name);
        draw_bar(&picture, &report->programs[i], false, y);
        if (report->check)
            draw_bar(&picture, &report->check->programs[i], true, y + BAR);
    }
    svg_end(out);
}
