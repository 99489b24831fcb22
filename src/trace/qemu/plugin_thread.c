/* The current thread: its chunk, and everything that is not just appending to it.
 *
 * `thread_chunk->end` is where the hot callbacks stop appending and come here. It lies before the
 * chunk's true end whenever the next event needs a look: an open rep, a block cut by the limit, or
 * an instruction budget that the next events could exceed (each event stands for at most
 * RING_MAX_BLOCK_INSNS instructions, so `budget left / RING_MAX_BLOCK_INSNS` events are safe).
 * Thus an exact limit costs the hot path nothing.
 *
 * Budgets: a thread takes a share of what the capture may still execute, and gives back what it
 * does not use at the end of a chunk and before each system call, so that a thread that sleeps
 * holds nothing. One that finds nothing left while others still have shares stands aside: it runs
 * on uncaptured, and goes on when a share comes back. Capture ends when all of the limit is used,
 * so that it is exact, also with several threads and processes. What was left out does not count as
 * executed; a MARK_GAP stands for it. */
#include "trace/qemu/plugin.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCRATCH_EVENTS = 512,
    VCPUS = 1 << 14,
    SHARE = 64,
    SMALL_SHARE = 1000,
    PAUSE_INSNS = 1 << 20, /* after which threads look whether a pause is over */
    OF_AN_IMAGE = 6        /* blocks: a call, and what binds a symbol when it is first used */
};

struct rep {
    bool open;
    const struct rep_block *block;
    uint32_t index; /* in its block */
    uint32_t slot;  /* operand that comes next in this element */
    uint32_t slots; /* operands seen in the first element */
    struct rep_operand {
        uint64_t first, low, high; /* addresses of elements */
        uint64_t count;
        uint8_t log2_size;
        bool is_store, descending;
    } operands[REP_OPERANDS];
};

static THREAD_LOCAL struct thread_state {
    enum { NEW, CAPTURED, DROPPED } state;
    bool numbered;
    uint32_t number, ordinal;
    uint32_t chunk; /* number of thread_chunk, when state is CAPTURED and `held` */
    bool held;
    bool between;   /* thread_publish() handed the last chunk on, and no block was executed since */
    uint64_t *full; /* new blocks go to a new chunk from here */
    uint64_t *end;  /* true end */
    uint64_t insns_before; /* executed before the chunk, in all phases */
    uint32_t cut;          /* instructions of the last block within the limit; 0: all */
    bool gap;              /* it stood aside, so the next event does not follow the last one */
    uint64_t skip_until;   /* insns_before at which to look whether to go on skipping */
    uint64_t skipped;      /* of insns_before: known to all threads */
    uint64_t skipped_rep;  /* address of the rep instruction that runs uncaptured; 0: none */
    bool rep_continues;    /* the last rep block is a further element of an open one */
    struct rep rep;
} self;

/* The threads of this process, by the chunk they hold or last held. */
static struct holder {
    struct thread_state *state;
    struct ring_chunk **chunk; /* its thread_chunk */
} holders[RING_CHUNKS];

/* Chunks of this process change their owner under it, except those of a thread itself inside a
 * block. */
static pthread_mutex_t ownership = PTHREAD_MUTEX_INITIALIZER;

/* Chunks are begun and queued, and markers told of, under it, one after the other. */
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

static struct ring_chunk nothing; /* cursor == end: everything takes the slow path */
THREAD_LOCAL struct ring_chunk *thread_chunk = &nothing;
struct ring_chunk *lone_chunk = &nothing;

static pthread_key_t thread_key;
static _Atomic uint32_t ordinals;
static uint32_t ordinal_of_vcpu[VCPUS]; /* written before the vCPU's thread runs */
static uint32_t number_of_vcpu[VCPUS];  /* likewise: 0, or 1 more than the thread's number */

static uint32_t last_block(void);
static void set_end(void);

/* ---- chunks ---- */

static bool is_capturing(void) {
    return ring_activity(atomic_load(&plugin.phase)) == RING_CAPTURE;
}

static uint64_t *cursor_of(struct ring_chunk *chunk) {
    return atomic_load_explicit(&chunk->cursor, memory_order_relaxed);
}

static void use_chunk(struct ring_chunk *chunk) {
    thread_chunk = chunk;
    if (!plugin.threaded)
        lone_chunk = chunk;
}

static void put(uint64_t event) {
    uint64_t *cursor = cursor_of(thread_chunk);
    if (cursor == self.end)
        return; /* a block with thousands of accesses: not on any compiler's output */
    *cursor = event;
    atomic_store_explicit(&thread_chunk->cursor, cursor + 1, memory_order_release);
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

void chunk_publish(struct ring_control *control, uint32_t number, bool last) {
    struct ring_chunk *chunk = ring_chunk(control, number);
    chunk->last = last;
    pthread_mutex_lock(&order);
    chunk->published = atomic_fetch_add(&control->published, 1);
    atomic_store(&control->chunk_state[number], ring_state(RING_FULL, (uint32_t)plugin.slot));
    pthread_mutex_unlock(&order);
    atomic_fetch_add(&control->queued, 1);
    process_ring_doorbell();
}

static void publish(bool last) {
    if (!self.held)
        return;
    ring_settle_share(plugin.control, thread_chunk);
    self.insns_before += atomic_load_explicit(&thread_chunk->insns, memory_order_relaxed);
    self.held = false;
    use_chunk(&nothing);
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
    chunk->end = chunk->events;
    return true;
}

/* False: this thread's events are lost (the consumer is gone, or 4096 threads hold chunks). */
static bool take_chunk(void) {
    struct ring_control *control = plugin.control;
    if (!chunk_wait_for_room(control))
        return false;
    pthread_mutex_lock(&order);
    bool begun = begin_chunk(control);
    pthread_mutex_unlock(&order);
    if (!begun)
        return false;
    struct ring_chunk *chunk = ring_chunk(control, self.chunk);
    self.end = chunk->events + RING_CHUNK_EVENTS;
    self.full = self.end - RING_CHUNK_RESERVE;
    chunk->allotted = chunk->settled = 0;
    self.skip_until = 0;
    self.skipped_rep = 0;
    self.held = true;
    self.between = false;
    holders[self.chunk] = (struct holder){&self, &thread_chunk};
    use_chunk(chunk);
    python_chunk_begun();
    return true;
}

/* Events of this thread are dropped, at little cost. */
static THREAD_LOCAL struct ring_chunk *scratch;

static void drop(void) {
    self.state = DROPPED;
    self.held = false;
    if (!scratch) {
        scratch = calloc(1, sizeof *scratch + SCRATCH_EVENTS * sizeof(uint64_t));
        if (!scratch) {
            use_chunk(&nothing);
            return;
        }
        scratch->events = (uint64_t *)(scratch + 1);
        scratch->end = scratch->events + SCRATCH_EVENTS;
    }
    atomic_store(&scratch->cursor, scratch->events);
    use_chunk(scratch);
}

/* The thread has used its share up, and nothing is left for it. */
static void stand_aside(void) {
    ring_settle_share(plugin.control, thread_chunk);
    bool done = atomic_load(&plugin.control->phase) == RING_DONE;
    publish(done);
    self.cut = 0;
    self.gap = true;
    if (!done)
        return;
    drop();
    plugin_switch(RING_DONE);
}

/* ---- rep instructions ---- */

static void close_rep(void) {
    struct rep *rep = &self.rep;
    rep->open = false;
    if (self.cut && rep->index >= self.cut)
        return;
    /* An element that faulted half way counts only in its first operands. */
    uint64_t elements = rep->slots ? rep->operands[rep->slots - 1].count : 0;
    put(event_mark(MARK_REP, (uint64_t)rep->index << 45 |
                                 (elements < 1ULL << 45 ? elements : (1ULL << 45) - 1)));
    if (!elements || !plugin.control->addresses)
        return;
    for (uint32_t i = 0; i < rep->slots; i++) {
        const struct rep_operand *operand = &rep->operands[i];
        uint64_t bytes = operand->high - operand->low + (1ULL << operand->log2_size);
        put(event_access(operand->is_store, operand->log2_size, rep->index, operand->low));
        put(event_mark(MARK_SPAN, (uint64_t)operand->descending << 55 | (bytes & ~(1ULL << 55))));
    }
}

/* Accesses that the instruction does not make are the emulator's (trace/frame.h). */
void thread_rep_access(uint64_t event) {
    enum { ADDRESS_BITS = 48, INDEX_BITS = 11 };
    struct rep *rep = &self.rep;
    uint64_t address = event_address(event);
    if (!rep->open || rep->slot >= rep->block->operand_count ||
        (event ^ rep->block->operands[rep->slot]) >> (ADDRESS_BITS + INDEX_BITS))
        return;
    struct rep_operand *operand = &rep->operands[rep->slot++];
    if (rep->slot > rep->slots) {
        rep->slots = rep->slot;
        *operand = (struct rep_operand){
            address, address, address, 0, event_log2_size(event), event_kind(event) == EVENT_STORE,
            false};
    }
    operand->count++;
    if (address < operand->low)
        operand->low = address;
    if (address > operand->high)
        operand->high = address;
    operand->descending = address < operand->first;
}

/* ---- the slow path ---- */

/* The last block's events are complete. */
static void close_block(void) {
    if (self.rep.open)
        close_rep();
    if (self.cut)
        put(event_mark(MARK_EXECUTED, self.cut));
}

static bool is_wanted(unsigned vcpu) {
    int32_t wanted = plugin.control->thread;
    return plugin.slot != NO_SLOT &&
           (wanted < 0 || (vcpu < VCPUS && (uint32_t)wanted == ordinal_of_vcpu[vcpu]));
}

uint32_t thread_ordinal(unsigned vcpu) {
    return vcpu < VCPUS ? ordinal_of_vcpu[vcpu] : UINT32_MAX;
}

static void give_number(unsigned vcpu) {
    uint32_t given = vcpu < VCPUS ? number_of_vcpu[vcpu] : 0;
    self.number = given ? given - 1 : atomic_fetch_add(&plugin.control->threads, 1);
    self.numbered = true;
    self.ordinal = thread_ordinal(vcpu);
    pthread_setspecific(thread_key, &self);
}

bool thread_number(unsigned vcpu, uint32_t *number) {
    if (!self.numbered && self.state == NEW && is_wanted(vcpu))
        give_number(vcpu);
    *number = self.number;
    return self.numbered && self.state != DROPPED;
}

uint64_t thread_position(void) {
    if (plugin.control->slice_size)
        return count_position();
    return self.insns_before +
           (self.held ? atomic_load_explicit(&thread_chunk->insns, memory_order_relaxed) : 0);
}

bool thread_place(uint32_t *number, uint64_t *position) {
    if (plugin.control->slice_size)
        return false;
    pthread_mutex_lock(&ownership);
    *number = self.number;
    *position = thread_position();
    bool captured = is_capturing() && self.state == CAPTURED && (self.held || self.between);
    pthread_mutex_unlock(&ownership);
    return captured;
}

bool thread_at(uint32_t index, uint32_t *number, uint64_t *position) {
    if (self.state != CAPTURED || !self.held)
        return false;
    const uint32_t block = last_block();
    const uint32_t insns = block == FAULT_UNNUMBERED ? 0 : code_block_insns(block);
    *number = self.number;
    *position = thread_position();
    if (index < insns && !self.cut)
        *position -= insns - index - 1;
    return true;
}

void thread_tell_writer(uint32_t index, uint32_t writer, uint64_t written) {
    if (!self.held || self.cut || self.rep.open || self.end - cursor_of(thread_chunk) < 2)
        return;
    put(event_mark(MARK_WRITER, (uint64_t)index << 45 | writer));
    put(event_mark(MARK_WRITTEN, written));
    if (cursor_of(thread_chunk) < self.full)
        set_end();
    else
        thread_chunk->end = cursor_of(thread_chunk);
}

uint64_t thread_ticket(void) {
    return self.held ? thread_chunk->ticket + 1 : 0;
}

bool thread_tell_python(enum event_mark mark, uint64_t payload) {
    if (!self.held || self.cut || self.rep.open || cursor_of(thread_chunk) == self.end)
        return false;
    put(event_mark(mark, payload));
    if (cursor_of(thread_chunk) < self.full)
        set_end();
    else
        thread_chunk->end = cursor_of(thread_chunk);
    return true;
}

uint32_t thread_last_events(uint64_t *events, uint32_t most) {
    uint32_t count = 0;
    if (!self.held)
        return 0;
    for (const uint64_t *event = cursor_of(thread_chunk);
         event > thread_chunk->events && count < most; count++)
        events[count] = *--event;
    return count;
}

static uint32_t last_of_images(uint32_t *blocks, uint32_t most) {
    uint32_t count = 0;
    for (const uint64_t *event = cursor_of(thread_chunk); event > thread_chunk->events;) {
        if (event_kind(*--event) != EVENT_BLOCK || count == most)
            continue;
        const uint32_t number = event_block_number(*event), image = code_block_image(number);
        uint32_t there = 0;
        for (uint32_t i = 0; i < count; i++)
            there += code_block_image(blocks[i]) == image;
        if (there < OF_AN_IMAGE)
            blocks[count++] = number;
    }
    return count;
}

/* From a system call: meanwhile another thread may end the phase and take the chunk away. */
uint32_t thread_last_of_images(uint32_t *blocks, uint32_t most) {
    pthread_mutex_lock(&ownership);
    const uint32_t count = self.held ? last_of_images(blocks, most) : 0;
    pthread_mutex_unlock(&ownership);
    return count;
}

bool thread_rep_continues(void) {
    return self.rep_continues;
}

/* Makes the thread ready for a new block or mark. False: its events are dropped. */
static bool settle(unsigned vcpu) {
    const struct ring_control *control = plugin.control;
    if (self.state == NEW) {
        pthread_setspecific(thread_key, &self);
        self.state = is_wanted(vcpu) ? CAPTURED : DROPPED;
        if (self.state == CAPTURED && !self.numbered)
            give_number(vcpu);
    }
    if (self.state == CAPTURED && atomic_load(&control->phase) == RING_DONE) {
        if (self.held)
            close_block();
        publish(true);
        self.state = DROPPED;
    }
    if (self.state == DROPPED) {
        plugin_follow_phase();
        drop();
        return false;
    }
    if (atomic_load(&control->phase) != atomic_load(&plugin.phase))
        plugin_follow_phase(); /* captures on until the translations are gone */
    if (self.held)
        close_block();
    if (self.cut)
        stand_aside();
    else if (self.held && cursor_of(thread_chunk) >= self.full)
        publish(false);
    if (!self.held && control->limited && atomic_load(&control->left) <= 0) {
        self.gap = true;
        self.skipped_rep = 0;
        return false;
    }
    if (!self.held && (self.state == DROPPED || !take_chunk())) {
        drop();
        return false;
    }
    if (self.gap)
        put(event_mark(MARK_GAP, 0));
    self.gap = false;
    return true;
}

static void set_end(void) {
    struct ring_chunk *chunk = thread_chunk;
    uint64_t *cursor = cursor_of(chunk);
    size_t room = cursor < self.full ? (size_t)(self.full - cursor) : 0;
    if (self.rep.open || self.cut) {
        room = 0;
    } else if (plugin.control->limited) {
        uint64_t insns = atomic_load_explicit(&chunk->insns, memory_order_relaxed);
        uint64_t safe = (chunk->allotted - insns) / RING_MAX_BLOCK_INSNS;
        if (safe < room)
            room = safe;
    }
    chunk->end = cursor + room;
}

/* How many of the instructions the limit allows. */
static uint32_t allowed(uint32_t insn_count) {
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

static bool begin_block(unsigned vcpu, uint32_t block, uint32_t insn_count) {
    if (!settle(vcpu))
        return false;
    uint32_t within = allowed(insn_count);
    if (!within) {
        stand_aside();
        return false;
    }
    if (within < insn_count)
        self.cut = within;
    put(event_block(block));
    atomic_fetch_add_explicit(&thread_chunk->insns, within, memory_order_relaxed);
    return true;
}

void thread_block(unsigned vcpu, uint32_t block, uint32_t insn_count) {
    int saved = errno;
    if (begin_block(vcpu, block, insn_count))
        set_end();
    errno = saved;
}

void thread_rep_block(unsigned vcpu, const struct rep_block *block) {
    struct rep *rep = &self.rep;
    self.rep_continues = block->insn_count == 1 &&
                         (rep->open ? rep->block->address : self.skipped_rep) == block->address;
    if (self.rep_continues) {
        rep->slot = 0; /* the next element of the same instruction, captured or not */
        return;
    }
    int saved = errno;
    if (begin_block(vcpu, block->block, block->insn_count)) {
        rep->open = true;
        rep->block = block;
        rep->index = block->insn_count - 1;
        rep->slot = rep->slots = 0;
        set_end();
    } else {
        self.skipped_rep = block->address;
    }
    errno = saved;
}

void thread_access(uint64_t event) {
    if (self.state == DROPPED)
        drop();
    if (!self.held || (self.cut && event_index(event) >= self.cut))
        return;
    put(event);
    if (!self.rep.open && !self.cut && cursor_of(thread_chunk) < self.full)
        set_end();
    else
        thread_chunk->end = cursor_of(thread_chunk);
}

void thread_mark(unsigned vcpu, enum event_mark mark, uint64_t payload) {
    if (plugin.control->slice_size)
        return;
    pthread_mutex_lock(&ownership);
    if (is_capturing() && settle(vcpu)) {
        put(event_mark(mark, payload));
        set_end();
    }
    pthread_mutex_unlock(&ownership);
}

void thread_mark_pair(unsigned vcpu, uint64_t first, uint64_t second) {
    if (plugin.control->slice_size)
        return;
    pthread_mutex_lock(&ownership);
    if (is_capturing() && settle(vcpu) && self.end - cursor_of(thread_chunk) >= 2) {
        put(first);
        put(second);
        set_end();
    }
    pthread_mutex_unlock(&ownership);
}

/* The number of the block entered last, or FAULT_UNNUMBERED. */
static uint32_t last_block(void) {
    const uint64_t *first = thread_chunk->events, *event = cursor_of(thread_chunk);
    while (event > first)
        if (event_kind(*--event) == EVENT_BLOCK)
            return event_block_number(*event);
    return FAULT_UNNUMBERED;
}

/* The last block was executed up to this instruction. */
static void cut_at_fault(const struct fault *fault) {
    uint32_t counted = self.cut ? self.cut : fault->insn_count;
    if (fault->index >= counted)
        return;
    atomic_fetch_sub_explicit(&thread_chunk->insns, counted - fault->index, memory_order_relaxed);
    self.cut = 0;
    put(event_mark(MARK_EXECUTED, fault->index));
    set_end();
}

void thread_fault(uint64_t pc) {
    struct fault_search search = {.pc = pc};
    struct fault fault;
    if (plugin.control->slice_size) {
        count_fault(pc);
        return;
    }
    pthread_mutex_lock(&ownership);
    bool captured = is_capturing(), held = captured && self.held;
    uint32_t number = held ? last_block() : FAULT_UNNUMBERED;
    while ((held || !captured) && fault_next_block(&search, &fault))
        if (fault.number == number) {
            if (held)
                cut_at_fault(&fault);
            else
                self.insns_before -= fault.insn_count - fault.index;
            break;
        }
    pthread_mutex_unlock(&ownership);
}

/* Counts what this thread has executed as skipped. Returns the instructions that are then still to
 * be skipped; 0 or less: none. */
static int64_t tell_skipped(void) {
    int64_t more = (int64_t)(self.insns_before - self.skipped);
    self.skipped = self.insns_before;
    return atomic_fetch_sub(&plugin.control->skip, more) - more;
}

/* Before a system call, which may block. */
void thread_system_call(unsigned vcpu, uint64_t number) {
    thread_mark(vcpu, MARK_SYSCALL, number);
    pthread_mutex_lock(&ownership);
    if (is_capturing() && self.held && plugin.control->limited) {
        ring_settle_share(plugin.control, thread_chunk);
        thread_chunk->end = cursor_of(thread_chunk);
    }
    pthread_mutex_unlock(&ownership);
    if (ring_activity(atomic_load(&plugin.phase)) == RING_SKIP && !plugin.control->slice_size)
        tell_skipped();
}

void thread_skip_rep(unsigned vcpu, const struct rep_block *block) {
    self.rep_continues = block->insn_count == 1 && self.skipped_rep == block->address;
    if (self.rep_continues)
        return; /* the next element of the same instruction */
    thread_skip(vcpu, block->insn_count);
    self.skipped_rep = block->address;
}

/* False: the pause ends with the current thread. */
static bool stay_paused(void) {
    struct ring_control *control = plugin.control;
    plugin_follow_phase();
    bool ends_it = self.numbered && self.number == atomic_load(&control->paused_thread);
    self.skip_until =
        ends_it ? atomic_load(&control->paused_until) : self.insns_before + PAUSE_INSNS;
    return self.skip_until > self.insns_before;
}

/* False: all threads together have skipped what was to be skipped. One thread skips exactly that
 * much; several may have executed a little more: each what it did since it last reported. */
static bool skip_more(void) {
    int64_t left = tell_skipped();
    if (plugin.control->awaited) {
        self.skip_until = self.insns_before + PAUSE_INSNS;
        plugin_follow_phase();
        return true;
    }
    self.skip_until = self.insns_before + thread_share(left);
    return left > 0;
}

static __attribute__((noinline)) void look_whether_to_skip(unsigned vcpu) {
    int saved = errno;
    uint32_t number, phase = atomic_load(&plugin.phase);
    if (plugin.control->target_count)
        thread_number(vcpu, &number); /* in the order of the run, wherever capture begins */
    if (!(ring_activity(phase) == RING_PAUSE ? stay_paused() : skip_more())) {
        atomic_compare_exchange_strong(&plugin.control->phase, &phase, phase + 1);
        plugin_follow_phase();
    }
    errno = saved;
}

void thread_skip(unsigned vcpu, uint32_t insn_count) {
    self.skipped_rep = 0;
    self.insns_before += insn_count;
    if (__builtin_expect(self.insns_before >= self.skip_until, 0))
        look_whether_to_skip(vcpu);
}

/* ---- beginnings and ends ---- */

void thread_publish(void) {
    if (plugin.control->slice_size) {
        count_publish();
        return;
    }
    pthread_mutex_lock(&ownership);
    if (is_capturing() && self.held) {
        close_block();
        publish(false);
        self.between = true;
    }
    pthread_mutex_unlock(&ownership);
}

/* The call before has reported what was skipped and given back what was taken of a limit. */
struct thread_unused thread_before_exec(void) {
    return plugin.control->slice_size ? count_before_exec() : (struct thread_unused){0};
}

void thread_exec_failed(const struct thread_unused *unused) {
    atomic_fetch_sub(&plugin.control->skip, unused->skip);
    atomic_fetch_sub(&plugin.control->left, unused->left);
}

/* The thread, which is stopped, goes on without the chunk. A rep instruction that it is within goes
 * on uncaptured. */
static void take_away(uint32_t number) {
    struct thread_state *holder = holders[number].state;
    struct ring_chunk *chunk = ring_chunk(plugin.control, number);
    if (!holder || !holder->held || holder->chunk != number)
        return;
    uint64_t *cursor = cursor_of(chunk);
    if (holder->cut && cursor < holder->end) {
        *cursor = event_mark(MARK_EXECUTED, holder->cut);
        atomic_store(&chunk->cursor, cursor + 1);
    }
    holder->cut = 0;
    ring_settle_share(plugin.control, chunk);
    holder->insns_before += atomic_load(&chunk->insns);
    holder->held = false;
    holder->skipped_rep = holder->rep.open ? holder->rep.block->address : 0;
    holder->rep.open = false;
    *holders[number].chunk = &nothing;
    lone_chunk = &nothing;
}

void thread_end_phase(enum ring_phase next) {
    struct ring_control *control = plugin.control;
    uint32_t mine = ring_state(RING_HELD, (uint32_t)plugin.slot);
    if (control->slice_size)
        count_publish_all();
    pthread_mutex_lock(&ownership);
    uint32_t high = atomic_load(&control->chunk_high);
    if (is_capturing() && plugin.slot != NO_SLOT)
        for (uint32_t i = 0; i < high && i < RING_CHUNKS; i++)
            if (atomic_load(&control->chunk_state[i]) == mine) {
                take_away(i);
                chunk_publish(control, i, next == RING_DONE);
            }
    atomic_store(&plugin.phase, next);
    pthread_mutex_unlock(&ownership);
}

static void on_thread_end(void *unused) {
    (void)unused;
    if (plugin.control->slice_size) {
        count_thread_ended();
        return;
    }
    pthread_mutex_lock(&ownership);
    if (is_capturing() && self.state == CAPTURED) {
        if (self.held)
            close_block();
        if (self.numbered)
            marker_thread_ends(self.ordinal, self.number);
        if (self.numbered && (self.held || take_chunk()))
            publish(true);
    }
    self.state = DROPPED;
    self.held = false;
    use_chunk(&nothing);
    free(scratch);
    scratch = NULL;
    marker_forget();
    order_thread_ended();
    wait_thread_ended();
    python_thread_ended();
    pthread_mutex_unlock(&ownership);
}

uint32_t thread_created(unsigned vcpu) {
    uint32_t ordinal = atomic_fetch_add(&ordinals, 1);
    if (vcpu < VCPUS) {
        /* Threads are numbered in the order in which they are made, which repeats from run to run;
         * the order in which they begin to run may not. */
        bool runs_at_once = is_capturing() || plugin.control->target_count;
        ordinal_of_vcpu[vcpu] = ordinal;
        uint32_t most = atomic_load(&plugin.control->most_threads);
        while (most <= ordinal &&
               !atomic_compare_exchange_weak(&plugin.control->most_threads, &most, ordinal + 1))
            ;
        number_of_vcpu[vcpu] =
            runs_at_once && is_wanted(vcpu) ? atomic_fetch_add(&plugin.control->threads, 1) + 1 : 0;
    }
    if (ordinal > 0) {
        plugin.threaded = true;
        lone_chunk = &nothing;
    }
    uint32_t given = vcpu < VCPUS ? number_of_vcpu[vcpu] : 0;
    event_created(vcpu, given != 0, given - 1);
    return ordinal;
}

void thread_start(void) {
    pthread_key_create(&thread_key, on_thread_end);
}

void thread_forked(void) {
    pthread_mutex_init(&ownership, NULL);
    pthread_mutex_init(&order, NULL);
    memset(&self, 0, sizeof self);
    use_chunk(&nothing);
    atomic_store(&ordinals, 1);
    memset(ordinal_of_vcpu, 0, sizeof ordinal_of_vcpu);
    memset(number_of_vcpu, 0, sizeof number_of_vcpu);
    marker_forget();
    count_forked();
    event_forked();
    order_forked();
    python_forked();
}
