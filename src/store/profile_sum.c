#include "store/profile_sum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/database.h"
#include "util/array.h"
#include "util/order.h"

ORDER(by_offset, struct store_value,
      ascending(a->offset, b->offset) ?: ascending(a->signature, b->signature))

static bool same_place(const struct store_value *one, const struct store_value *other) {
    return one->offset == other->offset && one->signature == other->signature;
}

/* Values of one place become one. */
static void settle(struct summed_profile *profile) {
    struct store_value *values = profile->values;
    size_t kept = 0;
    if (profile->settled == profile->count)
        return;
    qsort(values, profile->count, sizeof *values, by_offset);
    for (size_t i = 0; i < profile->count; i++)
        if (!kept || !same_place(&values[kept - 1], &values[i]))
            values[kept++] = values[i];
        else if (__builtin_add_overflow(values[kept - 1].value, values[i].value,
                                        &values[kept - 1].value))
            values[kept - 1].value = UINT64_MAX;
    profile->count = profile->settled = kept;
}

/* ---- what profiles are told apart by ---- */

/* Fields one behind the other, each ended by a zero byte. */
static char *join(const char *const *fields, size_t count, size_t *size) {
    char *text = NULL;
    FILE *file = open_memstream(&text, size);
    for (size_t i = 0; file && i < count; i++)
        fwrite(fields[i], 1, strlen(fields[i]) + 1, file);
    if (!file || fclose(file) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static uint32_t intern_fields(struct intern *intern, const char *const *fields, size_t count) {
    size_t size;
    char *text = join(fields, count, &size);
    const uint32_t number = text ? intern_add(intern, text, size) : INTERN_NONE;
    free(text);
    return number;
}

static void split(const struct intern *intern, uint32_t number, const char **fields, size_t count) {
    const char *at = intern_text(intern, number);
    for (size_t i = 0; i < count; i++, at += strlen(at) + 1)
        fields[i] = at;
}

enum { EVENT_FIELDS = 5, PROCESS_FIELDS = 3 };

static uint32_t number_event(struct profile_sum *sum, const struct store_event *event) {
    char period[32];
    snprintf(period, sizeof period, "%llu", (unsigned long long)event->period);
    return intern_fields(&sum->events,
                         (const char *[]){event->name, event->unit, period, event->period_unit,
                                          event->precise ? "1" : "0"},
                         EVENT_FIELDS);
}

static uint32_t number_process(struct profile_sum *sum, const struct store_process *process) {
    return intern_fields(
        &sum->processes,
        (const char *[]){process->command, process->executable, process->slice.cgroup},
        PROCESS_FIELDS);
}

/* The number in the sum of what has the number `id` in the store; UINT32_MAX: not known yet. */
static uint32_t known(const struct key_numbers *numbers, const uint32_t *in_sum, int64_t id) {
    const uint32_t at = key_numbers_find(numbers, (uint64_t)id);
    return at == UINT32_MAX ? UINT32_MAX : in_sum[at];
}

/* False: out of memory. */
static bool remember(struct key_numbers *numbers, uint32_t **in_sum, size_t *capacity, int64_t id,
                     uint32_t number) {
    const uint32_t at = key_numbers_add(numbers, (uint64_t)id);
    if (number == INTERN_NONE || at == UINT32_MAX || !array_room(*in_sum, *capacity, at + 1u))
        return false;
    (*in_sum)[at] = number;
    return true;
}

/* NULL: out of memory. */
static struct summed_profile *find_profile(struct profile_sum *sum, uint32_t event,
                                           uint32_t process, int64_t image) {
    const uint64_t hash = hash_pair((uint64_t)event << 32 | process, (uint64_t)image);
    size_t at;
    for (uint32_t i = hash_index_first(&sum->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&sum->index, hash, &at)) {
        struct summed_profile *profile = &sum->profiles[i];
        if (profile->event == event && profile->process == process && profile->image == image)
            return profile;
    }
    if (!array_room(sum->profiles, sum->capacity, sum->count + 1) ||
        !hash_index_add(&sum->index, hash, (uint32_t)sum->count))
        return NULL;
    sum->profiles[sum->count] =
        (struct summed_profile){.event = event, .process = process, .image = image};
    return &sum->profiles[sum->count++];
}

bool profile_sum_add(struct profile_sum *sum, const struct store_profile *profile) {
    enum { UNSETTLED_MIN = 4096 };
    uint32_t event = known(&sum->known_events, sum->event_numbers, profile->event->id);
    uint32_t process = known(&sum->known_processes, sum->process_numbers, profile->process->id);
    if (event == UINT32_MAX &&
        !remember(&sum->known_events, &sum->event_numbers, &sum->event_capacity, profile->event->id,
                  event = number_event(sum, profile->event)))
        return false;
    if (process == UINT32_MAX &&
        !remember(&sum->known_processes, &sum->process_numbers, &sum->process_capacity,
                  profile->process->id, process = number_process(sum, profile->process)))
        return false;
    struct summed_profile *to = find_profile(sum, event, process, profile->image->id);
    if (!to || !array_room(to->values, to->capacity, to->count + profile->count))
        return false;
    if (profile->count)
        memcpy(to->values + to->count, profile->values, profile->count * sizeof *to->values);
    to->count += profile->count;
    if (to->count - to->settled > to->settled + UNSETTLED_MIN)
        settle(to);
    return true;
}

/* ---- writing ---- */

static bool write_events(struct profile_sum *sum, struct store *store, int64_t session,
                         int64_t *ids, struct error *error) {
    for (uint32_t i = 0; i < sum->events.count; i++) {
        const char *fields[EVENT_FIELDS];
        split(&sum->events, i, fields, EVENT_FIELDS);
        const struct store_event event = {.name = fields[0],
                                          .unit = fields[1],
                                          .period = strtoull(fields[2], NULL, 10),
                                          .period_unit = fields[3],
                                          .precise = *fields[4] == '1'};
        if (!store_add_event(store, session, &event, &ids[i], error))
            return false;
    }
    return true;
}

static bool write_processes(struct profile_sum *sum, struct store *store, int64_t session,
                            int64_t *ids, struct error *error) {
    for (uint32_t i = 0; i < sum->processes.count; i++) {
        const char *fields[PROCESS_FIELDS];
        split(&sum->processes, i, fields, PROCESS_FIELDS);
        const struct store_process process = {
            .command = fields[0], .executable = fields[1], .slice = {.cgroup = fields[2]}};
        if (!store_process(store, session, &process, &ids[i], error))
            return false;
    }
    return true;
}

static bool write_profiles(struct profile_sum *sum, struct store *store, int64_t session,
                           const int64_t *events, const int64_t *processes, struct error *error) {
    struct new_profile *profiles = calloc(sum->count + 1, sizeof *profiles);
    bool good = true;
    if (!profiles)
        return database_out_of_memory(store, error);
    for (size_t i = 0; i < sum->count; i++) {
        struct summed_profile *profile = &sum->profiles[i];
        settle(profile);
        profiles[i] = (struct new_profile){.image = profile->image,
                                           .process = processes[profile->process],
                                           .event = events[profile->event],
                                           .values = profile->values,
                                           .count = profile->count};
    }
    if (store->backend->add_profiles)
        good = store->backend->add_profiles(store, session, profiles, sum->count, error);
    else
        good = all_where(i, sum->count,
                         store_add_values(store, session, profiles[i].process, profiles[i].image,
                                          profiles[i].event, profiles[i].values, profiles[i].count,
                                          error));
    free(profiles);
    return good;
}

bool profile_sum_write(struct profile_sum *sum, struct store *store, int64_t session,
                       struct error *error) {
    int64_t *events = calloc(sum->events.count + 1, sizeof *events);
    int64_t *processes = calloc(sum->processes.count + 1, sizeof *processes);
    bool good = events && processes;
    if (!good)
        database_out_of_memory(store, error);
    good = good && write_events(sum, store, session, events, error) &&
           write_processes(sum, store, session, processes, error) &&
           write_profiles(sum, store, session, events, processes, error);
    free(events);
    free(processes);
    return good;
}

void profile_sum_free(struct profile_sum *sum) {
    for (size_t i = 0; i < sum->count; i++)
        free(sum->profiles[i].values);
    free(sum->profiles);
    intern_free(&sum->events);
    intern_free(&sum->processes);
    key_numbers_free(&sum->known_events);
    key_numbers_free(&sum->known_processes);
    free(sum->event_numbers);
    free(sum->process_numbers);
    hash_index_free(&sum->index);
    *sum = (struct profile_sum){0};
}
