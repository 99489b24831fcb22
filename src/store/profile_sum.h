/* Inside of this room: profiles of many sessions added up in memory, then written as one session.
 *
 *     profile_sum_add() for each profile ──► profile_sum_write() */
#pragma once

#include "store/store.h"
#include "util/intern.h"
#include "util/key_numbers.h"

struct summed_profile {
    uint32_t event, process; /* numbers in the sum */
    int64_t image;
    struct store_value *values; /* sorted and without pairs up to `settled`, then as they came */
    size_t count, settled, capacity;
};

struct profile_sum {
    struct intern events, processes; /* what each is told apart by */
    struct summed_profile *profiles;
    size_t count, capacity;
    struct key_numbers known_events, known_processes; /* numbers in the store of those met */
    uint32_t *event_numbers, *process_numbers;        /* of these in the sum */
    size_t event_capacity, process_capacity;
    struct hash_index index; /* of profiles */
};

/* Of a process's slice only the control group is told apart. False: out of memory. */
bool profile_sum_add(struct profile_sum *sum, const struct store_profile *profile);
/* Into a session that is empty. */
bool profile_sum_write(struct profile_sum *sum, struct store *store, int64_t session,
                       struct error *error);
void profile_sum_free(struct profile_sum *sum); /* empty again */
