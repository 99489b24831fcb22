/* The picture: a letter where a stage begins, dots while it lasts. Stages whose names begin alike
 * get other letters, in the order of their appearance. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/json_values.h"
#include "report/kanata_log.h"
#include "report/table.h"
#include "util/array.h"

enum { LABEL_COLUMNS = 34, LABEL_LEAST = 12, NUMBER_COLUMNS = 8, COLUMNS_MOST = 400 };
enum { MARGIN = NUMBER_COLUMNS + 2 + 1 /* beside the label */, CYCLES_LEAST = 20 };

/* A narrow page shows less of instructions before it shows too few cycles. */
static unsigned label_columns(const struct page *page) {
    enum { LABELLED = MARGIN + LABEL_COLUMNS + CYCLES_LEAST };
    if (page->columns >= LABELLED)
        return LABEL_COLUMNS;
    return page->columns > LABELLED - LABEL_COLUMNS + LABEL_LEAST
               ? page->columns - MARGIN - CYCLES_LEAST
               : LABEL_LEAST;
}

struct window {
    uint64_t from, end;
};

static struct window window_of(const struct kanata_log *log, const struct kanata_view *view,
                               uint64_t room) {
    struct window window = {.from = view->from == UINT64_MAX ? log->begin : view->from};
    const uint64_t cycles = view->cycles ? view->cycles : room;
    if (__builtin_add_overflow(window.from, cycles, &window.end) || window.end > log->end)
        window.end = log->end > window.from ? log->end : window.from;
    return window;
}

static uint64_t end_of(const struct kanata_log *log, const struct kanata_row *row) {
    return row->end ? row->end : log->end;
}

static bool is_in(const struct kanata_log *log, const struct kanata_row *row,
                  struct window window) {
    return row->begin < window.end && end_of(log, row) > window.from;
}

/* ---- letters ---- */

static void find_letters(const struct kanata_log *log, char letters[KANATA_STAGES_MAX]) {
    static const char OTHERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    for (uint32_t i = 0; i < log->name_count; i++) {
        const char *from = log->names[i];
        letters[i] = '*';
        for (const char *const tried[] = {from, OTHERS}, *const *text = tried; text < tried + 2;
             text++)
            for (const char *c = *text; *c && letters[i] == '*'; c++)
                if (strchr(OTHERS, *c) && !memchr(letters, *c, i))
                    letters[i] = *c;
    }
}

/* ---- text ---- */

/* Stages are linked from the last: the first that began in a cycle is what stays of it. */
static void draw_row(const struct kanata_log *log, const struct kanata_row *row,
                     struct window window, const char *letters, char *line) {
    const size_t columns = (size_t)(window.end - window.from);
    memset(line, ' ', columns);
    line[columns] = 0;
    for (uint32_t at = row->stages; at; at = log->stages[at - 1].before) {
        const struct kanata_stage *stage = &log->stages[at - 1];
        const uint64_t ends = stage->end == UINT64_MAX ? end_of(log, row) : stage->end;
        const uint64_t end = ends < window.end ? ends : window.end;
        for (uint64_t cycle = stage->begin > window.from ? stage->begin : window.from; cycle < end;
             cycle++) {
            char *place = &line[cycle - window.from];
            if (cycle == stage->begin)
                *place = letters[stage->name];
            else if (*place == ' ')
                *place = stage->lane ? '-' : '.';
        }
    }
    if (row->end > window.from && row->end <= window.end && row->end > row->begin) {
        const size_t behind = (size_t)(row->end - window.from);
        if (behind < columns)
            line[behind] = row->flushed ? 'x' : '|';
    }
    for (size_t end = columns; end > 0 && line[end - 1] == ' ';)
        line[--end] = 0;
}

/* "1000      1010": where every tenth cycle is. */
static void draw_ruler(struct window window, char *line) {
    const size_t columns = (size_t)(window.end - window.from);
    memset(line, ' ', columns);
    line[columns] = 0;
    for (size_t at = (size_t)((10 - window.from % 10) % 10); at < columns; at += 10) {
        char number[24];
        const int length = snprintf(number, sizeof number, "%" PRIu64, window.from + at);
        const size_t step = length < 10 ? 10 : 20;
        if (at + (size_t)length <= columns && (window.from + at) % step == 0)
            memcpy(line + at, number, (size_t)length);
    }
}

static void print_rows(const struct kanata_log *log, const struct kanata_view *view,
                       struct window window, const char *letters, const struct page *page) {
    char *line = malloc((size_t)(window.end - window.from) + 1);
    uint64_t shown = 0, more = 0;
    const unsigned label = label_columns(page);
    if (!line)
        return;
    draw_ruler(window, line);
    fprintf(page->file, "\n%s%*s  %-*s %s%s\n", page->bold, NUMBER_COLUMNS, "number", (int)label,
            "instruction", line, page->plain);
    for (size_t i = 0; i < log->count; i++) {
        const struct kanata_row *row = &log->rows[i];
        if (!is_in(log, row, window))
            continue;
        if (view->top && shown == view->top) {
            more++;
            continue;
        }
        shown++;
        draw_row(log, row, window, letters, line);
        fprintf(page->file, "%*" PRIu64 "  ", NUMBER_COLUMNS, row->number);
        page_cell(page, row->label, label, TEXT_LEFT);
        fprintf(page->file, " %s\n", line);
    }
    if (more)
        fprintf(page->file, "%*s  %" PRIu64 " more (--top 0 shows all)\n", NUMBER_COLUMNS, "",
                more);
    free(line);
}

struct stage_sum {
    uint64_t count, cycles, longest;
};

static void sum_stages(const struct kanata_log *log, struct stage_sum *sums) {
    for (size_t i = 0; i < log->stage_count; i++) {
        const struct kanata_stage *stage = &log->stages[i];
        const uint64_t end = stage->end == UINT64_MAX ? log->end : stage->end;
        const uint64_t cycles = end - stage->begin;
        struct stage_sum *sum = &sums[stage->name];
        sum->count++;
        sum->cycles += cycles;
        sum->longest = cycles > sum->longest ? cycles : sum->longest;
    }
}

static void print_stages(const struct kanata_log *log, const char *letters,
                         const struct page *page) {
    struct stage_sum sums[KANATA_STAGES_MAX] = {0};
    sum_stages(log, sums);
    fputc('\n', page->file);
    struct table *table = table_new(page);
    table_column(table, "stage", TABLE_TEXT, .least = 8);
    table_column(table, "shown as", TABLE_WORD, .gap = 2);
    table_column(table, "times", TABLE_FIGURE, .gap = 2);
    table_column(table, "mean cycles", TABLE_FIGURE, .gap = 2);
    table_column(table, "longest", TABLE_FIGURE, .gap = 2);
    for (uint32_t i = 0; i < log->name_count; i++) {
        if (!sums[i].count)
            continue;
        table_cell(table, log->names[i]);
        table_figure(table, "%c", letters[i]);
        table_cell(table, text_count(sums[i].count).s);
        table_figure(table, "%.1f", (double)sums[i].cycles / (double)sums[i].count);
        table_cell(table, text_count(sums[i].longest).s);
    }
    table_end(table);
}

void kanata_log_print(const struct kanata_log *log, const struct kanata_view *view,
                      const char *path, const struct page *page) {
    const unsigned margin = MARGIN + label_columns(page);
    const uint64_t room =
        page->columns > margin + CYCLES_LEAST ? page->columns - margin : CYCLES_LEAST;
    struct window window = window_of(log, view, room);
    if (window.end - window.from > COLUMNS_MOST)
        window.end = window.from + COLUMNS_MOST;
    char letters[KANATA_STAGES_MAX];
    const uint64_t retired = sum_over(uint64_t, i, log->count, log->rows[i].retired);
    const uint64_t flushed = sum_over(uint64_t, i, log->count, log->rows[i].flushed);
    find_letters(log, letters);
    page_title(page, path, false);
    page_print(page,
               "%s instruction%s in cycles %" PRIu64 " to %" PRIu64 ": %s retired, %s flushed",
               text_count(log->count).s, text_plural(log->count), log->begin, log->end - 1,
               text_count(retired).s, text_count(flushed).s);
    print_rows(log, view, window, letters, page);
    print_stages(log, letters, page);
    if (window.end < log->end && window.end > window.from) {
        fprintf(page->file, "next: culprit pipeline --from %" PRIu64 " ", window.end);
        text_put_word(page->file, path);
        fputc('\n', page->file);
    }
}

/* ---- JSON ---- */

static json_t *stages_json(const struct kanata_log *log, const struct kanata_row *row) {
    uint32_t *order = NULL, count = 0;
    size_t capacity = 0;
    json_t *array = json_array();
    for (uint32_t at = row->stages; at; at = log->stages[at - 1].before)
        if (!array_push(order, capacity, count, at - 1))
            break;
    while (count > 0) {
        const struct kanata_stage *stage = &log->stages[order[--count]];
        json_array_append_new(
            array, json_pack("{s:o, s:i, s:I, s:o}", "stage", json_text(log->names[stage->name]),
                             "lane", (int)stage->lane, "begin", (json_int_t)stage->begin, "end",
                             stage->end == UINT64_MAX ? json_null()
                                                      : json_integer((json_int_t)stage->end)));
    }
    free(order);
    return array;
}

static json_t *row_json(const struct kanata_log *log, const struct kanata_row *row) {
    return json_pack("{s:I, s:I, s:o, s:I, s:o, s:b, s:b, s:o}", "number", (json_int_t)row->number,
                     "thread", (json_int_t)row->thread, "label", json_text(row->label), "begin",
                     (json_int_t)row->begin, "end",
                     row->end ? json_integer((json_int_t)row->end) : json_null(), "retired",
                     row->retired, "flushed", row->flushed, "stages", stages_json(log, row));
}

bool kanata_log_json(const struct kanata_log *log, const struct kanata_view *view, const char *path,
                     FILE *file, struct error *error) {
    const struct window window = window_of(log, view, UINT64_MAX);
    struct stage_sum sums[KANATA_STAGES_MAX] = {0};
    json_t *rows = json_array(), *stages = json_array();
    sum_stages(log, sums);
    for (size_t i = 0; i < log->count; i++)
        if (is_in(log, &log->rows[i], window) && (!view->top || json_array_size(rows) < view->top))
            json_array_append_new(rows, row_json(log, &log->rows[i]));
    for (uint32_t i = 0; i < log->name_count; i++)
        json_array_append_new(
            stages, json_pack("{s:o, s:I, s:I, s:I}", "stage", json_text(log->names[i]), "times",
                              (json_int_t)sums[i].count, "cycles", (json_int_t)sums[i].cycles,
                              "longest", (json_int_t)sums[i].longest));
    return json_write(json_pack("{s:s, s:o, s:I, s:I, s:I, s:o, s:o}", "verb", "pipeline", "log",
                                json_text(path), "begin", (json_int_t)log->begin, "end",
                                (json_int_t)log->end, "instructions", (json_int_t)log->count,
                                "stages", stages, "rows", rows),
                      file, error);
}
