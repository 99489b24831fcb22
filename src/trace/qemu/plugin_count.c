/* Counting instead of events (trace/counts.h): each block has a counter in an array of its thread.
 * From the start of the run, or from where nobody looks at events any more (plugin_addresses.c).
 *
 * While the guest has one thread, QEMU's inline operation adds 1 to the counter in the generated
 * code (measured: a third of what a callback costs). Only watched blocks call back. There the exact
 * sum, counters times instructions, is computed when it may be needed.
 *
 * Once translations may be run by several threads (plugin.parallel) every block calls back, with
 * counters of its thread, and `pace.left` is exactly what the slice lacks.
 *
 * An element of a rep instruction continues the one before if no watched block came in between: on
 * the way back to it at least one would have. */
#include "trace/qemu/plugin.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "trace/counts.h"
#include "trace/missed.h"

enum { MAX_BLOCKS = 1 << 24 };

/* userdata of a watched or parallel block */
enum { WORD_INSNS = 32 /* 62:32 */, WORD_WATCHED = 63 };

struct counted {
    uint64_t *counts;            /* by block, since they were published */
    struct missed_blocks missed; /* likewise */
    struct counts_pace pace;
    uint64_t rep; /* address of the rep instruction that was entered last */
    int64_t rep_left;
    uint64_t before;    /* instructions that were published */
    uint64_t published; /* of them, of the open slice */
    uint64_t size;      /* of the open slice */
    uint32_t number, ordinal, start;
    uint64_t reported;    /* of the open slice: counted towards the limit */
    bool numbered, begun; /* has a start: else what comes first belongs to no slice */
    bool start_told, dropped;
    struct counted *next;
};

struct block_info {
    uint16_t insn_count;
    bool anonymous;
};

static struct counted lone; /* the first thread's: in reach of its callbacks without a pointer */
static THREAD_LOCAL struct counted *counting;
static struct counted *all;
static struct block_info *infos;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of `all`, and of publishing */

/* ---- handing over ---- */

struct parcel {
    struct ring_chunk *chunk;
    uint32_t number;
    uint64_t *at, *end;
};

static bool begin_parcel(struct parcel *parcel, struct counted *self) {
    struct ring_control *control = plugin.control;
    if (!self->numbered || !chunk_wait_for_room(control) || !chunk_claim(control, &parcel->number))
        return false;
    struct ring_chunk *chunk = parcel->chunk = ring_chunk(control, parcel->number);
    chunk->events = ring_chunk_events(chunk);
    chunk->first_insn = self->before;
    chunk->ticket = atomic_fetch_add(&control->tickets, 1);
    chunk->thread = self->number;
    chunk->ordinal = self->ordinal;
    chunk->last = 0;
    chunk->counted = CHUNK_OF_COUNTS;
    chunk->end = chunk->events;
    atomic_store(&chunk->cursor, chunk->events);
    atomic_store(&chunk->insns, 0);
    parcel->at = chunk->events;
    parcel->end = chunk->events + RING_CHUNK_EVENTS;
    return true;
}

static void end_parcel(struct parcel *parcel, struct counted *self, uint64_t insns, bool last) {
    atomic_store(&parcel->chunk->insns, insns);
    atomic_store(&parcel->chunk->cursor, parcel->at);
    self->before += insns;
    self->published += insns;
    chunk_publish(plugin.control, parcel->number, last);
}

/* What comes behind what is published: more of the slice, or its thread's next slice, or events, or
 * nothing. */
enum behind { BEHIND_MORE, BEHIND_SLICE, BEHIND_EVENTS, BEHIND_NOTHING };

/* Publishes everything counted so far. The caller holds the lock. */
static void publish(struct counted *self, enum behind behind) {
    enum { WORDS_AT_ONCE = 5 };
    struct parcel parcel;
    uint64_t insns = 0;
    if (self->dropped || plugin.slot == NO_SLOT || !begin_parcel(&parcel, self)) {
        self->dropped = true;
        return;
    }
    if (self->begun && !self->start_told)
        *parcel.at++ = event_block(self->start);
    self->start_told = self->begun;
    for (uint32_t block = 0, count = code_block_count(); block < count; block++) {
        uint64_t times = self->counts[block];
        if (!times)
            continue;
        if (parcel.end - parcel.at < WORDS_AT_ONCE) {
            end_parcel(&parcel, self, insns, false);
            insns = 0;
            if (!begin_parcel(&parcel, self)) {
                self->dropped = true;
                return;
            }
        }
        *parcel.at++ = event_block(block);
        *parcel.at++ = event_mark(MARK_TIMES, times);
        uint64_t missed = missed_of(&self->missed, block);
        if (missed)
            *parcel.at++ = event_mark(MARK_MISSED, missed);
        insns += times * infos[block].insn_count - missed;
        self->counts[block] = 0;
    }
    self->missed.count = 0;
    if (behind == BEHIND_SLICE)
        *parcel.at++ = event_mark(MARK_SLICE, 0);
    if (behind != BEHIND_MORE)
        parcel.chunk->counted = CHUNK_ENDS_COUNTS;
    end_parcel(&parcel, self, insns, behind == BEHIND_NOTHING);
    if (behind == BEHIND_SLICE)
        self->published = 0;
}

/* ---- slices ---- */

static void finish(void) {
    atomic_store(&plugin.control->phase, RING_DONE);
    plugin_switch(RING_DONE);
}

/* Counts what the slice has executed towards the limit. There are no shares of it: all threads go
 * on until together they have reached it. True: they have. */
static bool limit_reached(struct counted *self, uint64_t done) {
    struct ring_control *control = plugin.control;
    if (!control->limited)
        return false;
    int64_t more = self->begun && done > self->reported ? (int64_t)(done - self->reported) : 0;
    self->reported = done;
    return atomic_fetch_sub(&control->left, more) - more <= 0;
}

static uint64_t sum(const struct counted *self) {
    uint64_t insns = self->published;
    for (uint32_t block = 0, count = code_block_count(); block < count; block++)
        if (self->counts[block])
            insns += self->counts[block] * infos[block].insn_count;
    for (size_t i = 0; i < self->missed.count; i++)
        insns -= self->missed.items[i].insns;
    return insns;
}

/* Plans the next look: when every block calls back, at the first watched block that is late
 * enough. */
static void plan(struct counted *self, uint64_t done) {
    uint64_t size = self->size;
    if (plugin.control->limited && self->begun) {
        uint64_t share = thread_share(atomic_load(&plugin.control->left));
        size = size > done && share < size - done ? done + share : size;
    }
    if (plugin.parallel)
        self->pace.left = size > done ? (int64_t)(size - done) : 0;
    else if (plugin.control->slice_size)
        counts_plan(&self->pace, size, done);
    else
        counts_plan_loosely(&self->pace, size, done);
}

/* Of the slice that begins now. */
static uint64_t slice_size(const struct counted *self) {
    const struct capture_counts *counts = &plugin.control->counted;
    if (plugin.control->slice_size)
        return plugin.control->slice_size;
    uint64_t size = counts->slice;
    while (size < counts->longest && self->before / size >= counts->slices)
        size *= 2;
    return size;
}

static void start_slice(struct counted *self, uint32_t block) {
    self->size = slice_size(self);
    self->start = block;
    self->begun = true;
    self->start_told = false;
    self->reported = 0;
    if (limit_reached(self, 0)) {
        self->begun = false;
        self->dropped = true;
        finish();
    }
}

/* Before the block is entered, when `pace.left` is used up. */
static __attribute__((noinline)) void look(struct counted *self, unsigned vcpu, uint32_t block) {
    int saved = errno;
    pthread_mutex_lock(&lock);
    if (!self->numbered && !self->dropped) /* just forked */
        self->dropped = !(self->numbered = thread_number(vcpu, &self->number));
    self->rep = 0;
    if (!self->dropped && atomic_load(&plugin.control->phase) == RING_DONE)
        plugin_follow_phase();
    uint64_t done = self->dropped ? 0 : sum(self);
    if (!plugin.parallel)
        counts_learn(&self->pace, done);
    bool patient = self->begun && infos[block].anonymous;
    bool over = !self->dropped && limit_reached(self, done);
    if (!self->dropped && ((over && self->begun) || counts_due(self->size, done, patient))) {
        publish(self, BEHIND_SLICE);
        if (!self->begun)
            atomic_store(&plugin.control->skip, 0); /* also for what exec starts */
        if (!self->dropped)
            start_slice(self, block);
        done = 0;
    }
    if (self->dropped)
        self->pace.left = INT64_MAX;
    else
        plan(self, done);
    pthread_mutex_unlock(&lock);
    errno = saved;
}

/* ---- threads ---- */

static void *reserve(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        abort(); /* out of memory: the emulator itself does the same */
    return memory;
}

/* For all threads that were not asked for: what it counts is not used. */
static struct counted nobody = {.dropped = true};

static uint64_t *new_counts(void) {
    return reserve(MAX_BLOCKS * sizeof(uint64_t));
}

/* The current thread, about to enter its first block. `self` NULL: of its own. */
static __attribute__((noinline)) struct counted *begin_thread(struct counted *self, unsigned vcpu,
                                                              uint32_t block) {
    int saved = errno;
    uint32_t number;
    bool wanted = thread_number(vcpu, &number);
    pthread_mutex_lock(&lock);
    if (!self)
        self = wanted ? calloc(1, sizeof *self) : &nobody;
    if (!self)
        abort(); /* out of memory */
    if (!self->counts)
        self->counts = new_counts();
    self->pace = (struct counts_pace){.left = INT64_MAX, .reach = COUNTS_REACH_FIRST};
    self->dropped = !wanted;
    if (wanted) {
        self->number = number;
        self->ordinal = thread_ordinal(vcpu);
        self->numbered = true;
        self->before = thread_position_before();
        self->next = all;
        all = self;
        if (self == &lone && atomic_load(&plugin.control->skip) > 0)
            self->size = (uint64_t)atomic_load(&plugin.control->skip);
        else
            start_slice(self, block);
        if (!self->dropped)
            plan(self, 0);
    }
    counting = self;
    pthread_mutex_unlock(&lock);
    errno = saved;
    return self;
}

uint64_t count_position(void) {
    const struct counted *self = counting;
    return self && !self->dropped ? self->before - self->published + sum(self) : 0;
}

/* The first thread of the next program skips what this one has left to skip (begin_thread()). */
struct thread_unused count_before_exec(void) {
    struct ring_control *control = plugin.control;
    struct counted *self = counting;
    struct thread_unused unused = {0};
    if (!self || self->dropped)
        return unused;
    uint64_t done = sum(self), rest = self->size > done ? self->size - done : 0;
    if (self->begun && control->limited)
        unused.left = -(int64_t)(done - self->reported); /* it counts towards the limit */
    else if (!self->begun)
        unused.skip = (int64_t)rest - atomic_load(&control->skip);
    atomic_fetch_add(&control->left, unused.left);
    atomic_fetch_add(&control->skip, unused.skip);
    return unused;
}

/* Several blocks may contain the instruction, and which of them was entered last is not known. Any
 * that was entered at all will do, since they end at the same instruction. */
void count_fault(uint64_t pc) {
    struct counted *self = counting;
    struct fault_search search = {.pc = pc};
    struct fault fault;
    if (!self || self->dropped)
        return;
    pthread_mutex_lock(&lock);
    self->rep = 0;
    while (fault_next_block(&search, &fault)) {
        uint32_t insns = fault.insn_count - fault.index;
        if (fault.number < code_block_count() && self->counts[fault.number]) {
            missed_add(&self->missed, fault.number, insns);
            self->pace.left += plugin.parallel ? insns : 0;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

void count_publish(void) {
    pthread_mutex_lock(&lock);
    if (counting)
        publish(counting, BEHIND_MORE);
    pthread_mutex_unlock(&lock);
}

void count_end(void) {
    pthread_mutex_lock(&lock);
    if (counting) {
        publish(counting, BEHIND_EVENTS);
        thread_go_on_at(counting->before);
    }
    pthread_mutex_unlock(&lock);
}

void count_publish_all(void) {
    pthread_mutex_lock(&lock);
    for (struct counted *self = all; self; self = self->next)
        publish(self, BEHIND_MORE);
    pthread_mutex_unlock(&lock);
}

void count_thread_ended(void) {
    struct counted *self = counting;
    if (!self || self == &nobody)
        return;
    pthread_mutex_lock(&lock);
    uint64_t done = self->dropped ? 0 : sum(self);
    publish(self, BEHIND_NOTHING);
    if (limit_reached(self, done))
        atomic_store(&plugin.control->phase, RING_DONE);
    self->dropped = true;
    self->pace.left = INT64_MAX;
    if (self != &lone) { /* whose counters translations may still add to */
        struct counted **at = &all;
        while (*at != self)
            at = &(*at)->next;
        *at = self->next;
        munmap(self->counts, MAX_BLOCKS * sizeof *self->counts);
        free(self->missed.items);
        free(self);
        counting = NULL;
    }
    pthread_mutex_unlock(&lock);
}

/* The child goes on with a copy of the current thread's counters. Where it is shows at the next
 * watched block. */
void count_forked(void) {
    pthread_mutex_init(&lock, NULL);
    struct counted *self = counting;
    all = self;
    if (!self)
        return;
    uint64_t *counts = self->counts;
    bool unheard = self == &nobody;
    madvise(counts, MAX_BLOCKS * sizeof *counts, MADV_DONTNEED);
    *self = (struct counted){.counts = counts, .pace.reach = COUNTS_REACH_FIRST};
    if (!plugin.control->follow || unheard) {
        self->dropped = true;
        self->pace.left = INT64_MAX;
    }
}

/* ---- callbacks ---- */

static void on_watched(unsigned vcpu, void *userdata) {
    (void)vcpu;
    uint64_t word = (uintptr_t)userdata;
    if (__builtin_expect(lone.pace.left <= 0, 0))
        look(&lone, vcpu, (uint32_t)word);
    lone.pace.left -= (int64_t)(word >> WORD_INSNS);
    lone.counts[(uint32_t)word]++;
}

static void on_block(unsigned vcpu, void *userdata) {
    uint64_t word = (uintptr_t)userdata;
    struct counted *self = counting;
    if (__builtin_expect(!self, 0))
        self = begin_thread(NULL, vcpu, (uint32_t)word);
    if (__builtin_expect(self->pace.left <= 0, 0) && word >> WORD_WATCHED)
        look(self, vcpu, (uint32_t)word);
    self->pace.left -= (int64_t)(word << 1 >> (WORD_INSNS + 1));
    self->counts[(uint32_t)word]++;
}

/* Whether the rep instruction is entered, not the next element of the one that runs. */
static inline bool enters_rep(struct counted *self, const struct rep_block *rep) {
    if (rep->insn_count == 1 && self->rep == rep->address && self->rep_left == self->pace.left)
        return false;
    self->rep = rep->address;
    return true;
}

static void on_lone_rep(unsigned vcpu, void *userdata) {
    (void)vcpu;
    const struct rep_block *rep = userdata;
    lone.counts[rep->block] += enters_rep(&lone, rep);
    lone.rep_left = lone.pace.left;
}

static void on_rep(unsigned vcpu, void *userdata) {
    const struct rep_block *rep = userdata;
    struct counted *self = counting ? counting : begin_thread(NULL, vcpu, rep->block);
    if (!enters_rep(self, rep))
        return;
    self->pace.left -= rep->insn_count;
    self->rep_left = self->pace.left;
    self->counts[rep->block]++;
}

/* ---- translation ---- */

void count_instrument(struct qemu_plugin_tb *tb) {
    struct block block;
    code_translate(tb, &block);
    if (block.number >= MAX_BLOCKS)
        abort(); /* more code than the emulator's own tables hold */
    fault_note_block(tb, block.number, block.insn_count);
    if (!infos)
        infos = reserve(MAX_BLOCKS * sizeof *infos);
    infos[block.number] = (struct block_info){(uint16_t)block.insn_count, block.anonymous};
    if (!plugin.parallel && !counting)
        begin_thread(&lone, 0, block.number); /* what is translated first is executed first */
    uint64_t word = (uint64_t)block.insn_count << WORD_INSNS | block.number;
    bool watched = code_is_watched(tb, block.insn_count);
    if (block.rep)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, plugin.parallel ? on_rep : on_lone_rep,
                                             QEMU_PLUGIN_CB_NO_REGS, (void *)block.rep);
    else if (plugin.parallel)
        qemu_plugin_register_vcpu_tb_exec_cb(
            tb, on_block, QEMU_PLUGIN_CB_NO_REGS,
            (void *)(uintptr_t)(word | (uint64_t)watched << WORD_WATCHED));
    else if (watched)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_watched, QEMU_PLUGIN_CB_NO_REGS,
                                             (void *)(uintptr_t)word);
    else
        interface_add(tb, lone.counts + block.number, 1);
}
