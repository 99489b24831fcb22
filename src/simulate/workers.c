/* The profilers are dealt out to threads of their own; those of a thread that look at the same
 * cycles in the same place are one group. What a group shares between its lanes is touched on its
 * thread alone, so lanes are made and freed there as well, by jobs that wait in its queue like any
 * other. */
#include "simulate/workers.h"

#include <assert.h>
#include <stdlib.h>

struct group {
    struct profile_group *profiles;
    struct executor *thread; /* or NULL */
    uint32_t first, count;   /* of `members` */
};

struct workers {
    const struct simulation_options *options;
    struct executor *shared;
    bool of_paths;
    struct executor **threads; /* options->profile_threads of them, or NULL */
    uint32_t thread_count;
    struct group *groups;
    uint32_t group_count;
    uint32_t *members; /* numbers of profiles, by group */
    struct commit_observer *observer;
};

struct attached {
    uint32_t count;
    struct profile_lane *lanes[]; /* by group */
};

/* ---- the run ---- */

static bool start_threads(struct workers *workers, struct error *error) {
    const struct simulation_options *options = workers->options;
    uint32_t wanted = options->profile_threads < options->profile_count ? options->profile_threads
                                                                        : options->profile_count;
    if (!workers->shared || !wanted)
        return true;
    workers->threads = calloc(wanted, sizeof *workers->threads);
    if (!workers->threads)
        return error_set(error, "out of memory for threads");
    for (; workers->thread_count < wanted; workers->thread_count++)
        if (!(workers->threads[workers->thread_count] = executor_new("profilers", error)))
            return false;
    return true;
}

static struct profile_options options_of(const struct workers *workers, uint32_t profile) {
    struct profile_options options = workers->options->profiles[profile];
    options.commit_width = workers->options->machine->core.commit_width;
    return options;
}

static uint32_t thread_of(const struct workers *workers, uint32_t profile) {
    return workers->thread_count ? profile % workers->thread_count : 0;
}

/* The group of profile `first`, of no group so far: itself and those behind it that fit. */
static bool start_group(struct workers *workers, uint32_t first, bool *grouped,
                        struct profile_options *options, struct error *error) {
    uint32_t thread = thread_of(workers, first), count = 0;
    assert(workers->groups && workers->members && options); /* start_groups() has been here */
    struct group *group = &workers->groups[workers->group_count];
    group->thread = workers->of_paths       ? workers->shared
                    : workers->thread_count ? workers->threads[thread]
                                            : NULL;
    if (workers->group_count)
        group->first = group[-1].first + group[-1].count;
    for (uint32_t i = first; i < workers->options->profile_count; i++) {
        options[count] = options_of(workers, i);
        if (grouped[i] || thread_of(workers, i) != thread ||
            !profiles_go_together(&options[0], &options[count]))
            continue;
        grouped[i] = true;
        workers->members[group->first + count++] = i;
    }
    group->count = count;
    workers->group_count++;
    return (group->profiles = profile_group_new(options, count, error)) != NULL;
}

static bool start_groups(struct workers *workers, struct error *error) {
    uint32_t count = workers->options->profile_count;
    if (!count)
        return true;
    bool *grouped = calloc(count, sizeof *grouped);
    struct profile_options *options = calloc(count, sizeof *options);
    workers->groups = calloc(count, sizeof *workers->groups);
    workers->members = calloc(count, sizeof *workers->members);
    bool good = grouped && options && workers->groups && workers->members;
    if (!good)
        error_set(error, "out of memory for profiles");
    for (uint32_t i = 0; good && i < count; i++)
        good = grouped[i] || start_group(workers, i, grouped, options, error);
    free(options);
    free(grouped);
    return good;
}

static struct workers *make(const struct simulation_options *options, struct executor *shared,
                            bool of_paths, struct error *error) {
    struct workers *workers = calloc(1, sizeof *workers);
    if (!workers)
        return error_null(error, "out of memory for profiles");
    workers->options = options;
    workers->shared = shared;
    workers->of_paths = of_paths;
    bool good = (of_paths || start_threads(workers, error)) && start_groups(workers, error);
    if (good && options->observe_commits && !of_paths &&
        !(workers->observer = commit_observer_new()))
        good = error_set(error, "out of memory for the summary of commits");
    if (good)
        return workers;
    workers_free(workers);
    return NULL;
}

struct workers *workers_new(const struct simulation_options *options, struct executor *shared,
                            struct error *error) {
    return make(options, shared, false, error);
}

struct workers *workers_new_of_paths(const struct simulation_options *options,
                                     struct executor *shared, struct error *error) {
    return make(options, shared, true, error);
}

void workers_free(struct workers *workers) {
    if (!workers)
        return;
    for (uint32_t i = 0; i < workers->thread_count; i++)
        executor_free(workers->threads[i]);
    for (uint32_t i = 0; i < workers->group_count; i++)
        profile_group_free(workers->groups[i].profiles);
    commit_observer_free(workers->observer);
    free(workers->threads);
    free(workers->groups);
    free(workers->members);
    free(workers);
}

/* `found` by profile. */
static bool finish_group(struct workers *workers, const struct group *group,
                         struct profile_result *found, struct error *error) {
    struct profile_result *results = calloc(group->count, sizeof *results);
    if (!results)
        return error_set(error, "out of memory for profiles");
    bool good = profile_group_finish(group->profiles, results, error);
    for (uint32_t i = 0; i < group->count; i++)
        found[workers->members[group->first + i]] = results[i];
    free(results);
    return good;
}

/* The groups are the simulation's from then on. */
static bool finish_groups(struct workers *workers, struct simulation *simulation,
                          struct profile_result *found, struct error *error) {
    bool good = true;
    for (uint32_t i = 0; i < workers->group_count; i++) {
        struct group *group = &workers->groups[i];
        struct error late;
        good &= finish_group(workers, group, found, good ? error : &late);
        simulation->profile_groups[simulation->profile_group_count++] = group->profiles;
        group->profiles = NULL;
    }
    return good;
}

static bool finish_profiles(struct workers *workers, struct simulation *simulation,
                            struct error *error) {
    uint32_t count = workers->options->profile_count;
    simulation->profiles = calloc(count ? count : 1, sizeof *simulation->profiles);
    simulation->profile_groups = calloc(2 * (size_t)count + 1, sizeof(struct profile_group *));
    struct profile_result *found = calloc(count + (size_t)1, sizeof *found);
    if (!simulation->profiles || !simulation->profile_groups || !found) {
        free(found);
        return error_set(error, "out of memory for profiles");
    }
    simulation->profile_count = count;
    for (uint32_t i = 0; i < count; i++)
        simulation->profiles[i].options = options_of(workers, i);
    const bool good = finish_groups(workers, simulation, found, error);
    for (uint32_t i = 0; i < count; i++)
        simulation->profiles[i].result = found[i];
    free(found);
    return good;
}

bool workers_finish_paths(struct workers *workers, struct simulation *simulation,
                          struct error *error) {
    const uint32_t count = workers->options->profile_count;
    if (!(simulation->path_profiles =
              calloc(count + (size_t)1, sizeof *simulation->path_profiles)) ||
        !simulation->profile_groups)
        return error_set(error, "out of memory for profiles");
    return finish_groups(workers, simulation, simulation->path_profiles, error);
}

bool workers_finish(struct workers *workers, struct simulation *simulation, struct error *error) {
    bool good = finish_profiles(workers, simulation, error);
    if (workers->observer && !commit_observer_summary(workers->observer, &simulation->commits))
        good = good ? error_set(error, "out of memory for the summary of commits") : false;
    return good;
}

/* ---- one tap ---- */

/* Made and freed on the group's thread. */
struct lane_job {
    struct workers *workers;
    struct attached *attached;
};

static void make_lane(void *context, uint64_t group) {
    struct lane_job *job = context;
    job->attached->lanes[group] = profile_lane_new(job->workers->groups[group].profiles);
}

static void free_lane(void *context, uint64_t group) {
    struct lane_job *job = context;
    profile_lane_free(job->attached->lanes[group]);
}

static void do_for_lanes(struct workers *workers, struct attached *attached,
                         void (*function)(void *context, uint64_t group)) {
    struct lane_job job = {workers, attached};
    for (uint32_t i = 0; i < attached->count; i++) {
        struct executor *thread = workers->groups[i].thread;
        if (thread)
            executor_wait(thread, executor_submit(thread, function, &job, i));
        else
            function(&job, i);
    }
}

static bool add_workers(struct workers *workers, struct attached *attached, struct tap *tap,
                        struct error *error) {
    if (workers->observer) {
        struct tap_worker worker = commit_observer_worker(workers->observer);
        worker.executor = workers->shared;
        if (!tap_add_worker(tap, &worker, error))
            return false;
    }
    for (uint32_t i = 0; i < attached->count; i++) {
        if (!attached->lanes[i])
            return error_set(error, "out of memory for the profiles of a thread");
        struct tap_worker worker = profile_lane_worker(attached->lanes[i]);
        worker.executor = workers->groups[i].thread;
        if (!tap_add_worker(tap, &worker, error))
            return false;
    }
    return true;
}

struct attached *workers_attach(struct workers *workers, struct tap *tap, bool *good,
                                struct error *error) {
    uint32_t count = workers->group_count;
    struct attached *attached = calloc(1, sizeof *attached + count * sizeof *attached->lanes);
    *good = attached || error_set(error, "out of memory for the profiles of a thread");
    if (!attached)
        return NULL;
    attached->count = count;
    do_for_lanes(workers, attached, make_lane);
    *good = add_workers(workers, attached, tap, error);
    return attached;
}

struct attached *workers_follow(struct workers *workers, struct call_lane *lane, bool *good,
                                struct error *error) {
    const uint32_t count = workers->group_count;
    struct attached *attached = calloc(1, sizeof *attached + count * sizeof *attached->lanes);
    *good = attached;
    if (attached) {
        attached->count = count;
        do_for_lanes(workers, attached, make_lane);
    }
    for (uint32_t i = 0; *good && i < count; i++) {
        const struct tap_worker worker =
            attached->lanes[i] ? profile_lane_worker(attached->lanes[i]) : (struct tap_worker){0};
        *good = attached->lanes[i] && call_lane_follow(lane, &worker);
    }
    *good = *good || error_set(error, "out of memory for the profiles of a thread");
    return attached;
}

void workers_detach(struct workers *workers, struct attached *attached) {
    if (!attached)
        return;
    do_for_lanes(workers, attached, free_lane);
    free(attached);
}
