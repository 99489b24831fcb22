/* What threads do to each other in memory, in the order of the captured run: a thread that read
 * what another had written waits in simulated time until that has been done (struct trace_order).
 * What the routines of the C library do (lock_entries.h) is not bound by it: locks have an order of
 * their own in simulated time, and that of allocating memory and making threads is not the
 * program's. So it is with the memory of Go's run-time system.
 *
 * A read of the word that the kernel clears at the end of a thread, which saw that, waits for that
 * end, as whoever sleeps there does: the join of a thread that had ended in the captured run.
 *
 * How far a thread has come is known of its core, in instructions that have been dispatched; those
 * that no core sees count as well: rounds of spinning that were dropped, and all between regions.
 * Where somebody waits for a place, input ends there, and the pipeline runs empty: what was written
 * is then in memory. */
#include "simulate/together_state.h"

#include "core/core.h"
#include "util/array.h"

/* Instructions of the thread that are done. */
static uint64_t done_by(const struct guest *guest) {
    struct core_statistics statistics;
    if (guest->life != GUEST_ALIVE)
        return guest->life == GUEST_OVER ? UINT64_MAX : 0;
    if (!guest->lane)
        return guest->dropped;
    core_statistics(guest->lane->core, &statistics);
    return statistics.instructions + guest->dropped;
}

/* The place among the writer's instructions as its guest counts them. */
static uint64_t place_of(const struct chip_run *chip, const struct trace_order *order) {
    const uint64_t before = chip->events.before[order->writer];
    return order->written > before ? order->written - before : 0;
}

bool chip_order_is_done(const struct chip_run *chip, const struct trace_order *order) {
    return order->writer >= chip->events.thread_count || order->writer >= chip->thread_count ||
           chip->process_of[order->writer] != chip->process ||
           done_by(&chip->guests[order->writer]) >= place_of(chip, order);
}

/* The end of the writer, if the kernel cleared the word at this address then: its place in the list
 * of events. SIZE_MAX: it did not. */
static size_t end_that_clears(const struct chip_run *chip, const struct trace_order *order,
                              uint64_t address) {
    const struct thread_event_list *list = &chip->events;
    if (order->writer >= list->thread_count || order->writer >= chip->thread_count ||
        chip->process_of[order->writer] != chip->process ||
        list->first[order->writer] == list->first[order->writer + 1])
        return SIZE_MAX;
    const size_t last = list->first[order->writer + 1] - 1;
    const struct thread_event *event = &list->events[last];
    return event->kind == THREAD_EVENT_EXIT && event->address && event->address == address &&
                   event->position <= order->written
               ? last
               : SIZE_MAX;
}

/* Whether the next instruction need not wait for the order. */
static bool is_met(const struct chip_run *chip, const struct guest *guest,
                   const struct trace_order *order, uint64_t address) {
    const size_t end = end_that_clears(chip, order, address);
    return end == SIZE_MAX ? chip_order_is_done(chip, order)
                           : chip->event_cycles[end] <= guest_cycle(chip, guest);
}

static void find_least(struct chip_run *chip, struct guest *writer) {
    writer->least_awaited = UINT64_MAX;
    for (uint32_t i = 0; i < chip->alive_count; i++) {
        const struct guest *other = &chip->guests[chip->alive[i]];
        if ((other->awaits || other->polls) && other->order.writer == writer->thread &&
            place_of(chip, &other->order) < writer->least_awaited)
            writer->least_awaited = place_of(chip, &other->order);
    }
}

bool guest_orders_reached(struct chip_run *chip, struct guest *guest, uint64_t cycle,
                          struct error *error) {
    if (guest->least_awaited == UINT64_MAX)
        return true;
    const uint64_t done = done_by(guest);
    if (done < guest->least_awaited)
        return true;
    for (uint32_t i = 0; i < chip->alive_count; i++) {
        struct guest *other = &chip->guests[chip->alive[i]];
        if (other->life != GUEST_ALIVE || !(other->awaits || other->polls) ||
            other->order.writer != guest->thread || place_of(chip, &other->order) > done)
            continue;
        if (other->polls) {
            if (!(other->timed
                      ? guest_end_sleep(chip, other, guest->thread, guest->last_insn, cycle, error)
                      : guest_sleep_on(chip, other, guest->thread, guest->last_insn, cycle, error)))
                return false;
            continue;
        }
        other->ender = guest->thread;
        other->other_site = guest->last_insn;
        if (!guest_end_wait(chip, other, cycle, error))
            return false;
    }
    find_least(chip, guest);
    return true;
}

/* Whether an instruction is of the C library's or a run-time system's own business, or in a lock
 * that was taken for it, as that of a heap. */
static bool is_internal(const struct chip_run *chip, const struct guest *guest, uint32_t insn) {
    if (insn != UINT32_MAX && chip->lock_flags[insn] & LOCK_FOR_CALLER && guest->call_count)
        insn = guest_call_site(guest, guest->call_count - 1);
    return insn != UINT32_MAX && chip->lock_flags[insn] & LOCK_INTERNAL;
}

/* Whether an instruction is of a routine that takes a lock, or the first of one that tries to,
 * which may look at the lock with it. */
static bool is_of_lock(const struct chip_run *chip, const struct guest *guest, uint32_t insn) {
    const unsigned entry = insn == UINT32_MAX ? ENTRY_NONE : chip->lock_flags[insn] & LOCK_ENTRY;
    return guest->routine || entry == ENTRY_TRY || entry == ENTRY_TRY_READ ||
           entry == ENTRY_READ_BY_TIME;
}

void guest_take_order(struct chip_run *chip, struct guest *guest, const struct trace_order *order) {
    const uint64_t dropped = guest->spin.dropped;
    uint64_t address;
    const uint32_t site = guest_input_ahead(&guest->input, &address);
    const bool bound = !is_of_lock(chip, guest, site) && !is_internal(chip, guest, site) &&
                       order->writer != guest->thread;
    const bool of_end = bound && end_that_clears(chip, order, address) != SIZE_MAX;
    guest->spin.dropped = 0;
    guest->dropped += dropped;
    chip->result->spun += dropped;
    chip->result->orders += bound && !of_end;
    if (!dropped && (!bound || is_met(chip, guest, order, address)))
        return;
    guest->order = *order;
    if (!bound)
        guest->order.written = 0;
    guest->order_site = site;
    guest->order_address = address;
    guest->by_message = false;
    guest->spun = dropped;
    guest->of_end = of_end;
    guest->has_order = guest->draining = true;
}

bool guest_take_message(struct chip_run *chip, struct guest *guest) {
    if (guest->message == guest->message_count ||
        guest->messages[guest->message].reader > guest_place(guest))
        return false;
    struct trace_order order = guest->messages[guest->message++];
    order.written += chip->events.before[order.writer];
    if (chip_order_is_done(chip, &order))
        return true;
    guest->order = order;
    guest->of_end = false;
    guest->by_message = guest->has_order = guest->draining = true;
    guest->by_channel = false;
    return true;
}

/* Where the writer is to stop, so that it is known when it has been there. */
static void tell_writer(struct chip_run *chip, const struct trace_order *order) {
    struct guest *writer = &chip->guests[order->writer];
    if (place_of(chip, order) < writer->least_awaited)
        writer->least_awaited = place_of(chip, order);
}

/* Its time limits pass as in the captured run then, which took longer: Python asks who has the
 * interpreter's lock for it when it has waited for 5 ms, and that thread just sees it. */
bool guest_is_read_ahead(const struct chip_run *chip, const struct guest *writer) {
    for (uint32_t i = 0; i < chip->alive_count; i++) {
        const struct guest *other = &chip->guests[chip->alive[i]];
        if (other->life == GUEST_ALIVE && other->awaits && !other->by_message && !other->spun &&
            other->order.writer == writer->thread)
            return true;
    }
    return false;
}

bool guest_is_awaited(const struct chip_run *chip, const struct guest *guest, uint32_t writer) {
    const struct guest *other = writer < chip->thread_count ? &chip->guests[writer] : NULL;
    if (!other || other->life != GUEST_ALIVE)
        return false;
    return other->awaits
               ? other->order.writer == guest->thread
               : other->state == THREAD_WAITING && other->waits_for < chip->events.count &&
                     chip->events.events[other->waits_for].thread == guest->thread;
}

bool guest_monitor_is_awaited(const struct chip_run *chip, const struct guest *guest) {
    return guest->monitors &&
           any_where(i, chip->alive_count, guest_is_awaited(chip, guest, chip->alive[i]));
}

/* It sleeps for what the other one is to write, which waits for it. */
static bool sleeps_for(const struct chip_run *chip, const struct guest *sleeper,
                       const struct guest *other) {
    return sleeper->event.kind == THREAD_EVENT_BLOCK && sleeper->polls && sleeper->timed &&
           sleeper->order.writer == other->thread && guest_is_awaited(chip, sleeper, other->thread);
}

bool guest_end_sleep_awaited(struct chip_run *chip, const struct guest *guest, uint32_t other,
                             uint64_t cycle, struct error *error) {
    struct guest *sleeper = other < chip->thread_count ? &chip->guests[other] : NULL;
    return !sleeper || sleeper->life != GUEST_ALIVE || sleeper->state != THREAD_SLEEPING ||
           sleeper->ready <= cycle || !(sleeper->monitors || sleeps_for(chip, sleeper, guest)) ||
           guest_end_sleep(chip, sleeper, guest->thread, guest->last_insn, cycle, error);
}

void guest_poll(struct chip_run *chip, struct guest *guest, const struct trace_order *order) {
    if (!order || guest->state != THREAD_SLEEPING || chip_order_is_done(chip, order))
        return;
    guest->order = *order;
    guest->polls = true;
    tell_writer(chip, order);
}

bool guest_follow_order(struct chip_run *chip, struct guest *guest, uint64_t cycle,
                        struct error *error) {
    guest->has_order = false;
    if (guest->of_end) {
        guest->caller = guest->routine ? guest->routine_call : guest_caller(chip, guest);
        return guest_wait_for_event(
            chip, guest, end_that_clears(chip, &guest->order, guest->order_address), cycle, error);
    }
    if (!guest->order.written || chip_order_is_done(chip, &guest->order))
        return true;
    struct guest *writer = &chip->guests[guest->order.writer];
    guest_leave_core(chip, guest, cycle);
    guest->ender = writer->thread;
    guest->other_site = UINT32_MAX;
    guest->awaits = true;
    guest_enter(chip, guest, guest->by_message ? THREAD_WAITING : THREAD_SPINNING, cycle);
    tell_writer(chip, &guest->order);
    if (writer->state == THREAD_SLEEPING && writer->timed && writer->ready > cycle &&
        guest_is_read_ahead(chip, writer) &&
        !guest_end_sleep(chip, writer, guest->thread, guest->order_site, cycle, error))
        return false;
    return guest_end_sleep_awaited(chip, guest, writer->thread, cycle, error) &&
           guest_break_circle(chip, writer, cycle, error);
}

bool guest_await_writer(struct chip_run *chip, struct guest *guest, const struct trace_order *order,
                        uint64_t cycle, struct error *error) {
    guest->order = *order;
    guest->of_end = false;
    guest->by_message = guest->by_channel = true;
    return guest_follow_order(chip, guest, cycle, error);
}

uint32_t guest_before_awaited(const struct guest *guest, uint32_t most) {
    const uint64_t fed = guest_place(guest);
    if (guest->message < guest->message_count &&
        guest->messages[guest->message].reader - fed < most)
        most = (uint32_t)(guest->messages[guest->message].reader - fed);
    return guest->least_awaited > fed && guest->least_awaited - fed < most
               ? (uint32_t)(guest->least_awaited - fed)
               : most;
}

bool guest_is_at_awaited(const struct guest *guest) {
    return guest_place(guest) == guest->least_awaited;
}
