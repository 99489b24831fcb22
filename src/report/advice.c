#include "report/advice.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/json_values.h"
#include "report/report.h"
#include "report/short_name.h"
#include "report/upgrades.h"
#include "simulate/thread_what_if.h"
#include "study/struct_run.h"
#include "util/file_name.h"
#include "util/text.h"

enum { PLACE = 32, HOT_NAMES = 160 };

bool advice_costs(const struct report *report, struct multisim_cost costs[MULTISIM_CATEGORIES]) {
    const struct what_if *what_if = &report->what_if;
    const struct thread_what_ifs *threads = report->threads.what_ifs;
    memset(costs, 0, MULTISIM_CATEGORIES * sizeof *costs);
    for (uint32_t i = 0; what_if->breakdown.cycles && i < MULTISIM_CATEGORIES; i++)
        costs[i] = sampled_multisim_cost(&what_if->sample, &what_if->run, 1u << i);
    for (size_t i = 0; threads && i < threads->count; i++)
        if (threads->items[i].kind == WHAT_IF_IDEAL &&
            threads->items[i].ideal < MULTISIM_CATEGORIES)
            costs[threads->items[i].ideal].share = fmax(0, threads->items[i].saved);
    return what_if->breakdown.cycles || threads;
}

static void insert(struct advice_list *list, const struct advice *advice) {
    int at = list->count < ADVICE_MOST ? list->count++ : ADVICE_MOST - 1;
    if (list->items[at].image && list->items[at].saving >= advice->saving && at == ADVICE_MOST - 1)
        return;
    for (; at > 0 && list->items[at - 1].saving < advice->saving; at--)
        list->items[at] = list->items[at - 1];
    list->items[at] = *advice;
}

/* What threads do to each other, and was simulated otherwise. */
static void add_threads(const struct thread_what_ifs *threads, struct advice_list *list) {
    for (size_t i = 0; threads && i < threads->count; i++) {
        const struct thread_what_if *what = &threads->items[i];
        if ((what->kind == WHAT_IF_PADDING || what->kind == WHAT_IF_COPIES) &&
            what->saved >= ADVICE_LEAST)
            insert(list, &(struct advice){.kind = what->kind == WHAT_IF_PADDING ? ADVICE_PADDING
                                                                                : ADVICE_COPIES,
                                          .saving = what->saved,
                                          .lines = what->count,
                                          .everywhere = true});
    }
}

/* What was simulated with a struct laid out anew. */
static void add_fields(const struct struct_run *structs, struct advice_list *list) {
    const struct struct_remedy *best = structs ? struct_run_best(structs) : NULL;
    if (!best)
        return;
    const double saving = 1 - (double)best->cycles / (double)structs->simulation->cycles;
    if (saving >= ADVICE_LEAST)
        insert(list, &(struct advice){.kind = ADVICE_FIELDS,
                                      .saving = saving,
                                      .evidence = (double)structs->map.miss_units / CYCLE_UNITS /
                                                  (double)structs->simulation->cycles,
                                      .map = &structs->map,
                                      .least = best->least});
}

bool advice_build(const struct report *report, const struct code *code, struct program *program,
                  const struct struct_run *structs, struct advice_list *list, struct error *error) {
    struct multisim_cost costs[MULTISIM_CATEGORIES];
    const double cycles = (double)report->simulation->cycles;
    *list = (struct advice_list){.interval_unknown = report->what_if.interval_unknown};
    if (!advice_costs(report, costs) || !(cycles > 0))
        return true;
    const struct advice_request request = {
        .simulation = report->simulation,
        .code = code,
        .program = program,
        .machine = report->machine,
        .costs = costs,
        .split = report->what_if.breakdown.cycles
                     ? sampled_multisim_split(&report->what_if.sample, &report->what_if.run)
                     : (struct multisim_cost){0},
        .translation = (double)report->simulation->counted.memory.dtlb_wait_cycles / cycles,
        .bus = memory_bus_cycles(report) / cycles};
    const int count = advice_find(&request, list->items, error);
    list->count = count < 0 ? 0 : count;
    add_threads(report->threads.what_ifs, list);
    add_fields(structs, list);
    return count >= 0;
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

/* "struct node (key, next)" */
static void put_fields(const struct advice *advice, FILE *file) {
    char names[HOT_NAMES];
    struct_map_hot_names(advice->map, advice->least, names, sizeof names);
    fprintf(file, "%s (%s)", advice->map->type, names);
}

static void put_advice(const struct advice_list *list, const struct advice *advice,
                       const struct page *page) {
    const struct advice_row *row = &advice_table[advice->kind];
    char *text = NULL;
    size_t size;
    FILE *line = open_memstream(&text, &size);
    if (!line)
        return;
    fprintf(line, "%5s ", text_percent(advice->saving, 1).s);
    if (!list->interval_unknown)
        fprintf(line, "±%s ", text_percent(advice->half_interval, 1).s);
    fprintf(line, "%-10s ", row->name);
    if (advice->lines) {
        fprintf(line, "%s (%s: %" PRIu64, row->sentence, row->evidence, advice->lines);
    } else {
        fputs(advice->everywhere ? "most at " : "", line);
        if (advice->map)
            put_fields(advice, line);
        else
            put_place(advice, line);
        if (advice->splits)
            fprintf(line, ": %s (%s %% %s", row->sentence, text_percent(advice->evidence, 1).s,
                    row->evidence);
        else
            fprintf(line, ": %s (%s: %s %%", row->sentence, row->evidence,
                    text_percent(advice->evidence, 1).s);
    }
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
        put_advice(list, &list->items[i], page);
}

static json_t *hot_of(const struct advice *advice) {
    if (!advice->map)
        return json_null();
    json_t *array = json_array();
    for (uint32_t i = 0; i < advice->map->count; i++)
        if (advice->map->fields[i].executions >= advice->least)
            json_array_append_new(array, json_text(advice->map->fields[i].name));
    return array;
}

json_t *advice_json(const struct advice_list *list) {
    json_t *array = json_array();
    for (int i = 0; i < list->count; i++) {
        const struct advice *advice = &list->items[i];
        const struct advice_row *row = &advice_table[advice->kind];
        json_array_append_new(
            array,
            json_pack("{s:s, s:f, s:o, s:f, s:s, s:s, s:s, s:o, s:I, s:o, s:o, s:i, s:b, s:o, s:o, "
                      "s:o, s:o}",
                      "kind", row->name, "saving_percent", 100 * advice->saving, "half_interval_95",
                      list->interval_unknown ? json_null() : json_real(100 * advice->half_interval),
                      "evidence_percent", 100 * advice->evidence, "evidence", row->evidence, "try",
                      row->sentence, "check", row->check, "image", json_text(advice->image),
                      "offset", (json_int_t)advice->offset, "function", json_text(advice->function),
                      "file", json_text(advice->file), "line", (int)advice->line, "everywhere",
                      advice->everywhere, "lines", json_known(advice->lines), "splits",
                      json_known(advice->splits), "type",
                      json_text(advice->map ? advice->map->type : NULL), "hot", hot_of(advice)));
    }
    return array;
}
