/* See sliding.h. Times are counted in the time to issue one µop, 1 / width cycles, so that without
 * misses the µop at a position is dispatched and commits at that time. A lag is what a stage is
 * behind that; it never shrinks:
 *
 *   dispatch lag(p) ≥ commit lag(p − ROB) − ROB     the reorder buffer has room
 *   commit lag(p)   ≥ data(p) − p                   in order, and not before the data are there
 *   dispatch lag(p) ≥ leaves(s − queue) − p         where µop p is store s: that many before it one
 *                                                   is in the cache, as are all before that
 *
 * Events come in program order but begin in any, so an MSHR remembers one gap that it left. */
#include "model/sliding.h"

#include <math.h>
#include <stdlib.h>

#include "model/sliding_front.h"

/* A block on its way. */
struct block {
    double asked; /* INFINITY: not yet */
    double arrives;
};

/* What is known of an event in a track. */
struct moment {
    double done;       /* its data are there; of a store: it commits */
    double commit_lag; /* after it */
};
/* That an event asks for, and whose prefetch it triggers. */
struct blocks {
    struct block own, prefetched;
};

struct mshr {
    double free; /* from then on */
    double gap_begin, gap_end;
};

/* A processor with one latency for what misses the last level. */
struct track {
    double rob, latency;
    struct mshr *mshrs;  /* the one that is free first first */
    uint32_t mshr_count; /* 0: unlimited */
    double gaps_end;     /* no gap lies behind it */
    double dispatch_lag, commit_lag;
    uint32_t front;    /* its number */
    uint32_t departed; /* of the departures at hand */
    const struct places *places;
    struct moment *moments; /* of the last events, as are */
    struct blocks *blocks;
    uint64_t *stores; /* numbers of those that have not been to the cache */
    uint64_t mask, next;
    uint64_t stores_begin, stores_end;
    double stores_until;  /* they go in order */
    double stores_arrive; /* the last block that they asked for */
    double stores_leave;  /* the queue, those that have departed */
    double last_miss;     /* position; negative: none yet */
    double distance, misses, tardy, waits;
};

struct sliding {
    uint32_t count, track_count;
    struct hybrid_config *configs;
    uint32_t *references; /* of each configuration, the track with hits in place of misses */
    struct track *tracks; /* one for each configuration, then the references that differ */
    struct front *fronts;
    uint32_t front_count;
    struct places places; /* more than any track remembers */
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
    struct mshr mshr = track->mshrs[rank];
    if (begin > mshr.free) {
        mshr.gap_begin = mshr.free;
        mshr.gap_end = begin;
        track->gaps_end = later(track->gaps_end, begin);
    }
    mshr.free = end;
    for (; rank + 1 < track->mshr_count && track->mshrs[rank + 1].free < end; rank++)
        track->mshrs[rank] = track->mshrs[rank + 1];
    track->mshrs[rank] = mshr;
}

/* Takes an MSHR for `length` as early as can be from `at` on, of those free then the one that was
 * taken last; returns when. One that `shrinks` ends no later for having had to wait. */
static double take(struct track *track, double at, double length, bool shrinks) {
    if (!track->mshr_count)
        return at;
    uint32_t rank = track->mshrs[track->mshr_count - 1].free <= at ? track->mshr_count : 0;
    while (rank < track->mshr_count && track->mshrs[rank].free <= at)
        rank++;
    const double when = rank ? at : track->mshrs[0].free;
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
    return track->mshr_count == 0 || track->mshrs[0].free <= at ||
           (find_gap(track, at, track->latency, &begin) && begin <= at);
}

/* ---- events ---- */

static struct moment *moment_of(const struct track *track, uint64_t number) {
    return &track->moments[number & track->mask];
}

static struct blocks *blocks_of(const struct track *track, uint64_t number) {
    return &track->blocks[number & track->mask];
}

/* Returns when the data are there. */
static double fetch(struct track *track, struct block *block, double at) {
    block->asked = at;
    block->arrives = take(track, at, track->latency, false) + track->latency;
    return block->arrives;
}

/* A prefetch is only sent when an MSHR is free, if it needs one. */
static void prefetch(struct track *track, uint64_t number, double at) {
    struct block *block = &blocks_of(track, number)->prefetched;
    if (place_of(track->places, number)->flags & DATA_BEYOND)
        *block = (struct block){.asked = at, .arrives = at + track->latency};
    else if (has_free(track, at))
        fetch(track, block, at);
}

/* The number of the oldest store that has not been to the cache; UINT64_MAX: none. */
static uint64_t oldest_store(const struct track *track) {
    return track->stores_begin < track->stores_end
               ? track->stores[track->stores_begin & track->mask]
               : UINT64_MAX;
}

/* The oldest store goes to the cache. A load of the same block may have asked for it before. */
static void write_store(struct track *track) {
    const uint64_t number = oldest_store(track);
    struct block *block = &blocks_of(track, number)->own;
    track->stores_begin++;
    track->stores_until = later(track->stores_until, moment_of(track, number)->done);
    if (block->asked == INFINITY)
        track->stores_until = fetch(track, block, track->stores_until) - track->latency;
    track->stores_arrive = later(track->stores_arrive, block->arrives);
    if (place_of(track->places, number)->flags & DATA_TRIGGER)
        prefetch(track, number, track->stores_until);
}

/* Stores that have committed by a time go to the cache, one after the other. */
static void drain(struct track *track, double time) {
    while (track->stores_begin < track->stores_end &&
           moment_of(track, oldest_store(track))->done <= time)
        write_store(track);
}

/* ---- the store queue ---- */

/* When it leaves, if none before it leaves later. */
static double leaves(struct track *track, uint64_t number) {
    const struct place *place = place_of(track->places, number);
    const struct moment *moment = moment_of(track, number);
    while (oldest_store(track) <= number)
        write_store(track);
    return place->flags & DATA_STORE ? later(moment->done, blocks_of(track, number)->own.arrives)
                                     : place->position + moment->commit_lag;
}

static void enter_store_queue(struct track *track, const struct front *front) {
    while (track->departed < front->departure_count &&
           front->departures[track->departed].before == track->next) {
        const struct departure *departure = &front->departures[track->departed++];
        track->stores_leave = later(track->stores_leave, leaves(track, departure->event));
        track->dispatch_lag = later(track->dispatch_lag, track->stores_leave - departure->position);
    }
}

/* ---- stages ---- */

/* Of the events that have left the reorder buffer, the last one left last. */
static void dispatch(struct track *track, const struct front *front, uint64_t left) {
    if (left && track->next - left < track->mask) {
        const double commit_lag = moment_of(track, left - 1)->commit_lag;
        track->dispatch_lag = later(track->dispatch_lag, commit_lag - track->rob);
    }
    enter_store_queue(track, front);
    track->commit_lag = later(track->commit_lag, track->dispatch_lag);
}

static double operands(const struct track *track, const struct data_event *event, double at) {
    for (uint32_t i = 0; i < event->producer_count; i++)
        if (event->producers[i] <= track->mask)
            at = later(at, moment_of(track, track->next - event->producers[i])->done);
    return at;
}

/* A load of a block that another event fetches, or would have fetched had this load not been first.
 * While the block is on its way, a line of it that the other event did not ask the L1 for takes an
 * MSHR as well. */
static double hit(struct track *track, const struct data_event *event, double at, bool *missed) {
    if (event->fetched_by > track->mask)
        return at;
    struct blocks *fetcher = blocks_of(track, track->next - event->fetched_by);
    struct block *block = event->flags & DATA_PREFETCHED ? &fetcher->prefetched : &fetcher->own;
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
    struct blocks *fetcher = blocks_of(track, track->next - event->along);
    struct block *block =
        event->flags & DATA_ALONG_PREFETCHED ? &fetcher->prefetched : &fetcher->own;
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

/* Returns when its data are there. */
static double load(struct track *track, const struct data_event *event, double position,
                   double at) {
    bool overtakes = false;
    double done = at;
    if (event->flags & DATA_MISS)
        done = fetch(track, &blocks_of(track, track->next)->own, at);
    else if (event->flags & DATA_HIT)
        done = hit(track, event, at, &overtakes);
    const bool first = event->flags & DATA_FIRST_USE;
    if (event->flags & DATA_MISS || (first && done > at))
        count_miss(track, position);
    track->tardy += first && overtakes;
    const bool fetched = event->flags & DATA_MISS || overtakes;
    const double begin = fetched ? done - track->latency : at;
    if (event->flags & DATA_TRIGGER)
        prefetch(track, track->next, begin);
    if (event->along && event->along <= track->mask)
        go_along(track, event, begin);
    if (done - position > track->commit_lag) {
        track->commit_lag = done - position;
        track->waits++;
    }
    return done;
}

/* The oldest µop, stores before it are in the cache, and nothing behind it has been dispatched. */
static double fence(struct track *track, double position) {
    const double commits = position + track->commit_lag;
    drain(track, commits);
    const double done = later(commits, track->stores_arrive);
    track->commit_lag = track->dispatch_lag = done - position;
    return done;
}

/* Returns when it commits. */
static double store(struct track *track, double position, double operands_there) {
    if (track->stores_end - track->stores_begin > track->mask)
        track->stores_begin++;
    track->stores[track->stores_end++ & track->mask] = track->next;
    return later(operands_there, position + track->commit_lag);
}

static void track_add(struct track *track, const struct front *front, uint64_t left,
                      const struct data_event *event) {
    dispatch(track, front, left);
    const double position = (double)event->position, enters = position + track->dispatch_lag;
    drain(track, enters);
    *blocks_of(track, track->next) = (struct blocks){{INFINITY, INFINITY}, {INFINITY, INFINITY}};
    double done = operands(track, event, enters);
    if (event->flags & DATA_FENCE)
        done = fence(track, position);
    else if (event->flags & DATA_STORE)
        done = store(track, position, done);
    else
        done = load(track, event, position, done);
    *moment_of(track, track->next++) = (struct moment){done, track->commit_lag};
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
                            .mask = size - 1,
                            .last_miss = -1};
    track->moments = malloc(size * sizeof *track->moments);
    track->blocks = malloc(size * sizeof *track->blocks);
    track->stores = malloc(size * sizeof *track->stores);
    track->mshrs = calloc(mshrs ? mshrs : 1, sizeof *track->mshrs);
    return track->moments && track->blocks && track->stores && track->mshrs;
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

/* The last events that any track remembers, and those at hand. */
static bool start_places(struct sliding *sliding) {
    uint64_t size = 2 * FRONT_EVENTS;
    for (uint32_t i = 0; i < sliding->track_count; i++)
        while (size < sliding->tracks[i].mask + 1 + FRONT_EVENTS)
            size *= 2;
    sliding->places =
        (struct places){.places = malloc(size * sizeof(struct place)), .mask = size - 1};
    return sliding->places.places;
}

/* The front of a track, shared by those with the same. */
static bool find_front(struct sliding *sliding, struct track *track,
                       const struct hybrid_config *config) {
    track->places = &sliding->places;
    for (track->front = 0; track->front < sliding->front_count; track->front++) {
        const struct front *front = &sliding->fronts[track->front];
        if (front->rob == config->rob && front->store_queue == config->store_queue &&
            front->reach == track->mask + 1)
            return true;
    }
    return front_start(&sliding->fronts[sliding->front_count++], config->rob, config->store_queue,
                       track->mask + 1);
}

static bool start_fronts(struct sliding *sliding) {
    bool good = true;
    for (uint32_t i = 0; good && i < sliding->count; i++)
        good = find_front(sliding, &sliding->tracks[i], &sliding->configs[i]) &&
               find_front(sliding, &sliding->tracks[sliding->references[i]], &sliding->configs[i]);
    return good;
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
        sliding->fronts = calloc(2 * (size_t)count, sizeof *sliding->fronts);
        good = sliding->configs && sliding->references && sliding->tracks && sliding->fronts;
    }
    for (uint32_t i = 0; good && i < count; i++) {
        sliding->configs[i] = configs[i];
        good = track_start(&sliding->tracks[i], &configs[i],
                           configs[i].latency + configs[i].hit_latency, configs[i].mshrs);
    }
    for (uint32_t i = 0; good && i < count; i++)
        good = find_reference(sliding, i);
    if (good && start_places(sliding) && start_fronts(sliding))
        return sliding;
    sliding_free(sliding);
    return error_null(error, "out of memory for %u configurations", count);
}

void sliding_free(struct sliding *sliding) {
    if (!sliding)
        return;
    for (uint32_t i = 0; sliding->tracks && i < sliding->track_count; i++) {
        free(sliding->tracks[i].moments);
        free(sliding->tracks[i].blocks);
        free(sliding->tracks[i].stores);
        free(sliding->tracks[i].mshrs);
    }
    for (uint32_t i = 0; sliding->fronts && i < sliding->front_count; i++)
        front_free(&sliding->fronts[i]);
    free(sliding->fronts);
    free(sliding->places.places);
    free(sliding->tracks);
    free(sliding->references);
    free(sliding->configs);
    free(sliding);
}

static void track_follow(struct track *track, const struct front *front,
                         const struct data_event *events, uint32_t count) {
    track->departed = 0;
    for (uint32_t k = 0; k < count; k++)
        track_add(track, front, front->left[k], &events[k]);
}

static void add_some(struct sliding *sliding, const struct data_event *events, uint32_t count) {
    struct places *places = &sliding->places;
    for (uint32_t k = 0; k < count; k++)
        places->places[places->next++ & places->mask] =
            (struct place){(double)events[k].position, events[k].stores, events[k].flags};
    for (uint32_t i = 0; i < sliding->front_count; i++)
        front_follow(&sliding->fronts[i], places, count);
    for (uint32_t i = 0; i < sliding->track_count; i++)
        track_follow(&sliding->tracks[i], &sliding->fronts[sliding->tracks[i].front], events,
                     count);
}

void sliding_add(struct sliding *sliding, const struct data_event *events, uint32_t count) {
    for (uint32_t i = 0; i < count; i += FRONT_EVENTS)
        add_some(sliding, events + i, count - i < FRONT_EVENTS ? count - i : FRONT_EVENTS);
}

void sliding_break(struct sliding *sliding) {
    for (uint32_t i = 0; i < sliding->front_count; i++)
        front_break(&sliding->fronts[i], &sliding->places);
    for (uint32_t i = 0; i < sliding->track_count; i++) {
        struct track *track = &sliding->tracks[i];
        for (uint32_t k = 0; k < track->mshr_count; k++)
            track->mshrs[k] = (struct mshr){0};
        track->gaps_end = track->stores_until = track->stores_arrive = track->stores_leave = 0;
        track->stores_begin = track->stores_end;
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
