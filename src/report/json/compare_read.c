/* A run that is compared, from the JSON object that `sim` or `explain` wrote of it. */
#include <limits.h>
#include <string.h>

#include "report/compare_report.h"
#include "report/json/row.h"
#include "report/json_values.h"

static uint64_t count_of(const json_t *object, const char *key) {
    const json_int_t value = json_integer_value(json_object_get(object, key));
    return value > 0 ? (uint64_t)value : 0;
}

static const char *text_of(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

/* The function without a name that holds an instruction. */
static const json_t *function_at(const json_t *functions, const char *image, uint64_t offset) {
    size_t i;
    const json_t *function;
    json_array_foreach(functions, i, function) {
        const char *name = text_of(function, "image");
        const uint64_t begin = count_of(function, "offset");
        if (name && !strcmp(name, image) && offset >= begin &&
            offset - begin < count_of(function, "function_size"))
            return function;
    }
    return NULL;
}

static bool read_row(struct compared_run *run, const json_t *row, const json_t *functions,
                     struct error *error) {
    char name[PATH_MAX];
    const char *image = text_of(row, "image"), *function = text_of(row, "function");
    const char *text = text_of(row, "text");
    if (!image || !text)
        return error_set(error, "a row of hot_instructions has no image or text");
    struct compared_place place = {
        .image = image,
        .function = function,
        .file = text_of(row, "file"),
        .line = (uint32_t)count_of(row, "line"),
        .text = text,
        .offset = count_of(row, "offset"),
        .cost = {.units = count_of(row, "units"), .executions = count_of(row, "instructions")}};
    if (!function) {
        const json_t *known = function_at(functions, image, place.offset);
        place.function = compared_name_function(name, sizeof name, image, known,
                                                known ? count_of(known, "offset") : 0);
    }
    const json_t *components = json_object_get(row, "components");
    for (unsigned i = 0; i < COMPONENT_COUNT; i++) {
        const double cycles = json_number_value(json_object_get(components, component_key(i)));
        place.cost.causes[i] =
            cycles > 0 && cycles < 1e15 ? (uint64_t)(cycles * CYCLE_UNITS + 0.5) : 0;
    }
    return compared_run_add(run, &place, error);
}

/* −1 of what is not known. */
static double interval_of(const json_t *object, uint64_t instructions) {
    const json_t *estimated = json_object_get(object, "regions");
    if (!json_is_object(estimated))
        estimated = json_object_get(object, "sampling");
    if (!json_is_object(estimated))
        return 0;
    const json_t *half = json_object_get(estimated, "cpi_half_interval_95");
    return json_is_number(half) ? json_number_value(half) * (double)instructions : -1;
}

static bool read_object(struct compared_run *run, const json_t *object, struct error *error) {
    const char *program = text_of(object, "program"), *machine = text_of(object, "machine");
    const json_t *rows = json_object_get(object, "hot_instructions");
    const json_t *functions = json_object_get(object, "functions");
    if (!program || !machine || !json_is_array(rows) || !json_is_array(functions))
        return error_set(error, "no report of culprit sim or explain --json");
    if (json_array_size(rows) < count_of(object, "instruction_count"))
        return error_set(error, "it has %zu instructions of %llu: write it with --json --top 0",
                         json_array_size(rows),
                         (unsigned long long)count_of(object, "instruction_count"));
    if (!compared_run_title(run, program, machine))
        return error_set(error, "out of memory for what is compared");
    const json_t *together = json_object_get(object, "together");
    run->elapsed = count_of(json_is_object(together) ? together : object,
                            json_is_object(together) ? "elapsed_cycles" : "cycles");
    run->half_interval = interval_of(object, count_of(object, "instructions"));
    run->limited = json_is_true(json_object_get(object, "partial"));
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row) if (!read_row(run, row, functions, error)) return false;
    return run->elapsed || error_set(error, "no cycles are in it");
}

bool compare_report_read(struct compare_report *report, unsigned side, const char *path,
                         struct error *error) {
    json_error_t wrong;
    struct error inner = {0};
    FILE *file = fopen(path, "re");
    if (!file)
        return error_errno(error, "%s", path);
    json_t *object = json_loadf(file, 0, &wrong);
    fclose(file);
    if (!object)
        return error_set(error, "%s: no JSON: line %d: %s", path, wrong.line, wrong.text);
    const bool good = read_object(&report->runs[side], object, &inner);
    json_decref(object);
    return good || error_set(error, "%s: %s", path, inner.message);
}
