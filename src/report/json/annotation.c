/* A procedure as a JSON object; every key is documented in docs/json.md. */

#include "report/annotation.h"
#include "report/json_values.h"
#include "report/profile_report.h"

static const char *view_name(enum schedule_view view) {
    return view == VIEW_TIP ? "tip" : "head";
}

static json_t *address_of(const struct annotation *annotation, uint32_t insn) {
    return insn == CFG_NONE ? json_null() : json_count(annotation_address(annotation, insn));
}

static json_t *block_number(uint32_t block) {
    return block == CFG_NONE ? json_null() : json_integer(block);
}

static json_t *count_at(const double *values, uint32_t offset) {
    return values ? json_real(values[offset]) : json_null();
}

/* ---- blocks and edges ---- */

static json_t *blocks_json(const struct annotation *annotation) {
    const struct analysis *analysis = annotation->input.analysis;
    const double *executions = annotation->input.profile->executions;
    json_t *array = json_array();
    for (uint32_t i = 0; i < analysis->cfg.block_count; i++) {
        const struct cfg_block *block = &analysis->cfg.blocks[i];
        const struct annotation_block *sums = &annotation->blocks[i];
        const struct frequency_estimate *estimate = &analysis->frequency.blocks[i];
        uint32_t offset = analysis->cfg.insns[block->first_insn].offset;
        bool known = sums->executions > 0, late = annotation_is_late(annotation);
        json_array_append_new(
            array,
            json_pack("{s:o, s:I, s:I, s:I, s:f, s:f, s:o, s:o, s:o, s:s, s:o, s:o, s:o}",
                      "address", address_of(annotation, block->first_insn), "first_instruction",
                      (json_int_t)block->first_insn, "instruction_count",
                      (json_int_t)block->insn_count, "loop_depth", (json_int_t)block->loop_depth,
                      "value", sums->values, "cycles", sums->cycles, "late",
                      late ? annotation_late_json(&analysis->late.blocks[i]) : json_null(),
                      "executions", known ? json_real(sums->executions) : json_null(),
                      "standard_error", known ? json_number(estimate->error) : json_null(),
                      "confidence", confidence_name(estimate->confidence), "true_executions",
                      count_at(executions, offset), "best_cycles",
                      late ? json_null() : json_real(sums->best), "cycles_each",
                      known ? json_real(sums->actual) : json_null()));
    }
    return array;
}

/* Of a branch the simulation counted how often it was taken; what leads on alone, as often as its
 * block. */
static json_t *true_edge(const struct annotation *annotation, const struct cfg_edge *edge) {
    const struct procedure_profile *profile = annotation->input.profile;
    const struct cfg *cfg = &annotation->input.analysis->cfg;
    if (edge->from == CFG_NONE || !profile->executions)
        return json_null();
    const struct cfg_block *block = &cfg->blocks[edge->from];
    const struct cfg_insn *last = &cfg->insns[block->first_insn + block->insn_count - 1];
    double executions = profile->executions[last->offset];
    if (block->out_count == 1)
        return json_real(executions);
    if (last->insn.branch != BRANCH_CONDITIONAL || !profile->taken)
        return json_null();
    double taken = profile->taken[last->offset];
    return json_real(edge->kind == EDGE_FALL ? executions - taken : taken);
}

static json_t *edges_json(const struct annotation *annotation) {
    const struct analysis *analysis = annotation->input.analysis;
    json_t *array = json_array();
    for (uint32_t i = 0; i < analysis->cfg.edge_count; i++) {
        const struct cfg_edge *edge = &analysis->cfg.edges[i];
        const struct frequency_estimate *estimate = &analysis->frequency.edges[i];
        json_array_append_new(
            array,
            json_pack("{s:o, s:o, s:s, s:o, s:s, s:o}", "from", block_number(edge->from), "to",
                      block_number(edge->to), "kind", cfg_edge_kind_name(edge->kind), "executions",
                      estimate->confidence ? json_real(estimate->executions) : json_null(),
                      "confidence", confidence_name(estimate->confidence), "true_executions",
                      true_edge(annotation, edge)));
    }
    return array;
}

/* ---- instructions ---- */

static json_t *culprits_json(const struct annotation *annotation, uint32_t insn) {
    const struct culprits *culprits = &annotation->input.analysis->culprits;
    json_t *array = json_array();
    for (uint32_t i = culprits->first[insn]; i < culprits->first[insn + 1]; i++)
        json_array_append_new(array, json_pack("{s:s, s:o, s:o}", "cause",
                                               stall_cause_key(culprits->list[i].cause), "blamed",
                                               address_of(annotation, culprits->list[i].blamed),
                                               "most_cycles", json_number(culprits->list[i].most)));
    return array;
}

static json_t *static_json(const struct annotation *annotation, uint32_t insn) {
    size_t count;
    const struct static_stall *stalls = annotation_static_stalls(annotation, insn, &count);
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_pack("{s:s, s:o, s:f}", "cause",
                                               stall_cause_key(stalls[i].cause), "blamed",
                                               address_of(annotation, stalls[i].culprit),
                                               "cycles_each", stalls[i].cycles));
    return array;
}

static json_t *possible_json(const struct annotation *annotation, uint32_t insn) {
    json_t *array = json_array();
    for (int cause = 0; cause < STALL_CAUSES; cause++)
        if (annotation->input.analysis->possible[insn] & 1u << cause)
            json_array_append_new(array, json_string(stall_cause_key((enum stall_cause)cause)));
    return array;
}

/* What the simulation knows; null: it is no simulation, or knows nothing. */
static json_t *truth_json(const struct procedure_profile *profile, uint32_t offset) {
    if (!profile || (!profile->executions && !profile->has_stalls && !profile->part_count))
        return json_null();
    json_t *stalls = json_object(), *signatures = json_object();
    for (int cause = 0; cause < STALL_CAUSES; cause++)
        if (profile->stalls[cause] && profile->stalls[cause][offset] > 0)
            json_object_set_new(stalls, stall_cause_key((enum stall_cause)cause),
                                json_real(profile->stalls[cause][offset]));
    size_t count;
    const struct signature_part *parts = procedure_profile_parts(profile, offset, &count);
    for (size_t i = 0; i < count; i++) {
        char name[128];
        psv_format(parts[i].psv, name, sizeof name);
        json_object_set_new(signatures, name, json_real(parts[i].cycles));
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "executions", count_at(profile->executions, offset),
                     "taken", count_at(profile->taken, offset), "stalls",
                     profile->has_stalls ? stalls : (json_decref(stalls), json_null()),
                     "signatures", signatures);
}

static json_t *events_json(const struct procedure_profile *profile, uint32_t offset) {
    json_t *object = json_object();
    for (int event = 0; event < PROCEDURE_EVENTS; event++)
        if (profile->events[event])
            json_object_set_new(object, stall_event_name((enum stall_event)event),
                                json_real(profile->events[event][offset]));
    return object;
}

static json_t *insn_json(const struct annotation *annotation, uint32_t number) {
    const struct analysis *analysis = annotation->input.analysis;
    const struct procedure_profile *profile = annotation->input.profile;
    const struct cfg_insn *insn = &analysis->cfg.insns[number];
    const struct insn_stall *stall = &analysis->culprits.insns[number];
    const bool known = annotation->blocks[insn->block].executions > 0;
    struct annotation_place place = {0};
    char text[512];
    if (annotation->places)
        place = annotation->places[number];
    annotation_insn_text(annotation, number, text, sizeof text);
    return json_pack(
        "{s:o, s:I, s:o, s:f, s:f, s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:o, s:o, s:o, s:o, s:o, "
        "s:o, "
        "s:o, s:o, s:o, s:o}",
        "address", address_of(annotation, number), "block", (json_int_t)insn->block, "text",
        json_text(text), "value", profile->values[insn->offset], "cycles", analysis->cycles[number],
        "file", json_text(place.file), "line", json_known(place.line), "inlined",
        json_text(place.inlined), "cpi",
        known ? json_real(analysis_cpi(analysis, number)) : json_null(), "best",
        analysis->schedule.cycles[number], "best_least", analysis->schedule.least[number],
        "best_most", analysis->schedule.most[number], "executed_cycles",
        json_number(stall->executed), "static_stall_cycles", json_number(stall->static_stall),
        "stall_cycles", json_number(stall->stall), "gain_cycles", json_number(stall->gain),
        "sampling_error_cycles", json_number(stall->error), "culprits",
        culprits_json(annotation, number), "static_stalls", static_json(annotation, number),
        "possible", possible_json(annotation, number), "events", events_json(profile, insn->offset),
        "truth", truth_json(profile, insn->offset));
}

/* Of late samples nothing is known that rests on how often it was executed, or its best case. */
static json_t *late_insn_json(const struct annotation *annotation, uint32_t number) {
    static const char *const UNKNOWN[] = {"best",
                                          "best_least",
                                          "best_most",
                                          "executed_cycles",
                                          "static_stall_cycles",
                                          "stall_cycles",
                                          "gain_cycles",
                                          "sampling_error_cycles"};
    const struct annotation_simulated *simulated = annotation->input.simulated;
    const struct late *late = &annotation->input.analysis->late;
    json_t *object = insn_json(annotation, number);
    if (!late->used || !object)
        return object;
    for (size_t i = 0; i < sizeof UNKNOWN / sizeof *UNKNOWN; i++)
        json_object_set_new(object, UNKNOWN[i], json_null());
    json_object_set_new(object, "late", annotation_late_json(&late->insns[number]));
    json_object_set_new(object, "simulated",
                        simulated ? truth_json(simulated->profile,
                                               annotation->input.analysis->cfg.insns[number].offset)
                                  : json_null());
    return object;
}

static json_t *insns_json(const struct annotation *annotation) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < annotation->input.analysis->cfg.insn_count; i++)
        json_array_append_new(array, late_insn_json(annotation, i));
    return array;
}

/* ---- summary ---- */

json_t *annotation_summary_json(const struct stall_summary *summary, const double *truth,
                                double lost) {
    json_t *dynamic = json_object(), *fixed = json_object();
    for (int i = 0; i < STALL_CAUSES; i++) {
        enum stall_cause cause = (enum stall_cause)i;
        const struct stall_range *range = &summary->dynamic[i];
        bool is_dynamic = stall_cause_is_dynamic(cause);
        json_t *known = truth && cause != STALL_NONE ? json_real(truth[i]) : json_null();
        if (is_dynamic || cause == STALL_UNIT)
            json_object_set_new(dynamic, stall_cause_key(cause),
                                json_pack("{s:o, s:o, s:O}", "least", json_number(range->least),
                                          "most", json_number(range->most), "true",
                                          is_dynamic ? known : json_null()));
        if (!is_dynamic)
            json_object_set_new(fixed, cause == STALL_NONE ? "not_told" : stall_cause_key(cause),
                                json_pack("{s:o, s:O}", "cycles",
                                          json_number(summary->static_stalls[i]), "true", known));
        json_decref(known);
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "total",
                     json_number(summary->total), "dynamic", dynamic, "explained",
                     json_number(summary->explained), "unexplained_stall",
                     json_number(summary->unexplained_stall), "unexplained_gain",
                     json_number(summary->unexplained_gain), "static", fixed, "execution",
                     json_number(summary->execution), "sampling_error",
                     json_number(summary->sampling_error), "lost", json_number(lost));
}

static json_t *summary_json(const struct annotation *annotation) {
    const struct analysis *analysis = annotation->input.analysis;
    double truth[STALL_CAUSES];
    if (annotation_is_late(annotation))
        return annotation_late_summary_json(&analysis->late, analysis->lost);
    return annotation_summary_json(&analysis->culprits.summary, annotation_truth(annotation, truth),
                                   analysis->lost);
}

static json_t *flags_json(const struct cfg *cfg) {
    static const struct {
        uint32_t flag;
        const char *name;
    } FLAGS[] = {{CFG_MISSING_EDGES, "missing_edges"}, {CFG_OVERLAPPING, "overlapping"},
                 {CFG_UNDECODABLE, "undecodable"},     {CFG_RUNS_OUT, "runs_out"},
                 {CFG_UNREACHED, "unreached"},         {CFG_ENDLESS, "endless"}};
    json_t *array = json_array();
    for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++)
        if (cfg->flags & FLAGS[i].flag)
            json_array_append_new(array, json_string(FLAGS[i].name));
    return array;
}

json_t *annotation_json(const struct annotation *annotation) {
    const struct annotation_input *input = &annotation->input;
    const struct procedure_profile *profile = input->profile;
    bool known = annotation->executed > 0, late = annotation_is_late(annotation);
    return json_pack(
        "{s:o, s:o, s:I, s:I, s:I, s:s, s:o, s:o, s:s, s:b, s:s, s:f, s:f, s:f, s:f, s:o, s:o, "
        "s:o, "
        "s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o}",
        "procedure", json_text(input->name), "image", json_text(input->image), "offset",
        (json_int_t)input->extent->offset, "address", (json_int_t)input->code->address, "size",
        (json_int_t)input->code->size, "isa", input->code->isa == ISA_X86_64 ? "x86-64" : "riscv64",
        "machine", json_text(input->machine->name), "machine_chosen", json_chosen(input->machine),
        "view", view_name(input->view), "own_machine", input->own_machine, "executions",
        input->exact ? "counted" : "estimated", "value", profile->sum, "share",
        profile->total > 0 ? profile->sum / profile->total : 0, "cycles", profile->sum_cycles,
        "period_cycles", profile->period, "best_cpi",
        known && !late ? json_real(annotation->best / annotation->executed) : json_null(), "cpi",
        known ? json_real(annotation->cycles / annotation->executed) : json_null(), "flags",
        flags_json(&input->analysis->cfg), "summary", summary_json(annotation), "blocks",
        blocks_json(annotation), "loops", annotation_loops_json(annotation), "edges",
        edges_json(annotation), "instructions", insns_json(annotation), "notes",
        json_notes(&annotation->report), "analysis", late ? "elimination" : "frequency", "skid",
        annotation_skid_json(annotation), "simulated", annotation_simulated_json(annotation));
}
