/* The shape of `perf stat`: a count, its name, and behind "#" what it is of. */
#include <inttypes.h>
#include <string.h>

#include "report/simulated_counts.h"

enum { COUNT_COLUMNS = 18, NAME_COLUMNS = 20, LINE_BYTES = 256, LEVELS_SHOWN = 2 };

static void print_count(const struct simulated_counts *counts, const struct simulated_count *count,
                        const struct page *page) {
    char line[LINE_BYTES];
    int used = snprintf(line, sizeof line, "%*s  %-*s", COUNT_COLUMNS, text_grouped(count->count).s,
                        count->of ? NAME_COLUMNS : 0, count->name);
    if (count->of && count->rate)
        used += snprintf(line + used, sizeof line - (size_t)used, "  # %7.3f  %s", count->share,
                         count->of);
    else if (count->of)
        used += snprintf(line + used, sizeof line - (size_t)used, "  # %6.2f %% %s",
                         100 * count->share, count->of);
    if (!strcmp(count->key, "cycles") && counts->half_cycles > 0)
        snprintf(line + used, sizeof line - (size_t)used, "  ( ± %.2f %% )",
                 100 * counts->half_cycles / (double)count->count);
    page_clip(page, line, page->columns);
    fputc('\n', page->file);
}

/* The first two levels; the whole tree is that of explain --levels. */
static void print_levels(const struct simulated_counts *counts, const struct page *page) {
    const struct levels *levels = counts->levels;
    for (uint32_t i = 0; i < slot_level_count; i++) {
        const struct slot_level *level = &slot_levels[i];
        char line[LINE_BYTES];
        if (level->depth > LEVELS_SHOWN)
            continue;
        const uint64_t slots = slot_level_slots(level, levels->classes);
        snprintf(line, sizeof line, "%*s  %*s%-*s  # %6.2f %% of all slots", COUNT_COLUMNS,
                 text_grouped(slots).s, 2 * (level->depth - 1), "",
                 NAME_COLUMNS - 2 * (level->depth - 1), level->name,
                 levels->slots ? 100 * (double)slots / (double)levels->slots : 0);
        page_clip(page, line, page->columns);
        fputc('\n', page->file);
    }
}

void simulated_counts_text(const struct simulated_counts *counts, const struct page *page) {
    const struct report *report = counts->report;
    page_title(page, report->program, report->partial);
    page_print(page, "simulated, not counted here: machine %s at %.2f GHz", report->machine->name,
               report->machine->clock_ghz);
    report_text_chosen(&report->machine->chosen, page);
    report_text_ideal(report, page);
    report_text_children(report, page);
    fputc('\n', page->file);
    for (uint32_t i = 0; i < counts->count; i++)
        print_count(counts, &counts->items[i], page);
    fputc('\n', page->file);
    print_levels(counts, page);
    fputc('\n', page->file);
    page_print(page, "%18.6f  seconds of its time", counts->seconds);
    report_text_foot(report, page);
}
