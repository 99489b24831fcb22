/* The profilers are dealt out to threads of their own; all lanes of a profile run on one. What a
 * profile shares between its lanes is touched on that thread alone, so lanes are made and freed
 * there as well, by jobs that wait in its queue like any other. */
#include "simulate/workers.h"

#include <stdlib.h>
#include <string.h>

struct workers {
    const struct simulation_options *options;
    struct executor *shared;
    struct executor **threads; /* options->profile_threads of them, or NULL */
    uint32_t thread_count;
    struct simulation_profile *profiles;
    struct commit_observer *observer;
};

struct attached {
    uint32_t count;
    struct profile_lane *lanes[]; /* by profile */
};

static struct executor *thread_of(const struct workers *workers, uint32_t profile) {
    return workers->thread_count ? workers->threads[profile % workers->thread_count] : NULL;
}

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

static bool start_profiles(struct workers *workers, struct error *error) {
    const struct simulation_options *options = workers->options;
    uint32_t count = options->profile_count;
    workers->profiles = calloc(count ? count : 1, sizeof *workers->profiles);
    if (!workers->profiles)
        return error_set(error, "out of memory for profiles");
    for (uint32_t i = 0; i < count; i++) {
        struct simulation_profile *profile = &workers->profiles[i];
        profile->options = options->profiles[i];
        profile->options.commit_width = options->machine->core.commit_width;
        if (!(profile->profile = profile_new(&profile->options, error)))
            return false;
    }
    return true;
}

struct workers *workers_new(const struct simulation_options *options, struct executor *shared,
                            struct error *error) {
    struct workers *workers = calloc(1, sizeof *workers);
    if (!workers) {
        error_set(error, "out of memory for profiles");
        return NULL;
    }
    workers->options = options;
    workers->shared = shared;
    bool good = start_threads(workers, error) && start_profiles(workers, error);
    if (good && options->observe_commits && !(workers->observer = commit_observer_new()))
        good = error_set(error, "out of memory for the summary of commits");
    if (good)
        return workers;
    workers_free(workers);
    return NULL;
}

void workers_free(struct workers *workers) {
    if (!workers)
        return;
    for (uint32_t i = 0; i < workers->thread_count; i++)
        executor_free(workers->threads[i]);
    for (uint32_t i = 0; workers->profiles && i < workers->options->profile_count; i++)
        profile_free(workers->profiles[i].profile);
    commit_observer_free(workers->observer);
    free(workers->threads);
    free(workers->profiles);
    free(workers);
}

bool workers_finish(struct workers *workers, struct simulation *simulation, struct error *error) {
    bool good = true;
    for (uint32_t i = 0; i < workers->options->profile_count; i++) {
        struct simulation_profile *profile = &workers->profiles[i];
        struct error late;
        good &= profile_finish(profile->profile, &profile->result, good ? error : &late);
    }
    simulation->profiles = workers->profiles;
    simulation->profile_count = workers->options->profile_count;
    workers->profiles = NULL;
    if (workers->observer && !commit_observer_summary(workers->observer, &simulation->commits))
        good = good ? error_set(error, "out of memory for the summary of commits") : false;
    return good;
}

/* ---- one tap ---- */

/* Made and freed on the profile's thread. */
struct lane_job {
    struct workers *workers;
    struct attached *attached;
};

static void make_lane(void *context, uint64_t profile) {
    struct lane_job *job = context;
    job->attached->lanes[profile] = profile_lane_new(job->workers->profiles[profile].profile);
}

static void free_lane(void *context, uint64_t profile) {
    struct lane_job *job = context;
    profile_lane_free(job->attached->lanes[profile]);
}

static void do_for_lanes(struct workers *workers, struct attached *attached,
                         void (*function)(void *context, uint64_t profile)) {
    struct lane_job job = {workers, attached};
    for (uint32_t i = 0; i < attached->count; i++) {
        struct executor *thread = thread_of(workers, i);
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
        worker.executor = thread_of(workers, i);
        if (!tap_add_worker(tap, &worker, error))
            return false;
    }
    return true;
}

struct attached *workers_attach(struct workers *workers, struct tap *tap, bool *good,
                                struct error *error) {
    uint32_t count = workers->options->profile_count;
    struct attached *attached = calloc(1, sizeof *attached + count * sizeof *attached->lanes);
    *good = attached || error_set(error, "out of memory for the profiles of a thread");
    if (!attached)
        return NULL;
    attached->count = count;
    do_for_lanes(workers, attached, make_lane);
    *good = add_workers(workers, attached, tap, error);
    return attached;
}

void workers_detach(struct workers *workers, struct attached *attached) {
    if (!attached)
        return;
    do_for_lanes(workers, attached, free_lane);
    free(attached);
}
