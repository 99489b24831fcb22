/* One chip: bars, a group for each core that differs, as in Chen 2009 Fig. 6.9(a). A search: a
 * field per chip, the darker the higher its IPC, which stands in it; the best is framed; beside it,
 * when checked, the same of the simulation. */
#include <math.h>

#include "report/svg.h"
#include "report/throughput_report.h"

enum { LEFT = 64, TOP = 52, BOTTOM = 52 };

static void draw_title(const struct throughput_report *report, double width, const char *what,
                       FILE *out) {
    char rest[160];
    snprintf(rest, sizeof rest, " on %.60s: %s", report->report.machine->name, what);
    svg_title(out, 8, width, report->report.program, rest);
}

/* ---- one chip ---- */

enum { HEIGHT = 280, BAR = 16, GAP = 28, LEGEND = 130, LINE = 18 };

static const char *bar_name(uint32_t bar) {
    return bar < THROUGHPUT_MODELS ? throughput_model_names[bar] : "simulated";
}

static double bar_value(const struct throughput_report *report, const struct throughput_row *row,
                        uint32_t bar) {
    return bar < THROUGHPUT_MODELS ? report->result->by_core[row->first].ipc[bar] : row->simulated;
}

static void draw_bars(const struct throughput_report *report, const struct throughput_rows *rows,
                      uint32_t bars, double most, FILE *out) {
    for (uint32_t r = 0; r < rows->count; r++) {
        const struct throughput_row *row = &rows->rows[r];
        const double left = LEFT + GAP / 2.0 + r * (double)(bars * BAR + GAP);
        char name[64];
        for (uint32_t bar = 0; bar < bars; bar++) {
            const double value = bar_value(report, row, bar);
            const double height = isnan(value) ? 0 : HEIGHT * value / most;
            fprintf(out,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"%s\">"
                    "<title>%s %.3f</title></rect>\n",
                    left + bar * BAR, TOP + HEIGHT - height, BAR - 2, height, svg_colour(bar).code,
                    bar_name(bar), value);
        }
        snprintf(name, sizeof name, row->count > 1 ? "core %u, %u alike" : "core %u", row->first,
                 row->count);
        svg_text(out, left + bars * BAR / 2.0, TOP + HEIGHT + 18, SVG_MIDDLE, name);
    }
}

static void draw_axis(double most, double width, FILE *out) {
    const double step = svg_step(most, 6);
    for (int i = 0; i * step <= most * 1.0001; i++) {
        char label[32];
        const double y = TOP + HEIGHT * (1 - i * step / most);
        snprintf(label, sizeof label, "%g", i * step);
        fprintf(out, "<path d=\"M%d %.1f h%.1f\" stroke=\"#ddd\"/>\n", LEFT, y, width);
        svg_text(out, LEFT - 6, y + 4, SVG_END, label);
    }
}

static void draw_chip(const struct throughput_report *report, FILE *out) {
    struct throughput_rows rows;
    const uint32_t bars = THROUGHPUT_MODELS + (report->simulated != NULL);
    double most = 1e-6;
    if (throughput_rows(report, &rows)) {
        const double width = rows.count * (double)(bars * BAR + GAP);
        for (uint32_t r = 0; r < rows.count; r++)
            for (uint32_t bar = 0; bar < bars; bar++)
                most = fmax(most, bar_value(report, &rows.rows[r], bar));
        const double whole = fmax(LEFT + width + LEGEND, 640);
        svg_begin(out, whole, TOP + HEIGHT + BOTTOM);
        draw_title(report, whole, "instructions per cycle of a core", out);
        draw_axis(most, width, out);
        draw_bars(report, &rows, bars, most, out);
        for (uint32_t bar = 0; bar < bars; bar++) {
            const double x = LEFT + width + 16, y = TOP + (bar + 1) * (double)LINE;
            fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" fill=\"%s\"/>\n",
                    x, y - 10, svg_colour(bar).code);
            svg_text(out, x + 18, y, SVG_START, bar_name(bar));
        }
        svg_end(out);
    }
    throughput_rows_free(&rows);
}

/* ---- a search ---- */

enum { FIELD_WIDTH = 58, FIELD_HEIGHT = 30, BETWEEN = 80 };

static double ipc_of(const struct throughput_point *point, bool simulated) {
    return simulated ? point->simulated : point->ipc[THROUGHPUT_BEST];
}

/* From white to a dark blue. */
static void draw_field(const struct throughput_report *report, uint32_t number, bool simulated,
                       double left, double most, FILE *out) {
    const struct throughput_space *space = &report->search->space;
    const struct throughput_point *point = &report->search->points[number];
    const double ipc = ipc_of(point, simulated), part = isnan(ipc) ? 0 : ipc / most;
    const double x = left + (point->threads - space->threads.first) * (double)FIELD_WIDTH;
    const double y = TOP + 16 + (point->cores - space->cores.first) * (double)FIELD_HEIGHT;
    const bool best = point == throughput_best(report->search, simulated);
    char label[32] = "-";
    fprintf(out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"rgb(%.0f,%.0f,%.0f)\" "
            "stroke=\"%s\" stroke-width=\"%d\"/>\n",
            x + 1, y + 1, FIELD_WIDTH - 2, FIELD_HEIGHT - 2, 247 - 239 * part, 251 - 183 * part,
            255 - 107 * part, best ? "#d7301f" : "none", best ? 3 : 0);
    if (!isnan(ipc))
        snprintf(label, sizeof label, "%.3f", ipc);
    fprintf(out, "<g fill=\"%s\">", part > 0.5 ? "#fff" : "#000");
    svg_text(out, x + FIELD_WIDTH / 2.0, y + FIELD_HEIGHT / 2.0 + 4, SVG_MIDDLE, label);
    fputs("</g>\n", out);
}

static void draw_map(const struct throughput_report *report, bool simulated, double left,
                     double most, FILE *out) {
    const struct throughput_space *space = &report->search->space;
    const uint32_t rows = space->cores.last - space->cores.first + 1;
    const uint32_t columns = space->threads.last - space->threads.first + 1;
    const double bottom = TOP + 16 + rows * (double)FIELD_HEIGHT;
    char label[32];
    svg_text(out, left, TOP + 6, SVG_START, simulated ? "simulated" : "predicted (mean value)");
    for (uint32_t i = 0; i < report->search->count; i++)
        draw_field(report, i, simulated, left, most, out);
    for (uint32_t row = 0; row < rows; row++) {
        snprintf(label, sizeof label, "%u", space->cores.first + row);
        svg_text(out, left - 6, TOP + 16 + (row + 0.5) * FIELD_HEIGHT + 4, SVG_END, label);
    }
    for (uint32_t column = 0; column < columns; column++) {
        snprintf(label, sizeof label, "%u", space->threads.first + column);
        svg_text(out, left + (column + 0.5) * FIELD_WIDTH, bottom + 16, SVG_MIDDLE, label);
    }
    svg_text(out, left + columns * FIELD_WIDTH / 2.0, bottom + 34, SVG_MIDDLE, "threads a core");
    svg_text(out, left - 24, TOP + 6, SVG_END, "cores");
}

static void draw_search(const struct throughput_report *report, FILE *out) {
    const struct throughput_space *space = &report->search->space;
    const uint32_t rows = space->cores.last - space->cores.first + 1;
    const uint32_t columns = space->threads.last - space->threads.first + 1;
    const double map = columns * (double)FIELD_WIDTH;
    double most = 1e-6;
    for (uint32_t i = 0; i < report->search->count; i++) {
        most = fmax(most, ipc_of(&report->search->points[i], false));
        most = fmax(most, ipc_of(&report->search->points[i], true));
    }
    const double whole = fmax(LEFT + (report->checked ? 2 * map + BETWEEN : map) + 20, 640);
    svg_begin(out, whole, TOP + 16 + rows * FIELD_HEIGHT + BOTTOM);
    draw_title(report, whole, "instructions per cycle of the chip", out);
    draw_map(report, false, LEFT, most, out);
    if (report->checked)
        draw_map(report, true, LEFT + map + BETWEEN, most, out);
    svg_end(out);
}

void throughput_svg(const struct throughput_report *report, FILE *out) {
    if (report->search)
        draw_search(report, out);
    else
        draw_chip(report, out);
}
