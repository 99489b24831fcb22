#include "report/epoch_list.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/attribute.h"
#include "report/estimated.h"
#include "report/profile_report.h"
#include "report/table.h"
#include "util/array.h"
#include "util/text.h"

struct list {
    struct store *store;
    const int64_t *epochs; /* NULL: all */
    size_t epoch_count;
    FILE *out;
    bool wide;
    struct table *table;
    json_t *array; /* NULL: as text */
    int64_t last;  /* epoch listed; 0: none yet */
    struct error *error;
    bool failed;
};

static const char PART[] = "1/840 "; /* of units */

/* What an epoch holds of one event. */
struct held {
    uint64_t total, bytes;
};

/* Of an epoch that has not ended, until it was last saved. */
/* 0: it has no length that is known. A simulation's is no time of this machine. */
static double seconds_of(const struct store_session *session) {
    int64_t end = session->end ? session->end : session->saved;
    return session->kind != SESSION_SIMULATED && end > session->start
               ? (double)(end - session->start) / 1e9
               : 0;
}

/* "1 d 02 h"; of a simulation the cycles, if they are what its first event is: "662 k cycles". */
static struct text length_of(const struct store_session *session, const struct store_event *events,
                             const struct held *held, size_t count) {
    struct text text = {"-"};
    if (session->kind == SESSION_SIMULATED && count && !strncmp(events[0].unit, PART, strlen(PART)))
        snprintf(text.s, sizeof text.s, "%.16s cycles", text_count(held[0].total / CYCLE_UNITS).s);
    else if (seconds_of(session) > 0)
        text = text_duration(seconds_of(session));
    return text;
}

/* "2026-11-22 03:00", in UTC as all times are. */
static struct text minute_of(int64_t nanoseconds) {
    struct text text = text_time(nanoseconds);
    char *day_end = strchr(text.s, 'T'), *minute_end = strrchr(text.s, ':');
    if (day_end && minute_end) {
        *day_end = ' ';
        *minute_end = 0;
    }
    return text;
}

/* Samples of the first event that counts samples, at whatever periods; UINT64_MAX: none does. */
static uint64_t samples_of(const struct store_event *events, const struct held *held,
                           size_t count) {
    const size_t first = index_where(k, count, !strcmp(events[k].unit, "samples"));
    if (first == count)
        return UINT64_MAX;
    uint64_t sum = 0;
    for (size_t i = first; i < count; i++)
        if (!strcmp(events[i].name, events[first].name))
            sum += held[i].total;
    return sum;
}

/* ---- text ---- */

static struct table *epoch_table(const struct page *page) {
    static const struct table_column COLUMNS[] = {{"epoch", TABLE_FIGURE, .gap = 0},
                                                  {"start (UTC)", TABLE_WORD, .gap = 2},
                                                  {"length", TABLE_FIGURE, .gap = 2},
                                                  {"samples", TABLE_FIGURE, .gap = 2},
                                                  {"unknown", TABLE_FIGURE, .gap = 2, .rank = 3},
                                                  {"dropped", TABLE_FIGURE, .gap = 2, .rank = 2},
                                                  {"size", TABLE_FIGURE, .gap = 2, .rank = 1},
                                                  {"name", TABLE_TEXT, .gap = 2, .least = 22}};
    return table_with(page, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
}

static void add_row(const struct list *list, const struct store_session *session,
                    const char *length, uint64_t samples, uint64_t bytes) {
    struct table *table = list->table;
    const bool sampled = samples != UINT64_MAX;
    table_figure(table, "%" PRId64, session->id);
    table_cell(table, minute_of(session->start).s);
    table_cell(table, length);
    table_cell(table, sampled ? text_count(samples).s : "-");
    if (sampled)
        table_figure(table, "%.2f%%",
                     samples ? 100.0 * (double)session->unknown / (double)samples : 0);
    else
        table_cell(table, "-");
    table_cell(table, text_count(session->dropped).s);
    table_cell(table, text_bytes(bytes).s);
    table_cell(table, session->name);
}

/* Events that differ in their periods alone, as one. */
struct merged {
    const struct store_event *event;
    uint64_t least, most; /* periods */
    uint64_t total;
};

static bool same_event(const struct store_event *one, const struct store_event *other) {
    return !strcmp(one->name, other->name) && !strcmp(one->unit, other->unit) &&
           !strcmp(one->period_unit, other->period_unit) && one->precise == other->precise;
}

/* False: an earlier one has it. */
static bool merge_events(const struct store_event *events, const struct held *held, size_t count,
                         size_t at, struct merged *merged) {
    *merged = (struct merged){&events[at], events[at].period, events[at].period, 0};
    for (size_t i = 0; i < count; i++) {
        if (!same_event(&events[i], &events[at]))
            continue;
        if (i < at)
            return false;
        merged->least = events[i].period < merged->least ? events[i].period : merged->least;
        merged->most = events[i].period > merged->most ? events[i].period : merged->most;
        merged->total += held[i].total;
    }
    return true;
}

/* "cpu-clock every 192,000 ns, 1.20 M samples"; where each is a sample, "page-faults, 518 samples";
 * of waits, "off-cpu, 81.3 ms"; of units that are parts, "cycles, 8.19 G cycles". */
static void put_event(FILE *out, const struct merged *merged) {
    const struct store_event *event = merged->event;
    fprintf(out, "%s", event->name);
    if (merged->most > 1)
        fprintf(out, " every %s", text_grouped(merged->least).s);
    if (merged->most > merged->least)
        fprintf(out, " to %s", text_grouped(merged->most).s);
    if (merged->most > 1)
        fprintf(out, " %s%s", event->period_unit, event->precise ? " (precise)" : "");
    bool parts = !strncmp(event->unit, PART, strlen(PART));
    if (!strcmp(event->unit, "ns"))
        fprintf(out, ", %s", text_duration((double)merged->total / 1e9).s);
    else if (!strcmp(event->unit, "samples"))
        fprintf(out, ", %s sample%s", text_count(merged->total).s, text_plural(merged->total));
    else
        fprintf(out, ", %s %s", text_count(parts ? merged->total / CYCLE_UNITS : merged->total).s,
                event->unit + (parts ? strlen(PART) : 0));
    if (parts)
        estimate_text(event, out);
}

static void put_origin(FILE *out, const struct store_session *session) {
    fputs(session_kind_name(session->kind), out);
    if (session->kind == SESSION_SIMULATED)
        fprintf(out, " on %s", session->processor);
    else if (*session->host)
        fprintf(out, " on %s", session->host);
    if (*session->kernel)
        fprintf(out, ", Linux %s", session->kernel);
    if (!session->end)
        fputs(", not ended", out);
}

/* Who, where and which events; names come from files. */
static bool print_details(const struct list *list, const struct store_session *session,
                          const struct store_event *events, const struct held *held, size_t count) {
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return false;
    put_origin(memory, session);
    for (size_t i = 0; i < count; i++) {
        struct merged merged;
        if (!merge_events(events, held, count, i, &merged))
            continue;
        fputs(i ? "; " : ": ", memory);
        put_event(memory, &merged);
    }
    bool good = fclose(memory) == 0;
    char *line = NULL;
    if (good && asprintf(&line, "       %s", text) >= 0)
        table_line(list->table, line);
    free(line);
    free(text);
    return good;
}

/* ---- JSON ---- */

static json_t *event_object(const struct store_event *event, const struct held *held) {
    return json_pack("{s:o, s:o, s:I, s:o, s:b, s:I, s:I, s:o}", "name", json_text(event->name),
                     "unit", json_text(event->unit), "period", (json_int_t)event->period,
                     "period_unit", json_text(event->period_unit), "precise", (int)event->precise,
                     "total", (json_int_t)held->total, "bytes", (json_int_t)held->bytes, "estimate",
                     estimate_json(event));
}

static bool append_object(const struct list *list, const struct store_session *session,
                          const struct store_event *events, const struct held *held, size_t count) {
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, event_object(&events[i], &held[i]));
    json_t *object = session_json(
        session, seconds_of(session) > 0 ? json_real(seconds_of(session)) : json_null(), array);
    return json_array_append_new(list->array, object) == 0;
}

/* ---- both ---- */

static bool list_epoch(void *context, const struct store_session *session,
                       const struct store_event *events, size_t event_count) {
    struct list *list = context;
    list->last = session->id;
    struct held *held = calloc(event_count + 1, sizeof *held);
    if (!held) {
        list->failed = true;
        return error_set(list->error, "out of memory");
    }
    bool good = true;
    uint64_t bytes = 0;
    for (size_t i = 0; good && i < event_count; i++) {
        good = store_event_total(list->store, session->id, events[i].id, &held[i].total,
                                 &held[i].bytes, list->error);
        bytes += held[i].bytes;
    }
    if (good && list->array)
        good = append_object(list, session, events, held, event_count) ||
               error_set(list->error, "out of memory");
    else if (good) {
        add_row(list, session, length_of(session, events, held, event_count).s,
                samples_of(events, held, event_count), bytes);
        good = print_details(list, session, events, held, event_count) ||
               error_set(list->error, "out of memory");
    }
    free(held);
    list->failed = !good;
    return good;
}

static bool list_all(struct list *list) {
    const bool good = list->epochs
                          ? store_each_named_session(list->store, list->epochs, list->epoch_count,
                                                     list_epoch, list, list->error)
                          : store_each_session(list->store, list_epoch, list, list->error);
    return good && !list->failed;
}

static bool list_text(struct list *list) {
    uint64_t bytes, unused;
    if (!store_size(list->store, &bytes, &unused, list->error))
        return false;
    char path[PATH_MAX * 3];
    fprintf(list->out, "%s: %s", text_clean(path, sizeof path, store_path(list->store)),
            text_bytes(bytes).s);
    if (unused)
        fprintf(list->out, ", of which %s are unused", text_bytes(unused).s);
    fputs("\n\n", list->out);
    const struct page page = page_of(list->out, list->wide);
    list->table = epoch_table(&page);
    const bool good = list_all(list);
    table_end(list->table);
    return good;
}

static void print_next(const struct list *list, bool name_store) {
    if (!list->last)
        return;
    fprintf(list->out, "\nnext: culprit top --epoch %" PRId64, list->last);
    if (name_store)
        text_put_option(list->out, "store", store_path(list->store));
    fputc('\n', list->out);
}

static bool list_json(struct list *list) {
    uint64_t bytes, unused;
    list->array = json_array();
    if (!store_size(list->store, &bytes, &unused, list->error) || !list_all(list)) {
        json_decref(list->array);
        return false;
    }
    json_t *object =
        json_pack("{s:o, s:I, s:I, s:o}", "store", json_text(store_path(list->store)), "bytes",
                  (json_int_t)bytes, "unused_bytes", (json_int_t)unused, "epochs", list->array);
    bool good = object && json_dumpf(object, list->out, JSON_INDENT(2)) == 0;
    fputc('\n', list->out);
    json_decref(object);
    return good || error_set(list->error, "cannot write the list");
}

bool epoch_list_print(const struct epoch_list *wanted, FILE *out, struct error *error) {
    struct list list = {.store = wanted->store,
                        .epochs = wanted->epochs,
                        .epoch_count = wanted->epoch_count,
                        .out = out,
                        .wide = wanted->wide,
                        .error = error};
    if (wanted->json)
        return list_json(&list);
    bool good = list_text(&list);
    if (good)
        print_next(&list, wanted->name_store);
    return good;
}
