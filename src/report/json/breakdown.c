/* Breakdowns as one JSON object; every key is documented in docs/json.md. Sets are written largest
 * first, those that were not measured are left out. */
#include <math.h>
#include <stdlib.h>

#include "report/breakdown_report.h"
#include "report/call_report.h"
#include "report/json_values.h"

static json_t *amount(double cycles, double of) {
    return json_pack("{s:f, s:f}", "cycles", cycles, "percent", of > 0 ? 100 * cycles / of : 0);
}

static json_t *members_array(const struct breakdown *breakdown, uint32_t set) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < breakdown->count; i++)
        if (set & 1u << i)
            json_array_append_new(array, json_text(breakdown->names[i]));
    return array;
}

static json_t *sets_array(const struct breakdown *breakdown) {
    uint32_t sets = breakdown_sets(breakdown);
    double *icosts = calloc(sets, sizeof *icosts), total = breakdown->cycles[0];
    uint32_t *order = calloc(sets, sizeof *order);
    json_t *array = icosts && order ? json_array() : NULL;
    uint32_t count = 0;
    if (array) {
        breakdown_icosts(breakdown, icosts);
        count = breakdown_rank(breakdown, icosts, 1, breakdown->count, order);
    }
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(array, json_pack("{s:o, s:o, s:o}", "members",
                                               members_array(breakdown, order[i]), "cost",
                                               amount(breakdown_cost(breakdown, order[i]), total),
                                               "icost", amount(icosts[order[i]], total)));
    free(icosts);
    free(order);
    return array;
}

static json_t *times_object(const struct breakdown_report *report,
                            const struct breakdown_program *program, enum breakdown_way way) {
    const struct breakdown *breakdown = program->ways[way];
    double ideal = breakdown->cycles[breakdown_sets(breakdown) - 1];
    json_t *object = json_pack(
        "{s:f, s:o, s:o, s:f, s:o}", "cycles", breakdown->cycles[0], "all_idealised",
        isnan(ideal) ? json_null() : amount(ideal, breakdown->cycles[0]), "other",
        amount(breakdown_rest(report, breakdown) * breakdown->cycles[0], breakdown->cycles[0]),
        "seconds", program->seconds[way], "sets", sets_array(breakdown));
    if (way == WAY_MULTISIM)
        json_object_set_new(object, "simulations", json_integer(program->simulations));
    return object;
}

static json_t *error_object(const struct breakdown_report *report,
                            const struct breakdown_program *program, enum breakdown_way way) {
    struct breakdown_error error = breakdown_report_error(report, program, way);
    return json_pack("{s:f, s:f, s:I, s:I, s:I, s:I}", "mean", error.mean, "largest", error.largest,
                     "sets", (json_int_t)error.sets, "false_alarms", (json_int_t)error.false_alarms,
                     "pairs", (json_int_t)error.pairs, "same_sign", (json_int_t)error.same_sign);
}

static json_t *shotgun_object(const struct shotgun_statistics *statistics) {
    static const char *const OUTCOMES[SHOTGUN_OUTCOMES] = {
        "complete", "illegal_signature", "unknown_target", "unknown_code", "too_long"};
    static const char *const SOURCES[SHOTGUN_NOTHING] = {"exact", "inexact", "missing"};
    json_t *outcomes = json_object(), *sources = json_object(), *paths = json_null();
    for (int i = 0; i < SHOTGUN_OUTCOMES; i++)
        json_object_set_new(outcomes, OUTCOMES[i], json_count(statistics->outcomes[i]));
    for (int i = 0; i < SHOTGUN_NOTHING; i++)
        json_object_set_new(sources, SOURCES[i], json_count(statistics->sources[i]));
    if (statistics->validated)
        paths = json_pack("{s:I, s:I, s:I, s:I, s:I}", "errant", (json_int_t)statistics->errant,
                          "errant_discarded", (json_int_t)statistics->errant_discarded,
                          "right_discarded", (json_int_t)statistics->right_discarded, "targets",
                          (json_int_t)statistics->targets, "targets_right",
                          (json_int_t)statistics->targets_right);
    return json_pack("{s:I, s:I, s:o, s:o, s:I, s:I, s:f, s:f, s:o}", "samples",
                     (json_int_t)statistics->samples, "signature_samples",
                     (json_int_t)statistics->skeletons, "attempts", outcomes, "instructions",
                     sources, "events", (json_int_t)statistics->events, "events_discarded",
                     (json_int_t)statistics->events_discarded, "cpi", statistics->cpi, "run_cpi",
                     statistics->run_cpi, "paths", paths);
}

static json_t *reading_array(const struct breakdown_report *report,
                             const struct breakdown_program *program) {
    struct report reading = {0};
    json_t *array = breakdown_read(report, program, &reading) ? json_notes(&reading) : NULL;
    report_free(&reading);
    return array;
}

/* What a program has in an object of its own, or in the whole when it is alone. */
static json_t *program_object(const struct breakdown_report *report,
                              const struct breakdown_program *program) {
    const struct breakdown *shown = breakdown_shown(program);
    double instructions = (double)shown->instructions;
    enum breakdown_way way = breakdown_way_shown(program);
    json_t *errors = json_object();
    for (int i = 0; i < WAY_COUNT; i++)
        if (i != WAY_MULTISIM && program->ways[i] && program->ways[WAY_MULTISIM])
            json_object_set_new(errors, breakdown_way_name((enum breakdown_way)i),
                                error_object(report, program, (enum breakdown_way)i));
    json_t *object = json_pack("{s:o, s:b, s:s, s:I, s:f}", "program", json_text(program->name),
                               "partial", (int)program->partial, "way", breakdown_way_name(way),
                               "instructions", (json_int_t)shown->instructions, "cpi",
                               instructions > 0 ? shown->cycles[0] / instructions : 0);
    json_object_update_new(object, times_object(report, program, way));
    for (int i = 0; i < WAY_COUNT; i++)
        if (i != (int)way)
            json_object_set_new(object, breakdown_way_name((enum breakdown_way)i),
                                program->ways[i]
                                    ? times_object(report, program, (enum breakdown_way)i)
                                    : json_null());
    if (program->shotgun)
        json_object_set_new(object, "shotgun", shotgun_object(program->shotgun));
    json_object_set_new(object, "errors", errors);
    json_object_set_new(object, "reading", reading_array(report, program));
    if (program->inspection)
        inspection_json(program->inspection, object);
    if (program->path)
        json_object_set_new(object, "thread_path", thread_path_json(program->path));
    return object;
}

static json_t *categories_array(const struct breakdown_report *report) {
    const struct breakdown *breakdown = breakdown_shown(&report->programs[0]);
    json_t *array = json_array();
    for (uint32_t i = 0; i < breakdown->count; i++)
        json_array_append_new(array, json_pack("{s:o, s:o}", "name", json_text(breakdown->names[i]),
                                               "description", json_text(report->descriptions[i])));
    return array;
}

static json_t *whole_object(const struct breakdown_report *report) {
    const struct report *head = &report->report;
    json_t *object =
        json_pack("{s:s, s:o, s:o, s:f, s:o, s:b, s:o, s:o}", "verb", head->verb, "machine",
                  json_text(head->machine->name), "machine_chosen", json_chosen(head->machine),
                  "clock_ghz", head->machine->clock_ghz, "ideal", json_ideal(head->ideal),
                  "partial", (int)head->partial, "categories", categories_array(report), "focus",
                  json_text(breakdown_shown(&report->programs[0])->names[report->focus]));
    json_t *programs = json_array();
    for (uint32_t i = 0; report->program_count > 1 && i < report->program_count; i++)
        json_array_append_new(programs, program_object(report, &report->programs[i]));
    if (report->program_count > 1)
        json_object_set(object, "programs", programs);
    else
        json_object_update_new(object, program_object(report, &report->programs[0]));
    json_decref(programs);
    if (head->calls)
        json_object_update_new(object, call_report_members(head->calls));
    return object;
}

bool breakdown_json(const struct breakdown_report *report, FILE *file, struct error *error) {
    return json_write_report(whole_object(report), &report->report, file, error);
}
