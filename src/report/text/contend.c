/* Contention as text. */
#include <math.h>

#include "report/contend_report.h"
#include "util/text.h"

enum { NAME_COLUMNS = 24, NARROW_COLUMNS = 16, NARROW_PAGE = 66 /* columns, and less */ };

/* Below these nobody notices. */
#define FEW_MISSES 0.005 /* per 1000 instructions */
#define FEW_OF_ALL 0.005

static double extra_l1d(const struct contend_program *program) {
    return program->beside.l1d - program->alone.l1d;
}

static void print_head(const struct contend_report *report, const struct page *page) {
    const struct machine *machine = report->report.machine;
    const struct machine_cache *shared = machine->llc.present ? &machine->llc : &machine->l2;
    page_title(page, report->report.program, report->report.partial);
    page_print(page, "%u thread%s on machine %s, whose %s of %s %s", report->thread_count,
               text_plural(report->thread_count), machine->name, contend_cache_name(report),
               text_bytes(shared->size).s,
               report->thread_count > 1 ? "they share" : "it has for itself");
    fputc('\n', page->file);
}

struct growth {
    char s[112];
};

/* "2.3 times as many", "12 % more" */
static struct growth growth_of(double from, double to) {
    struct growth text;
    if (from <= 0)
        snprintf(text.s, sizeof text.s, "where there were none");
    else if (to / from >= 2)
        snprintf(text.s, sizeof text.s, "%s times as many", text_quantity(to / from).s);
    else
        snprintf(text.s, sizeof text.s, "%.1f %% more", 100 * (to / from - 1));
    return text;
}

/* "; it takes 2.9 times as long", or nothing where that is unknown or nobody notices. */
static struct growth longer_of(const struct contend_program *program) {
    struct growth text = {""};
    const double ratio = program->beside.cycles / program->alone.cycles;
    const char *why = extra_l1d(program) > 0 ? " on a core that it shares" : "";
    if (!(ratio >= 1 + FEW_OF_ALL))
        return text;
    if (ratio >= 2)
        snprintf(text.s, sizeof text.s, "; it takes %s times as long%s", text_quantity(ratio).s,
                 why);
    else
        snprintf(text.s, sizeof text.s, "; it takes %.1f %% longer%s", 100 * (ratio - 1), why);
    return text;
}

static void print_fate(const struct contend_report *report, uint32_t number,
                       const struct page *page) {
    const struct contend_program *program = &report->programs[number];
    const double alone = 1000 * program->alone.shared, beside = 1000 * program->beside.shared;
    const char *cache = contend_cache_name(report), *each = program->copies > 1 ? "each " : "";
    char name[256], text[768];
    text_clip(name, sizeof name, report->labels[number], 60);
    if (report->thread_count == 1)
        snprintf(text, sizeof text, "%s is alone: nothing disturbs it", name);
    else if (beside - alone < FEW_MISSES || beside - alone < FEW_OF_ALL * alone)
        snprintf(text, sizeof text,
                 "%s%s is not disturbed in the %s: %.3f misses per 1000 instructions alone, %.3f "
                 "more beside the others%s",
                 each, name, cache, alone, fmax(beside - alone, 0), longer_of(program).s);
    else
        snprintf(text, sizeof text,
                 "%s%s misses the %s %.3f times per 1000 instructions beside the others, %.3f "
                 "times alone: %s%s",
                 each, name, cache, beside, alone, growth_of(alone, beside).s,
                 longer_of(program).s);
    page_wrap(page, text, NULL, "", "  ");
}

static void put_value(double value, int width, int digits, FILE *file) {
    if (isfinite(value))
        fprintf(file, " %*.*f", width, digits, value);
    else
        fprintf(file, " %*s", width, "-");
}

static void print_name(const struct contend_report *report, uint32_t number, unsigned columns,
                       FILE *file) {
    char name[4 * NAME_COLUMNS + 1];
    fprintf(file, "%s %6u", text_fit(name, sizeof name, report->labels[number], columns, TEXT_LEFT),
            report->programs[number].copies);
}

/* A figure alone, and what it is beside the others or how much that is more. */
struct figure {
    double alone, other;
};

static struct figure misses_of(const struct contend_program *program) {
    return (struct figure){1000 * program->alone.shared,
                           1000 * (program->beside.shared - program->alone.shared)};
}

static struct figure l1d_misses_of(const struct contend_program *program) {
    return (struct figure){1000 * program->alone.l1d, 1000 * extra_l1d(program)};
}

static struct figure cycles_of(const struct contend_program *program) {
    return (struct figure){program->alone.cycles, program->beside.cycles};
}

static void print_figures(const struct contend_report *report, const char *what, const char *other,
                          struct figure (*figure_of)(const struct contend_program *program),
                          const struct page *page) {
    FILE *file = page->file;
    const int columns = page->columns <= NARROW_PAGE ? NARROW_COLUMNS : NAME_COLUMNS;
    fprintf(file, "\n%*s  %s\n", columns + 7, "", what);
    fprintf(file, "%-*s %6s %10s %10s", columns, "program", "copies", "alone", other);
    if (report->check)
        fprintf(file, "      simulated: alone %10s", other);
    fputc('\n', file);
    for (uint32_t i = 0; i < report->program_count; i++) {
        const struct contend_program *checked = contend_checked(report, i);
        const struct figure figure = figure_of(&report->programs[i]);
        print_name(report, i, (unsigned)columns, file);
        put_value(figure.alone, 10, 3, file);
        put_value(figure.other, 10, 3, file);
        if (checked) {
            put_value(figure_of(checked).alone, 21, 3, file);
            put_value(figure_of(checked).other, 10, 3, file);
        }
        fputc('\n', file);
    }
}

void contend_text(const struct contend_report *report, const struct page *page) {
    FILE *file = page->file;
    bool l1d = false, cycles = false;
    for (uint32_t i = 0; i < report->program_count; i++) {
        l1d |= extra_l1d(&report->programs[i]) > 0;
        cycles |= isfinite(report->programs[i].beside.cycles);
    }
    print_head(report, page);
    for (uint32_t i = 0; i < report->program_count; i++)
        print_fate(report, i, page);
    char misses[64];
    snprintf(misses, sizeof misses, "%s misses per 1000 instructions", contend_cache_name(report));
    print_figures(report, misses, "extra", misses_of, page);
    if (l1d)
        print_figures(report, "L1D misses per 1000 instructions", "extra", l1d_misses_of, page);
    if (cycles)
        print_figures(report, "cycles per instruction", "beside", cycles_of, page);
    if (report->check && !report->report.partial)
        fprintf(file, "\n%s instructions simulated\n", text_count(report->check->instructions).s);
    report_text_foot(&report->report, page);
}
