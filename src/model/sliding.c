/* See sliding.h. Times are counted in the time to issue one µop, 1 / width cycles, so that without
 * misses the µop at a position is dispatched and commits at that time. A lag is what a stage is
 * behind that; it never shrinks:
 *
 *   dispatch lag(p) ≥ commit lag(p − ROB) − ROB     the reorder buffer has room
 *   commit lag(p)   ≥ data(p) − p                   in order, and not before the data are there
 *   dispatch lag(p) ≥ leaves(s − queue) − p         where µop p is store s: the store so many
 * before it is in the cache, as are all those before
 *
 * Of stores that are no event it is known how many lie between two events, not where: evenly apart.
 * Events come in program order but begin in any, so an MSHR remembers one gap that it left. */
#include "model/sliding.h"

#include <math.h>
#include <stdlib.h>

/* A block on its way. */
struct block {
    double asked; /* INFINITY: not yet */
    double arrives;
};

/* What is known of an event. */
struct moment {
    double position;
    struct block own, prefetched; /* that it asks for, and whose prefetch it triggers */
    double done;                  /* its data are there; of a store: it commits */
    double commit_lag;            /* after it */
    uint32_t stores;              /* before it */
    uint16_t flags;
};

struct mshr {
    double free; /* from then on */
    double gap_begin, gap_end;
};

/* A processor with one latency for what misses the last level. */
struct track {
    double rob, latency;
    struct mshr *mshrs;
    uint32_t *order;     /* their numbers, the one that is free first first */
    uint32_t mshr_count; /* 0: unlimited */
    double gaps_end;     /* no gap lies behind it */
    double dispatch_lag, commit_lag;
    struct moment *moments; /* of the last events */
    uint64_t *stores;       /* numbers of those that have not been to the cache */
    uint64_t mask, next;
    uint64_t head; /* the first event that may still be in the reorder buffer */
    uint64_t stores_begin, stores_end;
    double stores_until;  /* they go in order */
    double stores_arrive; /* the last block that they asked for */
    uint32_t store_queue; /* entries; 0: unlimited */
    uint64_t queued;     /* the first event whose store, or the next store behind it, has not had to
                            make room */
    double stores_leave; /* the queue, those of events before that one */
    double last_miss;    /* position; negative: none yet */
    double distance, misses, tardy, waits;
};

struct sliding {
    uint32_t count, track_count;
    struct hybrid_config *configs;
    uint32_t *references; /* of each configuration, the track with hits in place of misses */
    struct track *tracks; /* one for each configuration, then the references that differ */
};

static inline double later(double a, double b) {
    return a > b ? a : b;
}

static inline double sooner(double a, double b) {
    return a < b ? a : b;
}

/* ---- MSHRs ---- */

/* The gap in which `length` can begin soonest, not before `at`; NULL: none. */
static struct mshr *find_gap(const struct track *track, double at, double length, double *begin) {
    struct mshr *best = NULL;
    if (at + length > track->gaps_end)
        return NULL;
    for (uint32_t i = 0; i < track->mshr_count; i++) {
        struct mshr *mshr = &track->mshrs[i];
        const double inside = later(at, mshr->gap_begin);
        if (inside + length <= mshr->gap_end && (!best || inside < *begin)) {
            best = mshr;
            *begin = inside;
        }
    }
    return best;
}

/* The larger part of the gap remains. */
static void fill_gap(struct mshr *mshr, double begin, double end) {
    if (begin - mshr->gap_begin > mshr->gap_end - end)
        mshr->gap_end = begin;
    else
        mshr->gap_begin = end;
}

/* Takes the MSHR of a rank until `end`, and moves it to where it then belongs. */
static void occupy(struct track *track, uint32_t rank, double begin, double end) {
    const uint32_t number = track->order[rank];
    struct mshr *mshr = &track->mshrs[number];
    if (begin > mshr->free) {
        mshr->gap_begin = mshr->free;
        mshr->gap_end = begin;
        track->gaps_end = later(track->gaps_end, begin);
    }
    mshr->free = end;
    for (; rank + 1 < track->mshr_count && track->mshrs[track->order[rank + 1]].free < end; rank++)
        track->order[rank] = track->order[rank + 1];
    track->order[rank] = number;
}

/* Takes an MSHR for `length` as early as can be from `at` on, of those free then the one that was
 * taken last; returns when. One that `shrinks` ends no later for having had to wait. */
static double take(struct track *track, double at, double length, bool shrinks) {
    if (!track->mshr_count)
        return at;
    uint32_t rank = 0;
    while (rank < track->mshr_count && track->mshrs[track->order[rank]].free <= at)
        rank++;
    const double when = rank ? at : track->mshrs[track->order[0]].free;
    double begin;
    struct mshr *gap = find_gap(track, at, length, &begin);
    if (gap && begin <= when) {
        fill_gap(gap, begin, shrinks ? later(begin, at + length) : begin + length);
        return begin;
    }
    occupy(track, rank ? rank - 1 : 0, when, shrinks ? later(when, at + length) : when + length);
    return when;
}

static bool has_free(const struct track *track, double at) {
    double begin;
    return track->mshr_count == 0 || track->mshrs[track->order[0]].free <= at ||
           (find_gap(track, at, track->latency, &begin) && begin <= at);
}

/* ---- events ---- */

static struct moment *moment_of(const struct track *track, uint64_t number) {
    return &track->moments[number & track->mask];
}

/* Returns when the data are there. */
static double fetch(struct track *track, struct block *block, double at) {
    block->asked = at;
    block->arrives = take(track, at, track->latency, false) + track->latency;
    return block->arrives;
}

/* A prefetch is only sent when an MSHR is free, if it needs one. */
static void prefetch(struct track *track, struct moment *moment, double at) {
    struct block *block = &moment->prefetched;
    if (moment->flags & DATA_BEYOND)
        *block = (struct block){.asked = at, .arrives = at + track->latency};
    else if (has_free(track, at))
        fetch(track, block, at);
}

static bool triggers(const struct moment *moment) {
    return moment->flags & (DATA_TRIGGER | DATA_BEYOND);
}

/* The number of the oldest store that has not been to the cache; UINT64_MAX: none. */
static uint64_t oldest_store(const struct track *track) {
    return track->stores_begin < track->stores_end
               ? track->stores[track->stores_begin & track->mask]
               : UINT64_MAX;
}

/* The oldest store goes to the cache. A load of the same block may have asked for it before. */
static void write_store(struct track *track) {
    struct moment *store = moment_of(track, oldest_store(track));
    track->stores_begin++;
    track->stores_until = later(track->stores_until, store->done);
    if (store->own.asked == INFINITY)
        track->stores_until = fetch(track, &store->own, track->stores_until) - track->latency;
    track->stores_arrive = later(track->stores_arrive, store->own.arrives);
    if (triggers(store))
        prefetch(track, store, track->stores_until);
}

/* Stores that have committed by a time go to the cache, one after the other. */
static void drain(struct track *track, double time) {
    while (track->stores_begin < track->stores_end &&
           moment_of(track, oldest_store(track))->done <= time)
        write_store(track);
}

/* ---- the store queue ---- */

/* When the store of an event has left the queue; the next one behind an event that is none leaves
 * no sooner than that commits. */
static double leaves(struct track *track, uint64_t number) {
    const struct moment *moment = moment_of(track, number);
    while (oldest_store(track) <= number)
        write_store(track);
    return moment->flags & DATA_STORE ? later(moment->done, moment->own.arrives)
                                      : moment->position + moment->commit_lag;
}

/* Where a store lies that is dispatched between the last event and this one, or with it. */
static double store_position(const struct track *track, const struct data_event *event,
                             uint32_t store) {
    static const struct moment none = {0};
    const struct moment *last = track->next ? moment_of(track, track->next - 1) : &none;
    const uint32_t between = event->stores - last->stores, after = store - last->stores;
    const double begin = last->position, end = (double)event->position;
    return after < between ? begin + (end - begin) * after / between : end;
}

/* Each store up to an event has an entry. */
static void enter_store_queue(struct track *track, const struct data_event *event) {
    const uint32_t stores = event->stores + (event->flags & DATA_STORE ? 1 : 0);
    for (; track->queued < track->next; track->queued++) {
        const bool forgotten = track->next - track->queued > track->mask;
        const uint32_t entering = moment_of(track, track->queued)->stores + track->store_queue;
        if ((int32_t)(stores - entering) <= 0 && !forgotten)
            return;
        track->stores_leave = later(track->stores_leave, leaves(track, track->queued));
        if (forgotten)
            continue;
        const double position = store_position(track, event, entering);
        track->dispatch_lag = later(track->dispatch_lag, track->stores_leave - position);
    }
}

static void dispatch(struct track *track, const struct data_event *event) {
    const double position = (double)event->position;
    if (track->next - track->head > track->mask)
        track->head = track->next - track->mask;
    for (; track->head < track->next; track->head++) {
        const struct moment *oldest = moment_of(track, track->head);
        if (oldest->position + track->rob > position)
            break;
        track->dispatch_lag = later(track->dispatch_lag, oldest->commit_lag - track->rob);
    }
    if (track->store_queue)
        enter_store_queue(track, event);
    track->commit_lag = later(track->commit_lag, track->dispatch_lag);
}

static double operands(const struct track *track, const struct data_event *event, double at) {
    for (uint32_t i = 0; i < event->producer_count; i++)
        if (event->producers[i] <= track->mask)
            at = later(at, moment_of(track, track->next - event->producers[i])->done);
    return at;
}

/* A load of a block that another event brings, or would have brought had this load not been first.
 * A line of the L1 that its bringer does not ask for takes an MSHR as well, while the block is on
 * its way. */
static double hit(struct track *track, const struct data_event *event, double at, bool *missed) {
    if (event->bringer > track->mask)
        return at;
    struct moment *bringer = moment_of(track, track->next - event->bringer);
    struct block *block = event->flags & DATA_PREFETCHED ? &bringer->prefetched : &bringer->own;
    if (block->asked == INFINITY)
        drain(track, at); /* perhaps it was a store */
    if (at < block->asked) {
        *missed = true;
        return fetch(track, block, at);
    }
    if (event->flags & DATA_FILL && block->arrives > at)
        at = take(track, at, block->arrives - at, true);
    return later(block->arrives, at);
}

/* A prefetch of another line of a block that is on its way, or should be. */
static void go_along(struct track *track, const struct data_event *event, double at) {
    struct moment *bringer = moment_of(track, track->next - event->along);
    struct block *block =
        event->flags & DATA_ALONG_PREFETCHED ? &bringer->prefetched : &bringer->own;
    if (block->arrives <= at || !has_free(track, at))
        return;
    if (block->asked == INFINITY)
        fetch(track, block, at);
    else
        take(track, at, block->arrives - at, true);
}

static void count_miss(struct track *track, double position) {
    if (track->last_miss >= 0)
        track->distance += sooner(position - track->last_miss, track->rob);
    track->last_miss = position;
    track->misses++;
}

static void load(struct track *track, const struct data_event *event, struct moment *moment) {
    const double at = moment->done;
    bool overtakes = false;
    if (event->flags & DATA_MISS)
        moment->done = fetch(track, &moment->own, at);
    else if (event->flags & DATA_HIT)
        moment->done = hit(track, event, at, &overtakes);
    const bool first = event->flags & DATA_FIRST_USE;
    if (event->flags & DATA_MISS || (first && moment->done > at))
        count_miss(track, moment->position);
    track->tardy += first && overtakes;
    const bool fetched = event->flags & DATA_MISS || overtakes;
    const double begin = fetched ? moment->done - track->latency : at;
    if (triggers(moment))
        prefetch(track, moment, begin);
    if (event->along && event->along <= track->mask)
        go_along(track, event, begin);
    if (moment->done - moment->position > track->commit_lag) {
        track->commit_lag = moment->done - moment->position;
        track->waits++;
    }
}

/* The oldest µop, stores before it are in the cache, and nothing behind it has been dispatched. */
static void fence(struct track *track, struct moment *moment) {
    const double commits = moment->position + track->commit_lag;
    drain(track, commits);
    moment->done = later(commits, track->stores_arrive);
    track->commit_lag = track->dispatch_lag = moment->done - moment->position;
}

static void track_add(struct track *track, const struct data_event *event) {
    struct moment *moment = moment_of(track, track->next);
    const double position = (double)event->position;
    dispatch(track, event);
    drain(track, position + track->dispatch_lag);
    *moment = (struct moment){.position = position,
                              .own = {INFINITY, INFINITY},
                              .prefetched = {INFINITY, INFINITY},
                              .stores = event->stores,
                              .flags = event->flags};
    moment->done = operands(track, event, position + track->dispatch_lag);
    if (event->flags & DATA_FENCE) {
        fence(track, moment);
    } else if (event->flags & DATA_STORE) {
        moment->done = later(moment->done, position + track->commit_lag);
        if (track->stores_end - track->stores_begin > track->mask)
            track->stores_begin++;
        track->stores[track->stores_end++ & track->mask] = track->next;
    } else {
        load(track, event, moment);
    }
    moment->commit_lag = track->commit_lag;
    track->next++;
}

/* ---- configurations ---- */

/* As many events are remembered as configurations look back. */
static bool track_start(struct track *track, const struct hybrid_config *config, uint32_t latency,
                        uint32_t mshrs) {
    const uint32_t arrival = config->prefetching ? hybrid_arrival_reach(config) : 0;
    uint64_t size = 64;
    while ((size < 2ull * config->rob || size < arrival) && size <= UINT16_MAX)
        size *= 2;
    *track = (struct track){.rob = config->rob,
                            .latency = (double)latency * config->width,
                            .mshr_count = mshrs,
                            .store_queue = config->store_queue,
                            .mask = size - 1,
                            .last_miss = -1};
    track->moments = malloc(size * sizeof *track->moments);
    track->stores = malloc(size * sizeof *track->stores);
    track->mshrs = calloc(mshrs ? mshrs : 1, sizeof *track->mshrs);
    track->order = calloc(mshrs ? mshrs : 1, sizeof *track->order);
    for (uint32_t i = 0; track->order && i < mshrs; i++)
        track->order[i] = i;
    return track->moments && track->stores && track->mshrs && track->order;
}

/* The track with which a configuration is compared: shared by those with the same. */
static bool find_reference(struct sliding *sliding, uint32_t number) {
    const struct hybrid_config *config = &sliding->configs[number];
    for (uint32_t i = 0; i < number; i++) {
        const struct hybrid_config *other = &sliding->configs[i];
        if (other->rob == config->rob && other->width == config->width &&
            other->hit_latency == config->hit_latency &&
            other->store_queue == config->store_queue &&
            other->prefetching == config->prefetching) {
            sliding->references[number] = sliding->references[i];
            return true;
        }
    }
    sliding->references[number] = sliding->track_count;
    return track_start(&sliding->tracks[sliding->track_count++], config, config->hit_latency, 0);
}

struct sliding *sliding_new(const struct hybrid_config *configs, uint32_t count,
                            struct error *error) {
    struct sliding *sliding = calloc(1, sizeof *sliding);
    bool good = sliding != NULL;
    if (good) {
        sliding->count = sliding->track_count = count;
        sliding->configs = calloc(count, sizeof *configs);
        sliding->references = calloc(count, sizeof *sliding->references);
        sliding->tracks = calloc(2 * (size_t)count, sizeof *sliding->tracks);
        good = sliding->configs && sliding->references && sliding->tracks;
    }
    for (uint32_t i = 0; good && i < count; i++) {
        sliding->configs[i] = configs[i];
        good = track_start(&sliding->tracks[i], &configs[i],
                           configs[i].latency + configs[i].hit_latency, configs[i].mshrs);
    }
    for (uint32_t i = 0; good && i < count; i++)
        good = find_reference(sliding, i);
    if (good)
        return sliding;
    sliding_free(sliding);
    error_set(error, "out of memory for %u configurations", count);
    return NULL;
}

void sliding_free(struct sliding *sliding) {
    if (!sliding)
        return;
    for (uint32_t i = 0; sliding->tracks && i < sliding->track_count; i++) {
        free(sliding->tracks[i].moments);
        free(sliding->tracks[i].stores);
        free(sliding->tracks[i].mshrs);
        free(sliding->tracks[i].order);
    }
    free(sliding->tracks);
    free(sliding->references);
    free(sliding->configs);
    free(sliding);
}

void sliding_add(struct sliding *sliding, const struct data_event *events, uint32_t count) {
    for (uint32_t i = 0; i < sliding->track_count; i++)
        for (uint32_t k = 0; k < count; k++)
            track_add(&sliding->tracks[i], &events[k]);
}

void sliding_break(struct sliding *sliding) {
    for (uint32_t i = 0; i < sliding->track_count; i++) {
        struct track *track = &sliding->tracks[i];
        for (uint32_t k = 0; k < track->mshr_count; k++)
            track->mshrs[k] = (struct mshr){0};
        track->gaps_end = track->stores_until = track->stores_arrive = track->stores_leave = 0;
        track->stores_begin = track->stores_end;
        track->queued = track->next;
    }
}

struct hybrid_result sliding_result(const struct sliding *sliding, uint32_t number) {
    const struct hybrid_config *config = &sliding->configs[number];
    const struct track *track = &sliding->tracks[number];
    const struct track *reference = &sliding->tracks[sliding->references[number]];
    const double lost = later(track->commit_lag - reference->commit_lag, 0) / config->width;
    return (struct hybrid_result){.serialized = lost / config->latency,
                                  .misses = track->misses,
                                  .tardy = track->tardy,
                                  .distance =
                                      track->misses > 1 ? track->distance / (track->misses - 1) : 0,
                                  .windows = track->waits,
                                  .cycles = lost};
}
