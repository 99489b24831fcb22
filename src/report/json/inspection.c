/* --critical, --slack and --loads as JSON; every key is documented in docs/json.md. */
#include "report/inspection_report.h"
#include "report/json_values.h"

static json_t *amount(int64_t cycles, int64_t of) {
    return json_pack("{s:I, s:f}", "cycles", (json_int_t)cycles, "percent",
                     of > 0 ? 100 * (double)cycles / (double)of : 0);
}

static json_t *place_object(const struct inspection_report *report, uint32_t insn) {
    struct insn_place place;
    inspection_place(report, insn, &place);
    return json_pack("{s:o, s:I, s:o, s:o, s:o, s:o}", "image", json_text(place.image), "offset",
                     (json_int_t)place.offset, "function", json_text(place.function), "file",
                     json_text(place.file), "line", json_known(place.line), "text",
                     json_text(place.text));
}

/* ---- critical path ---- */

static json_t *edges_array(const int64_t cycles[CRITICAL_PARTS], int64_t of, bool described) {
    json_t *array = json_array();
    for (unsigned part = 0; part < CRITICAL_PARTS; part++) {
        if (!cycles[part])
            continue;
        json_t *object = amount(cycles[part], of);
        json_object_set_new(object, "edge", json_text(critical_part_name(part)));
        if (described) {
            json_object_set_new(object, "idealised_by", json_text(critical_part_category(part)));
            json_object_set_new(object, "description", json_text(critical_part_description(part)));
        }
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *critical_object(const struct inspection_report *report) {
    const struct inspection *inspection = report->inspection;
    json_t *insns = json_array();
    for (uint32_t i = 0; i < report->critical.count; i++) {
        const struct critical_insn *row =
            critical_find(&inspection->critical, report->critical.insns[i]);
        json_t *object = place_object(report, row->insn);
        json_object_update_new(object, amount(row->cycles, inspection->cycles));
        json_object_set_new(object, "edges", edges_array(row->parts, inspection->cycles, false));
        json_array_append_new(insns, object);
    }
    return json_pack("{s:o, s:o, s:I}", "edges",
                     edges_array(inspection->critical.parts, inspection->cycles, true),
                     "instructions", insns, "instruction_count",
                     (json_int_t)report->critical.total);
}

/* ---- slack ---- */

static json_t *histogram_array(const struct slack *slack) {
    json_t *array = json_array();
    for (unsigned bin = 0; bin < SLACK_BINS; bin++)
        if (slack->bins[bin])
            json_array_append_new(array, json_pack("{s:I, s:I}", "least",
                                                   (json_int_t)(bin ? 1ll << (bin - 1) : 0),
                                                   "executions", (json_int_t)slack->bins[bin]));
    return array;
}

static json_t *slack_object(const struct inspection_report *report) {
    const struct slack *slack = &report->inspection->slack;
    json_t *insns = json_array();
    for (uint32_t i = 0; i < report->slack.count; i++) {
        const struct slack_insn *row = &slack->insns[report->slack.insns[i]];
        json_t *object = place_object(report, report->slack.insns[i]);
        json_object_set_new(object, "executions", json_count(row->executions));
        json_object_set_new(object, "least", json_count(row->least));
        json_object_set_new(object, "mean", json_real((double)row->sum / (double)row->executions));
        json_array_append_new(insns, object);
    }
    return json_pack("{s:I, s:o, s:o, s:I}", "executions", (json_int_t)slack->executions,
                     "histogram", histogram_array(slack), "instructions", insns,
                     "instruction_count", (json_int_t)report->slack.total);
}

/* ---- loads ---- */

static json_t *load_object(const struct inspection_report *report, const struct load_cost *load) {
    int64_t of = report->inspection->loads.cycles;
    json_t *object = place_object(report, load->insn);
    json_object_set_new(object, "executions", json_count(load->tally.executions));
    json_object_set_new(object, "misses", json_count(load->tally.misses));
    json_object_set_new(object, "wait_cycles", json_count(load->tally.wait));
    json_object_set_new(object, "critical_path", amount(load->path, of));
    json_object_set_new(object, "cost", amount(load->cost, of));
    return object;
}

static json_t *pairs_array(const struct load_costs *costs) {
    json_t *array = json_array();
    for (uint32_t a = 0; a < costs->paired; a++)
        for (uint32_t b = a + 1; b < costs->paired; b++)
            json_array_append_new(array,
                                  json_pack("{s:[I, I], s:o}", "loads", (json_int_t)costs->pairs[a],
                                            (json_int_t)costs->pairs[b], "icost",
                                            amount(costs->icost[a][b], costs->cycles)));
    return array;
}

static json_t *loads_object(const struct inspection_report *report) {
    const struct load_costs *costs = &report->inspection->loads;
    char text[LOAD_READINGS][LOAD_READING_BYTES];
    uint32_t count = inspection_read_loads(report, text);
    json_t *loads = json_array(), *reading = json_array();
    for (uint32_t i = 0; i < costs->count; i++)
        json_array_append_new(loads, load_object(report, &costs->loads[i]));
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(reading, json_text(text[i]));
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "loads", loads, "pairs", pairs_array(costs),
                     "together", amount(costs->together, costs->cycles), "dmiss",
                     amount(costs->dmiss, costs->cycles), "reading", reading);
}

void inspection_json(const struct inspection_report *report, json_t *object) {
    const struct inspection *inspection = report->inspection;
    json_object_set_new(
        object, "pieces",
        json_pack("{s:I, s:I, s:I, s:I, s:f}", "count", (json_int_t)inspection->fragments, "uops",
                  (json_int_t)inspection->kept, "cycles", (json_int_t)inspection->cycles, "of_uops",
                  (json_int_t)inspection->seen, "seconds", report->seconds));
    if (report->parts & INSPECT_CRITICAL)
        json_object_set_new(object, "critical_path", critical_object(report));
    if (report->parts & INSPECT_SLACK)
        json_object_set_new(object, "slack", slack_object(report));
    if (report->parts & INSPECT_LOADS)
        json_object_set_new(object, "loads", loads_object(report));
}
