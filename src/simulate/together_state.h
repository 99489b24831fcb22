/* Inside of this room: threads under way on a chip. */
#pragma once

#include "simulate/guest_spin.h"
#include "simulate/lock_entries.h"
#include "simulate/lock_table.h"
#include "simulate/polled_sleeps.h"
#include "simulate/run_state.h"
#include "simulate/together.h"
#include "simulate/together_plan.h"
#include "simulate/work_meter.h"
#include "trace/thread_event_list.h"
#include "trace/wake_pairs.h"

#define NOT_YET UINT64_MAX
enum { ALONE_CYCLES = 1 << 14 }; /* that the only running thread goes ahead */

enum { AWAITED_CYCLES = 32 }; /* steps in which one goes on that another waits for */

enum { CALLS_KEPT = 64 };
enum { LOCKS_HELD = 32 }; /* by a thread: of so many, those taken last, it is known */

enum guest_life { GUEST_UNBORN, GUEST_ALIVE, GUEST_OVER };

struct guest {
    uint32_t thread;
    enum guest_life life;
    enum thread_state state; /* of one that is alive */
    uint64_t since;          /* cycle in which it began */
    uint64_t ready;          /* READY, SLEEPING: the cycle from which it may run */
    uint64_t turn_end;
    int core; /* RUNNING: the one it is on; else the one it had; −1: none */
    struct guest_input input;
    struct lane *lane;
    bool draining;  /* the pipeline runs empty: */
    bool has_event; /* for `event`; else for another thread, or the end */
    bool at_end;
    struct thread_event event;
    uint32_t caller;          /* of it */
    bool timed;               /* SLEEPING: in a futex, with a time limit */
    bool monitors;            /* it is a run-time system's, lock_routine_is_monitor() */
    bool polls;               /* SLEEPING: until `order` is met, of which it is woken if `timed` */
    struct guest_spin spin;   /* what is held back of the input */
    uint64_t dropped;         /* instructions, of rounds of spinning */
    uint32_t last_insn;       /* that was handed to the core; static instruction */
    struct trace_order order; /* SPINNING: what it waits for; with `has_order`, what it is to */
    uint64_t order_address;
    uint32_t order_site;           /* static instruction that reads */
    struct trace_order *messages;  /* lock_messages.h: by reader; `written` as the guest counts */
    size_t message_count, message; /* the next one */
    bool messages_known;           /* they are others' (together.h) */
    bool awaits;                   /* SPINNING or WAITING for `order` */
    bool by_message;               /* `order` is one */
    bool by_channel;               /* that was written to a pipe or the like */
    bool spun;                     /* rounds of a loop were dropped before `order` */
    bool of_end;                   /* `order` is: it sees that the writer has ended */
    bool has_order;                /* the pipeline runs empty for it */
    bool tells;             /* the pipeline runs empty because a thread waits for what it writes */
    uint64_t least_awaited; /* instructions behind which the first such thread goes on */
    size_t waits_for;       /* WAITING for an event: its place in the list; else SIZE_MAX */

    /* The routine that it is in, of those that lock_entries.h knows. */
    enum lock_entry routine;
    bool acted;            /* what the routine is for has been done, */
    uint64_t acted_at;     /* by the instruction here */
    uint64_t return_to;    /* address behind its call */
    uint32_t routine_call; /* static instruction; UINT32_MAX: none */
    bool returned;         /* by the last instruction */
    bool left_out;         /* its instructions are, up to its return (lock_remedy.h) */
    uint32_t inner_calls;  /* of it, under way: then */
    uint32_t call_count;   /* calls under way; a ring has the innermost */
    struct guest_call {
        uint64_t return_to;
        uint32_t insn;
    } calls[CALLS_KEPT];
    struct guest_action {
        enum { DO_NOTHING, DO_TAKE, DO_GIVE, DO_ARRIVE } what;
        struct lock *lock;
        bool reads;
        bool tries;         /* it has it if it had in the captured run: guest_settle_try() */
    } action;               /* that the pipeline runs empty for, and then that it waits for */
    uint32_t ender;         /* thread that ends its wait; COURSE_NOBODY */
    uint32_t other_site;    /* of what it waits for: struct together_wait */
    struct lock *woken_for; /* it was woken to try to take it once more; NULL: it was not */
    bool counted;           /* the barrier that it is in has a number of parties */
    struct lock *to_take;   /* behind the routine: a condition's lock, again, or one that it has
                               tried to take or has taken by plain stores */
    uint64_t tries;         /* address of the lock that it may then take so; 0: none */
    struct lock *held[LOCKS_HELD];
    uint32_t held_count;

    /* With regions (together_sampling.c). */
    uint64_t clock;     /* RUNNING, fast: the cycle that it is in */
    uint32_t pace;      /* cycles of PACE_ONE instructions, fast */
    uint64_t run_insns; /* in this region, and for how many cycles it ran */
    uint64_t run_cycles;
};
enum { PACE_ONE = 1 << 8 };

/* Instructions of its input that have come, without those that are held back. */
static inline uint64_t guest_place(const struct guest *guest) {
    return guest_input_position(&guest->input) - guest_spin_backlog(&guest->spin);
}

/* Of its calls under way, by number: the static instruction that calls. */
static inline uint32_t guest_call_site(const struct guest *guest, uint32_t number) {
    return guest->calls[number % CALLS_KEPT].insn;
}

/* Where the run is: between its regions, or in one. */
struct chip_sampling {
    bool fast;          /* threads only go through their instructions; else they are in a region */
    uint64_t warm_from; /* instructions of the run behind which, fast, caches, directory and
                           predictors are kept up */
    uint32_t region;    /* under way, or the next */
    struct work_meter meter; /* what has been handed to cores, or passed over */
    uint64_t target;         /* work with which it begins, or ends */
    uint64_t weight;         /* of the region, times itself; 0: fast */
    uint64_t work_before;    /* work with which it began */
    double owed;     /* work that those before should have stood for besides, or beyond: weights are
                        whole numbers, and a region ends where its threads can */
    uint64_t start;  /* its first cycle */
    uint64_t cycles; /* of all regions, weighted */
    uint64_t window_cycles;                /* of the last stretch of cycles that counted */
    uint64_t region_weight, region_cycles; /* of the region under way */
    struct coherence_statistics coherence_before;
    struct core_totals {
        uint64_t instructions, cycles, states[STATE_COUNT];
    } before;                                /* of cores: weighted, at its beginning */
    uint64_t *units;                         /* likewise, by signature */
    struct region_sample *samples, *elapsed; /* of the regions that are done: of the cores' cycles,
                                                and of the program's */
    struct course_counts *counts_of_region;
    struct course_thread *courses_of_region;
    struct simulation_options idealised; /* in a process of an idealisation (region_forks.h) */
};

struct chip_run {
    struct simulation_state *run;
    const struct together *options;
    struct together_result *result;
    struct thread_event_list events;
    struct wake_pairs pairs;
    struct polled_sleeps polled; /* of the process under way */
    struct lock_table locks;     /* of the process under way */
    struct lock_entries *entries;
    const uint16_t *lock_flags;
    uint64_t *event_cycles; /* by event of the list; NOT_YET */
    uint32_t *event_callers;
    uint32_t *process_of; /* by thread; UINT32_MAX: it has no instructions */
    uint64_t *insns_of;   /* by thread: how many the captured run has */
    struct guest *guests; /* by thread */
    uint32_t *alive;      /* threads */
    uint32_t alive_count;
    uint32_t thread_count;
    struct shared_memory *memory; /* of the process under way */
    struct thread_course *course; /* likewise */
    uint32_t process, cores;
    int64_t *on_core;            /* thread; −1: the core is free */
    uint32_t *last_on;           /* by core: thread that has it or had it last; UINT32_MAX: none */
    struct memory_access *moved; /* accesses of a piece, with remedies */
    size_t moved_capacity;
    uint64_t *core_free; /* since when */
    uint64_t slack, turn;
    uint64_t others; /* the cycle that the threads have come to that do not run in this turn */
    double cycles_per_ns;
    uint64_t wake_latency, wake_cost; /* cycles */
    uint64_t fall_asleep;             /* likewise: TOGETHER_FALL_ASLEEP_NS */
    uint64_t end;                     /* the last cycle in which a thread ended */
    uint64_t latest;                  /* or came to */
    bool news;                        /* a thread has become ready in this turn */
    bool exited;                      /* the process: a thread has ended it */
    uint64_t exit;          /* in this cycle, behind which nothing is done; NOT_YET: else */
    bool met_outside;       /* a thread waited for what others may have done unseen */
    bool counting, counted; /* chip_count_locks() is under way, or has been */
    struct lock_try {       /* at a place of a thread: it had the lock */
        uint32_t thread;
        uint64_t place; /* instructions of the thread before */
    } * tries;          /* by thread and place */
    size_t try_count, try_capacity;
    struct chip_sampling *sampling; /* NULL: all is simulated */
};

static inline bool chip_is_fast(const struct chip_run *chip) {
    return chip->sampling && chip->sampling->fast;
}

/* A region is to begin, or to end. */
static inline bool chip_is_due(const struct chip_run *chip) {
    return chip->sampling && chip->sampling->meter.work >= chip->sampling->target;
}

/* ---- what becomes of a thread in a cycle (together_events.c) ---- */

/* Made by `creator` (COURSE_NOBODY: not known), unless it lives already or is of another process.
 */
void guest_be_born(struct chip_run *chip, uint32_t thread, uint32_t creator, uint64_t cycle);
/* It may have a core from this cycle on, or from when it came to its state if that is later. */
void guest_get_ready(struct chip_run *chip, struct guest *guest, uint64_t cycle);
/* It has come to its event. */
bool guest_handle_event(struct chip_run *chip, struct guest *guest, uint64_t cycle,
                        struct error *error);
/* It is to wait for the event, by its place in the list, unless that has taken place. */
bool guest_wait_for_event(struct chip_run *chip, struct guest *guest, size_t place, uint64_t cycle,
                          struct error *error);

void guest_enter(struct chip_run *chip, struct guest *guest, enum thread_state state,
                 uint64_t cycle);
/* Its time in its state until then counts. */
void guest_spend(struct chip_run *chip, struct guest *guest, uint64_t until);
void guest_leave_core(struct chip_run *chip, const struct guest *guest, uint64_t cycle);
/* What it waits for has taken from when it began to `until`, and that counts; the last `waking` of
 * them it was being woken. `over`: the wait is. */
bool guest_note_wait(struct chip_run *chip, struct guest *guest, uint64_t until, uint64_t waking,
                     bool over, struct error *error);
enum course_activity guest_activity(const struct chip_run *chip, const struct guest *guest);
/* A running thread, whose pipeline is empty, wakes others in this cycle: what that takes. */
bool guest_pay_for_wake(struct chip_run *chip, struct guest *guest, uint64_t cycle,
                        struct error *error);
/* Whether a waiting thread has fallen asleep by then: else it need not be woken. */
static inline bool guest_sleeps(const struct chip_run *chip, const struct guest *guest,
                                uint64_t cycle) {
    return (guest->state == THREAD_LOCKED || guest->state == THREAD_WAITING) &&
           cycle > guest->since + chip->fall_asleep;
}
/* A sleeping thread is woken by another, at this static instruction, as if it had waited for it. */
bool guest_end_sleep(struct chip_run *chip, struct guest *guest, uint32_t ender, uint32_t site,
                     uint64_t cycle, struct error *error);
/* What a sleeping thread polls has been written in this cycle, by another thread, at this static
 * instruction: it sleeps on to its time, but has waited for that until now. */
bool guest_sleep_on(struct chip_run *chip, struct guest *guest, uint32_t ender, uint32_t site,
                    uint64_t cycle, struct error *error);
/* A waiting thread goes on in `cycle`, or when it had come if that is later; it is woken then, if
 * it has waited. */
bool guest_end_wait(struct chip_run *chip, struct guest *guest, uint64_t cycle,
                    struct error *error);

/* ---- the end of all (together_end.c) ---- */

/* Running threads end with what is in their pipelines, the others where the last of those does. */
bool chip_end_here(struct chip_run *chip, struct error *error);
/* Before: what the captured run has beyond that is left out. */
void chip_count_cut(struct chip_run *chip);

/* ---- a thread on a core (together_guest.c) ---- */

/* The free core for a thread: the one it is kept on; else the one it had, or the first. −1: none.
 */
int guest_free_core(const struct chip_run *chip, const struct guest *guest);
bool guest_give_core(struct chip_run *chip, struct guest *guest, int core, struct error *error);
/* Runs a thread until it dispatches in cycle `until`, or is not on its core any more, or has made
 * another one ready. `others_wait`: for a core. */
bool guest_run(struct chip_run *chip, struct guest *guest, uint64_t until, bool others_wait,
               struct error *error);
/* It has ended, or the simulation does; it is not on a core any more. */
bool guest_end_life(struct chip_run *chip, struct guest *guest, uint64_t cycle,
                    struct error *error);

/* Has a core made for it, if it has none, with the memory of the one that it is on. */
bool guest_make_core(struct chip_run *chip, struct guest *guest, struct error *error);
/* Where a thread on a core is. */
static inline uint64_t guest_cycle(const struct chip_run *chip, const struct guest *guest) {
    return chip_is_fast(chip) || !guest->lane ? guest->clock : core_cycle(guest->lane->core);
}

/* ---- regions that stand for the run (together_sampling.c) ---- */

/* With a profile or a plan; else nothing. */
bool chip_sampling_begin(struct chip_run *chip, struct error *error);
void chip_sampling_free(struct chip_run *chip);
/* No thread runs until this one does, in `until`: that counts once, wherever it is. */
bool chip_sampling_idle(struct chip_run *chip, uint64_t until, struct error *error);
/* What is due between two turns. */
bool chip_sampling_turn(struct chip_run *chip, struct error *error);
/* A process begins: its threads' time counts from there. */
void chip_sampling_process(struct chip_run *chip);
/* It ends, and with it the region under way. */
bool chip_sampling_process_end(struct chip_run *chip, struct error *error);
/* The run is over: what regions stand for. */
void chip_sampling_finish(struct chip_run *chip);

/* The thread goes through them, fast. */
bool chip_pass(struct chip_run *chip, struct guest *guest, const struct trace_batch *piece,
               struct error *error);

/* How often a cycle of [from, to), or something that ends it, counts: *cycles are those of it that
 * do. */
static inline uint64_t chip_weight(const struct chip_run *chip, uint64_t from, uint64_t to,
                                   uint64_t *cycles) {
    const struct chip_sampling *sampling = chip->sampling;
    if (sampling && from < sampling->start)
        from = sampling->start;
    *cycles = to > from ? to - from : 0;
    return sampling ? sampling->weight : 1;
}

/* ---- orders of the captured run (together_orders.c) ---- */

/* What comes next is bound by an order. */
void guest_take_order(struct chip_run *chip, struct guest *guest, const struct trace_order *order);
/* The pipeline has run empty for it: the thread goes on, or waits. */
bool guest_follow_order(struct chip_run *chip, struct guest *guest, uint64_t cycle,
                        struct error *error);
/* Whether a thread that has not spun for it reads what this one is to write. */
bool guest_is_read_ahead(const struct chip_run *chip, const struct guest *writer);
/* Whether the thread that is to write waits for what the other one, which waits for events until
 * that, does next. How often it does something in between follows from time, so that the writer
 * would not have to wait in a run that takes as long as the program: Python's interpreter is handed
 * over each time. */
bool guest_is_awaited(const struct chip_run *chip, const struct guest *guest, uint32_t writer);
/* Whether anybody waits for what a monitor is to do: in the captured run, which took longer, it did
 * that later, after sleeps that the program has no time for. */
bool guest_monitor_is_awaited(const struct chip_run *chip, const struct guest *guest);
/* The thread waits for the other one now: if that sleeps for what it is to write, or is a monitor,
 * it sleeps no longer. */
bool guest_end_sleep_awaited(struct chip_run *chip, const struct guest *guest, uint32_t other,
                             uint64_t cycle, struct error *error);
/* It sleeps, and who writes what it looks for ends that, if it waits with a time limit; NULL:
 * nobody does. */
void guest_poll(struct chip_run *chip, struct guest *guest, const struct trace_order *order);
/* Whether its writer has come there. */
bool chip_order_is_done(const struct chip_run *chip, const struct trace_order *order);
/* Who waits for what the thread has done by now goes on. */
bool guest_orders_reached(struct chip_run *chip, struct guest *guest, uint64_t cycle,
                          struct error *error);
/* It has read what the writer wrote to a pipe or the like. */
bool guest_await_writer(struct chip_run *chip, struct guest *guest, const struct trace_order *order,
                        uint64_t cycle, struct error *error);
/* The thread's next instruction takes a lock, to read or write what is handed to it or by it.
 * False: it is bound by no message. */
bool guest_take_message(struct chip_run *chip, struct guest *guest);
/* Of so many instructions those up to one that another thread waits for, or to the next message. */
uint32_t guest_before_awaited(const struct guest *guest, uint32_t most);
/* It has just been handed to the core. */
bool guest_is_at_awaited(const struct guest *guest);

/* ---- locks and barriers (together_locks.c) ---- */

/* The next instruction from `first` on that may have to do with a lock. */
uint32_t guest_plain(const struct chip_run *chip, const struct guest *guest,
                     const struct trace_batch *piece, uint32_t first);
/* Looks through the thread's next instructions. Returns how many of them come before something is
 * to be done of a lock: it is taken before the atomic operation on its word, given up behind it.
 * Their number: nothing is. UINT32_MAX: an error. */
uint32_t guest_look(struct chip_run *chip, struct guest *guest, const struct trace_batch *piece,
                    struct guest_action *action, struct error *error);
/* Of a routine that is left out: how many of the next instructions are not simulated. */
uint32_t guest_leave_out(const struct chip_run *chip, struct guest *guest,
                         const struct trace_batch *piece);
/* Does at once what concerns no other thread, as of a lock that only one has wanted; for the rest
 * the pipeline is to run empty first, so that its cycle is known. */
void guest_begin_action(struct guest *guest, const struct guest_action *action);
/* It has. */
bool guest_act(struct chip_run *chip, struct guest *guest, uint64_t cycle, struct error *error);
/* Of a lock whose being taken no instruction tells, before what comes at this place of the thread:
 * nothing is done if it was not taken in the captured run. */
void guest_settle_try(struct chip_run *chip, const struct guest *guest, uint64_t place,
                      struct guest_action *action);
/* Only who has what is noted, as of a thread for which there is no time. */
void guest_note_action(struct guest *guest, const struct guest_action *action);
/* Reads all threads of the process once: the table of locks then has who takes each (struct lock,
 * `common`), and how many come to each barrier. */
bool chip_count_locks(struct chip_run *chip, struct error *error);
/* The same, once; without memory for it, what it tells is not known. */
void chip_know_locks(struct chip_run *chip);
/* Whether the thread, by what it tries at this place, had the lock in the captured run. */
bool chip_had_tried(struct chip_run *chip, uint32_t thread, uint64_t place);
/* The barrier at an address, with the number of those that meet there, if it is known
 * (together_barriers.c). NULL: no memory. */
struct lock *barrier_at(struct chip_run *chip, uint64_t address);
/* The thread gives a lock up. */
bool guest_give(struct chip_run *chip, struct guest *guest, struct lock *lock, uint64_t cycle,
                struct error *error);
/* Whatever others have of the lock that it waits for, it has it. */
void guest_force(struct guest *guest);
/* A thread that has a lock waits for what the writer is to write: if that one waits for the lock,
 * it has it now, and goes on. */
bool guest_break_circle(struct chip_run *chip, struct guest *writer, uint64_t cycle,
                        struct error *error);
/* The call by which the thread came from another image into that of the system call that it makes,
 * or, of a program that is one image, into the routine that makes it, or waits by it for its
 * caller: static instruction; UINT32_MAX: none is under way. */
uint32_t guest_caller(const struct chip_run *chip, const struct guest *guest);
/* Whether the event is of a lock, or barrier, that is had in simulated time. */
bool guest_event_is_of_lock(const struct chip_run *chip, const struct guest *guest);
/* The time for which it waits has run out: a lock that it was to have by then it does not take. */
void guest_give_up_lock(struct guest *guest);

/* ---- regions simulated again with idealisations (together_forks.c) ---- */

/* A region begins; returns in each process that was forked for it, too, which goes on with cores
 * that are idealised. */
bool chip_forks_begin(struct chip_run *chip, struct error *error);
/* It has ended, or the whole has, `good` or not: such a process ends here. */
void chip_forks_end(struct chip_run *chip, bool good);
