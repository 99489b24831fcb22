/* Inside of this room: which sums of days are read in place of epochs. A sum stands for a day of a
 * host, or of all hosts, if the day is wanted whole and its epochs are still those that the sum was
 * made of. The other days of a query are gaps: their epochs are read. */
#pragma once

#include "store/day_sums.h"
#include "store/session_choice.h"
#include "util/intern.h"

/* What is read of a host's day. */
struct cover {
    int64_t day, sum; /* 0: its epochs */
    uint32_t host;
};

struct sums_choice {
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
};

/* *any: the store has sums; without any nothing was chosen. sums_choice_free() either way. */
bool sums_choice_read(struct sums_choice *sums, struct store *store,
                      const struct session_query *query, bool *any, struct error *error);
/* Where a build is chosen, sums in which processes of one name ran several builds are of no use. */
bool sums_choice_drop_mixed(struct sums_choice *sums, struct store *store,
                            const struct build_images *images, struct error *error);
/* Whether a sum that is read has this day of the host. */
bool sums_choice_cover(const struct sums_choice *sums, const char *host, int64_t day);
/* Completes the gaps by the days of hosts without a sum, and sorts them. False: out of memory. */
bool sums_choice_gaps(struct sums_choice *sums);
void sums_choice_free(struct sums_choice *sums);
