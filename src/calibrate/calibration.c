#include "calibrate/calibration.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

enum {
    AGAIN = 3, /* times that a few disturbed kernels are measured; one, if in a hurry */
    FEW = 8,
    FASTEST_OF = 6 /* times that a list is measured; half, if in a hurry */
};

/* ---- kernels ---- */

/* What is assembled there is not kept. */
static struct assembler *out_of_memory(struct kernel_list *list) {
    list->lost.failed = !error_set(&list->lost.error, "out of memory for kernels");
    return &list->lost;
}

struct assembler *kernel_list_add(struct kernel_list *list, const struct host_kernel *kernel) {
    if (!array_room(list->kernels, list->capacity, list->count + 1) ||
        !array_room(list->codes, list->code_capacity, list->count + 1))
        return out_of_memory(list);
    list->kernels[list->count] = *kernel;
    list->codes[list->count] = (struct assembler){0};
    return &list->codes[list->count++];
}

void kernel_list_free(struct kernel_list *list) {
    for (size_t i = 0; i < list->count; i++)
        assembler_free(&list->codes[i]);
    free(list->kernels);
    free(list->codes);
    free(list->results);
    *list = (struct kernel_list){0};
}

/* The few that other load disturbed are measured again. Where it disturbs many it would do so
 * again. */
static bool measure_again(struct host_meter *meter, struct kernel_list *list,
                          const struct host_kernel **kernels, struct error *error) {
    struct host_result *results = calloc(list->count + 1, sizeof *results);
    size_t *places = calloc(list->count + 1, sizeof *places), count = 0;
    bool good = (results && places) || error_set(error, "out of memory for kernels");
    for (size_t i = 0; good && i < list->count; i++)
        if (list->results[i].state == HOST_UNSTABLE) {
            kernels[count] = &list->kernels[i];
            places[count++] = i;
        }
    if (good && count && count <= FEW + list->count / 4)
        good = meter->measure(meter, kernels, count, results, error);
    for (size_t i = 0; good && i < count; i++)
        if (results[i].state == HOST_MEASURED)
            list->results[places[i]] = results[i];
    free(results);
    free(places);
    return good;
}

bool calibration_measure(struct calibration *calibration, struct kernel_list *list,
                         struct error *error) {
    const struct host_kernel **kernels = calloc(list->count + 1, sizeof *kernels);
    free(list->results);
    list->results = calloc(list->count + 1, sizeof *list->results);
    bool good = (kernels && list->results) || error_set(error, "out of memory for kernels");
    good = good && assembler_finish(&list->lost, error);
    for (size_t i = 0; good && i < list->count; i++) {
        good = assembler_finish(&list->codes[i], error);
        list->kernels[i].code = list->codes[i].code;
        list->kernels[i].code_size = list->codes[i].size;
        kernels[i] = &list->kernels[i];
    }
    struct host_meter *meter = calibration->meter;
    good = good && meter->measure(meter, kernels, list->count, list->results, error);
    for (unsigned i = 0; good && i < (meter->quick ? 1 : AGAIN) && !calibration_stops(calibration);
         i++)
        good = measure_again(meter, list, kernels, error);
    free(kernels);
    return good;
}

bool calibration_measure_fastest(struct calibration *calibration, struct kernel_list *list,
                                 struct error *error) {
    const struct host_meter *meter = calibration->meter;
    const unsigned times = meter->simulated ? 1 : meter->quick ? FASTEST_OF / 2 : FASTEST_OF;
    struct host_result *fastest = NULL;
    bool good = true;
    for (unsigned i = 0; good && i < times && !calibration_stops(calibration); i++) {
        good = calibration_measure(calibration, list, error);
        for (size_t k = 0; good && fastest && k < list->count; k++) {
            const struct host_result *old = &fastest[k], *new = &list->results[k];
            if (old->state == HOST_MEASURED &&
                (new->state != HOST_MEASURED || old->cycles < new->cycles))
                list->results[k] = *old;
        }
        free(fastest);
        fastest = list->results;
        list->results = NULL;
    }
    list->results = fastest;
    return good;
}

/* ---- findings ---- */

void calibration_found(struct calibration *calibration, const struct finding *finding) {
    if (!array_room(calibration->findings, calibration->capacity, calibration->count + 1)) {
        calibration->out_of_memory = true;
        return;
    }
    struct finding *kept = &calibration->findings[calibration->count++];
    *kept = *finding;
    kept->part = calibration->part->name;
    if (kept->state == FINDING_UNKNOWN && calibration_stops(calibration))
        snprintf(kept->note, sizeof kept->note, "interrupted before");
}

const struct finding *calibration_finding(const struct calibration *calibration, const char *key) {
    for (size_t i = calibration->count; i-- > 0;) {
        const struct finding *finding = &calibration->findings[i];
        if (finding->state == FINDING_MEASURED && finding->key && !strcmp(finding->key, key))
            return finding;
    }
    return NULL;
}

double calibration_value(const struct calibration *calibration, const char *key, double otherwise) {
    const struct finding *finding = calibration_finding(calibration, key);
    return finding ? finding->value : otherwise;
}

bool finding_rests_on(struct finding *finding, const struct host_result *results, size_t count) {
    finding->state = FINDING_MEASURED;
    for (size_t i = 0; i < count; i++) {
        const struct host_result *result = &results[i];
        if (result->state == HOST_MEASURED) {
            finding->spread = result->spread > finding->spread ? result->spread : finding->spread;
            continue;
        }
        finding->state = result->state == HOST_UNSUPPORTED ? FINDING_UNSUPPORTED : FINDING_UNKNOWN;
        snprintf(finding->note, sizeof finding->note, "%s",
                 result->state == HOST_NOT_RUN    ? "it was not reached"
                 : result->state == HOST_UNSTABLE ? "other load disturbed it too often"
                                                  : result->failure);
        return false;
    }
    return true;
}

/* ---- parts ---- */

const struct calibrate_part *calibrate_part_find(const char *name) {
    for (const struct calibrate_part *const *part = calibrate_parts; *part; part++)
        if (!strcmp((*part)->name, name))
            return *part;
    return NULL;
}

bool calibration_run(struct calibration *calibration, const struct calibrate_part *part,
                     struct error *error) {
    calibration->part = part;
    return part->run(calibration, error) &&
           (!calibration->out_of_memory || error_set(error, "out of memory for findings"));
}

void calibration_free(struct calibration *calibration) {
    free(calibration->findings);
    form_table_free(&calibration->forms);
    *calibration = (struct calibration){0};
}
