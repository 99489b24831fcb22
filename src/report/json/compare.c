/* Two runs side by side, as JSON (docs/json.md). */
#include "report/compare_report.h"
#include "report/json/row.h"
#include "report/json_values.h"

static double cycles_of(int64_t units) {
    return (double)units / CYCLE_UNITS;
}

static json_t *components(const struct compared_cost *cost) {
    json_t *object = json_object();
    for (int i = COMPONENT_COUNT - 1; i >= 0; i--)
        json_object_set_new(object, component_key(i),
                            json_real(cycles_of((int64_t)cost->causes[i])));
    return object;
}

static json_t *run_json(const struct compared_run *run) {
    const double cycles = cycles_of((int64_t)run->all.units);
    const uint64_t instructions = run->all.executions;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "program", json_text(run->title),
                     "machine", json_text(run->machine), "elapsed_cycles", json_count(run->elapsed),
                     "instructions", json_count(instructions), "cpi",
                     instructions ? json_number(cycles / (double)instructions) : json_null(),
                     "half_interval_95",
                     run->half_interval < 0 ? json_null() : json_number(run->half_interval),
                     "partial", run->limited, "components", components(&run->all));
}

static json_t *side_json(const struct compared_function *function) {
    return function
               ? json_pack("{s:f, s:o, s:o}", "cycles", cycles_of((int64_t)function->cost.units),
                           "instructions", json_count(function->cost.executions), "components",
                           components(&function->cost))
               : json_null();
}

static json_t *line_json(const struct compared_line *line) {
    if (!line)
        return json_null();
    const struct compared_place *place = line->place;
    return json_pack("{s:o, s:o, s:o, s:o, s:f, s:o, s:o}", "file", json_text(place->file), "line",
                     json_known(place->line), "offset", json_count(place->offset), "text",
                     json_text(place->text), "cycles", cycles_of((int64_t)line->cost.units),
                     "instructions", json_count(line->cost.executions), "components",
                     components(&line->cost));
}

/* A type whose size is another now. */
static json_t *type_json(const struct compared_change *change) {
    return change->types[0]
               ? json_pack("{s:o, s:o, s:o}", "type", json_text(change->types[1]->type),
                           "size_before", json_count(change->types[0]->type_size), "size_after",
                           json_count(change->types[1]->type_size))
               : json_null();
}

static json_t *change_json(const struct compare_report *report,
                           const struct compared_change *change) {
    char reason[CHANGE_REASON_BYTES];
    const struct compared_function *any = change->sides[change->sides[1] ? 1 : 0];
    compare_reason(change, reason, sizeof reason);
    return json_pack("{s:o, s:o, s:f, s:f, s:o, s:o, s:s, s:f, s:s, s:o, s:o, s:o}", "function",
                     json_text(any->name), "image", json_text(any->image), "change",
                     cycles_of(change->units), "percent", compare_percent(report, change->units),
                     "before", side_json(change->sides[0]), "after", side_json(change->sides[1]),
                     "component", component_key(change->cause), "component_change",
                     cycles_of(change->cause_units), "reason", reason, "line_before",
                     line_json(change->lines[0]), "line_after", line_json(change->lines[1]),
                     "resized", type_json(change));
}

static json_t *spread_json(const struct layout_spread *spread) {
    return json_pack("{s:o, s:o, s:o, s:f, s:i, s:i}", "least_cycles",
                     json_count(spread->least_cycles), "median_cycles", json_number(spread->median),
                     "most_cycles", json_count(spread->most_cycles), "spread_percent",
                     spread->percent, "least_layout", (int)spread->least, "most_layout",
                     (int)spread->most);
}

static json_t *cycles_json(const struct layout_cycles *layouts, uint32_t count) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(array,
                              layouts[i].known ? json_count(layouts[i].cycles) : json_null());
    return array;
}

/* null: there was one layout. */
static json_t *layouts_json(const struct compare_report *report) {
    const struct layout_difference *difference = &report->difference;
    const uint32_t count = report->layout_count;
    if (!difference->count)
        return json_null();
    return json_pack(
        "{s:i, s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:f, s:f, s:o}", "count", (int)difference->count,
        "before", spread_json(&report->spreads[0]), "after", spread_json(&report->spreads[1]),
        "cycles_before", cycles_json(report->layouts[0], count), "cycles_after",
        cycles_json(report->layouts[1], count), "least_percent", difference->least, "most_percent",
        difference->most, "low_percent", layout_difference_low(difference), "high_percent",
        layout_difference_high(difference), "confidence", difference->percent.confidence,
        "estimate_half_percent",
        difference->estimate < 0 ? json_null() : json_number(difference->estimate));
}

/* null: there are none. */
static json_t *pairs_json(const struct compare_report *report) {
    const struct compare_pairs *pairs = &report->pairs;
    return pairs->count ? json_pack("{s:i}", "regions", (int)pairs->count) : json_null();
}

static json_t *changes_json(const struct compare_report *report,
                            const struct compared_change *changes, size_t count) {
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, change_json(report, &changes[i]));
    return array;
}

/* null: no Python ran of which lines are known. */
static json_t *python_json(const struct compare_report *report) {
    const struct compared_run *runs = report->python;
    if (!runs[0].count && !runs[1].count)
        return json_null();
    return json_pack("{s:f, s:f, s:o, s:o}", "cycles_before", cycles_of((int64_t)runs[0].all.units),
                     "cycles_after", cycles_of((int64_t)runs[1].all.units), "changes",
                     changes_json(report, report->compared_python.changes, report->python_count),
                     "change_count", json_count(report->python_total));
}

json_t *compare_report_object(const struct compare_report *report) {
    static const char *const VERDICTS[] = {
        [COMPARE_SAME] = "same", [COMPARE_SLOWER] = "slower", [COMPARE_FASTER] = "faster"};
    return json_pack("{s:o, s:o, s:s, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "before",
                     run_json(&report->runs[0]), "after", run_json(&report->runs[1]), "verdict",
                     VERDICTS[report->verdict], "percent", report->percent, "half_interval_95",
                     report->interval < 0 ? json_null() : json_number(report->interval), "sentence",
                     json_text(report->sentence), "pairs", pairs_json(report), "layouts",
                     layouts_json(report), "changes",
                     changes_json(report, report->compared.changes, report->count), "change_count",
                     json_count(report->total), "python", python_json(report));
}

bool compare_report_json(const struct compare_report *report, FILE *file, struct error *error) {
    json_t *object = json_pack("{s:s}", "verb", report->report.verb);
    json_t *members = compare_report_object(report);
    if (!object || !members || json_object_update_new(object, members) != 0) {
        json_decref(object);
        object = NULL;
    }
    return json_write_report(object, &report->report, file, error);
}
