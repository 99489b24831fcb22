/* Trees of calls as one JSON object; every key is documented in docs/json.md. Of simulations a
 * frame has instructions, too, and one of the tree its own cycles by their events. */
#include "report/call_report.h"

/* Of the cells from *cell on those of a frame. */
static json_t *stack_json(const struct call_profile *profile, size_t frame, size_t *cell) {
    json_t *array = json_array();
    for (; *cell < profile->cell_count && profile->cells[*cell].frame == frame; ++*cell) {
        char name[128];
        psv_format(profile->cells[*cell].psv, name, sizeof name);
        json_array_append_new(
            array, json_pack("{s:s, s:f}", "events", name, "cycles", profile->cells[*cell].value));
    }
    return array;
}

static json_t *frames_json(const struct call_report *report, const struct call_frames *frames) {
    json_t *array = json_array();
    size_t cell = 0;
    for (size_t i = 0; i < frames->count; i++) {
        const struct call_frame *frame = &frames->items[i];
        const bool all = !i && !report->callers;
        const struct call_procedure *procedure =
            all ? NULL : &report->profile->procedures[frame->procedure];
        json_array_append_new(
            array, json_pack("{s:o, s:o, s:o, s:f, s:f}", "parent",
                             i ? json_count(frame->parent) : json_null(), "procedure",
                             json_text(procedure ? procedure->name : NULL), "image",
                             json_text(procedure && !procedure->cut ? procedure->image : NULL),
                             "total", frame->total, "self", frame->self));
        json_t *object = json_array_get(array, i);
        if (report->profile->cell_count && !report->callers)
            json_object_set_new(object, "stack", stack_json(report->profile, i, &cell));
        if (!report->profile->simulated)
            continue;
        json_object_set_new(object, "instructions", json_real(frame->instructions));
        json_object_set_new(object, "self_instructions", json_real(frame->self_instructions));
        if (report->callers)
            continue;
        json_object_set_new(object, "calls", json_real(frame->calls));
    }
    return array;
}

static json_t *callers_json(const struct call_report *report) {
    json_t *array = json_array();
    for (size_t i = 0; i < report->caller_count; i++) {
        const struct caller_tree *tree = &report->callers[i];
        const struct call_procedure *procedure = &report->profile->procedures[tree->procedure];
        json_array_append_new(array, json_pack("{s:o, s:o, s:f, s:f, s:o}", "procedure",
                                               json_text(procedure->name), "image",
                                               json_text(procedure->image), "total",
                                               procedure->total, "self", procedure->self, "callers",
                                               frames_json(report, &tree->frames)));
    }
    return array;
}

json_t *call_report_members(const struct call_report *report) {
    if (!report->callers)
        return json_pack("{s:o}", "tree", frames_json(report, &report->profile->frames));
    return json_pack("{s:b, s:o}", "inclusive", report->inclusive, "procedures",
                     callers_json(report));
}

bool call_report_json(const struct call_report *report, FILE *file, struct error *error) {
    const struct call_profile *profile = report->profile;
    json_t *object = json_pack("{s:s, s:o, s:o, s:o, s:o, s:f, s:f}", "verb", report->report.verb,
                               "store", json_text(store_path(report->set->store)), "epochs",
                               profile_set_epochs_json(report->set), "only",
                               sample_choice_json(&report->set->choice), "event",
                               profile_event_json(report->event, profile->frames.items[0].total),
                               "truncated", profile->truncated, "failed", profile->failed);
    json_t *members = call_report_members(report);
    if (!members || json_object_update(object, members) != 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(members);
    return json_write_report(object, &report->report, file, error);
}
