/* A chunk comes after all markers that lie in it are known. A region whose start is not yet known
 * is written from the chunk on that may be the first of its warm-up, with a thousandth of its
 * position to spare, or a hundredth of its distance from the region that was found last, which
 * is less in a long run; it is given up when its start, or then its end, is overdue. */
#include "trace/region_windows.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/file_name.h"
#include "util/order.h"

enum {
    SPARE_SHARE = 1000,
    NEAR_SPARE_SHARE = 100,
    TOLERANCE_SHARE = 50,
    LEAST_TOLERANCE = 100000,
    LEAST_PAUSE = 20000000 /* instructions: for fewer the emulator need not translate anew */
};

static const uint64_t FARTHEST = UINT64_C(1) << 60; /* sums of these do not overflow */

/* By how far a region may lie from where it is expected: its own length, and 2 % of its position.
 */
static uint64_t tolerance(const struct capture_region *region) {
    uint64_t length = region->instructions;
    return (length < LEAST_TOLERANCE ? LEAST_TOLERANCE : length) + region->first / TOLERANCE_SHARE;
}

/* By how much earlier than expected a region's warm-up may begin: from the region on that started
 * last it has not drifted by more than some share of what lies between them. */
static uint64_t spare(const struct capture_region *region, uint64_t last_first) {
    const uint64_t all = region->first / SPARE_SHARE,
                   since = (region->first - last_first) / NEAR_SPARE_SHARE;
    return since < all ? since : all;
}

/* Stamps of the first of a long warm-up are worth little: a region that comes earlier by what is to
 * spare need only have before it what its trace begins with. */
static uint64_t told_before(const struct region_windows *windows, uint64_t warm_up,
                            uint64_t spare) {
    const uint64_t least = (warm_up < windows->written ? warm_up : windows->written) + spare;
    return warm_up > least ? warm_up : least;
}

/* The thread's instruction at which the region's trace is to begin, when the region at `last_first`
 * was found `drift` later than expected. */
static uint64_t window_begin(const struct region_windows *windows,
                             const struct capture_region *region, uint64_t last_first,
                             int64_t drift) {
    uint64_t begin = region->first;
    if (drift < 0 && -(uint64_t)drift > begin)
        return 0;
    begin += (uint64_t)drift;
    uint64_t warm_up = region->first - region->warm_from;
    if (windows->warm_up < warm_up)
        warm_up = windows->warm_up;
    uint64_t before = warm_up + spare(region, last_first);
    if (windows->told)
        before = told_before(windows, warm_up, spare(region, last_first));
    return begin > before ? begin - before : 0;
}

/* ---- messages ---- */

void region_windows_fail(struct region_windows *windows, size_t number, const char *format, ...) {
    struct capture_region *region = &windows->regions[number];
    if (region_is_finished(region))
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(region->failure, sizeof region->failure, format, arguments);
    va_end(arguments);
    windows->open -= region->state == REGION_OPEN || region->state == REGION_TOLD;
    windows->failed++;
    region->state = REGION_FAILED;
}

/* "its start marker, execution 35012 of gzip+0x6a2c," */
static void fail_marker(struct region_windows *windows, size_t number, bool end, const char *format,
                        ...) {
    const struct capture_region *region = &windows->regions[number];
    const struct capture_marker *marker = end ? &region->end : &region->start;
    char why[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    region_windows_fail(
        windows, number, "its %s marker, execution %" PRIu64 " of %.60s%s0x%" PRIx64 ", %s",
        end ? "end" : "start", marker->count,
        marker->image < windows->image_count ? file_base_name(windows->images[marker->image].path)
                                             : "",
        marker->image < windows->image_count ? "+" : "address ", marker->offset, why);
}

/* ---- the order of regions ---- */

static struct capture_region *at(const struct region_windows *windows, size_t place) {
    return &windows->regions[windows->order[place]];
}

static int by_place(const void *first, const void *second, void *context) {
    const struct capture_region *regions = context;
    const struct capture_region *a = &regions[*(const uint32_t *)first];
    const struct capture_region *b = &regions[*(const uint32_t *)second];
    return ascending(a->thread, b->thread) ?: ascending(a->first, b->first);
}

static bool check_overlap(const struct region_windows *windows, struct error *error) {
    for (size_t i = 1; i < windows->count; i++) {
        const struct capture_region *previous = at(windows, i - 1), *region = at(windows, i);
        if (previous->thread == region->thread &&
            region->first - previous->first < previous->instructions)
            return error_set(error, "regions %" PRIu32 " and %" PRIu32 " overlap", previous->id,
                             region->id);
    }
    return true;
}

/* Each thread's traces may be written at the same time as those of the others; only one's are known
 * to be. */
static bool check_open(const struct region_windows *windows, struct error *error) {
    for (size_t i = 0, oldest = 0; i < windows->count; i++) {
        const struct capture_region *region = at(windows, i);
        uint64_t begin = window_begin(windows, region, 0, 0);
        while (
            at(windows, oldest)->thread != region->thread ||
            (oldest < i && at(windows, oldest)->first + at(windows, oldest)->instructions <= begin))
            oldest++;
        if (i - oldest >= REGION_CAPTURE_MAX_OPEN)
            return error_set(error,
                             "a warm-up of %" PRIu64 " instructions makes the traces of more than "
                             "%d regions overlap: choose a shorter one, or fewer regions",
                             windows->warm_up, REGION_CAPTURE_MAX_OPEN);
    }
    return true;
}

static size_t find_threads(struct region_windows *windows) {
    size_t count = 0;
    for (size_t i = 0; i < windows->count; i++) {
        uint32_t thread = at(windows, i)->thread;
        if (i == 0 || windows->threads[count - 1].thread != thread)
            windows->threads[count++] =
                (struct region_thread){.thread = thread, .first = i, .next = i};
        windows->threads[count - 1].end = i + 1;
    }
    return count;
}

bool region_windows_init(struct region_windows *windows, struct error *error) {
    windows->order = calloc(windows->count + 1, sizeof *windows->order);
    windows->threads = calloc(windows->count + 1, sizeof *windows->threads);
    if (!windows->order || !windows->threads)
        return error_set(error, "out of memory for %zu regions", windows->count);
    for (size_t i = 0; i < windows->count; i++)
        windows->order[i] = (uint32_t)i;
    qsort_r(windows->order, windows->count, sizeof *windows->order, by_place, windows->regions);
    windows->thread_count = find_threads(windows);
    for (size_t i = 0; i < windows->count; i++)
        if (windows->regions[i].first > FARTHEST || windows->regions[i].instructions > FARTHEST ||
            windows->regions[i].warm_from > windows->regions[i].first)
            return error_set(error, "region %" PRIu32 " lies beyond any run",
                             windows->regions[i].id);
    return check_overlap(windows, error) && check_open(windows, error);
}

void region_windows_free(struct region_windows *windows) {
    free(windows->order);
    free(windows->threads);
    windows->order = NULL;
    windows->threads = NULL;
}

struct region_thread *region_windows_thread(struct region_windows *windows, uint32_t thread) {
    size_t low = first_where(i, windows->thread_count, windows->threads[i].thread >= thread);
    bool found = low < windows->thread_count && windows->threads[low].thread == thread;
    return found ? &windows->threads[low] : NULL;
}

uint64_t region_windows_skip(const struct region_windows *windows) {
    uint64_t skip = UINT64_MAX;
    for (size_t i = 0; i < windows->count; i++) {
        uint64_t begin = window_begin(windows, &windows->regions[i], 0, 0);
        skip = begin < skip ? begin : skip;
    }
    return windows->count ? skip : 0;
}

struct region_thread *region_windows_idle(struct region_windows *windows, uint64_t *until) {
    struct region_thread *thread = NULL;
    for (size_t i = 0; i < windows->thread_count; i++)
        if (windows->threads[i].next < windows->threads[i].end) {
            if (thread)
                return NULL;
            thread = &windows->threads[i];
        }
    if (!thread || windows->open)
        return NULL;
    const struct capture_region *next = at(windows, thread->next);
    *until = window_begin(windows, next, thread->last_first, thread->drift);
    bool idle =
        !next->started && *until > thread->position && *until - thread->position >= LEAST_PAUSE;
    return idle ? thread : NULL;
}

/* ---- markers ---- */

/* Markers are told of before the chunk that they lie in; else a program has written over what the
 * emulator tells. */
static bool is_past(struct region_windows *windows, const struct capture_region *region,
                    uint64_t position) {
    return position < region_windows_thread(windows, region->thread)->position;
}

/* Markers come in order: what should have ended by now will not. */
static void miss_earlier(struct region_windows *windows, const struct capture_region *region) {
    const struct region_thread *thread = region_windows_thread(windows, region->thread);
    for (size_t i = thread->next; i < thread->end && at(windows, i) != region; i++)
        if (!at(windows, i)->ended)
            fail_marker(windows, windows->order[i], at(windows, i)->started,
                        "was not reached before region %" PRIu32 " began", region->id);
}

void region_windows_started(struct region_windows *windows, size_t number, uint64_t position) {
    struct capture_region *region = &windows->regions[number];
    if (region->started || region_is_finished(region))
        return;
    if (is_past(windows, region, position)) {
        fail_marker(windows, number, false, "came where its thread had been before");
        return;
    }
    struct region_thread *thread = region_windows_thread(windows, region->thread);
    region->started = true;
    region->found_first = position;
    region->expected_begin = window_begin(windows, region, thread->last_first, thread->drift);
    uint64_t skew = position > region->first ? position - region->first : region->first - position;
    if (skew > tolerance(region))
        fail_marker(windows, number, false,
                    "came at instruction %" PRIu64 " of its thread, not about %" PRIu64, position,
                    region->first);
    else
        miss_earlier(windows, region);
    if (region_is_finished(region))
        return;
    thread->drift = region_skew(region);
    thread->last_first = region->first;
}

void region_windows_ended(struct region_windows *windows, size_t number, uint64_t position) {
    struct capture_region *region = &windows->regions[number];
    if (region->ended || region_is_finished(region))
        return;
    if (is_past(windows, region, position)) {
        fail_marker(windows, number, true, "came where its thread had been before");
        return;
    }
    region->ended = true;
    region->found_end = position;
    if (!region->started || position <= region->found_first)
        fail_marker(windows, number, true, "came before its start");
}

/* ---- chunks ---- */

/* Its first chunk was not written: capture paused until later, or there were too many traces. */
static void fail_unwritten(struct region_windows *windows, size_t number) {
    const struct capture_region *region = &windows->regions[number];
    if (region->found_first < region->expected_begin)
        fail_marker(windows, number, false,
                    "came %" PRIu64 " instructions before its trace was to begin: choose a longer "
                    "--warm-up",
                    region->expected_begin - region->found_first);
    else
        region_windows_fail(windows, number,
                            "more than %d traces were being written when it began: choose a "
                            "shorter --warm-up, or fewer regions",
                            REGION_CAPTURE_MAX_OPEN);
}

enum window region_windows_judge(struct region_windows *windows, size_t number, uint64_t first,
                                 uint64_t last) {
    struct capture_region *region = &windows->regions[number];
    if (region_is_finished(region))
        return WINDOW_PASS;
    const struct region_thread *thread = region_windows_thread(windows, region->thread);
    bool awaited = region->state == REGION_AWAITED; /* a trace that was begun has no gap */
    if (awaited && !region->started &&
        last <= window_begin(windows, region, thread->last_first, thread->drift))
        return WINDOW_LATER;
    if (region->state != REGION_OPEN && region->started && first > region->found_first) {
        fail_unwritten(windows, number);
        return WINDOW_PASS;
    }
    uint64_t late = tolerance(region);
    if (!region->started && first > region->first && first - region->first > late) {
        fail_marker(windows, number, false,
                    "was not reached by instruction %" PRIu64
                    " of its thread, expected at %" PRIu64,
                    first, region->first);
        return WINDOW_PASS;
    }
    if (region->started && !region->ended && region->end.count && first > region->found_first &&
        first - region->found_first > region->instructions + late) {
        fail_marker(windows, number, true,
                    "was not reached within %" PRIu64 " instructions, expected after %" PRIu64,
                    first - region->found_first, region->instructions);
        return WINDOW_PASS;
    }
    if (region->state == REGION_OPEN)
        return WINDOW_WRITE;
    if (awaited && windows->open >= REGION_CAPTURE_MAX_OPEN)
        return WINDOW_PASS;
    windows->open += awaited;
    if (awaited)
        region->told_first = first;
    if (windows->told && !(region->started && region->found_first < last)) {
        region->state = REGION_TOLD;
        return WINDOW_HOLD;
    }
    region->state = REGION_OPEN;
    region->trace_first = first;
    return WINDOW_OPEN;
}

static bool complete(struct region_windows *windows, struct capture_region *region) {
    region->state = REGION_COMPLETE;
    windows->open--;
    windows->complete++;
    return true;
}

bool region_windows_written(struct region_windows *windows, size_t number, uint64_t last) {
    struct capture_region *region = &windows->regions[number];
    region->trace_last = last;
    /* The last of a run that was profiled only so far. */
    if (region->started && !region->end.count && last > region->found_first &&
        last - region->found_first > region->instructions) {
        region->ended = true;
        region->found_end = region->found_first + region->instructions;
    }
    return region->state == REGION_OPEN && region->ended && region->found_end < last &&
           complete(windows, region);
}

bool region_windows_thread_ended(struct region_windows *windows, size_t number) {
    struct capture_region *region = &windows->regions[number];
    if (region_is_finished(region))
        return false;
    const struct region_thread *thread = region_windows_thread(windows, region->thread);
    if (!region->started) {
        fail_marker(windows, number, false,
                    "was not reached before its thread ended, expected at instruction %" PRIu64,
                    region->first);
        return false;
    }
    if (!region->ended && region->end.count) {
        fail_marker(windows, number, true,
                    "was not reached: its thread ended %" PRIu64
                    " instructions after the start, expected after %" PRIu64,
                    thread->position - region->found_first, region->instructions);
        return false;
    }
    if (region->state != REGION_OPEN) {
        region_windows_fail(windows, number, "nothing was captured of it");
        return false;
    }
    region->found_end = region->ended ? region->found_end : thread->position;
    region->ended = true;
    return complete(windows, region);
}

void region_windows_command_ended(struct region_windows *windows, size_t number) {
    const struct capture_region *region = &windows->regions[number];
    const struct region_thread *thread = region_windows_thread(windows, region->thread);
    if (!thread->seen)
        region_windows_fail(windows, number, "the command has no thread %" PRIu32, region->thread);
    else
        region_windows_thread_ended(windows, number);
}
