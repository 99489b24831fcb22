/* Threads in turn, each joined when it has ended: the join sleeps in no system call. Before, the
 * thread that joins reads from a timer, which takes no simulated time. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { THREADS = 6, ROUNDS = 50000, NANOSECONDS = 20000000 };

static void *work(void *unused) {
    for (volatile int i = 0; i < ROUNDS; i++)
        ;
    return unused;
}

int main(void) {
    const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    for (int i = 0; i < THREADS; i++) {
        const struct itimerspec time = {.it_value.tv_nsec = NANOSECONDS};
        uint64_t expired;
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, NULL) || timerfd_settime(timer, 0, &time, NULL) ||
            read(timer, &expired, sizeof expired) != sizeof expired)
            return 1;
        pthread_join(thread, NULL);
    }
    return 0;
}
