/* A calibration as JSON. */
#include <jansson.h>

#include "calibrate/machine_file.h"
#include "report/calibration_report.h"

static json_t *finding_object(const struct calibrate_run *run, const struct finding *finding) {
    static const char *const STATES[] = {"measured", "unknown", "not there"};
    char published[MACHINE_VALUE];
    json_t *object = json_object();
    json_object_set_new(object, "part", json_string(finding->part));
    json_object_set_new(object, "what", json_string(finding->what));
    json_object_set_new(object, "key", finding->key ? json_string(finding->key) : json_null());
    json_object_set_new(object, "state", json_string(STATES[finding->state]));
    json_object_set_new(object, "unit", json_string(finding->unit));
    json_object_set_new(object, "note", json_string(finding->note));
    if (finding->state == FINDING_MEASURED) {
        json_object_set_new(object, "value",
                            finding->word ? json_string(finding->word) : json_real(finding->value));
        json_object_set_new(object, "spread", json_real(finding->spread));
    }
    if (finding->key && run->published && machine_value(run->published, finding->key, published))
        json_object_set_new(object, "published", json_string(published));
    return object;
}

bool calibration_json(const struct calibrate_run *run, FILE *file, struct error *error) {
    json_t *findings = json_array(), *object = json_object();
    for (size_t i = 0; i < run->calibration.count; i++)
        json_array_append_new(findings, finding_object(run, &run->calibration.findings[i]));
    json_object_set_new(object, "culprit", json_string("calibrate"));
    json_object_set_new(object, "processor", json_string(run->processor.brand));
    json_object_set_new(object, "simulated",
                        run->simulated_machine ? json_string(run->simulated_machine->name)
                                               : json_null());
    json_object_set_new(object, "published", json_string(run->published->name));
    json_object_set_new(object, "partial", json_boolean(run->partial));
    json_object_set_new(object, "seconds", json_real(run->seconds));
    json_object_set_new(object, "findings", findings);
    const bool good = !json_dumpf(object, file, JSON_INDENT(2)) && fputc('\n', file) != EOF;
    json_decref(object);
    return good || error_set(error, "cannot write the report");
}
