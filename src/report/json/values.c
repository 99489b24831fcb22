#include "report/json_values.h"

#include <math.h>

#include "core/core.h"
#include "report/report.h"
#include "util/text.h"

json_t *json_chosen(const struct machine *machine) {
    static const char *const BY[MACHINE_BY_COUNT] = {[MACHINE_BY_ENVIRONMENT] = "environment",
                                                     [MACHINE_BY_CALIBRATION] = "calibration",
                                                     [MACHINE_BY_PROCESSOR] = "processor",
                                                     [MACHINE_BY_NEAREST] = "nearest",
                                                     [MACHINE_BY_ARCHITECTURE] = "architecture"};
    const struct machine_choice_reason *chosen = &machine->chosen;
    return chosen->by == MACHINE_BY_NAME
               ? json_null()
               : json_pack("{s:s, s:o}", "by", BY[chosen->by], "why", json_text(chosen->why));
}

json_t *json_number(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_count(uint64_t count) {
    return json_integer((json_int_t)count);
}

json_t *json_known(uint64_t count) {
    return count ? json_count(count) : json_null();
}

json_t *json_texts(const char *const *texts, size_t count) {
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_text(texts[i]));
    return array;
}

json_t *json_ideal(uint32_t ideal) {
    json_t *array = json_array();
    for (unsigned i = 0; i < IDEAL_COUNT; i++)
        if (ideal & 1u << i)
            json_array_append_new(array, json_string(ideal_name(i)));
    return array;
}

json_t *cycle_stack_json(const struct stack *stack) {
    json_t *object = json_object();
    for (uint32_t i = 0; i < stack->count; i++) {
        char name[128];
        psv_format(stack->parts[i].psv, name, sizeof name);
        json_object_set_new(object, name, json_real((double)stack->parts[i].units / CYCLE_UNITS));
    }
    return object;
}

json_t *json_states(const uint64_t cycles[STATE_COUNT]) {
    json_t *object = json_object();
    for (int state = 0; state < STATE_COUNT; state++)
        json_object_set_new(object, commit_state_name(state), json_count(cycles[state]));
    return object;
}

json_t *json_notes(const struct report *report) {
    return json_texts((const char *const *)report->notes, report->note_count);
}

bool json_write(json_t *object, FILE *file, struct error *error) {
    const bool good =
        object &&
        (json_dumpf(object, file, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0 || ferror(file));
    json_decref(object);
    fputc('\n', file);
    return good || error_set(error, "out of memory for the JSON object");
}

bool json_write_report(json_t *object, const struct report *report, FILE *file,
                       struct error *error) {
    json_object_set_new(object, "notes", json_notes(report));
    json_object_set_new(object, "next", json_text(report->next));
    return json_write(object, file, error);
}
