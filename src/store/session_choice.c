#include "store/session_choice.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "store/day_sums.h"
#include "util/array.h"
#include "util/intern.h"
#include "util/order.h"

/* All epochs of the store by their start, and which of them are chosen. */
struct choice {
    int64_t *ids;
    bool *chosen;
    size_t count, capacity, chosen_capacity;
    size_t last; /* index of the one that was written last */
    int64_t last_saved;
    bool failed;
};

static bool note_epoch(void *context, const struct store_session *session,
                       const struct store_event *events, size_t event_count) {
    (void)events, (void)event_count;
    struct choice *choice = context;
    if (!array_room(choice->ids, choice->capacity, choice->count + 1) ||
        !array_room(choice->chosen, choice->chosen_capacity, choice->count + 1)) {
        choice->failed = true;
        return false;
    }
    choice->chosen[choice->count] = false;
    if (!choice->count || session->saved >= choice->last_saved) {
        choice->last = choice->count;
        choice->last_saved = session->saved;
    }
    choice->ids[choice->count++] = session->id;
    return true;
}

static bool choose_range(struct choice *choice, int64_t first, int64_t last) {
    bool any = false;
    for (size_t i = 0; i < choice->count; i++)
        if (first <= choice->ids[i] && choice->ids[i] <= last)
            any = choice->chosen[i] = true;
    return any;
}

/* The number at *text, which is moved behind it. */
static bool read_number(const char **text, int64_t *number) {
    if (**text < '0' || **text > '9')
        return false;
    *number = 0;
    for (; **text >= '0' && **text <= '9'; ++*text)
        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, **text - '0', number))
            return false;
    return true;
}

static bool choose_item(struct choice *choice, const char *item, size_t length, const char *path,
                        struct error *error) {
    if (length == 3 && !strncmp(item, "all", 3))
        return choose_range(choice, INT64_MIN, INT64_MAX);
    if (length == 4 && !strncmp(item, "last", 4))
        return choice->chosen[choice->last] = true;
    const char *at = item;
    int64_t first = 0, last;
    bool good = read_number(&at, &first);
    last = first;
    if (good && !strncmp(at, "..", 2)) {
        at += 2;
        good = read_number(&at, &last) && first <= last;
    }
    if (!good || at != item + length)
        return error_set(error,
                         "--epoch %.*s: not an epoch (a number, a range FIRST..LAST, last, or all)",
                         (int)length, item);
    return choose_range(choice, first, last) ||
           error_set(error, "--epoch %.*s: no such epoch in %s ('culprit epochs' lists them)",
                     (int)length, item, path);
}

static bool choose_list(struct choice *choice, const char *list, const char *path,
                        struct error *error) {
    for (;;) {
        size_t length = strcspn(list, ",");
        if (!choose_item(choice, list, length, path, error))
            return false;
        if (!list[length])
            return true;
        list += length + 1;
    }
}

bool store_choose_sessions(struct store *store, const char *const *lists, size_t list_count,
                           int64_t **sessions, size_t *count, struct error *error) {
    struct choice choice = {0};
    *sessions = NULL;
    *count = 0;
    bool good = store_each_session(store, note_epoch, &choice, error);
    if (good && choice.failed)
        good = error_set(error, "out of memory");
    if (good && choice.count == 0)
        good = error_set(error,
                         "%s holds no epochs ('culprit record' or 'culprit daemon' collects "
                         "some)",
                         store_path(store));
    for (size_t i = 0; good && i < list_count; i++)
        good = choose_list(&choice, lists[i], store_path(store), error);
    for (size_t i = 0; good && i < choice.count; i++)
        if (choice.chosen[i])
            choice.ids[(*count)++] = choice.ids[i];
    free(choice.chosen);
    if (good)
        *sessions = choice.ids;
    else
        free(choice.ids);
    return good;
}

/* ---- sessions that can have some samples ---- */

bool host_is_named(const char *host, const char *const *names, size_t count) {
    return !count || any_where(i, count, fnmatch(names[i], host, 0) == 0);
}

static int64_t end_of(const struct store_session *session) {
    return session->end ? session->end : session->saved;
}

static bool overlaps(const struct sample_choice *choice, const struct store_session *session) {
    if (!choice->since && !choice->until)
        return true;
    return session->kind == SESSION_LIVE && end_of(session) >= choice->since &&
           (!choice->until || session->start < choice->until);
}

/* What one choice is made with. */
struct choosing {
    struct session_reading *reading;
    struct store *store;
    const struct session_query *query;
    struct sums *sums;         /* NULL: none are used */
    struct key_numbers listed; /* by the lists */
    struct key_numbers seen;   /* epochs */
    bool all;                  /* there are no lists */
    size_t capacity;
    bool failed;
};

static bool out_of_memory(struct choosing *choosing, struct error *error) {
    return error_set(error, "%s: out of memory", store_path(choosing->store));
}

static bool push_session(struct choosing *choosing, int64_t session) {
    struct session_reading *reading = choosing->reading;
    return array_push(reading->sessions, choosing->capacity, reading->count, session);
}

static bool push_span(struct session_reading *reading, int64_t session, int64_t since,
                      int64_t until) {
    return array_push(reading->spans, reading->span_capacity, reading->span_count,
                      (struct store_span){session, since, until});
}

/* ---- sums in place of epochs ---- */

/* What is read of a host's day. */
struct cover {
    int64_t day, sum; /* 0: its epochs */
    uint32_t host;
};

struct sums {
    struct intern hosts;
    struct cover *covers;
    size_t count, capacity;
    struct hash_index index;
    struct fleet_day {
        int64_t day, sum; /* of all hosts; 0: none that is good */
        struct day_epochs epochs;
        bool all_named; /* every host of the day */
    } * days;
    size_t day_count, day_capacity;
    int64_t *gaps; /* days that epochs are read of, in any order */
    size_t gap_count, gap_capacity;
    int64_t *sessions; /* the sums that are read */
    size_t session_count, session_capacity;
    bool failed;
};

static void sums_free(struct sums *sums) {
    intern_free(&sums->hosts);
    free(sums->covers);
    hash_index_free(&sums->index);
    free(sums->days);
    free(sums->gaps);
    free(sums->sessions);
}

static struct cover *find_cover(struct sums *sums, uint32_t host, int64_t day) {
    size_t at;
    for (uint32_t i = hash_index_first(&sums->index, hash_pair(host, (uint64_t)day), &at);
         i != HASH_INDEX_NONE;
         i = hash_index_next(&sums->index, hash_pair(host, (uint64_t)day), &at))
        if (sums->covers[i].host == host && sums->covers[i].day == day)
            return &sums->covers[i];
    return NULL;
}

static bool is_whole(const struct sample_choice *choice, int64_t day) {
    return day >= choice->since && (!choice->until || day + DAY_NS <= choice->until);
}

static bool is_part(const struct sample_choice *choice, int64_t day) {
    return day + DAY_NS > choice->since && (!choice->until || day < choice->until);
}

static bool add_gap(struct sums *sums, int64_t day) {
    if (sums->gap_count && sums->gaps[sums->gap_count - 1] == day)
        return true;
    return array_push(sums->gaps, sums->gap_capacity, sums->gap_count, day);
}

/* Days of hosts that are wanted whole; they come by day. */
static bool add_day(struct sums *sums, const struct choosing *choosing,
                    const struct host_day *host_day) {
    const struct session_query *query = choosing->query;
    const bool named = host_is_named(host_day->host, query->hosts, query->host_count);
    if (!is_whole(query->choice, host_day->day))
        return !named || !is_part(query->choice, host_day->day) || add_gap(sums, host_day->day);
    if (!sums->day_count || sums->days[sums->day_count - 1].day != host_day->day)
        if (!array_push(sums->days, sums->day_capacity, sums->day_count,
                        (struct fleet_day){.day = host_day->day, .all_named = true}))
            return false;
    struct fleet_day *day = &sums->days[sums->day_count - 1];
    day_epochs_add(&day->epochs, &host_day->epochs);
    day->all_named &= named;
    if (!named)
        return true;
    const uint32_t host = intern_add(&sums->hosts, host_day->host, strlen(host_day->host));
    return host != INTERN_NONE &&
           hash_index_add(&sums->index, hash_pair(host, (uint64_t)host_day->day),
                          (uint32_t)sums->count) &&
           array_push(sums->covers, sums->capacity, sums->count,
                      (struct cover){.day = host_day->day, .host = host});
}

struct matching {
    struct choosing *choosing;
    struct host_days *days;
};

ORDER(by_day_and_host, struct host_day, ascending(a->day, b->day) ?: strcmp(a->host, b->host))

/* A sum that there is, held against the epochs that there are. */
static bool match_sum(void *context, const struct store_session *session,
                      const struct store_event *events, size_t event_count) {
    (void)events, (void)event_count;
    struct matching *matching = context;
    struct sums *sums = matching->choosing->sums;
    const struct session_query *query = matching->choosing->query;
    struct day_sum sum;
    if (!day_sum_read(session, &sum))
        return true;
    if (!*session->host) {
        struct fleet_day *days = sums->days;
        const size_t i = first_where(k, sums->day_count, days[k].day >= session->start);
        if (i < sums->day_count && days[i].day == session->start && days[i].all_named &&
            !query->by_host && !query->choice->build &&
            day_epochs_same(&days[i].epochs, &sum.epochs))
            days[i].sum = session->id;
        return true;
    }
    const struct host_day wanted = {.day = session->start, .host = session->host};
    const struct host_day *day = bsearch(&wanted, matching->days->days, matching->days->count,
                                         sizeof wanted, by_day_and_host);
    const uint32_t host = intern_find(&sums->hosts, session->host, strlen(session->host));
    struct cover *cover = host != INTERN_NONE ? find_cover(sums, host, session->start) : NULL;
    if (day && cover && day_epochs_same(&day->epochs, &sum.epochs))
        cover->sum = session->id;
    return true;
}

static const struct fleet_day *fleet_day_of(const struct sums *sums, int64_t day) {
    const struct fleet_day *days = sums->days;
    const size_t i = first_where(k, sums->day_count, days[k].day >= day);
    return i < sums->day_count && days[i].day == day && days[i].sum ? &days[i] : NULL;
}

/* The sums that are read: of whole days of all hosts, else of those of one. */
static bool list_sums(struct sums *sums) {
    for (size_t i = 0; i < sums->day_count; i++)
        if (sums->days[i].sum && !array_push(sums->sessions, sums->session_capacity,
                                             sums->session_count, sums->days[i].sum))
            return false;
    for (size_t i = 0; i < sums->count; i++)
        if (sums->covers[i].sum && !fleet_day_of(sums, sums->covers[i].day) &&
            !array_push(sums->sessions, sums->session_capacity, sums->session_count,
                        sums->covers[i].sum))
            return false;
    return true;
}

static bool note_any(void *context, const struct store_session *session,
                     const struct store_event *events, size_t event_count) {
    (void)session, (void)events, (void)event_count;
    *(bool *)context = true;
    return false;
}

static bool sums_read(struct choosing *choosing, struct sums *sums, struct error *error) {
    struct host_days days;
    bool any = false;
    if (!store_each_sum(choosing->store, note_any, &any, error))
        return false;
    if (!any)
        return true;
    bool good = host_days_read(choosing->store, &days, error);
    for (size_t i = 0; good && i < days.count; i++)
        good = add_day(sums, choosing, &days.days[i]) || out_of_memory(choosing, error);
    struct matching matching = {choosing, &days};
    choosing->sums = sums;
    good = good && store_each_sum(choosing->store, match_sum, &matching, error) &&
           (list_sums(sums) || out_of_memory(choosing, error));
    host_days_free(&days);
    return good;
}

/* Sums in which processes of one name ran several builds are of no use where a build is chosen. */
static bool drop_mixed(struct choosing *choosing, const struct build_images *images,
                       struct error *error) {
    struct sums *sums = choosing->sums;
    struct build_processes processes = {0};
    bool good = build_processes_add(&processes, choosing->store, images, sums->sessions,
                                    sums->session_count, error);
    for (size_t i = 0; good && i < sums->count; i++)
        if (key_numbers_find(&processes.mixed, (uint64_t)sums->covers[i].sum) != UINT32_MAX)
            sums->covers[i].sum = 0;
    build_processes_free(&processes);
    sums->session_count = 0;
    return good && (list_sums(sums) || out_of_memory(choosing, error));
}

/* ---- epochs ---- */

static bool is_covered(struct choosing *choosing, uint32_t host, int64_t day) {
    struct sums *sums = choosing->sums;
    const struct cover *cover = host != INTERN_NONE ? find_cover(sums, host, day) : NULL;
    return (cover && cover->sum) || fleet_day_of(sums, day);
}

ORDER(by_moment, int64_t, ascending(*a, *b))

/* Epochs of the days that some host has no sum of, in runs of such days. */
static bool visit_gaps(struct choosing *choosing, store_session_visitor *visit,
                       struct error *error) {
    struct sums *sums = choosing->sums;
    for (size_t i = 0; i < sums->count; i++)
        if (!sums->covers[i].sum && !fleet_day_of(sums, sums->covers[i].day) &&
            !add_gap(sums, sums->covers[i].day))
            return out_of_memory(choosing, error);
    if (sums->gap_count)
        qsort(sums->gaps, sums->gap_count, sizeof *sums->gaps, by_moment);
    for (size_t begin = 0, end; begin < sums->gap_count; begin = end) {
        for (end = begin + 1;
             end < sums->gap_count && sums->gaps[end] <= sums->gaps[end - 1] + DAY_NS;)
            end++;
        if (!store_each_session_between(choosing->store, sums->gaps[begin],
                                        sums->gaps[end - 1] + DAY_NS, visit, choosing, error))
            return false;
    }
    return store_each_session_without_days(choosing->store, visit, choosing, error);
}

/* An epoch, of the days that no sum has. False: out of memory. */
static bool add_uncovered(struct choosing *choosing, const struct store_session *session) {
    struct session_reading *reading = choosing->reading;
    const struct sample_choice *choice = choosing->query->choice;
    const uint32_t host = intern_find(&choosing->sums->hosts, session->host, strlen(session->host));
    const size_t before = reading->span_count;
    const int64_t end = end_of(session) > session->start ? end_of(session) : session->start + 1;
    bool whole = true;
    for (int64_t day = day_of(session->start); day < end; day += DAY_NS) {
        const bool covered = is_covered(choosing, host, day);
        const int64_t since = day > choice->since ? day : choice->since;
        const int64_t until =
            choice->until && choice->until < day + DAY_NS ? choice->until : day + DAY_NS;
        whole &= !covered;
        if (covered || since >= until)
            continue;
        if (reading->span_count > before && reading->spans[reading->span_count - 1].until == since)
            reading->spans[reading->span_count - 1].until = until;
        else if (!push_span(reading, session->id, since, until))
            return false;
    }
    if (whole) /* as where there are no sums */
        reading->span_count = before;
    return (!whole && reading->span_count == before) || push_session(choosing, session->id);
}

static bool visit_epoch(void *context, const struct store_session *session,
                        const struct store_event *events, size_t event_count) {
    (void)events, (void)event_count;
    struct choosing *choosing = context;
    const struct session_query *query = choosing->query;
    if ((!choosing->all &&
         key_numbers_find(&choosing->listed, (uint64_t)session->id) == UINT32_MAX) ||
        !host_is_named(session->host, query->hosts, query->host_count) ||
        !overlaps(query->choice, session))
        return true;
    if (choosing->sums) { /* it may lie in several gaps */
        const size_t before = choosing->seen.count;
        const uint32_t number = key_numbers_add(&choosing->seen, (uint64_t)session->id);
        if (number < before)
            return true;
        if (number == UINT32_MAX)
            return !(choosing->failed = true);
    }
    choosing->failed = choosing->sums && day_sums_have(session)
                           ? !add_uncovered(choosing, session)
                           : !push_session(choosing, session->id);
    return !choosing->failed;
}

ORDER(by_session, struct store_span,
      ascending(a->session, b->session) ?: ascending(a->since, b->since))

static bool read_lists(struct choosing *choosing, struct error *error) {
    static const char *const LAST[] = {"last"};
    const struct session_query *query = choosing->query;
    int64_t *ids;
    size_t count;
    if (!store_choose_sessions(choosing->store, query->list_count ? query->lists : LAST,
                               query->list_count ? query->list_count : 1, &ids, &count, error))
        return false;
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        good = key_numbers_add(&choosing->listed, (uint64_t)ids[i]) != UINT32_MAX ||
               out_of_memory(choosing, error);
    free(ids);
    return good;
}

/* "--host web-*", or " in this time", as it stands in messages. */
static bool none_chosen(struct choosing *choosing, struct error *error) {
    const struct session_query *query = choosing->query;
    const bool time = query->choice->since || query->choice->until;
    return error_set(error, "%s: no epoch%s%s%s%s ('culprit epochs' lists them)",
                     store_path(choosing->store), query->host_count ? " of " : "",
                     query->host_count ? query->hosts[0] : "",
                     query->host_count > 1 ? " and the others" : "", time ? " in this time" : "");
}

/* Whether sums can tell what is asked for. */
static bool sums_help(const struct session_query *query) {
    const struct sample_choice *choice = query->choice;
    return query->sums && !query->list_count && !choice->pid && !choice->thread &&
           !choice->processor;
}

static bool choose_build(struct choosing *choosing, const struct build_images *images,
                         struct error *error) {
    struct session_reading *reading = choosing->reading;
    if (!build_processes_add(&reading->processes, choosing->store, images, reading->sessions,
                             reading->count, error))
        return false;
    reading->choice.processes = &reading->processes.pure;
    const size_t all = reading->count, sums = reading->sums;
    reading->count = reading->sums = 0;
    for (size_t i = 0; i < all; i++)
        if (key_numbers_find(&reading->processes.sessions, (uint64_t)reading->sessions[i]) !=
            UINT32_MAX) {
            reading->sums += i < sums;
            reading->sessions[reading->count++] = reading->sessions[i];
        }
    return reading->processes.pure.count ||
           error_set(error, "%s: no processes of build %s, and of no other, were sampled there",
                     store_path(choosing->store), images->name);
}

static bool choose(struct choosing *choosing, const struct build_images *images,
                   struct error *error) {
    struct session_reading *reading = choosing->reading;
    const struct session_query *query = choosing->query;
    struct sums sums = {0};
    bool good = choosing->all ? !sums_help(query) || sums_read(choosing, &sums, error)
                              : read_lists(choosing, error);
    if (good && choosing->sums && query->choice->build)
        good = drop_mixed(choosing, images, error);
    for (size_t i = 0; good && i < sums.session_count; i++)
        good = push_session(choosing, sums.sessions[i]) || out_of_memory(choosing, error);
    reading->sums = reading->count;
    good = good &&
           (choosing->sums ? visit_gaps(choosing, visit_epoch, error)
                           : store_each_session(choosing->store, visit_epoch, choosing, error)) &&
           (!choosing->failed || out_of_memory(choosing, error)) &&
           (reading->count || none_chosen(choosing, error));
    if (reading->span_count)
        qsort(reading->spans, reading->span_count, sizeof *reading->spans, by_session);
    reading->choice.spans = reading->spans;
    reading->choice.span_count = reading->span_count;
    sums_free(&sums);
    return good && (!query->choice->build || choose_build(choosing, images, error));
}

bool session_reading_choose(struct session_reading *reading, struct store *store,
                            const struct session_query *query, struct error *error) {
    const struct sample_choice *choice = query->choice;
    struct build_images images = {0};
    struct choosing choosing = {.reading = reading, .store = store, .query = query};
    *reading = (struct session_reading){.choice = *choice};
    choosing.all = !query->list_count &&
                   (choice->since || choice->until || query->host_count || choice->build);
    const bool good = (!choice->build || build_images_find(&images, store, choice->build, error)) &&
                      choose(&choosing, &images, error);
    key_numbers_free(&choosing.listed);
    key_numbers_free(&choosing.seen);
    build_images_free(&images);
    return good;
}

void session_reading_free(struct session_reading *reading) {
    free(reading->sessions);
    free(reading->spans);
    build_processes_free(&reading->processes);
}
