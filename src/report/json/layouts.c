/* A program under several layouts, as JSON (docs/json.md). */
#include "report/json/row.h"
#include "report/json_values.h"
#include "report/layouts_report.h"
#include "trace/memory_layout.h"

static double cycles_of(uint64_t units) {
    return (double)units / CYCLE_UNITS;
}

static json_t *layout_json(const struct layout_cycles *run, uint32_t number) {
    const struct memory_layout layout = memory_layout(number);
    return json_pack(
        "{s:i, s:o, s:o, s:o, s:i, s:i, s:i, s:i}", "layout", (int)number, "cycles",
        json_count(run->cycles), "instructions", json_count(run->instructions), "half_interval_95",
        run->half_interval < 0 ? json_null() : json_number(run->half_interval), "stack_bytes",
        (int)layout.stack_bytes, "heap_bytes", (int)layout.heap_bytes, "program_pages",
        (int)layout.program_pages, "library_pages", (int)layout.library_pages);
}

static json_t *function_json(const struct layout_function *function) {
    return json_pack("{s:o, s:o, s:f, s:f, s:f, s:s, s:o, s:o}", "function",
                     json_text(function->name), "image", json_text(function->image),
                     "variance_share", function->share, "least_cycles", cycles_of(function->least),
                     "most_cycles", cycles_of(function->most), "component",
                     component_key(function->component), "file", json_text(function->file), "line",
                     json_known(function->line));
}

bool layouts_report_json(const struct layouts_report *report, FILE *file, struct error *error) {
    const struct layout_spread *spread = &report->spread;
    json_t *layouts = json_array(), *functions = json_array();
    for (uint32_t i = 0; i < report->count; i++)
        if (report->layouts[i].known)
            json_array_append_new(layouts, layout_json(&report->layouts[i], i));
    for (size_t i = 0; i < report->shown; i++)
        json_array_append_new(functions, function_json(&report->functions[i]));
    json_t *object =
        json_pack("{s:s, s:o, s:s, s:i, s:o, s:o, s:o, s:f, s:i, s:i, s:o, s:o, s:o}", "verb",
                  report->report.verb, "program", json_text(report->title), "machine",
                  report->machine->name, "layout_count", (int)spread->count, "least_cycles",
                  json_count(spread->least_cycles), "median_cycles", json_number(spread->median),
                  "most_cycles", json_count(spread->most_cycles), "spread_percent", spread->percent,
                  "least_layout", (int)spread->least, "most_layout", (int)spread->most, "layouts",
                  layouts, "functions", functions, "function_count", json_count(report->varied));
    return json_write_report(object, &report->report, file, error);
}
