/* --loads for people: what the misses of each load cost, how pairs of loads interact, and what that
 * means. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/inspection_report.h"
#include "util/text.h"

enum { PAIR_HEAD = 5, PAIR_CELL = 8, PAIR_LEAST = 6 };

static struct text percent(const struct inspection_report *report, int64_t cycles) {
    return text_percent((double)cycles, (double)report->inspection->loads.cycles);
}

static void print_loads(const struct inspection_report *report, const struct page *page) {
    static const char *const FIGURES[] = {"  no", "saves %", " % path", " miss %", " cycles"};
    const struct load_costs *costs = &report->inspection->loads;
    struct table *table = table_new(page);
    for (size_t i = 0; i < sizeof FIGURES / sizeof *FIGURES; i++)
        table_column(table, FIGURES[i], TABLE_FIGURE, .gap = i > 0);
    inspection_place_columns(table);
    for (uint32_t i = 0; i < costs->count; i++) {
        const struct load_cost *load = &costs->loads[i];
        double executions = (double)load->tally.executions, misses = (double)load->tally.misses;
        table_figure(table, "%" PRIu32, i + 1);
        table_cell(table, percent(report, load->cost).s);
        table_cell(table, percent(report, load->path).s);
        table_cell(table, text_percent(misses, executions).s);
        table_cell(table, text_quantity((double)load->tally.wait / misses).s);
        inspection_place_cells(report, load->insn, table);
    }
    table_end(table);
    page_print(page, " all%8s   together; the misses of all loads and stores (dmiss): %s",
               percent(report, costs->together).s, percent(report, costs->dmiss).s);
}

static void print_pairs(const struct inspection_report *report, const struct page *page) {
    const struct load_costs *costs = &report->inspection->loads;
    FILE *file = page->file;
    const int room = ((int)page->columns - PAIR_HEAD) / (int)costs->paired;
    const int cell = room < PAIR_LEAST ? PAIR_LEAST : room < PAIR_CELL ? room : PAIR_CELL;
    fprintf(file, "\n%s interaction, %% of time%s\n     ", page->bold, page->plain);
    for (uint32_t k = 0; k < costs->paired; k++)
        fprintf(file, "%*" PRIu32, cell, costs->pairs[k] + 1);
    for (uint32_t a = 0; a < costs->paired; a++) {
        fprintf(file, "\n%4" PRIu32 " ", costs->pairs[a] + 1);
        for (uint32_t b = 0; b < costs->paired; b++)
            fprintf(file, "%*s", cell, a == b ? "." : percent(report, costs->icost[a][b]).s);
    }
    fputc('\n', file);
}

struct pair {
    uint32_t a, b; /* indices of costs->pairs */
    int64_t icost;
};

/* Pairs over the threshold, largest |icost| first; at most LOAD_READINGS of them. */
static uint32_t strongest(const struct inspection_report *report,
                          struct pair pairs[LOAD_READINGS]) {
    const struct load_costs *costs = &report->inspection->loads;
    uint32_t count = 0;
    for (uint32_t a = 0; a < costs->paired; a++)
        for (uint32_t b = a + 1; b < costs->paired; b++) {
            int64_t icost = costs->icost[a][b];
            double size = fabs((double)icost);
            uint32_t at = count;
            if (!icost || size < report->threshold * (double)costs->cycles)
                continue;
            while (at > 0 && size > fabs((double)pairs[at - 1].icost))
                at--;
            if (at == LOAD_READINGS)
                continue;
            count += count < LOAD_READINGS;
            memmove(&pairs[at + 1], &pairs[at], (count - at - 1) * sizeof *pairs);
            pairs[at] = (struct pair){a, b, icost};
        }
    return count;
}

uint32_t inspection_read_loads(const struct inspection_report *report,
                               char text[LOAD_READINGS][LOAD_READING_BYTES]) {
    const struct load_costs *costs = &report->inspection->loads;
    struct pair pairs[LOAD_READINGS];
    uint32_t count = strongest(report, pairs);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t a = costs->pairs[pairs[i].a], b = costs->pairs[pairs[i].b];
        int64_t alone = costs->loads[a].cost, other = costs->loads[b].cost;
        const char *word = pairs[i].icost > 0 ? "overlap" : "are in series",
                   *advice = pairs[i].icost > 0 ? "prefetch both" : "prefetching one is enough";
        snprintf(text[i], LOAD_READING_BYTES,
                 "loads %" PRIu32 " and %" PRIu32
                 " %s: without their misses %s %% less time, alone %s %% and %s %%: %s",
                 a + 1, b + 1, word, percent(report, alone + other + pairs[i].icost).s,
                 percent(report, alone).s, percent(report, other).s, advice);
    }
    return count;
}

static void print_reading(const struct inspection_report *report, const struct page *page) {
    char text[LOAD_READINGS][LOAD_READING_BYTES];
    uint32_t count = inspection_read_loads(report, text);
    for (uint32_t i = 0; i < count; i++)
        page_wrap(page, text[i], NULL, " - ", "   ");
    if (count)
        return;
    snprintf(text[0], sizeof text[0],
             "no two of them interact by %s %% of the time or more: each can be judged alone",
             text_percent(report->threshold, 1).s);
    page_wrap(page, text[0], NULL, " - ", "   ");
}

void loads_text(const struct inspection_report *report, const struct page *page) {
    FILE *file = page->file;
    const struct load_costs *costs = &report->inspection->loads;
    page_heading(page,
                 "loads:", "time without the misses of each, as perfect prefetching would have it");
    if (!costs->count) {
        fputs(" - no load missed the first-level cache or its TLB\n", file);
        return;
    }
    print_loads(report, page);
    if (costs->paired < 2)
        return;
    print_pairs(report, page);
    print_reading(report, page);
}
