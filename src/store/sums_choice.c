#include "store/sums_choice.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/order.h"

void sums_choice_free(struct sums_choice *sums) {
    intern_free(&sums->hosts);
    free(sums->covers);
    hash_index_free(&sums->index);
    free(sums->days);
    free(sums->gaps);
    free(sums->sessions);
}

static struct cover *find_cover(const struct sums_choice *sums, uint32_t host, int64_t day) {
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

static bool add_gap(struct sums_choice *sums, int64_t day) {
    if (sums->gap_count && sums->gaps[sums->gap_count - 1] == day)
        return true;
    return array_push(sums->gaps, sums->gap_capacity, sums->gap_count, day);
}

/* Days of hosts that are wanted whole; they come by day. */
static bool add_day(struct sums_choice *sums, const struct session_query *query,
                    const struct host_day *host_day) {
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
    struct sums_choice *sums;
    const struct session_query *query;
    const struct host_days *days;
};

ORDER(by_day_and_host, struct host_day, ascending(a->day, b->day) ?: strcmp(a->host, b->host))

/* A sum that there is, held against the epochs that there are. */
static bool match_sum(void *context, const struct store_session *session,
                      const struct store_event *events, size_t event_count) {
    (void)events, (void)event_count;
    struct matching *matching = context;
    struct sums_choice *sums = matching->sums;
    const struct session_query *query = matching->query;
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

static const struct fleet_day *fleet_day_of(const struct sums_choice *sums, int64_t day) {
    const struct fleet_day *days = sums->days;
    const size_t i = first_where(k, sums->day_count, days[k].day >= day);
    return i < sums->day_count && days[i].day == day && days[i].sum ? &days[i] : NULL;
}

/* The sums that are read: of whole days of all hosts, else of those of one. */
static bool list_sums(struct sums_choice *sums) {
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

static bool out_of_memory(struct store *store, struct error *error) {
    return error_set(error, "%s: out of memory", store_path(store));
}

bool sums_choice_read(struct sums_choice *sums, struct store *store,
                      const struct session_query *query, bool *any, struct error *error) {
    struct host_days days;
    *any = false;
    if (!store_each_sum(store, note_any, any, error))
        return false;
    if (!*any)
        return true;
    bool good = host_days_read(store, &days, error);
    for (size_t i = 0; good && i < days.count; i++)
        good = add_day(sums, query, &days.days[i]) || out_of_memory(store, error);
    struct matching matching = {sums, query, &days};
    good = good && store_each_sum(store, match_sum, &matching, error) &&
           (list_sums(sums) || out_of_memory(store, error));
    host_days_free(&days);
    return good;
}

bool sums_choice_drop_mixed(struct sums_choice *sums, struct store *store,
                            const struct build_images *images, struct error *error) {
    struct build_processes processes = {0};
    bool good =
        build_processes_add(&processes, store, images, sums->sessions, sums->session_count, error);
    for (size_t i = 0; good && i < sums->count; i++)
        if (key_numbers_find(&processes.mixed, (uint64_t)sums->covers[i].sum) != UINT32_MAX)
            sums->covers[i].sum = 0;
    build_processes_free(&processes);
    sums->session_count = 0;
    return good && (list_sums(sums) || out_of_memory(store, error));
}

bool sums_choice_cover(const struct sums_choice *sums, const char *host, int64_t day) {
    const uint32_t number = intern_find(&sums->hosts, host, strlen(host));
    const struct cover *cover = number != INTERN_NONE ? find_cover(sums, number, day) : NULL;
    return (cover && cover->sum) || fleet_day_of(sums, day);
}

ORDER(by_moment, int64_t, ascending(*a, *b))

bool sums_choice_gaps(struct sums_choice *sums) {
    for (size_t i = 0; i < sums->count; i++)
        if (!sums->covers[i].sum && !fleet_day_of(sums, sums->covers[i].day) &&
            !add_gap(sums, sums->covers[i].day))
            return false;
    if (sums->gap_count)
        qsort(sums->gaps, sums->gap_count, sizeof *sums->gaps, by_moment);
    return true;
}
