/* readmostly [rwlock|mutex|published] [THREADS] [LOOKUPS]: a table that all read and one changes.
 *
 * Thread 0 changes an entry at every 1000th of its lookups. An entry is two numbers, of which a
 * change takes from one and adds to the other, so what a lookup finds, their sum, is the same
 * before and after.
 *
 * rwlock     a lock for readers and writers: readers may be inside together, but each writes to the
 *            lock, whose line moves from core to core: true sharing
 * mutex      a lock for one at a time: readers wait for each other besides
 * published  readers take no lock: who changes the table publishes a changed copy: the remedy */
#include "threaded.h"

static const char *const VARIANTS[] = {"rwlock", "mutex", "published", NULL};
enum { RWLOCK, MUTEX, PUBLISHED, ENTRIES = 64, PERIOD = 1000, MOST_CHANGES = 4096 };

struct table {
    struct {
        uint64_t left, right;
    } entries[ENTRIES];
} __attribute__((aligned(LINE)));

static pthread_rwlock_t readers_lock __attribute__((aligned(LINE))) = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t lock __attribute__((aligned(LINE))) = PTHREAD_MUTEX_INITIALIZER;
static struct table *table __attribute__((aligned(LINE))); /* the valid one */
static struct table *copies; /* of the next changes: a reader may still look into an old one */
static uint64_t sum __attribute__((aligned(LINE)));
static int chosen;

static uint64_t both(const struct table *from, uint64_t key) {
    return from->entries[key % ENTRIES].left + from->entries[key % ENTRIES].right;
}

kernel uint64_t look_up(uint64_t key) {
    if (chosen == PUBLISHED)
        return both(__atomic_load_n(&table, __ATOMIC_ACQUIRE), key);
    if (chosen == RWLOCK)
        pthread_rwlock_rdlock(&readers_lock);
    else
        pthread_mutex_lock(&lock);
    const uint64_t found = both(table, key);
    if (chosen == RWLOCK)
        pthread_rwlock_unlock(&readers_lock);
    else
        pthread_mutex_unlock(&lock);
    return found;
}

static void move(struct table *in, uint64_t key) {
    in->entries[key % ENTRIES].left -= 1;
    in->entries[key % ENTRIES].right += 1;
}

kernel void change(uint64_t key) {
    if (chosen == PUBLISHED) {
        *copies = *table;
        move(copies, key);
        __atomic_store_n(&table, copies++, __ATOMIC_RELEASE);
    } else if (chosen == RWLOCK) {
        pthread_rwlock_wrlock(&readers_lock);
        move(table, key);
        pthread_rwlock_unlock(&readers_lock);
    } else {
        pthread_mutex_lock(&lock);
        move(table, key);
        pthread_mutex_unlock(&lock);
    }
}

static void look_up_part(const struct part *part) {
    uint64_t own = 0;
    for (uint64_t i = part->begin, changes = 0; i < part->end; i++) {
        if (part->number == 0 && i % PERIOD == 0 && changes < MOST_CHANGES) {
            change(i / PERIOD);
            changes++;
        }
        own += work_on(look_up(scatter(i) >> 32), 8) >> 32;
    }
    __atomic_fetch_add(&sum, own, __ATOMIC_RELAXED);
}

int main(int count, char **arguments) {
    chosen = variant(count, arguments, VARIANTS);
    const uint64_t threads = thread_count(count, arguments);
    const uint64_t lookups = argument(count, arguments, 3, 50000, "lookups");
    const uint64_t changes = lookups / threads / PERIOD + 2;
    struct table *tables =
        allocate(1 + (changes < MOST_CHANGES ? changes : MOST_CHANGES), sizeof *tables);
    table = tables;
    copies = tables + 1;
    for (uint64_t i = 0; i < ENTRIES; i++) {
        table->entries[i].left = scatter(i) >> 8;
        table->entries[i].right = scatter(i + ENTRIES) >> 8;
    }
    run_parts(threads, lookups, look_up_part);
    printf("readmostly %" PRIu64 "\n", sum);
    free(tables);
    return 0;
}
