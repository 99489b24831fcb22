/* A guest thread is a little machine: its reader says what it does next, its core says in which
 * cycle, and the states (together.h) follow. The scheduler runs the one on a core that is behind.
 *
 * What a wait waits for is known beforehand, from tickets of the captured run (trace/wake_pairs.h):
 * an event of another thread. Each event's cycle is noted when its thread comes to it; a wait for
 * one that has no cycle yet is a waiting thread, which that event makes ready. */
#include "simulate/together_state.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "simulate/line_remedy.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/counters.h"
#include "util/order.h"

/* ---- states ---- */

/* Whether what a thread waits for is the end of another. */
static bool waits_for_end(const struct chip_run *chip, const struct guest *guest) {
    return guest->waits_for < chip->events.count &&
           chip->events.events[guest->waits_for].kind == THREAD_EVENT_EXIT;
}

static enum course_activity activity_of(const struct chip_run *chip, const struct guest *guest) {
    switch (guest->state) {
    case THREAD_RUNNING:
        return COURSE_RUNNING;
    case THREAD_LOCKED:
        return COURSE_LOCK;
    case THREAD_WAITING:
        return guest->action.lock           ? COURSE_BARRIER
               : waits_for_end(chip, guest) ? COURSE_JOIN
                                            : COURSE_EVENT;
    case THREAD_SLEEPING:
        return COURSE_SLEEPING;
    default:
        return COURSE_READY;
    }
}

void guest_enter(struct chip_run *chip, struct guest *guest, enum thread_state state,
                 uint64_t cycle) {
    struct together_thread *told = &chip->result->threads[guest->thread];
    assert(cycle >= guest->since);
    told->cycles[guest->state] += cycle - guest->since;
    guest->state = state;
    guest->since = cycle;
    course_change(chip->course, guest->thread, activity_of(chip, guest), cycle);
}

void guest_leave_core(struct chip_run *chip, const struct guest *guest, uint64_t cycle) {
    chip->on_core[guest->core] = -1;
    chip->core_free[guest->core] = cycle;
}

static void get_ready(struct chip_run *chip, struct guest *guest, uint64_t cycle) {
    guest_enter(chip, guest, THREAD_READY, cycle > guest->since ? cycle : guest->since);
    guest->ready = guest->since;
    chip->news = true;
}

static void be_born(struct chip_run *chip, uint32_t thread, uint32_t creator, uint64_t cycle) {
    struct guest *guest = &chip->guests[thread];
    if (thread >= chip->thread_count || guest->life != GUEST_UNBORN ||
        chip->process_of[thread] != chip->process)
        return;
    struct together_thread *told = &chip->result->threads[thread];
    *told = (struct together_thread){
        .thread = thread, .process = chip->process, .known = true, .begin = cycle};
    guest->life = GUEST_ALIVE;
    chip->alive[chip->alive_count++] = thread;
    guest->state = THREAD_READY;
    guest->since = guest->ready = cycle;
    chip->news = true;
    course_begin(chip->course, thread, creator, cycle);
}

/* ---- events ---- */

static size_t place_of(const struct chip_run *chip, uint32_t thread, uint32_t number) {
    return thread < chip->events.thread_count ? chip->events.first[thread] + number : SIZE_MAX;
}

static bool note_wait(struct chip_run *chip, const struct together_wait *what,
                      const struct guest *guest, uint64_t cycles, struct error *error) {
    struct together_result *result = chip->result;
    struct together_wait *wait = NULL;
    result->threads[guest->thread].waits++;
    for (size_t i = 0; i < result->wait_count && !wait; i++) {
        struct together_wait *old = &result->waits[i];
        if (old->address == what->address && old->process == what->process &&
            old->waiter == what->waiter && old->other == what->other)
            wait = old;
    }
    if (!wait) {
        if (!array_room(result->waits, result->wait_capacity, result->wait_count + 1))
            return error_set(error, "out of memory for waits");
        wait = &result->waits[result->wait_count++];
        *wait = *what;
    }
    wait->count++;
    wait->cycles += cycles;
    course_ends_wait(chip->course, guest->thread, guest->ender, (uint32_t)(wait - result->waits));
    return true;
}

bool guest_end_wait(struct chip_run *chip, struct guest *guest, uint64_t cycle,
                    struct error *error) {
    const uint64_t from = guest->since, until = cycle > from ? cycle : from;
    const struct lock *lock = guest->action.lock;
    const struct together_wait what = {.address = lock ? lock->address : guest->event.address,
                                       .process = chip->process,
                                       .reason =
                                           lock ? lock->barrier ? WAIT_AT_BARRIER : WAIT_FOR_LOCK
                                           : waits_for_end(chip, guest) ? WAIT_FOR_END
                                                                        : WAIT_FOR_EVENT,
                                       .waiter = lock ? guest->routine_call : guest->caller,
                                       .other = guest->other_site};
    if (until > from && !note_wait(chip, &what, guest, until - from, error))
        return false;
    get_ready(chip, guest, until);
    guest->action = (struct guest_action){.what = DO_NOTHING};
    guest->waits_for = SIZE_MAX;
    return true;
}

/* The event has taken place: who waited for it goes on. */
static bool take_place(struct chip_run *chip, const struct guest *guest, uint64_t cycle,
                       struct error *error) {
    const size_t place = place_of(chip, guest->thread, guest->event.number);
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
        if (!guest_end_wait(chip, other, cycle, error))
            return false;
    }
    return true;
}

/* A condition of glibc has two words that threads wait at, by turns; they lie side by side. */
static bool same_object(uint64_t address, uint64_t other) {
    return address - other + 4 <= 8;
}

/* Those who wait there with a time limit, which had run out in the captured run, are woken before
 * it does. */
static void end_timed_waits(struct chip_run *chip, const struct thread_event *wake,
                            uint64_t cycle) {
    uint32_t left = wake->value;
    for (uint32_t i = 0; i < chip->alive_count && left; i++) {
        struct guest *other = &chip->guests[chip->alive[i]];
        if (other->life != GUEST_ALIVE || other->state != THREAD_SLEEPING || !other->timed ||
            !same_object(other->event.address, wake->address) || other->ready <= cycle)
            continue;
        other->ready = cycle > other->since ? cycle : other->since;
        other->timed = false;
        chip->news = true;
        left--;
    }
}

/* The thread gives its core up until `ready`; behind the end of its program it does not sleep. */
static void sleep_until(struct chip_run *chip, struct guest *guest, uint64_t cycle,
                        uint64_t ready) {
    if (chip->exited)
        return;
    guest_leave_core(chip, guest, cycle);
    guest_enter(chip, guest, THREAD_SLEEPING, cycle);
    guest->ready = ready;
    guest->timed = false;
}

static uint64_t cycles_of(const struct chip_run *chip, uint64_t ns) {
    const double cycles = (double)ns * chip->cycles_per_ns;
    return cycles < 1e15 ? (uint64_t)cycles : (uint64_t)1e15;
}

/* A thread has ended the program. Others may have done more in the captured run, which took longer:
 * that is simulated, but nobody sleeps any more. */
static void end_program(struct chip_run *chip, uint64_t cycle) {
    chip->exited = true;
    for (uint32_t i = 0; i < chip->alive_count; i++) {
        struct guest *guest = &chip->guests[chip->alive[i]];
        if (guest->state == THREAD_SLEEPING && guest->ready > cycle)
            guest->ready = cycle > guest->since ? cycle : guest->since;
    }
}

enum { TIMED_OUT = -110 };

static bool wait_in_futex(struct chip_run *chip, struct guest *guest, uint64_t cycle,
                          struct error *error) {
    const struct thread_event *event = &guest->event;
    if (guest_event_is_of_lock(chip, guest))
        return true;
    if (event->result == TIMED_OUT && event->asked_ns != THREAD_EVENT_FOREVER) {
        sleep_until(chip, guest, cycle, cycle + cycles_of(chip, event->asked_ns));
        guest->timed = true;
        return true;
    }
    const size_t place = place_of(chip, guest->thread, event->number);
    if (event->result != 0 || place == SIZE_MAX)
        return true;
    const size_t waker = chip->pairs.released_by[place];
    if (waker == WAKE_PAIRS_NONE) {
        chip->result->unexplained++;
        return true;
    }
    if (chip->event_cycles[waker] <= cycle)
        return true;
    guest_leave_core(chip, guest, cycle);
    guest->waits_for = waker;
    guest->ender = chip->events.events[waker].thread;
    guest_enter(chip, guest, THREAD_WAITING, cycle);
    guest->other_site = chip->event_callers[waker];
    return chip->event_cycles[waker] == NOT_YET ||
           guest_end_wait(chip, guest, chip->event_cycles[waker], error);
}

static bool handle_event(struct chip_run *chip, struct guest *guest, uint64_t cycle,
                         struct error *error) {
    const struct thread_event *event = &guest->event;
    switch ((enum thread_event_kind)event->kind) {
    case THREAD_EVENT_CREATE:
        if (event->other != THREAD_EVENT_NO_THREAD)
            be_born(chip, event->other, guest->thread, cycle);
        break;
    case THREAD_EVENT_EXIT_PROCESS:
        end_program(chip, cycle);
        break;
    case THREAD_EVENT_WAKE:
        end_timed_waits(chip, event, cycle);
        break;
    case THREAD_EVENT_WAIT:
        if (!wait_in_futex(chip, guest, cycle, error))
            return false;
        break;
    case THREAD_EVENT_BLOCK:
        if (event->cause == THREAD_CAUSE_TIME && event->asked_ns != THREAD_EVENT_FOREVER &&
            event->result == 0) {
            sleep_until(chip, guest, cycle, cycle + cycles_of(chip, event->asked_ns));
            break;
        }
        chip->result->blocked++;
        chip->result->blocked_seconds += (double)event->duration_ns * 1e-9;
        break;
    default:
        break;
    }
    return take_place(chip, guest, cycle, error);
}

/* ---- running ---- */

static bool give_core(struct chip_run *chip, struct guest *guest, int core, struct error *error) {
    struct memory *memory = shared_memory_core(chip->memory, (uint32_t)core);
    const uint64_t cycle =
        chip->core_free[core] > guest->ready ? chip->core_free[core] : guest->ready;
    if (!guest->lane) {
        const struct trace_batch batch = {.thread = guest->thread, .process = chip->process};
        chip->run->memory = memory;
        if (!(guest->lane = run_lane_of(chip->run, &batch, error)) ||
            !guest_input_open(&guest->input, chip->options->path, guest->thread, error))
            return false;
    } else if (guest->core != core) {
        core_move(guest->lane->core, memory);
    }
    core_wait_until(guest->lane->core, cycle);
    if (guest->state == THREAD_SLEEPING)
        guest_enter(chip, guest, THREAD_READY, guest->ready);
    guest_enter(chip, guest, THREAD_RUNNING, cycle);
    guest->core = core;
    guest->turn_end = cycle + chip->turn;
    chip->on_core[core] = chip->last_on[core] = guest->thread;
    return true;
}

int chip_free_core(const struct chip_run *chip) {
    for (uint32_t core = 0; core < chip->cores; core++)
        if (chip->on_core[core] < 0)
            return (int)core;
    return -1;
}

/* The free core for a thread: the one it had, else the first. −1: none. */
static int free_core(const struct chip_run *chip, const struct guest *guest) {
    if (guest->core >= 0 && chip->on_core[guest->core] < 0)
        return guest->core;
    return chip_free_core(chip);
}

/* It is not on a core any more. */
static bool end_life(struct chip_run *chip, struct guest *guest, uint64_t cycle,
                     struct error *error) {
    struct together_thread *told = &chip->result->threads[guest->thread];
    guest_enter(chip, guest, THREAD_READY, cycle);
    course_change(chip->course, guest->thread, COURSE_ABSENT, cycle);
    guest->life = GUEST_OVER;
    told->end = cycle;
    chip->end = cycle > chip->end ? cycle : chip->end;
    guest_input_close(&guest->input);
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
    return end_life(chip, guest, cycle, error);
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
    run->simulation->simulated += counted;
    return run_show_piece(run, guest->lane, piece, error) &&
           (!chip->options->remedies || lay_out(chip, guest, &input, error)) &&
           core_push(guest->lane->core, &input, error);
}

/* Hands the core what comes next. */
static bool feed(struct chip_run *chip, struct guest *guest, struct error *error) {
    struct trace_batch piece;
    const struct thread_event *event;
    switch (guest_input_next(&guest->input, CORE_PUSH, &piece, &event, error)) {
    case GUEST_FAILED:
        return false;
    case GUEST_INSNS: {
        struct guest_action action = {.what = DO_NOTHING};
        const uint32_t count = guest_look(chip, guest, &piece, &action, error);
        if (count == UINT32_MAX)
            return false;
        guest_input_give_back(&guest->input, piece.insn_count - count);
        piece = batch_slice(&piece, 0, count);
        if (count && !push(chip, guest, &piece, error))
            return false;
        if (action.what != DO_NOTHING)
            guest_begin_action(guest, &action);
        return true;
    }
    case GUEST_EVENT:
        guest->event = *event;
        guest->caller = guest->routine ? guest->routine_call : guest_caller(guest);
        guest->draining = guest->has_event = true;
        return true;
    case GUEST_END:
        guest->draining = guest->at_end = true;
        return true;
    }
    return true;
}

/* What the pipeline ran empty for. */
static bool arrive(struct chip_run *chip, struct guest *guest, struct error *error) {
    const uint64_t cycle = core_cycle(guest->lane->core);
    chip->latest = cycle > chip->latest ? cycle : chip->latest;
    guest->draining = false;
    if (guest->action.what != DO_NOTHING)
        return guest_act(chip, guest, cycle, error);
    if (guest->at_end)
        return end_guest(chip, guest, cycle, error);
    if (guest->has_event) {
        guest->has_event = false;
        return handle_event(chip, guest, cycle, error);
    }
    guest_leave_core(chip, guest, cycle); /* its turn is over */
    get_ready(chip, guest, cycle);
    return true;
}

/* Runs a thread until it dispatches in cycle `until`, or is not on its core any more, or has made
 * another one ready. */
static bool run_guest(struct chip_run *chip, struct guest *guest, uint64_t until, bool others_wait,
                      struct error *error) {
    chip->news = false;
    while (guest->life == GUEST_ALIVE && guest->state == THREAD_RUNNING && !chip->news) {
        switch (core_run(guest->lane->core, until, guest->draining, error)) {
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
            if (!arrive(chip, guest, error))
                return false;
            break;
        }
    }
    return true;
}

/* ---- the scheduler ---- */

/* What is to be known of all threads that are alive. */
struct view {
    struct guest *behind;    /* running: the one that is; NULL: none */
    uint64_t now, next;      /* its cycle, and that of the one behind it but for it; or NOT_YET */
    uint64_t earliest;       /* no access to come is earlier */
    struct guest *candidate; /* ready, or asleep: the one that may run first; NULL: none */
    struct guest *stuck;     /* waiting: the one to be let go if none can go on */
};

static void view_running(struct view *view, struct guest *guest) {
    assert(guest->lane); /* give_core() has been here */
    const uint64_t cycle = core_cycle(guest->lane->core), first = core_earliest(guest->lane->core);
    view->earliest = first < view->earliest ? first : view->earliest;
    if (cycle < view->now) {
        view->next = view->now;
        view->now = cycle;
        view->behind = guest;
    } else if (cycle < view->next) {
        view->next = cycle;
    }
}

/* Who has a lock is what simulated time made of it, so that is given up before what the captured
 * run says; of each kind the one that waits longest. */
static bool goes_first(const struct guest *guest, const struct guest *other) {
    if ((guest->action.lock != NULL) != (other->action.lock != NULL))
        return guest->action.lock;
    return guest->since < other->since;
}

static struct view view_of(const struct chip_run *chip) {
    struct view view = {.now = NOT_YET, .next = NOT_YET, .earliest = NOT_YET};
    for (uint32_t i = 0; i < chip->alive_count; i++) {
        struct guest *guest = &chip->guests[chip->alive[i]];
        if (guest->state == THREAD_RUNNING)
            view_running(&view, guest);
        else if (guest->state == THREAD_WAITING || guest->state == THREAD_LOCKED) {
            if (!view.stuck || goes_first(guest, view.stuck))
                view.stuck = guest;
        } else if (!view.candidate || guest->ready < view.candidate->ready)
            view.candidate = guest;
    }
    if (view.candidate && view.candidate->ready < view.earliest)
        view.earliest = view.candidate->ready;
    return view;
}

/* Those that have ended are forgotten. */
static void sweep_alive(struct chip_run *chip) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < chip->alive_count; i++)
        if (chip->guests[chip->alive[i]].life == GUEST_ALIVE)
            chip->alive[kept++] = chip->alive[i];
    chip->alive_count = kept;
}

/* Nobody can go on: the wait is ended. */
static bool let_go(struct chip_run *chip, struct guest *guest, struct error *error) {
    chip->result->diverged++;
    guest->ender = COURSE_NOBODY;
    if (guest->action.lock)
        guest_force(guest);
    return guest_end_wait(chip, guest, chip->latest, error);
}

/* A thread that its creator has not made, since the capture began behind that. */
static bool bear_next(struct chip_run *chip) {
    for (uint32_t i = 0; i < chip->thread_count; i++)
        if (chip->process_of[i] == chip->process && chip->guests[i].life == GUEST_UNBORN) {
            be_born(chip, i, COURSE_NOBODY, chip->end);
            return true;
        }
    return false;
}

/* One turn. *more: another may follow. */
static bool take_turn(struct chip_run *chip, bool *more, struct error *error) {
    const struct view view = view_of(chip);
    struct guest *candidate = view.candidate;
    const int core = candidate ? free_core(chip, candidate) : -1;
    *more = true;
    if (candidate && core >= 0 && (!view.behind || candidate->ready <= view.now))
        return give_core(chip, candidate, core, error);
    if (!view.behind) {
        if (view.stuck)
            return let_go(chip, view.stuck, error);
        *more = bear_next(chip);
        return true;
    }
    shared_memory_advance(chip->memory, view.earliest);
    course_advance(chip->course,
                   candidate && candidate->ready < view.now ? candidate->ready : view.now);
    uint64_t until = view.next;
    if (candidate && core >= 0 && candidate->ready < until)
        until = candidate->ready;
    until = until == NOT_YET ? view.now + ALONE_CYCLES : until + chip->slack;
    const bool others_wait = candidate && core < 0 && candidate->ready <= view.now;
    if (!run_guest(chip, view.behind, until, others_wait, error))
        return false;
    if (view.behind->life != GUEST_ALIVE)
        sweep_alive(chip);
    return true;
}

/* The simulation is interrupted: running threads end with what is in their pipelines, the others
 * where the last of those does. */
static bool end_early(struct chip_run *chip, struct error *error) {
    for (uint32_t i = 0; i < chip->alive_count; i++) {
        struct guest *guest = &chip->guests[chip->alive[i]];
        enum core_state state = CORE_PAUSED;
        if (guest->state != THREAD_RUNNING)
            continue;
        assert(guest->lane); /* as in view_running() */
        while (state != CORE_EMPTY)
            if ((state = core_run(guest->lane->core, NOT_YET, true, error)) == CORE_FAILED)
                return false;
        const uint64_t cycle = core_cycle(guest->lane->core);
        chip->latest = cycle > chip->latest ? cycle : chip->latest;
    }
    for (uint32_t i = 0; i < chip->alive_count; i++) {
        struct guest *guest = &chip->guests[chip->alive[i]];
        const uint64_t cycle = guest->state == THREAD_RUNNING ? core_cycle(guest->lane->core)
                               : chip->latest > guest->since  ? chip->latest
                                                              : guest->since;
        if (!end_life(chip, guest, cycle, error))
            return false;
    }
    return true;
}

static void pass_wait(void *result, uint32_t number, uint64_t cycles) {
    struct together_wait *wait = &((struct together_result *)result)->waits[number];
    wait->passes++;
    wait->path_cycles += cycles;
}

static bool end_course(struct chip_run *chip, struct error *error) {
    struct together_result *result = chip->result;
    const struct course_path path = {.pass = pass_wait, .context = result};
    return course_end(chip->course, chip->end, &path, result->counts, result->courses,
                      &result->course) ||
           error_set(error, "out of memory for what threads did when");
}

static void tell_move(void *context, const struct coherence_event *event) {
    const struct chip_run *chip = context;
    const struct line_move move = {.event = *event,
                                   .process = chip->process,
                                   .thread = chip->last_on[event->core],
                                   .threads = chip->last_on};
    chip->options->watch.see(chip->options->watch.context, &move);
}

static bool run_process(struct chip_run *chip, struct error *error) {
    const struct simulation_options *options = chip->run->options;
    chip->memory =
        shared_memory_new(options->machine, chip->cores, core_memory_ideal(options->ideal), error);
    if (!chip->memory)
        return false;
    if (!(chip->course = course_new(chip->thread_count, 0)))
        return error_set(error, "out of memory for %" PRIu32 " threads", chip->thread_count);
    if (chip->options->watch.see)
        shared_memory_watch(chip->memory,
                            (struct coherence_watch){.see = tell_move, .context = chip});
    chip->end = chip->latest = 0;
    chip->exited = false;
    for (uint32_t core = 0; core < chip->cores; core++) {
        chip->on_core[core] = -1;
        chip->last_on[core] = UINT32_MAX;
        chip->core_free[core] = 0;
    }
    for (uint32_t i = 0; i < chip->thread_count; i++)
        if (i >= chip->events.thread_count ||
            chip->events.threads[i].creator == THREAD_EVENT_NO_THREAD)
            be_born(chip, i, COURSE_NOBODY, 0);
    bool good = true;
    for (bool more = true; good && more;) {
        if (watcher_stops(&options->watcher)) {
            chip->run->simulation->interrupted = true;
            good = end_early(chip, error);
            break;
        }
        good = take_turn(chip, &more, error);
        watcher_tell(&options->watcher, chip->run->simulation->executed);
    }
    for (uint32_t core = 0; core < chip->cores; core++) {
        static const struct coherence_statistics NONE;
        struct coherence_statistics of_core;
        shared_memory_statistics(chip->memory, core, &of_core);
        counters_add(&chip->result->coherence, &of_core, &NONE, sizeof of_core, 1);
    }
    assert(!good || shared_memory_consistent(chip->memory));
    chip->result->cycles += chip->end;
    return good && end_course(chip, error);
}

/* ---- the whole ---- */

/* Which process each thread is of, and what code there is. */
static bool read_threads(struct chip_run *chip, struct error *error) {
    struct trace_batch batch;
    size_t capacity = 0;
    int status;
    trace_outline(chip->run->trace);
    while ((status = trace_next(chip->run->trace, &batch, error)) > 0) {
        const size_t had = capacity;
        if (!array_zeroed_room(chip->process_of, capacity, (size_t)batch.thread + 1))
            return error_set(error, "out of memory for %" PRIu32 " threads", batch.thread + 1);
        for (size_t i = had; i < capacity; i++)
            chip->process_of[i] = UINT32_MAX;
        chip->process_of[batch.thread] = batch.process;
        if (batch.thread >= chip->thread_count)
            chip->thread_count = batch.thread + 1;
    }
    return status == 0;
}

static bool make_tables(struct chip_run *chip, struct error *error) {
    struct together_result *result = chip->result;
    const uint32_t threads = chip->thread_count;
    chip->guests = calloc((size_t)threads + 1, sizeof *chip->guests);
    chip->alive = calloc((size_t)threads + 1, sizeof *chip->alive);
    chip->event_cycles = malloc((chip->events.count + 1) * sizeof *chip->event_cycles);
    chip->event_callers = malloc((chip->events.count + 1) * sizeof *chip->event_callers);
    chip->on_core = calloc(chip->cores, sizeof *chip->on_core);
    chip->core_free = calloc(chip->cores, sizeof *chip->core_free);
    chip->last_on = calloc(chip->cores, sizeof *chip->last_on);
    result->threads = calloc((size_t)threads + 1, sizeof *result->threads);
    result->courses = calloc((size_t)threads + 1, sizeof *result->courses);
    result->counts = calloc(1, sizeof *result->counts);
    result->thread_count = threads;
    if (!chip->guests || !chip->alive || !chip->event_cycles || !chip->event_callers ||
        !chip->on_core || !chip->core_free || !chip->last_on || !result->threads ||
        !result->courses || !result->counts ||
        (threads && !run_make_room(chip->run, threads - 1, error)))
        return error_set(error, "out of memory for %" PRIu32 " threads", threads);
    for (uint32_t i = 0; i < threads; i++) {
        chip->guests[i] = (struct guest){
            .thread = i, .core = -1, .waits_for = SIZE_MAX, .routine_call = UINT32_MAX};
        chip->run->simulation->threads[i].process = chip->process_of[i];
        chip->run->simulation->threads[i].goes_on =
            chip->process_of[i] != UINT32_MAX &&
            trace_process_goes_on(chip->run->trace, chip->process_of[i]);
    }
    for (size_t i = 0; i < chip->events.count; i++) {
        chip->event_cycles[i] = NOT_YET;
        chip->event_callers[i] = UINT32_MAX;
    }
    return true;
}

static bool find_routines(struct chip_run *chip, struct error *error) {
    if (!(chip->entries = lock_entries_new(error)))
        return false;
    chip->lock_flags = lock_entries_of(chip->entries, trace_code(chip->run->trace));
    return chip->lock_flags || error_set(error, "out of memory for symbols");
}

ORDER(most_cycles_first, struct together_wait,
      descending(a->cycles, b->cycles) ?: ascending(a->address, b->address))

static void free_run(struct chip_run *chip) {
    for (uint32_t i = 0; chip->guests && i < chip->thread_count; i++)
        guest_input_close(&chip->guests[i].input);
    thread_events_free(&chip->events);
    lock_table_free(&chip->locks);
    lock_entries_free(chip->entries);
    wake_pairs_free(&chip->pairs);
    free(chip->guests);
    free(chip->alive);
    free(chip->event_cycles);
    free(chip->event_callers);
    free(chip->process_of);
    free(chip->on_core);
    free(chip->core_free);
    free(chip->last_on);
    free(chip->moved);
}

uint32_t together_slack(const struct machine *machine) {
    const struct machine_chip *chip = &machine->chip;
    uint32_t shortest = chip->clean_transfer;
    shortest = chip->modified_transfer < shortest ? chip->modified_transfer : shortest;
    shortest = chip->upgrade < shortest ? chip->upgrade : shortest;
    return shortest < 2 ? 1 : shortest / 2;
}

bool together_run(struct simulation_state *run, struct error *error) {
    const struct together *options = run->options->together;
    const struct machine *machine = run->options->machine;
    struct together_result *result = &run->simulation->together;
    const double hz = machine->clock_ghz * 1e9;
    struct chip_run chip = {.run = run,
                            .options = options,
                            .result = result,
                            .cores = options->cores ? options->cores : machine->chip.cores,
                            .slack = options->slack ? options->slack : together_slack(machine),
                            .turn = options->turn ? options->turn
                                                  : (uint64_t)(TOGETHER_TURN_SECONDS * hz),
                            .cycles_per_ns = machine->clock_ghz};
    result->done = true;
    result->cores = chip.cores;
    bool good = read_threads(&chip, error) &&
                thread_events_read(options->path, &chip.events, error) &&
                wake_pairs_find(&chip.events, &chip.pairs, error) && make_tables(&chip, error) &&
                find_routines(&chip, error);
    const uint32_t processes = good ? trace_process_count(run->trace) : 0;
    for (; good && chip.process < processes && !run->simulation->interrupted; chip.process++) {
        good = run_process(&chip, error);
        struct error late; /* what an interrupted process has under way */
        good &= run_collect(run, good ? error : &late);
        run_free_lanes(run);
        shared_memory_free(chip.memory);
        chip.memory = NULL;
        course_free(chip.course);
        chip.course = NULL;
        lock_table_free(&chip.locks);
    }
    run->simulation->seconds = clock_monotonic() - run->started;
    if (result->wait_count)
        qsort(result->waits, result->wait_count, sizeof *result->waits, most_cycles_first);
    free_run(&chip);
    return good;
}

void together_scale_free(struct together_scale *scale) {
    free(scale->counts);
    free(scale->units);
}

void together_result_free(struct together_result *result) {
    for (uint32_t i = 0; i < result->scale_count; i++)
        together_scale_free(&result->scales[i]);
    free(result->threads);
    free(result->courses);
    free(result->counts);
    free(result->waits);
    *result = (struct together_result){.done = false};
}
