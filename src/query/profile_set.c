/* Sessions are visited once and copied, their events merged by name. */
#include "query/profile_set.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/attribute.h"
#include "store/day_sums.h"
#include "util/array.h"
#include "util/file_name.h"
#include "util/intern.h"
#include "util/key_numbers.h"
#include "util/order.h"
#include "util/text.h"

/* Who counts an event in a unit. */
struct counted {
    int64_t epoch; /* the first */
    size_t hosts;
};

struct reading {
    struct profile_set *set;
    size_t capacity, event_capacity, counted_capacity;
    struct intern hosts;
    struct counted *counted;     /* by event, of which each unit is one until they are settled */
    struct key_numbers counting; /* event and host */
    struct error *error;
    bool failed;
};

static const char *copy(struct profile_set *set, const char *text) {
    return arena_copy(&set->arena, text ? text : "", text ? strlen(text) : 0);
}

/* ---- names ---- */

bool profile_path_is(const char *path, const char *name) {
    return !strcmp(path, name) || !strcmp(file_base_name(path), name);
}

bool profile_process_is(const struct store_process *process, const char *name) {
    return !name || !strcmp(process->command, name) || profile_path_is(process->executable, name);
}

/* ---- reading ---- */

static void take_unit(struct profile_event *event, const char *unit) {
    const bool units = !strcmp(unit, "1/840 cycles"), time = !strcmp(unit, "ns");
    event->stored_unit = unit;
    event->unit = units ? "cycles" : time ? "us" : unit;
    event->scale = units ? 1.0 / CYCLE_UNITS : time ? 1e-3 : 1;
}

static uint64_t counting_key(size_t event, uint32_t host) {
    return (uint64_t)event << 32 | host;
}

/* False: out of memory. */
static bool note_host(struct reading *reading, const struct store_session *session, size_t event) {
    struct counted *counted = &reading->counted[event];
    struct day_sum sum = {.hosts = 1};
    const size_t before = reading->counting.count;
    const uint32_t host = intern_find(&reading->hosts, session->host, strlen(session->host));
    if (key_numbers_add(&reading->counting, counting_key(event, host)) == UINT32_MAX)
        return false;
    if (!*session->host && day_sum_read(session, &sum)) /* over all hosts */
        counted->hosts = sum.hosts > counted->hosts ? sum.hosts : counted->hosts;
    else
        counted->hosts += reading->counting.count > before;
    return true;
}

static bool is_left_out(const struct profile_set *set, const struct store_event *event) {
    return event_units_have(set->left_out, set->left_out_count, event);
}

static bool add_event(struct reading *reading, const struct store_session *session,
                      const struct store_event *event) {
    struct profile_set *set = reading->set;
    if (is_left_out(set, event))
        return true;
    struct profile_event new = {.period = event->period, .precise = event->precise};
    take_unit(&new, event->unit);
    estimated_add(&new.estimated, &event->estimate);
    for (size_t i = 0; i < set->event_count; i++) {
        struct profile_event *old = &set->events[i];
        if (strcmp(old->name, event->name) != 0 || strcmp(old->stored_unit, event->unit) != 0)
            continue;
        old->precise &= event->precise;
        estimated_add(&old->estimated, &event->estimate);
        bool same_unit = !strcmp(old->period_unit, event->period_unit);
        old->periods_differ |= old->period != event->period || !same_unit;
        if (!event->period || !same_unit)
            old->mean = 0;
        return note_host(reading, session, i) ||
               error_set(reading->error, "out of memory for events");
    }
    if (!strcmp(new.unit, "samples"))
        new.mean = (double)event->period;
    if (!array_room(set->events, reading->event_capacity, set->event_count + 1) ||
        !array_room(reading->counted, reading->counted_capacity, set->event_count + 1) ||
        !(new.name = copy(set, event->name)) || !(new.stored_unit = copy(set, event->unit)) ||
        !(new.unit = copy(set, new.unit)) || !(new.period_unit = copy(set, event->period_unit)))
        return error_set(reading->error, "out of memory for events");
    reading->counted[set->event_count] = (struct counted){.epoch = session->id};
    set->events[set->event_count++] = new;
    return note_host(reading, session, set->event_count - 1) ||
           error_set(reading->error, "out of memory for events");
}

/* ---- units ---- */

/* The event of this name that most hosts count, the first of those that as many do. */
static size_t most_counted(const struct reading *reading, const char *name) {
    const struct profile_set *set = reading->set;
    size_t most = index_where(i, set->event_count, !strcmp(set->events[i].name, name));
    for (size_t i = most + 1; i < set->event_count; i++)
        if (!strcmp(set->events[i].name, name) &&
            reading->counted[i].hosts > reading->counted[most].hosts)
            most = i;
    return most;
}

static struct unlike_event unlike_of(const struct reading *reading, size_t event, size_t kept) {
    struct profile_set *set = reading->set;
    struct unlike_event unlike = {.name = set->events[event].name,
                                  .unit = set->events[event].unit,
                                  .kept_unit = set->events[kept].unit,
                                  .hosts = reading->counted[event].hosts};
    size_t named = 0;
    for (size_t i = 0; i < reading->counting.count && named < UNLIKE_NAMED; i++) {
        const uint32_t host = (uint32_t)reading->counting.keys[i];
        if (reading->counting.keys[i] == counting_key(event, host) && host != INTERN_NONE)
            unlike.named[named++] = copy(set, intern_text(&reading->hosts, host));
    }
    return unlike;
}

static bool refuse_units(const struct reading *reading, size_t one, size_t other) {
    const struct profile_event *events = reading->set->events;
    if (one > other)
        return refuse_units(reading, other, one);
    return error_set(reading->error,
                     "%s: %s is counted in %s in epoch %" PRId64 " and in %s in others: "
                     "these do not add (choose with --epoch)",
                     store_path(reading->set->store), events[other].name, events[other].unit,
                     reading->counted[other].epoch, events[one].unit);
}

/* Of an event in several units one stays, in the place of the first. */
static bool settle_units(struct reading *reading) {
    struct profile_set *set = reading->set;
    const size_t count = set->event_count;
    struct event_unit *left_out = arena_alloc(&set->arena, (count + 1) * sizeof *left_out);
    struct unlike_event *unlike = arena_alloc(&set->arena, (count + 1) * sizeof *unlike);
    struct profile_event *kept = calloc(count + 1, sizeof *kept);
    size_t kept_count = 0, unlike_count = 0;
    if (!left_out || !unlike || !kept) {
        free(kept);
        return error_set(reading->error, "out of memory for events");
    }
    for (size_t i = 0; i < count; i++) {
        const struct profile_event *event = &set->events[i];
        const size_t most = most_counted(reading, event->name);
        if (!any_where(k, kept_count, !strcmp(kept[k].name, event->name)))
            kept[kept_count++] = set->events[most];
        if (i == most)
            continue;
        if (set->hosts < 2) {
            free(kept);
            return refuse_units(reading, i, most);
        }
        left_out[unlike_count] = (struct event_unit){event->name, event->stored_unit};
        unlike[unlike_count++] = unlike_of(reading, i, most);
    }
    if (unlike_count) {
        memcpy(set->events, kept, kept_count * sizeof *kept);
        set->event_count = kept_count;
        set->left_out = left_out;
        set->unlike = unlike;
        set->left_out_count = unlike_count;
    }
    free(kept);
    return true;
}

static double seconds_within(const struct store_session *epoch, int64_t since, int64_t until) {
    const int64_t reached = epoch->end ? epoch->end : epoch->saved;
    const int64_t begin = since > epoch->start ? since : epoch->start;
    const int64_t end = until && until < reached ? until : reached;
    return epoch->kind != SESSION_SIMULATED && end > begin ? ((double)end - (double)begin) / 1e9
                                                           : 0;
}

static double seconds_of(const struct store_session *epoch, const struct sample_choice *choice) {
    struct day_sum sum;
    if (epoch->kind == SESSION_SUM)
        return day_sum_read(epoch, &sum) ? sum.seconds : 0;
    const struct store_span *spans = choice->spans;
    const size_t count = choice->span_count;
    size_t at = first_where(i, count, spans[i].session >= epoch->id);
    if (at == count || spans[at].session != epoch->id)
        return seconds_within(epoch, choice->since, choice->until);
    double seconds = 0;
    for (; at < count && spans[at].session == epoch->id; at++)
        seconds += seconds_within(epoch, spans[at].since, spans[at].until);
    return seconds;
}

static bool add_epoch(struct reading *reading, const struct store_session *session) {
    struct profile_set *set = reading->set;
    struct store_session epoch = *session;
    if (!array_room(set->epochs, reading->capacity, set->epoch_count + 1) ||
        !(epoch.name = copy(set, session->name)) || !(epoch.host = copy(set, session->host)) ||
        !(epoch.kernel = copy(set, session->kernel)) ||
        !(epoch.processor = copy(set, session->processor)))
        return error_set(reading->error, "out of memory for epochs");
    set->epochs[set->epoch_count++] = epoch;
    struct day_sum sum = {.own = 1, .hosts = 1};
    set->sums += day_sum_read(&epoch, &sum);
    set->epochs_in_all += sum.own;
    if (*epoch.host && intern_add(&reading->hosts, epoch.host, strlen(epoch.host)) == INTERN_NONE)
        return error_set(reading->error, "out of memory for epochs");
    set->hosts = sum.hosts > set->hosts ? sum.hosts : set->hosts;
    set->hosts = reading->hosts.count > set->hosts ? reading->hosts.count : set->hosts;
    set->unknown += epoch.unknown;
    set->dropped += epoch.dropped;
    set->seconds += seconds_of(&epoch, &(struct sample_choice){0});
    set->simulated &= epoch.kind == SESSION_SIMULATED;
    return true;
}

static bool visit_session(void *context, const struct store_session *session,
                          const struct store_event *events, size_t event_count) {
    struct reading *reading = context;
    bool good = add_epoch(reading, session);
    for (size_t i = 0; good && i < event_count; i++)
        good = add_event(reading, session, &events[i]);
    reading->failed = !good;
    return good;
}

/* ---- periods ---- */

/* Of the samples of an event. */
struct mean_period {
    const struct profile_set *set;
    const char *event;
    double samples, distance;
    struct error *error;
    bool failed;
};

static bool add_distances(void *context, const struct store_session *session,
                          const struct store_event *events, size_t event_count) {
    struct mean_period *mean = context;
    const struct profile_set *set = mean->set;
    for (size_t i = 0; i < event_count && !mean->failed; i++) {
        uint64_t total, bytes;
        if (strcmp(events[i].name, mean->event) != 0 || is_left_out(set, &events[i]))
            continue;
        mean->failed =
            !store_event_total(set->store, session->id, events[i].id, &total, &bytes, mean->error);
        mean->samples += session->weight * (double)total;
        mean->distance += session->weight * (double)total * (double)events[i].period;
    }
    return !mean->failed;
}

static bool settle_period(struct profile_set *set, struct profile_event *event,
                          struct error *error) {
    if (!event->periods_differ)
        event->mean = 0;
    if (!event->mean)
        return true;
    struct mean_period mean = {.set = set, .event = event->name, .error = error};
    if (!store_each_named_session(set->store, set->sessions, set->epoch_count, add_distances, &mean,
                                  error) ||
        mean.failed)
        return false;
    if (mean.samples > 0)
        event->mean = mean.distance / mean.samples;
    event->period = (uint64_t)(event->mean + 0.5);
    return true;
}

/* ---- names of sets ---- */

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
    bool consecutive = count > 1 && !set->sums;
    for (size_t i = 1; i < count; i++)
        consecutive &= epochs[i].id == epochs[i - 1].id + 1;
    if (set->sums)
        snprintf(text + used, sizeof text - used, "%s epochs of %s host%s",
                 text_grouped(set->epochs_in_all).s, text_grouped(set->hosts).s,
                 text_plural(set->hosts));
    else if (consecutive && count > 2)
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

const char *profile_set_shared(const struct profile_set *set, size_t member) {
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
    const char *name = profile_set_shared(set, offsetof(struct store_session, name));
    const char *first = set->epochs[0].name, *part = strrchr(first, '(');
    if (name || !set->simulated || !part)
        return name;
    size_t length = (size_t)(part - first);
    for (size_t i = 1; i < set->epoch_count; i++)
        if (strncmp(set->epochs[i].name, first, length + 1) != 0)
            return NULL;
    return arena_copy(&set->arena, first, length > 0 ? length - 1 : 0);
}

static bool read_sessions(struct profile_set *set, const int64_t *sessions, size_t count,
                          struct error *error) {
    struct reading reading = {.set = set, .error = error};
    const bool good =
        store_each_named_session(set->store, sessions, count, visit_session, &reading, error) &&
        !reading.failed && settle_units(&reading);
    intern_free(&reading.hosts);
    key_numbers_free(&reading.counting);
    free(reading.counted);
    return good;
}

static bool read_set(struct profile_set *set, const int64_t *sessions, size_t count, bool name_file,
                     struct error *error) {
    struct store *store = set->store;
    if (!read_sessions(set, sessions, count, error))
        return false;
    if (set->epoch_count < count)
        return error_set(error, "%s: an epoch is gone (see 'culprit epochs')", store_path(store));
    set->nothing = !set->event_count;
    if (set->nothing)
        return error_set(error, "%s: nothing was collected in %s", store_path(store),
                         count == 1 ? "this epoch" : "these epochs");
    set->sessions = calloc(count, sizeof *set->sessions);
    if (!set->sessions || !(set->label = make_label(set, name_file)))
        return error_set(error, "out of memory for epochs");
    for (size_t i = 0; i < count; i++) {
        set->sessions[i] = set->epochs[i].id;
        set->weighted |= set->epochs[i].weight != 1;
    }
    for (size_t i = 0; i < set->event_count; i++)
        if (!settle_period(set, &set->events[i], error))
            return false;
    set->command = set->sums ? NULL : command_of(set);
    return true;
}

bool profile_set_read(struct profile_set *set, struct store *store, const int64_t *sessions,
                      size_t count, bool name_file, struct error *error) {
    *set = (struct profile_set){.store = store, .simulated = true};
    return read_set(set, sessions, count, name_file, error);
}

bool profile_set_read_part(struct profile_set *part, const struct profile_set *set,
                           const int64_t *sessions, size_t count, struct error *error) {
    *part = (struct profile_set){.store = set->store,
                                 .simulated = true,
                                 .left_out = set->left_out,
                                 .unlike = set->unlike,
                                 .left_out_count = set->left_out_count};
    return read_set(part, sessions, count, false, error);
}

/* Of epochs of which sums have a part, those are counted whose middle is read. */
static bool is_counted(const struct profile_set *set, const struct store_session *epoch) {
    const struct sample_choice times = {.spans = set->choice.spans,
                                        .span_count = set->choice.span_count,
                                        .since = set->choice.since,
                                        .until = set->choice.until};
    const struct store_process whole = {.slice = {.cgroup = ""}};
    return sample_choice_admits(&times, epoch, &whole);
}

uint64_t profile_set_host_epochs(const struct profile_set *set, const char *host) {
    uint64_t count = 0;
    for (size_t i = 0; i < set->epoch_count; i++) {
        const struct store_session *epoch = &set->epochs[i];
        struct day_sum sum = {.own = !set->sums || is_counted(set, epoch)};
        if (strcmp(epoch->host, host) != 0)
            continue;
        day_sum_read(epoch, &sum);
        count += sum.own;
    }
    return count;
}

void profile_set_choose(struct profile_set *set, const struct sample_choice *choice) {
    set->choice = *choice;
    set->seconds = 0;
    for (size_t i = 0; i < set->epoch_count; i++)
        set->seconds += seconds_of(&set->epochs[i], choice);
    for (size_t i = 0; set->sums && i < set->epoch_count; i++) {
        const struct store_session *epoch = &set->epochs[i];
        if (epoch->kind == SESSION_SUM || is_counted(set, epoch))
            continue;
        set->unknown -= epoch->unknown;
        set->dropped -= epoch->dropped;
        set->epochs_in_all--;
    }
    if (set->sums && set->label)
        set->label = make_label(set, false) ?: set->label;
    char label[PATH_MAX + 256];
    if (choice->build && set->label) {
        snprintf(label, sizeof label, "build %s, %s", choice->build, set->label);
        set->label = copy(set, label) ?: set->label;
    }
}

struct store_filter profile_set_filter(const struct profile_set *set, const char *event) {
    return (struct store_filter){.sessions = set->sessions,
                                 .session_count = set->epoch_count,
                                 .event = event,
                                 .left_out = set->left_out,
                                 .left_out_count = set->left_out_count,
                                 .choice = &set->choice};
}

const struct store_damage *profile_set_damage(const struct profile_set *set, size_t *at) {
    size_t count;
    const struct store_damage *damage = store_damage(set->store, &count);
    for (; *at < count; ++*at)
        if (!damage[*at].epoch ||
            any_where(i, set->epoch_count, set->epochs[i].id == damage[*at].epoch))
            return &damage[(*at)++];
    return NULL;
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

bool profile_event_is_time(const struct profile_event *event) {
    return strcmp(event->unit, "us") != 0 &&
           (strcmp(event->unit, "samples") != 0 || strcmp(event->period_unit, "events") != 0);
}
