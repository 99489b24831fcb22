/* Sessions are visited once; those asked for are copied, their events merged by name. */
#include "report/profile_set.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/array.h"
#include "util/file_name.h"
#include "util/text.h"

struct reading {
    struct profile_set *set;
    const int64_t *wanted;
    size_t wanted_count, capacity, event_capacity;
    struct error *error;
    bool failed;
};

static const char *copy(struct profile_set *set, const char *text) {
    return arena_copy(&set->arena, text ? text : "", text ? strlen(text) : 0);
}

static bool is_wanted(const struct reading *reading, int64_t session) {
    for (size_t i = 0; i < reading->wanted_count; i++)
        if (reading->wanted[i] == session)
            return true;
    return false;
}

/* ---- reading ---- */

static void take_unit(struct profile_event *event, const char *unit) {
    bool units = !strcmp(unit, "1/840 cycles");
    event->unit = units ? "cycles" : unit;
    event->scale = units ? 1.0 / CYCLE_UNITS : 1;
}

static bool add_event(struct reading *reading, const struct store_session *session,
                      const struct store_event *event) {
    struct profile_set *set = reading->set;
    struct profile_event new = {.period = event->period, .precise = event->precise};
    take_unit(&new, event->unit);
    for (size_t i = 0; i < set->event_count; i++) {
        struct profile_event *old = &set->events[i];
        if (strcmp(old->name, event->name) != 0)
            continue;
        if (strcmp(old->unit, new.unit) != 0)
            return error_set(reading->error,
                             "%s: %s is counted in %s in epoch %" PRId64 " and in %s in others: "
                             "these do not add (choose with --epoch)",
                             store_path(set->store), event->name, new.unit, session->id, old->unit);
        old->precise &= event->precise;
        old->periods_differ |=
            old->period != event->period || strcmp(old->period_unit, event->period_unit) != 0;
        return true;
    }
    if (!array_reserve((void **)&set->events, &reading->event_capacity, set->event_count + 1,
                       sizeof *set->events) ||
        !(new.name = copy(set, event->name)) || !(new.unit = copy(set, new.unit)) ||
        !(new.period_unit = copy(set, event->period_unit)))
        return error_set(reading->error, "out of memory for events");
    set->events[set->event_count++] = new;
    return true;
}

static bool add_epoch(struct reading *reading, const struct store_session *session) {
    struct profile_set *set = reading->set;
    struct store_session epoch = *session;
    if (!array_reserve((void **)&set->epochs, &reading->capacity, set->epoch_count + 1,
                       sizeof *set->epochs) ||
        !(epoch.name = copy(set, session->name)) || !(epoch.host = copy(set, session->host)) ||
        !(epoch.kernel = copy(set, session->kernel)) ||
        !(epoch.processor = copy(set, session->processor)))
        return error_set(reading->error, "out of memory for epochs");
    set->epochs[set->epoch_count++] = epoch;
    set->unknown += epoch.unknown;
    set->dropped += epoch.dropped;
    int64_t end = epoch.end ? epoch.end : epoch.saved;
    if (epoch.kind != SESSION_SIMULATED && end > epoch.start)
        set->seconds += ((double)end - (double)epoch.start) / 1e9;
    set->simulated &= epoch.kind == SESSION_SIMULATED;
    return true;
}

static bool visit_session(void *context, const struct store_session *session,
                          const struct store_event *events, size_t event_count) {
    struct reading *reading = context;
    if (!is_wanted(reading, session->id))
        return true;
    bool good = add_epoch(reading, session);
    for (size_t i = 0; good && i < event_count; i++)
        good = add_event(reading, session, &events[i]);
    reading->failed = !good;
    return good;
}

/* "epoch 3", "epochs 2..5", "epochs 2, 4, 7", "12 epochs from 2 to 40"; with several stores
 * "old.db: epoch 3". */
static const char *make_label(struct profile_set *set, bool name_file) {
    enum { LISTED = 4 };
    char text[PATH_MAX + 128];
    const char *path = store_path(set->store);
    const struct store_session *epochs = set->epochs;
    size_t count = set->epoch_count, used = 0;
    if (name_file)
        used = (size_t)snprintf(text, sizeof text, "%s: ", file_base_name(path));
    bool consecutive = count > 1;
    for (size_t i = 1; i < count; i++)
        consecutive &= epochs[i].id == epochs[i - 1].id + 1;
    if (consecutive && count > 2)
        snprintf(text + used, sizeof text - used, "epochs %" PRId64 "..%" PRId64, epochs[0].id,
                 epochs[count - 1].id);
    else if (count > LISTED)
        snprintf(text + used, sizeof text - used, "%zu epochs from %" PRId64 " to %" PRId64, count,
                 epochs[0].id, epochs[count - 1].id);
    else
        for (size_t i = 0; i < count; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRId64,
                                     i           ? ", "
                                     : count > 1 ? "epochs "
                                                 : "epoch ",
                                     epochs[i].id);
    return copy(set, text);
}

static const char *one_of(const struct profile_set *set, size_t member) {
    const char *first = NULL;
    for (size_t i = 0; i < set->epoch_count; i++) {
        const char *text = *(const char *const *)((const char *)&set->epochs[i] + member);
        if (first && strcmp(first, text) != 0)
            return NULL;
        first = text;
    }
    return first;
}

/* What all epochs are of; of regions of a simulated run without the number of the region. NULL:
 * they are of several commands. */
static const char *command_of(struct profile_set *set) {
    const char *name = one_of(set, offsetof(struct store_session, name));
    const char *first = set->epochs[0].name, *part = strrchr(first, '(');
    if (name || !set->simulated || !part)
        return name;
    size_t length = (size_t)(part - first);
    for (size_t i = 1; i < set->epoch_count; i++)
        if (strncmp(set->epochs[i].name, first, length + 1) != 0)
            return NULL;
    return arena_copy(&set->arena, first, length > 0 ? length - 1 : 0);
}

bool profile_set_read(struct profile_set *set, struct store *store, const int64_t *sessions,
                      size_t count, bool name_file, struct error *error) {
    *set = (struct profile_set){.store = store, .simulated = true};
    struct reading reading = {
        .set = set, .wanted = sessions, .wanted_count = count, .error = error};
    if (!store_each_session(store, visit_session, &reading, error) || reading.failed)
        return false;
    if (set->epoch_count < count)
        return error_set(error, "%s: an epoch is gone (see 'culprit epochs')", store_path(store));
    if (!set->event_count)
        return error_set(error, "%s: nothing was collected in %s", store_path(store),
                         count == 1 ? "this epoch" : "these epochs");
    set->sessions = calloc(count, sizeof *set->sessions);
    if (!set->sessions || !(set->label = make_label(set, name_file)))
        return error_set(error, "out of memory for epochs");
    for (size_t i = 0; i < count; i++) {
        set->sessions[i] = set->epochs[i].id;
        set->weighted |= set->epochs[i].weight != 1;
    }
    set->command = command_of(set);
    return true;
}

void profile_set_free(struct profile_set *set) {
    free(set->epochs);
    free(set->sessions);
    free(set->events);
    arena_free(&set->arena);
    memset(set, 0, sizeof *set);
}

const struct profile_event *profile_set_event(const struct profile_set *set, const char *name,
                                              struct error *error) {
    char names[256] = "";
    for (size_t i = 0; i < set->event_count; i++) {
        size_t used = strlen(names);
        if (!name || !strcmp(set->events[i].name, name))
            return &set->events[i];
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", set->events[i].name);
    }
    error_set(error, "%s has no event %s (it has: %s)", set->label, name, names);
    return NULL;
}

void profile_set_arguments(const struct profile_set *set, bool store, FILE *file) {
    if (store)
        text_put_option(file, "store", store_path(set->store));
    fputs(" --epoch ", file);
    for (size_t i = 0, end; i < set->epoch_count; i = end) {
        for (end = i + 1;
             end < set->epoch_count && set->sessions[end] == set->sessions[end - 1] + 1;)
            end++;
        fprintf(file, "%s%" PRId64, i ? "," : "", set->sessions[i]);
        if (end > i + 1)
            fprintf(file, "..%" PRId64, set->sessions[end - 1]);
    }
}

/* ---- text ---- */

static void format_time(int64_t ns, const char *format, char *text, size_t size) {
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm broken;
    if (!gmtime_r(&seconds, &broken) || !strftime(text, size, format, &broken))
        snprintf(text, size, "?");
}

static void print_when(const struct profile_set *set, FILE *file) {
    const struct store_session *first = &set->epochs[0];
    char begin[32], stop[32];
    int64_t end = 0;
    bool goes_on = false;
    for (size_t i = 0; i < set->epoch_count; i++) {
        const struct store_session *epoch = &set->epochs[i];
        int64_t reached = epoch->end ? epoch->end : epoch->saved;
        end = reached > end ? reached : end;
        goes_on |= !epoch->end;
    }
    format_time(first->start, "%Y-%m-%d %H:%M:%S", begin, sizeof begin);
    format_time(end, "%Y-%m-%d %H:%M:%S", stop, sizeof stop);
    if (set->simulated)
        fprintf(file, "simulated %s UTC", begin);
    else
        fprintf(file, "%s to %s UTC, %s%s", begin, stop, text_duration(set->seconds).s,
                goes_on ? ", not ended" : "");
}

void profile_set_text(const struct profile_set *set, FILE *file) {
    const struct page page = page_of(file);
    char head[1024];
    const char *host = one_of(set, offsetof(struct store_session, host));
    const char *kernel = one_of(set, offsetof(struct store_session, kernel));
    const char *processor = one_of(set, offsetof(struct store_session, processor));
    snprintf(head, sizeof head, "%s: %s", set->label,
             set->command ? set->command : "several commands");
    page_clip(&page, head, page.columns);
    fputc('\n', file);
    snprintf(head, sizeof head, "%s%s%s%s%s",
             host && *host ? host
             : host        ? ""
                           : "several machines",
             kernel && *kernel ? ", Linux " : "", kernel ? kernel : "",
             processor && *processor ? (host && !*host ? "machine " : ", ") : "",
             processor ? processor : "");
    if (head[0]) {
        page_clip(&page, head, page.columns);
        fputc('\n', file);
    }
    print_when(set, file);
    fputc('\n', file);
}

static void print_period(const struct profile_event *event, FILE *file) {
    char unit[128];
    if (event->periods_differ)
        fputs(", taken at different distances", file);
    else if (event->period && !strcmp(event->period_unit, "ns"))
        fprintf(file, ", one every %s of a processor's time",
                text_duration((double)event->period / 1e9).s);
    else if (event->period)
        fprintf(file, ", one every %s %s", text_grouped(event->period).s,
                text_clip(unit, sizeof unit, event->period_unit, 20));
}

void profile_event_text(const struct profile_event *event, double total, FILE *file) {
    char name[128];
    fprintf(file, "%s: %s", text_clip(name, sizeof name, event->name, 20),
            text_grouped((uint64_t)(total + 0.5)).s);
    if (strcmp(event->name, event->unit) != 0)
        fprintf(file, " %s", text_clip(name, sizeof name, event->unit, 15));
    print_period(event, file);
    fputc('\n', file);
}

static bool is_counted(const struct profile_event *event) {
    return !strcmp(event->unit, "samples");
}

bool profile_set_worth(const struct profile_set *set, const struct profile_event *event,
                       double largest, double smallest, struct report *report) {
    bool good = true;
    double first = 100 / sqrt(largest), last = 100 / sqrt(smallest > 0 ? smallest : largest);
    if (set->simulated && !is_counted(event))
        good &= report_note(report, "simulated: user code only, every cycle of what was "
                                    "simulated is counted");
    if (set->weighted)
        good &= report_note(report, "regions that stand for a run: each counts with its weight");
    if (is_counted(event) && largest > 0)
        good &= report_note(report,
                            "sampling error (1/√n of a row with n samples): ± %.*f %% of its "
                            "figure in the first row, ± %.*f %% in the last shown",
                            first < 10, first, last < 10, last);
    if (!strcmp(event->name, "cpu-clock"))
        good &= report_note(report,
                            "cpu-clock is a timer's interrupt: it comes some instructions late, "
                            "and code that holds interrupts off is charged to where they are "
                            "allowed again");
    else if (is_counted(event) && !event->precise)
        good &= report_note(report,
                            "%s is not precise here: a sample may be charged to an "
                            "instruction some way behind the one that caused it",
                            event->name);
    if (event->periods_differ)
        good &= report_note(report, "the epochs were sampled at different distances, and their "
                                    "samples are added as they are");
    return good;
}

/* ---- JSON ---- */

static json_t *string(const char *text) {
    char clean[4096];
    return json_string(text_clean(clean, sizeof clean, text));
}

json_t *profile_set_epochs_json(const struct profile_set *set) {
    json_t *array = json_array();
    for (size_t i = 0; i < set->epoch_count; i++) {
        const struct store_session *epoch = &set->epochs[i];
        json_array_append_new(
            array,
            json_pack("{s:I, s:s, s:o, s:o, s:o, s:o, s:f, s:s, s:o, s:I, s:I}", "epoch",
                      (json_int_t)epoch->id, "kind", session_kind_name(epoch->kind), "name",
                      string(epoch->name), "host", string(epoch->host), "kernel",
                      string(epoch->kernel), "processor", string(epoch->processor), "weight",
                      epoch->weight, "start", text_time(epoch->start).s, "end",
                      epoch->end ? json_string(text_time(epoch->end).s) : json_null(), "unknown",
                      (json_int_t)epoch->unknown, "dropped", (json_int_t)epoch->dropped));
    }
    return array;
}

json_t *profile_event_json(const struct profile_event *event, double total) {
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:b, s:f}", "name", string(event->name), "unit", string(event->unit),
        "period",
        event->period && !event->periods_differ ? json_integer((json_int_t)event->period)
                                                : json_null(),
        "period_unit", string(event->period_unit), "precise", event->precise, "total", total);
}
