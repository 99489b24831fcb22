#include "store/session_choice.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "store/day_sums.h"
#include "store/sums_choice.h"
#include "util/array.h"
#include "util/order.h"

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
    struct sums_choice *sums;  /* NULL: none are used */
    struct key_numbers listed; /* by the lists */
    struct key_numbers seen;   /* epochs */
    bool all;                  /* there are no lists */
    bool any;                  /* epochs are there, chosen or not */
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

/* Epochs of the days that some host has no sum of, in runs of such days. */
static bool visit_gaps(struct choosing *choosing, store_session_visitor *visit,
                       struct error *error) {
    struct sums_choice *sums = choosing->sums;
    if (!sums_choice_gaps(sums))
        return out_of_memory(choosing, error);
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
    const size_t before = reading->span_count;
    const int64_t end = end_of(session) > session->start ? end_of(session) : session->start + 1;
    bool whole = true;
    for (int64_t day = day_of(session->start); day < end; day += DAY_NS) {
        const bool covered = sums_choice_cover(choosing->sums, session->host, day);
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
    choosing->any = true;
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
    if (!choosing->any && !choosing->sums)
        return store_no_epochs(choosing->store, error);
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
    struct sums_choice sums = {0};
    bool good = choosing->all || read_lists(choosing, error);
    if (choosing->all && sums_help(query)) {
        bool any = false;
        good = sums_choice_read(&sums, choosing->store, query, &any, error);
        choosing->sums = any ? &sums : NULL;
    }
    if (good && choosing->sums && query->choice->build)
        good = sums_choice_drop_mixed(&sums, choosing->store, images, error);
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
    sums_choice_free(&sums);
    choosing->sums = NULL;
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
