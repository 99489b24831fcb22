/* One sweep over the tickets of all events. A wake waits at its address from its entry until as
 * many waits have returned as it released. A wait that returns takes, of the wakes there that ended
 * after it had begun, the one that ended first: what later waits could still take of the others
 * they could take of this one too, or less.
 *
 * A wait that did not begin, since the word had another value already (EAGAIN), takes the last wake
 * there that had begun, by another thread, since its own thread last waited: it need not have
 * released anybody.
 *
 * Waits that were moved to another address (FUTEX_CMP_REQUEUE) find no wake at their own; they take
 * one of the moves there, and a wake at the address where that leads. */
#include "trace/wake_pairs.h"

#include <stdlib.h>

#include "util/array.h"
#include "util/order.h"

/* Bounds for hostile files, and for wakes of threads that are not in the trace. */
enum {
    SPARE_WAKES = 64, /* kept at a place beyond one for each thread */
    MOST_WAKES = 1024,
    MOST_MOVES = 16 /* that are tried for a wait */
};

struct point {
    uint64_t ticket;
    size_t event;
    bool returns;
};

struct place {
    uint64_t address;
    uint32_t process;
    size_t *wakes; /* events that may release more waits here, oldest first */
    size_t wake_count, wake_capacity;
    size_t exit; /* the last end of a thread that clears the word here, or WAKE_PAIRS_NONE */
    size_t last, last_of_other; /* wakes that began last here, and by another thread than that */
};

/* Waits that an event may still release, or move. */
struct credit {
    uint32_t all;   /* of either */
    uint32_t here;  /* at its address */
    uint32_t there; /* at its second address (FUTEX_WAKE_OP) */
    uint32_t moves; /* to its second address */
};

struct sweep {
    const struct thread_event_list *list;
    struct place *places; /* by process and address */
    size_t place_count, place_capacity;
    struct credit *credits; /* by event */
    size_t most_wakes;      /* kept at a place: each of more has a waiter that never returned */
    struct wake_pairs *pairs;
    bool out_of_memory;
};

/* ---- addresses ---- */

ORDER(by_address, struct place,
      ascending(a->process, b->process) ?: ascending(a->address, b->address))

static bool add_place(struct sweep *sweep, const struct thread_event *event, uint64_t address) {
    const struct place place = {.address = address,
                                .process = event->process,
                                .exit = WAKE_PAIRS_NONE,
                                .last = WAKE_PAIRS_NONE,
                                .last_of_other = WAKE_PAIRS_NONE};
    return !address || array_push(sweep->places, sweep->place_capacity, sweep->place_count, place);
}

static bool collect_places(struct sweep *sweep) {
    size_t kept = 0;
    for (size_t i = 0; i < sweep->list->count; i++) {
        const struct thread_event *event = &sweep->list->events[i];
        if (!add_place(sweep, event, event->address) || !add_place(sweep, event, event->address2))
            return false;
    }
    if (!sweep->place_count)
        return true;
    qsort(sweep->places, sweep->place_count, sizeof *sweep->places, by_address);
    for (size_t i = 1; i < sweep->place_count; i++)
        if (by_address(&sweep->places[kept], &sweep->places[i]) != 0)
            sweep->places[++kept] = sweep->places[i];
    sweep->place_count = kept + 1;
    return true;
}

/* NULL: the address is 0. */
static struct place *place_at(const struct sweep *sweep, uint32_t process, uint64_t address) {
    const struct place key = {.address = address, .process = process};
    if (!address || !sweep->place_count)
        return NULL;
    return bsearch(&key, sweep->places, sweep->place_count, sizeof key, by_address);
}

/* ---- wakes ---- */

static uint32_t least(uint64_t a, uint64_t b) {
    uint64_t value = a < b ? a : b;
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static struct credit credit_of(const struct thread_event *event) {
    const uint64_t result = event->result > 0 ? (uint64_t)event->result : 0;
    switch (event->operation) {
    case FUTEX_OP_UNLOCK_PI: /* whether it released one is not told */
        return (struct credit){.all = event->result == 0, .here = event->result == 0};
    case FUTEX_OP_REQUEUE:
    case FUTEX_OP_CMP_REQUEUE: { /* wakes come first */
        uint32_t woken = least(result, event->value);
        return (struct credit){least(result, UINT32_MAX), woken, 0,
                               least(result - woken, UINT32_MAX)};
    }
    case FUTEX_OP_CMP_REQUEUE_PI:
        return (struct credit){.all = least(result, UINT32_MAX),
                               .moves = least(result, UINT32_MAX)};
    case FUTEX_OP_WAKE_OP:
        return (struct credit){.all = least(result, UINT32_MAX),
                               .here = least(result, event->value),
                               .there = least(result, event->value2)};
    default:
        return (struct credit){.all = least(result, UINT32_MAX), .here = least(result, UINT32_MAX)};
    }
}

static void forget_spent(const struct sweep *sweep, struct place *place) {
    size_t kept = 0;
    for (size_t i = 0; i < place->wake_count; i++)
        if (sweep->credits[place->wakes[i]].all)
            place->wakes[kept++] = place->wakes[i];
    place->wake_count = kept;
}

static void await_returns(struct sweep *sweep, struct place *place, size_t event) {
    if (!place)
        return;
    if (place->wake_count == sweep->most_wakes)
        forget_spent(sweep, place);
    if (place->wake_count == sweep->most_wakes) {
        place->wake_count--;
        memmove(place->wakes, place->wakes + 1, place->wake_count * sizeof *place->wakes);
    }
    sweep->out_of_memory |=
        !array_push(place->wakes, place->wake_capacity, place->wake_count, event);
}

static void note_last(const struct sweep *sweep, struct place *place, size_t number) {
    const struct thread_event *events = sweep->list->events;
    if (!place)
        return;
    if (place->last != WAKE_PAIRS_NONE && events[place->last].thread != events[number].thread)
        place->last_of_other = place->last;
    place->last = number;
}

static void begin_wake(struct sweep *sweep, size_t number) {
    const struct thread_event *event = &sweep->list->events[number];
    struct credit *credit = &sweep->credits[number];
    *credit = credit_of(event);
    note_last(sweep, place_at(sweep, event->process, event->address), number);
    if (!credit->all)
        return;
    await_returns(sweep, place_at(sweep, event->process, event->address), number);
    if (credit->there && event->address2 != event->address)
        await_returns(sweep, place_at(sweep, event->process, event->address2), number);
}

/* ---- waits ---- */

static bool is_pi(const struct thread_event *event) {
    return event->operation == FUTEX_OP_LOCK_PI || event->operation == FUTEX_OP_LOCK_PI2 ||
           event->operation == FUTEX_OP_UNLOCK_PI;
}

/* The wake at a place that ended first, of those that ended after a ticket and could release the
 * wait; WAKE_PAIRS_NONE: none. */
static size_t first_wake(const struct sweep *sweep, const struct place *place,
                         const struct thread_event *wait, bool pi, uint64_t after) {
    const struct thread_event *events = sweep->list->events;
    size_t best = WAKE_PAIRS_NONE;
    for (size_t i = 0; i < place->wake_count; i++) {
        const size_t number = place->wakes[i];
        const struct thread_event *wake = &events[number];
        const struct credit *credit = &sweep->credits[number];
        bool here = wake->address == place->address && credit->here;
        bool there = wake->address2 == place->address && credit->there;
        if (credit->all && (here || there) && is_pi(wake) == pi && wake->exit > after &&
            (wake->bitset & wait->bitset) &&
            (best == WAKE_PAIRS_NONE || wake->exit < events[best].exit))
            best = number;
    }
    return best;
}

static void spend(struct sweep *sweep, struct place *place, size_t number) {
    struct credit *credit = &sweep->credits[number];
    const struct thread_event *wake = &sweep->list->events[number];
    if (wake->address == place->address && credit->here)
        credit->here--;
    else
        credit->there--;
    if (!--credit->all)
        forget_spent(sweep, place);
}

/* By a move of the wait, and a wake where it leads. */
static size_t release_moved(struct sweep *sweep, struct place *place,
                            const struct thread_event *wait) {
    const bool to_lock = wait->operation == FUTEX_OP_WAIT_REQUEUE_PI;
    unsigned tried = 0;
    for (size_t i = 0; i < place->wake_count && tried < MOST_MOVES; i++) {
        const size_t number = place->wakes[i];
        const struct thread_event *move = &sweep->list->events[number];
        struct credit *credit = &sweep->credits[number];
        if (!credit->all || !credit->moves || move->exit <= wait->entry ||
            (move->operation == FUTEX_OP_CMP_REQUEUE_PI) != to_lock)
            continue;
        tried++;
        struct place *there = place_at(sweep, move->process, move->address2);
        size_t wake =
            there ? first_wake(sweep, there, wait, to_lock, move->entry) : WAKE_PAIRS_NONE;
        if (wake == WAKE_PAIRS_NONE && !to_lock)
            continue;
        credit->moves--;
        credit->all--;
        if (wake == WAKE_PAIRS_NONE)
            wake = number; /* it gave the lock, which was free, to the wait */
        else
            spend(sweep, there, wake);
        forget_spent(sweep, place);
        return wake;
    }
    return WAKE_PAIRS_NONE;
}

/* Behind the ticket: when the thread of the event last waited, or had waited, before it. A wake of
 * its own in between does not count: with it, it has let go of a lock. */
static uint64_t waited_before(const struct sweep *sweep, size_t number) {
    const struct thread_event *events = sweep->list->events;
    const size_t first = sweep->list->first[events[number].thread];
    while (number > first && events[number - 1].kind == THREAD_EVENT_WAKE)
        number--;
    return number > first ? events[number - 1].exit : 0;
}

/* The wait did not begin: a thread had changed the word by then. */
static void pass_by(const struct sweep *sweep, const struct place *place, size_t number) {
    const struct thread_event *events = sweep->list->events;
    size_t wake = place->last;
    if (wake != WAKE_PAIRS_NONE && events[wake].thread == events[number].thread)
        wake = place->last_of_other;
    if (wake != WAKE_PAIRS_NONE && events[wake].exit > waited_before(sweep, number))
        sweep->pairs->released_by[number] = wake;
}

static void end_wait(struct sweep *sweep, size_t number) {
    const struct thread_event *wait = &sweep->list->events[number];
    struct place *place = place_at(sweep, wait->process, wait->address);
    if (wait->result == THREAD_EVENT_TOO_LATE && place)
        pass_by(sweep, place, number);
    if (wait->result != 0)
        return;
    sweep->pairs->waits++;
    if (!place)
        return;
    size_t wake = first_wake(sweep, place, wait, is_pi(wait), wait->entry);
    if (wake != WAKE_PAIRS_NONE)
        spend(sweep, place, wake);
    else
        wake = release_moved(sweep, place, wait);
    if (wake == WAKE_PAIRS_NONE)
        wake = place->exit;
    sweep->pairs->released_by[number] = wake;
    sweep->pairs->released += wake != WAKE_PAIRS_NONE;
}

/* ---- the sweep ---- */

ORDER(by_ticket, struct point,
      ascending(a->ticket, b->ticket) ?: ascending(a->returns, b->returns)
                                      ?: ascending(a->event, b->event))

static size_t collect_points(const struct thread_event_list *list, struct point *points) {
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct thread_event *event = &list->events[i];
        bool waits = event->kind == THREAD_EVENT_WAIT;
        if (waits || event->kind == THREAD_EVENT_WAKE || event->kind == THREAD_EVENT_EXIT)
            points[count++] = (struct point){waits ? event->exit : event->entry, i, waits};
    }
    qsort(points, count, sizeof *points, by_ticket);
    return count;
}

static void pass(struct sweep *sweep, const struct point *point) {
    const struct thread_event *event = &sweep->list->events[point->event];
    struct place *place;
    if (event->kind == THREAD_EVENT_WAIT)
        end_wait(sweep, point->event);
    else if (event->kind == THREAD_EVENT_WAKE)
        begin_wake(sweep, point->event);
    else if ((place = place_at(sweep, event->process, event->address)))
        place->exit = point->event;
}

enum { BETWEEN = 64 };

/* A condition of glibc has two words that threads wait at, by turns; they lie side by side. */
bool wake_pairs_same_object(uint64_t address, uint64_t other) {
    return address - other + 4 <= 8;
}

/* From each thread's last event to its first, so that the next wait there is known already. Other
 * calls may lie in between, but no more than BETWEEN. */
static void look_later(const struct thread_event_list *list, struct wake_pairs *pairs,
                       uint32_t thread) {
    const size_t end = list->first[thread + 1];
    for (size_t i = end; i-- > list->first[thread];) {
        const struct thread_event *event = &list->events[i];
        if (!thread_event_waited_in_vain(event))
            continue;
        const size_t last = end - i > BETWEEN ? i + BETWEEN : end;
        size_t next = i + 1;
        while (next < last && !(list->events[next].kind == THREAD_EVENT_WAIT &&
                                wake_pairs_same_object(list->events[next].address, event->address)))
            next++;
        if (next < last)
            pairs->released_later[i] = thread_event_waited_in_vain(&list->events[next])
                                           ? pairs->released_later[next]
                                           : pairs->released_by[next];
    }
}

bool wake_pairs_find(const struct thread_event_list *list, struct wake_pairs *pairs,
                     struct error *error) {
    const size_t most = (size_t)list->thread_count + SPARE_WAKES;
    struct sweep sweep = {
        .list = list, .pairs = pairs, .most_wakes = most < MOST_WAKES ? most : MOST_WAKES};
    *pairs = (struct wake_pairs){.released_by = malloc((list->count + 1) * sizeof(size_t)),
                                 .released_later = malloc((list->count + 1) * sizeof(size_t))};
    struct point *points = malloc((list->count + 1) * sizeof *points);
    sweep.credits = calloc(list->count + 1, sizeof *sweep.credits);
    bool good = pairs->released_by && pairs->released_later && points && sweep.credits &&
                collect_places(&sweep);
    for (size_t i = 0; good && i < list->count; i++)
        pairs->released_by[i] = pairs->released_later[i] = WAKE_PAIRS_NONE;
    for (size_t i = 0, count = good ? collect_points(list, points) : 0; i < count; i++)
        pass(&sweep, &points[i]);
    for (uint32_t thread = 0; good && thread < list->thread_count; thread++)
        look_later(list, pairs, thread);
    for (size_t i = 0; i < sweep.place_count; i++)
        free(sweep.places[i].wakes);
    free(sweep.places);
    free(sweep.credits);
    free(points);
    if (good && !sweep.out_of_memory)
        return true;
    wake_pairs_free(pairs);
    return error_set(error, "out of memory for the waits of threads");
}

void wake_pairs_free(struct wake_pairs *pairs) {
    free(pairs->released_by);
    free(pairs->released_later);
    *pairs = (struct wake_pairs){0};
}
