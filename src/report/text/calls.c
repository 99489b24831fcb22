/* Trees of calls for people. Of simulations they tell what each cycle of a frame was spent on. A
 * frame with one child that is shown has it in the line below, at the
 * same indent: chains of callers do not run off the page. Where there are more, each has a branch.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/call_report.h"
#include "report/short_name.h"
#include "report/table.h"
#include "util/file_name.h"
#include "util/order.h"

#define LEAST_PART 0.05 /* percent of all */
enum { PREFIX_BYTES = 2048, NAME_BYTES = 4096, STACKS_MOST = 1 << 22 };

/* Cycles of frames with what they called, by their events, of the frames that are shown. */
struct frame_stacks {
    uint32_t *rows; /* by frame: 1 + its row; 0: it is not shown */
    double *values; /* of each row, by signature */
};

struct drawing {
    const struct call_report *report;
    const struct call_frames *frames;
    const char **names; /* of procedures, as they are shown */
    struct table *table;
    double all;                 /* values that shares are of */
    double least;               /* of a frame that is shown */
    bool has_self;              /* a column */
    struct frame_stacks stacks; /* of a simulation's tree */
    char prefix[PREFIX_BYTES];  /* of lines below the present one */
    size_t length;
};

static double share(const struct drawing *drawing, double value) {
    return drawing->all > 0 ? 100 * value / drawing->all : 0;
}

/* The stack of a frame in percent of all: "ST-L1 8.6\nBase 3.1", largest first. */
static void list_stack(const struct drawing *drawing, const struct call_frame *frame, char *text,
                       size_t size) {
    const struct frame_stacks *stacks = &drawing->stacks;
    const uint32_t row = stacks->rows[frame - drawing->frames->items];
    double left[PSV_COMBINATIONS];
    size_t used = 0;
    if (!row)
        return;
    memcpy(left, stacks->values + (size_t)(row - 1) * PSV_COMBINATIONS, sizeof left);
    for (;;) {
        char name[128];
        uint32_t largest = 0;
        for (uint32_t psv = 1; psv < PSV_COMBINATIONS; psv++)
            if (left[psv] > left[largest])
                largest = psv;
        if (share(drawing, left[largest]) < LEAST_PART || used >= size)
            return;
        psv_format(largest, name, sizeof name);
        used += (size_t)snprintf(text + used, size - used, "%s%s %.1f", used ? "\n" : "", name,
                                 share(drawing, left[largest]));
        left[largest] = 0;
    }
}

static void add_simulated(const struct drawing *drawing, const struct call_frame *frame) {
    char text[NAME_BYTES] = "";
    if (drawing->report->profile->simulated)
        table_figure(drawing->table, "%.2f",
                     frame->instructions > 0 ? frame->total / frame->instructions : 0);
    if (!drawing->stacks.values)
        return;
    list_stack(drawing, frame, text, sizeof text);
    table_cell(drawing->table, text);
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
    add_simulated(drawing, frame);
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
    if (drawing->report->profile->simulated)
        table_cell(drawing->table, "");
    if (drawing->stacks.values)
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

static struct table *begin_table(const struct drawing *drawing, const struct page *page,
                                 const char *figure, const char *what) {
    struct table *table = table_new(page);
    table_column(table, figure, TABLE_FIGURE, .gap = 0);
    if (drawing->has_self)
        table_column(table, "  self", TABLE_FIGURE, .gap = 1);
    table_column(table, what, TABLE_TEXT, .gap = 2, .least = 40);
    table_column(table, "image", TABLE_PATH, .gap = 2, .least = 8, .rank = 3);
    if (drawing->report->profile->simulated)
        table_column(table, "  CPI", TABLE_FIGURE, .gap = 2, .rank = 1);
    if (drawing->stacks.values)
        table_column(table, "cycle stack, %", TABLE_LIST, .gap = 2, .least = 16, .rank = 2);
    fputc('\n', page->file);
    return table;
}

/* Adds each cell to the frames shown that it is part of. Of more rows than can be printed for
 * people there are no stacks. */
static void sum_stacks(struct drawing *drawing) {
    const struct call_profile *profile = drawing->report->profile;
    const struct call_frame *frames = drawing->frames->items;
    struct frame_stacks *stacks = &drawing->stacks;
    uint32_t rows = 0;
    stacks->rows = calloc(drawing->frames->count + 1, sizeof *stacks->rows);
    for (size_t i = 1; stacks->rows && i < drawing->frames->count; i++)
        if (frames[i].total >= drawing->least)
            stacks->rows[i] = ++rows;
    if (!stacks->rows || (uint64_t)rows * PSV_COMBINATIONS > STACKS_MOST)
        return;
    stacks->values = calloc((size_t)rows * PSV_COMBINATIONS + 1, sizeof *stacks->values);
    for (size_t i = 0; stacks->values && i < profile->cell_count; i++) {
        const struct call_cell *cell = &profile->cells[i];
        for (uint32_t at = cell->frame; at != CALL_NONE_FRAME; at = frames[at].parent)
            if (stacks->rows[at])
                stacks->values[(size_t)(stacks->rows[at] - 1) * PSV_COMBINATIONS + cell->psv] +=
                    cell->value;
    }
}

static void draw_tree(struct drawing *drawing, const struct page *page) {
    drawing->frames = &drawing->report->profile->frames;
    drawing->has_self = true;
    drawing->least = drawing->report->least * drawing->all;
    if (drawing->report->profile->cell_count)
        sum_stacks(drawing);
    drawing->table = begin_table(drawing, page, "  total", "procedure");
    draw_children(drawing, &drawing->frames->items[0]);
    table_end(drawing->table);
    free(drawing->stacks.rows);
    free(drawing->stacks.values);
}

static int by_self(const void *one, const void *other) {
    const struct call_frame *a = *(const struct call_frame *const *)one;
    const struct call_frame *b = *(const struct call_frame *const *)other;
    return descending(a->self, b->self) ?: ascending(a, b);
}

/* By their own values, the largest first; NULL: out of memory. */
static const struct call_frame **sort_frames(const struct call_frames *frames) {
    const struct call_frame **sorted = malloc((frames->count + 1) * sizeof *sorted);
    for (size_t i = 0; sorted && i < frames->count; i++)
        sorted[i] = &frames->items[i];
    if (sorted)
        qsort(sorted, frames->count, sizeof *sorted, by_self);
    return sorted;
}

/* "main > deflate > longest_match". */
static void put_chain(const struct drawing *drawing, const struct call_frame *frame, char *text,
                      size_t size) {
    const struct call_frame *frames = drawing->frames->items;
    size_t left = size - 1;
    text[left] = 0;
    for (; frame->parent != CALL_NONE_FRAME; frame = &frames[frame->parent]) {
        const char *name = drawing->names[frame->procedure], *between = text[left] ? " > " : "";
        const size_t length = strlen(name) + strlen(between);
        if (length > left)
            break;
        left -= length;
        memcpy(text + left, name, strlen(name));
        memcpy(text + left + strlen(name), between, strlen(between));
    }
    memmove(text, text + left, size - left);
}

/* Chains by what their innermost frame has itself. */
static void draw_paths(struct drawing *drawing, const struct page *page) {
    const struct call_report *report = drawing->report;
    drawing->frames = &report->profile->frames;
    const struct call_frame **sorted = sort_frames(drawing->frames);
    struct table *table = table_new(page);
    size_t count = 0, all = 0;
    table_column(table, "  share", TABLE_FIGURE, .gap = 0);
    table_column(table, "  CPI", TABLE_FIGURE, .gap = 2);
    table_column(table, "path", TABLE_PATH, .gap = 2, .least = 40);
    fputc('\n', page->file);
    for (size_t i = 0; sorted && i < drawing->frames->count; i++) {
        char text[PREFIX_BYTES + NAME_BYTES];
        if (!(sorted[i]->self > 0))
            continue;
        all++;
        if (report->rows && count == report->rows)
            continue;
        count++;
        table_figure(table, "%.1f %%", share(drawing, sorted[i]->self));
        table_figure(
            table, "%.2f",
            sorted[i]->self_instructions > 0 ? sorted[i]->self / sorted[i]->self_instructions : 0);
        put_chain(drawing, sorted[i], text, sizeof text);
        table_cell(table, text);
    }
    table_more(table, 9, all - count);
    table_end(table);
    free(sorted);
}

/* Of one procedure that was asked for, its own callers are what counts. */
static void draw_callers(struct drawing *drawing, const struct page *page) {
    const struct call_report *report = drawing->report;
    drawing->table = begin_table(drawing, page, report->inclusive ? "  total" : "  share",
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

void call_report_draw(const struct call_report *report, const struct page *page) {
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
        if (report->flat)
            draw_paths(&drawing, page);
        else if (report->callers)
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
    profile_event_text(report->event, report->profile->frames.items[0].total, "", page);
    call_report_draw(report, page);
    report_text_foot(&report->report, page);
}
