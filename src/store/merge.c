/* Several sessions become one, and sessions go from store to store: events and processes are found
 * or made in the session they go to, and profiles are added there. */
#include <stdlib.h>
#include <string.h>

#include "store/database.h"
#include "util/array.h"
#include "util/order.h"

/* Where profiles go; `events` are the numbers there of the events of `entry`. */
struct transfer {
    struct store *to, *from;
    int64_t session;
    int64_t *events;
    const struct session_entry *entry;
    const struct store_image *image; /* that profiles are of now, and its number there */
    int64_t image_id;
    double scale;                          /* of the values; 0: as they are */
    bool slices_alone;                     /* of processes in slices, whose slices are forgotten */
    const struct store_estimate *estimate; /* what the events become; NULL: as they are */
    struct error *error;
    bool failed;
};

static bool copy_symbols(struct transfer *transfer) {
    struct code_symbol *symbols;
    size_t count;
    if (!store_get_symbols(transfer->to, transfer->image_id, &symbols, &count, transfer->error))
        return false;
    store_free_symbols(symbols, count);
    if (count)
        return true;
    if (!store_get_symbols(transfer->from, transfer->image->id, &symbols, &count, transfer->error))
        return false;
    bool good = count == 0 || store_set_symbols(transfer->to, transfer->image_id, symbols, count,
                                                transfer->error);
    store_free_symbols(symbols, count);
    return good;
}

/* Profiles come image by image. */
static bool find_image(struct transfer *transfer, const struct store_image *image) {
    if (transfer->image == image)
        return true;
    transfer->image = image;
    if (transfer->to == transfer->from) {
        transfer->image_id = image->id;
        return true;
    }
    return store_image(transfer->to, image, &transfer->image_id, transfer->error) &&
           copy_symbols(transfer);
}

/* To whole numbers; NULL: out of memory. */
static struct store_value *scaled(const struct store_value *values, size_t count, double scale) {
    struct store_value *copy = malloc((count + 1) * sizeof *copy);
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = values[i];
        copy[i].value = (uint64_t)((double)values[i].value * scale + 0.5);
    }
    return copy;
}

static bool add_values(struct transfer *transfer, int64_t process, int64_t event,
                       const struct store_profile *profile) {
    struct store_value *copy = NULL;
    if (transfer->scale != 0 && !(copy = scaled(profile->values, profile->count, transfer->scale)))
        return database_out_of_memory(transfer->to, transfer->error);
    bool good =
        store_add_values(transfer->to, transfer->session, process, transfer->image_id, event,
                         copy ? copy : profile->values, profile->count, transfer->error);
    free(copy);
    return good;
}

static size_t event_index(const struct transfer *transfer, const struct store_event *event) {
    return index_where(i, transfer->entry->event_count, transfer->entry->events[i].id == event->id);
}

static bool is_sliced(const struct store_slice *slice) {
    return slice->pid || slice->thread || slice->processor || slice->begin || slice->end;
}

/* The number of the row that a process has where it goes. */
static bool find_process(struct transfer *transfer, const struct store_process *process,
                         int64_t *id) {
    struct store_process found = *process;
    if (transfer->slices_alone)
        found.slice = (struct store_slice){.cgroup = process->slice.cgroup};
    return store_process(transfer->to, transfer->session, &found, id, transfer->error);
}

static bool transfer_profile(void *context, const struct store_profile *profile) {
    struct transfer *transfer = context;
    const size_t event = event_index(transfer, profile->event);
    int64_t process;
    if (transfer->slices_alone && !is_sliced(&profile->process->slice))
        return true;
    transfer->failed = !find_image(transfer, profile->image) ||
                       !find_process(transfer, profile->process, &process) ||
                       !add_values(transfer, process, transfer->events[event], profile);
    return !transfer->failed;
}

/* The images of a tree, as they are numbered where it goes. */
static bool find_images(struct transfer *transfer, const int64_t *images, size_t count,
                        int64_t *found) {
    for (size_t i = 0; i < count; i++) {
        const struct store_image *image =
            store_image_of(transfer->from, images[i], transfer->error);
        if (!image || !find_image(transfer, image))
            return false;
        found[i] = transfer->image_id;
    }
    return true;
}

static bool add_calls(struct transfer *transfer, int64_t process, int64_t event,
                      const struct store_call_tree *tree) {
    size_t image_count;
    int64_t *images = calls_images(tree->calls, tree->count, &image_count);
    int64_t *found = calloc(image_count + 1, sizeof *found);
    struct store_call *copy = calloc(tree->count + 1, sizeof *copy);
    bool good = false;
    if (!images || !found || !copy)
        database_out_of_memory(transfer->to, transfer->error);
    else if (find_images(transfer, images, image_count, found)) {
        for (size_t i = 0; i < tree->count; i++) {
            copy[i] = tree->calls[i];
            if (transfer->scale != 0)
                copy[i].value = (uint64_t)((double)copy[i].value * transfer->scale + 0.5);
            if (copy[i].image)
                copy[i].image = found[first_where(k, image_count, images[k] >= copy[i].image)];
        }
        good = true;
    }
    good = good && store_add_calls(transfer->to, transfer->session, process, event, copy,
                                   tree->count, transfer->error);
    free(images);
    free(found);
    free(copy);
    return good;
}

static bool transfer_calls(void *context, const struct store_call_tree *tree) {
    struct transfer *transfer = context;
    int64_t process;
    if (transfer->slices_alone && !is_sliced(&tree->process->slice))
        return true;
    transfer->failed =
        !find_process(transfer, tree->process, &process) ||
        !add_calls(transfer, process, transfer->events[event_index(transfer, tree->event)], tree);
    return !transfer->failed;
}

static bool same_event(const struct store_event *one, const struct store_event *other) {
    return !strcmp(one->name, other->name) && !strcmp(one->unit, other->unit) &&
           one->period == other->period && !strcmp(one->period_unit, other->period_unit) &&
           one->precise == other->precise && estimate_same(&one->estimate, &other->estimate);
}

/* The events of `entry` in `session`, which has those of `present` (NULL: none) already. */
static bool find_events(struct transfer *transfer, const struct session_entry *present) {
    const struct session_entry *entry = transfer->entry;
    transfer->events = calloc(entry->event_count + 1, sizeof *transfer->events);
    if (!transfer->events)
        return database_out_of_memory(transfer->to, transfer->error);
    for (size_t i = 0; i < entry->event_count; i++) {
        struct store_event event = entry->events[i];
        if (transfer->estimate)
            event.estimate = *transfer->estimate;
        for (size_t j = 0; present && j < present->event_count; j++)
            if (same_event(&event, &present->events[j]))
                transfer->events[i] = present->events[j].id;
        if (!transfer->events[i] && !store_add_event(transfer->to, transfer->session, &event,
                                                     &transfer->events[i], transfer->error))
            return false;
    }
    return true;
}

static bool transfer_session(struct transfer *transfer, const struct session_entry *present) {
    const struct store_filter filter = {.sessions = &transfer->entry->session.id,
                                        .session_count = 1};
    bool good =
        find_events(transfer, present) &&
        store_each_profile(transfer->from, &filter, transfer_profile, transfer, transfer->error) &&
        !transfer->failed &&
        store_each_call_tree(transfer->from, &filter, transfer_calls, transfer, transfer->error) &&
        !transfer->failed;
    free(transfer->events);
    transfer->events = NULL;
    return good;
}

/* ---- merging ---- */

static bool may_merge(struct store *store, const struct store_session *target,
                      const struct store_session *other, struct error *error) {
    const struct store_session *unended = target->end ? other : target;
    const char *differ = target->kind != other->kind         ? "kinds"
                         : strcmp(target->host, other->host) ? "hosts"
                         : target->weight != other->weight   ? "weights"
                                                             : NULL;
    if (differ)
        return error_set(error, "%s: sessions %lld and %lld are of different %s", store->path,
                         (long long)target->id, (long long)other->id, differ);
    return unended->end ||
           error_set(error, "%s: session %lld has not ended", store->path, (long long)unended->id);
}

static bool merge_into(struct store *store, struct session_entry *target,
                       const struct session_entry *other, struct error *error) {
    struct transfer transfer = {
        .to = store, .from = store, .session = target->session.id, .entry = other, .error = error};
    struct store_session *session = &target->session;
    if (!may_merge(store, session, &other->session, error) || !transfer_session(&transfer, target))
        return false;
    if (session->end < other->session.end)
        session->end = other->session.end;
    session->unknown += other->session.unknown;
    session->dropped += other->session.dropped;
    return store_update_session(store, session, error) &&
           session_erase(store, other->session.id, error);
}

/* The sessions by their start. False: one is missing or named twice. */
static bool sort_by_start(struct store *store, const int64_t *sessions, size_t count,
                          int64_t *sorted, struct error *error) {
    struct session_list list;
    if (!session_list_read(store, &list, error))
        return false;
    size_t found = 0;
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        good = session_list_find(store, &list, sessions[i], error) != NULL;
    for (size_t i = 0; good && i < list.count; i++)
        for (size_t j = 0; good && j < count; j++)
            if (sessions[j] == list.entries[i].session.id) {
                good = !found || sorted[found - 1] != sessions[j] ||
                       error_set(error, "%s: session %lld is named twice", store->path,
                                 (long long)sessions[j]);
                if (good)
                    sorted[found++] = sessions[j];
            }
    session_list_free(&list);
    return good;
}

/* Reads the sessions anew: the target may have got further events. */
static bool merge_pair(struct store *store, int64_t target, int64_t other, struct error *error) {
    struct session_list list;
    struct session_entry *to, *from;
    if (!session_list_read(store, &list, error))
        return false;
    bool good = (to = session_list_find(store, &list, target, error)) &&
                (from = session_list_find(store, &list, other, error)) &&
                merge_into(store, to, from, error);
    session_list_free(&list);
    return good;
}

/* What was sent is not sent again: the samples of those that wait would never be. */
static bool sent_alike(struct store *store, const int64_t *sessions, size_t count,
                       struct error *error) {
    size_t sent = 0;
    for (size_t i = 0; i < count; i++) {
        struct statement *statement = BIND(store, WAS_SENT, error, INTEGER(sessions[i]));
        if (!statement || database_step(store, statement, error) <= 0)
            return false;
        sent += column_integer(statement, 0) > 0;
        database_reset(statement);
    }
    return !sent || sent == count ||
           error_set(error,
                     "%s: some of these epochs were sent to a server, and others were not: send "
                     "them first (culprit epochs export --push ADDRESS)",
                     store->path);
}

bool store_merge_sessions(struct store *store, const int64_t *sessions, size_t count,
                          struct error *error) {
    int64_t *sorted = calloc(count + 1, sizeof *sorted);
    if (!sorted)
        return database_out_of_memory(store, error);
    bool good = write_begin(store, error);
    if (good) {
        good = sort_by_start(store, sessions, count, sorted, error) &&
               sent_alike(store, sessions, count, error);
        for (size_t i = 1; good && i < count; i++)
            good = merge_pair(store, sorted[0], sorted[i], error);
        good = write_end(store, good, error);
    }
    free(sorted);
    return good;
}

/* ---- slices ---- */

bool store_has_slices(struct store *store, int64_t session, bool *has, struct error *error) {
    struct statement *statement = BIND(store, HAS_SLICES, error, INTEGER(session));
    const int row = statement ? database_step(store, statement, error) : -1;
    if (row > 0)
        database_reset(statement);
    *has = row > 0;
    return row >= 0;
}

static bool erase_slices(struct store *store, int64_t session, struct error *error) {
    static const enum statement_number STEPS[] = {ERASE_SLICED_CALLS_IMAGES, ERASE_SLICED_CALLS,
                                                  ERASE_SLICED_PROFILES, ERASE_SLICED_PROCESSES};
    return all_where(i, sizeof STEPS / sizeof *STEPS,
                     database_execute(store, STEPS[i], session, error));
}

bool store_forget_slices(struct store *store, int64_t session, struct error *error) {
    struct session_list list;
    if (!session_list_read(store, &list, error))
        return false;
    const struct session_entry *entry = session_list_find(store, &list, session, error);
    struct transfer transfer = {.to = store,
                                .from = store,
                                .session = session,
                                .entry = entry,
                                .slices_alone = true,
                                .error = error};
    bool good = entry && write_begin(store, error);
    if (good)
        good = write_end(store,
                         transfer_session(&transfer, entry) && erase_slices(store, session, error),
                         error);
    session_list_free(&list);
    return good;
}

/* ---- copying ---- */

/* Reads the target anew: it may have got further events. */
static bool add_session(struct store *to, struct store *from, const struct session_entry *entry,
                        int64_t target, const struct store_estimate *estimate,
                        struct error *error) {
    struct session_list list;
    if (!session_list_read(to, &list, error))
        return false;
    struct transfer transfer = {.to = to,
                                .from = from,
                                .session = target,
                                .entry = entry,
                                .scale = entry->session.weight,
                                .estimate = estimate,
                                .error = error};
    const struct session_entry *present = session_list_find(to, &list, target, error);
    bool good = present && transfer_session(&transfer, present);
    session_list_free(&list);
    return good;
}

bool store_sum_sessions(struct store *to, struct store *from, const int64_t *sessions, size_t count,
                        const struct store_session *as, const struct store_estimate *estimate,
                        int64_t *id, struct error *error) {
    struct session_list list;
    if (!session_list_read(from, &list, error))
        return false;
    bool good = write_begin(to, error);
    if (good) {
        good = store_add_session(to, as, id, error);
        for (size_t i = 0; good && i < count; i++) {
            const struct session_entry *entry = session_list_find(from, &list, sessions[i], error);
            good = entry && add_session(to, from, entry, *id, estimate, error);
        }
        good = write_end(to, good, error);
    }
    session_list_free(&list);
    return good;
}

static bool copy_session(struct store *to, struct store *from, const struct session_entry *entry,
                         struct error *error) {
    struct transfer transfer = {.to = to, .from = from, .entry = entry, .error = error};
    return store_add_session(to, &entry->session, &transfer.session, error) &&
           transfer_session(&transfer, NULL);
}

bool store_copy_sessions(struct store *to, struct store *from, const int64_t *sessions,
                         size_t count, struct error *error) {
    struct session_list list;
    if (!(sessions ? session_list_read_named(from, &list, sessions, count, error)
                   : session_list_read(from, &list, error)))
        return false;
    bool good = true;
    for (size_t i = 0; good && sessions && i < count; i++)
        good = session_list_find(from, &list, sessions[i], error) != NULL;
    if (good && (good = write_begin(to, error))) {
        for (size_t i = 0; good && i < list.count; i++)
            if (sessions || list.entries[i].session.kind != SESSION_SUM)
                good = copy_session(to, from, &list.entries[i], error);
        good = write_end(to, good, error);
    }
    session_list_free(&list);
    return good;
}
