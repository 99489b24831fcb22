/* The run of (first, second) is runs[second × values of the first + first]. */
#include "simulate/sensitivity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A copy of [text, end), NULL: out of memory. */
static char *copy(const char *text, const char *end) {
    return strndup(text, (size_t)(end - text));
}

static bool add_values(struct sensitivity_parameter *parameter, const char *text,
                       struct error *error) {
    for (const char *value = text;; value++) {
        const char *end = strchrnul(value, ',');
        if (end == value)
            return error_set(error, "%s=%s: a value is empty", parameter->keys, text);
        if (parameter->count == SENSITIVITY_VALUES)
            return error_set(error, "%s: more than %d values", parameter->keys, SENSITIVITY_VALUES);
        if (!(parameter->values[parameter->count] = copy(value, end)))
            return error_set(error, "out of memory");
        parameter->count++;
        value = end;
        if (!*end)
            return true;
    }
}

bool sensitivity_add(struct sensitivity *study, const char *text, struct error *error) {
    const char *equals = strchr(text, '=');
    if (study->parameter_count == SENSITIVITY_PARAMETERS)
        return error_set(error, "%s: more than %d parameters", text, SENSITIVITY_PARAMETERS);
    if (!equals || equals == text)
        return error_set(error,
                         "%s: a key of the machine and its values, as core.rob=64,128,256 (keys "
                         "joined by + get the same value)",
                         text);
    struct sensitivity_parameter *parameter = &study->parameters[study->parameter_count++];
    if (!(parameter->keys = copy(text, equals)))
        return error_set(error, "out of memory");
    return add_values(parameter, equals + 1, error);
}

static bool set_keys(struct machine *machine, const char *keys, const char *value,
                     struct error *error) {
    for (const char *key = keys;; key++) {
        const char *end = strchrnul(key, '+');
        char assignment[512];
        snprintf(assignment, sizeof assignment, "%.*s=%s", (int)(end - key), key, value);
        if (!machine_set(machine, assignment, error))
            return error_prefix(error, "%s", assignment);
        key = end;
        if (!*end)
            return true;
    }
}

static bool make_machine(const struct sensitivity *study, uint32_t run, struct machine *machine,
                         struct error *error) {
    for (uint32_t i = 0; i < study->parameter_count; i++) {
        const struct sensitivity_parameter *parameter = &study->parameters[i];
        const char *value = parameter->values[run % parameter->count];
        run /= parameter->count;
        if (!set_keys(machine, parameter->keys, value, error))
            return false;
        if (i + 1 == study->parameter_count && !machine_check(machine, error))
            return error_prefix(error, "%s=%s", parameter->keys, value);
    }
    return true;
}

bool sensitivity_build(struct sensitivity *study, const struct machine *machine, uint32_t ideal,
                       struct error *error) {
    uint32_t count = study->parameters[0].count * sensitivity_seconds(study);
    study->machines = calloc(count, sizeof *study->machines);
    study->runs = calloc(count, sizeof *study->runs);
    if (!study->machines || !study->runs)
        return error_set(error, "out of memory for %u machines", count);
    study->run_count = count;
    for (uint32_t i = 0; i < count; i++) {
        study->machines[i] = *machine;
        study->runs[i] = (struct multisim_run){.machine = &study->machines[i], .ideal = ideal};
        if (!make_machine(study, i, &study->machines[i], error))
            return false;
    }
    return true;
}

void sensitivity_free(struct sensitivity *study) {
    for (uint32_t i = 0; i < study->parameter_count; i++) {
        free(study->parameters[i].keys);
        for (uint32_t k = 0; k < study->parameters[i].count; k++)
            free(study->parameters[i].values[k]);
    }
    free(study->machines);
    free(study->runs);
    memset(study, 0, sizeof *study);
}

uint32_t sensitivity_seconds(const struct sensitivity *study) {
    return study->parameter_count > 1 ? study->parameters[1].count : 1;
}

const struct multisim_run *sensitivity_run(const struct sensitivity *study, uint32_t first,
                                           uint32_t second) {
    return &study->runs[second * study->parameters[0].count + first];
}

double sensitivity_speedup(const struct sensitivity *study, uint32_t first, uint32_t second) {
    const struct multisim_run *base = sensitivity_run(study, 0, second),
                              *run = sensitivity_run(study, first, second);
    return base->done && run->done && run->cycles ? (double)base->cycles / (double)run->cycles - 1
                                                  : NAN;
}
