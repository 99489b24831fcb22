/* One entry for each thread, which is filled when it leaves and emptied when it returns. The events
 * come in the order of their time, so that a thread that leaves twice without having returned is
 * one whose return was lost: the first wait is then given up. */
#include "live/waits.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/hash_index.h"

enum wait_state {
    WAIT_NONE,    /* it runs, or nothing is known of it */
    WAIT_PLACED,  /* it is about to leave */
    WAIT_ASSUMED, /* it was not seen to leave */
    WAIT_GONE
};

struct wait {
    uint32_t thread;
    enum wait_state state;
    bool runnable;
    bool ended;    /* its thread has */
    uint64_t time; /* when it left */
    struct live_sample sample;
    struct live_frame *frames; /* the sample's callers; kept for the thread's next wait */
    size_t capacity, held;     /* held: as many of `frames` hold their functions */
};

struct waits {
    struct waits_options options;
    struct live_sink sink;
    struct wait *items;
    size_t count, capacity;
    size_t ended;            /* of them */
    struct hash_index index; /* by thread */
};

struct waits *waits_new(const struct waits_options *options, const struct live_sink *sink) {
    struct waits *waits = calloc(1, sizeof *waits);
    if (waits) {
        waits->options = *options;
        waits->sink = *sink;
    }
    return waits;
}

static void release(struct wait *wait) {
    live_frames_release(wait->frames, wait->held);
    live_frames_release(&wait->sample.at, 1);
    wait->sample.at = (struct live_frame){0};
    wait->held = 0;
}

void waits_free(struct waits *waits) {
    if (!waits)
        return;
    for (size_t i = 0; i < waits->count; i++) {
        release(&waits->items[i]);
        free(waits->items[i].frames);
    }
    free(waits->items);
    hash_index_free(&waits->index);
    free(waits);
}

static struct wait *find(const struct waits *waits, uint32_t thread) {
    const uint64_t hash = hash_number(thread);
    size_t at;
    for (uint32_t i = hash_index_first(&waits->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&waits->index, hash, &at))
        if (waits->items[i].thread == thread)
            return &waits->items[i];
    return NULL;
}

enum { ENDED_MAX = 1000 };

/* Once there are many of threads that have ended, and more of them than of others. False: out of
 * memory. */
static bool drop_ended(struct waits *waits) {
    struct hash_index index = {0};
    size_t kept = 0;
    if (waits->ended < ENDED_MAX || waits->ended < waits->count / 2)
        return true;
    if (!hash_index_reserve(&index, waits->count))
        return false;
    for (size_t i = 0; i < waits->count; i++)
        if (!waits->items[i].ended) {
            hash_index_add(&index, hash_number(waits->items[i].thread), (uint32_t)kept);
            waits->items[kept++] = waits->items[i];
        }
    hash_index_free(&waits->index);
    waits->index = index;
    waits->count = kept;
    waits->ended = 0;
    return true;
}

static struct wait *find_or_add(struct waits *waits, uint32_t thread) {
    struct wait *wait = find(waits, thread);
    if (wait) {
        waits->ended -= wait->ended;
        wait->ended = false;
        return wait;
    }
    if (!drop_ended(waits) || !array_room(waits->items, waits->capacity, waits->count + 1) ||
        !hash_index_add(&waits->index, hash_number(thread), (uint32_t)waits->count))
        return NULL;
    wait = &waits->items[waits->count++];
    *wait = (struct wait){.thread = thread};
    return wait;
}

static bool in_scheduler(const struct waits *waits, const struct live_frame *frame) {
    return frame->place == PLACE_KERNEL && frame->offset >= waits->options.scheduler_start &&
           frame->offset < waits->options.scheduler_end;
}

/* The frames of the scheduler are left out, unless there are no others. */
static bool copy_place(const struct waits *waits, struct wait *wait,
                       const struct live_sample *sample) {
    const struct live_frame *callers = sample->callers;
    size_t count = sample->caller_count;
    release(wait);
    wait->sample = *sample;
    while (count && in_scheduler(waits, &wait->sample.at)) {
        wait->sample.at = *callers++;
        count--;
    }
    live_frames_hold(&wait->sample.at, 1);
    if (!array_room(wait->frames, wait->capacity, count + 1))
        return false;
    if (count)
        memcpy(wait->frames, callers, count * sizeof *callers);
    live_frames_hold(callers, count);
    wait->held = count;
    wait->sample.caller_count = count;
    return true;
}

bool waits_place(struct waits *waits, const struct live_sample *sample) {
    struct wait *wait = find_or_add(waits, sample->thread);
    if (!wait || !copy_place(waits, wait, sample))
        return false;
    wait->state = WAIT_PLACED;
    return true;
}

bool waits_leave(struct waits *waits, const struct live_sample *sample, uint64_t time,
                 bool runnable) {
    struct wait *wait = find_or_add(waits, sample->thread);
    if (!wait || (wait->state != WAIT_PLACED && !copy_place(waits, wait, sample)))
        return false;
    wait->state = WAIT_GONE;
    wait->runnable = runnable;
    wait->time = time;
    return true;
}

bool waits_assume(struct waits *waits, const struct live_sample *sample, uint64_t time) {
    if (!waits_leave(waits, sample, time, false))
        return false;
    find(waits, sample->thread)->state = WAIT_ASSUMED;
    return true;
}

void waits_runs(struct waits *waits, uint32_t thread) {
    struct wait *wait = find(waits, thread);
    if (wait && wait->state == WAIT_ASSUMED)
        wait->state = WAIT_NONE;
}

static bool deliver(struct waits *waits, struct wait *wait, uint64_t time, int64_t since_1970,
                    struct error *error) {
    const bool waited = wait->state == WAIT_GONE || wait->state == WAIT_ASSUMED;
    wait->state = WAIT_NONE;
    if (!waited || time <= wait->time)
        return true;
    struct live_sample sample = wait->sample;
    sample.callers = wait->frames;
    sample.event = wait->runnable ? waits->options.runnable : waits->options.blocked;
    sample.lasts = true;
    sample.count = time - wait->time;
    sample.time = (int64_t)wait->time + since_1970;
    return waits->sink.sample(waits->sink.context, &sample, error);
}

bool waits_return(struct waits *waits, uint32_t thread, uint64_t time, int64_t since_1970,
                  struct error *error) {
    struct wait *wait = find(waits, thread);
    return !wait || deliver(waits, wait, time, since_1970, error);
}

static void forget(struct waits *waits, struct wait *wait) {
    release(wait);
    free(wait->frames);
    wait->frames = NULL;
    wait->capacity = 0;
    wait->state = WAIT_NONE;
    waits->ended += !wait->ended;
    wait->ended = true;
}

void waits_forget(struct waits *waits, uint32_t thread) {
    struct wait *wait = find(waits, thread);
    if (wait)
        forget(waits, wait);
}

void waits_forget_where(struct waits *waits, bool (*has_ended)(uint32_t pid, uint32_t thread)) {
    for (size_t i = 0; i < waits->count; i++) {
        struct wait *wait = &waits->items[i];
        if (wait->state != WAIT_NONE && has_ended(wait->sample.process.pid, wait->thread))
            forget(waits, wait);
    }
}

size_t waits_count(const struct waits *waits) {
    return waits->count;
}

bool waits_finish(struct waits *waits, uint64_t time, int64_t since_1970, struct error *error) {
    return all_where(i, waits->count, deliver(waits, &waits->items[i], time, since_1970, error));
}
