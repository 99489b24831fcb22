/* What pictures share: a head, text that is safe to put in, colours that differ. */
#pragma once

#include <stdint.h>
#include <stdio.h>

/* A white picture, in pixels; text is sans-serif of 11. */
void svg_begin(FILE *out, double width, double height);
void svg_end(FILE *out);

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

/* Characters with a meaning in XML are escaped, control characters and malformed ones replaced. */
void svg_escape(FILE *out, const char *text);
void svg_text(FILE *out, double x, double y, enum svg_anchor anchor, const char *text);

/* The line above a picture of this width: the name of what was run, cut where the whole would not
 * fit, and what the picture says of it. */
void svg_title(FILE *out, double x, double width, const char *name, const char *rest);

/* Colours for any number of things: neighbours differ most, and of the first thirty no two are
 * alike. */
struct svg_colour {
    char code[8]; /* "#rrggbb" */
};
struct svg_colour svg_colour(uint32_t number);

/* The distance between the marks of an axis from 0 to `most`: 1, 2 or 5 times a power of ten, so
 * that there are about `count`. */
double svg_step(double most, int count);
