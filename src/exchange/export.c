/* The sessions are visited first, for their events and times; then a format's writer walks over the
 * profiles. */
#include "exchange/export.h"

#include <stdlib.h>
#include <string.h>

#include "exchange/format.h"
#include "util/array.h"
#include "util/file_name.h"
#include "util/text.h"

enum { NOTE_NAME_BYTES = 256 };

static bool is_chosen(const struct store_filter *filter, int64_t session) {
    for (size_t i = 0; filter->sessions && i < filter->session_count; i++)
        if (filter->sessions[i] == session)
            return true;
    return !filter->sessions;
}

/* ---- events ---- */

struct export_event *export_event_of(const struct export *export, const struct store_event *event) {
    for (size_t i = 0; i < export->event_count; i++) {
        struct export_event *known = &export->events[i];
        if (!strcmp(known->name, event->name) && !strcmp(known->unit, event->unit) &&
            !strcmp(known->period_unit, event->period_unit))
            return known;
    }
    return NULL;
}

static bool is_chosen_event(const struct export *export, const struct store_event *event) {
    return !export->filter->event || !strcmp(export->filter->event, event->name);
}

static bool add_event(struct export *export, const struct store_event *event) {
    struct export_event *known = export_event_of(export, event);
    if (!is_chosen_event(export, event))
        return true;
    if (known) {
        known->periodic &= event->period > 0;
        known->periods_differ |= event->period != known->period;
        return true;
    }
    if (!array_room(export->events, export->event_capacity, export->event_count + 1))
        return false;
    struct export_event new = {.name = strdup(event->name),
                               .unit = strdup(event->unit),
                               .period_unit = strdup(event->period_unit),
                               .periodic = event->period > 0,
                               .period = event->period,
                               .cycles = !strcmp(event->unit, "1/840 cycles")};
    export->events[export->event_count++] = new;
    return new.name &&new.unit &&new.period_unit;
}

bool export_is_instructions(const char *name, const char *unit) {
    return !strcmp(name, "executions") && !strcmp(unit, name);
}

/* What a simulation's cycles split up into is exported when it is asked for. */
static bool is_wanted(const struct export *export, const struct store_session *session,
                      const struct store_event *cycles, const struct store_event *event) {
    return session->kind != SESSION_SIMULATED || export->filter->event ||
           !strcmp(event->unit, cycles->unit) ||
           (export->columns && export_is_instructions(event->name, event->unit));
}

/* What is off are the cycles: other events have other errors, which are not known. */
static bool note_estimate(struct export *export, const struct store_session *session,
                          const struct store_event *event) {
    const struct store_estimate *estimate = &event->estimate;
    char name[NOTE_NAME_BYTES], interval[128], *note;
    if (strcmp(event->name, "cycles") != 0 || estimate->within < 0)
        snprintf(interval, sizeof interval, "how far it is off is not known");
    else
        snprintf(interval, sizeof interval,
                 "all cycles are within ± %s %% in 19 of 20 such estimates",
                 text_percent(estimate->within, 1).s);
    if (!array_room(export->notes, export->note_capacity, export->note_count + 1) ||
        asprintf(&note, "%s is estimated from %s %s%s: %s",
                 text_clean(name, sizeof name, session->name), text_grouped(estimate->count).s,
                 estimate->windows ? "window" : "region", text_plural(estimate->count),
                 interval) < 0)
        return false;
    export->notes[export->note_count++] = note;
    return true;
}

static bool visit_session(void *context, const struct store_session *session,
                          const struct store_event *events, size_t event_count) {
    struct export *export = context;
    if (!is_chosen(export->filter, session->id))
        return true;
    int64_t end = session->end ? session->end : session->saved;
    if (!export->session_count || session->start < export->start)
        export->start = session->start;
    if (!export->session_count || end > export->end)
        export->end = end;
    export->session_count++;
    bool noted = false, good = true;
    for (size_t i = 0; good && i < event_count; i++) {
        if (!is_wanted(export, session, &events[0], &events[i]))
            continue;
        good = add_event(export, &events[i]);
        if (good && !noted && is_chosen_event(export, &events[i]) && events[i].estimate.count)
            good = noted = note_estimate(export, session, &events[i]);
    }
    export->failed = !good;
    return good || error_set(export->error, "out of memory for events");
}

/* ---- names ---- */

void export_clean(char *to, size_t size, const char *name, char not ) {
    text_clean(to, size, name);
    for (; not &&*to; to++)
        if (*to == not )
            *to = ':';
}

void export_procedure(const struct store_image *image, const struct location *location, char *text,
                      size_t size) {
    const char *base = file_base_name(image->path);
    if (location->function)
        snprintf(text, size, "%s", location->function);
    else if (location->function_size)
        snprintf(text, size, "%s+0x%llx", base, (unsigned long long)location->function_offset);
    else
        snprintf(text, size, base[0] == '[' ? "%s" : "[%s]", base);
}

const char *export_cut_name(uint64_t cut) {
    return cut == STORE_FAILED ? "[callers not found]" : "[deeper callers]";
}

bool export_one_event(const struct export *export, const char *what) {
    for (size_t i = 1; i < export->event_count; i++)
        if (strcmp(export->events[i].name, export->events[0].name) != 0)
            return error_set(export->error, "%s, and there are %s and %s: choose with --event NAME",
                             what, export->events[0].name, export->events[i].name);
    return true;
}

/* ---- the whole ---- */

static bool write_profiles(struct export *export, enum exchange_format format) {
    if (!export->session_count)
        return error_set(export->error, "%s: no such epoch", store_path(export->store));
    if (!export->event_count)
        return error_set(export->error, "%s: no event %s in these epochs",
                         store_path(export->store),
                         export->filter->event ? export->filter->event : "");
    return exchange_formats[format].write(export);
}

static void free_export(struct export *export) {
    for (size_t i = 0; i < export->event_count; i++) {
        free(export->events[i].name);
        free(export->events[i].unit);
        free(export->events[i].period_unit);
    }
    free(export->events);
    for (size_t i = 0; i < export->note_count; i++)
        free(export->notes[i]);
    free(export->notes);
    image_names_free(export->names);
    program_free(export->program);
}

bool exchange_export(struct store *store, const struct store_filter *filter,
                     enum exchange_format format, FILE *file, FILE *notes, struct error *error) {
    struct export export = {.store = store,
                            .filter = filter,
                            .file = file,
                            .columns = exchange_formats[format].columns,
                            .error = error};
    export.program = program_new();
    bool good = export.program || error_set(error, "out of memory for names");
    good = good && (export.names = image_names_new(store, export.program, error)) != NULL;
    good = good && store_each_session(store, visit_session, &export, error) && !export.failed &&
           write_profiles(&export, format);
    for (size_t i = 0; good && notes && i < export.note_count; i++)
        fprintf(notes, "note: %s\n", export.notes[i]);
    free_export(&export);
    return good;
}
