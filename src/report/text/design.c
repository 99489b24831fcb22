/* The points of a design, for people. */
#include <inttypes.h>
#include <math.h>

#include "report/design_report.h"
#include "report/table.h"

/* Cycles that the costliest components have, in percent. */
static void put_costliest(struct table *table, const struct design_result *result) {
    uint64_t all = 0;
    int first = 0, second;
    char text[96];
    for (int i = 0; i < COMPONENT_COUNT; i++) {
        all += result->components[i];
        first = result->components[i] > result->components[first] ? i : first;
    }
    second = first ? 0 : 1;
    for (int i = second + 1; i < COMPONENT_COUNT; i++)
        if (i != first && result->components[i] > result->components[second])
            second = i;
    const int length = snprintf(text, sizeof text, "%s %s", component_name((enum component)first),
                                text_percent((double)result->components[first], (double)all).s);
    if (result->components[second] && length > 0 && (size_t)length < sizeof text)
        snprintf(text + length, sizeof text - (size_t)length, ", %s %s",
                 component_name((enum component)second),
                 text_percent((double)result->components[second], (double)all).s);
    table_cell(table, text);
}

static void put_interval(struct table *table, const struct design_result *result) {
    if (result->half_interval > 0)
        table_figure(table, "±%.2f %%", 100 * result->half_interval / (double)result->cycles);
    else
        table_cell(table, result->half_interval < 0 ? "?" : "");
}

static void put_point(const struct design_report *report, struct table *table, uint32_t number) {
    const struct design *design = report->design;
    const struct design_point *point = &design->points[number];
    const bool done = design_point_is_done(point);
    if (design->machines.count > 1)
        table_cell(table, design->machines.values[point->machine]);
    for (size_t i = 0; i < design->axis_count; i++)
        if (design->axes[i].count > 1)
            table_cell(table, design_value(design, point, i));
    if (!done) {
        table_cell(table, point->state == DESIGN_FAILED ? "failed" : "missing");
        for (int i = 0; i < 3; i++)
            table_cell(table, "");
    } else {
        table_cell(table, text_count(point->result.cycles).s);
        put_interval(table, &point->result);
        table_figure(table, "%.3f", design_point_cpi(point));
        table_figure(table, "%.3f", report->summary.speeds[number]);
    }
    if (design->cost) {
        table_cell(table, isfinite(point->cost) ? text_quantity(point->cost).s : "");
        table_cell(table, design_report_front(report, number) ? "*" : "");
    }
    if (done)
        put_costliest(table, &point->result);
    else
        table_cell(table, "");
}

static void add_columns(const struct design *design, struct table *table) {
    unsigned gap = 0;
    if (design->machines.count > 1) {
        table_column(table, "machine", TABLE_NAME, .gap = gap, .least = 8);
        gap = 2;
    }
    for (size_t i = 0; i < design->axis_count; i++)
        if (design->axes[i].count > 1) {
            table_column(table, design->axes[i].key, TABLE_FIGURE, .gap = gap);
            gap = 2;
        }
    table_column(table, "cycles", TABLE_FIGURE, .gap = gap);
    table_column(table, "", TABLE_FIGURE, .gap = 1);
    table_column(table, "CPI", TABLE_FIGURE, .gap = 2);
    table_column(table, "speed", TABLE_FIGURE, .gap = 2);
    if (design->cost) {
        table_column(table, "cost", TABLE_FIGURE, .gap = 2);
        table_column(table, "", TABLE_WORD, .gap = 1);
    }
    table_column(table, "most cycles, %", TABLE_TEXT, .gap = 2, .least = 14, .rank = 1);
}

static void print_program(const struct design_report *report, size_t program,
                          const struct page *page) {
    const struct design *design = report->design;
    const size_t each = design_configurations(design);
    const struct design_program *of = &design->programs[program];
    const char *how = of->capture.how == DESIGN_BY_REGIONS ? "by regions"
                      : of->capture.how == DESIGN_SAMPLED  ? "sampled systematically"
                                                           : "all simulated";
    fputc('\n', page->file);
    page_title(page, of->name, false);
    if (of->captured && design->machines.count < 2)
        page_print(page, "%s instructions on %s, %s", text_count(of->capture.instructions).s,
                   design->points[program * each].machine_name, how);
    else if (of->captured)
        page_print(page, "%s instructions, %s", text_count(of->capture.instructions).s, how);
    struct table *table = table_new(page);
    add_columns(design, table);
    for (size_t i = 0; i < each; i++)
        put_point(report, table, report->order[program * each + i]);
    table_end(table);
}

/* Of several programs: the front is theirs together. */
static void print_front(const struct design_report *report, const struct page *page) {
    const struct design *design = report->design;
    if (design->program_count < 2)
        return;
    page_heading(page, "all programs that could be run", "in the geometric mean");
    struct table *table = table_new(page);
    table_column(table, "speed", TABLE_FIGURE, .gap = 0);
    if (design->cost) {
        table_column(table, "cost", TABLE_FIGURE, .gap = 2);
        table_column(table, "", TABLE_WORD, .gap = 1);
    }
    table_column(table, "configuration", TABLE_TEXT, .gap = 2, .least = 20);
    for (size_t i = 0; i < design_configurations(design); i++) {
        char name[256];
        if (!(report->summary.means[i] > 0))
            continue;
        design_point_name(design, design_configuration(design, i), name, sizeof name);
        table_figure(table, "%.3f", report->summary.means[i]);
        if (design->cost) {
            table_cell(table, text_quantity(design_configuration(design, i)->cost).s);
            table_cell(table, report->summary.front[i] ? "*" : "");
        }
        table_cell(table, name);
    }
    table_end(table);
}

/* ---- effects ---- */

static void put_main(const struct design_report *report, uint32_t factor, struct table *table) {
    const struct factorial *effects = &report->summary.effects;
    char text[512];
    int length = 0;
    table_figure(table, "%.1f %%", 100 * effects->shares[factor]);
    table_cell(table, design_factor_name(report->design, factor));
    text[0] = 0;
    for (uint32_t i = 0; i < effects->levels[factor] && (size_t)length < sizeof text; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%s%.100s %+.2f %%",
                           i ? ", " : "", design_factor_level(report->design, factor, i),
                           text_shown(100 * expm1(effects->effects[factor][i]), 2));
    table_cell(table, text);
}

static void put_pair(const struct design_report *report, const struct factorial_pair *pair,
                     struct table *table) {
    const struct design *design = report->design;
    const uint32_t *factors = pair->factors;
    char text[512];
    table_figure(table, "%.1f %%", 100 * pair->share);
    snprintf(text, sizeof text, "%.100s x %.100s", design_factor_name(design, factors[0]),
             design_factor_name(design, factors[1]));
    table_cell(table, text);
    snprintf(text, sizeof text, "%.100s with %.100s %+.2f %%",
             design_factor_level(design, factors[0], pair->levels[0]),
             design_factor_level(design, factors[1], pair->levels[1]),
             text_shown(100 * expm1(pair->largest), 2));
    table_cell(table, text);
}

static void print_effects(const struct design_report *report, const struct page *page) {
    const struct factorial *effects = &report->summary.effects;
    if (!effects->factor_count || !(effects->squares > 0))
        return;
    page_heading(page, "what matters",
                 "as shares of the differences of ln(cycles), and against the geometric mean");
    struct table *table = table_new(page);
    table_column(table, "share", TABLE_FIGURE, .gap = 0);
    table_column(table, "of", TABLE_NAME, .gap = 2, .least = 12);
    table_column(table, "cycles", TABLE_TEXT, .gap = 2, .least = 20);
    for (uint32_t i = 0; i < effects->factor_count; i++)
        if (effects->levels[i] > 1)
            put_main(report, i, table);
    for (size_t i = 0; i < effects->pair_count; i++)
        put_pair(report, &effects->pairs[i], table);
    if (effects->rest > 0.0005) {
        table_figure(table, "%.1f %%", 100 * effects->rest);
        table_cell(table, "three or more");
        table_cell(table, "");
    }
    table_end(table);
}

void design_report_text(const struct design_report *report, const struct page *page) {
    const struct design *design = report->design;
    page_print(page, "%zu point%s: %zu simulated, %zu known from before, %zu failed",
               design->point_count, text_plural(design->point_count), design->simulated,
               design->kept, design->failed);
    for (size_t i = 0; i < design->program_count; i++)
        print_program(report, i, page);
    print_front(report, page);
    print_effects(report, page);
    report_text_foot(&report->report, page);
}
