/* The validation as one JSON object; every key is documented in docs/json.md. */
#include "report/validation.h"
#include "report/json_values.h"

static json_t *metrics_object(const struct metrics *metrics) {
    static const char *const MISSES[] = {"branches", "l1i", "l1d", "l2", "llc", "itlb", "dtlb"};
    const double *values = metrics->values;
    json_t *states = json_object(), *parts = json_object(), *misses = json_object();
    for (int i = 0; i < STATE_COUNT; i++)
        json_object_set_new(states, commit_state_name((enum commit_state)i),
                            json_real(values[METRIC_STATES + i]));
    for (int i = 0; i < PART_COUNT; i++)
        json_object_set_new(parts, part_name((unsigned)i), json_real(values[METRIC_PARTS + i]));
    for (int i = METRIC_MISSES; i < METRIC_COUNT; i++)
        json_object_set_new(misses, MISSES[i - METRIC_MISSES], json_real(values[i]));
    return json_pack("{s:f, s:o, s:o, s:o}", "cpi", values[METRIC_CPI], "commit_states", states,
                     "events", parts, "misses_per_1000", misses);
}

static json_t *choice_object(const struct validation *validation) {
    return json_pack("{s:o, s:o, s:f}", "whole", metrics_object(&validation->whole), "regions",
                     metrics_object(&validation->within), "cpi_error",
                     validation_cpi_error(&validation->within, &validation->whole));
}

static json_t *markers_object(const struct validation_report *report) {
    const struct marker_check *markers = &report->markers;
    const struct region_list *list = report->validation->list;
    if (!markers->checked && !report->markers_failed)
        return json_null();
    return json_pack(
        "{s:o, s:I, s:b, s:I, s:I, s:o}", "failure", json_text(report->markers_failed), "reached",
        (json_int_t)markers->captured, "in_order", markers->in_order, "moved",
        (json_int_t)markers->moved, "largest_skew", (json_int_t)markers->largest, "region",
        markers->moved ? json_integer(list->regions[markers->region].id) : json_null());
}

static json_t *trials_array(const struct validation *validation) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < validation->trial_count; i++) {
        const struct validation_trial *trial = &validation->trials[i];
        uint32_t at = trial->largest;
        json_array_append_new(
            array,
            json_pack("{s:o, s:b, s:f, s:o, s:f, s:f, s:f, s:I}", "warm_up",
                      trial->warm_up == UINT64_MAX ? json_null() : json_count(trial->warm_up),
                      "captured", trial->captured, "warmed_instructions", trial->warmed, "regions",
                      metrics_object(&trial->metrics), "cpi_error",
                      validation_cpi_error(&trial->metrics, &validation->within), "total_cpi_error",
                      validation_cpi_error(&trial->metrics, &validation->whole),
                      "largest_cpi_error", validation_error(trial->cpi[at], validation->cpi[at]),
                      "largest_region", (json_int_t)validation->list->regions[at].id));
    }
    return array;
}

static json_t *regions_array(const struct validation *validation) {
    json_t *array = json_array();
    for (size_t i = 0; i < validation->list->region_count; i++) {
        const struct region *region = &validation->list->regions[i];
        json_t *alone = json_array();
        for (uint32_t k = 0; k < validation->trial_count; k++)
            json_array_append_new(alone, json_real(validation->trials[k].cpi[i]));
        json_array_append_new(
            array,
            json_pack("{s:I, s:I, s:I, s:I, s:f, s:f, s:o}", "region", (json_int_t)region->id,
                      "thread", (json_int_t)region->thread, "first", (json_int_t)region->first,
                      "instructions", (json_int_t)region->instructions, "weight", region->weight,
                      "cpi", validation->cpi[i], "cpi_alone", alone));
    }
    return array;
}

static json_t *hardware_object(const struct hardware_reference *hardware) {
    return hardware->known
               ? json_pack("{s:I, s:I}", "instructions", (json_int_t)hardware->instructions,
                           "cycles", (json_int_t)hardware->cycles)
               : json_null();
}

bool validation_json(const struct validation_report *report, FILE *file, struct error *error) {
    const struct validation *validation = report->validation;
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:f, s:b, s:I, s:I, s:I, s:o, s:s, s:f, s:o, s:o, s:o, s:o, s:o, "
        "s:o}",
        "verb", json_text(report->report.verb), "program", json_text(report->report.program),
        "machine", json_text(report->report.machine->name), "machine_chosen",
        json_chosen(report->report.machine), "clock_ghz", report->report.machine->clock_ghz,
        "partial", report->report.partial, "instructions", (json_int_t)validation->instructions,
        "cycles", (json_int_t)validation->cycles, "instructions_in_regions",
        (json_int_t)validation->simulated, "method", json_text(validation->list->method),
        "reference", "simulation", "seconds", validation->seconds, "hardware",
        hardware_object(&report->hardware), "choice", choice_object(validation), "markers",
        markers_object(report), "markers_not_tried", json_text(report->markers_kept), "cold_start",
        trials_array(validation), "regions", regions_array(validation));
    return json_write_report(object, &report->report, file, error);
}
