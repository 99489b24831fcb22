/* Days of hosts are made one after the other from their epochs, then the days of all hosts from
 * these. */
#include "store/day_sums.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/database.h"
#include "store/profile_sum.h"
#include "util/array.h"
#include "util/order.h"

#define ALL_HOSTS ""                           /* the host of sums over all */
#define DAYS_MAX  400                          /* of an epoch */
#define START_MAX INT64_C(8000000000000000000) /* as the statements have it: in 2223 */

/* ---- what a sum is of ---- */

void day_epochs_add(struct day_epochs *to, const struct day_epochs *from) {
    to->count += from->count;
    to->numbers += from->numbers;
    to->saved += from->saved;
}

bool day_epochs_same(const struct day_epochs *one, const struct day_epochs *other) {
    return one->count == other->count && one->numbers == other->numbers &&
           one->saved == other->saved;
}

#define SECONDS_MAX 1e12 /* of a day of a fleet */
enum { SUM_NAME_SIZE = 256 };
#define SUM_NAME                                                                                   \
    "%" PRIu64 " epochs, %" PRIu64 " of them its own, of %" PRIu64                                 \
    " hosts, %lf s, numbers %" PRIu64 ", saved %" PRIu64

static void print_name(const struct day_sum *sum, char name[SUM_NAME_SIZE]) {
    snprintf(name, SUM_NAME_SIZE,
             "%" PRIu64 " epochs, %" PRIu64 " of them its own, of %" PRIu64
             " hosts, %.3f s, numbers %" PRIu64 ", saved %" PRIu64,
             sum->epochs.count, sum->own, sum->hosts, sum->seconds, sum->epochs.numbers,
             sum->epochs.saved);
}

/* Of names that print_name() makes there is one for each sum: what prints otherwise, such as a
 * number with a sign, or one that is too large, is none. */
bool day_sum_read(const struct store_session *session, struct day_sum *sum) {
    struct day_sum read;
    char name[SUM_NAME_SIZE];
    if (session->kind != SESSION_SUM ||
        sscanf(session->name, SUM_NAME, &read.epochs.count, &read.own, &read.hosts, &read.seconds,
               &read.epochs.numbers, &read.epochs.saved) != 6 ||
        !(!signbit(read.seconds) && read.seconds < SECONDS_MAX))
        return false;
    print_name(&read, name);
    if (strcmp(name, session->name) != 0)
        return false;
    *sum = read;
    return true;
}

/* ---- epochs by host and day ---- */

static int64_t later(int64_t one, int64_t other) {
    return one > other ? one : other;
}

static int64_t sooner(int64_t one, int64_t other) {
    return one < other ? one : other;
}

static int64_t end_of(const struct store_session *session) {
    const int64_t reached = session->end ? session->end : session->saved;
    return reached > session->start ? reached : session->start + 1;
}

bool day_sums_have(const struct store_session *session) {
    const int64_t reached = session->end ? session->end : session->saved;
    return session->kind == SESSION_LIVE && session->weight == 1 && session->start > 0 &&
           session->start <= START_MAX && reached > 0 &&
           reached / DAY_NS - session->start / DAY_NS <= DAYS_MAX;
}

/* A live epoch as far as days go. */
struct epoch {
    int64_t id, start, end, unknown, dropped;
    uint32_t host;
    struct day_epochs mark;
};

struct epochs {
    struct intern hosts;
    struct epoch *items;
    size_t count, capacity;
    bool failed;
};

/* Milliseconds, so that sums over all epochs of a fleet are no larger than a number. */
static struct day_epochs mark_of(const struct store_session *session) {
    return (struct day_epochs){1, (uint64_t)session->id,
                               (uint64_t)(session->saved / 1000000 % 1000000000)};
}

static bool note_epoch(void *context, const struct store_session *session,
                       const struct store_event *events, size_t event_count) {
    (void)events, (void)event_count;
    struct epochs *epochs = context;
    if (!day_sums_have(session))
        return true;
    const struct epoch epoch = {
        .id = session->id,
        .start = session->start,
        .end = end_of(session),
        .unknown = (int64_t)session->unknown,
        .dropped = (int64_t)session->dropped,
        .host = intern_add(&epochs->hosts, session->host, strlen(session->host)),
        .mark = mark_of(session)};
    epochs->failed = epoch.host == INTERN_NONE ||
                     !array_push(epochs->items, epochs->capacity, epochs->count, epoch);
    return !epochs->failed;
}

static bool epochs_read(struct epochs *epochs, struct store *store, struct error *error) {
    return store_each_session(store, note_epoch, epochs, error) &&
           (!epochs->failed || database_out_of_memory(store, error));
}

static void epochs_free(struct epochs *epochs) {
    free(epochs->items);
    intern_free(&epochs->hosts);
}

/* An epoch as a part of one of its days. */
struct part {
    int64_t day;
    const char *host;
    const struct epoch *epoch;
};

ORDER(by_day, struct part,
      ascending(a->day, b->day) ?: strcmp(a->host, b->host) ?:
           ascending(a->epoch->start, b->epoch->start))

struct parts {
    struct part *items;
    size_t count, capacity;
};

static bool parts_find(struct parts *parts, const struct epochs *epochs, struct store *store,
                       struct error *error) {
    for (size_t i = 0; i < epochs->count; i++) {
        const struct epoch *epoch = &epochs->items[i];
        const char *host = intern_text(&epochs->hosts, epoch->host);
        for (int64_t day = day_of(epoch->start); day < epoch->end; day += DAY_NS)
            if (!array_push(parts->items, parts->capacity, parts->count,
                            (struct part){day, host, epoch}))
                return database_out_of_memory(store, error);
    }
    if (parts->count)
        qsort(parts->items, parts->count, sizeof *parts->items, by_day);
    return true;
}

/* Behind the parts from `begin` on that are of the same day, and host. */
static size_t day_end(const struct parts *parts, size_t begin) {
    size_t end = begin;
    while (end < parts->count && parts->items[end].day == parts->items[begin].day)
        end++;
    return end;
}

static size_t host_end(const struct parts *parts, size_t begin) {
    size_t end = begin;
    while (end < parts->count && parts->items[end].day == parts->items[begin].day &&
           !strcmp(parts->items[end].host, parts->items[begin].host))
        end++;
    return end;
}

ORDER(by_day_then_host, struct host_day, ascending(a->day, b->day) ?: strcmp(a->host, b->host))

/* A group of epochs of one host, of all the days that they are of. */
static bool keep_group(struct host_days *days, struct statement *statement) {
    const char *text = column_text(statement, 0);
    const char *host = arena_copy(&days->arena, text, strlen(text));
    const int64_t first = column_integer(statement, 1);
    const int64_t last = later(first, column_integer(statement, 2));
    const struct day_epochs epochs = {(uint64_t)column_integer(statement, 3),
                                      (uint64_t)column_integer(statement, 4),
                                      (uint64_t)column_integer(statement, 5)};
    for (int64_t day = first; host && day <= last && day <= first + DAYS_MAX; day++)
        if (!array_push(days->days, days->capacity, days->count,
                        (struct host_day){day * DAY_NS, host, epochs}))
            return false;
    return host;
}

/* Groups of one day and host become one. */
static void join_groups(struct host_days *days) {
    size_t kept = 0;
    if (days->count)
        qsort(days->days, days->count, sizeof *days->days, by_day_then_host);
    for (size_t i = 0; i < days->count; i++) {
        struct host_day *last = kept ? &days->days[kept - 1] : NULL;
        if (last && last->day == days->days[i].day && !strcmp(last->host, days->days[i].host))
            day_epochs_add(&last->epochs, &days->days[i].epochs);
        else
            days->days[kept++] = days->days[i];
    }
    days->count = kept;
}

bool host_days_read(struct store *store, struct host_days *days, struct error *error) {
    *days = (struct host_days){0};
    struct statement *statement = database_prepare(store, HOST_DAYS, error);
    int row = -1;
    while (statement && (row = database_step(store, statement, error)) > 0)
        if (!keep_group(days, statement)) {
            database_out_of_memory(store, error);
            row = -1;
            break;
        }
    database_finalize(statement);
    join_groups(days);
    return row == 0;
}

void host_days_free(struct host_days *days) {
    free(days->days);
    arena_free(&days->arena);
}

/* ---- sums that there are ---- */

struct kept_sum {
    int64_t id, day;
    const char *host;
    struct day_sum sum;
    bool readable, wanted;
};

struct kept_sums {
    struct kept_sum *items;
    size_t count, capacity;
    struct arena arena;
    bool failed;
};

ORDER(by_sum_day, struct kept_sum,
      ascending(a->day, b->day) ?: strcmp(a->host, b->host) ?: ascending(a->id, b->id))

static bool keep_sum(void *context, const struct store_session *session,
                     const struct store_event *events, size_t event_count) {
    (void)events, (void)event_count;
    struct kept_sums *sums = context;
    struct kept_sum sum = {.id = session->id,
                           .day = session->start,
                           .host = arena_copy(&sums->arena, session->host, strlen(session->host))};
    sum.readable = day_sum_read(session, &sum.sum);
    sums->failed = !sum.host || !array_push(sums->items, sums->capacity, sums->count, sum);
    return !sums->failed;
}

static bool kept_sums_read(struct kept_sums *sums, struct store *store, struct error *error) {
    if (!store_each_sum(store, keep_sum, sums, error))
        return false;
    if (sums->failed)
        return database_out_of_memory(store, error);
    if (sums->count)
        qsort(sums->items, sums->count, sizeof *sums->items, by_sum_day);
    return true;
}

/* NULL: there is none that is good for these epochs. Those of the day that are not are unwanted. */
static struct kept_sum *find_good(struct kept_sums *sums, int64_t day, const char *host,
                                  const struct day_epochs *epochs) {
    struct kept_sum *items = sums->items;
    size_t i = first_where(k, sums->count,
                           items[k].day > day ||
                               (items[k].day == day && strcmp(items[k].host, host) >= 0));
    for (; i < sums->count && items[i].day == day && !strcmp(items[i].host, host); i++)
        if (items[i].readable && day_epochs_same(&items[i].sum.epochs, epochs)) {
            items[i].wanted = true;
            return &items[i];
        }
    return NULL;
}

/* ---- making ---- */

struct making {
    struct store *store;
    struct kept_sums sums;
    struct day_sums_made *made;
    struct error *error;
};

struct adding {
    struct profile_sum sum;
    bool failed;
};

static bool add_profile(void *context, const struct store_profile *profile) {
    struct adding *adding = context;
    adding->failed = !profile_sum_add(&adding->sum, profile);
    return !adding->failed;
}

/* Kernel and processor, where those summed are all of one. */
struct shared_text {
    char kernel[256], processor[256];
    bool any;
};

static void share(char *shared, size_t size, const char *text, bool first) {
    if (first)
        snprintf(shared, size, "%s", text);
    else if (strcmp(shared, text) != 0)
        *shared = 0;
}

static bool share_session(void *context, const struct store_session *session,
                          const struct store_event *events, size_t event_count) {
    (void)events, (void)event_count;
    struct shared_text *shared = context;
    share(shared->kernel, sizeof shared->kernel, session->kernel, !shared->any);
    share(shared->processor, sizeof shared->processor, session->processor, !shared->any);
    shared->any = true;
    return true;
}

/* The sessions, epochs or sums, of a day as one. */
static bool make_sum(struct making *making, struct store_session *as, const struct day_sum *of,
                     const int64_t *sessions, size_t count, int64_t *id) {
    struct store *store = making->store;
    struct error *error = making->error;
    struct adding adding = {0};
    struct shared_text shared = {.any = false};
    const struct sample_choice choice = {.since = as->start, .until = as->end};
    const struct store_filter filter = {
        .sessions = sessions, .session_count = count, .choice = &choice};
    char name[SUM_NAME_SIZE];
    store->damage[0] = 0;
    print_name(of, name);
    as->kind = SESSION_SUM;
    as->name = name;
    as->weight = 1;
    bool good = store_each_named_session(store, sessions, count, share_session, &shared, error) &&
                store_each_profile(store, &filter, add_profile, &adding, error) &&
                (!adding.failed || database_out_of_memory(store, error));
    as->kernel = shared.kernel;
    as->processor = shared.processor;
    if (good && (good = write_begin(store, error)))
        good = write_end(store,
                         store_add_session(store, as, id, error) &&
                             profile_sum_write(&adding.sum, store, *id, error),
                         error);
    profile_sum_free(&adding.sum);
    as->name = as->kernel = as->processor = NULL; /* they end here */
    making->made->made += good;
    making->made->epochs += good && *as->host ? of->epochs.count : 0;
    return good;
}

/* A day of which something cannot be read has no sum: *id is 0. */
static bool leave_out(struct making *making, int64_t *id) {
    struct day_sums_made *made = making->made;
    if (!making->store->backend->many_writers || !making->store->damage[0])
        return false;
    if (!made->left_out++)
        snprintf(made->why, sizeof made->why, "%.399s", making->error->message);
    *id = 0;
    return true;
}

/* Of the parts, which are of one host's day. Lost samples are of the day of an epoch's middle. */
static bool make_host_day(struct making *making, const struct part *parts, size_t count,
                          int64_t *id) {
    const int64_t day = parts->day, end = day + DAY_NS;
    struct store_session as = {.host = parts->host, .start = day, .end = end};
    struct day_sum sum = {.hosts = 1};
    int64_t *sessions = calloc(count + 1, sizeof *sessions);
    if (!sessions)
        return database_out_of_memory(making->store, making->error);
    for (size_t i = 0; i < count; i++) {
        const struct epoch *epoch = parts[i].epoch;
        sessions[i] = epoch->id;
        day_epochs_add(&sum.epochs, &epoch->mark);
        sum.seconds += (double)(sooner(end, epoch->end) - later(day, epoch->start)) / 1e9;
        if (day_of(epoch->start + (epoch->end - epoch->start) / 2) == day) {
            sum.own++;
            as.unknown += (uint64_t)epoch->unknown;
            as.dropped += (uint64_t)epoch->dropped;
        }
    }
    const struct kept_sum *good = find_good(&making->sums, day, parts->host, &sum.epochs);
    making->made->kept += good != NULL;
    if (good)
        *id = good->id;
    const bool made =
        good || make_sum(making, &as, &sum, sessions, count, id) || leave_out(making, id);
    free(sessions);
    return made;
}

struct day_total {
    struct store_session as;
    struct day_sum sum;
    struct intern events, units; /* of these */
    bool failed;
};

/* False: out of memory. */
static bool note_unit(struct day_total *total, const struct store_event *event) {
    char *unit = NULL;
    const int size = asprintf(&unit, "%s\n%s", event->unit, event->name);
    const bool good = size >= 0 && intern_add(&total->units, unit, (size_t)size) != INTERN_NONE &&
                      intern_add(&total->events, event->name, strlen(event->name)) != INTERN_NONE;
    free(size >= 0 ? unit : NULL);
    return good;
}

static bool add_host_sum(void *context, const struct store_session *session,
                         const struct store_event *events, size_t event_count) {
    struct day_total *total = context;
    struct day_sum sum;
    total->failed = !all_where(i, event_count, note_unit(total, &events[i]));
    if (total->failed)
        return false;
    if (!day_sum_read(session, &sum))
        return true;
    total->as.unknown += session->unknown;
    total->as.dropped += session->dropped;
    total->sum.seconds += sum.seconds;
    total->sum.hosts += sum.hosts;
    total->sum.own += sum.own;
    day_epochs_add(&total->sum.epochs, &sum.epochs);
    return true;
}

/* Of the sums of its hosts. There is none where hosts count an event in unlike units: who reads
 * them leaves out some hosts, and says which. */
static bool make_fleet_day(struct making *making, int64_t day, const int64_t *sums, size_t count) {
    struct day_total total = {.as = {.host = ALL_HOSTS, .start = day, .end = day + DAY_NS}};
    int64_t id;
    const bool read =
        store_each_named_session(making->store, sums, count, add_host_sum, &total, making->error) &&
        (!total.failed || database_out_of_memory(making->store, making->error));
    const bool unlike = total.units.count > total.events.count;
    intern_free(&total.units);
    intern_free(&total.events);
    if (!read || unlike)
        return read;
    if (find_good(&making->sums, day, ALL_HOSTS, &total.sum.epochs)) {
        making->made->kept++;
        return true;
    }
    return make_sum(making, &total.as, &total.sum, sums, count, &id);
}

struct telling {
    bool (*progress)(void *context, size_t done, size_t all);
    void *context;
    size_t done, all;
    bool ended;
};

static bool tell(struct telling *telling, size_t count) {
    telling->done += count;
    telling->ended =
        telling->progress && !telling->progress(telling->context, telling->done, telling->all);
    return !telling->ended;
}

/* All hosts of one day; of a single host there is no sum over all. */
static bool make_day(struct making *making, const struct parts *parts, size_t begin, size_t end,
                     struct telling *telling) {
    int64_t *sums = calloc(end - begin + 1, sizeof *sums);
    size_t hosts = 0;
    bool good = true, whole = true;
    if (!sums)
        return database_out_of_memory(making->store, making->error);
    for (size_t i = begin, next; good && i < end && !telling->ended; i = next) {
        next = host_end(parts, i);
        good = make_host_day(making, &parts->items[i], next - i, &sums[hosts]);
        whole &= sums[hosts++] != 0;
        tell(telling, next - i);
    }
    if (good && whole && !telling->ended && hosts > 1)
        good = make_fleet_day(making, parts->items[begin].day, sums, hosts);
    free(sums);
    return good;
}

static bool remove_unwanted(struct making *making) {
    const struct kept_sums *sums = &making->sums;
    for (size_t i = 0; i < sums->count; i++) {
        if (sums->items[i].wanted)
            continue;
        if (!write_begin(making->store, making->error) ||
            !write_end(making->store,
                       session_erase(making->store, sums->items[i].id, making->error),
                       making->error))
            return false;
        making->made->removed++;
    }
    return true;
}

static bool make_days(struct making *making, const struct parts *parts, int64_t now,
                      struct telling *telling) {
    for (size_t begin = 0, end; begin < parts->count && !telling->ended; begin = end) {
        end = day_end(parts, begin);
        if (parts->items[begin].day + DAY_NS > now) {
            tell(telling, end - begin);
            continue;
        }
        if (!make_day(making, parts, begin, end, telling))
            return false;
        making->made->days += !telling->ended;
    }
    return telling->ended || remove_unwanted(making);
}

bool store_sum_days(struct store *store, int64_t now,
                    bool (*progress)(void *context, size_t done, size_t all), void *context,
                    struct day_sums_made *made, struct error *error) {
    struct making making = {.store = store, .made = made, .error = error};
    struct epochs epochs = {0};
    struct parts parts = {0};
    *made = (struct day_sums_made){0};
    bool good = epochs_read(&epochs, store, error) && parts_find(&parts, &epochs, store, error) &&
                kept_sums_read(&making.sums, store, error);
    struct telling telling = {.progress = progress, .context = context, .all = parts.count};
    good = good && make_days(&making, &parts, now, &telling);
    free(parts.items);
    epochs_free(&epochs);
    free(making.sums.items);
    arena_free(&making.sums.arena);
    return good;
}
