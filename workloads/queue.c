/* queue [uneven|even|single] [THREADS] [ITEMS]: producers and consumers with a bounded queue.
 *
 * Half of the threads make items, the others use them; between them is a queue of 256 items with a
 * lock and two condition variables. An item takes 1000 rounds of work in all:
 *
 * uneven  750 of them in the producer: consumers wait for items
 * even    500 and 500: the remedy
 * single  likewise, but items are handed over one at a time, not 32: each time a lock, often a
 * wake; its remedy is `even`
 *
 * A single thread does both by turns. */
#include "threaded.h"

static const char *const VARIANTS[] = {"uneven", "even", "single", NULL};
enum { UNEVEN, EVEN, SINGLE, ROUNDS = 1000, CAPACITY = 256, BATCH = 32 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t has_items, has_room;
    uint64_t items[CAPACITY];
    uint64_t head, size;
    uint64_t left; /* items that have not been taken, in the queue or not */
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .has_items = PTHREAD_COND_INITIALIZER,
           .has_room = PTHREAD_COND_INITIALIZER};
static uint64_t total, batch, producer_rounds;
static uint64_t sum __attribute__((aligned(LINE)));

kernel uint64_t make_item(uint64_t number) {
    return work_on(scatter(number), producer_rounds);
}

kernel uint64_t use_item(uint64_t item) {
    return work_on(item, ROUNDS - producer_rounds) >> 32;
}

static void put(const uint64_t *items, uint64_t count) {
    pthread_mutex_lock(&queue.lock);
    while (queue.size + count > CAPACITY)
        pthread_cond_wait(&queue.has_room, &queue.lock);
    for (uint64_t i = 0; i < count; i++)
        queue.items[(queue.head + queue.size++) % CAPACITY] = items[i];
    pthread_cond_signal(&queue.has_items);
    pthread_mutex_unlock(&queue.lock);
}

/* At most a batch of them; 0: all have been taken. */
static uint64_t take(uint64_t *items) {
    pthread_mutex_lock(&queue.lock);
    while (!queue.size && queue.left)
        pthread_cond_wait(&queue.has_items, &queue.lock);
    const uint64_t count = queue.size < batch ? queue.size : batch;
    for (uint64_t i = 0; i < count; i++)
        items[i] = queue.items[queue.head++ % CAPACITY];
    queue.size -= count;
    queue.left -= count;
    if (!queue.left || queue.size)
        pthread_cond_broadcast(&queue.has_items);
    pthread_cond_broadcast(&queue.has_room);
    pthread_mutex_unlock(&queue.lock);
    return count;
}

static uint64_t make_batch(uint64_t begin, uint64_t end) {
    uint64_t items[BATCH];
    const uint64_t count = end - begin < batch ? end - begin : batch;
    for (uint64_t i = 0; i < count; i++)
        items[i] = make_item(begin + i);
    put(items, count);
    return begin + count;
}

static uint64_t use_batch(uint64_t *own) {
    uint64_t items[BATCH];
    const uint64_t count = take(items);
    for (uint64_t i = 0; i < count; i++)
        *own += use_item(items[i]);
    return count;
}

static void take_part(const struct part *part) {
    const uint64_t producers = part->threads / 2;
    uint64_t own = 0;
    if (part->threads == 1)
        for (uint64_t next = 0; next < total; use_batch(&own))
            next = make_batch(next, total);
    else if (part->number < producers)
        for (uint64_t next = total / producers * part->number,
                      end = part->number + 1 == producers ? total : next + total / producers;
             next < end;)
            next = make_batch(next, end);
    else
        while (use_batch(&own))
            ;
    __atomic_fetch_add(&sum, own, __ATOMIC_RELAXED);
}

int main(int count, char **arguments) {
    const int chosen = variant(count, arguments, VARIANTS);
    const uint64_t threads = thread_count(count, arguments);
    total = queue.left = argument(count, arguments, 3, 1000, "items");
    batch = chosen == SINGLE ? 1 : BATCH;
    producer_rounds = chosen == UNEVEN ? 3 * ROUNDS / 4 : ROUNDS / 2;
    run_parts(threads, threads, take_part);
    printf("queue %" PRIu64 "\n", sum);
    return 0;
}
