/* Sums of days: what all live epochs of one host, or of all hosts, have of a day (UTC), by image,
 * event and process, without slices but for control groups. Readers take them in place of the
 * epochs where whole days are asked for.
 *
 * A sum is a session of kind SESSION_SUM, whose name says of which epochs it is. It is of use only
 * while these are as they were: an epoch that comes late, is written again or removed makes the
 * sum of its host's day void, which then is read from the epochs until it is made anew. */
#pragma once

#include "store/store.h"
#include "util/arena.h"

#define DAY_NS INT64_C(86400000000000)

static inline int64_t day_of(int64_t moment) {
    return moment / DAY_NS * DAY_NS;
}

/* Which epochs: how many, and sums over their numbers and when they were last saved, by which
 * others are told from them. */
struct day_epochs {
    uint64_t count, numbers, saved;
};
/* Adds those of another host. */
void day_epochs_add(struct day_epochs *to, const struct day_epochs *from);
bool day_epochs_same(const struct day_epochs *one, const struct day_epochs *other);

/* What the name of a sum tells. */
struct day_sum {
    struct day_epochs epochs;
    uint64_t own; /* of these, those of which the middle lies in the day */
    uint64_t hosts;
    double seconds; /* of the day, that epochs were under way, of all hosts together */
};
/* False: it is not a sum's, or was not written by this. */
bool day_sum_read(const struct store_session *session, struct day_sum *sum);

/* Whether sums have what a session has: a live one, which is not longer than a year. */
bool day_sums_have(const struct store_session *session);

/* Days of hosts of which there are live epochs, by day, then host. An epoch is of each day into
 * which it reaches. */
struct host_day {
    int64_t day; /* its begin */
    const char *host;
    struct day_epochs epochs;
};
struct host_days {
    struct host_day *days;
    size_t count, capacity;
    struct arena arena;
};
bool host_days_read(struct store *store, struct host_days *days, struct error *error);
void host_days_free(struct host_days *days);

struct day_sums_made {
    size_t days, made, kept, removed; /* sums; days of which there are any now */
    uint64_t epochs;                  /* that those made were made of */
    size_t left_out; /* days of hosts with an epoch that cannot be read: none of the day's hosts
                        together either */
    char why[400];   /* of the first */
};
/* Makes what sums are missing or void of all days that are over at `now`, and removes those that
 * nothing is left of. Each is written in a transaction of its own, and who was interrupted goes on
 * where it was. `progress` (NULL: none) is told how many of the days of hosts are done; its false
 * ends it early, in order. */
bool store_sum_days(struct store *store, int64_t now,
                    bool (*progress)(void *context, size_t done, size_t all), void *context,
                    struct day_sums_made *made, struct error *error);
