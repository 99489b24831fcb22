/* What sets of threads may weigh together is limited, as any number of threads may live at a time:
 * when they reach it, all are dropped. As that depends on nothing but the chunks, a reader finds
 * the same sets as the writer; one that skips threads has less, and drops later. */
#include "trace/prediction_sets.h"

#include <assert.h>
#include <stdlib.h>

#include "util/array.h"

enum { SET_WEIGHT = 32 /* of a set without slots or blocks */ };

struct thread_set {
    struct event_predictor predictor;
    uint64_t weight; /* when another was taken; 0 while it is the latest */
    uint32_t blocks; /* of its process, at its last chunk */
    uint32_t number; /* in by_thread */
    bool expired;
};

void prediction_sets_init(struct prediction_sets *sets) {
    *sets = (struct prediction_sets){0};
}

static void drop(struct prediction_sets *sets, struct thread_set *set) {
    assert(set);
    if (sets->latest == set)
        sets->latest = NULL;
    sets->weight -= set->weight;
    sets->by_thread[set->number] = NULL;
    event_predictor_free(&set->predictor);
    free(set);
}

static void drop_all(struct prediction_sets *sets) {
    for (size_t i = 0; i < sets->threads.count; i++)
        if (sets->by_thread[i])
            drop(sets, sets->by_thread[i]);
}

void prediction_sets_free(struct prediction_sets *sets) {
    drop_all(sets);
    for (int i = 0; i < FILE_PREDICTORS; i++)
        event_predictor_free(&sets->processes[i].predictor);
    key_numbers_free(&sets->threads);
    free(sets->by_thread);
}

void prediction_sets_expire(struct prediction_sets *sets) {
    for (int i = 0; i < FILE_PREDICTORS; i++)
        sets->processes[i].used = false;
    for (size_t i = 0; i < sets->threads.count; i++)
        if (sets->by_thread[i])
            sets->by_thread[i]->expired = true;
}

/* The number of a thread, with room for its set. UINT32_MAX: out of memory. */
static uint32_t number_of(struct prediction_sets *sets, uint32_t thread) {
    if (!array_zeroed_room(sets->by_thread, sets->capacity, sets->threads.count + 1))
        return UINT32_MAX;
    return key_numbers_add(&sets->threads, thread);
}

void prediction_sets_forget(struct prediction_sets *sets, uint32_t thread) {
    const uint32_t number = key_numbers_find(&sets->threads, thread);
    if (number != UINT32_MAX && sets->by_thread[number])
        drop(sets, sets->by_thread[number]);
}

/* ---- taking ---- */

static struct event_predictor *take_of_process(struct prediction_sets *sets, uint32_t process,
                                               bool *fresh) {
    struct process_set *set = &sets->processes[process % FILE_PREDICTORS];
    *fresh = !set->used || set->process != process || set->predictor.slot_count >= FILE_MAX_SLOTS;
    set->used = true;
    set->process = process;
    return &set->predictor;
}

/* The latest set has grown. */
static void weigh(struct prediction_sets *sets) {
    struct thread_set *set = sets->latest;
    sets->latest = NULL;
    if (!set)
        return;
    set->weight = SET_WEIGHT + set->predictor.slot_count + set->blocks;
    sets->weight += set->weight;
}

static struct thread_set *new_set(struct prediction_sets *sets, uint32_t number) {
    struct thread_set *set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    event_predictor_init(&set->predictor);
    set->number = number;
    set->expired = true;
    return sets->by_thread[number] = set;
}

static struct event_predictor *take_of_thread(struct prediction_sets *sets, uint32_t thread,
                                              uint32_t block_count, bool *fresh) {
    weigh(sets);
    if (sets->weight >= FILE_MAX_WEIGHT)
        drop_all(sets);
    const uint32_t number = number_of(sets, thread);
    if (number == UINT32_MAX)
        return NULL;
    struct thread_set *set = sets->by_thread[number];
    if (!set && !(set = new_set(sets, number)))
        return NULL;
    *fresh = set->expired;
    set->expired = false;
    set->blocks = block_count;
    sets->weight -= set->weight;
    set->weight = 0;
    sets->latest = set;
    return &set->predictor;
}

struct event_predictor *prediction_sets_take(struct prediction_sets *sets, uint32_t process,
                                             uint32_t thread, bool own, uint32_t block_count,
                                             bool *fresh) {
    return own ? take_of_thread(sets, thread, block_count, fresh)
               : take_of_process(sets, process, fresh);
}
