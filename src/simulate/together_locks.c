/* A routine of the C library acts where it first touches memory atomically: that is the lock's
 * word, or one of the barrier's; a process of one thread takes mutexes by plain stores. What it
 * does besides, like waiting in a futex because the captured run had to, is simulated as
 * instructions that take their time and no more. */
#include "simulate/together_state.h"

#include <string.h>

#include "simulate/lock_remedy.h"
#include "util/array.h"

/* Of glibc. */
enum {
    LOCK_BYTES = 64, /* no mutex or rwlock is larger */
    WORD_BYTES = 4,  /* of a mutex's word, with which it begins, and of who has it */
    OWNER = 8        /* where in a mutex it is written who has it */
};

/* ---- who has what ---- */

static void hold(struct guest *guest, struct lock *lock) {
    if (guest->held_count < LOCKS_HELD)
        guest->held[guest->held_count++] = lock;
}

static void let_loose(struct guest *guest, const struct lock *lock) {
    for (uint32_t i = guest->held_count; i-- > 0;)
        if (guest->held[i] == lock) {
            memmove(guest->held + i, guest->held + i + 1,
                    (--guest->held_count - i) * sizeof *guest->held);
            return;
        }
}

static void have(struct guest *guest, struct lock *lock) {
    lock->site = guest->routine_call;
    hold(guest, lock);
}

static bool wake_to_try(struct chip_run *chip, struct guest *guest, struct lock *lock,
                        struct guest *waiter, uint64_t cycle, struct error *error) {
    const struct guest_action action = waiter->action;
    waiter->ender = guest->thread;
    if (!guest_end_wait(chip, waiter, cycle, error))
        return false;
    waiter->action = action;
    waiter->draining = true;
    waiter->woken_for = lock;
    lock->waking++;
    return true;
}

/* The next one does not run yet: no core is free for it, or waking it takes time. It must not have
 * the lock before it runs, so the lock is free, and it tries once more then; with it who reads if
 * it does. Until they have, nobody else is woken. */
static bool offer(struct chip_run *chip, struct guest *guest, struct lock *lock, uint64_t cycle,
                  struct error *error) {
    const bool wakes = guest_sleeps(chip, &chip->guests[lock->waiters[0].thread], cycle);
    size_t count = 0;
    lock_free(lock, guest->thread);
    if (lock->owner != LOCK_NOBODY || lock->readers || lock->waking)
        return true;
    do {
        struct guest *waiter = &chip->guests[lock->waiters[count++].thread];
        if (!wake_to_try(chip, guest, lock, waiter, cycle, error))
            return false;
    } while (count < lock->waiter_count && lock->waiters[count - 1].reads &&
             lock->waiters[count].reads);
    lock_forget(lock, count);
    return !wakes || guest_pay_for_wake(chip, guest, cycle, error);
}

/* Whether the first in line can have the lock at once. */
static bool is_at_hand(const struct chip_run *chip, const struct lock *lock, uint64_t cycle) {
    const struct guest *first = &chip->guests[lock->waiters[0].thread];
    return guest_free_core(chip, first) >= 0 &&
           !(chip->wake_latency && guest_sleeps(chip, first, cycle));
}

bool guest_give(struct chip_run *chip, struct guest *guest, struct lock *lock, uint64_t cycle,
                struct error *error) {
    let_loose(guest, lock);
    if (lock->waiter_count && !is_at_hand(chip, lock, cycle))
        return offer(chip, guest, lock, cycle, error);
    const size_t next = lock_release(lock, guest->thread);
    for (size_t i = 0; i < next; i++) {
        struct guest *waiter = &chip->guests[lock->waiters[i].thread];
        have(waiter, lock);
        waiter->ender = guest->thread;
        if (!guest_end_wait(chip, waiter, cycle, error))
            return false;
    }
    lock_forget(lock, next);
    return true;
}

void guest_force(struct guest *guest) {
    struct lock *lock = guest->action.lock;
    lock_force(lock, guest->thread);
    if (!lock->barrier)
        have(guest, lock);
}

/* Its owner waits for what this thread is to write: in the captured run this thread had it first.
 */
static bool owner_waits_for(const struct chip_run *chip, const struct guest *guest) {
    const uint32_t owner = guest->action.lock->owner;
    return owner != LOCK_NOBODY && chip->guests[owner].awaits &&
           chip->guests[owner].order.writer == guest->thread;
}

bool guest_break_circle(struct chip_run *chip, struct guest *writer, uint64_t cycle,
                        struct error *error) {
    if (writer->state != THREAD_LOCKED || !writer->action.lock || !owner_waits_for(chip, writer))
        return true;
    guest_force(writer);
    return guest_end_wait(chip, writer, cycle, error);
}

static bool wait_in_line(struct chip_run *chip, struct guest *guest, uint64_t cycle,
                         struct error *error) {
    struct lock *lock = guest->action.lock;
    if (!lock->barrier && owner_waits_for(chip, guest)) {
        guest_force(guest);
        guest->action = (struct guest_action){.what = DO_NOTHING};
        return true;
    }
    if (!lock_wait(lock, guest->thread, guest->action.reads))
        return error_set(error, "out of memory for waiting threads");
    guest->other_site = lock->site;
    guest_leave_core(chip, guest, cycle);
    guest_enter(chip, guest, lock->barrier ? THREAD_WAITING : THREAD_LOCKED, cycle);
    return true;
}

/* The last one opens the barrier. */
static bool arrive_at(struct chip_run *chip, struct guest *guest, uint64_t cycle,
                      struct error *error) {
    struct lock *barrier = guest->action.lock;
    if (++barrier->arrived < barrier->parties)
        return wait_in_line(chip, guest, cycle, error);
    bool wakes = false;
    barrier->arrived = 0;
    for (size_t i = 0; i < barrier->waiter_count; i++) {
        struct guest *waiter = &chip->guests[barrier->waiters[i].thread];
        waiter->other_site = guest->routine_call;
        waiter->ender = guest->thread;
        wakes |= guest_sleeps(chip, waiter, cycle);
        if (!guest_end_wait(chip, waiter, cycle, error))
            return false;
    }
    if (wakes && !guest_pay_for_wake(chip, guest, cycle, error))
        return false;
    lock_forget(barrier, barrier->waiter_count);
    guest->action = (struct guest_action){.what = DO_NOTHING};
    return true;
}

bool guest_act(struct chip_run *chip, struct guest *guest, uint64_t cycle, struct error *error) {
    struct lock *lock = guest->action.lock;
    if (guest->woken_for) {
        guest->woken_for->waking--;
        guest->woken_for = NULL;
    }
    switch (guest->action.what) {
    case DO_TAKE:
        if (!lock_take(lock, guest->thread, guest->action.reads))
            return wait_in_line(chip, guest, cycle, error);
        have(guest, lock);
        break;
    case DO_GIVE:
        if (!guest_give(chip, guest, lock, cycle, error))
            return false;
        break;
    case DO_ARRIVE:
        return arrive_at(chip, guest, cycle, error);
    case DO_NOTHING:
        break;
    }
    guest->action = (struct guest_action){.what = DO_NOTHING};
    return true;
}

void guest_begin_action(struct guest *guest, const struct guest_action *action) {
    struct lock *lock = action->lock;
    lock->shared |= lock->last != LOCK_NOBODY && lock->last != guest->thread;
    lock->last = guest->thread;
    if (action->what == DO_TAKE && !lock->shared && lock_take(lock, guest->thread, action->reads)) {
        have(guest, lock);
    } else if (action->what == DO_GIVE && !lock->shared) {
        let_loose(guest, lock);
        lock_release(lock, guest->thread);
    } else {
        guest->action = *action;
        guest->draining = true;
    }
}

void guest_settle_try(struct chip_run *chip, const struct guest *guest, uint64_t place,
                      struct guest_action *action) {
    if (action->tries && !chip_had_tried(chip, guest->thread, place))
        action->what = DO_NOTHING;
    action->tries = false;
}

void guest_note_action(struct guest *guest, const struct guest_action *action) {
    if (action->what == DO_TAKE)
        hold(guest, action->lock);
    else if (action->what == DO_GIVE)
        let_loose(guest, action->lock);
}

/* ---- among the instructions ---- */

/* The lock that the thread has and that an unlock touches first at this address: another of its
 * words, perhaps, if no lock begins there. NULL: it is not known to have it. */
static struct lock *held_at(const struct guest *guest, uint64_t address) {
    for (uint32_t i = guest->held_count; i-- > 0;)
        if (guest->held[i]->address == address)
            return guest->held[i];
    for (uint32_t i = guest->held_count; i-- > 0;)
        if (guest->held[i]->address / LOCK_BYTES == address / LOCK_BYTES ||
            address - guest->held[i]->address < LOCK_BYTES)
            return guest->held[i];
    return NULL;
}

static bool tries_to_read(const struct guest *guest) {
    return guest->routine == ENTRY_TRY_READ || guest->routine == ENTRY_READ_BY_TIME;
}

/* The lock that the thread has, or when locks are counted has tried for, and that begins there. */
static struct lock *begins_at(const struct chip_run *chip, const struct guest *guest,
                              uint64_t address) {
    struct lock *lock = lock_table_find(&chip->locks, address);
    if (chip->counting)
        return lock && lock->tried ? lock : NULL;
    return lock && any_where(i, guest->held_count, guest->held[i] == lock) ? lock : NULL;
}

/* This lock, or all, by what is tried. */
static bool are_gone(const struct chip_run *chip, uint64_t address) {
    return (chip->options->locks && chip->options->locks->all_gone) ||
           lock_remedies_open(chip->options->locks, chip->process, address);
}

/* What the routine is for, at its first atomic operation, on this address. False: no memory. */
static bool find_action(struct chip_run *chip, struct guest *guest, uint64_t address,
                        struct guest_action *action) {
    action->reads = guest->routine == ENTRY_READ_LOCK;
    switch (guest->routine) {
    case ENTRY_LOCK:
    case ENTRY_READ_LOCK:
        if (lock_remedies_open(chip->options->locks, chip->process, address))
            return true;
        action->what = DO_TAKE;
        return (action->lock = lock_table_at(&chip->locks, address));
    case ENTRY_UNLOCK:
        if ((action->lock =
                 chip->counting ? begins_at(chip, guest, address) : held_at(guest, address)))
            action->what = DO_GIVE;
        return true;
    case ENTRY_CONDITION:
        if (!guest->held_count)
            return true;
        action->what = DO_GIVE;
        action->lock = guest->to_take = guest->held[guest->held_count - 1];
        return true;
    case ENTRY_TRY:
        if (!are_gone(chip, address))
            guest->tries = address;
        return true;
    case ENTRY_TRY_SPIN:
        if (are_gone(chip, address) && !chip->counting)
            return true;
        action->what = DO_TAKE;
        action->tries = true;
        return (action->lock = lock_table_at(&chip->locks, address));
    case ENTRY_TRY_READ: /* the operation is left out where it cannot be had at once */
    case ENTRY_READ_BY_TIME:
        return are_gone(chip, address) || (guest->to_take = lock_table_at(&chip->locks, address));
    case ENTRY_BARRIER:
        if (!(action->lock = barrier_at(chip, address)))
            return false;
        if (chip->counting)
            return true;
        guest->counted = action->lock->parties;
        if (guest->counted)
            action->what = DO_ARRIVE;
        return true;
    default:
        return true;
    }
}

bool guest_event_is_of_lock(const struct chip_run *chip, const struct guest *guest) {
    const struct lock *lock = lock_table_find(&chip->locks, guest->event.address);
    switch (guest->routine) {
    case ENTRY_NONE:
        return false;
    case ENTRY_CONDITION:
        return lock && !lock->barrier;
    case ENTRY_BARRIER:
        return guest->counted;
    case ENTRY_TRY:
    case ENTRY_TRY_READ:
    case ENTRY_READ_BY_TIME:
        return !thread_event_waited_in_vain(&guest->event);
    default:
        return true;
    }
}

void guest_give_up_lock(struct guest *guest) {
    if (guest->routine != ENTRY_TRY && !tries_to_read(guest))
        return;
    guest->tries = 0;
    guest->to_take = NULL;
}

static struct guest_call *call_at(struct guest *guest, uint32_t number) {
    return &guest->calls[number % CALLS_KEPT];
}

uint32_t guest_caller(const struct chip_run *chip, const struct guest *guest) {
    uint32_t innermost = UINT32_MAX; /* of those that are of no routine that waits for others */
    const struct code *code = trace_code(guest->input.trace);
    const uint32_t image = guest_input_image(&guest->input);
    const uint32_t least = guest->call_count > CALLS_KEPT ? guest->call_count - CALLS_KEPT : 0;
    for (uint32_t count = guest->call_count; count > least; count--) {
        const uint32_t insn = guest_call_site(guest, count - 1);
        if (code->insns[insn].image != image)
            return insn;
        if (innermost == UINT32_MAX && !(chip->lock_flags[insn] & LOCK_FOR_CALLER))
            innermost = insn;
    }
    return innermost;
}

static void note_call(struct guest *guest, uint32_t insn, const struct static_insn *call) {
    *call_at(guest, guest->call_count++) =
        (struct guest_call){.return_to = call->address + call->length, .insn = insn};
}

/* The calls up to the one that it returned from are over. A return to elsewhere ends none. */
static void note_return(struct guest *guest, uint64_t address) {
    const uint32_t least = guest->call_count > CALLS_KEPT ? guest->call_count - CALLS_KEPT : 0;
    for (uint32_t count = guest->call_count; count > least; count--)
        if (call_at(guest, count - 1)->return_to == address) {
            guest->call_count = count - 1;
            return;
        }
}

static void enter_routine(struct guest *guest, enum lock_entry routine) {
    const struct guest_call *call = call_at(guest, guest->call_count - 1);
    guest->routine = routine;
    guest->routine_call = call->insn;
    guest->return_to = call->return_to;
    guest->acted = false;
    guest->tries = 0;
    guest->inner_calls = 0;
}

/* A thread that tries to take a lock, or waits for it no longer than to some time, writes that it
 * has it, behind the atomic operation, and not by another one, which it does when the first has
 * failed because of another thread, and may fail, too. It is had at the end of the routine then,
 * unless its time has run out: who has it in simulated time may be another than in the captured
 * run, and is waited for. False: no memory. */
static bool see_try(struct chip_run *chip, struct guest *guest, const struct memory_access *access,
                    uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (access[i].is_store && access[i].address - guest->tries < LOCK_BYTES)
            return (guest->to_take = lock_table_at(&chip->locks, guest->tries));
    return true;
}

/* The only thread that there is takes a mutex by plain stores: of its word, then of who has it. One
 * that it has already gets no new owner. It is had at the end of the routine. False: no memory. */
static bool see_plain_lock(struct chip_run *chip, struct guest *guest,
                           const struct memory_access *access, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!access[i].is_store || access[i].size_bytes != WORD_BYTES)
            continue;
        if (!guest->tries)
            guest->tries = access[i].address;
        else if (access[i].address == guest->tries + OWNER &&
                 !lock_remedies_open(chip->options->locks, chip->process, guest->tries))
            return (guest->to_take = lock_table_at(&chip->locks, guest->tries));
    }
    return true;
}

static bool see_stores(struct chip_run *chip, struct guest *guest, bool atomic,
                       const struct memory_access *access, uint32_t count) {
    if (guest->routine == ENTRY_TRY && guest->tries)
        return atomic || see_try(chip, guest, access, count);
    return guest->routine != ENTRY_LOCK || guest->acted ||
           see_plain_lock(chip, guest, access, count);
}

/* Whether a thread that tries to take a lock to read begins again: another thread came first, so
 * that its atomic operation failed. It may find then that the lock is written. */
static bool begins_again(const struct guest *guest, uint64_t address) {
    return guest->routine == ENTRY_TRY_READ && guest->acted && address < guest->acted_at;
}

/* Whether an instruction of an unlock writes the lock's own word, as that of a spin lock is given
 * back by a plain store. */
static bool gives_back(const struct chip_run *chip, const struct guest *guest,
                       const struct memory_access *access, uint32_t count) {
    return any_where(i, count, access[i].is_store && begins_at(chip, guest, access[i].address));
}

/* The routine that it returned from may have a lock to take, or to take again. */
static void leave_routine(struct guest *guest, struct guest_action *action) {
    if (guest->to_take)
        *action = (struct guest_action){
            .what = DO_TAKE, .lock = guest->to_take, .reads = tries_to_read(guest)};
    guest->to_take = NULL;
    guest->routine = ENTRY_NONE;
}

static bool is_left_out(const struct chip_run *chip, enum lock_entry routine) {
    const struct lock_remedies *locks = chip->options->locks;
    return locks && locks->all_gone &&
           (routine == ENTRY_LOCK || routine == ENTRY_READ_LOCK || routine == ENTRY_UNLOCK);
}

uint32_t guest_leave_out(const struct chip_run *chip, struct guest *guest,
                         const struct trace_batch *piece) {
    const struct code *code = trace_code(guest->input.trace);
    for (uint32_t i = 0; i < piece->insn_count; i++) {
        const uint32_t insn = piece->insns[i].insn;
        const uint16_t flags = chip->lock_flags[insn];
        if (code->insns[insn].address == guest->return_to ||
            (flags & LOCK_RETURN && guest->inner_calls == 0)) {
            guest->left_out = false;
            guest->acted = true;
            return i;
        }
        if (flags & LOCK_CALL)
            guest->inner_calls++;
        else if (flags & LOCK_RETURN)
            guest->inner_calls--;
    }
    return piece->insn_count;
}

uint32_t guest_plain(const struct chip_run *chip, const struct guest *guest,
                     const struct trace_batch *piece, uint32_t first) {
    uint32_t end = first;
    if (!guest->returned && !guest->routine)
        while (end < piece->insn_count && !chip->lock_flags[piece->insns[end].insn])
            end++;
    return end;
}

uint32_t guest_look(struct chip_run *chip, struct guest *guest, const struct trace_batch *piece,
                    struct guest_action *action, struct error *error) {
    const struct code *code = trace_code(guest->input.trace);
    for (uint32_t i = guest_plain(chip, guest, piece, 0); i < piece->insn_count;
         i = guest_plain(chip, guest, piece, i + 1)) {
        const struct dynamic_insn *insn = &piece->insns[i];
        const uint16_t flags = chip->lock_flags[insn->insn];
        if (guest->returned) {
            guest->returned = false;
            note_return(guest, code->insns[insn->insn].address);
        }
        if (guest->routine && code->insns[insn->insn].address == guest->return_to) {
            leave_routine(guest, action);
            if (action->what != DO_NOTHING)
                return i;
        }
        const struct memory_access *accesses =
            &piece->accesses[insn->memory - (uint32_t)piece->first_access];
        if (!guest->to_take &&
            !see_stores(chip, guest, flags & LOCK_ATOMIC, accesses, insn->memory_count)) {
            error_set(error, "out of memory for locks");
            return UINT32_MAX;
        }
        if (begins_again(guest, code->insns[insn->insn].address)) {
            guest->acted = false;
            guest->to_take = NULL;
        }
        if (!flags && guest->routine != ENTRY_UNLOCK)
            continue;
        if (flags & LOCK_ENTRY && !guest->routine && guest->call_count) {
            enter_routine(guest, flags & LOCK_ENTRY);
            if ((guest->left_out = is_left_out(chip, guest->routine)))
                return i;
        }
        guest->monitors |= (flags & LOCK_MONITOR) != 0;
        if (flags & LOCK_CALL)
            note_call(guest, insn->insn, &code->insns[insn->insn]);
        guest->returned = flags & LOCK_RETURN;
        const bool plain = guest->routine == ENTRY_UNLOCK && !(flags & LOCK_ATOMIC) &&
                           gives_back(chip, guest, accesses, insn->memory_count);
        if ((flags & LOCK_ATOMIC || plain) && guest->routine && !guest->acted &&
            insn->memory_count) {
            guest->acted = true;
            guest->acted_at = code->insns[insn->insn].address;
            guest->to_take = NULL; /* it was no lock by plain stores */
            if (!find_action(chip, guest, accesses[0].address, action)) {
                error_set(error, "out of memory for locks");
                return UINT32_MAX;
            }
            if (action->what != DO_NOTHING)
                return action->what == DO_GIVE ? i + 1 : i;
        }
    }
    return piece->insn_count;
}
