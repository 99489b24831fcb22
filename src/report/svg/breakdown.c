/* Interaction-cost paper Fig. 1b: each bar is piled up of what costs, and of what is left in an
 * ideal machine, and reaches above 100 % by as much as serial interactions reach below the axis. */
#include <math.h>
#include <stdlib.h>

#include "report/breakdown_report.h"
#include "report/svg.h"

enum {
    HEIGHT = 420,
    LEFT = 64,
    TOP = 44,
    BOTTOM = 64,
    BAR = 46,
    GAP = 22,
    LEGEND = 250,
    LEGEND_LINE = 16
};

struct bar {
    const struct breakdown_program *program;
    const struct breakdown *breakdown;
    enum breakdown_way way;
};

struct picture {
    const struct breakdown_report *report;
    FILE *out;
    struct bar *bars;
    uint32_t bar_count, row_count;
    double most, least; /* of the axis, shares */
};

static void set_label(const struct picture *picture, uint32_t row, char *text, size_t size) {
    const struct breakdown *breakdown = picture->bars[0].breakdown;
    snprintf(text, size, "Other");
    if (row < picture->row_count)
        breakdown_set_name(breakdown, picture->report->rows[row], text, (uint32_t)size);
}

/* The row behind the last is Other. */
static double share_of(const struct picture *picture, const struct bar *bar, uint32_t row) {
    const struct breakdown_report *report = picture->report;
    const struct breakdown *breakdown = bar->breakdown;
    if (report->checked && row < picture->row_count)
        breakdown = breakdown_source(bar->program, report->rows[row]);
    double share = row < picture->row_count ? breakdown_share(breakdown, report->rows[row])
                   : report->checked        ? breakdown_known_rest(report, bar->program)
                                            : breakdown_rest(report, breakdown);
    return isnan(share) ? 0 : share;
}

static void find_limits(struct picture *picture) {
    picture->most = 1;
    for (uint32_t i = 0; i < picture->bar_count; i++) {
        double above = 0, below = 0;
        for (uint32_t row = 0; row <= picture->row_count; row++) {
            double share = share_of(picture, &picture->bars[i], row);
            above += fmax(share, 0);
            below += fmin(share, 0);
        }
        picture->most = fmax(picture->most, above);
        picture->least = fmin(picture->least, below);
    }
}

static double y_of(const struct picture *picture, double share) {
    return TOP + HEIGHT * (picture->most - share) / (picture->most - picture->least);
}

static void draw_piece(const struct picture *picture, double x, uint32_t row, double from,
                       double to) {
    char label[128];
    double top = y_of(picture, fmax(from, to)), height = y_of(picture, fmin(from, to)) - top;
    set_label(picture, row, label, sizeof label);
    fprintf(picture->out,
            "<rect x=\"%.1f\" y=\"%.2f\" width=\"%d\" height=\"%.2f\" fill=\"%s\" stroke=\"#fff\" "
            "stroke-width=\"0.5\"><title>",
            x, top, BAR, height, row < picture->row_count ? svg_colour(row).code : "#ddd");
    svg_escape(picture->out, label);
    fprintf(picture->out, " %.1f %%</title></rect>\n", 100 * (to - from));
}

static void draw_bar(const struct picture *picture, uint32_t number) {
    const struct bar *bar = &picture->bars[number];
    double x = LEFT + GAP + number * (double)(BAR + GAP), above = 0, below = 0;
    for (uint32_t row = 0; row <= picture->row_count; row++) {
        double share = share_of(picture, bar, row), *end = share > 0 ? &above : &below;
        if (share != 0)
            draw_piece(picture, x, row, *end, *end + share);
        *end += share;
    }
    double y = TOP + HEIGHT + 16;
    if (picture->report->program_count > 1)
        svg_text(picture->out, x + BAR / 2.0, y, SVG_MIDDLE, bar->program->label);
    svg_text(picture->out, x + BAR / 2.0, y + 14, SVG_MIDDLE, breakdown_way_name(bar->way));
}

static void draw_axis(const struct picture *picture, double width) {
    double step = svg_step(picture->most - picture->least, 8);
    for (int i = (int)ceil(picture->least / step); i * step <= picture->most * 1.0001; i++) {
        char label[32];
        double y = y_of(picture, i * step);
        snprintf(label, sizeof label, "%.0f %%", 100 * i * step);
        fprintf(picture->out, "<path d=\"M%d %.1f H%.0f\" stroke=\"#eee\"/>\n", LEFT, y, width);
        svg_text(picture->out, LEFT - 6, y + 4, SVG_END, label);
    }
}

/* 100 % is the execution time. */
static void draw_lines(const struct picture *picture, double width) {
    fprintf(picture->out,
            "<path d=\"M%d %.1f H%.0f\" stroke=\"#222\"/>\n<path d=\"M%d %.1f H%.0f\" "
            "stroke=\"#222\" stroke-dasharray=\"4 3\"/>\n",
            LEFT, y_of(picture, 0), width, LEFT, y_of(picture, 1), width);
}

static void draw_legend(const struct picture *picture, double x) {
    for (uint32_t row = 0; row <= picture->row_count; row++) {
        char label[128];
        double y = TOP + row * (double)LEGEND_LINE;
        set_label(picture, row, label, sizeof label);
        fprintf(picture->out,
                "<rect x=\"%.0f\" y=\"%.0f\" width=\"11\" height=\"11\" fill=\"%s\"/>\n", x, y,
                row < picture->row_count ? svg_colour(row).code : "#ddd");
        svg_text(picture->out, x + 17, y + 10, SVG_START, label);
    }
}

static void draw_title(const struct picture *picture, double width) {
    const struct breakdown_report *report = picture->report;
    bool one = report->program_count == 1;
    char rest[128];
    snprintf(rest, sizeof rest, " on %.60s, %% of execution time", report->report.machine->name);
    svg_title(picture->out, 8, width, one ? report->programs[0].name : "Breakdown", rest);
}

void breakdown_svg(const struct breakdown_report *report, FILE *out) {
    struct picture picture = {.report = report, .out = out};
    picture.row_count = breakdown_row_count(report);
    picture.bars = calloc((size_t)report->program_count * WAY_COUNT, sizeof *picture.bars);
    for (uint32_t i = 0; picture.bars && i < report->program_count; i++)
        for (int way = 0; way < WAY_COUNT; way++)
            if (report->programs[i].ways[way] && !(report->checked && way == WAY_MULTISIM))
                picture.bars[picture.bar_count++] = (struct bar){
                    &report->programs[i], report->programs[i].ways[way], (enum breakdown_way)way};
    double width = LEFT + GAP + picture.bar_count * (double)(BAR + GAP);
    double legend = TOP + (picture.row_count + 2) * (double)LEGEND_LINE;
    svg_begin(out, width + LEGEND, fmax(TOP + HEIGHT + BOTTOM, legend));
    if (picture.bar_count) {
        find_limits(&picture);
        draw_title(&picture, width + LEGEND);
        draw_axis(&picture, width);
        for (uint32_t i = 0; i < picture.bar_count; i++)
            draw_bar(&picture, i);
        draw_lines(&picture, width);
        draw_legend(&picture, width + GAP);
    }
    svg_end(out);
    free(picture.bars);
}
