/* Boxes lie above one another, the widest at the bottom, each in the middle; a box has the area of
 * the cycles that its thread ran. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "report/svg.h"
#include "report/threads_report.h"
#include "util/order.h"
#include "util/text.h"

enum { LEFT = 84, TOP = 44, WIDTH = 420, HEIGHT = 400, LEGEND = 330, BOTTOM = 58, LINE = 16 };
enum { NAMED = 24 };

struct bottle {
    uint32_t thread;
    double height, parallelism;
};
ORDER(by_parallelism, struct bottle,
      descending(a->parallelism, b->parallelism) ?: descending(a->height, b->height)
                                                 ?: ascending(a->thread, b->thread))
ORDER(by_height, struct bottle, descending(a->height, b->height) ?: ascending(a->thread, b->thread))

struct picture {
    FILE *out;
    struct bottle *bottles;
    uint32_t count;
    double active;        /* sum of the heights */
    double most;          /* parallelism at the edges */
    double cycles_per_ms; /* 0: the clock is not known */
};

static bool find_bottles(struct picture *picture, const struct together_result *together) {
    picture->bottles = calloc(together->thread_count + 1, sizeof *picture->bottles);
    picture->most = 1;
    for (uint32_t i = 0; picture->bottles && i < together->thread_count; i++) {
        const struct course_thread *course = &together->courses[i];
        if (!(course->height > 0))
            continue;
        const double parallelism = (double)course->active / course->height;
        picture->bottles[picture->count++] = (struct bottle){i, course->height, parallelism};
        picture->active += course->height;
        picture->most = fmax(picture->most, parallelism);
    }
    return picture->bottles;
}

static double y_of(const struct picture *picture, double cycles) {
    return TOP + HEIGHT * (1 - (picture->active > 0 ? cycles / picture->active : 0));
}

static double width_of(const struct picture *picture, double parallelism) {
    return WIDTH * parallelism / picture->most;
}

static void draw_axes(const struct picture *picture) {
    const double unit = picture->cycles_per_ms > 0 ? picture->cycles_per_ms : 1;
    double step = svg_step(picture->active / unit, 6);
    for (int i = 0; i * step * unit <= picture->active * 1.0001 && picture->active > 0; i++) {
        char label[32];
        const double y = y_of(picture, i * step * unit);
        snprintf(label, sizeof label, picture->cycles_per_ms > 0 ? "%g ms" : "%g", i * step);
        fprintf(picture->out, "<path d=\"M%d %.1f h%d\" stroke=\"#ddd\"/>\n", LEFT, y, WIDTH);
        svg_text(picture->out, LEFT - 6, y + 4, SVG_END, label);
    }
    step = svg_step(picture->most / 2, 4);
    for (int i = 0; i * step <= picture->most / 2 * 1.0001; i++) {
        char label[32];
        const double x = width_of(picture, i * step);
        snprintf(label, sizeof label, "%g", i * step);
        svg_text(picture->out, LEFT + WIDTH / 2.0 + x, TOP + HEIGHT + 18, SVG_MIDDLE, label);
        if (i)
            svg_text(picture->out, LEFT + WIDTH / 2.0 - x, TOP + HEIGHT + 18, SVG_MIDDLE, label);
    }
    svg_text(picture->out, LEFT + WIDTH / 2.0, TOP + HEIGHT + 40, SVG_MIDDLE,
             "threads that ran at once, half to each side");
}

static void draw_boxes(const struct picture *picture) {
    double below = 0;
    for (uint32_t i = 0; i < picture->count; i++) {
        const struct bottle *bottle = &picture->bottles[i];
        const double width = width_of(picture, bottle->parallelism);
        const double top = y_of(picture, below + bottle->height);
        fprintf(picture->out,
                "<rect x=\"%.1f\" y=\"%.2f\" width=\"%.1f\" height=\"%.2f\" fill=\"%s\" "
                "stroke=\"#fff\" stroke-width=\"0.3\"><title>thread %" PRIu32 "</title></rect>\n",
                LEFT + (WIDTH - width) / 2, top, width, y_of(picture, below) - top,
                svg_colour(bottle->thread).code, bottle->thread);
        below += bottle->height;
    }
}

/* The highest boxes by name. */
static void draw_names(struct picture *picture) {
    qsort(picture->bottles, picture->count, sizeof *picture->bottles, by_height);
    for (uint32_t i = 0; i < picture->count && i < NAMED; i++) {
        const struct bottle *bottle = &picture->bottles[i];
        const double x = LEFT + WIDTH + 20, y = TOP + (i + 1) * (double)LINE;
        char text[128];
        fprintf(picture->out,
                "<rect x=\"%.0f\" y=\"%.1f\" width=\"12\" height=\"12\" fill=\"%s\"/>\n", x, y - 10,
                svg_colour(bottle->thread).code);
        snprintf(text, sizeof text, "thread %" PRIu32 ": %s %% of the time, %.2f at once",
                 bottle->thread, text_percent(bottle->height, picture->active).s,
                 bottle->parallelism);
        svg_text(picture->out, x + 18, y, SVG_START, text);
    }
}

void bottles_svg(const struct threads_report *threads, const char *program, FILE *out) {
    struct picture picture = {.out = out, .cycles_per_ms = threads->ghz * 1e6};
    svg_begin(out, LEFT + WIDTH + LEGEND, TOP + HEIGHT + BOTTOM);
    svg_title(out, 8, LEFT + WIDTH + LEGEND, program, ": threads' shares of the run time");
    if (find_bottles(&picture, threads->together) && picture.count) {
        qsort(picture.bottles, picture.count, sizeof *picture.bottles, by_parallelism);
        draw_axes(&picture);
        draw_boxes(&picture);
        draw_names(&picture);
    }
    free(picture.bottles);
    svg_end(out);
}
