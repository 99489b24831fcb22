/* The fast form of swam.c: eight configurations side by side, which read only the accesses that
 * lengths depend on. See hybrid_lanes.h. */
#include "model/hybrid_lanes.h"

#include <math.h>

#if defined __x86_64__ && !defined __clang__ /* which checks calls before it inlines them */
#define MULTIVERSION __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define MULTIVERSION
#endif
#pragma GCC diagnostic ignored "-Wpsabi" /* all that takes vectors is inlined */
#define INLINE static inline __attribute__((always_inline))

INLINE lanes where(mask_lanes mask, lanes yes, lanes no) {
    return (lanes)((mask & (mask_lanes)yes) | (~mask & (mask_lanes)no));
}

INLINE lanes larger(lanes a, lanes b) {
    return where(a > b, a, b);
}

INLINE lanes smaller(lanes a, lanes b) {
    return where(a < b, a, b);
}

INLINE lanes all(double value) {
    return (lanes){0} + value;
}

/* One in the lanes of a mask, else zero. */
INLINE lanes counted(mask_lanes mask) {
    return (lanes)(mask & (mask_lanes)all(1));
}

/* What is left of the memory latency when the access that fetches the block is so many µops back
 * (Chen 2009 Fig. 2.5, part A). */
INLINE lanes latency_left(const struct hybrid_group *group, lanes back) {
    const lanes left = larger(group->latency - back, all(0));
    return where(~group->part_a & (left > 0), group->latency, left);
}

/* Where the plain window of a position begins that is not before `end`: windows without events are
 * passed over. Exact, for lanes are realigned after long gaps. */
INLINE lanes plain_start(const struct hybrid_group *group, lanes position) {
    typedef int32_t whole_lanes __attribute__((vector_size(4 * HYBRID_LANES)));
    const whole_lanes passed =
        __builtin_convertvector((position - group->end) / group->rob, whole_lanes);
    return group->end + __builtin_convertvector(passed, lanes) * group->rob;
}

/* Lanes whose window is over begin the next: plain windows follow each other, others start at an
 * event that may stall the core. */
INLINE void turn_window(struct hybrid_group *group, lanes position, mask_lanes stalls) {
    const mask_lanes over = position >= group->end;
    group->base = where(over, group->top, group->base);
    const mask_lanes starts = over & (group->plain | stalls);
    lanes start = position;
    if (group->any_plain)
        start = where(group->plain, plain_start(group, position), position);
    const lanes behind = where(group->plain, group->end, start) - group->start;
    const lanes hides = smaller(smaller(behind, group->rob), group->top - group->begun);
    group->hidden += where(starts, hides, all(0));
    group->begun = where(starts, group->top, group->begun);
    group->start = where(starts, start, group->start);
    group->end = where(starts, group->start + group->rob, group->end);
    group->taken = where(starts, all(0), group->taken);
    group->windows += counted(starts);
}

/* Loads that wait for memory, in these lanes. */
INLINE void count_miss(struct hybrid_group *group, lanes position, mask_lanes missed) {
    const mask_lanes follows = missed & (group->last_miss >= 0);
    group->distance += where(follows, smaller(position - group->last_miss, group->rob), all(0));
    group->last_miss = where(missed, position, group->last_miss);
    group->misses += counted(missed);
}

/* Accesses that take an MSHR, in these lanes; under SWAM-MLP only if they wait for nothing else of
 * their window. All MSHRs are busy for a latency when the last is taken. */
INLINE void take_mshr(struct hybrid_group *group, lanes position, mask_lanes takes,
                      lanes operands) {
    takes &= position < group->end;
    takes &= ~group->mlp | (operands <= group->base);
    group->taken += counted(takes);
    const mask_lanes last = takes & (group->taken >= group->mshrs);
    group->end = where(last, position + 1, group->end);
    group->top = where(last, larger(group->top, group->base + group->latency), group->top);
}

/* The longest chain to the begin of an event. */
INLINE lanes longest_producer(const struct hybrid_group *group, const struct data_event *event) {
    lanes length = group->base;
    for (uint32_t i = 0; i < event->producer_count; i++)
        if (event->producers[i] <= group->mask)
            length = larger(
                length, group->moments[(group->next - event->producers[i]) & group->mask].length);
    return length;
}

INLINE struct moment plain_hit(struct hybrid_group *group, const struct data_event *event,
                               lanes position) {
    turn_window(group, position, (mask_lanes){0});
    const lanes length = longest_producer(group, event);
    return (struct moment){length, length};
}

INLINE struct moment miss(struct hybrid_group *group, const struct data_event *event,
                          lanes position) {
    turn_window(group, position, ~(mask_lanes){0});
    const lanes issued = longest_producer(group, event);
    const lanes length = issued + group->latency;
    count_miss(group, position, ~(mask_lanes){0});
    take_mshr(group, position, ~(mask_lanes){0}, issued);
    group->top = larger(group->top, length);
    return (struct moment){length, issued};
}

/* Brings a block as a miss does, but nothing waits for it to finish. It takes its MSHR when it has
 * committed, whatever it waited for: one that a later miss then lacks. */
INLINE struct moment store(struct hybrid_group *group, const struct data_event *event,
                           lanes position) {
    turn_window(group, position, group->limited);
    const lanes issued = longest_producer(group, event);
    take_mshr(group, position, group->limited, group->base);
    return (struct moment){issued + group->latency, issued};
}

/* A load of a block that another event fetched. */
INLINE struct moment hit(struct hybrid_group *group, const struct data_event *event,
                         lanes position) {
    const lanes back = all(event->fetched_by_uops);
    const mask_lanes any = ~(mask_lanes){0};
    const mask_lanes prefetched = event->flags & DATA_PREFETCHED ? any : (mask_lanes){0};
    const lanes left = latency_left(group, back);
    turn_window(group, position, prefetched & group->pending_hits & (left > 0));
    const lanes operands = longest_producer(group, event);

    /* A block fetched before the window is pending only if a prefetch fetches it. */
    const mask_lanes inside = (position < group->end) & (position - back >= group->start);
    const mask_lanes pending = group->pending_hits & (inside | prefetched);
    struct moment fetch = {group->base, group->base};
    if (event->fetched_by <= group->mask)
        fetch = group->moments[(group->next - event->fetched_by) & group->mask];
    const mask_lanes timed = pending & (group->prefetching | prefetched);
    const mask_lanes untimed = pending & ~timed;

    const lanes begun = larger(fetch.issued, group->base);
    const mask_lanes tardy = timed & group->part_b & (operands < begun);               /* B */
    const lanes arrives = where(group->part_c, begun, larger(begun, operands)) + left; /* C */
    lanes length = where(untimed, larger(operands, fetch.length), operands);
    length = where(timed, larger(operands, arrives), length);
    length = where(tardy, operands + group->latency, length);
    const lanes issued = where(untimed, fetch.issued, operands);

    mask_lanes asks = event->flags & DATA_FILL ? pending & group->limited : (mask_lanes){0};
    if (event->flags & DATA_FIRST_USE) {
        const mask_lanes waits = timed & (length > operands);
        count_miss(group, position, waits);
        asks |= waits & (tardy | ~inside); /* else its prefetch has taken one in this window */
        group->tardy += counted(tardy);
    }
    take_mshr(group, position, asks, operands);
    group->top = larger(group->top, length);
    return (struct moment){length, issued};
}

/* After a gap that may hold very many windows. */
static void realign(struct hybrid_group *group, uint64_t position) {
    for (int lane = 0; lane < HYBRID_LANES; lane++)
        if (group->plain[lane] && group->end[lane] < (double)position)
            group->end[lane] +=
                floor(((double)position - group->end[lane]) / group->rob[lane]) * group->rob[lane];
}

MULTIVERSION
void hybrid_group_add(struct hybrid_group *group, const struct data_event *events, uint32_t count) {
    for (uint32_t i = 0; i < count; i++, group->next++) {
        const struct data_event *event = &events[i];
        if (event->position - group->last_position > 1 << 30)
            realign(group, event->position);
        group->last_position = event->position;
        const lanes position = all((double)event->position);
        struct moment *moment = &group->moments[group->next & group->mask];
        if (event->flags & DATA_MISS)
            *moment = miss(group, event, position);
        else if (event->flags & DATA_HIT)
            *moment = hit(group, event, position);
        else if (event->flags & DATA_STORE)
            *moment = store(group, event, position);
        else
            *moment = plain_hit(group, event, position);
        if ((event->flags & (DATA_TRIGGER | DATA_BEYOND)) ==
            DATA_TRIGGER) /* the prefetch takes an MSHR as well */
            take_mshr(group, position, group->limited,
                      event->flags & DATA_STORE ? group->base : moment->issued);
    }
}
