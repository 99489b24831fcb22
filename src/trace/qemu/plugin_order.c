/* Words that threads synchronise by without a system call, and which thread had written what
 * another read there (MARK_WRITER).
 *
 * A word (of 8 bytes) is known once it was accessed atomically, and watched once a second thread
 * has done so, or once a thread has spun on it (plugin_spin.c). A filter of bytes, looked at with
 * every access of a program of several threads, tells where watched words may be. The table
 * remembers of each word who wrote it last. A thread that reads a watched word, or takes its value
 * in an exchange, tells of the writer if that is another thread and it has not told of it before:
 * what it writes to the trace is bounded by how often words move between threads. Each half of a
 * word has a writer of its own: who reads one does not read what was written to the other.
 *
 * Words that a thread looks at between sleeps are watched for that thread alone (plugin_poll.c).
 *
 * A callback comes behind its access. So a value may be read before its writer has told of it: a
 * reader that finds another value than the last one that was told of waits for the teller, but not
 * for long: the teller may wait for a processor that other programs have. An atomic operation that
 * changes nothing, such as a failed exchange, has not written. All orders that are told follow the
 * order of callbacks, so they have no circles.
 *
 * The word that the kernel clears when a thread ends (CLONE_CHILD_CLEARTID) is watched from then
 * on: who reads 0 there has seen the end of that thread. That is how glibc's pthread_join() finds
 * that it need not wait. Other libraries tell by a word of the thread's own, written atomically
 * shortly before: the last such words of a thread are watched from its end on too.
 *
 * What a handler of signals reads is not told of. The sender has written it before it sent, and the
 * handler would wait for that in the middle of what the thread does; but when a signal comes is not
 * simulated: it comes at the same instruction as in the captured run. Go's runtime stops who runs
 * for 10 ms so, which in the emulator are few instructions.
 *
 * Atomic additions and the like are no readers: their results are the same in any order, or nearly
 * so (docs/not-modelled.md). But one that takes a count down to 0 has read what the others took off
 * it since it was 0 the last time: who comes last to a barrier or a latch, the last user of an
 * object. Of each other thread that has only taken off, the last such operation is told. Who has
 * added as well counts something that comes and goes, such as readers of a lock. */
#include "trace/qemu/plugin.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "isa/exchange.h"

enum {
    WORDS = 1 << 14,
    PROBES = 8,
    SPUN_WORDS = 1 << 12,   /* at most; others fill the filter no further */
    SEEN = 64,              /* words of a thread whose last writer it has told of */
    TELLER_ROUNDS = 1000,   /* that a reader waits for the teller, */
    TELLER_YIELDS = 1000,   /* and then this often gives it the processor; */
    TELLER_SLEEPS = 200,    /* and for so many milliseconds where others keep it from running, */
    VAIN_SLEEPS = 8,        /* unless so many words were waited for and nobody told */
    OWN_WORDS = 4,          /* of a thread, the last that it wrote atomically */
    HALVES = 2,             /* of a word, of 4 bytes each */
    TAKERS = 16,            /* from a count, the last of them are remembered */
    HANDLER_INSNS = 1 << 20 /* of a handler, at most: what takes longer has been left by a jump */
};

struct half {
    uint32_t writer;         /* the last; UINT32_MAX: none that is known */
    uint32_t version;        /* of the word, when it was written */
    uint64_t written;        /* thread_at() of the writer */
    _Atomic uint64_t clears; /* the kernel clears the half, which is there, as the writer has ended;
                                0: the writer wrote */
};

/* A thread that has counted in a word since it was 0. */
struct taker {
    uint32_t thread;
    bool added;
    bool unsure;      /* it counted first, and left 1: to 1 from 0, if others add, or from 2 */
    uint64_t written; /* thread_at() of its last */
};
static struct taker takers[WORDS][TAKERS];

static struct word {
    _Atomic uint64_t key; /* address / 8 + 1; 0: none */
    _Atomic uint32_t locked;
    _Atomic uint32_t version;        /* counts writes by threads */
    uint32_t first;                  /* thread that accessed it first */
    uint8_t taker_count, next_taker; /* next: of a full list, the one to be forgotten */
    bool watched;
    bool polled; /* who looks at it between sleeps watches it, and nobody else (plugin_poll.c) */
    struct half halves[HALVES];
    _Atomic uint64_t value;
} words[WORDS];

uint8_t order_filter[ORDER_FILTER];
static _Atomic uint32_t spun_words;
static _Atomic uint32_t vain_sleeps;

struct seen {
    uint64_t key;
    uint32_t versions[HALVES];
};
static THREAD_LOCAL struct seen *seen;            /* SEEN of them */
static THREAD_LOCAL uint32_t handlers;            /* of signals, that it is in, */
static THREAD_LOCAL uint64_t handled_from;        /* the innermost, by its instructions */
static THREAD_LOCAL uint64_t own_keys[OWN_WORDS]; /* the last first; 0: none */

static inline void relax(void) {
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

/* ---- the table ---- */

static void lock(struct word *word) {
    for (uint32_t tries = 1; atomic_exchange_explicit(&word->locked, 1, memory_order_acquire);
         tries++)
        if (tries % TELLER_ROUNDS)
            relax();
        else
            sched_yield();
}

static void unlock(struct word *word) {
    atomic_store_explicit(&word->locked, 0, memory_order_release);
}

static uint32_t slot_of(uint64_t key) {
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40) % WORDS;
}

/* NULL: it is not known. */
static struct word *look_up(uint64_t key) {
    for (uint32_t i = 0; i < PROBES; i++) {
        struct word *word = &words[(slot_of(key) + i) % WORDS];
        if (atomic_load_explicit(&word->key, memory_order_relaxed) == key)
            return word;
    }
    return NULL;
}

/* Locked; NULL: it is not known. */
static struct word *find(uint64_t key) {
    struct word *word = look_up(key);
    if (!word)
        return NULL;
    lock(word);
    if (atomic_load_explicit(&word->key, memory_order_relaxed) == key)
        return word;
    unlock(word);
    return NULL;
}

/* Its value in the guest's memory, which has just been accessed. */
static uint64_t value_at(uint64_t key) {
    return *(volatile const uint64_t *)(uintptr_t)(plugin.guest_base + (key - 1) * 8);
}

/* The same, made if it is new, in place of one that is not watched; NULL: there is no room. */
static struct word *find_or_make(uint64_t key, uint32_t thread) {
    struct word *word = find(key);
    if (word)
        return word;
    for (uint32_t i = 0; i < PROBES; i++) {
        struct word *place = &words[(slot_of(key) + i) % WORDS];
        lock(place);
        if (place->watched || place->polled) {
            unlock(place);
            continue;
        }
        atomic_store_explicit(&place->key, key, memory_order_relaxed);
        place->version = 0;
        place->taker_count = 0;
        for (uint32_t half = 0; half < HALVES; half++)
            place->halves[half] = (struct half){.writer = UINT32_MAX};
        place->first = thread;
        atomic_store_explicit(&place->value, value_at(key), memory_order_relaxed);
        return place;
    }
    return NULL;
}

static void watch(struct word *word, uint64_t key) {
    word->watched = true;
    order_filter[(key - 1) % ORDER_FILTER] = 1;
}

/* ---- reads and writes ---- */

/* The halves of its word that an access touches, as bits. */
static uint32_t halves_of(uint64_t event) {
    const uint64_t first = event_address(event) % 8;
    const uint64_t end = first + (UINT64_C(1) << event_log2_size(event));
    return (first < 4 ? 1 : 0) | (end > 4 ? 2 : 0);
}

static uint64_t bits_of(uint32_t halves) {
    return (halves & 1 ? UINT32_MAX : 0) | (halves & 2 ? (uint64_t)UINT32_MAX << 32 : 0);
}

static bool differs(const struct word *word, uint32_t halves, uint64_t value) {
    return (atomic_load_explicit(&word->value, memory_order_relaxed) ^ value) & bits_of(halves);
}

static void keep_value(struct word *word, uint32_t halves, uint64_t value) {
    const uint64_t other = atomic_load_explicit(&word->value, memory_order_relaxed);
    atomic_store_explicit(&word->value, (other & ~bits_of(halves)) | (value & bits_of(halves)),
                          memory_order_relaxed);
}

/* Of halves that the kernel clears, the address; 0: of none. */
static uint64_t cleared(const struct word *word, uint32_t halves) {
    uint64_t address = 0;
    for (uint32_t half = 0; half < HALVES; half++)
        if (halves >> half & 1 && !address)
            address = atomic_load_explicit(&word->halves[half].clears, memory_order_relaxed);
    return address;
}

static struct seen *seen_of(uint64_t key) {
    if (!seen && !(seen = calloc(SEEN, sizeof *seen)))
        return NULL;
    struct seen *last = &seen[key % SEEN];
    if (last->key != key)
        *last = (struct seen){.key = key};
    return last;
}

/* Gives the writer time to tell, in this round of waiting; false: it has had enough. */
static bool give_time(uint32_t round) {
    if (round < TELLER_ROUNDS)
        relax();
    else if (round < TELLER_ROUNDS + TELLER_YIELDS)
        sched_yield();
    else if (round < TELLER_ROUNDS + TELLER_YIELDS + TELLER_SLEEPS &&
             atomic_load_explicit(&vain_sleeps, memory_order_relaxed) < VAIN_SLEEPS)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    else
        return false;
    return true;
}

/* Waits until the writer of what has been read has told of it, but not for long. */
static void await_teller(uint64_t key, uint32_t halves, uint64_t value) {
    struct word *word = look_up(key);
    if (!word || cleared(word, halves))
        return;
    const uint32_t version = atomic_load(&word->version);
    for (uint32_t round = 1; give_time(round); round++)
        if (!differs(word, halves, value) ||
            atomic_load_explicit(&word->version, memory_order_relaxed) != version)
            return;
    atomic_fetch_add_explicit(&vain_sleeps, 1, memory_order_relaxed);
    keep_value(word, halves, value); /* nobody will */
}

void order_handler_begins(void) {
    handlers++;
    handled_from = thread_position();
}

void order_handler_returns(void) {
    handlers -= handlers > 0;
}

static bool in_handler(uint64_t position) {
    if (handlers && position - handled_from > HANDLER_INSNS)
        handlers = 0;
    return handlers;
}

/* Tells of the last write to these halves that is news. */
static void note_read(const struct word *word, uint64_t key, uint32_t halves, uint32_t index,
                      uint32_t thread, uint64_t position) {
    struct seen *last = in_handler(position) ? NULL : seen_of(key);
    const struct half *news = NULL;
    for (uint32_t i = 0; last && i < HALVES; i++) {
        const struct half *half = &word->halves[i];
        if (!(halves >> i & 1))
            continue;
        if (half->version != last->versions[i] && half->writer != UINT32_MAX &&
            half->writer != thread && (!news || half->version > news->version))
            news = half;
        last->versions[i] = half->version;
    }
    if (news)
        thread_tell_writer(index, news->writer, news->written);
}

static void note_write(struct word *word, uint64_t key, uint32_t halves, uint64_t value,
                       uint32_t thread, uint64_t position) {
    struct seen *last = seen_of(key);
    const uint32_t version = ++word->version;
    for (uint32_t i = 0; i < HALVES; i++)
        if (halves >> i & 1) {
            word->halves[i] =
                (struct half){.writer = thread, .version = version, .written = position};
            if (last)
                last->versions[i] = version;
        }
    keep_value(word, halves, value);
}

/* The kernel, which nobody sees write, has not cleared the half yet, or has written it anew for the
 * next thread. */
static bool is_not_cleared(const struct word *word, uint32_t halves) {
    const uint64_t clears = cleared(word, halves);
    return clears && *(volatile const uint32_t *)(uintptr_t)(plugin.guest_base + clears) != 0;
}

static void note_own(uint64_t key) {
    if (own_keys[0] == key)
        return;
    memmove(own_keys + 1, own_keys, (OWN_WORDS - 1) * sizeof *own_keys);
    own_keys[0] = key;
}

static uint64_t key_of(uint64_t event) {
    return event_address(event) / 8 + 1;
}

/* Nobody has written it since it is known: constants, which are looked at like flags, are many. */
static bool is_as_found(const struct word *word, uint64_t value) {
    return !atomic_load_explicit(&word->version, memory_order_relaxed) &&
           atomic_load_explicit(&word->value, memory_order_relaxed) == value;
}

void order_access(uint64_t event) {
    const uint64_t key = key_of(event);
    const uint32_t halves = halves_of(event);
    const bool store = event_kind(event) == EVENT_STORE;
    uint32_t thread;
    uint64_t position;
    const struct word *known = look_up(key);
    if (!known)
        return;
    const uint64_t value = value_at(key);
    if (!store && is_as_found(known, value))
        return;
    if (!thread_at(event_index(event), &thread, &position))
        return;
    if (!store)
        await_teller(key, halves, value);
    struct word *word = find(key);
    if (!word)
        return;
    if (store)
        note_write(word, key, halves, value, thread, position);
    else if (!is_not_cleared(word, halves) && (word->watched || poll_looks_at(key)))
        note_read(word, key, halves, event_index(event), thread, position);
    unlock(word);
}

/* Of one of these halves no writer is known. */
static bool is_unwritten(const struct word *word, uint32_t halves) {
    return (halves & 1 && word->halves[0].writer == UINT32_MAX) ||
           (halves & 2 && word->halves[1].writer == UINT32_MAX);
}

/* ---- counts ---- */

static struct taker *taker_of(struct word *word, uint32_t thread) {
    struct taker *list = takers[word - words];
    for (uint32_t i = 0; i < word->taker_count; i++)
        if (list[i].thread == thread)
            return &list[i];
    uint32_t place = word->taker_count;
    if (place < TAKERS)
        word->taker_count++;
    else
        place = word->next_taker++ % TAKERS;
    list[place] = (struct taker){.thread = thread};
    return &list[place];
}

/* The number of the size of what was accessed that this value of the word has there. */
static uint64_t count_of(uint32_t halves, uint64_t value) {
    return (value & bits_of(halves)) >> (halves & 1 ? 0 : 32);
}

/* By how much it has changed; 0 if it was not known before. */
static int64_t change_of(const struct word *word, uint32_t halves, uint64_t value) {
    const uint64_t before = atomic_load_explicit(&word->value, memory_order_relaxed);
    const uint64_t change = count_of(halves, value) - count_of(halves, before);
    return halves == 3 ? (int64_t)change : (int32_t)change;
}

/* Whether one of these halves is 0 and was not. */
static bool has_come_to_zero(const struct word *word, uint32_t halves, uint64_t value) {
    for (uint32_t half = 0; half < HALVES; half++)
        if (halves >> half & 1 && !(value & bits_of(1u << half)) &&
            differs(word, 1u << half, value))
            return true;
    return false;
}

/* Others add to the word: who counted first did so, too. */
static void resolve_first(const struct word *word) {
    struct taker *list = takers[word - words];
    for (uint32_t i = 0; i < word->taker_count; i++)
        list[i].added |= list[i].unsure;
}

/* An addition to the word has left this value. */
static void note_count(struct word *word, uint32_t halves, uint64_t value, uint32_t index,
                       uint32_t thread, uint64_t position) {
    const int64_t change = change_of(word, halves, value);
    const bool zero = change < 0 && has_come_to_zero(word, halves, value);
    const struct taker *list = takers[word - words];
    for (uint32_t i = 0; zero && !in_handler(position) && i < word->taker_count; i++)
        if (list[i].thread != thread && !list[i].added)
            thread_tell_writer(index, list[i].thread, list[i].written);
    if (zero) {
        word->taker_count = word->next_taker = 0;
        return;
    }
    if (change > 0)
        resolve_first(word);
    struct taker *taker = taker_of(word, thread);
    taker->added |= change > 0;
    taker->unsure |= change == 0 && count_of(halves, value) == 1;
    taker->written = position;
}

void order_atomic(uint64_t event, enum order_insn insn) {
    const uint64_t key = key_of(event);
    const uint32_t halves = halves_of(event);
    uint32_t thread;
    uint64_t position;
    if (!plugin.threaded || !thread_at(event_index(event), &thread, &position))
        return;
    struct word *word = find_or_make(key, thread);
    if (!word)
        return;
    const uint64_t value = value_at(key);
    if (!word->watched && word->first != thread)
        watch(word, key);
    if (word->first == thread && !word->watched)
        note_own(key);
    if (insn == ORDER_TAKES)
        note_read(word, key, halves, event_index(event), thread, position);
    else
        note_count(word, halves, value, event_index(event), thread, position);
    if (!word->watched || is_unwritten(word, halves) || /* its plain stores are not told of */
        differs(word, halves, value))
        note_write(word, key, halves, value, thread, position);
    unlock(word);
}

/* In place of a word that is not watched, if there is room. */
static void watch_few(uint64_t key, struct word *word) {
    if (word->watched || atomic_load(&spun_words) >= SPUN_WORDS)
        return;
    watch(word, key);
    atomic_fetch_add(&spun_words, 1);
}

void order_thread_ends(uint64_t clears, uint32_t thread, uint64_t position) {
    for (uint32_t i = 0; i < OWN_WORDS; i++) {
        struct word *word = own_keys[i] ? find(own_keys[i]) : NULL;
        if (!word)
            continue;
        if (word->first == thread)
            watch_few(own_keys[i], word);
        unlock(word);
        own_keys[i] = 0;
    }
    const uint64_t key = clears / 8 + 1;
    uint64_t value;
    if (!clears || clears % sizeof(uint32_t) || !guest_read((key - 1) * 8, &value, sizeof value))
        return;
    struct word *word = find_or_make(key, thread);
    if (!word)
        return;
    watch_few(key, word);
    if (word->watched) {
        const uint32_t half = clears % 8 / 4;
        note_write(word, key, 1u << half, value, thread, position);
        word->halves[half].clears = clears;
    }
    unlock(word);
}

void order_thread_ended(void) {
    free(seen);
    seen = NULL;
    handlers = 0;
}

void order_forked(void) {
    memset(words, 0, sizeof words);
    memset(order_filter, 0, sizeof order_filter);
    atomic_store(&spun_words, 0);
}

/* ---- words that are looked at again and again ---- */

/* Locked, for the current thread; NULL: there is no room, or its events are not captured. */
static struct word *find_or_make_here(uint64_t key) {
    uint32_t thread;
    uint64_t position;
    return thread_at(0, &thread, &position) ? find_or_make(key, thread) : NULL;
}

void order_watch_spun(uint64_t address) {
    const uint64_t key = address / 8 + 1;
    struct word *word = find_or_make_here(key);
    if (!word)
        return;
    watch_few(key, word);
    unlock(word);
}

bool order_poll(uint64_t key) {
    struct word *word = find_or_make_here(key);
    if (!word)
        return false;
    const bool news = !word->watched && !word->polled;
    word->polled = true;
    order_filter[(key - 1) % ORDER_FILTER] = 1;
    unlock(word);
    return news;
}

/* ---- instructions ---- */

enum order_insn order_insn_of(const struct qemu_plugin_insn *insn) {
    uint8_t bytes[INSN_BYTES];
    const size_t size = interface_insn_bytes(insn, bytes);
    return insn_exchanges((enum isa)plugin.control->isa, bytes, size) ? ORDER_TAKES : ORDER_COUNTS;
}
