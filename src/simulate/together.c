/* The scheduler: of the threads on a core it runs the one that is behind; and a trace's processes
 * from beginning to end. What becomes of a thread is in together_events.c, how one runs in
 * together_guest.c. */
#include "simulate/together_state.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "simulate/lock_messages.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/counters.h"
#include "util/order.h"

/* ---- the scheduler ---- */

/* What is to be known of all threads that are alive. */
struct view {
    struct guest *behind;    /* running: the one that is; NULL: none */
    uint64_t now, next;      /* its cycle, and that of the one behind it but for it; or NOT_YET */
    uint64_t earliest;       /* no access to come is earlier */
    uint64_t first_ready;    /* the earliest that one is ready, or awake; NOT_YET: none is */
    struct guest *candidate; /* of those: the one that may run first; NULL: none */
    int core;                /* for it; −1: none is free */
    struct guest *stuck;     /* waiting: the one to be let go if none can go on */
};

static void view_running(struct view *view, const struct chip_run *chip, struct guest *guest) {
    const uint64_t cycle = guest_cycle(chip, guest),
                   first = chip_is_fast(chip) ? cycle : core_earliest(guest->lane->core);
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

/* Of two that are ready at once, one that is kept on a core is first: for it the other left. */
static bool is_ready_first(const struct chip_run *chip, const struct guest *guest,
                           const struct guest *other) {
    if (guest->ready != other->ready)
        return guest->ready < other->ready;
    return affinity_core(chip->options->affinity, guest->thread) != AFFINITY_ANY &&
           affinity_core(chip->options->affinity, other->thread) == AFFINITY_ANY;
}

/* The first one that is ready; of threads that are kept on cores, of those whose core is free. */
static void view_ready(const struct chip_run *chip, struct view *view, struct guest *guest) {
    const struct guest *other = view->candidate;
    view->first_ready = guest->ready < view->first_ready ? guest->ready : view->first_ready;
    const int core = !other || chip->options->affinity ? guest_free_core(chip, guest) : view->core;
    const bool can = core >= 0, other_can = view->core >= 0;
    if (other && (can == other_can ? !is_ready_first(chip, guest, other) : other_can))
        return;
    view->candidate = guest;
    view->core = core;
}

static struct view view_of(const struct chip_run *chip) {
    struct view view = {
        .now = NOT_YET, .next = NOT_YET, .earliest = NOT_YET, .first_ready = NOT_YET, .core = -1};
    for (uint32_t i = 0; i < chip->alive_count; i++) {
        struct guest *guest = &chip->guests[chip->alive[i]];
        if (guest->state == THREAD_RUNNING)
            view_running(&view, chip, guest);
        else if (guest->state == THREAD_WAITING || guest->state == THREAD_LOCKED ||
                 guest->state == THREAD_SPINNING) {
            if (!view.stuck || goes_first(guest, view.stuck))
                view.stuck = guest;
        } else {
            view_ready(chip, &view, guest);
        }
    }
    if (view.candidate && !chip->options->affinity)
        view.core = guest_free_core(chip, view.candidate);
    if (view.first_ready < view.earliest)
        view.earliest = view.first_ready;
    return view;
}

/* Whether a thread is ready for the core of one that runs, and for no other. */
static bool is_waited_for(const struct chip_run *chip, const struct view *view) {
    if (!chip->options->affinity)
        return view->candidate && view->core < 0 && view->candidate->ready <= view->now;
    for (uint32_t i = 0; i < chip->alive_count; i++) {
        const struct guest *guest = &chip->guests[chip->alive[i]];
        const int core = affinity_core(chip->options->affinity, guest->thread);
        if ((guest->state == THREAD_READY || guest->state == THREAD_SLEEPING) &&
            guest->ready <= view->now && (core == AFFINITY_ANY || core == view->behind->core) &&
            guest_free_core(chip, guest) < 0)
            return true;
    }
    return false;
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
            guest_be_born(chip, i, COURSE_NOBODY, chip->end);
            return true;
        }
    return false;
}

/* Whether others wait for the core of the one that is behind. One that may run anywhere makes room
 * at once for one that is kept on its core, if another is free. */
static bool others_wait(const struct chip_run *chip, const struct view *view) {
    struct guest *guest = view->behind;
    if (!is_waited_for(chip, view))
        return false;
    if (chip->options->affinity && guest_free_core(chip, guest) >= 0)
        guest->turn_end = view->now;
    return true;
}

/* A thread has ended the program, and nobody runs or can run before the cycle in which it did. */
static bool is_over(const struct chip_run *chip, const struct view *view) {
    return chip->exit != NOT_YET && view->now >= chip->exit &&
           !(view->candidate && view->core >= 0 && view->candidate->ready < chip->exit);
}

/* One turn. *more: another may follow. */
static bool take_turn(struct chip_run *chip, bool *more, struct error *error) {
    const struct view view = view_of(chip);
    struct guest *candidate = view.candidate;
    const int core = view.core;
    if (!(*more = !is_over(chip, &view))) {
        chip_count_cut(chip);
        return chip_end_here(chip, error);
    }
    if (candidate && core >= 0 && (!view.behind || candidate->ready <= view.now))
        return (view.behind || chip_sampling_idle(chip, candidate->ready, error)) &&
               guest_give_core(chip, candidate, core, error);
    if (!view.behind) {
        if (view.stuck)
            return let_go(chip, view.stuck, error);
        *more = bear_next(chip);
        return true;
    }
    shared_memory_advance(chip->memory, view.earliest);
    course_advance(chip->course, view.first_ready < view.now ? view.first_ready : view.now);
    uint64_t until = view.next;
    if (candidate && core >= 0 && candidate->ready < until)
        until = candidate->ready;
    chip->others = until;
    until = until == NOT_YET ? view.now + ALONE_CYCLES : until + chip->slack;
    if (until > chip->exit)
        until = chip->exit;
    if (!guest_run(chip, view.behind, until, others_wait(chip, &view), error))
        return false;
    if (view.behind->life != GUEST_ALIVE)
        sweep_alive(chip);
    return true;
}

static void pass_wait(void *result, uint32_t number, uint64_t cycles) {
    struct together_wait *wait = &((struct together_result *)result)->waits[number];
    wait->passes++;
    wait->path_cycles += cycles;
}

static void add_segment(void *context, uint32_t thread, uint64_t begin, uint64_t end) {
    struct together_result *result = context;
    result->segments_failed |=
        !array_push(result->segments, result->segment_capacity, result->segment_count,
                    (struct path_segment){.thread = thread, .begin = begin, .end = end});
}

static bool end_course(struct chip_run *chip, struct error *error) {
    struct together_result *result = chip->result;
    const struct course_path path = {
        .pass = pass_wait, .run = chip->options->tell_path ? add_segment : NULL, .context = result};
    return (course_end(chip->course, chip->end, &path, result->counts, result->courses,
                       &result->course) &&
            !result->segments_failed) ||
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

static bool find_polled_sleeps(struct chip_run *chip, struct error *error) {
    bool good = true;
    for (uint32_t i = 0; good && i < chip->thread_count; i++)
        good = chip->process_of[i] != chip->process ||
               polled_sleeps_find(&chip->polled, chip->options->path, chip->run->trace,
                                  &chip->events, i, chip->insns_of[i], error);
    return good;
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
    if (!lock_messages_find(chip, error) || !find_polled_sleeps(chip, error))
        return false;
    chip->end = chip->latest = 0;
    chip->exited = chip->counted = chip->met_outside = false;
    chip->exit = NOT_YET;
    for (uint32_t core = 0; core < chip->cores; core++) {
        chip->on_core[core] = -1;
        chip->last_on[core] = UINT32_MAX;
        chip->core_free[core] = 0;
    }
    for (uint32_t i = 0; i < chip->thread_count; i++)
        if (i >= chip->events.thread_count ||
            chip->events.threads[i].creator == THREAD_EVENT_NO_THREAD)
            guest_be_born(chip, i, COURSE_NOBODY, 0);
    bool good = true;
    chip_sampling_process(chip);
    for (bool more = true; good && more;) {
        if (watcher_stops(&options->watcher)) {
            chip->run->simulation->interrupted = true;
            good = chip_sampling_process_end(chip, error) && chip_end_here(chip, error);
            break;
        }
        good = chip_sampling_turn(chip, error) && take_turn(chip, &more, error);
        watcher_tell(&options->watcher, chip->run->simulation->executed);
    }
    assert(!good || shared_memory_consistent(chip->memory));
    if (chip->sampling)
        return good && chip_sampling_process_end(chip, error);
    for (uint32_t core = 0; core < chip->cores; core++) {
        static const struct coherence_statistics NONE;
        struct coherence_statistics of_core;
        shared_memory_statistics(chip->memory, core, &of_core);
        counters_add(&chip->result->coherence, &of_core, &NONE, sizeof of_core, 1);
    }
    chip->result->cycles += chip->end;
    return good && end_course(chip, error);
}

/* ---- the whole ---- */

/* Which process each thread is of, and what code there is. */
static bool read_threads(struct chip_run *chip, struct error *error) {
    struct trace_batch batch;
    size_t capacity = 0, counted = 0;
    int status;
    trace_outline(chip->run->trace);
    while ((status = trace_next(chip->run->trace, &batch, error)) > 0) {
        const size_t had = capacity;
        if (!array_zeroed_room(chip->process_of, capacity, (size_t)batch.thread + 1) ||
            !array_zeroed_room(chip->insns_of, counted, (size_t)batch.thread + 1))
            return error_set(error, "out of memory for %" PRIu32 " threads", batch.thread + 1);
        for (size_t i = had; i < capacity; i++)
            chip->process_of[i] = UINT32_MAX;
        chip->process_of[batch.thread] = batch.process;
        chip->insns_of[batch.thread] += batch.insn_count + batch.passed;
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
        chip->guests[i] = (struct guest){.thread = i,
                                         .core = -1,
                                         .waits_for = SIZE_MAX,
                                         .least_awaited = UINT64_MAX,
                                         .last_insn = UINT32_MAX,
                                         .routine_call = UINT32_MAX};
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
    for (uint32_t i = 0; chip->guests && i < chip->thread_count; i++) {
        guest_input_close(&chip->guests[i].input);
        guest_spin_free(&chip->guests[i].spin);
        if (!chip->guests[i].messages_known)
            free(chip->guests[i].messages);
    }
    thread_events_free(&chip->events);
    lock_table_free(&chip->locks);
    free(chip->tries);
    lock_entries_free(chip->entries);
    wake_pairs_free(&chip->pairs);
    polled_sleeps_free(&chip->polled);
    free(chip->guests);
    free(chip->alive);
    free(chip->event_cycles);
    free(chip->event_callers);
    free(chip->process_of);
    free(chip->insns_of);
    free(chip->on_core);
    free(chip->core_free);
    free(chip->last_on);
    free(chip->moved);
    chip_sampling_free(chip);
}

/* The slack unless another is asked for: half of the shortest transfer of a line, what a request
 * takes at least to reach the core that has it (docs/results/threads-slack.md). */
static uint32_t usual_slack(const struct machine *machine) {
    const struct machine_chip *chip = &machine->chip;
    uint32_t shortest = chip->clean_transfer;
    shortest = chip->modified_transfer < shortest ? chip->modified_transfer : shortest;
    shortest = chip->upgrade < shortest ? chip->upgrade : shortest;
    const uint32_t half = shortest < 2 ? 1 : shortest / 2, request = chip->request_latency;
    return request && request < half ? request : half;
}

bool together_run(struct simulation_state *run, struct error *error) {
    const struct together *options = run->options->together;
    const struct machine *machine = run->options->machine;
    struct together_result *result = &run->simulation->together;
    const double hz = machine->clock_ghz * 1e9;
    struct chip_run chip = {
        .run = run,
        .options = options,
        .result = result,
        .cores = options->cores ? options->cores : machine->chip.cores,
        .slack = options->slack ? options->slack : usual_slack(machine),
        .turn = options->turn ? options->turn : (uint64_t)(TOGETHER_TURN_SECONDS * hz),
        .cycles_per_ns = machine->clock_ghz,
        .wake_latency = (uint64_t)(machine->chip.wake_latency * machine->clock_ghz),
        .wake_cost = (uint64_t)(machine->chip.wake_cost * machine->clock_ghz),
        .fall_asleep = (uint64_t)(TOGETHER_FALL_ASLEEP_NS * machine->clock_ghz)};
    result->done = true;
    result->cores = chip.cores;
    result->placed = options->affinity;
    bool good = read_threads(&chip, error) &&
                thread_events_read(options->path, &chip.events, error) &&
                wake_pairs_find(&chip.events, &chip.pairs, error) && make_tables(&chip, error) &&
                find_routines(&chip, error) && chip_sampling_begin(&chip, error);
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
        polled_sleeps_free(&chip.polled);
    }
    chip_forks_end(&chip, false);
    if (good)
        chip_sampling_finish(&chip);
    run->simulation->seconds = clock_monotonic() - run->started;
    if (result->wait_count)
        qsort(result->waits, result->wait_count, sizeof *result->waits, most_cycles_first);
    free_run(&chip);
    return good;
}

static void together_scale_free(struct together_scale *scale) {
    free(scale->counts);
    free(scale->units);
}

void together_messages_free(struct together_messages *messages) {
    for (uint32_t i = 0; i < messages->count; i++)
        free(messages->of[i].items);
    free(messages->of);
    *messages = (struct together_messages){.of = NULL};
}

void together_result_free(struct together_result *result) {
    for (uint32_t i = 0; i < result->scale_count; i++)
        together_scale_free(&result->scales[i]);
    free(result->threads);
    free(result->courses);
    free(result->counts);
    free(result->waits);
    free(result->segments);
    free(result->spans);
    *result = (struct together_result){.done = false};
}
