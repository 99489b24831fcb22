/* Instructions to simulate run to the right on a logarithmic axis; points of the front are red.
 * Errors over a quarter are drawn at the top. */
#include <inttypes.h>
#include <math.h>

#include "report/regions.h"
#include "report/svg.h"
#include "util/text.h"

enum { PANEL = 300, HEIGHT = 240, LEFT = 60, TOP = 50, GAP = 70, BOTTOM = 60 };
#define MOST_ERROR 0.25

struct panel {
    const struct sweep *sweep;
    enum sweep_kind kind;
    bool maximum;       /* error, in place of the mean */
    double x, y;        /* upper left corner */
    double least, most; /* of the axis, log10 of instructions */
    double top_error;
    FILE *out;
};

static double error_of(const struct panel *panel, const struct sweep_point *point) {
    return panel->maximum ? point->max_error : point->mean_error;
}

static double x_of(const struct panel *panel, double instructions) {
    return panel->x + PANEL * (log10(instructions) - panel->least) / (panel->most - panel->least);
}

static double y_of(const struct panel *panel, double error) {
    return panel->y + HEIGHT * (1 - fmin(error / panel->top_error, 1));
}

static void find_limits(struct panel *panel) {
    panel->least = INFINITY;
    panel->most = -INFINITY;
    for (size_t i = 0; i < panel->sweep->point_count; i++) {
        const struct sweep_point *point = &panel->sweep->points[i];
        panel->least = fmin(panel->least, log10((double)point->instructions));
        panel->most = fmax(panel->most, log10((double)point->instructions));
        panel->top_error = fmax(panel->top_error, fmin(error_of(panel, point), MOST_ERROR));
    }
    panel->least = floor(panel->least);
    panel->most = fmax(ceil(panel->most), panel->least + 1);
    panel->top_error = fmax(panel->top_error, 0.01);
}

static void draw_axes(const struct panel *panel) {
    FILE *out = panel->out;
    fprintf(out, "<path d=\"M%.1f %.1f v%d h%d\" fill=\"none\" stroke=\"#222\"/>\n", panel->x,
            panel->y, HEIGHT, PANEL);
    for (int power = (int)panel->least; power <= (int)panel->most; power++) {
        double x = x_of(panel, pow(10, power));
        fprintf(out, "<path d=\"M%.1f %.1f v4\" stroke=\"#222\"/>\n", x, panel->y + HEIGHT);
        svg_text(out, x, panel->y + HEIGHT + 16, SVG_MIDDLE, text_quantity(pow(10, power)).s);
    }
    double step = svg_step(panel->top_error, 5);
    for (int i = 0; i * step <= panel->top_error * 1.0001; i++) {
        char label[32];
        double y = y_of(panel, i * step);
        snprintf(label, sizeof label, "%g %%", 100 * i * step);
        fprintf(out, "<path d=\"M%.1f %.1f h-4\" stroke=\"#222\"/>\n", panel->x, y);
        svg_text(out, panel->x - 7, y + 4, SVG_END, label);
    }
    svg_text(out, panel->x + PANEL / 2.0, panel->y + HEIGHT + 32, SVG_MIDDLE,
             "instructions to simulate");
}

static void draw_points(const struct panel *panel, bool front) {
    for (size_t i = 0; i < panel->sweep->point_count; i++) {
        const struct sweep_point *point = &panel->sweep->points[i];
        bool on_front = panel->maximum ? point->max_front : point->mean_front;
        if (point->kind != panel->kind || on_front != front)
            continue;
        fprintf(panel->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" fill=\"%s\"><title>%" PRIu32,
                x_of(panel, (double)point->instructions), y_of(panel, error_of(panel, point)),
                front ? "3" : "2", front ? "#c22" : "#99a", point->max_clusters);
        if (point->kind != SWEEP_CLUSTERS)
            fprintf(panel->out, ", %g", point->value);
        fprintf(panel->out, ": %.2f %%</title></circle>\n", 100 * error_of(panel, point));
    }
}

static void draw_panel(struct panel *panel) {
    static const char *const TITLES[SWEEP_KINDS] = {"most clusters", "most clusters, dimensions",
                                                    "most clusters, threshold",
                                                    "most clusters, part profiled"};
    char title[96];
    snprintf(title, sizeof title, "%s: %s error", TITLES[panel->kind],
             panel->maximum ? "maximum" : "mean");
    find_limits(panel);
    draw_axes(panel);
    draw_points(panel, false);
    draw_points(panel, true);
    svg_text(panel->out, panel->x, panel->y - 12, SVG_START, title);
}

static void draw_legend(double y, FILE *out) {
    fprintf(out, "<ellipse cx=\"%d\" cy=\"%.1f\" rx=\"3\" ry=\"3\" fill=\"#c22\"/>\n", LEFT, y - 4);
    svg_text(out, LEFT + 10, y, SVG_START,
             "a setting than which no other has less error for as few instructions");
    fprintf(out, "<ellipse cx=\"%d\" cy=\"%.1f\" rx=\"2\" ry=\"2\" fill=\"#99a\"/>\n",
            LEFT + PANEL + GAP + 130, y - 4);
    svg_text(out, LEFT + PANEL + GAP + 140, y, SVG_START, "the others");
}

void sweep_svg(const struct sweep *sweep, size_t input_count, FILE *out) {
    int rows = input_count > 1 ? 2 : 1;
    svg_begin(out, LEFT + SWEEP_KINDS * (PANEL + GAP), TOP + rows * (HEIGHT + BOTTOM + 30));
    for (int row = 0; row < rows; row++)
        for (int kind = 0; kind < SWEEP_KINDS; kind++) {
            struct panel panel = {.sweep = sweep,
                                  .kind = (enum sweep_kind)kind,
                                  .maximum = row == 1,
                                  .x = LEFT + kind * (PANEL + GAP),
                                  .y = TOP + row * (HEIGHT + BOTTOM + 30),
                                  .out = out};
            draw_panel(&panel);
        }
    draw_legend(TOP + rows * (HEIGHT + BOTTOM + 30) - 20, out);
    svg_end(out);
}
