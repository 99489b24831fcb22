/* Hues follow each other by the golden angle, which comes near a hue again after 8, 13, 21 or 34 of
 * them (Fibonacci's numbers): five lightnesses in turn keep those apart, and two saturations. */
#include "report/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"

void svg_begin(FILE *out, double width, double height) {
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"11\" "
            "fill=\"#222\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            width, height, width, height);
}

void svg_end(FILE *out) {
    fputs("</svg>\n", out);
}

void svg_escape(FILE *out, const char *text) {
    size_t room = 4 * strlen(text) + 1;
    char *clean = malloc(room);
    if (!clean)
        return;
    for (const char *c = text_clean(clean, room, text); *c; c++)
        switch (*c) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            putc(*c, out);
        }
    free(clean);
}

void svg_text(FILE *out, double x, double y, enum svg_anchor anchor, const char *text) {
    static const char *const anchors[] = {"start", "middle", "end"};
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchors[anchor]);
    svg_escape(out, text);
    fputs("</text>\n", out);
}

enum { TITLE_SIZE = 13, TITLE_LETTER = 8 /* pixels, the mean of a wide sans-serif */ };

void svg_title(FILE *out, double x, double width, const char *name, const char *rest) {
    char title[512];
    double letters = fmin((width - x) / TITLE_LETTER, sizeof title - 1) - (double)strlen(rest);
    size_t length = strlen(name), room = (size_t)fmax(letters, 8);
    if (length <= room)
        snprintf(title, sizeof title, "%s%s", name, rest);
    else
        snprintf(title, sizeof title, "%.*s...%s", (int)room - 3, name, rest);
    fprintf(out, "<g font-size=\"%d\">", TITLE_SIZE);
    svg_text(out, x, 20, SVG_START, title);
    fputs("</g>\n", out);
}

/* One channel of HSL (CSS Color 4 §7.1). */
static unsigned channel(double hue, double saturation, double lightness, double of) {
    double k = fmod(of + hue / 30, 12);
    double amplitude = saturation * fmin(lightness, 1 - lightness);
    double value = lightness - amplitude * fmax(-1, fmin(fmin(k - 3, 9 - k), 1));
    return (unsigned)lround(255 * value);
}

struct svg_colour svg_colour(uint32_t number) {
    static const double lightness[] = {0.74, 0.62, 0.50, 0.26, 0.38}, saturation[] = {0.50, 0.95};
    double hue = fmod(210 + number * 137.508, 360);
    double light = lightness[number % 5], pure = saturation[number % 2];
    struct svg_colour colour;
    snprintf(colour.code, sizeof colour.code, "#%02x%02x%02x", channel(hue, pure, light, 0) & 255,
             channel(hue, pure, light, 8) & 255, channel(hue, pure, light, 4) & 255);
    return colour;
}

double svg_step(double most, int count) {
    if (!(most > 0))
        return 1;
    double rough = most / count, power = pow(10, floor(log10(rough)));
    double of = rough / power;
    return power * (of < 1.5 ? 1 : of < 3.5 ? 2 : of < 7.5 ? 5 : 10);
}
