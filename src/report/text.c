/* The report for people: at most 100 columns, figures right-aligned, names cut with '…'. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/stalls.h"
#include "report/upgrades.h"
#include "report/what_if.h"
#include "util/text.h"

enum { WIDTH = 100, NAME_BYTES = 512, EVENT_LINES = 8, MAIN_COMPONENTS = 5 };

struct style {
    const char *bold, *dim, *plain;
};

static struct style style_of(bool colour) {
    return colour ? (struct style){"\033[1m", "\033[2m", "\033[0m"} : (struct style){"", "", ""};
}

static double total_units(const struct report *report) {
    return (double)report->simulation->cycles * CYCLE_UNITS;
}

static double ratio(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

static void cell(FILE *file, const char *text, unsigned columns, enum text_align align) {
    char fitted[4 * WIDTH + 1];
    fputs(text_fit(fitted, sizeof fitted, text, columns, align), file);
}

/* ---- head ---- */

static void print_head(const struct report *report, struct style style, FILE *file) {
    const struct simulation *simulation = report->simulation;
    const struct machine *machine = report->machine;
    char program[NAME_BYTES], machine_name[NAME_BYTES];
    text_clean(program, sizeof program, report->program);
    text_clean(machine_name, sizeof machine_name, machine->name);
    unsigned room = WIDTH - (report->partial ? 10 : 0);
    fputs(style.bold, file);
    cell(file, program, text_columns(program) < room ? text_columns(program) : room, TEXT_LEFT);
    fprintf(file, "%s%s\n", style.plain, report->partial ? " (partial)" : "");
    double cpi = ratio((double)simulation->cycles, (double)simulation->instructions);
    fprintf(file, "%s instruction%s, %s cycle%s, CPI %.3f", text_count(simulation->instructions).s,
            text_plural(simulation->instructions), text_count(simulation->cycles).s,
            text_plural(simulation->cycles), cpi);
    double half = sampling_interval(&simulation->spread);
    if (half > 0)
        fprintf(file, " ± %.3f", ratio(half, (double)simulation->instructions));
    double seconds =
        machine->clock_ghz > 0 ? (double)simulation->cycles / (machine->clock_ghz * 1e9) : -1;
    fprintf(file, "\nmachine %s at %s GHz: %s of its time", machine_name,
            text_quantity(machine->clock_ghz).s, text_duration(seconds).s);
    fprintf(file, "; %s instruction%s in %s, %s a second\n", text_count(simulation->executed).s,
            text_plural(simulation->executed), text_duration(simulation->seconds).s,
            text_quantity(ratio((double)simulation->executed, simulation->seconds)).s);
    if (report->ideal) {
        fprintf(file, "idealised:");
        for (unsigned i = 0; i < IDEAL_COUNT; i++)
            if (report->ideal & 1u << i)
                fprintf(file, " %s", ideal_name(i));
        fputc('\n', file);
    }
}

/* ---- stacks of the whole run, side by side ---- */

static void print_stacks(const struct report *report, struct style style, FILE *file) {
    const struct simulation *simulation = report->simulation;
    double total = total_units(report);
    uint32_t events = report->stack.count;
    uint32_t shown = events > EVENT_LINES ? EVENT_LINES - 1 : events;
    uint64_t rest = 0;
    for (uint32_t i = shown; i < events; i++)
        rest += report->stack.parts[i].units;
    uint32_t lines = shown + (events > shown);
    if (lines < STATE_COUNT)
        lines = STATE_COUNT;
    fprintf(file, "\n%scycles by commit state               cycles by event%s\n", style.bold,
            style.plain);
    for (uint32_t line = 0; line < lines; line++) {
        char left[WIDTH] = "", right[2 * WIDTH] = "", name[WIDTH];
        if (line < STATE_COUNT)
            snprintf(left, sizeof left, " %-10s %5s %%  %9s", commit_state_name(line),
                     text_percent((double)simulation->states[line], (double)simulation->cycles).s,
                     text_count(simulation->states[line]).s);
        if (line < events) {
            uint64_t units = line < shown ? report->stack.parts[line].units : rest;
            if (line < shown)
                psv_format(report->stack.parts[line].psv, name, sizeof name);
            else
                snprintf(name, sizeof name, "%" PRIu32 " other combinations", events - shown);
            if (line <= shown)
                snprintf(right, sizeof right, "  %-28s %5s %%  %9s", name,
                         text_percent((double)units, total).s,
                         text_count((units + CYCLE_UNITS / 2) / CYCLE_UNITS).s);
        }
        fprintf(file, right[0] ? "%-36s%s\n" : "%s\n", left, right);
    }
}

/* What outer levels count includes the prefetches of inner ones (memory.h). */
static void print_rates(const struct report *report, FILE *file) {
    const struct core_statistics *counted = &report->simulation->counted;
    double thousands = (double)report->simulation->instructions / 1000;
    const struct branch_statistics *branch = &counted->branch;
    const struct memory_statistics *memory = &counted->memory;
    const struct machine *machine = report->machine;
    uint64_t wrong = branch->conditional_wrong + branch->indirect_wrong + branch->returns_wrong;
    fprintf(file, "\nmisses per 1000 instructions: branches %.2f, L1I %.2f, L1D %.2f, DTLB %.2f",
            ratio((double)wrong, thousands), ratio((double)memory->l1i.misses, thousands),
            ratio((double)memory->l1d.misses, thousands),
            ratio((double)memory->dtlb_misses, thousands));
    if (machine->l2.present || machine->llc.present)
        fprintf(file, "\n  and with prefetches:");
    if (machine->l2.present)
        fprintf(file, " L2 %.2f%s", ratio((double)memory->l2.misses, thousands),
                machine->llc.present ? "," : "");
    if (machine->llc.present)
        fprintf(file, " LLC %.2f", ratio((double)memory->llc.misses, thousands));
    fputc('\n', file);
}

/* ---- tables ---- */

/* The components worth a column of their own, in order of size; the others are one sum. */
struct columns {
    enum component shown[COMPONENT_COUNT];
    uint32_t count;
    bool other;
};

static struct columns choose_columns(const struct report *report) {
    uint64_t units[COMPONENT_COUNT];
    stack_components(&report->stack, units);
    double total = total_units(report);
    struct columns columns = {0};
    bool used[COMPONENT_COUNT] = {false};
    while (columns.count < MAIN_COMPONENTS) {
        int best = -1;
        for (int i = 0; i < COMPONENT_COUNT; i++)
            if (!used[i] && (best < 0 || units[i] > units[best]))
                best = i;
        if (best < 0 || ratio((double)units[best], total) < 0.01)
            break;
        used[best] = true;
        columns.shown[columns.count++] = (enum component)best;
    }
    for (int i = 0; i < COMPONENT_COUNT; i++)
        columns.other |= !used[i] && ratio((double)units[i], total) >= 0.0005;
    return columns;
}

static unsigned column_width(enum component component) {
    unsigned width = (unsigned)strlen(component_name(component));
    return 1 + (width > 5 ? width : 5);
}

static unsigned columns_width(const struct columns *columns) {
    unsigned width = columns->other ? 6 : 0;
    for (uint32_t i = 0; i < columns->count; i++)
        width += column_width(columns->shown[i]);
    return width;
}

static void print_component_cells(const struct columns *columns, const struct stack *stack,
                                  double total, FILE *file) {
    uint64_t units[COMPONENT_COUNT];
    stack_components(stack, units);
    for (uint32_t i = 0; i < columns->count; i++) {
        uint64_t part = units[columns->shown[i]];
        cell(file, part ? text_percent((double)part, total).s : "·",
             column_width(columns->shown[i]), TEXT_RIGHT);
        units[columns->shown[i]] = 0;
    }
    if (columns->other) {
        uint64_t rest = 0;
        for (int i = 0; i < COMPONENT_COUNT; i++)
            rest += units[i];
        fprintf(file, "%6s", text_percent((double)rest, total).s);
    }
}

static void source_of(const struct report_row *row, char *text, size_t size) {
    if (row->file) {
        const char *slash = strrchr(row->file, '/');
        snprintf(text, size, "%s:%" PRIu32, slash && slash[1] ? slash + 1 : row->file, row->line);
    } else {
        snprintf(text, size, "%s", row->function ? row->image : "[no symbols]");
    }
}

/* "image+0xoffset"; where there is no room, it is the image's name that is cut. */
static void print_place(const struct report_row *row, unsigned columns, FILE *file) {
    char offset[32], image[NAME_BYTES], place[NAME_BYTES + sizeof offset];
    snprintf(offset, sizeof offset, "+0x%" PRIx64, row->offset);
    unsigned room = columns > strlen(offset) + 1 ? columns - (unsigned)strlen(offset) : 1;
    unsigned width = text_columns(row->image);
    text_fit(image, sizeof image, row->image, width < room ? width : room, TEXT_LEFT);
    snprintf(place, sizeof place, "%s%s", image, offset);
    cell(file, place, columns, TEXT_LEFT);
}

static void print_name(const struct report *report, const struct report_row *row, bool is_function,
                       unsigned columns, FILE *file) {
    if (!is_function && report->by == BY_IMAGE)
        cell(file, row->image, columns, TEXT_LEFT);
    else if (row->function)
        cell(file, row->function, columns, TEXT_LEFT);
    else
        print_place(row, columns, file);
}

/* Functions, lines or images. */
static void print_table(const struct report *report, const struct report_rows *rows,
                        bool is_function, struct style style, FILE *file) {
    struct columns columns = choose_columns(report);
    double total = total_units(report);
    bool has_source = is_function || report->by == BY_LINE;
    unsigned room = WIDTH - 16 - columns_width(&columns);
    unsigned name_width = has_source ? (room - 2) * 11 / 20 : room;
    unsigned source_width = has_source ? room - 2 - name_width : 0;
    struct report_row described, *row = &described;
    fprintf(file, "\n%s  share    CPI  ", style.bold);
    cell(file, has_source ? "function" : "image", name_width, TEXT_LEFT);
    if (has_source) {
        fputs("  ", file);
        cell(file, "source", source_width, TEXT_LEFT);
    }
    for (uint32_t i = 0; i < columns.count; i++)
        fprintf(file, "%*s", (int)column_width(columns.shown[i]), component_name(columns.shown[i]));
    fprintf(file, "%s%s\n", columns.other ? " other" : "", style.plain);
    for (uint32_t i = 0; i < rows->count; i++) {
        rows_get(rows, i, row);
        char text[NAME_BYTES];
        double cpi = ratio((double)row->units / CYCLE_UNITS, (double)row->executions);
        fprintf(file, "%5s %%  %5s  ", text_percent((double)row->units, total).s,
                text_quantity(cpi).s);
        print_name(report, row, is_function, name_width, file);
        if (has_source) {
            fputs("  ", file);
            source_of(row, text, sizeof text);
            cell(file, text, source_width, TEXT_LEFT);
        }
        print_component_cells(&columns, &row->stack, total, file);
        fputc('\n', file);
    }
    if (rows->total > rows->count)
        fprintf(file, "%s         %" PRIu32 " more (--top 0 shows all)%s\n", style.dim,
                rows->total - rows->count, style.plain);
}

/* As many parts as fit, largest first, in percent of the whole run. */
static void print_parts(const struct stack *stack, double total, unsigned columns, FILE *file) {
    char line[2 * WIDTH] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < stack->count; i++) {
        char name[WIDTH], part[2 * WIDTH];
        psv_format(stack->parts[i].psv, name, sizeof name);
        size_t length = (size_t)snprintf(part, sizeof part, "%s%s %s", i ? "  " : "", name,
                                         text_percent((double)stack->parts[i].units, total).s);
        bool last = i + 1 == stack->count;
        if (used + length + (last ? 0 : 2) > columns) {
            if (i == 0) /* the largest is told in any case */
                text_fit(line, sizeof line, part, columns, TEXT_LEFT);
            fprintf(file, "%s%s", line, used && used + 2 <= columns ? " …" : "");
            return;
        }
        memcpy(line + used, part, length + 1);
        used += length;
    }
    fputs(line, file);
}

static void print_instructions(const struct report *report, struct style style, FILE *file) {
    enum { PLACE = 20, SOURCE = 17, TEXT = 25, PARTS = WIDTH - 8 - PLACE - SOURCE - TEXT - 3 };
    double total = total_units(report);
    struct report_row described, *row = &described;
    fprintf(file, "\n%s  share ", style.bold);
    cell(file, "instruction", PLACE + 1, TEXT_LEFT);
    cell(file, "source", SOURCE + 1, TEXT_LEFT);
    cell(file, "text", TEXT + 1, TEXT_LEFT);
    fprintf(file, "cycle stack, %%%s\n", style.plain);
    for (uint32_t i = 0; i < report->instructions.count; i++) {
        rows_get(&report->instructions, i, row);
        char text[NAME_BYTES];
        fprintf(file, "%5s %% ", text_percent((double)row->units, total).s);
        print_place(row, PLACE, file);
        fputc(' ', file);
        if (row->file)
            source_of(row, text, sizeof text);
        else
            snprintf(text, sizeof text, "%s", row->function ? row->function : "[no symbols]");
        cell(file, text, SOURCE, TEXT_LEFT);
        fputc(' ', file);
        cell(file, row->text, TEXT, TEXT_LEFT);
        fputc(' ', file);
        print_parts(&row->stack, total, PARTS, file);
        fputc('\n', file);
    }
    if (report->instructions.total > report->instructions.count)
        fprintf(file, "%s        %" PRIu32 " more%s\n", style.dim,
                report->instructions.total - report->instructions.count, style.plain);
}

/* ---- foot ---- */

void report_text_wrapped(const char *text, const char *first, const char *margin, FILE *file) {
    unsigned column = (unsigned)fprintf(file, "%s", first);
    bool begun = false; /* the line has a word */
    while (*text) {
        size_t length = strcspn(text, " ");
        char word[NAME_BYTES], clean[NAME_BYTES];
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        unsigned width = text_columns(text_clean(clean, sizeof clean, word));
        if (begun && column + 1 + width > WIDTH) {
            fprintf(file, "\n%s", margin);
            column = (unsigned)strlen(margin);
            begun = false;
        }
        column += (unsigned)fprintf(file, begun ? " " : "") + width;
        fputs(clean, file);
        begun = true;
        text += length;
        text += *text == ' ';
    }
    fputc('\n', file);
}

static void print_legend(const struct report *report, struct style style, FILE *file) {
    uint64_t units[COMPONENT_COUNT];
    stack_components(&report->stack, units);
    fprintf(file,
            "\n%swhat the words mean%s (share of run time; cycles with several events count "
            "under the dearest)\n",
            style.bold, style.plain);
    for (int i = COMPONENT_COUNT - 1; i >= 0; i--)
        if (units[i])
            fprintf(file, " %-10s %-13s %s\n", component_name(i), component_events(i),
                    component_description(i));
    fprintf(file, " computing: instructions committed; stalled: the oldest was not done; flushed: "
                  "refilling after a\n flush; drained: the front end supplied nothing\n");
}

void report_text_head(const struct report *report, bool colour, FILE *file) {
    print_head(report, style_of(colour), file);
}

void report_text_foot(const struct report *report, bool colour, FILE *file) {
    struct style style = style_of(colour);
    fprintf(file, "\n%swhat this rests on%s\n", style.bold, style.plain);
    for (uint32_t i = 0; i < report->note_count; i++)
        report_text_wrapped(report->notes[i], " - ", "   ", file);
    if (report->next)
        report_text_wrapped(report->next, "next: ", "      ", file);
}

void report_text(const struct report *report, bool colour, FILE *file) {
    struct style style = style_of(colour);
    print_head(report, style, file);
    if (report->simulation->cycles > 0) {
        print_stacks(report, style, file);
        stalls_text(report->simulation, colour, file);
        print_rates(report, file);
        if (report->by == BY_FUNCTION)
            print_table(report, &report->functions, true, style, file);
        else if (report->by != BY_INSTRUCTION)
            print_table(report, &report->grouped, false, style, file);
        print_instructions(report, style, file);
        what_if_text(&report->simulation->breakdown, colour, file);
        upgrades_text(report, colour, file);
        if (report->plain)
            print_legend(report, style, file);
    }
    report_text_foot(report, colour, file);
}
