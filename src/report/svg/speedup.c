/* One bar, a part above the other: at the bottom what ran. */
#include <inttypes.h>

#include "report/svg.h"
#include "report/threads_report.h"

enum { LEFT = 64, TOP = 44, WIDTH = 90, HEIGHT = 320, LEGEND = 560, BOTTOM = 32, LINE = 18 };

static double y_of(const struct speedup *speedup, double cores) {
    return TOP + HEIGHT * (1 - cores / (speedup->cores ? speedup->cores : 1));
}

static void draw_axis(const struct speedup *speedup, FILE *out) {
    const double step = svg_step(speedup->cores, 8);
    for (int i = 0; i * step <= speedup->cores * 1.0001; i++) {
        char label[32];
        const double y = y_of(speedup, i * step);
        snprintf(label, sizeof label, "%g", i * step);
        fprintf(out, "<path d=\"M%d %.1f h%d\" stroke=\"#ddd\"/>\n", LEFT, y, WIDTH + 20);
        svg_text(out, LEFT - 6, y + 4, SVG_END, label);
    }
}

static void draw_part(const struct speedup *speedup, enum speedup_part part, double below,
                      FILE *out) {
    const double top = y_of(speedup, below + speedup->parts[part]);
    fprintf(out, "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"%s\"><title>",
            LEFT + 10, top, WIDTH, y_of(speedup, below) - top, speedup_part_colour(part));
    svg_escape(out, speedup_part_description(part));
    fputs("</title></rect>\n", out);
}

static void draw_name(const struct speedup *speedup, enum speedup_part part, unsigned line,
                      FILE *out) {
    const double y = TOP + (line + 1) * (double)LINE, x = LEFT + WIDTH + 50;
    char text[160];
    fprintf(out, "<rect x=\"%.0f\" y=\"%.1f\" width=\"12\" height=\"12\" fill=\"%s\"/>\n", x,
            y - 10, speedup_part_colour(part));
    snprintf(text, sizeof text, "%.2f %s: %s", speedup->parts[part], speedup_part_name(part),
             speedup_part_description(part));
    svg_text(out, x + 18, y, SVG_START, text);
}

void speedup_svg(const struct threads_report *threads, const char *program, FILE *out) {
    const struct speedup *speedup = &threads->speedup;
    char rest[80];
    double below = 0;
    unsigned line = 0;
    svg_begin(out, LEFT + WIDTH + LEGEND, TOP + HEIGHT + BOTTOM);
    snprintf(rest, sizeof rest, ": what %" PRIu32 " core%s did", speedup->cores,
             speedup->cores == 1 ? "" : "s");
    svg_title(out, 8, LEFT + WIDTH + LEGEND, program, rest);
    draw_axis(speedup, out);
    for (unsigned part = 0; part < SPEEDUP_PARTS; part++) {
        draw_part(speedup, part, below, out);
        below += speedup->parts[part];
    }
    for (unsigned part = SPEEDUP_PARTS; part-- > 0;) /* as they lie in the bar */
        if (speedup->parts[part] > 0)
            draw_name(speedup, part, line++, out);
    svg_text(out, LEFT + 10 + WIDTH / 2.0, TOP + HEIGHT + 20, SVG_MIDDLE, "cores");
    svg_end(out);
}
