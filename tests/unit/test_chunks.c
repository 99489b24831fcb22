/* The order in which the reader takes chunks of events while others are published. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "trace/qemu/capture.h"

/* The chunks that are used lie far apart, so that much of a look through all is between them. */
enum { FIRST = 0, LAST = 2000, ROUNDS = 5000 };

static bool is_free(struct ring_control *control, uint32_t chunk) {
    return atomic_load(&control->chunk_state[chunk]) == ring_state(RING_FREE, 0);
}

static void publish(struct ring_control *control, uint32_t chunk) {
    ring_chunk(control, chunk)->published = atomic_fetch_add(&control->published, 1);
    atomic_store(&control->chunk_state[chunk], ring_state(RING_FULL, 0));
}

/* The first is always published before the last. */
static void *publish_pairs(void *control) {
    for (int i = 0; i < ROUNDS; i++) {
        while (!is_free(control, FIRST) || !is_free(control, LAST))
            sched_yield();
        publish(control, FIRST);
        publish(control, LAST);
    }
    return NULL;
}

static void oldest_while_others_are_published(void **state) {
    (void)state;
    struct capture *capture = calloc(1, sizeof *capture);
    assert_non_null(capture);
    capture->memory = -1;
    capture->control = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(capture->control, MAP_FAILED);
    atomic_store(&capture->control->chunk_high, LAST + 1);
    pthread_t publisher;
    assert_int_equal(pthread_create(&publisher, NULL, publish_pairs, capture->control), 0);
    int out_of_order = 0;
    for (int i = 0; i < 2 * ROUNDS; i++) {
        while (!chunks_take(capture))
            sched_yield();
        out_of_order += capture->chunk != (i % 2 ? LAST : FIRST);
        chunks_release(capture);
    }
    pthread_join(publisher, NULL);
    assert_int_equal(out_of_order, 0);
    munmap(capture->control, RING_BYTES);
    free(capture->threads);
    free(capture);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(oldest_while_others_are_published)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
