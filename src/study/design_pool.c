#include "study/design_pool.h"
#include "study/design_kept.h"
#include "study/pool.h"
#include "util/array.h"

struct simulating {
    struct design *design;
    pthread_mutex_t lock; /* of what points say */
};

static uint64_t work_of(void *context, size_t number) {
    const struct simulating *simulating = context;
    const struct design *design = simulating->design;
    const struct design_point *point = &design->points[number];
    return point->state == DESIGN_OPEN
               ? design_capture_work(&design->programs[point->program].capture)
               : 0;
}

/* A point that fails says so itself: the others are simulated. */
static bool simulate(void *context, size_t number, struct watch *watch, struct error *error) {
    struct simulating *simulating = context;
    struct design *design = simulating->design;
    struct design_point *point = &design->points[number];
    struct error unkept = {0};
    if (point->state != DESIGN_OPEN)
        return true;
    const bool good = design_simulate(design, point, watch, error);
    if (watch->signal)
        return true;
    if (good)
        design_keep_point(design->folder, point->key, &point->result, &unkept);
    pthread_mutex_lock(&simulating->lock);
    if (good) {
        point->state = DESIGN_DONE;
        design->simulated++;
    } else {
        point->state = DESIGN_FAILED;
        point->failure = *error;
        design->failed++;
    }
    if (unkept.message[0] && !design->late.message[0])
        design->late = unkept;
    pthread_mutex_unlock(&simulating->lock);
    return true;
}

bool design_simulate_all(struct design *design, struct error *error) {
    struct simulating simulating = {.design = design, .lock = PTHREAD_MUTEX_INITIALIZER};
    const struct pool_work work = {.watch = design->watch,
                                   .label = "simulating points",
                                   .count = design->point_count,
                                   .jobs = design->jobs,
                                   .size = work_of,
                                   .item = simulate,
                                   .context = &simulating};
    return !any_where(i, design->point_count, design->points[i].state == DESIGN_OPEN) ||
           pool_run(&work, error);
}
