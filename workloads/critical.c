/* critical [long|short] [THREADS] [ITEMS]: results of items are added to a sum under a lock.
 *
 * long   the lock is held while the item is worked on: threads work one after the other
 * short  only while its result is added: the remedy */
#include "threaded.h"

static const char *const VARIANTS[] = {"long", "short", NULL};
enum { LONG, SHORT, ROUNDS = 20000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t sum;
static int chosen;

kernel uint64_t result_of(uint64_t item) {
    return work_on(scatter(item), ROUNDS) >> 32;
}

kernel void work_locked(uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; i++) {
        pthread_mutex_lock(&lock);
        sum += result_of(i);
        pthread_mutex_unlock(&lock);
    }
}

kernel void add_locked(uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; i++) {
        const uint64_t result = result_of(i);
        pthread_mutex_lock(&lock);
        sum += result;
        pthread_mutex_unlock(&lock);
    }
}

static void add_part(const struct part *part) {
    if (chosen == LONG)
        work_locked(part->begin, part->end);
    else
        add_locked(part->begin, part->end);
}

int main(int count, char **arguments) {
    chosen = variant(count, arguments, VARIANTS);
    const uint64_t threads = thread_count(count, arguments);
    run_parts(threads, argument(count, arguments, 3, 40, "items"), add_part);
    printf("critical %" PRIu64 "\n", sum);
    return 0;
}
