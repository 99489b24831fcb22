/* Threads in turn, each joined when it has ended: the join sleeps in no system call. */
#include <poll.h>
#include <pthread.h>
#include <stddef.h>

enum { THREADS = 6, ROUNDS = 50000, MILLISECONDS = 20 };

static void *work(void *unused) {
    for (volatile int i = 0; i < ROUNDS; i++)
        ;
    return unused;
}

int main(void) {
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, NULL))
            return 1;
        poll(NULL, 0, MILLISECONDS);
        pthread_join(thread, NULL);
    }
    return 0;
}
