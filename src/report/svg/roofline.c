/* Both axes are logarithmic: roofs of memory rise to the right, those of computing are level. A
 * loop is a disc with an area by its cycles. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "report/roofline.h"
#include "report/svg.h"
#include "util/text.h"

enum { LEFT = 80, TOP = 46, WIDTH = 560, HEIGHT = 400, BOTTOM = 56, LEGEND = 380, LINE = 17 };
enum { NAME_BYTES = 256, LARGEST = 16, SMALLEST = 3 };

struct picture {
    const struct roofline *roofline;
    FILE *out;
    int left, right, low, high; /* log10 of operations for a byte, and a second */
};

static double x_of(const struct picture *picture, double intensity) {
    return LEFT + WIDTH * (log10(intensity) - picture->left) / (picture->right - picture->left);
}

static double y_of(const struct picture *picture, double rate) {
    return TOP + HEIGHT * (1 - (log10(rate) - picture->low) / (picture->high - picture->low));
}

static void widen(int *least, int *most, double value) {
    const int below = (int)floor(log10(value)), above = (int)ceil(log10(value));
    *least = below < *least ? below : *least;
    *most = above > *most ? above : *most;
}

static void find_limits(struct picture *picture) {
    const struct roofline *roofline = picture->roofline;
    const double highest = roofline->computing[0].rate;
    picture->left = -2;
    picture->right = 1;
    picture->low = (int)floor(log10(highest)) - 2;
    picture->high = (int)ceil(log10(highest * 1.5));
    for (uint32_t i = 0; i < roofline->count; i++) {
        widen(&picture->left, &picture->right, roofline->points[i].intensity);
        widen(&picture->low, &picture->high, roofline->points[i].rate);
    }
}

static void draw_axes(const struct picture *picture) {
    FILE *out = picture->out;
    for (int power = picture->left; power <= picture->right; power++) {
        const double x = x_of(picture, pow(10, power));
        char label[32];
        snprintf(label, sizeof label, "%g", pow(10, power));
        fprintf(out, "<path d=\"M%.1f %d v%d\" stroke=\"#eee\"/>\n", x, TOP, HEIGHT);
        svg_text(out, x, TOP + HEIGHT + 16, SVG_MIDDLE, label);
    }
    for (int power = picture->low; power <= picture->high; power++) {
        const double y = y_of(picture, pow(10, power));
        fprintf(out, "<path d=\"M%d %.1f h%d\" stroke=\"#eee\"/>\n", LEFT, y, WIDTH);
        svg_text(out, LEFT - 7, y + 4, SVG_END, text_quantity(pow(10, power)).s);
    }
    fprintf(out, "<path d=\"M%d %d v%d h%d\" fill=\"none\" stroke=\"#222\"/>\n", LEFT, TOP, HEIGHT,
            WIDTH);
    svg_text(out, LEFT + WIDTH / 2.0, TOP + HEIGHT + 34, SVG_MIDDLE,
             picture->roofline->fp ? "floating-point operations for a byte loaded or stored"
                                   : "integer operations for a byte loaded or stored");
    svg_text(out, LEFT - 60, TOP - 12, SVG_START, "operations a second");
}

/* A line from the left edge, or from below it, up to the highest roof of computing. */
static void draw_memory(const struct picture *picture, const struct roof *roof) {
    const double top = picture->roofline->computing[0].rate;
    double from = pow(10, picture->left), to = top / roof->rate;
    const double floor_ = pow(10, picture->low);
    if (from * roof->rate < floor_)
        from = floor_ / roof->rate;
    if (to > pow(10, picture->right))
        to = pow(10, picture->right);
    if (to <= from)
        return;
    fprintf(picture->out, "<path d=\"M%.1f %.1f L%.1f %.1f\" stroke=\"#267\"/>\n",
            x_of(picture, from), y_of(picture, from * roof->rate), x_of(picture, to),
            y_of(picture, to * roof->rate));
    const double x = x_of(picture, from), y = y_of(picture, from * roof->rate);
    const double angle = atan2(y_of(picture, to * roof->rate) - y, x_of(picture, to) - x);
    char label[96];
    snprintf(label, sizeof label, "%s: %sB/s", roof->name, text_quantity(roof->rate).s);
    fprintf(picture->out, "<g fill=\"#267\" transform=\"translate(%.1f %.1f) rotate(%.1f)\">", x, y,
            angle * 180 / M_PI);
    svg_text(picture->out, 8, -5, SVG_START, label);
    fputs("</g>\n", picture->out);
}

static void draw_computing(const struct picture *picture, const struct roof *roof) {
    const double from = x_of(picture, roof->rate / picture->roofline->memory[0].rate);
    const double x = from < LEFT ? LEFT : from, y = y_of(picture, roof->rate);
    char label[96];
    fprintf(picture->out, "<path d=\"M%.1f %.1f H%d\" stroke=\"#a43\"/>\n", x, y, LEFT + WIDTH);
    snprintf(label, sizeof label, "%s: %sop/s", roof->name, text_quantity(roof->rate).s);
    fputs("<g fill=\"#a43\">", picture->out);
    svg_text(picture->out, LEFT + WIDTH - 4, y - 5, SVG_END, label);
    fputs("</g>\n", picture->out);
}

static void draw_loops(const struct picture *picture) {
    const struct roofline *roofline = picture->roofline;
    FILE *out = picture->out;
    const double most = roofline->count ? roofline->points[0].cycles : 1;
    for (uint32_t i = 0; i < roofline->count; i++) {
        const struct roofline_loop *loop = &roofline->points[i];
        const double radius = fmax(SMALLEST, LARGEST * sqrt(loop->cycles / most));
        char name[NAME_BYTES];
        roofline_name(roofline, i, name, sizeof name);
        fprintf(out,
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\" fill-opacity=\"0.7\" "
                "stroke=\"#222\"><title>",
                x_of(picture, loop->intensity), y_of(picture, loop->rate), radius,
                svg_colour(i).code);
        svg_escape(out, name);
        fputs("</title></circle>\n", out);
        fprintf(out, "<circle cx=\"%d\" cy=\"%d\" r=\"5\" fill=\"%s\" stroke=\"#222\"/>\n",
                LEFT + WIDTH + 26, TOP + 6 + (int)i * LINE, svg_colour(i).code);
        svg_text(out, LEFT + WIDTH + 38, TOP + 10 + (int)i * LINE, SVG_START, name);
    }
}

void roofline_svg(const struct roofline *roofline, const char *program, FILE *out) {
    struct picture picture = {.roofline = roofline, .out = out};
    svg_begin(out, LEFT + WIDTH + LEGEND, TOP + HEIGHT + BOTTOM);
    svg_title(out, LEFT - 60, LEFT + WIDTH + LEGEND, program, ": loops below the roofs");
    find_limits(&picture);
    draw_axes(&picture);
    for (uint32_t i = 0; i < roofline->memory_count; i++)
        draw_memory(&picture, &roofline->memory[i]);
    for (uint32_t i = 0; i < roofline->computing_count; i++)
        draw_computing(&picture, &roofline->computing[i]);
    draw_loops(&picture);
    svg_end(out);
}
