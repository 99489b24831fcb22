/* `top` as one JSON object; every key is documented in docs/json.md. */

#include "report/estimated.h"
#include "report/over_time.h"
#include "report/profile_report.h"

json_t *profile_row_json(const struct profile_row *row, enum profile_by by) {
    json_t *object = json_object();
    if (by == PROFILE_BY_EPOCH) {
        json_object_set_new(object, "epoch", json_integer(row->epoch));
        return object;
    }
    if (by == PROFILE_BY_CPU) {
        json_object_set_new(object, "cpu",
                            row->processor ? json_count(row->processor - 1) : json_null());
        return object;
    }
    if (by == PROFILE_BY_CGROUP) {
        json_object_set_new(object, "cgroup", row->told ? json_text(row->process) : json_null());
        return object;
    }
    if (by == PROFILE_BY_HOST) {
        json_object_set_new(object, "host", row->told ? json_text(row->process) : json_null());
        return object;
    }
    if (by == PROFILE_BY_BUILD) {
        json_object_set_new(object, "image", json_text(row->image));
        json_object_set_new(object, "build", *row->build ? json_text(row->build) : json_null());
        return object;
    }
    if (by == PROFILE_BY_PID || by == PROFILE_BY_THREAD)
        json_object_set_new(object, "pid", json_known(row->pid));
    if (by == PROFILE_BY_THREAD)
        json_object_set_new(object, "thread", json_known(row->thread));
    if (by == PROFILE_BY_PROCESS || by == PROFILE_BY_PID || by == PROFILE_BY_THREAD) {
        json_object_set_new(object, "process", json_text(row->process));
        json_object_set_new(object, "executable", json_text(row->image));
        return object;
    }
    json_object_set_new(object, "image", json_text(row->image));
    if (by == PROFILE_BY_IMAGE)
        return object;
    /* What was imported by its name alone has a place beyond all files. */
    json_object_set_new(object, "offset",
                        row->offset >> 63 ? json_null() : json_count(row->offset));
    json_object_set_new(object, "procedure", json_text(row->procedure));
    if (by == PROFILE_BY_LINE) {
        json_object_set_new(object, "file", json_text(row->file));
        json_object_set_new(object, "line", json_known(row->line));
    }
    return object;
}

json_t *session_json(const struct store_session *session, json_t *seconds, json_t *events) {
    return json_pack("{s:I, s:s, s:o, s:o, s:o, s:o, s:f, s:s, s:o, s:o*, s:I, s:I, s:o*}", "epoch",
                     (json_int_t)session->id, "kind", session_kind_name(session->kind), "name",
                     json_text(session->name), "host", json_text(session->host), "kernel",
                     json_text(session->kernel), "processor", json_text(session->processor),
                     "weight", session->weight, "start", text_time(session->start).s, "end",
                     session->end ? json_string(text_time(session->end).s) : json_null(), "seconds",
                     seconds, "unknown", (json_int_t)session->unknown, "dropped",
                     (json_int_t)session->dropped, "events", events);
}

json_t *profile_set_epochs_json(const struct profile_set *set) {
    json_t *array = json_array();
    for (size_t i = 0; i < set->epoch_count; i++)
        json_array_append_new(array, session_json(&set->epochs[i], NULL, NULL));
    return array;
}

json_t *sample_choice_json(const struct sample_choice *choice) {
    if (!sample_choice_any(choice))
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "pid", json_known(choice->pid),
                     "thread", json_known(choice->thread), "cpu",
                     choice->processor ? json_count(choice->processor - 1) : json_null(), "cgroup",
                     json_text(choice->cgroup), "build", json_text(choice->build), "since",
                     choice->since ? json_string(text_time(choice->since).s) : json_null(), "until",
                     choice->until ? json_string(text_time(choice->until).s) : json_null());
}

json_t *profile_event_json(const struct profile_event *event, double total) {
    return json_pack("{s:o, s:o, s:o, s:o, s:b, s:f, s:o}", "name", json_text(event->name), "unit",
                     json_text(event->unit), "period",
                     event->period && (event->mean || !event->periods_differ)
                         ? json_count(event->period)
                         : json_null(),
                     "period_unit", json_text(event->period_unit), "precise", event->precise,
                     "total", total, "estimate", estimated_json(event));
}

static json_t *figures(const struct profile_report *report, const double *values, bool shares) {
    json_t *object = json_object();
    for (size_t i = 0; i < report->event_count; i++) {
        double sum = profile_table_sum(report->table, i);
        double value = shares ? (sum > 0 ? values[i] / sum : 0) : values[i];
        json_object_set_new(object, report->events[i]->name, json_real(value));
    }
    return object;
}

static json_t *rows(const struct profile_report *report) {
    json_t *array = json_array();
    for (size_t i = 0; i < profile_table_count(report->table); i++) {
        const struct profile_row *row = profile_table_row(report->table, i);
        json_t *object = profile_row_json(row, report->by);
        json_object_set_new(object, "values", figures(report, row->values, false));
        json_object_set_new(object, "shares", figures(report, row->values, true));
        if (report->by == PROFILE_BY_HOST) {
            const double cpi = profile_report_cpi(report, row->values);
            json_object_set_new(
                object, "epochs",
                json_count(profile_set_host_epochs(report->set, row->told ? row->process : "")));
            json_object_set_new(object, "cpi", cpi > 0 ? json_real(cpi) : json_null());
        }
        if (report->timeline)
            json_object_set_new(object, "over_time", over_time_json(report->timeline, row->values));
        json_array_append_new(array, object);
    }
    return array;
}

bool profile_report_json(const struct profile_report *report, FILE *file, struct error *error) {
    json_t *events = json_array();
    for (size_t i = 0; i < report->event_count; i++)
        json_array_append_new(
            events, profile_event_json(report->events[i], profile_table_sum(report->table, i)));
    const size_t total = profile_table_total(report->table);
    json_t *object = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:s, s:o, s:o}", "verb", report->report.verb, "store",
        json_text(store_path(report->set->store)), "epochs", profile_set_epochs_json(report->set),
        "only", sample_choice_json(&report->set->choice), "events", events, "by",
        profile_by_names[report->by], "rows", rows(report), "row_count",
        total || !profile_table_count(report->table) ? json_count(total) : json_null());
    if (report->timeline)
        json_object_set_new(object, "timeline", timeline_json(report->timeline));
    return json_write_report(object, &report->report, file, error);
}
