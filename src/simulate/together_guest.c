/* A guest thread on a core: its reader says what it does next, its core in which cycle. */
#include "simulate/together_state.h"

#include <assert.h>

#include "simulate/line_remedy.h"
#include "util/array.h"

bool guest_make_core(struct chip_run *chip, struct guest *guest, struct error *error) {
    const struct trace_batch batch = {.thread = guest->thread, .process = chip->process};
    if (guest->lane)
        return true;
    chip->run->memory = shared_memory_core(chip->memory, (uint32_t)guest->core);
    guest->lane = run_lane_of(chip->run, &batch, error);
    return guest->lane;
}

bool guest_give_core(struct chip_run *chip, struct guest *guest, int core, struct error *error) {
    const uint64_t cycle =
        chip->core_free[core] > guest->ready ? chip->core_free[core] : guest->ready;
    if (!guest->input.trace && !guest_input_open(&guest->input, chip->options->path,
                                                 chip->run->trace, guest->thread, error))
        return false;
    if (guest->lane && guest->core != core)
        core_move(guest->lane->core, shared_memory_core(chip->memory, (uint32_t)core));
    guest->core = core;
    guest->clock = cycle;
    if (!chip_is_fast(chip)) {
        if (!guest_make_core(chip, guest, error))
            return false;
        if (!run_lane_wait_until(guest->lane, cycle, error))
            return false;
    }
    if (guest->state == THREAD_SLEEPING)
        guest_enter(chip, guest, THREAD_READY, guest->ready);
    guest->polls = false;
    guest_enter(chip, guest, THREAD_RUNNING, cycle);
    guest->turn_end = cycle + chip->turn;
    chip->on_core[core] = chip->last_on[core] = guest->thread;
    return true;
}

int guest_free_core(const struct chip_run *chip, const struct guest *guest) {
    const int kept_on = affinity_core(chip->options->affinity, guest->thread);
    if (kept_on != AFFINITY_ANY)
        return chip->on_core[kept_on] < 0 ? kept_on : -1;
    if (guest->core >= 0 && chip->on_core[guest->core] < 0)
        return guest->core;
    for (uint32_t core = 0; core < chip->cores; core++)
        if (chip->on_core[core] < 0)
            return (int)core;
    return -1;
}

bool guest_end_life(struct chip_run *chip, struct guest *guest, uint64_t cycle,
                    struct error *error) {
    struct together_thread *told = &chip->result->threads[guest->thread];
    guest_enter(chip, guest, THREAD_READY, cycle);
    course_change(chip->course, guest->thread, COURSE_ABSENT, cycle);
    guest->life = GUEST_OVER;
    if (!guest_orders_reached(chip, guest, cycle, error))
        return false;
    told->end = cycle;
    chip->end = cycle > chip->end ? cycle : chip->end;
    guest_input_close(&guest->input);
    guest_spin_free(&guest->spin);
    guest->lane = NULL;
    const bool good = run_lane_end(chip->run, guest->thread, error);
    const struct simulation_thread *counted = &chip->run->simulation->threads[guest->thread];
    told->instructions = counted->instructions;
    told->stack_cycles = counted->cycles;
    return good;
}

static bool end_guest(struct chip_run *chip, struct guest *guest, uint64_t cycle,
                      struct error *error) {
    while (guest->held_count)
        if (!guest_give(chip, guest, guest->held[guest->held_count - 1], cycle, error))
            return false;
    guest_leave_core(chip, guest, cycle);
    return guest_end_life(chip, guest, cycle, error);
}

/* The accesses of the input where the remedies put them. */
static bool lay_out(struct chip_run *chip, const struct guest *guest, struct core_input *input,
                    struct error *error) {
    if (!array_room(chip->moved, chip->moved_capacity, (size_t)input->access_count + 1))
        return error_set(error, "out of memory for accesses");
    line_remedies_apply(chip->options->remedies, chip->process, guest->thread, input->accesses,
                        input->access_count, chip->moved);
    input->accesses = chip->moved;
    return true;
}

static bool push(struct chip_run *chip, struct guest *guest, const struct trace_batch *piece,
                 struct error *error) {
    struct simulation_state *run = chip->run;
    struct core_input input = core_input_of(trace_code(guest->input.trace), piece);
    uint32_t counted;
    batch_count(piece, 0, UINT64_MAX, &counted);
    run->simulation->executed += counted;
    if (chip_is_fast(chip))
        return chip_pass(chip, guest, piece, error);
    if (chip->sampling)
        work_meter_piece(&chip->sampling->meter, piece);
    run->simulation->simulated += counted;
    guest->run_insns += counted;
    return run_show_piece(run, guest->lane, piece, error) &&
           (!chip->options->remedies || lay_out(chip, guest, &input, error)) &&
           core_push(guest->lane->core, &input, error);
}

enum { FAST_PUSH = 64 }; /* instructions that a thread goes through at once between regions */

/* The call that led to the guest's event. No thread ends in more calls than are kept: where so many
 * are under way then, exceptions have left calls, whose returns were not seen, and which of them is
 * one is not known. */
static uint32_t event_caller(const struct chip_run *chip, const struct guest *guest) {
    if (guest->routine)
        return guest->routine_call;
    if (guest->event.kind == THREAD_EVENT_EXIT && guest->call_count > CALLS_KEPT)
        return UINT32_MAX;
    return guest_caller(chip, guest);
}

/* Hands the core what comes next. */
static bool feed(struct chip_run *chip, struct guest *guest, struct error *error) {
    struct guest_next next;
    if (guest_take_message(chip, guest))
        return true;
    const uint32_t most = guest_before_awaited(guest, chip_is_fast(chip) ? FAST_PUSH : CORE_PUSH);
    switch (guest_spin_next(&guest->spin, &guest->input, most, &next, error)) {
    case GUEST_FAILED:
        return false;
    case GUEST_INSNS: {
        struct guest_action action = {.what = DO_NOTHING};
        if (guest->left_out) {
            const uint32_t left_out = guest_leave_out(chip, guest, &next.piece);
            guest_spin_give_back(&guest->spin, &guest->input, next.piece.insn_count - left_out);
            guest->dropped += left_out;
            return true;
        }
        const uint32_t count = guest_look(chip, guest, &next.piece, &action, error);
        if (count == UINT32_MAX)
            return false;
        guest_spin_give_back(&guest->spin, &guest->input, next.piece.insn_count - count);
        const struct trace_batch piece = batch_slice(&next.piece, 0, count);
        if (count && !push(chip, guest, &piece, error))
            return false;
        if (chip_is_fast(chip))
            guest->dropped += count; /* its core sees none of them */
        if (count)
            guest->last_insn = piece.insns[count - 1].insn;
        guest_settle_try(chip, guest, guest_place(guest), &action);
        if (action.what != DO_NOTHING)
            guest_begin_action(guest, &action);
        if (guest_is_at_awaited(guest))
            guest->draining = guest->tells = true;
        return true;
    }
    case GUEST_ORDER:
        guest_take_order(chip, guest, next.order);
        return true;
    case GUEST_EVENT:
        guest->event = *next.event;
        guest->caller = event_caller(chip, guest);
        guest->draining = guest->has_event = true;
        return true;
    case GUEST_END:
        guest->draining = guest->at_end = true;
        return true;
    }
    return true;
}

/* The pipeline has run empty: does what it did so for. */
static bool guest_arrive(struct chip_run *chip, struct guest *guest, struct error *error) {
    const uint64_t cycle = guest_cycle(chip, guest);
    chip->latest = cycle > chip->latest ? cycle : chip->latest;
    guest->draining = false;
    if (!guest_orders_reached(chip, guest, cycle, error))
        return false;
    const bool told = guest->tells;
    guest->tells = false;
    if (guest->has_order)
        return guest_follow_order(chip, guest, cycle, error);
    if (guest->action.what != DO_NOTHING)
        return guest_act(chip, guest, cycle, error);
    if (guest->at_end)
        return end_guest(chip, guest, cycle, error);
    if (guest->has_event) {
        guest->has_event = false;
        return guest_handle_event(chip, guest, cycle, error);
    }
    if (told)
        return true;
    guest_leave_core(chip, guest, cycle); /* its turn is over */
    guest_get_ready(chip, guest, cycle);
    return true;
}

/* As guest_run(), without its core. */
static bool go_fast(struct chip_run *chip, struct guest *guest, uint64_t until, bool others_wait,
                    struct error *error) {
    while (guest->life == GUEST_ALIVE && guest->state == THREAD_RUNNING && !chip->news &&
           guest->clock < until && !chip_is_due(chip)) {
        guest->draining |= others_wait && guest->clock >= guest->turn_end;
        if (!(guest->draining ? guest_arrive(chip, guest, error) : feed(chip, guest, error)))
            return false;
    }
    return true;
}

bool guest_run(struct chip_run *chip, struct guest *guest, uint64_t until, bool others_wait,
               struct error *error) {
    chip->news = false;
    if (chip_is_fast(chip))
        return go_fast(chip, guest, until, others_wait, error);
    if (guest->least_awaited <= guest_input_position(&guest->input))
        until = core_cycle(guest->lane->core) + AWAITED_CYCLES < until
                    ? core_cycle(guest->lane->core) + AWAITED_CYCLES
                    : until;
    while (guest->lane && guest->state == THREAD_RUNNING && !chip->news && !chip_is_due(chip)) {
        const enum core_state state =
            core_run(guest->lane->core, until, chip->others, guest->draining, error);
        if (state != CORE_FAILED && state != CORE_EMPTY &&
            !guest_orders_reached(chip, guest, core_cycle(guest->lane->core), error))
            return false;
        switch (state) {
        case CORE_FAILED:
            return false;
        case CORE_PAUSED:
            return true;
        case CORE_STARVED:
            if (others_wait && core_cycle(guest->lane->core) >= guest->turn_end)
                guest->draining = true;
            else if (!feed(chip, guest, error))
                return false;
            break;
        case CORE_EMPTY:
            if (!guest_arrive(chip, guest, error))
                return false;
            break;
        }
    }
    return true;
}
