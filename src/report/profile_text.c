/* The table of `top` for people. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/profile_report.h"

enum { WIDTH = 100, NAME_BYTES = 4096 };

struct style {
    const char *bold, *dim, *plain;
};

static struct style style_of(bool colour) {
    return colour ? (struct style){"\033[1m", "\033[2m", "\033[0m"} : (struct style){"", "", ""};
}

void profile_put_cell(const char *text, unsigned columns, enum text_align align, FILE *file) {
    char fitted[NAME_BYTES];
    fputs(text_fit(fitted, sizeof fitted, text, columns, align), file);
}

/* Cut at the front, at a whole character. */
void profile_put_path(const char *path, unsigned columns, FILE *file) {
    char clean[NAME_BYTES], cut[NAME_BYTES];
    const char *tail = text_clean(clean, sizeof clean, path);
    if (text_columns(tail) > columns) {
        while (*tail && text_columns(tail) > columns - 1)
            do
                tail++;
            while ((*tail & 0xc0) == 0x80);
        snprintf(cut, sizeof cut, "…%s", tail);
        tail = cut;
    }
    profile_put_cell(tail, columns, TEXT_LEFT, file);
}

bool profile_report_add_worth(struct profile_report *report) {
    const struct profile_set *set = report->set;
    size_t rows = profile_table_count(report->table);
    double scale = report->events[0]->scale, largest = 0, smallest = 0;
    if (rows) {
        largest = profile_table_row(report->table, 0)->values[0] / scale;
        smallest = profile_table_row(report->table, rows - 1)->values[0] / scale;
    }
    bool good = profile_set_worth(set, report->events[0], largest, smallest, &report->report) &&
                profile_table_note_images(report->table, 3, &report->report);
    if (report->event_count > PROFILE_EVENTS_SHOWN)
        good &= report_note(&report->report,
                            "%zu more events are in the JSON object (or choose "
                            "with --event)",
                            report->event_count - PROFILE_EVENTS_SHOWN);
    return good;
}

/* ---- columns ---- */

struct layout {
    size_t events;                         /* shown */
    unsigned values[PROFILE_EVENTS_SHOWN]; /* width of each event's values */
    unsigned name, detail, image;          /* widths; 0: none */
    const char *name_head, *detail_head, *image_head;
};

static unsigned value_width(const struct profile_report *report, size_t column) {
    unsigned head = text_columns(report->events[column]->name);
    uint64_t sum = (uint64_t)(profile_table_sum(report->table, column) + 0.5);
    unsigned figure = (unsigned)strlen(text_grouped(sum).s);
    unsigned width = head > 14 ? 14 : head;
    return width > figure ? width : figure;
}

static struct layout lay_out(const struct profile_report *report) {
    struct layout layout = {.events = report->event_count < PROFILE_EVENTS_SHOWN
                                          ? report->event_count
                                          : PROFILE_EVENTS_SHOWN};
    unsigned used = 8; /* cum% */
    for (size_t i = 0; i < layout.events; i++) {
        layout.values[i] = value_width(report, i);
        used += layout.values[i] + 9 + (i > 0);
    }
    unsigned room = WIDTH - used - 2;
    layout.name_head = profile_by_name(report->by);
    switch (report->by) {
    case PROFILE_BY_IMAGE:
        layout.name = room;
        break;
    case PROFILE_BY_LINE:
        layout.name = (room - 4) / 3;
        layout.detail = (room - 4) / 3;
        layout.detail_head = "procedure";
        layout.image = room - 4 - layout.name - layout.detail;
        layout.image_head = "image";
        break;
    case PROFILE_BY_PROCESS:
    case PROFILE_BY_EPOCH:
        layout.name = 16;
        layout.image = room - 2 - layout.name;
        layout.image_head = report->by == PROFILE_BY_EPOCH ? "of" : "executable";
        break;
    default:
        layout.name = (room - 2) / 2;
        layout.image = room - 2 - layout.name;
        layout.image_head = "image";
    }
    return layout;
}

static void print_heading(const struct profile_report *report, const struct layout *layout,
                          struct style style, FILE *file) {
    fprintf(file, "\n%s", style.bold);
    for (size_t i = 0; i < layout->events; i++) {
        fputs(i ? " " : "", file);
        profile_put_cell(report->events[i]->name, layout->values[i], TEXT_RIGHT, file);
        fputs("        %", file);
        fputs(i ? "" : "    cum%", file);
    }
    fputs("  ", file);
    bool last = !layout->image;
    profile_put_cell(layout->name_head, last ? (unsigned)strlen(layout->name_head) : layout->name,
                     TEXT_LEFT, file);
    if (layout->detail) {
        fputs("  ", file);
        profile_put_cell(layout->detail_head, layout->detail, TEXT_LEFT, file);
    }
    if (layout->image)
        fprintf(file, "  %s", layout->image_head);
    fprintf(file, "%s\n", style.plain);
}

static double percent(double part, double whole) {
    return whole > 0 ? 100 * part / whole : 0;
}

static void print_values(const struct profile_report *report, const struct layout *layout,
                         const double *values, double cumulated, FILE *file) {
    for (size_t i = 0; i < layout->events; i++) {
        double sum = profile_table_sum(report->table, i);
        fprintf(file, "%s%*s %7.2f%%", i ? " " : "", (int)layout->values[i],
                text_grouped((uint64_t)(values[i] + 0.5)).s, percent(values[i], sum));
        if (i == 0)
            fprintf(file, " %6.2f%%", percent(cumulated, sum));
    }
    fputs("  ", file);
}

static const struct store_session *epoch_of(const struct profile_set *set, int64_t id) {
    for (size_t i = 0; i < set->epoch_count; i++)
        if (set->epochs[i].id == id)
            return &set->epochs[i];
    return NULL;
}

/* The last column has no spaces behind it. */
static void print_last(const char *text, unsigned columns, bool is_path, FILE *file) {
    unsigned width = text_columns(text);
    if (width < columns)
        columns = width;
    if (is_path)
        profile_put_path(text, columns, file);
    else
        profile_put_cell(text, columns, TEXT_LEFT, file);
}

static void print_place(const struct profile_report *report, const struct layout *layout,
                        const struct profile_row *row, FILE *file) {
    char name[NAME_BYTES];
    profile_row_name(row, name, sizeof name);
    if (report->by == PROFILE_BY_IMAGE) {
        print_last(row->image, layout->name, true, file);
        return;
    }
    profile_put_cell(name, layout->name, TEXT_LEFT, file);
    fputs("  ", file);
    if (layout->detail) {
        profile_put_cell(row->procedure ? row->procedure : "", layout->detail, TEXT_LEFT, file);
        fputs("  ", file);
    }
    const struct store_session *epoch = row->epoch ? epoch_of(report->set, row->epoch) : NULL;
    print_last(epoch ? epoch->name : row->image, layout->image, !epoch, file);
}

/* What the rows that are not shown have. */
static void print_rest(const struct profile_report *report, const struct layout *layout,
                       const double *shown, struct style style, FILE *file) {
    double rest[PROFILE_EVENTS_SHOWN];
    double sum = profile_table_sum(report->table, 0);
    size_t rows = profile_table_count(report->table), total = profile_table_total(report->table);
    if (total == rows)
        return;
    for (size_t i = 0; i < layout->events; i++) {
        rest[i] = profile_table_sum(report->table, i) - shown[i];
        rest[i] = rest[i] > 0 ? rest[i] : 0;
    }
    fputs(style.dim, file);
    print_values(report, layout, rest, sum, file);
    if (total)
        fprintf(file, "%zu more (--top 0 shows all)%s\n", total - rows, style.plain);
    else
        fprintf(file, "all others (--top 0 shows them)%s\n", style.plain);
}

static void print_table(const struct profile_report *report, struct style style, FILE *file) {
    struct layout layout = lay_out(report);
    double shown[PROFILE_EVENTS_SHOWN] = {0};
    print_heading(report, &layout, style, file);
    for (size_t i = 0; i < profile_table_count(report->table); i++) {
        const struct profile_row *row = profile_table_row(report->table, i);
        for (size_t k = 0; k < layout.events; k++)
            shown[k] += row->values[k];
        print_values(report, &layout, row->values, shown[0], file);
        print_place(report, &layout, row, file);
        fputc('\n', file);
    }
    print_rest(report, &layout, shown, style, file);
}

/* ---- the whole ---- */

static void print_lost(const struct profile_set *set, double total, FILE *file) {
    if (set->simulated)
        return;
    fprintf(file, "in no known image: %s", text_grouped(set->unknown).s);
    if (total > 0)
        fprintf(file, " (%.2f %%)", percent((double)set->unknown, total));
    fprintf(file, "; dropped: %s\n", text_grouped(set->dropped).s);
}

void profile_report_text(const struct profile_report *report, bool colour, FILE *file) {
    struct style style = style_of(colour);
    double all = 0;
    profile_set_text(report->set, file);
    for (size_t i = 0; i < report->event_count; i++) {
        double sum = profile_table_sum(report->table, i);
        profile_event_text(report->events[i], sum, file);
        all += sum;
    }
    print_lost(report->set, report->filtered ? 0 : all, file);
    print_table(report, style, file);
    report_text_foot(&report->report, colour, file);
}
