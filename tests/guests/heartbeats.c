/* A thread waits for a message of another, which works until then, with a time limit, again and
 * again: through an eventfd, a pipe and a pair of sockets, one after the other. */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LIMIT_MS = 2, WORK = 200000 };

static void *work(void *end) {
    const uint64_t message = 1;
    for (volatile int i = 0; i < WORK; i++)
        ;
    if (write(*(const int *)end, &message, sizeof message) != sizeof message)
        abort();
    return NULL;
}

static int receive(int from, int to) {
    struct epoll_event event = {.events = EPOLLIN};
    const int queue = epoll_create1(0);
    pthread_t thread;
    uint64_t message;
    if (epoll_ctl(queue, EPOLL_CTL_ADD, from, &event) || pthread_create(&thread, NULL, work, &to))
        return 1;
    while (epoll_wait(queue, &event, 1, LIMIT_MS) == 0)
        ;
    const int failed = read(from, &message, sizeof message) != sizeof message;
    return pthread_join(thread, NULL) || failed;
}

int main(void) {
    const int counter = eventfd(0, 0);
    int pipe_ends[2], sockets[2];
    if (pipe(pipe_ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
        return 1;
    return receive(counter, counter) || receive(pipe_ends[0], pipe_ends[1]) ||
           receive(sockets[0], sockets[1]);
}
