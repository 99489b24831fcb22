/* Trees of calls for people. A frame with one child that is shown has it in the line below, at the
 * same indent: chains of callers do not run off the page. Where there are more, each has a branch.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/call_report.h"
#include "report/short_name.h"
#include "report/table.h"
#include "util/file_name.h"

enum { PREFIX_BYTES = 2048, NAME_BYTES = 4096 };

struct drawing {
    const struct call_report *report;
    const struct call_frames *frames;
    const char **names; /* of procedures, as they are shown */
    struct table *table;
    double all;                /* values that shares are of */
    double least;              /* of a frame that is shown */
    bool has_self;             /* a column */
    char prefix[PREFIX_BYTES]; /* of lines below the present one */
    size_t length;
};

static double share(const struct drawing *drawing, double value) {
    return drawing->all > 0 ? 100 * value / drawing->all : 0;
}

static void add_line(const struct drawing *drawing, const struct call_frame *frame,
                     const char *branch) {
    const struct call_procedure *procedure =
        &drawing->report->profile->procedures[frame->procedure];
    char text[PREFIX_BYTES + NAME_BYTES];
    snprintf(text, sizeof text, "%s%s%s", drawing->prefix, branch,
             drawing->names[frame->procedure]);
    table_figure(drawing->table, "%.1f %%", share(drawing, frame->total));
    if (drawing->has_self)
        table_figure(drawing->table, "%.1f %%", share(drawing, frame->self));
    table_cell(drawing->table, text);
    table_cell(drawing->table, file_base_name(procedure->image));
}

/* Those of a frame's children that are shown stand first. */
static uint32_t shown_children(const struct drawing *drawing, const struct call_frame *frame) {
    uint32_t shown = 0;
    while (shown < frame->count) {
        const uint32_t child = drawing->frames->order[frame->first + shown];
        if (drawing->frames->items[child].total < drawing->least)
            break;
        shown++;
    }
    return shown;
}

static void draw_children(struct drawing *drawing, const struct call_frame *frame);

/* A frame and what is below it; `below`: what stands before the lines of that. */
static void draw(struct drawing *drawing, const struct call_frame *frame, const char *branch,
                 const char *below) {
    const size_t length = drawing->length;
    add_line(drawing, frame, branch);
    if (length + strlen(below) < PREFIX_BYTES) {
        strcpy(drawing->prefix + length, below);
        drawing->length += strlen(below);
    }
    draw_children(drawing, frame);
    drawing->length = length;
    drawing->prefix[length] = 0;
}

/* What a frame's children that are not shown have together. */
static double sum_others(const struct drawing *drawing, const struct call_frame *frame,
                         uint32_t shown) {
    double sum = 0;
    for (uint32_t i = shown; i < frame->count; i++)
        sum += drawing->frames->items[drawing->frames->order[frame->first + i]].total;
    return sum;
}

static void add_others(const struct drawing *drawing, double sum, uint32_t count,
                       const char *branch) {
    char text[PREFIX_BYTES + 64];
    snprintf(text, sizeof text, "%s%sothers (%" PRIu32 ")", drawing->prefix, branch, count);
    table_figure(drawing->table, "%.1f %%", share(drawing, sum));
    if (drawing->has_self)
        table_cell(drawing->table, "");
    table_cell(drawing->table, text);
    table_cell(drawing->table, "");
}

/* Children that are not worth a line each have one together, if that is. */
static void draw_children(struct drawing *drawing, const struct call_frame *frame) {
    const uint32_t shown = shown_children(drawing, frame);
    const double rest = sum_others(drawing, frame, shown);
    const bool others = rest > 0 && rest >= drawing->least;
    const uint32_t lines = shown + others;
    for (uint32_t i = 0; i < shown; i++) {
        const uint32_t child = drawing->frames->order[frame->first + i];
        const bool last = i + 1 == lines;
        draw(drawing, &drawing->frames->items[child],
             lines == 1 ? ""
             : last     ? "└ "
                        : "├ ",
             lines == 1 ? ""
             : last     ? "  "
                        : "│ ");
    }
    if (others)
        add_others(drawing, rest, frame->count - shown, lines == 1 ? "" : "└ ");
}

static struct table *begin_table(const struct page *page, const char *figure, bool self,
                                 const char *what) {
    struct table *table = table_new(page);
    table_column(table, figure, TABLE_FIGURE, .gap = 0);
    if (self)
        table_column(table, "  self", TABLE_FIGURE, .gap = 1);
    table_column(table, what, TABLE_TEXT, .gap = 2, .least = 40);
    table_column(table, "image", TABLE_PATH, .gap = 2, .least = 8, .rank = 1);
    fputc('\n', page->file);
    return table;
}

static void draw_tree(struct drawing *drawing, const struct page *page) {
    drawing->frames = &drawing->report->profile->frames;
    drawing->has_self = true;
    drawing->table = begin_table(page, "  total", true, "procedure");
    drawing->least = drawing->report->least * drawing->all;
    draw_children(drawing, &drawing->frames->items[0]);
    table_end(drawing->table);
}

/* Of one procedure that was asked for, its own callers are what counts. */
static void draw_callers(struct drawing *drawing, const struct page *page) {
    const struct call_report *report = drawing->report;
    drawing->table = begin_table(page, report->inclusive ? "  total" : "  share", false,
                                 "procedure, and below it its callers");
    for (size_t i = 0; i < report->caller_count; i++) {
        drawing->frames = &report->callers[i].frames;
        drawing->least =
            report->least * (report->inclusive ? drawing->frames->items[0].total : drawing->all);
        if (i)
            table_line(drawing->table, "");
        draw(drawing, &drawing->frames->items[0], "", "  ");
    }
    table_end(drawing->table);
}

/* Beside figures and image, and some levels of the tree. */
enum { OTHER_COLUMNS = 44, NAME_COLUMNS_LEAST = 30 };

static void draw_report(const struct call_report *report, const struct page *page) {
    const struct call_profile *profile = report->profile;
    struct drawing drawing = {.report = report, .all = profile->frames.items[0].total};
    struct arena arena = {0};
    const unsigned most = page->table_columns ? page->table_columns : PAGE_WIDE;
    const unsigned columns =
        most > OTHER_COLUMNS + NAME_COLUMNS_LEAST ? most - OTHER_COLUMNS : NAME_COLUMNS_LEAST;
    drawing.names = malloc((profile->procedure_count + 1) * sizeof *drawing.names);
    for (size_t i = 0; drawing.names && i < profile->procedure_count; i++)
        drawing.names[i] = profile->procedures[i].name;
    if (drawing.names && short_names(drawing.names, profile->procedure_count, columns, &arena)) {
        if (report->callers)
            draw_callers(&drawing, page);
        else
            draw_tree(&drawing, page);
    }
    free(drawing.names);
    arena_free(&arena);
}

bool call_report_add_worth(struct call_report *report) {
    const struct call_profile *profile = report->profile;
    const double all = profile->frames.items[0].total, cut = profile->truncated + profile->failed;
    bool good = profile_set_worth(report->set, report->event, 0, 0, &report->report);
    if (report->least > 0)
        good &= report_note(&report->report,
                            "frames of less than %g %% of all are summed as others, where these "
                            "have as much, else left out (--least 0: none)",
                            100 * report->least);
    if (report->set->dropped)
        good &= report_note(&report->report,
                            "%s samples of all events were dropped, of which nothing is known: "
                            "shares are of the others",
                            text_grouped(report->set->dropped).s);
    if (cut > 0 && profile_event_lasts(report->event))
        good &= report_note(&report->report,
                            "of %.2f %% of the time the outermost callers are not known: they are "
                            "more than 255, or lie deeper than what is looked at of a stack "
                            "(record --stack-bytes), or a frame's caller could not be found",
                            100 * cut / all);
    else if (cut > 0)
        good &= report_note(
            &report->report,
            "of %.2f %% of the samples the outermost callers are not known: %s have more "
            "than 255 callers, or more of a stack than was copied (record "
            "--stack-bytes), of %s a frame's caller could not be found",
            100 * cut / all, text_grouped((uint64_t)(profile->truncated + 0.5)).s,
            text_grouped((uint64_t)(profile->failed + 0.5)).s);
    return good &&
           report_note(&report->report,
                       "calls of a procedure by itself, and of several by each other in turn, "
                       "are folded; functions that the compiler inlined are part of their "
                       "callers");
}

void call_report_text(const struct call_report *report, const struct page *page) {
    fputs(page->bold, page->file);
    profile_set_text(report->set, page->file);
    fputs(page->plain, page->file);
    profile_event_text(report->event, report->profile->frames.items[0].total, page->file);
    draw_report(report, page);
    report_text_foot(&report->report, page);
}
