/* Sessions, their events and their processes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/database.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/order.h"

static const char *const KIND_NAMES[SESSION_KINDS] = {"live", "simulated", "imported", "sum"};

const char *session_kind_name(enum session_kind kind) {
    return (unsigned)kind < SESSION_KINDS ? KIND_NAMES[kind] : "unknown";
}

/* ---- writing ---- */

bool store_add_session(struct store *store, const struct store_session *session, int64_t *id,
                       struct error *error) {
    return database_write(
        store,
        BIND(store, ADD_SESSION, error, INTEGER(session->kind), TEXT(session->name),
             TEXT(session->host), TEXT(session->kernel), TEXT(session->processor),
             REAL(session->weight), INTEGER(session->start), INTEGER(session->end),
             INTEGER(saturated(session->unknown)), INTEGER(saturated(session->dropped)),
             INTEGER(session->saved ? session->saved : clock_since_1970())),
        id, error);
}

bool store_add_event(struct store *store, int64_t session, const struct store_event *event,
                     int64_t *id, struct error *error) {
    char estimate[ESTIMATE_SIZE], *unit;
    estimate_print(&event->estimate, estimate);
    if (asprintf(&unit, "%s%s", event->period_unit ? event->period_unit : "", estimate) < 0)
        return database_out_of_memory(store, error);
    const bool good = database_write(
        store,
        BIND(store, ADD_EVENT, error, INTEGER(session), TEXT(event->name), TEXT(event->unit),
             INTEGER(saturated(event->period)), TEXT(unit), INTEGER(event->precise)),
        id, error);
    free(unit);
    return good;
}

bool store_update_session(struct store *store, const struct store_session *session,
                          struct error *error) {
    if (!write_begin(store, error))
        return false;
    bool good =
        database_run(store,
                     BIND(store, UPDATE_SESSION, error, INTEGER(session->id), INTEGER(session->end),
                          INTEGER(saturated(session->unknown)),
                          INTEGER(saturated(session->dropped)), INTEGER(clock_since_1970())),
                     error);
    if (good && database_changes(store) == 0)
        good = error_set(error, "%s: session %lld is no longer there", store->path,
                         (long long)session->id);
    return write_end(store, good, error);
}

bool session_erase(struct store *store, int64_t session, struct error *error) {
    static const enum statement_number STEPS[] = {ERASE_CALLS_IMAGES, ERASE_CALLS,  ERASE_PROFILES,
                                                  ERASE_PROCESSES,    ERASE_EVENTS, ERASE_SENT,
                                                  ERASE_SESSION};
    return all_where(i, sizeof STEPS / sizeof *STEPS,
                     database_execute(store, STEPS[i], session, error)) &&
           (database_changes(store) == 1 ||
            error_set(error, "%s: there is no session %lld", store->path, (long long)session));
}

bool store_weigh_session(struct store *store, int64_t session, double weight, struct error *error) {
    return database_write(store, BIND(store, WEIGH_SESSION, error, INTEGER(session), REAL(weight)),
                          NULL, error);
}

bool store_remove_session(struct store *store, int64_t session, struct error *error) {
    return write_begin(store, error) &&
           write_end(store, session_erase(store, session, error) && images_sweep(store, error),
                     error);
}

bool store_process(struct store *store, int64_t session, const struct store_process *process,
                   int64_t *id, struct error *error) {
    const struct store_slice *slice = &process->slice;
    const struct datum data[] = {
        INTEGER(session),    TEXT(process->command), TEXT(process->executable),
        INTEGER(slice->pid), INTEGER(slice->thread), INTEGER(slice->processor),
        TEXT(slice->cgroup), INTEGER(slice->begin),  INTEGER(slice->end)};
    return database_find_or_add(store, FIND_PROCESS, ADD_PROCESS, data, 9, id, error);
}

/* ---- reading ---- */

static uint32_t small_number(struct statement *statement, int column) {
    const int64_t number = column_integer(statement, column);
    return number > 0 && number <= UINT32_MAX ? (uint32_t)number : 0;
}

struct store_process process_of_row(struct statement *statement, int id, int column) {
    return (struct store_process){.id = column_integer(statement, id),
                                  .command = column_text(statement, column),
                                  .executable = column_text(statement, column + 1),
                                  .slice = {.pid = small_number(statement, column + 2),
                                            .thread = small_number(statement, column + 3),
                                            .processor = small_number(statement, column + 4),
                                            .cgroup = column_text(statement, column + 5),
                                            .begin = column_integer(statement, column + 6),
                                            .end = column_integer(statement, column + 7)}};
}

static const char *keep_text(struct session_list *list, struct statement *statement, int column) {
    const char *text = column_text(statement, column);
    return arena_copy(&list->arena, text, strlen(text));
}

/* On a server what is damaged stays in the list, with other values, so that it can be removed. */
static bool stays(struct store *store, const struct store_session *session, struct error *error) {
    if (!store->backend->many_writers)
        return false;
    database_pass_over(store, session->id, session->host, error);
    error->message[0] = 0;
    return true;
}

/* It counts for nothing. */
static bool make_possible(struct store *store, struct store_session *session, struct error *error) {
    session->kind = SESSION_IMPORTED;
    session->unknown = session->dropped = 0;
    session->weight = 0;
    return database_damaged(store, error, "session %lld has impossible values",
                            (long long)session->id) ||
           stays(store, session, error);
}

static bool keep_session(struct store *store, struct session_list *list,
                         struct statement *statement, struct error *error) {
    if (!array_room(list->entries, list->capacity, list->count + 1))
        return database_out_of_memory(store, error);
    int64_t kind = column_integer(statement, 1);
    int64_t unknown = column_integer(statement, 9);
    int64_t dropped = column_integer(statement, 10);
    struct store_session session = {.id = column_integer(statement, 0),
                                    .kind = (enum session_kind)kind,
                                    .name = keep_text(list, statement, 2),
                                    .host = keep_text(list, statement, 3),
                                    .kernel = keep_text(list, statement, 4),
                                    .processor = keep_text(list, statement, 5),
                                    .weight = column_real(statement, 6),
                                    .start = column_integer(statement, 7),
                                    .end = column_integer(statement, 8),
                                    .unknown = (uint64_t)unknown,
                                    .dropped = (uint64_t)dropped,
                                    .saved = column_integer(statement, 11)};
    if (!session.name || !session.host || !session.kernel || !session.processor)
        return database_out_of_memory(store, error);
    if (kind < 0 || kind >= SESSION_KINDS || unknown < 0 || dropped < 0 ||
        !(session.weight >= 0 && isfinite(session.weight))) {
        if (!make_possible(store, &session, error))
            return false;
    }
    list->entries[list->count++] = (struct session_entry){.session = session};
    return true;
}

static bool keep_event(struct store *store, struct session_list *list, struct session_entry *entry,
                       size_t *capacity, struct statement *statement, struct error *error) {
    if (entry->event_count == *capacity) {
        size_t grown = *capacity ? 2 * *capacity : 4;
        struct store_event *events = arena_alloc(&list->arena, grown * sizeof *events);
        if (!events)
            return database_out_of_memory(store, error);
        if (entry->event_count)
            memcpy(events, entry->events, entry->event_count * sizeof *events);
        entry->events = events;
        *capacity = grown;
    }
    struct store_event event = {.id = column_integer(statement, 0),
                                .name = keep_text(list, statement, 1),
                                .unit = keep_text(list, statement, 2),
                                .period = (uint64_t)column_integer(statement, 3),
                                .precise = column_integer(statement, 5) != 0};
    const char *unit = column_text(statement, 4);
    event.period_unit = arena_copy(&list->arena, unit, estimate_read(unit, &event.estimate));
    if (!event.name || !event.unit || !event.period_unit)
        return database_out_of_memory(store, error);
    if (event.period > INT64_MAX) {
        if (!database_damaged(store, error, "event %lld has an impossible period",
                              (long long)event.id) &&
            !stays(store, &entry->session, error))
            return false;
        event.period = 0;
    }
    entry->events[entry->event_count++] = event;
    return true;
}

/* Events come in the order of their sessions; of one that came into being only now there is no
 * entry. */
static bool read_events(struct store *store, struct session_list *list, struct error *error) {
    struct statement *statement = database_prepare(store, LIST_EVENTS, error);
    size_t capacity = 0, at = 0;
    int row = -1;
    while (statement && (row = database_step(store, statement, error)) > 0) {
        const int64_t session = column_integer(statement, 6);
        if (at == list->count || list->entries[at].session.id != session) {
            const size_t found =
                index_where(k, list->count - at, list->entries[at + k].session.id == session);
            if (at + found == list->count)
                continue;
            at += found;
            capacity = 0;
        }
        if (!keep_event(store, list, &list->entries[at], &capacity, statement, error)) {
            row = -1;
            break;
        }
    }
    database_finalize(statement);
    return row == 0;
}

/* The rows of a statement. NULL: it could not be made ready. */
static bool keep_sessions(struct store *store, struct session_list *list,
                          struct statement *statement, struct error *error) {
    int row = -1;
    while (statement && (row = database_step(store, statement, error)) > 0)
        if (!keep_session(store, list, statement, error)) {
            row = -1;
            break;
        }
    return row == 0;
}

static bool read_sessions(struct store *store, struct session_list *list,
                          enum statement_number number, struct error *error) {
    struct statement *statement = database_prepare(store, number, error);
    const bool good = keep_sessions(store, list, statement, error);
    database_finalize(statement);
    return good;
}

bool session_list_read(struct store *store, struct session_list *list, struct error *error) {
    memset(list, 0, sizeof *list);
    const bool good =
        read_sessions(store, list, LIST_SESSIONS, error) && read_events(store, list, error);
    if (!good)
        session_list_free(list);
    return good;
}

/* ---- some of them ---- */

ORDER(by_number, int64_t, ascending(*a, *b))
ORDER(by_start, struct session_entry,
      ascending(a->session.start, b->session.start) ?: ascending(a->session.id, b->session.id))

/* Numbers, each once; to be freed. NULL: out of memory. */
static int64_t *sorted_numbers(const int64_t *sessions, size_t *count) {
    int64_t *sorted = calloc(*count + 1, sizeof *sorted);
    size_t kept = 0;
    if (!sorted)
        return NULL;
    if (*count)
        memcpy(sorted, sessions, *count * sizeof *sorted);
    qsort(sorted, *count, sizeof *sorted, by_number);
    for (size_t i = 0; i < *count; i++)
        if (!kept || sorted[kept - 1] != sorted[i])
            sorted[kept++] = sorted[i];
    *count = kept;
    return sorted;
}

/* The entries are in the order of their numbers here, and so are the events' sessions. */
static bool keep_named_events(struct store *store, struct session_list *list,
                              struct statement *statement, struct error *error) {
    struct session_entry *entry = NULL;
    size_t capacity = 0;
    int row;
    while ((row = database_step(store, statement, error)) > 0) {
        const int64_t session = column_integer(statement, 6);
        if (!entry || entry->session.id != session) {
            const size_t at = first_where(i, list->count, list->entries[i].session.id >= session);
            if (at == list->count || list->entries[at].session.id != session)
                continue;
            entry = &list->entries[at];
            capacity = 0;
        }
        if (!keep_event(store, list, entry, &capacity, statement, error)) {
            database_reset(statement);
            return false;
        }
    }
    return row == 0;
}

typedef bool rows_reader(struct store *store, struct session_list *list,
                         struct statement *statement, struct error *error);

/* Of so many sessions at a time as the back end takes. */
static bool read_named(struct store *store, struct session_list *list, const int64_t *sessions,
                       size_t count, enum statement_number number, rows_reader *read,
                       struct error *error) {
    const size_t most = store->backend->sessions_at_once;
    struct statement *statement = database_prepare(store, number, error);
    bool good = statement;
    for (size_t i = 0; good && i < count; i += most) {
        const size_t some = count - i < most ? count - i : most;
        good = database_bind_to(store, statement, LIST(sessions + i, some), error) &&
               read(store, list, statement, error);
    }
    database_finalize(statement);
    return good;
}

ORDER(by_session_number, struct session_entry, ascending(a->session.id, b->session.id))

/* By number; those of them that are there. */
static bool read_numbers(struct store *store, struct session_list *list, const int64_t *sorted,
                         size_t count, struct error *error) {
    bool good = read_named(store, list, sorted, count, NAME_SESSIONS, keep_sessions, error);
    if (good && list->count)
        qsort(list->entries, list->count, sizeof *list->entries, by_session_number);
    return good && read_named(store, list, sorted, count, NAME_EVENTS, keep_named_events, error);
}

/* False: one is not held, or memory is out, and they are to be read. */
static bool copy_held(const struct store *store, struct session_list *list, const int64_t *sorted,
                      size_t count) {
    const struct session_list *held = store->held;
    if (!held || !(list->entries = calloc(count + 1, sizeof *list->entries)))
        return false;
    for (; list->count < count; list->count++) {
        const int64_t session = sorted[list->count];
        const size_t at = first_where(i, held->count, held->entries[i].session.id >= session);
        if (at == held->count || held->entries[at].session.id != session)
            break;
        list->entries[list->count] = held->entries[at];
    }
    if (list->count == count)
        return true;
    session_list_free(list);
    return false;
}

bool session_list_read_named(struct store *store, struct session_list *list,
                             const int64_t *sessions, size_t count, struct error *error) {
    memset(list, 0, sizeof *list);
    int64_t *sorted = sorted_numbers(sessions, &count);
    const bool good = !sorted ? database_out_of_memory(store, error)
                              : copy_held(store, list, sorted, count) ||
                                    read_numbers(store, list, sorted, count, error);
    if (good && list->count)
        qsort(list->entries, list->count, sizeof *list->entries, by_start);
    free(sorted);
    if (!good)
        session_list_free(list);
    return good;
}

bool store_hold_sessions(struct store *store, const int64_t *sessions, size_t count,
                         struct error *error) {
    store_drop_sessions(store);
    struct session_list *held = calloc(1, sizeof *held);
    int64_t *sorted = sorted_numbers(sessions, &count);
    const bool good = held && sorted ? read_numbers(store, held, sorted, count, error)
                                     : database_out_of_memory(store, error);
    free(sorted);
    store->held = held;
    if (!good)
        store_drop_sessions(store);
    return good;
}

void store_drop_sessions(struct store *store) {
    if (store->held)
        session_list_free(store->held);
    free(store->held);
    store->held = NULL;
}

bool session_list_read_some(struct store *store, struct session_list *list,
                            enum statement_number number, const struct datum *data, int count,
                            struct error *error) {
    memset(list, 0, sizeof *list);
    struct statement *statement = database_bind(store, number, data, count, error);
    bool good = keep_sessions(store, list, statement, error);
    int64_t *sorted = good ? calloc(list->count + 1, sizeof *sorted) : NULL;
    if (good && !sorted)
        good = database_out_of_memory(store, error);
    if (good && list->count)
        qsort(list->entries, list->count, sizeof *list->entries, by_session_number);
    for (size_t i = 0; sorted && i < list->count; i++)
        sorted[i] = list->entries[i].session.id;
    good =
        good && read_named(store, list, sorted, list->count, NAME_EVENTS, keep_named_events, error);
    if (good && list->count)
        qsort(list->entries, list->count, sizeof *list->entries, by_start);
    free(sorted);
    if (!good)
        session_list_free(list);
    return good;
}

bool session_list_read_sums(struct store *store, struct session_list *list, struct error *error) {
    memset(list, 0, sizeof *list);
    const bool good = read_sessions(store, list, LIST_SUMS, error);
    if (!good)
        session_list_free(list);
    return good;
}

void session_list_free(struct session_list *list) {
    free(list->entries);
    arena_free(&list->arena);
    memset(list, 0, sizeof *list);
}

struct session_entry *session_list_find(struct store *store, struct session_list *list, int64_t id,
                                        struct error *error) {
    const size_t i = index_where(k, list->count, list->entries[k].session.id == id);
    if (i < list->count)
        return &list->entries[i];
    return error_null(error, "%s: there is no session %lld", store->path, (long long)id);
}

bool store_each_session(struct store *store, store_session_visitor *visit, void *context,
                        struct error *error) {
    struct session_list list;
    if (!session_list_read(store, &list, error))
        return false;
    for (size_t i = 0; i < list.count; i++)
        if (list.entries[i].session.kind != SESSION_SUM &&
            !visit(context, &list.entries[i].session, list.entries[i].events,
                   list.entries[i].event_count))
            break;
    session_list_free(&list);
    return true;
}

bool store_event_total(struct store *store, int64_t session, int64_t event, uint64_t *total,
                       uint64_t *bytes, struct error *error) {
    struct statement *statement = BIND(store, EVENT_TOTAL, error, INTEGER(session), INTEGER(event));
    *total = *bytes = 0;
    int row = -1;
    while (statement && (row = database_step(store, statement, error)) > 0) {
        int64_t sum = column_integer(statement, 0);
        *total += sum > 0 ? (uint64_t)sum : 0;
        *bytes += (uint64_t)column_integer(statement, 1);
    }
    return row == 0;
}

const struct store_event *session_event(const struct session_entry *entry, int64_t id) {
    const size_t i = index_where(k, entry->event_count, entry->events[k].id == id);
    return i < entry->event_count ? &entry->events[i] : NULL;
}
