/* One core between two requests to the L2: which thread issues, and what suspends a thread.
 * core->next[] holds for each thread the cycle of its next action: it issues or, where its bit in
 * `looking` is set, looks up the line of its next instruction. In one cycle the issue comes first,
 * then look-ups in the order of the threads' numbers. */
#include "core/multithreaded/multithreaded.h"

static const struct turn *turn_of(const struct hardware_thread *thread) {
    return &thread->turns[thread->at];
}

/* ---- from turn to turn ---- */

static void end_program(struct chip *chip, struct hardware_thread *thread) {
    if (thread->has_run)
        return;
    thread->has_run = true;
    thread->first = thread->now;
    chip->unfinished--;
}

/* Goes to the next turn of the thread, which is ready in cycle `ready`. */
static void begin_turn(struct chip *chip, struct chip_core *core, uint32_t number, uint64_t ready) {
    struct hardware_thread *thread = &core->threads[number];
    for (;;) {
        while (thread->at == thread->end)
            if (!chip->source.refill(chip->source.context, thread->space, &chip->error)) {
                core->next[number] = NEVER;
                chip->failed = true;
                return;
            }
        if (turn_of(thread)->kind != TURN_END)
            break;
        end_program(chip, thread);
        thread->at++;
    }
    thread->left = turn_of(thread)->count;
    thread->address = turn_of(thread)->address;
    core->next[number] =
        turn_of(thread)->kind == TURN_FETCH ? next_look_up(ready - 1, number) : next_issue(ready);
}

void chip_core_begin(struct chip *chip, struct chip_core *core) {
    for (uint32_t i = 0; i < CHIP_MAX_THREADS; i++)
        core->next[i] = NEVER;
    for (uint32_t i = 0; i < chip->threads_per_core; i++)
        if (core->threads[i].predictor && !chip->failed)
            begin_turn(chip, core, i, 1);
}

/* The thread could have gone on in cycle `from`; it is suspended until cycle `ready`. */
static void suspend(struct hardware_thread *thread, enum suspension cause, uint64_t from,
                    uint64_t ready) {
    if (ready <= from)
        return;
    thread->now.events[cause]++;
    thread->now.cycles_in[cause] += ready - from;
}

/* Turns were issued; `ready` for what follows. */
static void end_turns(struct chip *chip, struct chip_core *core, uint32_t number, uint32_t turns,
                      uint64_t ready) {
    struct hardware_thread *thread = &core->threads[number];
    thread->left -= turns;
    if (thread->left == 0) {
        thread->at++;
        begin_turn(chip, core, number, ready);
    } else {
        core->next[number] = next_issue(ready);
    }
}

static void count_turns(struct chip_core *core, struct hardware_thread *thread, uint32_t turns) {
    core->clock += turns - 1;
    core->slot = core->clock + 1;
    thread->now.turns += turns;
    thread->now.cycles = core->clock;
}

/* ---- translation ---- */

/* False: the TLB did not hold it; now it does. When the thread comes back it goes on, whatever
 * other threads have done to the TLB. */
static bool translated(struct tlb *tlb, struct hardware_thread *thread, uint64_t address) {
    uint64_t own = address + ((uint64_t)thread->space << 52);
    bool walked = thread->walked;
    thread->walked = false;
    if (tlb_quick_hit(tlb, own, NEVER) || tlb_use(tlb, own) != TLB_NONE || walked)
        return true;
    tlb_insert(tlb, own, 0, 0);
    thread->walked = true;
    return false;
}

static bool holds(struct cache *cache, uint64_t physical) {
    size_t index = cache_find(cache, physical);
    if (index == CACHE_NONE)
        return false;
    cache_touch(cache, index);
    return true;
}

static void ask(struct chip_core *core, uint32_t number, uint64_t physical, bool fetch) {
    core->asks = true;
    core->request = (struct line_request){physical, number, fetch};
}

/* ---- what a thread does in its cycle ---- */

static void look_up(struct chip *chip, struct chip_core *core, uint32_t number) {
    struct hardware_thread *thread = &core->threads[number];
    if (!translated(&core->itlb, thread, thread->address)) {
        uint64_t known = core->clock + chip->penalties.translation;
        core->next[number] = next_look_up(known, number);
        suspend(thread, SUSPENDED_TRANSLATION, core->clock, known);
        return;
    }
    uint64_t physical = frame_address(thread->space, thread->address, chip->page_shift);
    if (holds(&core->l1i, physical))
        end_turns(chip, core, number, 1, core->clock + 1);
    else
        ask(core, number, physical, true);
}

/* Issues as many plain turns at once as no other thread can come between. */
static void issue_plain(struct chip *chip, struct chip_core *core, uint32_t number,
                        uint64_t until) {
    struct hardware_thread *thread = &core->threads[number];
    const struct turn *turn = turn_of(thread);
    uint64_t turns = 1;
    if (thread->left > 1) {
        uint64_t others = next_issue(until + 1);
        for (uint32_t i = 0; i < chip->threads_per_core; i++)
            if (i != number && core->next[i] < others)
                others = core->next[i];
        others >>= NEXT_SHIFT;
        if (others > core->clock)
            turns = others - core->clock < thread->left ? others - core->clock : thread->left;
    }
    count_turns(core, thread, (uint32_t)turns);
    thread->now.instructions += turns;
    uint64_t ready = core->slot + turn->wait;
    suspend(thread, (enum suspension)turn->cause, core->slot, ready);
    end_turns(chip, core, number, (uint32_t)turns, ready);
}

static void end_access(struct chip *chip, struct chip_core *core, uint32_t number,
                       enum suspension cause, uint64_t there) {
    struct hardware_thread *thread = &core->threads[number];
    const struct turn *turn = turn_of(thread);
    uint64_t ready = core->slot + turn->wait;
    if (there >= ready)
        ready = there;
    else
        cause = (enum suspension)turn->cause;
    suspend(thread, cause, core->slot, ready);
    thread->now.instructions += turn->last;
    thread->address += chip->machine.l1d.line;
    end_turns(chip, core, number, 1, ready);
}

static void issue_access(struct chip *chip, struct chip_core *core, uint32_t number) {
    struct hardware_thread *thread = &core->threads[number];
    count_turns(core, thread, 1);
    if (!translated(&core->dtlb, thread, thread->address)) {
        uint64_t known = core->clock + chip->penalties.translation;
        core->next[number] = next_issue(known);
        suspend(thread, SUSPENDED_TRANSLATION, core->slot, known);
        return;
    }
    thread->now.accesses++;
    uint64_t physical = frame_address(thread->space, thread->address, chip->page_shift);
    if (holds(&core->l1d, physical))
        end_access(chip, core, number, SUSPENDED_LONG, core->slot);
    else
        ask(core, number, physical, false);
}

void chip_core_answer(struct chip *chip, struct chip_core *core, uint64_t there, bool missed) {
    uint32_t number = core->request.thread;
    struct chip_thread_statistics *now = &core->threads[number].now;
    uint64_t victim;
    cache_insert(core->request.fetch ? &core->l1i : &core->l1d, core->request.address, 0,
                 UINT64_MAX, 0, &victim);
    core->asks = false;
    if (core->request.fetch) {
        now->l1i_misses++;
        now->l2_fetch_misses += missed;
        suspend(&core->threads[number], SUSPENDED_FETCH, core->clock + 1, there);
        end_turns(chip, core, number, 1, there);
    } else {
        now->l1d_misses++;
        now->l2_misses += missed;
        end_access(chip, core, number, missed ? SUSPENDED_L2_MISS : SUSPENDED_L2_HIT, there);
    }
}

/* ---- whose turn it is ---- */

/* The earliest next action of all threads. An issue waits for the issue slot and for its turn. */
static uint64_t first_of_all(const struct chip *chip, const struct chip_core *core) {
    uint64_t first = NEVER, slot = next_issue(core->slot);
    for (uint32_t i = 0; i < chip->threads_per_core; i++) {
        uint64_t next = core->next[i];
        uint64_t issue = (next > slot ? next : slot) | ((i - core->last - 1) & NEXT_ORDER);
        next = next & NEXT_LOOK_UP ? next : issue;
        first = next < first ? next : first;
    }
    return first;
}

void chip_core_run(struct chip *chip, struct chip_core *core, uint64_t until) {
    while (!core->asks && !chip->failed) {
        uint64_t next = first_of_all(chip, core);
        if (next >> NEXT_SHIFT > until) {
            core->clock = until;
            return;
        }
        assert(next >> NEXT_SHIFT >= core->clock);
        core->clock = next >> NEXT_SHIFT;
        if (next & NEXT_LOOK_UP) {
            look_up(chip, core, next & NEXT_ORDER);
            continue;
        }
        uint32_t number = core->last = (next + core->last + 1) & NEXT_ORDER;
        if (turn_of(&core->threads[number])->kind == TURN_PLAIN)
            issue_plain(chip, core, number, until);
        else
            issue_access(chip, core, number);
    }
}
