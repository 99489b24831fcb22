#include "report/advice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/json_values.h"
#include "report/report.h"
#include "report/short_name.h"
#include "report/upgrades.h"
#include "util/file_name.h"
#include "util/text.h"

enum { PLACE = 32 };

bool advice_build(const struct report *report, const struct code *code, struct program *program,
                  struct advice_list *list, struct error *error) {
    struct multisim_cost costs[MULTISIM_CATEGORIES];
    const struct what_if *what_if = &report->what_if;
    *list = (struct advice_list){.count = 0};
    if (!what_if->breakdown.cycles)
        return true;
    for (uint32_t i = 0; i < MULTISIM_CATEGORIES; i++)
        costs[i] = sampled_multisim_cost(&what_if->sample, &what_if->run, 1u << i);
    const double cycles = (double)report->simulation->cycles;
    const struct advice_request request = {
        .simulation = report->simulation,
        .code = code,
        .program = program,
        .costs = costs,
        .translation = (double)report->simulation->counted.memory.dtlb_wait_cycles / cycles,
        .bus = memory_bus_cycles(report) / cycles};
    list->count = advice_find(&request, list->items, error);
    return list->count >= 0;
}

/* "longest_match+0x2c, deflate.c:1148" */
static void put_place(const struct advice *advice, FILE *file) {
    if (advice->function) {
        char fitted[4 * PLACE + 1];
        fprintf(file, "%s+0x%" PRIx64, short_name(advice->function, PLACE, fitted, sizeof fitted),
                advice->offset - advice->function_offset);
    } else {
        fprintf(file, "%s+0x%" PRIx64, advice->image, advice->offset);
    }
    if (advice->file)
        fprintf(file, ", %s:%" PRIu32, file_base_name(advice->file), advice->line);
}

static void put_advice(const struct advice *advice, const struct page *page) {
    const struct advice_row *row = &advice_table[advice->kind];
    char *text = NULL;
    size_t size;
    FILE *line = open_memstream(&text, &size);
    if (!line)
        return;
    fprintf(line, "%5s ±%s %-10s %s", text_percent(advice->saving, 1).s,
            text_percent(advice->half_interval, 1).s, row->name,
            advice->everywhere ? "most at " : "");
    put_place(advice, line);
    fprintf(line, ": %s (%s: %s %%", row->sentence, row->evidence,
            text_percent(advice->evidence, 1).s);
    if (advice->lanes)
        fprintf(line, ", %u in a vector", advice->lanes);
    fprintf(line, "); culprit %s", row->check);
    if (fclose(line) == 0)
        page_wrap(page, text, NULL, "", "       ");
    free(text);
}

void advice_text(const struct advice_list *list, const struct page *page) {
    if (!list->count)
        return;
    page_heading(page, "what to try",
                 "(percent of run time saved at most; in parentheses the cycles that say so)");
    for (int i = 0; i < list->count; i++)
        put_advice(&list->items[i], page);
}

json_t *advice_json(const struct advice_list *list) {
    json_t *array = json_array();
    for (int i = 0; i < list->count; i++) {
        const struct advice *advice = &list->items[i];
        const struct advice_row *row = &advice_table[advice->kind];
        json_array_append_new(
            array,
            json_pack("{s:s, s:f, s:f, s:f, s:s, s:s, s:s, s:s, s:I, s:o, s:o, s:i, s:b}", "kind",
                      row->name, "saving_percent", 100 * advice->saving, "half_interval_95",
                      100 * advice->half_interval, "evidence_percent", 100 * advice->evidence,
                      "evidence", row->evidence, "try", row->sentence, "check", row->check, "image",
                      advice->image, "offset", (json_int_t)advice->offset, "function",
                      json_text(advice->function), "file", json_text(advice->file), "line",
                      (int)advice->line, "everywhere", advice->everywhere));
    }
    return array;
}
