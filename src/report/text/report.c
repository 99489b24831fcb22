/* The report for people: its head, its stacks side by side, its foot; rows.c has the tables.
 */
#include <inttypes.h>
#include <string.h>

#include "report/call_report.h"
#include "report/cycles.h"
#include "report/interval.h"
#include "report/levels.h"
#include "report/python_report.h"
#include "report/report.h"
#include "report/roofline.h"
#include "report/stalls.h"
#include "report/struct_report.h"
#include "report/thread_what_if.h"
#include "report/upgrades.h"
#include "util/text.h"

enum { NAME_BYTES = 512, EVENT_LINES = 8, SHARE_BYTES = 80, RATE_BYTES = 32 };

static double total_units(const struct report *report) {
    return (double)report->simulation->cycles * CYCLE_UNITS;
}

static double ratio(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

/* ---- head ---- */

void report_text_children(const struct report *report, const struct page *page) {
    const struct report_children *children = &report->children;
    const char *end = children->included ? ", included" : ": --follow";
    char name[NAME_BYTES], number[64];
    if (!children->count)
        return;
    text_clean(name, sizeof name, children->name);
    snprintf(number, sizeof number, "%" PRIu32 " children, %s %% in ", children->count,
             text_percent(children->largest, 1).s);
    page_print(page, "%s%s %% was spent in %s%s%s%s", children->at_most ? "at most " : "",
               text_percent(children->share, 1).s, children->count == 1 ? "" : number, name,
               children->count == 1 ? ", a child" : "", end);
}

static void print_machine(const struct report *report, const struct page *page) {
    const struct simulation *simulation = report->simulation;
    const struct machine *machine = report->machine;
    char name[NAME_BYTES];
    double seconds =
        machine->clock_ghz > 0 ? (double)simulation->cycles / (machine->clock_ghz * 1e9) : -1;
    const double rate = ratio((double)simulation->executed, simulation->seconds);
    const bool timed = simulation->seconds > 0;
    page_print(page, "machine %s at %s GHz: %s of its time; %s instruction%s%s%s%s%s",
               text_clean(name, sizeof name, machine->name), text_quantity(machine->clock_ghz).s,
               text_duration(seconds).s, text_count(simulation->executed).s,
               text_plural(simulation->executed), text_taken(simulation->seconds).s,
               timed ? ", " : "", timed ? text_quantity(rate).s : "", timed ? " a second" : "");
}

void report_text_chosen(const struct machine_choice_reason *chosen, const struct page *page) {
    if (chosen->by != MACHINE_BY_NAME)
        page_print(page, "  by default: %s", chosen->why);
}

void report_text_ideal(const struct report *report, const struct page *page) {
    if (!report->ideal)
        return;
    fputs("idealised:", page->file);
    for (unsigned i = 0; i < IDEAL_COUNT; i++)
        if (report->ideal & 1u << i)
            fprintf(page->file, " %s", ideal_name(i));
    fputc('\n', page->file);
}

void report_text_head(const struct report *report, const struct page *page) {
    const struct simulation *simulation = report->simulation;
    double cpi = ratio((double)simulation->cycles, (double)simulation->instructions);
    double half = simulation_interval(simulation);
    char interval[64] = "";
    page_title(page, report->program, report->partial);
    report_text_children(report, page);
    threads_text_head(&report->threads, page);
    if (half > 0)
        snprintf(interval, sizeof interval, " ± %.3f",
                 ratio(half, (double)simulation->instructions));
    page_print(page, "%s instruction%s, %s cycle%s%s, CPI %.3f%s",
               text_count(simulation->instructions).s, text_plural(simulation->instructions),
               text_count(simulation->cycles).s, text_plural(simulation->cycles),
               simulation->together.done ? " summed over threads" : "", cpi, interval);
    print_machine(report, page);
    report_text_chosen(&report->machine->chosen, page);
    report_text_ideal(report, page);
}

/* ---- stacks of the whole run, side by side ---- */

/* Whether shares have intervals, which take so many columns more. */
static unsigned interval_columns(const struct report *report) {
    const struct simulation *simulation = report->simulation;
    return simulation->regions.samples && simulation->levels == 0 ? 7 : 0;
}

/* " 30.1 %", or " 30.1 ±  0.4 %" */
static void share_text(const struct report *report, const struct stack_figure *figure, double part,
                       double whole, char *text, size_t size) {
    const double half = interval_of_share(report->simulation, figure);
    if (half < 0)
        snprintf(text, size, "%5s %%", text_percent(part, whole).s);
    else
        snprintf(text, size, "%5s ± %4s %%", text_percent(part, whole).s, text_percent(half, 1).s);
}

/* " computing   30.1 %      517 M" */
static void state_line(const struct report *report, uint32_t line, char *text, size_t size) {
    const struct simulation *simulation = report->simulation;
    text[0] = 0;
    if (line >= STATE_COUNT)
        return;
    const struct stack_figure figure = figure_of_state(line);
    char share[SHARE_BYTES];
    share_text(report, &figure, (double)simulation->states[line], (double)simulation->cycles, share,
               sizeof share);
    snprintf(text, size, " %-10s %s  %9s", commit_state_name(line), share,
             text_count(simulation->states[line]).s);
}

/* The events that are shown, then the others as one. */
struct event_lines {
    const struct report *report;
    uint32_t shown, count; /* of lines, ≤ EVENT_LINES */
    unsigned name;         /* columns */
};

static void event_name(const struct event_lines *lines, uint32_t line, char *name, size_t size) {
    const struct stack *stack = &lines->report->stack;
    if (line < lines->shown)
        psv_format(stack->parts[line].psv, name, size);
    else
        snprintf(name, size, "%" PRIu32 " other combinations", stack->count - lines->shown);
}

static struct event_lines event_lines(const struct report *report) {
    const uint32_t events = report->stack.count;
    struct event_lines lines = {.report = report,
                                .shown = events > EVENT_LINES ? EVENT_LINES - 1 : events};
    lines.count = lines.shown + (events > lines.shown);
    for (uint32_t line = 0; line < lines.count; line++) {
        char name[NAME_BYTES];
        event_name(&lines, line, name, sizeof name);
        lines.name = text_columns(name) > lines.name ? text_columns(name) : lines.name;
    }
    return lines;
}

/* " ST-L1                43.6 %      750 M" */
static void event_line(const struct event_lines *lines, uint32_t line, char *text, size_t size) {
    const struct stack *stack = &lines->report->stack;
    char name[NAME_BYTES], fitted[NAME_BYTES], share[SHARE_BYTES];
    struct stack_figure figure = {.has_state = false};
    uint64_t units = 0;
    text[0] = 0;
    if (line >= lines->count)
        return;
    event_name(lines, line, name, sizeof name);
    for (uint32_t i = line; i < (line < lines->shown ? line + 1 : stack->count); i++) {
        units += stack->parts[i].units;
        figure.signatures[stack->parts[i].psv] = true;
    }
    share_text(lines->report, &figure, (double)units, total_units(lines->report), share,
               sizeof share);
    snprintf(text, size, " %s %s  %9s",
             text_fit(fitted, sizeof fitted, name, lines->name, TEXT_LEFT), share,
             text_cycles(units).s);
}

/* One below the other where the page is too narrow for both. */
static void print_stacks(const struct report *report, const struct page *page) {
    enum { GAP = 2, WIDEST_GAP = 8, SHORTEST_NAME = 20 };
    const unsigned intervals = interval_columns(report);
    const unsigned left_columns = 30 + intervals, figures = 20 + intervals;
    static const char STATES[] = "cycles by commit state", EVENTS[] = "cycles by event";
    struct event_lines events = event_lines(report);
    const bool beside = page->columns >= left_columns + GAP + figures + SHORTEST_NAME;
    const unsigned room = page->columns - figures - (beside ? left_columns + GAP : 0);
    events.name = events.name > room ? room : events.name;
    const unsigned gap =
        beside && room - events.name < WIDEST_GAP - GAP ? GAP + room - events.name : WIDEST_GAP;
    const uint32_t lines = beside && events.count < STATE_COUNT ? STATE_COUNT : events.count;
    char left[NAME_BYTES], right[2 * NAME_BYTES], fitted[NAME_BYTES];
    if (beside)
        fprintf(page->file, "\n%s%-*s%s%s\n", page->bold, (int)(left_columns + gap), STATES, EVENTS,
                page->plain);
    else
        page_heading(page, STATES, "");
    for (uint32_t line = 0; !beside && line < STATE_COUNT; line++) {
        state_line(report, line, left, sizeof left);
        fprintf(page->file, "%s\n", left);
    }
    if (!beside)
        page_heading(page, EVENTS, "");
    for (uint32_t line = 0; line < lines; line++) {
        state_line(report, beside ? line : STATE_COUNT, left, sizeof left);
        event_line(&events, line, right, sizeof right);
        if (right[0] && beside)
            text_fit(fitted, sizeof fitted, left, left_columns + gap, TEXT_LEFT);
        else
            snprintf(fitted, sizeof fitted, "%s", left);
        fprintf(page->file, "%s%s\n", fitted, right);
    }
}

/* What outer levels count includes the prefetches of inner ones (memory.h). */
static void print_outer_rates(const struct machine *machine, const struct memory_statistics *memory,
                              double thousands, const struct page *page) {
    char l2[RATE_BYTES] = "", llc[RATE_BYTES] = "", text[4 * RATE_BYTES];
    if (machine->l2.present)
        snprintf(l2, sizeof l2, " L2 %.2f%s", ratio((double)memory->l2.misses, thousands),
                 machine->llc.present ? "," : "");
    if (machine->llc.present)
        snprintf(llc, sizeof llc, " LLC %.2f", ratio((double)memory->llc.misses, thousands));
    snprintf(text, sizeof text, "and with prefetches from within:%s%s", l2, llc);
    if (machine->l2.present || machine->llc.present)
        page_wrap(page, text, NULL, "  ", "    ");
}

static void print_rates(const struct report *report, const struct page *page) {
    const struct core_statistics *counted = &report->simulation->counted;
    double thousands = (double)report->simulation->instructions / 1000;
    const struct branch_statistics *branch = &counted->branch;
    const struct memory_statistics *memory = &counted->memory;
    const struct machine *machine = report->machine;
    uint64_t wrong = branch->conditional_wrong + branch->indirect_wrong + branch->returns_wrong;
    char text[200], decoded[RATE_BYTES] = "";
    fputc('\n', page->file);
    if (branch->op_cache_lookups)
        snprintf(decoded, sizeof decoded, " op cache %.2f,",
                 ratio((double)branch->op_cache_misses, thousands));
    /* The predictor learns as ever where branches are taken for predicted right. */
    snprintf(text, sizeof text,
             "misses per 1000 instructions: branches %.2f%s,%s L1I %.2f, L1D %.2f, DTLB %.2f",
             ratio((double)wrong, thousands), report->ideal & IDEAL_BMISP ? " (at no cost)" : "",
             decoded, ratio((double)memory->l1i.misses, thousands),
             ratio((double)memory->l1d.misses, thousands),
             ratio((double)memory->dtlb_misses, thousands));
    page_wrap(page, text, NULL, "", "  ");
    print_outer_rates(machine, memory, thousands, page);
}

/* ---- foot ---- */

void report_text_note(const struct report *report, uint32_t note, const char *first,
                      const char *margin, const struct page *page) {
    const char *text = report->notes[note];
    uint32_t command = report->note_commands[note];
    page_wrap(page, text, command ? text + command : NULL, first, margin);
}

/* Of the components that have any units. */
static void print_legend(const uint64_t units[COMPONENT_COUNT], const struct page *page) {
    page_heading(page, "what the words mean",
                 "(share of run time; cycles with several events count under the dearest)");
    for (int i = COMPONENT_COUNT - 1; i >= 0; i--) {
        char name[64];
        snprintf(name, sizeof name, " %-10s %-13s ", component_name(i), component_events(i));
        if (units[i])
            page_wrap(page, component_description(i), NULL, name, "                          ");
    }
    page_wrap(page,
              "computing: instructions committed; stalled: the oldest was not done; flushed: "
              "refilling after a flush; drained: the front end supplied nothing",
              NULL, " ", " ");
    page_wrap(page,
              "misses with the prefetches of the levels within: a level's own count only further "
              "out, so that the LLC may have more than the L2",
              NULL, " ", " ");
}

void report_text_words(const struct page *page) {
    uint64_t all[COMPONENT_COUNT];
    for (int i = 0; i < COMPONENT_COUNT; i++)
        all[i] = 1;
    print_legend(all, page);
    threads_text_words(page);
}

void report_text_foot(const struct report *report, const struct page *page) {
    if (report->note_count)
        page_heading(page, "what this rests on", "");
    for (uint32_t i = 0; i < report->note_count; i++)
        report_text_note(report, i, " - ", "   ", page);
    if (report->next)
        page_wrap(page, report->next, report->next, "next: ", "      ");
}

/* The table of --by. Where there is a tree it takes the place of the functions. */
static void print_places(const struct report *report, const struct page *page) {
    switch (report->by) {
    case BY_LOOP:
        report_text_loops(report, page);
        break;
    case BY_FIELD:
        report_text_fields(report, page);
        break;
    case BY_LINE:
    case BY_IMAGE:
        report_text_rows(report, page);
        break;
    case BY_FUNCTION:
    case BY_PATH:
        if (!report->calls)
            report_text_rows(report, page);
        break;
    case BY_INSTRUCTION:
    case BY_OBJECT:
        break;
    }
}

void report_text(const struct report *report, const struct page *page) {
    report_text_head(report, page);
    if (report->levels) {
        print_rates(report, page);
        levels_text(report->levels, page);
    } else if (report->simulation->cycles > 0) {
        print_stacks(report, page);
        stalls_text(report->simulation, page);
        print_rates(report, page);
        threads_text(&report->threads, page);
        python_report_draw(report, page);
        if (report->calls)
            call_report_draw(report->calls, page);
        print_places(report, page);
        if (report->structs)
            struct_text(report->structs, page);
        if (report->by == BY_INSTRUCTION || (!report->calls && report->by != BY_OBJECT))
            report_text_instructions(report, page);
        if (report->data.rows)
            report_text_data(report, page);
        what_if_text(&report->what_if, page);
        thread_what_ifs_text(&report->threads, page);
        advice_text(&report->advice, page);
        upgrades_text(report, page);
        uint64_t units[COMPONENT_COUNT];
        stack_components(&report->stack, units);
        if (report->legend)
            print_legend(units, page);
        if (report->legend && report->threads.together)
            threads_text_words(page);
        if (!report->legend && !strcmp(report->verb, "explain"))
            fprintf(page->file, "\n%swhat the words mean: culprit explain --legend%s\n", page->dim,
                    page->plain);
    }
    if (report->roofline)
        roofline_text(report->roofline, page);
    report_text_foot(report, page);
}
