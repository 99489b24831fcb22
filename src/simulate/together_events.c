/* What happens to a thread, and in which cycle: the state that it is in, its events, and its waits
 * for those of others.
 *
 * What a wait waits for is known beforehand, from tickets of the captured run (trace/wake_pairs.h):
 * an event of another thread. Each event's cycle is noted when its thread comes to it; a wait for
 * one that has no cycle yet is a waiting thread, which that event makes ready. */
#include "simulate/together_state.h"

#include <assert.h>

#include "util/array.h"

/* ---- states ---- */

/* Whether what a thread waits for is the end of another. */
static bool waits_for_end(const struct chip_run *chip, const struct guest *guest) {
    return guest->waits_for < chip->events.count &&
           chip->events.events[guest->waits_for].kind == THREAD_EVENT_EXIT;
}

enum course_activity guest_activity(const struct chip_run *chip, const struct guest *guest) {
    switch (guest->state) {
    case THREAD_RUNNING:
        return COURSE_RUNNING;
    case THREAD_LOCKED:
        return COURSE_LOCK;
    case THREAD_WAITING:
        return guest->action.lock           ? COURSE_BARRIER
               : waits_for_end(chip, guest) ? COURSE_JOIN
                                            : COURSE_EVENT;
    case THREAD_SPINNING:
        return COURSE_EVENT;
    case THREAD_SLEEPING:
        return COURSE_SLEEPING;
    default:
        return COURSE_READY;
    }
}

void guest_spend(struct chip_run *chip, struct guest *guest, uint64_t until) {
    uint64_t cycles;
    const uint64_t weight = chip_weight(chip, guest->since, until, &cycles);
    chip->result->threads[guest->thread].cycles[guest->state] += weight * cycles;
    if (weight && guest->state == THREAD_RUNNING)
        guest->run_cycles += cycles;
}

static void tell_span(struct chip_run *chip, const struct guest *guest, uint64_t until) {
    struct together_result *result = chip->result;
    const struct thread_span span = {guest->thread, (uint8_t)guest->state,
                                     result->cycles + guest->since, result->cycles + until};
    if (span.begin == span.end)
        return;
    if (result->span_count == THREAD_SPANS_MOST ||
        !array_push(result->spans, result->span_capacity, result->span_count, span))
        result->spans_dropped++;
}

void guest_enter(struct chip_run *chip, struct guest *guest, enum thread_state state,
                 uint64_t cycle) {
    assert(cycle >= guest->since);
    guest_spend(chip, guest, cycle);
    if (chip->options->tell_spans && !chip->sampling)
        tell_span(chip, guest, cycle);
    guest->state = state;
    guest->since = cycle;
    course_change(chip->course, guest->thread, guest_activity(chip, guest), cycle);
}

void guest_leave_core(struct chip_run *chip, const struct guest *guest, uint64_t cycle) {
    chip->on_core[guest->core] = -1;
    chip->core_free[guest->core] = cycle;
}

void guest_get_ready(struct chip_run *chip, struct guest *guest, uint64_t cycle) {
    guest_enter(chip, guest, THREAD_READY, cycle > guest->since ? cycle : guest->since);
    guest->ready = guest->since;
    chip->news = true;
}

/* What it does when, where the run in time is asked for. */
static void watch_thread(const struct chip_run *chip, uint32_t thread) {
    static_assert((int)SERIES_DOING == (int)COURSE_ABSENT, "a column for each activity");
    struct time_series *series = chip->sampling ? NULL : chip->run->simulation->series;
    struct series_thread *kept = series ? series_thread(series, chip->process, thread) : NULL;
    if (kept)
        course_watch(chip->course, thread, &kept->doing);
}

void guest_be_born(struct chip_run *chip, uint32_t thread, uint32_t creator, uint64_t cycle) {
    struct guest *guest = &chip->guests[thread];
    if (thread >= chip->thread_count || guest->life != GUEST_UNBORN ||
        chip->process_of[thread] != chip->process)
        return;
    struct together_thread *told = &chip->result->threads[thread];
    *told =
        (struct together_thread){.thread = thread,
                                 .process = chip->process,
                                 .known = true,
                                 .begin = chip->sampling ? chip->run->simulation->executed : cycle};
    guest->life = GUEST_ALIVE;
    chip->alive[chip->alive_count++] = thread;
    guest->state = THREAD_READY;
    guest->since = guest->ready = cycle;
    chip->news = true;
    watch_thread(chip, thread);
    course_begin(chip->course, thread, creator, cycle);
}

/* ---- events ---- */

static size_t place_of(const struct chip_run *chip, uint32_t thread, uint32_t number) {
    return thread < chip->events.thread_count ? chip->events.first[thread] + number : SIZE_MAX;
}

/* NULL: out of memory. */
static struct together_wait *find_wait(struct together_result *result,
                                       const struct together_wait *what) {
    struct together_wait *wait = NULL;
    for (size_t i = 0; i < result->wait_count && !wait; i++) {
        struct together_wait *old = &result->waits[i];
        if (old->address == what->address && old->process == what->process &&
            old->waiter == what->waiter && old->other == what->other)
            wait = old;
    }
    if (!wait) {
        if (!array_room(result->waits, result->wait_capacity, result->wait_count + 1))
            return NULL;
        wait = &result->waits[result->wait_count++];
        *wait = *what;
    }
    return wait;
}

static struct together_wait wait_of(const struct chip_run *chip, const struct guest *guest) {
    const struct lock *lock = guest->action.lock;
    struct together_wait wait = {.process = chip->process, .other = guest->other_site};
    if (guest->awaits && guest->by_message) {
        wait.reason = WAIT_FOR_EVENT;
        wait.waiter = guest->by_channel ? guest->caller : guest->routine_call;
    } else if (guest->awaits) {
        wait.reason = WAIT_SPINNING;
        wait.address = guest->order_address;
        wait.waiter = guest->order_site;
    } else if (lock) {
        wait.reason = lock->barrier ? WAIT_AT_BARRIER : WAIT_FOR_LOCK;
        wait.address = lock->address;
        wait.waiter = guest->routine_call;
    } else {
        const bool end = waits_for_end(chip, guest);
        wait.reason = end ? WAIT_FOR_END : WAIT_FOR_EVENT;
        wait.address = end ? chip->events.events[guest->waits_for].address : guest->event.address;
        wait.waiter = guest->caller;
    }
    return wait;
}

bool guest_note_wait(struct chip_run *chip, struct guest *guest, uint64_t until, uint64_t waking,
                     bool over, struct error *error) {
    uint64_t cycles;
    const uint64_t weight = chip_weight(chip, guest->since, until, &cycles);
    if (!weight || !cycles)
        return true;
    struct together_result *result = chip->result;
    const struct together_wait what = wait_of(chip, guest);
    struct together_wait *wait = find_wait(result, &what);
    if (!wait)
        return error_set(error, "out of memory for waits");
    wait->cycles += weight * cycles;
    if (!over)
        return true;
    wait->count += weight;
    wait->waking += weight * (waking < cycles ? waking : cycles);
    result->threads[guest->thread].waits += weight;
    course_ends_wait(chip->course, guest->thread, guest->ender, (uint32_t)(wait - result->waits));
    return true;
}

bool guest_end_wait(struct chip_run *chip, struct guest *guest, uint64_t cycle,
                    struct error *error) {
    const uint64_t from = guest->since;
    const uint64_t waking = guest_sleeps(chip, guest, cycle) ? chip->wake_latency : 0;
    const uint64_t until = (cycle > from ? cycle : from) + waking;
    if (!guest_note_wait(chip, guest, until, waking, true, error))
        return false;
    guest_get_ready(chip, guest, until);
    guest->action = (struct guest_action){.what = DO_NOTHING};
    guest->waits_for = SIZE_MAX;
    guest->awaits = false;
    return true;
}

bool guest_pay_for_wake(struct chip_run *chip, struct guest *guest, uint64_t cycle,
                        struct error *error) {
    if (!chip->wake_cost || guest->at_end)
        return true;
    chip->result->wake_calls++;
    guest_enter(chip, guest, THREAD_WAITING, cycle);
    guest->clock = cycle + chip->wake_cost;
    if (!chip_is_fast(chip) && !run_lane_wait_until(guest->lane, cycle + chip->wake_cost, error))
        return false;
    guest_enter(chip, guest, THREAD_RUNNING, cycle + chip->wake_cost);
    return true;
}

/* The event has taken place: who waited for it goes on. */
static bool take_place(struct chip_run *chip, struct guest *guest, uint64_t cycle,
                       struct error *error) {
    const size_t place = place_of(chip, guest->thread, guest->event.number);
    bool wakes = false;
    if (place == SIZE_MAX)
        return true;
    chip->event_cycles[place] = cycle;
    chip->event_callers[place] = guest->caller;
    for (uint32_t i = 0; i < chip->alive_count; i++) {
        struct guest *other = &chip->guests[chip->alive[i]];
        if (other->life != GUEST_ALIVE || other->state != THREAD_WAITING ||
            other->waits_for != place)
            continue;
        other->other_site = guest->caller;
        other->ender = guest->thread;
        wakes |= guest->event.kind == THREAD_EVENT_WAKE && guest_sleeps(chip, other, cycle);
        if (!guest_end_wait(chip, other, cycle, error))
            return false;
    }
    return !wakes || guest_pay_for_wake(chip, guest, cycle, error);
}

bool guest_end_sleep(struct chip_run *chip, struct guest *guest, uint32_t ender, uint32_t site,
                     uint64_t cycle, struct error *error) {
    guest->ready = cycle > guest->since ? cycle : guest->since;
    guest->timed = guest->polls = false;
    guest->ender = ender;
    guest->other_site = site;
    chip->news = true;
    return guest_note_wait(chip, guest, guest->ready, 0, true, error);
}

bool guest_sleep_on(struct chip_run *chip, struct guest *guest, uint32_t ender, uint32_t site,
                    uint64_t cycle, struct error *error) {
    guest->polls = false;
    if (cycle <= guest->since || cycle >= guest->ready)
        return true;
    guest->ender = ender;
    guest->other_site = site;
    if (!guest_note_wait(chip, guest, cycle, 0, true, error))
        return false;
    guest_enter(chip, guest, THREAD_SLEEPING, cycle);
    return true;
}

/* Those who wait there with a time limit, which had run out in the captured run, are woken before
 * it does. */
static bool end_timed_waits(struct chip_run *chip, const struct guest *guest, uint64_t cycle,
                            struct error *error) {
    const struct thread_event *wake = &guest->event;
    uint32_t left = wake->value;
    for (uint32_t i = 0; i < chip->alive_count && left; i++) {
        struct guest *other = &chip->guests[chip->alive[i]];
        if (other->life != GUEST_ALIVE || other->state != THREAD_SLEEPING || !other->timed ||
            !wake_pairs_same_object(other->event.address, wake->address) || other->ready <= cycle)
            continue;
        if (!guest_end_sleep(chip, other, guest->thread, guest->caller, cycle, error))
            return false;
        left--;
    }
    return true;
}

/* The thread gives its core up until `ready`; behind the end of its program it does not sleep. */
static void sleep_until(struct chip_run *chip, struct guest *guest, uint64_t cycle,
                        uint64_t ready) {
    if (chip->exited)
        return;
    guest_leave_core(chip, guest, cycle);
    guest_enter(chip, guest, THREAD_SLEEPING, cycle);
    guest->ready = ready;
    guest->timed = guest->polls = false;
}

static uint64_t cycles_of(const struct chip_run *chip, uint64_t ns) {
    const double cycles = (double)ns * chip->cycles_per_ns;
    return cycles < 1e15 ? (uint64_t)cycles : (uint64_t)1e15;
}

/* A thread has ended the program. Others may have done more in the captured run, which took longer:
 * nobody sleeps any more, and what runs goes on until that cycle (is_over()). Regions stand for all
 * of the captured run, which then is done; and so it is where a thread waited for no simulated time
 * for what others may have done, as in a pipe: they may only seem to be late. */
static void end_program(struct chip_run *chip, const struct guest *ender, uint64_t cycle) {
    if (!chip->sampling && !chip->met_outside && cycle < chip->exit)
        chip->exit = cycle;
    chip->exited = true;
    course_exit(chip->course, ender->thread, cycle);
    for (uint32_t i = 0; i < chip->alive_count; i++) {
        struct guest *guest = &chip->guests[chip->alive[i]];
        if (guest->state == THREAD_SLEEPING && guest->ready > cycle)
            guest->ready = cycle > guest->since ? cycle : guest->since;
    }
}

/* A wait ran out of time in the captured run, and what the thread waited for has taken place here,
 * where it took less: while it slept the last time, or in between. */
static bool has_been_released(const struct chip_run *chip, size_t wait, uint64_t cycle) {
    const size_t waker = chip->pairs.released_later[wait];
    return waker != WAKE_PAIRS_NONE && chip->event_cycles[waker] <= cycle;
}

bool guest_wait_for_event(struct chip_run *chip, struct guest *guest, size_t place, uint64_t cycle,
                          struct error *error) {
    if (chip->event_cycles[place] <= cycle)
        return true;
    guest_leave_core(chip, guest, cycle);
    guest->waits_for = place;
    guest->ender = chip->events.events[place].thread;
    guest_enter(chip, guest, THREAD_WAITING, cycle);
    guest->other_site = chip->event_callers[place];
    return chip->event_cycles[place] == NOT_YET
               ? guest_end_sleep_awaited(chip, guest, guest->ender, cycle, error)
               : guest_end_wait(chip, guest, chip->event_cycles[place], error);
}

/* What the thread polls has been written here by now, where that took less; or who is to write it,
 * or anybody in the case of a monitor, waits for what it does behind the sleep. */
static bool need_not_sleep(const struct chip_run *chip, const struct guest *guest, size_t place) {
    const struct polled_sleep *polled = polled_sleep_at(&chip->polled, place);
    const bool need_not =
        polled && (chip_order_is_done(chip, &polled->order) ||
                   (polled->wakes && guest_is_awaited(chip, guest, polled->order.writer)));
    if (!need_not && !guest_monitor_is_awaited(chip, guest))
        return false;
    chip->result->polls++;
    return true;
}

/* A sleep of the time that it asked for begins; `timed`: who writes or wakes may end it. */
static void sleep_in_event(struct chip_run *chip, struct guest *guest, uint64_t cycle, size_t place,
                           bool timed) {
    const struct polled_sleep *polled = polled_sleep_at(&chip->polled, place);
    sleep_until(chip, guest, cycle, cycle + cycles_of(chip, guest->event.asked_ns));
    guest->timed = timed || (polled && polled->wakes);
    guest_poll(chip, guest, polled ? &polled->order : NULL);
}

static bool wait_in_futex(struct chip_run *chip, struct guest *guest, uint64_t cycle,
                          struct error *error) {
    const struct thread_event *event = &guest->event;
    const size_t place = place_of(chip, guest->thread, event->number);
    if (guest_event_is_of_lock(chip, guest))
        return true;
    if (thread_event_waited_in_vain(event)) {
        guest_give_up_lock(guest);
        if (place != SIZE_MAX &&
            (has_been_released(chip, place, cycle) || need_not_sleep(chip, guest, place) ||
             guest_is_read_ahead(chip, guest)))
            return true;
        sleep_in_event(chip, guest, cycle, place, true);
        return true;
    }
    if (place == SIZE_MAX)
        return true;
    const size_t waker = chip->pairs.released_by[place];
    if (waker == WAKE_PAIRS_NONE) {
        chip->result->unexplained += event->result == 0;
        return true;
    }
    return guest_wait_for_event(chip, guest, waker, cycle, error);
}

/* A call that waited, perhaps for another thread of the program: for nobody if its time ran out. */
static bool may_meet(const struct thread_event *event) {
    return event->cause != THREAD_CAUSE_TIME && event->cause != THREAD_CAUSE_OUTPUT &&
           !(event->cause == THREAD_CAUSE_EVENT && event->result == 0);
}

static bool block(struct chip_run *chip, struct guest *guest, uint64_t cycle, struct error *error) {
    const struct thread_event *event = &guest->event;
    struct trace_order order = {.written = 0};
    if (thread_event_slept(event)) {
        const size_t place = place_of(chip, guest->thread, event->number);
        if (!need_not_sleep(chip, guest, place))
            sleep_in_event(chip, guest, cycle, place, false);
        return true;
    }
    order.writer = thread_event_writer(event, &order.written);
    if (order.writer != THREAD_EVENT_NO_THREAD)
        return guest_await_writer(chip, guest, &order, cycle, error);
    chip->met_outside |= may_meet(event);
    chip->result->blocked++;
    chip->result->blocked_seconds += (double)event->duration_ns * 1e-9;
    return true;
}

bool guest_handle_event(struct chip_run *chip, struct guest *guest, uint64_t cycle,
                        struct error *error) {
    const struct thread_event *event = &guest->event;
    switch ((enum thread_event_kind)event->kind) {
    case THREAD_EVENT_CREATE:
        if (event->other != THREAD_EVENT_NO_THREAD)
            guest_be_born(chip, event->other, guest->thread, cycle);
        break;
    case THREAD_EVENT_EXIT_PROCESS:
        end_program(chip, guest, cycle);
        break;
    case THREAD_EVENT_WAKE:
        if (!end_timed_waits(chip, guest, cycle, error))
            return false;
        break;
    case THREAD_EVENT_WAIT:
        if (!wait_in_futex(chip, guest, cycle, error))
            return false;
        break;
    case THREAD_EVENT_BLOCK:
        if (!block(chip, guest, cycle, error))
            return false;
        break;
    default:
        break;
    }
    return take_place(chip, guest, cycle, error);
}
