/* Cost runs to the right, speed upwards, both from 0; configurations of the front are red, with a
 * line of steps: what the money buys. */
#include <math.h>

#include "report/design_report.h"
#include "report/svg.h"

enum { WIDTH = 520, HEIGHT = 320, LEFT = 60, TOP = 50, BOTTOM = 70, RIGHT = 40 };

struct picture {
    const struct design_report *report;
    double most_cost, most_speed;
    FILE *out;
};

static double x_of(const struct picture *picture, double cost) {
    return LEFT + WIDTH * cost / picture->most_cost;
}

static double y_of(const struct picture *picture, double speed) {
    return TOP + HEIGHT * (1 - speed / picture->most_speed);
}

static double cost_of(const struct picture *picture, size_t number) {
    return design_configuration(picture->report->design, number)->cost;
}

static bool is_drawn(const struct picture *picture, size_t number) {
    return picture->report->summary.means[number] > 0 && isfinite(cost_of(picture, number)) &&
           cost_of(picture, number) >= 0;
}

static void find_limits(struct picture *picture) {
    for (size_t i = 0; i < design_configurations(picture->report->design); i++)
        if (is_drawn(picture, i)) {
            picture->most_cost = fmax(picture->most_cost, cost_of(picture, i));
            picture->most_speed = fmax(picture->most_speed, picture->report->summary.means[i]);
        }
    picture->most_cost = picture->most_cost > 0 ? picture->most_cost * 1.05 : 1;
    picture->most_speed = picture->most_speed > 0 ? picture->most_speed * 1.05 : 1;
}

static void draw_axes(const struct picture *picture) {
    FILE *out = picture->out;
    const double costs = svg_step(picture->most_cost, 6), speeds = svg_step(picture->most_speed, 5);
    fprintf(out, "<path d=\"M%d %d v%d h%d\" fill=\"none\" stroke=\"#222\"/>\n", LEFT, TOP, HEIGHT,
            WIDTH);
    for (int i = 0; i * costs <= picture->most_cost; i++) {
        const double x = x_of(picture, i * costs);
        fprintf(out, "<path d=\"M%.1f %d v4\" stroke=\"#222\"/>\n", x, TOP + HEIGHT);
        svg_text(out, x, TOP + HEIGHT + 16, SVG_MIDDLE, text_quantity(i * costs).s);
    }
    for (int i = 0; i * speeds <= picture->most_speed; i++) {
        const double y = y_of(picture, i * speeds);
        fprintf(out, "<path d=\"M%d %.1f h-4\" stroke=\"#222\"/>\n", LEFT, y);
        svg_text(out, LEFT - 7, y + 4, SVG_END, text_quantity(i * speeds).s);
    }
    svg_text(out, LEFT + WIDTH / 2.0, TOP + HEIGHT + 34, SVG_MIDDLE, picture->report->design->cost);
    svg_text(out, LEFT, TOP - 8, SVG_START, "speed");
}

/* The next of the front behind a cost; SIZE_MAX: none. */
static size_t next_of_front(const struct picture *picture, double behind) {
    size_t next = SIZE_MAX;
    for (size_t i = 0; i < design_configurations(picture->report->design); i++)
        if (is_drawn(picture, i) && picture->report->summary.front[i] &&
            cost_of(picture, i) > behind &&
            (next == SIZE_MAX || cost_of(picture, i) < cost_of(picture, next)))
            next = i;
    return next;
}

static void draw_front(const struct picture *picture) {
    size_t number = next_of_front(picture, -1);
    if (number == SIZE_MAX)
        return;
    fprintf(picture->out, "<path d=\"M%.1f %.1f", x_of(picture, cost_of(picture, number)),
            y_of(picture, picture->report->summary.means[number]));
    while ((number = next_of_front(picture, cost_of(picture, number))) != SIZE_MAX)
        fprintf(picture->out, " H%.1f V%.1f", x_of(picture, cost_of(picture, number)),
                y_of(picture, picture->report->summary.means[number]));
    fputs("\" fill=\"none\" stroke=\"#c22\" stroke-opacity=\"0.5\"/>\n", picture->out);
}

static void draw_points(const struct picture *picture, bool front) {
    const struct design *design = picture->report->design;
    for (size_t i = 0; i < design_configurations(design); i++) {
        char name[256], rest[96];
        if (!is_drawn(picture, i) || picture->report->summary.front[i] != front)
            continue;
        design_point_name(design, design_configuration(design, i), name, sizeof name);
        snprintf(rest, sizeof rest, ": speed %.3f, cost %s", picture->report->summary.means[i],
                 text_quantity(cost_of(picture, i)).s);
        fprintf(picture->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" fill=\"%s\"><title>",
                x_of(picture, cost_of(picture, i)),
                y_of(picture, picture->report->summary.means[i]), front ? "4" : "3",
                front ? "#c22" : "#99a");
        svg_escape(picture->out, name);
        svg_escape(picture->out, rest);
        fputs("</title></circle>\n", picture->out);
    }
}

void design_report_svg(const struct design_report *report, FILE *file) {
    struct picture picture = {.report = report, .out = file};
    const struct design *design = report->design;
    const double width = LEFT + WIDTH + RIGHT;
    svg_begin(file, width, TOP + HEIGHT + BOTTOM);
    svg_title(file, LEFT, width - LEFT,
              design->program_count > 1 ? "several programs" : design->programs[0].name,
              ": speed against cost; red: the Pareto front");
    find_limits(&picture);
    draw_axes(&picture);
    draw_front(&picture);
    draw_points(&picture, false);
    draw_points(&picture, true);
    svg_end(file);
}
