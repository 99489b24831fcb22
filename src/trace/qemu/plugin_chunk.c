/* Chunks: what the current thread appends to, and how it comes by the next one.
 *
 * Budgets: a thread takes a share of what the capture may still execute, and gives back what it
 * does not use at the end of a chunk and before each system call, so that a thread that sleeps
 * holds nothing. One that finds nothing left while others still have shares stands aside: it runs
 * on uncaptured, and goes on when a share comes back. Capture ends when all of the limit is used,
 * so that it is exact, also with several threads and processes. What was left out does not count as
 * executed; a MARK_GAP stands for it. */
#include "trace/qemu/plugin_thread.h"

#include <stdlib.h>

enum { SCRATCH_EVENTS = 512, SHARE = 64, SMALL_SHARE = 1000 };

/* The threads of this process, by the chunk they hold or last held. */
static struct holder {
    struct thread_state *state;
    struct ring_chunk **chunk; /* its thread_chunk */
} holders[RING_CHUNKS];

pthread_mutex_t thread_ownership = PTHREAD_MUTEX_INITIALIZER;

/* Chunks are begun and queued, and markers told of, under it, one after the other. */
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

static struct ring_chunk nothing; /* cursor == end: everything takes the slow path */
THREAD_LOCAL struct ring_chunk *thread_chunk = &nothing;
struct ring_chunk *lone_chunk = &nothing;

/* Where events that are dropped go; NULL: not needed so far. */
static THREAD_LOCAL struct ring_chunk *scratch;

static void chunk_use(struct ring_chunk *chunk) {
    thread_chunk = chunk;
    if (!plugin.threaded)
        lone_chunk = chunk;
}

uint64_t thread_share(int64_t left) {
    int64_t share = left / SHARE < SMALL_SHARE ? SMALL_SHARE : left / SHARE;
    return left <= 0 ? 0 : (uint64_t)(share < left ? share : left);
}

/* Takes a share of what is left of the limit. 0: nothing is left. */
static uint64_t take_share(void) {
    int64_t left = atomic_load(&plugin.control->left);
    uint64_t share;
    do
        share = thread_share(left);
    while (share &&
           !atomic_compare_exchange_weak(&plugin.control->left, &left, left - (int64_t)share));
    return share;
}

uint32_t chunk_allows(uint32_t insn_count) {
    if (!plugin.control->limited)
        return insn_count;
    struct ring_chunk *chunk = thread_chunk;
    uint64_t insns = atomic_load_explicit(&chunk->insns, memory_order_relaxed);
    while (chunk->allotted - insns < insn_count) {
        uint64_t more = take_share();
        if (!more)
            return (uint32_t)(chunk->allotted - insns);
        chunk->allotted += more;
    }
    return insn_count;
}

/* Events that went past the caches come before whatever this thread writes next. */
static void chunk_complete(void) {
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
}

void chunk_publish(struct ring_control *control, uint32_t number, bool last) {
    chunk_complete();
    struct ring_chunk *chunk = ring_chunk(control, number);
    chunk->last = last;
    pthread_mutex_lock(&order);
    chunk->published = atomic_fetch_add(&control->published, 1);
    atomic_store(&control->chunk_state[number], ring_state(RING_FULL, (uint32_t)plugin.slot));
    pthread_mutex_unlock(&order);
    atomic_fetch_add(&control->queued, 1);
    process_ring_doorbell();
}

void chunk_hand_over(bool last) {
    if (!self.held)
        return;
    ring_settle_share(plugin.control, thread_chunk);
    self.insns_before += atomic_load_explicit(&thread_chunk->insns, memory_order_relaxed);
    self.held = false;
    chunk_use(&nothing);
    chunk_publish(plugin.control, self.chunk, last);
}

bool chunk_wait_for_room(struct ring_control *control) {
    while (atomic_load(&control->queued) >= RING_QUEUE) {
        uint32_t seen = atomic_load(&control->released);
        atomic_fetch_add(&control->waiting, 1);
        bool alive =
            atomic_load(&control->queued) < RING_QUEUE || process_wait(&control->released, seen);
        atomic_fetch_sub(&control->waiting, 1);
        if (!alive)
            return false;
    }
    return !atomic_load(&control->detached);
}

bool chunk_claim(struct ring_control *control, uint32_t *number) {
    for (uint32_t i = 0; i < RING_CHUNKS; i++) {
        uint32_t free = ring_state(RING_FREE, 0);
        if (atomic_load_explicit(&control->chunk_state[i], memory_order_relaxed) == free &&
            atomic_compare_exchange_strong(&control->chunk_state[i], &free,
                                           ring_state(RING_HELD, (uint32_t)plugin.slot))) {
            uint32_t high = atomic_load(&control->chunk_high);
            while (high <= i && !atomic_compare_exchange_weak(&control->chunk_high, &high, i + 1))
                ;
            *number = i;
            return true;
        }
    }
    return false;
}

void thread_tell_reached(struct ring_reached *reached) {
    struct ring_control *control = plugin.control;
    struct ring_cut cuts[RING_CUTS];
    size_t count = 0;
    pthread_mutex_lock(&order);
    uint32_t mine = ring_state(RING_HELD, (uint32_t)plugin.slot);
    uint32_t high = control->cut_threads ? atomic_load(&control->chunk_high) : 0;
    for (uint32_t i = 0; i < high && i < RING_CHUNKS && count < RING_CUTS; i++) {
        struct ring_chunk *chunk = ring_chunk(control, i);
        if (atomic_load(&control->chunk_state[i]) != mine || chunk->thread == reached->thread)
            continue;
        uint64_t *cursor = atomic_load_explicit(&chunk->cursor, memory_order_acquire);
        cuts[count++] = (struct ring_cut){chunk->ticket, i, (uint32_t)(cursor - chunk->events)};
    }
    reached->published = atomic_load(&control->published);
    process_put(&reached->record, sizeof *reached, cuts, count * sizeof *cuts);
    pthread_mutex_unlock(&order);
}

static bool begin_chunk(struct ring_control *control) {
    if (!chunk_claim(control, &self.chunk))
        return false;
    struct ring_chunk *chunk = ring_chunk(control, self.chunk);
    chunk->events = ring_chunk_events(chunk);
    atomic_store(&chunk->cursor, chunk->events);
    atomic_store(&chunk->insns, 0);
    chunk->first_insn = self.insns_before;
    chunk->ticket = atomic_fetch_add(&control->tickets, 1);
    chunk->thread = self.number;
    chunk->ordinal = self.ordinal;
    chunk->last = 0;
    chunk->counted = CHUNK_OF_EVENTS;
    chunk->end = chunk->events;
    return true;
}

bool chunk_take(void) {
    struct ring_control *control = plugin.control;
    if (!chunk_wait_for_room(control))
        return false;
    pthread_mutex_lock(&order);
    bool begun = begin_chunk(control);
    pthread_mutex_unlock(&order);
    if (!begun)
        return false;
    struct ring_chunk *chunk = ring_chunk(control, self.chunk);
    self.end = chunk->events + RING_CHUNK_EVENTS / addresses_share();
    self.full = self.end - RING_CHUNK_RESERVE;
    chunk->allotted = chunk->settled = 0;
    self.skip_until = 0;
    self.skipped_rep = 0;
    self.held = true;
    self.between = false;
    holders[self.chunk] = (struct holder){&self, &thread_chunk};
    chunk_use(chunk);
    python_chunk_begun();
    return true;
}

void chunk_drop(void) {
    self.state = DROPPED;
    self.held = false;
    if (!scratch) {
        scratch = calloc(1, sizeof *scratch + SCRATCH_EVENTS * sizeof(uint64_t));
        if (!scratch) {
            chunk_use(&nothing);
            return;
        }
        scratch->events = (uint64_t *)(scratch + 1);
        scratch->end = scratch->events + SCRATCH_EVENTS;
    }
    atomic_store(&scratch->cursor, scratch->events);
    chunk_use(scratch);
}

void chunk_stand_aside(void) {
    ring_settle_share(plugin.control, thread_chunk);
    bool done = atomic_load(&plugin.control->phase) == RING_DONE;
    chunk_hand_over(done);
    self.cut = 0;
    self.gap = true;
    if (!done)
        return;
    chunk_drop();
    plugin_switch(RING_DONE);
}

/* The thread, which is stopped, goes on without the chunk. A rep instruction that it is within goes
 * on uncaptured. */
static void take_away(uint32_t number) {
    struct thread_state *holder = holders[number].state;
    struct ring_chunk *chunk = ring_chunk(plugin.control, number);
    if (!holder || !holder->held || holder->chunk != number)
        return;
    uint64_t *cursor = chunk_cursor(chunk);
    if (holder->cut && cursor < holder->end) {
        *cursor = event_mark(MARK_EXECUTED, holder->cut);
        atomic_store(&chunk->cursor, cursor + 1);
    }
    holder->cut = 0;
    ring_settle_share(plugin.control, chunk);
    holder->insns_before += atomic_load(&chunk->insns);
    holder->held = false;
    rep_skipped(holder, holder->rep.open ? holder->rep.block->address : 0);
    holder->rep.open = false;
    *holders[number].chunk = &nothing;
    lone_chunk = &nothing;
}

void thread_end_phase(enum ring_phase next) {
    struct ring_control *control = plugin.control;
    uint32_t mine = ring_state(RING_HELD, (uint32_t)plugin.slot);
    if (plugin.counting)
        count_publish_all();
    pthread_mutex_lock(&thread_ownership);
    uint32_t high = atomic_load(&control->chunk_high);
    if (thread_is_capturing() && plugin.slot != NO_SLOT)
        for (uint32_t i = 0; i < high && i < RING_CHUNKS; i++)
            if (atomic_load(&control->chunk_state[i]) == mine) {
                take_away(i);
                chunk_publish(control, i, next == RING_DONE);
            }
    atomic_store(&plugin.phase, next);
    pthread_mutex_unlock(&thread_ownership);
}

void chunk_share(void) {
    chunk_complete();
    lone_chunk = &nothing;
}

void chunk_leave(void) {
    self.held = false;
    chunk_use(&nothing);
    free(scratch);
    scratch = NULL;
}

void chunk_forked(void) {
    pthread_mutex_init(&thread_ownership, NULL);
    pthread_mutex_init(&order, NULL);
    chunk_use(&nothing);
}
