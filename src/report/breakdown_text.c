/* Breakdowns for people: of one program measured one way a table with cycles and remarks; else a
 * column for each, as in Tables III and VIII, as many side by side as fit. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/breakdown_report.h"
#include "util/text.h"

enum { WIDTH = 100, NAME = 24, CELL = 9, CYCLES = 10, REMARK = WIDTH - NAME - CELL - CYCLES - 2 };

struct page {
    const struct breakdown_report *report;
    FILE *file;
    const char *bold, *plain;
};

static void cell(FILE *file, const char *text, unsigned columns, enum text_align align) {
    char fitted[4 * WIDTH + 1];
    fputs(text_fit(fitted, sizeof fitted, text, columns, align), file);
}

static uint32_t row_count(const struct breakdown_report *report) {
    return report->singles + report->pairs + report->others;
}

/* "dl1 + win" */
static const char *name_of(const struct page *page, uint32_t set, char *name, size_t size) {
    const struct breakdown *breakdown = breakdown_shown(&page->report->programs[0]);
    *name = '\0';
    for (uint32_t i = 0; i < breakdown->count; i++)
        if (set & 1u << i)
            snprintf(name + strlen(name), size - strlen(name), "%s%s", *name ? " + " : "",
                     breakdown->names[i]);
    return name;
}

static void print_name(const struct page *page, uint32_t set) {
    char name[BREAKDOWN_CATEGORIES * (BREAKDOWN_NAME_BYTES + 3)];
    name_of(page, set, name, sizeof name);
    fputc(' ', page->file);
    cell(page->file, name, NAME - 1, TEXT_LEFT);
}

static void print_share(const struct page *page, double share) {
    cell(page->file, isnan(share) ? "-" : text_percent(share, 1).s, CELL, TEXT_RIGHT);
}

static void print_difference(const struct page *page, double difference) {
    char text[40] = "-";
    if (!isnan(difference)) {
        struct text percent = text_percent(difference, 1);
        snprintf(text, sizeof text, "%s%s", percent.s[0] == '-' ? "" : "+", percent.s);
    }
    cell(page->file, text, CELL, TEXT_RIGHT);
}

/* ---- head ---- */

static void print_program(const struct page *page, const struct breakdown_program *program,
                          bool labelled) {
    const struct breakdown *breakdown = breakdown_shown(program);
    char name[4 * WIDTH + 1], line[sizeof name + WIDTH];
    double cycles = breakdown->cycles[0], instructions = (double)breakdown->instructions;
    snprintf(line, sizeof line, "%s%s%s", labelled ? program->label : "", labelled ? ": " : "",
             text_clean(name, sizeof name, program->name));
    unsigned columns = text_columns(line), room = WIDTH - (page->report->report.partial ? 10 : 0);
    fputs(page->bold, page->file);
    cell(page->file, line, columns < room ? columns : room, TEXT_LEFT);
    fprintf(page->file, "%s%s\n", page->plain, page->report->report.partial ? " (partial)" : "");
    fprintf(page->file, "%s instruction%s, %s cycle%s, CPI %.3f\n",
            text_count(breakdown->instructions).s, text_plural(breakdown->instructions),
            text_count((uint64_t)cycles).s, text_plural((uint64_t)cycles),
            instructions > 0 ? cycles / instructions : 0);
}

static void print_head(const struct page *page) {
    const struct breakdown_report *report = page->report;
    char machine[4 * WIDTH + 1];
    for (uint32_t i = 0; i < report->program_count; i++)
        print_program(page, &report->programs[i], report->program_count > 1);
    fprintf(page->file, "machine %s at %s GHz\n",
            text_clean(machine, sizeof machine, report->report.machine->name),
            text_quantity(report->report.machine->clock_ghz).s);
    if (report->report.ideal) {
        fputs("idealised:", page->file);
        for (unsigned i = 0; i < IDEAL_COUNT; i++)
            if (report->report.ideal & 1u << i)
                fprintf(page->file, " %s", ideal_name(i));
        fputc('\n', page->file);
    }
}

/* ---- one program, one way ---- */

/* The sign of a pair says how it stands; of more causes, only how they differ from their subsets:
 * three in series have a positive one, as three that overlap. */
static const char *remark_on(const struct page *page, uint32_t set, double share) {
    if (!(set & (set - 1)))
        return page->report->descriptions[__builtin_ctz(set)];
    if (isnan(share))
        return "not measured";
    if (fabs(share) < page->report->threshold)
        return "";
    if (__builtin_popcount(set) > 2)
        return share < 0 ? "together less than its smaller sets add up to"
                         : "together more than its smaller sets add up to";
    return share < 0 ? "in series: removing one is enough" : "overlap: they go only together";
}

static void print_detailed_row(const struct page *page, const struct breakdown *breakdown,
                               uint32_t set) {
    double share = breakdown_share(breakdown, set), cycles = breakdown_icost(breakdown, set);
    char text[40] = "-";
    if (!isnan(cycles))
        snprintf(text, sizeof text, "%s%s", cycles <= -0.5 ? "-" : "",
                 text_count((uint64_t)llround(fabs(cycles))).s);
    print_name(page, set);
    print_share(page, share);
    cell(page->file, text, CYCLES, TEXT_RIGHT);
    fputs("  ", page->file);
    char fitted[4 * REMARK + 1];
    const char *remark = remark_on(page, set, share);
    unsigned columns = text_columns(remark);
    fprintf(
        page->file, "%s\n",
        text_fit(fitted, sizeof fitted, remark, columns < REMARK ? columns : REMARK, TEXT_LEFT));
}

static void print_total(const struct page *page, const char *name, double share) {
    fputc(' ', page->file);
    cell(page->file, name, NAME - 1, TEXT_LEFT);
    print_share(page, share);
}

static void print_detailed(const struct page *page) {
    const struct breakdown_report *report = page->report;
    const struct breakdown *breakdown = breakdown_shown(&report->programs[0]);
    fprintf(page->file, "\n%s", page->bold);
    cell(page->file, " idealised", NAME, TEXT_LEFT);
    cell(page->file, "% of time", CELL, TEXT_RIGHT);
    cell(page->file, "cycles", CYCLES, TEXT_RIGHT);
    fprintf(page->file, "%s\n", page->plain);
    for (uint32_t i = 0; i < row_count(report); i++) {
        if (i == report->singles || (i == report->singles + report->pairs && report->others))
            fputc('\n', page->file);
        print_detailed_row(page, breakdown, report->rows[i]);
    }
    fputc('\n', page->file);
    print_total(page, "Other", breakdown_rest(report, breakdown));
    fputc('\n', page->file);
    print_total(page, "Total", 1);
    fputc('\n', page->file);
}

/* ---- several columns ---- */

/* Ways of the first program are those of all. Each but the first has its difference beside it. */
static unsigned column_width(const struct breakdown_report *report) {
    unsigned ways = 0;
    for (int way = 0; way < WAY_COUNT; way++)
        ways += report->programs[0].ways[way] != NULL;
    return ways > 1 ? CELL * (2 * ways - 1) : CELL;
}

/* Cells of a program: a value for each way, and differences; `values` by way. */
static void print_cells(const struct page *page, const struct breakdown_program *program,
                        const double values[WAY_COUNT], bool comparable) {
    bool first = true;
    double reference = NAN;
    for (int way = 0; way < WAY_COUNT; way++) {
        if (!program->ways[way])
            continue;
        print_share(page, values[way]);
        if (first)
            reference = values[way];
        else
            print_difference(page, comparable ? values[way] - reference : NAN);
        first = false;
    }
}

static void print_ways(const struct page *page, const struct breakdown_program *program) {
    bool first = true;
    for (int way = 0; way < WAY_COUNT; way++) {
        if (!program->ways[way])
            continue;
        cell(page->file, breakdown_way_name((enum breakdown_way)way), CELL, TEXT_RIGHT);
        if (!first)
            cell(page->file, "error", CELL, TEXT_RIGHT);
        first = false;
    }
}

static void print_column_heads(const struct page *page, uint32_t from, uint32_t to) {
    const struct breakdown_report *report = page->report;
    unsigned width = column_width(report);
    fprintf(page->file, "\n%s", page->bold);
    cell(page->file, " idealised, % of time", NAME, TEXT_LEFT);
    if (report->program_count > 1) {
        for (uint32_t i = from; i < to; i++) {
            fputc(' ', page->file);
            cell(page->file, report->programs[i].label, width - 1, TEXT_RIGHT);
        }
        if (width > CELL) {
            fputc('\n', page->file);
            cell(page->file, "", NAME, TEXT_LEFT);
        }
    }
    if (width > CELL)
        for (uint32_t i = from; i < to; i++)
            print_ways(page, &report->programs[i]);
    fprintf(page->file, "%s\n", page->plain);
}

static void print_row(const struct page *page, uint32_t row, uint32_t from, uint32_t to) {
    const struct breakdown_report *report = page->report;
    print_name(page, report->rows[row]);
    for (uint32_t i = from; i < to; i++) {
        const struct breakdown_program *program = &report->programs[i];
        double values[WAY_COUNT];
        for (int way = 0; way < WAY_COUNT; way++)
            values[way] =
                program->ways[way] ? breakdown_share(program->ways[way], report->rows[row]) : NAN;
        print_cells(page, program, values, true);
    }
    fputc('\n', page->file);
}

/* Whether both have the same rows, so that what they leave over can be compared. */
static bool same_rows(const struct breakdown_report *report,
                      const struct breakdown_program *program) {
    for (uint32_t i = 0; i < row_count(report); i++) {
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

static void print_sums(const struct page *page, uint32_t from, uint32_t to) {
    const struct breakdown_report *report = page->report;
    for (int total = 0; total < 2; total++) {
        fputc(' ', page->file);
        cell(page->file, total ? "Total" : "Other", NAME - 1, TEXT_LEFT);
        for (uint32_t i = from; i < to; i++) {
            const struct breakdown_program *program = &report->programs[i];
            double values[WAY_COUNT];
            for (int way = 0; way < WAY_COUNT; way++)
                values[way] = total                ? 1
                              : program->ways[way] ? breakdown_rest(report, program->ways[way])
                                                   : NAN;
            print_cells(page, program, values, total || same_rows(report, program));
        }
        fputc('\n', page->file);
    }
}

static void print_columns(const struct page *page) {
    const struct breakdown_report *report = page->report;
    uint32_t fit = (WIDTH - NAME) / column_width(report);
    fit = fit ? fit : 1;
    for (uint32_t from = 0; from < report->program_count; from += fit) {
        uint32_t to = from + fit < report->program_count ? from + fit : report->program_count;
        print_column_heads(page, from, to);
        for (uint32_t row = 0; row < row_count(report); row++) {
            if (row == report->singles ||
                (row == report->singles + report->pairs && report->others))
                fputc('\n', page->file);
            print_row(page, row, from, to);
        }
        fputc('\n', page->file);
        print_sums(page, from, to);
    }
}

/* ---- errors, reading ---- */

static void print_error_of(const struct page *page, const struct breakdown_program *program,
                           enum breakdown_way way) {
    struct breakdown_error error = breakdown_report_error(page->report, program, way);
    bool several = page->report->program_count > 1;
    char text[1024], rows[256] = "no row is 5 % or more", farthest[300] = "";
    double difference;
    uint32_t set = breakdown_report_farthest(page->report, program, way, &difference);
    if (set) {
        char name[200];
        snprintf(farthest, sizeof farthest, "; farthest off is %s, by %s%s %% of the time",
                 name_of(page, set, name, sizeof name), difference > 0 ? "+" : "",
                 text_percent(difference, 1).s);
    }
    if (error.sets)
        snprintf(rows, sizeof rows,
                 "mean %s %%, largest %s %%, of the %" PRIu32 " row%s of 5 %% or more",
                 text_percent(error.mean, 1).s, text_percent(error.largest, 1).s, error.sets,
                 text_plural(error.sets));
    snprintf(text, sizeof text,
             "%.100s%s%s: %s; sign right in %" PRIu32 " of %" PRIu32 " pairs "
             "over 2 %%%s",
             several ? program->label : "", several ? ", " : "", breakdown_way_name(way), rows,
             error.same_sign, error.pairs, farthest);
    report_text_wrapped(text, " - ", "   ", page->file);
}

static void print_errors(const struct page *page) {
    const struct breakdown_report *report = page->report;
    bool headed = false;
    for (uint32_t i = 0; i < report->program_count; i++)
        for (int way = WAY_MULTISIM + 1; way < WAY_COUNT; way++) {
            const struct breakdown_program *program = &report->programs[i];
            if (!program->ways[WAY_MULTISIM] || !program->ways[way])
                continue;
            if (!headed)
                fprintf(page->file, "\n%serror against multisim%s\n", page->bold, page->plain);
            headed = true;
            print_error_of(page, program, (enum breakdown_way)way);
        }
}

static void print_reading(const struct page *page) {
    const struct breakdown_report *report = page->report;
    for (uint32_t i = 0; i < report->program_count; i++) {
        struct report reading = {0};
        char label[4 * WIDTH + 1];
        bool several = report->program_count > 1;
        text_clean(label, sizeof label, report->programs[i].label);
        fprintf(page->file, "\n%swhat this says%s%s%s\n", page->bold, several ? " of " : "",
                several ? label : "", page->plain);
        breakdown_read(report, &report->programs[i], &reading);
        for (uint32_t k = 0; k < reading.note_count; k++)
            report_text_wrapped(reading.notes[k], " - ", "   ", page->file);
        report_free(&reading);
    }
}

static void print_inspections(const struct page *page, bool colour) {
    const struct breakdown_report *report = page->report;
    for (uint32_t i = 0; i < report->program_count; i++) {
        char label[4 * WIDTH + 1];
        if (!report->programs[i].inspection)
            continue;
        if (report->program_count > 1)
            fprintf(page->file, "\n%s%s%s\n", page->bold,
                    text_clean(label, sizeof label, report->programs[i].label), page->plain);
        inspection_text(report->programs[i].inspection, colour, page->file);
    }
}

void breakdown_text(const struct breakdown_report *report, bool colour, FILE *file) {
    const struct page page = {.report = report,
                              .file = file,
                              .bold = colour ? "\033[1m" : "",
                              .plain = colour ? "\033[0m" : ""};
    print_head(&page);
    if (report->program_count == 1 && column_width(report) == CELL)
        print_detailed(&page);
    else
        print_columns(&page);
    print_errors(&page);
    print_reading(&page);
    print_inspections(&page, colour);
    report_text_foot(&report->report, colour, file);
}
