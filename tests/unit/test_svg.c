/* What the pictures of --svg share: colours that can be told apart, titles that fit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/svg.h"

struct lab {
    double l, a, b;
};

static double linear(unsigned channel) {
    double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double root(double t) {
    return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116;
}

/* CIE 1976 L*a*b* of a code "#rrggbb", white of D65. */
static struct lab lab_of(const char *code) {
    unsigned long rgb = strtoul(code + 1, NULL, 16);
    double r = linear((unsigned)(rgb >> 16)), g = linear(rgb >> 8 & 255), b = linear(rgb & 255);
    double x = root((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047);
    double y = root(0.2126 * r + 0.7152 * g + 0.0722 * b);
    double z = root((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883);
    return (struct lab){116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

static double distance(struct lab x, struct lab y) {
    return sqrt((x.l - y.l) * (x.l - y.l) + (x.a - y.a) * (x.a - y.a) + (x.b - y.b) * (x.b - y.b));
}

/* About 2 is just noticeable side by side; 15 can be told apart between a legend and a bar. The
 * parts of a breakdown are up to 25, and its "Other" is #ddd. */
static void colours_differ(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 30; i++) {
        struct lab colour = lab_of(svg_colour(i).code);
        assert_true(distance(colour, lab_of("#dddddd")) > 15);
        for (uint32_t j = 0; j < i; j++)
            assert_true(distance(colour, lab_of(svg_colour(j).code)) > 15);
        if (i)
            assert_true(distance(colour, lab_of(svg_colour(i - 1).code)) > 40);
    }
}

static void title_fits(void **state) {
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    svg_title(out, 8, 400, "/a/very/long/path/of/a/program with many arguments", " on zen4: CPI");
    svg_title(out, 8, 400, "gzip", " on zen4: CPI");
    fclose(out);
    assert_non_null(strstr(text, ">/a/very/long/path/of/a/program wi... on zen4: CPI<"));
    assert_non_null(strstr(text, ">gzip on zen4: CPI<"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colours_differ),
        cmocka_unit_test(title_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
