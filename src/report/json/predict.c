/* A prediction as one JSON object (docs/json.md). */
#include "report/json_values.h"
#include "report/predict_report.h"

static json_t *result_object(const struct predict_report *report, uint32_t machine,
                             uint32_t method) {
    const struct hybrid_result *result = predict_result(report, machine, method);
    const double error = 100 * predict_error(report, machine, method);
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "method",
                     method ? predict_refinement_names[method - 1] : "as asked", "cpi",
                     json_number(predicted_cpi(report->prediction, result)), "error_percent",
                     json_number(error), "serialized_misses", json_number(result->serialized),
                     "misses", json_number(result->misses), "tardy_prefetches",
                     json_number(result->tardy), "distance_uops", json_number(result->distance),
                     "windows", json_number(result->windows), "compensation_cycles",
                     json_number(result->compensation));
}

static json_t *machine_object(const struct predict_report *report, uint32_t number) {
    const struct machine *machine = &report->machines[number];
    const struct predict_machine *of = &report->prediction->machines[number];
    struct hybrid_config config = {0};
    struct error error;
    predict_config(machine, &report->methods[0], &config, &error);
    json_t *results = json_array();
    for (uint32_t i = 0; i < report->method_count; i++)
        json_array_append_new(results, result_object(report, number, i));
    json_t *object = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:s, s:I, s:I, s:I, s:I, s:o}", "rob", (json_int_t)config.rob,
        "width", (json_int_t)config.width, "latency_cycles", (json_int_t)config.latency, "mshrs",
        (json_int_t)config.mshrs, "store_queue", (json_int_t)config.store_queue, "prefetcher",
        machine_prefetchers[machine->l1d.prefetcher].word, "uops", (json_int_t)of->counts.uops,
        "load_misses", (json_int_t)of->counts.load_misses, "store_misses",
        (json_int_t)of->counts.store_misses, "events", (json_int_t)of->counts.events, "predictions",
        results);
    if (object && report->checked) {
        json_object_set_new(object, "simulated_cpi",
                            json_number(simulated_cpi(report->prediction, of)));
        json_object_set_new(object, "cycles", json_count(of->cycles));
        json_object_set_new(object, "cycles_ideal_dlong", json_count(of->cycles_ideal_long));
    }
    return object;
}

static json_t *regions_object(const struct predicted_regions *regions) {
    return regions ? json_pack("{s:I, s:I, s:I}", "count", (json_int_t)regions->count, "predicted",
                               (json_int_t)regions->done, "instructions",
                               (json_int_t)regions->instructions)
                   : json_null();
}

bool predict_json(const struct predict_report *report, FILE *file, struct error *error) {
    const struct report *head = &report->report;
    const struct hybrid_prediction *prediction = report->prediction;
    const struct predict_method *method = &report->methods[0];
    json_t *machines = json_array(), *means = json_object();
    for (uint32_t i = 0; i < report->machine_count; i++)
        json_array_append_new(machines, machine_object(report, i));
    for (uint32_t i = 0; report->checked && i < report->method_count; i++)
        json_object_set_new(means, i ? predict_refinement_names[i - 1] : "as asked",
                            json_number(100 * predict_mean_error(report, i)));
    json_t *object = json_pack(
        "{s:s, s:o, s:o, s:b, s:I, s:i, s:o, s:o, s:b, s:o, s:o, s:f, s:f}", "verb", head->verb,
        "program", json_text(head->program), "machine", json_text(head->machine->name), "partial",
        (int)head->partial, "instructions", (json_int_t)prediction->instructions, "threads",
        (int)prediction->threads, "regions", regions_object(report->regions), "method",
        json_text(predict_method_text(method, true).s), "checked", (int)report->checked, "machines",
        machines, "mean_error_percent", means, "seconds", prediction->seconds, "model_seconds",
        prediction->model_seconds);
    return json_write_report(object, head, file, error);
}
