/* The comparison for people: at most 100 columns, as the report. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/comparison.h"
#include "util/text.h"

enum { WIDTH = 100, LABEL = 26, NAME_BYTES = 512, PLACE = 19, TEXT = 20 };

struct style {
    const char *bold, *dim, *plain;
};

static void cell(FILE *file, const char *text, unsigned columns, enum text_align align) {
    char fitted[4 * WIDTH + 1];
    fputs(text_fit(fitted, sizeof fitted, text, columns, align), file);
}

static struct text percent(double share) {
    struct text none = {"-"};
    return isnan(share) ? none : text_percent(share, 1);
}

/* ---- errors ---- */

static const char *const HEADINGS[GRAIN_COUNT] = {"function", "basic block", "instruction"};

/* "61.8 (1.1)" */
static void print_error(double error, double floor, FILE *file) {
    char text[96];
    snprintf(text, sizeof text, "(%s)", percent(floor).s);
    fprintf(file, "  %6s %6s", percent(error).s, text);
}

static void print_errors(const struct comparison *comparison, struct style style, FILE *file) {
    fprintf(file, "\n%serror, %% (floor)", style.bold);
    fprintf(file, "%*s%10s", LABEL - 16, "", "samples");
    for (int grain = 0; grain < GRAIN_COUNT; grain++)
        fprintf(file, "  %13s", HEADINGS[grain]);
    fprintf(file, "  %13s%s\n", "cycle stacks", style.plain);
    for (uint32_t i = 0; i < comparison->count; i++) {
        const struct compared *row = &comparison->rows[i];
        fputc(' ', file);
        cell(file, row->label, LABEL - 1, TEXT_LEFT);
        fprintf(file, "%10s", text_grouped(row->result.samples).s);
        for (int grain = 0; grain < GRAIN_COUNT; grain++)
            print_error(row->error.profile[grain], row->floor.profile[grain], file);
        if (row->profiler->events)
            print_error(row->error.stacks[GRAIN_INSTRUCTION], row->floor.stacks[GRAIN_INSTRUCTION],
                        file);
        fputc('\n', file);
    }
}

static bool any_systematic(const struct comparison *comparison) {
    bool any = false;
    for (uint32_t i = 0; i < comparison->count; i++)
        any |= !isnan(comparison->rows[i].systematic.profile[GRAIN_INSTRUCTION]);
    return any;
}

/* Several configurations of one profiler have it in common. */
static bool is_first_of_profiler(const struct comparison *comparison, uint32_t index) {
    for (uint32_t i = 0; i < index; i++)
        if (comparison->rows[i].profiler == comparison->rows[index].profiler)
            return false;
    return true;
}

static void print_systematic(const struct comparison *comparison, struct style style, FILE *file) {
    if (!any_systematic(comparison))
        return;
    fprintf(file, "\n%ssystematic part, %%%*s", style.bold, LABEL + 10 - 18, "");
    for (int grain = 0; grain < GRAIN_COUNT; grain++)
        fprintf(file, "  %13s", HEADINGS[grain]);
    fprintf(file, "  %13s%s\n", "cycle stacks", style.plain);
    for (uint32_t i = 0; i < comparison->count; i++) {
        const struct compared *row = &comparison->rows[i];
        if (!is_first_of_profiler(comparison, i))
            continue;
        fputc(' ', file);
        cell(file, row->profiler->name, LABEL + 9, TEXT_LEFT);
        for (int grain = 0; grain < GRAIN_COUNT; grain++)
            fprintf(file, "  %6s %6s", percent(row->systematic.profile[grain]).s, "");
        if (row->profiler->events)
            fprintf(file, "  %6s", percent(row->systematic.stacks[GRAIN_INSTRUCTION]).s);
        fputc('\n', file);
    }
}

/* ---- commit and events, side by side ---- */

static const char *const CATEGORIES[CATEGORY_COUNT] = {
    "execute", "ALU stall", "load stall", "store stall", "front end", "mispredict", "misc. flush"};

static void print_commit_line(const struct comparison *comparison, unsigned line, FILE *file) {
    const struct simulation *simulation = comparison->report.simulation;
    char text[WIDTH] = "";
    if (line < CATEGORY_COUNT)
        snprintf(
            text, sizeof text, " %-12s %5s %%  %9s", CATEGORIES[line],
            text_percent((double)simulation->commits.categories[line], (double)simulation->cycles)
                .s,
            text_count(simulation->commits.categories[line]).s);
    fprintf(file, "%-36s", text);
}

static void print_event_line(const struct comparison *comparison, unsigned event, FILE *file) {
    const struct event_correlation *row = &comparison->events[event];
    char correlation[32];
    snprintf(correlation, sizeof correlation, "%.2f", row->correlation);
    fprintf(file, "  %-7s %10s %10s %9s %7s\n", psv_name(event), text_count(row->executions).s,
            text_count((row->units + CYCLE_UNITS / 2) / CYCLE_UNITS).s,
            text_count(row->instructions).s, isnan(row->correlation) ? "-" : correlation);
}

static void print_commits(const struct comparison *comparison, struct style style, FILE *file) {
    char heading[WIDTH];
    snprintf(heading, sizeof heading, "cycles at commit: %s program",
             program_class_name(comparison->program_class));
    fprintf(file, "\n%s%-36s  %-7s %10s %10s %9s %7s%s\n", style.bold, heading, "event", "µops",
            "  cycles", "   instr.", "      r", style.plain);
    for (unsigned line = 0; line < PSV_BITS; line++) {
        print_commit_line(comparison, line, file);
        print_event_line(comparison, line, file);
    }
}

/* ---- functions ---- */

static void print_functions(const struct comparison *comparison, struct style style, FILE *file) {
    static const char *const SHORT[CATEGORY_COUNT] = {"exec.", "ALU",    "load", "store",
                                                      "front", "mispr.", "flush"};
    enum { NAME = WIDTH - 9 - 7 * CATEGORY_COUNT };
    double total = (double)comparison->report.simulation->cycles * CYCLE_UNITS;
    fprintf(file, "\n%s  share  ", style.bold);
    cell(file, "function", NAME, TEXT_LEFT);
    for (int i = 0; i < CATEGORY_COUNT; i++)
        fprintf(file, "%7s", SHORT[i]);
    fprintf(file, "%s\n", style.plain);
    for (uint32_t i = 0; i < comparison->function_count; i++) {
        const struct function_commits *row = &comparison->functions[i];
        char place[NAME_BYTES];
        if (row->name)
            snprintf(place, sizeof place, "%s", row->name);
        else
            snprintf(place, sizeof place, "%s+0x%" PRIx64, row->image, row->offset);
        fprintf(file, "%5s %%  ", text_percent((double)row->units, total).s);
        cell(file, place, NAME, TEXT_LEFT);
        for (int category = 0; category < CATEGORY_COUNT; category++)
            fprintf(file, "%7s",
                    row->categories[category]
                        ? text_percent((double)row->categories[category], total).s
                        : "·");
        fputc('\n', file);
    }
    if (comparison->function_total > comparison->function_count)
        fprintf(file, "%s         %" PRIu32 " more (--top 0 shows all)%s\n", style.dim,
                comparison->function_total - comparison->function_count, style.plain);
}

/* ---- instructions ---- */

static unsigned column_width(const struct compared *row) {
    unsigned width = (unsigned)strlen(row->profiler->name) + 1;
    return width > 6 ? width : 6;
}

/* As many configurations as fit, from the first; each profiler once. */
static void print_insns(const struct comparison *comparison, struct style style, FILE *file) {
    unsigned room = WIDTH - PLACE - TEXT - 2 - 7;
    bool shown[comparison->count + 1];
    fprintf(file, "\n%s", style.bold);
    cell(file, "share seen by, %", PLACE + 1, TEXT_LEFT);
    cell(file, "instruction", TEXT, TEXT_LEFT);
    fprintf(file, "%7s", "Oracle");
    for (uint32_t i = 0; i < comparison->count; i++) {
        unsigned width = column_width(&comparison->rows[i]);
        shown[i] = is_first_of_profiler(comparison, i) && width <= room;
        if (!shown[i])
            continue;
        room -= width;
        fprintf(file, "%*s", (int)width, comparison->rows[i].profiler->name);
    }
    fprintf(file, "%s\n", style.plain);
    for (uint32_t row = 0; row < comparison->insn_count; row++) {
        const struct compared_insn *insn = &comparison->insns[row];
        char place[NAME_BYTES];
        snprintf(place, sizeof place, "%s+0x%" PRIx64, insn->image, insn->offset);
        fputc(' ', file);
        cell(file, place, PLACE - 1, TEXT_LEFT);
        fputc(' ', file);
        cell(file, insn->text, TEXT, TEXT_LEFT);
        fprintf(file, "%7s", percent(insn->share).s);
        for (uint32_t i = 0; i < comparison->count; i++)
            if (shown[i])
                fprintf(file, "%*s", (int)column_width(&comparison->rows[i]),
                        percent(insn->shares[i]).s);
        fputc('\n', file);
    }
}

void comparison_text(const struct comparison *comparison, bool colour, FILE *file) {
    struct style style =
        colour ? (struct style){"\033[1m", "\033[2m", "\033[0m"} : (struct style){"", "", ""};
    report_text_head(&comparison->report, colour, file);
    if (comparison->report.simulation->cycles > 0) {
        print_errors(comparison, style, file);
        print_systematic(comparison, style, file);
        print_commits(comparison, style, file);
        print_functions(comparison, style, file);
        print_insns(comparison, style, file);
    }
    report_text_foot(&comparison->report, colour, file);
}
