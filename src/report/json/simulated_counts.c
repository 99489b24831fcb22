/* Counts of a simulation, as JSON (docs/json.md). */
#include "report/simulated_counts.h"
#include "report/json_values.h"

bool simulated_counts_json(const struct simulated_counts *counts, FILE *file, struct error *error) {
    const struct report *report = counts->report;
    json_t *numbers = json_object();
    for (uint32_t i = 0; i < counts->count; i++)
        json_object_set_new(numbers, counts->items[i].key, json_count(counts->items[i].count));
    json_t *object =
        json_pack("{s:s, s:b, s:o, s:s, s:f, s:f, s:b, s:o, s:o, s:o}", "verb", report->verb,
                  "simulated", 1, "program", json_text(report->program), "machine",
                  report->machine->name, "clock_ghz", report->machine->clock_ghz, "seconds",
                  counts->seconds, "partial", report->partial, "cycles_half_interval_95",
                  counts->half_cycles < 0 ? json_null() : json_number(counts->half_cycles),
                  "counts", numbers, "top_down", levels_json(counts->levels));
    return json_write_report(object, report, file, error);
}
