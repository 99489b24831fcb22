/* Breakdowns for people: of one program measured one way a table with cycles and remarks; else a
 * column for each, as in the interaction-cost paper Tables III and VIII, as many side by side as
 * fit. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/breakdown_report.h"
#include "report/call_report.h"
#include "util/array.h"
#include "util/text.h"

enum { NAME = 24, CELL = 9, CYCLES = 10, TEXT_BYTES = 1024 };

struct sheet {
    const struct breakdown_report *report;
    const struct page *page;
    FILE *file;
};

/* "dl1 + win" */
static const char *name_of(const struct sheet *sheet, uint32_t set, char *name, size_t size) {
    const struct breakdown *breakdown = breakdown_shown(&sheet->report->programs[0]);
    *name = '\0';
    for (uint32_t i = 0; i < breakdown->count; i++)
        if (set & 1u << i)
            snprintf(name + strlen(name), size - strlen(name), "%s%s", *name ? " + " : "",
                     breakdown->names[i]);
    return name;
}

static void print_name(const struct sheet *sheet, uint32_t set) {
    char name[BREAKDOWN_CATEGORIES * (BREAKDOWN_NAME_BYTES + 3)];
    name_of(sheet, set, name, sizeof name);
    fputc(' ', sheet->file);
    page_cell(sheet->page, name, NAME - 1, TEXT_LEFT);
}

static void print_share(const struct sheet *sheet, double share) {
    page_cell(sheet->page, isnan(share) ? "-" : text_percent(share, 1).s, CELL, TEXT_RIGHT);
}

/* "~5.8": where others were simulated, and this is by the graph alone. */
static void print_known(const struct sheet *sheet, const struct breakdown_program *program,
                        uint32_t set) {
    const struct breakdown *source = breakdown_source(program, set);
    char text[40];
    snprintf(text, sizeof text, "%s%s", source == program->ways[WAY_MULTISIM] ? "" : "~",
             text_percent(breakdown_share(source, set), 1).s);
    page_cell(sheet->page, text, CELL, TEXT_RIGHT);
}

/* Whether a program's way has a column of its own. */
static bool is_column(const struct sheet *sheet, const struct breakdown_program *program, int way) {
    return program->ways[way] && !(sheet->report->checked && way == WAY_MULTISIM);
}

static void print_difference(const struct sheet *sheet, double difference) {
    char text[40] = "-";
    if (!isnan(difference)) {
        struct text percent = text_percent(difference, 1);
        snprintf(text, sizeof text, "%s%s", percent.s[0] == '-' ? "" : "+", percent.s);
    }
    page_cell(sheet->page, text, CELL, TEXT_RIGHT);
}

/* ---- head ---- */

static void print_program(const struct sheet *sheet, const struct breakdown_program *program,
                          bool labelled) {
    const struct breakdown *breakdown = breakdown_shown(program);
    char name[TEXT_BYTES], line[2 * TEXT_BYTES];
    double cycles = breakdown->cycles[0], instructions = (double)breakdown->instructions;
    snprintf(line, sizeof line, "%s%s%s", labelled ? program->label : "", labelled ? ": " : "",
             text_clean(name, sizeof name, program->name));
    page_title(sheet->page, line, program->partial);
    page_print(sheet->page, "%s instruction%s, %s cycle%s, CPI %.3f",
               text_count(breakdown->instructions).s, text_plural(breakdown->instructions),
               text_count((uint64_t)cycles).s, text_plural((uint64_t)cycles),
               instructions > 0 ? cycles / instructions : 0);
}

static void print_head(const struct sheet *sheet) {
    const struct breakdown_report *report = sheet->report;
    char machine[TEXT_BYTES];
    for (uint32_t i = 0; i < report->program_count; i++)
        print_program(sheet, &report->programs[i], report->program_count > 1);
    report_text_children(&report->report, sheet->page);
    fprintf(sheet->file, "machine %s at %s GHz\n",
            text_clean(machine, sizeof machine, report->report.machine->name),
            text_quantity(report->report.machine->clock_ghz).s);
    report_text_chosen(&report->report.machine->chosen, sheet->page);
    report_text_ideal(&report->report, sheet->page);
}

/* ---- one program, one way ---- */

/* The sign of a pair says how it stands; of more causes, only how they differ from their subsets:
 * three in series have a positive one, as three that overlap. */
static const char *remark_on(const struct sheet *sheet, uint32_t set, double share) {
    const struct breakdown_report *report = sheet->report;
    if (!(set & (set - 1)))
        return sheet->report->descriptions[__builtin_ctz(set)];
    if (isnan(share))
        return "not measured";
    if (fabs(share) < report->threshold)
        return "";
    if (!breakdown_trusted(&report->programs[0], set, report->threshold))
        return "doubtful: the graph is off in its smaller sets";
    if (__builtin_popcount(set) > 2)
        return share < 0 ? "together less than its smaller sets add up to"
                         : "together more than its smaller sets add up to";
    if (set & report->changed)
        return share < 0 ? "in series: one of them is enough" : "overlap: it takes both";
    return share < 0 ? "in series: removing one is enough" : "overlap: they go only together";
}

/* The narrowest pages have room for shares alone. */
static bool has_cycles(const struct sheet *sheet) {
    return sheet->page->columns >= NAME + CELL + CYCLES;
}

static void print_remark(const struct sheet *sheet, const char *remark) {
    const unsigned taken = NAME + CELL + CYCLES + 2;
    if (!*remark || sheet->page->columns <= taken)
        return;
    fputs("  ", sheet->file);
    page_clip(sheet->page, remark, sheet->page->columns - taken);
}

static void print_detailed_row(const struct sheet *sheet, uint32_t set) {
    const struct breakdown_program *program = &sheet->report->programs[0];
    const struct breakdown *breakdown = breakdown_source(program, set);
    double share = breakdown_share(breakdown, set), cycles = breakdown_icost(breakdown, set);
    char text[40] = "-";
    if (!isnan(cycles))
        snprintf(text, sizeof text, "%s%s", cycles <= -0.5 ? "-" : "",
                 text_count((uint64_t)llround(fabs(cycles))).s);
    print_name(sheet, set);
    if (sheet->report->checked)
        print_known(sheet, program, set);
    else
        print_share(sheet, share);
    if (has_cycles(sheet))
        page_cell(sheet->page, text, CYCLES, TEXT_RIGHT);
    print_remark(sheet, remark_on(sheet, set, share));
    fputc('\n', sheet->file);
}

static void print_total(const struct sheet *sheet, const char *name, double share) {
    fputc(' ', sheet->file);
    page_cell(sheet->page, name, NAME - 1, TEXT_LEFT);
    print_share(sheet, share);
}

static void print_detailed(const struct sheet *sheet) {
    const struct breakdown_report *report = sheet->report;
    fprintf(sheet->file, "\n%s", sheet->page->bold);
    page_cell(sheet->page, " idealised", NAME, TEXT_LEFT);
    page_cell(sheet->page, "% of time", CELL, TEXT_RIGHT);
    if (has_cycles(sheet))
        page_cell(sheet->page, "cycles", CYCLES, TEXT_RIGHT);
    fprintf(sheet->file, "%s\n", sheet->page->plain);
    for (uint32_t i = 0; i < breakdown_row_count(report); i++) {
        if (i == report->singles || (i == report->singles + report->pairs && report->others))
            fputc('\n', sheet->file);
        print_detailed_row(sheet, report->rows[i]);
    }
    fputc('\n', sheet->file);
    print_total(sheet, "Other", breakdown_known_rest(report, &report->programs[0]));
    fputc('\n', sheet->file);
    print_total(sheet, "Total", 1);
    fputc('\n', sheet->file);
}

/* ---- several columns ---- */

/* Ways of the first program are those of all. Each but the first has its difference beside it. */
static unsigned column_width(const struct sheet *sheet) {
    const unsigned ways =
        sum_over(unsigned, way, WAY_COUNT, is_column(sheet, &sheet->report->programs[0], (int)way));
    return ways > 1 ? CELL * (2 * ways - 1) : CELL;
}

/* Cells of a program: a value for each way, and differences; `values` by way. */
static void print_cells(const struct sheet *sheet, const struct breakdown_program *program,
                        const double values[WAY_COUNT], bool comparable) {
    bool first = true;
    double reference = NAN;
    for (int way = 0; way < WAY_COUNT; way++) {
        if (!is_column(sheet, program, way))
            continue;
        print_share(sheet, values[way]);
        if (first)
            reference = values[way];
        else
            print_difference(sheet, comparable ? values[way] - reference : NAN);
        first = false;
    }
}

static void print_ways(const struct sheet *sheet, const struct breakdown_program *program) {
    bool first = true;
    for (int way = 0; way < WAY_COUNT; way++) {
        if (!is_column(sheet, program, way))
            continue;
        page_cell(sheet->page, breakdown_way_name((enum breakdown_way)way), CELL, TEXT_RIGHT);
        if (!first)
            page_cell(sheet->page, "error", CELL, TEXT_RIGHT);
        first = false;
    }
}

static void print_column_heads(const struct sheet *sheet, uint32_t from, uint32_t to) {
    const struct breakdown_report *report = sheet->report;
    unsigned width = column_width(sheet);
    fprintf(sheet->file, "\n%s", sheet->page->bold);
    page_cell(sheet->page, " idealised, % of time", NAME, TEXT_LEFT);
    if (report->program_count > 1) {
        for (uint32_t i = from; i < to; i++) {
            fputc(' ', sheet->file);
            page_cell(sheet->page, report->programs[i].label, width - 1, TEXT_RIGHT);
        }
        if (width > CELL) {
            fputc('\n', sheet->file);
            page_cell(sheet->page, "", NAME, TEXT_LEFT);
        }
    }
    if (width > CELL)
        for (uint32_t i = from; i < to; i++)
            print_ways(sheet, &report->programs[i]);
    fprintf(sheet->file, "%s\n", sheet->page->plain);
}

static void print_row(const struct sheet *sheet, uint32_t row, uint32_t from, uint32_t to) {
    const struct breakdown_report *report = sheet->report;
    print_name(sheet, report->rows[row]);
    for (uint32_t i = from; i < to; i++) {
        const struct breakdown_program *program = &report->programs[i];
        double values[WAY_COUNT];
        if (report->checked) {
            print_known(sheet, program, report->rows[row]);
            continue;
        }
        for (int way = 0; way < WAY_COUNT; way++)
            values[way] =
                program->ways[way] ? breakdown_share(program->ways[way], report->rows[row]) : NAN;
        print_cells(sheet, program, values, true);
    }
    fputc('\n', sheet->file);
}

/* Whether both have the same rows, so that what they leave over can be compared. */
static bool same_rows(const struct breakdown_report *report,
                      const struct breakdown_program *program) {
    for (uint32_t i = 0; i < breakdown_row_count(report); i++) {
        int known = 0, ways = 0;
        for (int way = 0; way < WAY_COUNT; way++)
            if (program->ways[way]) {
                ways++;
                known += !isnan(breakdown_share(program->ways[way], report->rows[i]));
            }
        if (known && known < ways)
            return false;
    }
    return true;
}

static void print_sums(const struct sheet *sheet, uint32_t from, uint32_t to) {
    const struct breakdown_report *report = sheet->report;
    for (int total = 0; total < 2; total++) {
        fputc(' ', sheet->file);
        page_cell(sheet->page, total ? "Total" : "Other", NAME - 1, TEXT_LEFT);
        for (uint32_t i = from; i < to; i++) {
            const struct breakdown_program *program = &report->programs[i];
            double values[WAY_COUNT];
            for (int way = 0; way < WAY_COUNT; way++)
                values[way] = total                ? 1
                              : report->checked    ? breakdown_known_rest(report, program)
                              : program->ways[way] ? breakdown_rest(report, program->ways[way])
                                                   : NAN;
            print_cells(sheet, program, values, total || same_rows(report, program));
        }
        fputc('\n', sheet->file);
    }
}

static void print_columns(const struct sheet *sheet) {
    const struct breakdown_report *report = sheet->report;
    uint32_t fit = (sheet->page->columns - NAME) / column_width(sheet);
    fit = fit ? fit : 1;
    for (uint32_t from = 0; from < report->program_count; from += fit) {
        uint32_t to = from + fit < report->program_count ? from + fit : report->program_count;
        print_column_heads(sheet, from, to);
        for (uint32_t row = 0; row < breakdown_row_count(report); row++) {
            if (row == report->singles ||
                (row == report->singles + report->pairs && report->others))
                fputc('\n', sheet->file);
            print_row(sheet, row, from, to);
        }
        fputc('\n', sheet->file);
        print_sums(sheet, from, to);
    }
}

/* ---- errors, reading ---- */

static void print_error_of(const struct sheet *sheet, const struct breakdown_program *program,
                           enum breakdown_way way) {
    struct breakdown_error error = breakdown_report_error(sheet->report, program, way);
    bool several = sheet->report->program_count > 1;
    char text[1024], rows[256] = "no row is 5 % or more", farthest[300] = "";
    double difference;
    uint32_t set = breakdown_report_farthest(sheet->report, program, way, &difference);
    if (set) {
        char name[200];
        snprintf(farthest, sizeof farthest, "; farthest off is %s, by %s%s %% of the time",
                 name_of(sheet, set, name, sizeof name), difference > 0 ? "+" : "",
                 text_percent(difference, 1).s);
    }
    if (error.sets)
        snprintf(rows, sizeof rows,
                 "mean %s %%, largest %s %%, of the %" PRIu32 " row%s of 5 %% or more",
                 text_percent(error.mean, 1).s, text_percent(error.largest, 1).s, error.sets,
                 text_plural(error.sets));
    snprintf(text, sizeof text,
             "%.100s%s%s: %s; %" PRIu32 " false alarm%s; sign right in %" PRIu32 " of %" PRIu32
             " pairs over 2 %% either way%s",
             several ? program->label : "", several ? ", " : "", breakdown_way_name(way), rows,
             error.false_alarms, text_plural(error.false_alarms), error.same_sign, error.pairs,
             farthest);
    page_wrap(sheet->page, text, NULL, " - ", "   ");
}

static void print_errors(const struct sheet *sheet) {
    const struct breakdown_report *report = sheet->report;
    bool headed = false;
    for (uint32_t i = 0; i < report->program_count; i++)
        for (int way = WAY_MULTISIM + 1; way < WAY_COUNT; way++) {
            const struct breakdown_program *program = &report->programs[i];
            if (report->checked || !program->ways[WAY_MULTISIM] || !program->ways[way])
                continue;
            if (!headed)
                fprintf(sheet->file, "\n%serror against multisim%s\n", sheet->page->bold,
                        sheet->page->plain);
            headed = true;
            print_error_of(sheet, program, (enum breakdown_way)way);
        }
}

static void print_reading(const struct sheet *sheet) {
    const struct breakdown_report *report = sheet->report;
    for (uint32_t i = 0; i < report->program_count; i++) {
        struct report reading = {0};
        char label[TEXT_BYTES];
        bool several = report->program_count > 1;
        text_clean(label, sizeof label, report->programs[i].label);
        fprintf(sheet->file, "\n%swhat this says%s%s%s\n", sheet->page->bold, several ? " of " : "",
                several ? label : "", sheet->page->plain);
        breakdown_read(report, &report->programs[i], &reading);
        for (uint32_t k = 0; k < reading.note_count; k++)
            page_wrap(sheet->page, reading.notes[k], NULL, " - ", "   ");
        report_free(&reading);
    }
}

static void print_inspections(const struct sheet *sheet) {
    const struct breakdown_report *report = sheet->report;
    for (uint32_t i = 0; i < report->program_count; i++) {
        char label[TEXT_BYTES];
        if (!report->programs[i].inspection && !report->programs[i].path)
            continue;
        if (report->program_count > 1)
            fprintf(sheet->file, "\n%s%s%s\n", sheet->page->bold,
                    text_clean(label, sizeof label, report->programs[i].label), sheet->page->plain);
        if (report->programs[i].inspection)
            inspection_text(report->programs[i].inspection, sheet->page);
        if (report->programs[i].path)
            thread_path_text(report->programs[i].path, sheet->page);
    }
}

void breakdown_text(const struct breakdown_report *report, const struct page *page) {
    const struct sheet sheet = {.report = report, .page = page, .file = page->file};
    print_head(&sheet);
    if (report->program_count == 1 && column_width(&sheet) == CELL)
        print_detailed(&sheet);
    else
        print_columns(&sheet);
    print_errors(&sheet);
    print_reading(&sheet);
    print_inspections(&sheet);
    if (report->report.calls)
        call_report_draw(report->report.calls, page);
    report_text_foot(&report->report, page);
}
