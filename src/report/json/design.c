/* The points of a design, as JSON (docs/json.md). */
#include <math.h>

#include "report/design_report.h"
#include "report/json_values.h"

static json_t *axis_json(const struct design_axis *axis) {
    return json_pack("{s:o, s:o}", "key", json_text(axis->key), "values",
                     json_texts((const char *const *)axis->values, axis->count));
}

static json_t *program_json(const struct design_program *program) {
    static const char *const HOW[] = {[DESIGN_IN_FULL] = "in full",
                                      [DESIGN_BY_REGIONS] = "by regions",
                                      [DESIGN_SAMPLED] = "sampled"};
    const struct design_capture *capture = &program->capture;
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "program", json_text(program->name),
                     "instructions", json_known(capture->instructions), "how",
                     json_text(program->captured ? HOW[capture->how] : NULL), "regions",
                     json_count(capture->region_count), "failure",
                     json_text(program->captured ? NULL : program->failure.message));
}

static json_t *settings_json(const struct design *design, const struct design_point *point) {
    json_t *settings = json_object();
    for (size_t i = 0; i < design->axis_count; i++)
        json_object_set_new(settings, design->axes[i].key,
                            json_text(design_value(design, point, i)));
    return settings;
}

/* null: it was not done. */
static json_t *result_json(const struct design_report *report, uint32_t number) {
    const struct design_point *point = &report->design->points[number];
    const struct design_result *result = &point->result;
    json_t *components = json_object();
    if (!design_point_is_done(point)) {
        json_decref(components);
        return json_null();
    }
    for (int i = 0; i < COMPONENT_COUNT; i++)
        json_object_set_new(components, component_key((enum component)i),
                            json_real((double)result->components[i] / CYCLE_UNITS));
    return json_pack("{s:o, s:o, s:f, s:o, s:f, s:o}", "instructions",
                     json_count(result->instructions), "cycles", json_count(result->cycles), "cpi",
                     design_point_cpi(point), "half_interval_95",
                     result->half_interval < 0 ? json_null() : json_number(result->half_interval),
                     "speed", report->summary.speeds[number], "components", components);
}

static json_t *point_json(const struct design_report *report, uint32_t number) {
    const struct design *design = report->design;
    const struct design_point *point = &design->points[number];
    const char *machine = design->machines.count ? design->machines.values[point->machine]
                          : *point->machine_name ? point->machine_name
                                                 : NULL;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "program",
                     json_text(design->programs[point->program].name), "machine",
                     json_text(machine), "settings", settings_json(design, point), "cost",
                     isfinite(point->cost) ? json_number(point->cost) : json_null(), "front",
                     design->cost ? json_boolean(design_report_front(report, number)) : json_null(),
                     "result", result_json(report, number), "failure",
                     json_text(point->state == DESIGN_FAILED ? point->failure.message : NULL));
}

static json_t *main_json(const struct design_report *report, uint32_t factor) {
    const struct factorial *effects = &report->summary.effects;
    json_t *levels = json_array();
    for (uint32_t i = 0; i < effects->levels[factor]; i++)
        json_array_append_new(levels,
                              json_pack("{s:o, s:f}", "value",
                                        json_text(design_factor_level(report->design, factor, i)),
                                        "percent", 100 * expm1(effects->effects[factor][i])));
    return json_pack("{s:o, s:f, s:o}", "factor",
                     json_text(design_factor_name(report->design, factor)), "share",
                     effects->shares[factor], "levels", levels);
}

static json_t *pair_json(const struct design_report *report, const struct factorial_pair *pair) {
    const struct design *design = report->design;
    const char *factors[2], *levels[2];
    for (int i = 0; i < 2; i++) {
        factors[i] = design_factor_name(design, pair->factors[i]);
        levels[i] = design_factor_level(design, pair->factors[i], pair->levels[i]);
    }
    return json_pack("{s:o, s:f, s:o, s:f}", "factors", json_texts(factors, 2), "share",
                     pair->share, "largest_at", json_texts(levels, 2), "largest_percent",
                     100 * expm1(pair->largest));
}

/* null: not all points were done, or there is one. */
static json_t *effects_json(const struct design_report *report) {
    const struct factorial *effects = &report->summary.effects;
    json_t *mains = json_array(), *pairs = json_array();
    for (uint32_t i = 0; i < effects->factor_count; i++)
        if (effects->levels[i] > 1)
            json_array_append_new(mains, main_json(report, i));
    for (size_t i = 0; i < effects->pair_count; i++)
        json_array_append_new(pairs, pair_json(report, &effects->pairs[i]));
    json_t *object = json_pack("{s:o, s:o, s:f}", "main", mains, "interactions", pairs,
                               "rest_share", effects->rest);
    if (effects->factor_count)
        return object;
    json_decref(object);
    return json_null();
}

/* null: there is one program. */
static json_t *configurations_json(const struct design_report *report) {
    json_t *means = json_array();
    for (size_t i = 0; i < design_configurations(report->design); i++)
        json_array_append_new(means, report->summary.means[i] > 0
                                         ? json_real(report->summary.means[i])
                                         : json_null());
    return means;
}

bool design_report_json(const struct design_report *report, FILE *file, struct error *error) {
    const struct design *design = report->design;
    json_t *programs = json_array(), *axes = json_array(), *points = json_array();
    for (size_t i = 0; i < design->program_count; i++)
        json_array_append_new(programs, program_json(&design->programs[i]));
    for (size_t i = 0; i < design->axis_count; i++)
        json_array_append_new(axes, axis_json(&design->axes[i]));
    for (size_t i = 0; i < design->point_count; i++)
        json_array_append_new(points, point_json(report, report->order[i]));
    return json_write_report(
        json_pack("{s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "verb",
                  report->report.verb, "partial", design->signal != 0, "programs", programs,
                  "machines",
                  json_texts((const char *const *)design->machines.values, design->machines.count),
                  "axes", axes, "cost", json_text(design->cost), "simulated",
                  json_count(design->simulated), "known_before", json_count(design->kept), "failed",
                  json_count(design->failed), "points", points, "mean_speeds",
                  configurations_json(report), "effects", effects_json(report)),
        &report->report, file, error);
}
