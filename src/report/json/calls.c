/* Trees of calls as one JSON object; every key is documented in docs/json.md. */
#include "report/call_report.h"

static json_t *frames_json(const struct call_report *report, const struct call_frames *frames) {
    json_t *array = json_array();
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

bool call_report_json(const struct call_report *report, FILE *file, struct error *error) {
    const struct call_profile *profile = report->profile;
    json_t *object = json_pack("{s:s, s:o, s:o, s:o, s:o, s:f, s:f}", "verb", report->report.verb,
                               "store", json_text(store_path(report->set->store)), "epochs",
                               profile_set_epochs_json(report->set), "only",
                               sample_choice_json(&report->set->choice), "event",
                               profile_event_json(report->event, profile->frames.items[0].total),
                               "truncated", profile->truncated, "failed", profile->failed);
    if (report->callers) {
        json_object_set_new(object, "inclusive", json_boolean(report->inclusive));
        json_object_set_new(object, "procedures", callers_json(report));
    } else {
        json_object_set_new(object, "tree", frames_json(report, &profile->frames));
    }
    return json_write_report(object, &report->report, file, error);
}
