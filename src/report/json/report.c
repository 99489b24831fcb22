/* The report as one JSON object; every key is documented in docs/json.md. Rows may be a million, so
 * they are made and written one at a time (row.c); all else is small objects. */

#include "report/report.h"
#include "report/call_report.h"
#include "report/interval.h"
#include "report/json/row.h"
#include "report/json/threads.h"
#include "report/json_values.h"
#include "report/levels.h"
#include "report/roofline.h"
#include "report/stalls.h"
#include "report/struct_report.h"
#include "report/upgrades.h"

static double cycles_of(uint64_t units) {
    return (double)units / CYCLE_UNITS;
}

static double ratio(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

static json_t *components_object(const struct stack *stack) {
    uint64_t units[COMPONENT_COUNT];
    stack_components(stack, units);
    json_t *object = json_object();
    for (int i = COMPONENT_COUNT - 1; i >= 0; i--)
        json_object_set_new(object, component_key(i), json_real(cycles_of(units[i])));
    return object;
}

static json_t *cache_object(const struct cache_statistics *cache) {
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "accesses", (json_int_t)cache->accesses,
                     "misses", (json_int_t)cache->misses, "pending_hits",
                     (json_int_t)cache->pending_hits, "prefetches", (json_int_t)cache->prefetches,
                     "useful_prefetches", (json_int_t)cache->useful_prefetches, "writebacks",
                     (json_int_t)cache->writebacks, "mshr_waits", (json_int_t)cache->mshr_waits);
}

static json_t *branch_object(const struct branch_statistics *branch) {
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "conditional",
                     (json_int_t)branch->conditional, "conditional_mispredicted",
                     (json_int_t)branch->conditional_wrong, "indirect",
                     (json_int_t)branch->indirect, "indirect_mispredicted",
                     (json_int_t)branch->indirect_wrong, "returns", (json_int_t)branch->returns,
                     "returns_mispredicted", (json_int_t)branch->returns_wrong, "direct",
                     (json_int_t)branch->direct, "late_targets", (json_int_t)branch->late);
}

/* Entries of the op cache that fetch asked for. */
static json_t *op_cache_object(const struct machine *machine,
                               const struct branch_statistics *branch) {
    return machine->branch.op_cache_entries && !machine->core.in_order
               ? json_pack("{s:I, s:I}", "lookups", (json_int_t)branch->op_cache_lookups, "misses",
                           (json_int_t)branch->op_cache_misses)
               : json_null();
}

static json_t *statistics_object(const struct report *report) {
    const struct core_statistics *counted = &report->simulation->counted;
    const struct memory_statistics *memory = &counted->memory;
    const struct machine *machine = report->machine;
    json_t *object = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "uops",
        (json_int_t)report->simulation->uops, "loads", (json_int_t)counted->loads, "stores",
        (json_int_t)counted->stores, "forwarded_loads", (json_int_t)counted->forwarded,
        "ordering_violations", (json_int_t)counted->ordering_violations, "flushes",
        (json_int_t)counted->flushes, "system_calls", (json_int_t)counted->system_calls, "branches",
        branch_object(&counted->branch), "l1i", cache_object(&memory->l1i), "l1d",
        cache_object(&memory->l1d));
    json_object_set_new(object, "op_cache", op_cache_object(machine, &counted->branch));
    json_object_set_new(object, "l2",
                        machine->l2.present ? cache_object(&memory->l2) : json_null());
    json_object_set_new(object, "llc",
                        machine->llc.present ? cache_object(&memory->llc) : json_null());
    json_object_update_new(
        object,
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "itlb_accesses",
                  (json_int_t)memory->itlb_accesses, "itlb_misses", (json_int_t)memory->itlb_misses,
                  "dtlb_accesses", (json_int_t)memory->dtlb_accesses, "dtlb_misses",
                  (json_int_t)memory->dtlb_misses, "dtlb_wait_cycles",
                  (json_int_t)memory->dtlb_wait_cycles, "page_walks",
                  (json_int_t)memory->page_walks, "dram_reads", (json_int_t)memory->dram_reads,
                  "dram_writes", (json_int_t)memory->dram_writes, "dram_row_hits",
                  (json_int_t)memory->dram_row_hits));
    return object;
}

static json_t *sampling_object(const struct simulation *simulation) {
    if (simulation->levels == 0)
        return json_null();
    double half = sampling_interval(&simulation->spread);
    return json_pack(
        "{s:I, s:I, s:I, s:o}", "windows", (json_int_t)sampling_windows(&simulation->spread),
        "largest_weight", (json_int_t)(UINT64_C(1) << simulation->levels), "warmed_instructions",
        (json_int_t)simulation->warmed, "cpi_half_interval_95",
        half < 0 ? json_null() : json_real(ratio(half, (double)simulation->instructions)));
}

static json_t *half_interval(double half) {
    return half < 0 ? json_null() : json_real(half);
}

static json_t *component_intervals(const struct simulation *simulation) {
    json_t *object = json_object();
    for (int i = COMPONENT_COUNT - 1; i >= 0; i--) {
        const struct stack_figure figure = figure_of_component(i);
        json_object_set_new(object, component_key(i),
                            half_interval(interval_of_cycles(simulation, &figure)));
    }
    return object;
}

static json_t *state_intervals(const struct simulation *simulation) {
    json_t *object = json_object();
    for (int state = 0; state < STATE_COUNT; state++) {
        const struct stack_figure figure = figure_of_state(state);
        json_object_set_new(object, commit_state_name(state),
                            half_interval(interval_of_cycles(simulation, &figure)));
    }
    return object;
}

static json_t *regions_object(const struct simulation *simulation) {
    const struct simulation_regions *regions = &simulation->regions;
    if (!regions->count)
        return json_null();
    double half = simulation_interval(simulation);
    return json_pack("{s:I, s:I, s:o, s:I, s:o, s:o, s:o}", "count", (json_int_t)regions->count,
                     "simulated", (json_int_t)regions->simulated, "slices",
                     json_known(regions->slices), "warmed_instructions",
                     (json_int_t)simulation->warmed, "cpi_half_interval_95",
                     half_interval(half < 0 ? half : ratio(half, (double)simulation->instructions)),
                     "component_half_intervals_95", component_intervals(simulation),
                     "commit_state_half_intervals_95", state_intervals(simulation));
}

/* ---- writing ---- */

/* The report's object while it is being written. */
struct writer {
    FILE *file;
    bool begun; /* the object has a member */
    bool failed;
};

/* Lines of a value that is a step deeper than jansson believes. */
static int put_indented(const char *text, size_t size, void *context) {
    struct writer *writer = context;
    for (size_t i = 0; i < size; i++) {
        fputc(text[i], writer->file);
        if (text[i] == '\n')
            fputs("  ", writer->file);
    }
    return 0;
}

/* Frees the value; NULL: it could not be made. */
static void put_value(struct writer *writer, json_t *value) {
    writer->failed |=
        !value || json_dump_callback(value, put_indented, writer,
                                     JSON_ENCODE_ANY | JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(value);
}

static void put_key(struct writer *writer, const char *key) {
    fprintf(writer->file, "%s\n  \"%s\": ", writer->begun ? "," : "", key);
    writer->begun = true;
}

/* Writes the members of an object, and frees it. */
static void put_members(struct writer *writer, json_t *object) {
    const char *key;
    json_t *value;
    writer->failed |= !object;
    json_object_foreach(object, key, value) {
        put_key(writer, key);
        put_value(writer, json_incref(value));
    }
    json_decref(object);
}

static void put_rows(struct writer *writer, const char *key, const struct report_rows *rows,
                     double total_units) {
    struct report_row row;
    put_key(writer, key);
    fputc('[', writer->file);
    for (uint32_t i = 0; i < rows->count && !ferror(writer->file); i++) {
        fputs(i ? ",\n    " : "\n    ", writer->file);
        rows_get(rows, i, &row);
        writer->failed |= !json_put_row(writer->file, &row, total_units);
    }
    fputs(rows->count ? "\n  ]" : "]", writer->file);
}

/* What comes before the tables. */
static json_t *head_object(const struct report *report) {
    const struct simulation *simulation = report->simulation;
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:f, s:o, s:b, s:I, s:I, s:f, s:I, s:I, s:f, s:f, s:o, s:o, s:i, "
        "s:I, "
        "s:o, "
        "s:o, s:o}",
        "verb", json_text(report->verb), "program", json_text(report->program), "machine",
        json_text(report->machine->name), "machine_chosen", json_chosen(report->machine),
        "clock_ghz", report->machine->clock_ghz, "ideal", json_ideal(report->ideal), "partial",
        report->partial, "instructions", (json_int_t)simulation->instructions, "cycles",
        (json_int_t)simulation->cycles, "cpi",
        ratio((double)simulation->cycles, (double)simulation->instructions),
        "instructions_executed", (json_int_t)simulation->executed, "instructions_simulated",
        (json_int_t)simulation->simulated, "seconds", simulation->seconds,
        "instructions_per_second", ratio((double)simulation->executed, simulation->seconds),
        "sampling", sampling_object(simulation), "regions", regions_object(simulation),
        "units_per_cycle", CYCLE_UNITS, "units", (json_int_t)(simulation->cycles * CYCLE_UNITS),
        "commit_states", json_states(simulation->states), "stack", cycle_stack_json(&report->stack),
        "components", components_object(&report->stack));
}

static json_t *children_object(const struct report_children *children) {
    if (!children->count)
        return json_null();
    return json_pack("{s:i, s:b, s:f, s:b, s:f, s:o, s:f}", "count", (int)children->count,
                     "included", children->included, "share", children->share, "at_most",
                     children->at_most, "seconds", children->seconds, "largest",
                     json_text(children->name), "largest_share", children->largest);
}

bool report_json(const struct report *report, FILE *file, struct error *error) {
    const struct simulation *simulation = report->simulation;
    double total = (double)simulation->cycles * CYCLE_UNITS;
    struct writer writer = {.file = file};
    fputc('{', file);
    put_members(&writer, head_object(report));
    put_rows(&writer, "functions", &report->functions, total);
    put_members(&writer, json_pack("{s:I}", "function_count", (json_int_t)report->functions.total));
    put_rows(&writer, "hot_instructions", &report->instructions, total);
    put_members(&writer, json_pack("{s:I, s:o, s:o, s:o}", "instruction_count",
                                   (json_int_t)report->instructions.total, "threads",
                                   threads_json(report->simulation), "statistics",
                                   statistics_object(report), "notes", json_notes(report)));
    if (report->by == BY_LINE || report->by == BY_IMAGE)
        put_rows(&writer, report->by == BY_LINE ? "lines" : "images", &report->grouped, total);
    if (report->by == BY_LOOP)
        put_members(&writer, json_pack("{s:o, s:I}", "loops", loops_json(report), "loop_count",
                                       (json_int_t)report->loops.total));
    if (report->by == BY_FIELD)
        put_members(&writer, json_pack("{s:o, s:I}", "fields", fields_json(report), "field_count",
                                       (json_int_t)report->fields.total));
    put_members(&writer, json_pack("{s:o}", "python", python_rows_json(report)));
    if (report->data.rows)
        put_members(&writer, json_pack("{s:o}", "data", data_json(report)));
    if (report->levels)
        put_members(&writer, json_pack("{s:o}", "top_down", levels_json(report->levels)));
    if (report->roofline)
        put_members(&writer, json_pack("{s:o}", "roofline", roofline_json(report->roofline)));
    if (report->structs)
        put_members(&writer, json_pack("{s:o}", "struct", struct_json(report->structs)));
    if (report->calls)
        put_members(&writer, call_report_members(report->calls));
    put_members(&writer, json_pack("{s:o, s:o}", "children", children_object(&report->children),
                                   "together", together_json(report)));
    put_members(&writer, json_pack("{s:o, s:o, s:o, s:o, s:o}", "stalls", stalls_json(simulation),
                                   "what_if", what_if_json(&report->what_if), "advice",
                                   advice_json(&report->advice), "larger_machine",
                                   upgrades_json(report), "next", json_text(report->next)));
    fputs("\n}\n", file); /* that it could not be written is told when the file is closed */
    return !writer.failed || error_set(error, "out of memory for the JSON report");
}
