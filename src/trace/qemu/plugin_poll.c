/* Words that a thread polls: it sleeps, looks whether another thread has written one, and sleeps
 * again. The flag may be a plain word that nobody writes atomically, and the rounds store, as calls
 * do, so that plugin_order.c does not find it by itself.
 *
 * A round goes from the end of one sleep to that of the next. Words that were loaded, and not
 * stored, in each of two rounds that follow one another are watched from then on. Most of them are
 * constants, which cost little, as nobody writes them. Of longer rounds than ROUND_EVENTS, which
 * have work in them, the beginning and the end are looked through: a thread looks just before it
 * sleeps, or behind that. */
#include "trace/qemu/plugin.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROUND_EVENTS = 1 << 10, /* of a round, at most: else half of it at either end */
    ROUND_WORDS = 128,      /* loaded in it, at most */
    THREAD_WORDS = 256,     /* that a thread polls, at most, */
    POLLED_WORDS = 1 << 10  /* and that are watched in a process */
};

struct words {
    uint32_t count;
    uint64_t keys[ROUND_EVENTS]; /* addresses / 8 + 1, ascending */
};

static THREAD_LOCAL struct poll {
    struct thread_moment end; /* of the last sleep */
    uint64_t events[ROUND_EVENTS];
    struct words loaded, stored; /* in the round that ends */
    uint32_t before_count;
    uint64_t before[ROUND_WORDS]; /* loaded in the round before, and not stored */
    uint32_t polled_count;
    uint64_t polled[THREAD_WORDS]; /* ascending */
} * poll;                          /* NULL: it has not slept */
static _Atomic uint32_t polled_words;

static int by_key(const void *left, const void *right) {
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void sort_words(struct words *words) {
    uint32_t kept = 0;
    qsort(words->keys, words->count, sizeof *words->keys, by_key);
    for (uint32_t i = 0; i < words->count; i++)
        if (!kept || words->keys[kept - 1] != words->keys[i])
            words->keys[kept++] = words->keys[i];
    words->count = kept;
}

static bool has_word(const uint64_t *keys, uint32_t count, uint64_t key) {
    return bsearch(&key, keys, count, sizeof *keys, by_key);
}

static void collect_words(uint32_t count) {
    poll->loaded.count = poll->stored.count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const unsigned kind = event_kind(poll->events[i]);
        struct words *words = kind == EVENT_LOAD    ? &poll->loaded
                              : kind == EVENT_STORE ? &poll->stored
                                                    : NULL;
        if (words)
            words->keys[words->count++] = event_address(poll->events[i]) / 8 + 1;
    }
    sort_words(&poll->loaded);
    sort_words(&poll->stored);
}

static void poll_word(uint64_t key) {
    if (poll->polled_count == THREAD_WORDS || atomic_load(&polled_words) >= POLLED_WORDS ||
        has_word(poll->polled, poll->polled_count, key))
        return;
    if (order_poll(key))
        atomic_fetch_add(&polled_words, 1);
    uint32_t at = poll->polled_count++;
    for (; at && poll->polled[at - 1] > key; at--)
        poll->polled[at] = poll->polled[at - 1];
    poll->polled[at] = key;
}

/* What was loaded in this round takes the place of what was in the one before. */
static void end_round(void) {
    uint64_t now[ROUND_WORDS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < poll->loaded.count && count < ROUND_WORDS; i++) {
        const uint64_t key = poll->loaded.keys[i];
        if (has_word(poll->stored.keys, poll->stored.count, key))
            continue;
        now[count++] = key;
        if (has_word(poll->before, poll->before_count, key))
            poll_word(key);
    }
    memcpy(poll->before, now, count * sizeof *now);
    poll->before_count = count;
}

void poll_slept(void) {
    if (!poll && !(poll = calloc(1, sizeof *poll)))
        return;
    const uint32_t count = thread_events_since(&poll->end, poll->events, ROUND_EVENTS);
    collect_words(count);
    end_round();
}

bool poll_looks_at(uint64_t key) {
    return poll && has_word(poll->polled, poll->polled_count, key);
}

void poll_thread_ended(void) {
    free(poll);
    poll = NULL;
}

void poll_forked(void) {
    atomic_store(&polled_words, 0);
}
