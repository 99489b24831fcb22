/* The comparison as one JSON object; every key is documented in docs/json.md. */
#include <math.h>

#include "report/call_report.h"
#include "report/comparison.h"
#include "report/json_values.h"

static double cycles_of(uint64_t units) {
    return (double)units / CYCLE_UNITS;
}

static json_t *by_grain(const double values[GRAIN_COUNT]) {
    json_t *object = json_object();
    for (int grain = 0; grain < GRAIN_COUNT; grain++)
        json_object_set_new(object, grain_name((enum grain)grain), json_number(values[grain]));
    return object;
}

static json_t *stacks_by_grain(const struct profiler *profiler, const double values[GRAIN_COUNT]) {
    return profiler->events ? by_grain(values) : json_null();
}

/* ---- profilers ---- */

static json_t *events_array(uint32_t events) {
    json_t *array = json_array();
    for (unsigned event = 0; event < PSV_BITS; event++)
        if (events & 1u << event)
            json_array_append_new(array, json_string(psv_name(event)));
    return array;
}

static json_t *storage_of(const struct profiler *profiler, const struct machine *machine) {
    uint32_t bytes = profiler_storage_bytes(profiler, &machine->core);
    return json_known(bytes);
}

static json_t *profiler_object(const struct compared *row, const struct machine *machine) {
    const struct profiler *profiler = row->profiler;
    const struct profile_result *result = &row->result;
    bool random = row->sampling.mode == SAMPLER_RANDOM;
    json_t *object = json_pack(
        "{s:s, s:o, s:s, s:o, s:s, s:I, s:I, s:I, s:I, s:o, s:f, s:o, s:o, s:o, s:o, s:o, s:o}",
        "name", profiler->name, "label", json_text(row->label), "section", profiler->section,
        "events", events_array(profiler->events), "sampling", random ? "random" : "periodic",
        "seed", (json_int_t)row->sampling.seed, "period", (json_int_t)result->period, "samples",
        (json_int_t)result->samples, "sample_bytes", (json_int_t)result->bytes, "storage_bytes",
        storage_of(profiler, machine), "lost_cycles", (double)result->lost, "error",
        by_grain(row->error.profile), "floor", by_grain(row->floor.profile), "stack_error",
        json_number(row->error.stacks[GRAIN_INSTRUCTION]), "stack_floor",
        json_number(row->floor.stacks[GRAIN_INSTRUCTION]), "stack_errors",
        stacks_by_grain(profiler, row->error.stacks), "stack_floors",
        stacks_by_grain(profiler, row->floor.stacks));
    if (object && !isnan(row->systematic.profile[GRAIN_INSTRUCTION]))
        json_object_update_new(
            object, json_pack("{s:o, s:o, s:o}", "systematic", by_grain(row->systematic.profile),
                              "systematic_stack_error",
                              json_number(row->systematic.stacks[GRAIN_INSTRUCTION]),
                              "systematic_stack_errors",
                              stacks_by_grain(profiler, row->systematic.stacks)));
    return object;
}

/* ---- commit ---- */

static json_t *categories_object(const uint64_t categories[CATEGORY_COUNT], double unit) {
    json_t *object = json_object();
    for (int i = 0; i < CATEGORY_COUNT; i++)
        json_object_set_new(object, commit_category_name((enum commit_category)i),
                            json_real((double)categories[i] / unit));
    return object;
}

static json_t *events_object(const struct comparison *comparison) {
    json_t *object = json_object();
    for (unsigned event = 0; event < PSV_BITS; event++) {
        const struct event_correlation *row = &comparison->events[event];
        json_object_set_new(object, psv_name(event),
                            json_pack("{s:I, s:f, s:I, s:o}", "uops", (json_int_t)row->executions,
                                      "cycles", cycles_of(row->units), "instructions",
                                      (json_int_t)row->instructions, "correlation",
                                      json_number(row->correlation)));
    }
    return object;
}

static json_t *stalls_object(const struct commit_summary *summary) {
    uint64_t total = 0, last = 0;
    for (uint64_t i = 1; i < STALL_LENGTHS; i++) {
        total += summary->stalls[i];
        last = summary->stalls[i] ? i : last;
    }
    json_t *lengths = json_array();
    for (uint64_t i = 1; i <= last; i++)
        json_array_append_new(lengths, json_count(summary->stalls[i]));
    return json_pack("{s:I, s:I, s:o}", "count", (json_int_t)total, "cycles_99_percent",
                     (json_int_t)commit_summary_stall_quantile(summary, 0.99), "by_cycles",
                     lengths);
}

static json_t *functions_array(const struct comparison *comparison) {
    double total = (double)comparison->report.simulation->cycles * CYCLE_UNITS;
    json_t *array = json_array();
    for (uint32_t i = 0; i < comparison->function_count; i++) {
        const struct function_commits *row = &comparison->functions[i];
        json_array_append_new(
            array, json_pack("{s:o, s:I, s:o, s:f, s:f, s:o}", "image", json_text(row->image),
                             "offset", (json_int_t)row->offset, "function", json_text(row->name),
                             "cycles", cycles_of(row->units), "share", (double)row->units / total,
                             "commit_stack", categories_object(row->categories, CYCLE_UNITS)));
    }
    return array;
}

/* Of one instruction, in cycles of which the run has `cycles` and all cells together `total` units.
 */
static json_t *stack_object(const struct pics_cell *cells, uint64_t count, uint32_t number,
                            uint64_t total, uint64_t cycles) {
    json_t *object = json_object();
    uint64_t parts;
    const struct pics_cell *stack = insn_cells(cells, count, number, &parts);
    for (uint64_t i = 0; i < parts; i++) {
        char name[128];
        psv_format(stack[i].psv, name, sizeof name);
        json_object_set_new(object, name,
                            json_real((double)stack[i].units / (double)total * (double)cycles));
    }
    return object;
}

static json_t *stacks_object(const struct comparison *comparison, uint32_t number) {
    json_t *object = json_object();
    for (uint32_t k = 0; k < comparison->count; k++) {
        const struct compared *row = &comparison->rows[k];
        if (row->profiler->events)
            json_object_set_new(object, row->label,
                                stack_object(row->cells, row->cell_count, number,
                                             pics_total(row->result.pics),
                                             comparison->report.simulation->cycles));
    }
    return object;
}

static json_t *insns_array(const struct comparison *comparison) {
    const struct simulation *simulation = comparison->report.simulation;
    json_t *array = json_array();
    for (uint32_t i = 0; i < comparison->insn_count; i++) {
        const struct compared_insn *row = &comparison->insns[i];
        json_t *shares = json_object();
        for (uint32_t k = 0; k < comparison->count; k++)
            json_object_set_new(shares, comparison->rows[k].label, json_real(row->shares[k]));
        json_t *stack = stack_object(simulation->cells, simulation->cell_count, row->number,
                                     simulation->cycles * CYCLE_UNITS, simulation->cycles);
        json_array_append_new(
            array,
            json_pack("{s:o, s:I, s:o, s:o, s:f, s:o, s:o, s:o}", "image", json_text(row->image),
                      "offset", (json_int_t)row->offset, "function", json_text(row->function),
                      "text", json_text(row->text), "share", row->share, "shares", shares, "stack",
                      stack, "stacks", stacks_object(comparison, row->number)));
    }
    return array;
}

/* ---- the whole ---- */

static json_t *counts_by_grain(const uint64_t counts[GRAIN_COUNT]) {
    json_t *object = json_object();
    for (int grain = 0; grain < GRAIN_COUNT; grain++)
        json_object_set_new(object, grain_name((enum grain)grain), json_count(counts[grain]));
    return object;
}

static json_t *comparison_object(const struct comparison *comparison) {
    const struct report *report = &comparison->report;
    const struct simulation *simulation = report->simulation;
    struct event_share share = commit_summary_combined(&simulation->commits);
    json_t *profiles = json_array();
    for (uint32_t i = 0; i < comparison->count; i++)
        json_array_append_new(profiles,
                              profiler_object(&comparison->rows[i], comparison->report.machine));
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:f, s:b, s:I, s:I, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:s, s:o, "
        "s:o, "
        "s:I, s:I, s:o, s:o, s:I, s:o}",
        "verb", json_text(report->verb), "program", json_text(report->program), "machine",
        json_text(report->machine->name), "machine_chosen", json_chosen(report->machine),
        "clock_ghz", report->machine->clock_ghz, "partial", report->partial, "instructions",
        (json_int_t)simulation->instructions, "cycles", (json_int_t)simulation->cycles, "cpi",
        simulation->instructions ? (double)simulation->cycles / (double)simulation->instructions
                                 : 0.0,
        "seconds", simulation->seconds, "profilers", profiles, "spread",
        by_grain(comparison->spread), "stack_spread", by_grain(comparison->stack_spread), "counts",
        counts_by_grain(comparison->units), "commit_states", json_states(simulation->states),
        "class", program_class_name(comparison->program_class), "commit_stack",
        categories_object(simulation->commits.categories, 1), "events", events_object(comparison),
        "event_uops", (json_int_t)share.any, "combined_event_uops", (json_int_t)share.several,
        "event_free_stalls", stalls_object(&simulation->commits), "functions",
        functions_array(comparison), "function_count", (json_int_t)comparison->function_total,
        "hot_instructions", insns_array(comparison));
    if (object && comparison->paths)
        path_errors_json(comparison->paths, profiles, object);
    if (object && report->calls)
        json_object_update_new(object, call_report_members(report->calls));
    return object;
}

bool comparison_json(const struct comparison *comparison, FILE *file, struct error *error) {
    return json_write_report(comparison_object(comparison), &comparison->report, file, error);
}
