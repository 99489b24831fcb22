/* Free buffers are a list under one lock, last in first out, so that no more buffers are touched
 * than are needed at once. A thread comes here once in tens of thousands of cycles. */
#include "tap/pool.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tap/index.h"
#include "tap/life.h"

struct pooled {
    struct tap_buffer buffer; /* the first member: what the others see */
    struct pooled *next;      /* free ones */
    atomic_uint references;   /* executors that have not given it back yet */
    struct shared_index index;
    uint64_t words[TAP_BUFFER_WORDS];
    struct packed_life lives[TAP_BUFFER_LIVES]; /* written only if a worker wants them */
};

struct tap_bus {
    pthread_mutex_t lock;
    pthread_cond_t given_back;
    struct pooled *free;
    uint32_t allocated, limit, waiting;
    atomic_bool failed; /* `error` is set */
    struct error error;
};

struct tap_bus *tap_bus_new(void) {
    struct tap_bus *bus = calloc(1, sizeof *bus);
    if (!bus)
        return NULL;
    pthread_mutex_init(&bus->lock, NULL);
    pthread_cond_init(&bus->given_back, NULL);
    bus->limit = TAP_POOL_BUFFERS;
    return bus;
}

static void free_one(struct tap_bus *bus) {
    struct pooled *pooled = bus->free;
    bus->free = pooled->next;
    bus->allocated--;
    shared_index_end(&pooled->index);
    free(pooled);
}

void tap_bus_free(struct tap_bus *bus) {
    if (!bus)
        return;
    while (bus->free)
        free_one(bus);
    pthread_mutex_destroy(&bus->lock);
    pthread_cond_destroy(&bus->given_back);
    free(bus);
}

void pool_join(struct tap_bus *bus) {
    pthread_mutex_lock(&bus->lock);
    bus->limit++;
    pthread_mutex_unlock(&bus->lock);
}

void pool_leave(struct tap_bus *bus) {
    pthread_mutex_lock(&bus->lock);
    bus->limit--;
    while (bus->free && bus->allocated > bus->limit)
        free_one(bus);
    pthread_mutex_unlock(&bus->lock);
}

/* ---- buffers ---- */

static struct pooled *allocate(void) {
    struct pooled *pooled = malloc(sizeof *pooled);
    if (!pooled)
        return NULL;
    memset(pooled, 0, offsetof(struct pooled, words));
    shared_index_init(&pooled->index);
    pooled->buffer.words = pooled->words;
    pooled->buffer.lives = pooled->lives;
    pooled->buffer.index = &pooled->index;
    return pooled;
}

/* The lock is held. */
static void wait_for_buffer(struct tap_bus *bus) {
    bus->waiting++;
    while (!bus->free && bus->allocated >= bus->limit)
        pthread_cond_wait(&bus->given_back, &bus->lock);
    bus->waiting--;
}

struct tap_buffer *pool_take(struct tap_bus *bus) {
    pthread_mutex_lock(&bus->lock);
    if (!bus->free && bus->allocated >= bus->limit)
        wait_for_buffer(bus);
    struct pooled *pooled = bus->free;
    if (pooled)
        bus->free = pooled->next;
    else if ((pooled = allocate()))
        bus->allocated++;
    pthread_mutex_unlock(&bus->lock);
    if (!pooled)
        return NULL;
    shared_index_forget(&pooled->index);
    pooled->buffer.used = 0;
    pooled->buffer.life_count = 0;
    memset(pooled->buffer.records, 0, sizeof pooled->buffer.records);
    return &pooled->buffer;
}

static void put_back(struct tap_bus *bus, struct pooled *pooled) {
    pthread_mutex_lock(&bus->lock);
    pooled->next = bus->free;
    bus->free = pooled;
    if (bus->waiting)
        pthread_cond_signal(&bus->given_back);
    pthread_mutex_unlock(&bus->lock);
}

void pool_hand_over(struct tap_bus *bus, struct tap_buffer *buffer, uint32_t references) {
    struct pooled *pooled = (struct pooled *)buffer;
    atomic_store(&pooled->references, references);
    if (!references)
        put_back(bus, pooled);
}

void pool_give_back(struct tap_bus *bus, struct tap_buffer *buffer) {
    struct pooled *pooled = (struct pooled *)buffer;
    if (atomic_fetch_sub(&pooled->references, 1) == 1)
        put_back(bus, pooled);
}

/* ---- failure ---- */

void pool_fail(struct tap_bus *bus, const struct error *error) {
    pthread_mutex_lock(&bus->lock);
    if (!atomic_load(&bus->failed)) {
        bus->error = *error;
        atomic_store(&bus->failed, true);
    }
    pthread_mutex_unlock(&bus->lock);
}

bool pool_good(struct tap_bus *bus, struct error *error) {
    if (!atomic_load(&bus->failed))
        return true;
    pthread_mutex_lock(&bus->lock);
    *error = bus->error;
    pthread_mutex_unlock(&bus->lock);
    return false;
}
