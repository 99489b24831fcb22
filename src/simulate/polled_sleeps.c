#include "simulate/polled_sleeps.h"

#include <stdlib.h>

#include "isa/insn.h"
#include "simulate/guest_input.h"
#include "trace/wake_pairs.h"
#include "util/array.h"
#include "util/order.h"
#include "util/random.h"

enum {
    LOOKS = 1 << 14, /* that are remembered of a thread */
    PROBES = 8,
    UNDECIDED = 16,       /* the last looks before a branch, which they may decide */
    MOST_INSNS = 1 << 20, /* of a round, on the average */
    NO_OUTCOME = UINT32_MAX
};

/* What an instruction reads at an address. */
struct look {
    uint64_t address;
    uint32_t insn;
    uint32_t first, last; /* rounds, from 1, of one outcome; `last` 0: free */
    uint32_t outcome;     /* static instruction behind the next conditional branch */
};

struct poller {
    struct look *looks;
    uint32_t round; /* from 1 */
    size_t *events; /* that end rounds: events[r - 1] ends round r */
    size_t event_capacity;
    struct undecided {
        struct look *look;
        uint64_t address;
        uint32_t insn;
        bool has_order;
        struct trace_order order;
    } undecided[UNDECIDED];
    uint64_t undecided_count; /* since the last branch; a ring has the last of them */
    bool at_branch;           /* the last instruction was a conditional branch */
    bool has_order;           /* of the next instruction */
    struct trace_order order;
};

/* In place of the one that was read least lately, if it is new. */
static struct look *look_at(const struct poller *poller, uint32_t insn, uint64_t address) {
    const uint64_t hash = random_mix(address ^ (uint64_t)insn << 48);
    struct look *oldest = NULL;
    for (uint32_t i = 0; i < PROBES; i++) {
        struct look *look = &poller->looks[(hash + i) % LOOKS];
        if (look->last && look->insn == insn && look->address == address)
            return look;
        if (!oldest || look->last < oldest->last)
            oldest = look;
    }
    *oldest = (struct look){.address = address,
                            .insn = insn,
                            .first = poller->round,
                            .last = poller->round,
                            .outcome = NO_OUTCOME};
    return oldest;
}

static void read_word(struct poller *poller, uint32_t insn, uint64_t address) {
    struct look *look = look_at(poller, insn, address);
    if (look->last + 1 < poller->round)
        look->first = poller->round;
    poller->undecided[poller->undecided_count++ % UNDECIDED] =
        (struct undecided){.look = look,
                           .address = address,
                           .insn = insn,
                           .has_order = poller->has_order,
                           .order = poller->order};
    look->last = poller->round;
}

/* The branch went the same way in the rounds from `first` on, before this one: their sleeps are for
 * the order. */
static bool add_sleeps(struct polled_sleeps *sleeps, const struct poller *poller, uint32_t first,
                       const struct trace_order *order) {
    for (uint32_t round = first; round < poller->round; round++) {
        const size_t event = poller->events[round - 1];
        if (sleeps->count && sleeps->sleeps[sleeps->count - 1].event >= event)
            continue;
        if (!array_push(sleeps->sleeps, sleeps->capacity, sleeps->count,
                        ((struct polled_sleep){event, *order, false})))
            return false;
    }
    return true;
}

/* A conditional branch has gone to `insn`. */
static bool decide(struct polled_sleeps *sleeps, struct poller *poller, uint32_t insn) {
    for (uint32_t i = 0; i < poller->undecided_count && i < UNDECIDED; i++) {
        const struct undecided *undecided = &poller->undecided[i];
        struct look *look = undecided->look;
        if (look->insn != undecided->insn || look->address != undecided->address ||
            look->outcome == insn)
            continue;
        if (undecided->has_order && look->outcome != NO_OUTCOME &&
            !add_sleeps(sleeps, poller, look->first, &undecided->order))
            return false;
        look->outcome = insn;
        look->first = poller->round;
    }
    poller->undecided_count = 0;
    return true;
}

static bool take_insns(struct polled_sleeps *sleeps, struct poller *poller,
                       const struct static_insn *code, const struct trace_batch *piece) {
    for (uint32_t i = 0; i < piece->insn_count; i++) {
        const struct dynamic_insn *insn = &piece->insns[i];
        const struct memory_access *accesses =
            &piece->accesses[insn->memory - (uint32_t)piece->first_access];
        if (poller->at_branch && !decide(sleeps, poller, insn->insn))
            return false;
        for (uint32_t n = 0; n < insn->memory_count; n++)
            if (!accesses[n].is_store)
                read_word(poller, insn->insn, accesses[n].address);
        poller->has_order = false;
        poller->at_branch = code[insn->insn].branch == BRANCH_CONDITIONAL;
    }
    return true;
}

static bool read_thread(struct polled_sleeps *sleeps, struct poller *poller,
                        struct guest_input *input, size_t first_event, struct error *error) {
    struct guest_next next;
    for (;;)
        switch (guest_input_next(input, TRACE_BATCH_INSNS, &next, error)) {
        case GUEST_FAILED:
            return false;
        case GUEST_INSNS:
            if (!take_insns(sleeps, poller, trace_code(input->trace)->insns, &next.piece))
                return error_set(error, "out of memory for sleeps");
            break;
        case GUEST_ORDER:
            poller->has_order = true;
            poller->order = *next.order;
            break;
        case GUEST_EVENT: {
            size_t count = poller->round - 1;
            if (!thread_event_ran_out(next.event))
                break;
            if (!array_push(poller->events, poller->event_capacity, count,
                            first_event + next.event->number))
                return error_set(error, "out of memory for sleeps");
            poller->round++;
            break;
        }
        case GUEST_END:
            return true;
        }
}

ORDER(by_event, struct polled_sleep, ascending(a->event, b->event))

static const struct polled_sleep *find(const struct polled_sleeps *sleeps, size_t count,
                                       size_t event) {
    const struct polled_sleep key = {.event = event};
    return count ? bsearch(&key, sleeps->sleeps, count, sizeof key, by_event) : NULL;
}

/* A wait is for what the thread's next wait at the same object is for: the first round of a loop
 * often looks by an instruction of its own. */
static bool add_waits(struct polled_sleeps *sleeps, const struct thread_event_list *events,
                      uint32_t thread) {
    const size_t count = sleeps->count;
    const struct thread_event *later = NULL;
    struct polled_sleep polled; /* `later` is, if its event says so */
    for (size_t i = events->first[thread + 1]; i-- > events->first[thread];) {
        const struct thread_event *event = &events->events[i];
        if (event->kind != THREAD_EVENT_WAIT)
            continue;
        const struct polled_sleep *found = find(sleeps, count, i);
        const bool inherits = !found && later && thread_event_waited_in_vain(event) &&
                              polled.event == (size_t)(later - events->events) &&
                              wake_pairs_same_object(event->address, later->address);
        if (found)
            polled = *found;
        else if (inherits)
            polled.event = i;
        else
            polled.event = SIZE_MAX;
        if (inherits && !array_push(sleeps->sleeps, sleeps->capacity, sleeps->count, polled))
            return false;
        later = event;
    }
    if (sleeps->count > count)
        qsort(sleeps->sleeps, sleeps->count, sizeof *sleeps->sleeps, by_event);
    return true;
}

/* The time of `wait` ran out, and `found` goes on with it: by the same call, with a limit that is
 * not much longer. */
static bool goes_on(const struct thread_event *wait, const struct thread_event *found) {
    enum { TIMES = 2, ROUNDING_NS = 1000000 };
    return thread_event_slept(wait) && wait->call == found->call &&
           found->asked_ns != THREAD_EVENT_FOREVER &&
           found->asked_ns / TIMES <= wait->asked_ns + ROUNDING_NS;
}

/* Whether the thread waited in a call at that ticket for what the list does not tell. */
static bool is_blocked(const struct thread_event_list *events, uint32_t thread, uint64_t ticket) {
    if (thread >= events->thread_count)
        return false;
    const struct thread_event *own = &events->events[events->first[thread]];
    const size_t count = events->first[thread + 1] - events->first[thread];
    const size_t behind = first_where(i, count, own[i].entry >= ticket);
    if (!behind)
        return false;
    const struct thread_event *last = &own[behind - 1];
    return last->kind == THREAD_EVENT_BLOCK && !thread_event_slept(last) && last->exit > ticket;
}

/* Waits for events, from event `from` on up to the one that had one: what that was is told where
 * the thread read it. Events that are known already are the first `known` sleeps. */
static bool add_vain_waits(struct polled_sleeps *sleeps, const struct thread_event_list *events,
                           size_t from, size_t found, const struct trace_order *order,
                           size_t known) {
    for (size_t i = from; i < found; i++)
        if (goes_on(&events->events[i], &events->events[found]) && !find(sleeps, known, i) &&
            !is_blocked(events, order->writer, events->events[i].exit) &&
            !array_push(sleeps->sleeps, sleeps->capacity, sleeps->count,
                        ((struct polled_sleep){i, *order, true})))
            return false;
    return true;
}

static bool add_waits_for_events(struct polled_sleeps *sleeps,
                                 const struct thread_event_list *events, uint32_t thread) {
    const size_t count = sleeps->count;
    size_t from = events->first[thread], found = SIZE_MAX;
    for (size_t i = from; i < events->first[thread + 1]; i++) {
        const struct thread_event *event = &events->events[i];
        struct trace_order order = {.written = 0};
        order.writer = thread_event_writer(event, &order.written);
        if (found == SIZE_MAX) {
            found = thread_event_found(event) ? i : SIZE_MAX;
        } else if (thread_event_slept(event)) { /* it did not read what it had found */
            from = i;
            found = SIZE_MAX;
        } else if (order.writer != THREAD_EVENT_NO_THREAD) {
            if (!add_vain_waits(sleeps, events, from, found, &order, count))
                return false;
            from = i + 1;
            found = SIZE_MAX;
        }
    }
    if (sleeps->count > count)
        qsort(sleeps->sleeps, sleeps->count, sizeof *sleeps->sleeps, by_event);
    return true;
}

/* Two sleeps or more, with little work between them. */
static bool may_poll(const struct thread_event_list *events, uint32_t thread, uint64_t insns) {
    uint64_t sleeps = 0;
    if (thread >= events->thread_count)
        return false;
    for (size_t i = events->first[thread]; i < events->first[thread + 1]; i++)
        sleeps += thread_event_ran_out(&events->events[i]);
    return sleeps > 1 && insns / sleeps <= MOST_INSNS;
}

/* Sleeps that end when a word is written. */
static bool find_words(struct polled_sleeps *sleeps, const char *path, struct trace *trace,
                       const struct thread_event_list *events, uint32_t thread,
                       struct error *error) {
    struct poller poller = {.round = 1, .looks = calloc(LOOKS, sizeof *poller.looks)};
    struct guest_input input = {.trace = NULL};
    bool good = poller.looks || error_set(error, "out of memory for sleeps");
    good = good && guest_input_open(&input, path, trace, thread, error) &&
           read_thread(sleeps, &poller, &input, events->first[thread], error) &&
           (add_waits(sleeps, events, thread) || error_set(error, "out of memory for sleeps"));
    guest_input_close(&input);
    free(poller.looks);
    free(poller.events);
    return good;
}

bool polled_sleeps_find(struct polled_sleeps *sleeps, const char *path, struct trace *trace,
                        const struct thread_event_list *events, uint32_t thread, uint64_t insns,
                        struct error *error) {
    if (may_poll(events, thread, insns) && !find_words(sleeps, path, trace, events, thread, error))
        return false;
    return thread >= events->thread_count || add_waits_for_events(sleeps, events, thread) ||
           error_set(error, "out of memory for sleeps");
}

const struct polled_sleep *polled_sleep_at(const struct polled_sleeps *sleeps, size_t event) {
    return find(sleeps, sleeps->count, event);
}

void polled_sleeps_free(struct polled_sleeps *sleeps) {
    free(sleeps->sleeps);
    *sleeps = (struct polled_sleeps){.count = 0};
}
